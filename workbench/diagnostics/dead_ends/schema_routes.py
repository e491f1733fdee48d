"""Every place in a schema that values can get to, by the ways that lead there, and whether some value does.

A way goes through members and items, and through alternatives, conditions and references: it says which of
them hold. So a part of one alternative is asked about under that alternative, whatever its siblings allow.
The front end decides.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any, Literal

from workbench.errors import WorkbenchError
from workbench.frontends.json_schema.asking import Asking, together
from workbench.frontends.json_schema.read.location import Location
from workbench.frontends.json_schema.scalars.patterns import Pattern

__all__ = ["Dead", "Kind", "Place", "Search"]

#: Work before the search stops: for each question, the parts that it begins with, and the levels that it goes up.
MAX_WORK = 1_000_000
#: Seconds of processor time before it stops whatever the work was: some questions cost as much as a thousand.
MAX_SECONDS = 20.0
#: Work for each level that a question goes up.
_LEVEL = 20
#: Members of one object that are asked about at once: when all of them can stand together, each can.
_TOGETHER = 32
#: Names for members that no list has, tried before the question is asked for every name.
_NAMES = ("x", "a1", "A", "0", "x-a", "ab_c", "/x", "@a", "1.0.0")

#: The answer where a budget of the front end is used up.
_UNDECIDED = "?"

Kind = Literal["member", "item", "alternative", "condition", "name"]


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """One value on a way: how it lies in the one around it, and the parts of the schema that hold for it.

    ``around`` makes a schema of the outer value of one for this value. ``held`` says as schemas what the way
    has decided here. ``free``: what is around the value says nothing of it but ``parts``.
    """

    steps: tuple[str | None, ...]
    parts: tuple[Location, ...]
    above: _Level | None = None
    around: Callable[[Any], Any] | None = None
    held: tuple[Any, ...] = ()
    free: bool = True

    @property
    def bound(self) -> int:
        """How many levels further out the question about it begins."""
        count, level = 0, self
        while not level.free and level.above is not None:
            count, level = count + 1, level.above
        return count

    def deciding(self, said: Sequence[Any], parts: Sequence[Location]) -> _Level:
        """The same value, about which the way decides more."""
        return replace(self, held=(*self.held, *said), parts=(*self.parts, *parts))

    def asked(
        self, wanted: Any, *, whole: bool = False, decided: bool = True
    ) -> tuple[tuple[Location, ...], Any]:
        """What to ask to know whether the value can be like ``wanted``: parts, and a schema beside them.

        The ``whole`` schema can be asked instead, and what the way ``decided`` be left open.
        """
        level = self
        while True:
            if decided:
                wanted = _both([*level.held, wanted])
            if level.above is None or level.around is None or (level.free and not whole):
                return level.parts, wanted
            wanted = level.around(wanted)
            level = level.above


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a schema on a way: its kind, the steps to its value (None for an item, ``*`` for any name)."""

    kind: Kind
    steps: tuple[str | None, ...]
    part: Location

    @property
    def name(self) -> str:
        """The steps as a path of names."""
        return ".".join("[]" if step is None else step for step in self.steps)


@dataclass(frozen=True, slots=True)
class Dead:
    """A place that no value gets to: the pointer to blame, why in words, a schema of the values that would.

    ``wanted`` can be asked of a changed schema: beside the whole of it or, where the place is inside one that no
    value gets to either, ``apart``.
    """

    place: Place
    pointer: str
    why: str
    wanted: Any
    apart: bool


