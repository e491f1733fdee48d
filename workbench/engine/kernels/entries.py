"""What Python calls of the kernels: compiled code.

``ctx`` and ``part`` are handles (see :class:`~workbench.engine.kernels.context.Context`), arrays have elements of the
kinds that ``signatures.py`` names.
"""

from __future__ import annotations

from workbench.engine.kernels import hash_consing, mask_store, sequences, slice_parts
from workbench.engine.kernels.objects import interface
from workbench.engine.kernels.signatures import finished
from workbench.jit import entry

finished()

accept_all_at = entry(sequences.accept_all_at)
accept_at = entry(sequences.accept_at)
accept_many_at = entry(sequences.accept_many_at)
accepts = entry(sequences.accepts_at)
advance = entry(sequences.advance_at)
advance_symbol = entry(sequences.advance_symbol_at)
both = entry(sequences.both_at)
invariant_at = entry(sequences.invariant_at)
compact = entry(sequences.compact)
finish_at = entry(sequences.finish_at)
live_symbols = entry(sequences.live_symbols_at)
lookup_at = entry(sequences.lookup_at)
lookup_many_at = entry(sequences.lookup_many_at)
lookup_to = entry(sequences.lookup_to)
prepare_at = entry(sequences.prepare_at)
tangled_node = entry(sequences.tangled_node_at)

forget_masks = entry(mask_store.forget_masks)
rehash_masks = entry(mask_store.rehash_masks)
masks_by_length = entry(slice_parts.masks_by_length)
run_length = entry(slice_parts.run_length)
slice_trie = entry(slice_parts.slice_trie)
intern = entry(hash_consing.intern)
move_nodes = entry(hash_consing.move_nodes)
node1 = entry(hash_consing.node1)
node2 = entry(hash_consing.node2)
excluded = entry(interface.excluded)
