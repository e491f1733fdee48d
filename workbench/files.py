"""What is read and written are regular files: a pipe would wait for ever, a device has no end, a folder no content."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from workbench.errors import WorkbenchError

__all__ = ["irregular", "to_be_written"]

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def irregular(path: str | os.PathLike[str]) -> str:
    """What is at a path, where that is no regular file: ``a pipe``. Empty for files and where there is nothing."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):  # nothing, or no path at all
        return ""
    return next((name for matches, name in _KINDS if matches(mode)), "")


def to_be_written(path: str | os.PathLike[str]) -> Path:
    """The file that is written for a path: its own, or what a symbolic link leads to, so that the link stays.

    Raises ``WorkbenchError`` for anything but a regular file or a place where there is nothing yet.
    """
    found = irregular(path)
    if found:
        raise WorkbenchError(f"cannot write {os.fspath(path)}: it is {found}, not a file")
    return Path(path).resolve() if Path(path).is_symlink() else Path(path)
