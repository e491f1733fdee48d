"""What a new process costs until its first mask, part by part: the first on a machine, and those after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from workbench.errors import WorkbenchError

__all__ = ["FIRST", "LATER", "PARTS", "start_up"]

#: the columns: with folders that are empty, and with what the first process has left in them
FIRST, LATER = "the first on a machine", "later ones"
PARTS = (
    "Python",
    "import workbench, NumPy",
    "vocabulary",
    "grammar",
    "engine, kernels",
    "first mask",
)
_PROCESS = """
import sys, time
times = [time.process_time()]
def reached():
    times.append(time.process_time())
import workbench as wb, numpy
reached()
vocabulary = wb.Vocabulary.load(sys.argv[1])
reached()
grammar = wb.json_schema({"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}})
reached()
wb.compile
reached()
wb.compile(grammar, vocabulary).matcher().fill_mask(wb.empty_mask(vocabulary))
reached()
print(times)
"""


def start_up(tokenizer: Path, *, processes: int = 5) -> dict[str, dict[str, float]]:
    """Seconds of CPU time of each part, of the first process and, as the median, of ``processes`` later ones.

    Raises ``WorkbenchError`` when a process fails.
    """
    with TemporaryDirectory(prefix="workbench-start-") as folder:
        first = _parts(tokenizer, Path(folder))
        later = [_parts(tokenizer, Path(folder)) for _ in range(processes)]
    return {
        FIRST: first,
        LATER: {part: median(one[part] for one in later) for part in PARTS},
    }


def _parts(tokenizer: Path, folder: Path) -> dict[str, float]:
    """Seconds of CPU time of each part, of one process that keeps what it makes in a folder."""
    environment = os.environ | {
        "WORKBENCH_KERNELS_DIR": str(folder / "kernels"),
        "WORKBENCH_CACHE_DIR": str(folder),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS, str(tokenizer)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise WorkbenchError(f"a new process made no mask: {done.stderr.strip()[-500:]}")
    times = [0.0, *json.loads(done.stdout)]
    return {part: times[i + 1] - times[i] for i, part in enumerate(PARTS)}
