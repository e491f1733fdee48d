"""Turning a prompt into token ids, without letting its text smuggle in special tokens.

What a user writes is data: "<|im_end|>" inside it must not become the token that ends a turn. Plain
text is encoded with special tokens taken as text. In chat messages only the special tokens that the
chat template itself writes are special.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.errors import WorkbenchError

__all__ = ["Prompt", "encode_prompt"]

#: A text, chat messages ({"role": ..., "content": ...}), or token ids.
Prompt = str | Sequence[Mapping[str, Any]] | Sequence[int]

MAX_DEPTH = 50


def encode_prompt(
    tokenizer: Any, prompt: Prompt, chat: bool | None = None
) -> tuple[list[int], str]:
    """Encode a prompt; returns (token ids, the text that they stand for).

    A text becomes one user message when the tokenizer has a chat template, unless ``chat`` is False.
    Raises ``WorkbenchError`` when messages meet a tokenizer without a template, or nothing is left.
    """
    has_template = bool(getattr(tokenizer, "chat_template", None))
    messages: list[Mapping[str, Any]] | None = None
    if isinstance(prompt, str):
        if chat and not has_template:
            raise WorkbenchError("this tokenizer has no chat template: pass chat=False")
        if chat is not False and has_template:
            messages = [{"role": "user", "content": prompt}]
    elif all(isinstance(item, Mapping) for item in prompt) and prompt:
        if not has_template:
            raise WorkbenchError("this tokenizer has no chat template: pass the prompt as a text")
        messages = [item for item in prompt if isinstance(item, Mapping)]
    else:
        return _given_ids(tokenizer, prompt)
    if messages is not None:
        return _encode_chat(tokenizer, messages)
    assert isinstance(prompt, str)
    ids = [int(i) for i in tokenizer(prompt, split_special_tokens=True)["input_ids"]]
    if not ids:
        start = tokenizer.bos_token_id
        start = tokenizer.eos_token_id if start is None else start
        if start is None:
            raise WorkbenchError("the prompt is empty and this tokenizer has no start token")
        ids = [int(start)]
    return ids, prompt


def _given_ids(tokenizer: Any, prompt: Sequence[Any]) -> tuple[list[int], str]:
    if not prompt:
        raise WorkbenchError("the prompt is empty")
    if not all(isinstance(i, int) and not isinstance(i, bool) and i >= 0 for i in prompt):
        raise TypeError("a prompt is a text, a list of messages (dicts), or a list of token ids")
    ids = [int(i) for i in prompt]
    return ids, "" if tokenizer is None else str(tokenizer.decode(ids))


def _encode_chat(tokenizer: Any, messages: list[Mapping[str, Any]]) -> tuple[list[int], str]:
    specials = sorted(
        {str(t) for t in tokenizer.added_tokens_decoder.values() if t.special},
        key=len,
        reverse=True,
    )
    pattern = re.compile("|".join(map(re.escape, specials)) or r"(?!)")
    texts: list[str] = []

    def collect(text: str) -> str:
        texts.append(text)
        return text

    _each_text(messages, collect, 0)
    rendered = _render(tokenizer, messages)
    if not any(pattern.search(text) for text in texts):
        ids = tokenizer(rendered, add_special_tokens=False)["input_ids"]
        return [int(i) for i in ids], rendered
    # Break the special tokens of the messages with a character that occurs nowhere, render, cut at
    # the special tokens that are left (the template's own), and mend the texts between them.
    everything = "".join(texts) + rendered
    breaker = next(c for c in map(chr, range(0xE000, 0xF8FF)) if c not in everything)

    def broken(text: str) -> str:
        return pattern.sub(lambda found: found[0][:1] + breaker + found[0][1:], text)

    result: list[int] = []
    rest = _render(tokenizer, _each_text(messages, broken, 0))
    start = 0
    for found in [*pattern.finditer(rest), None]:
        plain = rest[start : found.start() if found else len(rest)].replace(breaker, "")
        if plain:
            options = {"add_special_tokens": False, "split_special_tokens": True}
            result.extend(int(i) for i in tokenizer(plain, **options)["input_ids"])
        if found:
            result.append(int(tokenizer.convert_tokens_to_ids(found[0])))
            start = found.end()
    return result, rendered


def _render(tokenizer: Any, messages: Any) -> str:
    try:
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    except Exception as error:  # templates raise what they like
        raise WorkbenchError(f"the chat template refuses these messages: {error}") from error
    return str(text)


def _each_text(value: Any, change: Callable[[str], str], depth: int) -> Any:
    """Copy nested messages with every text changed."""
    if depth > MAX_DEPTH:
        raise WorkbenchError(f"messages are nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _each_text(item, change, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(item, change, depth + 1) for item in value]
    return value
