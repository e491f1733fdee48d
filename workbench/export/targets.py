"""Exporting a tested grammar to single files, each alone: what each cannot say, and proof that it says the rest."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.diagnostics.verdicts import Judge
from workbench.errors import ExportRefused, WorkbenchError
from workbench.export.page import page
from workbench.export.pythonfile import grammar_file, test_file
from workbench.export.recipe import Examined, held_against, proved_gbnf
from workbench.export.regex_writer import to_regex
from workbench.files import to_be_written
from workbench.grammar.ir import Grammar
from workbench.readable import readable
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.decoding.trace import Trace

__all__ = ["TARGETS", "ExportedTargets", "Target", "export_targets", "write_all"]

#: What a grammar can be exported to, with the files of the targets.
TARGETS = {
    "gbnf": "grammar.gbnf",
    "regex": "grammar.regex",
    "json_schema": "grammar.schema.json",
    "python": "grammar.py",
    "pytest": "test_grammar.py",
    "trace": "trace.json",
    "report": "report.html",
}


@dataclass(frozen=True, slots=True)
class Target:
    """One file of an export: its path, size in bytes and SHA-256, what it ``cannot`` say, and its ``proof``.

    ``reason`` says why there is no such file (its size is 0 then); ``exists`` whether one was there before.
    """

    name: str
    path: Path
    size: int = 0
    sha256: str = ""
    cannot: tuple[str, ...] = ()
    proof: str = ""
    reason: str = ""
    exists: bool = False

    def __str__(self) -> str:
        if self.reason:
            return f"✕ {self.name}: {self.reason}"
        there = ", there already" if self.exists else ""
        line = f"● {self.name}: {self.path} ({number_of(self.size, 'byte')}{there})"
        lines = [f"{line} {self.sha256[:16]}  {self.proof}"]
        return "\n".join([*lines, *(f"    cannot say: {what}" for what in self.cannot)])

    def to_json(self) -> dict[str, Any]:
        """The target as JSON values."""
        found = {key: getattr(self, key) for key in self.__slots__}
        return {**found, "path": str(self.path), "cannot": list(self.cannot)}


@readable
@dataclass(frozen=True, slots=True)
class ExportedTargets:
    """The files of an export to single targets; not ``written`` by a dry run."""

    folder: Path
    targets: tuple[Target, ...]
    written: bool

    def __getitem__(self, name: str) -> Target:
        """The target of a name. Raises ``KeyError`` for one that was not asked for."""
        for target in self.targets:
            if target.name == name:
                return target
        raise KeyError(name)

    def __str__(self) -> str:
        what = "exported to" if self.written else "nothing written yet, to"
        return "\n".join([f"{what} {self.folder}", *map(str, self.targets)])

    def to_json(self) -> dict[str, Any]:
        """The export as JSON values."""
        return {
            "folder": str(self.folder),
            "written": self.written,
            "targets": [target.to_json() for target in self.targets],
        }


@dataclass(frozen=True, slots=True)
class _Made:
    """The content of a target, what it cannot say, its proof, and what stands against it."""

    data: bytes
    cannot: tuple[str, ...] = ()
    proof: str = ""
    problems: tuple[str, ...] = ()


def export_targets(
    found: Examined,
    folder: str | os.PathLike[str],
    names: Sequence[str],
    *,
    trace: Trace | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
) -> ExportedTargets:
    """Write some targets of a grammar that was examined into a folder: all of them or none.

    Raises ``ValueError`` for a name that is no target and for "trace" without a ``trace``; ``ExportRefused``
    where examples fail, where a target that is read back does not decide them as the grammar does, and (but
    not for a dry run) where a target cannot be written or a file is there already.
    """
    unknown = [name for name in names if name not in TARGETS]
    if unknown or not names:
        what = f"not {unknown[0]!r}" if unknown else "at least one"
        raise ValueError(f"targets are {', '.join(TARGETS)}; {what}")
    if "trace" in names and trace is None:
        raise ValueError("the target 'trace' is the record of a run: pass trace=…")
    problems = list(found.problems)
    where = Path(folder)
    targets: list[Target] = []
    files: dict[str, bytes] = {}
    for name in dict.fromkeys(names):
        path = where / TARGETS[name]
        try:
            made = (
                _MAKERS[name](found) if name != "trace" or trace is None else _trace(found, trace)
            )
        except WorkbenchError as error:
            reason = str(error).splitlines()[0]
            targets.append(Target(name, path, reason=reason, exists=path.exists()))
            continue
        problems += made.problems
        files[path.name] = made.data
        digest = sha256(made.data).hexdigest()
        targets.append(
            Target(
                name, path, len(made.data), digest, made.cannot, made.proof, exists=path.exists()
            )
        )
    if problems:
        raise ExportRefused(problems)
    if not dry_run:
        _refuse(targets, overwrite)
        write_all(where, files, overwrite=overwrite)
    return ExportedTargets(where, tuple(targets), not dry_run)


def _refuse(targets: Sequence[Target], overwrite: bool) -> None:
    reasons = [
        f"{target.name} cannot be written: {target.reason}" for target in targets if target.reason
    ]
    reasons += [
        f"{target.path} is there already: overwrite=True writes over it"
        for target in targets
        if target.exists and not target.reason and not overwrite
    ]
    if reasons:
        raise ExportRefused(reasons)


# The targets


def _proof(found: Examined, read: Callable[[], Grammar], what: str, looser: bool = False) -> _Made:
    """What reading a target again says of the examples."""
    examples = found.recipe.examples
    agree, problems = held_against(Judge(read()), what, examples, found.verdicts, looser)
    return _Made(b"", proof=f"round trip {agree} of {len(examples)}", problems=tuple(problems))


def _gbnf(found: Examined) -> _Made:
    text, problems, entry = proved_gbnf(found.recipe, found.grammar, found.verdicts)
    if text is None:
        raise WorkbenchError(entry["reason"])
    cannot = [f"that less is accepted: {what}" for what in text.looser]
    cannot += [f"to llama.cpp, which does not read them: {what}" for what in text.extensions]
    proof = f"round trip {entry['agree']} of {entry['examples']}"
    if not entry["proved"]:
        proof = "not read back: it is very long"
    return _Made(
        text.text.encode("utf-8", "backslashreplace"), tuple(cannot), proof, tuple(problems)
    )


def _regex(found: Examined) -> _Made:
    from workbench.frontends.regex import regex

    text = to_regex(found.grammar)
    proved = _proof(found, lambda: regex(text.pattern), "a pattern")
    cannot = ("characters, as it is a pattern of bytes",) if text.of_bytes else ()
    return _Made(
        f"{text.text}\n".encode("utf-8", "backslashreplace"), cannot, proved.proof, proved.problems
    )


def _json_schema(found: Examined) -> _Made:
    recipe = found.recipe
    if recipe.kind != "json_schema":
        raise WorkbenchError(f"a {recipe.kind} grammar is no JSON Schema")
    proved = _proof(found, recipe.grammar, "a schema")
    cannot = [f"the option {name}={value!r}" for name, value in recipe.options.items()]
    left_out = (o.detail or o.keyword for o in found.grammar.outcomes if o.status == "restricted")
    cannot += [f"what the grammar leaves out: {detail}" for detail in dict.fromkeys(left_out)]
    data = recipe.source.encode("utf-8", "backslashreplace")
    return _Made(data, tuple(cannot), proved.proof, proved.problems)


def _python(found: Examined) -> _Made:
    text = grammar_file(found.recipe)
    proved = _proof(found, lambda: _run(text, "grammar.py")["grammar"], "Python")
    return _Made(
        text.encode("utf-8", "backslashreplace"), proof=proved.proof, problems=proved.problems
    )


def _pytest(found: Examined) -> _Made:
    text = test_file(found.recipe)
    cases = number_of(len(found.recipe.examples), "case")
    try:
        test = _run(text, "test_grammar.py")["test_example"]
    except ImportError:
        return _Made(
            text.encode("utf-8", "backslashreplace"),
            proof=f"{cases}, not run: pytest is not installed",
        )
    problems = []
    for example in found.recipe.examples:
        try:
            test(example.expected, example.data)
        except AssertionError:
            problems.append(f"as a test, the {example.expected} example {example.data!r:.60} fails")
    passed = len(found.recipe.examples) - len(problems)
    return _Made(
        text.encode("utf-8", "backslashreplace"),
        proof=f"{passed} of {cases} pass",
        problems=tuple(problems),
    )


def _run(text: str, name: str) -> dict[str, Any]:
    """The names that a file written here defines."""
    namespace: dict[str, Any] = {"__name__": name.removesuffix(".py")}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def _trace(found: Examined, trace: Trace) -> _Made:
    from workbench.decoding.trace import Trace as TraceClass

    text = trace.to_json()
    again = TraceClass.from_json(text) == trace
    steps = number_of(len(trace.steps), "step")
    problems = () if again else ("the trace does not read back as it was",)
    verdict = Judge(found.grammar).verdict(trace.output)
    cannot = () if verdict.prefix else ("a text of this grammar: it is of another run",)
    return _Made(
        text.encode("utf-8", "backslashreplace"), cannot, f"{steps}, read back the same", problems
    )


def _report(found: Examined) -> _Made:
    gbnf, problems, entry = proved_gbnf(found.recipe, found.grammar, found.verdicts)
    text = page(
        found.recipe, found.grammar, found.verdicts, found.report, found.covered, gbnf, entry
    )
    return _Made(
        text.encode("utf-8", "backslashreplace"), proof="self-contained", problems=tuple(problems)
    )


_MAKERS: Mapping[str, Callable[[Examined], _Made]] = {
    "gbnf": _gbnf,
    "regex": _regex,
    "json_schema": _json_schema,
    "python": _python,
    "pytest": _pytest,
    "report": _report,
}


# Writing


def write_all(folder: Path, files: Mapping[str, bytes], *, overwrite: bool = False) -> None:
    """Write files into a folder, which is made where there is none: all of them, or none.

    Whatever fails, the files that were there stay as they were. Raises ``WorkbenchError``, also for a file
    that came to be there meanwhile when ``overwrite`` is false.
    """
    try:
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(dir=folder, prefix=".export."))
    except OSError as error:
        raise WorkbenchError(f"cannot write {folder}: {error.strerror or error}") from error
    done: list[tuple[Path, Path, Path]] = []
    try:
        for name, data in files.items():
            with (stage / name).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for name in files:
            path = to_be_written(folder / name)
            if path.exists() and not overwrite:
                raise WorkbenchError(f"cannot write {path}: it is there already")
            before = stage / f"{name}.before"
            done.append((path, before, stage / name))
            if path.exists():
                path.replace(before)
            (stage / name).replace(path)
    except BaseException as error:
        for path, before, staged in reversed(done):
            if before.exists():
                before.replace(path)
            elif not staged.exists():  # it has come to its place
                path.unlink(missing_ok=True)
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise WorkbenchError(f"cannot write {folder}: {error.strerror or error}") from error
        raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)
