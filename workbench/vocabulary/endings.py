"""Which token ids end a text, and how wide the logits are, as the files of a model declare it.

What is declared counts: the tokenizer's own end-of-text token, and ``eos_token_id`` of the
generation configuration (of the model configuration where there is no generation configuration,
as ``transformers`` does). Only when nothing is declared, as in a lone tokenizer.json, the added
tokens with a well-known closing name (CLOSING_NAMES) end a text.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import VocabularyError
from workbench.vocabulary.spelling import Spelling

__all__ = [
    "CLOSING_NAMES",
    "Declared",
    "declared_by_files",
    "declared_by_model",
    "declared_next_to",
    "end_ids",
    "read_optional",
]

#: Names of added tokens that end a text or a turn, used when no configuration declares any.
CLOSING_NAMES = (
    "<|end_of_text|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|eom|>",
    "<|eot|>",
    "<|endoftext|>",
    "<|im_end|>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|EOS_TOKEN|>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)


@dataclass(frozen=True, slots=True)
class Declared:
    """What configuration files or a model say of the ids of a tokenizer."""

    #: Ids or names of tokens that end a text.
    eos: tuple[int | str, ...] = ()
    #: Width of the logits, where known.
    width: int | None = None
    #: Added tokens beyond those of tokenizer.json: {"id": .., "content": .., "special": ..}.
    added: tuple[Mapping[str, Any], ...] = ()


def declared_by_files(read: Callable[[str], bytes | None]) -> Declared:
    """Gather what a model folder declares; ``read`` returns the bytes of a file there, or None.

    Raises VocabularyError for a file that is not a JSON object.
    """
    tokenizer = _config(read, "tokenizer_config.json")
    names = {**_config(read, "special_tokens_map.json"), **tokenizer}
    generation = _config(read, "generation_config.json")
    model = _config(read, "config.json")
    text_model = model.get("text_config")
    text_model = text_model if isinstance(text_model, Mapping) else {}

    eos: list[int | str] = []
    name = names.get("eos_token")
    if isinstance(name, Mapping):
        name = name.get("content")
    if isinstance(name, str):
        eos.append(name)
    if generation:
        eos += _ids(generation.get("eos_token_id"), "generation_config.json")
    else:
        declared = model.get("eos_token_id", text_model.get("eos_token_id"))
        eos += _ids(declared, "config.json")
    width = text_model.get("vocab_size", model.get("vocab_size"))
    extra = tokenizer.get("added_tokens_decoder")
    added = [
        {"id": int(i), "content": entry["content"], "special": bool(entry.get("special"))}
        for i, entry in (extra.items() if isinstance(extra, Mapping) else ())
        if i.isdecimal() and isinstance(entry, Mapping) and isinstance(entry.get("content"), str)
    ]
    return Declared(tuple(eos), width if isinstance(width, int) else None, tuple(added))


def declared_by_model(model: Any) -> Declared:
    """Gather what a loaded ``transformers`` model declares: its end ids and its logits width."""
    eos = _ids(getattr(getattr(model, "generation_config", None), "eos_token_id", None), "model")
    head = getattr(model, "get_output_embeddings", lambda: None)()
    width = getattr(head, "out_features", None)
    if not isinstance(width, int):
        config = getattr(model, "config", None)
        text_config = getattr(config, "get_text_config", lambda: config)()
        width = getattr(text_config, "vocab_size", None)
    return Declared(tuple(eos), width if isinstance(width, int) else None)


def declared_next_to(tokenizer: Any) -> Declared:
    """Gather what a ``transformers`` tokenizer and the files it came with declare.

    Looks into the folder or the already downloaded repository that it was loaded from; nothing is
    fetched.
    """
    eos = _ids(getattr(tokenizer, "eos_token_id", None), "tokenizer")
    origin = getattr(tokenizer, "name_or_path", None)
    if not isinstance(origin, str) or not origin:
        return Declared(tuple(eos))
    folder = Path(origin)
    if folder.is_dir():
        files = declared_by_files(lambda name: read_optional(folder / name))
    elif origin.count("/") <= 1 and not folder.exists():
        files = declared_by_files(lambda name: _read_downloaded(origin, name))
    else:
        return Declared(tuple(eos))
    # The tokenizer object may have been given another end token than the files name.
    ids = [end for end in files.eos if isinstance(end, int)]
    return Declared((*eos, *ids), files.width)


def end_ids(declared: Iterable[int | str], spelling: Spelling) -> tuple[int, ...]:
    """Resolve declared ends to ascending ids; what this vocabulary has not is left out."""
    ends = {spelling.ids.get(end, -1) if isinstance(end, str) else end for end in declared}
    ends |= set(spelling.eos)
    found = sorted(end for end in ends if 0 <= end < len(spelling.tokens))
    if not found:
        closing = {spelling.ids.get(name, -1) for name in CLOSING_NAMES}
        found = sorted(closing & spelling.added)
    return tuple(found)


def read_optional(path: Path) -> bytes | None:
    """Read a file, or return None where there is none."""
    return path.read_bytes() if path.is_file() else None


def _read_downloaded(repository: str, name: str) -> bytes | None:
    try:
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(repository, name)
    except (ImportError, ValueError, OSError):
        return None
    return read_optional(Path(found)) if isinstance(found, str) else None


def _config(read: Callable[[str], bytes | None], name: str) -> Mapping[str, Any]:
    raw = read(name)
    if raw is None:
        return {}
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"{name} beside the tokenizer is not JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise VocabularyError(f"{name} beside the tokenizer is not a JSON object")
    return data


def _ids(value: Any, origin: str) -> list[int]:
    """Read ``eos_token_id``: nothing, one id or several."""
    if value is None:
        return []
    values = list(value) if isinstance(value, list | tuple) else [value]
    try:
        return [operator.index(entry) for entry in values]
    except TypeError:
        raise VocabularyError(
            f"eos_token_id of the {origin} is {value!r:.60}, not token ids"
        ) from None
