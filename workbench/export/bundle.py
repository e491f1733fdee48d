"""Exporting a tested grammar: one file that holds it, its examples and what was found, or nothing at all."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.diagnostics.dead_ends.findings import counted
from workbench.engine import CompiledGrammar
from workbench.errors import ExportRefused, WorkbenchError
from workbench.export.gbnf_writer import to_gbnf
from workbench.export.recipe import (
    SOURCE_FILES,
    Recipe,
    build,
    examine,
    examples_of,
    made,
    source_text,
    versions,
)
from workbench.export.targets import ExportedTargets, export_targets
from workbench.files import to_be_written
from workbench.grammar.fingerprint import fingerprint
from workbench.grammar.ir import Grammar, Token, walk
from workbench.grammar.lazy import captured, written_ahead
from workbench.grammar.markers import has_markers
from workbench.grammar.places import named_parts
from workbench.grammar.written import to_rules
from workbench.inputs import need_grammar, need_path, need_vocabulary
from workbench.readable import readable
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.decoding.trace import Trace
    from workbench.vocabulary import Vocabulary

__all__ = ["Exported", "export", "pack", "write_whole"]


@readable
@dataclass(frozen=True, slots=True)
class Exported:
    """A bundle: its path, its files with sizes, and the SHA-256 of the whole; ``written`` but by a dry run."""

    path: Path
    files: tuple[tuple[str, int], ...]
    sha256: str
    manifest: Mapping[str, Any]
    written: bool = True

    def __str__(self) -> str:
        size = sum(size for _, size in self.files)
        what = "exported" if self.written else "nothing written yet, to"
        sizes = f"{number_of(len(self.files), 'file')}, {number_of(size, 'byte')}"
        lines = [f"{what} {self.path}: {sizes}, {self.sha256[:16]}"]
        counts = self.manifest["examples"]
        lines.append("examples: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
        gbnf = self.manifest["gbnf"]
        if gbnf["written"]:
            proof = f"round trip {gbnf['agree']} of {gbnf['examples']}"
            lines.append(f"GBNF: {proof if gbnf['proved'] else 'too long to be read back'}")
            lines += [f"  accepts more: {what}" for what in gbnf["looser"]]
            lines += [f"  beyond llama.cpp: {what}" for what in gbnf["extensions"]]
        else:
            lines.append(f"no GBNF: {gbnf['reason']}")
        dead = self.manifest["dead_ends"]
        lines.append(f"dead ends: {counted(dead['errors'], dead['warnings'], dead['complete'])}")
        return "\n".join(lines)


def export(  # noqa: PLR0913 - options, by keyword
    grammar: Grammar | CompiledGrammar,
    path: str | os.PathLike[str],
    *,
    tests: Mapping[str, Sequence[Any]],
    vocabulary: Vocabulary | None = None,
    options: Mapping[str, Any] | None = None,
    title: str = "",
    dead_end_note: str = "",
    targets: Sequence[str] | None = None,
    trace: Trace | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
) -> Exported | ExportedTargets:
    """Write a grammar with its examples and everything found about it into one zip file.

    ``tests`` are lists under "accept" (must match), "reject" (must not) and "prefix" (must begin a match),
    of texts, bytes or JSON values. ``vocabulary`` adds its dead ends. ``options`` are those that the grammar
    was made with, where they are not the defaults of its front end. ``dead_end_note`` says why dead ends do
    not matter; without one they stand against exporting.

    With ``targets`` ("gbnf", "regex", "json_schema", "python", "pytest", "trace", "report") single files are
    written instead, into the folder ``path``; each that is a grammar is read back and held against the examples.
    "trace" writes the record of a run, ``trace``. A ``dry_run`` writes nothing, and tells the files with sizes
    and hashes, what each target cannot say, and which are there already.

    All is written or nothing; what was there before stays when anything fails, and always without
    ``overwrite``. Raises ``ExportRefused`` with its reasons when an example fails, when a target cannot be
    written or a file is there already; ``ValueError`` for unknown targets and lists of tests.
    """
    if isinstance(grammar, CompiledGrammar):
        vocabulary = vocabulary or grammar.vocabulary
        grammar = grammar.grammar
    need_grammar(grammar, "export")
    need_path(path, "export")
    if vocabulary is not None:
        need_vocabulary(vocabulary, "export")
    recipe = _recipe(grammar, dict(options or {}), examples_of(tests), title, dead_end_note)
    if vocabulary is not None:
        recipe = _with_vocabulary(recipe, grammar, vocabulary)
    try:
        if targets is not None:
            return export_targets(
                examine(recipe), path, targets, trace=trace, dry_run=dry_run, overwrite=overwrite
            )
        built = build(recipe)
    except ExportRefused:
        raise
    except WorkbenchError as error:
        raise ExportRefused([str(error)]) from error
    if built.problems:
        raise ExportRefused(built.problems)
    data = pack(built.files)
    target = Path(path)
    if not dry_run:
        to_be_written(target)
        if target.exists() and not overwrite:
            raise ExportRefused([f"{target} is there already: overwrite=True writes over it"])
        write_whole(target, data)
    files = tuple((name, len(content)) for name, content in sorted(built.files.items()))
    return Exported(target, files, sha256(data).hexdigest(), built.manifest, not dry_run)


def _recipe(
    grammar: Grammar,
    options: dict[str, Any],
    examples: tuple[Any, ...],
    title: str,
    note: str,
) -> Recipe:
    if any(
        isinstance(part, Token)
        for expr in written_ahead(grammar.rules).values()
        for part in walk(expr)
    ):
        raise ExportRefused(["the grammar names tokens, and examples are decided byte by byte"])
    kind, start, source = grammar.kind, grammar.start, source_text(grammar)
    if kind not in SOURCE_FILES or source is None or not _reads_again(grammar, options):
        kind, start, source = _written(grammar)
    recipe = Recipe(
        kind=kind,
        start=start if kind == "gbnf" else "root",
        source=source,
        options={k: list(v) if isinstance(v, tuple) else v for k, v in options.items()},
        examples=examples,
        title=title,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        dead_end_note=note,
        versions=versions(),
    )
    _check_options(grammar, recipe)
    return recipe


def _reads_again(grammar: Grammar, options: Mapping[str, Any]) -> bool:
    """Whether a grammar is all in its source: one that others were put into may not be."""
    if not named_parts(grammar):
        return True
    try:
        again = made(grammar.kind, source_text(grammar) or "", grammar.start, options)
    except WorkbenchError:
        return False
    return fingerprint(again) == fingerprint(grammar)


def _written(grammar: Grammar) -> tuple[str, str, str]:
    """Kind, start and source of a grammar that has no source: its GBNF, or else its rules."""
    if not (captured(grammar.rules) or has_markers(grammar)):
        with suppress(WorkbenchError):
            text = to_gbnf(grammar)
            if not text.looser:
                return "gbnf", "root", text.text
    try:
        return "rules", grammar.start, to_rules(grammar)
    except WorkbenchError as error:
        raise ExportRefused([f"it has no source, and its rules are too many: {error}"]) from error


def _check_options(grammar: Grammar, recipe: Recipe) -> None:
    """The grammar must be what its source and options say."""
    if grammar.kind != recipe.kind:
        return
    try:
        again = [recipe.grammar()]
    except WorkbenchError as error:
        raise ExportRefused([str(error)]) from error
    if recipe.kind == "json_schema" and isinstance(grammar.source, dict | bool):
        # the numbers of a text are exact, those of the schema at hand may be floats
        from workbench.frontends.json_schema import json_schema

        given: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in recipe.options.items()
        }
        again.append(json_schema(grammar.source, **given))
    wanted = fingerprint(grammar)
    if wanted is not None and wanted not in [fingerprint(one) for one in again]:
        raise ExportRefused(
            [
                "the grammar is not what its source says by the options given; pass those that it was "
                "made with: options={…}"
            ]
        )


def _with_vocabulary(recipe: Recipe, grammar: Grammar, vocabulary: Vocabulary) -> Recipe:
    report = dead_ends(grammar, vocabulary, examples=[e.data for e in recipe.examples])
    about = {
        "fingerprint": vocabulary.fingerprint,
        "tokens": vocabulary.size,
        "missing_bytes": len(vocabulary.missing_bytes),
    }
    return replace(recipe, tokenizer=about, tokenizer_report=report.to_json())


def pack(files: Mapping[str, bytes]) -> bytes:
    """A zip file of some files; equal files give equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return out.getvalue()


def write_whole(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file in one go: on any failure the one that was there stays.

    A symbolic link stays, and the file that it leads to is written. Raises ``WorkbenchError`` when it cannot be
    written, or is no regular file.
    """
    target = to_be_written(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise WorkbenchError(f"cannot write {target}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise WorkbenchError(f"cannot write {target}: {error.strerror or error}") from error
        raise
    return target
