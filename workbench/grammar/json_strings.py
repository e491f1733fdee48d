r"""Texts in JSON strings: a deterministic automaton over characters as one over the bytes of their spellings.

Each state gets its own first bytes; what is left of a character after them (UTF-8 continuation bytes,
hexadecimal digits, the second half of a pair) is a state shared by all that continue alike. So the
result is deterministic again, and a class that most states share costs its states only once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from workbench.errors import GrammarTooComplex
from workbench.grammar.ir import ByteSet, CharSet, Expr, Graph, JsonStyle, OtherText

__all__ = ["RAW", "SHORT", "coded", "other_texts", "spelled_out"]

#: Characters that may stand for themselves.
RAW = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF))
_RAW_ASCII = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E))
#: Characters with a short escape, and its letter.
SHORT = {0x22: '"', 0x5C: "\\", 0x2F: "/", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t"}

#: First and last character of a run of characters, and the state that they lead to.
_Step = tuple[int, int, int]
_Steps = tuple[_Step, ...]

#: First and last code point, bits after the lead byte, and the byte that a lead byte of zero would be.
_UTF8 = ((0x80, 0x7FF, 6, 0xC0), (0x800, 0xFFFF, 12, 0xE0), (0x10000, 0x10FFFF, 18, 0xF0))

#: Most runs of characters that one state may tell apart, and most states, for this form to pay:
#: automata that count characters have few remainders in common.
_MAX_STEPS = 40
_MAX_STATES = 200


def coded(graph: Graph) -> Graph | None:
    """Spell a deterministic graph over ``CharSet`` labels in bytes.

    Returns ``None`` where sharing whole character classes is smaller.
    """
    steps: list[list[_Step]] = [[] for _ in range(graph.n_states)]
    for source, label, target in graph.edges:
        if not isinstance(label, CharSet):
            return None
        steps[source].extend((low, high, target) for low, high in label.ranges)
    if graph.n_states > _MAX_STATES or max(map(len, steps), default=0) > _MAX_STEPS:
        return None
    coder = _Coder(graph.n_states)
    for state, found in enumerate(steps):
        coder.character(state, _joined(_without_surrogates(sorted(found))))
    return Graph(coder.n_states, graph.start, graph.finals, tuple(coder.edges), origin=graph.origin)


#: Bytes of one hexadecimal digit in either case, of all of them, and of the letters of short escapes.
_DIGIT = [1 << ord(f"{digit:x}") | 1 << ord(f"{digit:X}") for digit in range(16)]
_ALL_DIGITS = sum(set(_DIGIT[:10])) | sum(_DIGIT[10:])
_ALL_SHORT = sum(1 << ord(letter) for letter in SHORT.values())


@lru_cache(maxsize=4096)
def _byte_set(mask: int) -> ByteSet:
    return ByteSet(mask)


def spelled_out(text: OtherText) -> Expr:
    """A text that is watched as an expression of the other kinds.

    Raises ``GrammarTooComplex`` for a fresh one: no expression says that a text comes once.
    """
    if text.fresh:
        raise GrammarTooComplex("texts that may come once, written out", 0)
    return text.opened(other_texts(text.texts, text.style) if text.texts else text.body)


def other_texts(texts: Iterable[str], style: JsonStyle = "any") -> Graph:
    """Every text but the given ones, in bytes: a tree of their characters with a way out at each step."""
    children, ends = _tree(texts)
    free = len(children)
    coder = _Coder(free + 1, style)
    if style == "plain":
        for node, branches in enumerate([*children, {}]):
            coder.character(node, _steps_of(branches, free))
    else:
        unlike = _Unlike(coder, free)
        for node, branches in enumerate(children):
            if all(code < 0x80 for code in branches):
                unlike.character(node, branches)
            else:
                coder.character(node, _steps_of(branches, free))
    finals = tuple(node for node in range(free + 1) if node not in ends)
    return Graph(coder.n_states, 0, finals, tuple(coder.edges))


def _tree(texts: Iterable[str]) -> tuple[list[dict[int, int]], set[int]]:
    """A tree of the characters of some texts: the children of each node, and where a text ends.

    Texts with a lone surrogate cannot be written and are left out.
    """
    children: list[dict[int, int]] = [{}]
    ends: set[int] = set()
    for text in texts:
        if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
            continue
        at = 0
        for char in text:
            then = children[at].get(ord(char))
            if then is None:
                then = children[at][ord(char)] = len(children)
                children.append({})
            at = then
        ends.add(at)
    return children, ends


def _steps_of(branches: dict[int, int], free: int) -> _Steps:
    """Each character to its child, all others to the free state."""
    steps: list[_Step] = []
    at = 0
    for code, child in sorted(branches.items()):
        if at < code:
            steps.append((at, code - 1, free))
        steps.append((code, code, child))
        at = code + 1
    if at <= 0x10FFFF:
        steps.append((at, 0x10FFFF, free))
    return _joined(_without_surrogates(steps))


class _Coder:
    """States and edges made so far; equal remainders are one state."""

    def __init__(self, n_states: int, style: JsonStyle = "any") -> None:
        self.n_states = n_states
        self._raw = _RAW_ASCII if style == "ascii" else RAW
        #: whether there are escapes with numbers
        self._numbered = style != "plain"
        self.edges: list[tuple[int, Expr, int]] = []
        self._known: dict[Hashable, int] = {}

    def _state(self, key: Hashable) -> tuple[int, bool]:
        known = self._known.get(key)
        if known is not None:
            return known, False
        self._known[key] = self.n_states
        self.n_states += 1
        return self.n_states - 1, True

    def connect(self, source: int, masks: dict[int, int]) -> None:
        self.edges.extend(
            [(source, _byte_set(mask), target) for target, mask in masks.items() if mask]
        )

    def character(self, source: int, steps: _Steps) -> None:
        """Edges for one character, in all of its spellings."""
        masks = self.raw(steps)
        if steps:
            masks[self._escape(steps)] = 1 << ord("\\")
        self.connect(source, masks)

    def raw(self, steps: _Steps) -> dict[int, int]:
        """First bytes of the characters that stand for themselves, by the state they lead to."""
        masks: dict[int, int] = {}
        raw = _joined(
            (max(low, first), min(high, last), target)
            for low, high, target in steps
            for first, last in self._raw
            if low <= last and high >= first
        )
        for low, high, target in raw:
            for code in range(low, min(high, 0x7F) + 1):
                masks[target] = masks.get(target, 0) | 1 << code
        for first, last, bits, lead in _UTF8:
            for low, high, rest in _cut(_within(raw, first, last), 1 << bits):
                target = self._continuation(bits, rest)
                for digit in range(low, high + 1):
                    masks[target] = masks.get(target, 0) | 1 << (lead + digit)
        return masks

    def _continuation(self, bits: int, steps: _Steps) -> int:
        state, new = self._state(("utf-8", bits, steps))
        if new:
            masks: dict[int, int] = {}
            for low, high, rest in _cut(steps, 1 << (bits - 6)):
                target = rest[0][2] if bits == 6 else self._continuation(bits - 6, rest)
                for digit in range(low, high + 1):
                    masks[target] = masks.get(target, 0) | 1 << (0x80 + digit)
            self.connect(state, masks)
        return state

    def _escape(self, steps: _Steps) -> int:
        """The state after a backslash."""
        state, new = self._state(("escape", steps))
        if new:
            masks: dict[int, int] = {}
            for code, letter in SHORT.items():
                for low, high, target in steps:
                    if low <= code <= high:
                        masks[target] = masks.get(target, 0) | 1 << ord(letter)
            if self._numbered:
                target = self._hexadecimal(4, self._units(steps))
                masks[target] = masks.get(target, 0) | 1 << ord("u")
            self.connect(state, masks)
        return state

    def _units(self, steps: _Steps) -> _Steps:
        """Characters as UTF-16 units; the first half of a pair leads to where the second is read."""
        units = list(_within(steps, 0, 0xFFFF))
        beyond = [
            (low - 0x10000, high - 0x10000, target)
            for low, high, target in _within(steps, 0x10000, 0x10FFFF)
        ]
        for low, high, rest in _cut(beyond, 0x400):
            units.append((0xD800 + low, 0xD800 + high, self._second_half(rest)))
        return _joined(sorted(units))

    def first_digits(self, steps: _Steps) -> dict[int, int]:
        """The first hexadecimal digits of an escape, by the state they lead to."""
        masks: dict[int, int] = {}
        for low, high, rest in _cut(self._units(steps), 0x1000):
            target = self._hexadecimal(3, rest)
            for digit in range(low, high + 1):
                masks[target] = masks.get(target, 0) | _DIGIT[digit]
        return masks

    def any_digits(self, places: int, target: int) -> int:
        """The state from which any hexadecimal digits lead to a target."""
        return self._hexadecimal(places, ((0, 16**places - 1, target),))

    def _second_half(self, steps: _Steps) -> int:
        """The state after the first escape of a pair: a backslash, "u" and a low surrogate follow."""
        state, new = self._state(("second half", steps))
        if new:
            units = tuple((0xDC00 + low, 0xDC00 + high, target) for low, high, target in steps)
            middle, _ = self._state(("second u", steps))
            self.connect(state, {middle: 1 << ord("\\")})
            self.connect(middle, {self._hexadecimal(4, units): 1 << ord("u")})
        return state

    def _hexadecimal(self, places: int, steps: _Steps) -> int:
        state, new = self._state(("hexadecimal", places, steps))
        if new:
            masks: dict[int, int] = {}
            for low, high, rest in _cut(steps, 16 ** (places - 1)):
                target = rest[0][2] if places == 1 else self._hexadecimal(places - 1, rest)
                for digit in range(low, high + 1):
                    masks[target] = masks.get(target, 0) | _DIGIT[digit]
            self.connect(state, masks)
        return state


@dataclass(slots=True)
class _Unlike:
    """Fast edges for states that tell a few ASCII characters apart from all the others.

    All other characters lead to one state, ``free``; whatever it needs beyond a state's own bytes is
    made once.
    """

    coder: _Coder
    free: int
    bytes: dict[int, int] = field(init=False)
    digits: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        anything = ((0, 0xD7FF, self.free), (0xE000, 0x10FFFF, self.free))
        self.coder.character(self.free, anything)
        self.bytes = self.coder.raw(anything)
        self.digits = self.coder.first_digits(anything)

    def character(self, source: int, children: dict[int, int]) -> None:
        """Edges for one character: to its child, or else to the free state."""
        coder, free = self.coder, self.free
        masks = dict(self.bytes)
        short = {free: _ALL_SHORT}
        for code, child in children.items():
            if masks[free] >> code & 1:
                masks[free] ^= 1 << code
                masks[child] = 1 << code
            if code in SHORT:
                letter = 1 << ord(SHORT[code])
                short[free] ^= letter
                short[child] = letter
        first = coder.n_states
        escape, unit, second, third = range(first, first + 4)
        coder.n_states += 4
        masks[escape] = 1 << ord("\\")
        short[unit] = 1 << ord("u")
        zero_goes = next(target for target, mask in self.digits.items() if mask & _DIGIT[0])
        digits = dict(self.digits)
        digits[zero_goes] ^= _DIGIT[0]
        digits[second] = _DIGIT[0]
        coder.connect(source, masks)
        coder.connect(escape, short)
        coder.connect(unit, digits)
        two, one = coder.any_digits(2, free), coder.any_digits(1, free)
        coder.connect(second, {two: _ALL_DIGITS ^ _DIGIT[0], third: _DIGIT[0]})
        tails: dict[int, dict[int, int]] = {}
        for code, child in children.items():
            last = tails.setdefault(code >> 4, {free: _ALL_DIGITS})
            last[free] ^= _DIGIT[code & 15]
            last[child] = last.get(child, 0) | _DIGIT[code & 15]
        high = {one: _ALL_DIGITS}
        for digit, last in tails.items():
            state = coder.n_states
            coder.n_states += 1
            high[one] ^= _DIGIT[digit]
            high[state] = _DIGIT[digit]
            coder.connect(state, last)
        coder.connect(third, high)


def _within(steps: Sequence[_Step], first: int, last: int) -> _Steps:
    return tuple(
        (max(low, first), min(high, last), target)
        for low, high, target in steps
        if low <= last and high >= first
    )


def _without_surrogates(steps: Sequence[_Step]) -> list[_Step]:
    return [*_within(steps, 0, 0xD7FF), *_within(steps, 0xE000, 0x10FFFF)]


def _joined(steps: Iterable[_Step]) -> _Steps:
    """Join neighbouring runs that lead to the same state."""
    out: list[_Step] = []
    for low, high, target in steps:
        if out and out[-1][1] + 1 == low and out[-1][2] == target:
            out[-1] = (out[-1][0], high, target)
        else:
            out.append((low, high, target))
    return tuple(out)


def _cut(steps: Sequence[_Step], unit: int) -> list[tuple[int, int, _Steps]]:
    """Cut numbers into a first digit (in units) and the rest: runs of digits with the same rest."""
    whole: list[tuple[int, int, _Steps]] = []
    partial: dict[int, list[_Step]] = {}
    for low, high, target in steps:
        first, last = low // unit, high // unit
        if first == last:
            partial.setdefault(first, []).append((low % unit, high % unit, target))
            continue
        if low % unit:
            partial.setdefault(first, []).append((low % unit, unit - 1, target))
            first += 1
        if high % unit != unit - 1:
            partial.setdefault(last, []).append((0, high % unit, target))
            last -= 1
        if first <= last:
            whole.append((first, last, ((0, unit - 1, target),)))
    return whole + [(digit, digit, tuple(rest)) for digit, rest in partial.items()]
