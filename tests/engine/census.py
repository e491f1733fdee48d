"""What the random grammars are like: counted while the property tests run, printed at the end."""

from __future__ import annotations

from collections import Counter
from statistics import median

from tests.engine.grammars import Case, language
from tests.oracle import Oracle
from workbench.grammar import ir
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Ref,
    Repeat,
    Seq,
    walk,
)


def nullable_rules(grammar: Grammar) -> set[str]:
    """Names of the rules that derive the empty string."""
    names: set[str] = set()
    while True:
        found = {name for name, expr in grammar.rules.items() if is_nullable(expr, names)}
        if found == names:
            return names
        names = found


def is_nullable(expr: Expr, names: set[str]) -> bool:
    match expr:
        case Literal(data=data):
            return not data
        case ByteSet() | CharSet():
            return False
        case Seq(items=items):
            return all(is_nullable(item, names) for item in items)
        case Alt(items=items):
            return any(is_nullable(item, names) for item in items)
        case Ref(name=name):
            return name in names
        case Repeat(item=item, min=least):
            return least == 0 or is_nullable(item, names)
        case ir.Graph():
            return bool(set(expr.finals) & set(graph_skips(expr, names)))
    raise TypeError(expr)


def graph_skips(graph: ir.Graph, names: set[str]) -> dict[int, bool]:
    """States reached without a byte; True when something was skipped on every way there."""
    reached = {graph.start: False}
    for _ in range(graph.n_states):
        for source, label, target in graph.edges:
            if source in reached and is_nullable(label, names):
                reached.setdefault(target, True)
    return reached


def left_corners(expr: Expr, names: set[str], hidden: bool = False) -> set[tuple[str, bool]]:
    """Rules that may begin an expression; True when something nullable stands before them."""
    match expr:
        case Ref(name=name):
            return {(name, hidden)}
        case Seq(items=items):
            found = set()
            for item in items:
                found |= left_corners(item, names, hidden)
                if not is_nullable(item, names):
                    break
                hidden = hidden or item != ir.EMPTY
            return found
        case Alt(items=items):
            return {corner for item in items for corner in left_corners(item, names, hidden)}
        case Repeat(item=item, max=most):
            again = left_corners(item, names, True) if is_nullable(item, names) else set()
            return (left_corners(item, names, hidden) | again) if most != 0 else set()
        case ir.Graph():
            skips = graph_skips(expr, names)
            return {
                corner
                for source, label, _ in expr.edges
                if source in skips
                for corner in left_corners(label, names, hidden or skips[source])
            }
    return set()


def closure(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The transitive closure."""
    while True:
        more = edges | {(a, d) for a, b in edges for c, d in edges if b == c}
        if more == edges:
            return edges
        edges = more


def counts(expr: Expr) -> bool:
    return isinstance(expr, Repeat) and (expr.min > 1 or (expr.max or 0) > 1)


def features(case: Case, oracle: Oracle) -> set[str]:
    """Names of the difficulties that a case has."""
    grammar = case.grammar
    names = nullable_rules(grammar)
    corners = {
        (rule, name, hidden)
        for rule, expr in grammar.rules.items()
        for name, hidden in left_corners(expr, names)
    }
    plain = closure({(a, b) for a, b, hidden in corners if not hidden})
    any_left = closure({(a, b) for a, b, _ in corners})
    uses = closure(
        {(a, p.name) for a, x in grammar.rules.items() for p in walk(x) if isinstance(p, Ref)}
    )
    parts = [p for rule in grammar.rules.values() for p in walk(rule)]
    counted = [p for p in parts if counts(p)]
    tokens = [t for t in oracle.tokens if t]
    has = {
        "nullable": bool(names),
        "recursive": any(a == b for a, b in uses),
        "left-recursive": any(a == b for a, b in plain),
        "hidden left-recursive": any(h and (b, a) in any_left | {(a, a)} for a, b, h in corners),
        "mutually recursive": any(a < b and (b, a) in uses for a, b in uses),
        "ambiguous": oracle.ambiguous,
        "counted": bool(counted),
        "counted, nested": any(counts(q) for p in counted for q in list(walk(p))[1:]),
        "counted, nullable body": any(is_nullable(p.item, names) for p in counted),
        "counted, 8 or more": any(max(p.min, p.max or 0) >= 8 for p in counted),
        "counted, recursive body": any(
            isinstance(q, Ref) and (q.name, q.name) in uses for p in counted for q in walk(p)
        ),
        "graph": any(isinstance(p, ir.Graph) for p in parts),
        "characters over one byte": any(isinstance(p, CharSet) for p in parts),
        "unproductive part": bool(dead_rules(grammar))
        or any(p in (ir.NEVER, ByteSet(0), CharSet(())) for p in parts),
        "ids with equal bytes": len(set(tokens)) < len(tokens),
        "several end tokens": len(case.eos_ids) > 1,
        "empty token": b"" in case.tokens,
        "padded tail": case.width is not None and case.width > len(case.tokens),
        "empty language": oracle.empty_language,
    }
    return {name for name, present in has.items() if present}


def dead_rules(grammar: Grammar) -> set[str]:
    """Rules whose language is empty when every byte has a token."""
    every_byte = [bytes([b]) for b in range(256)]
    return {
        name
        for name in grammar.rules
        if Oracle(Grammar(grammar.rules, name), every_byte).empty_language
    }


class Census:
    """Counts cases, their features, language sizes and steps."""

    def __init__(self) -> None:
        self.cases = 0
        self.features: Counter[str] = Counter()
        self.sizes: list[int] = []
        self.steps = 0
        self.deep_steps = 0
        self.deepest = 0
        self.masks = 0
        self.given_up = 0

    def add(self, case: Case, oracle: Oracle) -> None:
        """Count a case after its walks (the oracle knows by then whether it met an ambiguity)."""
        self.cases += 1
        self.features.update(features(case, oracle))
        if not oracle.empty_language:
            self.sizes.append(len(language(oracle, 6, 1000)))

    def step(self, depth: int) -> None:
        """Count a step that was taken at a stack depth."""
        self.steps += 1
        self.deep_steps += depth > 5
        self.deepest = max(self.deepest, depth)

    def merge(self, other: Census) -> None:
        """Take over what another process has counted."""
        self.cases += other.cases
        self.features.update(other.features)
        self.sizes += other.sizes
        self.steps += other.steps
        self.deep_steps += other.deep_steps
        self.deepest = max(self.deepest, other.deepest)
        self.masks += other.masks
        self.given_up += other.given_up

    def lines(self) -> list[str]:
        """The census as text."""
        share = [
            f"{100 * n / self.cases:3.0f} % {name}"
            for name, n in sorted(self.features.items(), key=lambda item: -item[1])
        ]
        size = f"{median(self.sizes):.0f}" if self.sizes else "none"
        return [
            f"{self.cases} grammars; median language size up to 6 bytes (1,000 prefixes): {size}",
            f"{self.masks:,} masks compared, {self.given_up} walks given up as too complex",
            f"{self.steps:,} steps, {self.deep_steps:,} of them "
            f"beyond stack depth 5, the deepest {self.deepest}",
            *("   ".join(f"{s:<32}" for s in share[i : i + 3]) for i in range(0, len(share), 3)),
        ]


CENSUS = Census()
