"""The Vocabulary: a tokenizer seen as bytes.

::

    vocabulary = Vocabulary.load(tokenizer)          # or a folder, or a tokenizer.json(.xz) path
    vocabulary.token_bytes(9906)                     # b"Hello"
    vocabulary.decode([9906, 1917])                  # b"Hello world"
    vocabulary.eos_ids, vocabulary.missing_bytes     # (128001, 128008, 128009), ()

Which bytes a token spells is told in :mod:`workbench.vocabulary.spelling`, which tokens end a text
in :mod:`workbench.vocabulary.endings`, the layout of ``trie`` in :mod:`workbench.vocabulary.trie`.
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from workbench.errors import VocabularyError
from workbench.inputs import need_list, need_number
from workbench.vocabulary import cache
from workbench.vocabulary.endings import Declared, declared_by_model, end_ids
from workbench.vocabulary.labels import label_bytes
from workbench.vocabulary.sources import Source, open_source
from workbench.vocabulary.spelling import MAX_IDS
from workbench.vocabulary.trie import Trie, build_trie
from workbench.wording import number_of

__all__ = ["Vocabulary", "byte_vocabulary"]

_FORMAT = "workbench vocabulary 1"


class Vocabulary:
    """Token id -> bytes, special tokens, end ids, logits width and byte trie of one tokenizer.

    Made by :meth:`load` or :meth:`from_bytes`; not changed afterwards. Equal when the fingerprints
    are. Special tokens (ends always are) spell no bytes and are not in the trie, and neither are
    ids that have no token or an empty one: a grammar over bytes never allows those.
    """

    #: Number of ids, gaps included; every token id is below it.
    size: int
    #: Width of the logits, ``>= size``; ids from ``size`` on are padding, always masked.
    width: int
    #: Ascending ids that end a text; may be empty.
    eos_ids: tuple[int, ...]
    special_ids: frozenset[int]
    #: Length of the longest token.
    max_token_bytes: int
    #: All token bytes one after the other; token ``i`` is ``blob[offsets[i]:offsets[i + 1]]``.
    blob: bytes
    #: int64[size + 1].
    offsets: npt.NDArray[np.int64]
    trie: Trie

    def __init__(
        self,
        *,
        blob: bytes,
        offsets: npt.NDArray[np.int64],
        width: int,
        eos_ids: tuple[int, ...],
        special_names: Mapping[int, str],
        trie: Trie,
        open_tokenizer: Callable[[], Any] | None = None,
    ) -> None:
        """Hold parts that fit together; use :meth:`load` or :meth:`from_bytes` instead."""
        self.blob = blob
        self.offsets = offsets
        self.size = len(offsets) - 1
        self.width = width
        self.eos_ids = eos_ids
        self.special_ids = frozenset(special_names)
        self.trie = trie
        self.max_token_bytes = int(np.diff(offsets).max(initial=0))
        self._names = dict(special_names)
        self._bounds: list[int] = offsets.tolist()
        self._open_tokenizer = open_tokenizer

    @classmethod
    def load(
        cls,
        tokenizer: Any,
        *,
        width: int | None = None,
        eos_ids: int | str | Iterable[int | str] | None = None,
        model: Any = None,
    ) -> Vocabulary:
        """Read a tokenizer as bytes; the result is cached on disk.

        ``tokenizer`` is a tokenizer object of ``transformers``, ``tokenizers`` or
        ``sentencepiece``, a model folder, or the path of a tokenizer.json, plain or compressed (xz,
        gz). ``eos_ids`` (ids or token names) replaces the declared ends. ``width`` is the number of
        logits; by default what the ``model`` or its configuration file says, else the number of
        ids. ``model``, a loaded ``transformers`` model, adds its generation configuration.

        Raises VocabularyError when there is no readable tokenizer, or an end id is not one of its.
        """
        if width is not None:
            width = need_number(width, "Vocabulary", "a number of logits")
        source = open_source(tokenizer)
        declared = source.declared
        if model is not None:
            by_model = declared_by_model(model)
            declared = Declared(
                (*declared.eos, *by_model.eos), by_model.width or declared.width, declared.added
            )
        chosen = None if eos_ids is None else _as_list(eos_ids)
        key = _cache_key(source, declared, width, chosen)
        vocabulary = _from_cache(key, source.open_tokenizer)
        if vocabulary is None:
            vocabulary = _spelled(source, declared, width, chosen)
            _to_cache(key, vocabulary)
        return vocabulary

    @classmethod
    def from_bytes(
        cls,
        tokens: Sequence[bytes],
        eos_ids: int | Iterable[int],
        special_ids: Iterable[int] = (),
        width: int | None = None,
        special_names: Mapping[int, str] | None = None,
    ) -> Vocabulary:
        """Make a vocabulary of byte strings; the id of a token is its index.

        ``special_names`` names special tokens by id and makes its ids special. Raises
        VocabularyError for ids out of range, a width below the number of tokens, or tokens that are
        not bytes.
        """
        need_list(tokens, "Vocabulary.from_bytes", "a list of bytes, one for each token")
        texts = list(tokens)
        for i, text in enumerate(texts):
            if not isinstance(text, bytes | bytearray):
                raise VocabularyError(f"token {i} is {text!r:.60}: not bytes")
        ends = [_index(i, len(texts)) for i in _as_list(eos_ids)]
        given = {_index(i, len(texts)): name for i, name in (special_names or {}).items()}
        special = {*ends, *given, *(_index(i, len(texts)) for i in special_ids)}
        names = {i: given.get(i, f"<special {i}>") for i in special}
        if width is not None:
            width = need_number(width, "Vocabulary", "a number of logits")
        if width is not None and width < len(texts):
            raise VocabularyError(
                f"a width of {width} is too small for {number_of(len(texts), 'token')}"
            )
        width = len(texts) if width is None else width
        return _assemble([bytes(text) for text in texts], names, ends, width, None)

    def token_bytes(self, token_id: SupportsIndex) -> bytes:
        """Return what a token spells: nothing for special tokens, gaps and padding.

        Raises VocabularyError for an id outside ``0 <= id < width``.
        """
        i = self._check(token_id)
        return self.blob[self._bounds[i] : self._bounds[i + 1]] if i < self.size else b""

    def decode(self, token_ids: Iterable[SupportsIndex]) -> bytes:
        """Return the bytes that tokens spell one after the other; special tokens spell none."""
        need_list(token_ids, "decode", "a list of token ids")
        return b"".join(map(self.token_bytes, token_ids))

    def special_name(self, token_id: SupportsIndex) -> str:
        """Return the name of a special token. Raises VocabularyError for any other id."""
        i = self._check(token_id)
        if i not in self._names:
            raise VocabularyError(f"token {i} ({self.label(i)}) is not a special token")
        return self._names[i]

    def special_id(self, name: str) -> int:
        """Return the lowest id of the special token of a name. Raises VocabularyError for no such."""
        found = [i for i, text in self._names.items() if text == name]
        if not found:
            raise VocabularyError(f"this vocabulary has no special token {name!r}")
        return min(found)

    def label(self, token_id: SupportsIndex) -> str:
        """Return a printable line that stands for a token.

        ``·`` is a space, ``↵`` a line feed, ``→`` a tab, ``⟨E2 9C⟩`` bytes that are no UTF-8 text; a
        special token shows its name, an id that spells nothing ``⟨empty⟩`` or ``⟨padding⟩``.
        """
        i = self._check(token_id)
        if i in self._names:
            return self._names[i]
        if i >= self.size:
            return "⟨padding⟩"
        return label_bytes(self.token_bytes(i)) or "⟨empty⟩"

    @cached_property
    def missing_bytes(self) -> tuple[int, ...]:
        """Return the byte values that occur in no token: no text with them can be spelled."""
        missing = np.ones(256, dtype=bool)
        missing[np.frombuffer(self.blob, np.uint8)] = False
        return tuple(np.flatnonzero(missing).tolist())

    @cached_property
    def fingerprint(self) -> str:
        """Return a SHA-256 in hex over all that masks depend on: tokens, specials, ends, width."""
        specials = sorted(self._names.items())
        head = json.dumps([_FORMAT, self.size, self.width, self.eos_ids, specials])
        digest = hashlib.sha256(head.encode())
        digest.update(self.offsets.astype("<i8").tobytes())
        digest.update(self.blob)
        return digest.hexdigest()

    @cached_property
    def tokenizer(self) -> Any:
        """Return the tokenizer object behind this vocabulary, or None if made of bytes.

        For a path it is opened with the ``tokenizers`` library on first use.
        """
        return None if self._open_tokenizer is None else self._open_tokenizer()

    def _check(self, token_id: SupportsIndex) -> int:
        i = need_number(token_id, "a vocabulary", "a token id")
        if not 0 <= i < self.width:
            raise VocabularyError(
                f"token id {i} is outside this vocabulary of {number_of(self.width, 'id')}"
            )
        return i

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"Vocabulary({number_of(self.size, 'token')}, width {self.width:,}, {len(self.special_ids)} special, "
            f"eos {', '.join(map(self.label, self.eos_ids)) or 'none'}, "
            f"{number_of(len(self.missing_bytes), 'byte')} missing, {self.fingerprint[:8]})"
        )


@lru_cache(maxsize=1)
def byte_vocabulary() -> Vocabulary:
    """Each byte is a token, and id 256 is the end."""
    return Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=(256,))


def _as_list(ids: Any) -> list[Any]:
    if isinstance(ids, str) or hasattr(ids, "__index__"):
        return [ids]
    need_list(ids, "Vocabulary", "the ids that end a text")
    return list(ids)


def _index(i: Any, size: int) -> int:
    try:
        found = operator.index(i)
    except TypeError:
        raise VocabularyError(f"{i!r:.60} is not a token id") from None
    if not 0 <= found < size:
        raise VocabularyError(
            f"token id {found} is outside this vocabulary of {number_of(size, 'token')}"
        )
    return found


def _spelled(
    source: Source, declared: Declared, width: int | None, chosen: list[int | str] | None
) -> Vocabulary:
    spelling = source.spell()
    tokens, specials = spelling.tokens, dict(spelling.specials)
    if chosen is None:
        ends = list(end_ids(declared.eos, spelling))
    else:
        for name in chosen:
            if isinstance(name, str) and name not in spelling.ids:
                raise VocabularyError(f"this tokenizer has no token {name!r} to end a text with")
        ids = [spelling.ids[end] if isinstance(end, str) else end for end in chosen]
        ends = [_index(i, len(tokens)) for i in ids]
    by_id = {i: text for text, i in spelling.ids.items() if i in ends}
    for i in ends:
        specials.setdefault(i, by_id.get(i, f"<special {i}>"))

    limit = declared.width if width is None else width
    if limit is None:
        limit = len(tokens)
    if limit < len(tokens):
        # Some tokenizers list tokens of other modalities that the logits have no place for.
        dropped = [i for i in range(max(limit, 0), len(tokens)) if tokens[i]]
        if [i for i in dropped if i not in spelling.added] or limit < 1:
            raise VocabularyError(
                f"a width of {limit:,} is too small for a tokenizer with {number_of(len(tokens), 'id')}"
            )
        tokens = tokens[:limit]
        specials = {i: name for i, name in specials.items() if i < limit}
        ends = [i for i in ends if i < limit]
    return _assemble(tokens, specials, ends, limit, source.open_tokenizer)


def _assemble(
    tokens: list[bytes],
    special_names: Mapping[int, str],
    ends: Iterable[int],
    width: int,
    open_tokenizer: Callable[[], Any] | None,
) -> Vocabulary:
    if width > MAX_IDS:
        raise VocabularyError(f"a width of {width:,} is too large; the most is {MAX_IDS:,}")
    texts = [b"" if i in special_names else text for i, text in enumerate(tokens)]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return Vocabulary(
        blob=b"".join(texts),
        offsets=offsets,
        width=width,
        eos_ids=tuple(sorted(set(ends))),
        special_names=special_names,
        trie=build_trie(texts),
        open_tokenizer=open_tokenizer,
    )


def _cache_key(
    source: Source, declared: Declared, width: int | None, chosen: list[int | str] | None
) -> str:
    given = (
        None if chosen is None else [c if isinstance(c, str) else operator.index(c) for c in chosen]
    )
    extra = [dict(entry) for entry in declared.added]
    settings = [declared.eos, declared.width, extra, None if width is None else int(width), given]
    digest = hashlib.sha256(source.material)
    digest.update(json.dumps([_FORMAT, *settings], default=str).encode())
    return digest.hexdigest()


def _to_cache(key: str, vocabulary: Vocabulary) -> None:
    trie = vocabulary.trie
    meta = {
        "width": vocabulary.width,
        "eos_ids": vocabulary.eos_ids,
        "special_names": sorted(vocabulary._names.items()),
        "fingerprint": vocabulary.fingerprint,
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        "blob": np.frombuffer(vocabulary.blob, np.uint8),
        "offsets": vocabulary.offsets,
        "byte": trie.byte,
        "depth": trie.depth,
        "skip": trie.skip,
        "token": trie.token,
        "duplicates": trie.duplicates,
    }
    cache.store_entry(key, meta, arrays)


def _from_cache(key: str, open_tokenizer: Callable[[], Any]) -> Vocabulary | None:
    entry = cache.load_entry(key)
    if entry is None:
        return None
    meta, arrays = entry
    vocabulary = Vocabulary(
        blob=arrays["blob"].tobytes(),
        offsets=arrays["offsets"],
        width=meta["width"],
        eos_ids=tuple(meta["eos_ids"]),
        special_names=dict(meta["special_names"]),
        trie=Trie(*(arrays[name] for name in ("byte", "depth", "skip", "token", "duplicates"))),
        open_tokenizer=open_tokenizer,
    )
    return vocabulary if vocabulary.fingerprint == meta["fingerprint"] else None
