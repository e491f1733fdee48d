"""Dead ends planted in schemas: behind good siblings by hand, and anywhere in real schemas; each is found."""

from __future__ import annotations

import copy
import json
import tarfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

import workbench as wb
from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.diagnostics.verdicts import remake

ARCHIVE = Path(__file__).parents[4] / "shared" / "data" / "maskbench-dev.tar.xz"

Schema = dict[str, Any]

BAD: Schema = {"type": "string", "pattern": "^[A-Z]{3}$", "maxLength": 2}
GOOD: Schema = {"type": "integer"}


def tool(name: str, code: Any) -> Schema:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "code": code},
        "required": ["name"],
        "additionalProperties": False,
    }


def tools(count: int, broken: int, keyword: str) -> Schema:
    return {keyword: [tool(f"t{i}", BAD if i == broken else GOOD) for i in range(count)]}


def pointers(schema: Schema) -> list[str | None]:
    report = dead_ends(wb.json_schema(schema))
    assert report.complete
    for finding in report:
        assert finding.kind == "never written" and finding.warning
        if finding.suggestion is not None and finding.suggestion.edits:
            mended = dead_ends(remake("json_schema", finding.suggestion.apply(schema)))
            assert finding.pointer not in [left.pointer for left in mended]
    return [finding.pointer for finding in report]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(("count", "broken"), [(2, 0), (2, 1), (40, 0), (40, 17), (40, 39)])
def test_a_good_sibling_hides_nothing(count: int, broken: int, keyword: str) -> None:
    place = f"{keyword}/{broken}/properties/code"
    assert pointers(tools(count, broken, keyword)) == [f"#/{place}"]
    calls = {"type": "array", "items": tools(count, broken, keyword)}
    assert pointers(calls) == [f"#/items/{place}"]


def test_what_is_suggested_for_a_hidden_one_is_tried() -> None:
    schema = tools(2, 0, "anyOf")
    (finding,) = dead_ends(schema, examples=[{"name": "t0", "code": "ABC"}])
    assert finding.message == (
        "member 'code' can never be written: #/anyOf/0/properties/code: no value satisfies it"
    )
    assert finding.suggestion is not None
    assert str(finding.suggestion.edits[0]) == "#/anyOf/0/properties/code/maxLength: 2 → 3"
    assert [(change.before, change.after) for change in finding.suggestion.effect] == [
        (False, True)
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # every keyword with a schema for values
        ({"items": BAD}, ["#/items"]),
        ({"prefixItems": [GOOD, BAD]}, ["#/prefixItems/1"]),
        ({"prefixItems": [GOOD], "items": BAD}, ["#/items"]),
        ({"additionalProperties": BAD}, ["#/additionalProperties"]),
        ({"properties": {"x": GOOD}, "additionalProperties": BAD}, ["#/additionalProperties"]),
        ({"patternProperties": {"^q%": BAD, "^r": GOOD}}, ["#/patternProperties/^q%"]),
        ({"propertyNames": BAD}, ["#/propertyNames"]),
        ({"dependentSchemas": {"a": {"properties": {"b": BAD}}}}, [
            "#/dependentSchemas/a/properties/b",
        ]),
        (
            {"if": {"required": ["a"]}, "then": {"properties": {"b": BAD}}, "else": {"items": BAD}},
            ["#/else/items", "#/then/properties/b"],
        ),
        ({"type": ["array", "null"], "contains": BAD}, ["#/contains"]),
        ({"anyOf": [BAD, GOOD]}, ["#/anyOf/0"]),
        # below members of any name, and behind references that come back
        ({"additionalProperties": {"properties": {"a": {"items": BAD}}}}, [
            "#/additionalProperties/properties/a/items",
        ]),
        (
            {
                "$ref": "#/$defs/n",
                "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}, "v": BAD}}},
            },
            ["#/$defs/n/properties/v"],
        ),
        # an integer is a number too, so it is never just one of both
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, ["#/oneOf/0"]),
        # the reference alone allows x, the closed object beside it does not
        (
            {
                "properties": {
                    "a": {"$ref": "#/$defs/d"},
                    "b": {"$ref": "#/$defs/d", "additionalProperties": False},
                },
                "$defs": {"d": {"properties": {"x": GOOD}}},
            },
            ["#/$defs/d/properties/x"],
        ),
        # what the whole says of k and each of the alternatives never agree
        (
            {
                "properties": {"x": {"properties": {"k": {"const": 3}}}},
                "anyOf": [
                    {"properties": {"x": {"properties": {"k": {"const": k}}}}} for k in (1, 2)
                ],
            },
            ["#/properties/x/properties/k"],
        ),
        # a name that one alternative forbids, and a last part that ends a list, are meant so
        ({"anyOf": [{"properties": {"x": False}}, {"properties": {"x": {}}}]}, []),
        ({"prefixItems": [GOOD], "items": False}, []),
        ({"properties": {"x": {"not": {}}}, "anyOf": [{}, {"properties": {"x": GOOD}}]}, [
            "#/properties/x",
        ]),
        ({"if": {"required": ["a"]}, "then": False}, []),
        # a branch is chosen by what is around it: under the other one "b" cannot be, but somewhere it can
        (
            {
                "properties": {"x": {"oneOf": [tool("a", GOOD), tool("b", GOOD)]}},
                "anyOf": [
                    {"properties": {"x": {"properties": {"name": {"const": name}}}}}
                    for name in ("a", "b")
                ],
            },
            [],
        ),
    ],
)  # fmt: skip
def test_every_kind_of_place(schema: Schema, expected: list[str]) -> None:
    assert sorted(map(str, pointers(schema)))[: len(expected) or None] == expected