class Search:
    """Looks at the places of a schema: at each part first by a shortest way to it, then by others.

    A part is looked at again where other parts hold beside it. After ``run``: what is ``dead``, how many places
    of each kind were ``looked`` at, those that are ``undecided``, and how many were ``left_out`` when the work
    was used up, each with all that it leads to.

    Raises what reading the schema raises.
    """

    def __init__(self, schema: Any, most: int | None = None) -> None:
        self._asking = Asking(schema)
        self.dead: list[Dead] = []
        self.looked: Counter[Kind] = Counter()
        self.undecided: set[str] = set()
        self.left_out = 0
        self._work = MAX_WORK if most is None else most
        self._until = thread_time() + MAX_SECONDS
        self._met: set[int] = set()
        self._seen: set[tuple[int, int]] = set()
        self._told: set[str | tuple[str | None, ...]] = set()
        self._first: deque[tuple[_Level, Location]] = deque()
        self._again: deque[tuple[_Level, Location]] = deque()

    def run(self) -> None:
        """Look until nothing is left, or the work is used up."""
        self._follow(_Level((), (self._asking.root,)), self._asking.root)
        while (self._first or self._again) and self._work > 0:
            self._visit(*(self._first or self._again).popleft())
        self.left_out += len(self._first) + len(self._again)

    def _follow(self, level: _Level, part: Location) -> None:
        """Look at what a part says later, unless that was done beside the same other parts."""
        if not part.pointer.startswith("#"):  # of another document
            return
        try:
            key = part.index, self._asking.node(level.parts).index
        except WorkbenchError:
            self.undecided.add(part.pointer)
            return
        if key not in self._seen:
            self._seen.add(key)
            queue = self._again if part.index in self._met else self._first
            self._met.add(part.index)
            queue.append((level, part))

    def _visit(self, level: _Level, part: Location) -> None:
        for one in part.same_instance:
            if one is not None:
                self._follow(level, one)
        for kind, one, said, holding in _decisions(part):
            inner = level.deciding(said, holding)
            if kind == "alternative" or not _forbids(one):
                self._look(Place(kind, level.steps, one), [(inner, True, inner)])
        if part.names is not None and not _forbids(part.names):
            self._look_at_names(level, part.names)
        members = {} if part.members is None else part.members.names
        listed = [(one, _named(level, name)) for name, one in members.items() if one is not None]
        for one, inner in listed:
            if _forbids(one):
                self._look_at_forbidden(Place("member", inner.steps, one), inner)
        listed = [(one, inner) for one, inner in listed if not _forbids(one)]
        for i in range(0, len(listed), _TOGETHER):
            self._look_at_members(level, listed[i : i + _TOGETHER])
        for kind, one, ways in _unlisted(level, part):
            if not _forbids(one):
                self._look(Place(kind, ways[0].steps, one), [_outside(inner) for inner in ways])

    def _look_at_members(self, level: _Level, listed: list[tuple[Location, _Level]]) -> None:
        """Ask about members together, and where they cannot all be there, about halves of them."""
        todo = [listed]
        while todo:
            group = todo.pop()
            if self._work <= 0:
                self.left_out += len(group)
                continue
            if len(group) == 1:
                ((one, inner),) = group
                self._look(Place("member", inner.steps, one), [_outside(inner)])
                continue
            names = [inner.steps[-1] for _, inner in group]
            if self._blame(level, {"type": "object", "required": names}) is not None:
                half = len(group) // 2
                todo += [group[half:], group[:half]]
                continue
            self.looked["member"] += len(group)
            for one, inner in group:
                self._follow(inner, one)

    def _look(self, place: Place, ways: Sequence[tuple[_Level, Any, _Level]]) -> None:
        """Ask whether a value gets to a place on one of some ways, and follow the first on which one does.

        A way is where to ask, for what, and the level that it leads to.
        """
        if self._work <= 0:
            self.left_out += 1
            return
        self.looked[place.kind] += 1
        answers = []
        for level, wanted, inner in ways:
            answers.append(self._blame(level, wanted))
            if answers[-1] is None:
                self._follow(inner, place.part)
                return
        if _UNDECIDED in answers:
            self.undecided.add(place.part.pointer)
            self._follow(ways[answers.index(_UNDECIDED)][2], place.part)
            return
        level, wanted, _ = ways[-1]
        self._tell(place, answers[-1] or "", *level.asked(wanted, whole=True))

    def _look_at_forbidden(self, place: Place, inner: _Level) -> None:
        """A member that is plainly forbidden is dead where no other alternative has one of its name."""
        if place.steps in self._told:
            return
        self._told.add(place.steps)
        self.looked["member"] += 1
        outer, wanted, _ = _outside(inner)
        while outer.above is not None and outer.around is not None:
            wanted = outer.around(wanted)
            outer = outer.above
        parts = (self._asking.root,) if outer.steps == () else outer.parts
        answer = self._blame(_Level((), parts), wanted)
        if answer == _UNDECIDED:
            self.undecided.add(place.part.pointer)
        elif answer is not None:
            self._tell(place, place.part.pointer, parts, wanted)

    def _look_at_names(self, level: _Level, names: Location) -> None:
        """A schema for names that no text satisfies leaves only the empty object."""
        self.looked["name"] += 1
        alone = _Level((), (names,))
        answer = self._blame(alone, {"type": "string"})
        if answer == _UNDECIDED:
            self.undecided.add(names.pointer)
        elif answer is not None:
            wanted = {"type": "object", "minProperties": 1}
            self._tell(Place("name", level.steps, names), answer, *level.asked(wanted, whole=True))

    def _blame(self, level: _Level, wanted: Any) -> str | None:
        """The part to blame where no such value exists; None where one does."""
        parts, wanted = level.asked(wanted)
        self._work -= 1 + sum(map(_size, together(parts))) + _LEVEL * level.bound
        if thread_time() > self._until:
            self._work = 0
        try:
            return self._asking.blame(wanted, parts)
        except WorkbenchError:
            return _UNDECIDED

    def _tell(self, place: Place, blamed: str, parts: tuple[Location, ...], wanted: Any) -> None:
        """Keep a dead place, with the closest part to blame; parts inside it may be dead for themselves too."""
        part = place.part
        pointer, why = part.pointer, "what holds beside it rules it out"
        try:
            culprit = self._asking.culprit(part)
            alone = self._asking.blame(parts=(part,))
            if part.never:
                why = "the schema there is false"
            elif culprit is not None:
                why, pointer = "no value satisfies it", culprit.pointer
            elif alone is not None:
                why = "no value satisfies it"
                pointer = alone if alone.startswith("#") else pointer
            else:
                if blamed.startswith("#") and not f"{pointer}/".startswith(f"{blamed}/"):
                    why, pointer = "no value satisfies it there", blamed
                self._follow(_Level(place.steps, (part,), held=(_to(part),)), part)
        except WorkbenchError:
            pass  # the place itself is known to be dead
        if pointer not in self._told:
            self._told.add(pointer)
            apart = self._asking.root not in parts
            self.dead.append(Dead(place, pointer, why, wanted, apart))


