"""Why tokens are rejected, asked of a matcher and kept with the positions of a document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.decoding.situation import MAX_STACKS, kept_stacks
from workbench.notebook.views import Document, Inside, Position

if TYPE_CHECKING:
    from workbench.engine.why import Why

__all__ = ["add_reasons", "full_reason", "reason", "reasons"]

#: Rejected tokens per position whose reason is worked out ahead.
AHEAD = 6


def reason(matcher: Any, token_id: int) -> Why:
    """Ask a matcher why a token is allowed or not; one without ``explain`` allows every token."""
    if hasattr(matcher, "explain"):
        found: Why = matcher.explain(token_id)
        return found
    from workbench.engine.why import Why

    return Why(
        token_id=token_id,
        token_bytes=b"",
        label="",
        allowed=True,
        sentence="there is no grammar: every token is allowed",
    )


def full_reason(matcher: Any, token_id: int) -> tuple[Why, tuple[Inside, ...]]:
    """The reason in the author's terms, byte by byte, and where the text stands between the bytes of the token.

    It takes longer than :func:`reason`, which is the answer for matchers that know no grammar.
    """
    if not hasattr(matcher, "explain") or not hasattr(matcher, "compiled"):
        return reason(matcher, token_id), ()
    from workbench.diagnostics.explain.explain import explain

    found = explain(matcher, token_id)
    insides = tuple(
        Inside(states, kept_stacks(stacks))
        for states, stacks in matcher.inside(found.token_bytes, MAX_STACKS)
    )
    return found, insides


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
