"""Structural tags are read field by field; what is wrong is named with its place. What was read is written again."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import workbench as wb
from tests.frontends.tags.language import random_format
from tests.frontends.tags.structural_tags import CALLS, CITY, KINDS, TOKENS, schema, tag, triggered
from workbench import formats as f
from workbench.frontends.tags.build import grammar_of
from workbench.frontends.tags.structural_tag import format_of
from workbench.vocabulary import byte_vocabulary

FORMATS = [format for formats in KINDS.values() for format, _ in formats]
FORMATS += [format for formats in TOKENS.values() for format in formats]


def whole(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


@pytest.mark.parametrize("format", FORMATS, ids=range(len(FORMATS)))
def test_what_was_read_is_written_again(format: Any) -> None:
    read = format_of(whole(format))
    written = wb.to_structural_tag(read)
    assert format_of(written) == read
    assert wb.to_structural_tag(wb.structural_tag(json.dumps(whole(format)))) == written


def test_random_formats_keep_their_texts_when_written() -> None:
    texts = [bytes(text) for n in range(4) for text in product(b"ab<", repeat=n)]
    for seed in range(60):
        format = random_format(Random(seed), 3)
        try:
            first = wb.compile(grammar_of(format), byte_vocabulary())
        except (wb.GrammarSyntaxError, wb.UnsatisfiableGrammar):
            continue
        again = wb.compile(wb.structural_tag(wb.to_structural_tag(format)), byte_vocabulary())
        for text in texts:
            accepted = []
            for compiled in (first, again):
                matcher = compiled.matcher(max_rollback=0)
                accepted.append(matcher.accept_tokens(text) == len(text) and matcher.is_accepting)
            assert accepted[0] == accepted[1], (format, text)


def test_the_older_form() -> None:
    older = {
        "type": "structural_tag",
        "structures": [
            {"begin": "<function=a>", "schema": CITY, "end": "</function>"},
            {"begin": "<function=b>", "schema": json.dumps({"type": "integer"}), "end": "</function>"},
        ],
        "triggers": ["<function="],
    }  # fmt: skip
    newer = whole(triggered(["<function="], CALLS))
    assert format_of(older) == format_of(newer)
    del older["type"]
    assert format_of(older) == format_of(newer)


def test_a_format_alone_and_tags_without_a_type() -> None:
    alone = triggered(["<function="], CALLS)
    assert format_of(alone) == format_of(whole(alone))
    bare = [{name: value for name, value in call.items() if name != "type"} for call in CALLS]
    assert format_of(triggered(["<function="], bare)) == format_of(alone)


def test_texts_are_markers() -> None:
    """A special token of that name is the only way to write it."""
    vocabulary = wb.Vocabulary.from_bytes(
        [*(bytes([byte]) for byte in range(256)), b"", b""], 256, special_names={257: "<|call|>"}
    )
    call = tag("<|call|>", "<|end|>")
    for format in (triggered(["<|call|>"], [call]), call):
        matcher = wb.compile(wb.structural_tag(whole(format)), vocabulary).matcher()
        assert matcher.accept_tokens([257, *b"x<|end|>"]) == 9
        assert matcher.is_accepting
        matcher = wb.compile(wb.structural_tag(whole(format)), vocabulary).matcher()
        assert matcher.accept_tokens(b"<|call|>") < 8


def test_places_have_the_begin_of_their_tag() -> None:
    matcher = wb.compile(
        wb.structural_tag(triggered(["<function="], CALLS)), byte_vocabulary()
    ).matcher()
    matcher.accept_tokens(b'<function=a>{"city": ')
    pointers = [frame.pointer for frame in wb.explain(matcher, ord("3")).stack]
    assert "<function=a> › #/properties/city" in pointers


WRONG: list[tuple[Any, str, str]] = [
    (whole({"type": "anytext"}), "no format 'anytext'", "#/format/type"),
    (whole({"value": "a"}), "a format needs a type", "#/format"),
    (whole([]), "a format must be an object, not a list", "#/format"),
    (whole({"type": "tag", "begin": "", "contents": 1, "end": ""}), "no field 'contents'", "#/format/contents"),
    (whole({"type": "tag", "begin": "", "end": ""}), "needs the field 'content'", "#/format"),
    (whole(tag("a", [])), "end must not be empty", "#/format/end"),
    (whole(tag("a", 3)), "end must be a text, not 3", "#/format/end"),
    (whole(tag({"type": "const_string", "value": "a"}, "b")), "a text or a token", "#/format/begin/type"),
    (whole(triggered(["<"], [{"type": "any_text"}])), "a tag is wanted here", "#/format/tags/0/type"),
    (whole(triggered([], CALLS)), "triggers must not be empty", "#/format/triggers"),
    (whole(triggered(["x"], CALLS)), "no trigger begins the tag '<function=a>'", "#/format"),
    (whole(triggered(["<"], CALLS, excludes=["<"])), "can never come", "#/format"),
    (whole(triggered(["<"], CALLS, at_least_one=1)), "true or false, not 1", "#/format/at_least_one"),
    (whole({"type": "or", "elements": []}), "elements must not be empty", "#/format/elements"),
    (whole({"type": "or", "elements": [schema(3)]}), "must be a schema", "#/format/elements/0/json_schema"),
    (whole(schema({"type": "objekt"})), "'objekt' is not a type", "#/format/json_schema/type"),
    (whole(schema({}, style="yaml")), "style has no value 'yaml'", "#/format/style"),
    (whole(schema({}, excludes=[""])), "excludes must not be empty", "#/format/excludes/0"),
    (whole({"type": "any_text", "max_tokens": 3}), "max_tokens of a text", "#/format/max_tokens"),
    (whole({"type": "any_text", "excludes": [""]}), "excludes must not be empty", "#/format/excludes/0"),
    (whole({"type": "grammar", "grammar": "x", "syntax": "lark"}), "Lark", "#/format/syntax"),
    (whole({"type": "repeat", "min": 3, "max": 2, "content": schema(True)}), "less than min", "#/format"),
    (whole({"type": "repeat", "min": 1, "max": -2, "content": schema(True)}), "at least -1", "#/format/max"),
    (whole({"type": "dispatch", "rules": [["a"]]}), "a rule is a pair", "#/format/rules/0"),
    (whole({"type": "token", "token": -1}), "-1 is not the id", "#/format/token"),
    (whole({"type": "any_tokens", "exclude_tokens": [True]}), "by its id or its name", "#/format/exclude_tokens/0"),
    ({"format": schema(True), "formats": 1}, "no field 'formats'", "#/formats"),
    ({"type": "structural_tag"}, "needs the field 'format'", "#"),
    ({"structures": [{"begin": "<", "end": ">"}], "triggers": ["<"]}, "the field 'schema'", "#/structures/0"),
    ({"structures": [{"begin": "<", "schema": "{", "end": ">"}], "triggers": ["<"]}, "not JSON", ""),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text", "pointer"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named_with_its_place(value: Any, text: str, pointer: str) -> None:
    with pytest.raises(wb.GrammarSyntaxError, match=text) as caught:
        wb.structural_tag(value)
    if pointer:
        assert caught.value.pointer == pointer


def test_parts_in_their_own_notation_tell_where_they_stand() -> None:
    for kind, field, text in (("regex", "pattern", "(a"), ("grammar", "grammar", "root ::= x")):
        with pytest.raises(wb.GrammarSyntaxError, match=f"#/format/content/{field}: line 1"):
            wb.structural_tag(whole(tag("a", "b", {"type": kind, field: text})))


def test_what_is_no_tag_at_all() -> None:
    with pytest.raises(wb.WrongType, match="an object of a request"):
        wb.structural_tag(3)  # type: ignore[arg-type]
    with pytest.raises(wb.GrammarSyntaxError, match="the request is not JSON"):
        wb.structural_tag("{")
    with pytest.raises(wb.GrammarSyntaxError, match="must be an object, not a list"):
        wb.structural_tag("[1]")
    deep: Any = {"type": "any_text"}
    for _ in range(150):
        deep = {"type": "optional", "content": deep}
    with pytest.raises(wb.GrammarTooComplex, match="formats inside each other"):
        wb.structural_tag(whole(deep))
    with pytest.raises(wb.GrammarTooComplex):
        wb.structural_tag('{"format":' * 100_000)


def test_the_examples_of_the_page_work() -> None:
    text = (Path(__file__).parents[3] / "docs" / "structural_tags.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 6
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert wb.match(names["lazy"], "<call>1</call>")


A = f.ConstString("a")
UNSAID: list[tuple[f.Format, str]] = [
    (f.JSONSchema({}, options={"ascii_only": True}), "the option ascii_only=True of a schema"),
    (f.JSONSchema({}, options={"additional_properties": True}), "additional_properties=True"),
    (f.Tag("<", A, (">", f.TokenOf(3))), "a token among several ends"),
    (f.RegexPattern("a", ["b"]), "a pattern without some texts"),
    (f.Part(wb.regex(rb"\xff")), "the part 'regex': GBNF does not say all of it"),
]


@pytest.mark.parametrize(("format", "text"), UNSAID)
def test_what_cannot_be_said_is_named(format: f.Format, text: str) -> None:
    with pytest.raises(wb.ExportRefused, match=text):
        wb.to_structural_tag(f.Sequence([A, format]))


def test_what_can_be_said_in_another_way() -> None:
    written = wb.to_structural_tag(
        f.Sequence([f.Part(wb.regex("a|b"), "letter"), f.Capture("c", f.Marker("<x>"))])
    )
    assert written["format"]["elements"] == [
        {"type": "grammar", "grammar": 'root ::= "a" | "b"\n'},
        {"type": "const_string", "value": "<x>"},
    ]  # fmt: skip
    with pytest.raises(wb.WrongType, match="wrap it in a format"):
        wb.to_structural_tag(wb.regex("a"))
