"""Small pieces of HTML and text that the static views share."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["meter", "milliseconds", "percent", "table"]


def percent(p: float | None) -> str:
    """A probability as a percentage; a tiny one is never printed as zero."""
    if p is None or p != p:
        return "–"
    if p <= 0:
        return "0%"
    if p < 0.0001:
        return "<0.01%"
    if 0.9999 < p < 1:
        return ">99.99%"
    return f"{p:.2%}" if p < 0.01 else f"{p:.1%}"


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
