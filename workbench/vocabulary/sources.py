"""Where vocabularies come from: tokenizer objects, model folders and tokenizer files.

Everything here is duck-typed; ``transformers``, ``tokenizers`` and ``sentencepiece`` are imported
only when a folder or file can be read no other way.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workbench.errors import VocabularyError
from workbench.inputs import described, wrong_type
from workbench.vocabulary.endings import (
    Declared,
    declared_by_files,
    declared_next_to,
    read_optional,
)
from workbench.vocabulary.spelling import Spelling, spell_pieces, spell_tokenizer
from workbench.wording import number_of

__all__ = ["Source", "open_source"]

#: The largest real tokenizer.json has about 35 MB; more than this is refused.
MAX_FILE_BYTES = 1 << 29

_XZ, _GZIP = b"\xfd7zXZ\x00", b"\x1f\x8b"
_FILES = ("tokenizer.json", "tokenizer.json.xz", "tokenizer.json.gz")


@dataclass(frozen=True, slots=True)
class Source:
    """A tokenizer found, not yet spelled."""

    #: All that the spelling depends on; hashed for the cache.
    material: bytes
    #: Spells every token; raises VocabularyError.
    spell: Callable[[], Spelling]
    declared: Declared
    #: Returns the tokenizer object.
    open_tokenizer: Callable[[], Any]


def open_source(tokenizer: Any) -> Source:
    """Find the tokenizer behind an object or a path. Raises VocabularyError where there is none."""
    if hasattr(tokenizer, "token_bytes") and hasattr(tokenizer, "eos_ids"):
        raise wrong_type("Vocabulary.load", "a tokenizer", tokenizer, "it is one already")
    if isinstance(tokenizer, str | os.PathLike):
        return _open_path(Path(os.fspath(tokenizer)).expanduser())
    return _open_object(tokenizer)


def _open_path(path: Path) -> Source:
    if path.is_dir():
        return _open_folder(path)
    if not path.is_file():
        raise VocabularyError(
            f"there is no file or folder {str(path)!r}; pass a tokenizer object, a model folder, or "
            "a tokenizer.json(.xz) file (a hub id is loaded through workbench.load_model)"
        )
    if path.suffix == ".model":
        return _open_sentencepiece_file(path, Declared())
    declared = Declared()
    if path.name in _FILES:
        declared = declared_by_files(lambda name: read_optional(path.parent / name))
    return _open_json_file(path, declared)


def _open_folder(folder: Path) -> Source:
    declared = declared_by_files(lambda name: read_optional(folder / name))
    for name in _FILES:
        if (folder / name).is_file():
            return _open_json_file(folder / name, declared)
    try:
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:  # whatever transformers raises: the folder is not usable with it
        if (folder / "tokenizer.model").is_file():
            return _open_sentencepiece_file(folder / "tokenizer.model", declared)
        raise VocabularyError(
            f"the folder {str(folder)!r} holds no tokenizer.json, and transformers finds no "
            f"tokenizer there either{_detail(error)}"
        ) from None
    return _open_object(tokenizer)


def _open_json_file(path: Path, declared: Declared) -> Source:
    raw = _read(path)

    def spell() -> Spelling:
        try:
            return _spell_json(_unpack(raw), declared)
        except VocabularyError as error:
            raise VocabularyError(f"{path}: {error}") from None

    return Source(raw, spell, declared, partial(_open_tokenizer_file, path))


def _open_tokenizer_file(path: Path) -> Any:
    """Open a tokenizer.json(.xz) with the ``tokenizers`` library."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise VocabularyError(
            "the tokenizers package is not installed: pip install tokenizers"
        ) from None
    return Tokenizer.from_str(_unpack(_read(path)).decode())


