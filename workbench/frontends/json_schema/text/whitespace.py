"""Where whitespace may stand, and how lists and objects are put together around it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from workbench.frontends.regex import full_match, parse_regex
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Origin,
    Repeat,
    Seq,
    walk,
)
from workbench.inputs import need_number
from workbench.wording import number_of

__all__ = [
    "MAX_LEVEL",
    "Break",
    "Layout",
    "Member",
    "Nested",
    "either",
    "in_row",
    "layout",
    "patterned",
]

#: What lies deeper is indented like this level.
MAX_LEVEL = 64
#: Most characters of one level.
MAX_INDENT = 100

_BLANK = frozenset(" \t\n\r")
_SPACE = ByteSet(sum(1 << ord(char) for char in _BLANK))


def in_row(*items: Expr, origin: Origin | None = None) -> Expr:
    """One after the other, with neighbouring literals joined and empty parts left out."""
    out: list[Expr] = []
    last: Expr | None = None
    for part in items:
        if isinstance(part, Literal):
            if isinstance(last, Literal) and last.origin == part.origin:
                part = Literal(last.data + part.data, origin=part.origin)
                out.pop()
        elif isinstance(part, Alt):
            if not part.items:
                return NEVER
        elif isinstance(part, Seq) and not part.items:
            continue
        out.append(part)
        last = part
    if len(out) == 1 and origin is None:
        return out[0]
    return Seq(tuple(out), origin=origin)


def either(*items: Expr, origin: Origin | None = None) -> Expr:
    """Any one of them, impossible ones left out."""
    kept = [item for item in items if not (isinstance(item, Alt) and not item.items)]
    return kept[0] if len(kept) == 1 else Alt(tuple(kept), origin=origin)


@dataclass(frozen=True, slots=True)
class Member:
    """One name with its value, ready to stand in an object."""

    expr: Expr
    required: bool


@dataclass(frozen=True, slots=True)
class Break(Expr):
    """A line break with the indentation of the level at which it stands, or of the one outside of it."""

    before: bytes = b""
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Nested(Expr):
    """What stands a level deeper than its surroundings."""

    item: Expr


@dataclass(frozen=True, slots=True)
class Layout:
    """The pieces between values. ``space`` follows brackets and values, separators stand between.

    ``first`` and ``last`` stand after the opening and before the closing bracket of what is not empty.
    ``indent`` tells that the pieces are marks, with the indentation of one level.
    """

    space: Expr
    comma: Expr
    colon: Expr
    around: bool
    detail: str
    first: Expr = EMPTY
    last: Expr = EMPTY
    indent: str | None = None

    def nested(self, expr: Expr) -> Expr:
        """What is put together of the pieces, a level deeper where there are levels."""
        return expr if self.indent is None or expr == NEVER else Nested(expr)

    def array(
        self,
        prefix: list[Expr],
        item: Expr | None,
        least: int,
        most: int | None,
        origin: Origin | None = None,
    ) -> Expr:
        """A list: the prefix in order, then any number of items, ``least`` to ``most`` in all."""
        if most is not None and least > most:
            return NEVER
        if most is not None and most <= len(prefix):
            prefix, item = prefix[:most], None
        opened = in_row(Literal(b"["), self.space)
        close = Literal(b"]")
        cells = [in_row(cell, self.space) for cell in prefix]
        tail: Expr | None = None
        if item is not None:
            tail = in_row(item, self.space)
        if not cells:
            return self.nested(in_row(opened, self._list(tail, least, most), close, origin=origin))
        # States 2i and 2i+1: i values read, the second where another must follow.
        edges: list[tuple[int, Expr, int]] = []
        count = len(cells)
        end = 2 * count + 1
        start = end + 1
        edges.append((start, opened, 0))
        for number, cell in enumerate(cells):
            here = 2 * number
            if number:
                edges.append((here, self.comma, here + 1))
                if number >= least:
                    edges.append((here, in_row(self.last, close), end))
                edges.append((here + 1, cell, here + 2))
            else:
                edges.append((0, in_row(self.first, cell), 2))
                if least == 0:
                    edges.append((0, close, end))
        last = 2 * count
        more: Expr = EMPTY
        if tail is not None:
            owed = max(0, least - count)
            room = None if most is None else most - count
            more = Repeat(in_row(self.comma, tail), owed, room)
        elif least > count:
            return NEVER
        edges.append((last, in_row(more, self.last, close), end))
        return self.nested(Graph(end + 2, start, (end,), tuple(edges), origin=origin))

    def _list(self, cell: Expr | None, least: int, most: int | None) -> Expr:
        """``least`` to ``most`` cells with separators."""
        if cell is None or most == 0:
            return NEVER if least else EMPTY
        more = Repeat(
            in_row(self.comma, cell), max(0, least - 1), None if most is None else most - 1
        )
        some = in_row(self.first, cell, more, self.last)
        return some if least else Repeat(some, 0, 1)

    def member(self, name: Expr, value: Expr, required: bool, origin: Origin | None) -> Member:
        """A name, the colon, a value."""
        return Member(in_row(name, self.colon, value, self.space, origin=origin), required)

    def object(
        self,
        members: list[Member],
        other: Expr | None,
        origin: Origin | None,
        again: Expr | None = None,
        closing: Expr = EMPTY,
    ) -> Expr:
        """An object: the members in order, optional ones may be missing, then others in any number.

        ``again`` stands between two others, if not just a comma; ``closing`` before all that follows the last one.
        The size is linear in the number of members: state ``i`` waits for member ``i`` or a later one,
        state ``count + i`` has written a member and is before member ``i``.
        """
        opened = in_row(Literal(b"{"), self.space)
        close = in_row(closing, Literal(b"}"))
        ended = in_row(closing, self.last, Literal(b"}"))
        again = self.comma if again is None else again
        if not members:
            some: Expr = EMPTY
            if other is not None:
                more = Repeat(in_row(again, other), 0, None)
                some = in_row(self.first, other, more, closing, self.last)
            if closing == EMPTY:
                return self.nested(in_row(opened, Repeat(some, 0, 1), close, origin=origin))
            either_way = either(close, *([] if other is None else [in_row(some, Literal(b"}"))]))
            return self.nested(in_row(opened, either_way, origin=origin))
        if all(member.required for member in members):
            items = [opened, self.first, members[0].expr]
            for member in members[1:]:
                items += [self.comma, member.expr]
            if other is not None:
                items.append(Repeat(in_row(again, other), 0, None))
            return self.nested(in_row(*items, ended, origin=origin))
        count = len(members)
        end, start, first = 2 * count + 1, 2 * count + 2, 2 * count + 3
        last_required = max((n for n, member in enumerate(members) if member.required), default=-1)
        edges: list[tuple[int, Expr, int]] = [(start, opened, first), (first, self.first, 0)]
        if last_required < 0:
            edges.append((first, close, end))
        for number, member in enumerate(members):
            edges.append((number, member.expr, count + number + 1))
            if not member.required:
                edges.append((number, EMPTY, number + 1))
            if number:
                edges.append((count + number, self.comma, number))
                if number > last_required:
                    edges.append((count + number, ended, end))
        if other is not None:
            edges.append((count, other, 2 * count))
            edges.append((2 * count, again, count))
        edges.append((2 * count, ended, end))
        return self.nested(Graph(first + 1, start, (end,), tuple(edges), origin=origin))

    def by_states(
        self,
        brackets: tuple[bytes, bytes],
        n_states: int,
        members: list[tuple[int, Expr, int]],
        skips: list[tuple[int, int]],
        finals: list[int],
        origin: Origin | None,
        closing: Expr = EMPTY,
    ) -> Expr:
        """An object or array by a graph: members lead from state to state, skips need none.

        State ``2i`` waits for a member in state ``i`` of the graph, ``2i + 1`` has just had one.
        """
        end, start, first = 2 * n_states, 2 * n_states + 1, 2 * n_states + 2
        edges = [(start, in_row(Literal(brackets[0]), self.space), first), (first, self.first, 0)]
        close = Literal(brackets[1])
        ended = in_row(closing, self.last, close)
        edges += [(2 * source, label, 2 * target + 1) for source, label, target in members]
        edges += [(2 * source, EMPTY, 2 * target) for source, target in skips]
        edges += [(2 * state + 1, self.comma, 2 * state) for state in range(n_states)]
        edges += [(2 * state + 1, ended, end) for state in finals]
        if 0 in finals:
            edges.append((first, in_row(closing, close), end))
        return self.nested(trimmed(2 * n_states + 3, start, end, edges, origin))


def trimmed(
    n_states: int,
    start: int,
    end: int,
    edges: list[tuple[int, Expr, int]],
    origin: Origin | None = None,
) -> Expr:
    """A graph without the states that are not reached or reach no end; ``NEVER`` when nothing is left."""
    forward: list[list[int]] = [[] for _ in range(n_states)]
    backward: list[list[int]] = [[] for _ in range(n_states)]
    for source, _, target in edges:
        forward[source].append(target)
        backward[target].append(source)
    useful = _reached(start, forward) & _reached(end, backward)
    if start not in useful:
        return NEVER
    names = {state: index for index, state in enumerate(sorted(useful))}
    kept = tuple(
        (names[source], label, names[target])
        for source, label, target in edges
        if source in useful and target in useful
    )
    return Graph(len(names), names[start], (names[end],), kept, origin=origin)


def _reached(first: int, targets: list[list[int]]) -> set[int]:
    seen = {first}
    stack = [first]
    while stack:
        for target in targets[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


_UNBOUNDED = Repeat(_SPACE, 0, None)


@lru_cache(maxsize=64)
def _bounded(most: int) -> Expr:
    """A run of whitespace; one object for each bound, so that automata of it are shared."""
    return Repeat(_SPACE, 0, most)


def layout(
    whitespace: str,
    max_whitespace: int,
    separators: tuple[str, str] | None = None,
    indent: int | str | None = None,
) -> Layout:
    """Make a layout from the options of ``json_schema``. Raises ``ValueError`` for bad options."""
    max_whitespace = need_number(max_whitespace, "max_whitespace", "a number of characters")
    if indent is not None:
        return _indented(indent, (",", ": ") if separators is None else separators)
    if separators is not None:
        comma, colon = _checked(separators)
        detail = f"exactly {comma!r} and {colon!r} between values, no other whitespace"
        return Layout(EMPTY, Literal(comma.encode()), Literal(colon.encode()), False, detail)
    if whitespace == "compact":
        return Layout(EMPTY, Literal(b","), Literal(b":"), False, "no whitespace between values")
    if whitespace == "bounded":
        if max_whitespace < 0:
            raise ValueError("max_whitespace must not be negative")
        run = _bounded(max_whitespace)
        detail = (
            f"at most {number_of(max_whitespace, 'character')} in a row, none around the whole text"
        )
    elif whitespace == "any":
        run, detail = _UNBOUNDED, ""
    else:
        raise ValueError(f"whitespace must be 'bounded', 'compact' or 'any', not {whitespace!r}")
    return Layout(
        run, in_row(Literal(b","), run), in_row(run, Literal(b":"), run), not detail, detail
    )


def patterned(pattern: str) -> Layout:
    """Make a layout in which a pattern says what stands between values, none around the whole text.

    Raises ``GrammarSyntaxError`` for a bad pattern, ``ValueError`` for one that matches more than whitespace.
    """
    run = full_match(parse_regex(pattern))
    ranges = [one for part in walk(run) if isinstance(part, CharSet) for one in part.ranges]
    if any(
        high > 0x20 or not set(map(chr, range(low, high + 1))) <= _BLANK for low, high in ranges
    ):
        raise ValueError(
            f"whitespace_pattern {pattern!r:.60} matches more than the whitespace of JSON"
        )
    detail = f"between values what {pattern!r:.60} matches, none around the whole text"
    return Layout(run, in_row(Literal(b","), run), in_row(run, Literal(b":"), run), False, detail)


def _checked(separators: tuple[str, str]) -> tuple[str, str]:
    if not isinstance(separators, list | tuple) or [*map(type, separators)] != [str, str]:
        raise ValueError(
            f"separators must be two texts, as in (', ', ': '), not {separators!r:.60}"
        )
    comma, colon = separators
    if comma.strip(" \t\n\r") != "," or colon.strip(" \t\n\r") != ":":
        raise ValueError(
            "separators must be a comma and a colon with whitespace, for example (', ', ': ')"
        )
    return comma, colon


def _indented(indent: int | str, separators: tuple[str, str]) -> Layout:
    comma, colon = _checked(separators)
    if not isinstance(indent, str):
        indent = need_number(indent, "indent", "a number of spaces, or whitespace")
    if (len(indent) if isinstance(indent, str) else indent) > MAX_INDENT:
        raise ValueError(f"indent must be at most {number_of(MAX_INDENT, 'character')} a level")
    step = " " * indent if isinstance(indent, int) else indent
    if step.strip(" \t\n\r") or (isinstance(indent, int) and indent < 0):
        raise ValueError(f"indent must be a number of spaces or whitespace, not {indent!r}")
    detail = (
        f"lines broken and indented as by json.dumps(indent={indent!r}), {MAX_LEVEL} levels deep"
    )
    return Layout(
        EMPTY,
        Break(comma.encode()),
        Literal(colon.encode()),
        False,
        detail,
        Break(),
        Break(outside=True),
        step,
    )
