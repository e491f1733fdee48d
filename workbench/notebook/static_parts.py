"""Small pieces of HTML and text that the static views share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from statistics import median
from typing import TYPE_CHECKING

from workbench.wording import number_of, percent

if TYPE_CHECKING:
    from workbench.grammar.outcomes import OutcomeGroup

__all__ = ["meter", "milliseconds", "outcome_html", "table", "warm_up"]


def milliseconds(ms: float) -> str:
    """A time given in milliseconds."""
    if ms >= 1000:
        return f"{ms / 1000:.2f} s"
    if ms >= 1:
        return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"
    return f"{ms * 1000:.0f} µs"


def table(caption: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; cells are HTML already."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def outcome_html(group: OutcomeGroup, places: int | None = None) -> str:
    """One kind of restriction of a schema in a line; of several places the pointers unfold."""
    count = places or len(group.pointers)
    sign = "✕" if group.status == "unsupported" else "⚠"
    why = f": {escape(group.detail)}" if group.detail else ""
    keyword = f"<code>{escape(group.keyword)}</code> is {escape(group.status)}"
    if group.status == "warning":
        keyword, why = escape(group.detail), ""
    if count == 1:
        return f"<p>{sign} <code>{escape(group.pointers[0])}</code>: {keyword}{why}</p>"
    listed = "".join(f"<p><code>{escape(pointer)}</code></p>" for pointer in group.pointers)
    left = count - len(group.pointers)
    more = f"<p>and {left:,} more</p>" if left else ""
    where = number_of(count, "place")
    return f"<details><summary>{sign} {keyword} in {where}{why}</summary>{listed}{more}</details>"


def meter(p: float | None) -> str:
    """A probability as a bar and a number."""
    if p is None:
        return "–"
    bar = f'<meter min="0" max="1" value="{min(max(p, 0.0), 1.0):.4f}"></meter> '
    return bar + escape(percent(p))


def warm_up(mask: Sequence[float], forward: Sequence[float]) -> int:
    """How many leading steps warm up, computing what later ones find ready, as ``workbench.profile`` counts them.

    The first (it reads the prompt), and next to it, up to five in all, those with more than five times the
    median of the others.
    """
    if len(mask) < 3:
        return min(1, max(0, len(mask) - 1))
    usual = median(mask[1:]), median([time for time in forward[1:] if time] or [0.0])
    count = 1
    for times in list(zip(mask, forward, strict=True))[1 : min(5, len(mask) - 1)]:
        if not any(0 < limit * 5 < time for time, limit in zip(times, usual, strict=True)):
            break
        count += 1
    return count
