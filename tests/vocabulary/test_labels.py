"""Printable labels of tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from workbench.vocabulary.labels import label_bytes


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (b"", ""),
        (b" the", "·the"),
        (b"\n\n\t", "↵↵→"),
        (b"\xe2\x9c", "⟨E2 9C⟩"),
        (b"a\xe2\x9c", "a⟨E2 9C⟩"),
        (b"\x9c\x85 x", "⟨9C 85⟩·x"),
        (b"\xff\xfe", "⟨FF⟩⟨FE⟩"),
        ("✅é".encode(), "✅é"),
        (b"\r\x00", "⟨U+000D⟩⟨U+0000⟩"),
        ("·→⟨".encode(), "⟨U+00B7⟩⟨U+2192⟩⟨U+27E8⟩"),
        ("\u202e\u0301\u200d\u00a0".encode(), "⟨U+202E⟩⟨U+0301⟩⟨U+200D⟩⟨U+00A0⟩"),
        (b"a\xf0\x9fb", "a⟨F0 9F⟩b"),
    ],
)
def test_label(text: bytes, label: str) -> None:
    assert label_bytes(text) == label


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_labels_print_on_one_line_and_differ(one: bytes, other: bytes) -> None:
    label = label_bytes(one)
    assert label.isprintable()
    assert (one == other) == (label == label_bytes(other))
