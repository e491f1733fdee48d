"""Whether a grammar keeps the promise of lazy rules, so that it need not be determinised ahead.

For grammars of tens of thousands of literals the direct construction is an order of magnitude quicker.
"""

from __future__ import annotations

from workbench.automaton.nfa import strongly_connected
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Literal,
    OtherText,
    Ref,
    Repeat,
    Seq,
    walk,
)

__all__ = ["is_large", "keeps_promise"]

#: leaves from which on a grammar is built directly
_LARGE = 30_000


def is_large(grammar: Grammar) -> bool:
    """Whether a grammar has so many leaves that determinising them all would take long."""
    leaves = 0
    for expr in grammar.rules.values():
        for part in walk(expr):
            leaves += len(part.data) if isinstance(part, Literal) else 1
            if leaves > _LARGE:
                return True
    return False


def keeps_promise(grammar: Grammar, missing: frozenset[int]) -> bool:
    """Whether every rule has a text without missing bytes, none is nullable and none left-recursive.

    A grammar that names tokens does not. Errs on the side of no.
    """
    names = list(grammar.rules)
    number = {name: i for i, name in enumerate(names)}
    left: list[list[int]] = []
    used: list[list[int]] = []
    for name in names:
        facts = _facts(grammar.rules[name])
        if facts is None or facts[0]:
            return False
        left.append(sorted({number[callee] for callee in facts[1]}))
        parts = walk(grammar.rules[name])
        used.append([number[part.name] for part in parts if isinstance(part, Ref)])
    for component in strongly_connected(len(names), left.__getitem__):
        if len(component) > 1 or component[0] in left[component[0]]:
            return False
    productive: set[str] = set()
    order = [i for component in strongly_connected(len(names), used.__getitem__) for i in component]
    while len(productive) < len(names):
        before = len(productive)
        for i in order:
            if names[i] not in productive and _has_text(
                grammar.rules[names[i]], productive, missing
            ):
                productive.add(names[i])
        if len(productive) == before:
            return False
    return True


def _facts(expr: Expr) -> tuple[bool, frozenset[str]] | None:
    """Whether an expression is nullable, if no rule is, and the rules called at its left end."""
    none: frozenset[str] = frozenset()
    consumes = (False, none)
    known: dict[int, tuple[bool, frozenset[str]]] = {}
    for part in reversed(list(walk(expr))):
        if isinstance(part, CharSet | ByteSet):
            fact = consumes
        elif isinstance(part, Literal):
            fact = (not part.data, none)
        elif isinstance(part, OtherText):
            fact = ("" not in part.texts, none)
        elif isinstance(part, Ref):
            fact = (False, frozenset((part.name,)))
        elif isinstance(part, Seq):
            called = none
            nullable = True
            for item in part.items:
                skips, calls = known[id(item)]
                called = called | calls if calls else called
                if not skips:
                    nullable = False
                    break
            fact = (nullable, called)
        elif isinstance(part, Alt):
            facts = [known[id(item)] for item in part.items]
            fact = (
                any(skips for skips, _ in facts),
                none.union(*(calls for _, calls in facts if calls)),
            )
        elif isinstance(part, Repeat):
            skips, calls = known[id(part.item)]
            fact = (skips or part.min == 0, calls)
        elif isinstance(part, Graph):
            seen = {part.start}
            reached = [part.start]
            called = none
            leaving: dict[int, list[tuple[Expr, int]]] = {}
            for source, label, target in part.edges:
                leaving.setdefault(source, []).append((label, target))
            for state in reached:
                for label, target in leaving.get(state, ()):
                    skips, calls = known[id(label)]
                    called = called | calls
                    if skips and target not in seen:
                        seen.add(target)
                        reached.append(target)
            fact = (any(final in seen for final in part.finals), called)
        else:
            return None
        known[id(part)] = fact
    return known[id(expr)]


def _has_text(expr: Expr, productive: set[str], missing: frozenset[int]) -> bool:
    """Whether an expression has a text without missing bytes, given rules that have one."""
    known: dict[int, bool] = {}
    wide = any(byte >= 0x80 for byte in missing)
    for part in reversed(list(walk(expr))):
        if isinstance(part, Literal):
            fact = missing.isdisjoint(part.data)
        elif isinstance(part, ByteSet):
            fact = any(part.mask >> byte & 1 for byte in range(256) if byte not in missing)
        elif isinstance(part, CharSet):
            fact = any(
                (not wide and high >= 0x80 and not 0xD800 <= low <= high <= 0xDFFF)
                or any(byte not in missing for byte in range(low, min(high, 0x7F) + 1))
                for low, high in part.ranges
            )
        elif isinstance(part, OtherText):
            fact = missing.isdisjoint(range(0x20, 0x7F))
        elif isinstance(part, Ref):
            fact = part.name in productive
        elif isinstance(part, Seq):
            fact = all(known[id(item)] for item in part.items)
        elif isinstance(part, Alt):
            fact = any(known[id(item)] for item in part.items)
        elif isinstance(part, Repeat):
            fits = part.max is None or part.min <= part.max
            fact = fits and (part.min == 0 or known[id(part.item)])
        else:
            assert isinstance(part, Graph)
            seen = {part.start}
            reached = [part.start]
            leaving: dict[int, list[int]] = {}
            for source, label, target in part.edges:
                if known[id(label)]:
                    leaving.setdefault(source, []).append(target)
            for state in reached:
                for target in leaving.get(state, ()):
                    if target not in seen:
                        seen.add(target)
                        reached.append(target)
            fact = any(final in seen for final in part.finals)
        known[id(part)] = fact
    return known[id(expr)]
