"""Calls of tools read back from a text, in one form whatever the format.

>>> text = '<tool_call>\\n{"name": "search", "arguments": {"q": "tea"}}\\n</tool_call>'
>>> read_calls("qwen3", text)
[ToolCall(name='search', arguments={'q': 'tea'}, start=0, end=70)]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from workbench.errors import BrokenTool, BrokenTools, GrammarSyntaxError
from workbench.frontends.tools.families import ToolFormat
from workbench.frontends.tools.lookup import find_format, known_format
from workbench.frontends.tools.reading import BadTool, listed, read_tool
from workbench.frontends.tools.styles import Unreadable, read_arguments
from workbench.inputs import wrong_type

__all__ = ["FIELDS", "ToolCall", "pieces_of", "read_calls"]

#: What differs from call to call, in the texts of a format, and the texts that may stand there.
FIELDS = {"name": r"[^\s\"'<>\[\](){}|]+?", "number": "[0-9]+", "id": "[A-Za-z0-9]{9}"}
_FIELD = re.compile("«([a-z]+)»")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; ``start`` and ``end`` count the bytes of the text, as those of captures do."""

    name: str
    arguments: dict[str, Any]
    start: int
    end: int


def read_calls(
    source: Any,
    text: str | bytes | Sequence[int],
    *,
    tools: Any = None,
    on_broken: str = "raise",
) -> list[ToolCall]:
    """Read the calls in what a model wrote, in their order.

    ``source`` is the grammar that :func:`~workbench.tools` made (or what was compiled of it), or a format with the
    ``tools``, whose schemas tell the types of arguments that a format writes as plain texts: without them what
    reads as JSON is taken as such. What the model thinks before it answers is passed over. White space between the
    parts of a call may differ from what templates write.

    The text holds special tokens as they are written (``skip_special_tokens=False``); of a compiled grammar it may be
    token ids, as in ``read_calls(out.compiled, out.token_ids)``, and places count bytes with their names then.

    Raises ``GrammarSyntaxError`` for a call that is cut off, cannot be read or names no tool, unless
    ``on_broken="drop"`` passes it over; ``BrokenTools``, ``WrongType`` and ``ValueError`` for other arguments.
    """
    if on_broken not in ("raise", "drop"):
        raise ValueError(f"on_broken is 'raise' or 'drop', not {on_broken!r:.40}")
    form, schemas = _told(source, tools)
    text = _as_text(source, text)
    reader = _Reader(form, schemas, text)
    found = []
    at, counted, n_bytes = reader.start(), 0, 0
    while (start := reader.next_call(at)) is not None:
        try:
            calls, at = reader.read(start)
        except Unreadable as error:
            if on_broken == "raise":
                raise GrammarSyntaxError(
                    f"a call of a tool in the format {form.name} cannot be read: {error.reason}",
                    text=text,
                    start=error.at,
                    hint="read_calls(…, on_broken='drop') passes such calls over",
                ) from None
            at = start + 1
            continue
        for call in calls:
            spans = []
            for place in (call.start, call.end):
                n_bytes += len(text[counted:place].encode("utf-8", "surrogateescape"))
                counted = place
                spans.append(n_bytes)
            found.append(ToolCall(call.name, call.arguments, *spans))
    return found


def _told(source: Any, tools: Any) -> tuple[ToolFormat, Mapping[str, Any] | None]:
    """The format, and the schemas of the tools by name where these are known."""
    if isinstance(source, str | ToolFormat):
        return find_format(source), None if tools is None else _schemas(tools)
    grammar = getattr(source, "grammar", source)
    told = getattr(grammar, "source", None)
    if not (isinstance(told, dict) and "tool_format" in told):
        raise wrong_type(
            "read_calls",
            "a grammar that workbench.tools made, or the name of a format",
            source,
            "read_calls('qwen3', text, tools=tools) reads without the grammar",
        )
    return known_format(told["tool_format"]), told["tools"]


def _schemas(tools: Any) -> dict[str, Any]:
    """The schemas of tools by name. Raises ``BrokenTools`` for what are none."""
    found: dict[str, Any] = {}
    broken = []
    given = listed(tools)
    for index, one in enumerate(given):
        try:
            tool = read_tool(one)
            found[tool.name] = tool.schema
        except BadTool as error:
            broken.append(BrokenTool(index, "", f"#/{index}{error.place}", error.reason))
    if broken:
        raise BrokenTools(broken, len(given))
    return found


def _as_text(source: Any, text: Any) -> str:
    """What a model wrote, special tokens by their names."""
    if isinstance(text, str):
        return text
    vocabulary = getattr(source, "vocabulary", None)
    if hasattr(text, "__iter__") and not isinstance(text, bytes | bytearray) and vocabulary:
        special = vocabulary.special_ids
        text = b"".join(
            vocabulary.special_name(one).encode() if one in special else vocabulary.token_bytes(one)
            for one in text
        )
    if not isinstance(text, bytes | bytearray):
        instead = (
            "token ids are read with the compiled grammar" if hasattr(text, "__iter__") else ""
        )
        raise wrong_type("read_calls", "what a model wrote, as text or bytes", text, instead)
    return bytes(text).decode("utf-8", "surrogateescape")


