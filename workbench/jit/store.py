"""Compiled kernels on disk: one file for the kernels of a package, checked before a byte of it is believed.

A file is ``MAGIC``, the SHA-256 of all that follows, the length of a JSON header (8 bytes, little endian), the header
and the object file. Its name has the hash of all that the code was made of and for, so what is found is never stale.
Writing is atomic, so several processes may do it at once; a folder that cannot be written is no error.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from workbench.jit.machine import processor

__all__ = ["Store"]

MAGIC = b"WBKERNEL\x01"
_PREFIX = len(MAGIC) + 32
#: files of older sources that stay beside a new one: other branches and processors may need them
_OLDER = 8
_KIND = ".kernels"


@dataclass(frozen=True, slots=True)
class Store:
    """The file of the kernels of a module, whose sources have a hash."""

    name: str
    folders: tuple[Path, ...]

    @classmethod
    def of(cls, module: str, source: Path, digest: str) -> Store:
        """The store of a module with a source file: beside it, or in the user's cache.

        ``WORKBENCH_KERNELS_DIR`` names another folder.
        """
        made_of = sha256("\0".join([digest, *processor()]).encode()).hexdigest()
        chosen = os.environ.get("WORKBENCH_KERNELS_DIR")
        if chosen:
            folders: tuple[Path, ...] = (Path(chosen).expanduser(),)
        else:
            folders = (source.parent / "__pycache__", _users_folder())
        return cls(f"{module}-{made_of[:24]}{_KIND}", folders)

    def read(self, damaged: list[str]) -> tuple[dict[str, Any], bytes] | None:
        """The header and the object file; None where there is none.

        Files that are there and are not sound are thrown away; their names are added to ``damaged``.
        """
        for folder in self.folders:
            path = folder / self.name
            try:
                raw = path.read_bytes()
            except OSError:
                continue
            body = memoryview(raw)[_PREFIX:]
            if raw[:_PREFIX] == MAGIC + sha256(body).digest():
                end = 8 + int.from_bytes(body[:8], "little")
                return json.loads(bytes(body[8:end])), bytes(body[end:])
            self.throw_away(path)
            damaged.append(str(path))
        return None

    @staticmethod
    def throw_away(path: Path) -> None:
        """Remove a file, if that can be done."""
        with suppress(OSError):
            path.unlink()

    def write(self, header: dict[str, Any], image: bytes) -> str:
        """Keep an object file in the first folder that can be written; else why there is none."""
        text = json.dumps(header).encode()
        body = len(text).to_bytes(8, "little") + text + image
        raw = MAGIC + sha256(body).digest() + body
        why = ""
        for folder in self.folders:
            temporary = folder / f"{self.name}.{token_hex(6)}.tmp"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with temporary.open("xb") as file:
                    file.write(raw)
                temporary.replace(folder / self.name)
            except OSError as error:
                why = why or f"{folder / self.name}: {error.strerror or error}"
                continue
            finally:
                self.throw_away(temporary)
            self._tidy(folder)
            return ""
        return why

    def _tidy(self, folder: Path) -> None:
        """Remove what was made of the oldest sources of the same module."""
        stem = self.name.rpartition("-")[0]
        found = []
        with suppress(OSError):
            for path in folder.iterdir():
                if path.name.rpartition("-")[0] == stem and path.suffix == _KIND:
                    found.append((path.stat().st_mtime, path))
        for _, path in sorted(found)[: -_OLDER - 1]:
            self.throw_away(path)


def _users_folder() -> Path:
    """Where the user's kernels are: ``$WORKBENCH_CACHE_DIR`` or the user's cache."""
    chosen = os.environ.get("WORKBENCH_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser() / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("grammar-workbench")) / "kernels"
