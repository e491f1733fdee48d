"""Why tokens are rejected, asked of a matcher and kept with the positions of a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.automaton.dot import byte_label
from workbench.decoding.situation import MAX_STACKS, frames_of
from workbench.notebook.views import Document, Frame, Inside, Position, Why, WhyCell
from workbench.wording import more

if TYPE_CHECKING:
    from workbench.diagnostics.explain.why import WhyFrame

__all__ = ["add_reasons", "full_reason", "reason", "reasons"]

#: Open parts that are kept per byte.
FRAMES = 6

#: Rejected tokens per position whose reason is worked out ahead.
AHEAD = 6


def reason(matcher: Any, token_id: int) -> Why:
    """Ask a matcher why a token is allowed or not; one without ``explain`` allows every token."""
    explain = getattr(matcher, "explain", None)
    if explain is None:
        return Why(0, "there is no grammar: every token is allowed")
    found = explain(token_id)
    expected = byte_label(found.expected, limit=120) if found.expected else ""
    return Why(found.consumed, found.reason[:1].upper() + found.reason[1:], expected)


def full_reason(matcher: Any, token_id: int) -> Why:
    """The reason in the author's terms, byte by byte; takes longer than :func:`reason`."""
    if getattr(matcher, "explain", None) is None or not hasattr(matcher, "compiled"):
        return reason(matcher, token_id)
    from workbench.diagnostics.explain.explain import explain

    found = explain(matcher, token_id)
    cells = tuple(WhyCell(cell.status, cell.states, _told(cell.stack)) for cell in found.cells)
    return Why(
        found.consumed,
        found.sentence[:1].upper() + found.sentence[1:],
        byte_label(found.expected, limit=120) if found.expected else "",
        cells,
        tuple(token.token_id for token in found.nearest),
        found.note,
        _inside(matcher, found.token_bytes),
    )


def _inside(matcher: Any, data: bytes) -> tuple[Inside, ...]:
    """Where the text stands between the bytes of a token."""
    return tuple(
        Inside(states, tuple(tuple(Frame(*frame) for frame in frames_of(view)) for view in stacks))
        for states, stacks in matcher.inside(data, MAX_STACKS)
    )


def _told(stack: Sequence[WhyFrame]) -> tuple[str, ...]:
    """The innermost open parts in words, of the first also how far it was read, and how many more there are."""
    told = [str(frame) for frame in stack[:FRAMES]]
    if told and stack[0].place:
        told[0] = f"{told[0]}: {stack[0].place}"
    left_out = more(len(stack), FRAMES, "open part")
    return (*told, *([f"… {left_out}"] if left_out else []))


def reasons(matcher: Any, position: Position) -> dict[int, Why]:
    """The reasons of the likeliest rejected tokens of the position that the matcher stands at."""
    rejected = [row.token_id for row in position.rows if not row.allowed][:AHEAD]
    return {token: reason(matcher, token) for token in rejected}


def add_reasons(document: Document, matcher: Any) -> None:
    """Replay the newest branch of a document with a fresh matcher and keep the reasons.

    It stops where the matcher refuses a token: then the record belongs to another grammar.
    """
    for position in document.path():
        if position.edge is not None and not matcher.accept(position.edge.token_id):
            return
        if position.open:
            whys = {**reasons(matcher, position), **position.whys}
            document.positions[position.id] = replace(position, whys=whys)
