"""A long run over random grammars: ``make fuzz``, or ``python -m tests.engine.fuzz FIRST COUNT``.

Every case is walked against the oracle, and a small one with the same number is enumerated. The first
failure ends the run with status 1; what it prints is enough to write a test. Otherwise a census follows.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from statistics import median

from tqdm import tqdm

import workbench as wb
from tests.engine.census import CENSUS
from tests.engine.enumeration import enumerated
from tests.engine.grammars import Case, seeded_case, small_case
from tests.engine.shrink import shrunk
from tests.engine.walks import WrongMask, compare
from tests.oracle import Oracle

Check = Callable[[Case], object]


def walked(case: Case) -> Oracle:
    """The case walked against the oracle."""
    oracle = case.oracle()
    if oracle.empty_language:
        unsatisfiable(case)
    else:
        compare(case, oracle)
    return oracle


def unsatisfiable(case: Case) -> None:
    try:
        wb.compile(case.grammar, case.vocabulary(), case.limits())
    except wb.UnsatisfiableGrammar:
        return
    raise AssertionError("compiled, though no text can complete")


def fault(check: Check, case: Case) -> Exception | None:
    """What a check raises; a budget that is used up is no fault."""
    try:
        check(case)
    except wb.GrammarTooComplex:
        return None
    except Exception as error:
        return error
    return None


def report(seed: int, check: Check, case: Case, error: Exception) -> None:
    """Print what is wrong, and the smallest case in which the same is."""
    traceback.print_exception(error)
    print(f"\nseed {seed}, {check.__name__}; making it smaller takes up to a minute", flush=True)
    kind = type(error)
    small = shrunk(case, lambda other: type(fault(check, other)) is kind)
    error = fault(check, small) or error
    for name, expr in small.grammar.rules.items():
        print(f"{'start ' * (name == small.grammar.start)}rule {name}: {expr}")
    print(f"tokens: {list(enumerate(small.tokens))}")
    print(f"ends: {small.eos_ids}, special: {small.special_ids}, width: {small.width}")
    print(f"budgets: {dict(small.budgets)}, seed of the walk: {small.seed}")
    if isinstance(error, WrongMask):
        spelled = [[(i, small.tokens[i]) for i in ids] for ids in (error.missing, error.extra)]
        print(f"prefix: {error.prefix!r}\nmissing: {spelled[0]}\nextra: {spelled[1]}")
    else:
        print(f"{kind.__name__}: {error}")


def run(first: int, count: int) -> int:
    """Check so many cases; returns the exit status."""
    given_up = []
    listed = []
    checks: tuple[tuple[Check, Callable[[int], Case]], ...] = (
        (walked, seeded_case),
        (enumerated, small_case),
    )
    for seed in tqdm(range(first, first + count), unit="case", smoothing=0):
        for check, made in checks:
            case = made(seed)
            found: object = None
            try:
                found = check(case)
            except wb.GrammarTooComplex:
                given_up.append((seed, check.__name__))
                CENSUS.given_up += check is walked
            except Exception as error:
                report(seed, check, case, error)
                return 1
            if isinstance(found, int):
                listed.append(found)
            elif check is walked:
                CENSUS.add(case, found if isinstance(found, Oracle) else case.oracle())
    print("\n".join(CENSUS.lines()))
    print(
        f"{len(listed)} small grammars listed, {sum(listed):,} texts, median {median(listed):.0f}"
    )
    print(f"given up as too complex: {given_up}" if given_up else "none was given up")
    return 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int, nargs="?", default=0, help="number of the first case")
    parser.add_argument("count", type=int, nargs="?", default=2000, help="how many cases")
    args = parser.parse_args()
    return run(args.first, args.count)


if __name__ == "__main__":
    sys.exit(main())
