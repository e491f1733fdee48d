"""``workbench bench json-schema-suite``: the official test suite of JSON Schema, case by case.

Each schema of the suite is compiled, and each of its instances is walked byte by byte through the
engine, with its keys in the order of the file. A case passes, or the schema was declared unsupported, or what the
grammar leaves out of the keyword is listed in its outcomes ("restricted": it may refuse, never
accept), or the keyword is one that a draft lets be asserted or not and the outcomes say that it is not
("annotation"), or the verdict is wrong. Formats are annotations in the required files and those beside them,
and asserted in ``optional/format``.

Results are appended to a file of JSON lines as they arise; a run that was interrupted goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.benchmarks.engines import uncached
from workbench.benchmarks.machine import engine_digest, file_digest
from workbench.benchmarks.report_tables import Table, render_markdown, render_text
from workbench.benchmarks.store import Store
from workbench.errors import (
    GrammarTooComplex,
    UnsatisfiableGrammar,
    UnsupportedConstraint,
    WorkbenchError,
)
from workbench.grammar.ir import Outcome
from workbench.vocabulary import Vocabulary

__all__ = [
    "DRAFTS",
    "SuiteReport",
    "bench_suite",
    "bytes_vocabulary",
    "judge_group",
    "read_suite",
    "registry_of",
    "suite_groups",
]

#: The folders of the suite, and the drafts that they are for.
DRAFTS = {"draft4": 4, "draft6": 6, "draft7": 7, "draft2019-09": 2019, "draft2020-12": 2020}
#: Files beside ``optional/format`` that are about asserted formats.
_ASSERTED = {"format-assertion.json"}
#: Raised when the meaning of a record changes.
_PROTOCOL = 1

#: Keywords that draft 7 lets an implementation assert; they are annotations here.
_ANNOTATED = {"contentEncoding", "contentMediaType"}
_EXPONENT = re.compile(r"[0-9][eE]")

VERDICTS = (
    "passes",
    "unsupported",
    "restricted",
    "annotation",
    "wrongly accepted",
    "wrongly rejected",
    "crashed",
)
AREAS = ("required", "format", "optional")


@dataclass(slots=True)
class SuiteReport:
    """How many cases of each draft and area have which verdict."""

    created: str
    data: str
    counts: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    results: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether no verdict is wrong and nothing crashed."""
        return not self.wrong

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def head(self) -> list[str]:
        """What the figures stand on, in lines."""
        return [
            f"JSON Schema test suite: {self.data}; {self.created}; {self.seconds:,.0f} s of CPU",
            "keys in any order; formats are asserted in optional/format, annotations elsewhere",
        ]

    def tables(self) -> list[Table]:
        """One table of cases for each area, and the reasons of what is unsupported."""
        out = []
        titles = {
            "required": "required tests",
            "format": "optional/format",
            "optional": "other optional tests",
        }
        for area in AREAS:
            rows = []
            for draft in DRAFTS:
                of = self.counts.get(draft, {}).get(area, {})
                total = sum(of.values())
                if total:
                    passes = of.get("passes", 0)
                    shown = [f"{of.get(verdict, 0):,}" for verdict in VERDICTS[1:]]
                    rows.append([draft, f"{total:,}", f"{passes:,} ({passes / total:.2%})", *shown])
            if rows:
                out.append(Table(titles[area], ["", "cases", *VERDICTS], rows))
        if self.reasons:
            listed = sorted(self.reasons.items(), key=lambda item: -item[1])
            rows = [[reason, f"{count:,}"] for reason, count in listed]
            out.append(Table("declared unsupported", ["reason", "cases"], rows))
        return out

    def text(self) -> str:
        """Render for a terminal; wrong verdicts are listed one by one."""
        parts = [render_text(self.head(), self.tables())]
        if self.wrong:
            parts.append("\n".join(["wrong:", *(f"  {line}" for line in self.wrong)]))
        return "\n\n".join(parts)

    def markdown(self) -> str:
        """Render for a page."""
        return render_markdown(self.head(), self.tables())


