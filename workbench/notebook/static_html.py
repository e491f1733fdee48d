"""A document as HTML that needs no script and survives JupyterLab's sanitiser, and as text.

What an untrusted notebook may show is a short list (tables, details, meter, images with data URIs, literal
colours), so structure comes from elements: no style sheet, no SVG, no ARIA. Text inherits its colour,
because no one colour reads on both a white and a dark page; chips bring their own background.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from workbench.notebook.drawing import image_of
from workbench.notebook.static_panels import static_panels
from workbench.notebook.static_parts import meter, milliseconds, percent, table
from workbench.notebook.views import Document, Frame, Position
from workbench.vocabulary.labels import label_bytes
from workbench.wording import number_of

__all__ = ["static_html", "static_text"]

#: Steps shown at each end of a long run; between them only those with a choice, up to a limit.
ENDS = 20
MOST_STEPS = (120, 60, 40)
#: Candidates listed per step.
TOP = 5
#: The most bytes of one view; a longer one is written again with fewer steps.
SIZE_LIMIT = 200_000
NOTE = "Static view. Run the cell for the live one."

_KINDS = {
    "sampled": ("", "sampled", "#EFEFEF", "#1B1B1B"),
    "forced": ("»", "forced", "#DDEFE9", "#0B3B32"),
    "chosen": ("✎", "chosen by you", "#F4E6F5", "#7A2C7E"),
    "eos": ("■", "end of text", "#E3E3E3", "#1B1B1B"),
}


def _label(document: Document, token_id: int) -> str:
    data, name = document.tokens[token_id]
    return label_bytes(data) if name is None else name


def _steps(document: Document, leaf: int | None) -> list[tuple[int, Position, Position]]:
    path = document.path(leaf)
    return [(i, before, path[i + 1]) for i, before in enumerate(path[:-1])]


def _shown(
    steps: Sequence[tuple[int, Position, Position]], most: int = MOST_STEPS[0]
) -> list[tuple[int, Position, Position]]:
    """The first and last steps, and those between that had a choice."""
    if len(steps) <= 2 * ENDS:
        return list(steps)
    between = [item for item in steps[ENDS:-ENDS] if item[1].allowed > 1]
    return [*steps[:ENDS], *between[: most - 2 * ENDS], *steps[-ENDS:]]


_STEP_COLUMNS = (
    "step",
    "token",
    "id",
    "how",
    "allowed",
    "before",
    "after",
    "mass removed",
    "rank",
    "entropy, bits",
    "depth",
    "mask",
    "forward",
)


def _step_cells(document: Document, i: int, before: Position, after: Position) -> list[str]:
    edge = after.edge
    assert edge is not None
    times = before.times
    return [
        str(i + 1),
        _label(document, edge.token_id),
        str(edge.token_id),
        _KINDS[edge.kind][1],
        f"{before.allowed:,}",
        percent(edge.before),
        percent(edge.after),
        percent(before.mass_removed),
        str(edge.rank + 1),
        f"{abs(before.entropy_before):.2f} → {abs(before.entropy_after):.2f}",
        str(len(before.stacks[0])) if before.stacks else "–",
        milliseconds(times.mask) if times else "–",
        milliseconds(times.forward) if times else "–",
    ]


def _ending(position: Position) -> str:
    words = {
        "eos": "the model ended the text",
        "length": "the token limit was reached",
        "dead_end": "⊘ dead end: no token may come next",
    }
    if position.open:
        word = "token" if position.allowed == 1 else "tokens"
        return f"open: {position.allowed:,} {word} may come next"
    return words.get(position.end or "", position.end or "the record ends here")


def static_text(document: Document, leaf: int | None = None) -> str:
    """Lower a document to plain text: what was run, the text, a table of steps, the live stack."""
    steps = _steps(document, leaf)
    here = document.path(leaf)[-1]
    lines = [document.title]
    lines += [f"{name}: {value}" for name, value in document.meta.items() if "\n" not in value]
    lines += [f"text: {document.text(leaf)!r}", f"state: {_ending(here)}"]
    if document.problem:
        lines.append(f"⊘ {document.problem[0]}: {document.problem[1]}")
    cells = [list(_STEP_COLUMNS), *(_step_cells(document, *item) for item in _shown(steps))]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_STEP_COLUMNS))]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    for frames in here.stacks[:1]:
        names = [f"{' '.join(frame.rules) or '–'} ({frame.state})" for frame in frames[:20]]
        lines.append("stack, top first: " + " / ".join(names))
    return "\n".join(lines)


def _chips(document: Document, leaf: int | None) -> str:
    chips = []
    for i, _, after in _shown(_steps(document, leaf)):
        assert after.edge is not None
        glyph, word, background, text = _KINDS[after.edge.kind]
        title = f"step {i + 1}, id {after.edge.token_id}, {word}"
        style = f"background-color:{background};color:{text}"
        label = escape(_label(document, after.edge.token_id))
        chips.append(f'<code title="{title}" style="{style}">{label}{glyph}</code>')
    return f"<p>{' '.join(chips)}</p>" if chips else "<p>No token was taken yet.</p>"


def _candidates(document: Document, position: Position, caption: str, limit: int) -> str:
    ranked = sorted(position.rows, key=lambda row: -max(row.before or 0.0, row.after or 0.0))
    rows = []
    for row in ranked[:limit]:
        why = position.whys.get(row.token_id)
        reason = f": {escape(why.reason)}" if why and not row.allowed else ""
        verdict = "● allowed" if row.allowed else f"✕ rejected{reason}"
        label = f"<code>{escape(_label(document, row.token_id))}</code> {row.token_id}"
        rows.append([label, meter(row.before), meter(row.after), verdict])
    return table(caption, ["token", "before the mask", "after the mask", "verdict"], rows)


def _after(frames: Sequence[Frame]) -> list[tuple[str, str]]:
    """Where a stack goes on when the part on top ends."""
    if len(frames) == 1:
        return [("end of the rule", "end of the text")]
    again = [("the next round", str(state)) for state in frames[1].again]
    return [*again, ("end of the rule", str(frames[1].state))]


def _automaton(document: Document, here: Position) -> str:
    drawn = document.pictures.get(here.graph)
    if drawn is None:
        return ""
    rows = [
        [str(t.source), f"<code>{escape(t.label)}</code>", str(t.target)]
        for t in drawn.transitions
        if t.source in here.live
    ]
    ends = {
        (frames[0].state, on, target)
        for frames in here.stacks
        if frames and frames[0].state in drawn.final
        for on, target in _after(frames)
    }
    rows += [[str(state), on, target] for state, on, target in sorted(ends)]
    caption = f"Transitions from the live states ({', '.join(map(str, here.live)) or 'none'})"
    return image_of(drawn, here.live) + table(caption, ["from", "on", "to"], rows[:60])


def static_html(
    document: Document, view_id: str = "", leaf: int | None = None, *, open: bool = True
) -> str:
    """Lower a document to HTML inside ``details``; the class carries ``view_id``.

    At most about 200 kB: a long run keeps its first and last steps and those with a choice.
    """
    html = ""
    for most in MOST_STEPS:
        html = _details(document, view_id, leaf, open, most)
        if len(html) <= SIZE_LIMIT:
            break
    return html


def _details(document: Document, view_id: str, leaf: int | None, open: bool, most: int) -> str:
    steps = _steps(document, leaf)
    here = document.path(leaf)[-1]
    shown = _shown(steps, most)
    meta = " · ".join(
        f"{escape(name)}: {escape(value)}"
        for name, value in document.meta.items()
        if name != "grammar text"
    )
    parts = [
        f"<summary>{escape(document.title)}: {number_of(len(steps), 'step')}. {NOTE}</summary>",
        f"<p>{meta}</p>",
    ]
    if "grammar text" in document.meta:
        text = escape(document.meta["grammar text"][:4000])
        parts.append(f"<details><summary>grammar</summary><pre>{text}</pre></details>")
    if document.prompt_text:
        parts.append(f"<p>prompt: <code>{escape(document.prompt_text[:2000])}</code></p>")
    if document.problem:
        kind, message = document.problem
        parts.append(f"<p><b>⊘ {escape(kind)}</b>: {escape(message)}</p>")
    parts.append(_chips(document, leaf))
    parts.append(f"<p>{escape(_ending(here))}. » forced, ✎ chosen by you, ■ end of text.</p>")
    if here.open:
        caption = f"Candidates for the next token: {here.allowed:,} of {document.vocabulary_size:,} allowed"
        parts.append(_candidates(document, here, caption, 10))
    if here.stacks:
        frames = [
            [str(i), escape(" ".join(frame.rules) or "–"), str(frame.state), _count(frame.count)]
            for i, frame in enumerate(here.stacks[0][:40])
        ]
        parts.append(table("Live stack, top first", ["depth", "rule", "state", "count"], frames))
    parts.append(_automaton(document, here))
    left_out = f", {len(steps) - len(shown)} left out" if len(shown) < len(steps) else ""
    cells = [[escape(cell) for cell in _step_cells(document, *item)] for item in shown]
    for row in cells:
        row[1] = f"<code>{row[1]}</code>"
    parts.append(table(f"Steps ({len(steps)}{left_out})", _STEP_COLUMNS, cells))
    if most > MOST_STEPS[-1]:
        tables = [
            _candidates(document, before, f"Step {i + 1}: {before.allowed:,} allowed", TOP)
            for i, before, _ in shown
        ]
        parts.append(
            f"<details><summary>best candidates of each step</summary>{''.join(tables)}</details>"
        )
    if document.runs is not None:
        rows = [
            [escape(name), f"<code>{escape(text[:2000])}</code>"]
            for i, (name, text) in enumerate(
                zip(document.runs.names, document.runs.texts, strict=True)
            )
            if i != document.runs.at
        ]
        parts.append(table("Other runs of this panel", ["run", "text"], rows))
    parts.append(static_panels(document, document.path(leaf)))
    name = f"wb-static wb-static-{escape(view_id)}" if view_id else "wb-static"
    return f'<details class="{name}"{" open" if open else ""}>{"".join(parts)}</details>'


def _count(count: int | None) -> str:
    return "" if count is None else str(count)
