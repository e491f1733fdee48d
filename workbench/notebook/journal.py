"""What a notebook keeps of a run that goes on: changes in pieces, of which only the last one is written again.

A widget's state holds the document that a page began with, and every change since then. So a step sends
what is new, however long the run is.
"""

from __future__ import annotations

import zlib

__all__ = ["Journal"]

#: Bytes of changes, before they are deflated, after which a piece is closed.
PIECE = 48_000


class Journal:
    """Changes in the order in which they were made; a piece is deflated lines of JSON, one a change."""

    def __init__(self) -> None:
        self._closed: list[bytes] = []
        self._saved = 0
        self._begin()

    def _begin(self) -> None:
        self._press = zlib.compressobj(6)
        self._written: list[bytes] = []
        self._size = 0

    def __len__(self) -> int:
        """The number of pieces, an open one included."""
        return len(self._closed) + (self._size > 0)

    def add(self, change: bytes) -> bool:
        """Add a change; says whether it was the last one of its piece."""
        self._written.append(self._press.compress(change + b"\n"))
        self._size += len(change) + 1
        self._saved = min(self._saved, len(self._closed))
        if self._size < PIECE:
            return False
        self._closed.append(self.piece(len(self._closed)))
        self._begin()
        return True

    def piece(self, number: int) -> bytes:
        """A piece by its number; empty where there is none."""
        if number < len(self._closed):
            return self._closed[number]
        if number >= len(self):
            return b""
        return b"".join(self._written) + self._press.copy().flush()

    def unsaved(self) -> range:
        """The numbers of the pieces that changed since the last call."""
        changed = range(self._saved, len(self))
        self._saved = len(self)
        return changed
