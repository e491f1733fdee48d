"""Rules that read a text in two ways, found by following two readings of the same characters side by side.

Where both come to the same place, what is behind it completes the text. Readings are followed in the order of their
length, within a number of steps: what is found is sure (its ways are counted once more by ``ways``), what
is not found may be there in longer texts.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from workbench.diagnostics.lint.paths import END, Move, Paths, Ranges
from workbench.diagnostics.lint.subject import Subject
from workbench.diagnostics.lint.ways import ways
from workbench.grammar.ir import Alt, Expr, Graph, Ref, Repeat

__all__ = ["Ambiguity", "ambiguities"]

#: Characters of a text that is told.
_MOST_TEXT = 60
#: Least steps for one rule.
_LEAST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A rule, the part of it or of another one in which the readings part, and a text that shows it."""

    rule: str
    part: Expr
    text: str


def ambiguities(subject: Subject, steps: int, known: set[int]) -> tuple[list[Ambiguity], bool]:
    """One ambiguity for each rule that has one of its own; whether each rule was looked at to some depth.

    Rules come before those that use them, so that each part is told once. Readings that part in a part that is
    ``known``, by its id, are not told.
    """
    paths = Paths(subject.rules, subject.analysis)
    names = [name for members in subject.analysis.components for name in members]
    told = set(known)
    found: list[Ambiguity] = []
    share = max(_LEAST_STEPS, steps // max(1, len(names)))
    for name in names:
        if name not in subject.analysis.productive:
            continue
        if steps <= 0:
            return found, False
        search = _Search(paths, told, share)
        one = search.run(paths.place(Ref(name), END))
        steps -= search.steps
        if one is None:
            continue
        text, part = one
        if _is_sure(subject, name, text):
            told.add(id(part))
            found.append(Ambiguity(name, part, text))
    return found, True


def _is_sure(subject: Subject, name: str, text: str) -> bool:
    try:
        return len(text) <= _MOST_TEXT and ways(subject.rules, subject.rules[name], text) > 1
    except RecursionError:
        return False


#: Characters that were read, where one reading stands, where another does, and where they parted.
_Pair = tuple[str, int, int, Expr]


class _Search:
    """One search, breadth first: single readings, and pairs of readings that have parted."""

    def __init__(self, paths: Paths, told: set[int], most: int) -> None:
        self.paths = paths
        self.told = told
        self.most = most
        self._joins = 0
        self._before = paths.steps

    @property
    def steps(self) -> int:
        """The steps that were taken."""
        return self._joins + self.paths.steps - self._before

    def run(self, start: int) -> tuple[str, Expr] | None:
        """A text that is read in two ways, and the part in which they differ."""
        singles: deque[tuple[str, int]] = deque([("", start)])
        pairs: deque[_Pair] = deque()
        known: set[int] = {start}
        known_pairs: set[tuple[int, int]] = set()
        best: tuple[str, Expr] | None = None
        while (singles or pairs) and self.steps < self.most:
            head = min(len(queue[0][0]) for queue in (singles, pairs) if queue)
            if best is not None and head + 1 >= len(best[0]):
                break  # no text that is found from here on is shorter
            # the shorter texts first
            if pairs and len(pairs[0][0]) == head:
                text, one, other, part = pairs.popleft()
                moves, others = self.paths.moves(one), self.paths.moves(other)
                found = self._both(text, moves, others, part, pairs, known_pairs)
            else:
                text, place = singles.popleft()
                moves = self.paths.moves(place)
                found = self._apart(text, moves, pairs, known_pairs)
                for move in moves:
                    if (
                        move.label is not None
                        and move.place not in known
                        and len(text) < _MOST_TEXT
                    ):
                        known.add(move.place)
                        char = _shown(move.label)
                        if char is not None:
                            singles.append((text + char, move.place))
            best = _shorter(best, found)
        return best

    def _apart(
        self, text: str, moves: list[Move], pairs: deque[_Pair], known: set[tuple[int, int]]
    ) -> tuple[str, Expr] | None:
        """The ways on from one place, two by two."""
        best: tuple[str, Expr] | None = None
        for number, move in enumerate(moves):
            for other in moves[:number]:
                part = _parting(move, other)
                if part is None or id(part) in self.told:
                    continue
                best = _shorter(best, self._joined(text, move, other, part, pairs, known))
        return best

    def _both(
        self,
        text: str,
        moves: list[Move],
        others: list[Move],
        part: Expr,
        pairs: deque[_Pair],
        known: set[tuple[int, int]],
    ) -> tuple[str, Expr] | None:
        best: tuple[str, Expr] | None = None
        for move in moves:
            for other in others:
                best = _shorter(best, self._joined(text, move, other, part, pairs, known))
        return best

    def _joined(
        self,
        text: str,
        move: Move,
        other: Move,
        part: Expr,
        pairs: deque[_Pair],
        known: set[tuple[int, int]],
    ) -> tuple[str, Expr] | None:
        """Two ways on that read the same: a text, where they come together."""
        self._joins += 1
        if move.label is None or other.label is None:
            return (text, part) if move.label is None and other.label is None else None
        char = _common(move.label, other.label)
        if char is None:
            return None
        if move.place == other.place:
            rest = self.paths.shortest(move.place)
            return None if rest is None else (text + char + rest, part)
        key = (min(move.place, other.place), max(move.place, other.place))
        if key not in known:
            known.add(key)
            pairs.append((text + char, move.place, other.place, part))
        return None


def _shorter(
    one: tuple[str, Expr] | None, other: tuple[str, Expr] | None
) -> tuple[str, Expr] | None:
    """The one with the shorter text; the first of two that are alike."""
    if one is None or other is None:
        return one or other
    return other if len(other[0]) < len(one[0]) else one


def _parting(move: Move, other: Move) -> Expr | None:
    """The part in which two ways first choose otherwise."""
    for (part, choice), (_, another) in zip(move.choices, other.choices, strict=False):
        if choice != another:
            return part if isinstance(part, Alt | Repeat | Graph) else None
    return None


def _common(one: object, other: object) -> str | None:
    """A character that both labels allow; None for none, and where one is a token."""
    if not (isinstance(one, tuple) and isinstance(other, tuple)):
        return None
    return _shown(_intersection(one, other))


def _intersection(one: Ranges, other: Ranges) -> Ranges:
    return tuple(
        (max(low, first), min(high, last))
        for low, high in one
        for first, last in other
        if low <= last and first <= high
    )


def _shown(label: object) -> str | None:
    """A character of a label, one that can be read where there is one."""
    if not isinstance(label, tuple) or not label:
        return None
    for wanted in "a1 x":
        if any(low <= ord(wanted) <= high for low, high in label):
            return wanted
    for low, high in label:
        if high >= 0x21 and low <= 0x7E:
            return chr(max(low, 0x21))
    low = label[0][0]
    return None if 0xD800 <= low <= 0xDFFF else chr(low)