@dataclass(frozen=True, slots=True)
class _Group:
    """A schema of the suite with its tests."""

    name: str
    draft: str
    area: str
    asserted: bool
    schema: Any
    tests: list[dict[str, Any]]


def bench_suite(
    data: str | os.PathLike[str],
    *,
    drafts: Iterable[str] = tuple(DRAFTS),
    results: str | os.PathLike[str] = "json-schema-suite.jsonl",
    resume: bool = False,
    progress: bool = True,
) -> SuiteReport:
    """Run the suite and sum up its results file.

    Raises ``WorkbenchError`` for data that is none, and for a results file that exists without
    ``resume``.
    """
    from tqdm.auto import tqdm

    data, results = Path(data), Path(results)
    store = Store(results, resume=resume)
    files = read_suite(data)
    groups = list(suite_groups(files, set(drafts)))
    if not groups:
        raise WorkbenchError(f"{data} holds no tests of JSON Schema")
    text = json.dumps([_PROTOCOL, file_digest(data), engine_digest(), "any"])
    key = hashlib.sha256(text.encode()).hexdigest()[:24]
    known = store.load()
    registry = registry_of(files)
    vocabulary = bytes_vocabulary()
    done: dict[str, dict[str, Any]] = {}
    with store, tqdm(groups, desc="suite", unit="schema", disable=not progress) as bar:
        for group in bar:
            record = known.get((key, group.name))
            if record is None:
                record = judge_group(group, registry, vocabulary) | {"key": key}
                store.append(record)
            done[group.name] = record
    report = SuiteReport(
        datetime.now(UTC).isoformat(timespec="seconds"), data.name, results=str(results)
    )
    for group in groups:
        _count(report, group, done[group.name])
    return report


def _count(report: SuiteReport, group: _Group, record: dict[str, Any]) -> None:
    of = report.counts.setdefault(group.draft, {}).setdefault(group.area, {})
    for test, verdict in zip(group.tests, record["verdicts"], strict=True):
        of[verdict] = of.get(verdict, 0) + 1
        if verdict in ("wrongly accepted", "wrongly rejected", "crashed"):
            more = f": {record['reason']}" if verdict == "crashed" else ""
            report.wrong.append(f"{verdict}: {group.name}: {test['description']}{more}")
        elif verdict == "unsupported":
            reason = record["reason"] or "a budget"
            report.reasons[reason] = report.reasons.get(reason, 0) + 1
    report.seconds += record["seconds"]


def read_suite(path: Path) -> dict[str, Any]:
    """The JSON files of the archive, by path. Raises ``WorkbenchError`` for what is none."""
    found: dict[str, Any] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".json"):
                    file = archive.extractfile(member)
                    if file is not None:
                        found[member.name.removeprefix("./")] = json.load(file)
    except (OSError, tarfile.TarError, EOFError, ValueError) as error:
        raise WorkbenchError(f"cannot read {path} as the test suite: {error}") from error
    return found


def suite_groups(files: Mapping[str, Any], drafts: set[str]) -> Iterator[_Group]:
    """The schemas of some drafts with their tests, required and optional, in the order of their files."""
    for name in sorted(files):
        parts = name.split("/")
        if parts[0] != "tests" or parts[1] not in drafts or parts[1] not in DRAFTS:
            continue
        area = "required"
        if "optional" in parts:
            area = "format" if "format" in parts else "optional"
        asserted = area == "format" or parts[-1] in _ASSERTED
        for number, group in enumerate(files[name]):
            full = f"{'/'.join(parts[1:])}#{number} {group['description']}"
            yield _Group(full, parts[1], area, asserted, group["schema"], group["tests"])


