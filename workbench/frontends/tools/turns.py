"""The turn of a model as a format: what it thinks, free text, calls, in the way of its family.

Rules that hold for every family: free text holds nothing that begins a call but where a call begins, and none of the
family's other markers. Where calls stand together in a section, the turn ends with it. A call that is asked for
(``"required"``, or one tool by name) comes at once, behind what the model thinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.frontends.tags.formats import (
    AnyText,
    Capture,
    ConstString,
    Format,
    JSONSchema,
    Marker,
    Optional,
    Or,
    RegexPattern,
    Sequence as Several,
    Star,
    Tag,
    TagsWithSeparator,
    TriggeredTags,
)
from workbench.frontends.tools.calls import FIELDS, pieces_of
from workbench.frontends.tools.choice import Mode
from workbench.frontends.tools.families import ToolFormat
from workbench.frontends.tools.thoughts import Thinking, thoughts

__all__ = ["CallableTool", "turn"]


@dataclass(frozen=True, slots=True)
class CallableTool:
    """A tool that may be called, with the format of its arguments."""

    name: str
    arguments: JSONSchema
    builtin: bool = False


def turn(
    form: ToolFormat, tools: Sequence[CallableTool], mode: Mode, several: bool, thinking: Thinking
) -> Format:
    """The format of a turn; ``tools`` are those that may be called, ``several`` says whether more than once."""
    several = several and mode != "forced"
    if form.shape == "messages":
        return _messages(form, tools, mode, several, thinking)
    if form.shape == "blocks":
        return _blocks(form, tools, mode, several, thinking)
    before = thoughts(form, thinking)
    answer = _text(form, tools, mode, several)
    return answer if before is None else Several((before, answer))


# -- calls -----------------------------------------------------------------------------------------


def literal(form: ToolFormat, text: str) -> str | Marker:
    """A text of a format, which is a marker where markers of the family are in it."""
    return Marker(text) if any(one in text for one in form.markers) else text


def written(form: ToolFormat, text: str) -> Format:
    """A text of a format as a format."""
    found = literal(form, text)
    return found if isinstance(found, Marker) else ConstString(found)


def _calls(form: ToolFormat, tools: Sequence[CallableTool]) -> list[Tag]:
    """Calls of some tools, in all forms that the family has."""
    return [
        _call(form, pieces_of(text), tool)
        for tool in tools
        for text in (form.builtin if tool.builtin else form.call)
    ]


def _call(form: ToolFormat, pieces: tuple[str, ...], tool: CallableTool) -> Tag:
    begin, *inside, end = pieces
    content: list[Format] = []
    for number, piece in enumerate(inside):
        if number % 2:
            content += [written(form, piece)] if piece else []
        elif piece == "name":
            content.append(Capture("name", ConstString(tool.name)))
        elif piece == "arguments":
            content.append(Capture("arguments", tool.arguments))
        else:
            content.append(RegexPattern(FIELDS[piece]))
    whole = Several(tuple(content))
    name = f"tool {tool.name}"
    return Tag(literal(form, begin), whole, literal(form, end), name=name, capture="call")


def _at_once(form: ToolFormat, tools: Sequence[CallableTool], several: bool) -> list[Tag]:
    """What a call begins: the calls themselves, or sections of calls."""
    calls = _calls(form, tools)
    if not form.begin:
        return calls
    inside = TagsWithSeparator(
        tuple(calls), literal(form, form.between), at_least_one=True, stop_after_first=not several
    )
    end = literal(form, form.end)
    return [Tag(literal(form, begin), inside, end) for begin in form.begin]


# -- free text with calls in it --------------------------------------------------------------------


def stray(form: ToolFormat) -> list[str]:
    """What free text may not hold beside the trigger: markers, those of thoughts too, and the tags of a section."""
    block = form.reasoning
    thinks = [] if block is None else [block.open.strip(), block.close]
    inner = [form.end, *(call.partition("«")[0] for call in form.call)] if form.begin else []
    tags = [
        text.strip()
        for text in inner
        if text.startswith("<") or any(marker in text for marker in form.markers)
    ]
    found = dict.fromkeys((*form.markers, *thinks, *tags))
    return [text for text in found if text not in form.trigger and form.trigger not in text]


def _text(form: ToolFormat, tools: Sequence[CallableTool], mode: Mode, several: bool) -> Format:
    if mode in ("auto", "none"):
        free = _free(form, tools, several)
        return Or((free, *_answers(form))) if form.answers else free
    asked = _at_once(form, tools, several)
    calls: Format = Or(tuple(asked)) if len(asked) > 1 else asked[0]
    if mode == "required" and several and not form.begin:
        calls = TriggeredTags(
            (literal(form, form.trigger),),
            tuple(asked),
            at_least_one=True,
            excludes=tuple(stray(form)),
        )
    return Several((ConstString(form.lead), calls)) if form.lead else calls


def _free(form: ToolFormat, tools: Sequence[CallableTool], several: bool) -> Format:
    """Free text, with calls in it where there are tools."""
    if not tools:
        return AnyText((form.trigger, *stray(form)))
    return TriggeredTags(
        (literal(form, form.trigger),),
        tuple(_at_once(form, tools, several)),
        stop_after_first=not several or bool(form.begin),
        excludes=tuple(stray(form)),
    )


def _answers(form: ToolFormat) -> list[Tag]:
    """Answers between markers."""
    inside = AnyText((form.trigger, *stray(form)))
    return [Tag(Marker(begin), inside, Marker(end)) for begin, end in form.answers]


# -- messages on channels --------------------------------------------------------------------------

_NEXT = "<|start|>assistant"
_ENDS = ("<|end|>", "<|return|>")


def _messages(
    form: ToolFormat, tools: Sequence[CallableTool], mode: Mode, several: bool, thinking: Thinking
) -> Format:
    """Messages of one turn: thoughts and remarks, then an answer or calls."""
    calls = _calls(form, tools)
    remark = _message(form, "<|channel|>commentary<|message|>", ("<|end|>",))
    earlier = [remark, *(calls if several else [])]
    before: list[Format] = []
    if thinking.wanted is not False:
        assert form.reasoning is not None
        thought = _message(form, form.reasoning.open, ("<|end|>",))
        earlier.insert(0, thought)
        if thinking.wanted:
            first = thoughts(form, thinking)
            assert first is not None
            before = [first, Marker(_NEXT)]
    last: list[Tag] = list(calls)
    if mode in ("auto", "none"):
        last.insert(0, _message(form, "<|channel|>final<|message|>", _ENDS))
    others = Star(Several((Or(tuple(earlier)), Marker(_NEXT))))
    return Several((*before, others, Or(tuple(last)) if len(last) > 1 else last[0]))


def _message(form: ToolFormat, begin: str, ends: tuple[str, ...]) -> Tag:
    inside = AnyText(tuple(text for text in form.markers if text not in ends))
    return Tag(Marker(begin), inside, tuple(map(Marker, ends)))


# -- blocks in a fixed order -----------------------------------------------------------------------


def _blocks(
    form: ToolFormat, tools: Sequence[CallableTool], mode: Mode, several: bool, thinking: Thinking
) -> Format:
    """A response, then calls: the prompt ends with the opening of the first block."""
    before = thoughts(form, thinking)
    opening = "" if before is None else "<|open|>response<|sep|>"
    response = Several(
        (
            *([Marker(opening)] if opening else []),
            AnyText(form.markers),
            Marker("<|close|>response<|sep|>"),
        )
    )
    parts: list[Format] = [response] if before is None else [before, response]
    if tools:
        (section,) = _at_once(form, tools, several)
        parts.append(Optional(section) if mode == "auto" else section)
    parts.append(Marker("<|close|>message<|sep|>"))
    return Several(tuple(parts))
