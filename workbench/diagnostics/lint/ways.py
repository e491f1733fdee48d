"""In how many ways a short text is read: derivations, counted over the spans of the text.

A repetition beyond its least number of rounds reads something in each; ways that come back to the same rule
without a character are left out, so the count is a bound from below, and exact where there are none.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.grammar.ir import Alt, ByteSet, CharSet, Expr, Graph, Literal, Ref, Repeat, Seq

__all__ = ["ways"]

#: Ways are counted up to here: two are enough.
_ENOUGH = 2
#: Spans that are looked at.
_MOST_STEPS = 20_000


def ways(rules: Mapping[str, Expr], expr: Expr, text: str) -> int:
    """In how many ways an expression reads a whole text, 2 for any more.

    Raises ``RecursionError`` for what lies too deep.
    """
    return _Ways(rules, text).count(expr, 0, len(text))


class _Ways:
    def __init__(self, rules: Mapping[str, Expr], text: str) -> None:
        self.rules = rules
        self.text = text
        self.known: dict[tuple[int, int, int, int], int] = {}
        #: what is being counted, with its depth, and the least depth that came again since
        self.open: dict[tuple[int, int, int, int], int] = {}
        self.lowest = 0
        self.steps = 0
        #: what is asked about is kept, so that no other object gets its number
        self.kept: list[Expr] = []

    def count(self, expr: Expr, start: int, end: int, extra: int = 0) -> int:
        """The ways of an expression, of a sequence from its item ``extra`` on, of a repetition after so many rounds."""
        key = (id(expr), start, end, extra)
        found = self.known.get(key)
        if found is not None:
            return found
        depth = self.open.get(key)
        if depth is not None or self.steps > _MOST_STEPS:
            self.lowest = min(self.lowest, 0 if depth is None else depth)
            return 0
        self.steps += 1
        depth = self.open[key] = len(self.open)
        self.kept.append(expr)
        before, self.lowest = self.lowest, depth
        found = min(_ENOUGH, self._count(expr, start, end, extra))
        del self.open[key]
        if self.lowest >= depth:  # nothing was left out that is being counted further out
            self.known[key] = found
            self.lowest = before
        else:
            self.lowest = min(before, self.lowest)
        return found

    def _count(self, expr: Expr, start: int, end: int, extra: int) -> int:
        text = self.text[start:end]
        if isinstance(expr, Literal):
            return int(expr.data == text.encode("utf-8", "surrogatepass"))
        if isinstance(expr, CharSet | ByteSet):
            return int(len(text) == 1 and _holds(expr, ord(text)))
        if isinstance(expr, Ref):
            return self.count(self.rules[expr.name], start, end) if expr.name in self.rules else 0
        if isinstance(expr, Alt):
            return sum(self.count(item, start, end) for item in expr.items)
        if isinstance(expr, Seq):
            return self._sequence(expr, start, end, extra)
        if isinstance(expr, Repeat):
            return self._repeat(expr, start, end, extra)
        if isinstance(expr, Graph):
            return self._graph(expr, start, end, expr.start if extra == 0 else extra - 1)
        return 0

    def _sequence(self, expr: Seq, start: int, end: int, number: int) -> int:
        if number == len(expr.items):
            return int(start == end)
        total = 0
        for middle in range(start, end + 1):
            here = self.count(expr.items[number], start, middle)
            if here:
                total += here * self.count(expr, middle, end, number + 1)
            if total >= _ENOUGH:
                break
        return total

    def _repeat(self, expr: Repeat, start: int, end: int, rounds: int) -> int:
        total = int(start == end and rounds >= expr.min)
        if expr.max is not None and rounds >= expr.max:
            return total
        # beyond the least number a round reads something, and only what has an end is counted further
        first = start if rounds < expr.min else start + 1
        then = rounds + 1 if expr.max is not None or rounds < expr.min else rounds
        for middle in range(first, end + 1):
            here = self.count(expr.item, start, middle)
            if here:
                total += here * self.count(expr, middle, end, then)
            if total >= _ENOUGH:
                break
        return total

    def _graph(self, expr: Graph, start: int, end: int, state: int) -> int:
        total = int(start == end and state in expr.finals)
        for source, label, target in expr.edges:
            if source != state:
                continue
            for middle in range(start, end + 1):
                here = self.count(label, start, middle)
                if here:
                    total += here * self.count(expr, middle, end, target + 1)
        return total


def _holds(expr: CharSet | ByteSet, code: int) -> bool:
    if isinstance(expr, ByteSet):
        return code < 0x80 and bool(expr.mask >> code & 1)
    return any(low <= code <= high for low, high in expr.ranges)
