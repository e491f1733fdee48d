"""The chips of a mask."""

from __future__ import annotations

from workbench.engine import compile
from workbench.frontends.regex import regex
from workbench.notebook import show_mask
from workbench.vocabulary import Vocabulary


def test_small_vocabularies_are_shown_whole() -> None:
    vocabulary = Vocabulary.from_bytes([b"", b"a", b"<b>"], [0], special_names={0: "<end>"})
    matcher = compile(regex("a+"), vocabulary).matcher()
    view = show_mask(matcher)
    assert repr(view) == "allowed 1 of 3 tokens\n✕ <end>  ● a  ✕ <b>"
    assert "✕ &lt;b&gt;</code>" in view._repr_html_()
    matcher.accept(1)
    assert show_mask(matcher) != view
    assert show_mask(matcher).allowed_ids == (0, 1)
    matcher.rollback(1)
    assert show_mask(matcher) == view
    assert hash(show_mask(matcher)) == hash(view)


def test_large_ones_show_the_first_allowed() -> None:
    vocabulary = Vocabulary.from_bytes([b"", *(b"%d" % i for i in range(500))], [0])
    view = show_mask(compile(regex("[0-9]+"), vocabulary).matcher(), limit=3)
    assert repr(view).splitlines() == [
        "allowed 500 of 501 tokens; the first 3 of them",
        "● 0  ● 1  ● 2",
    ]
