"""A mask as a picture: which tokens may come next, as chips. No script, no widget."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.inputs import need_matcher
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.engine import Matcher

__all__ = ["MaskView", "show_mask"]

#: Vocabularies up to this size are shown whole.
WHOLE = 64
_ALLOWED = "background-color:#E3ECFD;color:#0A3FB0"
_REJECTED = "background-color:#F3F3F3;color:#8A3300"


class MaskView:
    """The mask of a matcher at one moment; a notebook shows it as chips."""

    def __init__(self, matcher: Matcher, limit: int = 40) -> None:
        from workbench.engine import empty_mask

        need_matcher(matcher, "show_mask")
        vocabulary = matcher.vocabulary
        row = empty_mask(vocabulary)
        matcher.fill_mask(row)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[: vocabulary.size]
        self.allowed_ids: tuple[int, ...] = tuple(np.flatnonzero(bits).tolist())
        self.size = vocabulary.size
        shown = range(self.size) if self.size <= WHOLE else self.allowed_ids[:limit]
        allowed = set(self.allowed_ids)
        self._tokens = [(i, vocabulary.label(i), i in allowed) for i in shown]

    @property
    def summary(self) -> str:
        """How many tokens are allowed, and how many of them are shown."""
        count = len(self.allowed_ids)
        shown = sum(allowed for _, _, allowed in self._tokens)
        rest = f"; the first {shown} of them" if shown < count else ""
        return f"allowed {count:,} of {number_of(self.size, 'token')}{rest}"

    def __repr__(self) -> str:
        signs = "  ".join(f"{'●' if allowed else '✕'} {name}" for _, name, allowed in self._tokens)
        return f"{self.summary}\n{signs}"

    def _repr_html_(self) -> str:
        chips = [
            f'<code title="id {i}, {"allowed" if allowed else "rejected"}" '
            f'style="{_ALLOWED if allowed else _REJECTED}">'
            f"{'●' if allowed else '✕'} {escape(name)}</code>"
            for i, name, allowed in self._tokens
        ]
        return f"<p>{escape(self.summary)}</p><p>{' '.join(chips)}</p>"

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, MaskView):
            return NotImplemented
        return (self.size, self.allowed_ids) == (other.size, other.allowed_ids)

    def __hash__(self) -> int:
        return hash((self.size, self.allowed_ids))


def show_mask(matcher: Matcher, limit: int = 40) -> MaskView:
    """Show which tokens may come next: all tokens of a small vocabulary, else the first allowed ones."""
    return MaskView(matcher, limit)
