"""Grammars made of grammars: each is a part of an expression until all of it is known, and then a name.

A composed grammar keeps the expression that it was made of, in which other grammars stand as values. When its rules
are first asked for, the parts get names: a grammar that was captured or defined has that one, others are called
by their kind. What is composed and stands in one place is written there; what stands in several is a rule. Grammars
that were not composed are embedded (:mod:`~workbench.grammar.embedding`), each once, wherever it stands.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from workbench.grammar.embedding import EmbeddedRules, outcomes_of
from workbench.grammar.expressions import Alt, Expr, Ref, Seq, literal, walk
from workbench.grammar.ir import Grammar, Outcome
from workbench.grammar.lazy import LazyRules
from workbench.grammar.names import Names
from workbench.grammar.rewriting import rewrite
from workbench.inputs import wrong_part

__all__ = ["ComposedRules", "Hole", "added", "as_part", "composed", "either", "is_unnamed"]

KIND = "composed"
_START = "root"
#: characters of a rule's name
_LONGEST = 60
#: What grammars are called that nobody named.
_UNNAMED = "part"
_CALLED = {"json_schema": "schema", "python_type": "type", "regex": "pattern", "ir": _UNNAMED}


@dataclass(frozen=True, slots=True, eq=False)
class Whole(Expr):
    """A grammar where it stands in others."""

    grammar: Grammar

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Hole(Expr):
    """The use of a name that is defined around it."""

    name: str = ""


def as_part(value: Any, who: str) -> Expr:
    """What an author put into a composition: a grammar, or a text that stands for itself.

    Raises ``WrongType`` for anything else, ``ValueError`` for a text with half of a surrogate pair.
    """
    if isinstance(value, Grammar):
        return Whole(value)
    if isinstance(value, str | bytes | bytearray):
        try:
            return literal(value if isinstance(value, str) else bytes(value))
        except UnicodeEncodeError:
            raise ValueError(
                f"{who}: {value!r:.60} holds half of a surrogate pair, which no text has"
            ) from None
    raise wrong_part(value, who)


def composed(
    body: Expr, *, mark: str | None = None, names: Mapping[str, Expr] | None = None
) -> Grammar:
    """The grammar of an expression in which grammars and holes may stand.

    ``mark`` is the name under which its texts are captured; ``names`` are rules that fill holes of these names in
    the expression and in each other.
    """
    return _of(ComposedRules(body, mark, names))


def _of(rules: ComposedRules) -> Grammar:
    return Grammar(rules, _START, KIND, None, _Outcomes(rules))  # type: ignore[arg-type]


def added(first: Any, second: Any) -> Grammar:
    """One after the other, for ``+``: what was made by it on the left goes on."""
    return _grown(first, Seq, as_part(second, "+"))


def either(first: Any, second: Any) -> Grammar:
    """One or the other, for ``|``."""
    return _grown(first, Alt, as_part(second, "|"))


def _grown(first: Any, kind: type[Seq | Alt], last: Expr) -> Grammar:
    rules = first.rules if isinstance(first, Grammar) else None
    if isinstance(rules, ComposedRules) and rules.is_plain and isinstance(rules.body, kind):
        return _of(ComposedRules(kind((*rules.body.items, last)), free=rules.free | _free(last)))
    return composed(kind((as_part(first, "+" if kind is Seq else "|"), last)))


class ComposedRules(LazyRules):
    """The rules of a composed grammar, made when they are first asked for."""

    def __init__(
        self,
        body: Expr,
        mark: str | None = None,
        names: Mapping[str, Expr] | None = None,
        free: frozenset[str] | None = None,
    ) -> None:
        self.body = body
        self.mark = mark
        self.names = names
        if free is None:
            free = frozenset().union(*map(_free, (body, *(names or {}).values())))
        #: the names that are not defined in it
        self.free = free - set(names or ())
        self._made: EmbeddedRules | None = None
        #: what it was written as, where that was no expression
        self.made_of: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether it is its expression and nothing else."""
        return self.mark is None and self.names is None

    def may_come_early(self, name: str) -> bool:
        """What the grammar says that a rule is of."""
        return self.made.may_come_early(name)

    @property
    def made(self) -> EmbeddedRules:
        """Its rules, by name. Raises ``ValueError`` for a name that nothing defines."""
        found = self._made
        if found is None:
            if self.free:
                name = min(self.free)
                raise ValueError(
                    f"the name {name!r} is used but not defined: put the grammar into "
                    f"workbench.define({{{name!r}: …}})"
                )
            found = self._made = _Writer(self).rules()
        return found

    @property
    def key(self) -> str | None:  # type: ignore[override]
        """What stands for all that the rules are made of."""
        return self.made.key

    @property
    def emitted(self) -> dict[str, Expr]:  # type: ignore[override]
        """The rules that were written."""
        return {} if self.free else self.made.emitted

    @property
    def written(self) -> Mapping[str, Expr]:  # type: ignore[override]
        """The rules that promise nothing."""
        return self.made.written

    @property
    def captures(self) -> Mapping[str, str]:  # type: ignore[override]
        """The rules that are captured, each with its name there."""
        return self.made.captures

    @property
    def parts(self) -> Mapping[str, Grammar]:
        """The grammars that are embedded."""
        return self.made.parts

    def __getitem__(self, name: str) -> Expr:
        return self.made[name]

    def __contains__(self, name: object) -> bool:
        return name == _START or name in self.made

    def all(self) -> dict[str, Expr]:
        """Every rule that the start leads to."""
        return self.made.all()


