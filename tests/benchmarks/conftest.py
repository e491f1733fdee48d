"""A small archive of schemas, made here."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.diagnostics.conftest import _own_cache, tokenizer

__all__ = ["_own_cache", "tokenizer"]

#: name -> file, as in MaskBench's data
Files = dict[str, dict[str, Any]]


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[Files], Path]:
    """Writes files into an archive of the benchmark's form."""

    def write(files: Files) -> Path:
        path = tmp_path / "schemas.tar.xz"
        with tarfile.open(path, "w:xz") as out:
            for name, content in files.items():
                data = json.dumps(content).encode()
                member = tarfile.TarInfo(f"maskbench/{name}")
                member.size = len(data)
                out.addfile(member, io.BytesIO(data))
        return path

    return write


def schema_file(schema: Any, valid: list[Any], invalid: list[Any]) -> dict[str, Any]:
    """A file of the data: a schema with instances that it accepts and others."""
    tests = [{"valid": True, "data": data} for data in valid]
    tests += [{"valid": False, "data": data} for data in invalid]
    return {"description": "made", "meta": {}, "schema": schema, "tests": tests}


#: Four files whose schemas are enums, so that an engine of a few lines is right about them.
FOUR: Files = {
    "colours.json": schema_file({"enum": ["red", "green"]}, ["red", "green"], ["blue", "re"]),
    "numbers.json": schema_file({"enum": [1, 12, [3]]}, [1, 12, [3]], [2, 123]),
    "only-valid.json": schema_file({"enum": [{"a": "ü"}]}, [{"a": "ü"}], []),
    "no-tests.json": schema_file({"enum": [None]}, [], []),
}
