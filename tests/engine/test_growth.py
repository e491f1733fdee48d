"""Long texts: what grows with them and what must not. Figures are printed (``pytest -s``), not judged."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import cycle, islice

import pytest

import workbench as wb
from tests.engine import samples
from tests.engine.walks import ids_of, mask_of
from workbench.grammar.ir import Grammar

POINTS = (100, 1_000, 10_000)


def bytes_vocabulary(*longer: bytes) -> wb.Vocabulary:
    tokens = [bytes([b]) for b in range(128)] + list(longer)
    return wb.Vocabulary.from_bytes([*tokens, b"</s>"], eos_ids=[len(tokens)])


def operator_text() -> Iterator[int]:
    """n+((n+n)+n)+n+..., an endless text of the first grammar."""
    return cycle(b"n+((n+n)+n)+")


def measured(grammar: Grammar, text: Iterator[int]) -> list[dict[str, float]]:
    """Statistics and µs a token (mask and accept) at each of the points."""
    matcher = wb.compile(grammar, bytes_vocabulary(b"n+", b"aa", b"((")).matcher()
    found = []
    done = 0
    for point in POINTS:
        tokens = list(islice(text, point - done))
        began = time.perf_counter()
        for token in tokens:
            mask_of(matcher)
            assert matcher.accept(token)
        spent = time.perf_counter() - began
        done = point
        found.append({"tokens": point, "us": 1e6 * spent / len(tokens), **matcher.stats()})
    return found


def table(rows: list[dict[str, float]]) -> str:
    names = list(rows[0])
    lines = ["  ".join(f"{name:>12}" for name in names)]
    lines += ["  ".join(f"{row[name]:>12,.0f}" for name in names) for row in rows]
    return "\n".join(lines)


def test_operators_are_flat(capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(samples.operators(), operator_text())
    with capsys.disabled():
        print("\nE -> E + E | ( E ) | n\n" + table(rows))
    for name in ("shapes", "stack_nodes", "stack_sets", "masks"):
        assert rows[0][name] == rows[1][name] == rows[2][name], name


def test_doubling_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(samples.doubling(), cycle(b"a"))
    with capsys.disabled():
        print("\nS -> S S | a\n" + table(rows))
    assert rows[2]["masks"] <= 4


def json_masks(depth: int) -> tuple[int, list[list[int]]]:
    """Masks computed while opening and closing ``depth`` nested objects and arrays."""
    matcher = wb.compile(
        samples.generic_json(), bytes_vocabulary(b'{"', b'": ', b"}]", b"]}")
    ).matcher()
    before = matcher.stats()["masks"]
    opening, inside, closing = '{"k": [', "1", "]}"
    found = []
    for part in (opening * depth, inside, closing * depth):
        for byte in part.encode():
            found.append(ids_of(mask_of(matcher)))
            assert matcher.accept(byte)
    found.append(ids_of(mask_of(matcher)))
    assert matcher.is_accepting
    return matcher.stats()["masks"] - before, found


def test_masks_of_nested_json_do_not_depend_on_depth(capsys: pytest.CaptureFixture[str]) -> None:
    shallow, few = json_masks(3)
    deep, many = json_masks(300)
    with capsys.disabled():
        print(f"\nmasks computed for nested JSON: {shallow} at depth 3, {deep} at depth 300")
    assert shallow == deep
    assert {tuple(mask) for mask in few} == {tuple(mask) for mask in many}


def test_a_hundred_thousand_brackets() -> None:
    grammar = samples.brackets()
    matcher = wb.compile(grammar, bytes_vocabulary(b"((", b"))", b"(" * 10, b")" * 10)).matcher()
    opening, closing, x, ten, ten_back = ord("("), ord(")"), ord("x"), 130, 131
    for _ in range(10_000):
        assert matcher.accept(ten)
    open_mask = ids_of(mask_of(matcher))
    assert open_mask == sorted({opening, x, 128, ten})
    assert matcher.finish_distance() == 100_001
    assert matcher.accept(x)
    for _ in range(9_999):
        assert matcher.accept(ten_back)
    assert ids_of(mask_of(matcher)) == sorted({closing, 129, ten_back})
    for left in range(10, 0, -1):
        expected = (
            {closing} | ({129} if left >= 2 else set()) | ({ten_back} if left >= 10 else set())
        )
        assert ids_of(mask_of(matcher)) == sorted(expected)
        assert matcher.accept(closing)
    assert matcher.is_accepting
    assert ids_of(mask_of(matcher)) == [132]
    matcher.rollback(10 + 9_999 + 1)
    assert ids_of(mask_of(matcher)) == open_mask
    matcher.rollback(10_000)
    assert matcher.num_accepted == 0
    assert ids_of(mask_of(matcher)) == open_mask


def test_one_bracket_a_token_a_hundred_thousand_times() -> None:
    matcher = wb.compile(samples.brackets(), bytes_vocabulary()).matcher()
    assert matcher.accept_tokens([ord("(")] * 100_000) == 100_000
    assert matcher.accept(ord("x"))
    assert matcher.accept_tokens([ord(")")] * 100_001) == 100_000
    assert matcher.is_accepting
    matcher.rollback(150_000)
    assert matcher.num_accepted == 50_001
    assert not matcher.is_accepting


def test_long_lists_are_flat() -> None:
    matcher = wb.compile(samples.generic_json(), bytes_vocabulary()).matcher()
    assert matcher.accept_tokens(b'[{"a": 1},') == 10
    item = b' {"a": [1, 2]},'
    counts = []
    for _ in range(300):
        for byte in item:
            mask_of(matcher)
            assert matcher.accept(byte)
        counts.append(
            {k: matcher.stats()[k] for k in ("shapes", "stack_nodes", "stack_sets", "masks")}
        )
    assert counts[2] == counts[-1]
