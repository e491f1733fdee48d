"""Values as the front end reads them: JSON without numbers that JSON lacks, bytes as code points 0..255."""

from __future__ import annotations

import json
import math
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.automaton.dot import Picture
    from workbench.notebook.views import Row

__all__ = [
    "finite",
    "packed",
    "picture_wire",
    "problem_wire",
    "row_wire",
    "rules_wire",
    "spelled",
    "tokens_wire",
]


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
