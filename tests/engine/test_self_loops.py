"""Self-loops under counts and invariant classes: masks by slices, against reading every token by its bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
                for text in (
                    "\u2028",
                    "a\u2028",
                    "\u2029b",
                    "\u2027x",
                    "\u2030",
                    "€€",
                    "a€z",
                    "😀a",
                )
            ),
            *(bytes([byte]) for byte in range(256)),
            b"a\xe2",
            b"\xe2\x80",
            b"\x80\xa8",
            b"\x80\xa7a",
            b"ab\xf0\x9f",
            b"\x9f\x98\x80x",
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
QUOTED = 'root ::= "\\"" [^"\\\\(]COUNT "\\"" [9]?'
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


def _bytes(byte: int) -> Any:
    return np.array([byte], dtype=np.uint8)


def check(matcher: wb.Matcher) -> None:
    """The mask against reading every token by its bytes."""
    expected = [i for i, token in enumerate(TOKENS[:-1]) if token and read(matcher, token)]
    if matcher.is_accepting:
        expected.append(len(TOKENS) - 1)
    assert ids_of(mask_of(matcher)) == expected


@pytest.mark.parametrize("grammar", [BELOW, QUOTED, TWICE], ids=["below", "quoted", "twice"])
@pytest.mark.parametrize(
    "count",
    ["{2,}", "{5,}", "{9,}", "{40,}", "{2,4}", "{3,9}", "{8,30}", "{7}", "{20}", "{6,5000}"],
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
        check(matcher)
        if not matcher.accept(letter):
            break


PATTERNS = {
    "has": "ab",
    "has one of": "(abc|cde|xyz|zab){2}",
    "dots": "^(.+)x(.+)$",
    "no line": "^.*$",
    "but one": "^[^c]+c[^c]+$",
    "chain": "^[a-e]{1,60}$",
    "chain of two": "^[a-z]{0,9}x[a-z]{2,70}$",
    "even": "^(..)*$",
    "ends": "[ab]$",
    "words": "^([a-e]+ )*[x-z]+$",
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS.keys())
@pytest.mark.parametrize("text", ["abcdexyzab", "ccxyabxxa€z", "xaxaéaabc"])
def test_masks_where_all_characters_live(pattern: str, text: str) -> None:
    """Patterns that tell characters apart, none of which must come."""
    grammar = wb.json_schema({"type": "string", "pattern": pattern})
    matcher = wb.compile(grammar, VOCABULARY, cache=False).matcher()
    for byte in b'"' + text.encode():
        check(matcher)
        if not matcher.accept(TOKENS.index(bytes([byte]))):
            break
    check(matcher)


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^[a-z]+$": {"type": "integer"}}},
        {
            "patternProperties": {"^[a-e]{1,50}$": {"type": "integer"}},
            "additionalProperties": False,
        },
        {"properties": {"abc": {"const": 9}, "abcd": {"const": 9}}},
        {
            "patternProperties": {"b": {"const": 9}, "^c": {"const": 99}},
            "properties": {"abc": True},
        },
    ],
)
def test_masks_in_names(schema: dict[str, Any]) -> None:
    """Names of two kinds, none of which may come twice."""
    grammar = wb.json_schema({"type": "object", **schema}, whitespace="compact")
    matcher = wb.compile(grammar, VOCABULARY, cache=False).matcher()
    for byte in b'{"ab":9,"abcde":9,"b':
        check(matcher)
        if not matcher.accept(TOKENS.index(bytes([byte]))):
            break
    check(matcher)


def test_runs_that_begin_beyond_ascii_alone() -> None:
    """With the grammar's own slice, in the last round of a count that began anew."""
    tokens = sorted({bytes([byte]) for byte in range(256)} | {"é!".encode(), "éé!".encode(), b"e!"})
    vocabulary = wb.Vocabulary.from_bytes([*tokens, b""], len(tokens))
    text = 'root ::= ("x" [e\x80-\U0010ffff]? | [a-d0-9A-Z\x80-\U0010ffff]){2,6} "!"'
    compiled = wb.compile(wb.gbnf(text), vocabulary, cache=False)

    def after(characters: bytes) -> wb.Matcher:
        matcher = compiled.matcher()
        for byte in characters:
            matcher.allowed_ids()
            assert matcher.accept(tokens.index(bytes([byte])))
        return matcher

    for i in range(40):  # walks, until the slice is made
        after(b"a" * (i % 6)).allowed_ids()
        compiled.engine.compact()
    for characters in (b"xexexexexe", b"xeaxaxex", b"abcdax"):
        matcher = after(characters)
        expected = [i for i, token in enumerate(tokens) if read(matcher, token)]
        assert tokens.index("é!".encode()) in expected
        assert ids_of(mask_of(matcher)) == expected


@pytest.mark.parametrize(
    "keywords",
    [
        {"minLength": 9},
        {"maxLength": 9},
        {"pattern": PATTERNS["has"]},
        {"pattern": PATTERNS["has one of"]},
        {"pattern": PATTERNS["dots"]},
    ],
    ids=["least", "most", "has", "has one of", "dots"],
)
def test_little_is_walked(keywords: dict[str, Any]) -> None:
    """In no mask more than what leaves the characters of the string, which is a small part of the tokens."""
    grammar = wb.json_schema({"type": "string", **keywords})
    matcher = wb.compile(grammar, VOCABULARY, cache=False).matcher()
    assert matcher.accept(TOKENS.index(b'"'))
    for byte in b"xyabc":
        before = matcher.stats()["trie_nodes"]
        matcher.allowed_ids()
        assert matcher.stats()["trie_nodes"] - before < len(VOCABULARY.trie) / 10
        assert matcher.accept(TOKENS.index(bytes([byte])))
