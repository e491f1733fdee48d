"""Ctrl-C at any time: a matcher is as before the call or as after it, never in between, and nothing crashes.

An interrupt is a ``KeyboardInterrupt`` that comes between two lines of this project's code, here at the n-th one of
a walk, or wherever a timer's signal finds it. ``WORKBENCH_INTERRUPTED_WALKS`` is how many walks of each kind there are.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.engine import samples
from tests.engine.walks import Mask, ids_of, mask_of
from workbench.grammar.ir import Grammar
from workbench.jit import COMPILED

WALKS = int(os.environ.get("WORKBENCH_INTERRUPTED_WALKS", "60"))
PACKAGE = str(Path(wb.__file__).parent)
STEPS = 14
#: the arena is compacted every few tokens, and masks are forgotten
TIGHT = wb.Budgets(arena_words=1 << 9, row_bytes=1 << 13)

pytestmark = [
    pytest.mark.skipif(
        not COMPILED, reason="an interrupt within a kernel that runs as Python is another thing"
    ),
    # an interrupt within a weak reference's callback goes no further
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def wide() -> Grammar:
    """A schema of many rules, which are written and built as a text gets to them."""
    deep: Any = {"enum": ["x", "y"]}
    for depth in range(40):
        deep = {
            "type": "object",
            "properties": {f"k{depth}": deep, f"n{depth}": {"type": "integer", "minimum": depth}},
            "required": [f"k{depth}"],
            "additionalProperties": False,
        }
    return wb.json_schema({"type": "array", "items": deep})


GRAMMARS: dict[str, Callable[[], Grammar]] = {
    "three bytes": lambda: wb.gbnf('root ::= "abc"'),
    "arrays": lambda: wb.json_schema({"type": "array"}),
    "counted": lambda: wb.gbnf('root ::= ("[" [a-c]{2,300} "]")*'),
    "keys": lambda: wb.json_schema(
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "required": ["a"],
            "uniqueItems": True,
        }
    ),
    "operators": samples.operators,
    "growing": wide,
}


def vocabulary() -> wb.Vocabulary:
    rng = Random(3)
    tokens = [bytes([byte]) for byte in range(256)]
    letters = '{}[]":, 1a+()\n\\"bc'
    tokens += ["".join(rng.choices(letters, k=rng.randint(2, 4))).encode() for _ in range(60)]
    tokens += [b'{"k39":', b'{"k38":', b'{"k37":', b"[{", b'"n36"']
    return wb.Vocabulary.from_bytes([*tokens, b"</s>"], [len(tokens)])


VOCABULARY = vocabulary()


class Lines:
    """Raises ``KeyboardInterrupt`` before a line of the project's code, once; counts the lines before it."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.fired = False

    def __enter__(self) -> Lines:
        sys.settrace(self._call)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and not self.fired:
            self.left -= 1
            if self.left < 0:
                self.fired = True
                raise KeyboardInterrupt
        return self._line


