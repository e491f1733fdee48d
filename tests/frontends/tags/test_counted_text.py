"""Free text of at most so many characters, against all short texts."""

from __future__ import annotations

from itertools import product

import pytest

import workbench as wb
from workbench.frontends.tags.counted_text import counted_text
from workbench.grammar.ir import Grammar
from workbench.vocabulary import byte_vocabulary

TEXTS = ["".join(chars) for n in range(6) for chars in product("ab<é", repeat=n)]


@pytest.mark.parametrize("stops", [["<a"], ["<<"], ["ab", "<"], ["é"]], ids=str)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_characters_are_counted(stops: list[str], most: int) -> None:
    text = counted_text(stops, most)
    places: list[tuple[str, str, Grammar]] = [
        ("", "", text),
        ("x", "y", wb.seq("x", text, "y")),
        ("", "!", wb.alt(wb.seq(text, "!"), wb.seq("z", text, text))),
    ]
    for before, behind, grammar in places:
        matcher = wb.compile(grammar, byte_vocabulary()).matcher()
        for one in TEXTS:
            matcher.reset()
            data = list((before + one + behind).encode())
            read = matcher.accept_tokens(data) == len(data) and matcher.is_accepting
            assert read == (len(one) <= most and not any(stop in one for stop in stops)), one


def test_each_text_is_counted_by_itself() -> None:
    grammar = wb.repeat(wb.seq("(", counted_text(["<a"], 2), ")"))
    matcher = wb.compile(grammar, byte_vocabulary()).matcher()
    assert matcher.accept_tokens(b"(ab)()(b)") == 9 and matcher.is_accepting
    assert matcher.accept_tokens(b"(abb)") == 3
    assert wb.match(grammar, "(ab)()(b)") and wb.match(grammar, "(ab)(abb)") is None