def _open_object(tokenizer: Any) -> Source:
    inner = getattr(tokenizer, "tokenizer", None)
    if inner is not None and not hasattr(tokenizer, "to_str") and hasattr(inner, "eos_token_id"):
        tokenizer = inner  # a processor of a model with several kinds of input
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if callable(getattr(backend, "to_str", None)):
        return _open_backend(tokenizer, backend)
    if hasattr(tokenizer, "sp_model") and hasattr(tokenizer, "convert_ids_to_tokens"):
        pieces = _sentencepiece_tokenizer(tokenizer)
    elif hasattr(tokenizer, "id_to_piece") and hasattr(tokenizer, "is_control"):
        pieces = _sentencepiece_model(tokenizer)
    elif getattr(tokenizer, "_utf_vocab_size", None) == 256:
        return _open_bytes(tokenizer)
    elif hasattr(tokenizer, "_unicode_vocab_size"):
        raise VocabularyError(
            f"{described(tokenizer)} has characters of Unicode as its tokens, and models with it have no logits over "
            "them: there is nothing to constrain"
        )
    elif hasattr(tokenizer, "added_tokens_decoder") and hasattr(tokenizer, "get_vocab"):
        return _open_backend(tokenizer, _convert(tokenizer))
    else:
        raise VocabularyError(
            f"{described(tokenizer)} is not a tokenizer that can be read as bytes; pass a "
            "Hugging Face tokenizer, a model folder, or a tokenizer.json(.xz) path"
        )
    return _piece_source(pieces, declared_next_to(tokenizer), partial(_same, tokenizer))


def _open_backend(tokenizer: Any, backend: Any) -> Source:
    """Read a tokenizer of the ``tokenizers`` library, and what surrounds it."""
    raw = backend.to_str().encode()
    declared = declared_next_to(tokenizer)
    if tokenizer is not backend:
        extra = getattr(tokenizer, "added_tokens_decoder", None) or {}
        added = [
            {"id": i, "content": str(entry), "special": bool(getattr(entry, "special", False))}
            for i, entry in extra.items()
        ]
        declared = Declared(declared.eos, declared.width, tuple(added))
    return Source(raw, lambda: _spell_json(raw, declared), declared, partial(_same, tokenizer))


def _open_bytes(tokenizer: Any) -> Source:
    """Read a tokenizer whose tokens are single bytes, each named by the character of its number (ByT5)."""
    vocabulary = {str(text): int(i) for text, i in tokenizer.get_vocab().items()}
    special = set(map(int, tokenizer.all_special_ids))
    added = {int(i): entry for i, entry in tokenizer.added_tokens_decoder.items()}
    pieces: dict[int, bytes] = {}
    specials: dict[int, str] = {}
    # by id: an added token may have the name of a byte
    for i in sorted({*vocabulary.values(), *range(max(vocabulary.values()))} - added.keys()):
        text = str(tokenizer.convert_ids_to_tokens(i))
        if len(text) == 1 and ord(text) < 256 and i not in special:
            pieces[i] = bytes([ord(text)])
    for i, entry in added.items():
        if entry.special or i in special:
            specials[i] = str(entry)
        else:
            pieces[i] = str(entry).encode("utf-8", "replace")

    def spell() -> Spelling:
        tokens = [b""] * (1 + max(vocabulary.values()))
        for i, data in pieces.items():
            tokens[i] = data
        return Spelling(tokens, specials, vocabulary, frozenset([*added, *specials]))

    material = json.dumps([sorted(vocabulary.items()), sorted(specials), sorted(added), "bytes"])
    return Source(material.encode(), spell, declared_next_to(tokenizer), partial(_same, tokenizer))


