"""Objects with their members between tags: verdicts of XGrammar, and texts by the definition of each style."""

from __future__ import annotations

import re
from itertools import permutations
from random import Random
from typing import Any

import pytest

import workbench as wb
from tests.frontends.tags.verdicts import (
    KNOWS_ALL,
    is_deliberate,
    mutant,
    their_compiler,
    they_accept,
    walked,
    we_accept,
)
from workbench import formats as f
from workbench.frontends.json_schema.emit.tag_styles import TAG_STYLES
from workbench.frontends.tags.build import grammar_of
from workbench.vocabulary import byte_vocabulary

D, M = "｜DSML｜", "]<]minimax[>["
#: One member of each style by its name, the JSON type of its value and the value.
MEMBERS = {
    "qwen_xml": lambda n, t, v: f"<parameter={n}>{v}</parameter>",
    "minimax_xml": lambda n, t, v: f'<parameter name="{n}">{v}</parameter>',
    "minimax_m3_xml": lambda n, t, v: f"{M}<{n}>{v}{M}</{n}>",
    "deepseek_xml": lambda n, t, v: (
        f'<{D}parameter name="{n}" string="{"true" if t == "string" else "false"}">{v}</{D}parameter>'
    ),
    "deepseek_v4_1_xml": lambda n, t, v: (
        f'<{D} parameter name="{n}" string="{"true" if t == "string" else "false"}">{v}</{D} parameter>'
    ),
    "glm_xml": lambda n, t, v: f"<arg_key>{n}</arg_key>\n<arg_value>{v}</arg_value>",
    "cohere_xml": lambda n, t, v: (
        f'<cofl:value name="{n}" type="{"raw" if t == "string" else "json"}">{v}</cofl:value>'
    ),
    "kimi_k3_xml": lambda n, t, v: (
        f'<|open|>argument key="{n}" type="{t}"<|sep|>{v}<|close|>argument<|sep|>'
    ),
}
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def object_of(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


SCHEMAS = [
    object_of(["name"], name=TEXT, age=NUMBER),
    object_of([], a=NUMBER, b=TEXT, c={"type": "boolean"}),
    object_of(["e"], e={"enum": ["a", "b c"]}, n={"type": ["integer", "null"]}),
    object_of(["l"], l={"type": "array", "items": TEXT}, o=object_of(["x"], x=TEXT)),
    {"type": "object", "properties": {}},
]


@pytest.mark.skipif(not KNOWS_ALL, reason="these styles need xgrammar 0.2.9")
@pytest.mark.parametrize("number", range(len(SCHEMAS)))
@pytest.mark.parametrize("style", TAG_STYLES)
def test_a_text_is_allowed_by_both_or_by_neither(style: str, number: int) -> None:
    format = {"type": "json_schema", "json_schema": SCHEMAS[number], "style": style}
    ours = wb.compile(wb.structural_tag({"format": format}), byte_vocabulary())
    theirs = their_compiler().compile_structural_tag({"type": "structural_tag", "format": format})
    rng = Random(f"{style} {number}")
    texts = [walked(ours.matcher(), rng, "ab1,").decode() for _ in range(15)]
    texts += [mutant(rng.choice(texts), rng, "ab1<> \n") for _ in range(35)]
    for text in texts:
        mine, other = we_accept(ours, text), they_accept(theirs, text)
        spaces = re.search(r"\s{21}", text) is not None or not text.strip()
        assert mine == other or spaces or is_deliberate(text, mine, other), text


def accepts(schema: Any, style: str, text: str, **options: Any) -> bool:
    """What a parse says, which the engine says as well."""
    grammar = wb.json_schema(schema, style=style, **options)
    found = wb.match(grammar, text) is not None
    assert we_accept(wb.compile(grammar, byte_vocabulary()), text) is found
    return found


@pytest.mark.parametrize("style", MEMBERS)
def test_members_of_each_style(style: str) -> None:
    member = MEMBERS[style]
    schema = object_of(["name"], name=TEXT, age=NUMBER)
    name, age = member("name", "string", "Bob <b>"), member("age", "number", "3")
    assert accepts(schema, style, name)
    assert accepts(schema, style, f"{name}\n{age}")
    assert not accepts(schema, style, age)
    assert not accepts(schema, style, age + name)
    assert not accepts(schema, style, name + name)
    assert not accepts(schema, style, member("name", "string", "a") + member("age", "number", "x"))
    other = member("more", "string", "x")
    assert not accepts(schema, style, name + other, additional_properties=False)
    assert accepts(schema, style, name + other) is (style != "minimax_m3_xml")


@pytest.mark.parametrize("style", MEMBERS)
def test_members_in_any_order(style: str) -> None:
    member = MEMBERS[style]
    schema = object_of(["a", "b"], a=TEXT, b=NUMBER, c={"type": "boolean"})
    grammar = wb.json_schema(schema, style=style, property_order="any", additional_properties=False)
    compiled = wb.compile(grammar, byte_vocabulary())
    values = {"a": ("string", "x"), "b": ("number", "1"), "c": ("boolean", "true")}
    members = {name: member(name, *value) for name, value in values.items()}
    for length in range(5):
        for names in permutations([*members, "a", "b"], length):
            valid = len(set(names)) == len(names) and {"a", "b"} <= set(names)
            assert we_accept(compiled, "".join(members[name] for name in names)) is valid


def test_counts_and_other_names_in_any_order() -> None:
    schema = {
        "type": "object",
        "properties": {"a": NUMBER, "ab": NUMBER},
        "required": ["ab"],
        "additionalProperties": TEXT,
        "minProperties": 2,
        "maxProperties": 3,
    }
    for style, joint, around in (("qwen_xml", "", "{}"), ("gemma", ",", "{{{}}}")):
        quote = '<|"|>' if style == "gemma" else ""
        grammar = wb.json_schema(schema, style=style, property_order="any")
        compiled = wb.compile(grammar, byte_vocabulary())
        for length in range(5):
            for names in permutations(["a", "ab", "b", "abc", "a"], length):
                members = []
                for name in names:
                    value = "1" if name in ("a", "ab") else f"{quote}x{quote}"
                    bare = style == "gemma"
                    members.append(f"{name}:{value}" if bare else MEMBERS[style](name, "", value))
                valid = "ab" in names and names.count("a") < 2 and 2 <= length <= 3
                text = around.format(joint.join(members))
                assert we_accept(compiled, text) is valid, text


@pytest.mark.parametrize("style", MEMBERS)
def test_what_is_said_of_a_text_holds_for_it_as_it_is_written(style: str) -> None:
    member = MEMBERS[style]
    schema = object_of(
        [],
        p={"type": "string", "pattern": "^[a-z<]{2,9}$"},
        m={"type": "string", "maxLength": 3},
        e={"enum": ["x", '"y"', 7]},
    )
    for name, value, valid in [
        ("p", "ab", True),
        ("p", '"ab"', False),
        ("p", "a", False),
        ("m", 'a"<', True),
        ("m", "\\u0041", False),
        ("e", '"y"', True),
        ("e", "y", False),
    ]:
        assert accepts(schema, style, member(name, "string", value)) is valid, (name, value)
    assert accepts(schema, style, member("e", "number", "7"))


@pytest.mark.parametrize("style", TAG_STYLES)
def test_a_text_does_not_hold_what_ends_it(style: str) -> None:
    stop = TAG_STYLES[style].stop
    for kind in (TEXT, {"type": "string", "minLength": 1}, {"type": "string", "pattern": "a"}):
        compiled = wb.compile(
            wb.json_schema(object_of(["t"], t=kind), style=style), byte_vocabulary()
        )
        matcher = compiled.matcher()
        begin = MEMBERS[style]("t", "string", "a") if style in MEMBERS else '{t:<|"|>a<|"|>}'
        inside = begin[: begin.index(">a") + 2 if ">a" in begin else begin.index("a<")]
        assert matcher.accept_tokens(inside.encode()) == len(inside.encode())
        text = (stop + stop).encode()
        assert matcher.accept_tokens(text) < len(text)


def test_objects_whose_members_decide_together() -> None:
    schema = {
        "type": "object",
        "properties": {"a": NUMBER, "b": NUMBER},
        "minProperties": 1,
        "dependentRequired": {"a": ["b"]},
        "additionalProperties": False,
    }
    a, b = "<parameter=a>1</parameter>", "<parameter=b>2</parameter>"
    assert [accepts(schema, "qwen_xml", text) for text in ("", a, b, a + b, b + a)] == [
        False, False, True, True, False,
    ]  # fmt: skip


def test_references_and_constants_inside() -> None:
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "k": {"const": {"a": [1, "x"]}}},
        "additionalProperties": False,
    }
    assert accepts(schema, "qwen_xml", '<parameter=next>{"next": {}}</parameter>')
    assert accepts(schema, "qwen_xml", '<parameter=k>{"a":[1,"x"]}</parameter>')
    item = '<cofl:value type="json">1</cofl:value><cofl:value type="raw">x</cofl:value>'
    list_of = f'<cofl:value name="a" type="list">{item}</cofl:value>'
    assert accepts(schema, "cohere_xml", f'<cofl:value name="k" type="dict">{list_of}</cofl:value>')
    deeper = '<cofl:value name="next" type="dict"></cofl:value>'
    assert accepts(schema, "cohere_xml", deeper)
    assert accepts(schema, "gemma", '{next:{next:{}},k:{a:[1,<|"|>x<|"|>]}}')
    assert accepts(schema, "minimax_m3_xml", f"{M}<next>{M}<next>{M}</next>{M}</next>")


