"""The text of a run as chips in HTML without scripts, with a line under each span of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from workbench.notebook.span_tree import TokenSpan, spans_by_token
from workbench.notebook.views import Document, Position
from workbench.vocabulary.labels import label_bytes
from workbench.wording import number_of

__all__ = ["HUES", "KINDS", "Step", "chips", "gaps", "token_label"]

KINDS = {
    "sampled": ("", "sampled", "#EFEFEF", "#1B1B1B"),
    "forced": ("»", "forced", "#DDEFE9", "#0B3B32"),
    "chosen": ("✎", "chosen by you", "#F4E6F5", "#7A2C7E"),
    "eos": ("■", "end of text", "#E3E3E3", "#1B1B1B"),
}


#: Lines under spans: seen on a white and on a dark page.
HUES = ("#00897B", "#5C6BC0", "#B26A00", "#AB47BC", "#7C8C00", "#78909C")
#: Spans that are drawn in each other.
SPANS_SHOWN = 4

#: Number of a step from 0, the position before it, the position after it.
Step = tuple[int, Position, Position]


def token_label(document: Document, token_id: int) -> str:
    """What a token is called."""
    data, name = document.tokens[token_id]
    return label_bytes(data) if name is None else name


def gaps(shown: Sequence[Step]) -> Iterator[tuple[int, Step]]:
    """The steps that are shown, each with the number of those left out before it."""
    following = 0
    for step in shown:
        yield step[0] - following, step
        following = step[0] + 1


def chips(document: Document, path: Sequence[Position], shown: Sequence[Step]) -> str:
    """The tokens of some steps of a path, in groups by the spans around them."""
    if not shown:
        return "<p>No token was taken yet.</p>"
    around = [spans[:SPANS_SHOWN] for spans in spans_by_token(document, path)]
    hues: dict[str, str] = {}
    begun: set[TokenSpan] = set()
    parts: list[str] = []
    open_spans: tuple[TokenSpan, ...] = ()
    for left_out, (i, _, after) in gaps(shown):
        assert after.edge is not None
        here = around[i]
        kept = 0
        while kept < min(len(here), len(open_spans)) and here[kept] is open_spans[kept]:
            kept += 1
        parts.append("</span>" * (len(open_spans) - kept))
        if left_out:
            parts.append(f"<i>… {number_of(left_out, 'more token')} …</i>")
        for one in here[kept:]:
            hue = hues.setdefault(one.span.label, HUES[len(hues) % len(HUES)])
            parts.append(_begin(one, hue, one in begun))
            begun.add(one)
        open_spans = here
        glyph, word, background, text = KINDS[after.edge.kind]
        title = f"step {i + 1}, id {after.edge.token_id}, {word}"
        if after.edge.draft:
            title += f", {escape(after.edge.draft)}"
        style = f"background-color:{background};color:{text}"
        label = escape(token_label(document, after.edge.token_id))
        parts.append(f'<code title="{title}" style="{style}">{label}{glyph}</code>')
    parts.append("</span>" * len(open_spans))
    height = ";line-height:2.6" if any(around) else ""
    return f'<p style="margin:4px 0{height}">{" ".join(filter(None, parts))}</p>'


def _begin(one: TokenSpan, hue: str, again: bool) -> str:
    """The begin of a group: a line below those of the spans in it, and the name where the text does not say it."""
    lane = min(one.height, SPANS_SHOWN - 1 - one.span.depth)
    style = f"border-bottom:2px solid {hue};padding-bottom:{3 + 4 * lane}px"
    label = ""
    if one.span.kind != "member":
        label = f"<small><b>{'… ' if again else ''}{escape(one.span.label)}</b></small> "
    return f'<span title="{escape(one.span.path)}" style="{style}">{label}'
