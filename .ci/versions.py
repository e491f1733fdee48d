#!/usr/bin/env python3
"""Runs a selection of the tests with the oldest supported packages, and with each supported Python.

    .ci/versions.py oldest     # constraints-oldest.txt, on the oldest Python
    .ci/versions.py pythons    # constraints.txt without the extras, on every Python but that of .venv

Each set gets an environment of its own in .venv-versions. A Python that this machine does not have is
skipped, and the last lines say what was run and what was not.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-versions"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
#: What runs without any extra: importing, masks, front ends, files.
CORE = (
    "tests/test_project.py::test_importing_the_package_loads_nothing_heavy",
    "tests/engine/test_matcher.py",
    "tests/engine/test_saved.py",
    "tests/engine/test_oracle.py",
    "tests/frontends/test_gbnf.py",
    "tests/frontends/json_schema/test_front.py",
    "tests/diagnostics/author/test_earley.py",
)
#: With the extras: decoding with a tiny model, explanations, the notebook's session and pages.
EXTRAS = (
    *CORE,
    "tests/decoding",
    "tests/diagnostics/explain/test_explain.py",
    "tests/frontends/test_python_types.py",
    "tests/notebook/test_session.py",
    "tests/notebook/test_report.py",
)
TOOLS = ("hypothesis", "jsonschema", "pytest", "regex")
#: The extra for notebooks, but for JupyterLab itself, which is large and which no code imports.
NOTEBOOK = ("anywidget", "graphviz", "graphviz-pure", "ipywidgets", "plotly")


def find_python(version: str) -> Path | None:
    """An interpreter of a version that can make environments: on the path, or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = shutil.which(f"python{version}")
    candidates = [Path(named)] if named else []
    candidates += [Path("/usr/bin", f"python{version}"), Path("/usr/local/bin", f"python{version}")]
    candidates += sorted(pyenv.glob(f"{version}*/bin/python{version}"), reverse=True)
    question = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    for candidate in candidates:
        if not candidate.exists():
            continue
        asked = subprocess.run(
            [candidate, "-c", question], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0 and asked.stdout.strip() == version:
            return candidate
    return None


def environment(
    name: str, python: Path, constraints: str, extras: str, tools: tuple[str, ...]
) -> Path:
    """The Python of an environment with the package and its tools; made anew when what it is made from changed."""
    folder = FOLDER / name
    made_from = b"".join((ROOT / file).read_bytes() for file in ("pyproject.toml", constraints))
    digest = hashlib.sha256(made_from + f"{python} {extras} {tools}".encode()).hexdigest()
    stamp = folder / "made-from"
    made = folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == digest:
        return made
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    install = [
        made,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "-c",
        ROOT / constraints,
    ]
    if "models" in extras:
        subprocess.run([*install, "torch"], check=True)  # first, so that no other build is drawn in
    subprocess.run([*install, *tools, "-e", f"{ROOT}{extras}"], check=True)
    stamp.write_text(digest)
    return made


def run(
    name: str,
    python: Path,
    constraints: str,
    extras: str,
    tools: tuple[str, ...],
    tests: tuple[str, ...],
) -> str:
    """Run some tests in an environment; what became of them, in words."""
    started = time.perf_counter()
    print(f"--- {name}: {python}, {constraints} ---", flush=True)
    try:
        made = environment(name, python, constraints, extras, tools)
    except subprocess.CalledProcessError as error:
        return f"FAILED to install ({error})"
    # kernels of many versions would drive out those that the main environment has compiled
    settings = {
        "WORKBENCH_KERNELS_DIR": str(FOLDER / name / "kernels"),
        "PYTHONWARNINGS": "default",
    }
    options = ["-q", "-x", "-m", "not (model or browser or gpu)", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [made, "-m", "pytest", *options, *tests], cwd=ROOT, env=os.environ | settings, check=False
    )
    spent = f"in {time.perf_counter() - started:.0f} s"
    return f"passed {spent}" if done.returncode == 0 else f"FAILED {spent}"


def version_of(python: Path) -> str:
    """The version of an interpreter, "" where there is none."""
    if not python.exists():
        return ""
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run(
        [python, "-c", question], capture_output=True, text=True, check=False
    ).stdout.strip()


def main(what: list[str]) -> int:
    """Run the sets asked for; 1 when one failed."""
    if not what or not set(what) <= {"oldest", "pythons"}:
        print(__doc__)
        return 2
    told: list[str] = []
    if "oldest" in what:
        python = find_python(PYTHONS[0])
        if python is None:
            told.append(
                f"oldest packages: skipped, there is no Python {PYTHONS[0]} on this machine"
            )
        else:
            tools = (*TOOLS, *NOTEBOOK)
            found = run("oldest", python, "constraints-oldest.txt", "[models,types]", tools, EXTRAS)
            told.append(f"oldest packages, Python {PYTHONS[0]}: {found}")
    if "pythons" in what:
        main_version = version_of(ROOT / ".venv" / "bin" / "python")
        for version in PYTHONS:
            python = find_python(version)
            if version == main_version:
                told.append(f"Python {version}: that of .venv, where all tests run")
            elif python is None:
                told.append(f"Python {version}: skipped, it is not on this machine")
            else:
                told.append(
                    f"Python {version}: {run(version, python, 'constraints.txt', '', TOOLS, CORE)}"
                )
    print("--- versions ---", *told, sep="\n")
    return int(any("FAILED" in line for line in told))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
