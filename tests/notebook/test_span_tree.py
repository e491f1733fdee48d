"""Spans over the tokens of a run: the cases that the front end's own tests read, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.diagnostics.author.spans import SpanReader
from workbench.engine.tokens import resolve_tokens
from workbench.notebook.span_tree import spans_by_token
from workbench.notebook.static_chips import chips
from workbench.notebook.views import Document, Edge, Position
from workbench.notebook.wire import turn_wire

TABLE = json.loads((Path(__file__).parent / "spans.json").read_text("utf-8"))

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"n": {"type": "integer"}},
                "required": ["n"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["id", "rows"],
    "additionalProperties": False,
}
GRAMMARS = {
    "members and items": wb.json_schema(ORDER),
    "a text that ends before it shows": wb.seq(
        "a", wb.capture("free", wb.text_until("!!")), "!!", wb.capture("rest", wb.regex("[a-z]+"))
    ),
    "special tokens": wb.seq(
        wb.capture(
            "call",
            wb.seq(wb.token("<call>"), wb.capture("name", wb.regex("[a-z]+")), wb.token("</call>")),
        ),
        "ok",
    ),
}


def document(case: dict[str, Any]) -> Document:
    tokens = case["tokens"]
    special = {i: text for i, text in enumerate(tokens) if text.startswith("<")}
    vocabulary = wb.Vocabulary.from_bytes(
        [*(b"" if i in special else text.encode() for i, text in enumerate(tokens)), b""],
        eos_ids=len(tokens),
        special_names={**special, len(tokens): "<eos>"},
    )
    grammar = GRAMMARS[case["name"]]
    reader = SpanReader(grammar, resolve_tokens(grammar, vocabulary))
    read = [(i, vocabulary.token_bytes(i)) for i in range(len(tokens))]
    made = Document(title="t")
    made.add_tokens(range(len(tokens)), vocabulary)
    for n in range(len(tokens) + 1):
        edge = Edge(n - 1, "sampled", 1.0, 1.0, 0) if n else None
        made.positions.append(Position(id=n, parent=n - 1, edge=edge, spans=reader.go_to(read[:n])))
    return made


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case["name"])
def test_each_token_is_in_the_spans_that_it_begins_in(case: dict[str, Any]) -> None:
    made = document(case)
    path = made.path()
    assert [turn_wire(position.spans) for position in path[1:]] == case["turns"]
    around = spans_by_token(made, path)
    assert [[one.span.label for one in spans] for spans in around] == case["covers"]


def test_groups_nest_and_are_closed_in_a_static_view() -> None:
    made = document(TABLE[0])
    path = made.path()
    steps = [(i, path[i], path[i + 1]) for i in range(len(path) - 1)]
    html = chips(made, path, steps)
    assert html.count("<span") == html.count("</span>") == 6, "id, rows, [0], n, [1], n"
    assert html.count("<b>[0]</b>") == html.count("<b>[1]</b>") == 1
    assert "<b>rows</b>" not in html, "the name of a member is read in the text"
    cut = chips(made, path, [*steps[:8], *steps[10:11], *steps[-3:]])
    assert cut.count("<span") == cut.count("</span>")
    assert cut.count("more tokens") == 2
    assert cut.count("<b>[0]</b>") == cut.count("<b>[1]</b>") == 1
