"""Two processes share the compilation of the kernels, through files."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Lock
from time import sleep

import pytest
from hypothesis import given, settings, strategies as st

from workbench import jit
from workbench.engine.kernels import hash_consing, sequences, signatures, slice_walks
from workbench.jit import _Kernel, _share


class Work:
    """Stands for the compiler: what each process compiled, and what is on disk for all."""

    def __init__(self, seed: int = 0) -> None:
        self.lock = Lock()
        self.rng = Random(seed)
        self.disk: set[str] = set()
        self.compiled: list[str] = []

    def load(self, kernel: _Kernel) -> bool:
        loaded, calls = kernel.dispatcher, kernel.calls
        assert calls <= loaded, f"{kernel.name} before {calls - loaded}"
        with self.lock:
            known = kernel.name in self.disk
            pause = self.rng.random() / 2000
        if not known:
            sleep(pause)
            with self.lock:
                self.compiled.append(kernel.name)
                self.disk.add(kernel.name)
        loaded.add(kernel.name)
        return known


def kernels_of(calls: list[list[int]], loaded: set[str]) -> list[_Kernel]:
    return [
        _Kernel(f"k{i}", loaded, (), i, frozenset(f"k{j}" for j in some))
        for i, some in enumerate(calls)
    ]


@st.composite
def callees(draw: st.DrawFn) -> list[list[int]]:
    """Of each kernel those before it that it calls."""
    n = draw(st.integers(1, 14))
    return [draw(st.lists(st.integers(0, i - 1), max_size=3)) if i else [] for i in range(n)]


@settings(max_examples=40, deadline=None)
@given(callees(), st.integers(0, 1000))
def test_two_processes_compile_each_kernel_once(calls: list[list[int]], seed: int) -> None:
    work = Work(seed)
    sides: list[set[str]] = [set(), set()]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "_load", work.load)
        patch.setattr(jit, "_keep_apart", lambda kernel: None)
        with ThreadPoolExecutor(2) as pool:
            for done in [
                pool.submit(_share, kernels_of(calls, loaded), Path(folder), lambda: True)
                for loaded in sides
            ]:
                done.result(60)
    everything = {f"k{i}" for i in range(len(calls))}
    assert sides == [everything, everything]
    assert sorted(work.compiled) == sorted(everything)


def test_what_a_dead_process_has_begun_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work()
    monkeypatch.setattr(jit, "_load", work.load)
    monkeypatch.setattr(jit, "_keep_apart", lambda kernel: None)
    (tmp_path / "k0").touch()
    (tmp_path / "k2").touch()
    asked = iter([True] * 5)
    loaded: set[str] = set()
    _share(kernels_of([[], [0], [1]], loaded), tmp_path, lambda: next(asked, False))
    assert work.compiled == ["k0", "k1", "k2"]
    assert next(asked, None) is None


def test_a_folder_that_is_gone_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work()
    monkeypatch.setattr(jit, "_load", work.load)
    monkeypatch.setattr(jit, "_keep_apart", lambda kernel: None)
    _share(kernels_of([[], [0]], set()), tmp_path / "gone", lambda: True)
    assert work.compiled == ["k0", "k1"]


MODULE = """
from pathlib import Path
import numpy as np
from numba import int32
from workbench.jit import Kernels, entry

