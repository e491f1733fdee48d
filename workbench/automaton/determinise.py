"""Positions -> states: left recursion solved, frameless calls, subset construction, merging.

Left recursion. A group of units that call each other at their left ends (found modulo nullable ones)
is solved as a left-linear system: to parse unit A, start at any non-left-recursive beginning of any
unit of the group; whenever a unit X is completed, go on behind the left call of X in any unit of the
group; A may stop when A itself is completed. So an entry's automaton runs over positions tagged
``(A, X)`` and its size is that of the group. (The left-corner transform, Rosenkrantz and Lewis 1970,
done on automata instead of productions.)

Frameless calls. A call whose return point offers nothing but the end is a jump. So is a call of E
whose return point r offers only what every end of E offers: L(E) L(r) = L(E) then, as in
``E -> E "+" E | n``.

Subsets. Sets of positions become states until ``Budgets.deterministic_states``; after that each
position stays a state of its own and the engine determinises lazily what it meets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.automaton.budgets import Budgets, too_complex
from workbench.automaton.nfa import Nfa, strongly_connected

__all__ = ["Machine", "determinise"]


@dataclass(slots=True)
class Machine:
    """States with byte edges ``(low, high, target)`` and calls ``(entry, loop, return state)``."""

    final: list[bool] = field(default_factory=list)
    byte: list[list[tuple[int, int, int]]] = field(default_factory=list)
    call: list[list[tuple[int, int, int]]] = field(default_factory=list)
    positions: list[frozenset[int]] = field(default_factory=list)
    entry_state: list[int] = field(default_factory=list)
    entry_unit: list[int] = field(default_factory=list)
    loops: list[tuple[int, int, int]] = field(default_factory=list)
    start: int = 0


def _unroll_left_loops(nfa: Nfa) -> tuple[list[list[int]], list[int]]:
    """Write out the first round of counted loops that stand at the left end of their own group.

    Returns the initial positions of every unit and the number of its left-recursive group (-1: none).
    """
    initial = [nfa.closure(unit.start) for unit in nfa.units]
    left = [
        sorted({callee for q in initial[i] for callee, _, _ in nfa.call[q]})
        for i in range(len(nfa.units))
    ]
    group = [-1] * len(nfa.units)
    for number, component in enumerate(strongly_connected(len(nfa.units), left.__getitem__)):
        if len(component) > 1 or component[0] in left[component[0]]:
            for member in component:
                group[member] = number
    changed = False
    for i in range(len(nfa.units)):
        if group[i] < 0:
            continue
        for q in initial[i]:
            for k, (callee, loop, after) in enumerate(nfa.call[q]):
                if loop < 0 or group[callee] != group[i]:
                    continue
                changed = True
                _, least, most = nfa.loops[loop]
                middle = len(nfa.empty)
                nfa.empty.append([])
                nfa.byte.append([])
                nfa.call.append([])
                nfa.rule.append(nfa.rule[q])
                nfa.origin.append(nfa.origin[q])
                nfa.useful.append(nfa.useful[after])
                nfa.call[q][k] = (callee, -1, middle)
                if least <= 1:
                    nfa.empty[middle].append(after)
                if most != 1:
                    rest = (callee, max(least - 1, 1), -1 if most < 0 else most - 1)
                    if rest not in nfa.loops:
                        nfa.loops.append(rest)
                    nfa.call[middle].append((callee, nfa.loops.index(rest), after))
    if changed:
        initial = [nfa.closure(unit.start) for unit in nfa.units]
    return initial, group


class _Determiniser:
    def __init__(self, nfa: Nfa, budgets: Budgets) -> None:
        self.nfa = nfa
        self.budgets = budgets
        self.initial, self.group = _unroll_left_loops(nfa)
        self.n = len(nfa.empty)
        #: positions looked at so far
        self.work = 0
        self.machine = Machine(loops=list(nfa.loops))
        self.tags: list[tuple[int, int]] = [(-1, -1)]
        self.tag_index: dict[tuple[int, int], int] = {}
        self.parents: dict[int, list[tuple[int, int]]] = {}
        for unit, group in enumerate(self.group):
            if group >= 0:
                for q in self.initial[unit]:
                    for callee, _, after in nfa.call[q]:
                        if self.group[callee] == group:
                            self.parents.setdefault(callee, []).append((unit, after))
        self._tail: dict[int, bool] = {}
        self._start_nodes: dict[int, list[int]] = {}
        self._plain: dict[int, tuple[frozenset[int], bool]] = {}
        self.index: dict[tuple[frozenset[int], bool], int] = {}
        self.todo: list[int] = []
        self._nodes: dict[int, frozenset[int]] = {}
        self.entry_of: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}
        for unit, group in enumerate(self.group):
            if group >= 0:
                self.members.setdefault(group, []).append(unit)

    def tag(self, entry: int, unit: int) -> int:
        key = (entry, unit)
        if key not in self.tag_index:
            self.tag_index[key] = len(self.tags)
            self.tags.append(key)
        return self.tag_index[key]

    def node(self, tag: int, position: int, initial: int) -> int:
        return (tag * self.n + position) * 2 + initial

    def is_tail(self, after: int) -> bool:
        """Whether a return point offers nothing but the end."""
        if after not in self._tail:
            reached = self.nfa.closure(after)
            self._tail[after] = not any(
                self.nfa.byte[q] or self.nfa.call[q] for q in reached
            ) and any(q in self.nfa.ends for q in reached)
        return self._tail[after]

    def start_nodes(self, unit: int) -> list[int]:
        """Nodes at which the parse of a unit begins."""
        if unit not in self._start_nodes:
            group = self.group[unit]
            if group < 0:
                nodes = [self.node(0, self.nfa.units[unit].start, 0)]
            else:
                nodes = [
                    self.node(self.tag(unit, member), self.nfa.units[member].start, 1)
                    for member in self.members[group]
                    if self.nfa.units[member].productive
                ]
            self._start_nodes[unit] = nodes
        return self._start_nodes[unit]

    def closure(self, nodes: Iterable[int]) -> tuple[frozenset[int], bool]:
        """Nodes that matter (with edges, or ends) reached without consuming; and whether one is final."""
        width = 2 * self.n
        kept: set[int] = set()
        final = False
        rest = []
        for node in nodes:
            if node >= width:
                rest.append(node)
                continue
            known = self._plain.get(node)
            if known is None:
                known = self._plain[node] = self._reached([node])
            kept |= known[0]
            final = final or known[1]
        if rest:
            more, ends = self._reached(rest)
            kept |= more
            final = final or ends
        self._spend(len(kept) >> 4)
        return frozenset(kept), final

    def _reached(self, nodes: Iterable[int]) -> tuple[frozenset[int], bool]:
        """One search of :meth:`closure`; those from untagged nodes are remembered."""
        nfa = self.nfa
        seen = set(nodes)
        order = list(seen)
        kept: list[int] = []
        final = False
        width = 2 * self.n
        for node in order:
            tag, rest = divmod(node, width)
            position, initial = divmod(rest, 2)
            if not nfa.useful[position]:
                continue
            base = tag * width + initial
            following = [base + 2 * target for target in nfa.empty[position]]
            if nfa.byte[position] or nfa.call[position]:
                kept.append(node)
            if position in nfa.ends:
                entry, unit = self.tags[tag]
                if tag == 0 or entry == unit:
                    final = True
                    kept.append(node)
                if tag and not initial:
                    following += [
                        self.node(self.tag(entry, parent), after, 0)
                        for parent, after in self.parents.get(unit, ())
                    ]
            if tag == 0:
                for callee, loop, after in nfa.call[position]:
                    if loop < 0 and nfa.units[callee].productive and self.is_tail(after):
                        following += self.start_nodes(callee)
            for target in following:
                if target not in seen:
                    seen.add(target)
                    order.append(target)
        self._spend(len(order))
        return frozenset(kept), final

    def _spend(self, work: int) -> None:
        self.work += work
        if self.work > self.budgets.determinisation_work:
            raise too_complex("determinisation_work", budgets=self.budgets)

    def state(self, nodes: Iterable[int], entry_start: bool = False) -> int:
        """Number of the state for a set of nodes; ``entry_start`` makes it not final."""
        kept, final = self.closure(nodes)
        key = (kept, final and not entry_start)
        if key not in self.index:
            machine = self.machine
            number = len(machine.final)
            if number >= self.budgets.states:
                raise too_complex("states", budgets=self.budgets)
            self.index[key] = number
            machine.final.append(key[1])
            machine.byte.append([])
            machine.call.append([])
            machine.positions.append(frozenset(node // 2 % self.n for node in kept))
            self.todo.append(number)
            self._nodes[number] = kept
        return self.index[key]

    def states(self, nodes: set[int]) -> list[int]:
        """One state for the set, or one a node once the deterministic budget is used up."""
        affordable = (
            len(self.machine.final) < self.budgets.deterministic_states
            and self.work < self.budgets.deterministic_work
        )
        if affordable or len(nodes) == 1:
            return [self.state(nodes)]
        return sorted({self.state((node,)) for node in nodes})

    def entry(self, unit: int) -> int:
        if unit not in self.entry_of:
            self.entry_of[unit] = len(self.machine.entry_state)
            self.machine.entry_unit.append(unit)
            self.machine.entry_state.append(-1)
            self.machine.entry_state[self.entry_of[unit]] = self.state(
                self.start_nodes(unit), entry_start=True
            )
        return self.entry_of[unit]

    def run(self, root: int) -> Machine:
        machine = self.machine
        machine.start = self.state(self.start_nodes(root))
        while self.todo:
            number = self.todo.pop()
            self._expand(number, self._nodes.pop(number))
        return machine

    def _expand(self, number: int, nodes: frozenset[int]) -> None:
        nfa = self.nfa
        width = 2 * self.n
        spans: list[tuple[int, int, int]] = []
        returns: dict[tuple[int, int], set[int]] = {}
        for node in sorted(nodes):
            tag, rest = divmod(node, width)
            position, initial = divmod(rest, 2)
            base = tag * width
            for low, high, target in nfa.byte[position]:
                if nfa.useful[target]:
                    spans.append((low, high, base + 2 * target))
            for callee, loop, after in nfa.call[position]:
                if not nfa.useful[after] or not nfa.units[callee].productive:
                    continue
                if tag == 0 and loop < 0 and self.is_tail(after):
                    continue
                if tag and initial and self.group[callee] == self.group[self.tags[tag][1]]:
                    continue
                returns.setdefault((callee, loop), set()).add(base + 2 * after)
        machine = self.machine
        edges: list[tuple[int, int, int]] = []
        for low, high, targets in _split(spans):
            self._spend(len(targets) >> 2)
            edges.extend((low, high, target) for target in self.states(targets))
        machine.byte[number] = _joined(edges)
        for (callee, loop), targets in sorted(returns.items()):
            entry = self.entry(callee)
            machine.call[number].extend((entry, loop, target) for target in self.states(targets))


def _trim(machine: Machine) -> None:
    """Drop edges into states whose frame can never end.

    Positions are trimmed before, but in a left-recursive group a unit that ends need not lead on to
    the end of every entry.
    """
    n = len(machine.final)
    byte_sources: list[list[int]] = [[] for _ in range(n)]
    call_sources: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for state in range(n):
        for _, _, target in machine.byte[state]:
            byte_sources[target].append(state)
        for entry, _, after in machine.call[state]:
            start = machine.entry_state[entry]
            call_sources[after].append((state, start))
            call_sources[start].append((state, after))
    live = list(machine.final)
    todo = [state for state in range(n) if live[state]]
    while todo:
        reached = todo.pop()
        sources = byte_sources[reached] + [
            source for source, other in call_sources[reached] if live[other]
        ]
        for source in sources:
            if not live[source]:
                live[source] = True
                todo.append(source)
    if all(live):
        return
    for state in range(n):
        machine.byte[state] = [edge for edge in machine.byte[state] if live[edge[2]]]
        machine.call[state] = [
            call
            for call in machine.call[state]
            if live[call[2]] and live[machine.entry_state[call[0]]]
        ]


def _split(spans: list[tuple[int, int, int]]) -> list[tuple[int, int, set[int]]]:
    """Cut overlapping byte ranges into disjoint ones with the set of their targets."""
    if len(spans) == 1:
        low, high, target = spans[0]
        return [(low, high, {target})]
    cuts = sorted({low for low, _, _ in spans} | {high + 1 for _, high, _ in spans})
    place = {cut: i for i, cut in enumerate(cuts)}
    sets: list[set[int]] = [set() for _ in cuts]
    for low, high, target in spans:
        for i in range(place[low], place[high + 1]):
            sets[i].add(target)
    return [(cuts[i], cuts[i + 1] - 1, sets[i]) for i in range(len(cuts) - 1) if sets[i]]


def _joined(edges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join neighbouring byte ranges with the same target; sorted by first byte."""
    by_target: dict[int, list[tuple[int, int]]] = {}
    for low, high, target in sorted(edges):
        ranges = by_target.setdefault(target, [])
        if ranges and low <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(high, ranges[-1][1]))
        else:
            ranges.append((low, high))
    return sorted(
        (low, high, target) for target, ranges in by_target.items() for low, high in ranges
    )