def _both(said: Sequence[Any]) -> Any:
    """A schema of the values that all of some schemas have."""
    found = [one for one in said if one is not True]
    return {"allOf": found} if len(found) > 1 else found[0] if found else True


def _to(part: Location) -> Any:
    return {"$ref": part.pointer.replace("%", "%25")}


def _forbids(part: Location) -> bool:
    """Whether a part says in so many words that there is to be no value."""
    said = part.schema
    return said is False or (isinstance(said, dict) and said.get("not") in ({}, True))


def _size(part: Location) -> int:
    """How many other parts a part names."""
    count = 1 + sum(map(len, (*part.choices, *part.exclusive))) + len(part.excluded)
    if part.members is not None:
        count += len(part.members.names) + len(part.members.patterns)
    if part.cells is not None:
        count += len(part.cells.prefix)
    return count


def _decisions(part: Location) -> Iterator[tuple[Kind, Location, list[Any], list[Location]]]:
    """What may hold of the same value: the part, what that says as schemas, and the parts that hold then."""
    for group in (*part.choices, *part.exclusive):
        for one in group:
            yield "alternative", one, [_to(one)], [one]
    if part.condition is not None:
        test, then, other = part.condition.test, part.condition.then, part.condition.other
        if then is not None:
            yield "condition", then, [_to(test), _to(then)], [test, then]
        if other is not None:
            yield "condition", other, [{"not": _to(test)}, _to(other)], [other]
    for name, one in part.dependent_schemas.items():
        yield "condition", one, [{"type": "object", "required": [name]}, _to(one)], [one]


# The values below one


def _outside(inner: _Level) -> tuple[_Level, Any, _Level]:
    """The way to a value that was just stepped to, as a question about the value around it."""
    assert inner.above is not None and inner.around is not None
    return inner.above, inner.around(True), inner


def _below(
    level: _Level, step: str | None, around: Callable[[Any], Any], parts: Iterable[Location]
) -> _Level:
    holding = together(level.parts)
    known = {part.index for part in holding}
    free = level.free and all(_is_plain(part, known) for part in holding)
    return _Level((*level.steps, step), tuple(parts), level, around, free=free)