def _free(expr: Expr) -> frozenset[str]:
    """The names that an expression needs."""
    found: set[str] = set()
    for part in walk(expr):
        if isinstance(part, Hole):
            found.add(part.name)
        elif isinstance(part, Whole) and isinstance(part.grammar.rules, ComposedRules):
            found |= part.grammar.rules.free
    return frozenset(found)


class _Outcomes(Sequence[Outcome]):
    """In place of a tuple: what became of the constraints of the parts, by the names that these get."""

    def __init__(self, rules: ComposedRules) -> None:
        self._rules = rules

    def _all(self) -> tuple[Outcome, ...]:
        return () if self._rules.free else outcomes_of(self._rules.parts)

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Outcome, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, _Outcomes) else other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


@dataclass(eq=False, slots=True)
class _Scope:
    """What names mean in one place: the rules of a definition, then those around it."""

    around: _Scope | None
    rules: dict[str, str] = field(default_factory=dict)

    def rule(self, name: str) -> str:
        """The rule of a name, the innermost one."""
        at: _Scope | None = self
        while at is not None and name not in at.rules:
            at = at.around
        assert at is not None
        return at.rules[name]


@dataclass(eq=False, frozen=True, slots=True)
class _Place:
    """A composed grammar where it stands: with the scope that its names are looked up in, if it has some."""

    rules: ComposedRules
    scope: _Scope | None


#: A grammar that was not composed: its rules, by identity, and its start. Front ends keep the rules of equal schemas.
_Leaf = tuple[int, str]


class _Rule(NamedTuple):
    name: str
    expr: Expr
    scope: _Scope | None


