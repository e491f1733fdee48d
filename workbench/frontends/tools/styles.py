"""Arguments of a call, read back from the way in which a family writes them.

>>> schema = {"properties": {"n": {"type": "integer"}}}
>>> read_arguments("qwen_xml", "<parameter=n>\\n1\\n</parameter>\\n</function>", 0, schema)
({'n': 1}, 29)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import WorkbenchError
from workbench.frontends.json_schema.asking import Asking
from workbench.frontends.tools.value_types import EVERY, item, member, type_of, types_of

__all__ = ["Unreadable", "read_arguments"]

_SPACE = re.compile(r"[ \t\r\n]*")


def _skip(text: str, at: int) -> int:
    """Where the text goes on behind white space."""
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


class Unreadable(Exception):
    """What is wrong with a text, and where."""

    def __init__(self, reason: str, at: int) -> None:
        self.reason = reason
        self.at = at
        super().__init__(reason)


def read_arguments(style: str, text: str, at: int, schema: Any) -> tuple[dict[str, Any], int]:
    """The arguments that are written at a place, and where they end, white space behind them included.

    ``schema`` tells the types of values where the style does not. Raises ``Unreadable``.
    """
    try:
        value, at = _READERS[style](text, _skip(text, at), _Told(schema))
    except RecursionError:
        raise Unreadable("the arguments are nested too deeply", at) from None
    if not isinstance(value, dict):
        raise Unreadable("arguments are an object", at)
    return value, at


class _Told:
    """What a schema tells about the values of arguments, by their places in these: names and numbers of items."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._asking: Asking | None = None

    def text(self, place: _Place, value: str) -> str:
        """A text that is written as it is: without the white space around it where the schema allows that alone."""
        bare = value.strip(" \t\r\n")
        if bare == value or not isinstance(self.schema, Mapping):
            return value
        return value if self._allows(place, value) or not self._allows(place, bare) else bare

    def _allows(self, place: _Place, value: str) -> bool:
        wanted: dict[str, Any] = {"const": value}
        for step in reversed(place):
            if isinstance(step, str):
                wanted = {"type": "object", "properties": {step: wanted}, "required": [step]}
            else:
                items = [*[True] * step, wanted]
                wanted = {"type": "array", "prefixItems": items, "minItems": step + 1}
        try:
            if self._asking is None:
                self._asking = Asking(self.schema)
            return self._asking.blame(wanted) is None
        except WorkbenchError:
            return True


#: Names of members and numbers of items that lead to a value.
_Place = tuple[str | int, ...]


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _json(text: str, at: int, told: _Told) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise Unreadable(f"the arguments are not JSON: {error.msg}", error.pos) from None
    except ValueError as error:
        raise Unreadable(f"the arguments are not JSON: {error}", at) from None


def _value(text: str, at: int) -> Any:
    """A value that is JSON, or a word of Python's, which some templates write."""
    bare = text.strip()
    word = {"True": True, "False": False, "None": None}
    if bare in word:
        return word[bare]
    try:
        return json.loads(bare, parse_constant=_refuse)
    except ValueError:
        raise Unreadable(f"{bare[:40]!r} is no JSON value", at) from None


def _typed(text: str, at: int, types: frozenset[str]) -> Any:
    """A value of which only its types are known: where it can be a text and another value, that value."""
    if "string" not in types:
        return _value(text, at)
    if types != {"string"}:
        try:
            value = _value(text, at)
        except Unreadable:
            return text
        if not isinstance(value, str) and (type_of(value) in types):
            return value
    return text


