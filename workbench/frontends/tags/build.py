"""Formats -> grammars.

Free text is an automaton that knows the beginnings of everything it may not hold (``grammar/until.py``). In front of a
trigger stands such a text that leads to it as the first one; the tag then begins with the trigger itself, which may
be a special token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence as List
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from workbench.errors import GrammarSyntaxError, GrammarTooComplex
from workbench.frontends.combine import intersection
from workbench.frontends.compose import (
    alt,
    capture,
    define,
    marker,
    optional,
    repeat,
    seq,
    token,
)
from workbench.frontends.gbnf import gbnf
from workbench.frontends.json_schema import json_schema
from workbench.frontends.regex import regex
from workbench.frontends.tags import formats as f
from workbench.frontends.tags.counted_text import counted_text
from workbench.frontends.tags.payload import placed
from workbench.frontends.unicode_sets import ANY
from workbench.grammar.composing import ComposedRules
from workbench.grammar.ir import CharSet, Expr, Grammar, Repeat
from workbench.grammar.lazy import viewed
from workbench.grammar.until import before_each, without
from workbench.inputs import wrong_type

__all__ = ["MAX_LEVELS", "grammar_of"]

#: Formats inside each other.
MAX_LEVELS = 100

#: What ends the innermost tag around a format.
_Ends = tuple[f.Text | f.TokenOf, ...]
_Token = int | str


def grammar_of(format: f.Format, places: Mapping[int, str] | None = None) -> Grammar:
    """Make the grammar of a format; parts keep their places, outcomes and captures.

    ``places`` are where formats stand in a request, by their identity, for errors. Raises what the front ends of its
    schemas, patterns and grammars raise, ``GrammarSyntaxError`` for a trigger that no text leads to,
    ``GrammarTooComplex`` for more than 100 formats inside each other, ``WrongType`` for what is no format.

    >>> call = f.Tag("<call>", f.JSONSchema({"type": "integer"}), "</call>", name="tool add")
    >>> grammar_of(f.TriggeredTags(["<call>"], [call]))
    <Grammar composed: 4 rules, start 'root'>
    """
    if not isinstance(format, f.Format):
        raise wrong_type("grammar_of", "a format", format)
    made = seq(_Builder(places or {}).of(format, (), ""))
    assert isinstance(made.rules, ComposedRules)
    made.rules.made_of = format
    return made


class _Builder:
    """Makes grammars of formats; the same format in the same surroundings is one grammar."""

    def __init__(self, places: Mapping[int, str]) -> None:
        self._places = places
        self._made: dict[tuple[int, _Ends, str], Grammar] = {}
        self._levels = 0
        #: the name of each grammar that has one, by its rules, which are kept so that they stay the only ones there
        self._named: dict[tuple[int, str], str] = {}
        self._kept: list[Grammar] = []

    def of(self, format: f.Format, ends: _Ends, called: str) -> Grammar:
        """The grammar of a format inside a tag with some ends, and in something that is called so."""
        key = id(format), ends, called
        found = self._made.get(key)
        if found is None:
            if self._levels == MAX_LEVELS:
                raise GrammarTooComplex("formats inside each other", MAX_LEVELS)
            self._levels += 1
            found = self._made[key] = _BY_KIND[type(format)](self, format, ends, called)
            self._levels -= 1
        return found

    # -- leaves ------------------------------------------------------------------------------------

    def leaf(self, format: Any, ends: _Ends, called: str) -> Grammar:
        """What other front ends make, by the name of the tag around it."""
        name = format.name or called if isinstance(format, f.Part) else called
        place = self._places.get(id(format))
        with nullcontext() if place is None else placed(place):
            made = _made(format)
        return define({name: self._own(name, made)}) if name else made

    def _own(self, name: str, grammar: Grammar) -> Grammar:
        """A grammar that only one name has: where equal ones stand under another name, one of its own."""
        key = id(grammar.rules), grammar.start
        composed = isinstance(grammar.rules, ComposedRules)  # it is written where it stands
        if composed or self._named.setdefault(key, name) == name:
            self._kept.append(grammar)
            return grammar
        rules = viewed(grammar.rules, grammar.start)
        return replace(grammar, rules=rules)

    def any_text(self, format: f.AnyText, ends: _Ends, called: str) -> Grammar:
        stops = _stops(format.excludes, ends)
        if format.max_chars is None:
            return _free(stops)
        if stops and format.max_chars:
            return counted_text(stops, format.max_chars)
        return _text(Repeat(CharSet(ANY), 0, format.max_chars))

    def tokens(self, format: Any, ends: _Ends, called: str) -> Grammar:
        if isinstance(format, f.TokenOf):
            return token(format.token)
        one = token(*format.exclude_tokens, *_end_tokens(ends), negated=True)
        return one if isinstance(format, f.ExcludeToken) else repeat(one, 0, format.max_tokens)

    # -- compositions ------------------------------------------------------------------------------

    def sequence(self, format: f.Sequence, ends: _Ends, called: str) -> Grammar:
        return seq(*(self.of(one, ends, called) for one in format.elements))

    def either(self, format: f.Or, ends: _Ends, called: str) -> Grammar:
        return alt(*(self.of(one, ends, called) for one in format.elements))

    def repeated(self, format: Any, ends: _Ends, called: str) -> Grammar:
        inner = self.of(format.content, ends, called)
        if isinstance(format, f.Optional):
            return optional(inner)
        if isinstance(format, f.Repeat):
            return repeat(inner, format.min, format.max)
        return repeat(inner, 1 if isinstance(format, f.Plus) else 0)

    def captured(self, format: f.Capture, ends: _Ends, called: str) -> Grammar:
        return capture(format.name, self.of(format.content, ends, called))

    def tag(self, format: f.Tag, ends: _Ends, called: str) -> Grammar:
        content = self.of(format.content, format.ends, format.name or called)
        return seq(_bound(format.begin), content, _any_of(map(_bound, format.ends)))

    # -- tags in free text -------------------------------------------------------------------------

    def triggered(self, format: f.TriggeredTags, ends: _Ends, called: str) -> Grammar:
        tags = [self.of(tag, ends, called) for tag in format.tags]
        first = _any_of(tags)
        if format.at_least_one and format.stop_after_first:
            return first
        triggers = list(dict.fromkeys(map(f.text_of, format.triggers)))
        behind: dict[str, list[Grammar]] = {trigger: [] for trigger in triggers}
        for tag, made in zip(format.tags, tags, strict=True):
            assert not isinstance(tag.begin, f.TokenOf)
            begin = f.text_of(tag.begin)
            # where one trigger begins another, it is the one that comes first
            behind[min((one for one in triggers if begin.startswith(one)), key=len)].append(made)
        stops = _stops(format.excludes, ends)
        led = self._led_to(format, behind, triggers, stops)
        free = _in_free(led, _free([*triggers, *stops]), not format.stop_after_first)
        return seq(first, free) if format.at_least_one else free

    def dispatch(self, format: f.Dispatch, ends: _Ends, called: str) -> Grammar:
        behind: dict[str, list[Grammar]] = {}
        for pattern, content in format.rules:
            made = seq(_bound(pattern), self.of(content, ends, called))
            behind.setdefault(f.text_of(pattern), []).append(made)
        stops = [f.text_of(text) for text in format.excludes]
        led = self._led_to(format, behind, list(behind), stops)
        return _in_free(led, _free([*behind, *stops]), format.loop)

    def _led_to(
        self,
        format: f.Format,
        behind: Mapping[str, List[Grammar]],
        triggers: List[str],
        excludes: List[str],
    ) -> Grammar:
        """Free text, then one of the grammars by the trigger that they begin with."""
        found: list[Grammar] = []
        told: set[str] = set()
        for before, numbers in before_each(triggers, excludes):
            here = [triggers[number] for number in numbers]
            told.update(here)
            led = [made for one in here for made in behind[one]]
            if led:
                found.append(seq(_text(before), _any_of(led)))
        for one, made in behind.items():
            if made and one not in told:
                others = (x for x in (*excludes, *triggers) if x in one)
                inner = next((x for x in others if x != one or x in excludes), one)
                raise GrammarSyntaxError(
                    f"the trigger {one!r:.80} can never come: free text ends at {inner!r:.80} in it",
                    pointer=self._places.get(id(format)),
                )
        return _any_of(found)

    def separated(self, format: f.TagsWithSeparator, ends: _Ends, called: str) -> Grammar:
        one = _any_of(self.of(tag, ends, called) for tag in format.tags)
        most = 1 if format.stop_after_first else None
        return repeat(one, int(format.at_least_one), most, separator=_bound(format.separator))

    # -- tags among tokens -------------------------------------------------------------------------

    def token_triggered(self, format: f.TokenTriggeredTags, ends: _Ends, called: str) -> Grammar:
        tags = _any_of(self.of(tag, ends, called) for tag in format.tags)
        if format.at_least_one and format.stop_after_first:
            return tags
        others = (*format.trigger_tokens, *format.exclude_tokens, *_end_tokens(ends))
        free = _among_tokens(tags, others, not format.stop_after_first)
        return seq(tags, free) if format.at_least_one else free

    def token_dispatch(self, format: f.TokenDispatch, ends: _Ends, called: str) -> Grammar:
        behind = [seq(token(one), self.of(inner, ends, called)) for one, inner in format.rules]
        others = (*(one for one, _ in format.rules), *format.exclude_tokens)
        return _among_tokens(_any_of(behind), others, format.loop)


def _made(format: f.Format) -> Grammar:
    """What other front ends make."""
    match format:
        case f.JSONSchema():
            return _of_schema(format)
        case f.GrammarText(text):
            return gbnf(text)
        case f.RegexPattern(pattern, excludes):
            made = regex(pattern)
            if excludes:
                made = intersection(made, _text(without(list(map(f.text_of, excludes)))))
            return made
        case f.Part(grammar):
            return grammar
    raise TypeError(f"{format!r} is no part")


def _of_schema(format: f.JSONSchema) -> Grammar:
    # what engines make of schemas: objects that list properties have no others
    options = {"additional_properties": False, "style": format.style, **format.options}
    if format.any_order:
        options["property_order"] = "any"
    if format.max_whitespace_cnt is not None:
        options["max_whitespace"] = format.max_whitespace_cnt
    if format.excludes:
        options["excludes"] = tuple(map(f.text_of, format.excludes))
    return json_schema(format.schema, **options)


def _text(expr: Expr) -> Grammar:
    return Grammar({"root": expr}, "root", "text")


def _free(stops: List[str]) -> Grammar:
    """Free text without some texts in it."""
    return _text(without(stops) if stops else Repeat(CharSet(ANY), 0, None))


def _bound(one: f.Text | f.TokenOf) -> Grammar:
    """A begin, an end or a separator."""
    if isinstance(one, f.TokenOf):
        return token(one.token)
    return marker(one.text) if isinstance(one, f.Marker) else seq(one)


def _any_of(parts: Iterable[Grammar]) -> Grammar:
    found = list(parts)
    return found[0] if len(found) == 1 else alt(*found)


def _stops(excludes: List[f.Text], ends: _Ends) -> list[str]:
    """What free text may not hold: what is excluded, and the ends of the tag around it."""
    texts = [*excludes, *(end for end in ends if not isinstance(end, f.TokenOf))]
    return [text for text in dict.fromkeys(map(f.text_of, texts)) if text]


def _end_tokens(ends: _Ends) -> list[_Token]:
    return [end.token for end in ends if isinstance(end, f.TokenOf)]


def _in_free(led: Grammar, rest: Grammar, loop: bool) -> Grammar:
    """Free text with what it leads to in it, any number of times or once at its end."""
    return seq(repeat(led), rest) if loop else alt(led, rest)


def _among_tokens(tags: Grammar, others: tuple[_Token, ...], loop: bool) -> Grammar:
    one = token(*others, negated=True)
    if loop:
        return repeat(alt(one, tags))
    return seq(repeat(one), optional(tags))


_BY_KIND: dict[type[f.Format], Callable[[_Builder, Any, _Ends, str], Grammar]] = {
    f.AnyText: _Builder.any_text,
    f.AnyTokens: _Builder.tokens,
    f.Capture: _Builder.captured,
    f.ConstString: lambda _, one, *__: seq(one.value),
    f.Dispatch: _Builder.dispatch,
    f.ExcludeToken: _Builder.tokens,
    f.GrammarText: _Builder.leaf,
    f.JSONSchema: _Builder.leaf,
    f.Marker: lambda _, one, *__: marker(one.text),
    f.Optional: _Builder.repeated,
    f.Or: _Builder.either,
    f.Part: _Builder.leaf,
    f.Plus: _Builder.repeated,
    f.RegexPattern: _Builder.leaf,
    f.Repeat: _Builder.repeated,
    f.Sequence: _Builder.sequence,
    f.Star: _Builder.repeated,
    f.Tag: _Builder.tag,
    f.TagsWithSeparator: _Builder.separated,
    f.TokenDispatch: _Builder.token_dispatch,
    f.TokenOf: _Builder.tokens,
    f.TokenTriggeredTags: _Builder.token_triggered,
    f.TriggeredTags: _Builder.triggered,
}
