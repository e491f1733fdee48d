"""Names and items that may not come twice, of which some characters have no spelling in use."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb

VOCABULARY = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)], [])
#: a text "a", and texts with a control character that has no short escape
PATTERNS = ["^[\x01a]$", "^\x01*a$", "^a[\x02\x7f]?$", "^[a\x1f]{1,2}$"]


def texts_of(schema: Any, alphabet: bytes, longest: int, **options: Any) -> list[bytes]:
    """Every text of some bytes, up to a length; fails where a text has no way on and no end."""
    matcher = wb.compile(
        wb.json_schema(schema, whitespace="compact", **options), VOCABULARY
    ).matcher()
    found: list[bytes] = []

    def go(text: bytes) -> None:
        allowed = matcher.allowed_bytes()
        assert allowed or matcher.is_accepting, text
        if matcher.is_accepting:
            found.append(text)
        for byte in sorted(allowed & set(alphabet)) if len(text) < longest else ():
            assert matcher.accept(byte)
            go(text + bytes([byte]))
            matcher.rollback(1)

    go(b"")
    return found


@pytest.mark.parametrize("options", [{}, {"ascii_only": True}, {"unicode_escapes": False}])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_names_wait_only_for_what_can_be_written(pattern: str, options: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "patternProperties": {pattern: {"type": "null"}},
        "additionalProperties": False,
    }
    found = texts_of(schema, b'{}":,anul\\', 24, **options)
    names = {"a", "aa"} if "{" in pattern else {"a"}
    pairs = [json.loads(text, object_pairs_hook=list) for text in found]
    assert [] in pairs
    assert {name for some in pairs for name, _ in some} == names
    assert all(len({name for name, _ in some}) == len(some) for some in pairs)
    assert max(map(len, pairs)) == len(names)


@pytest.mark.parametrize("options", [{}, {"ascii_only": True}, {"unicode_escapes": False}])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_items_wait_only_for_what_can_be_written(pattern: str, options: dict[str, Any]) -> None:
    schema = {
        "type": "array",
        "items": {"type": "string", "pattern": pattern},
        "uniqueItems": True,
    }
    found = [json.loads(text) for text in texts_of(schema, b'[]",a\\', 12, **options)]
    expected = [[], ["a"]]
    if "{" in pattern:
        expected += [["aa"], ["a", "aa"], ["aa", "a"]]
    assert sorted(found) == sorted(expected)


def test_what_is_endless_only_by_such_characters_is_counted() -> None:
    """Without numbered escapes a pattern that goes on without end has one text."""
    schema = {
        "type": "object",
        "patternProperties": {"^(\x01+|a)$": {"type": "null"}, "^\x02": {"type": "null"}},
        "additionalProperties": False,
    }
    found = texts_of(schema, b'{}":,anul\\', 24, unicode_escapes=False)
    assert found == [b'{"a":null}', b"{}"]


def test_names_that_may_come_twice_have_all_their_spellings() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^\x01$": {"const": True}},
        "additionalProperties": False,
        "minProperties": 1,
    }
    found = texts_of(schema, b'{}":true\\01', 16, unique_keys=False)
    assert found == [b'{"\\u0001":true}']