# -- parameters one after the other ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Parameters between tags: ``opening`` has groups ``key`` and, where the type is told, ``kind``."""

    opening: re.Pattern[str]
    closing: str
    #: the kind that says that the value is a text
    raw: str = ""
    #: whether a line feed stands around each value
    lines: bool = False

    def __call__(self, text: str, at: int, told: _Told) -> tuple[Any, int]:
        found: dict[str, Any] = {}
        schema = told.schema
        while opened := self.opening.match(text, at):
            start = opened.end()
            end = text.find(self.closing, start)
            if end < 0:
                raise Unreadable("a parameter does not end", at)
            key = _unescaped(opened["key"])
            value = text[start:end]
            if self.lines:
                value = value.removeprefix("\n").removesuffix("\n")
            if self.raw:
                read = value if opened["kind"] == self.raw else _value(value, start)
            else:
                read = _typed(value, start, types_of(member(schema, schema, key), schema))
            found[key] = told.text((key,), read) if isinstance(read, str) else read
            at = _skip(text, end + len(self.closing))
        return found, at


def _unescaped(key: str) -> str:
    for name, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        key = key.replace(name, char)
    return key


def _dsml(gap: str) -> _Parameters:
    opening = rf'<｜DSML｜{gap}parameter name="(?P<key>[^"]*)" string="(?P<kind>true|false)">'
    return _Parameters(re.compile(opening), f"</｜DSML｜{gap}parameter>", "true")


_FLAT = {
    "qwen_xml": _Parameters(re.compile("<parameter=(?P<key>[^>]*)>"), "</parameter>", lines=True),
    "minimax_xml": _Parameters(re.compile('<parameter name="(?P<key>[^"]*)">'), "</parameter>"),
    "deepseek_xml": _dsml(""),
    "deepseek_v4_1_xml": _dsml(" "),
    "glm_xml": _Parameters(
        re.compile(r"<arg_key>(?P<key>.*?)</arg_key>[ \t\r\n]*<arg_value>", re.DOTALL),
        "</arg_value>",
    ),
    "kimi_k3_xml": _Parameters(
        re.compile(r'<\|open\|>argument key="(?P<key>[^"]*)" type="(?P<kind>[a-z]+)"<\|sep\|>'),
        "<|close|>argument<|sep|>",
        "string",
    ),
}


# -- values inside values --------------------------------------------------------------------------


_COHERE = re.compile(r'<cofl:value(?: name="(?P<key>[^"]*)")? type="(?P<kind>raw|json|dict|list)">')
_COHERE_END = "</cofl:value>"


def _cohere(text: str, at: int, told: _Told, place: _Place = ()) -> tuple[Any, int]:
    found: dict[str, Any] = {}
    while opened := _COHERE.match(text, at):
        if opened["key"] is None:
            raise Unreadable("a value of an object has no name", at)
        key = _unescaped(opened["key"])
        found[key], at = _cohere_value(text, opened, told, (*place, key))
    return found, at


def _cohere_value(text: str, opened: re.Match[str], told: _Told, place: _Place) -> tuple[Any, int]:
    """The value behind an opening tag, and where the text goes on behind its closing one."""
    at, kind = opened.end(), opened["kind"]
    value: Any
    if kind in ("raw", "json"):
        end = text.find(_COHERE_END, at)
        if end < 0:
            raise Unreadable("a value does not end", opened.start())
        written = text[at:end]
        value = told.text(place, written) if kind == "raw" else _value(written, at)
        return value, _skip(text, end + len(_COHERE_END))
    at = _skip(text, at)
    if kind == "dict":
        value, at = _cohere(text, at, told, place)
    else:
        value = []
        while inner := _COHERE.match(text, at):
            one, at = _cohere_value(text, inner, told, (*place, len(value)))
            value.append(one)
    if not text.startswith(_COHERE_END, at):
        raise Unreadable("a value does not end", opened.start())
    return value, _skip(text, at + len(_COHERE_END))


_M3 = "]<]minimax[>["
_M3_OPEN = re.compile(re.escape(_M3) + r"<(?!/)(?P<key>[^>]*)>")


def _minimax_m3(text: str, at: int, told: _Told) -> tuple[Any, int]:
    found, at = _elements(text, at, told.schema, told.schema)
    return dict(found), at


