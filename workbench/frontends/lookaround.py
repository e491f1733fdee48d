r"""Patterns with look-around, word boundaries and anchors anywhere, as automata.

A pattern becomes positions with empty edges, some of them guarded: by an end of the text, a word
boundary, or another pattern that must (not) match from here on. Reading a text from its end to its
start, "can the rest be matched from this position?" is a bit for each position, and the bits at one
character follow from those after it: a deterministic automaton over reversed texts, whose reverse is
the language. Guards look at the character before as well, so they are decided one character late.

What a look-behind asks is known only to who reads from the start: ``lookbehind`` pairs the two. Back-references
are not regular, and not supported.

>>> look_automaton("^(?!no$)[a-z]+$").accepts("no"), look_automaton("^(?!no$)[a-z]+$").accepts("nor")
(False, True)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.finite import Dfa, determinise, minimise
from workbench.automaton.subsets import Meter, Ranges, partition
from workbench.frontends.regex_chars import Scanner
from workbench.frontends.unicode_sets import LINE_TERMINATORS, WORD
from workbench.grammar.ir import EMPTY, CharSet, Expr, Graph

__all__ = ["Guarded", "Positions", "look_automaton", "looks_around", "parse_looking", "ranges_of"]

_QUANTIFIER = re.compile(r"([*+?]|\{([0-9]+)(?:(,)([0-9]*))?\})(\??)")
_GROUP = re.compile(r"\((?:\?(?::|<?=|<?!|P?<[^\W\d]\w*>))?")
#: Escaped characters and classes, which hide what looks around, and this.
_LOOKS = re.compile(
    r"\\[^bB]|\[(?:\\.|[^\]\\])*\]|(\(\?<?[=!]|\(\?[a-z]*m[a-z-]*[:)]|\\[bB])", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Guarded:
    """What has to hold where an empty edge is taken.

    ``start``, ``end``, ``word``; ``look`` that the pattern at position ``entry`` matches from here on;
    ``behind`` that the one that ends at ``entry`` matches up to here.
    """

    kind: str
    positive: bool = True
    entry: int = 0


@dataclass(slots=True)
class Positions:
    """Empty edges (with guards) and edges over sets; ``accepting`` are the ends of patterns.

    ``layers`` holds the positions of each pattern, inner ones before those that look at them; ``behind`` the
    layers that are read from the start of the text, with where each begins.
    """

    empty: list[list[tuple[int, Guarded | None]]] = field(default_factory=list)
    moves: list[list[tuple[int, int]]] = field(default_factory=list)
    sets: dict[Ranges, int] = field(default_factory=dict)
    accepting: int = 0
    layers: list[list[int]] = field(default_factory=list)
    behind: dict[int, int] = field(default_factory=dict)

    def new(self, layer: list[int]) -> int:
        """One more position."""
        if len(self.empty) >= in_force().pattern_positions:
            raise too_complex("pattern_positions")
        self.empty.append([])
        self.moves.append([])
        layer.append(len(self.empty) - 1)
        return len(self.empty) - 1


#: Adds a part of a pattern between two positions.
_Part = Callable[[Positions, list[int], int, int], None]


def _set(ranges: Ranges) -> _Part:
    def add(made: Positions, layer: list[int], source: int, target: int) -> None:
        number = made.sets.setdefault(ranges, len(made.sets))
        made.moves[source].append((number, target))

    return add


def _guarded(kind: str, positive: bool = True) -> _Part:
    def add(made: Positions, layer: list[int], source: int, target: int) -> None:
        made.empty[source].append((target, Guarded(kind, positive)))

    return add


def _look(body: _Part, positive: bool) -> _Part:
    def add(made: Positions, layer: list[int], source: int, target: int) -> None:
        inner: list[int] = []
        first, last = made.new(inner), made.new(inner)
        body(made, inner, first, last)
        made.accepting |= 1 << last
        made.layers.append(inner)
        made.empty[source].append((target, Guarded("look", positive, first)))

    return add


def _behind(body: _Part, positive: bool) -> _Part:
    def add(made: Positions, layer: list[int], source: int, target: int) -> None:
        inner: list[int] = []
        first, last = made.new(inner), made.new(inner)
        body(made, inner, first, last)
        made.behind[len(made.layers)] = first
        made.layers.append(inner)
        made.empty[source].append((target, Guarded("behind", positive, last)))

    return add


def _in_row(parts: list[_Part]) -> _Part:
    def add(made: Positions, layer: list[int], source: int, target: int) -> None:
        at = source
        for part in parts:
            then = made.new(layer)
            part(made, layer, at, then)
            at = then
        made.empty[at].append((target, None))

    return add


def _either(parts: list[_Part]) -> _Part:
    def add(made: Positions, layer: list[int], source: int, target: int) -> None:
        for part in parts:
            first = made.new(layer)
            made.empty[source].append((first, None))
            part(made, layer, first, target)

    return add


def _repeated(part: _Part, least: int, most: int | None) -> _Part:
    def add(made: Positions, layer: list[int], source: int, target: int) -> None:
        at = source
        for number in range(least if most is None else most):
            if number >= least:
                made.empty[at].append((target, None))
            then = made.new(layer)
            part(made, layer, at, then)
            at = then
        if most is None:
            loop, back = made.new(layer), made.new(layer)
            made.empty[at].append((loop, None))
            part(made, layer, loop, back)
            made.empty[back].append((loop, None))
            at = loop
        made.empty[at].append((target, None))

    return add


class _Parser:
    """Reads a pattern by recursive descent; raises ``GrammarSyntaxError`` with the position."""

    def __init__(
        self, text: str, pointer: str | None, ignore_case: bool = False, extended: bool = False
    ) -> None:
        self.text = text
        self.scan = Scanner(text, ignore_case=ignore_case, pointer=pointer, extended=extended)

    def parse(self) -> _Part:
        part = self._choice(0)
        if self.scan.pos < len(self.text):
            self.scan.fail("this ')' closes no group", self.scan.pos, self.scan.pos + 1)
        return part

    def _choice(self, depth: int) -> _Part:
        if depth > 100:
            self.scan.fail("groups are nested too deeply", self.scan.pos, self.scan.pos + 1)
        parts = [self._sequence(depth)]
        while self.text.startswith("|", self.scan.pos):
            self.scan.pos += 1
            parts.append(self._sequence(depth))
        return parts[0] if len(parts) == 1 else _either(parts)

    def _sequence(self, depth: int) -> _Part:
        parts: list[_Part] = []
        self.scan.skip()
        while self.scan.pos < len(self.text) and self.text[self.scan.pos] not in "|)":
            parts.append(self._quantified(self._item(depth)))
            self.scan.skip()
        return _in_row(parts)

    def _item(self, depth: int) -> _Part:
        scan, text = self.scan, self.text
        start = scan.pos
        char = text[start]
        if char in "^$":
            scan.pos += 1
            return self._anchor(char == "^")
        if text.startswith(("\\A", "\\Z", "\\z"), start):
            scan.pos += 2
            return _guarded("start" if text[start + 1] == "A" else "end")
        if text.startswith(("\\b", "\\B"), start):
            scan.pos += 2
            return _guarded("word", text[start + 1] == "b")
        if char in "*+?" or (char == "{" and _QUANTIFIER.match(text, start)):
            scan.fail("there is nothing to repeat here", start, start + 1)
        if char != "(":
            return _set(scan.atom())
        outside = scan.flags
        if scan.scoped_flags():
            body = self._group(start, depth)
            scan.flags = outside
            return body
        match = _GROUP.match(text, start)
        assert match is not None
        if text.startswith("(?", start) and match.end() == start + 1:
            scan.fail("this kind of group is not supported", start, start + 3)
        scan.pos = match.end()
        body = self._group(start, depth)
        if match[0] in ("(?=", "(?!"):
            return _look(body, match[0] == "(?=")
        if match[0] in ("(?<=", "(?<!"):
            if repeat := _QUANTIFIER.match(text, scan.pos):
                scan.fail("a look-behind cannot be repeated", start, repeat.end())
            return _behind(body, match[0] == "(?<=")
        return body

    def _group(self, start: int, depth: int) -> _Part:
        """What stands in the group that began at ``start``, and its end."""
        body = self._choice(depth + 1)
        if not self.text.startswith(")", self.scan.pos):
            self.scan.fail("this group is never closed: ')' is missing", start, start + 1)
        self.scan.pos += 1
        return body

    def _anchor(self, at_start: bool) -> _Part:
        """``^`` or ``$``: an end of the text, with the flag m of a line as well."""
        end = _guarded("start" if at_start else "end")
        if not self.scan.multiline:
            return end
        line = _set(LINE_TERMINATORS)
        return _either([end, _behind(line, True) if at_start else _look(line, True)])

    def _quantified(self, part: _Part) -> _Part:
        self.scan.skip()
        match = _QUANTIFIER.match(self.text, self.scan.pos)
        if match is None:
            return part
        self.scan.pos = match.end()
        if match[2] is None:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[match[1]]
        else:
            least = int(match[2][:9])
            most = least if match[3] is None else int(match[4][:9]) if match[4] else None
        if most is not None and most < least:
            self.scan.fail("the least count is above the greatest", *match.span())
        return _repeated(part, least, most)


def looks_around(pattern: str) -> bool:
    """Whether a pattern holds look-around, a word boundary or the flag for ends of lines."""
    return any(found[1] for found in _LOOKS.finditer(pattern))


def parse_looking(
    pattern: str,
    pointer: str | None = None,
    *,
    ignore_case: bool = False,
    extended: bool = False,
) -> None:
    """Check that a pattern can be read here. Raises ``GrammarSyntaxError``."""
    _Parser(pattern, pointer, ignore_case, extended).parse()


@lru_cache(maxsize=256)
def look_automaton(
    pattern: str, *, whole: bool = False, ignore_case: bool = False, extended: bool = False
) -> Dfa:
    """The minimal automaton of the texts that hold a match of a pattern, or are one (``whole``).

    Raises ``GrammarTooComplex``, naming the pattern, when it needs too many states.
    """
    from workbench.frontends.lookbehind import pairs

    part = _Parser(pattern, None, ignore_case, extended).parse()
    if whole:
        part = _in_row([_guarded("start"), part, _guarded("end")])
    made = Positions()
    layer: list[int] = []
    first, last = made.new(layer), made.new(layer)
    part(made, layer, first, last)
    made.accepting |= 1 << last
    made.layers.append(layer)
    made.sets.setdefault(WORD, len(made.sets))
    graph = pairs(made, first, pattern) if made.behind else _Backwards(made, first, pattern).graph()
    return minimise(determinise(graph, rule=pattern))


def ranges_of(bounds: list[int], classes: list[int], count: int) -> list[Ranges]:
    """The code points of each class."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    ends = (*bounds[1:], 0x110000)
    for low, end, kind in zip(bounds, ends, classes, strict=True):
        if kind >= 0:
            found[kind].append((low, end - 1))
    return [tuple(ranges) for ranges in found]


