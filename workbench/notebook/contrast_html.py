"""What a grammar did to a model, as HTML without scripts: two rows of tokens, and what stood between them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from workbench.wording import more, percent

if TYPE_CHECKING:
    from workbench.diagnostics.contrast.contrast import Contrast, Wish

__all__ = ["contrast_html"]

#: Tokens in a row, and tokens that are shown.
ROW = 16
MOST = 120
_PLAIN = "background-color:#EFEFEF;color:#1B1B1B"
_BROKEN = "background-color:#FBE3D6;color:#7A2E00"
_TAKEN = "background-color:#DDEFE9;color:#0B3B32"
_PUSH = "#B84300"


def contrast_html(found: Contrast) -> str:
    """The sentence, the free text with the place where it leaves the grammar, and each step under the grammar."""
    parts = [f"<p><b>{escape(found.sentence)}</b></p>", "<p>without the grammar</p>", _free(found)]
    leaves = found.leaves
    if leaves is not None:
        parts.append(
            f"<p>✕ leaves the grammar at byte {leaves.offset}: {escape(leaves.reason)}</p>"
        )
    parts.append("<p>under the grammar: above what the model wanted, below what was taken</p>")
    wishes = found.wishes[:MOST]
    parts += [_rows(found, wishes[i : i + ROW]) for i in range(0, len(wishes), ROW)]
    if left_out := more(len(found.wishes), MOST, "token"):
        parts.append(f"<p>… {left_out}</p>")
    return "".join(parts)


def _chip(text: str, style: str, title: str = "") -> str:
    told = f' title="{escape(title)}"' if title else ""
    return f'<code{told} style="{style}">{escape(text)}</code>'


def _free(found: Contrast) -> str:
    """The tokens of the free text; those after which no text of the grammar can come are set off."""
    last = len(found.free.token_ids) if found.leaves is None else found.leaves.step
    chips = [
        ("✕ " if i == last else "")
        + _chip(found.label(token), _PLAIN if i < last else _BROKEN, f"token {i + 1}")
        for i, token in enumerate(found.free.token_ids[:MOST])
    ]
    left_out = more(len(found.free.token_ids), MOST, "token")
    return f"<p>{' '.join(chips)}{f' … {left_out}' if left_out else ''}</p>"


def _rows(found: Contrast, wishes: tuple[Wish, ...]) -> str:
    """Some steps as a table of three rows: the wanted tokens, the pushes, the taken tokens."""
    wanted, push, taken = [], [], []
    for wish in wishes:
        if wish.overruled:
            told = f"wanted {percent(wish.probability)}, mass removed {percent(wish.mass_removed)}"
            wanted.append(_chip(found.label(wish.wanted), _BROKEN, told))
            width = 1 + round(9 * wish.mass_removed)
            bar = f'<span style="border-left:{width}px solid {_PUSH}">&#8203;</span>'
            push.append(f"{bar} <small>{escape(percent(wish.mass_removed))}</small>")
        else:
            wanted.append(_chip(found.label(wish.wanted), _PLAIN, percent(wish.probability)))
            push.append("")
        style = _TAKEN if wish.overruled else _PLAIN
        taken.append(_chip(found.label(wish.taken), style, f"token {wish.index + 1}"))
    cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in (wanted, push, taken)]
    rows = [
        f'<tr><th scope="row">{head}</th>{row}</tr>'
        for head, row in zip(("wanted", "pushed", "taken"), cells, strict=True)
    ]
    return f"<table>{''.join(rows)}</table>"
