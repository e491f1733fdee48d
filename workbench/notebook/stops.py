"""Where a run is to stop: at a choice, where the mask removes much, where the stack changes, at a rule.

The front end decides the same for steps that are recorded already (``widgets/src/stops.ts``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.notebook.views import Position

__all__ = ["REACHED", "StopAt"]


@dataclass(frozen=True, slots=True)
class StopAt:
    """``mass``: more than this share is removed; ``depth``: of the stack where the run began;
    ``rules``: stop whenever one of them comes on top of the stack."""

    mass: float = 0.5
    depth: int = 0
    rules: frozenset[str] = frozenset()

    def breaks(self, before: Position, reached: Position) -> bool:
        """Whether a rule with a breakpoint has just come on top."""
        return bool(self.rules & reached.top_rules - before.top_rules)


REACHED: Mapping[str, Callable[[Position, StopAt], bool]] = {
    "branching": lambda position, _: position.allowed > 1,
    "mass": lambda position, stop_at: position.mass_removed > stop_at.mass,
    "depth": lambda position, stop_at: position.depth != stop_at.depth,
    "rule": lambda position, stop_at: position.depth < stop_at.depth,
    "end": lambda *_: False,
}
