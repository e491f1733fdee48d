"""Compiling the same grammar again: what is found, what is not, and that nothing changes by it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import workbench as wb
from tests.engine.walks import mask_of
from workbench.content_cache import CacheInfo
from workbench.grammar.ir import Alt, Expr, Grammar, Literal, Ref, Seq
from workbench.grammar.lazy import LazyRules

TOKENS = [bytes([b]) for b in range(128)] + [b"aa", b"ab", b"</s>"]


def vocabulary(*more: bytes) -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes([*TOKENS, *more], [130])


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache as users have it."""
    monkeypatch.setattr(compiling()._compiled, "max_entries", 128)
    wb.clear_cache()


def compiling():  # type: ignore[no-untyped-def]
    import importlib

    # by its full name: the package has a function of the same name
    return importlib.import_module("workbench.engine.compile")


def counts() -> tuple[int, int, int]:
    info = wb.cache_info()
    return info.hits, info.misses, info.entries


def test_equal_grammars_give_the_same_object() -> None:
    first = wb.compile(wb.regex("a+b"), vocabulary())
    again = wb.compile(wb.regex("a+b"), vocabulary(), wb.Budgets())
    assert again is first
    info = wb.cache_info()
    assert info == CacheInfo(1, 1, 1, first.engine.nbytes, 0)


def test_what_a_first_matcher_did_leaves_the_masks_of_a_second_as_they_are() -> None:
    grammar = wb.gbnf('root ::= "a" root "b" | "ab"')
    first = wb.compile(grammar, vocabulary()).matcher()
    afresh = wb.compile(grammar, vocabulary(), cache=False).matcher()
    masks = [mask_of(afresh)]
    for token in b"aaab":
        assert afresh.accept(token)
        masks.append(mask_of(afresh))
    assert first.accept_tokens(b"aaabb") == 5
    second = wb.compile(grammar, vocabulary()).matcher()
    assert second.compiled is first.compiled and second.num_accepted == 0
    for token, mask in zip(b"aaab", masks, strict=False):
        assert (mask_of(second) == mask).all()
        assert second.accept(token)
    assert (mask_of(second) == masks[-1]).all()


def test_other_grammars_vocabularies_and_budgets_are_others() -> None:
    base = wb.regex("(a|b)+")
    made = [
        wb.compile(grammar, v, budgets)
        for grammar, v, budgets in (
            (base, vocabulary(), None),
            (wb.regex("(b|a)+"), vocabulary(), None),  # the same language from another source
            (replace(base, source=None), vocabulary(), None),
            (base, vocabulary(b"ba"), None),
            (base, vocabulary(), wb.Budgets(step_work=1000)),
        )
    ]
    assert len({id(compiled) for compiled in made}) == len(made)
    assert counts() == (0, 5, 5)
    assert made[1].grammar.source == "(b|a)+"


def test_without_the_cache_each_is_compiled_afresh() -> None:
    grammar = wb.regex("a")
    kept = wb.compile(grammar, vocabulary())
    fresh = wb.compile(grammar, vocabulary(), cache=False)
    assert fresh is not kept and fresh.engine is not kept.engine
    assert counts() == (0, 1, 1)
    assert wb.compile(grammar, vocabulary()) is kept


def test_lazy_grammars_are_the_same_by_their_key_or_by_identity() -> None:
    def lazy(key: str | None) -> Grammar:
        rules: dict[str, Expr] = {"root": Seq((Literal(b"a"), Ref("b"))), "b": Literal(b"b")}
        return Grammar(LazyRules(rules.__getitem__, "root", key), "root", "lazy")

    assert wb.compile(lazy("k"), vocabulary()) is wb.compile(lazy("k"), vocabulary())
    assert wb.compile(lazy("k"), vocabulary()) is not wb.compile(lazy("l"), vocabulary())
    one, other = lazy(None), lazy(None)
    assert wb.compile(one, vocabulary()) is wb.compile(one, vocabulary())
    assert wb.compile(one, vocabulary()) is not wb.compile(other, vocabulary())


def test_a_grammar_that_cannot_be_compiled_fails_each_time() -> None:
    never = Grammar({"root": Alt(())}, "root")
    for _ in range(2):
        with pytest.raises(wb.UnsatisfiableGrammar):
            wb.compile(never, vocabulary())
    with pytest.raises(wb.GrammarTooComplex):
        wb.compile(wb.regex("[a-z]{9}"), vocabulary(), wb.Budgets(positions=3))
    assert counts() == (0, 3, 0)