@contextmanager
def timer(seconds: float) -> Iterator[None]:
    """A signal after a while, unless the block has ended before."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Walk:
    """A matcher with forks beside it, what each has accepted, and a text that it goes along."""

    def __init__(self, compiled: wb.CompiledGrammar, rng: Random) -> None:
        self.compiled = compiled
        self.rng = rng
        keep = rng.choice([None, None, 2])
        self.matchers = [compiled.matcher(keep)]
        self.tokens: list[list[int]] = [[]]
        self.own = wb.empty_mask(VOCABULARY)

    def step(
        self, reference: References, interrupted: Callable[[Callable[[], object]], bool]
    ) -> None:
        """One call that may be interrupted; afterwards all are as before or as after it."""
        n = self.rng.randrange(len(self.matchers))
        matcher, tokens = self.matchers[n], self.tokens[n]
        mask = reference(tokens)
        options = ids_of(mask)
        action = self.rng.random()
        choice = self.rng.choice(options) if options else 0
        if action < 0.2 or not options:
            interrupted(lambda: matcher.fill_mask(self.own))
        elif action < 0.65:
            self._either(n, [*tokens, choice], interrupted(lambda: matcher.accept(choice)))
        elif action < 0.75:
            back = self.rng.randint(0, min(3, matcher.max_rollback))
            after = tokens[: len(tokens) - back]
            self._either(n, after, interrupted(lambda: matcher.rollback(back)))
        elif action < 0.8:
            interrupted(lambda: matcher.accept(300))
            if reference.allows(tokens, 300) and matcher.num_accepted > len(tokens):
                tokens.append(300)
        elif action < 0.85:
            forks: list[wb.Matcher] = []
            interrupted(lambda: forks.append(matcher.fork()))
            if forks and len(self.matchers) < 4:
                self.matchers.append(forks[0])
                self.tokens.append(list(tokens))
        elif action < 0.9:
            interrupted(self.compiled.engine.compact)
        elif action < 0.93:
            self._either(n, [], interrupted(matcher.reset))
        else:
            picked = [self.rng.choice(ids_of(reference(one)) or [0]) for one in self.tokens]
            afters = [
                [*one, i] if reference.allows(one, i) else one
                for one, i in zip(self.tokens, picked, strict=True)
            ]
            stopped = interrupted(lambda: wb.accept_all(self.matchers, picked))
            moved = {
                one.num_accepted == len(after)
                for one, before, after in zip(self.matchers, self.tokens, afters, strict=True)
                if len(before) != len(after)
            }
            assert len(moved) < 2, "some went on, others did not"
            assert stopped or moved <= {True}
            if True in moved:
                self.tokens = afters
        self.check(reference)

    def _either(self, n: int, after: list[int], stopped: bool) -> None:
        if self.matchers[n].num_accepted == len(after):
            self.tokens[n] = after
        else:
            assert stopped

    def check(self, reference: References) -> None:
        for matcher, tokens in zip(self.matchers, self.tokens, strict=True):
            assert matcher.num_accepted == len(tokens)
            known = matcher.token_ids
            assert known == tokens[len(tokens) - len(known) :]
            expected = reference(tokens)
            assert np.array_equal(mask_of(matcher), expected)
            matcher.fill_mask(self.own)
            assert np.array_equal(self.own, expected)


class References:
    """The masks of a grammar after some tokens, by an engine that nothing interrupts."""

    def __init__(self, grammar: Grammar) -> None:
        self.compiled = wb.compile(grammar, VOCABULARY, cache=False)
        self.known: dict[tuple[int, ...], Mask] = {}

    def __call__(self, tokens: list[int]) -> Mask:
        key = tuple(tokens)
        if key not in self.known:
            matcher = self.compiled.matcher()
            assert matcher.accept_tokens(tokens) == len(tokens)
            self.known[key] = mask_of(matcher)
        return self.known[key]

    def allows(self, tokens: list[int], token_id: int) -> bool:
        return bool(self(tokens)[token_id // 32] >> (token_id % 32) & 1)


def limits(rng: Random) -> wb.Budgets | None:
    return TIGHT if rng.random() < 0.7 else None


def lines_of(call: Callable[[], object]) -> int:
    """How many lines of the project a call runs."""
    counting = Lines(1 << 60)
    with counting:
        call()
    return (1 << 60) - counting.left


@pytest.mark.parametrize("name", GRAMMARS)
def test_an_interrupt_at_any_line(name: str) -> None:
    """One in each call of many walks, at a line that is drawn; each call begins anew after it."""
    reference = References(GRAMMARS[name]())
    fired = 0
    for seed in range(max(1, WALKS // len(GRAMMARS))):
        rng = Random(seed)
        compiled = wb.compile(GRAMMARS[name](), VOCABULARY, limits(rng), cache=False)
        if rng.random() < 0.5:
            compiled.engine._tidy_at = 0
        walk = Walk(compiled, rng)
        for _ in range(STEPS):
            # short calls and long ones: as likely near the beginning as far from it
            lines = Lines(int(2 ** rng.uniform(0, 9)) - 1)

            def interrupted(call: Callable[[], object], lines: Lines = lines) -> bool:
                try:
                    with lines:
                        call()
                except KeyboardInterrupt:
                    return True
                return False

            walk.step(reference, interrupted)
            fired += lines.fired
    assert fired > max(1, WALKS // len(GRAMMARS))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("name", GRAMMARS)
def test_an_interrupt_at_any_time(name: str) -> None:
    reference = References(GRAMMARS[name]())
    for seed in range(max(1, 2 * WALKS // len(GRAMMARS))):
        rng = Random(seed)
        compiled = wb.compile(GRAMMARS[name](), VOCABULARY, limits(rng), cache=False)
        walk = Walk(compiled, rng)
        for _ in range(STEPS):
            seconds = 10 ** rng.uniform(-5.5, -2.5)

            def interrupted(call: Callable[[], object], seconds: float = seconds) -> bool:
                try:
                    with timer(seconds):
                        call()
                except KeyboardInterrupt:
                    return True
                return False

            walk.step(reference, interrupted)


@pytest.mark.parametrize("name", ["three bytes", "arrays", "growing"])
def test_an_interrupt_at_every_line_of_a_call(name: str) -> None:
    """Accepting, masks, going back and compaction, each interrupted once before every line that it runs."""
    reference = References(GRAMMARS[name]())

    def begun() -> wb.Matcher:
        compiled = wb.compile(GRAMMARS[name](), VOCABULARY, TIGHT, cache=False)
        matcher = compiled.matcher()
        for byte in b"a" if name == "three bytes" else b"[":
            assert matcher.accept(byte)
        return matcher

    after = {"three bytes": [ord("a"), ord("b")]}.get(name, [ord("["), ord("]")])
    first = after[:1]
    calls: dict[str, tuple[Callable[[wb.Matcher], object], list[int]]] = {
        "accept": (lambda matcher: matcher.accept(after[1]), after),
        "fill_mask": (mask_of, first),
        "rollback": (lambda matcher: matcher.rollback(1), []),
        "compact": (lambda matcher: matcher.compiled.engine.compact(), first),
        "fork": (lambda matcher: matcher.fork(), first),
    }
    for word, (call, changed) in calls.items():
        probe = begun()
        n = lines_of(lambda probe=probe, call=call: call(probe))  # type: ignore[misc]
        assert n > 3, word
        step = max(1, n // 150)
        for at in range(0, n, step):
            matcher = begun()
            with suppress(KeyboardInterrupt), Lines(at):
                call(matcher)
            now = matcher.token_ids
            assert now in (first, changed), (word, at)
            assert matcher.num_accepted == len(now)
            assert np.array_equal(mask_of(matcher), reference(now)), (word, at)
            assert matcher.accept_tokens(after[len(now) :]) == len(after) - len(now)
            assert np.array_equal(mask_of(matcher), reference(after)), (word, at)


def test_an_interrupted_compilation_leaves_nothing_behind() -> None:
    """At every line of a compilation; the next one of the same grammar gives the automaton of a fresh one."""
    expected = wb.compile(wide(), VOCABULARY, cache=False)
    n = lines_of(lambda: wb.compile(wide(), VOCABULARY))
    for at in range(0, n, max(1, n // WALKS)):
        wb.clear_cache()
        grammar = wide()
        with suppress(KeyboardInterrupt), Lines(at):
            wb.compile(grammar, VOCABULARY)
        compiled = wb.compile(grammar, VOCABULARY)
        one, other = compiled.matcher(), expected.matcher()
        for byte in b'[{"k39":{"k38":{"k37":':
            assert np.array_equal(mask_of(one), mask_of(other)), at
            assert one.accept(byte)
            assert other.accept(byte)
