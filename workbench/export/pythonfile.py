"""A grammar as Python files that stand alone: one that makes it, one that tests it too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.export.recipe import Recipe

__all__ = ["grammar_file", "test_file"]

_TESTS = """

#: What is expected of a text: that it is accepted, is rejected, or begins an accepted one.
EXAMPLES = [
{examples}
]
#: each byte is a token, 256 is the end
VOCABULARY = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=256)
COMPILED = wb.compile(grammar, VOCABULARY)


@pytest.mark.parametrize(("expected", "text"), EXAMPLES)
def test_example(expected, text):
    matcher = COMPILED.matcher()
    reached = matcher.accept_tokens(text)
    accepted = reached == len(text) and matcher.is_accepting
    if expected == "prefix":
        assert reached == len(text)
    else:
        assert accepted == (expected == "accept")
"""


def grammar_file(recipe: Recipe) -> str:
    """Python that makes the grammar of a recipe, as ``grammar``."""
    return f'"""{_title(recipe)}"""\n\nimport workbench as wb\n\n{_maker(recipe)}'


def test_file(recipe: Recipe) -> str:
    """Tests for pytest that hold the grammar of a recipe against its examples."""
    examples = "\n".join(f"    ({e.expected!r}, {e.data!r})," for e in recipe.examples)
    return (
        f'"""Tests of: {_title(recipe)}"""\n\nimport pytest\n\nimport workbench as wb\n\n'
        + _maker(recipe)
        + _TESTS.format(examples=examples)
    )


def _title(recipe: Recipe) -> str:
    title = recipe.title or f"A {recipe.kind.replace('_', ' ')} grammar"
    words = " ".join("".join(c if c.isprintable() else " " for c in title).split())
    return words.replace("\\", "/").replace('"', "'")


def _maker(recipe: Recipe) -> str:
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in recipe.options.items()}
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    if recipe.kind == "regex":
        pattern = json.loads(recipe.source)
        value = bytes.fromhex(pattern["hex"]) if "hex" in pattern else pattern["pattern"]
        return f"SOURCE = {value!r}\ngrammar = wb.regex(SOURCE{given})\n"
    lines = "\n".join(f"    {line!r}" for line in recipe.source.splitlines(keepends=True) or [""])
    start = f", {recipe.start!r}" if recipe.kind == "gbnf" else ""
    maker = "from_rules" if recipe.kind == "rules" else recipe.kind
    return f"SOURCE = (\n{lines}\n)\ngrammar = wb.{maker}(SOURCE{start}{given})\n"
