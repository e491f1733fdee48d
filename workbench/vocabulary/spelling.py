"""What each token of a tokenizer.json spells, in bytes.

The one rule: **a token spells the bytes that the tokenizer's decoder adds for it after other
text.** So a decoder's special treatment of the first token of a text is left out:

- Byte-level BPE: each character of a token stands for one byte (GPT-2's table). A token with a
  character outside the table spells its UTF-8 bytes, as in the ``tokenizers`` library.
- SentencePiece BPE and Unigram: ``▁`` is a space and ``<0xNN>`` is one byte. The dummy space that
  such a tokenizer puts before a text is spelled by the first token, although decoding strips it.
- WordPiece: a token with the continuation prefix (``##ing``) spells what follows the prefix;
  every other token spells a space and itself, less the decoder's clean-up (``" ."`` is ``"."``).
  A text therefore starts with a space, which decoding drops for the first token only.
- No decoder: the pre-tokenizer or normalizer tells (``ByteLevel``, ``Metaspace``, ``" "`` replaced
  by ``▁``); WordPiece and WordLevel tokens are joined by spaces; other tokens spell themselves.
- Added tokens that are not special spell their content (``▁`` in it as above; byte-level
  tokenizers take it verbatim).
- Special tokens, and the unknown token of the model, spell nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import VocabularyError

__all__ = ["MAX_IDS", "Spelling", "byte_level_table", "spell_pieces", "spell_tokenizer"]

#: Token ids at or above this are refused; the largest real vocabularies stay below 2**19.
MAX_IDS = 1 << 24

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_CLEAN_UP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


@dataclass(frozen=True, slots=True)
class Spelling:
    """The bytes of all ids of one tokenizer, and its names."""

    #: Bytes by id; empty for special tokens and for ids that no token has.
    tokens: list[bytes]
    #: Name of each special token by id.
    specials: dict[int, str]
    #: Id by token text as the tokenizer writes it, added tokens included.
    ids: dict[str, int]
    #: Ids of added tokens, special or not.
    added: frozenset[int]
    #: End-of-text ids that the tokenizer's own file declares (SentencePiece models do).
    eos: tuple[int, ...] = ()


def byte_level_table() -> dict[str, int]:
    """Return the byte that each character of a byte-level token stands for (GPT-2's table)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in set(printable)]
    table = {chr(b): b for b in printable}
    table.update({chr(0x100 + i): b for i, b in enumerate(others)})
    return table


class _ByteLevel:
    """Byte-level token text -> bytes, with UTF-8 for texts outside the alphabet."""

    def __init__(self) -> None:
        table = byte_level_table()
        self._latin = str.maketrans({c: chr(b) for c, b in table.items()})
        self._outside = re.compile("[^" + re.escape("".join(table)) + "]")

    def __call__(self, text: str) -> bytes:
        if self._outside.search(text):
            return _utf8(text)
        return text.translate(self._latin).encode("latin-1")


@dataclass(slots=True)
class _Decoder:
    """A decoder of tokenizer.json reduced to what it does to one token in the middle of a text."""

    edits: list[Callable[[str], str]] = field(default_factory=list)
    byte_level: bool = False
    byte_fallback: bool = False
    late: list[tuple[bytes, bytes]] = field(default_factory=list)

    def spell(self, text: str, to_bytes: Callable[[str], bytes]) -> bytes:
        if self.byte_fallback and (match := _BYTE_TOKEN.fullmatch(text)):
            return bytes([int(match[1], 16)])
        for edit in self.edits:
            text = edit(text)
        spelled = to_bytes(text)
        for old, new in self.late:
            spelled = spelled.replace(old, new)
        return spelled


def spell_tokenizer(data: Mapping[str, Any]) -> Spelling:
    """Spell every token of a parsed tokenizer.json.

    Raises VocabularyError when the object is no tokenizer, or one whose decoder is not understood.
    """
    model = data.get("model")
    if not isinstance(model, Mapping) or "vocab" not in model:
        raise VocabularyError("this is no tokenizer.json: it has no model with a vocab")
    pieces = _model_pieces(model)
    added = _added_tokens(data.get("added_tokens") or [])
    ids: dict[str, int] = {}
    for text, i in pieces:
        ids.setdefault(text, i)
    unknown = _unknown_token(model, ids)
    ids.update({content: i for i, (content, _) in added.items()})
    specials = {i: content for i, (content, special) in added.items() if special}
    if unknown is not None and unknown[1] not in specials:
        specials[unknown[1]] = unknown[0]

    decoder = _decoder(data, model)
    byte_level = _ByteLevel()
    to_bytes: Callable[[str], bytes] = byte_level if decoder.byte_level else _utf8
    tokens = [b""] * (1 + max([*(i for _, i in pieces), *added], default=-1))
    if decoder.byte_level and not (decoder.edits or decoder.byte_fallback or decoder.late):
        for text, i in pieces:
            tokens[i] = byte_level(text)
    else:
        for text, i in pieces:
            tokens[i] = decoder.spell(text, to_bytes)
    for i, (content, _) in added.items():
        tokens[i] = _utf8(content) if decoder.byte_level else decoder.spell(content, _utf8)
    for i in specials:
        tokens[i] = b""
    return Spelling(tokens, specials, ids, frozenset(added))


def spell_pieces(
    pieces: Mapping[int, str],
    specials: Mapping[int, str],
    added: Mapping[int, str],
    eos: tuple[int, ...] = (),
) -> Spelling:
    """Spell SentencePiece pieces by id: ``▁`` is a space, ``<0xNN>`` a byte, ``added`` verbatim."""
    decoder = _Decoder(edits=[lambda text: text.replace("\u2581", " ")], byte_fallback=True)
    everything = [*pieces, *specials, *added]
    for i in everything:
        _check_id(i)
    tokens = [b""] * (1 + max(everything, default=-1))
    for i, text in pieces.items():
        tokens[i] = decoder.spell(text, _utf8)
    for i, text in added.items():
        tokens[i] = _utf8(text)
    for i in specials:
        tokens[i] = b""
    ids = {text: i for group in (pieces, added, specials) for i, text in group.items()}
    return Spelling(tokens, dict(specials), ids, frozenset([*added, *specials]), eos)


def _utf8(text: str) -> bytes:
    """Encode text; a lone surrogate, which JSON can hold, becomes U+FFFD as in ``tokenizers``."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _check_id(i: object) -> int:
    if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < MAX_IDS:
        raise VocabularyError(f"this is no tokenizer.json: {i!r:.40} is not a token id")
    return i


def _model_pieces(model: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return (text, id) of each piece; a Unigram vocabulary is a list of (text, score)."""
    vocab = model["vocab"]
    if isinstance(vocab, Mapping):
        for i in vocab.values():
            _check_id(i)
        return list(vocab.items())
    pieces: list[tuple[str, int]] = []
    if not isinstance(vocab, list) or len(vocab) > MAX_IDS:
        raise VocabularyError("this is no tokenizer.json: model.vocab is neither a map nor a list")
    for i, entry in enumerate(vocab):
        if not isinstance(entry, list | tuple) or not entry or not isinstance(entry[0], str):
            raise VocabularyError(
                f"this is no tokenizer.json: entry {i} of model.vocab has no text"
            )
        pieces.append((entry[0], i))
    return pieces


def _added_tokens(entries: object) -> dict[int, tuple[str, bool]]:
    """Return (content, special) by id."""
    added: dict[int, tuple[str, bool]] = {}
    if not isinstance(entries, list):
        raise VocabularyError("this is no tokenizer.json: added_tokens is not a list")
    for entry in entries:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), str):
            raise VocabularyError("this is no tokenizer.json: an added token has no content")
        added[_check_id(entry.get("id"))] = (entry["content"], bool(entry.get("special")))
    return added


