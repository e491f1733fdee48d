"""Pictures of automata as images that need no script: the one place where Python draws.

The layout is made by the program of the ``graphviz-pure`` package, a port of Graphviz that its wheels bring along,
so that no machine needs a Graphviz of its own and all draw the same. It measures text by the widths of Courier,
those of every usual fixed-width font, and a character beyond ASCII as wide as its UTF-8 bytes: labels fit their
boxes whatever font a reader has.
"""

from __future__ import annotations

import base64
import functools
import re
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from workbench.automaton.dot import Picture
from workbench.wording import number_of

__all__ = ["NoPicture", "draw", "image_of"]

_PACKAGE = "graphviz-pure"
_SVG = "http://www.w3.org/2000/svg"
#: Seconds that a layout may take, and bytes of an image; the table of transitions stands in for larger ones.
TIME_LIMIT = 10
IMAGE_LIMIT = 90_000


class NoPicture(Exception):
    """There is no picture; the message says why, to the reader of a page."""


@functools.cache
def _program() -> str:
    try:
        files = metadata.files(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.stem == _PACKAGE and Path(str(file.locate())).is_file():
            return str(file.locate())
    raise NoPicture(
        f"pictures need {_PACKAGE}: pip install 'grammar-workbench[notebook]', then show this again"
    )


@functools.lru_cache(maxsize=64)
def draw(source: str) -> bytes:
    """Lay DOT text out and draw it as SVG.

    Raises ``NoPicture`` with the reason where the program is missing, fails or takes too long.
    """
    try:
        done = subprocess.run(
            [_program(), "-Tsvg"],
            input=source.encode(),
            capture_output=True,
            timeout=TIME_LIMIT,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise NoPicture(f"the layout took more than {TIME_LIMIT} s") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", errors="replace").strip().rpartition("\n")[2]
        raise NoPicture(f"the layout failed: {said[:200]}") from None
    except OSError as error:
        raise NoPicture(f"{_PACKAGE} cannot be started: {error}") from None
    return _slim(done.stdout)


def _slim(svg: bytes) -> bytes:
    """The same picture in half the bytes: no comments and titles, the font said once, one decimal."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        parent.text = parent.text if parent.tag == f"{{{_SVG}}}text" else None
        for child in list(parent):
            child.tail = None
            if child.tag == f"{{{_SVG}}}title":
                parent.remove(child)
    root.set("font-family", "monospace")
    for element in root.iter():
        if element is not root:
            element.attrib.pop("font-family", None)
        for name in ("d", "points"):
            if name in element.attrib:
                element.set(name, re.sub(r"(\.\d)\d+", r"\1", element.attrib[name]))
    slim: bytes = ElementTree.tostring(root, encoding="utf-8")
    return slim


def image_of(drawn: Picture, live: Sequence[int]) -> str:
    """The picture as an image, the ``live`` states with a double ring; a sentence where there can be none."""
    lit = "".join(f"\ts{s} [peripheries=2 penwidth=2]\n" for s in live if s in drawn.states)
    source = f"{drawn.source.rstrip().removesuffix('}')}{lit}}}\n"
    try:
        svg = draw(source)
        if len(svg) > IMAGE_LIMIT:
            size = number_of(len(drawn.states), "state")
            raise NoPicture(f"{size} are more than a page should hold as an image")
    except NoPicture as error:
        return f"<p>No picture here: {error}.</p>"
    states = ", ".join(map(str, live[:12])) or "none"
    alt = f"Automaton of {number_of(len(drawn.states) + drawn.hidden, 'state')}; live states: {states}."
    data = base64.b64encode(svg).decode("ascii")
    return f'<p><img alt="{alt}" src="data:image/svg+xml;base64,{data}"></p>'
