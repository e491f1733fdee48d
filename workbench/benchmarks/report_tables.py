"""Tables of figures, as text for a terminal and as Markdown for a page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Table", "figure", "ratio", "render_markdown", "render_text"]


@dataclass(slots=True)
class Table:
    """A titled table: the first column is names, the others are figures. Notes stand below."""

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Render with aligned columns."""
        lines = [self.header, *self.rows]
        widths = [
            max(len(row[i]) for row in lines if i < len(row)) for i in range(len(self.header))
        ]
        out = [self.title]
        for number, row in enumerate(lines):
            first = row[0].ljust(widths[0])
            rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=False)]
            out.append("  " + "  ".join([first, *rest]).rstrip())
            if number == 0:
                out.append("  " + "─" * (sum(widths) + 2 * (len(widths) - 1)))
        for note in self.notes:
            out += textwrap.wrap(note, 150, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(out)

    def markdown(self) -> str:
        """Render as a pipe table."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        rules = ["---", *("---:" for _ in self.header[1:])]
        padded = [row + [""] * (len(self.header) - len(row)) for row in self.rows]
        table = "\n".join([line(self.header), line(rules), *map(line, padded)])
        notes = "\n".join(f"- {note}" for note in self.notes)
        return f"**{self.title}**\n\n{table}" + (f"\n\n{notes}" if notes else "")


def render_text(head: Sequence[str], tables: Sequence[Table]) -> str:
    """Lines, then the tables."""
    return "\n\n".join(["\n".join(head), *(table.text() for table in tables)])


def render_markdown(head: Sequence[str], tables: Sequence[Table]) -> str:
    """Lines as a list, then the tables; ends with a newline."""
    listed = "\n".join(f"- {line}" for line in head)
    return "\n\n".join([listed, *(table.markdown() for table in tables)]) + "\n"


def figure(value: float | None) -> str:
    """Write a figure with about three digits."""
    if value is None or value != value:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def ratio(theirs: float | None, ours: float | None) -> str:
    """How many times theirs is ours; above 1 where ours is the smaller one."""
    if theirs is None or ours is None or not ours > 0:
        return "–"
    value = theirs / ours
    if value < 0.1:
        return f"{value:.2g}×"
    return f"{value:.2f}×" if value < 10 else f"{value:,.0f}×"