def test_tags_are_special_tokens_where_there_are_such() -> None:
    vocabulary = wb.Vocabulary.from_bytes(
        [*(bytes([byte]) for byte in range(256)), b"", b""], 256, special_names={257: '<|"|>'}
    )
    grammar = grammar_of(f.JSONSchema(object_of(["t"], t=TEXT), "gemma"))
    matcher = wb.compile(grammar, vocabulary).matcher()
    assert matcher.accept_tokens([*b"{t:", 257, *b"a", 257, *b"}"]) == 7
    assert matcher.is_accepting
    assert wb.compile(grammar, vocabulary).matcher().accept_tokens(b'{t:<|"|>') == 3


def test_what_a_style_does_not_say_is_refused_by_name() -> None:
    with pytest.raises(
        wb.UnsupportedConstraint, match="only objects can be written in the style 'qwen_xml'"
    ):
        wb.json_schema(TEXT, style="qwen_xml")
    with pytest.raises(wb.UnsupportedConstraint, match="the name 'a>b' cannot be written"):
        wb.json_schema(object_of([], **{"a>b": TEXT}), style="qwen_xml")
    distinct = {"type": "array", "items": TEXT, "uniqueItems": True}
    with pytest.raises(wb.UnsupportedConstraint, match="uniqueItems"):
        wb.json_schema(object_of([], l=distinct), style="cohere_xml")
    with pytest.raises(ValueError, match="style must be 'json'"):
        wb.json_schema({}, style="yaml")


