"""Small pieces of HTML and text that the static views share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from statistics import median

from workbench.wording import percent

__all__ = ["meter", "milliseconds", "table", "warm_up"]


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


def meter(p: float | None) -> str:
    """A probability as a bar and a number."""
    if p is None:
        return "–"
    bar = f'<meter min="0" max="1" value="{min(max(p, 0.0), 1.0):.4f}"></meter> '
    return bar + escape(percent(p))


def warm_up(mask: Sequence[float], forward: Sequence[float]) -> int:
    """How many leading steps pay for what later ones have ready, as ``workbench.profile`` counts them.

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
