"""What examples use of a grammar, as plain values and a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from workbench.readable import readable
from workbench.vocabulary.labels import quoted
from workbench.wording import number_of, percent

__all__ = ["Coverage", "Covered"]


@dataclass(frozen=True, slots=True)
class Covered:
    """A rule, a place of a grammar's text or a pointer of a schema, and how many examples use it."""

    kind: Literal["rule", "place", "pointer"]
    name: str
    uses: int
    start: int | None = None
    end: int | None = None
    source: str = ""

    def __str__(self) -> str:
        if self.kind == "place":
            return f"{self.source or '…'} (characters {self.start}-{self.end} in {self.name})"
        return f"{self.kind} {self.name}{f'  {self.source}' if self.source else ''}"

    def to_json(self) -> dict[str, Any]:
        """The part as JSON values."""
        return {key: getattr(self, key) for key in self.__slots__}


@readable
@dataclass(frozen=True, slots=True)
class Coverage:
    """What examples use of a grammar, in its order.

    ``accepted`` is how many of the ``examples`` count; ``refused`` are those that the grammar does not
    accept, ``unread`` those that are too much work to read.
    """

    parts: tuple[Covered, ...]
    examples: int
    accepted: int
    refused: tuple[bytes, ...] = ()
    unread: tuple[bytes, ...] = ()

    @property
    def used(self) -> tuple[Covered, ...]:
        """The parts that some example uses."""
        return tuple(part for part in self.parts if part.uses)

    @property
    def never(self) -> tuple[Covered, ...]:
        """The parts that no example uses."""
        return tuple(part for part in self.parts if not part.uses)

    @property
    def share(self) -> float:
        """The used parts as a share of all, 1 for a grammar without parts."""
        return len(self.used) / len(self.parts) if self.parts else 1.0

    def __str__(self) -> str:
        lines = [
            f"coverage of {number_of(self.accepted, 'accepted example')}: {percent(self.share)}"
        ]
        kinds: tuple[tuple[str, str], ...] = (
            ("rule", "rules"),
            ("place", "places"),
            ("pointer", "schema pointers"),
        )
        for kind, words in kinds:
            parts = [part for part in self.parts if part.kind == kind]
            if parts:
                lines.append(f"  {words}: {sum(bool(p.uses) for p in parts)} of {len(parts)} used")
        if self.never:
            lines.append("never used:")
            lines += [f"  {part}" for part in self.never]
        lines += [f"not accepted: {quoted(text)}" for text in self.refused]
        lines += [f"too long to read: {quoted(text)}" for text in self.unread]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The coverage as JSON values."""
        return {
            "examples": self.examples,
            "accepted": self.accepted,
            "share": self.share,
            "parts": [part.to_json() for part in self.parts],
            "refused": [text.decode("utf-8", "replace") for text in self.refused],
            "unread": [text.decode("utf-8", "replace") for text in self.unread],
        }