def _seen_through(
    edges: list[tuple[int, int, int]], same: list[int], own: int
) -> tuple[tuple[int, int, int], ...]:
    """Byte edges with united targets (-1: the state itself), neighbouring ranges joined.

    One pass over edges sorted by first byte; where some overlap, equal ones may look different, which
    only leaves states apart.
    """
    out: list[tuple[int, int, int]] = []
    for low, high, target in edges:
        target = same[target]
        if target == own:
            target = -1
        if out and out[-1][2] == target and out[-1][1] + 1 == low:
            out[-1] = (out[-1][0], high, target)
        else:
            out.append((low, high, target))
    return tuple(out)


def _merge(machine: Machine) -> Machine:
    """Unite states with equal finality and edges until nothing changes (sound, not always minimal)."""
    n = len(machine.final)
    same = list(range(n))
    order = _postorder(machine)
    while True:
        table: dict[object, int] = {}
        changed = False
        for state in order:
            own = same[state]
            edges = _seen_through(machine.byte[state], same, own)
            calls = {(e, k, -1 if same[r] == own else same[r]) for e, k, r in machine.call[state]}
            key = (machine.final[state], edges, tuple(sorted(calls)))
            first = table.setdefault(key, same[state])
            if first != same[state]:
                changed = True
                same[state] = first
        if not changed:
            break
    # the representative of a representative
    root = list(same)
    for state in range(n):
        top = state
        while same[top] != top:
            top = same[top]
        root[state] = top
    return _renumber(machine, root)


