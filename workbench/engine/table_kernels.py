"""The kernels that make columns of an automaton's for :mod:`workbench.engine.tables`."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.kernels import constants
from workbench.engine.kernels.constants import SCOPE_SITE, SITE_BASE
from workbench.jit import Array, Kernels, Kind, entry

__all__ = ["number_sites", "plant"]

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("loops", "watches", "fresh", "site_loop", "site_return"), Array("int32")),
    **dict.fromkeys(("table", "lengths", "counts", "roots", "path", "starts"), Array("int32")),
    "data": Array("uint8"),
    **dict.fromkeys(("nodes", "children"), Array("int32", 2)),
}
_KERNELS = Kernels(
    __name__,
    [Path(__file__), Path(constants.__file__)],
    _KINDS,
    ("sites_of_calls", "trees_of_texts"),
)
jit = _KERNELS.jit

#: rows of the nodes of trees: their parents or -1, their bytes, whether a text ends there
PARENT, BYTE, ENDS = range(3)


@jit
def slot_of(site_loop, site_return, table, loop, after):
    """Where a site is in a hash table of sites, or where it is to come."""
    wrap = table.size - 1
    mixed = (loop * 0x2545F491 ^ after) & 0x7FFFFFFFFFFFFFFF
    slot = (mixed * 0x9E3779B1 & 0x7FFFFFFFFFFFFFFF) >> 16 & wrap
    while table[slot] >= 0:
        site = int(table[slot])
        if site_loop[site] == loop and site_return[site] == after:
            break
        slot = (slot + 1) & wrap
    return slot


@jit
def sites_of_calls(loops, watches, fresh, site_loop, site_return, table, known):
    """Put the numbers of counted sites in place of what calls return to; returns how many sites there are.

    A site is a loop, or -1 - a watch, or where scopes begin - a scope, and where it returns to. ``known`` sites are
    there already, and room for one of each call; ``table`` is for the work, a power of two, more than all sites.
    """
    for i in range(table.size):
        table[i] = -1
    n = known
    for site in range(known):
        slot = slot_of(site_loop, site_return, table, int(site_loop[site]), int(site_return[site]))
        table[slot] = site
    for c in range(fresh.size):
        loop, watch, after = int(loops[c]), int(watches[c]), int(fresh[c])
        if watch >= 0:
            loop = -1 - watch
        elif watch < -1:
            loop = SCOPE_SITE + 2 + watch
        elif loop < 0:
            continue
        slot = slot_of(site_loop, site_return, table, loop, after)
        if table[slot] < 0:
            table[slot] = n
            site_loop[n] = loop
            site_return[n] = after
            n += 1
        fresh[c] = SITE_BASE + table[slot]
    return n


@jit
def trees_of_texts(data, lengths, counts, roots, nodes, children, starts, path):
    """Trees of the bytes of texts, one for each of ``counts`` texts; returns how many nodes they have.

    Texts of a tree are sorted: each leaves the way of the one before it once. The children of a node are the columns
    of ``children`` (byte, node) up to its number in ``starts``, from that of the node before it.
    """
    n, text, at = 0, 0, 0
    for tree in range(counts.size):
        roots[tree] = n
        nodes[PARENT, n], nodes[BYTE, n], nodes[ENDS, n] = -1, 0, 0
        path[0] = n
        n += 1
        before, depth = at, 0
        for _ in range(counts[tree]):
            length = int(lengths[text])
            i = 0
            while i < depth and i < length and data[before + i] == data[at + i]:
                i += 1
            while i < length:
                nodes[PARENT, n], nodes[BYTE, n], nodes[ENDS, n] = path[i], data[at + i], 0
                path[i + 1] = n
                n += 1
                i += 1
            nodes[ENDS, path[length]] = 1
            before, depth = at, length
            at += length
            text += 1
    for node in range(n):
        starts[node] = 0
    for node in range(n):
        if nodes[PARENT, node] >= 0:
            starts[nodes[PARENT, node]] += 1
    end = 0
    for node in range(n):
        begin = end
        end += int(starts[node])
        starts[node] = begin
    # as its children are put in, the begin of a node becomes its end
    for node in range(n):
        parent = int(nodes[PARENT, node])
        if parent >= 0:
            child = int(starts[parent])
            children[0, child] = nodes[BYTE, node]
            children[1, child] = node
            starts[parent] = child + 1
    return n


_KERNELS.finished()
number_sites = entry(sites_of_calls)
plant = entry(trees_of_texts)
