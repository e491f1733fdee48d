"""Formats against their definition, over all short texts: a whole has the texts of its parts, put together."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

import workbench as wb
from tests.frontends.tags.language import LETTERS, has, random_format
from workbench.frontends.tags.build import grammar_of
from workbench.frontends.tags.formats import Format
from workbench.vocabulary import byte_vocabulary

LONGEST = 6


def texts_of(format: Format) -> set[str] | None:
    """All short texts that a format's grammar allows; None where a trigger of it can never come."""
    try:
        matcher = wb.compile(grammar_of(format), byte_vocabulary()).matcher()
    except wb.UnsatisfiableGrammar:
        return set()
    except wb.GrammarSyntaxError:  # a trigger that can never come
        return None
    found: set[str] = set()

    def go_on(text: str) -> None:
        if matcher.is_accepting:
            found.add(text)
        for letter in LETTERS:
            if len(text) < LONGEST and matcher.accept(ord(letter)):
                go_on(text + letter)
                matcher.rollback(1)

    go_on("")
    return found


ALL = ["".join(letters) for n in range(LONGEST + 1) for letters in product(LETTERS, repeat=n)]


@pytest.mark.parametrize("seed", range(60))
def test_random_formats_have_the_texts_of_their_definition(seed: int) -> None:
    format = random_format(Random(seed), 3)
    found = texts_of(format)
    if found is not None:
        assert found == {text for text in ALL if has(format, text)}, format