def test_two_in_an_alternative_that_nothing_can_be() -> None:
    inner = {"type": "object", "properties": {"a": BAD, "b": BAD}, "required": ["a"]}
    assert pointers({"anyOf": [inner, GOOD]}) == ["#/anyOf/0/properties/a"]
    # the other one comes to light when the first is mended
    inner["properties"]["a"] = GOOD
    assert pointers({"anyOf": [inner, GOOD]}) == ["#/anyOf/0/properties/b"]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"type": "object"}, {"properties": {"a": BAD}, "required": ["a"]}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": BAD, "minItems": 1, "type": "array"}}},
        {"type": "object", "patternProperties": {"^a": BAD}, "required": ["ab"]},
        # the first of the alternatives is ruled out by the type
        {"type": "string", "anyOf": [GOOD, {"allOf": [BAD]}]},
    ],
)
def test_what_is_to_blame_for_a_schema_without_values(schema: Schema) -> None:
    (finding,) = dead_ends(schema)
    assert finding.kind == "unsatisfiable" and finding.pointer is not None
    at: Any = schema
    for key in finding.pointer.split("/")[1:]:
        at = at[int(key)] if isinstance(at, list) else at[key]
    assert at == BAD


def test_what_is_not_looked_at_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.diagnostics.dead_ends.schema_routes.MAX_WORK", 20)
    report = dead_ends(tools(40, 39, "oneOf"))
    assert not report.complete and not report.findings
    assert "none found" not in str(report) and "not looked at" in str(report)
    monkeypatch.undo()
    monkeypatch.setattr("workbench.diagnostics.dead_ends.schema_routes.MAX_SECONDS", 0.0)
    assert not dead_ends(tools(40, 39, "oneOf")).complete


def test_many_and_deep_ones() -> None:
    many: Schema = {"properties": {f"p{i}": BAD if i % 2 else GOOD for i in range(400)}}
    report = dead_ends(many)
    assert report.complete and len(report) == 200
    deep: Schema = {"items": BAD}
    for _ in range(30):
        deep = {"anyOf": [{"properties": {"x": deep}}, {"type": "null"}]}
    (finding,) = dead_ends(deep)
    assert finding.pointer == "#" + "/anyOf/0/properties/x" * 30 + "/items"


# Real schemas

#: Schemas for values that hold where the one around them does, of which some value is there.
_ONE = ("items", "additionalProperties", "additionalItems")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")

PLANTS: tuple[Schema, ...] = (
    BAD,
    {"type": "integer", "minimum": 5, "maximum": 4},
    {"type": "array", "items": {"type": "null"}, "minItems": 3, "maxItems": 1},
    {"type": "object", "required": ["zz"], "properties": {"zz": False}},
    {"type": "number", "enum": ["a"]},
    {"allOf": [{"type": "string"}, {"type": "null"}]},
)


def keys(pointer: str) -> list[str]:
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def at(schema: Any, pointer: str) -> Any:
    for key in keys(pointer):
        schema = schema[int(key)] if isinstance(schema, list) else schema.get(key)
        if schema is None:
            return None
    return schema


def places(schema: Schema) -> list[str]:
    """Where schemas stand that values get to, all but the root."""
    found = ["#"]
    for place in found:
        here = at(schema, place)
        if not isinstance(here, dict):
            continue
        more = [f"{place}/{key}" for key in _ONE if isinstance(here.get(key), dict)]
        for key in _LISTS:
            if isinstance(here.get(key), list):
                more += [f"{place}/{key}/{i}" for i in range(len(here[key]))]
        if isinstance(here.get("properties"), dict):
            for name in here["properties"]:
                escaped = name.replace("~", "~0").replace("/", "~1")
                more.append(f"{place}/properties/{escaped}")
        if isinstance(here.get("$ref"), str) and here["$ref"].startswith("#/"):
            more.append(here["$ref"])
        found += [one for one in more if one not in found and isinstance(at(schema, one), dict)]
    return found[1:]


def planted(schema: Schema, pointer: str, plant: Schema) -> Schema:
    changed = copy.deepcopy(schema)
    way = keys(pointer)
    around = at(changed, pointer.rpartition("/")[0])
    around[int(way[-1]) if isinstance(around, list) else way[-1]] = plant
    return changed


@pytest.mark.skipif(not ARCHIVE.exists(), reason="the schemas are not there")
def test_each_one_planted_in_real_schemas_is_found() -> None:
    rng = Random(2)
    schemas: list[tuple[str, Schema]] = []
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if member.name.endswith(".json") and member.size < 30_000 and rng.random() < 0.04:
                stream = archive.extractfile(member)
                assert stream is not None
                schemas.append((member.name, json.load(stream)["schema"]))
    found, incomplete, missed = 0, 0, []
    for name, schema in rng.sample(schemas, len(schemas)):
        some = places(schema)
        if not some or found + incomplete + len(missed) == 200:
            continue
        pointer = rng.choice(some)
        report = dead_ends(planted(schema, pointer, rng.choice(PLANTS)))
        if any(f"{finding.pointer}/".startswith(f"{pointer}/") for finding in report):
            found += 1
        elif report.complete:
            missed.append((name, pointer, str(report)))
        else:
            incomplete += 1
    assert not missed
    assert (found + incomplete, incomplete) == (200, 0)
