r"""Values as literals of Python: what ``ast.literal_eval`` reads, of the types that a schema of pydantic's tells.

Numbers, strings in either quotes, bytes, ``True``, ``False``, ``None``, lists, tuples, sets and dictionaries. What is a
class in Python (a model, a dataclass, a ``TypedDict``) is a dictionary of its members, in their order, which pydantic
takes for one. A comma and a colon have one space behind them, or none.

>>> literals = Literals({})
>>> literals.value({"enum": [True, None]}, "#")
Alt(items=(Literal(data=b'True'), Literal(data=b'None')))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.errors import UnsupportedConstraint
from workbench.frontends.json_schema.scalar_values import numbers_of, strings_of
from workbench.frontends.json_schema.scalars.numbers import Notation
from workbench.frontends.json_schema.text.whitespace import either, in_row
from workbench.frontends.pydantic_schema import PYTHON, PYTHON_KEYS
from workbench.frontends.python_members import (
    COMMA,
    SPACE,
    Member,
    chosen_once,
    texts_apart,
)
from workbench.frontends.python_strings import (
    any_string,
    byte_string,
    fresh,
    quoted,
    string,
)
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    Expr,
    Graph,
    Literal,
    Ref,
    Repeat,
    Scope,
    Seq,
)
from workbench.grammar.names import Names

__all__ = ["Literals"]

_COLON = Seq((Literal(b":"), SPACE))
_BOOLEAN = Alt((Literal(b"True"), Literal(b"False")))

#: Keywords that say nothing about a value, and those that are read with another one.
_SILENT = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
_SILENT |= {"$defs", "discriminator", "contentMediaType", "contentEncoding", PYTHON, PYTHON_KEYS}
_LISTS = {"type", "prefixItems", "items", "minItems", "maxItems", "uniqueItems"}
_OBJECTS = {"type", "properties", "required", "additionalProperties", "propertyNames"}
_OBJECTS |= {"minProperties", "maxProperties"}
_TEXTS = {"type", "minLength", "maxLength", "pattern", "format", "allOf", "enum", "const", "not"}
_NUMBERS = {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_NUMBERS |= {"allOf", "anyOf"}

_Schema = Mapping[str, Any]


class Literals:
    """Writes the literals of schemas that share ``definitions``, by rules for what comes again.

    With ``report`` what cannot be kept is left out, and named in ``lost`` with its pointer.
    """

    def __init__(
        self, definitions: _Schema, *, max_digits: int | None = 100, report: bool = False
    ) -> None:
        self.rules: dict[str, Expr] = {}
        self.lost: list[tuple[str, str, str]] = []
        self._definitions = definitions
        self._notation = Notation(True, max_digits)
        self._report = report
        self._names = Names()
        self._known: dict[str, Ref] = {}

    def rule(self, key: str, name: str, make: Callable[[], Expr]) -> Ref:
        """A use of the rule for a key, which is written the first time."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Ref(self._names.fresh(name))
            self.rules[known.name] = make()
        return known

    def value(self, schema: Any, pointer: str) -> Expr:
        """The literals that a schema allows; ``NEVER`` where it is plain that there are none.

        Raises ``UnsupportedConstraint`` with the pointer for a keyword that has no such form, and as
        :func:`workbench.json_schema` does.
        """
        if schema is False:
            return NEVER
        said = _said(schema)
        if not said:
            return self._anything()
        if "$ref" in said:
            self._only(said, {"$ref"}, pointer)
            return self._definition(str(said["$ref"]))
        mark = schema.get(PYTHON)
        if mark == "member":
            self._refuse(
                pointer, "enum", "a Literal of members of an Enum has no literal in Python"
            )
        if isinstance(mark, dict):
            return byte_string(*mark["bytes"])
        for keyword in ("const", "enum"):
            if keyword in said:
                self._only(said, {"const", "enum", "type"}, pointer)
                values = [said["const"]] if "const" in said else said["enum"]
                return either(*[self._constant(one, pointer) for one in values])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in said and (keyword != "allOf" or "type" not in said):
                return self._either(said, keyword, pointer)
        return self._typed(schema, said, pointer)

    def _typed(self, schema: _Schema, said: _Schema, pointer: str) -> Expr:
        kind = said.get("type")
        if isinstance(kind, list):
            return either(*[self.value({**schema, "type": one}, pointer) for one in kind])
        if kind == "string":
            self._only(said, _TEXTS, pointer)
            if said.keys() == {"type"}:
                return self.rule("string", "string", any_string)
            return string(strings_of(said))
        if kind in ("integer", "number"):
            self._only(said, _NUMBERS, pointer)
            return numbers_of(said, self._notation)
        if kind == "boolean":
            self._only(said, {"type"}, pointer)
            return _BOOLEAN
        if kind == "null":
            self._only(said, {"type"}, pointer)
            return Literal(b"None")
        if kind == "array":
            self._only(said, _LISTS, pointer)
            return self.rule(pointer, _readable(pointer), lambda: self._list(schema, pointer))
        if kind == "object":
            self._only(said, _OBJECTS, pointer)
            return self.rule(pointer, _readable(pointer), lambda: self._object(schema, pointer))
        self._refuse(pointer, next(iter(said)), "a schema without a type has no form in Python")
        return self._anything()

    def _refuse(self, pointer: str, keyword: str, reason: str) -> None:
        if not self._report:
            raise UnsupportedConstraint(f"{pointer}/{keyword}", reason)
        self.lost.append((pointer, keyword, reason))

    def _only(self, said: _Schema, known: set[str], pointer: str) -> None:
        for keyword in said.keys() - known:
            self._refuse(
                pointer, keyword, f"{keyword!r} is not carried over to Python's literals here"
            )

    def _definition(self, reference: str) -> Expr:
        name = _definition_name(reference)
        pointer = f"#/$defs/{name}"
        return self.rule(
            f"{reference} used", name, lambda: self.value(self._definitions[name], pointer)
        )

    def _either(self, said: _Schema, keyword: str, pointer: str) -> Expr:
        parts = said[keyword]
        self._only(said, {keyword}, pointer)
        if keyword == "allOf" and len(parts) > 1:
            self._refuse(
                pointer, keyword, "schemas that hold together are not carried over to Python"
            )
        return either(
            *[self.value(part, f"{pointer}/{keyword}/{n}") for n, part in enumerate(parts)]
        )

    def _constant(self, value: Any, pointer: str) -> Expr:
        if isinstance(value, str):
            return quoted(value)
        if value is None or isinstance(value, bool):
            return Literal(repr(value).encode())
        if isinstance(value, int | float):
            return numbers_of({"const": value}, self._notation)
        self._refuse(pointer, "enum", "lists and objects among fixed values have no form in Python")
        return NEVER

    def _anything(self) -> Expr:
        def make() -> Expr:
            value = Ref("value")
            scalars = self.rule("scalar", "scalar", self._scalar)
            pair = Seq((scalars, _COLON, value))
            several = _elements([], value, 2, None)
            return Alt(
                (
                    scalars,
                    _bracketed(b"[", _elements([], value, 0, None), b"]"),
                    Alt((Literal(b"()"), _bracketed(b"(", Seq((value, Literal(b","))), b")"))),
                    _bracketed(b"(", several, b")"),
                    _bracketed(b"{", _elements([], pair, 0, None), b"}"),
                )
            )

        return self.rule("value", "value", make)

    def _scalar(self) -> Expr:
        number = numbers_of({"type": "number"}, self._notation)
        return Alt((self.rule("string", "string", any_string), number, _BOOLEAN, Literal(b"None")))

    # Lists, tuples and sets

    def _list(self, schema: _Schema, pointer: str) -> Expr:
        mark, least, most = (
            schema.get(PYTHON),
            int(schema.get("minItems", 0)),
            schema.get("maxItems"),
        )
        listed = schema.get("prefixItems", [])
        prefix = [self.value(one, f"{pointer}/prefixItems/{n}") for n, one in enumerate(listed)]
        closed = schema.get("items") is False or (prefix and most == len(prefix))
        item = NEVER if closed else self.value(schema.get("items", {}), f"{pointer}/items")
        if mark == "set" and least > 1:
            return self._counted_set(schema, least, most, pointer)
        if mark == "tuple":
            one = Seq((_elements(prefix, item, 1, 1), Literal(b",")))
            ways = [Literal(b"()")] if least == 0 else []
            singles = [_bracketed(b"(", one, b")")] if least < 2 and most != 0 else []
            more = _elements(prefix, item, max(2, least), most)
            return either(*ways, *singles, _bracketed(b"(", more, b")"))
        if mark == "set" and self._is_hashable(schema.get("items", {})):
            some = _bracketed(b"{", _elements(prefix, item, max(1, least), most), b"}")
            return some if least else either(Literal(b"set()"), some)
        return _bracketed(b"[", _elements(prefix, item, least, most), b"]")

    def _counted_set(self, schema: _Schema, least: int, most: int | None, pointer: str) -> Expr:
        """A set of more than one value, which then have to differ."""
        item = self._resolved(schema.get("items", {}))
        if "enum" in item or "const" in item:
            values = item.get("enum", [item.get("const")])
            few = [Member(self._constant(one, pointer), EMPTY) for one in values]
            return _bracketed(b"{", chosen_once(few, EMPTY, None, least, most), b"}")
        if item.get("type") == "string":
            some, count, none = texts_apart(_said(item))
            members = [Member(quoted(""), EMPTY)] if none else []
            if count is not None:
                most = count if most is None else min(most, count)
            inside = chosen_once(members, EMPTY, (fresh(some), EMPTY), least, most)
            return _bracketed(b"{", inside, b"}")
        self._refuse(pointer, "minItems", "it is not counted how many of these items differ")
        return _bracketed(
            b"{", _elements([], self.value(item, f"{pointer}/items"), least, most), b"}"
        )

    def _resolved(self, schema: Any) -> Any:
        """What a reference leads to, and any other schema itself."""
        while "$ref" in schema:
            schema = self._definitions[_definition_name(schema["$ref"])]
        return schema

    def _is_hashable(self, schema: Any) -> bool:
        """Whether the literals of a schema may be in a set: none of them is a list or a dictionary."""
        if "$ref" in schema:
            name = (
                str(schema["$ref"]).removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
            )
            return self._is_hashable(self._definitions[name])
        parts = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
        if parts:
            return all(map(self._is_hashable, parts))
        if "enum" in schema or "const" in schema:
            return True
        return schema.get("type") in ("string", "integer", "number", "boolean", "null")

    # Dictionaries

    def _object(self, schema: _Schema, pointer: str) -> Expr:
        least, most = int(schema.get("minProperties", 0)), schema.get("maxProperties")
        listed = schema.get("properties", {})
        rest = schema.get("additionalProperties", not listed)
        value = NEVER if rest is False else self.value(rest, f"{pointer}/additionalProperties")
        if listed:
            if least or most is not None:
                self._refuse(pointer, "minProperties", "members are not counted beside listed ones")
            return self._members(schema, value, pointer)
        if value == NEVER:
            return Literal(b"{}") if least == 0 else NEVER
        if PYTHON_KEYS in schema:
            if least > 1:
                reason = "how many keys differ is counted for keys that are texts alone"
                self._refuse(pointer, "minProperties", reason)
            key = self.value(schema[PYTHON_KEYS], f"{pointer}/propertyNames")
            return _bracketed(b"{", _elements([], Seq((key, _COLON, value)), least, most), b"}")
        names = self._resolved(schema.get("propertyNames", {}))
        if "enum" in names or "const" in names:
            few = [one for one in names.get("enum", [names.get("const")]) if isinstance(one, str)]
            members = [Member(quoted(name), value) for name in few]
            inside = chosen_once(members, _COLON, None, least, most)
            return _bracketed(b"{", inside, b"}")
        return _bracketed(b"{", self._free(names, value, least, most), b"}")

    def _members(self, schema: _Schema, others: Expr, pointer: str) -> Expr:
        """Listed members in their order, then others."""
        required = set(schema.get("required", ()))
        edges: list[tuple[int, Expr, int]] = []
        # states: 2 * n before the first member, 2 * n + 1 behind another one, n members are behind
        names = list(schema["properties"])
        for n, name in enumerate(names):
            value = self.value(schema["properties"][name], f"{pointer}/properties/{name}")
            member = in_row(quoted(name), _COLON, value)
            edges.append((2 * n, member, 2 * n + 3))
            edges.append((2 * n + 1, in_row(COMMA, member), 2 * n + 3))
            if name not in required:
                edges += [(2 * n, EMPTY, 2 * n + 2), (2 * n + 1, EMPTY, 2 * n + 3)]
        end = 2 * len(names)
        edges = [edge for edge in edges if edge[1] != NEVER]
        if others == NEVER:
            return _bracketed(b"{", Graph(end + 2, 0, (end, end + 1), tuple(edges)), b"}")
        keys, _, _ = texts_apart({}, excluded=names)
        member = in_row(fresh(keys), _COLON, others)
        edges += [(end, member, end + 1), (end + 1, in_row(COMMA, member), end + 1)]
        graph = Graph(end + 2, 0, (end, end + 1), tuple(edges))
        return Scope(_bracketed(b"{", graph, b"}"), 0)

    def _free(self, names: Any, value: Expr, least: int, most: int | None) -> Expr:
        """Members of any names that a schema allows, each once."""
        some, count, has_empty = texts_apart(_said(names))
        none = [Member(quoted(""), value)] if has_empty else []
        if count is not None:
            most = count if most is None else min(most, count)
        others = None if some.is_empty else (fresh(some), value)
        return chosen_once(none, _COLON, others, least, most)


