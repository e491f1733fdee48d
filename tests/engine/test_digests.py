"""Masks and verdicts along fixed walks are what they were recorded to be, bit for bit."""

from __future__ import annotations

import json

from tests.engine.digests import RECORDED, digests


def test_masks_are_what_was_recorded() -> None:
    """A change of the engine may not change any; one of a front end's language is recorded anew, on purpose."""
    assert digests() == json.loads(RECORDED.read_text(encoding="utf-8"))