def test_json_between_tags_does_not_hold_what_ends_them() -> None:
    listed = {"type": "array", "items": TEXT}
    assert accepts(object_of([], l=listed), "qwen_xml", '<parameter=l>["</param"]</parameter>')
    held = '<parameter=l>["</parameter>"]</parameter>'
    assert not accepts(object_of([], l=listed), "qwen_xml", held)
    assert not accepts(
        {"type": "object"}, "qwen_xml", '<parameter=a>{"</parameter>": 1}</parameter>'
    )
    long = {"type": "array", "items": {"type": "string", "maxLength": 200}}
    for n, fits in ((200, True), (201, False)):
        text = f'<parameter=l>["{"x" * n}"]</parameter>'
        assert accepts(object_of([], l=long), "qwen_xml", text) is fits


def test_texts_that_no_string_holds() -> None:
    """Not in values and names, whatever else is said of them; a text may stand there in another spelling."""
    schema = object_of(
        [], a=TEXT, e={"enum": ["x!", "y"]}, p={"type": "string", "pattern": "^[a!]*$"}
    )
    grammar = wb.json_schema(schema, excludes=["!"])
    compiled = wb.compile(grammar, byte_vocabulary())
    for text, valid in [
        ('{"a": "x"}', True),
        ('{"a": "x!"}', False),
        ('{"a": "x\\u0021"}', True),
        ('{"e": "y"}', True),
        ('{"e": "x!"}', False),
        ('{"p": "aa"}', True),
        ('{"p": "a!"}', False),
        ('{"a": "", "b": 1}', True),
        ('{"a": "", "b!": 1}', False),
    ]:
        assert we_accept(compiled, text) is valid, text
    nothing = wb.json_schema({"enum": ["!", "a!"]}, excludes=["!"])
    with pytest.raises(wb.UnsatisfiableGrammar):
        wb.compile(nothing, byte_vocabulary())
