"""Languages of bytes that are no UTF-8, through to masks: every step of random walks, by the slow matcher."""

from __future__ import annotations

import random

import pytest

import workbench as wb
from tests.oracle import Oracle
from workbench.grammar.ir import Grammar

#: All single bytes, and longer ones that begin, cross and break characters.
TOKENS = [
    *(bytes([b]) for b in range(256)),
    *(
        b"\xff\xfe",
        b"\xc3\xa9",
        b"\xa9\xc3",
        b"a\xc3",
        b"\x80" * 3,
        "é😀".encode(),
        b"PNG",
        b"\x00\x00",
    ),
    *(b"\x89P", b"ab\xff", b"\n\x00", b"\x9f\x98", b"\xff" * 9),
    b"",
]
EOS = len(TOKENS) - 1
VOCABULARY = wb.Vocabulary.from_bytes(TOKENS, eos_ids=(EOS,))

GRAMMARS = {
    "png": wb.regex(rb"\x89PNG\r\n\x1a\n(?:[^\x00]{2}\x00|.{4})"),
    "any": wb.regex(rb".{0,6}"),
    "broken": wb.regex(rb"(?:\xc3[^\xa9]|[\x80-\xff]\x00)+"),
    "case": wb.regex(rb"(?i)[a-c]\xff+"),
    "gbnf": wb.gbnf(r'root ::= b"\xff\xfe" (b[\x80-\xbf] | "é" | b[^\x80-\xff] .)* b"\x00\x00"'),
    "not": wb.gbnf(r'root ::= ~b"\xff" & b[\x80-\xff]{1,3}'),
    "until": wb.until(b"\xff\xff\x00"),
    "nested": wb.gbnf(r'root ::= b"\xc3" root b"\xa9" | "a" until(b"\x80") | ""'),
    "complement": wb.complement(wb.regex(rb"[a\xff]*")),
    "intersection": wb.intersection(wb.regex(rb"[^\x00]*\xff."), wb.until(b"\xfe", "PNG")),
}


def walk(grammar: Grammar, seed: int, steps: int) -> int:
    """Compare masks along a random path; returns how many were compared."""
    chance = random.Random(seed)
    oracle = Oracle(grammar, TOKENS, eos_ids=(EOS,))
    matcher = wb.compile(grammar, VOCABULARY).matcher()
    text = b""
    for step in range(steps):
        allowed = sorted(oracle.allowed(text))
        assert matcher.allowed_ids().tolist() == allowed, text
        going_on = [i for i in allowed if i != EOS]
        if not going_on:
            return step + 1
        longer = [i for i in going_on if len(TOKENS[i]) > 1]
        token = chance.choice(longer if longer and chance.random() < 0.5 else going_on)
        assert matcher.accept(token)
        text += TOKENS[token]
    return steps


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_of_bytes(name: str) -> None:
    assert sum(walk(GRAMMARS[name], seed, steps=8) for seed in range(6)) >= 12
