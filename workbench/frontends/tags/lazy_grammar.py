"""Grammars that begin where a trigger comes in free text, as llama.cpp's server takes them.

The trigger is part of the grammar: from where it stands on, the text is one of the grammar's. A text may hold no
trigger at all. Special tokens are read by their text: literals of the grammar that hold a trigger or a token that is
preserved are markers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.automaton.finite import determinise, minimise
from workbench.automaton.listing import texts
from workbench.errors import GrammarSyntaxError
from workbench.frontends.compose import alt, repeat, seq, token
from workbench.frontends.regex import full_match, parse_regex
from workbench.frontends.tags.payload import Payload
from workbench.grammar.author.earley import Earley, TooMuch
from workbench.grammar.ir import Grammar, Literal, Marker, literal, walk
from workbench.grammar.lazy import viewed, written_ahead
from workbench.grammar.markers import with_markers
from workbench.grammar.rewriting import rewrite
from workbench.grammar.until import before_each, without

__all__ = ["lazy_grammar"]

#: The kinds of triggers, by name and, in this order, by number.
_KINDS = ("token", "word", "pattern", "pattern_full")
#: Texts of one pattern.
_MOST = 200
_BEFORE = re.compile(r"\^?(?:\[\\s\\S\]|\[\\S\\s\])\*\??|\^?\(\?s\)\.\*\??")
_AFTER = re.compile(r"(?:\[\\s\\S\]|\[\\S\\s\])\*\??\$?\Z")


def lazy_grammar(given: Payload, grammar: Grammar) -> Grammar:
    """The grammar, begun by the triggers of a request where it is lazy.

    Raises ``GrammarSyntaxError`` for triggers that are malformed or begin no text of the grammar, and for patterns that
    are no list of texts.
    """
    lazy = given.flag("grammar_lazy")
    preserved = given.texts("preserved_tokens")
    words, ids = _triggers(given)
    grammar = _by_text(grammar, [*preserved, *words])
    if not lazy:
        return grammar
    if not words and not ids:
        raise given.error("a lazy grammar needs a trigger", "grammar_triggers")
    if ids and words:
        raise given.error(
            "triggers that are tokens without a text do not go with others", "grammar_triggers"
        )
    _check_begins(given, grammar, words)
    if ids:
        free = token(*ids, negated=True)
        return alt(repeat(free), seq(repeat(free), grammar))
    led = [
        seq(Grammar({"root": before}, "root", "text"), grammar) for before, _ in before_each(words)
    ]
    return alt(Grammar({"root": without(words)}, "root", "text"), *led)


def _check_begins(given: Payload, grammar: Grammar, words: Sequence[str]) -> None:
    """Raise for a trigger that begins no text of the grammar: behind it nothing could come."""
    parse = Earley(with_markers(grammar, lambda marker: literal(marker.text)))
    for word in words:
        data = word.encode()
        try:
            read = parse.feed(data)
        except TooMuch:  # then it is not known
            return
        parse.take_back(len(parse))
        if read < len(data):
            raise given.error(
                f"no text of the grammar begins with the trigger {word!r:.80}", "grammar_triggers",
                hint="a trigger is a part of the grammar, which reads on from there",
            )  # fmt: skip


def _triggers(given: Payload) -> tuple[list[str], list[int]]:
    """The texts that begin the grammar, and the tokens that do."""
    words: dict[str, None] = {}
    ids: list[int] = []
    for i, value in enumerate(given.listed("grammar_triggers", 0)):
        one = Payload(value, given.at("grammar_triggers", i), "a trigger")
        one.need_only(["type"], ["value", "token"])
        kind = one.fields["type"]
        if isinstance(kind, int) and not isinstance(kind, bool) and 0 <= kind < len(_KINDS):
            kind = _KINDS[kind]
        if kind not in _KINDS:
            raise one.error(
                f"there is no trigger of type {kind!r:.60}",
                "type",
                hint=f"there are {', '.join(_KINDS)}",
            )
        if kind == "token" and "value" not in one:
            number = one.number("token")
            if number is None:
                raise one.error("a trigger that is a token needs its id or its text")
            ids.append(number)
            continue
        if "value" not in one:
            raise one.error(f"a trigger of type {kind!r} needs the field 'value'")
        text = one.text("value", empty=False)
        words.update(dict.fromkeys([text] if kind in ("token", "word") else _texts_of(one, text)))
    return list(words), ids


def _texts_of(one: Payload, pattern: str) -> Sequence[str]:
    """The texts where the grammar begins by a pattern: those of its group, or else all that it matches."""
    inner = _AFTER.sub("", _BEFORE.sub("", pattern, count=1)).removeprefix("^").removesuffix("$")
    try:
        found = texts(minimise(determinise(full_match(parse_regex(inner)))), _MOST)
    except GrammarSyntaxError as error:
        raise GrammarSyntaxError(f"{one.at('value')}: {error}") from None
    if not found or "" in found:
        raise one.error(
            f"the pattern {pattern!r:.80} is not a list of texts behind any text: such triggers are not supported",
            "value",
            hint="list its texts as triggers of type 'word'",
        )
    return found


def _by_text(grammar: Grammar, names: Sequence[str]) -> Grammar:
    """The grammar in which literals that hold one of some texts are markers."""

    def marked(text: str) -> bool:
        return any(name in text for name in names)

    def mark(part: object) -> Marker | None:
        if not isinstance(part, Literal) or not part.data:
            return None
        try:
            text = part.data.decode()
        except UnicodeDecodeError:
            return None
        return Marker(text, origin=part.origin) if len(text) > 1 and marked(text) else None

    rules = written_ahead(grammar.rules)
    if not any(mark(part) for expr in rules.values() for part in walk(expr)):
        return grammar
    made = {name: rewrite(expr, mark) for name, expr in rules.items()}
    return Grammar(
        viewed(grammar.rules, grammar.start, made),
        grammar.start,
        grammar.kind,
        grammar.source,
        grammar.outcomes,
    )
