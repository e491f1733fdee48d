"""Runs with and without a grammar, of models whose wishes are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.models.test_scripted import Letters
from tests.notebook.tiny import tiny_model
from workbench.notebook.contrast_html import contrast_html
from workbench.vocabulary import Vocabulary


@pytest.fixture
def model() -> wb.LoadedModel:
    tiny = tiny_model()
    return replace(tiny, tokenizer=Letters(tiny.vocabulary))


def contrast(text: str, grammar: Any, model: wb.LoadedModel) -> wb.Contrast:
    return wb.contrast(wb.scripted_model(text, model), [1, 2], grammar, max_tokens=12)


def spelled(vocabulary: Vocabulary, *tokens: int) -> bytes:
    return b"".join(map(vocabulary.token_bytes, tokens))


def test_a_model_that_keeps_to_the_grammar_is_not_steered(model: wb.LoadedModel) -> None:
    found = contrast("ab,c", wb.regex("ab,c"), model)
    assert found.free.text == found.constrained.text == "ab,c"
    assert found.leaves is None and found.overruled == ()
    assert "none of 4 tokens" in found.sentence


def test_each_push_is_told_with_what_was_wanted(model: wb.LoadedModel) -> None:
    found = contrast("ab,c", wb.regex("abc"), model)
    assert (found.free.text, found.constrained.text) == ("ab,c", "abc")
    leaves = found.leaves
    assert leaves is not None and (leaves.offset, leaves.step) == (2, 1)
    assert "','" in leaves.reason
    first, *_ = found.overruled
    assert spelled(found.vocabulary, first.wanted, first.taken) == b",c"
    assert first.probability == pytest.approx(0.9, abs=1e-4)
    assert first.mass_removed > 0.9 and first.index == 1
    assert [wish.overruled for wish in found.wishes] == [False, True, False]
    assert found.sentence.startswith("steered 1 of 3 tokens; the largest push 9")
    assert found.sentence.endswith("at c")
    assert ", (90.0%) → c" in str(found)


def test_a_text_that_ends_too_early_leaves_the_grammar_at_its_end(model: wb.LoadedModel) -> None:
    found = contrast("ab", wb.regex("abc"), model)
    assert found.leaves is not None and found.leaves.offset == 2
    assert found.constrained.text == "abc"


def test_bytes_inside_a_token_are_counted(model: wb.LoadedModel) -> None:
    found = contrast("aba", wb.regex("abc?"), model)
    assert len(found.free.token_ids) == 2, "aba is one token, and the end"
    assert found.leaves is not None and (found.leaves.offset, found.leaves.step) == (2, 0)


def test_schemas_and_compiled_grammars_are_taken(model: wb.LoadedModel) -> None:
    found = contrast("10", {"enum": [1, 11]}, model)
    assert found.leaves is not None and found.leaves.offset == 1
    compiled = wb.compile(wb.regex("a+"), model.vocabulary)
    assert contrast("aa", compiled, model).compiled is compiled
    with pytest.raises(ValueError, match="max_tokens"):
        wb.contrast(model, [1], wb.regex("a"), max_tokens=0)


def test_the_figure_has_a_bar_for_each_token(model: wb.LoadedModel) -> None:
    pytest.importorskip("plotly")
    figure = contrast("ab,c", wb.regex("abc"), model).figure()
    bars = {trace.name: list(trace.x) for trace in figure.data}
    assert bars == {"as wanted": [1, 3], "overruled": [2]}


def test_html_has_both_rows_and_escapes_what_models_write(model: wb.LoadedModel) -> None:
    html = contrast_html(contrast("ab,c", wb.regex("abc"), model))
    assert html.count("<tr>") == 3 and html.count('scope="row"') == 3
    assert "leaves the grammar at byte 2" in html and "✕ <code" in html
    assert "border-left:10px" in html, "as thick as the mass that was removed"
    odd = Vocabulary.from_bytes([b"<b>", b"a", b""], eos_ids=2)
    assert "<b>" not in contrast_html(
        replace(contrast("a", wb.regex("a"), model), compiled=wb.compile(wb.regex("a"), odd))
    ).replace("<b>steered", "")
