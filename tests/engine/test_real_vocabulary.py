"""A real vocabulary of 128,256 tokens: every token tried one by one, and samples by the oracle."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.engine import samples
from tests.engine.walks import ids_of, mask_of
from tests.oracle import Oracle
from workbench.grammar.ir import Grammar

PATH = Path(__file__).parents[2].parent / "shared/data/llama-3.1-tokenizer.json.xz"

TEXTS = {
    "json": (
        samples.generic_json,
        '{"name": "Zoë \\u00e9", "list": [1, 2.5e-3, {"deep": [[], [true, null]]}], "ok": false}',
    ),
    "schema": (
        samples.person_schema,
        '{"name": "Ada Lovelace", "age": 36, "tags": ["maths", "größe"], "role": "author", '
        '"friend": {"name": "B", "age": 7}}',
    ),
    "arithmetic": (samples.arithmetic, "-(alpha + 3.25)*max(x1, (y - 2)**2, 10) - beta_2/7"),
    "sql": (
        samples.sql,
        "SELECT DISTINCT u.name AS who, count(*) FROM users JOIN (SELECT id FROM t) ON u.id = id "
        "WHERE age <= 30 AND name LIKE 'O%' ORDER BY who DESC LIMIT 10;",
    ),
}


@pytest.fixture(scope="module")
def vocabulary() -> wb.Vocabulary:
    if not PATH.exists():
        pytest.skip(f"no tokenizer at {PATH}")
    return wb.Vocabulary.load(PATH)


def greedy(vocabulary: wb.Vocabulary, text: bytes) -> list[int]:
    """Tokens of a text, the longest first: any spelling will do here."""
    ids = {vocabulary.token_bytes(i): i for i in reversed(range(vocabulary.size))}
    found = []
    while text:
        length = next(n for n in range(min(len(text), 24), 0, -1) if text[:n] in ids)
        found.append(ids[text[:length]])
        text = text[length:]
    return found


def naive_ids(matcher: wb.Matcher) -> list[int]:
    """The ids that a fork accepts, tried one by one."""
    fork = matcher.fork()
    found = []
    for token_id in range(matcher.vocabulary.width):
        if fork.accept(token_id):
            found.append(token_id)
            fork.rollback(1)
    return found


def judged_wrong(
    oracle: Oracle, prefix: bytes, allowed: set[int], tried: list[int], most: int
) -> list[int]:
    """The ids out of ``tried`` whose bit differs from the oracle's answer."""
    wrong = []
    for token_id in set(tried[:most]) - set(oracle.eos_ids):
        token = oracle.tokens[token_id]
        right = bool(token) and oracle.alive(prefix + token)
        if (token_id in allowed) != right:
            wrong.append(token_id)
    return wrong


@pytest.mark.parametrize("name", TEXTS)
def test_sampled_positions(vocabulary: wb.Vocabulary, name: str) -> None:
    make, text = TEXTS[name]
    grammar: Grammar = make()
    tokens = [vocabulary.token_bytes(i) for i in range(vocabulary.size)]
    oracle = Oracle(grammar, tokens, vocabulary.eos_ids)
    matcher = wb.compile(grammar, vocabulary).matcher()
    rng = Random(1)
    path = greedy(vocabulary, text.encode())
    sampled = {0, len(path), *rng.sample(range(len(path)), 5)}
    prefix = b""
    for step in range(len(path) + 1):
        allowed = ids_of(mask_of(matcher))
        if step in sampled:
            assert allowed == naive_ids(matcher), prefix
        members = set(allowed)
        assert (vocabulary.eos_ids[0] in members) == oracle.complete(prefix)
        assert members >= {*vocabulary.eos_ids} or members.isdisjoint(vocabulary.eos_ids)
        spelled = [i for i in allowed if i not in vocabulary.eos_ids]
        # half of the sample allowed, some random, some that begin alike and then differ
        near = [
            i
            for i in rng.sample(range(vocabulary.size), 3000)
            if oracle.alive(prefix + tokens[i][:1])
        ]
        tried = rng.sample(spelled, min(30, len(spelled))) + near[:30]
        tried += rng.sample(range(vocabulary.size), 20)
        assert not judged_wrong(oracle, prefix, members, tried, 80), prefix
        oracle.columns = {prefix[:n]: oracle.columns[prefix[:n]] for n in range(len(prefix) + 1)}
        if step < len(path):
            assert matcher.accept(path[step])
            prefix += tokens[path[step]]
    assert matcher.is_accepting
    assert matcher.accept(vocabulary.eos_ids[0])
    assert not np.any(mask_of(matcher))