class _Writer:
    """Writes the rules of one composed grammar; iterative, so that depth is no limit."""

    def __init__(self, top: ComposedRules) -> None:
        self.top = top
        self.names = Names([_START])
        self.places: dict[tuple[int, int], _Place] = {}
        self.rules_by_place: dict[_Place, str] = {}
        self.scopes: dict[_Place, _Scope] = {}
        self.here: dict[_Place, Expr] = {}
        self.part_names: dict[_Leaf, str] = {}
        self.parts: dict[str, Grammar] = {}
        self.captures: dict[str, str] = {}
        self.waiting: deque[_Rule] = deque()
        self.uses = self._uses()

    def rules(self) -> EmbeddedRules:
        """The rules, with the grammars that are embedded in them."""
        written: dict[str, Expr] = {}
        self.waiting.append(_Rule(_START, Whole(_grammar(self.top)), None))
        while self.waiting:
            name, expr, scope = self.waiting.popleft()
            written[name] = self._expr(expr, scope)
        return EmbeddedRules(written, _START, self.parts, self.captures)

    # -- what stands where -------------------------------------------------------------------------

    def _uses(self) -> Counter[_Place | _Leaf]:
        """How often each composed grammar and each other one stands in the whole."""
        found: Counter[_Place | _Leaf] = Counter()
        todo = [self._composed(self.top, None)]
        seen = set(todo)
        for place in todo:
            rules, inner = place.rules, self._scope(place)
            for expr in (rules.body, *(rules.names or {}).values()):
                for part in walk(expr):
                    if not isinstance(part, Whole):
                        continue
                    used = self._place(part.grammar, inner)
                    found[used] += 1
                    if isinstance(used, _Place) and used not in seen:
                        seen.add(used)
                        todo.append(used)
        return found

    def _place(self, grammar: Grammar, scope: _Scope | None) -> _Place | _Leaf:
        rules = grammar.rules
        if not isinstance(rules, ComposedRules):
            return id(rules), grammar.start
        return self._composed(rules, scope if rules.free else None)

    def _composed(self, rules: ComposedRules, scope: _Scope | None) -> _Place:
        key = id(rules), id(scope)
        return self.places.get(key) or self.places.setdefault(key, _Place(rules, scope))

    def _scope(self, place: _Place) -> _Scope | None:
        """The scope that the names in a grammar are looked up in."""
        if place.rules.names is None:
            return place.scope
        found = self.scopes.get(place)
        if found is None:
            found = self.scopes[place] = _Scope(place.scope)
        return found

    def _stands_alone(self, place: _Place) -> bool:
        """Whether a composed grammar is a rule, not written where it stands."""
        rules = place.rules
        if isinstance(rules.body, Hole) and rules.is_plain:  # it is another one's name
            return False
        return not rules.is_plain or self.uses[place] > 1

    # -- expressions -------------------------------------------------------------------------------

    def _expr(self, top: Expr, scope: _Scope | None) -> Expr:
        """An expression with names in place of grammars."""
        stack: list[tuple[Expr, _Scope | None, _Place | None]] = [(top, scope, None)]
        while True:
            expr, scope, place = stack[-1]
            missing = [one for one in self._inside(expr, scope) if one not in self.here]
            if missing:
                stack += [(one.rules.body, one.scope, one) for one in missing]
                continue
            stack.pop()
            made = rewrite(expr, lambda part, scope=scope: self._named(part, scope))  # type: ignore[misc]
            if place is None:
                return made
            self.here[place] = made

    def _inside(self, expr: Expr, scope: _Scope | None) -> Iterator[_Place]:
        """The composed grammars that are written where they stand."""
        for part in walk(expr):
            if isinstance(part, Whole):
                place = self._place(part.grammar, scope)
                if isinstance(place, _Place) and not self._stands_alone(place):
                    yield place

    def _named(self, part: Expr, scope: _Scope | None) -> Expr | None:
        if isinstance(part, Hole):
            assert scope is not None
            return Ref(scope.rule(part.name), origin=part.origin)
        if not isinstance(part, Whole):
            return None
        place = self._place(part.grammar, scope)
        if not isinstance(place, _Place):
            return Ref(self._part(part.grammar, place), origin=part.origin)
        return Ref(self._rule(place)) if self._stands_alone(place) else self.here[place]

    def _rule(self, place: _Place) -> str:
        """The rule of a composed grammar."""
        found = self.rules_by_place.get(place)
        if found is not None:
            return found
        rules = place.rules
        if rules.names is not None:
            inner = self._scope(place)
            assert inner is not None
            inner.rules.update({name: self._name(name) for name in rules.names})
            for name, expr in rules.names.items():
                self._write(inner.rules[name], expr, inner)
            assert isinstance(rules.body, Hole)
            found = inner.rules[rules.body.name]
        else:
            found = self._name(_UNNAMED if rules.mark is None else rules.mark)
            if rules.mark is not None:
                self.captures[found] = rules.mark
            self._write(found, rules.body, place.scope)
        self.rules_by_place[place] = found
        return found

    def _write(self, name: str, expr: Expr, scope: _Scope | None) -> None:
        """A rule; where it is a grammar that stands nowhere else, that has its name."""
        if isinstance(expr, Whole):
            place = self._place(expr.grammar, scope)
            if not isinstance(place, _Place) and self.uses[place] == 1:
                self.parts[name] = expr.grammar
                return
        self.waiting.append(_Rule(name, expr, scope))

    def _part(self, grammar: Grammar, leaf: _Leaf) -> str:
        """The name of a grammar that was not composed."""
        found = self.part_names.get(leaf)
        if found is None:
            found = self.part_names[leaf] = self._name(_called(grammar))
            self.parts[found] = grammar
        return found

    def _name(self, wanted: str) -> str:
        """A name of a rule that is not taken, like the one that was wanted."""
        # dots and arrows are between names, of which no text of an author may make two
        plain = "".join(char if char.isprintable() and char not in ".›" else "_" for char in wanted)
        plain = plain[:_LONGEST].strip() or "part"
        return self.names.fresh(plain)


def _called(grammar: Grammar) -> str:
    """What a grammar is called that nobody named."""
    return _CALLED.get(grammar.kind, grammar.kind)


def is_unnamed(name: str, part: Grammar | None) -> bool:
    """Whether a rule of a composition, a part that stands under it or None, has no name that an author gave it."""
    return name.partition("~")[0] == (_UNNAMED if part is None else _called(part))


def _grammar(rules: ComposedRules) -> Grammar:
    """A grammar of rules, to stand in an expression."""
    return Grammar(rules, _START, KIND)
