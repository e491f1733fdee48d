"""The user cache folder: where it is, one writer at a time, and folders that appear whole or not at all.

A finished folder holds a manifest with the size, time and hash of every file, so that a folder which
was cut short, edited or damaged is noticed and built again instead of being trusted.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

__all__ = ["build_folder", "cache_dir", "file_hash", "is_intact", "locked"]

MANIFEST = "workbench-manifest.json"


def cache_dir() -> Path:
    """Return the folder for what is fetched or built once; WORKBENCH_CACHE_DIR overrides it."""
    override = os.environ.get("WORKBENCH_CACHE_DIR")
    return (
        Path(override).expanduser()
        if override
        else platformdirs.user_cache_path("grammar-workbench")
    )


def file_hash(path: Path) -> str:
    """Hash a file with SHA-256; returns hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def locked(path: Path, *, progress: bool = True) -> Iterator[None]:
    """Hold a lock between processes; waits for the holder, and says so when it takes long.

    The operating system frees the lock when its holder dies.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=2.0)
    except Timeout:
        if progress:
            print(f"waiting for another process that prepares {path.stem} ...", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def build_folder(target: Path, key: str, build: Callable[[Path], None]) -> None:
    """Build a folder beside its place, then move it there; a failure leaves nothing behind.

    ``key`` says what the folder was made from and by which recipe; :func:`is_intact` compares it.
    Call it under :func:`locked`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for stale in target.parent.glob(f".{target.name}.*"):  # of processes that were killed
        shutil.rmtree(stale, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        build(scratch)
        files = {
            str(path.relative_to(scratch)): _describe(path) | {"sha256": file_hash(path)}
            for path in sorted(scratch.rglob("*"))
            if path.is_file()
        }
        (scratch / MANIFEST).write_text(json.dumps({"key": key, "files": files}, indent=1))
        scratch.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def is_intact(target: Path, key: str) -> bool:
    """Say whether a folder is what :func:`build_folder` left there.

    Sizes and times of the files are compared; a file whose time differs is hashed.
    """
    try:
        manifest = json.loads((target / MANIFEST).read_text())
        if manifest["key"] != key:
            return False
        for name, known in manifest["files"].items():
            now = _describe(target / name)
            if now["size"] != known["size"]:
                return False
            if now["time"] != known["time"] and file_hash(target / name) != known["sha256"]:
                return False
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def _describe(path: Path) -> dict[str, int | str]:
    status = path.stat()
    return {"size": status.st_size, "time": status.st_mtime_ns}
