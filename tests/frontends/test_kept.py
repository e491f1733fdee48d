"""Reading the same again: what is found, what is not, and that nobody can change what others get."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from importlib import import_module
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.frontends import kept
from workbench.frontends.kept import KEPT, content, copied
from workbench.grammar.fingerprint import fingerprint

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"enum": [1, 2.5, None, True]}},
    "required": ["a"],
}
BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b"<end>"], [256])


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache as users have it, empty."""
    for one in (KEPT, import_module("workbench.engine.compile")._compiled):
        monkeypatch.setattr(one, "max_entries", 128)
    wb.clear_cache()
    yield
    wb.clear_cache()


def counts() -> tuple[int, int, int]:
    info = wb.cache_info().grammars
    assert info is not None
    return info.hits, info.misses, info.entries


def accepts(grammar: wb.Grammar, text: str) -> bool:
    matcher = wb.compile(grammar, BYTES, cache=False).matcher()
    data = text.encode()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


@pytest.mark.parametrize(
    "read",
    [
        lambda: wb.json_schema(json.dumps(SCHEMA)),
        lambda: wb.json_schema(json.dumps(SCHEMA).encode()),
        lambda: wb.json_schema(copy.deepcopy(SCHEMA)),
        lambda: wb.json_schema(json.loads(json.dumps(SCHEMA))),
        lambda: wb.json_schema(True),
        lambda: wb.json_schema(SCHEMA, separators=(", ", ": "), budgets=wb.Budgets(values=999)),
        lambda: wb.json_schema({"$ref": "x:y"}, registry={"x:y": {"type": "null"}}),
        lambda: wb.gbnf('root ::= "a" b*\nb ::= [xyz]'),
        lambda: wb.gbnf("b ::= [xyz]", start="b"),
        lambda: wb.regex("a+(b|c)"),
        lambda: wb.regex(rb"\xff+", ignore_case=True),
    ],
)
def test_the_same_again_is_found(read: Callable[[], wb.Grammar]) -> None:
    first = read()
    assert counts() == (0, 1, 1)
    again = read()
    assert counts() == (1, 1, 1)
    assert again.source == first.source
    assert (again.start, again.kind, again.outcomes) == (first.start, first.kind, first.outcomes)
    wb.clear_cache()
    assert counts() == (0, 0, 0)
    afresh = read()
    assert fingerprint(again) == fingerprint(afresh)
    assert dict(again.rules) == dict(afresh.rules)
    assert list(again.rules) == list(afresh.rules)


ANY = {"enum": [1]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda: wb.json_schema({"enum": [1]}), lambda: wb.json_schema({"enum": [1.0]})),
        (lambda: wb.json_schema({"enum": [1]}), lambda: wb.json_schema({"enum": [True]})),
        (lambda: wb.json_schema({"enum": [1]}), lambda: wb.json_schema({"enum": ["1"]})),
        (
            lambda: wb.json_schema({"enum": [1.5]}),
            lambda: wb.json_schema({"enum": [Decimal("1.5")]}),
        ),
        (lambda: wb.json_schema({"enum": [None]}), lambda: wb.json_schema({"enum": ["None"]})),
        (
            lambda: wb.json_schema({"properties": {"a": {}, "b": {}}}),
            lambda: wb.json_schema({"properties": {"b": {}, "a": {}}}),
        ),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, max_digits=7)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, max_whitespace=7)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, whitespace="any")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, indent=1)),
        (lambda: wb.json_schema(ANY, indent=1), lambda: wb.json_schema(ANY, indent="\t")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, separators=(",", ":"))),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, property_order="any")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, on_unsupported="report")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, on_dangling="forbid")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, draft=7)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, formats="annotate")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, registry={})),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, additional_properties=False)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, strict=True)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, strict=0)),  # type: ignore[arg-type]
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, ascii_only=True)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, unicode_escapes=False)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, numbers="plain")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, unique_keys=False)),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, budgets=wb.Budgets(values=99))),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, whitespace_pattern=" ?")),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema(ANY, excludes=["<"])),
        (
            lambda: wb.json_schema({"type": "object"}),
            lambda: wb.json_schema({"type": "object"}, style="qwen_xml"),
        ),
        (lambda: wb.json_schema(ANY), lambda: wb.json_schema('{"enum": [1]}')),
        (lambda: wb.json_schema(True), lambda: wb.json_schema("true")),
        (lambda: wb.regex("ab"), lambda: wb.regex(b"ab")),
        (lambda: wb.regex("ab"), lambda: wb.regex("ab", ignore_case=True)),
        (lambda: wb.gbnf("a ::= b\nb ::= [x]", "a"), lambda: wb.gbnf("a ::= b\nb ::= [x]", "b")),
    ],
)
def test_others_are_told_apart(
    one: Callable[[], wb.Grammar], other: Callable[[], wb.Grammar]
) -> None:
    one()
    second = other()
    assert counts() == (0, 2, 2)
    wb.clear_cache()
    assert fingerprint(second) == fingerprint(other())


