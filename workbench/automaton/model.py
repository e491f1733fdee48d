"""The automaton: a recursive transition network in flat arrays, independent of any vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.grammar.ir import Origin

__all__ = ["NO_DISTANCE", "Automaton"]

#: stands for "cannot be finished" in :attr:`Automaton.distance`
NO_DISTANCE = np.int32(2**30)


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """States, byte edges, calls and entries of a compiled grammar.

    A state belongs to frames, not to rules: a call pushes its return state and continues at the entry's
    start state; in a final state the frame may be popped. No entry accepts the empty string and none
    reaches its own call without consuming a byte. Counted calls (``call_loop >= 0``) push a counter with
    the return state; at the end of an iteration the body starts again while the count is below the
    loop's maximum, and the frame may be popped once it has reached the minimum.

    Edges are in CSR form: the byte edges of state ``s`` are ``edge_start[s]:edge_start[s + 1]``, sorted by
    first byte; several edges may share bytes (nondeterminism).
    """

    n_states: int
    start: int
    final: NDArray[np.bool_]
    edge_start: NDArray[np.int32]
    edge_lo: NDArray[np.uint8]
    edge_hi: NDArray[np.uint8]
    edge_target: NDArray[np.int32]
    call_start: NDArray[np.int32]
    call_entry: NDArray[np.int32]
    call_return: NDArray[np.int32]
    call_loop: NDArray[np.int32]
    entry_state: NDArray[np.int32]
    entry_names: tuple[str, ...]
    #: per loop: entry of the body, least and most iterations (-1: no bound)
    loop_entry: NDArray[np.int32]
    loop_min: NDArray[np.int32]
    loop_max: NDArray[np.int32]
    #: least bytes from a state to the end of its frame
    distance: NDArray[np.int32]
    #: least bytes of one pass through an entry
    entry_distance: NDArray[np.int32]
    #: equivalence classes of bytes: ``byte_class[b]`` in ``0..n_classes-1``
    byte_class: NDArray[np.uint8]
    n_classes: int
    state_rules: tuple[tuple[str, ...], ...]
    state_origins: tuple[tuple[Origin, ...], ...]

    def __repr__(self) -> str:
        return (
            f"<Automaton {self.n_states} states, {len(self.edge_target)} byte edges, "
            f"{len(self.call_entry)} calls, {len(self.entry_names)} entries>"
        )

    def summary(self) -> dict[str, Any]:
        """Sizes by name."""
        return {
            "states": self.n_states,
            "byte_edges": len(self.edge_target),
            "calls": len(self.call_entry),
            "entries": len(self.entry_names),
            "loops": len(self.loop_min),
            "byte_classes": self.n_classes,
        }
