"""Constraints of requests, as engines send them: what they mean, and what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb
from tests.frontends.tags.verdicts import we_accept
from workbench.vocabulary import byte_vocabulary

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GBNF = 'root ::= "a" | "b"'


def accepts(request: Any, text: str) -> bool:
    found = wb.match(wb.response_format(request), text) is not None
    again = wb.compile(wb.response_format(json.dumps(request)), byte_vocabulary())
    assert we_accept(again, text) is found
    return found


#: Requests, texts that they allow, texts that they do not.
REQUESTS: dict[str, tuple[Any, list[str], list[str]]] = {
    "text": ({"type": "text"}, ["", "any\n{"], []),
    "an object": ({"type": "json_object"}, ["{}", '{"a": [1]}'], ["[]", "1", ""]),
    "an object with a schema": ({"type": "json_object", "schema": CITY}, ['{"city": "x"}'], ["{}"]),
    "a schema": (
        {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}},
        ['{"city": "x"}', '{"city": "x", "more": 1}'],
        ["{}"],
    ),
    "a strict schema": (
        {
            "type": "json_schema",
            "json_schema": {"name": "c", "description": "d", "schema": CITY, "strict": True},
        },
        ['{"city": "x"}'],
        ['{"city": "x", "more": 1}'],
    ),
    "a schema that is not strict": (
        {"type": "json_schema", "json_schema": {"name": "c", "schema": CITY, "strict": False}},
        ['{"city": "x", "more": 1}'],
        ["{}"],
    ),
    "a schema in one object": (
        {"type": "json_schema", "name": "c", "schema": CITY, "strict": True},
        ['{"city": ""}'],
        ["{}"],
    ),
    "a pattern": ({"type": "regex", "pattern": "[ab]+"}, ["ab"], ["abc", ""]),
    "a grammar": ({"type": "grammar", "grammar": GBNF}, ["a", "b"], ["ab"]),
    "a tag": (
        {"type": "structural_tag", "format": {"type": "const_string", "value": "x"}},
        ["x"],
        ["y"],
    ),
    "tags of the older form": (
        {
            "type": "structural_tag",
            "structures": [{"begin": "<f>", "schema": CITY, "end": "</f>"}],
            "triggers": ["<f>"],
        },
        ["so", 'so <f>{"city": "x"}</f> then'],
        ["<f>", "<f>{}</f>"],
    ),
    "a request body": ({"response_format": {"type": "json_object"}}, ["{}"], ["1"]),
    "vLLM: json": ({"structured_outputs": {"json": CITY}}, ['{"city":  "x"}'], ["{}"]),
    "vLLM: json as text": (
        {"structured_outputs": {"json": json.dumps(CITY)}},
        ['{"city": "x"}'],
        ["{}"],
    ),
    "vLLM: no whitespace": (
        {"structured_outputs": {"json": CITY, "disable_any_whitespace": True}},
        ['{"city":"x"}'],
        ['{"city": "x"}'],
    ),
    "vLLM: closed": (
        {
            "structured_outputs": {
                "json": CITY,
                "disable_additional_properties": True,
                "disable_fallback": True,
            }
        },
        ['{"city": "x"}'],
        ['{"city": "x", "more": 1}'],
    ),
    "vLLM: whitespace": (
        {"structured_outputs": {"json": CITY, "whitespace_pattern": "[ ]{0,2}"}},
        ['{"city":"x"}', '{ "city" :  "x"}'],
        ['{"city":   "x"}', '{"city":\n"x"}'],
    ),
    "vLLM: regex": ({"structured_outputs": {"regex": "a{2}"}}, ["aa"], ["a"]),
    "vLLM: choice": (
        {"structured_outputs": {"choice": ["yes", "no"], "json": None}},
        ["yes", "no"],
        ["y", ""],
    ),
    "vLLM: grammar": ({"structured_outputs": {"grammar": GBNF}}, ["a"], ["c"]),
    "vLLM: any object": ({"structured_outputs": {"json_object": True}}, ["{}"], ["[]"]),
    "vLLM: a tag": (
        {
            "structured_outputs": {
                "structural_tag": json.dumps({"format": {"type": "regex", "pattern": "a"}})
            }
        },
        ["a"],
        ["b"],
    ),
    "vLLM: its fields alone": ({"regex": "a", "json_object": False}, ["a"], ["b"]),
    "vLLM, older: json": (
        {"guided_json": CITY, "guided_decoding_backend": "xgrammar"},
        ['{"city": "x"}'],
        ["{}"],
    ),
    "vLLM, older: whitespace": (
        {"guided_json": CITY, "guided_whitespace_pattern": ""},
        ['{"city":"x"}'],
        ['{"city": "x"}'],
    ),
    "vLLM, older: regex": ({"guided_regex": "a"}, ["a"], ["b"]),
    "vLLM, older: choice": ({"guided_choice": ["a"]}, ["a"], ["b"]),
    "vLLM, older: grammar": ({"guided_grammar": GBNF}, ["a"], ["c"]),
    "SGLang: json_schema": ({"json_schema": json.dumps(CITY)}, ['{"city": "x"}'], ["{}"]),
    "SGLang: any JSON": ({"json_schema": "$$ANY$$"}, ["1", "[]"], ["x"]),
    "SGLang: ebnf": ({"ebnf": GBNF}, ["a"], ["c"]),
    "llama.cpp: grammar": (
        {"grammar": GBNF, "grammar_lazy": False, "grammar_triggers": []},
        ["a"],
        ["c"],
    ),
    "llama.cpp: json_schema": ({"json_schema": CITY}, ['{"city": "x"}'], ["{}"]),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_what_requests_mean(name: str) -> None:
    request, allowed, refused = REQUESTS[name]
    assert all(accepts(request, text) for text in allowed)
    assert not any(accepts(request, text) for text in refused)


CALL = 'root ::= "<call>" [0-9] "</call>"'


def lazy(*triggers: Any, grammar: str = CALL, **more: Any) -> dict[str, Any]:
    return {"grammar": grammar, "grammar_lazy": True, "grammar_triggers": list(triggers), **more}


def test_a_lazy_grammar_begins_with_its_trigger() -> None:
    """Text is free until the trigger, which is part of the grammar; nothing follows it."""
    for trigger in (
        {"type": "word", "value": "<call>"},
        {"type": 1, "value": "<call>"},
        {"type": "token", "value": "<call>", "token": 7},
        {"type": "pattern", "value": "<(call)>"},
        {"type": "pattern_full", "value": r"[\s\S]*?(<call>)[\s\S]*"},
        {"type": 3, "value": r"^[\s\S]*?(<call>|<call>1)[\s\S]*$"},
    ):
        request = lazy(trigger)
        for text in ("", "any text < ca", "so <call>1</call>", "<call>1</call>", "<<call>1</call>"):
            assert accepts(request, text), (trigger, text)
        for text in ("<call>", "so <call>x</call>", "<call>1</call> more", "<call>1</call><call>2"):
            assert not accepts(request, text), (trigger, text)


def test_triggers_that_are_special_tokens() -> None:
    vocabulary = wb.Vocabulary.from_bytes(
        [*(bytes([byte]) for byte in range(256)), b"", b""], 256, special_names={257: "<call>"}
    )
    for request in (
        lazy({"type": "word", "value": "<call>"}),
        lazy({"type": "token", "token": 257}, preserved_tokens=["<call>"]),
        lazy({"type": 0, "value": "<call>", "token": 257}),
    ):
        compiled = wb.compile(wb.response_format(request), vocabulary)
        for ids, allowed in [
            ([*b"so", 257, *b"1</call>"], True),
            (list(b"so"), True),
            ([257, *b"x"], False),
            ([257], False),
        ]:
            matcher = compiled.matcher()
            read = matcher.accept_tokens(ids)
            assert (read == len(ids) and matcher.is_accepting) is allowed
    spelled = wb.compile(wb.response_format(lazy({"type": "word", "value": "<call>"})), vocabulary)
    assert spelled.matcher().accept_tokens(b"<call>") < 6


def test_several_triggers() -> None:
    both = 'root ::= "<a>" [0-9] | "<b>" [0-9]'
    request = lazy({"type": "word", "value": "<a>"}, {"type": "word", "value": "<b>"}, grammar=both)
    assert accepts(request, "so <b>1")
    assert not accepts(request, "so <b>1<a>1")


WRONG: list[tuple[Any, str, str]] = [
    (
        {"type": "jsonschema"},
        "no response format 'jsonschema'.*\n.*did you mean 'json_schema'",
        "#/type",
    ),
    ({"type": "json_schema"}, "needs the field 'schema'", "#"),
    (
        {"type": "json_schema", "json_schema": {"name": "n"}},
        "needs the field 'schema'",
        "#/json_schema",
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": {"type": "objekt"}}},
        "'objekt'",
        "#/json_schema/schema/type",
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": {}, "strict": 1}},
        "true or false, not 1",
        "#/json_schema/strict",
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": {}, "stric": True}},
        "'stric'.*\n.*'strict'",
        "#/json_schema/stric",
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": 3}},
        "must be a schema",
        "#/json_schema/schema",
    ),
    ({"type": "text", "schema": {}}, "has no field 'schema'", "#/schema"),
    ({"type": "structural_tag", "format": {"type": "x"}}, "no format 'x'", "#/format/type"),
    ({"type": "regex", "pattern": "(a"}, "#/pattern: line 1", ""),
    ({"structured_outputs": {}}, "one constraint of its output, not none", "#/structured_outputs"),
    (
        {"structured_outputs": {"json": {}, "regex": "a"}},
        "not several: json, regex",
        "#/structured_outputs",
    ),
    (
        {"structured_outputs": {"jason": {}}},
        "no field 'jason'.*\n.*'json'",
        "#/structured_outputs/jason",
    ),
    (
        {"structured_outputs": {"json": "{"}},
        "#/structured_outputs/json: line 1, column 2: the schema is not JSON",
        "",
    ),
    (
        {"structured_outputs": {"choice": []}},
        "choice must not be empty",
        "#/structured_outputs/choice",
    ),
    (
        {"structured_outputs": {"choice": [1]}},
        "choice must be a text, not 1",
        "#/structured_outputs/choice/0",
    ),
    (
        {"structured_outputs": {"regex": "a", "whitespace_pattern": " "}},
        "an option of schemas, not of regex",
        "#/structured_outputs/whitespace_pattern",
    ),
    (
        {"structured_outputs": {"json": {}, "whitespace_pattern": "a"}},
        "more than the whitespace",
        "#/structured_outputs",
    ),
    ({"structured_outputs": {"structural_tag": "x"}}, "the structural tag is not JSON", ""),
    ({"guided_json": {"type": 1}}, "", "#/guided_json/type"),
    ({"messages": []}, "no field 'messages'", "#/messages"),
    (lazy(), "needs a trigger", "#/grammar_triggers"),
    (
        lazy({"type": "words", "value": "a"}),
        "no trigger of type 'words'",
        "#/grammar_triggers/0/type",
    ),
    (lazy({"type": 4, "value": "a"}), "no trigger of type 4", "#/grammar_triggers/0/type"),
    (
        lazy({"type": "word", "value": "<ring>"}),
        "no text of the grammar begins with the trigger '<ring>'",
        "#/grammar_triggers",
    ),
    (lazy({"type": "word"}), "needs the field 'value'", "#/grammar_triggers/0"),
    (lazy({"type": "pattern", "value": "a+"}), "not a list of texts", "#/grammar_triggers/0/value"),
    (lazy({"type": "pattern", "value": "(a"}), "#/grammar_triggers/0/value: line 1", ""),
    (lazy({"type": "token"}), "its id or its text", "#/grammar_triggers/0"),
    (
        lazy({"type": "token", "token": 1}, {"type": "word", "value": "a"}),
        "do not go with others",
        "#/grammar_triggers",
    ),
]


@pytest.mark.parametrize(("request_", "text", "pointer"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named_with_its_place(request_: Any, text: str, pointer: str) -> None:
    with pytest.raises(wb.GrammarSyntaxError, match=text or None) as caught:
        wb.response_format(request_)
    if pointer:
        assert caught.value.pointer == pointer


def test_no_request_at_all() -> None:
    with pytest.raises(wb.WrongType, match="response_format takes an object of a request"):
        wb.response_format(["a"])  # type: ignore[arg-type]


def test_a_schema_without_values_is_told() -> None:
    nothing = {"type": "json_schema", "json_schema": {"schema": {"enum": []}}}
    with pytest.raises(wb.WorkbenchError, match="#/json_schema/schema"):
        wb.response_format(nothing)
