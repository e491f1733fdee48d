"""What the two packages hold: the sources with all that comes with them, and the wheel with its licenses."""

from __future__ import annotations

import email
import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling is not installed")

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LICENSES = ("LICENSE", "workbench/notebook/static/THIRD_PARTY_LICENSES.txt")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source package, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    (path,) = SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    return folder / Path(path).name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from the unpacked sources."""
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = WheelBuilder(str(sources)).build(directory=str(folder), versions=["standard"])
    return zipfile.ZipFile(path)


def test_the_sources_are_whole(sources: Path) -> None:
    """Whatever the repository holds: tests and their data, docs, constraints, Makefile, front end."""
    asked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if asked.returncode:
        pytest.skip("these sources are no git checkout")
    tracked = {name for name in asked.stdout.split("\0") if name and (ROOT / name).is_file()}
    packed = {p.relative_to(sources).as_posix() for p in sources.rglob("*") if p.is_file()}
    assert tracked - packed == set()
    assert {"Makefile", "constraints.txt", "constraints-oldest.txt", ".ci/run"} <= packed
    assert not [name for name in packed if "node_modules" in name or name.startswith(".venv")]


def test_the_sources_know_their_commands(sources: Path) -> None:
    done = subprocess.run(
        ["make", "-n", "test", "lint", "test-versions"],
        cwd=sources,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pip install" in done.stdout and "versions.py oldest pythons" in done.stdout


def test_the_wheel_holds_the_package_and_its_licenses(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    package = {p.relative_to(ROOT).as_posix() for p in (ROOT / "workbench").rglob("*.py")}
    static = (ROOT / "workbench" / "notebook" / "static").iterdir()
    assert package | {p.relative_to(ROOT).as_posix() for p in static} <= names
    info = next(name for name in names if name.endswith(".dist-info/METADATA")).partition("/")[0]
    assert {name.partition("/")[0] for name in names} == {"workbench", info}
    about = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert about["License-Expression"] == "Apache-2.0"
    assert about.get_all("License-File") == list(LICENSES)
    for name in LICENSES:
        assert wheel.read(f"{info}/licenses/{name}") == (ROOT / name).read_bytes()
    assert b"Eclipse Public License" in wheel.read(f"{info}/licenses/{LICENSES[1]}")


def requirements(groups: tuple[str, ...]) -> dict[str, str]:
    """The version bounds of the requirements of some extras and of the package itself."""
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][g] for g in groups)]
    found = [re.match(r"([\w-]+)(.*?)(;.*)?$", text) for group in lists for text in group]
    return {match[1]: match[2] for match in found if match}


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    """Those that ``make test-oldest`` installs; torch is too large in its older builds."""
    lines = (ROOT / "constraints-oldest.txt").read_text().splitlines()
    oldest = dict(line.split("==") for line in lines if "==" in line)
    bounds = requirements(("models", "notebook", "types"))
    assert set(oldest) == set(bounds) - {"jupyterlab"}
    for name, version in oldest.items():
        least = re.match(r">=([\d.]+)", bounds[name])
        assert least is not None
        if name != "torch":
            assert f"{version}.0".startswith(f"{least[1]}."), f"{name}: {least[1]}, tried {version}"


@pytest.mark.parametrize("name", ["llvmlite", "pydantic", "transformers"])
def test_private_parts_have_upper_bounds(name: str) -> None:
    assert "<" in requirements(("models", "types"))[name]
