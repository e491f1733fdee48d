"""The kernels of suffix automata; what these are is told in ``suffixes.py``.

A. Blumer and others, "The smallest automaton recognizing the subwords of a text" (1985): one letter after the other,
in about linear time, at most two states and three edges a letter. The edges of a state are a linked list: few
states have many.
"""

from __future__ import annotations

from pathlib import Path

from workbench.jit import Array, Kernels, Kind, entry

__all__ = ["mark_reached", "read_document"]

#: columns of states: the longest proper end that is another state, its length, its first edge
LINK, LENGTH, FIRST = 0, 1, 2
#: columns of edges: source, letter, target, the next one of the same source
SOURCE, LETTER, TARGET, NEXT = 0, 1, 2, 3

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("letters", "starts", "targets", "todo"), Array("int32")),
    **dict.fromkeys(("states", "edges"), Array("int32", 2)),
    "seen": Array("uint8"),
}
_KERNELS = Kernels(__name__, [Path(__file__)], _KINDS, ("read_letters", "reach"))
jit = _KERNELS.jit


@jit
def edge_of(states, edges, state, letter):
    """The edge of a state by a letter; -1 where there is none."""
    e = int(states[FIRST, state])
    while e >= 0 and edges[LETTER, e] != letter:
        e = int(edges[NEXT, e])
    return e


@jit
def put_edge(states, edges, e, source, letter, target):
    """Write an edge at its place."""
    edges[SOURCE, e] = source
    edges[LETTER, e] = letter
    edges[TARGET, e] = target
    edges[NEXT, e] = states[FIRST, source]
    states[FIRST, source] = e


@jit
def read_letters(letters, states, edges):
    """Build the automaton in ``states`` and ``edges``, which have room; returns the numbers of both in one."""
    n_states, n_edges, last = 1, 0, 0
    states[LINK, 0], states[LENGTH, 0], states[FIRST, 0] = -1, 0, -1
    for i in range(letters.size):
        letter = int(letters[i])
        new = n_states
        n_states += 1
        states[LINK, new], states[LENGTH, new], states[FIRST, new] = 0, states[LENGTH, last] + 1, -1
        p = last
        e = edge_of(states, edges, p, letter)
        while e < 0:
            put_edge(states, edges, n_edges, p, letter, new)
            n_edges += 1
            p = int(states[LINK, p])
            if p < 0:
                break
            e = edge_of(states, edges, p, letter)
        if e >= 0:
            q = int(edges[TARGET, e])
            if states[LENGTH, p] + 1 == states[LENGTH, q]:
                states[LINK, new] = q
            else:
                # the shorter ends of q come in more places than its longest one
                copy = n_states
                n_states += 1
                states[LENGTH, copy] = states[LENGTH, p] + 1
                states[LINK, copy] = states[LINK, q]
                states[FIRST, copy] = -1
                other = int(states[FIRST, q])
                while other >= 0:
                    put_edge(
                        states,
                        edges,
                        n_edges,
                        copy,
                        int(edges[LETTER, other]),
                        int(edges[TARGET, other]),
                    )
                    n_edges += 1
                    other = int(edges[NEXT, other])
                while e >= 0 and edges[TARGET, e] == q:
                    edges[TARGET, e] = copy
                    p = int(states[LINK, p])
                    if p < 0:
                        break
                    e = edge_of(states, edges, p, letter)
                states[LINK, q] = copy
                states[LINK, new] = copy
        last = new
    return (n_states << 32) | n_edges


@jit
def reach(starts, targets, seen, todo, state):
    """Mark what a state leads to; ``starts`` are the offsets of each state's edges among ``targets``."""
    seen[state] = 1
    todo[0] = state
    size = 1
    while size > 0:
        size -= 1
        at = int(todo[size])
        for e in range(starts[at], starts[at + 1]):
            target = int(targets[e])
            if seen[target] == 0:
                seen[target] = 1
                todo[size] = target
                size += 1


_KERNELS.finished()
read_document, mark_reached = entry(read_letters), entry(reach)
