"""Compiled grammars that were saved and loaded: the same masks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.engine.grammars import seeded_case
from tests.engine.walks import ids_of, mask_of
from workbench.grammar.ir import Alt, Grammar, Literal, Ref, Seq, Token

BYTES = [bytes([b]) for b in range(256)]
MORE = [b'"a', b'":', b", ", b'{"', b'"}', b"12", b"true", b'": "', b"]}"]
VOCABULARY = wb.Vocabulary.from_bytes([*BYTES, *MORE, b"</s>"], [265])

SCHEMAS: tuple[Any, ...] = (
    {"type": "array", "items": {"$ref": "#"}, "maxItems": 300},
    {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "^[a-f]{2,40}$"},
            "b": {"type": "array", "items": {"type": "integer", "minimum": -3, "maximum": 120}},
            "c": {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
        },
        "required": ["a"],
    },
    {"type": "object", "properties": {"aa": {"type": "number"}}, "additionalProperties": True},
    True,
)


def unnumbered(matcher: wb.Matcher) -> list[str]:
    """The stacks of a matcher but for the numbers of states."""
    return sorted(repr([replace(frame, state=0) for frame in stack]) for stack in matcher.stacks())


def assert_same_walks(
    one: wb.CompiledGrammar, other: wb.CompiledGrammar, seed: int, numbered: bool = True
) -> None:
    """``numbered``: their states have the same numbers (what schemas share comes first where it is shared)."""
    rng = Random(seed)
    for _ in range(3):
        first, second = one.matcher(), other.matcher()
        for _ in range(25):
            mask = mask_of(first)
            assert np.array_equal(mask, mask_of(second))
            assert first.is_accepting == second.is_accepting
            assert first.finish_distance() == second.finish_distance()
            allowed = ids_of(mask)
            refused = rng.randrange(one.vocabulary.width)
            assert first.explain(refused) == second.explain(refused)
            if not allowed:
                break
            token = rng.choice(allowed)
            assert first.accept(token) and second.accept(token)
            if numbered:
                assert first.stacks() == second.stacks()
            assert unnumbered(first) == unnumbered(second)


def around(compiled: wb.CompiledGrammar, path: Path) -> wb.CompiledGrammar:
    compiled.save(path)
    return wb.load_compiled(path, compiled.vocabulary)


def test_random_grammars(tmp_path: Path) -> None:
    seen = 0
    for seed in range(25):
        case = seeded_case(seed)
        try:
            compiled = wb.compile(case.grammar, case.vocabulary(), case.limits())
            loaded = around(compiled, tmp_path / "a")
            assert loaded.engine.budgets == case.limits()
            assert_same_walks(compiled, loaded, seed)
        except (wb.UnsatisfiableGrammar, wb.GrammarTooComplex):
            continue
        seen += 1
    assert seen > 12


@pytest.mark.parametrize("schema", SCHEMAS, ids=repr)
def test_schemas(schema: Any, tmp_path: Path) -> None:
    compiled = wb.compile(wb.json_schema(schema), VOCABULARY)
    before = compiled.automaton.n_states
    loaded = around(compiled, tmp_path / "a")
    # the engine that is in use does not notice
    assert compiled.automaton.n_states == before
    assert loaded.grammar.source == schema
    assert loaded.grammar.outcomes == compiled.grammar.outcomes

    rng = Random(3)
    for _ in range(4):
        first, second = compiled.matcher(), loaded.matcher()
        for _ in range(60):
            mask = mask_of(first)
            assert np.array_equal(mask, mask_of(second))
            # characters and structure, few letters
            allowed = ids_of(mask)
            short = [token for token in allowed if token >= 256 or chr(token) in '{}[],:"a0']
            token = rng.choice(short or allowed)
            assert first.accept(token) and second.accept(token)
            assert first.finish_distance() == second.finish_distance()
            if first.is_terminated:
                break
    again = around(loaded, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()
    assert dict(again.grammar.rules) == dict(loaded.grammar.rules)


def test_another_vocabulary_with_the_same_bytes_uses_the_automaton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = wb.compile(wb.gbnf('root ::= "(" root ")" | "ab"'), VOCABULARY)
    compiled.save(tmp_path / "a")
    other = wb.Vocabulary.from_bytes([*BYTES, b"((", b"ab", b"</s>"], [258])
    expected = wb.compile(compiled.grammar, other, cache=False)
    monkeypatch.setitem(wb.compile.__globals__, "build_automaton", None)
    loaded = wb.load_compiled(tmp_path / "a", other)
    assert loaded.vocabulary is other
    assert_same_walks(expected, loaded, 1)


def test_names_that_come_once_need_printable_ascii() -> None:
    short = wb.Vocabulary.from_bytes([b for b in BYTES if b != b"A"], [])
    with pytest.raises(wb.VocabularyError, match=r"no token contains 'A'.*unique_keys=False"):
        wb.compile(wb.json_schema({"type": "object"}), short)


@pytest.mark.parametrize(
    "make",
    [lambda: wb.regex("a*(b|é)c"), lambda: wb.json_schema(SCHEMAS[1], unique_keys=False)],
)
def test_a_vocabulary_that_lacks_other_bytes_gets_an_automaton_of_its_own(
    make: Any, tmp_path: Path
) -> None:
    wb.compile(make(), VOCABULARY).save(tmp_path / "a")
    ascii_only = wb.Vocabulary.from_bytes([*BYTES[:128], b"aa", b"</s>"], [129])
    loaded = wb.load_compiled(tmp_path / "a", ascii_only)
    assert_same_walks(wb.compile(make(), ascii_only), loaded, 2, numbered=False)
    for byte in (0x41, ord("c")):
        short = wb.Vocabulary.from_bytes([b for b in BYTES if b != bytes([byte])], [])
        try:
            expected = wb.compile(make(), short)
        except wb.UnsatisfiableGrammar as error:
            with pytest.raises(wb.UnsatisfiableGrammar, match=str(error)[:20]):
                wb.load_compiled(tmp_path / "a", short)
        else:
            assert_same_walks(expected, wb.load_compiled(tmp_path / "a", short), 3, numbered=False)


def test_tokens_that_a_grammar_names_are_looked_up_in_the_vocabulary(tmp_path: Path) -> None:
    def vocabulary(at: int) -> wb.Vocabulary:
        tokens = [*BYTES, b"x", b"y", b"z", b"</s>"]
        return wb.Vocabulary.from_bytes(tokens, [259], special_names={at: "<tool>"})

    grammar = Grammar(
        {
            "root": Seq((Alt((Literal(b"a"), Ref("tool"))), Ref("tool"))),
            "tool": Token(None, ("<tool>",)),
        },
        "root",
    )
    compiled = wb.compile(grammar, vocabulary(256))
    compiled.save(tmp_path / "a")
    for at in (256, 258):
        loaded = wb.load_compiled(tmp_path / "a", vocabulary(at))
        assert loaded.matcher().allowed_ids().tolist() == [ord("a"), at]
        assert_same_walks(wb.compile(grammar, vocabulary(at)), loaded, at)


def test_budgets_can_be_others(tmp_path: Path) -> None:
    wb.compile(wb.regex("a"), VOCABULARY, wb.Budgets(step_work=123)).save(tmp_path / "a")
    assert wb.load_compiled(tmp_path / "a", VOCABULARY).engine.budgets.step_work == 123
    chosen = wb.Budgets(step_work=99)
    assert wb.load_compiled(tmp_path / "a", VOCABULARY, chosen).engine.budgets is chosen


def test_a_loaded_grammar_can_be_compiled_again(tmp_path: Path) -> None:
    compiled = wb.compile(wb.json_schema(SCHEMAS[1]), VOCABULARY)
    loaded = around(compiled, tmp_path / "a")
    assert_same_walks(compiled, wb.compile(loaded.grammar, VOCABULARY), 4, numbered=False)


def test_a_schema_too_large_to_build_in_full_is_refused_when_it_is_saved(tmp_path: Path) -> None:
    parts: dict[str, Any] = {}
    for i in range(99):  # each leads to the next
        texts = {"enum": [f"{i}x{j}" for j in range(30)]}
        parts[f"p{i}"] = {
            "anyOf": [texts, {"type": "array", "items": {"$ref": f"#/$defs/p{i + 1}"}}]
        }
    schema = {"$defs": {**parts, "p99": {"type": "null"}}, "$ref": "#/$defs/p0"}
    compiled = wb.compile(wb.json_schema(schema), VOCABULARY, wb.Budgets(positions=5000))
    with pytest.raises(wb.GrammarTooComplex):
        compiled.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())