def _elements(text: str, at: int, schema: Any, root: Any) -> tuple[list[tuple[str, Any]], int]:
    """The elements at a place, with their names; items of an array are called ``item``."""
    found: list[tuple[str, Any]] = []
    is_list = types_of(schema, root) == {"array"}
    while (opened := _M3_OPEN.match(text, at)) and not opened["key"].startswith("invoke "):
        key = opened["key"]
        part = item(schema, root, len(found)) if is_list else member(schema, root, key)
        value, at = _element(text, opened, part, root)
        found.append((key, value))
    return found, at


def _element(text: str, opened: re.Match[str], schema: Any, root: Any) -> tuple[Any, int]:
    key = opened["key"]
    closing = f"{_M3}</{key}>"
    types = types_of(schema, root)
    at = _skip(text, opened.end())
    value: Any
    if _M3_OPEN.match(text, at) and types & {"object", "array"}:
        found, at = _elements(text, at, schema, root)
        is_list = "array" in types and all(name == "item" for name, _ in found)
        value = [one for _, one in found] if is_list else dict(found)
    else:
        end = text.find(_M3, opened.end())
        value = text[opened.end() : max(end, opened.end())]
        at = len(text) if end < 0 else end
        if not value.strip() and "string" not in types:
            value = [] if "array" in types else {}
        else:
            value = _typed(value, opened.end(), types - {"array", "object"} or EVERY)
    if not text.startswith(closing, at):
        raise Unreadable(f"the value of {key!r} does not end", opened.start())
    return value, _skip(text, at + len(closing))


_QUOTE = '<|"|>'
_GEMMA_KEY = re.compile(r"[^\s:{}\[\],<]+")
_SCALAR = re.compile(r"[^\s,{}\[\]:<]+")


def _gemma(text: str, at: int, told: _Told | None = None) -> tuple[Any, int]:
    """An object, an array, a text between quotation tokens or another scalar, each with its type."""
    at = _skip(text, at)
    if text.startswith("{", at):
        return _gemma_several(text, at + 1, "}")
    if text.startswith("[", at):
        return _gemma_several(text, at + 1, "]")
    if text.startswith(_QUOTE, at):
        return _quoted(text, at)
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise Unreadable("a value is missing", at)
    return _value(scalar[0], at), _skip(text, scalar.end())


def _gemma_several(text: str, at: int, closing: str) -> tuple[Any, int]:
    members: dict[str, Any] = {}
    items: list[Any] = []
    at = _skip(text, at)
    while not text.startswith(closing, at):
        if members or items:
            if not text.startswith(",", at):
                raise Unreadable(f"neither a comma nor {closing!r} stands here", at)
            at = _skip(text, at + 1)
        if closing == "}":
            key, at = _gemma_key(text, at)
            members[key], at = _gemma(text, at)
        else:
            one, at = _gemma(text, at)
            items.append(one)
    return (members if closing == "}" else items), _skip(text, at + 1)


def _gemma_key(text: str, at: int) -> tuple[str, int]:
    if text.startswith(_QUOTE, at):
        key, at = _quoted(text, at)
    else:
        found = _GEMMA_KEY.match(text, at)
        if found is None:
            raise Unreadable("a name of a member is missing", at)
        key, at = found[0], _skip(text, found.end())
    if not text.startswith(":", at):
        raise Unreadable("no colon stands behind the name of a member", at)
    return key, at + 1


def _quoted(text: str, at: int) -> tuple[str, int]:
    start = at + len(_QUOTE)
    end = text.find(_QUOTE, start)
    if end < 0:
        raise Unreadable("a text does not end", at)
    return text[start:end], _skip(text, end + len(_QUOTE))


_READERS: dict[str, Callable[[str, int, _Told], tuple[Any, int]]] = {
    "json": _json,
    **_FLAT,
    "cohere_xml": _cohere,
    "minimax_m3_xml": _minimax_m3,
    "gemma": _gemma,
}