def registry_of(files: Mapping[str, Any]) -> dict[str, Any]:
    """The documents that the suite refers to, by URI, and the meta-schemas where they are installed."""
    found: dict[str, Any] = {}
    try:
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

        found = {uri: REGISTRY.contents(uri) for uri in REGISTRY}
    except ImportError:
        pass
    for name, document in files.items():
        if name.startswith("remotes/"):
            found["http://localhost:1234/" + name.removeprefix("remotes/")] = document
    return found


def bytes_vocabulary() -> Vocabulary:
    """One token a byte, and an end."""
    tokens = [bytes([byte]) for byte in range(256)] + [b""]
    return Vocabulary.from_bytes(tokens, eos_ids=(256,), special_ids=(256,))


def judge_group(
    group: _Group,
    registry: Any,
    vocabulary: Vocabulary,
    order: str = "any",
    ways: Callable[[Any], Iterable[Any]] = lambda value: (value,),
) -> dict[str, Any]:
    """Compile a schema of the suite and give the verdict on each of its instances.

    ``order`` is the property order that the front end is told; an instance is accepted when one of its ``ways`` is.
    """
    from workbench.engine import compile as compile_grammar
    from workbench.frontends.json_schema import json_schema

    record: dict[str, Any] = {"schema": group.name, "reason": None}
    options: dict[str, Any] = {
        "draft": DRAFTS[group.draft],
        "formats": "assert" if group.asserted else "annotate",
        "registry": registry,
        "whitespace": "compact",
        "property_order": order,
    }
    began = time.thread_time()
    verdicts: list[str] = []
    compiled: Any = None
    outcomes: tuple[Outcome, ...] = ()
    try:
        grammar = json_schema(group.schema, **options)
        outcomes = grammar.outcomes
        compiled = compile_grammar(grammar, vocabulary, **uncached(compile_grammar))
    except UnsatisfiableGrammar:
        pass
    except (UnsupportedConstraint, GrammarTooComplex) as error:
        verdicts = ["unsupported"] * len(group.tests)
        record["reason"] = _reason(error)
    except Exception as error:
        verdicts = ["crashed"] * len(group.tests)
        record["reason"] = f"{type(error).__name__}: {error}"[:300]
    for test in group.tests[len(verdicts) :]:
        try:
            taken = compiled is not None and _accepted(compiled, ways(test["data"]))
        except GrammarTooComplex as error:
            verdicts.append("unsupported")
            record["reason"] = _reason(error)
            continue
        except Exception as error:
            verdicts.append("crashed")
            record["reason"] = f"{type(error).__name__}: {error}"[:300]
            continue
        verdicts.append(_verdict(test, taken, outcomes, group.area))
    return record | {"verdicts": verdicts, "seconds": round(time.thread_time() - began, 4)}


def _verdict(test: dict[str, Any], taken: bool, outcomes: tuple[Outcome, ...], area: str) -> str:
    if taken == test["valid"]:
        return "passes"
    if taken:
        told = {o.keyword for o in outcomes if o.status == "annotation"} & _ANNOTATED
        return "annotation" if told and area == "optional" else "wrongly accepted"
    restricted = [o for o in outcomes if o.status == "restricted" and o.pointer != "#"]
    formats = any(o.keyword == "format" for o in restricted)
    notation = any("notation" in o.kinds for o in restricted)
    exponent = _EXPONENT.search(json.dumps(test["data"])) is not None
    return "restricted" if formats or (notation and exponent) else "wrongly rejected"


def _reason(error: WorkbenchError) -> str:
    if isinstance(error, GrammarTooComplex):
        return f"more than {error.limit:,} {error.budget}"
    return str(getattr(error, "reason", error))[:200]


def _accepted(compiled: Any, values: Iterable[Any]) -> bool:
    for one in values:
        text = json.dumps(one, separators=(",", ":"), ensure_ascii=False)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = json.dumps(one, separators=(",", ":")).encode()
        matcher = compiled.matcher()
        if matcher.accept_tokens(list(data)) == len(data) and matcher.is_accepting:
            return True
    return False
