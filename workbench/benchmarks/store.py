"""Where benchmarks keep their results as they arise, so that an interrupted run can go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError

__all__ = ["Store"]


class Store:
    """A file of JSON lines that only grows; a torn last line is dropped when it is opened again.

    Raises ``WorkbenchError`` for a file that is there and is not to be gone on with.
    """

    def __init__(self, path: Path, *, resume: bool = True) -> None:
        if path.exists() and not resume:
            raise WorkbenchError(
                f"{path} holds results already: resume it (--resume), remove it, or name another one"
            )
        self.path = path
        self._file: Any = None

    def load(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The records by key and schema; makes the file ready to go on with."""
        known: dict[tuple[str, str], dict[str, Any]] = {}
        try:
            content = self.path.read_bytes() if self.path.exists() else b""
            end = 0
            for line in content.splitlines(keepends=True):
                try:
                    record = json.loads(line) if line.endswith(b"\n") else None
                except ValueError:
                    record = None
                if not isinstance(record, dict):
                    break
                end += len(line)
                if "schema" in record:
                    known[record["key"], record["schema"]] = record
            if end < len(content):
                with self.path.open("r+b") as file:
                    file.truncate(end)
        except OSError as error:
            raise WorkbenchError(f"cannot read {self.path}: {error.strerror or error}") from error
        return known

    def __enter__(self) -> Store:
        try:
            self._file = self.path.open("ab", buffering=0)
        except OSError as error:
            raise WorkbenchError(f"cannot write {self.path}: {error.strerror or error}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, record: dict[str, Any]) -> None:
        """Add a line, whole."""
        self._file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
