"""Names of rules, of which none is given out twice."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Names"]


class Names:
    """Gives out names: the one that is wanted, or that with a number behind it; in constant time.

    >>> names = Names(["root"])
    >>> [names.fresh(wanted) for wanted in ("a", "a", "root", "a")]
    ['a', 'a~2', 'root~2', 'a~3']
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        #: how often each name was wanted
        self._wanted = dict.fromkeys(taken, 1)

    def fresh(self, wanted: str) -> str:
        """A name that is not taken yet, and is now."""
        while True:
            number = self._wanted[wanted] = self._wanted.get(wanted, 0) + 1
            if number == 1:
                return wanted
            wanted = f"{wanted}~{number}"
