"""The export screen's answers: what stands in the way, what would be written, what was written and proved."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import ExportRefused, WorkbenchError
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.vocabulary import Vocabulary

__all__ = ["export_answer", "not_in_use", "tests_of"]

_LISTS = {"match": "accept", "not": "reject", "prefix": "prefix"}


def tests_of(examples: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The editor's examples as the lists that an export takes."""
    found: dict[str, list[str]] = {"accept": [], "reject": [], "prefix": []}
    for example in examples:
        found[_LISTS[str(example.get("want", "match"))]].append(str(example.get("text", "")))
    return found


def export_answer(
    grammar: Any,
    path: str,
    examples: Iterable[Mapping[str, Any]],
    vocabulary: Vocabulary,
    *,
    title: str,
    note: str = "",
    dry: bool = True,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Export, or with ``dry`` do everything but write the file; everything as JSON values."""
    target = Path(path)
    found = _nothing(path, dry)
    if not path.strip() or target.is_dir():
        return found | {"reasons": ["name a file to write"], "note": "refused"}
    if target.exists() and not dry and not overwrite:
        reason = f"{path} is there already: press again to write over it"
        return found | {"reasons": [reason], "note": "not written"}
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / (target.name or "export.zip") if dry else target
        try:
            return found | _written(grammar, where, examples, vocabulary, title, note, dry)
        except ExportRefused as error:
            return found | {"reasons": list(error.reasons), "note": "refused"}
        except (WorkbenchError, OSError) as error:
            return found | {"reasons": [str(error)], "note": "not written"}


def not_in_use(path: str, *, dry: bool) -> dict[str, Any]:
    """The answer while the editor shows another grammar than the one that runs: neither is exported."""
    reason = (
        "the text in the editor is not the grammar in use: press “use this grammar” on the grammar screen, or "
        "undo the edit, then export"
    )
    return _nothing(path, dry) | {"reasons": [reason], "note": "refused"}


def _nothing(path: str, dry: bool) -> dict[str, Any]:
    return {
        "path": path,
        "dry": dry,
        "ok": False,
        "exists": Path(path).exists(),
        "reasons": [],
        "files": [],
        "notes": [],
        "note": "",
    }


def _written(
    grammar: Any,
    where: Path,
    examples: Iterable[Mapping[str, Any]],
    vocabulary: Vocabulary,
    title: str,
    note: str,
    dry: bool,
) -> dict[str, Any]:
    from workbench.export.bundle import Exported, export
    from workbench.export.verify import verify

    made = export(
        grammar,
        where,
        tests=tests_of(examples),
        vocabulary=vocabulary,
        title=title,
        dead_end_note=note,
        overwrite=True,  # whoever pressed was asked
    )
    assert isinstance(made, Exported)
    proof = verify(where, vocabulary)
    hashes = made.manifest["files"]
    files = [[name, size, hashes.get(name, {}).get("sha256", "")] for name, size in made.files]
    lines = [f"✕ {problem}" for problem in proof.problems]
    lines += [f"● {what}" for what in proof.checked]
    lines += str(made).split("\n")[1:]
    what = "would be written" if dry else f"written, sha256 {made.sha256}"
    holds = "proved again" if proof.ok else "NOT proved again"
    size = sum(size for _, size in made.files)
    note = f"{number_of(len(files), 'file')}, {number_of(size, 'byte')} {what}; {holds}"
    return {"ok": proof.ok, "files": files, "notes": lines, "note": note}