def _postorder(machine: Machine) -> list[int]:
    n = len(machine.final)
    components = strongly_connected(
        n,
        lambda s: [t for _, _, t in machine.byte[s]] + [r for _, _, r in machine.call[s]],
    )
    return [state for component in components for state in component]


def _renumber(machine: Machine, root: list[int]) -> Machine:
    """Keep the states reached from the start and the entries still called; unite by ``root``."""
    out = Machine(loops=list(machine.loops))
    united: dict[int, set[int]] = {}
    for state, top in enumerate(root):
        united.setdefault(top, set()).update(machine.positions[state])
    number: dict[int, int] = {}
    entries: dict[int, int] = {}
    order: list[int] = []

    def visit(state: int) -> int:
        top = root[state]
        if top not in number:
            number[top] = len(order)
            order.append(top)
        return number[top]

    out.start = visit(machine.start)
    for top in order:
        out.final.append(machine.final[top])
        out.positions.append(frozenset(united[top]))
        out.byte.append(_joined([(low, high, visit(t)) for low, high, t in machine.byte[top]]))
        calls: set[tuple[int, int, int]] = set()
        for entry, loop, after in machine.call[top]:
            if entry not in entries:
                entries[entry] = len(out.entry_state)
                out.entry_unit.append(machine.entry_unit[entry])
                out.entry_state.append(visit(machine.entry_state[entry]))
            calls.add((entries[entry], loop, visit(after)))
        out.call.append(sorted(calls))
    return out


