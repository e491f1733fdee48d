"""Pipes, devices and folders where files are meant: one clear message, at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import workbench as wb
from workbench.cli import main

VOCABULARY = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)] + [b""], 256)


def compiled() -> wb.CompiledGrammar:
    return wb.compile(wb.gbnf('root ::= "abc"'), VOCABULARY)


@pytest.fixture(params=["a pipe", "a device", "a folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    path = tmp_path / "place.gbnf"
    if request.param == "a pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("there are no pipes with names")
        os.mkfifo(path)
    elif request.param == "a device":
        path = Path(os.devnull)
        if not path.is_char_device():
            pytest.skip("there are no devices")
    else:
        path.mkdir()
    return path, request.param


READERS: dict[str, Callable[[Path], object]] = {
    "load_compiled": lambda path: wb.load_compiled(path, VOCABULARY),
    "Trace.load": wb.Trace.load,
    "verify": wb.verify,
}
WRITERS: dict[str, Callable[[Path], object]] = {
    "save": lambda path: compiled().save(path),
    "export": lambda path: wb.export(
        wb.gbnf('root ::= "abc"'), path, tests={"accept": ["abc"]}, overwrite=True
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_not_read(name: str, place: tuple[Path, str]) -> None:
    path, kind = place
    try:
        said = str(READERS[name](path))
    except wb.WorkbenchError as error:
        said = str(error)
    assert kind in said
    assert str(path) in said


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_no_file_is_not_replaced(name: str, place: tuple[Path, str]) -> None:
    path, kind = place
    before = path.stat().st_mode
    with pytest.raises(wb.WorkbenchError, match=kind):
        WRITERS[name](path)
    assert path.stat().st_mode == before


def test_a_grammar_file_that_is_none(
    place: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, kind = place
    assert main(["check", str(path), "--kind", "gbnf"]) != 0
    assert kind in capsys.readouterr().err


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_stays_and_its_file_is_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    WRITERS[name](link)
    assert link.is_symlink()
    assert target.read_bytes()[:3] != b"old"
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["target"]
