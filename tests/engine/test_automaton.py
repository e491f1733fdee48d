"""The automaton, read naively with sets of whole stacks, against the oracle: no engine involved."""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from tests.engine.grammars import Case, cases
from tests.oracle import Oracle
from workbench.automaton.build import build_automaton
from workbench.automaton.network import JUMP, NOT_BUILT, Automaton
from workbench.errors import UnsatisfiableGrammar

Frame = tuple[int, int, int]  # return state, loop, iterations begun
Thread = tuple[int, tuple[Frame, ...]]


def after_nothing(automaton: Automaton, threads: set[Thread]) -> set[Thread]:
    """All threads reached by calls and returns; the start rule's end keeps its final state."""
    seen = set(threads)
    todo = list(threads)
    while todo:
        state, stack = todo.pop()
        first, last = automaton.empty_start[state : state + 2]
        assert (automaton.empty_guard[first:last] < 0).all()
        reached = [(int(target), stack) for target in automaton.empty_target[first:last]]
        for i in range(automaton.call_start[state], automaton.call_start[state + 1]):
            entry = int(automaton.call_entry[i])
            if automaton.entry_state[entry] == NOT_BUILT:
                assert automaton.grow is not None
                automaton.grow(automaton, entry)
            back = int(automaton.call_return[i])
            frame = (back, int(automaton.call_loop[i]), 1)
            below = stack if back == JUMP else (*stack, frame)
            reached.append((int(automaton.entry_state[entry]), below))
        if automaton.final[state] and stack:
            back, loop, count = stack[-1]
            if loop < 0 or count >= automaton.loop_min[loop]:
                reached.append((back, stack[:-1]))
            if loop >= 0 and (automaton.loop_max[loop] < 0 or count < automaton.loop_max[loop]):
                body = automaton.entry_state[automaton.loop_entry[loop]]
                reached.append((int(body), (*stack[:-1], (back, loop, count + 1))))
        for thread in reached:
            if thread not in seen:
                seen.add(thread)
                todo.append(thread)
    return seen


def step(automaton: Automaton, threads: set[Thread], byte: int) -> set[Thread]:
    found = set()
    for state, stack in threads:
        for i in range(automaton.edge_start[state], automaton.edge_start[state + 1]):
            if automaton.edge_lo[i] <= byte <= automaton.edge_hi[i]:
                found.add((int(automaton.edge_target[i]), stack))
    return after_nothing(automaton, found)


@settings(
    max_examples=int(os.environ.get("WORKBENCH_FUZZ", "200")),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(cases())
def test_the_automaton_has_the_grammars_language(case: Case) -> None:
    oracle = case.oracle()
    alphabet = sorted({b for token in oracle.tokens for b in token})
    missing = frozenset(range(256)) - frozenset(alphabet)
    if oracle.empty_language:
        with pytest.raises(UnsatisfiableGrammar):
            build_automaton(case.grammar, missing, case.limits())
        return
    automaton = build_automaton(case.grammar, missing, case.limits())
    for walk in range(4):
        follow(automaton, oracle, alphabet, Random(case.seed + walk))


def follow(automaton: Automaton, oracle: Oracle, alphabet: list[int], rng: Random) -> None:
    threads = after_nothing(automaton, {(automaton.start, ())})
    prefix = b""
    while len(prefix) < 24 and len(threads) < 2000:
        accepting = any(not stack and automaton.final[state] for state, stack in threads)
        assert accepting == oracle.complete(prefix), prefix
        following = {byte: step(automaton, threads, byte) for byte in alphabet}
        alive = [byte for byte in alphabet if following[byte]]
        assert alive == [b for b in alphabet if oracle.alive(prefix + bytes([b]))], prefix
        if not alive:
            return
        byte = rng.choice(alive)
        if ord("(") in alive and rng.random() < 0.3:
            byte = ord("(")
        threads = following[byte]
        prefix += bytes([byte])