def _is_plain(part: Location, holding: Set[int]) -> bool:
    """Whether what a part says of a value's members and items is said of each by itself.

    Alternatives of which one is known to hold, by its index, say no more.
    """
    return not (
        part.exclusive
        or part.excluded
        or part.condition is not None
        or part.dependent_schemas
        or any(holding.isdisjoint(one.index for one in group) for group in part.choices)
        or part.values is not None
        or part.unique
        or part.contains is not None
        or part.unevaluated_members is not None
        or part.unevaluated_cells is not None
    )


def _named(level: _Level, name: str) -> _Level:
    """The member with a name."""

    def around(inner: Any) -> Any:
        return {"type": "object", "required": [name], "properties": {name: inner}}

    rules = [part.members for part in together(level.parts) if part.members is not None]
    return _below(level, name, around, [one for rule in rules for one in rule.schemas_of(name)])


def _unlisted(level: _Level, part: Location) -> Iterator[tuple[Kind, Location, list[_Level]]]:
    """What a part says of members without a listed name, and of items, with the ways to one of them."""
    if part.members is not None:
        for pattern, one in part.members.patterns:
            if one is not None:
                found = [name for name in _NAMES if pattern.found_in(name)]
                yield "member", one, [*_tried(level, found), _like(level, pattern)]
        if part.members.rest is not None:
            names, patterns = part.members.names, [pattern for pattern, _ in part.members.patterns]
            found = [name for name in _NAMES if name not in names]
            found = [name for name in found if not any(one.found_in(name) for one in patterns)]
            yield (
                "member",
                part.members.rest,
                [*_tried(level, found), _others(level, names, patterns)],
            )
    if part.cells is not None:
        for position, one in enumerate(part.cells.prefix):
            if one is not None:
                yield "item", one, [_item(level, position)]
        if part.cells.rest is not None:
            first = len(part.cells.prefix)
            cells = [other.cells for other in together(level.parts) if other.cells is not None]
            last = max(len(rule.prefix) for rule in cells)
            ways = [_item(level, position) for position in sorted({first, last})]
            yield "item", part.cells.rest, ways
    if part.contains is not None:
        yield "item", part.contains, [_containing(level, part.contains)]


def _tried(level: _Level, names: list[str]) -> list[_Level]:
    """Ways to a member of any name: such that nothing else is said about come first, and two are enough."""
    rules = [part.members for part in together(level.parts) if part.members is not None]
    names = sorted(names, key=lambda name: sum(name in rule.names for rule in rules))
    return [replace(_named(level, name), steps=(*level.steps, "*")) for name in names[:2]]


def _like(level: _Level, pattern: Pattern) -> _Level:
    """A member whose name has a pattern."""

    def around(inner: Any) -> Any:
        return {"type": "object", "not": {"patternProperties": {pattern.text: {"not": inner}}}}

    rules = [part.members for part in together(level.parts) if part.members is not None]
    parts = [one for rule in rules for one in rule.schemas(None, {pattern.text})]
    return _below(level, "*", around, parts)


def _others(level: _Level, names: Iterable[str], patterns: list[Pattern]) -> _Level:
    """A member whose name is not listed and has none of some patterns."""

    def around(inner: Any) -> Any:
        rest = {
            "properties": dict.fromkeys(names, True),
            "patternProperties": dict.fromkeys((one.text for one in patterns), True),
            "additionalProperties": {"not": inner},
        }
        return {"type": "object", "not": rest}

    rules = [part.members for part in together(level.parts) if part.members is not None]
    return _below(level, "*", around, [one for rule in rules for one in rule.schemas(None, ())])


def _item(level: _Level, position: int) -> _Level:
    """The item at a position."""

    def around(inner: Any) -> Any:
        before = [True] * position
        return {"type": "array", "minItems": position + 1, "prefixItems": [*before, inner]}

    rules = [part.cells for part in together(level.parts) if part.cells is not None]
    parts = [one for rule in rules for one in rule.choices(position) or ()]
    return _below(level, None, around, parts)


def _containing(level: _Level, what: Location) -> _Level:
    """Some item that an array has to have."""

    def around(inner: Any) -> Any:
        return {"type": "array", "contains": _both([_to(what), inner])}

    return _below(level, None, around, [what])