class _Found(NamedTuple):
    name: str
    arguments: dict[str, Any]
    start: int
    end: int


class _Reader:
    """Reads one text; places in it count characters."""

    def __init__(self, form: ToolFormat, schemas: Mapping[str, Any] | None, text: str) -> None:
        self.form = form
        self.schemas = schemas
        self.text = text
        calls = (*form.call, *form.builtin)
        self.forms = [pieces_of(call) for call in calls]
        first = form.begin or tuple(call.partition("«")[0] for call in calls)
        #: where a call may begin
        self.heads = re.compile("|".join(map(re.escape, sorted({form.trigger, *first}))))

    def start(self) -> int:
        """Where the answer begins: behind the end of thoughts that the prompt has begun."""
        thinks = self.form.reasoning
        if thinks is None or self.form.shape == "messages":
            return 0
        closed = self.text.find(thinks.close)
        opened = self.text.find(thinks.open.strip())
        if closed < 0 or 0 <= opened < closed:
            return 0
        return closed + len(thinks.close)

    def next_call(self, at: int) -> int | None:
        """Where the next call begins, outside of thoughts."""
        thinks = self.form.reasoning
        while (head := self.heads.search(self.text, at)) is not None:
            opened = -1 if thinks is None else self.text.find(thinks.open.strip(), at, head.start())
            if thinks is None or opened < 0:
                return head.start()
            closed = self.text.find(thinks.close, opened)
            if closed < 0:
                return None
            at = closed + len(thinks.close)
        return None

    def read(self, at: int) -> tuple[list[_Found], int]:
        """The call at a place, or all of a section, and where the text goes on. Raises ``Unreadable``."""
        form = self.form
        if not form.begin:
            call = self.call(at)
            return [call], call.end
        inside = None
        for begin in form.begin:
            inside = self.passed(begin, at)
            if inside is not None:
                break
        if inside is None:
            raise Unreadable(f"behind {form.trigger!r} no call begins", at)
        calls = [self.call(inside)]
        while True:
            end = calls[-1].end
            following = self.passed(form.between, end)
            if following is None or (not form.between.strip() and self.passed(form.end, end)):
                break
            calls.append(self.call(following))
        closed = self.passed(form.end, end)
        if closed is None:
            raise Unreadable(f"{form.end.strip()!r} is missing", end)
        return calls, closed

    def call(self, at: int) -> _Found:
        """The one call at a place. Of what is wrong in all forms, that which is farthest on is told."""
        worst = Unreadable("no call begins", at)
        for pieces in self.forms:
            try:
                return self.in_form(pieces, at)
            except Unreadable as error:
                if error.at > worst.at:
                    worst = error
        raise worst

    def in_form(self, pieces: tuple[str, ...], start: int) -> _Found:
        name, at = "", start
        arguments: dict[str, Any] = {}
        for number, piece in enumerate(pieces):
            if number % 2 == 0:
                following = self.passed(piece, at)
                if following is None:
                    cut = len(self.text) - at < len(piece)
                    told = "the text is cut off" if cut else f"{piece.strip()!r} is missing"
                    raise Unreadable(told, at)
                at = following
            elif piece == "arguments":
                schema = True if self.schemas is None else self.schemas[name]
                arguments, at = read_arguments(self.form.style, self.text, at, schema)
            else:
                end = self.field_end(piece, pieces[number + 1 :], at)
                if piece == "name":
                    name = self.text[at:end]
                    if self.schemas is not None and name not in self.schemas:
                        raise Unreadable(f"{name!r} is none of the tools", at)
                at = end
        return _Found(name, arguments, start, at)

    def field_end(self, field: str, rest: tuple[str, ...], at: int) -> int:
        """Where a field ends: before the text that comes next, or, of names, where an object begins."""
        following = (rest[0].split() or [""])[0] if rest else ""
        stop = re.escape(following) if following else r"[\s<{\[]|$"
        if field == "name" and following == ":":
            stop = r":[0-9]+<"
        found = re.compile(f"{FIELDS[field]}(?=\\s*(?:{stop}))").match(self.text, at)
        if found is None:
            raise Unreadable(f"the {field} of the call is missing", at)
        return found.end()

    def passed(self, literal: str, at: int) -> int | None:
        """Where the text goes on behind a literal, whose white space may be other; None where it is not there."""
        if self.text.startswith(literal, at):
            return at + len(literal)
        for char in literal.split():
            while at < len(self.text) and self.text[at].isspace():
                at += 1
            if not self.text.startswith(char, at):
                return None
            at += len(char)
        if literal[-1:].isspace():
            while at < len(self.text) and self.text[at].isspace():
                at += 1
        return at


@cache
def pieces_of(call: str) -> tuple[str, ...]:
    """The texts of a form and, between them, the names of its fields."""
    return tuple(_FIELD.split(call))
