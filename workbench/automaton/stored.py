"""What a file holds, read when it is looked at: most of it never is.

Everything here stands in place of what a grammar and its automaton have otherwise, and equals it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from workbench.automaton.soundness import fills, require, within
from workbench.errors import ArtifactError
from workbench.grammar.contracts import check_rule
from workbench.grammar.encoding import Decoder
from workbench.grammar.ir import Expr, Outcome
from workbench.grammar.lazy import LazyRules

__all__ = ["PerState", "StoredOutcomes", "StoredRules", "StoredSets", "text_of"]

_STATUSES = {"enforced", "restricted", "annotation", "unsupported"}


def text_of(value: Any) -> str:
    """A value that has to be a text. Raises ``TypeError``."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


class StoredSets(Sequence[Any]):
    """Tuples that are read when they are looked at: most never are."""

    def __init__(
        self, name: str, arrays: Mapping[str, NDArray[Any]], member: Callable[[int], Any], most: int
    ) -> None:
        starts, numbers = arrays[f"{name}_starts"], arrays[f"{name}_sets"]
        require(fills(starts, len(numbers)) and within(numbers, 0, most), name)
        self._starts = starts
        self._numbers = numbers
        self._member = member
        self._known: dict[int, tuple[Any, ...]] = {}

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: Any) -> Any:
        found = self._known.get(number)
        if found is None:
            begin, end = self._starts[number], self._starts[number + 1]
            found = tuple(map(self._member, self._numbers[begin:end].tolist()))
            self._known[number] = found
        return found


class PerState(Sequence[Any]):
    """A tuple per state, in place of the tuple of them all."""

    def __init__(self, numbers: NDArray[Any], sets: StoredSets) -> None:
        require(within(numbers, 0, len(sets)), "names")
        self._numbers = numbers
        self._sets = sets

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, state: Any) -> Any:
        if isinstance(state, slice):
            return tuple(map(self._sets.__getitem__, self._numbers[state].tolist()))
        return self._sets[int(self._numbers[state])]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, PerState) else other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class StoredOutcomes(Sequence[Outcome]):
    """The outcomes of a grammar, read when they are first looked at."""

    def __init__(self, text: str, path: str | os.PathLike[str]) -> None:
        self._text = text
        self._path = path

    @cached_property
    def _all(self) -> tuple[Outcome, ...]:
        try:
            read = [list(map(text_of, outcome)) for outcome in json.loads(self._text)]
            found = tuple(
                Outcome(one[0], one[1], one[2], one[3], tuple(one[5:]), one[4])  # type: ignore[arg-type]
                for one in read
            )
            if not {outcome.status for outcome in found} <= _STATUSES:
                raise ValueError("an outcome of no known kind")
        except (IndexError, RecursionError, TypeError, ValueError) as error:
            raise ArtifactError(self._path, f"its outcomes are broken ({error})") from error
        return found

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, number: Any) -> Any:
        return self._all[number]

    def __eq__(self, other: object) -> bool:
        return self._all == (other._all if isinstance(other, StoredOutcomes) else other)

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return repr(self._all)


class StoredRules(LazyRules):
    """Rules out of a file, each read when it is used; ``written`` are names of those that promise nothing."""

    def __init__(
        self,
        decoder: Decoder,
        start: str,
        key: str,
        path: str | os.PathLike[str],
        written: Iterable[str] = (),
    ) -> None:
        def emit(name: str) -> Expr:
            try:
                expr = decoder.rule(name)
                check_rule(name, expr)
                return expr
            except (IndexError, OverflowError, ValueError) as error:
                raise ArtifactError(path, f"rule {name!r} is broken ({error})") from error

        super().__init__(emit, start, key)
        self._names = decoder.rules
        self.written = {name: self[name] for name in written}

    def __contains__(self, name: object) -> bool:
        return name in self._names
