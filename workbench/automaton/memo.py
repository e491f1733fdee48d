"""What is worked out about expressions once a process; kept by identity, as comparing large ones takes too long."""

from __future__ import annotations

from typing import Generic, TypeVar
from weakref import ref

from workbench.grammar.ir import Expr

__all__ = ["Memo"]

_T = TypeVar("_T")


class Memo(Generic[_T]):
    """Values by expression, for as long as it lives; all are forgotten when they weigh too much.

    Safe to use from many threads: where two of them put a value for the same expression, either may be kept.
    """

    __slots__ = ("_known", "_most", "_weight")

    def __init__(self, most: int) -> None:
        self._known: dict[int, tuple[ref[Expr], _T]] = {}
        self._most = most
        self._weight = 0

    def __len__(self) -> int:
        return len(self._known)

    def get(self, expr: Expr) -> _T | None:
        """The value of this very expression, None where there is none."""
        found = self._known.get(id(expr))
        # the id may have been that of another one, which is gone
        return found[1] if found is not None and found[0]() is expr else None

    def put(self, expr: Expr, value: _T, weight: int = 1) -> None:
        """Keep a value; ``weight`` counts towards the most that is kept."""
        self._weight += weight
        if self._weight > self._most:
            self._known.clear()
            self._weight = weight
        self._known[id(expr)] = ref(expr), value
