"""What is asked of all stacks at a position: least bytes that complete a text, how many there are, the first few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.kernels import constants, entries

if TYPE_CHECKING:
    from workbench.engine.engine import Engine

__all__ = ["least_bytes", "listed_stacks", "number_of_stacks"]


def least_bytes(engine: Engine, position: int) -> int:
    """Least bytes from a position to the end of the text. To be called inside the engine's lock."""
    items = engine.contents(position >> 32)
    bases = engine.contents(position & 0xFFFFFFFF)
    known: dict[tuple[int, int], int] = {}
    return min(
        _through(engine, state, bases[variable], known)
        for state, variable in zip(items[::2], items[1::2], strict=True)
    )


def _through(engine: Engine, state: int, stacks: int, known: dict[tuple[int, int], int]) -> int:
    """Least bytes from a state to the end of one of the stacks below it; iterative, shared parts once."""
    distance, _ = engine.automaton.distances()
    todo = [(state, stacks)]
    while todo:
        here = todo[-1]
        if here in known:
            todo.pop()
            continue
        best = 2**60
        missing = []
        for element in engine.contents(here[1]):
            if int(engine.ctx.arena[element]) & 31 == constants.BOTTOM:
                best = min(best, int(distance[here[0]]))
                continue
            target, value, parents = engine.contents(element)
            back = target if target < constants.SITE_BASE else engine.site_return(target)
            if (back, parents) not in known:
                missing.append((back, parents))
            else:
                best = min(best, _within(engine, here[0], target, value) + known[back, parents])
        if missing:
            todo.extend(missing)
        else:
            known[here] = best
            todo.pop()
    return known[state, stacks]


def _within(engine: Engine, state: int, target: int, value: int) -> int:
    """Least bytes from a state to the end of the frame that it runs above."""
    automaton, ctx = engine.automaton, engine.ctx
    distance, entry_distance = automaton.distances()
    here = int(distance[state])
    if target < constants.SITE_BASE:
        return here
    loop = int(ctx.site_loop[target - constants.SITE_BASE])
    if loop <= constants.SCOPE_SITE:
        scope = automaton.scopes[constants.SCOPE_SITE - loop]
        if not scope.members and not scope.least:
            return here
        frame_state = engine.contents(value)
        words = frame_state[constants.BITS - 3 :]
        came = sum(word << constants.WORD * i for i, word in enumerate(words))
        return automaton.scope_costs().cost(state, scope, came, frame_state[0])
    if loop < 0:
        # a text that may not come must go on by one byte at least
        return here + int(entries.excluded(ctx.handle, value))
    left = max(0, int(automaton.loop_min[loop]) - value - 1)
    return here + left * int(entry_distance[automaton.loop_entry[loop]])


def number_of_stacks(engine: Engine, position: int, most: int) -> int:
    """How many threads with a stack there are, ``most`` where there are more; shared parts are counted once."""
    items = engine.contents(position >> 32)
    bases = engine.contents(position & 0xFFFFFFFF)
    known: dict[int, int] = {}
    total = 0
    for variable in items[1::2]:
        total += _paths(engine, bases[variable], known, most)
        if total >= most:
            return most
    return total


def _paths(engine: Engine, stacks: int, known: dict[int, int], most: int) -> int:
    todo = [stacks]
    while todo:
        here = todo[-1]
        if here not in known:
            below = [
                None
                if int(engine.ctx.arena[element]) & 31 == constants.BOTTOM
                else engine.contents(element)[2]
                for element in engine.contents(here)
            ]
            missing = [part for part in below if part is not None and part not in known]
            if missing:
                todo += missing
                continue
            known[here] = min(most, sum(1 if part is None else known[part] for part in below))
        todo.pop()
    return known[stacks]


def listed_stacks(
    engine: Engine, position: int, limit: int
) -> list[tuple[int, list[tuple[int, int]]]]:
    """Up to ``limit`` threads as (state, frames top first); a frame is (return, count)."""
    out: list[tuple[int, list[tuple[int, int]]]] = []
    items = engine.contents(position >> 32)
    bases = engine.contents(position & 0xFFFFFFFF)
    for state, variable in zip(items[::2], items[1::2], strict=True):
        # depth first over the parents, one path a stack
        todo: list[tuple[int, tuple[tuple[int, int], object] | None]] = [(bases[variable], None)]
        while todo and len(out) < limit:
            stacks, path = todo.pop()
            for element in reversed(engine.contents(stacks)):
                if int(engine.ctx.arena[element]) & 31 == constants.BOTTOM:
                    out.append((state, _unlink(path)))
                    if len(out) >= limit:
                        break
                else:
                    target, value, parents = engine.contents(element)
                    todo.append((parents, ((target, value), path)))
    return out


def _unlink(path: object) -> list[tuple[int, int]]:
    """Frames of a linked path whose head is the deepest; top first."""
    out: list[tuple[int, int]] = []
    while isinstance(path, tuple):
        out.append(path[0])
        path = path[1]
    return out[::-1]
