"""Runs of characters under counts: masks by slices, against reading every token by its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import workbench as wb
from tests.engine.test_slices import tokens_of
from tests.engine.walks import ids_of, mask_of

TOKENS = [
    *sorted(
        {
            *tokens_of(3, 1500, 'abcdexyz"),(9é')[:-1],
            *tokens_of(4, 800, "abcdexyz")[:-1],
            *(
                text.encode()
                for n in range(1, 12)
                for text in ("a" * n, "b" * n + '"', "xy" * n + ")", '"' + "z" * n + '"', "é" * n)
            ),
        }
    ),
    b"",
]
VOCABULARY = wb.Vocabulary.from_bytes(TOKENS, len(TOKENS) - 1)

#: the count stands in a rule of its own below calls, so that what follows it has to be asked for
BELOW = """
root ::= "(" root ")" | "(" root "," root ")" | word
word ::= [a-z]COUNT
"""
QUOTED = "root ::= \"\\\"\" [^\"\\\\(]COUNT \"\\\"\" [9]?"
TWICE = 'root ::= ([a-z]COUNT "\\"")*'


def read(matcher: wb.Matcher, token: bytes) -> bool:
    """Whether a token may come next, by its bytes and no mask."""
    engine = matcher.compiled.engine
    position = matcher.position
    for byte in token:
        position = engine.advance_bytes(position, _bytes(byte), 0, 1)
        if position < 0:
            return False
    return True


def _bytes(byte: int):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.array([byte], dtype=np.uint8)


@pytest.mark.parametrize("grammar", [BELOW, QUOTED, TWICE], ids=["below", "quoted", "twice"])
@pytest.mark.parametrize(
    "count", ["{2,}", "{5,}", "{9,}", "{40,}", "{2,4}", "{3,9}", "{8,30}", "{7}", "{20}", "{6,5000}"]
)
@pytest.mark.parametrize("starts", ["", '"', "((", "(a,"])
def test_masks_under_counts(grammar: str, count: str, starts: str) -> None:
    """From the start on, token by token, until the count is behind its bounds."""
    compiled = wb.compile(wb.gbnf(grammar.replace("COUNT", count)), VOCABULARY, cache=False)
    matcher = compiled.matcher()
    for character in starts:
        if not matcher.accept(TOKENS.index(character.encode())):
            return
    letter = TOKENS.index(b"b")
    for _ in range(45):
        expected = [i for i, token in enumerate(TOKENS[:-1]) if token and read(matcher, token)]
        if matcher.is_accepting:
            expected.append(len(TOKENS) - 1)
        assert ids_of(mask_of(matcher)) == expected
        if not matcher.accept(letter):
            break
