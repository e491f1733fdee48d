"""What Python calls of the kernels: compiled code without Numba's look at the arguments' types.

That look takes as long as a small kernel. Arguments have to be what the kernel's signature says: ``ctx`` and
``part`` are handles (see :class:`~workbench.engine.context.Context`), arrays have the types of ``jit``.
"""

from __future__ import annotations

from workbench.engine import kernels, rows, terms, texts
from workbench.jit import entry

accept_at = entry(kernels.accept_at)
accept_many_at = entry(kernels.accept_many_at)
accepts = entry(kernels.accepts)
advance = entry(kernels.advance)
advance_symbol = entry(kernels.advance_symbol)
both = entry(kernels.both)
closed_at = entry(kernels.closed_at)
compact = entry(kernels.compact)
finish_at = entry(kernels.finish_at)
live_symbols = entry(kernels.live_symbols)
lookup_at = entry(kernels.lookup_at)
lookup_many_at = entry(kernels.lookup_many_at)
lookup_to = entry(kernels.lookup_to)
prepare_at = entry(kernels.prepare_at)
tangled_node = entry(kernels.tangled_node)

forget_rows = entry(rows.forget_rows)
rehash_rows = entry(rows.rehash_rows)
rows_by_length = entry(rows.rows_by_length)
run_length = entry(rows.run_length)
slice_trie = entry(rows.slice_trie)
intern = entry(terms.intern)
rehash = entry(terms.rehash)
term1 = entry(terms.term1)
term2 = entry(terms.term2)
excluded = entry(texts.excluded)
