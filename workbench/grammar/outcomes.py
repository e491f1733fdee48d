"""What became of a schema's constraints, told by kind: many places with one story are one line.

Next file to read: ``workbench/grammar/ir.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from workbench.grammar.ir import Outcome
from workbench.wording import number_of

__all__ = ["TOLD", "OutcomeGroup", "grouped"]

#: What is not enforced as it is written.
TOLD = ("unsupported", "restricted")
_ORDER = ("unsupported", "restricted", "annotation", "enforced")


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """Constraints of one keyword with the same outcome for the same reason; ``pointers`` are their places."""

    status: str
    keyword: str
    detail: str
    pointers: tuple[str, ...]

    @property
    def where(self) -> str:
        """Its place, or how many there are."""
        return (
            self.pointers[0] if len(self.pointers) == 1 else number_of(len(self.pointers), "place")
        )

    def lines(self, most: int | None = 3) -> str:
        """In words: outcome, keyword, reason, and the places, the first ``most`` of them on the same line.

        >>> print(OutcomeGroup("restricted", "type", "as 12", ("#/a", "#/b", "#/c", "#/d")).lines(2))
        restricted: type in 4 places: as 12 (#/a, #/b and 2 more)
        """
        why = f": {self.detail}" if self.detail else ""
        if len(self.pointers) == 1:
            return f"{self.status}: {self.pointers[0]} {self.keyword}{why}"
        head = f"{self.status}: {self.keyword} in {self.where}{why}"
        if most is None:
            return "\n  ".join([head, *self.pointers])
        more = f" and {len(self.pointers) - most:,} more" if len(self.pointers) > most else ""
        return f"{head} ({', '.join(self.pointers[:most])}{more})"


def grouped(
    outcomes: Iterable[Outcome], statuses: Collection[str] | None = None
) -> list[OutcomeGroup]:
    """Outcomes by kind: what is not supported first, then what holds in most places first."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for o in outcomes:
        if statuses is None or o.status in statuses:
            found.setdefault((o.status, o.keyword, o.detail), {})[o.pointer or "#"] = None
    groups = [OutcomeGroup(*key, tuple(pointers)) for key, pointers in found.items()]
    return sorted(groups, key=lambda g: (_ORDER.index(g.status), -len(g.pointers)))
