"""Rules that are regular: uses of rules replaced by what they say, recursion by loops.

A group of rules that use one another is regular when each use stands at the very end of its rule
(right-linear), or each at its very beginning (left-linear); it becomes one :class:`Graph` a rule. Other
recursion may or may not be regular - that cannot be decided in general - and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.errors import WorkbenchError
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import (
    EMPTY,
    Alt,
    Expr,
    Graph,
    Literal,
    Marker,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
    children,
)
from workbench.grammar.json_strings import spelled_out
from workbench.grammar.rewriting import rewrite
from workbench.grammar.scopes import written_out

__all__ = ["NotRegular", "resolve"]

#: bytes of the texts of an automaton in arrays that are listed
_LISTED = 500_000


class NotRegular(WorkbenchError):
    """An operation that is for regular languages alone met a part that is not, or not known to be.

    ``part`` is the expression that is in the way, ``rule`` the rule that holds it.
    """

    def __init__(self, reason: str, part: Expr, rule: str | None = None) -> None:
        self.reason = reason
        self.part = part
        self.rule = rule
        super().__init__(f"this is not regular: {reason}")


def resolve(parts: Sequence[Expr], rules: Mapping[str, Expr]) -> list[Expr]:
    """Replace the uses of rules in some expressions. Raises ``NotRegular``."""
    names: list[str] = []
    number: dict[str, int] = {}
    uses = [_uses(part) for part in parts]
    pending = [ref for some in uses for ref in some]
    bodies: list[Expr] = []
    for ref in pending:
        if ref.name in number:
            continue
        if ref.name not in rules:
            raise ValueError(f"rule {ref.name!r} is not defined")
        number[ref.name] = len(names)
        names.append(ref.name)
        bodies.append(rules[ref.name])
        pending.extend(_uses(bodies[-1]))
    called = [[number[ref.name] for ref in _uses(body)] for body in bodies]
    said: dict[str, Expr] = {}

    def spelled(part: Expr) -> Expr | None:
        if isinstance(part, Token):
            raise NotRegular("it names a token, which is no text", part)
        if isinstance(part, Marker):
            raise NotRegular("a marker may be a token, which is no text", part)
        if isinstance(part, OtherText):
            if part.fresh:
                reason = "no text may come twice in it, which no finite automaton can tell"
                raise NotRegular(f"{reason} (of a schema: pass unique_keys=False)", part)
            return spelled_out(part)
        if isinstance(part, Scope):
            return written_out(part)
        if isinstance(part, ByteGraph):
            return _listed(part)
        return said.get(part.name) if isinstance(part, Ref) else None

    done: dict[int, Expr] = {}
    for component in strongly_connected(len(names), called.__getitem__):
        members = [names[i] for i in component]
        plain = {name: rewrite(bodies[number[name]], spelled, done) for name in members}
        if len(component) == 1 and component[0] not in called[component[0]]:
            said[members[0]] = plain[members[0]]
        else:
            said.update(_looped(plain))
            # uses inside of the group were left alone, those outside are replaced
            done.clear()
    return [rewrite(part, spelled) for part in parts]


def _listed(graph: ByteGraph) -> Expr:
    """An automaton in arrays as its texts, where these are not long, else as a graph."""
    texts = graph.texts(_LISTED)
    return graph.plain() if texts is None else Alt(tuple(map(Literal, texts)))


def _uses(expr: Expr) -> list[Ref]:
    """The uses of rules in an expression, one for each rule."""
    found: dict[str, Ref] = {}
    seen = {id(expr)}
    todo = [expr]
    while todo:
        part = todo.pop()
        if isinstance(part, Ref):
            found.setdefault(part.name, part)
        for child in children(part):
            if id(child) not in seen:
                seen.add(id(child))
                todo.append(child)
    return list(found.values())


class _Stuck(NamedTuple):
    """A use in a place that makes no loop."""

    ref: Expr
    rule: str


def _looped(group: dict[str, Expr]) -> dict[str, Expr]:
    """One graph for each rule of a group of rules that use one another."""
    right = _Linear(group, at_end=True).build()
    if not isinstance(right, _Stuck):
        return right
    left = _Linear(group, at_end=False).build()
    if not isinstance(left, _Stuck):
        return left
    ref = right.ref
    name = ref.name if isinstance(ref, Ref) else right.rule
    through = "itself" if name == right.rule else f"rule {name!r}, which leads back to it,"
    raise NotRegular(
        f"rule {right.rule!r} uses {through} elsewhere than at its end", ref, right.rule
    )


class _Linear:
    """Builds the automaton of linear rules.

    With uses at the ends: one state where each rule begins, and one end for all. Else: one beginning for
    all, and one state where each rule ends. ``(part, state)`` is to be connected from the state to the
    end, or from the beginning to the state.
    """

    def __init__(self, group: dict[str, Expr], *, at_end: bool) -> None:
        self.group = group
        self.at_end = at_end
        self.state_of = {name: i for i, name in enumerate(group)}
        self.n_states = len(group) + 1
        self.edges: list[tuple[int, Expr, int]] = []
        self.holders = _holders(group)

    def build(self) -> dict[str, Expr] | _Stuck:
        shared = len(self.group)
        for name, body in self.group.items():
            todo = [(body, self.state_of[name])]
            while todo:
                part, state = todo.pop()
                stuck = self.connect(part, state, shared, todo)
                if stuck is not None:
                    return _Stuck(stuck, name)
        made: dict[str, Expr] = {}
        for name, state in self.state_of.items():
            start, final = (state, shared) if self.at_end else (shared, state)
            made[name] = Graph(self.n_states, start, (final,), tuple(self.edges))
        return made

    def new(self) -> int:
        self.n_states += 1
        return self.n_states - 1

    def edge(self, near: int, label: Expr, far: int) -> None:
        """An edge from ``near`` to ``far``, or backwards when uses stand at the beginning."""
        self.edges.append((near, label, far) if self.at_end else (far, label, near))

    def connect(
        self, part: Expr, state: int, shared: int, todo: list[tuple[Expr, int]]
    ) -> Expr | None:
        """Connect a part, or put its pieces on ``todo``; returns a use that makes the rule not linear, if any."""
        if id(part) not in self.holders:
            self.edge(state, part, shared)
        elif isinstance(part, Ref):
            self.edge(state, EMPTY, self.state_of[part.name])
        elif isinstance(part, Alt):
            todo.extend((item, state) for item in part.items)
        elif isinstance(part, Seq):
            items = part.items if self.at_end else part.items[::-1]
            *others, last = items
            for item in others:
                if id(item) in self.holders:
                    return self.holders[id(item)]
                then = self.new()
                self.edge(state, item, then)
                state = then
            todo.append((last, state))
        elif isinstance(part, Repeat) and part.max == 1:
            if part.min == 0:
                self.edge(state, EMPTY, shared)
            if part.min <= 1:
                todo.append((part.item, state))
        elif isinstance(part, Graph):
            return self.embed(part, state, shared, todo)
        else:
            return self.holders[id(part)]
        return None

    def embed(
        self, graph: Graph, state: int, shared: int, todo: list[tuple[Expr, int]]
    ) -> Expr | None:
        """A graph may hold uses on edges after which nothing comes (or before which nothing came)."""
        begins: tuple[int, ...] = (graph.start,)
        ends = graph.finals
        if not self.at_end:
            begins, ends = ends, begins
        inside = [self.new() for _ in range(graph.n_states)]
        for begin in begins:
            self.edge(state, EMPTY, inside[begin])
        for end in ends:
            self.edge(inside[end], EMPTY, shared)
        going_on = {edge[0 if self.at_end else 2] for edge in graph.edges}
        for source, label, target in graph.edges:
            near, far = (source, target) if self.at_end else (target, source)
            if id(label) not in self.holders:
                self.edge(inside[near], label, inside[far])
            elif far in ends and far not in going_on:
                todo.append((label, inside[near]))
            elif far in ends or far in going_on:
                return self.holders[id(label)]
        return None


def _holders(group: dict[str, Expr]) -> dict[int, Ref]:
    """The objects that hold a use of the group's rules, each with one such use."""
    found: dict[int, Ref] = {}
    for body in group.values():
        todo = [(body, False)]
        seen: set[int] = set()
        while todo:
            part, opened = todo.pop()
            if isinstance(part, Ref):
                if part.name in group:
                    found[id(part)] = part
                continue
            if opened:
                for child in children(part):
                    if id(child) in found:
                        found[id(part)] = found[id(child)]
                        break
            elif id(part) not in seen:
                seen.add(id(part))
                todo.append((part, True))
                todo.extend((child, False) for child in children(part))
    return found