KERNELS = Kernels(__name__, [Path(__file__)], {"values": int32[::1]}, ["total"])

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
hits = one.stats.cache_hits
print(total(np.array([1, 2, 3], dtype=np.int32)), sum(hits.values()))
"""


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
def test_a_module_may_have_kernels_of_its_own(tmp_path: Path) -> None:
    """A second process finds them on disk, until their source changes; who shares other kernels does not mind."""
    path = tmp_path / "few.py"

    def run(factor: int, **environment: str) -> str:
        path.write_text(MODULE.replace("FACTOR", str(factor)))
        done = subprocess.run(
            [sys.executable, "-c", "import few"],
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
            | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "compiling" not in done.stderr
        return done.stdout.strip()

    assert run(10) == "36 0"
    assert run(10) == "36 1"
    assert run(20, **{jit._SHARED: "others=" + str(tmp_path)}) == "66 0"
    assert run(20) == "66 1"
    assert not (tmp_path / "one").exists()


def test_the_engine_loads_all_kernels() -> None:
    """Whichever module has some: ``workbench warm`` makes an engine, and nothing is left to be compiled later."""
    package = Path(jit.__file__).parent
    having = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts)
        for path in package.rglob("*.py")
        if "= Kernels(" in path.read_text(encoding="utf-8")
    }
    assert "workbench.engine.kernels.signatures" in having
    done = subprocess.run(
        [sys.executable, "-c", "import sys, workbench.engine; print(*sys.modules)"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert having <= set(done.stdout.split())


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
def test_two_kernels_of_a_name_are_told() -> None:
    kernels = jit.Kernels("some", [], {}, [])
    kernels.jit(_entry_of)
    with pytest.raises(ValueError, match="_entry_of"):
        kernels.jit(_entry_of)


def _entry_of(at: int) -> int:
    return at


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
def test_callees_are_known() -> None:
    """Each kernel that another one names was loaded with the signature that its arguments' names say."""
    assert not signatures._KERNELS._waiting
    for dispatcher in (slice_walks.walk_self_loop, sequences.accept_at, hash_consing.intern):
        assert len(dispatcher.signatures) == 1
        assert not dispatcher._can_compile


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
            "NUMBA_CACHE_DIR": str(folder / "cache"),
        }
        | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.strip(), done.stderr


def files_of(folder: Path, kind: str) -> list[Path]:
    return sorted((folder / "cache").rglob(f"*.{kind}"))


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 20, 0.5])
def test_damaged_kernels_are_compiled_anew(tmp_path: Path, kind: str, left: float) -> None:
    """Truncated files: one warning names them, and the process after that finds all on disk."""
    assert run_few(tmp_path) == ("36 0", "")
    files = files_of(tmp_path, kind)
    assert len(files) == 2
    for path in files:
        data = path.read_bytes()
        path.write_bytes(data[: int(left * len(data)) if left < 1 else int(left)])
    printed, warned = run_few(tmp_path)
    assert printed == "36 0"
    assert warned.count("Warning") == 1
    assert "kernels on disk were damaged" in warned and "and 1 more" in warned
    assert str(tmp_path / "cache") in warned
    assert run_few(tmp_path) == ("36 1", "")


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
def test_a_full_disk_stops_nobody(tmp_path: Path) -> None:
    """No file may be larger than a page, as on a disk that is full while kernels are written."""
    pytest.importorskip("resource")
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))"
    printed, warned = run_few(tmp_path, code, PYTHONDONTWRITEBYTECODE="1")
    assert printed == "36 0"
    assert warned.count("Warning") == 1
    assert "cannot be kept on disk" in warned
    assert not list((tmp_path / "cache").rglob("*.tmp.*"))
    assert run_few(tmp_path) == ("36 0", "")
    assert run_few(tmp_path) == ("36 1", "")


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    assert run_few(tmp_path)[0] == "36 0"


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
def test_another_processor_has_kernels_of_its_own(tmp_path: Path) -> None:
    assert run_few(tmp_path) == ("36 0", "")
    assert run_few(tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == ("36 0", "")
    assert run_few(tmp_path) == ("36 1", "")
    assert len(files_of(tmp_path, "nbc")) == 4


@pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")
def test_processes_that_compile_at_once(tmp_path: Path) -> None:
    (tmp_path / "few.py").write_text(MODULE.replace("FACTOR", "10"))
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(run_few, tmp_path) for _ in range(4)]
        assert {one.result()[0][:2] for one in running} == {"36"}
    assert run_few(tmp_path) == ("36 1", "")
