"""The committed front end: of the sources beside it, with its licenses, and loading nothing from elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDGETS = ROOT / "widgets"
STATIC = ROOT / "workbench" / "notebook" / "static"
LICENSES = "THIRD_PARTY_LICENSES.txt"
ADVICE = "the front end is stale: cd widgets && npm ci && npm run build"


def sources_hash() -> str:
    """The hash that build.mjs computes: over path and content of every source."""
    extra = ("build.mjs", "layout-plugin.mjs", "licenses.mjs")
    extra += ("package.json", "package-lock.json", "tsconfig.json")
    paths = [p for name in ("src", "licenses") for p in (WIDGETS / name).rglob("*") if p.is_file()]
    names = sorted([p.relative_to(WIDGETS).as_posix() for p in paths] + list(extra))
    lines = [f"{n}\n{hashlib.sha256((WIDGETS / n).read_bytes()).hexdigest()}\n" for n in names]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.fixture(scope="module")
def manifest() -> dict[str, object]:
    return json.loads((STATIC / "manifest.json").read_text())


def test_is_built_from_these_sources(manifest: dict[str, object]) -> None:
    assert manifest["sources"] == sources_hash(), ADVICE


def test_was_not_edited_after_the_build(manifest: dict[str, dict[str, str]]) -> None:
    assert set(manifest["outputs"]) == {"stepper.js", "stepper.css", LICENSES}
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


# Licenses


def sections() -> dict[str, str]:
    """The software that the license file names, each with its license and text."""
    text = (STATIC / LICENSES).read_text(encoding="utf-8")
    parts = re.split(r"^={98}$", text, flags=re.M)
    return {
        head.strip().splitlines()[0]: f"{head}\n{body}"
        for head, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_licenses_of_all_that_is_bundled_are_there() -> None:
    """Every package that the sources import, and what is known to be compiled into it."""
    imported = set()
    for path in (WIDGETS / "src").rglob("*.ts"):
        names = re.findall(r"""from ["']((?:@[^/"']+/)?[^./"'][^"'/]*)""", path.read_text())
        imported |= {name for name in names if name != "layout-source"}
    listed = json.loads((WIDGETS / "licenses" / "compiled-in.json").read_text())
    lock = json.loads((WIDGETS / "package-lock.json").read_text())["packages"]
    found = sections()
    assert imported and set(listed) <= imported
    for name in imported:
        version = lock[f"node_modules/{name}"]["version"]
        assert len(found[f"{name} {version}"]) > 1000
        if name in listed:
            assert listed[name]["version"] == version, "see what is compiled into the new version"
    for name, about in listed.items():
        for part in about["parts"]:
            title = " ".join([part["name"], *filter(None, [part.get("version")])])
            section = found[f"{title} (in {name})"]
            assert f"License: {part['license']}" in section and part["copyright"] in section
            assert f"Source: {part['source']}" in section
    assert "Eclipse Public License - v 2.0" in found["Graphviz 16.1.0 (in @hpcc-js/wasm-graphviz)"]


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    if found is None or not (WIDGETS / "node_modules" / "esbuild").is_dir():
        pytest.skip("needs Node and the packages of widgets/ (npm ci)")
    return found


def test_the_build_gives_what_is_committed(node: str) -> None:
    """With the licenses of what esbuild says that it read."""
    done = subprocess.run(
        [node, "build.mjs", "--check"], cwd=WIDGETS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stderr}\n{ADVICE}"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"new/package.json": '{"version": "1.0.0"}', "new/x.js": ""}, "new has no license file"),
        ({"known/package.json": '{"version": "2.0.0"}'}, "about known 1.0.0, not 2.0.0"),
        (
            {"known/x.js.map": '{"sources": ["../../node_modules/hidden/i.js"]}'},
            "known contains hidden, which",
        ),
        ({"known/x.js.map": '{"sources": ["../../node_modules/inner/i.js", "../src/x.ts"]}'}, None),
    ],
)
def test_the_build_fails_where_a_license_is_not_known(
    node: str, tmp_path: Path, files: dict[str, str], message: str | None
) -> None:
    part = {
        "name": "inner",
        "license": "MIT",
        "source": "here",
        "copyright": "us",
        "text": "MIT.txt",
    }
    listed = {"known": {"version": "1.0.0", "parts": [part]}}
    given = {
        "licenses/MIT.txt": "Permission",
        "licenses/compiled-in.json": json.dumps(listed),
        "node_modules/known/package.json": '{"version": "1.0.0"}',
        "node_modules/known/LICENSE": "Known is free",
        "node_modules/known/x.js": "",
    } | {f"node_modules/{name}": text for name, text in files.items()}
    for name, text in given.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    inputs = sorted(name for name in given if name.endswith(".js"))
    script = (
        f"import {{ thirdParty }} from {json.dumps((WIDGETS / 'licenses.mjs').as_uri())};"
        f"console.log(thirdParty({json.dumps(str(tmp_path))}, {json.dumps(inputs)}));"
    )
    done = subprocess.run(
        [node, "--input-type=module", "-e", script], capture_output=True, text=True, check=False
    )
    if message is None:
        assert (
            done.returncode == 0 and "Known is free" in done.stdout and "Permission" in done.stdout
        )
    else:
        assert done.returncode != 0 and message in done.stderr
