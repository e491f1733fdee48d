"""Membership by definition: does a byte string belong to the language of a Grammar or Expr?

Positions reached from a position are computed from the meaning of each expression; uses of rules are
unknown sets of positions, grown until nothing changes, so recursion of any kind (left, hidden, mutual)
is no special case. For tests: slow, obvious, and independent of automata. Shares only the ir classes.

    matches(grammar, b"...")        # Grammar
    matches(expr, "text", rules)    # Expr, with the rules that its Refs name
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from workbench.frontends.json_schema.containers.distinct import NUMBERS
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Guard,
    Literal,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    children,
)

Use = tuple[str, int]  # a rule begun at a position
Record = tuple[int, int, frozenset[tuple[int, str]]]  # members that came, their number, texts


def matches(
    language: Grammar | Expr, text: bytes | str, rules: Mapping[str, Expr] | None = None
) -> bool:
    """Tell whether the whole text belongs to the language."""
    data = text.encode() if isinstance(text, str) else text
    if isinstance(language, Grammar):
        return _Matcher(language.rules, data).run(Ref(language.start))
    return _Matcher(rules or {}, data).run(language)


class _Matcher:
    def __init__(self, rules: Mapping[str, Expr], data: bytes) -> None:
        self.rules = rules
        self.data = data
        self.holds: dict[int, bool] = {}
        self.ends: dict[Use, frozenset[int]] = {}
        self.readers: dict[Use, set[Use | None]] = {}
        self.stale: list[Use] = []
        self.reader: Use | None = None  # the use whose ends are being computed; None is the whole

    def run(self, expr: Expr) -> bool:
        while True:
            self.reader = None
            if len(self.data) in self.after(expr, 0):
                return True
            if not self.stale:
                return False
            while self.stale:
                self.reader = use = self.stale.pop()
                ends = self.after(self.rules[use[0]], use[1])
                if ends != self.ends[use]:
                    self.ends[use] = ends
                    self.stale.extend(r for r in self.readers[use] if r and r not in self.stale)

    def after(self, expr: Expr, at: int) -> frozenset[int]:
        """Positions where a text of ``expr`` that begins at ``at`` can end, as known so far."""
        data = self.data
        match expr:
            case Literal(data=wanted):
                return frozenset([at + len(wanted)] if data.startswith(wanted, at) else [])
            case ByteSet(mask=mask):
                return frozenset([at + 1] if at < len(data) and mask >> data[at] & 1 else [])
            case CharSet(ranges=ranges):
                return self.character(ranges, at)
            case Seq(items=items):
                reached = frozenset([at])
                for item in items:
                    reached = self.step(item, reached)
                return reached
            case Alt(items=items):
                return frozenset().union(*(self.after(item, at) for item in items))
            case Repeat(item=item, min=least, max=most):
                return self.repeated(item, least, most, at)
            case Ref(name=name):
                use = (name, at)
                if use not in self.ends:
                    self.ends[use] = frozenset()
                    self.readers[use] = set()
                    self.stale.append(use)
                self.readers[use].add(self.reader)
                return self.ends[use]
            case Graph():
                return self.graph(expr, at)
            case Scope(item=item):
                begin = frozenset([(at, (0, 0, frozenset()))])
                return frozenset(end for end, _ in self.scoped(item, begin, expr))
            case OtherText():
                return frozenset(end for end, text in self.texts(expr, at))
        raise TypeError(f"unknown expression {expr!r}")

    def texts(self, expr: OtherText, at: int) -> Iterator[tuple[int, str]]:
        """Positions where a text that is watched can end, and what it says."""
        if not self.data.startswith(expr.opening, at):
            return
        at += len(expr.opening)
        for end in self.after(expr.body, at):
            spelled = self.data[at:end].decode()
            text = spelled if expr.cell == NUMBERS else json.loads(f'"{spelled}"')
            if text not in expr.texts:
                yield end, text

    def scoped(
        self, expr: Expr, reached: frozenset[tuple[int, Record]], scope: Scope
    ) -> frozenset[tuple[int, Record]]:
        """:meth:`step` within a scope: positions with what the scope's record says there."""
        if not self.guards(expr):
            return frozenset(
                (end, record) for at, record in reached for end in self.after(expr, at)
            )
        match expr:
            case Guard():
                found = ((at, self.passed(expr, record, scope)) for at, record in reached)
                return frozenset((at, record) for at, record in found if record is not None)
            case OtherText():
                out = set()
                for at, (came, count, texts) in reached:
                    for end, text in self.texts(expr, at):
                        if (expr.cell, text) not in texts:
                            out.add((end, (came, count, texts | {(expr.cell, text)})))
                return frozenset(out)
            case Seq(items=items):
                for item in items:
                    reached = self.scoped(item, reached, scope)
                return reached
            case Alt(items=items):
                return frozenset().union(*(self.scoped(item, reached, scope) for item in items))
            case Repeat(item=item, min=least, max=most):
                assert (least, most) in ((0, None), (0, 1), (1, 1), (1, None)), "a guard is counted"
                found = reached if least == 0 else frozenset()
                while reached:
                    reached = self.scoped(item, reached, scope) - found
                    found |= reached
                    if most == 1:
                        break
                return found
            case Graph():
                seen = {(expr.start, *one) for one in reached}
                todo = list(seen)
                while todo:
                    state, at, record = todo.pop()
                    here = frozenset([(at, record)])
                    for source, label, target in expr.edges:
                        if source == state:
                            ends = self.scoped(label, here, scope)
                            new = {(target, *end) for end in ends} - seen
                            seen |= new
                            todo.extend(new)
                return frozenset((at, r) for state, at, r in seen if state in expr.finals)
        raise TypeError(f"guards in {expr!r}")

    def guards(self, expr: Expr) -> bool:
        """Whether the guards or fresh texts of the scope around an expression stand in it."""
        if isinstance(expr, Scope):
            return False
        known = self.holds.get(id(expr))
        if known is None:
            if isinstance(expr, Guard) or (isinstance(expr, OtherText) and expr.fresh):
                known = True
            else:
                known = any(self.guards(part) for part in children(expr))
            self.holds[id(expr)] = known
        return known

    def passed(self, guard: Guard, record: Record, scope: Scope) -> Record | None:
        came, count, texts = record
        missing = (scope.required & ~came).bit_count()
        others = scope.most is None or count + missing < scope.most
        match guard.kind:
            case "take":
                needed = guard.among & scope.required
                fits = not guard.among & came and (others or needed)
                return (came | guard.among, count + 1, texts) if fits else None
            case "other":
                return (came, count + 1, texts) if others else None
            case "end":
                return record if not missing and count >= scope.least else None
            case "may":
                # a promise about what follows; whether it is kept is not this oracle's to say
                return record
        return record

    def step(self, expr: Expr, positions: frozenset[int]) -> frozenset[int]:
        return frozenset().union(*(self.after(expr, position) for position in positions))

    def character(self, ranges: tuple[tuple[int, int], ...], at: int) -> frozenset[int]:
        for size in range(1, 5):
            try:
                char = self.data[at : at + size].decode()
            except UnicodeDecodeError:
                continue
            inside = len(char) == 1 and any(low <= ord(char) <= high for low, high in ranges)
            return frozenset([at + size] if inside else [])
        return frozenset()

    def repeated(self, item: Expr, least: int, most: int | None, at: int) -> frozenset[int]:
        # Positions only grow, and an item that can be empty keeps the old ones: this settles.
        reached = frozenset([at])
        for _ in range(least):
            before, reached = reached, self.step(item, reached)
            if reached == before:
                break
        found = latest = reached
        count = least
        while latest and (most is None or count < most):
            latest = self.step(item, latest)
            if latest <= found:
                break
            found |= latest
            count += 1
        return found

    def graph(self, graph: Graph, at: int) -> frozenset[int]:
        seen = {(graph.start, at)}
        todo = list(seen)
        while todo:
            state, position = todo.pop()
            for source, label, target in graph.edges:
                if source == state:
                    new = {(target, end) for end in self.after(label, position)} - seen
                    seen |= new
                    todo.extend(new)
        return frozenset(position for state, position in seen if state in graph.finals)
