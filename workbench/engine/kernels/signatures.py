"""What the compiler is told of the engine's kernels: types of their parameters, and who calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import boolean, int32, int64, uint8, uint16, uint32

from workbench.engine.kernels.context import context_type, part_type
from workbench.jit import Kernels

__all__ = ["finished", "jit"]

_INT32, _INT64, _UINT32 = int32[::1], int64[::1], uint32[::1]
#: parameters that are not int64, by name
_TYPES: dict[str, Any] = {
    "ctx": context_type,
    "part": part_type,
    **dict.fromkeys(("arena", "unique_table", "table", "buffer", "moved", "transitions"), _INT32),
    **dict.fromkeys(("skips", "tokens", "lengths", "exits", "odd", "mask_table"), _INT32),
    **dict.fromkeys(("count", "states", "offsets", "masks_at", "mask_hash"), _INT64),
    **dict.fromkeys(("roots", "positions", "missed", "token_ids"), _INT64),
    **dict.fromkeys(("masks", "out", "words", "byte_class"), _UINT32),
    **dict.fromkeys(("bytes_", "data", "live"), uint8[::1]),
    "depths": uint16[::1],
    **dict.fromkeys(("exact", "by_dfa"), boolean),
}

#: what Python calls
_CALLED = frozenset(
    """accept_at accept_many_at accepts_at advance_at advance_symbol_at both_at invariant_at compact excluded finish_at
    forget_masks intern live_symbols_at lookup_at lookup_many_at lookup_to prepare_at move_nodes rehash_masks
    masks_by_length run_length slice_trie tangled_node_at node1 node2""".split()
)
#: what holds the GIL while it runs: short, and not to be interrupted by other threads (see ``lookup_to``)
_HELD = frozenset(("accept_at", "lookup_to"))
#: what may be copied into its callers
_SMALL = frozenset(
    """add_result add_thread begin begin_closure character_begun character_on end end_closure excluded fill find_node2
    in_class intern is_empty iterated mix next_thread ones trie_child node1 node2 node2_in node3 slot_of tree_child
    utf8_byte zone_of""".split()
)

_KERNELS = Kernels(
    "workbench.engine.kernels.entries",
    Path(__file__).parent.rglob("*.py"),
    _TYPES,
    _CALLED,
    _HELD,
    _SMALL,
)
jit, finished = _KERNELS.jit, _KERNELS.finished
