"""Colours: readable on every background they are used on, and apart for every kind of colour vision."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from workbench.notebook import mask_view, static_chips

ROOT = Path(__file__).parents[2]
STYLE = (ROOT / "widgets" / "src" / "stepper.css").read_text(encoding="utf-8")
Colour = tuple[float, float, float]

#: What the design asks for: (light, dark).
PALETTE = {
    "allowed": ("#0a4dd6", "#a9c8f0"),
    "rejected": ("#b84300", "#f2762e"),
    "here": ("#9c3fa0", "#d66bf0"),
    "forced": ("#0b3b32", "#2fd39b"),
    "mask": ("#b84300", "#f2762e"),
    "forward": ("#0b2a5b", "#6d9bff"),
    "other": ("#786892", "#e4ddee"),
    "page": ("#ffffff", "#111111"),
    "tone": ("#f5f5f5", "#1f1f1f"),
}
STATES = ("allowed", "rejected", "here", "forced")
TIMES = ("mask", "forward", "other")

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG 2.1 contrast ratio."""
    bright, dark = sorted(
        (float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other)), reverse=True
    )
    return (bright + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB under D65."""
    matrix = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    x = np.array(matrix) @ np.clip(rgb, 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def variables(theme: int) -> dict[str, str]:
    """The colours of the style sheet, light (0) or dark (1)."""
    blocks = [
        re.search(r"\.wb-panel \{(.*?)\}", STYLE, re.S),
        re.search(r"\[data-theme=\"dark\"\] \{(.*?)\}", STYLE, re.S),
    ]
    block = blocks[theme]
    assert block is not None
    return dict(re.findall(r"--wb-([\w-]+): (#[0-9a-f]{6});", block[1]))


def test_the_measures_are_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)


@pytest.mark.parametrize("theme", [0, 1])
def test_style_sheet_has_the_palette(theme: int) -> None:
    found = variables(theme)
    assert {name: found[name] for name in PALETTE} == {n: c[theme] for n, c in PALETTE.items()}


@pytest.mark.parametrize("theme", [0, 1])
def test_every_colour_reads_on_page_and_panel(theme: int) -> None:
    found = variables(theme)
    spans = [name for name in found if name.startswith("hue-")]
    assert len(spans) == 6
    for name in (*STATES, *TIMES, *spans, "text", "muted"):
        for ground in ("page", "tone"):
            assert contrast(found[name], found[ground]) >= 4.5, (name, ground)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("group", [STATES, TIMES])
def test_roles_stay_apart(theme: int, vision: str, group: tuple[str, ...]) -> None:
    found = variables(theme)
    seen = {name: lab(np.array(VISION[vision]) @ linear(found[name])) for name in group}
    for one, other in itertools.combinations(group, 2):
        assert float(np.linalg.norm(seen[one] - seen[other])) >= 25, (one, other)


def test_lines_under_static_spans_show_on_light_and_dark_pages() -> None:
    for colour in static_chips.HUES:
        for page in ("#ffffff", "#111111"):
            assert contrast(colour, page) >= 3, (colour, page)


def test_static_chips_read_on_their_own_background() -> None:
    for _, word, background, text in static_chips.KINDS.values():
        assert contrast(text, background) >= 4.5, word
    for style in (mask_view._ALLOWED, mask_view._REJECTED):
        background, text = re.findall(r"#[0-9A-F]{6}", style)
        assert contrast(text, background) >= 4.5, style