#: Bits of positions before guards are decided, whether a word character follows, whether the text ends
#: here, and whether a match has been found.
_State = tuple[int, bool, bool, bool]


class _Backwards:
    """The automaton that reads texts from their end."""

    def __init__(self, made: Positions, first: int, pattern: str) -> None:
        self.made = made
        self.first = first
        self.pattern = pattern
        self.bounds, self.classes, self.members = partition(made.sets)
        #: per class of characters: positions (bits) that read one, and where they lead (bits)
        self.steps = [
            [
                (1 << position, 1 << target)
                for position, moves in enumerate(made.moves)
                for number, target in moves
                if inside >> number & 1
            ]
            for inside in self.members
        ]
        self.meter = Meter(pattern)

    def graph(self) -> Expr:
        """Explore it, and turn its edges around."""
        word = self.made.sets[WORD]
        labels = ranges_of(self.bounds, self.classes, len(self.members))
        start: _State = (0, False, True, False)
        number_of = {start: 1}
        queue = [start]
        edges: list[tuple[int, Expr, int]] = []
        for state in queue:
            if self._found(state, before=None):
                edges.append((0, EMPTY, number_of[state]))
            closed = {before: self._closed(state, before) for before in (True, False)}
            for kind, inside in enumerate(self.members):
                before = bool(inside >> word & 1)
                bits, after, steps = 0, closed[before], self.steps[kind]
                self.meter.spend(len(steps) >> 3)
                for position, target in steps:
                    if after & target:
                        bits |= position
                found = state[3] or bool(closed[before] >> self.first & 1)
                target_state: _State = (
                    (0, False, False, True) if found else (bits, before, False, False)
                )
                if target_state not in number_of:
                    number_of[target_state] = len(queue) + 1
                    queue.append(target_state)
                    if len(queue) > in_force().pattern_states:
                        raise too_complex("pattern_states", self.pattern)
                edges.append((number_of[target_state], CharSet(labels[kind]), number_of[state]))
        return Graph(len(queue) + 1, 0, (1,), tuple(edges))

    def _found(self, state: _State, before: bool | None) -> bool:
        return state[3] or bool(self._closed(state, before) >> self.first & 1)

    def _closed(self, state: _State, before: bool | None) -> int:
        """The positions from which the rest can be matched, given the character before (None: none)."""
        bits, word_next, at_end, found = state
        if found:
            return 0
        bits |= self.made.accepting
        for layer in self.made.layers:
            changed = True
            while changed:
                changed = False
                self.meter.spend(len(layer) >> 3)
                for position in reversed(layer):
                    if bits >> position & 1:
                        continue
                    for target, guard in self.made.empty[position]:
                        if bits >> target & 1 and (
                            guard is None or self._holds(guard, bits, word_next, at_end, before)
                        ):
                            bits |= 1 << position
                            changed = True
                            break
        return bits

    def _holds(
        self, guard: Guarded, bits: int, word_next: bool, at_end: bool, before: bool | None
    ) -> bool:
        if guard.kind == "start":
            return before is None
        if guard.kind == "end":
            return at_end
        if guard.kind == "word":
            return (word_next != bool(before)) == guard.positive
        return bool(bits >> guard.entry & 1) == guard.positive
