"""How counts are said, and that messages say them so."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from workbench.wording import number_of

PACKAGE = Path(__file__).resolve().parents[1] / "workbench"
#: What a number is followed by in messages: a noun in the plural.
NOUNS = (
    "answer|byte|call|character|classe|configuration|digit|edge|entrie|error|example|file|finding|frame|item"
    "|line|mask|matcher|member|node|part|place|position|processe|range|row|rule|schema|state|step|test|text"
    "|token|value|warning|word"
)
VERBS = "between|in|has|holds|is|may|means|needs"
PLURAL = re.compile(rf"^ (?:(?!(?:{VERBS})\b)[a-z-]+ ){{0,2}}?(?:{NOUNS})s\b")
#: Numbers that are never one: named constants, and the digits of an escape.
CONSTANT = re.compile(r"[A-Z_]*[A-Z]{3,}[A-Z_]*|self\._parse\.most_items|count|where")


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("token",), "0 tokens"),
        (1, ("token",), "1 token"),
        (2, ("more place",), "2 more places"),
        (1, ("entry", "entries"), "1 entry"),
        (12_345, ("entry", "entries"), "12,345 entries"),
        (-1, ("byte",), "-1 bytes"),
    ],
)
def test_numbers_with_their_nouns(count: int, words: tuple[str, ...], said: str) -> None:
    assert number_of(count, *words) == said


def plurals(path: Path) -> list[str]:
    """Numbers in a module's messages with a noun in the plural, whatever the number is."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for number, text in pairwise(parts):
            if not isinstance(number, ast.FormattedValue) or not isinstance(text, ast.Constant):
                continue
            value = ast.unparse(number.value)
            if value.startswith("number_of("):
                continue  # it has its noun already
            if PLURAL.match(str(text.value)) and not CONSTANT.fullmatch(value):
                found.append(f"line {number.lineno}: {{{value}}}{text.value}")
    return found


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_messages_say_one_of_a_thing_in_the_singular(path: Path) -> None:
    assert plurals(path) == []


def test_the_check_finds_a_slip(tmp_path: Path) -> None:
    module = tmp_path / "slip.py"
    module.write_text('print(f"needs at least {least:,} more tokens, {MOST_BYTES} bytes")\n')
    assert plurals(module) == ["line 1: {least} more tokens, "]
