"""Boolean operations on regular expressions of the representation: both, the one without the other, not.

``intersect``, ``difference`` and ``complement`` take expressions and give a :class:`Graph`: trimmed,
minimal and deterministic; one without final states when no text is left. Uses of rules are followed; the rules must
not be recursive, or only at the end of what they say (``digits ::= [0-9] digits | ""``), or only at its
beginning. Anything else raises :class:`NotRegular`.

What a complement is taken of. When every part spells whole characters - its leaves are character sets,
literals that are UTF-8, sets of ASCII bytes - the complement holds all other *texts*: sequences of
Unicode scalar values, in UTF-8. When any part of the operation has a leaf that is less than a character
(``ByteSet`` with a byte above 0x7F, a literal that is not UTF-8) it holds all other *byte strings*. Both
and difference mean the same bytes either way.

>>> from workbench.grammar.ir import CharSet, Repeat, literal
>>> letters = Repeat(CharSet(((97, 122),)), 0, None)
>>> no_end = difference(letters, literal("end"))
>>> no_end.n_states, len(no_end.finals)
(5, 4)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from workbench.automaton import finite
from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.finite import Dfa
from workbench.automaton.linear import NotRegular, resolve
from workbench.grammar.ir import (
    NEVER,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Origin,
    Repeat,
    children,
)
from workbench.grammar.rewriting import rewrite
from workbench.grammar.utf8 import utf8_graph

__all__ = ["NotRegular", "complement", "difference", "inclusions", "intersect"]

_ASCII = (1 << 128) - 1
_BYTES = CharSet(((0, 255),))
_Ranges = tuple[tuple[int, int], ...]


def intersect(
    *parts: Expr,
    rules: Mapping[str, Expr] | None = None,
    names: Sequence[str] = (),
    max_states: int | None = None,
    origin: Origin | None = None,
) -> Graph:
    """Give the texts that belong to every part; ``rules`` are those that the parts use.

    Raises ``NotRegular``, and ``GrammarTooComplex`` when an automaton has more than ``max_states`` states
    (by default those of the budgets) or takes too much work to make; it is named by what ``names`` calls the parts.
    """
    if not parts:
        raise ValueError("an intersection has parts")
    work = _Work(parts, rules, names, max_states)
    return work.graph(work.joined([work.dfa(i) for i in range(len(parts))]), origin)


def difference(
    part: Expr,
    *others: Expr,
    rules: Mapping[str, Expr] | None = None,
    names: Sequence[str] = (),
    max_states: int | None = None,
    origin: Origin | None = None,
) -> Graph:
    """Give the texts of ``part`` that belong to none of the others. Raises as ``intersect`` does."""
    work = _Work((part, *others), rules, names, max_states)
    kept = [finite.complement(work.dfa(i)) for i in range(1, len(others) + 1)]
    return work.graph(work.joined([work.dfa(0), *kept]), origin)


def complement(
    part: Expr,
    *,
    rules: Mapping[str, Expr] | None = None,
    names: Sequence[str] = (),
    max_states: int | None = None,
    origin: Origin | None = None,
) -> Graph:
    """Give the texts that do not belong to ``part`` (the byte strings, see above). Raises as ``intersect``."""
    work = _Work((part,), rules, names, max_states)
    others = finite.complement(work.dfa(0))
    return work.graph(work.joined([others, *work.universe()]), origin)


def inclusions(
    parts: Sequence[Expr], rules: Mapping[str, Expr] | None = None
) -> set[tuple[int, int]]:
    """Which parts have no text that another one lacks: pairs of their numbers, the smaller language first.

    Raises as ``intersect`` does.
    """
    work = _Work(parts, rules, (), None)
    dfas = [work.dfa(number) for number in range(len(parts))]
    others = [finite.complement(dfa) for dfa in dfas]
    return {
        (one, other)
        for one, dfa in enumerate(dfas)
        for other, rest in enumerate(others)
        if one != other and finite.intersect(dfa, rest).is_empty
    }


class _Work:
    """One operation: its parts without references, over one alphabet.

    Bytes are handled as the code points of their numbers, so that ``finite`` serves for both.
    """

    def __init__(
        self,
        parts: Sequence[Expr],
        rules: Mapping[str, Expr] | None,
        names: Sequence[str],
        max_states: int | None,
    ) -> None:
        self.max_states = in_force().finite_states if max_states is None else max_states
        self.names = [*names, *[f"part {i + 1}" for i in range(len(names), len(parts))]]
        plain = resolve(parts, rules or {})
        self.bytes = not all(map(_is_text, _leaves(plain)))
        spell = _byte_leaf if self.bytes else _text_leaf
        seen: dict[int, Expr] = {}
        self.parts = [rewrite(part, spell, seen) for part in plain]

    def dfa(self, number: int) -> Dfa:
        """The minimal automaton of a part."""
        name = self.names[number]
        return self.checked(finite.determinise(self.parts[number], rule=name), name)

    def checked(self, dfa: Dfa, name: str) -> Dfa:
        small = finite.minimise(dfa)
        if len(small.table) > self.max_states:
            raise too_complex("finite_states", name, limit=self.max_states)
        return small

    def joined(self, dfas: Sequence[Dfa]) -> Dfa:
        """The automaton of what all accept, the smallest ones first."""
        name = " and ".join(self.names[:3]) + (" and others" if len(self.names) > 3 else "")
        return reduce(
            lambda left, right: self.checked(finite.intersect(left, right, rule=name), name),
            sorted(dfas, key=lambda dfa: len(dfa.table)),
        )

    def universe(self) -> list[Dfa]:
        """What has to be joined to a complement; nothing where characters are meant."""
        return [finite.determinise(Repeat(_BYTES, 0, None))] if self.bytes else []

    def graph(self, dfa: Dfa, origin: Origin | None) -> Graph:
        """Write an automaton as an expression."""

        def label(ranges: _Ranges) -> Expr:
            if not self.bytes:
                return CharSet(ranges, origin=origin)
            mask = sum((1 << high + 1) - (1 << low) for low, high in ranges)
            return ByteSet(mask, origin=origin)

        if not dfa.finals:
            return Graph(1, 0, (), (), origin=origin)
        made = finite.to_graph(finite.minimise(dfa), label)
        return Graph(made.n_states, made.start, made.finals, made.edges, origin=origin)


def _leaves(parts: Iterable[Expr]) -> list[Expr]:
    """The leaves below some expressions, each object once."""
    seen: set[int] = set()
    found = []
    todo = list(parts)
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        below = children(part)
        todo.extend(below)
        if not below:
            found.append(part)
    return found


def _is_text(leaf: Expr) -> bool:
    """Whether a leaf spells whole characters."""
    if isinstance(leaf, ByteSet):
        return leaf.mask & ~_ASCII == 0
    if isinstance(leaf, Literal):
        try:
            leaf.data.decode("utf-8")
        except UnicodeDecodeError:
            return False
    return True


def _text_leaf(part: Expr) -> Expr | None:
    if isinstance(part, ByteSet):
        return CharSet(_mask_ranges(part.mask))
    return _counted(part)


def _byte_leaf(part: Expr) -> Expr | None:
    if isinstance(part, ByteSet):
        return CharSet(_mask_ranges(part.mask))
    if isinstance(part, Literal):
        codes = [CharSet(((byte, byte),)) for byte in part.data]
        edges = tuple((at, code, at + 1) for at, code in enumerate(codes))
        return Graph(len(codes) + 1, 0, (len(codes),), edges)
    if isinstance(part, CharSet):
        n, steps = utf8_graph(part.ranges)
        spelled = tuple((a, CharSet(((low, high),)), b) for a, low, high, b in steps)
        return Graph(n, 0, (1,), spelled)
    return _counted(part)


def _counted(part: Expr) -> Expr | None:
    """A count that cannot be met is the empty language."""
    if isinstance(part, Repeat) and part.max is not None and part.max < part.min:
        return NEVER
    return None


def _mask_ranges(mask: int) -> _Ranges:
    ranges: list[tuple[int, int]] = []
    for byte in range(256):
        if mask >> byte & 1:
            if ranges and ranges[-1][1] == byte - 1:
                ranges[-1] = (ranges[-1][0], byte)
            else:
                ranges.append((byte, byte))
    return tuple(ranges)
