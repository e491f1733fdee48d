"""A document as HTML that needs no script and survives JupyterLab's sanitiser, and as text.

What an untrusted notebook may show is a short list (tables, details, meter, images with data URIs, literal
colours), so structure comes from elements: no style sheet, no SVG, no ARIA. Text inherits its colour,
because no one colour reads on both a white and a dark page; chips bring their own background.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from workbench.automaton.frames import Stack
from workbench.notebook.drawing import image_of
from workbench.notebook.static_panels import static_panels
from workbench.notebook.static_parts import meter, milliseconds, table
from workbench.notebook.views import Document, Position
from workbench.notebook.wire import capitalised
from workbench.vocabulary.labels import label_bytes
from workbench.wording import cut, joined, more, number_of, percent

__all__ = ["static_html", "static_text"]

#: Steps shown at each end of a long run; between them only those with a choice, up to a limit.
ENDS = 20
MOST_STEPS = (120, 60, 40)
#: Steps at the start and at the end of a short view.
BRIEF = 4, 16
#: Candidates listed per step.
TOP = 5
#: The most bytes of one view; a longer one is written again with fewer steps.
SIZE_LIMIT = 200_000
#: Characters of a grammar and of a prompt, transitions, and frames of a stack and states that are listed.
GRAMMAR_SHOWN = 4_000
PROMPT_SHOWN = 2_000
FRAMES_SHOWN = 40
TRANSITIONS_SHOWN = 60
STATES_SHOWN = 12
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


#: Number of a step from 0, the position before it, the position after it.
_Step = tuple[int, Position, Position]


def _steps(path: Sequence[Position]) -> list[_Step]:
    return [(i, before, path[i + 1]) for i, before in enumerate(path[:-1])]


def _shown(steps: Sequence[_Step], most: int = MOST_STEPS[0]) -> list[_Step]:
    """The first and last steps, and those between that had a choice."""
    if len(steps) <= 2 * ENDS:
        return list(steps)
    between = [item for item in steps[ENDS:-ENDS] if item[1].allowed > 1]
    return [*steps[:ENDS], *between[: most - 2 * ENDS], *steps[-ENDS:]]


def _brief(steps: Sequence[_Step]) -> list[_Step]:
    first, last = BRIEF
    return list(steps) if len(steps) <= first + last else [*steps[:first], *steps[-last:]]


def _gaps(shown: Sequence[_Step]) -> Iterator[tuple[int, _Step]]:
    """The steps that are shown, each with the number of those left out before it."""
    following = 0
    for step in shown:
        yield step[0] - following, step
        following = step[0] + 1


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
    path = document.path(leaf)
    here = path[-1]
    lines = [document.title]
    lines += [f"{name}: {value}" for name, value in document.meta.items() if "\n" not in value]
    lines += [f"text: {document.text(leaf)!r}", f"state: {_ending(here)}"]
    if document.trouble:
        sign, kind, message = document.trouble
        lines.append(f"{sign} {kind}: {message}")
    shown = list(_gaps(_shown(_steps(path))))
    cells = [list(_STEP_COLUMNS), *(_step_cells(document, *step) for _, step in shown)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_STEP_COLUMNS))]
    for left_out, row in zip([0, *(left_out for left_out, _ in shown)], cells, strict=True):
        if left_out:
            lines.append(f"… {number_of(left_out, 'more step')} …")
        lines.append(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    for frames in here.stacks[:1]:
        names = [f"{' '.join(frame.rules) or '–'} ({frame.state})" for frame in frames]
        lines.append(f"{_stack_title(here)}: {joined(names, FRAMES_SHOWN, ' / ')}")
    return "\n".join(lines)


def _stack_title(here: Position) -> str:
    total = here.stack_total
    return "stack, top first" if total == "1" else f"the first of {total} live stacks, top first"


def _chips(document: Document, shown: Sequence[_Step]) -> str:
    chips = []
    for left_out, (i, _, after) in _gaps(shown):
        assert after.edge is not None
        if left_out:
            chips.append(f"<i>… {number_of(left_out, 'more token')} …</i>")
        glyph, word, background, text = _KINDS[after.edge.kind]
        title = f"step {i + 1}, id {after.edge.token_id}, {word}"
        if after.edge.draft:
            title += f", {escape(after.edge.draft)}"
        style = f"background-color:{background};color:{text}"
        label = escape(_label(document, after.edge.token_id))
        chips.append(f'<code title="{title}" style="{style}">{label}{glyph}</code>')
    return f"<p>{' '.join(chips)}</p>" if chips else "<p>No token was taken yet.</p>"


def _step_table(document: Document, shown: Sequence[_Step], total: int) -> str:
    rows = []
    for left_out, step in _gaps(shown):
        if left_out:
            rows.append(
                ["…", f"{number_of(left_out, 'more step')}", *[""] * (len(_STEP_COLUMNS) - 2)]
            )
        cells = [escape(cell) for cell in _step_cells(document, *step)]
        rows.append([cells[0], f"<code>{cells[1]}</code>", *cells[2:]])
    missing = total - len(shown)
    rest = f", {missing:,} more left out" if missing else ""
    return table(f"Steps ({total:,}{rest})", _STEP_COLUMNS, rows)


def _candidates(document: Document, position: Position, caption: str, limit: int) -> str:
    ranked = sorted(position.rows, key=lambda row: -max(row.before or 0.0, row.after or 0.0))
    rows = []
    for row in ranked[:limit]:
        why = position.whys.get(row.token_id)
        reason = f": {escape(capitalised(why.sentence))}" if why and not row.allowed else ""
        verdict = "● allowed" if row.allowed else f"✕ rejected{reason}"
        label = f"<code>{escape(_label(document, row.token_id))}</code> {row.token_id}"
        rows.append([label, meter(row.before), meter(row.after), verdict])
    if left_out := more(len(ranked), limit, "recorded candidate"):
        rows.append([f"… {left_out}", "", "", ""])
    return table(caption, ["token", "before the mask", "after the mask", "verdict"], rows)


def _after(frames: Stack) -> list[tuple[str, str]]:
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
    caption = f"Transitions from the live states ({joined(here.live, STATES_SHOWN) or 'none'})"
    if len(rows) > TRANSITIONS_SHOWN:
        left_out = ["…", more(len(rows), TRANSITIONS_SHOWN, "transition"), ""]
        rows = [*rows[:TRANSITIONS_SHOWN], left_out]
    return image_of(drawn, here.live) + table(caption, ["from", "on", "to"], rows)


def static_html(
    document: Document,
    view_id: str = "",
    leaf: int | None = None,
    *,
    open: bool = True,
    brief: bool = False,
) -> str:
    """Lower a document to HTML inside ``details``; the class carries ``view_id``.

    At most about 200 kB: a long run keeps its first and last steps and those with a choice. A ``brief``
    view, of some 20 kB, is what stands there while a run is stepped: the last steps and where it is now.
    """
    if brief:
        return _details(document, view_id, leaf, open, None)
    html = ""
    for most in MOST_STEPS:
        html = _details(document, view_id, leaf, open, most)
        if len(html) <= SIZE_LIMIT:
            break
    return html


def _details(
    document: Document, view_id: str, leaf: int | None, open: bool, most: int | None
) -> str:
    """``most`` steps at most are shown; None makes the short view."""
    path = document.path(leaf)
    steps = _steps(path)
    here = path[-1]
    shown = _brief(steps) if most is None else _shown(steps, most)
    title = f"{escape(document.title)}: {number_of(len(steps), 'step')}. {NOTE}"
    parts = [f"<summary>{title}</summary>"]
    if most is None:
        parts.append(
            "<p>Short while the run is stepped: all that was recorded follows at rest.</p>"
        )
    else:
        parts += _origin(document)
    if document.trouble:
        sign, kind, message = document.trouble
        parts.append(f"<p><b>{sign} {escape(kind)}</b>: {escape(message)}</p>")
    parts.append(_chips(document, shown))
    parts.append(f"<p>{escape(_ending(here))}. » forced, ✎ chosen by you, ■ end of text.</p>")
    if here.open:
        caption = f"Candidates for the next token: {here.allowed:,} of {document.vocabulary_size:,} allowed"
        parts.append(_candidates(document, here, caption, 10))
    parts.append(_stack(here))
    if most is not None:
        parts.append(_automaton(document, here))
    parts.append(_step_table(document, shown, len(steps)))
    if most is not None and most > MOST_STEPS[-1]:
        tables = [
            _candidates(document, before, f"Step {i + 1}: {before.allowed:,} allowed", TOP)
            for i, before, _ in shown
        ]
        parts.append(
            f"<details><summary>best candidates of each step</summary>{''.join(tables)}</details>"
        )
    if document.runs is not None:
        rows = [
            [escape(name), f"<code>{escape(cut(text, 2_000))}</code>"]
            for i, (name, text) in enumerate(
                zip(document.runs.names, document.runs.texts, strict=True)
            )
            if i != document.runs.at
        ]
        parts.append(table("Other runs of this panel", ["run", "text"], rows))
    if most is not None:
        parts.append(static_panels(document, path))
    name = f"wb-static wb-static-{escape(view_id)}" if view_id else "wb-static"
    return f'<details class="{name}"{" open" if open else ""}>{"".join(parts)}</details>'


def _origin(document: Document) -> list[str]:
    """Model, settings, grammar and prompt."""
    meta = " · ".join(
        f"{escape(name)}: {escape(value)}"
        for name, value in document.meta.items()
        if name != "grammar text"
    )
    parts = [f"<p>{meta}</p>"]
    if "grammar text" in document.meta:
        text = escape(cut(document.meta["grammar text"], GRAMMAR_SHOWN))
        parts.append(f"<details><summary>grammar</summary><pre>{text}</pre></details>")
    if document.prompt_text:
        prompt = escape(cut(document.prompt_text, PROMPT_SHOWN))
        parts.append(f"<p>prompt: <code>{prompt}</code></p>")
    return parts


def _stack(here: Position) -> str:
    if not here.stacks:
        return ""
    frames = here.stacks[0]
    rows = [
        [str(i), escape(" ".join(frame.rules) or "–"), str(frame.state), _count(frame.count)]
        for i, frame in enumerate(frames[:FRAMES_SHOWN])
    ]
    if len(frames) > FRAMES_SHOWN:
        rows.append(["…", more(len(frames), FRAMES_SHOWN, "frame"), "", ""])
    one = here.stack_total == "1"
    title = "Live stack, top first" if one else _stack_title(here).capitalize()
    return table(title, ["depth", "rule", "state", "count"], rows)


def _count(count: int | None) -> str:
    return "" if count is None else str(count)
