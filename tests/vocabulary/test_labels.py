"""Printable labels of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from workbench.automaton.dot import byte_label
from workbench.vocabulary.labels import bytes_text, label_bytes
from workbench.wording import byte_name, byte_quoted

#: What every part of the workbench writes; the front end's tests read the same table.
TABLE = json.loads((Path(__file__).parents[1] / "notation.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "label"), TABLE["texts"])
def test_label(text: str, label: str) -> None:
    assert label_bytes(bytes.fromhex(text)) == label


@pytest.mark.parametrize(("byte", "name", "quoted"), TABLE["bytes"])
def test_one_byte_is_written_alike_everywhere(byte: int, name: str, quoted: str) -> None:
    assert byte_name(byte) == name
    assert byte_quoted(byte) == quoted
    assert label_bytes(bytes([byte])) == name
    assert byte_label([byte]) == name
    assert bytes_text({byte}) == quoted


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_labels_print_on_one_line_and_differ(one: bytes, other: bytes) -> None:
    label = label_bytes(one)
    assert label.isprintable()
    assert (one == other) == (label == label_bytes(other))
