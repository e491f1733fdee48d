"""Grammar -> positions: one nondeterministic automaton with calls, and what is known about it.

Each rule that stays a rule (small or once-used regular rules are copied into their uses) and each
counted loop's body becomes a *unit*: a fragment from ``start`` to ``end`` over shared positions.
Positions have empty edges, byte edges and calls of units. Nothing is determinised here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from workbench.automaton.budgets import Budgets, too_complex
from workbench.automaton.utf8 import byte_ranges, utf8_graph
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Literal,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
    walk,
)
from workbench.grammar.json_strings import spelled_out
from workbench.grammar.scopes import written_out

__all__ = ["LONG_RUN", "Nfa", "Unit", "build_nfa", "collapsed", "runs_joined", "strongly_connected"]


@dataclass(slots=True)
class Unit:
    """A fragment that is called: a rule, or the body of counted loops."""

    name: str
    start: int
    end: int
    body: bool = False
    nullable: bool = False
    productive: bool = False


@dataclass(slots=True)
class Nfa:
    """Positions and their edges; ``loops[i] = (unit, min, max)`` with ``max`` -1 for no bound."""

    empty: list[list[int]] = field(default_factory=list)
    byte: list[list[tuple[int, int, int]]] = field(default_factory=list)
    call: list[list[tuple[int, int, int]]] = field(default_factory=list)
    rule: list[int] = field(default_factory=list)
    origin: list[Origin | None] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    loops: list[tuple[int, int, int]] = field(default_factory=list)
    rule_names: list[str] = field(default_factory=list)
    ends: set[int] = field(default_factory=set)
    useful: list[bool] = field(default_factory=list)

    def closure(self, position: int) -> list[int]:
        """Positions reached over empty edges, the given one first."""
        seen = {position}
        order = [position]
        for reached in order:
            for target in self.empty[reached]:
                if target not in seen:
                    seen.add(target)
                    order.append(target)
        return order


def strongly_connected(n: int, successors: Callable[[int], Iterable[int]]) -> list[list[int]]:
    """Tarjan's components of a graph over ``0..n-1``, callees before callers; iterative."""
    index = [-1] * n
    low = [0] * n
    on_stack = [False] * n
    stack: list[int] = []
    components: list[list[int]] = []
    counter = 0
    for root in range(n):
        if index[root] >= 0:
            continue
        work = [(root, iter(successors(root)))]
        index[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on_stack[root] = True
        while work:
            node, following = work[-1]
            for target in following:
                if index[target] < 0:
                    index[target] = low[target] = counter
                    counter += 1
                    stack.append(target)
                    on_stack[target] = True
                    work.append((target, iter(successors(target))))
                    break
                if on_stack[target]:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack[member] = False
                        component.append(member)
                        if member == node:
                            break
                    components.append(component)
    return components


def _leaf_size(expr: Expr) -> int:
    if isinstance(expr, Literal):
        return len(expr.data)
    if isinstance(expr, CharSet):
        return 1 if not expr.ranges or expr.ranges[-1][1] < 0x80 else 4
    if isinstance(expr, Graph):
        return len(expr.edges)
    if isinstance(expr, OtherText):
        return 30 * sum(map(len, expr.texts)) + 30
    return 1


#: equal neighbours from which on a sequence is counted
LONG_RUN = 16


class _Sizes:
    """Number of leaves that an expression comes to once repetitions are written out."""

    def __init__(self, budgets: Budgets) -> None:
        self.budgets = budgets
        self.rule_size: dict[str, int] = {}
        self._memo: dict[int, int] = {}

    def of(self, expr: Expr) -> int:
        """Size of one expression; the sizes of rules to be copied must be known."""
        memo = self._memo
        stack: list[tuple[Expr, bool]] = [(expr, False)]
        while stack:
            node, done = stack.pop()
            if id(node) in memo:
                continue
            if isinstance(node, Ref):
                memo[id(node)] = self.rule_size.get(node.name, 2)
            elif isinstance(node, Seq | Alt | Repeat | Graph):
                parts: tuple[Expr, ...]
                if isinstance(node, Repeat):
                    parts = (node.item,)
                elif isinstance(node, Graph):
                    parts = tuple(label for _, label, _ in node.edges)
                else:
                    parts = node.items
                if not done:
                    stack.append((node, True))
                    stack.extend((part, False) for part in parts)
                    continue
                total = sum(memo[id(part)] for part in parts)
                if isinstance(node, Repeat):
                    copies = self.copies(node, total)
                    total = total * max(copies, 1) + 1
                memo[id(node)] = total
            else:
                memo[id(node)] = _leaf_size(node)
        return memo[id(expr)]

    def copies(self, node: Repeat, item_size: int) -> int:
        """How many copies of the item are written out; 0 when the repetition is counted instead."""
        wanted = node.min if node.max is None else node.max
        if wanted <= 1:
            return 1
        return wanted if wanted * max(item_size, 1) <= self.budgets.expansion else 0


def _right_linear(names: set[str], rules: dict[str, Expr]) -> bool:
    """Whether every use of ``names`` inside their own rules stands at the end."""
    for name in names:
        stack: list[tuple[Expr, bool]] = [(rules[name], True)]
        while stack:
            node, tail = stack.pop()
            if isinstance(node, Ref):
                if node.name in names and not tail:
                    return False
            elif isinstance(node, Seq):
                stack.extend(
                    (item, tail and i == len(node.items) - 1) for i, item in enumerate(node.items)
                )
            elif isinstance(node, Alt):
                stack.extend((item, tail) for item in node.items)
            elif isinstance(node, Repeat):
                stack.append((node.item, False))
            elif isinstance(node, Graph):
                leaving = {source for source, _, _ in node.edges}
                stack.extend(
                    (label, tail and target in node.finals and target not in leaving)
                    for _, label, target in node.edges
                )
    return True


#: an instance of a right-linear group that is being copied: starts by name, its end, its members
_Scope = tuple[dict[str, int], int, set[str]]
_Task = tuple[Expr, int, int, int, Origin | None, _Scope | None]


class _Builder:
    def __init__(
        self,
        grammar: Grammar,
        missing: frozenset[int],
        budgets: Budgets,
        terminals: Mapping[Token, tuple[int, ...]],
    ) -> None:
        self.terminals = terminals
        self.rules = dict(grammar.rules)
        self.budgets = budgets
        self.missing = missing
        self.sizes = _Sizes(budgets)
        self.nfa = Nfa(rule_names=list(self.rules))
        self.rule_index = {name: i for i, name in enumerate(self.rules)}
        self.inlined: dict[str, set[str] | None] = {}
        self.unit_of_rule: dict[str, int] = {}
        self.unit_of_body: dict[int, int] = {}
        self.loop_index: dict[tuple[int, int, int], int] = {}
        self.bodies: list[tuple[int, Expr, int]] = []
        self._choose_inlined(grammar.start)

    def _choose_inlined(self, start: str) -> None:
        names = list(self.rules)
        uses = dict.fromkeys(names, 0)
        targets: list[list[int]] = []
        for name in names:
            called = []
            for part in walk(self.rules[name]):
                if isinstance(part, Ref):
                    uses[part.name] += 1
                    called.append(self.rule_index[part.name])
            targets.append(called)
        for component in strongly_connected(len(names), targets.__getitem__):
            members = {names[i] for i in component}
            first = component[0]
            cyclic = len(component) > 1 or first in targets[first]
            if cyclic and not _right_linear(members, self.rules):
                continue
            size = 0
            for name in members:
                if cyclic:
                    self.sizes.rule_size.update(dict.fromkeys(members, 1))
                size += self.sizes.of(self.rules[name])
            outside = sum(uses[name] for name in members) - (
                sum(1 for i in component for t in targets[i] if names[t] in members)
                if cyclic
                else 0
            )
            for name in members:
                self.sizes.rule_size.pop(name, None)
            if size * max(outside, 1) <= self.budgets.inlining or (outside <= 1 and size <= 4000):
                for name in members:
                    self.inlined[name] = members if cyclic else None
                    self.sizes.rule_size[name] = size

    def position(self, rule: int, origin: Origin | None) -> int:
        nfa = self.nfa
        nfa.empty.append([])
        nfa.byte.append([])
        nfa.call.append([])
        nfa.rule.append(rule)
        nfa.origin.append(origin)
        if len(nfa.empty) > self.budgets.positions:
            raise too_complex("positions", nfa.rule_names[rule], budgets=self.budgets)
        return len(nfa.empty) - 1

    def unit(self, name: str, rule: int, body: bool = False) -> int:
        start = self.position(rule, None)
        end = self.position(rule, None)
        self.nfa.units.append(Unit(name, start, end, body))
        self.nfa.ends.add(end)
        return len(self.nfa.units) - 1

    def unit_for_rule(self, name: str) -> int:
        if name not in self.unit_of_rule:
            rule = self.rule_index[name]
            self.unit_of_rule[name] = self.unit(name, rule)
            self.bodies.append((self.unit_of_rule[name], self.rules[name], rule))
        return self.unit_of_rule[name]

    def loop(self, unit: int, least: int, most: int) -> int:
        key = (unit, least, most)
        if key not in self.loop_index:
            self.loop_index[key] = len(self.nfa.loops)
            self.nfa.loops.append(key)
        return self.loop_index[key]

    def build(self, start: str) -> int:
        root = self.unit_for_rule(start)
        while self.bodies:
            unit, expr, rule = self.bodies.pop()
            self.fragment(expr, self.nfa.units[unit].start, self.nfa.units[unit].end, rule)
        return root

    def fragment(self, top: Expr, start: int, end: int, top_rule: int) -> None:  # noqa: C901 - one branch a kind of expression
        """Connect two positions with the language of an expression."""
        nfa = self.nfa
        # (expression, from, to, rule, origin, open right-linear instance)
        stack: list[_Task] = [(top, start, end, top_rule, None, None)]
        while stack:
            expr, a, b, rule, origin, scope = stack.pop()
            origin = expr.origin or origin
            if isinstance(expr, Literal):
                if not expr.data:
                    nfa.empty[a].append(b)
                    continue
                here = a
                for i, value in enumerate(expr.data):
                    last = i == len(expr.data) - 1
                    there = b if last else self.position(rule, origin)
                    self._byte(here, value, value, there, origin)
                    here = there
            elif isinstance(expr, ByteSet):
                for low, high in byte_ranges(expr.mask):
                    self._byte(a, low, high, b, origin)
            elif isinstance(expr, CharSet):
                n, edges = utf8_graph(expr.ranges)
                local = [a, b, *(self.position(rule, origin) for _ in range(n - 2))]
                for source, low, high, target in edges:
                    self._byte(local[source], low, high, local[target], origin)
            elif isinstance(expr, Seq):
                here = a
                items = runs_joined(expr.items)
                for i, item in enumerate(items):
                    last = i == len(items) - 1
                    there = b if last else self.position(rule, origin)
                    stack.append((item, here, there, rule, origin, scope))
                    here = there
                if not expr.items:
                    nfa.empty[a].append(b)
            elif isinstance(expr, Alt):
                stack.extend((item, a, b, rule, origin, scope) for item in expr.items)
            elif isinstance(expr, Graph):
                local = [self.position(rule, origin) for _ in range(expr.n_states)]
                nfa.empty[a].append(local[expr.start])
                leaving = {source for source, _, _ in expr.edges}
                for final in expr.finals:
                    nfa.empty[local[final]].append(b)
                for source, label, target in expr.edges:
                    to = b if target in expr.finals and target not in leaving else local[target]
                    stack.append((label, local[source], to, rule, origin, scope))
            elif isinstance(expr, Repeat):
                self._repeat(expr, a, b, rule, origin, stack)
            elif isinstance(expr, Ref):
                self._ref(expr, a, b, origin, scope, stack)
            elif isinstance(expr, OtherText):
                stack.append((spelled_out(expr), a, b, rule, origin, scope))
            elif isinstance(expr, Scope):
                stack.append((written_out(expr), a, b, rule, origin, scope))
            elif isinstance(expr, Token):
                if nfa.origin[a] is None:
                    nfa.origin[a] = origin
                nfa.byte[a].extend((symbol, symbol, b) for symbol in self.terminals[expr])
            else:
                raise TypeError(f"not an expression: {expr!r}")

    def _byte(self, a: int, low: int, high: int, b: int, origin: Origin | None) -> None:
        if self.nfa.origin[a] is None:
            self.nfa.origin[a] = origin
        if low == high:  # most edges
            if low not in self.missing:
                self.nfa.byte[a].append((low, high, b))
            return
        cut = [v for v in self.missing if low <= v <= high] if self.missing else []
        if not cut:
            self.nfa.byte[a].append((low, high, b))
            return
        for value in sorted(cut):
            if low < value:
                self.nfa.byte[a].append((low, value - 1, b))
            low = value + 1
        if low <= high:
            self.nfa.byte[a].append((low, high, b))

    def _repeat(
        self, expr: Repeat, a: int, b: int, rule: int, origin: Origin | None, stack: list[_Task]
    ) -> None:
        nfa = self.nfa
        expr = collapsed(expr)
        item, least, most = expr.item, expr.min, expr.max
        if most is not None and least > most:
            return
        if most == 0:
            nfa.empty[a].append(b)
            return
        copies = self.sizes.copies(expr, self.sizes.of(item))
        if copies == 0:
            if id(item) not in self.unit_of_body:
                self.unit_of_body[id(item)] = self.unit(nfa.rule_names[rule], rule, True)
                self.bodies.append((self.unit_of_body[id(item)], item, rule))
            unit = self.unit_of_body[id(item)]
            if least == 0:
                nfa.empty[a].append(b)
            nfa.call[a].append(
                (unit, self.loop(unit, max(least, 1), -1 if most is None else most), b)
            )
            if nfa.origin[a] is None:
                nfa.origin[a] = origin
            return
        here = self.position(rule, origin)
        nfa.empty[a].append(here)
        begin = here
        for _ in range(least):
            there = self.position(rule, origin)
            stack.append((item, here, there, rule, origin, None))
            begin, here = here, there
        if most is None and least:
            nfa.empty[here].append(begin)
        elif most is None:
            stack.append((item, here, here, rule, origin, None))
        else:
            for _ in range(most - least):
                there = self.position(rule, origin)
                stack.append((item, here, there, rule, origin, None))
                nfa.empty[here].append(b)
                here = there
        nfa.empty[here].append(b)

    def _ref(
        self,
        expr: Ref,
        a: int,
        b: int,
        origin: Origin | None,
        scope: _Scope | None,
        stack: list[_Task],
    ) -> None:
        nfa = self.nfa
        name = expr.name
        if name not in self.inlined:
            nfa.call[a].append((self.unit_for_rule(name), -1, b))
            if nfa.origin[a] is None:
                nfa.origin[a] = origin
            return
        members = self.inlined[name]
        callee = self.rule_index[name]
        body = self.rules[name]
        if members is None:
            stack.append((body, a, b, callee, origin, None))
            return
        starts: dict[str, int]
        if scope is not None and scope[1] == b and scope[2] is members:
            starts = scope[0]
        else:
            starts = {}
            scope = (starts, b, members)
        if name not in starts:
            starts[name] = self.position(callee, origin)
            stack.append((body, starts[name], b, callee, origin, scope))
        nfa.empty[a].append(starts[name])


def collapsed(expr: Repeat) -> Repeat:
    """Write a repeat of a repeat as one where the counts that it allows have no gaps.

    ``(x{m,n}){p,q}`` allows the counts from k*m to k*n for each k in p..q; they join up when each
    range begins no later than right after the one before it, for which the first two decide.
    """
    while isinstance(expr.item, Repeat):
        inner = expr.item
        m, n, p, q = inner.min, inner.max, expr.min, expr.max
        if (n is not None and n < m) or (q is not None and q < p):
            break
        top = None if n is None or q is None else n * q
        if n == 0 or q == 0:
            top = 0
        joined = p == q or (m <= 1 if p == 0 else n is None or n * p + 1 >= m * (p + 1))
        if not joined:
            break
        expr = Repeat(inner.item, m * p, top, origin=expr.origin or inner.origin)
    return expr


def _identity(item: Expr) -> object:
    return item.name if isinstance(item, Ref) else id(item)


def runs_joined(items: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Write long runs of one and the same part as a repeat."""
    if len(items) < LONG_RUN:
        return items
    out: list[Expr] = []
    for _, group in groupby(items, _identity):
        run = list(group)
        if len(run) < LONG_RUN:
            out += run
        else:
            out.append(Repeat(run[0], len(run), len(run), origin=run[0].origin))
    return tuple(out)


def _reach_ends(nfa: Nfa, bytes_pass: bool) -> list[bool]:
    """Units whose end is reached from their start; a call is passed once its unit is known to."""
    known = [False] * len(nfa.units)
    waiting: dict[int, list[tuple[int, int]]] = {}
    seen: list[set[int]] = [{unit.start} for unit in nfa.units]
    todo: list[tuple[int, int]] = [(i, unit.start) for i, unit in enumerate(nfa.units)]
    while todo:
        unit, position = todo.pop()
        if position == nfa.units[unit].end:
            if not known[unit]:
                known[unit] = True
                for waiter, target in waiting.pop(unit, ()):
                    if target not in seen[waiter]:
                        seen[waiter].add(target)
                        todo.append((waiter, target))
            continue
        following = list(nfa.empty[position])
        if bytes_pass:
            following += [target for _, _, target in nfa.byte[position]]
        for callee, _, target in nfa.call[position]:
            if known[callee]:
                following.append(target)
            else:
                waiting.setdefault(callee, []).append((unit, target))
        for target in following:
            if target not in seen[unit]:
                seen[unit].add(target)
                todo.append((unit, target))
    return known


def build_nfa(
    grammar: Grammar,
    missing: frozenset[int],
    budgets: Budgets,
    terminals: Mapping[Token, tuple[int, ...]],
) -> tuple[Nfa, int]:
    """Build the positions of a grammar without the bytes in ``missing``; returns them and the root unit.

    ``terminals`` are the symbols of each token terminal.

    Afterwards ``Unit.nullable`` and ``Unit.productive`` hold, calls of nullable units have an empty
    edge beside them, and ``useful[p]`` says whether the end of p's unit can be reached from p.

    Raises ``GrammarTooComplex``.
    """
    builder = _Builder(grammar, missing, budgets, terminals)
    root = builder.build(grammar.start)
    nfa = builder.nfa
    for unit, known in zip(nfa.units, _reach_ends(nfa, False), strict=True):
        unit.nullable = known
    nfa.loops = [
        (unit, 1 if nfa.units[unit].nullable else least, most) for unit, least, most in nfa.loops
    ]
    for position, calls in enumerate(nfa.call):
        nfa.empty[position].extend(target for unit, _, target in calls if nfa.units[unit].nullable)
    for unit, known in zip(nfa.units, _reach_ends(nfa, True), strict=True):
        unit.productive = known
    _mark_useful(nfa)
    return nfa, root


def _mark_useful(nfa: Nfa) -> None:
    sources: list[list[int]] = [[] for _ in nfa.empty]
    for position in range(len(nfa.empty)):
        for target in nfa.empty[position]:
            sources[target].append(position)
        for _, _, target in nfa.byte[position]:
            sources[target].append(position)
        for unit, _, target in nfa.call[position]:
            if nfa.units[unit].productive:
                sources[target].append(position)
    nfa.useful = [False] * len(nfa.empty)
    todo = list(nfa.ends)
    for end in todo:
        nfa.useful[end] = True
    while todo:
        for source in sources[todo.pop()]:
            if not nfa.useful[source]:
                nfa.useful[source] = True
                todo.append(source)
