"""Planted faults, and how many random cases it takes to see each of them.

``WORKBENCH_DISABLE_JIT=1 python -m tests.engine.mutants CASES`` prints a JSON object: for each mutant the
number of the case that gave it away, or null. "nothing" is the engine as it is.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import workbench as wb
from tests.engine.grammars import Case, seeded_case
from tests.engine.samples import lit, option, star
from tests.engine.walks import Mask, choose, ids_of, mask_of
from workbench.automaton import (
    build,
    builder,
    determinise,
    entry_positions,
    row_kernels,
    subset_kernels,
)
from workbench.engine import engine, history, slices, tables
from workbench.engine.kernels import constants, hash_consing, mask_trees, stacks
from workbench.grammar.ir import Alt, Expr, Grammar, Ref, Repeat, Seq

Patch = Callable[[Any], Any]

# by its full name: the package has a function of the same name
compiling = importlib.import_module("workbench.engine.compile")


def crafted(**rules: Expr) -> Case:
    """A case over the letters that faults in the automaton's rarer corners need."""
    tokens = (b"a", b"b", b"c", b"(", b")", b"+", b"a+", b"a+b", b"</s>")
    return Case(Grammar(rules, next(iter(rules))), tokens, eos_ids=(8,))


COUNTED = Alt((lit("a"), lit("b")))

#: in front of the random cases: what these seldom have
CRAFTED = (
    # two counts of one body from one place
    crafted(
        S=Alt(
            (
                Seq((Repeat(COUNTED, 7, 9), lit("c"))),
                Seq((Repeat(COUNTED, 11, 12), lit("+"))),
            )
        )
    ),
    # an option behind a rule that is called at the end
    crafted(
        S=Seq((Ref("N"), option(lit("b")))), N=Alt((Seq((lit("("), Ref("N"), lit(")"))), lit("a")))
    ),
    # the two ends of E offer different things
    crafted(E=Alt((Seq((lit("a"), star(Seq((lit("+"), Ref("E")))))), lit("b")))),
    # S "x" cannot be spelled, so completing S inside B leads nowhere
    crafted(
        S=Alt((Seq((Ref("S"), Ref("B"))), Seq((Ref("B"), lit("b"))), lit("c"))),
        B=Alt((Seq((Ref("S"), lit("x"))), Seq((lit("("), lit("a"))), lit("a"))),
    ),
)


def query_dropped(original: Any) -> Any:
    """The mask cache's key lacks the last stack query."""

    def store(ctx: Any, *rest: Any) -> None:
        ctx.count[constants.N_QUERIES] = max(0, ctx.count[constants.N_QUERIES] - 1)
        original(ctx, *rest)

    return store


def shifted(column: str, by: int) -> Patch:
    """Every bound of the counted loops is off by so much."""

    def patch(original: Any) -> Any:
        def sync(self: Any, context: Any) -> Any:
            changes = original(self, context)
            bounds = getattr(context, column)[: len(self.automaton.loop_min)]
            bounds[bounds > 0] += by
            return changes

        return sync

    return patch


def nullable_forgotten(original: Any) -> Any:
    """The first nullable rule is taken for one that is not."""

    def analyse(*args: Any) -> Any:
        made = original(*args)
        made.nullable -= set(sorted(made.nullable)[:1])
        return made

    return analyse


def first_end_only(original: Any) -> Any:
    """Of several end tokens one is known."""

    def start(self: Any, *args: Any) -> None:
        original(self, *args)
        self.ctx.place(eos=self.ctx.eos[:1])

    return start


def link_forgotten(original: Any) -> Any:
    """One way to go on after a left-recursive rule is lost."""

    def corners(*args: Any) -> Any:
        found = original(*args)
        return found._replace(links=found.links[1:])

    return corners


def jumps_too_often(original: Any) -> Any:
    """A call is a jump wherever the frame may end behind it."""

    def is_tail(nfa: Any, order: Any, tail: Any, first: int) -> bool:
        reached = [first]
        for p in reached:
            for e in range(nfa.empty_at[p], nfa.empty_at[p + 1]):
                if nfa.empties[2, e] < 0 and nfa.empties[1, e] not in reached:
                    reached.append(int(nfa.empties[1, e]))
        return any(nfa.final[p] for p in reached)

    return is_tail


