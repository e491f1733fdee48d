"""What examples use of a grammar: its rules, the places of its text, the pointers of its schema.

Each accepted example is read with the author's grammar, in one way (of several the one found first), and
what that way goes through counts as used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from typing import Any

from workbench.diagnostics.author.parse import AuthorParse
from workbench.diagnostics.author.standing import excerpt
from workbench.diagnostics.coverage.covered import Coverage, Covered
from workbench.diagnostics.dead_ends.schema_parts import members
from workbench.diagnostics.verdicts import as_bytes
from workbench.engine import CompiledGrammar
from workbench.engine.tokens import resolve_tokens, spelled_in_bytes
from workbench.grammar.author.earley import TooMuch
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Grammar,
    Literal as LiteralExpr,
    Origin,
    Ref,
    Token,
    walk,
)
from workbench.grammar.lazy import LazyRules
from workbench.grammar.places import named_parts, step_into
from workbench.inputs import need_examples, need_grammar, need_vocabulary
from workbench.vocabulary import Vocabulary

__all__ = ["coverage"]

#: Rules of a lazily written grammar that are looked through for places.
_MAX_RULES = 2_000


def coverage(
    grammar: Grammar | CompiledGrammar,
    examples: Iterable[Any],
    vocabulary: Vocabulary | None = None,
) -> Coverage:
    """Find which parts of a grammar some examples use, and which none does.

    ``examples`` are texts, or JSON values. Parts are the rules; of a grammar that was written as text its
    literals, classes, uses of rules and alternatives; of a schema the members that it lists. A grammar that
    names tokens needs the ``vocabulary``, whose tokens the examples then cannot name: such parts stay unused.

    >>> import workbench as wb
    >>> found = wb.coverage(wb.gbnf('root ::= "a" | b\\nb ::= "c"'), ["a"])
    >>> [str(part) for part in found.never]
    ['rule b', 'b (characters 15-16 in root)', '"c" (characters 23-26 in b)']
    """
    if isinstance(grammar, CompiledGrammar):
        vocabulary = vocabulary or grammar.vocabulary
        grammar = grammar.grammar
    need_grammar(grammar, "coverage")
    if vocabulary is not None:
        need_vocabulary(vocabulary, "coverage")
    need_examples(examples, "coverage")
    grammar = spelled_in_bytes(grammar)
    tokens = resolve_tokens(grammar, vocabulary) if vocabulary is not None else {}
    texts = [as_bytes(example) for example in examples]
    used = _Used(grammar, tokens)
    for text in texts:
        used.read(text)
    if grammar.kind == "json_schema":
        parts = list(_pointers(grammar, used.places))
    else:
        parts = [*_rules(grammar, used.rules), *_places(grammar, used.places)]
        parts += _members(grammar, used.places)
    accepted = len(texts) - len(used.refused) - len(used.unread)
    return Coverage(tuple(parts), len(texts), accepted, tuple(used.refused), tuple(used.unread))


class _Used:
    """Rules and places with the number of texts that use them, and texts that do not count."""

    def __init__(self, grammar: Grammar, tokens: Mapping[Token, Set[int]]) -> None:
        self.rules: Counter[str] = Counter()
        self.places: Counter[Origin] = Counter()
        self.refused: list[bytes] = []
        self.unread: list[bytes] = []
        self._parse: AuthorParse | None = None
        with suppress(TooMuch):  # its first column is too much already: then no text is read
            self._parse = AuthorParse(grammar, tokens)

    def read(self, text: bytes) -> None:
        """Count what one way to read a text goes through, once each."""
        parse = self._parse
        if parse is None:
            self.unread.append(text)
            return
        parse.take_back(len(parse))
        try:
            complete = parse.feed(text) == len(text) and parse.is_complete
        except TooMuch:
            self.unread.append(text)
            return
        if not complete:
            self.refused.append(text)
            return
        steps = list(parse.derivation())
        self.rules.update({s.node.rule for s in steps if s.node and s.node.kind == "rule"})
        self.places.update({s.place for s in steps if s.place is not None})


def _names(grammar: Grammar) -> list[str]:
    """The rules that the start leads to, in the order of the grammar's text."""
    seen = {grammar.start}
    todo = [grammar.start]
    for name in todo:
        for part in walk(grammar.rules[name]):
            if isinstance(part, Ref) and part.name not in seen and len(seen) < _MAX_RULES:
                seen.add(part.name)
                todo.append(part.name)
    if isinstance(grammar.rules, LazyRules):
        return todo
    return [name for name in grammar.rules if name in seen]


def _schemas(grammar: Grammar, path: str = "") -> Iterator[str]:
    """The names of the schemas that stand in a grammar: their members are told, not their rules."""
    for name, part in named_parts(grammar).items():
        if part.kind == "json_schema":
            yield path + name
        yield from _schemas(part, f"{path}{name}.")


def _inside(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}." for name in names)


def _rules(grammar: Grammar, uses: Mapping[str, int]) -> Iterator[Covered]:
    schemas = tuple(_schemas(grammar))
    names = [n for n in _names(grammar) if n not in schemas and not n.startswith(_inside(schemas))]
    if len(names) > 1:
        for name in names:
            yield Covered("rule", name, uses.get(name, 0))


def _places(grammar: Grammar, uses: Mapping[Origin, int]) -> Iterator[Covered]:
    """Leaves, uses of rules and alternatives that have a span, each span once.

    An alternative is used when something inside its span is, in the same rule.
    """
    spans: dict[_Span, int] = {}
    for origin, count in uses.items():
        if (span := _span(origin)) is not None:
            spans[span] = max(spans.get(span, 0), count)
    told: dict[_Span, str] = {}
    for name in _names(grammar):
        for part in walk(grammar.rules[name]):
            wanted = list(part.items) if isinstance(part, Alt) else []
            if isinstance(part, LiteralExpr | ByteSet | CharSet | Ref | Token):
                wanted.append(part)
            for one in wanted:
                if one.origin and (span := _span(one.origin)) is not None:
                    told.setdefault(span, one.origin.rule or name)
    for (within, start, end), name in sorted(told.items()):
        inside = (n for (p, a, b), n in spans.items() if p == within and start <= a and b <= end)
        source = excerpt(Origin(within or None, start, end), grammar)
        yield Covered("place", name, max(inside, default=0), start, end, source)


#: The part in whose text something is written, "" for the grammar itself; its first and last character.
_Span = tuple[str, int, int]


def _span(origin: Origin) -> _Span | None:
    if origin.start is None or origin.end is None:
        return None
    return origin.pointer or "", origin.start, origin.end


def _members(grammar: Grammar, uses: Mapping[Origin, int], path: str = "") -> Iterator[Covered]:
    """The members that the schemas in a grammar list."""
    for name, part in named_parts(grammar).items():
        if part.kind == "json_schema":
            yield from _pointers(part, uses, path + step_into(name))
        else:
            yield from _members(part, uses, path + step_into(name))


def _pointers(grammar: Grammar, uses: Mapping[Origin, int], path: str = "") -> Iterator[Covered]:
    """The members that a schema lists; used when the place itself is, or one below it."""
    counts: dict[str, int] = {}
    for origin, count in uses.items():
        if origin.pointer is not None and origin.pointer.startswith(path):
            pointer = origin.pointer[len(path) :]
            counts[pointer] = max(counts.get(pointer, 0), count)
    for pointer in members(grammar.source):
        found = (n for p, n in counts.items() if p == pointer or p.startswith(f"{pointer}/"))
        source = excerpt(Origin(pointer=pointer), grammar)
        yield Covered("pointer", path + pointer, max(found, default=0), source=source)
