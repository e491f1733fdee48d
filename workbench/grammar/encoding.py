"""Rules as flat arrays: what fingerprints are taken of, and what files hold.

Every expression is a row of integers, numbered after its parts; rows that are equal, origins included, are
one. So equal rules give equal arrays, however their parts are shared, and no cycle can be written down.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal as OneOf

import numpy as np
from numpy.typing import NDArray

from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Gather,
    Graph,
    Guard,
    JsonStyle,
    Literal,
    Marker,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
    children,
)

__all__ = ["DTYPES", "ROLES", "STYLES", "Decoder", "Encoder", "gather_in", "gather_out"]

(
    _LITERAL,
    _BYTES,
    _CHARS,
    _SEQ,
    _ALT,
    _REPEAT,
    _REF,
    _GRAPH,
    _TOKEN,
    _OTHER,
    _SCOPE,
    _GUARD,
    _TABLE,
    _MARKER,
) = range(14)
_GUARDS: tuple[OneOf["may", "take", "other", "end", "between", "value", "name"], ...] = (
    "may",
    "take",
    "other",
    "end",
    "between",
    "value",
    "name",
)
#: the roles that a text can have in what a scope gathers
ROLES: tuple[OneOf["", "name", "string", "number"], ...] = ("", "name", "string", "number")
#: how the characters of a text are spelled
STYLES: tuple[JsonStyle, ...] = ("any", "ascii", "plain")
#: counts from here on are kept as texts
_LARGE = 1 << 62

#: the arrays, and the types of their items
DTYPES: dict[str, type[np.generic]] = {
    "texts": np.uint8,
    "text_starts": np.int64,
    "origins": np.int64,
    "rows": np.int64,
    "row_starts": np.int64,
    "rule_names": np.int64,
    "rule_rows": np.int64,
}


class Encoder:
    """Collects expressions, origins and texts; equal ones get the same number."""

    def __init__(self) -> None:
        self._texts: dict[bytes, int] = {}
        self._origins: dict[Origin, int] = {}
        self._rows: dict[tuple[int, ...], int] = {}
        #: by identity; each expression is kept, so that its id stays its own
        self._numbers: dict[int, tuple[int, Expr]] = {}
        self._rules: dict[int, int] = {}

    def rules(self, rules: Mapping[str, Expr]) -> Encoder:
        """Add rules in their order; returns the encoder itself.

        Raises ``ValueError`` for what no front end writes: negative counts, sets of more than 256 bytes.
        """
        for name, expr in rules.items():
            self._rules[self.text(name)] = self.expr(expr)
        return self

    def text(self, text: str | bytes | None) -> int:
        """Number of a text; -1 for None."""
        if text is None:
            return -1
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        return self._texts.setdefault(data, len(self._texts))

    def origin(self, origin: Origin | None) -> int:
        """Number of an origin; -1 for None."""
        return -1 if origin is None else self._origins.setdefault(origin, len(self._origins))

    def expr(self, top: Expr) -> int:
        """Number of an expression's row; iterative, so that depth is no limit."""
        numbers = self._numbers
        stack = [top]
        while stack:
            expr = stack[-1]
            if id(expr) not in numbers:
                parts = children(expr)
                if isinstance(expr, OtherText):
                    parts = (expr.body,) if expr.within is None else (expr.body, expr.within)
                waiting = [part for part in parts if id(part) not in numbers]
                if waiting:
                    stack += reversed(waiting)
                    continue
                row = (*self._row(expr), self.origin(expr.origin))
                numbers[id(expr)] = self._rows.setdefault(row, len(self._rows)), expr
            stack.pop()
        return numbers[id(top)][0]

    def _row(self, expr: Expr) -> tuple[int, ...]:
        numbers = self._numbers
        if isinstance(expr, Literal):
            return _LITERAL, self.text(expr.data)
        if isinstance(expr, ByteSet):
            if not 0 <= expr.mask < 1 << 256:
                raise ValueError(f"{expr.mask} is no set of bytes")
            return _BYTES, *(expr.mask >> 32 * i & 0xFFFFFFFF for i in range(8))
        if isinstance(expr, CharSet):
            return _CHARS, *(bound for pair in expr.ranges for bound in pair)
        if isinstance(expr, Seq):
            return _SEQ, *(numbers[id(item)][0] for item in expr.items)
        if isinstance(expr, Alt):
            return _ALT, *(numbers[id(item)][0] for item in expr.items)
        if isinstance(expr, Repeat):
            most = -1 if expr.max is None else self._count(expr.max)
            return _REPEAT, numbers[id(expr.item)][0], self._count(expr.min), most
        if isinstance(expr, Ref):
            return _REF, self.text(expr.name)
        if isinstance(expr, ByteGraph):
            data = expr.rows.astype("<i4").tobytes(), np.packbits(expr.ends).tobytes()
            return _TABLE, expr.n_states, expr.start, *map(self.text, data)
        if isinstance(expr, Graph):
            row = [_GRAPH, expr.n_states, expr.start, len(expr.finals), *expr.finals]
            for source, label, target in expr.edges:
                row += (source, numbers[id(label)][0], target)
            return tuple(row)
        if isinstance(expr, Token):
            ids = expr.ids or ()
            return _TOKEN, int(expr.negated), len(ids), *ids, *map(self.text, expr.names)
        if isinstance(expr, Marker):
            return _MARKER, self.text(expr.text)
        if isinstance(expr, OtherText):
            texts = map(self.text, expr.texts)
            style = STYLES.index(expr.style)
            within = -1 if expr.within is None else numbers[id(expr.within)][0]
            fresh = expr.cell if expr.fresh else -1
            role = ROLES.index(expr.role)
            return (
                _OTHER,
                numbers[id(expr.body)][0],
                within,
                style,
                fresh,
                role,
                self.text(expr.opening),
                *texts,
            )
        if isinstance(expr, Scope):
            most = -1 if expr.most is None else self._count(expr.most)
            bounds = expr.members, self._set(expr.required), self._count(expr.least), most
            gather = self.text(gather_out(expr.gather))
            return _SCOPE, numbers[id(expr.item)][0], *bounds, int(expr.names), gather
        if isinstance(expr, Guard):
            kind = _GUARDS.index(expr.kind)
            return _GUARD, kind, self._set(expr.among), int(expr.others)
        raise TypeError(f"not an expression: {expr!r}")

    def _set(self, members: int) -> int:
        return self.text(f"{members:x}")

    def _count(self, count: int) -> int:
        if count < 0:
            raise ValueError(f"{count} is no count")
        return count if count < _LARGE else -2 - self.text(f"{count:x}")

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What was collected; see ``DTYPES``."""
        origins = [
            (
                self.text(place.pointer),
                -1 if place.start is None else place.start,
                -1 if place.end is None else place.end,
                self.text(place.rule),
                int(place.negated),
            )
            for place in self._origins
        ]
        rows = [number for row in self._rows for number in row]
        return {
            "texts": np.frombuffer(b"".join(self._texts), dtype=np.uint8),
            "text_starts": _starts(self._texts),
            "origins": np.array(origins, dtype=np.int64).reshape(-1, 5),
            "rows": np.array(rows, dtype=np.int64),
            "row_starts": _starts(self._rows),
            "rule_names": np.array(list(self._rules), dtype=np.int64),
            "rule_rows": np.array(list(self._rules.values()), dtype=np.int64),
        }


def _starts(parts: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    lengths = np.array([0, *map(len, parts)], dtype=np.int64)
    return np.cumsum(lengths, dtype=np.int64)


class Decoder:
    """Reads what an :class:`Encoder` wrote, each part when it is asked for.

    Raises ``ValueError`` or ``IndexError`` here and in all methods when the arrays do not fit together.
    """

    def __init__(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        self._texts = arrays["texts"].tobytes()
        self._text_starts = _checked(arrays["text_starts"], len(self._texts))
        origins = arrays["origins"].reshape(-1, 5)
        self._origin_rows = origins
        self.n_texts, self.n_origins = len(self._text_starts) - 1, len(origins)
        if origins.size and (
            origins.min() < -1
            or origins[:, [0, 3]].max() >= self.n_texts
            or not 0 <= origins[:, 4].min() <= origins[:, 4].max() <= 1
        ):
            raise ValueError("an origin is nowhere")
        self._rows = arrays["rows"]
        self._row_starts = _checked(arrays["row_starts"], len(self._rows))
        self._origins: dict[int, Origin] = {}
        self._exprs: dict[int, Expr] = {}
        names = [self.text(number) for number in arrays["rule_names"].tolist()]
        #: the row of each rule
        self.rules: dict[str, int] = dict(zip(names, arrays["rule_rows"].tolist(), strict=True))
        if len(self.rules) != len(names):
            raise ValueError("a rule is there twice")
        if not all(0 <= row < len(self._row_starts) - 1 for row in self.rules.values()):
            raise ValueError("a rule has no row")

    def bytes(self, number: int) -> bytes:
        """A text as bytes."""
        if number < 0:
            raise IndexError(number)
        return self._texts[self._text_starts[number] : self._text_starts[number + 1]]

    def text(self, number: int) -> str:
        """A text."""
        return self.bytes(number).decode("utf-8", "surrogatepass")

    def origin(self, number: int) -> Origin | None:
        """An origin; None for -1."""
        if number == -1:
            return None
        found = self._origins.get(number)
        if found is None:
            if number < 0:
                raise IndexError(number)
            pointer, start, end, rule, negated = self._origin_rows[number].tolist()
            found = self._origins[number] = Origin(
                None if pointer == -1 else self.text(pointer),
                None if start == -1 else start,
                None if end == -1 else end,
                None if rule == -1 else self.text(rule),
                bool(negated),
            )
        return found

    def rule(self, name: str) -> Expr:
        """The expression of a rule. Raises ``KeyError`` where there is none of that name."""
        return self.expr(self.rules[name])

    def expr(self, top: int) -> Expr:
        """The expression of a row; iterative, as the encoder."""
        exprs = self._exprs
        stack = [top]
        while stack:
            number = stack[-1]
            if number not in exprs:
                if number < 0:
                    raise IndexError(number)
                begin, end = self._row_starts[number], self._row_starts[number + 1]
                row = self._rows[begin:end].tolist()
                parts = _parts(row)
                # parts come before what is made of them: so there are no cycles
                if any(part >= number for part in parts):
                    raise ValueError("an expression has itself for a part")
                waiting = [part for part in parts if part not in exprs]
                if waiting:
                    stack += reversed(waiting)
                    continue
                exprs[number] = self._expr(row)
            stack.pop()
        return exprs[top]

    def _expr(self, row: list[int]) -> Expr:
        kind, *given, place = row
        exprs, origin = self._exprs, self.origin(place)
        if kind == _LITERAL:
            (text,) = given
            return Literal(self.bytes(text), origin=origin)
        if kind == _BYTES:
            return ByteSet(sum(word << 32 * i for i, word in enumerate(given)), origin=origin)
        if kind == _CHARS:
            ranges = tuple(zip(given[::2], given[1::2], strict=True))
            return CharSet(ranges, origin=origin)
        if kind == _SEQ:
            return Seq(tuple([exprs[item] for item in given]), origin=origin)
        if kind == _ALT:
            return Alt(tuple([exprs[item] for item in given]), origin=origin)
        if kind == _REPEAT:
            item, least, most = given
            count = None if most == -1 else self._count(most)
            return Repeat(exprs[item], self._count(least), count, origin=origin)
        if kind == _REF:
            (name,) = given
            return Ref(self.text(name), origin=origin)
        if kind == _GRAPH:
            return self._graph(given, origin)
        if kind == _TABLE:
            n_states, start, edges, ends = given
            rows = np.frombuffer(self.bytes(edges), dtype="<i4").reshape(4, -1)
            bits = np.unpackbits(np.frombuffer(self.bytes(ends), dtype=np.uint8), count=n_states)
            return ByteGraph(rows, bits.astype(np.bool_), start)
        if kind == _TOKEN:
            negated, n_ids, *rest = given
            names = tuple(map(self.text, rest[n_ids:]))
            return Token(tuple(rest[:n_ids]), names, bool(negated), origin=origin)
        if kind == _MARKER:
            (text,) = given
            return Marker(self.text(text), origin=origin)
        if kind == _OTHER:
            return self._other_text(given, origin)
        if kind == _SCOPE:
            return self._scope(given, origin)
        if kind == _GUARD:
            which, among, others = given
            if not 0 <= which < len(_GUARDS):
                raise ValueError("a guard of no known kind")
            return Guard(_GUARDS[which], int(self.text(among), 16), bool(others), origin=origin)
        raise ValueError(f"{kind} is no kind of expression")

    def _graph(self, given: list[int], origin: Origin | None) -> Graph:
        n_states, start, n_finals, *rest = given
        numbers = rest[n_finals:]
        edges = tuple(
            (source, self._exprs[label], target)
            for source, label, target in zip(
                numbers[::3], numbers[1::3], numbers[2::3], strict=True
            )
        )
        return Graph(n_states, start, tuple(rest[:n_finals]), edges, origin=origin)

    def _other_text(self, given: list[int], origin: Origin | None) -> OtherText:
        body, within, style, cell, role, opening, *texts = given
        if not (0 <= style < len(STYLES) and 0 <= role < len(ROLES)):
            raise ValueError("a text in no known style or role")
        known = tuple(map(self.text, texts))
        language = self._exprs[within] if within >= 0 else None
        if language is not None and not isinstance(language, Graph):
            raise ValueError("a language that is no graph")
        return OtherText(
            known,
            self._exprs[body],
            cell >= 0,
            max(0, cell),
            language,
            ROLES[role],
            self.bytes(opening),
            STYLES[style],
            origin=origin,
        )

    def _scope(self, given: list[int], origin: Origin | None) -> Scope:
        item, members, required, least, most, named, gather = given
        bound = None if most == -1 else self._count(most)
        needed = int(self.text(required), 16)
        return Scope(
            self._exprs[item],
            members,
            needed,
            self._count(least),
            bound,
            bool(named),
            gather_in(self.text(gather)),
            origin=origin,
        )

    def _count(self, number: int) -> int:
        return number if number >= 0 else int(self.bytes(-2 - number), 16)


def gather_out(gather: Gather | None) -> str:
    """How a scope gathers, as a text."""
    if gather is None:
        return ""
    flags = gather.ordered, gather.ample, gather.distinct, gather.outermost
    given = gather.kind, gather.counts, gather.names, gather.number, *map(int, flags)
    return json.dumps(given)


def gather_in(text: str) -> Gather | None:
    """What :func:`gather_out` wrote. Raises ``ValueError`` or ``TypeError`` for anything else."""
    if not text:
        return None
    kind, counts, names, number, *flags = json.loads(text)
    if kind not in ("object", "array") or len(flags) != 4 or not all(f in (0, 1) for f in flags):
        raise ValueError("a scope that gathers something else")
    given = tuple(map(int, counts)), tuple(map(str, names))
    ordered, ample, distinct, outermost = map(bool, flags)
    return Gather(kind, *given, ordered, ample, distinct, outermost, int(number))


def _parts(row: list[int]) -> list[int]:
    """The parts of a row, in order."""
    kind = row[0]
    if kind in (_SEQ, _ALT):
        return row[1:-1]
    if kind == _OTHER:
        return row[1:3] if row[2] >= 0 else row[1:2]
    if kind in (_REPEAT, _SCOPE):
        return row[1:2]
    if kind == _GRAPH:
        return row[5 + row[3] : -1 : 3]
    return []


def _checked(starts: NDArray[np.generic], size: int) -> list[int]:
    """Ascending starts of parts that fill ``size`` items."""
    found: list[int] = starts.tolist()
    if not found or found[0] != 0 or found[-1] != size or np.any(np.diff(starts) < 0):
        raise ValueError("parts do not follow one another")
    return found
