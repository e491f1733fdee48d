"""The benchmark of growth: its texts and schemas are what they say, and its report is complete."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from tests.benchmarks.planted import planted
from workbench.benchmarks.cases import Case
from workbench.benchmarks.engines import (
    Engine,
    Mask,
    Session,
    Setup,
    read_tokenizer,
    uncached,
)
from workbench.benchmarks.growth import bench_growth
from workbench.benchmarks.growth_cases import GROWING, by_count, by_size
from workbench.benchmarks.growth_families import FAMILIES
from workbench.benchmarks.growth_schemas import SchemaRow, Sizes, family_table, schema_table
from workbench.frontends.regex import regex
from workbench.vocabulary import Vocabulary

SIZES = Sizes((10, 40), (1_000,), (10,), (3,))


def counting(setup: Setup) -> Callable[[Case], Callable[[Mask], Session]]:
    """Allows everything for 25 tokens; says that it takes three bytes a token."""

    def compiler(case: Case) -> Callable[[Mask], Session]:
        def start(mask: Mask) -> Session:
            taken = 0

            def accept(token: int) -> bool:
                nonlocal taken
                taken += 1
                return taken <= 25

            return Session(lambda: mask.fill(-1), accept, None, lambda: 3 * taken)

        return start

    return compiler


def test_a_text_is_the_start_of_a_longer_one() -> None:
    for one in GROWING:
        assert one.text(2_000).startswith(one.text(500))
        assert len(one.text(2_000)) >= 2_000


@pytest.mark.parametrize("family", FAMILIES)
def test_families_accept_one_value_and_not_the_other(family: str) -> None:
    for count in (4, 12, 27):
        schema, value, wrong = FAMILIES[family](count)
        judge = jsonschema.Draft202012Validator(schema)
        assert judge.is_valid(value) and not judge.is_valid(wrong)


@pytest.mark.parametrize("size", [1_000, 20_000])
@pytest.mark.parametrize("shape", ["wide", "definitions", "enum"])
def test_schemas_have_their_size_and_accept_their_value(shape: str, size: int) -> None:
    schema, value = by_size(shape, size)
    assert size / 2 <= len(json.dumps(schema)) <= size * 1.2
    jsonschema.Draft202012Validator(schema).validate(value)


@pytest.mark.parametrize("count", [1, 10, 1_000])
@pytest.mark.parametrize("shape", ["maxLength", "maxItems", "minItems"])
def test_schemas_with_a_count_accept_their_value(shape: str, count: int) -> None:
    schema, value = by_count(shape, count)
    jsonschema.Draft202012Validator(schema).validate(value)


def test_lengths_that_are_not_reached_say_why(tokenizer: Path) -> None:
    report = bench_growth(
        tokenizer,
        engines=("counting", "missing", "accepts_all"),
        sizes=SIZES,
        progress=False,
        text_engines=[
            Engine("counting", "none", "workbench", counting),
            Engine("missing", "none", "no_such_module", counting),
            Engine("accepts_all", "none", "workbench", counting),
        ],
        all_schema_engines=[planted("accepts_all")],
    )
    rows = [row for row in report.lengths if row.engine == "counting"]
    assert [row.tokens for row in rows] == [10, 40] * len(GROWING)
    short, long = rows[:2]
    assert short.problem is None and short.bytes_a_token == 3
    assert "refuses token" in (long.problem or "") and long.mask_us is None
    assert report.not_installed == ["missing"]
    assert {(row.engine, row.outcome) for row in report.schemas} == {("accepts_all", "ran")}
    assert [row.shape for row in report.schemas] == [
        *("wide", "definitions", "enum"),
        *("maxLength", "maxItems", "minItems"),
    ]
    assert [row.shape for row in report.families] == list(FAMILIES)
    assert {row.outcome for row in report.families} == {"wrong"}  # it accepts the invalid value
    text = report.text()
    for line in ("JSON: counting", "refuses token", "schemas: maxItems", "missing: not installed"):
        assert line in text
    assert "| JSON: counting | 10 |" in report.markdown()
    assert json.loads(json.dumps(report.to_json()))["lengths"][0]["tokens"] == 10


def test_our_engine_takes_the_texts_and_the_schemas(tokenizer: Path) -> None:
    report = bench_growth(tokenizer, sizes=SIZES, progress=False)
    assert [row.problem for row in report.lengths] == [None] * 2 * len(GROWING)
    assert [(row.shape, row.outcome) for row in report.schemas if row.outcome != "ran"] == []
    assert all(row.first_mask_ms and "front end" in row.stages_ms for row in report.schemas)
    assert {row.engine for row in report.families} == {"workbench", "workbench, any order"}
    assert [(row.shape, row.outcome) for row in report.families if row.outcome != "ran"] == []


def test_texts_stop_at_their_limit(tokenizer: Path) -> None:
    report = bench_growth(
        tokenizer,
        sizes=SIZES,
        limit_s=0,
        progress=False,
        growing=GROWING[:1],
        all_schema_engines=[],
    )
    assert [row.problem for row in report.lengths] == ["over 0 s after 1 token"] * 2


def test_special_names_in_a_text_are_spelled_out(tokenizer: Path) -> None:
    setup, encode = read_tokenizer(tokenizer)
    ids = encode("a<|endoftext|>")
    assert len(ids) > 2 and setup.vocabulary.decode(ids) == b"a<|endoftext|>"


def test_our_compilations_do_not_come_out_of_a_store() -> None:
    from workbench.engine import compile as compile_grammar

    def stores(grammar: object, *, cache: bool = True) -> None:
        """A compiler that keeps what it has compiled."""

    def fresh(grammar: object) -> None:
        """One that does not."""

    assert uncached(stores) == {"cache": False} and uncached(fresh) == {}
    grammar = regex("ab*")
    vocabulary = Vocabulary.from_bytes([b"a", b"b", b""], eos_ids=(2,))
    first, second = (
        compile_grammar(grammar, vocabulary, **uncached(compile_grammar)) for _ in range(2)
    )
    assert first.engine is not second.engine


def test_the_power_of_growth_is_that_of_the_times() -> None:
    def row(size: int, ms: float | None) -> SchemaRow:
        return SchemaRow("required", size, "one", 1, "ran" if ms else "refused", None, ms)

    table = schema_table([row(10, 2.0), row(20, 8.0), row(40, 64.0), row(80, None)])
    place = table.header.index("grows with the power")
    assert [line[place] for line in table.rows] == ["–", "2.0", "3.0", "–"]


def test_families_tell_their_growth_and_where_they_are_refused() -> None:
    def row(size: int, ms: float | None, worst: float | None, after: float | None) -> SchemaRow:
        outcome, reason = ("refused", "too many parts") if ms is None else ("ran", None)
        return SchemaRow(
            *("chain", size, "one", 1, outcome, reason, ms),
            mask_max_us=worst,
            refused_ms=after,
        )

    table = family_table(
        [
            row(8, 1.0, 9.0, None),
            row(16, 30.0, 2_000.0, None),
            row(32, 120.0, 2_000.0, None),
            row(64, 480.0, 8_000.0, None),
            row(128, None, None, 1_500.0),
            row(256, None, None, 9_000.0),
        ]
    )
    assert table.rows == [["chain: one", "64", "480", "2.0", "8.00", "1.0", "128", "1.50"]]
    assert table.notes == ["chain: one, 128: refused too many parts"]
