"""Words that say nothing although they were meant to, and references that lead nowhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb
from workbench import GrammarSyntaxError, UnsatisfiableGrammar, UnsupportedConstraint
from workbench.engine import compile as compile_grammar
from workbench.frontends.json_schema.read.keyword_hints import misspelled
from workbench.vocabulary import Vocabulary

VOCABULARY = Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_ids=(256,))
DRAFT7 = "http://json-schema.org/draft-07/schema#"


def warnings(schema: Any, **options: Any) -> dict[str, str]:
    return {o.pointer: o.warning for o in wb.json_schema(schema, **options).outcomes if o.warning}


def accepts(grammar: Any, value: Any) -> bool:
    matcher = compile_grammar(grammar, VOCABULARY).matcher()
    data = json.dumps(value).encode()
    return matcher.accept_tokens(list(data)) == len(data) and bool(matcher.is_accepting)


@pytest.mark.parametrize(
    ("word", "value", "keyword"),
    [
        ("propertys", {"a": {}}, "properties"),
        ("property", {"a": {}}, "properties"),
        ("properties ", {"a": {}}, "properties"),
        ("Properties", {"a": {}}, "properties"),
        ("require", ["a"], "required"),
        ("requried", ["a"], "required"),
        ("required:", ["a"], "required"),
        ("tpye", "object", "type"),
        ("types", ["string", "null"], "type"),
        ("item", {"type": "string"}, "items"),
        ("itmes", {"type": "string"}, "items"),
        ("enums", [1, 2], "enum"),
        ("any_of", [{}], "anyOf"),
        ("oneof", [{}], "oneOf"),
        ("minlength", 3, "minLength"),
        ("min_length", 3, "minLength"),
        ("maxmimum", 3, "maximum"),
        ("inclusiveMinimum", 3, "minimum"),
        ("additionalproperties", False, "additionalProperties"),
        ("additonalProperties", False, "additionalProperties"),
        ("patern", "^a$", "pattern"),
        ("ref", "#/$defs/a", "$ref"),
        ("uniqueItem", True, "uniqueItems"),
    ],
)
def test_a_word_near_a_keyword_is_a_warning(word: str, value: Any, keyword: str) -> None:
    schema = {"description": "a schema", word: value}
    grammar = wb.json_schema(schema)
    (found,) = [outcome for outcome in grammar.outcomes if outcome.warning]
    assert (found.keyword, found.status) == (word, "annotation")
    assert repr(keyword) in found.warning and repr(word) in found.warning
    with pytest.raises(GrammarSyntaxError) as raised:
        wb.json_schema({"properties": {"a": schema}}, strict=True)
    assert raised.value.pointer == f"#/properties/a/{word}"
    assert keyword in str(raised.value)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        # dialects and tools
        *[(word, True) for word in ("nullable", "optional", "deprecated", "x-order", "x_type")],
        *[
            (word, {})
            for word in ("discriminator", "xml", "externalDocs", "x-items", "^x-y", "_meta")
        ],
        *[
            (word, "text")
            for word in ("markdownDescription", "tsType", "javaType", "goType", "unit")
        ],
        *[(word, ["a"]) for word in ("enumDescriptions", "enumNames", "tags", "options", "order")],
        ("example", {"a": 1}),
        ("examples", [1]),
        ("defaultSnippets", [{}]),
        ("bsonType", "object"),
        ("errorMessage", {"type": "no"}),
        ("propertyOrder", 3),
        ("requiredWhen", ["a"]),
        ("allowEmptyValue", True),
        ("divisibleBy", 2),
        # near a keyword, with a value that it cannot have
        ("types", "people"),
        ("item", "chair"),
        ("require", True),
        ("formats", ["a"]),
        ("minimums", "none"),
        # near an annotation, which says nothing either
        ("titel", "text"),
        ("descripton", "text"),
        # a place for schemas by another name
        ("defs", {"a": {"type": "string"}}),
        ("definition", {"a": {"type": "string"}}),
    ],
)
def test_other_words_are_quiet(word: str, value: Any) -> None:
    schema = {"type": "object", word: value}
    assert warnings(schema) == {}
    assert warnings({"properties": {"a": schema}}, strict=True) == {}


def test_no_warning_about_names_and_values() -> None:
    schema = {
        "type": "object",
        "properties": {"propertys": {"type": "object"}, "require": {"type": "array"}},
        "default": {"propertys": {}},
        "examples": [{"require": []}],
        "enum": [{"propertys": {}}],
        "$defs": {"require": {}},
    }
    assert warnings(schema) == {}
    assert misspelled("properties", {}) is None


def test_a_keyword_of_a_later_draft_and_what_stands_beside_a_reference() -> None:
    later = warnings({"$schema": DRAFT7, "prefixItems": [{}], "dependentRequired": {}})
    assert set(later) == {"#/prefixItems", "#/dependentRequired"}
    assert "2020-12" in later["#/prefixItems"] and "draft 7" in later["#/prefixItems"]
    part = {"$ref": "#/definitions/a", "title": "t", "type": "string", "maxLength": 3}
    schema = {"$schema": DRAFT7, "definitions": {"a": {}}, "properties": {"p": part}}
    assert set(warnings(schema)) == {"#/properties/p/maxLength"}
    assert set(warnings(schema, strict=True)) == {"#/properties/p/maxLength"}


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ({"name": "f", "description": "d", "parameters": SCHEMA}, ["parameters"]),
        ({"name": "f", "inputSchema": SCHEMA, "annotations": {}}, ["inputSchema"]),
        ({"name": "f", "input_schema": SCHEMA}, ["input_schema"]),
        ({"name": "n", "schema": SCHEMA, "strict": True}, ["schema"]),
        ({"json_schema": {"name": "n", "schema": SCHEMA}}, ["json_schema", "schema"]),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
            ["response_format", "json_schema", "schema"],
        ),
        (
            {"text": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            ["text", "format", "schema"],
        ),
        (
            {"toolSpec": {"name": "f", "inputSchema": {"json": SCHEMA}}},
            ["toolSpec", "inputSchema", "json"],
        ),
    ],
)
def test_a_schema_in_a_wrapping(tool: Any, path: list[str]) -> None:
    (pointer,) = warnings(tool)
    assert pointer == "#/" + "/".join(path)
    assert "schema" + "".join(f"[{step!r}]" for step in path) in warnings(tool)[pointer]
    with pytest.raises(GrammarSyntaxError, match="inside"):
        wb.json_schema(tool, strict=True)


@pytest.mark.parametrize(
    ("tool", "inside"),
    [
        (
            {"type": "function", "function": {"name": "f", "parameters": SCHEMA}},
            "['function']['parameters']",
        ),
        ({"type": "function", "name": "f", "parameters": SCHEMA}, "['parameters']"),
        ({"type": "json_schema", "json_schema": {"schema": SCHEMA}}, "['json_schema']['schema']"),
        ({"type": "json_object"}, '{"type": "object"}'),
    ],
)
def test_a_wrapping_with_a_type_that_is_none(tool: Any, inside: str) -> None:
    with pytest.raises(GrammarSyntaxError) as raised:
        wb.json_schema(tool)
    assert inside in str(raised.value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "schema": SCHEMA},
        {"properties": {"parameters": SCHEMA}},
        {"parameters": {"a": {"in": "query"}}},
        {"$ref": "#/schema", "schema": SCHEMA},
        {"title": "anything"},
        {},
    ],
)
def test_no_wrapping(schema: Any) -> None:
    assert warnings(schema) == {}


def tools(broken: str) -> dict[str, Any]:
    """Two calls, one of which has a reference."""
    return {
        "oneOf": [
            {
                "type": "object",
                "properties": {"tool": {"const": "good"}, "n": {"type": "integer"}},
                "required": ["tool"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"tool": {"const": "bad"}, "x": {"$ref": broken}},
                "required": ["tool", "x"],
                "additionalProperties": False,
            },
        ]
    }


@pytest.mark.parametrize(
    "reference",
    ["#/$defs/none", "#none", "#/oneOf/7", "#/oneOf/x", "http://[x", "http://example.com/none", "other.json#/a",
     "#/oneOf", "#/$defs/~2"],
)  # fmt: skip
def test_a_dangling_reference_forbids_its_part(reference: str) -> None:
    with pytest.raises((GrammarSyntaxError, UnsupportedConstraint)):
        wb.json_schema(tools(reference))
    grammar = wb.json_schema(tools(reference), on_dangling="forbid")
    (said,) = [o for o in grammar.outcomes if "forbidden" in o.detail]
    assert (said.pointer, said.status) == ("#/oneOf/1/properties/x/$ref", "restricted")
    assert reference in said.detail
    assert accepts(grammar, {"tool": "good", "n": 1})
    assert not accepts(grammar, {"tool": "bad", "x": 1})
    assert not accepts(grammar, {"tool": "bad"})


def test_a_part_that_need_not_come() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#none"}, "b": {"type": "integer"}}}
    grammar = wb.json_schema(schema, on_dangling="forbid")
    assert accepts(grammar, {"b": 1}) and accepts(grammar, {}) and not accepts(grammar, {"a": 1})
    array = {"type": "array", "items": {"$ref": "#none"}}
    assert accepts(wb.json_schema(array, on_dangling="forbid"), [])
    assert not accepts(wb.json_schema(array, on_dangling="forbid"), [1])


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        ({"$ref": "#/$defs/none"}, "#/$ref"),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}, "required": ["a"]},
            "#/properties/a/$ref",
        ),
        ({"allOf": [{"type": "string"}, {"$ref": "#/$defs/none"}]}, "#/allOf/1/$ref"),
        ({"anyOf": [{"$ref": "#/$defs/none"}, {"type": "string", "enum": [1]}]}, "#/anyOf/0/$ref"),
    ],
)
def test_a_part_that_has_to_come_is_named(schema: Any, part: str) -> None:
    with pytest.raises(UnsatisfiableGrammar) as raised:
        wb.json_schema(schema, on_dangling="forbid")
    assert part in str(raised.value)
    assert "'#/$defs/none' leads nowhere" in str(raised.value)


@pytest.mark.parametrize("keyword", ["not", "if"])
def test_where_to_forbid_would_allow_more_it_raises(keyword: str) -> None:
    schema = {"type": "object", keyword: {"$ref": "#none"}, "then": {"maxProperties": 1}}
    with pytest.raises(GrammarSyntaxError):
        wb.json_schema(schema, on_dangling="forbid")
    named = {"type": "object", "properties": {keyword: {"$ref": "#none"}}}
    assert accepts(wb.json_schema(named, on_dangling="forbid"), {})


def test_the_option() -> None:
    with pytest.raises(ValueError, match="on_dangling"):
        wb.json_schema({}, on_dangling="drop")
    hint = r'on_dangling="forbid"'
    with pytest.raises(GrammarSyntaxError, match=hint):
        wb.json_schema({"$ref": "#none"})
    one, other = wb.json_schema({}), wb.json_schema({}, on_dangling="forbid")
    assert one.rules.key != other.rules.key  # type: ignore[attr-defined]


def test_types_take_the_option_and_have_the_warnings() -> None:
    pydantic = pytest.importorskip("pydantic")
    extra = {"minlength": 2, "allOf": [{"$ref": "http://example.com/none"}]}

    class Line(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        sku: str = pydantic.Field(default="", json_schema_extra=extra)

    with pytest.raises((GrammarSyntaxError, UnsupportedConstraint)):
        wb.from_type(Line)
    grammar = wb.from_type(Line, on_dangling="forbid")
    assert [o.keyword for o in grammar.outcomes if o.warning] == ["minlength"]
    assert accepts(grammar, {}) and not accepts(grammar, {"sku": "a"})


def test_warnings_survive_a_file(tmp_path: Any) -> None:
    compiled = compile_grammar(wb.json_schema({"propertys": {}}), VOCABULARY)
    path = tmp_path / "compiled"
    compiled.save(path)
    again = wb.load_compiled(path, VOCABULARY)
    assert tuple(again.grammar.outcomes) == compiled.grammar.outcomes
    assert [outcome for outcome in again.grammar.outcomes if outcome.warning]


def test_a_bundle_has_the_option_and_the_warnings(tmp_path: Any) -> None:
    grammar = wb.json_schema({**tools("#none"), "require": ["tool"]}, on_dangling="forbid")
    path = tmp_path / "bundle.zip"
    tests = {"accept": [{"tool": "good"}], "reject": [{"tool": "bad", "x": 1}]}
    wb.export(
        grammar, path, tests=tests, options={"on_dangling": "forbid"}, dead_end_note="one is broken"
    )
    assert wb.verify(path).ok
    import zipfile

    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("outcomes.json"))
        outcomes = json.loads(archive.read(name))
    assert any("'required'" in outcome.get("warning", "") for outcome in outcomes)
