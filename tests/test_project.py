"""The package as a whole: what importing it costs, its layers, its versions, its size."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "workbench"
MODULES = sorted(PACKAGE.rglob("*.py"))

#: Lines of a function, and where it holds: kernels are written in a small part of Python.
MOST_LINES = 60
SHORT = [path for path in MODULES if PACKAGE / "engine" / "kernels" not in path.parents]

#: From the top: a module imports from its own layer and those before it.
LAYERS = (
    "wording",
    "errors",
    "inputs",
    "files",
    "readable",
    "collector",
    "content_cache",
    "jit",
    "changes",
    "forks",
    "grammar",
    "automaton",
    "frontends",
    "formats",
    "vocabulary",
    "engine",
    "device",
    "models",
    "decoding",
    "diagnostics",
    "benchmarks",
    "export",
    "notebook",
    "cli",
    "__main__",
)

#: The same inside the front end for JSON Schema; a module that is not in a subpackage gathers all of them.
SCHEMA = "workbench.frontends.json_schema"
SCHEMA_LAYERS = ("text", "scalars", "read", "logic", "containers", "emit")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(module: str) -> int:
    """The place of a module in the list; the package itself gathers all of them."""
    parts = module.split(".")
    return LAYERS.index(parts[1]) if len(parts) > 1 else len(LAYERS)


def schema_layer(module: str) -> int:
    """The place of a module of the front end for JSON Schema in its own list."""
    parts = module.removeprefix(SCHEMA).split(".")
    inside = len(parts) > 2 or parts[-1] in SCHEMA_LAYERS
    return SCHEMA_LAYERS.index(parts[1]) if inside else len(SCHEMA_LAYERS)


def imports(tree: ast.AST, *, everywhere: bool) -> Iterator[tuple[int, str]]:
    """Line and module of the package's imports of itself; ``everywhere`` looks into functions too."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in NAMES else str(node.module)
        elif not everywhere and is_deferred(node):
            continue
        pending.extend(ast.iter_child_nodes(node))


def is_deferred(node: ast.AST) -> bool:
    """Whether the code runs later than the import of its module, or never."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return True
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


NAMES = {module_name(path) for path in MODULES}


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, workbench; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    heavy = {"IPython", "anywidget", "ipywidgets", "lark", "llvmlite", "torch", "transformers"}
    assert not loaded & heavy


def test_versions_agree() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert workbench.__version__ == declared
    assert importlib.metadata.version("grammar-workbench") == declared


def test_constraints_pin_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [requirement for group in groups for requirement in group]
    names = {re.match(r"[\w-]+", text).group() for text in requirements}  # type: ignore[union-attr]
    pinned = {
        line.partition("==")[0]
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    # triton comes with torch on CUDA machines, in the version that torch needs.
    assert names - pinned == {"grammar-workbench", "triton"}


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_module_imports_only_from_layers_above(path: Path) -> None:
    module = module_name(path)
    for line, target in imports(ast.parse(path.read_bytes()), everywhere=True):
        if target.startswith("workbench."):
            assert layer(target) <= layer(module), f"{relative(path)}:{line} imports {target}"
        elif target == "workbench":
            assert layer(module) >= LAYERS.index("notebook"), f"{relative(path)}:{line}"


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("frontends/json_schema/*/*.py")), ids=relative)
def test_the_front_end_for_json_schema_has_layers(path: Path) -> None:
    module = module_name(path)
    for line, target in imports(ast.parse(path.read_bytes()), everywhere=True):
        if target.startswith(SCHEMA):
            assert schema_layer(target) <= schema_layer(module), (
                f"{relative(path)}:{line} imports {target}"
            )


def test_the_road_of_a_mask_does_not_lead_through_unique_items() -> None:
    """What objects need is reached through one module, which itself needs nothing of a closure."""
    kernels = "workbench.engine.kernels"
    objects, closures = f"{kernels}.objects", f"{kernels}.closures"
    interface = f"{objects}.interface"
    inside = [path for path in MODULES if module_name(path).startswith(f"{objects}.")]
    assert inside
    for path in MODULES:
        targets = {target for _, target in imports(ast.parse(path.read_bytes()), everywhere=True)}
        if path in inside:
            assert closures not in targets, relative(path)
        else:
            within = {target for target in targets if target.startswith(objects)}
            assert within <= {objects, interface}, relative(path)


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {
        module_name(path): {
            target
            for _, target in imports(ast.parse(path.read_bytes()), everywhere=False)
            if target in NAMES
        }
        for path in MODULES
    }
    done: set[str] = set()
    for start in graph:
        trail: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(graph[start])))]
        while trail and start not in done:
            name, rest = trail[-1]
            following = next((target for target in rest if target not in done), None)
            if following is None:
                done.add(name)
                trail.pop()
                continue
            names = [step for step, _ in trail]
            assert following not in names, " -> ".join([*names, following])
            trail.append((following, iter(sorted(graph[following]))))


def test_the_page_about_the_code_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_0-9/]+\.(?:py|pyi|ts))`", text))
    folders = [ROOT / name for name in ("workbench", "widgets/src", "tests")]
    known = {
        path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*.*")
    }
    assert len(named) > 60
    assert not {
        name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in known)
    }


def test_the_worked_example_of_a_front_end_works() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    vocabulary = workbench.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], 256)
    matcher = workbench.compile(names["grammar"], vocabulary).matcher()
    assert matcher.accept_tokens(list(b"oak, ash")) == 8 and matcher.is_accepting
    with pytest.raises(ValueError, match="words"):
        names["word_list"]([])


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_module_says_what_it_is(path: Path) -> None:
    text = path.read_text()
    if path.name != "__init__.py":
        assert ast.get_docstring(ast.parse(text)), "a module says what it is"
        assert "from __future__ import annotations" in text


@pytest.mark.parametrize("path", SHORT, ids=relative)
def test_functions_are_short(path: Path) -> None:
    """At most so many lines without the docstring; a longer one says why, on the line above."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.end_lineno:
            continue
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        length = node.end_lineno - first + 1
        if ast.get_docstring(node) is not None:
            said = node.body[0]
            length -= (said.end_lineno or said.lineno) - said.lineno + 1
        excused = re.fullmatch(r"\s*# long: .+", lines[first - 2]) is not None
        is_long = length > MOST_LINES
        told = f"{relative(path)}:{node.lineno} {node.name} has {length} lines"
        assert is_long == excused, f'{told}: divide it, or say "# long: why" above it (only there)'
