"""How families of models write an object with its members between tags.

Texts of tags are markers: special tokens stand in them where a vocabulary has tokens of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from workbench.frontends.json_schema.text.json_values import (
    ARRAY,
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
)

__all__ = ["STYLES", "TAG_STYLES", "TagStyle"]

_NAMES = {
    OBJECT: "object",
    ARRAY: "array",
    STRING: "string",
    NUMBER: "number",
    BOOLEAN: "boolean",
    NULL: "null",
}


@dataclass(frozen=True, slots=True)
class TagStyle:
    """One member is ``before``, its name, what is between for the kind of its value, the value, and ``closing``.

    In ``between`` whitespace may stand between two texts; in ``closing`` ``{}`` is the name. A string is written as it
    is, without ``stop`` in it, other values as ``inner`` says: as JSON, between tags again, or as JSON with bare names
    and strings between ``stop``. ``spaced``: whitespace may stand around values but for any string, and around
    other strings where ``spaced_texts`` says so. ``item`` stands in place of ``before`` and name in an array.
    """

    before: str
    between: Mapping[int, tuple[str, ...]]
    closing: str
    stop: str
    inner: OneOf["json", "tags", "bare"] = "json"
    spaced: bool = True
    spaced_texts: bool = True
    item: str = ""
    item_closing: str = ""
    #: characters of a name that are written otherwise
    escapes: Mapping[str, str] = field(default_factory=dict)
    #: whether names that are not listed can be written
    open: bool = True


def _same(*between: str) -> dict[int, tuple[str, ...]]:
    return dict.fromkeys(_NAMES, between)


def _dsml(gap: str) -> TagStyle:
    between = {kind: (f'" string="{"true" if kind == STRING else "false"}">',) for kind in _NAMES}
    closing = f"</｜DSML｜{gap}parameter>"
    before = f'<｜DSML｜{gap}parameter name="'
    return TagStyle(before, between, closing, closing, spaced_texts=False)


_M3 = "]<]minimax[>["
_COHERE = {OBJECT: "dict", ARRAY: "list", STRING: "raw"}

TAG_STYLES: dict[str, TagStyle] = {
    "qwen_xml": TagStyle("<parameter=", _same(">"), "</parameter>", "</parameter>"),
    "minimax_xml": TagStyle('<parameter name="', _same('">'), "</parameter>", "</parameter>"),
    "minimax_m3_xml": TagStyle(
        f"{_M3}<",
        _same(">"),
        _M3 + "</{}>",
        _M3,
        "tags",
        spaced=False,
        spaced_texts=False,
        item=f"{_M3}<item",
        item_closing=f"{_M3}</item>",
        open=False,
    ),
    "deepseek_xml": _dsml(""),
    "deepseek_v4_1_xml": _dsml(" "),
    "glm_xml": TagStyle(
        "<arg_key>", _same("</arg_key>", "<arg_value>"), "</arg_value>", "</arg_value>"
    ),
    "cohere_xml": TagStyle(
        '<cofl:value name="',
        {kind: (f'" type="{_COHERE.get(kind, "json")}">',) for kind in _NAMES},
        "</cofl:value>",
        "</cofl:value>",
        "tags",
        item="<cofl:value",
        item_closing="</cofl:value>",
        escapes={"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"},
    ),
    "kimi_k3_xml": TagStyle(
        '<|open|>argument key="',
        {kind: (f'" type="{name}"<|sep|>',) for kind, name in _NAMES.items()},
        "<|close|>argument<|sep|>",
        "<|close|>argument<|sep|>",
    ),
    "gemma": TagStyle("", _same(), "", '<|"|>', "bare", spaced=False, spaced_texts=False),
}

#: All ways to write a value.
STYLES = ("json", *TAG_STYLES)
