"""Pictures of an automaton, as DOT text.

A picture of a small automaton shows all of it; of a large one, the states around those that matter now.
Drawing is left to others: live screens lay the text out in the browser, static views by
``workbench/notebook/drawing.py``. States have the ids ``s<number>``, so that a page can light the live ones
without a new layout. The font is named Courier because that is what layouts know the widths of; readers
see the fixed-width font of their page, whose letters are as wide.

Needs the ``graphviz`` package (writes DOT; no ``dot`` program is run), imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.automaton.naming import place, rule_title
from workbench.automaton.network import JUMP, NOT_BUILT, Automaton
from workbench.wording import byte_name, number_of

__all__ = ["Picture", "Transition", "byte_label", "is_final", "picture", "transitions"]

#: The most states that are drawn as a whole; of a larger automaton the neighbourhood is drawn.
WHOLE = 150
#: The most states of a neighbourhood.
AROUND = 36
HOPS = 2


@dataclass(frozen=True, slots=True)
class Transition:
    """All ways from one state to another that are drawn as one edge.

    ``label`` lists bytes or, for a ``call``, names the rule that is read on the way.
    """

    source: int
    label: str
    target: int
    call: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """DOT text, the states that it shows, and how many it leaves out."""

    source: str
    states: tuple[int, ...]
    hidden: int
    transitions: tuple[Transition, ...]
    #: the states shown in which a rule may end
    final: tuple[int, ...]


def _ranges(values: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for value in values:
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found


def _range_name(low: int, high: int) -> str:
    if high - low < 2:
        return " ".join(byte_name(byte) for byte in range(low, high + 1))
    return f"{byte_name(low)}-{byte_name(high)}"


def byte_label(values: Iterable[int], limit: int = 28) -> str:
    """Name a set of bytes shortly: ``0-9``, ``·-⟨7F⟩ but " \\``, ``any byte``.

    What does not fit into ``limit`` characters ends in the number of bytes.
    """
    found = sorted(set(values))
    if len(found) == 256:
        return "any byte"
    if not found:
        return "no byte"
    ranges = _ranges(found)
    missing = sorted(set(range(found[0], found[-1])).difference(found))
    if len(ranges) > 1 and len(missing) <= 4 and len(missing) * 8 < len(found):
        but = " ".join(byte_name(byte) for byte in missing)
        return f"{_range_name(found[0], found[-1])} but {but}"
    names = [_range_name(low, high) for low, high in ranges]
    whole = " ".join(names)
    if len(whole) <= limit:
        return whole
    end = f"… ({number_of(len(found), 'byte')})"
    kept = ""
    for name in names:
        if len(kept) + len(name) + 1 + len(end) > limit:
            break
        kept += name + " "
    return kept + end


def _closed(automaton: Automaton, state: int) -> list[int]:
    """A state and those reached from it without a byte or a frame: empty edges and jumps are not drawn."""
    seen = {state}
    order = [state]
    for reached in order:
        begin, end = automaton.empty_start[reached : reached + 2].tolist()
        following = automaton.empty_target[begin:end].tolist()
        for call in range(*automaton.call_start[reached : reached + 2].tolist()):
            if automaton.call_return[call] == JUMP:
                following.append(int(automaton.entry_state[automaton.call_entry[call]]))
        for target in following:
            if target != NOT_BUILT and target not in seen:
                seen.add(target)
                order.append(target)
    return order


def is_final(automaton: Automaton, state: int) -> bool:
    """Whether the frame may be popped in a state."""
    return any(bool(automaton.final[reached]) for reached in _closed(automaton, state))


def _byte_edges(automaton: Automaton, state: int) -> Iterator[tuple[int, int, int]]:
    for reached in _closed(automaton, state):
        for edge in range(*automaton.edge_start[reached : reached + 2].tolist()):
            yield (
                int(automaton.edge_lo[edge]),
                int(automaton.edge_hi[edge]),
                int(automaton.edge_target[edge]),
            )


def _calls(automaton: Automaton, state: int) -> Iterator[tuple[int, int, int]]:
    for reached in _closed(automaton, state):
        for call in range(*automaton.call_start[reached : reached + 2].tolist()):
            if automaton.call_return[call] != JUMP:
                yield (
                    int(automaton.call_entry[call]),
                    int(automaton.call_return[call]),
                    int(automaton.call_loop[call]),
                )


def _call_label(automaton: Automaton, entry: int, loop: int) -> str:
    if loop < 0:
        return f"▭ {rule_title(automaton, automaton.entry_names[entry])}"
    name = f"▭ {_repeated(automaton, entry)}"
    low, high = int(automaton.loop_min[loop]), int(automaton.loop_max[loop])
    return f"{name} ×{low}" if low == high else f"{name} ×{low}–{'∞' if high < 0 else high}"


def _repeated(automaton: Automaton, entry: int) -> str:
    """What a counted part repeats, told by how that begins: many rules share it, so no name of a rule fits."""
    state = int(automaton.entry_state[entry])
    if state == NOT_BUILT:
        return "a part"
    edges = list(_byte_edges(automaton, state))
    calls = list(_calls(automaton, state))
    values = {value for low, high, _ in edges for value in range(low, high + 1)}
    shown = [_symbols_label(values, 20)] if values else []
    shown += [
        rule_title(automaton, automaton.entry_names[callee])
        if inner < 0
        else _repeated(automaton, callee)
        for callee, _, inner in calls
    ]
    ends = [is_final(automaton, target) for *_, target in edges]
    ends += [is_final(automaton, target) for _, target, _ in calls]
    goes_on = not all(ends) or any(_successors(automaton, target) for *_, target in edges)
    goes_on = goes_on or any(_successors(automaton, target) for _, target, _ in calls)
    return " or ".join(dict.fromkeys(shown)) + ("…" if goes_on else "")


def _symbols_label(values: set[int], limit: int) -> str:
    """Bytes by name, token symbols by number."""
    tokens = sorted(value - 256 for value in values if value >= 256)
    named = " ".join(f"token set {number}" for number in tokens)
    spelled = values - {256 + number for number in tokens}
    if not named:
        return byte_label(spelled, limit)
    return f"{byte_label(spelled, limit)} {named}" if spelled else named


def transitions(automaton: Automaton, state: int, limit: int = 28) -> list[Transition]:
    """List the ways out of a state, one per target for bytes and one per call."""
    by_target: dict[int, set[int]] = {}
    for low, high, target in _byte_edges(automaton, state):
        by_target.setdefault(target, set()).update(range(low, high + 1))
    found = [
        Transition(state, _symbols_label(values, limit), target, call=False)
        for target, values in by_target.items()
    ]
    for entry, target, loop in _calls(automaton, state):
        found.append(Transition(state, _call_label(automaton, entry, loop), target, call=True))
    return found


def _successors(automaton: Automaton, state: int) -> list[int]:
    found = [target for _, _, target in _byte_edges(automaton, state)]
    found += [target for _, target, _ in _calls(automaton, state)]
    return list(dict.fromkeys(found))


def _predecessors(automaton: Automaton, states: Sequence[int], most: int) -> list[int]:
    """States with an edge into one of ``states``, at most ``most`` for each, nearest number first."""
    edge_source = np.repeat(np.arange(automaton.n_states), np.diff(automaton.edge_start))
    empty_source = np.repeat(np.arange(automaton.n_states), np.diff(automaton.empty_start))
    call_source = np.repeat(np.arange(automaton.n_states), np.diff(automaton.call_start))
    found: list[int] = []
    for state in states:
        sources = np.concatenate(
            [
                edge_source[automaton.edge_target == state],
                call_source[automaton.call_return == state],
                empty_source[automaton.empty_target == state],
            ]
        )
        near = sorted(set(sources.tolist()), key=lambda source: (abs(source - state), source))
        found += near[:most]
    return found


def _in_use(automaton: Automaton, most: int) -> list[int] | None:
    """The states that texts lead to; None for more than ``most``."""
    found = dict.fromkeys((automaton.start,))
    todo = list(found)
    called = automaton.entry_state[automaton.call_entry]
    while todo and len(found) <= most:
        state = todo.pop()
        following = []
        for start, targets in (
            (automaton.edge_start, automaton.edge_target),
            (automaton.empty_start, automaton.empty_target),
            (automaton.call_start, automaton.call_return),
            (automaton.call_start, called),
        ):
            following += targets[start[state] : start[state + 1]].tolist()
        # calls may be jumps, entries not built
        new = [target for target in following if target >= 0 and target not in found]
        found.update(dict.fromkeys(new))
        todo += dict.fromkeys(new)
    return list(found) if len(found) <= most else None


def _neighbourhood(automaton: Automaton, seeds: Iterable[int], limit: int) -> list[int]:
    """States near the seeds, nearest first: what comes next, a little of what came before.

    Calls are not followed: a rule that is not open shows as the name on its edge.
    """
    shown = dict.fromkeys(state for state in seeds if 0 <= state < automaton.n_states)
    if not shown:
        shown[automaton.start] = None
    shown = dict.fromkeys(list(shown)[:limit])
    frontier = list(shown)
    before = _predecessors(automaton, frontier[:8], most=2)
    for hop in range(HOPS):
        following = [t for state in frontier for t in _successors(automaton, state)]
        if hop == 0:
            following += before
        frontier = [state for state in dict.fromkeys(following) if state not in shown]
        frontier = frontier[: max(limit - len(shown), 0)]
        shown.update(dict.fromkeys(frontier))
    return list(shown)


def picture(
    automaton: Automaton,
    live: Iterable[int] = (),
    around: Iterable[int] = (),
    returns: Iterable[tuple[int, int]] = (),
    *,
    mark: bool = False,
    whole: int = WHOLE,
    limit: int = AROUND,
) -> Picture:
    """Write an automaton, or the part near the ``live`` states and those ``around``, as DOT text.

    Up to ``whole`` states the picture shows all that texts lead to; beyond that at most ``limit`` of them, the live
    ones first. ``returns`` are pairs (state, state) to join by an edge "return": where the stack leads from
    the end of a rule; they belong to one position, so only a neighbourhood has them. ``mark`` draws the
    live states with a double ring and a triangle; a page that lights them itself leaves it off, so that
    one text serves all positions (nodes have room for the triangle). Raises ``ImportError`` when the
    ``graphviz`` package is missing.
    """
    import graphviz

    live_set = set(live)
    found = _in_use(automaton, whole)
    states = sorted(found or _neighbourhood(automaton, [*sorted(live_set), *around], limit))
    shown = set(states)
    edges = [edge for state in states for edge in transitions(automaton, state)]
    graph = graphviz.Digraph(
        graph_attr={"rankdir": "LR", "ranksep": "0.45", "nodesep": "0.2", "fontsize": "10"},
        node_attr={"shape": "ellipse", "margin": "0.1,0.02", "width": "0.3", "height": "0.3"},
        edge_attr={"arrowsize": "0.6"},
    )
    for attributes in (graph.node_attr, graph.edge_attr, graph.graph_attr):
        attributes["fontname"] = "Courier"
    graph.node_attr["fontsize"] = graph.edge_attr["fontsize"] = "11"
    for name, members in _groups(automaton, states).items():
        if not name:
            _add_states(graph, automaton, members, live_set, mark)
            continue
        with graph.subgraph(name=f"cluster_{members[0]}") as box:
            box.attr(label=graphviz.escape(name[:40]), color="gray70", style="rounded")
            _add_states(box, automaton, members, live_set, mark)
    if automaton.start in shown:
        graph.node("start", label="", shape="point", width="0.08")
        graph.edge("start", f"s{automaton.start}")
    for edge in edges:
        if edge.target in shown:
            style = {"style": "dashed"} if edge.call else {}
            label = graphviz.escape(edge.label)
            graph.edge(f"s{edge.source}", f"s{edge.target}", label=f" {label} ", **style)
    if found is None:
        for source, target in dict.fromkeys(returns):
            if source in shown and target in shown:
                graph.edge(f"s{source}", f"s{target}", label=" return ", style="dashed")
    left: dict[int, set[int]] = {}
    for edge in edges:
        if edge.target not in shown:
            left.setdefault(edge.source, set()).add(edge.target)
    for state, left_out in left.items():
        graph.node(f"more{state}", label=f"… {len(left_out)} more", shape="plaintext")
        graph.edge(f"s{state}", f"more{state}", style="dotted")
    final = tuple(state for state in states if is_final(automaton, state))
    hidden = automaton.n_states - len(states) if found is None else 0
    return Picture(graph.source, tuple(states), hidden, tuple(edges), final)


def _groups(automaton: Automaton, states: Iterable[int]) -> dict[str, list[int]]:
    """The states by the name that screens call them, in the order of their first state."""
    groups: dict[str, list[int]] = {}
    for state in states:
        groups.setdefault(place(automaton, state), []).append(state)
    return groups


def _add_states(
    graph: object, automaton: Automaton, states: Iterable[int], live: set[int], mark: bool
) -> None:
    for state in states:
        label = f"{state} ✓" if is_final(automaton, state) else str(state)
        lit = mark and state in live
        graph.node(  # type: ignore[attr-defined]
            f"s{state}",
            label=f"▶ {label}" if lit else label,
            id=f"s{state}",
            **({"peripheries": "2", "penwidth": "2"} if lit else {}),
        )