def calls_confused(original: Any) -> Any:
    """Calls of one body are one call, however often it is to be repeated."""

    def comes_before(nfa: Any, one: int, other: int) -> bool:
        return bool(nfa.calls[1, one] < nfa.calls[1, other])

    return comes_before


def constant(value: Any) -> Patch:
    return lambda original: lambda *args: value


MUTANTS: dict[str, tuple[Any, str, Patch]] = {
    "nothing": (hash_consing, "union", lambda original: original),
    "a stack query dropped from the cache's key": (mask_trees, "store", query_dropped),
    "counts left out of the stack queries": (stacks, "frame_zone", constant(0)),
    "a maximum too high by one": (tables.Packed, "sync", shifted("loop_max", 1)),
    "a minimum too low by one": (tables.Packed, "sync", shifted("loop_min", -1)),
    "far from a bound taken for any distance": (slices.Slices, "longest_run", constant(-2)),
    "one nullable forgotten": (build, "analyse", nullable_forgotten),
    "stacks of equal states not united": (hash_consing, "union", lambda _: lambda ctx, a, b: a),
    "one of several ends forgotten": (engine.Engine, "__init__", first_end_only),
    "a left-recursive rule goes on in too few ways": (entry_positions, "corners", link_forgotten),
    "every call that may be last is a jump": (row_kernels, "is_tail", jumps_too_often),
    "dead states kept": (
        builder._Builder,
        "_useful",
        lambda _: lambda self, final, rows, calls: (rows, calls),
    ),
    "frames dropped after a look at one end": (
        determinise,
        "_offered_by_all",
        lambda _: lambda offers: next(iter(offers.values())),
    ),
    "calls with other bounds return to one state": (
        subset_kernels,
        "comes_before",
        calls_confused,
    ),
    "unspellable bytes kept": (
        compiling,
        "build_automaton",
        lambda original: lambda grammar, missing, *more: original(grammar, frozenset(), *more),
    ),
    "a step too few taken back": (
        history.History,
        "pop",
        lambda original: lambda self, n: original(self, max(1, n - 1)),
    ),
}


def places(module: Any, name: str) -> list[Any]:
    """Where a function is looked up: its module and those that imported it by name."""
    function = getattr(module, name)
    loaded = [one for name, one in sys.modules.items() if name.startswith("workbench.")]
    return [user for user in (module, *loaded) if vars(user).get(name) is function]


def wrong(case: Case) -> bool:
    """Whether the engine and the oracle differ along a few short walks; errors count too."""
    oracle = case.oracle()
    try:
        matcher = wb.compile(case.grammar, case.vocabulary(), case.limits()).matcher()
    except wb.UnsatisfiableGrammar:
        return not oracle.empty_language
    if oracle.empty_language:
        return True
    rng = Random(case.seed)
    for mode in ("deep", "any", "long", "any", "any"):
        matcher.reset()
        prefix, masks = b"", list[Mask]()
        for _ in range(9):
            allowed = sorted(oracle.allowed(prefix))
            masks.append(mask_of(matcher))
            if ids_of(masks[-1]) != allowed or matcher.is_accepting != oracle.complete(prefix):
                return True
            token = choose(rng, oracle, allowed, mode)
            if token is None or len(prefix) > 24:
                break
            if not matcher.accept(token):
                return True
            prefix += oracle.tokens[token]
        back = rng.randint(0, matcher.num_accepted)
        expected = matcher.num_accepted - back
        if back:
            matcher.rollback(back)
            if not np.array_equal(mask_of(matcher), masks[expected]):
                return True
    return False


def seen_at(mutant: str, cases: list[Case]) -> int | None:
    """Number of the first case in which a mutant shows."""
    module, name, patch = MUTANTS[mutant]
    users, original = places(module, name), getattr(module, name)
    for user in users:
        setattr(user, name, patch(original))
    try:
        for number, case in enumerate(cases):
            try:
                if wrong(case):
                    return number
            except wb.GrammarTooComplex:
                continue
            except Exception:
                if mutant == "nothing":
                    raise
                return number
    finally:
        for user in users:
            setattr(user, name, original)
    return None


if __name__ == "__main__":
    cases = [*CRAFTED, *(seeded_case(seed) for seed in range(int(sys.argv[1])))]
    print(json.dumps({mutant: seen_at(mutant, cases) for mutant in MUTANTS}))
