"""What a model thinks before it answers, as a format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from workbench.frontends.tags.formats import (
    AnyText,
    AnyTokens,
    Capture,
    ConstString,
    Format,
    Marker,
    Optional,
    Or,
    Sequence as Several,
)
from workbench.frontends.tools.families import Reasoning, ToolFormat
from workbench.inputs import need_at_least, wrong_type

__all__ = ["Thinking", "read_thinking", "thoughts"]


@dataclass(frozen=True, slots=True)
class Thinking:
    """Whether thoughts come first: they do, may (None), do not, or are an empty block (``"off"``).

    ``opened`` says whether the prompt ends with their opening marker; None is either way, of a family whose prompts
    do so when the model is to think.
    """

    wanted: bool | Literal["off"] | None
    opened: bool | None
    tokens: int | None = None
    chars: int | None = None


def read_thinking(form: ToolFormat, wanted: Any, opened: Any, tokens: Any, chars: Any) -> Thinking:
    """What the arguments about reasoning ask of a family. Raises ``WrongType`` and ``ValueError``."""
    if not (wanted is None or isinstance(wanted, bool) or wanted == "off"):
        raise wrong_type("reasoning", "True, False, None or 'off'", wanted)
    if not (opened is None or isinstance(opened, bool)):
        raise wrong_type("reasoning_opened", "True, False or None", opened)
    block = form.reasoning
    if block is None:
        if wanted:
            raise ValueError(f"models of the format {form.name} write no reasoning: leave it out")
        return Thinking(False, False)
    if wanted == "off" and block.empty is None:
        raise ValueError(
            f"templates of the format {form.name} write no empty block: reasoning=False leaves it out"
        )
    if wanted is False and opened:
        instead = "'off' writes the end of the empty block" if block.empty else "True lets it think"
        raise ValueError(f"the prompt has begun the reasoning, which has to end: {instead}")
    if opened and wanted is None:
        wanted = True
    for name, value in (("reasoning_tokens", tokens), ("reasoning_chars", chars)):
        if value is not None and wanted is not True:
            raise ValueError(f"{name} bounds reasoning that has to come: pass reasoning=True")
    if tokens is not None and chars is not None:
        raise ValueError("pass reasoning_tokens or reasoning_chars, not both")
    if opened is None and not (wanted is None and block.opened):
        opened = block.opened and wanted is True
    return Thinking(
        wanted,
        opened,
        None if tokens is None else need_at_least(0, tokens, "reasoning_tokens"),
        None if chars is None else need_at_least(0, chars, "reasoning_chars"),
    )


def thoughts(form: ToolFormat, thinking: Thinking) -> Format | None:
    """The block of thoughts; None where there is none."""
    block = form.reasoning
    if block is None or thinking.wanted is False:
        return None
    if thinking.wanted == "off":
        return _empty(block, thinking.opened is True)
    inside = Capture("thoughts", _inside(form, block, thinking))
    rest: list[Format] = [inside, Marker(block.close)]
    if block.after:
        rest.append(ConstString(block.after))
    whole = Several((Marker(block.open), *rest))
    begun = Several(tuple(rest))
    if thinking.wanted:
        return begun if thinking.opened else whole
    return Optional(whole if thinking.opened is False else Or((whole, begun)))


def _empty(block: Reasoning, opened: bool) -> Format:
    assert block.empty is not None
    if not opened:
        return Marker(block.empty)
    rest = block.empty.removeprefix(block.open)
    # prompts end with the marker, or with a line feed behind it
    plain = rest.lstrip("\n")
    return Marker(rest) if rest == plain else Or((Marker(rest), Marker(plain)))


def _inside(form: ToolFormat, block: Reasoning, thinking: Thinking) -> Format:
    """The thoughts themselves: free text without markers, or a number of any tokens but that which ends them."""
    if thinking.tokens is not None:
        markers = [one for one in form.markers if block.close.startswith(one)]
        return AnyTokens((max(markers, key=len, default=block.close),), thinking.tokens)
    others = (block.open.strip(), block.close, form.trigger, *form.markers)
    return AnyText(tuple(dict.fromkeys(others)), thinking.chars)
