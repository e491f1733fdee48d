"""How long the texts of an expression over characters are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from workbench.grammar.ir import Alt, CharSet, Expr, Graph, Literal, Repeat, Seq, children

__all__ = ["length_range"]


def length_range(expr: Expr) -> tuple[int, int | None] | None:
    """The least and greatest number of characters of an expression; ``None`` for the empty language.

    Bounds are exact for expressions whose leaves are character sets; ``(low, None)`` has no bound.
    """
    done: list[tuple[int, int | None] | None] = []
    todo: list[tuple[Expr, bool]] = [(expr, False)]
    while todo:
        item, opened = todo.pop()
        if isinstance(item, CharSet):
            done.append((1, 1) if item.ranges else None)
        elif isinstance(item, Literal):
            length = len(item.data.decode("utf-8"))
            done.append((length, length))
        elif not isinstance(item, Seq | Alt | Repeat | Graph):
            raise TypeError(f"{type(item).__name__} is not an expression over characters")
        elif not opened:
            todo.append((item, True))
            parts = children(item)
            todo.extend((part, False) for part in parts)
        elif isinstance(item, Repeat):
            done.append(_repeated(done.pop(), item))
        else:
            parts = children(item)
            mark = len(done) - len(parts)
            lengths = done[mark:]
            del done[mark:]
            if isinstance(item, Graph):
                done.append(_over_paths(item, lengths[::-1]))
                continue
            done.append(_joined(lengths) if isinstance(item, Seq) else _widest(lengths))
    return done[0]


def _repeated(inner: tuple[int, int | None] | None, item: Repeat) -> tuple[int, int | None] | None:
    if inner is None:
        return (0, 0) if item.min == 0 else None
    low, high = inner
    if item.max == 0 or high == 0:
        return (0, 0)
    return low * item.min, None if high is None or item.max is None else high * item.max


def _joined(parts: list[tuple[int, int | None] | None]) -> tuple[int, int | None] | None:
    low, high = 0, 0
    unbounded = False
    for part in parts:
        if part is None:
            return None
        low += part[0]
        if part[1] is None:
            unbounded = True
        else:
            high += part[1]
    return low, None if unbounded else high


def _widest(parts: list[tuple[int, int | None] | None]) -> tuple[int, int | None] | None:
    some = [part for part in parts if part is not None]
    if not some:
        return None
    low = min(part[0] for part in some)
    highs = [part[1] for part in some]
    return low, None if None in highs else max(high for high in highs if high is not None)


def _over_paths(
    graph: Graph, labels: list[tuple[int, int | None] | None]
) -> tuple[int, int | None] | None:
    """The shortest and the longest way through a graph; labels in the order of its edges."""
    steps: list[list[tuple[int, int, int | None]]] = [[] for _ in range(graph.n_states)]
    before: list[list[int]] = [[] for _ in range(graph.n_states)]
    for (source, _, target), label in zip(graph.edges, labels, strict=True):
        if label is not None:
            steps[source].append((target, *label))
            before[target].append(source)
    live = _reached(graph.finals, lambda state: before[state])
    live &= _reached((graph.start,), lambda state: [step[0] for step in steps[state]])
    if graph.start not in live:
        return None
    least = {graph.start: 0}
    heap = [(0, graph.start)]
    while heap:
        length, state = heappop(heap)
        if length > least[state]:
            continue
        for target, low, _ in steps[state]:
            if target in live and length + low < least.get(target, length + low + 1):
                least[target] = length + low
                heappush(heap, (length + low, target))
    low = min(least[state] for state in graph.finals if state in least)
    # the longest way, by states in an order in which all edges lead on
    open_ = dict.fromkeys(live, 0)
    for state in live:
        for target, *_ in steps[state]:
            if target in live:
                open_[target] += 1
    ready = [state for state in live if not open_[state]]
    most: dict[int, int | None] = dict.fromkeys(live, 0)
    done = 0
    while ready:
        state = ready.pop()
        done += 1
        here = most[state]
        for target, _, high in steps[state]:
            if target in live:
                there = most[target]
                most[target] = (
                    None
                    if here is None or high is None or there is None
                    else max(there, here + high)
                )
                open_[target] -= 1
                if not open_[target]:
                    ready.append(target)
    if done < len(live):
        return low, None
    highs = [most[state] for state in graph.finals if state in live]
    return low, None if None in highs else max(high for high in highs if high is not None)


def _reached(first: Iterable[int], onward: Callable[[int], list[int]]) -> set[int]:
    found = set(first)
    todo = list(found)
    while todo:
        for state in onward(todo.pop()):
            if state not in found:
                found.add(state)
                todo.append(state)
    return found