def _convert(tokenizer: Any) -> Any:
    """Turn a tokenizer written in Python into one of the ``tokenizers`` library."""
    try:
        from transformers.convert_slow_tokenizer import convert_slow_tokenizer

        return convert_slow_tokenizer(tokenizer)
    except Exception as error:  # each converter fails in its own way
        raise VocabularyError(
            f"a {type(tokenizer).__name__} cannot be read as bytes ({_first_line(error)}); save its "
            "fast form as tokenizer.json and load that"
        ) from None


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The arguments of spell_pieces."""

    pieces: dict[int, str]
    specials: dict[int, str]
    added: dict[int, str]
    eos: tuple[int, ...]


def _piece_source(pieces: _Pieces, declared: Declared, opener: Callable[[], Any]) -> Source:
    parts = [sorted(group.items()) for group in (pieces.pieces, pieces.specials, pieces.added)]
    material = json.dumps([*parts, pieces.eos]).encode()
    return Source(
        material,
        lambda: spell_pieces(pieces.pieces, pieces.specials, pieces.added, pieces.eos),
        declared,
        opener,
    )


def _sentencepiece_model(model: Any) -> _Pieces:
    """Read a ``sentencepiece.SentencePieceProcessor``."""
    pieces: dict[int, str] = {}
    specials: dict[int, str] = {}
    for i in range(model.get_piece_size()):
        special = model.is_control(i) or model.is_unknown(i)
        (specials if special else pieces)[i] = model.id_to_piece(i)
    eos = model.eos_id()
    return _Pieces(pieces, specials, {}, (eos,) if eos >= 0 else ())


def _sentencepiece_tokenizer(tokenizer: Any) -> _Pieces:
    """Read a ``transformers`` tokenizer around a SentencePiece model; its ids may be shifted."""
    model = tokenizer.sp_model
    vocabulary = dict(tokenizer.get_vocab())
    added = {int(i): entry for i, entry in tokenizer.added_tokens_decoder.items()}
    pieces = {i: text for text, i in vocabulary.items() if i not in added}
    specials = {i: str(entry) for i, entry in added.items() if entry.special}
    for i, text in list(pieces.items()):
        at = model.piece_to_id(text)
        if model.id_to_piece(at) == text and (model.is_control(at) or model.is_unknown(at)):
            specials[i] = pieces.pop(i)
    verbatim = {i: str(entry) for i, entry in added.items() if not entry.special}
    return _Pieces(pieces, specials, verbatim, ())


def _open_sentencepiece_file(path: Path, declared: Declared) -> Source:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise VocabularyError(
            f"{path} is a SentencePiece model: pip install sentencepiece, or save the tokenizer as "
            "tokenizer.json"
        ) from None
    raw = _read(path, any_bytes=True)
    try:
        model = SentencePieceProcessor(model_proto=raw)
        if model.get_piece_size() == 0:
            raise RuntimeError("it has no pieces")
    except Exception as error:  # the binding raises RuntimeError, and others for odd files
        raise VocabularyError(
            f"{path} is not a SentencePiece model: {_first_line(error)}"
        ) from None
    return _piece_source(_sentencepiece_model(model), declared, partial(_same, model))


def _spell_json(raw: bytes, declared: Declared) -> Spelling:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"this is no tokenizer.json: {_first_line(error)}") from None
    if not isinstance(data, Mapping):
        raise VocabularyError("this is no tokenizer.json: it is not a JSON object")
    added = data.get("added_tokens") or []
    if declared.added and isinstance(added, list):
        known = {entry["id"] for entry in declared.added}
        kept = [a for a in added if not (isinstance(a, Mapping) and a.get("id") in known)]
        data = {**data, "added_tokens": [*kept, *declared.added]}
    try:
        return spell_tokenizer(data)
    except (TypeError, AttributeError, ValueError) as error:
        # A part of the wrong type somewhere in a decoder or model.
        raise VocabularyError(f"this tokenizer.json is malformed: {_first_line(error)}") from error


def _read(path: Path, *, any_bytes: bool = False) -> bytes:
    """Read a tokenizer file, still packed; refuse what cannot be one before reading it all."""
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise VocabularyError(
                f"{path} has {number_of(size, 'byte')}: too large for a tokenizer"
            )
        with path.open("rb") as file:
            head = file.read(4096)
            if not any_bytes and not head.startswith((_XZ, _GZIP)):
                _check_head(path, head)
            return head + file.read()
    except OSError as error:
        raise VocabularyError(f"{path} cannot be read: {error.strerror}") from None


def _check_head(path: Path, head: bytes) -> None:
    if not head:
        raise VocabularyError(f"{path} is empty")
    if head.startswith(b"GGUF"):
        raise VocabularyError(f"{path} is a GGUF model; load it through workbench.load_model")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if b"\x00" in head or not text.startswith(b"{"):
        raise VocabularyError(f"{path} is not a tokenizer.json(.xz): it is not a JSON object")


def _unpack(raw: bytes) -> bytes:
    """Return the JSON text of a file as bytes, decompressed where needed."""
    try:
        if raw.startswith(_XZ):
            with lzma.LZMAFile(io.BytesIO(raw)) as file:
                text = file.read(MAX_FILE_BYTES + 1)
        elif raw.startswith(_GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as packed:
                text = packed.read(MAX_FILE_BYTES + 1)
        else:
            text = raw
    except (lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise VocabularyError(f"the compressed file is damaged: {_first_line(error)}") from None
    if len(text) > MAX_FILE_BYTES:
        raise VocabularyError(f"it unpacks to more than {MAX_FILE_BYTES:,} bytes")
    return text.removeprefix(b"\xef\xbb\xbf")


def _same(tokenizer: Any) -> Any:
    return tokenizer


def _detail(error: BaseException) -> str:
    """The first line of an error after a colon, unless it only leads up to others."""
    line = _first_line(error)
    return "" if line.endswith(":") else f": {line}"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
