"""How many texts can follow in a language over characters: what keeps fresh texts from dead ends."""

from __future__ import annotations

from workbench.automaton.network import MANY, Language
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import CharSet, Graph

__all__ = ["is_ample", "language_of"]

#: more texts than one object or array holds
_AMPLE = 1 << 24


def language_of(graph: Graph) -> Language:
    """A deterministic graph over ``CharSet`` labels, its start renumbered to 0, with counts."""
    number = {graph.start: 0}
    for state in range(graph.n_states):
        number.setdefault(state, len(number))
    steps = sorted(
        (number[source], low, high, number[target])
        for source, label, target in graph.edges
        if isinstance(label, CharSet)
        for low, high in label.ranges
    )
    targets: list[list[tuple[int, int]]] = [[] for _ in number]
    for source, low, high, target in steps:
        targets[source].append((high - low + 1, target))
    counts = [0] * len(number)
    finals = {number[state] for state in graph.finals}
    for component in strongly_connected(len(number), lambda s: [t for _, t in targets[s]]):
        # callees come first; a cycle that leads to an end has endlessly many texts
        within = set(component)
        cycle = len(component) > 1 or any(t in within for _, t in targets[component[0]])
        total = sum(state in finals for state in component)
        for state in component:
            total += sum(n * counts[t] for n, t in targets[state] if t not in within)
        for state in component:
            counts[state] = min(MANY, MANY if cycle and total else total)
    return Language(tuple(counts), tuple(steps))


def is_ample(language: Language, length: int) -> bool:
    """Whether each beginning of at most so many characters goes on in more ways than there are ever texts."""
    targets: dict[int, set[int]] = {}
    for source, _, _, target in language.steps:
        targets.setdefault(source, set()).add(target)
    seen = here = {0}
    for _ in range(length + 1):
        if any(language.counts[state] < _AMPLE for state in here):
            return False
        here = set().union(*(targets.get(state, ()) for state in here)) - seen
        if not here:
            break
        seen = seen | here
    return True
