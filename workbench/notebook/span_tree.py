"""Spans of a text over its tokens: what each position says of the one before it becomes a tree along a path.

``widgets/src/spans.ts`` does the same in the browser.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.notebook.views import Document, Position

if TYPE_CHECKING:
    from workbench.diagnostics.author.spans import Span, Turn

__all__ = ["TokenSpan", "spans_by_token"]


@dataclass(eq=False, slots=True)
class TokenSpan:
    """A span, its first and last token (the last one None while it is open), and how many lie in each other in it."""

    span: Span
    inside: TokenSpan | None
    first: int
    last: int | None = None
    height: int = 0


@dataclass(slots=True)
class _Reader:
    """Goes along a path. ``offsets`` are those of the tokens so far."""

    offsets: list[int] = field(default_factory=list)
    every: dict[TokenSpan, None] = field(default_factory=dict)
    open: list[TokenSpan] = field(default_factory=list)

    def turn(self, turn: Turn) -> None:
        """What the last token did to the spans."""
        token = len(self.offsets) - 1
        going = self.open[turn.kept :]
        del self.open[turn.kept :]
        here = list(self.open)
        for span in turn.left:
            end = self._token_at((span.end or 1) - 1)
            self._found(span, here, going).last = min(end, token - 1)
        for span in sorted(turn.closed, key=lambda span: (span.depth, span.start)):
            here.append(self._found(span, here, going))
            here[-1].last = token
        for span in turn.opened:
            here.append(self._found(span, here, going))
            self.open.append(here[-1])
        # what is left over never was there, by the way in which the text is read now
        for one in going:
            del self.every[one]

    def _found(self, span: Span, here: list[TokenSpan], going: list[TokenSpan]) -> TokenSpan:
        """The span that was open before, or a new one."""
        for i, known in enumerate(going):
            if (known.span.start, known.span.path) == (span.start, span.path):
                known.span = span
                return going.pop(i)
        inside = next((one for one in reversed(here) if one.span.depth == span.depth - 1), None)
        made = TokenSpan(span, inside, self._token_at(span.start))
        self.every[made] = None
        return made

    def _token_at(self, byte: int) -> int:
        """The token that a byte lies in; the last of those without bytes that stand there."""
        return max(0, bisect_right(self.offsets, byte) - 1)


def spans_by_token(document: Document, path: Sequence[Position]) -> list[tuple[TokenSpan, ...]]:
    """The spans around each token of a path, outermost first.

    A token that ends one span and begins the next one belongs to the first.
    """
    reader = _Reader()
    end = 0
    for position in path[1:]:
        reader.offsets.append(end)
        assert position.edge is not None
        end += len(document.tokens[position.edge.token_id][0])
        if position.spans is not None:
            reader.turn(position.spans)
    found: list[list[TokenSpan]] = [[] for _ in path[1:]]
    for one in sorted(reader.every, key=lambda one: (one.span.depth, one.span.start)):
        last = len(found) - 1 if one.last is None else one.last
        for around in found[one.first : last + 1]:
            if len(around) == one.span.depth and (around[-1] if around else None) is one.inside:
                around.append(one)
        height, outer = 1, one.inside
        while outer is not None and outer.height < height:
            outer.height = height
            height, outer = height + 1, outer.inside
    return [tuple(around) for around in found]
