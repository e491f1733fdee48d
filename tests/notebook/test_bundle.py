"""The committed front end belongs to the sources beside it, and loads nothing from elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDGETS = ROOT / "widgets"
STATIC = ROOT / "workbench" / "notebook" / "static"
ADVICE = "the front end is stale: cd widgets && npm ci && npm run build"


def sources_hash() -> str:
    """The hash that build.mjs computes: over path and content of every source."""
    extra = ("build.mjs", "layout-plugin.mjs", "package.json", "package-lock.json", "tsconfig.json")
    paths = [p for p in (WIDGETS / "src").rglob("*") if p.is_file()]
    names = sorted([p.relative_to(WIDGETS).as_posix() for p in paths] + list(extra))
    lines = [f"{n}\n{hashlib.sha256((WIDGETS / n).read_bytes()).hexdigest()}\n" for n in names]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.fixture(scope="module")
def manifest() -> dict[str, object]:
    return json.loads((STATIC / "manifest.json").read_text())


def test_is_built_from_these_sources(manifest: dict[str, object]) -> None:
    assert manifest["sources"] == sources_hash(), ADVICE


def test_was_not_edited_after_the_build(manifest: dict[str, dict[str, str]]) -> None:
    assert set(manifest["outputs"]) == {"stepper.js", "stepper.css"}
    for name, digest in manifest["outputs"].items():
        text = (STATIC / name).read_text(encoding="utf-8")
        assert hashlib.sha256(text.encode()).hexdigest() == digest, ADVICE


def test_imports_and_fetches_nothing() -> None:
    text = (STATIC / "stepper.js").read_text(encoding="utf-8")
    text, replaced = re.subn(r"\S{20000,}", " ", text)  # the WebAssembly, written as text
    assert replaced == 1
    assert 20_000 < len(text) < 300_000
    # Only what the page itself made may be imported: a variable, never a written address.
    assert not re.search(r"\bimport\s*[\"'{*]|\bimport\(\s*[\"'`]", text)
    assert not re.search(r"\bfrom\s*[\"'][^\"']*[\"']\s*[;\n]", text)
    addresses = set(re.findall(r"(?:https?:)?//[a-z][a-z0-9.-]+\.[a-z]{2,}[^\"'`\s]*", text, re.I))
    assert {a for a in addresses if "www.w3.org" not in a} == set()
    style = (STATIC / "stepper.css").read_text(encoding="utf-8")
    assert "@import" not in style
    assert "url(" not in style


def test_is_an_anywidget_module() -> None:
    text = (STATIC / "stepper.js").read_text(encoding="utf-8")
    assert re.search(r"export\s*\{\s*\w+ as default\b", text)
