"""Templates to rules, written on demand.

A rule is of one of two sorts. Where the tables are known, it is a template with the columns of a scope in it. Where the
text decides on them, a rule is what is left of a template in one state of the query: its alternatives are the next
words, each with a rule for the rest and for what the query then is. So columns stand before the FROM clause and none is
named that no table of it has, though a grammar has no memory: the names of its rules are the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import takewhile

from workbench.collector import CollectorWaits
from workbench.errors import GrammarTooComplex
from workbench.frontends.sql.moves import Move
from workbench.frontends.sql.nodes import Alternatives, Call, Fixed, Many, Node, Step, Together
from workbench.frontends.sql.state import Scope, State
from workbench.frontends.sql.steps import Steps
from workbench.grammar.expressions import Alt, Expr, Ref, Repeat, Seq, walk
from workbench.grammar.lazy import LazyRules

__all__ = ["QueryRules", "Writer"]

#: Rules that are written where all of them are asked for: there is no end of queries in queries.
_MOST_RULES = 20_000

#: Steps that are taken at once: what is the same behind them is one rule.
_TAKEN = frozenset(["end item", "window", "open"])

_Rest = tuple[Node, ...]


class QueryRules(LazyRules):
    """The rules of statements; asked for all of them, they say that there are too many."""

    def __init__(self, writer: Writer, start: str, key: str | None) -> None:
        super().__init__(writer.write, start, key)
        self._writer = writer

    def may_come_early(self, name: str) -> bool:
        """Names and literals; of all others, each word leads to many that the text does not have."""
        return self._writer.shared(name) is not None

    def all(self) -> dict[str, Expr]:
        """Every rule; raises ``GrammarTooComplex`` where there are more than a few thousand."""
        order = {self._start: self[self._start]}
        todo = [self._start]
        for name in todo:
            for used in _used(order[name]):
                if used not in order:
                    if len(order) >= _MOST_RULES:
                        raise GrammarTooComplex("rules of SQL, written out", _MOST_RULES, name)
                    order[used] = self[used]
                    todo.append(used)
        return order


def _used(top: Expr) -> Iterator[str]:
    return (part.name for part in walk(top) if isinstance(part, Ref))


class Writer:
    """Writes rules by name; ``steps`` say what depends on tables."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.templates = steps.templates
        self._scoped: dict[str, tuple[str, Scope]] = {}
        self._followed: dict[str, tuple[_Rest, State]] = {}
        self._names: dict[object, str] = {}
        self._told: dict[State, str] = {}
        self._silent: dict[Node, bool] = {}
        self._begins: dict[Node, list[tuple[Node | None, _Rest]]] = {}

    def rules(self, template: str, state: State, key: str | None) -> tuple[QueryRules, str]:
        """The rules that a template starts, and the name of the first one; ``key`` as in ``LazyRules``."""
        start = self.followed((self.templates.body(template),), state)
        return QueryRules(self, start, key), start

    def shared(self, name: str) -> Expr | None:
        """A rule that does not depend on what a query is about."""
        return self.steps.catalog.shared.get(name) or self.templates.lexis.rules.get(name)

    def write(self, name: str) -> Expr:
        """A rule. Raises ``KeyError`` for a name that no rule uses."""
        shared = self.shared(name)
        if shared is not None:
            return shared
        scoped = self._scoped.get(name)
        if scoped is not None:
            made = self._known(self.templates.body(scoped[0]), scoped[1])
            assert made is not None, name
            return made
        with CollectorWaits():
            return self._steps(*self._followed[name])

    # -- names -------------------------------------------------------------------------------------

    def scoped(self, template: str, scope: Scope) -> Ref:
        """A template where the tables are known."""
        key = template, scope
        name = self._names.get(key)
        if name is None:
            tables = ", ".join(q for q, _ in scope.items) or "no table"
            name = self._names[key] = _name(f"{template} of {tables}", repr(key))
            self._scoped[name] = key
        return Ref(name)

    def followed(self, rest: _Rest, state: State) -> str:
        """What is left of a template, in a state."""
        key = rest, state
        name = self._names.get(key)
        if name is None:
            known = self._told.get(state)
            if known is None:
                known = self._told[state] = sha256(state.told.encode()).hexdigest()
            told = f"{[node.number for node in rest]} {known}"
            name = self._names[key] = _name(self.steps.said(state), told)
            self._followed[name] = rest, state
        return name

    # -- where the tables are known ----------------------------------------------------------------

    def _known(self, node: Node, scope: Scope) -> Expr | None:
        """A node as an expression; None where it has no text."""
        if isinstance(node, Fixed):
            return node.expr
        if isinstance(node, Call):
            return self.scoped(node.name, scope)
        if isinstance(node, Step):
            return self._known_step(node, scope)
        if isinstance(node, Many):
            item = self._known(node.item, scope)
            return Seq(()) if item is None else Repeat(item, 0, 1 if node.once else None)
        if isinstance(node, Alternatives):
            items = [e for one in node.items if (e := self._known(one, scope)) is not None]
            return (items[0] if len(items) == 1 else Alt(tuple(items))) if items else None
        assert isinstance(node, Together)
        parts: list[Expr] = []
        for one in node.items:
            part = self._known(one, scope)
            if part is None:
                return None
            if part != Seq(()):
                parts.append(part)
        return parts[0] if len(parts) == 1 else Seq(tuple(parts))

    def _known_step(self, node: Step, scope: Scope) -> Expr | None:
        if node.name == "column":
            return self.steps.columns.of(scope, *node.arguments)
        if node.name == "need":
            found = self.steps.columns.of(scope, *node.arguments)
            return None if found is None else Seq(())
        if node.name == "subquery":
            return self.subquery(node.arguments[0], scope)
        return Seq(())

    def subquery(self, kind: str, scope: Scope) -> Ref:
        """A query in an expression, which gives one column of a kind; without a kind, one in EXISTS."""
        state = State(outer=scope.visible(), derived=scope.derived, want=(kind,) if kind else None)
        body = self.templates.body("subquery" if kind else "existing")
        return Ref(self.followed((body,), state))

    # -- where the text decides --------------------------------------------------------------------

    def _steps(self, rest: _Rest, state: State) -> Expr:
        items: list[Expr] = []
        for move in self._moves(rest, state):
            assert move.expr is not None
            if not move.rest:
                items.append(move.expr)
                continue
            rest, after = self._taken(move.rest, move.state)
            following: Expr = Ref(self.followed(rest, after))
            if self._may_end(rest, after):
                following = Repeat(following, 0, 1)
            items.append(Seq((move.expr, following)))
        assert items, f"no way on from {rest[:1]} in {state}"
        return items[0] if len(items) == 1 else Alt(tuple(items))

    def _moves(self, rest: _Rest, state: State) -> Iterator[Move]:
        """The next texts, each with what is left then; the end of the text is one without."""
        todo = [(rest, state)]
        seen: set[object] = set()
        while todo:
            left, now = todo.pop()
            if not left:
                continue
            key = left, now
            if key in seen:
                continue
            seen.add(key)
            node, after = left[0], left[1:]
            for first, more in self._firsts(node):
                behind = more + after
                if first is None:
                    todo.append((behind, now))
                elif isinstance(first, Fixed):
                    yield Move(first.expr, behind, now)
                else:
                    for move in self._opened(first, behind, now):
                        if move.expr is None:
                            todo.append((move.rest, move.state))
                        else:
                            yield move

    def _taken(self, rest: _Rest, state: State) -> tuple[_Rest, State]:
        """What is left, and the state, once the steps are taken that are no text and have one way on."""
        while rest and isinstance(rest[0], Step) and rest[0].name in _TAKEN:
            (move,) = self.steps.moves(rest[0], state)
            rest, state = (*move.rest, *rest[1:]), move.state
        return rest, state

    def _may_end(self, rest: _Rest, state: State) -> bool:
        """Whether nothing more has to come."""
        if not all(map(self._is_silent, rest)):
            return False
        todo: list[Iterator[tuple[_Rest, State]]] = [iter([(rest, state)])]
        while todo:
            found = next(todo[-1], None)
            if found is None:
                todo.pop()
            elif not found[0]:
                return True
            else:
                todo.append(self._silently(*found))
        return False

    def _silently(self, rest: _Rest, state: State) -> Iterator[tuple[_Rest, State]]:
        """What is left once the first part came to nothing."""
        for first, more in self._firsts(rest[0]):
            behind = more + rest[1:]
            if first is None:
                yield behind, state
            elif self._is_silent(first) and not self.steps.needs_more(first, state):
                moves = self._opened(first, behind, state)
                for move in takewhile(lambda one: one.expr is None, moves):
                    yield move.rest, move.state

    def _is_silent(self, node: Node) -> bool:
        """Whether a node may come to nothing in some state."""
        known = self._silent.get(node)
        if known is None:
            if isinstance(node, Together):
                known = all(map(self._is_silent, node.items))
            elif isinstance(node, Alternatives):
                known = any(map(self._is_silent, node.items))
            elif isinstance(node, Step):
                known = self.steps.may_be_silent(node)
            else:
                known = isinstance(node, Many)
            self._silent[node] = known
        return known

    def _firsts(self, node: Node) -> list[tuple[Node | None, _Rest]]:
        """What a node begins with, whatever the state: a text, a step or a call, with the rest; or nothing."""
        known = self._begins.get(node)
        if known is None:
            known = self._begins[node] = []
            todo: list[_Rest] = [(node,)]
            while todo:
                first, *more = todo.pop()
                rest = tuple(more)
                if isinstance(first, Together):
                    todo.append(first.items + rest)
                elif isinstance(first, Alternatives):
                    todo += [(one, *rest) for one in reversed(first.items)]
                elif isinstance(first, Many):
                    again = () if first.once else (first,)
                    if rest:
                        todo.append(rest)
                    else:
                        known.append((None, ()))
                    todo.append((first.item, *again, *rest))
                elif isinstance(first, Call) and not first.inside:
                    todo.append((self.templates.body(first.name), *rest))
                else:
                    known.append((first, rest))
        return known

    def _opened(self, node: Node, rest: _Rest, state: State) -> Iterator[Move]:
        """The ways on from a step or a call."""
        if isinstance(node, Call):
            yield self._called(node, rest, state)
        else:
            assert isinstance(node, Step)
            yield from self._stepped(node, rest, state)

    def _called(self, node: Call, rest: _Rest, state: State) -> Move:
        """A template inside brackets."""
        return Move(None, (self.templates.body(f"open {node.name}"), *rest), state)

    def certain(self, name: str, mode: str, state: State) -> Ref:
        """A template over what is known for certain of the tables; without aggregates, which would have to be known."""
        within = mode if mode in ("row", "argument") else "deep"
        return self.scoped(f"{name} {within}", self.steps.columns.fixed(state, within))

    def _stepped(self, node: Step, rest: _Rest, state: State) -> Iterator[Move]:
        if node.name == "subquery":
            scope = self.steps.columns.fixed(state, "item")
            yield Move(self.subquery(node.arguments[0], scope), rest, state)
            return
        if node.name == "certain":
            name, mode = node.arguments
            yield Move(self.certain(name, mode, state), rest, state)
            return
        if node.name == "known":
            yield Move(self.scoped(node.arguments[0], self.steps.scope(state)), rest, state)
            return
        if node.name == "blank":
            yield Move(self.scoped(node.arguments[0], Scope()), rest, state)
            return
        if node.name == "joined on":
            scope = self.steps.scope(state, on=True)
            yield Move(self.scoped("condition row", scope), rest, state)
            return
        for move in self.steps.moves(node, state):
            yield Move(move.expr, (*move.rest, *rest), move.state)


def _name(said: str, told: str) -> str:
    """The name of a rule: in words, with what tells it apart."""
    plain = "".join(char if char.isprintable() else "_" for char in said[:60])
    return f"{plain} #{sha256(told.encode()).hexdigest()[:20]}"