def _drop_frames(machine: Machine) -> bool:
    """Replace calls whose return point offers only what every end of the callee offers by jumps."""
    offers = [
        (frozenset(machine.byte[s]), frozenset(machine.call[s])) for s in range(len(machine.final))
    ]
    ends: dict[int, list[int]] = {}
    changed = False
    for state in range(len(machine.final)):
        kept: list[tuple[int, int, int]] = []
        added: list[int] = []
        for entry, loop, after in machine.call[state]:
            if loop >= 0 or not machine.final[after]:
                kept.append((entry, loop, after))
                continue
            if entry not in ends:
                ends[entry] = _ends_of(machine, machine.entry_state[entry])
            if all(
                offers[after][0] <= offers[end][0] and offers[after][1] <= offers[end][1]
                for end in ends[entry]
            ):
                added.append(machine.entry_state[entry])
            else:
                kept.append((entry, loop, after))
        if added:
            changed = True
            machine.call[state] = kept
            for start in added:
                machine.byte[state] = _joined(machine.byte[state] + machine.byte[start])
                machine.call[state] = sorted({*machine.call[state], *machine.call[start]})
    return changed


def _ends_of(machine: Machine, start: int) -> list[int]:
    """Final states reached from a state within its frame."""
    seen = {start}
    order = [start]
    for state in order:
        for target in [t for _, _, t in machine.byte[state]] + [
            r for _, _, r in machine.call[state]
        ]:
            if target not in seen:
                seen.add(target)
                order.append(target)
    return [state for state in order if machine.final[state]]


def determinise(nfa: Nfa, root: int, budgets: Budgets) -> Machine:
    """Turn positions into a machine with merged states. Raises ``GrammarTooComplex``."""
    machine = _Determiniser(nfa, budgets).run(root)
    _trim(machine)
    machine = _merge(machine)
    if _drop_frames(machine):
        machine = _merge(machine)
    return machine