def test_every_option_is_part_of_the_key() -> None:
    """The options of the cases above are all that there are."""
    import inspect

    told_apart = {
        *("max_digits", "max_whitespace", "whitespace", "indent", "separators", "property_order"),
        *("on_unsupported", "on_dangling", "draft", "formats", "registry", "additional_properties"),
        *("style", "whitespace_pattern", "excludes"),
        *("strict", "ascii_only", "unicode_escapes", "numbers", "unique_keys", "budgets", "schema"),
    }
    assert set(inspect.signature(wb.json_schema).parameters) == told_apart
    assert set(inspect.signature(wb.regex).parameters) == {"pattern", "ignore_case", "budgets"}
    # with grammars for its rules a text is read each time
    assert set(inspect.signature(wb.gbnf).parameters) == {"text", "start", "rules", "budgets"}


def test_what_a_caller_changes_afterwards_changes_no_grammar() -> None:
    schema: Any = copy.deepcopy(SCHEMA)
    others: Any = {"x:y": {"enum": ["old"]}}
    grammar = wb.json_schema(schema)
    referring = wb.json_schema({"properties": {"a": {"$ref": "x:y"}}}, registry=others)
    schema["properties"]["a"]["type"] = "integer"  # before any rule is written
    others["x:y"]["enum"][0] = "new"
    assert grammar.source == SCHEMA
    assert accepts(grammar, '{"a": "x"}')
    assert not accepts(grammar, '{"a": 1}')
    assert accepts(referring, '{"a": "old"}')
    assert accepts(wb.json_schema(schema), '{"a": 1}')


@pytest.mark.parametrize("given", [SCHEMA, json.dumps(SCHEMA)])
def test_what_is_done_to_one_grammar_changes_no_other(given: Any) -> None:
    first = wb.json_schema(given)
    second = wb.json_schema(given)
    assert second.source == first.source
    first.source["properties"]["a"]["type"] = "integer"
    second.source.clear()
    third = wb.json_schema(given)
    assert third.source == (SCHEMA if given is SCHEMA else wb.json_schema(given).source)
    assert third.source["properties"]["a"] == {"type": "string"}
    for grammar in (first, second, third):
        assert accepts(grammar, '{"a": "x"}')
        assert not accepts(grammar, '{"a": 1}')
    rules = wb.gbnf('root ::= "a"').rules
    rules.clear()  # type: ignore[attr-defined]
    assert accepts(wb.gbnf('root ::= "a"'), "a")


def test_compiling_what_was_read_twice_finds_it() -> None:
    first = wb.compile(wb.json_schema(SCHEMA), BYTES)
    assert wb.compile(wb.json_schema(SCHEMA), BYTES) is first
    text = 'root ::= "a"'
    assert wb.compile(wb.gbnf(text), BYTES) is wb.compile(wb.gbnf(text), BYTES)


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda: wb.json_schema({"type": "nothing"}), wb.GrammarSyntaxError),
        (lambda: wb.json_schema({"pattern": r"(a)\1"}), wb.UnsupportedConstraint),
        (lambda: wb.json_schema(False), wb.UnsatisfiableGrammar),
        (lambda: wb.json_schema('{"a"'), wb.GrammarSyntaxError),
        (lambda: wb.json_schema(3), wb.WorkbenchError),  # type: ignore[arg-type]
        (lambda: wb.gbnf('root ::= "a'), wb.GrammarSyntaxError),
        (lambda: wb.regex("(a"), wb.GrammarSyntaxError),
    ],
)
def test_errors_are_raised_each_time(
    read: Callable[[], wb.Grammar], error: type[Exception]
) -> None:
    said = []
    for _ in range(2):
        with pytest.raises(error) as found:
            read()
        said.append(found.value)
    assert str(said[0]) == str(said[1])
    assert said[0] is not said[1]
    assert counts()[2] == 0


