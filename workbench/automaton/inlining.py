"""Which rules are copied into their uses: a call costs a frame, which a mask then has to look below.

Rules that lead back to themselves are copied where each use within the group stands at the very end of its rule
(right-linear groups: their texts are regular). Size is counted in leaves once repetitions are written out.
"""

from __future__ import annotations

from workbench.automaton.budgets import Budgets
from workbench.grammar.analysis import Analysis, bottom_up
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import (
    Alt,
    CharSet,
    Expr,
    Graph,
    Literal,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    children,
)

__all__ = ["inlined"]

#: a rule with one use is copied up to this size
_USED_ONCE = 4000


def inlined(analysis: Analysis, budgets: Budgets) -> dict[str, frozenset[str]]:
    """The rules to copy, with their group where they lead back to themselves (else with the empty set)."""
    sizes = _Sizes(budgets.expansion)
    outer: dict[str, int] = {}
    for called in analysis.used.values():
        for name, times in called.items():
            outer[name] = outer.get(name, 0) + times
    found: dict[str, frozenset[str]] = {}
    for members in analysis.components:
        group = analysis.recursive.get(members[0], frozenset())
        if group and not _right_linear(group, analysis):
            continue
        outside = sum(outer.get(name, 0) for name in members)
        if not outside:  # the start, which nothing uses
            continue
        if group:
            sizes.rules.update(dict.fromkeys(members, 1))
            for name in members:
                within = analysis.used[name].items()
                outside -= sum(times for one, times in within if one in group)
        size = sum(sizes.of(analysis.written[name]) for name in members)
        for name in members:
            sizes.rules.pop(name, None)
        if size * max(outside, 1) <= budgets.inlining or (outside <= 1 and size <= _USED_ONCE):
            found.update(dict.fromkeys(members, group))
            sizes.rules.update(dict.fromkeys(members, size))
    return found


class _Sizes:
    """Number of leaves of expressions; ``rules`` are the sizes of those to be copied."""

    def __init__(self, expansion: int) -> None:
        self.expansion = expansion
        self.rules: dict[str, int] = {}

    def of(self, expr: Expr) -> int:
        """Size of one expression, what stands in it twice counted twice."""
        known: dict[int, int] = {}
        for part in bottom_up(expr):
            known[id(part)] = self._of_one(part, known)
        return known[id(expr)]

    def _of_one(self, part: Expr, known: dict[int, int]) -> int:
        if isinstance(part, Literal):
            return len(part.data)
        if isinstance(part, CharSet):
            return 1 if not part.ranges or part.ranges[-1][1] < 0x80 else 4
        if isinstance(part, Ref):
            return self.rules.get(part.name, 2)
        if isinstance(part, ByteGraph):
            return int(part.rows.shape[1])
        if isinstance(part, Seq | Alt | Graph):
            return sum(known[id(one)] for one in children(part))
        if isinstance(part, Repeat):
            item = known[id(part.item)]
            copies = part.min if part.max is None else part.max
            written = copies * max(item, 1) <= self.expansion
            return item * max(copies, 1) + 1 if written else item + 1
        # a frame of its own, whatever is inside
        return 2 if isinstance(part, OtherText | Scope) else 1


def _right_linear(group: frozenset[str], analysis: Analysis) -> bool:
    """Whether every use of the rules inside their own group stands at the end."""
    for name in group:
        if group.isdisjoint(analysis.used[name]):
            continue
        stack: list[tuple[Expr, bool]] = [(analysis.written[name], True)]
        while stack:
            part, tail = stack.pop()
            if isinstance(part, Ref):
                if part.name in group and not tail:
                    return False
            elif isinstance(part, Seq):
                last = len(part.items) - 1
                stack += [(item, tail and i == last) for i, item in enumerate(part.items)]
            elif isinstance(part, Alt):
                stack += [(item, tail) for item in part.items]
            elif isinstance(part, Repeat):
                stack.append((part.item, tail and part.max == 1))
            elif isinstance(part, Graph) and not isinstance(part, ByteGraph):
                leaving = {source for source, _, _ in part.edges}
                stack += [
                    (label, tail and target in part.finals and target not in leaving)
                    for _, label, target in part.edges
                ]
            else:
                stack += [(item, False) for item in children(part)]
    return True