def _said(schema: Any) -> dict[str, Any]:
    """What a schema says about values."""
    return {} if schema is True else {k: v for k, v in schema.items() if k not in _SILENT}


def _definition_name(reference: str) -> str:
    return reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")


def _bracketed(opening: bytes, inside: Expr, closing: bytes) -> Expr:
    return in_row(Literal(opening), inside, Literal(closing))


def _elements(prefix: Sequence[Expr], item: Expr, least: int, most: int | None) -> Expr:
    """``least`` to ``most`` values between commas: first those of a prefix, then others like ``item``."""
    count = len(prefix)
    if item == NEVER:
        most = count if most is None else min(most, count)
    if most is not None and most < least:
        return NEVER
    rest: Expr = EMPTY
    if most is None or most > count:
        most_more = None if most is None else most - count
        rest = _several(item, max(0, least - count), most_more, bool(count))
    for n in range(min(count, count if most is None else most) - 1, -1, -1):
        one = in_row(COMMA if n else EMPTY, prefix[n], rest)
        rest = one if n < least else either(EMPTY, one)
    return rest


def _several(item: Expr, least: int, most: int | None, follows: bool) -> Expr:
    following = Seq((COMMA, item))
    if follows:
        return Repeat(following, least, most)
    more = Repeat(following, max(0, least - 1), None if most is None else most - 1)
    return in_row(item, more) if least else Repeat(Seq((item, more)), 0, 1)


def _readable(pointer: str) -> str:
    return pointer[2:] if len(pointer) > 2 else "root"
