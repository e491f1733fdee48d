"""What is true of rules whatever text is read: which may be empty, which have a text, which are recursive and how.

Rules that are written on demand (:class:`~workbench.grammar.lazy.LazyRules`) are not looked into: they promise to
have a text, not to be empty, and not to be left-recursive. All else is worked out for every rule that the start
leads to, in time about linear in the size of these.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Guard,
    Literal,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
    children,
)
from workbench.grammar.utf8 import Utf8Graph, utf8_graph

__all__ = ["Analysis", "analyse", "bottom_up", "first_uses", "passes_through"]

#: parts within parts that are looked into by recursion
_DEEP = 50
_COMPOSED = frozenset((Seq, Alt, Repeat, Graph))
_INNER = _COMPOSED | {Scope}
_SURROGATES = (0xD800, 0xDFFF)
_Judge = Callable[[Expr, Callable[[Expr], bool]], bool]


def bottom_up(expr: Expr, known: Mapping[int, object] | None = None) -> list[Expr]:
    """Every part of an expression once, parts before what they are part of, those in ``known`` (by id) left out.

    Iterative, so that depth is no limit; what stands in several places is listed once.
    """
    known = {} if known is None else known
    seen: set[int] = set()
    out: list[Expr] = []
    stack: list[Expr | None] = [expr]
    while stack:
        part = stack.pop()
        if part is None:  # all parts of the one below have been listed
            part = stack.pop()
            assert part is not None
            out.append(part)
            continue
        if id(part) in seen or id(part) in known:
            continue
        seen.add(id(part))
        below = children(part) if type(part) in _INNER else ()
        if below:
            stack += (part, None)
            stack += below
        else:
            out.append(part)
    return out


def first_uses(expr: Expr, nullable: Callable[[Expr], bool]) -> set[str]:
    """The rules that are used before a byte of an expression has been read (its left corners)."""
    found: set[str] = set()
    seen: set[int] = set()
    stack = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, Ref):
            found.add(part.name)
            continue
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Seq):
            for item in part.items:
                stack.append(item)
                if not nullable(item):
                    break
        elif isinstance(part, Graph) and not isinstance(part, ByteGraph):
            stack += _first_labels(part, nullable)
        else:
            stack += children(part)
    return found


def _first_labels(graph: Graph, passes: Callable[[Expr], bool]) -> list[Expr]:
    """Labels of the edges that leave the states that the empty text leads to."""
    reached, labels = _reached(graph, passes)
    return [label for state in reached for label, _ in labels.get(state, ())]


def _reached(
    graph: Graph, passes: Callable[[Expr], bool]
) -> tuple[list[int], dict[int, list[tuple[Expr, int]]]]:
    """States that edges lead to whose labels pass, and all edges by source."""
    leaving: dict[int, list[tuple[Expr, int]]] = {}
    for source, label, target in graph.edges:
        leaving.setdefault(source, []).append((label, target))
    seen = {graph.start}
    reached = [graph.start]
    for state in reached:
        for label, target in leaving.get(state, ()):
            if target not in seen and passes(label):
                seen.add(target)
                reached.append(target)
    return reached, leaving


def _composed(part: Expr, holds: Callable[[Expr], bool]) -> bool:
    """Whether something holds of an expression that holds of a sequence if of each part, of alternatives if of any."""
    if isinstance(part, Seq):
        return all(map(holds, part.items))
    if isinstance(part, Alt):
        return any(map(holds, part.items))
    if isinstance(part, Repeat):
        fits = part.max is None or part.min <= part.max
        return fits and (part.min == 0 or holds(part.item))
    assert isinstance(part, Graph)
    return passes_through(part, holds)


def passes_through(graph: Graph, passes: Callable[[Expr], bool]) -> bool:
    """Whether edges whose labels pass lead from the start to an end."""
    reached, _ = _reached(graph, passes)
    return not set(graph.finals).isdisjoint(reached)


@dataclass(slots=True, eq=False)
class Analysis:
    """What is known about the rules of a grammar.

    ``written`` are the rules that were analysed, ``components`` the same by what leads back to itself, callees first.
    ``groups`` gives the left-recursive rules their group, ``recursive`` all that lead back to themselves theirs.
    ``used`` counts how often each rule uses others.
    """

    written: Mapping[str, Expr]
    missing: frozenset[int]
    spelled: Callable[[Token], bool]
    nullable: set[str] = field(default_factory=set)
    productive: set[str] = field(default_factory=set)
    used: dict[str, dict[str, int]] = field(default_factory=dict)
    components: list[tuple[str, ...]] = field(default_factory=list)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    recursive: dict[str, frozenset[str]] = field(default_factory=dict)
    _texts: dict[int, bool] = field(default_factory=dict)

    def is_nullable(self, expr: Expr, depth: int = 0) -> bool:
        """Whether the empty text belongs to an expression; looks no further than that takes."""
        if depth > _DEEP:
            return _judged(expr, {}, self._may_be_empty)
        return self._may_be_empty(expr, lambda part: self.is_nullable(part, depth + 1))

    def is_productive(self, expr: Expr) -> bool:
        """Whether an expression has a text that tokens can spell."""
        return _judged(expr, self._texts, self._has_text)

    def _may_be_empty(self, part: Expr, known: Callable[[Expr], bool]) -> bool:
        kind = type(part)
        if kind is CharSet or kind is ByteSet:
            return False
        if kind is Literal:
            return not part.data  # type: ignore[attr-defined]
        if kind is Ref:
            return part.name in self.nullable  # type: ignore[attr-defined]
        if kind in _COMPOSED:
            return _composed(part, known)
        if isinstance(part, OtherText):
            return "" not in part.texts and not part.opening and self.is_nullable(part.body)
        if isinstance(part, Scope):
            return not part.required and not part.least and known(part.item)
        if isinstance(part, ByteGraph):
            return part.is_nullable
        return isinstance(part, Guard)

    def _has_text(self, part: Expr, known: Callable[[Expr], bool]) -> bool:
        kind = type(part)
        if kind is CharSet:
            return self._has_character(part)  # type: ignore[arg-type]
        if kind is Literal:
            return self.missing.isdisjoint(part.data)  # type: ignore[attr-defined]
        if kind is Ref:
            name = part.name  # type: ignore[attr-defined]
            return name in self.productive or name not in self.written
        if kind in _COMPOSED:
            return _composed(part, known)
        if isinstance(part, ByteSet):
            return any(part.mask >> byte & 1 for byte in range(256) if byte not in self.missing)
        if isinstance(part, Scope):
            return known(part.item)
        if isinstance(part, Token):
            return self.spelled(part)
        return not isinstance(part, ByteGraph) or part.has_text(self.missing)

    def _has_character(self, part: CharSet) -> bool:
        if not self.missing:
            if part.ranges and part.ranges[0][0] < _SURROGATES[0]:
                return True
            return any(not _is_surrogate(low, high) for low, high in part.ranges)

        return bool(part.ranges) and _spellable(utf8_graph(part.ranges), self.missing)


def _spellable(graph: Utf8Graph, missing: frozenset[int]) -> bool:
    """Whether a character can be spelled without some bytes."""
    following: dict[int, list[int]] = {}
    for source, low, high, target in graph[1]:
        if any(byte not in missing for byte in range(low, high + 1)):
            following.setdefault(source, []).append(target)
    reached = [0]
    for state in reached:
        reached += [target for target in following.get(state, ()) if target not in reached]
    return 1 in reached


def _is_surrogate(low: int, high: int) -> bool:
    return _SURROGATES[0] <= low and high <= _SURROGATES[1]


def _judged(expr: Expr, known: dict[int, bool], judge: _Judge) -> bool:
    found = known.get(id(expr))
    if found is not None:
        return found
    return _judged_in(bottom_up(expr, known), known, judge)


def _judged_in(order: list[Expr], known: dict[int, bool], judge: _Judge) -> bool:
    """What holds of the last expression, whose parts come before it."""

    def of(part: Expr) -> bool:
        return known[id(part)]

    for part in order:
        known[id(part)] = judge(part, of)
    return known[id(order[-1])]


def analyse(
    rules: Mapping[str, Expr],
    start: str,
    missing: frozenset[int] = frozenset(),
    spelled: Callable[[Token], bool] = lambda token: True,
) -> Analysis:
    """Analyse the rules that ``start`` leads to; ``rules`` are those that are not written on demand.

    ``missing`` are bytes that no token contains; ``spelled`` says which token terminals stand for any token.
    """
    written: dict[str, Expr] = {}
    used: dict[str, dict[str, int]] = {}
    orders: dict[str, list[Expr]] = {}
    todo = [start]
    while todo:
        name = todo.pop()
        if name in written or name not in rules:
            continue
        written[name] = rules[name]
        orders[name] = bottom_up(rules[name])
        used[name] = _uses(orders[name])
        todo += used[name]
    made = Analysis(written, missing, spelled, used=used)
    names = list(written)
    number = {name: i for i, name in enumerate(names)}
    called = [[number[one] for one in used[name] if one in number] for name in names]
    for component in strongly_connected(len(names), called.__getitem__):
        members = tuple(names[i] for i in component)
        made.components.append(members)
        if len(component) > 1 or component[0] in called[component[0]]:
            made.recursive.update(dict.fromkeys(members, frozenset(members)))
    ordered = {name: orders[name] for members in made.components for name in members}
    _fixpoint(made, ordered, made.nullable, made._may_be_empty)
    _fixpoint(made, ordered, made.productive, made._has_text)
    # only what is recursive at all can be left-recursive
    first = {
        name: [
            number[one]
            for one in first_uses(written[name], made.is_nullable)
            if one in made.recursive[name]
        ]
        for name in made.recursive
    }
    left = [first.get(name, []) for name in names]
    for component in strongly_connected(len(names), left.__getitem__):
        if len(component) > 1 or component[0] in left[component[0]]:
            group = frozenset(names[i] for i in component)
            made.groups.update(dict.fromkeys(group, group))
    return made


def _uses(order: list[Expr]) -> dict[str, int]:
    """The rules that an expression uses, with how often: a part that stands in it twice counts twice."""
    found: dict[str, int] = {}
    if not any(type(part) is Ref for part in order):
        return found
    times = dict.fromkeys(map(id, order), 0)
    times[id(order[-1])] = 1
    for part in reversed(order):  # each after all that it is part of
        here = times[id(part)]
        if type(part) is Ref:
            found[part.name] = found.get(part.name, 0) + here
        elif type(part) in _INNER:
            for below in children(part):
                times[id(below)] += here
    return found


def _fixpoint(
    analysis: Analysis,
    orders: Mapping[str, list[Expr]],
    holds: set[str],
    judge: _Judge,
) -> None:
    """Find the least set of rules of which something holds: a rule is judged again when one that it uses turns true."""
    written = analysis.written
    users: dict[str, list[str]] = {name: [] for name in written}
    for name, called in analysis.used.items():
        for one in called:
            if one in users:
                users[one].append(name)
    todo = deque(orders)
    waiting = set(todo)
    while todo:
        name = todo.popleft()
        waiting.discard(name)
        if name in holds:
            continue
        if _judged_in(orders[name], {}, judge):
            holds.add(name)
            for user in users[name]:
                if user not in holds and user not in waiting:
                    waiting.add(user)
                    todo.append(user)
