"""Vocabularies on disk: one file a tokenizer, checked before a byte of it is believed.

A file is ``MAGIC``, the SHA-256 of all that follows, the length of a JSON header (8 bytes, little
endian), the header, and the arrays one after the other. There is no pickle in it. Anything that
does not check out (truncated, altered, written by another version of this package, another key)
counts as absent. Writing is atomic, so several processes may do it at once; a folder that cannot be
written is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["cache_directory", "load_entry", "store_entry"]

MAGIC = b"WBVOCAB\x01"
_PREFIX = len(MAGIC) + 32
_DTYPES = {"uint8", "uint16", "int32", "int64"}

Arrays = dict[str, npt.NDArray[Any]]


def cache_directory() -> Path:
    """Return the folder of cached vocabularies: ``$WORKBENCH_CACHE_DIR`` or the user's cache."""
    chosen = os.environ.get("WORKBENCH_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser() / "vocabulary"
    import platformdirs

    return Path(platformdirs.user_cache_dir("grammar-workbench")) / "vocabulary"


@cache
def code_version() -> str:
    """Hash the sources of this package, so that what older code wrote is never used."""
    digest = hashlib.sha256(sys.byteorder.encode())
    for name in ("cache.py", "sources.py", "spelling.py", "trie.py", "vocabulary.py"):
        with contextlib.suppress(OSError):
            digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()


def load_entry(key: str) -> tuple[dict[str, Any], Arrays] | None:
    """Return (meta, arrays) stored under a key, or None when there is no sound entry."""
    try:
        raw = (cache_directory() / f"{key}.vocabulary").read_bytes()
        return _decode(raw, key)
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return None


def store_entry(key: str, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Write an entry; ``meta`` must be plain JSON. Returns whether it could be written."""
    raw = _encode(key, meta, arrays)
    temporary: str | None = None
    try:
        folder = cache_directory()
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f"{key[:16]}.", suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        Path(temporary).replace(folder / f"{key}.vocabulary")
    except (OSError, RuntimeError):
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        return False
    return True


def _encode(key: str, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    header = {
        "key": key,
        "code": code_version(),
        "meta": dict(meta),
        "arrays": [[name, a.dtype.name, list(a.shape)] for name, a in arrays.items()],
    }
    text = json.dumps(header).encode()
    body = b"".join(
        [len(text).to_bytes(8, "little"), text, *(a.tobytes() for a in arrays.values())]
    )
    return MAGIC + hashlib.sha256(body).digest() + body


def _decode(raw: bytes, key: str) -> tuple[dict[str, Any], Arrays]:
    body = memoryview(raw)[_PREFIX:]
    if raw[: len(MAGIC)] != MAGIC or hashlib.sha256(body).digest() != raw[len(MAGIC) : _PREFIX]:
        raise ValueError("not a sound cache file")
    end = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(bytes(body[8:end]))
    if header["key"] != key or header["code"] != code_version():
        raise ValueError("the entry is another's")
    arrays: Arrays = {}
    for name, dtype, shape in header["arrays"]:
        if dtype not in _DTYPES:
            raise ValueError("an array of an unknown type")
        count = int(np.prod(shape, dtype=np.int64))
        # A copy: aligned, writable, and free of the file's buffer.
        array = np.frombuffer(body, dtype, count, end).reshape(shape).copy()
        arrays[name] = array
        end += array.nbytes
    if end != len(body):
        raise ValueError("the entry has bytes too many")
    return header["meta"], arrays
