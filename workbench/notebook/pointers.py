"""Where a JSON pointer stands in a JSON text, so that an editor can underline it."""

from __future__ import annotations

import json
import re

__all__ = ["locate"]

_BLANK = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^ \t\r\n,\]}"]+')


def locate(text: str, pointer: str) -> tuple[int, int] | None:
    """The characters ``(start, end)`` of the value at a pointer, or of its nearest parent that exists.

    A member is underlined from its key on. None when the text is not JSON.
    """
    keys = [
        part.replace("~1", "/").replace("~0", "~")
        for part in pointer.removeprefix("#").split("/")[1:]
    ]
    try:
        start = _BLANK.match(text, 0).end()  # type: ignore[union-attr]
        found = (start, _skip(text, start))
        at = start
        for key in keys:
            member = _member(text, at, key)
            if member is None:
                return found
            name, at, end = member
            found = (name, end)
        return found
    except (ValueError, IndexError, RecursionError):
        return None


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _string(text: str, at: int) -> tuple[str, int]:
    end = at + 1
    while text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    value = json.loads(text[at : end + 1], strict=False)
    return str(value), end + 1


def _skip(text: str, at: int) -> int:
    """The end of the value that starts at an offset; iterative, so that depth is no limit."""
    depth = 0
    while True:
        at = _blank(text, at)
        character = text[at]
        if character == '"':
            at = _string(text, at)[1]
        elif character in "[{":
            depth += 1
            at += 1
        elif character in "]}":
            depth -= 1
            at += 1
        elif character in ",:":
            at += 1
        else:
            match = _PLAIN.match(text, at)
            if match is None:
                raise ValueError("not JSON")
            at = match.end()
        if depth == 0 and character not in ",:":
            return at


def _member(text: str, at: int, key: str) -> tuple[int, int, int] | None:
    """Of an object's member or an array's item: where it starts, where its value starts and ends."""
    opening = text[at]
    if opening not in "[{":
        return None
    at = _blank(text, at + 1)
    number = 0
    while text[at] not in "]}":
        begin = at
        name = str(number)
        if opening == "{":
            name, at = _string(text, at)
            at = _blank(text, at) + 1  # the colon
            at = _blank(text, at)
        value, end = at, _skip(text, at)
        if name == key:
            return begin, value, end
        number += 1
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)
    return None