def test_warnings_are_there_each_time() -> None:
    schema = {"properties": {"a": {"type": "string", "maxLenght": 3}}}
    first, again = wb.json_schema(schema), wb.json_schema(schema)
    assert counts() == (1, 1, 1)
    warnings = [[o.warning for o in grammar.outcomes if o.warning] for grammar in (first, again)]
    assert warnings[0] == warnings[1] != []


def test_what_only_resembles_plain_values_is_read_by_its_content() -> None:
    first = wb.json_schema({"enum": np.array([1, 2])})
    assert first.source == {"enum": [1, 2]}
    assert wb.json_schema({"enum": (1, 2)}).source == {"enum": [1, 2]}
    assert wb.json_schema({"enum": [1, 2]}).source == {"enum": [1, 2]}
    assert counts() == (2, 1, 1)
    assert wb.json_schema({"enum": np.array([1.0, 2.0])}).source == {"enum": [1.0, 2.0]}


def test_many_threads_read_once() -> None:
    barrier = Barrier(8)

    def read(_: int) -> wb.Grammar:
        barrier.wait(20)
        return wb.json_schema(SCHEMA)

    with ThreadPoolExecutor(8) as pool:
        grammars = list(pool.map(read, range(8)))
    assert counts() == (7, 1, 1)
    assert len({id(grammar.source) for grammar in grammars}) == 8
    assert len({id(grammar) for grammar in grammars}) == 8


def test_it_is_bounded_in_number_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KEPT, "max_entries", 3)
    for i in range(5):
        wb.regex(f"a{i}")
    assert counts()[2] == 3
    monkeypatch.setattr(KEPT, "max_entries", 128)
    monkeypatch.setattr(KEPT, "max_bytes", 200_000)
    for i in range(20):
        wb.json_schema({"const": f"{i}"})
    info = wb.cache_info().grammars
    assert info is not None
    assert info.bytes <= 200_000
    assert 1 < info.entries < 6


def test_rules_that_are_written_later_count() -> None:
    grammar = wb.json_schema({"items": SCHEMA})
    info = wb.cache_info().grammars
    dict(grammar.rules)
    now = wb.cache_info().grammars
    assert info is not None
    assert now is not None
    assert now.bytes > info.bytes


def test_what_is_very_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_LONGEST", 300)
    wb.json_schema({"const": "a" * 400})
    wb.json_schema(json.dumps({"const": "a" * 400}))
    wb.regex("a" * 400)
    assert counts() == (0, 0, 0)


def test_a_schema_that_is_nested_deeply() -> None:
    schema: Any = {"type": "integer"}
    for _ in range(400):
        schema = {"properties": {"a": schema}}
    text = json.dumps(schema)
    first = wb.json_schema(text)
    again = wb.json_schema(text)
    assert counts() == (1, 1, 1)
    assert again.source is not first.source
    assert json.dumps(again.source) == text
    first.source["properties"].clear()
    assert json.dumps(wb.json_schema(text).source) == text
    assert json.dumps(wb.json_schema(schema).source) == text


def test_contents_of_values_that_share_or_never_end() -> None:
    """A few dictionaries of which each holds the one before twice stand for 2**40 values."""
    value: Any = {}
    for _ in range(40):
        value = {"a": value, "b": value}
    assert content(value) is None
    again = copied(value)
    assert again is not value
    assert again["a"] is again["b"]
    endless: list[Any] = []
    endless.append(endless)
    assert content(endless) is None
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    assert content(deep) is None
    assert content({1: 2}) is None
    assert content({"a": object()}) is None
    assert content([10**5000]) is None
