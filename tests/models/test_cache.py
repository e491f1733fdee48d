"""Folders that appear whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.models.cache import build_folder, cache_dir, is_intact, locked


def build(folder: Path) -> None:
    (folder / "a").write_text("alpha")
    (folder / "sub").mkdir()
    (folder / "sub" / "b").write_text("beta")


def test_the_folder_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv("WORKBENCH_CACHE_DIR")
    assert cache_dir().name == "grammar-workbench"


def test_a_folder_is_built_and_known_again(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "thing"
    assert not is_intact(target, "1")
    build_folder(target, "1", build)
    assert is_intact(target, "1")
    assert not is_intact(target, "2")
    assert [item.name for item in target.parent.iterdir()] == ["thing"]


def test_a_failed_build_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    build_folder(target, "1", build)

    def fail(folder: Path) -> None:
        build(folder)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        build_folder(target, "2", fail)
    assert is_intact(target, "1")
    assert [item.name for item in tmp_path.iterdir()] == ["thing"]


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".thing.abc").mkdir()
    build_folder(tmp_path / "thing", "1", build)
    assert [item.name for item in tmp_path.iterdir()] == ["thing"]


@pytest.mark.parametrize("damage", ["cut", "gone", "changed", "manifest", "no manifest"])
def test_damage_is_noticed(tmp_path: Path, damage: str) -> None:
    target = tmp_path / "thing"
    build_folder(target, "1", build)
    file, manifest = target / "sub" / "b", target / "workbench-manifest.json"
    if damage == "cut":
        file.write_text("bet")
    elif damage == "gone":
        file.unlink()
    elif damage == "changed":
        file.write_text("zeta")
    elif damage == "manifest":
        manifest.write_text("{")
    else:
        manifest.unlink()
    assert not is_intact(target, "1")


def test_a_copy_with_other_times_is_intact(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    build_folder(target, "1", build)
    os.utime(target / "a", (1, 1))
    assert is_intact(target, "1")


def test_one_process_at_a_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = (
        "import sys, time; from pathlib import Path; from workbench.models.cache import locked\n"
        "with locked(Path(sys.argv[1])): print('in', flush=True); time.sleep(3.5)"
    )
    path = tmp_path / "thing.lock"
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == b"in"
    with locked(path):
        assert child.wait(timeout=10) == 0
    child.stdout.close()
    assert "waiting for another process that prepares thing" in capfd.readouterr().err
