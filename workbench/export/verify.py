"""Proving a bundle: every file against its hash, every verdict and every other file made again.

A bundle may come from anywhere. Nothing in it is run, nothing is unpacked to disk, and what is read is
bounded before it is read. The hashes notice a change by accident and by anyone who does not rewrite the
manifest; whoever does is noticed where verdicts or files that follow from the source no longer agree. A bundle
that was made anew from other examples is another bundle: compare its SHA-256.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.errors import BundleError, WorkbenchError
from workbench.export.recipe import (
    EXPECTED,
    FORMAT,
    FORMAT_VERSION,
    SOURCE_FILES,
    Built,
    Example,
    Recipe,
    build,
    canonical,
    versions,
)
from workbench.files import irregular
from workbench.inputs import need_path, need_vocabulary
from workbench.readable import readable
from workbench.vocabulary.labels import quoted
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.vocabulary import Vocabulary

__all__ = ["Verification", "read_bundle", "verify"]

MAX_FILE = 64 << 20
MAX_MEMBERS = 64
MAX_MEMBER = 64 << 20
MAX_TOTAL = 128 << 20
#: Files that follow from the recipe with the same version of the workbench.
_NEEDED = ("examples.json", "manifest.json", "outcomes.json", "test_grammar.py", "report.html")


@readable
@dataclass(frozen=True, slots=True)
class Verification:
    """What proving a bundle found: ``problems`` (none: it holds), ``checked`` and other ``notes``."""

    path: str
    problems: tuple[str, ...]
    checked: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sha256: str = ""
    manifest: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problems

    def __str__(self) -> str:
        lines = [f"{self.path}: {'holds' if self.ok else 'DOES NOT HOLD'}"]
        lines += [f"✕ {problem}" for problem in self.problems]
        lines += [f"● {what}" for what in self.checked]
        lines += [f"note: {note}" for note in self.notes]
        lines.append(f"sha256 {self.sha256}")
        return "\n".join(lines)


def verify(path: str | os.PathLike[str], vocabulary: Vocabulary | None = None) -> Verification:
    """Prove a bundle again, from its source alone.

    With the ``vocabulary`` it was exported for, its dead ends are searched for again too. Raises ``BundleError``
    for what is no bundle, or not safe to read.
    """
    need_path(path, "verify")
    if vocabulary is not None:
        need_vocabulary(vocabulary, "verify")
    files, digest = read_bundle(path)
    manifest = _json(path, files, "manifest.json")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BundleError(path, "this is no bundle of a tested grammar: its manifest is another")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise BundleError(
            path,
            f"this bundle has format {manifest.get('format_version')!r}; this workbench reads {FORMAT_VERSION}",
        )
    problems: list[str] = []
    checked: list[str] = []
    notes: list[str] = []
    _hashes(files, manifest, problems)
    checked.append(
        f"{number_of(len(files), 'file')} against the manifest, and the manifest against itself"
    )
    recipe = _recipe(path, files, manifest)
    try:
        built = build(recipe)
    except WorkbenchError as error:
        problems.append(f"the source cannot be read again: {str(error).splitlines()[0]}")
        return Verification(os.fspath(path), tuple(problems), tuple(checked), (), digest, manifest)
    problems += built.problems
    checked.append(f"{number_of(len(recipe.examples), 'example')} decided again")
    _verdicts(path, files, built, problems)
    same = _compare(files, built, recipe, problems, notes)
    checked.append(f"{number_of(same, 'file')} made again and found the same")
    if vocabulary is not None:
        _tokenizer(recipe, manifest, vocabulary, problems, checked)
    elif recipe.tokenizer is not None:
        notes.append("the dead ends with the tokenizer were not searched for again: pass it")
    return Verification(
        os.fspath(path), tuple(problems), tuple(checked), tuple(notes), digest, manifest
    )


# Reading what may be hostile


def read_bundle(path: str | os.PathLike[str]) -> tuple[dict[str, bytes], str]:
    """The files of a bundle and the SHA-256 of the whole, with bounds on everything.

    Raises ``BundleError``.
    """
    if found := irregular(path):
        raise BundleError(path, f"cannot be read: it is {found}, not a file")
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise BundleError(path, f"cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_FILE:
        raise BundleError(path, f"is larger than {MAX_FILE:,} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _members(path, archive), sha256(data).hexdigest()
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        raise BundleError(path, f"is no zip file that can be read: {error}") from None


def _members(path: str | os.PathLike[str], archive: zipfile.ZipFile) -> dict[str, bytes]:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise BundleError(
            path, f"holds {number_of(len(infos), 'file')}; a bundle has at most {MAX_MEMBERS}"
        )
    total = sum(info.file_size for info in infos)
    if total > MAX_TOTAL:
        raise BundleError(
            path, f"would unpack to {number_of(total, 'byte')}; at most {MAX_TOTAL:,} are read"
        )
    files: dict[str, bytes] = {}
    for info in infos:
        name = info.filename
        if (
            not name
            or not all(c.isascii() and (c.isalnum() or c in "._-") for c in name)
            or ".." in name
        ):
            raise BundleError(path, f"holds a file with the name {name!r:.80}, which no bundle has")
        if name in files:
            raise BundleError(path, f"holds {name!r} twice")
        if info.flag_bits & 1:
            raise BundleError(path, f"holds {name!r} encrypted")
        # what is declared may be a lie: never read more than the bound
        with archive.open(info) as member:
            content = member.read(MAX_MEMBER + 1)
        if len(content) > MAX_MEMBER:
            raise BundleError(path, f"holds {name!r} with more than {MAX_MEMBER:,} bytes")
        files[name] = content
        if sum(map(len, files.values())) > MAX_TOTAL:
            raise BundleError(path, f"unpacks to more than {MAX_TOTAL:,} bytes")
    missing = [name for name in _NEEDED if name not in files]
    if missing:
        raise BundleError(path, f"is no bundle of a tested grammar: it has no {missing[0]}")
    return files


def _json(path: str | os.PathLike[str], files: Mapping[str, bytes], name: str) -> Any:
    try:
        return json.loads(files[name])
    except (RecursionError, UnicodeDecodeError, ValueError) as error:
        raise BundleError(path, f"{name} is no JSON: {error}") from None


def _recipe(
    path: str | os.PathLike[str], files: Mapping[str, bytes], manifest: Mapping[str, Any]
) -> Recipe:
    """The recipe of a bundle. Raises ``BundleError`` for parts that are missing or of another kind."""
    try:
        about = manifest["grammar"]
        kind, start, options = about["kind"], about["start"], about["options"]
        source = files[SOURCE_FILES[kind]].decode("utf-8")
        examples = []
        for entry in _json(path, files, "examples.json"):
            data = bytes.fromhex(entry["hex"]) if "hex" in entry else entry["text"].encode("utf-8")
            if entry["expected"] not in EXPECTED:
                raise ValueError(f"an example is expected to be {entry['expected']!r}")
            examples.append(Example(data, entry["expected"]))
        report = None
        if "dead_ends_tokenizer.json" in files:
            report = _json(path, files, "dead_ends_tokenizer.json")
            _check_report(report)
        texts = (kind, start, manifest["title"], manifest["created"], manifest["dead_ends"]["note"])
        if not all(isinstance(text, str) for text in texts) or not isinstance(options, dict):
            raise ValueError("the manifest has values of other kinds")
        return Recipe(
            kind=kind,
            source=source,
            start=start,
            options=options,
            examples=tuple(examples),
            title=manifest["title"],
            created=manifest["created"],
            dead_end_note=manifest["dead_ends"]["note"],
            versions=dict(manifest["versions"]),
            tokenizer=manifest["tokenizer"],
            tokenizer_report=report,
        )
    except BundleError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BundleError(path, f"is not a whole bundle: {error!r:.200}") from None


def _check_report(report: Any) -> None:
    """Raise ``ValueError`` for what is no report of dead ends, as far as it is counted and shown."""
    findings = report.get("findings") if isinstance(report, dict) else None
    if not isinstance(findings, list) or not isinstance(report.get("stopped"), list):
        raise ValueError("dead_ends_tokenizer.json is no report")
    for one in findings:
        if not (
            isinstance(one, dict)
            and isinstance(one.get("warning"), bool)
            and all(isinstance(one.get(key), str) for key in ("kind", "message", "place"))
            and isinstance(one.get("path"), str | None)
        ):
            raise ValueError("dead_ends_tokenizer.json is no report")


# Comparing


def _hashes(files: Mapping[str, bytes], manifest: Mapping[str, Any], problems: list[str]) -> None:
    own = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    if sha256(canonical(own)).hexdigest() != manifest.get("manifest_sha256"):
        problems.append("manifest.json was changed: it is not what its own hash says")
    listed = manifest.get("files")
    listed = listed if isinstance(listed, dict) else {}
    for name, data in files.items():
        entry = listed.get(name)
        if name == "manifest.json":
            continue
        if not isinstance(entry, dict):
            problems.append(f"{name} is not in the manifest")
        elif sha256(data).hexdigest() != entry.get("sha256"):
            problems.append(f"{name} was changed: it is not what the manifest says")
    problems += [f"{name} is missing" for name in listed if name not in files]


def _verdicts(
    path: str | os.PathLike[str], files: Mapping[str, bytes], built: Built, problems: list[str]
) -> None:
    """The stored verdicts against those found now."""
    stored = _json(path, files, "examples.json")
    again = json.loads(built.files["examples.json"])
    for old, new in zip(stored, again, strict=True):
        if (old.get("verdict"), old.get("reached")) != (new["verdict"], new["reached"]):
            text = new.get("text", new.get("hex", "")).encode()
            problems.append(
                f"the verdict on {quoted(text)} is {new['verdict']}, not {old.get('verdict')!r}"
            )


def _compare(
    files: Mapping[str, bytes],
    built: Built,
    recipe: Recipe,
    problems: list[str],
    notes: list[str],
) -> int:
    """Files made again against those there; with other versions a difference is a note."""
    alike = dict(recipe.versions) == versions()
    if not alike:
        notes.append("made with other versions: files that follow from the source may differ")
    same = 0
    for name in sorted(files.keys() | built.files.keys()):
        if name in files and files[name] == built.files.get(name):
            same += 1
            continue
        if name == "dead_ends_tokenizer.json":
            continue
        what = f"{name} is not what follows from the source"
        if name not in files or name not in built.files:
            what = f"{name} is {'missing' if name not in files else 'not part of such a bundle'}"
        (problems if alike else notes).append(what)
    return same


def _tokenizer(
    recipe: Recipe,
    manifest: Mapping[str, Any],
    vocabulary: Vocabulary,
    problems: list[str],
    checked: list[str],
) -> None:
    about = recipe.tokenizer
    if about is None:
        problems.append("the bundle was exported without a tokenizer")
        return
    if about.get("fingerprint") != vocabulary.fingerprint:
        problems.append("the tokenizer is another one than the bundle was exported for")
        return
    examples = [example.data for example in recipe.examples]
    report = dead_ends(recipe.grammar(), vocabulary, examples=examples).to_json()
    if json.loads(canonical(report)) != recipe.tokenizer_report:
        problems.append("the dead ends with the tokenizer are others than the bundle says")
    checked.append("the dead ends with the tokenizer searched for again")
