"""Kernels on disk: found by later processes, never stale, no matter what becomes of the files."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workbench import jit

pytestmark = pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")

MODULE = """
from pathlib import Path
import numpy as np
from workbench.jit import Array, Kernels, entry

KERNELS = Kernels(__name__, [Path(__file__)], {"values": Array("int32")}, ["total"])

@KERNELS.jit
def one(values, i):
    return values[i] + FACTOR

@KERNELS.jit
def total(values):
    found = 0
    for i in range(values.size):
        found += one(values, i)
    return found

KERNELS.finished()
total = entry(total)
print(total(np.array([1, 2, 3], dtype=np.int32)), int(KERNELS.was_on_disk or 0))
"""


def run_few(folder: Path, code: str = "", **environment: str) -> tuple[str, str]:
    """What a process that imports the small module prints, and what it warns of; its kernels are in ``cache``."""
    module = folder / "few.py"
    if not module.exists():  # nor written again under another process that reads it
        module.write_text(MODULE.replace("FACTOR", "10"))
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", f"{code}\nimport few"],
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
            "WORKBENCH_KERNELS_DIR": str(folder / "cache"),
        }
        | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.strip(), done.stderr


def files_of(folder: Path) -> list[Path]:
    return sorted((folder / "cache").rglob("*.kernels"))


def test_a_module_may_have_kernels_of_its_own(tmp_path: Path) -> None:
    """A second process finds them on disk, until their source changes."""
    assert run_few(tmp_path) == ("36 0", "")
    assert run_few(tmp_path) == ("36 1", "")
    (tmp_path / "few.py").write_text(MODULE.replace("FACTOR", "20"))
    assert run_few(tmp_path) == ("66 0", "")
    assert run_few(tmp_path) == ("66 1", "")


def test_numbers_of_another_file_may_change(tmp_path: Path) -> None:
    """Of one that is no source of the kernels."""
    head = "from other import FACTOR\n"
    (tmp_path / "few.py").write_text(head + MODULE)
    for factor in (10, 10, 20):
        (tmp_path / "other.py").write_text(f"FACTOR = {factor}")
        printed, _ = run_few(tmp_path, PYTHONDONTWRITEBYTECODE="1")
        assert printed.startswith(f"{6 + 3 * factor} ")
    assert run_few(tmp_path) == ("66 1", "")


def test_kernels_run_as_python(tmp_path: Path) -> None:
    assert run_few(tmp_path, WORKBENCH_DISABLE_JIT="1") == ("36 0", "")
    assert not files_of(tmp_path)


def test_kernels_are_kept_beside_their_source(tmp_path: Path) -> None:
    assert run_few(tmp_path, WORKBENCH_KERNELS_DIR="") == ("36 0", "")
    assert [path.parent.name for path in tmp_path.rglob("*.kernels")] == ["__pycache__"]
    assert run_few(tmp_path, WORKBENCH_KERNELS_DIR="") == ("36 1", "")


def test_kernels_are_kept_for_the_user(tmp_path: Path) -> None:
    """Where beside the source nothing can be written; what is there already is used from there."""
    (tmp_path / "__pycache__").write_text("no folder")
    environment = {
        "WORKBENCH_KERNELS_DIR": "",
        "WORKBENCH_CACHE_DIR": str(tmp_path / "user"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    assert run_few(tmp_path, **environment) == ("36 0", "")
    assert len(list((tmp_path / "user" / "kernels").glob("*.kernels"))) == 1
    assert run_few(tmp_path, **environment) == ("36 1", "")


def test_warming_loads_all_kernels() -> None:
    """Whichever module has some: after ``workbench warm`` nothing is left to be compiled later."""
    package = Path(jit.__file__).parents[1]
    having = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts)
        for path in package.rglob("*.py")
        if "= Kernels(" in path.read_text(encoding="utf-8")
    }
    assert "workbench.engine.kernels.signatures" in having
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, workbench.cli; workbench.cli.main(['warm']); print(*sys.modules)",
        ],
        env=os.environ | {"WORKBENCH_DISABLE_JIT": "1"},
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert having <= set(done.stdout.split())


def test_loading_needs_no_compiler(tmp_path: Path) -> None:
    """Neither what translates kernels nor Python's parser is loaded where they are on disk."""
    code = "import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))"
    first, second = run_few(tmp_path, code)[0], run_few(tmp_path, code)[0]
    assert first.startswith("36 0") and "workbench.jit.statements" in first
    assert second.startswith("36 1")
    for name in ("workbench.jit.statements", "workbench.jit.compiling", "tqdm", "numba"):
        assert f"'{name}'" not in second


