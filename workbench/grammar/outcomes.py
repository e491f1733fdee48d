"""What became of a schema's constraints, in groups: places of which the same is to be said are one line."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from workbench.grammar.ir import Outcome
from workbench.wording import number_of

__all__ = ["TOLD", "OutcomeGroup", "grouped"]

#: What is surely a mistake, and what is not enforced as it is written.
TOLD = ("warning", "unsupported", "restricted")
_ORDER = ("warning", "unsupported", "restricted", "annotation", "enforced")


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """Constraints of one keyword with the same outcome for the same reason; ``pointers`` are their places.

    ``status`` is that of the outcomes, or "warning" for what they warn of; ``detail`` says it then.
    """

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
        if self.status == "warning":
            head = f"warning: {self.where} {self.detail}"
        else:
            head = f"{self.status}: {self.keyword} in {self.where}{why}"
        if len(self.pointers) == 1:
            one = f"{self.status}: {self.pointers[0]} {self.keyword}{why}"
            return head if self.status == "warning" else one
        if most is None:
            return "\n  ".join([head, *self.pointers])
        more = f" and {len(self.pointers) - most:,} more" if len(self.pointers) > most else ""
        return f"{head} ({', '.join(self.pointers[:most])}{more})"


def grouped(
    outcomes: Iterable[Outcome], statuses: Collection[str] | None = None
) -> list[OutcomeGroup]:
    """Outcomes by kind: mistakes first, then what is not supported, then what holds in most places first."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for o in outcomes:
        if o.warning and (statuses is None or "warning" in statuses):
            found.setdefault(("warning", o.keyword, o.warning), {})[o.pointer or "#"] = None
        if statuses is None or o.status in statuses:
            found.setdefault((o.status, o.keyword, o.detail), {})[o.pointer or "#"] = None
    groups = [OutcomeGroup(*key, tuple(pointers)) for key, pointers in found.items()]
    return sorted(groups, key=lambda g: (_ORDER.index(g.status), -len(g.pointers)))
