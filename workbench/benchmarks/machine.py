"""What every benchmark needs to say about where it ran, and to time single calls honestly."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["clock_overhead", "cores", "engine_digest", "file_digest", "machine", "machine_line"]

_PACKAGE = Path(__file__).resolve().parents[1]


def machine() -> dict[str, Any]:
    """The processor, its cores and present load, the system and the interpreter."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "cpu": model,
        "cores": cores(),
        "load": [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def machine_line(about: dict[str, Any], versions: dict[str, str]) -> str:
    """One line of text on a machine and the versions of the engines."""
    load = f", load {about['load'][0]}" if about["load"] else ""
    return f"{about['cpu']}, {about['cores']} cores{load}, Python {about['python']}; " + ", ".join(
        f"{name} {version}" for name, version in versions.items()
    )


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def clock_overhead() -> int:
    """Nanoseconds of CPU between two readings of the thread's clock with nothing but clocks between."""
    least = 1 << 60
    for _ in range(200):
        began = time.thread_time_ns()
        time.perf_counter_ns()
        time.perf_counter_ns()
        least = min(least, time.thread_time_ns() - began)
    return least


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def engine_digest() -> str:
    """A digest of the sources that decide what the engine answers and how fast."""
    total = hashlib.sha256()
    for folder in ("automaton", "engine", "frontends", "grammar", "vocabulary"):
        for path in sorted((_PACKAGE / folder).rglob("*.py")):
            total.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0")
            total.update(path.read_bytes() + b"\0")
    return total.hexdigest()[:16]