def test_two_kernels_of_a_name_are_told() -> None:
    kernels = jit.Kernels("some", [], {}, [])
    kernels.jit(_entry_of)
    with pytest.raises(ValueError, match="_entry_of"):
        kernels.jit(_entry_of)


def _entry_of(at: int) -> int:
    return at


@pytest.mark.parametrize("left", [0, 8, 20, 45, 0.5, 0.999])
def test_damaged_kernels_are_compiled_anew(tmp_path: Path, left: float) -> None:
    """Truncated files: one warning names them, and the process after that finds all on disk."""
    assert run_few(tmp_path) == ("36 0", "")
    (path,) = files_of(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(left * len(data)) if left < 1 else int(left)])
    check_damage_is_told(tmp_path, path)


@pytest.mark.parametrize("at", [0, 12, 41, 60, -1000, -1])
def test_altered_kernels_are_compiled_anew(tmp_path: Path, at: int) -> None:
    assert run_few(tmp_path) == ("36 0", "")
    (path,) = files_of(tmp_path)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    check_damage_is_told(tmp_path, path)


def check_damage_is_told(folder: Path, path: Path) -> None:
    printed, warned = run_few(folder)
    assert printed == "36 0"
    assert warned.count("Warning") == 1
    assert "kernels on disk were damaged" in warned
    assert str(path) in warned
    assert run_few(folder) == ("36 1", "")


def test_a_full_disk_stops_nobody(tmp_path: Path) -> None:
    """No file may be larger than a page, as on a disk that is full while kernels are written."""
    pytest.importorskip("resource")
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))"
    printed, warned = run_few(tmp_path, code, PYTHONDONTWRITEBYTECODE="1")
    assert printed == "36 0"
    assert warned.count("Warning") == 1
    assert "cannot be kept on disk" in warned
    assert not list((tmp_path / "cache").rglob("*"))
    assert run_few(tmp_path) == ("36 0", "")
    assert run_few(tmp_path) == ("36 1", "")


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    printed, warned = run_few(tmp_path)
    assert printed == "36 0"
    assert warned.count("Warning") == 1
    assert "cannot be kept on disk" in warned


def test_an_interrupt_leaves_nothing_half_done(tmp_path: Path) -> None:
    """Wherever it comes while kernels are compiled: a second attempt of the same process has all of them."""
    code = """
import pathlib
from workbench.jit import compiling, machine
def interrupted(*_):
    raise KeyboardInterrupt
def attempt(owner, name):
    function = getattr(owner, name)
    setattr(owner, name, interrupted)
    try:
        import few
    except KeyboardInterrupt:
        pass
    else:
        print("not interrupted")
    setattr(owner, name, function)
attempt(compiling, "translated")
attempt(compiling, "object_code")
attempt(pathlib.Path, "replace")
"""
    assert run_few(tmp_path, code) == ("36 0", "")
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".kernels"]
    assert run_few(tmp_path) == ("36 1", "")


def test_another_processor_has_kernels_of_its_own(tmp_path: Path) -> None:
    assert run_few(tmp_path) == ("36 0", "")
    assert run_few(tmp_path, WORKBENCH_CPU_NAME="generic", WORKBENCH_CPU_FEATURES="") == (
        "36 0",
        "",
    )
    assert run_few(tmp_path) == ("36 1", "")
    assert run_few(tmp_path, WORKBENCH_CPU_NAME="generic", WORKBENCH_CPU_FEATURES="") == (
        "36 1",
        "",
    )
    assert len(files_of(tmp_path)) == 2


def test_processes_that_compile_at_once(tmp_path: Path) -> None:
    (tmp_path / "few.py").write_text(MODULE.replace("FACTOR", "10"))
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(run_few, tmp_path) for _ in range(4)]
        assert {one.result()[0][:2] for one in running} == {"36"}
    assert run_few(tmp_path) == ("36 1", "")
    assert len(files_of(tmp_path)) == 1


def test_kernels_of_old_sources_go(tmp_path: Path) -> None:
    """A few stay: of other branches, of other processors."""
    (tmp_path / "cache").mkdir()
    for i in range(30):
        path = tmp_path / "cache" / f"few-{i:024x}.kernels"
        path.touch()
        os.utime(path, (i, i))
    other = tmp_path / "cache" / "another-0.kernels"
    other.touch()
    assert run_few(tmp_path) == ("36 0", "")
    left = files_of(tmp_path)
    assert other in left and len(left) == 10
    assert {path.name for path in left} >= {f"few-{i:024x}.kernels" for i in range(22, 30)}
    assert run_few(tmp_path) == ("36 1", "")
