"""The parts of a text in its author's words: which part of the grammar each stretch of it belongs to.

A text is read with the author's grammar and looked at after each of its bytes: a span is a capture, a rule of a GBNF
text or of a composition, a member or an item of a schema, that was open after at least one byte. (A part that is read
within one byte is not told, nor are items of an array without a rule of their own, such as plain strings.) Of a text
that can be read in several ways, spans are those of a shortest stack at each byte, in a way that goes on from the one
before as long as one does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal

from workbench.diagnostics.author.parse import AuthorParse, Link
from workbench.diagnostics.author.standing import at_pointer
from workbench.grammar.author.earley import Item, TooMuch
from workbench.grammar.composing import is_unnamed
from workbench.grammar.ir import Grammar, Origin, Token
from workbench.grammar.lazy import captured
from workbench.grammar.places import home, named_parts

__all__ = ["Span", "SpanReader", "Turn"]

Kind = Literal["capture", "rule", "member", "item", "alternative"]

#: Items of a parse, past which no spans are told.
MAX_ITEMS = 300_000
#: Spans that are told around one place, outermost first.
MAX_DEPTH = 24
#: Characters of a name that are told.
_LONGEST = 40
#: Kinds of grammars whose rules have the names that an author gave them.
_NAMED = frozenset({"gbnf", "composed", "ir"})
#: A member's name at the end of a text.
_KEY = re.compile(r'("(?:[^"\\]|\\.)*")\s*:\s*$')

#: Label (None where the text has it), kind and path.
_Name = tuple[str | None, Kind, str]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: what it is called, and its bytes ``start:end``, ``end`` being None while it is open.

    ``path`` is where the part is written: a pointer or a rule, names of grammars before it; ``depth`` is how many spans
    are around it.
    """

    label: str
    kind: Kind
    path: str
    start: int
    end: int | None
    depth: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What a token did to the spans of a text.

    Of the spans that were open before it the outermost ``kept`` still are; ``opened`` are those that are open inside
    them now; ``left`` had ended where the token begins, ``closed`` ended in it, or began and ended.
    """

    kept: int = 0
    opened: tuple[Span, ...] = ()
    left: tuple[Span, ...] = ()
    closed: tuple[Span, ...] = ()


@dataclass(eq=False, slots=True)
class _Frame:
    """An item that is open, the one that waits for its end, and how many are around it."""

    item: Item
    outer: _Frame | None
    height: int
    link: Link | None
    #: where the latest rule or part is written that it is or lies in, as the names of spans have it
    path: str = ""


@dataclass(frozen=True, slots=True)
class _Open:
    """A span that is open, and the frame that it was made for."""

    frame: _Frame
    span: Span


@dataclass(frozen=True, slots=True)
class _Standing:
    """Where a text stands: the innermost frame, the open spans, and how many frames were looked at for spans."""

    top: _Frame | None = None
    open: tuple[_Open, ...] = ()
    told: int = 0


@dataclass(slots=True)
class _Read:
    """A token that was read: where the text stood before it, how many symbols it took, what it did."""

    token_id: int
    before: _Standing
    symbols: int = 0
    turn: Turn = Turn()


class SpanReader:
    """Reads a text token by token and tells its spans; returns to an earlier place where another text is asked about.

    ``tokens`` are the ids of the grammar's token terminals (``resolve_tokens``). ``problem`` says why no spans are
    told any more: the text is too much work.
    """

    def __init__(self, grammar: Grammar, tokens: Mapping[Token, Set[int]] | None = None) -> None:
        self.problem = ""
        self._names = _Names(grammar)
        self._parse = AuthorParse(grammar, tokens, items=MAX_ITEMS)
        self._here = _Standing()
        #: the frames of the innermost one and those around it, by their items
        self._frames: dict[Item, _Frame] = {}
        self._read: list[_Read] = []
        #: by the start of an array's span: where its latest item begins, and the number of that
        self._items: dict[int, tuple[int, int]] = {}

    @property
    def open(self) -> tuple[Span, ...]:
        """The spans that are open, outermost first."""
        return tuple(one.span for one in self._here.open)

    def go_to(self, tokens: Sequence[tuple[int, bytes]]) -> Turn:
        """Read the text of some tokens, ids with their bytes; what the last of them did."""
        shared = 0
        for read, (token_id, _) in zip(self._read, tokens, strict=False):
            if read.token_id != token_id:
                break
            shared += 1
        for read in reversed(self._read[shared:]):
            self._parse.take_back(read.symbols)
            self._here = read.before
            self.problem = ""
        if shared < len(self._read):
            del self._read[shared:]
            self._items.clear()
            self._frames = {frame.item: frame for frame in _outwards(self._here.top, None)}
        for token_id, data in tokens[shared:]:
            self._feed(token_id, data)
        return self._read[-1].turn if self._read else Turn()

    def _feed(self, token_id: int, data: bytes) -> None:
        read = _Read(token_id, self._here)
        self._read.append(read)
        if self.problem:
            return
        parse = self._parse
        before = len(parse)
        ended: list[tuple[Span, int]] = []
        try:
            if parse.feed_token(token_id, data):
                for column in range(before + 1, len(parse) + 1):
                    # inside a token that the grammar names nothing needs to go on
                    if parse.columns[column].items:
                        self._turn(column, ended)
            elif parse.is_complete:  # the end of the text
                size = len(parse.data)
                ended = [(_ended(one.span, size), before) for one in reversed(self._here.open)]
                self._leave()
        except TooMuch:
            self.problem = f"the text needs more than {MAX_ITEMS:,} parser items"
            self._leave()
            return
        finally:
            read.symbols = len(parse) - before
        kept = 0
        for old, new in zip(read.before.open, self._here.open, strict=False):
            if old.span != new.span:
                break
            kept += 1
        read.turn = Turn(
            kept,
            tuple(one.span for one in self._here.open[kept:]),
            tuple(span for span, column in ended if column <= before),
            tuple(span for span, column in ended if column > before),
        )

    def _leave(self) -> None:
        self._here = _Standing()
        self._frames = {}

    def _turn(self, column: int, ended: list[tuple[Span, int]]) -> None:
        """Go on to a column: what is not open there has ended, in an earlier column or there.

        Of the frames that there were, those around the new ones stay; only the others are looked at.
        """
        before = self._here
        top, base, ends = self._reading(column)
        for one, end in reversed(ends):
            # by another way to read the text there never was such a part
            if end is not None:
                ended.append((_ended(one.span, self._parse.columns[end].offset), end))
        for frame in _outwards(before.top, base):
            del self._frames[frame.item]
        self._frames.update((frame.item, frame) for frame in _outwards(top, base))
        height = -1 if base is None else base.height
        still = tuple(one for one in before.open if one.frame.height <= height)
        known = {one.frame.link: one.span for one in before.open[len(still) :]}
        told = min(before.told, height + 1)
        self._here = self._shown(_Standing(top, still, told), known, column)

    def _reading(
        self, column: int
    ) -> tuple[_Frame | None, _Frame | None, list[tuple[_Open, int | None]]]:
        """The way to read the text that goes on best from the one so far: the most of what was open is there or ended.

        The innermost frame by it, the one of those before that it lies in, and the spans that are not open any more,
        each with the column where it ended.
        """
        spans = self._here.open
        best: tuple[_Frame | None, _Frame | None, list[tuple[_Open, int | None]]]
        best = None, None, [(one, None) for one in spans]
        most = -1
        for fresh, known in self._parse.ways_up(column, self._frames):
            base = None if known is None else self._frames[known]
            top = self._grown(base, fresh)
            links = {frame.link for frame in _outwards(top, base)}
            height = -1 if base is None else base.height
            gone = [o for o in spans if o.frame.height > height and o.frame.link not in links]
            ends = [(one, self._end(one, top, column)) for one in gone]
            found = len(spans) - sum(end is None for _, end in ends)
            if found > most:
                best, most = (top, base, ends), found
            if most == len(spans):
                break
        return best

    def _grown(self, base: _Frame | None, fresh: Sequence[Item]) -> _Frame | None:
        """The innermost frame of some items, innermost first, that lie in one that there is."""
        top = base
        for item in reversed(fresh):
            caller, height = (None, 0) if top is None else (top.item, top.height + 1)
            top = _Frame(item, top, height, self._parse.link(item, caller))
        return top

    def _end(self, one: _Open, top: _Frame | None, column: int) -> int | None:
        assert one.frame.link is not None
        return self._parse.end_of(one.frame.link, (f.item for f in _outwards(top, None)), column)

    def _shown(self, here: _Standing, known: Mapping[Link | None, Span], column: int) -> _Standing:
        """Look at the frames that were not looked at: those with a name of their own, in which something was read."""
        new = list(takewhile(lambda frame: frame.height >= here.told, _outwards(here.top, None)))
        spans, told = list(here.open), here.told
        for frame in reversed(new):
            link = frame.link
            last = "" if frame.outer is None else frame.outer.path
            if link is None or len(spans) == MAX_DEPTH:
                frame.path = last
            elif link.column == column:
                break
            else:
                around = spans[-1].span if spans else None
                start = self._parse.columns[link.column].offset
                named = self._names.of(link)
                frame.path = named[2] if named else ""
                is_new = around is None or frame.path != last or not _is_same(around, start)
                if named is not None and is_new:
                    span = known.get(link) or self._span(named, start, len(spans), around)
                    spans.append(_Open(frame, replace(span, depth=len(spans))))
            told = frame.height + 1
        return _Standing(here.top, tuple(spans), told)

    def _span(self, named: _Name, start: int, depth: int, around: Span | None) -> Span:
        label, kind, path = named
        if kind == "item":
            label = f"[{self._number(around.start if around else 0, start)}]"
        elif label is None:
            label = _key_before(bytes(self._parse.data[:start][-8 * _LONGEST :])) or "member"
        return Span(_short(label), kind, path, start, None, depth)

    def _number(self, array: int, start: int) -> int:
        """The number of the item that begins at an offset, from 0, in the array in the span that begins at another."""
        latest, number = self._items.get(array, (-1, 0))
        if latest != start:
            data = self._parse.data
            if 0 <= latest < start:
                number += _commas(data[latest:start], 0)
            else:
                number = _commas(data[array:start], 1)
            self._items[array] = start, number
        return number


def _outwards(frame: _Frame | None, base: _Frame | None) -> Iterator[_Frame]:
    """A frame and those around it, up to one that is not among them."""
    while frame is not base:
        assert frame is not None
        yield frame
        frame = frame.outer


def _is_same(around: Span, start: int) -> bool:
    """Whether what is written at the same place is no part of its own: the value of a member, a rule in a capture."""
    return around.kind == "member" or around.start == start


class _Names:
    """What the parts of a grammar are called."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.captures = captured(grammar.rules)
        self._known: dict[tuple[str, Origin | None], _Name | None] = {}

    def of(self, link: Link) -> _Name | None:
        """What a part is called; None for one that is not told."""
        key = link.rule, link.place
        if key not in self._known:
            self._known[key] = self._name(link.rule, link.place)
        return self._known[key]

    def _name(self, rule: str, place: Origin | None) -> _Name | None:
        if rule in self.captures:
            return self.captures[rule], "capture", rule
        pointer = place.pointer if place is not None else None
        if pointer is not None and "#" in pointer.rpartition(" › ")[2]:
            return self._member(pointer)
        owner, name = _owner(self.grammar, rule)
        if owner.kind not in _NAMED or name == owner.start:
            return None
        if owner.kind == "composed" and is_unnamed(name, named_parts(owner).get(name)):
            return None
        return name, "rule", rule

    def _member(self, pointer: str) -> _Name | None:
        """Of a place of a schema."""
        *before, last = pointer.partition("#")[2].split("/")
        word = before[-1] if before else ""
        if word in ("properties", "$defs", "definitions", "dependentSchemas"):
            kind: Kind = "member" if word == "properties" else "rule"
            return last.replace("~1", "/").replace("~0", "~"), kind, pointer
        if last in ("additionalProperties", "unevaluatedProperties") or word == "patternProperties":
            return None, "member", pointer
        if last in ("items", "additionalItems", "unevaluatedItems", "contains") or word in (
            "prefixItems",
            "items",
        ):
            return None, "item", pointer
        if word in ("anyOf", "oneOf"):
            grammar, at = home(self.grammar, Origin(pointer))
            found: Any = at_pointer(grammar.source, at.pointer or "#")
            title = found.get("title") if isinstance(found, dict) else None
            label = title if isinstance(title, str) and title else f"{word}[{last}]"
            return label, "alternative", pointer
        return None


def _owner(grammar: Grammar, rule: str) -> tuple[Grammar, str]:
    """The grammar that a rule was written in, and its name there."""
    while True:
        head, dot, rest = rule.partition(".")
        parts = named_parts(grammar)
        if not dot or head not in parts:
            return grammar, rule
        grammar, rule = parts[head], rest


def _ended(span: Span, end: int) -> Span:
    return replace(span, end=end)


def _key_before(data: bytes) -> str | None:
    """The name of the member whose value follows a JSON text; None where that does not show."""
    found = _KEY.search(data.decode("utf-8", "replace"))
    if found is None:
        return None
    try:
        return str(json.loads(found.group(1)))
    except ValueError:
        return None


def _short(label: str) -> str:
    label = " ".join(label.split())
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _commas(data: bytes | bytearray, level: int) -> int:
    """The commas of a JSON text that stand in so many brackets, and in no string."""
    found = depth = 0
    in_string = escaped = False
    for byte in data:
        if in_string:
            in_string = escaped or byte != 0x22
            escaped = byte == 0x5C and not escaped
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
        elif byte in b"]}":
            depth -= 1
        elif byte == 0x2C and depth == level:
            found += 1
    return found
