"""Values as the front end reads them: JSON without numbers that JSON lacks, bytes as code points 0..255."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.automaton.dot import byte_label
from workbench.automaton.frames import NO_STATE, Frame, Stack, shortened

if TYPE_CHECKING:
    from workbench.automaton.dot import Picture
    from workbench.diagnostics.author.spans import Span, Turn
    from workbench.engine.why import Why
    from workbench.notebook.views import Inside, Row

__all__ = [
    "accepted_there",
    "capitalised",
    "finite",
    "packed",
    "picture_wire",
    "problem_wire",
    "row_wire",
    "rules_wire",
    "spelled",
    "stacks_wire",
    "tokens_wire",
    "turn_wire",
    "why_wire",
]

#: Frames that are told of a byte.
FRAMES = 6


def spelled(value: Any) -> bytes:
    """A value as JSON in UTF-8, on one line."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", errors="surrogatepass")


def packed(data: bytes) -> bytes:
    """Deflated bytes."""
    return zlib.compress(data, 6)


def finite(value: float) -> float | None:
    """A number that JSON has, else None."""
    return value if math.isfinite(value) else None


def rounded(value: float | None) -> float | None:
    """Seven digits: enough to print, and half the size; what is almost certain does not become certain."""
    if value is None or not math.isfinite(value):
        return None
    found = float(f"{value:.7g}")
    return 0.9999999 if found >= 1 > value else found


def row_wire(row: Row) -> list[Any]:
    """A row as the front end reads it."""
    return [row.token_id, rounded(row.before), rounded(row.after), int(row.allowed)]


def tokens_wire(tokens: dict[int, tuple[bytes, str | None]]) -> dict[str, list[str | None]]:
    """Token bytes as a string of code points 0..255, with the name of a special token."""
    return {str(i): [data.decode("latin-1"), name] for i, (data, name) in tokens.items()}


def picture_wire(drawn: Picture) -> dict[str, Any]:
    """A picture as the front end reads it."""
    return {
        "dot": drawn.source,
        "shown": list(drawn.states),
        "edges": [[t.source, t.label, t.target, int(t.call)] for t in drawn.transitions],
        "final": list(drawn.final),
        "hidden": drawn.hidden,
        "states": len(drawn.states) + drawn.hidden,
    }


def rules_wire(rules: dict[int, str]) -> dict[str, str]:
    """Rules of states as the front end reads them."""
    return {str(state): rule for state, rule in rules.items()}


def problem_wire(problem: tuple[str, str] | None) -> dict[str, str] | None:
    """An error as the front end reads it."""
    return None if problem is None else {"kind": problem[0], "message": problem[1]}


def frame_wire(frame: Frame) -> dict[str, Any]:
    """A frame as the front end reads it, with words where it is known in the author's terms."""
    found: dict[str, Any] = {
        "state": frame.state,
        "rules": list(frame.rules),
        "count": frame.left_out or frame.count,
    }
    if frame.again:
        found["again"] = list(frame.again)
    if frame.state == NO_STATE and not frame.left_out:
        found["told"] = str(frame)
    if frame.place:
        found["place"] = frame.place
    return found


def stacks_wire(stacks: Iterable[Stack]) -> list[list[dict[str, Any]]]:
    """Stacks as the front end reads them."""
    return [[frame_wire(frame) for frame in stack] for stack in stacks]


def _span_wire(span: Span) -> list[Any]:
    return [span.label, span.kind, span.path, span.start, span.end, span.depth]


def turn_wire(turn: Turn) -> list[Any]:
    """What a token did to the spans of a text, as the front end reads it."""
    parts = (turn.opened, turn.left, turn.closed)
    return [turn.kept, *([_span_wire(span) for span in spans] for spans in parts)]


def why_wire(why: Why, insides: Iterable[Inside] = ()) -> dict[str, Any]:
    """A reason as the front end reads it, with where the text stands inside the token; what is empty is left out."""
    found: dict[str, Any] = {
        "consumed": why.consumed,
        "reason": capitalised(why.sentence),
        "expected": accepted_there(why),
    }
    stacks = stacks_wire(shortened(cell.stack, FRAMES) for cell in why.cells)
    parts = {
        "cells": [
            [cell.status, list(cell.states), frames]
            for cell, frames in zip(why.cells, stacks, strict=True)
        ],
        "nearest": [token.token_id for token in why.nearest],
        "note": why.note,
        "inside": [[list(at.live), stacks_wire(at.stacks), at.graph] for at in insides],
    }
    return found | {name: part for name, part in parts.items() if part}


def capitalised(sentence: str) -> str:
    """A sentence as it stands alone on a screen."""
    return sentence[:1].upper() + sentence[1:]


def accepted_there(why: Why) -> str:
    """The bytes that may stand where a token was decided, in a line; nothing where none may."""
    return byte_label(why.expected, limit=120) if why.expected else ""