def _unknown_token(model: Mapping[str, Any], ids: Mapping[str, int]) -> tuple[str, int] | None:
    """Return (text, id) of the token that stands for anything unknown, where there is one."""
    name, i = model.get("unk_token"), model.get("unk_id")
    if isinstance(name, str) and name in ids:
        return name, ids[name]
    if isinstance(i, int) and isinstance(model["vocab"], list) and 0 <= i < len(model["vocab"]):
        return str(model["vocab"][i][0]), i
    return None


def _parts(component: object, key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the members of a component of tokenizer.json, sequences flattened, in order."""
    pending = [component]
    while pending:
        part = pending.pop()
        if not isinstance(part, Mapping):
            continue
        if part.get("type") == "Sequence":
            members = part.get(key)
            pending.extend(reversed(members if isinstance(members, list) else []))
        else:
            yield part


def _decoder(data: Mapping[str, Any], model: Mapping[str, Any]) -> _Decoder:
    parts = list(_parts(data.get("decoder"), "decoders"))
    decoder = _from_decoder(parts) if parts else _from_encoder(data, model)
    decoder.byte_fallback |= bool(model.get("byte_fallback"))
    suffix = model.get("end_of_word_suffix")
    if suffix and not any(part.get("type") == "BPEDecoder" for part in parts):
        if decoder.byte_level:
            decoder.late.append((suffix.encode(), b" "))
        else:
            decoder.edits.append(lambda text: text.replace(suffix, " "))
    return decoder


def _from_decoder(parts: list[Mapping[str, Any]]) -> _Decoder:
    decoder = _Decoder()
    fused = False
    for part in parts:
        kind = part.get("type")
        if kind == "ByteLevel":
            decoder.byte_level = True
        elif kind == "ByteFallback":
            decoder.byte_fallback = True
        elif kind == "Fuse":
            fused = True
        elif kind == "Strip":
            # After Fuse it trims the ends of the whole text, which a token inside has not.
            if not fused:
                decoder.edits.append(_strip(part))
        elif kind == "Replace" and decoder.byte_level:
            old, new = _literal(part)
            decoder.late.append((old.encode(), new.encode()))
        elif kind in _EDITS:
            decoder.edits.append(_EDITS[kind](part))
        else:
            raise VocabularyError(f"this tokenizer has a decoder of an unknown kind: {kind!r:.60}")
    return decoder


def _from_encoder(data: Mapping[str, Any], model: Mapping[str, Any]) -> _Decoder:
    """Infer a missing decoder from the parts that encode."""
    decoder = _Decoder()
    encoders = list(_parts(data.get("normalizer"), "normalizers"))
    encoders += _parts(data.get("pre_tokenizer"), "pretokenizers")
    for part in encoders:
        kind = part.get("type")
        if kind == "ByteLevel":
            decoder.byte_level = True
        elif kind == "Metaspace":
            decoder.edits.append(_metaspace(part))
        elif kind == "Replace" and (part.get("pattern") or {}).get("String") == " ":
            mark = part.get("content")
            if isinstance(mark, str) and mark:
                decoder.edits.append(lambda text, mark=mark: text.replace(mark, " "))  # type: ignore[misc]
    prefix = model.get("continuing_subword_prefix")
    kind = model.get("type")
    if not decoder.byte_level and (prefix or kind in ("WordPiece", "WordLevel")):
        decoder.edits.append(_word_piece({"prefix": prefix or "", "cleanup": False}))
    return decoder


def _literal(part: Mapping[str, Any]) -> tuple[str, str]:
    """Return (old, new) of a Replace with a plain pattern."""
    pattern, new = part.get("pattern"), part.get("content")
    old = pattern.get("String") if isinstance(pattern, Mapping) else None
    if not isinstance(old, str) or not old or not isinstance(new, str):
        raise VocabularyError(
            f"this tokenizer's decoder replaces by {pattern!r:.60}: not understood"
        )
    return old, new


def _replace(part: Mapping[str, Any]) -> Callable[[str], str]:
    pattern, new = part.get("pattern"), part.get("content")
    regex = pattern.get("Regex") if isinstance(pattern, Mapping) else None
    if isinstance(regex, str) and isinstance(new, str):
        try:
            compiled = re.compile(regex)
        except re.error as error:
            raise VocabularyError(
                f"this tokenizer's decoder replaces by the regular expression {regex!r:.60}, "
                f"which is not understood: {error}"
            ) from None
        literal = new.replace("\\", r"\\")
        return lambda text: compiled.sub(literal, text)
    old, new = _literal(part)
    return lambda text: text.replace(old, new)


def _metaspace(part: Mapping[str, Any]) -> Callable[[str], str]:
    mark = part.get("replacement") or "\u2581"
    return lambda text: text.replace(mark, " ")


def _word_piece(part: Mapping[str, Any]) -> Callable[[str], str]:
    prefix, cleanup = part.get("prefix", "##"), part.get("cleanup", True)

    def edit(text: str) -> str:
        text = text[len(prefix) :] if prefix and text.startswith(prefix) else " " + text
        if cleanup:
            for old, new in _CLEAN_UP:
                text = text.replace(old, new)
        return text

    return edit


def _suffix(part: Mapping[str, Any]) -> Callable[[str], str]:
    suffix = part.get("suffix", "</w>")
    return lambda text: text.replace(suffix, " ") if suffix else text


def _strip(part: Mapping[str, Any]) -> Callable[[str], str]:
    mark, start, stop = part.get("content", " "), part.get("start", 0), part.get("stop", 0)

    def edit(text: str) -> str:
        left = 0
        while left < min(start, len(text)) and text[left] == mark:
            left += 1
        right = len(text)
        while right > max(left, len(text) - stop) and text[right - 1] == mark:
            right -= 1
        return text[left:right]

    return edit


_EDITS: dict[Any, Callable[[Mapping[str, Any]], Callable[[str], str]]] = {
    "Replace": _replace,
    "Metaspace": _metaspace,
    "WordPiece": _word_piece,
    "BPEDecoder": _suffix,
}