def test_threads_compile_a_grammar_once(monkeypatch: pytest.MonkeyPatch) -> None:
    original = compiling().build_automaton
    calls: list[int] = []
    together = threading.Barrier(4)

    def counted(*args):  # type: ignore[no-untyped-def]
        calls.append(1)
        return original(*args)

    def one() -> wb.CompiledGrammar:
        together.wait(10)
        return wb.compile(wb.regex("(a|b|c)+d"), v)

    monkeypatch.setattr(compiling(), "build_automaton", counted)
    v = vocabulary()
    with ThreadPoolExecutor(4) as pool:
        made = [job.result() for job in [pool.submit(one) for _ in range(4)]]
    assert len({id(compiled) for compiled in made}) == 1
    assert len(calls) == 1
    assert counts() == (3, 1, 1)


def test_the_bytes_of_engines_bound_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first = wb.compile(wb.regex("a"), vocabulary())
    size = first.engine.nbytes
    assert size > 10_000
    mask_of(first.matcher())
    assert wb.cache_info().bytes == first.engine.nbytes > size
    size = first.engine.nbytes
    monkeypatch.setattr(compiling()._compiled, "max_bytes", 2 * size + size // 2)
    others = [wb.compile(wb.regex(pattern), vocabulary()) for pattern in "bc"]
    info = wb.cache_info()
    assert (info.entries, info.evictions) == (2, 1)
    assert info.bytes == sum(one.engine.nbytes for one in others)
    # dropped from the cache, not from those that hold it
    assert first.matcher().accept(ord("a"))
    assert wb.compile(wb.regex("a"), vocabulary()) is not first


def test_a_cleared_cache_is_empty() -> None:
    kept = wb.compile(wb.regex("a"), vocabulary())
    wb.clear_cache()
    assert wb.cache_info() == CacheInfo(0, 0, 0, 0, 0)
    assert wb.compile(wb.regex("a"), vocabulary()) is not kept


def late(monkeypatch: pytest.MonkeyPatch) -> wb.Grammar:
    """A schema that names a pattern which is past the budgets where nothing is built ahead."""
    from workbench.automaton import builder

    monkeypatch.setattr(builder, "_AHEAD", 1)
    inner = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(30)}}
    inner["properties"]["last"] = {"type": "string", "pattern": "^x(?=.*[a-c]{9})(x|y[a-z]{3})+$"}
    schema = {
        "properties": {"a": {"properties": {"b": {"properties": {"c": inner}}}}},
        "$defs": {},
    }
    return wb.json_schema(schema, budgets=wb.Budgets(pattern_states=20))


def test_all_is_built_when_all_is_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = late(monkeypatch)
    compiled = wb.compile(grammar, vocabulary(), cache=False)
    assert compiled.waiting > 0
    with pytest.raises(wb.GrammarTooComplex) as caught:
        wb.compile(grammar, vocabulary(), cache=False, check="all")
    assert caught.value.field == "pattern_states"
    assert caught.value.rule == "#/properties/a/properties/b/properties/c/properties/last"


def test_checking_ends_in_time_and_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.automaton import builder

    monkeypatch.setattr(builder, "_AHEAD", 1)
    schema = {
        "properties": {f"p{i}": {"properties": {f"q{i}": {"maxLength": i}}} for i in range(99)}
    }
    grammar = wb.json_schema(schema)
    compiled = wb.compile(grammar, vocabulary(), check="all", within=0)
    assert compiled.waiting
    matcher = compiled.matcher()
    expected = matcher.allowed_ids().tolist()
    assert wb.compile(grammar, vocabulary(), check="all") is compiled
    assert compiled.waiting == 0
    assert matcher.allowed_ids().tolist() == expected


@pytest.mark.parametrize("within", [-1, float("nan"), "1", None, True])
def test_a_time_that_is_none(within: object) -> None:
    with pytest.raises((wb.WrongType, ValueError), match="number of seconds"):
        wb.compile(wb.regex("a"), vocabulary(), check="all", within=within)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="check must be"):
        wb.compile(wb.regex("a"), vocabulary(), check="some")  # type: ignore[arg-type]
