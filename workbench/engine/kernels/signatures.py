"""What the compiler is told of the engine's kernels: types of their parameters, and who calls them."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.kernels.context import context_type, part_type
from workbench.jit import BOOL, Array, Kernels, Kind

__all__ = ["finished", "jit"]

_INT32, _INT64, _UINT32 = Array("int32"), Array("int64"), Array("uint32")
#: parameters that are not int64, by name
_KINDS: dict[str, Kind] = {
    "ctx": context_type,
    "part": part_type,
    **dict.fromkeys(("arena", "unique_table", "table", "buffer", "moved", "transitions"), _INT32),
    **dict.fromkeys(("skips", "tokens", "lengths", "exits", "odd", "mask_table"), _INT32),
    **dict.fromkeys(("count", "states", "offsets", "masks_at", "mask_hash"), _INT64),
    **dict.fromkeys(("roots", "positions", "missed", "token_ids"), _INT64),
    **dict.fromkeys(("masks", "out", "words", "byte_class"), _UINT32),
    **dict.fromkeys(("bytes_", "data", "live"), Array("uint8")),
    "depths": Array("uint16"),
    **dict.fromkeys(("exact", "by_dfa"), BOOL),
}

#: what Python calls
_CALLED = frozenset(
    """accept_all_at accept_at accept_many_at accepts_at advance_at advance_symbol_at both_at invariant_at compact
    excluded finish_at forget_masks intern live_symbols_at lookup_at lookup_many_at lookup_to prepare_at move_nodes
    rehash_masks masks_by_length run_length slice_trie tangled_node_at node1 node2""".split()
)
#: what holds the GIL while it runs: short, and not to be interrupted by other threads (see ``lookup_to``)
_HELD = frozenset(("accept_at", "lookup_to"))

_KERNELS = Kernels(
    "workbench.engine.kernels.entries",
    Path(__file__).parent.rglob("*.py"),
    _KINDS,
    _CALLED,
    _HELD,
)
jit, finished = _KERNELS.jit, _KERNELS.finished
