"""Records of schemas under engines -> verdicts and times.

Times are summed up over sets of schemas that are the same for every engine in a table: what all
engines compile, what we and one peer compile, and what llguidance compiles. In the last one a schema
that another engine does not take counts at the limit: its first mask, and one mask.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.benchmarks.judge import times_of
from workbench.benchmarks.report_tables import Table, figure, ratio
from workbench.benchmarks.schema_engines import OURS
from workbench.wording import number_of

__all__ = [
    "Records",
    "TimeSet",
    "Verdicts",
    "time_sets",
    "time_table",
    "verdict_tables",
    "verdicts",
]

#: engine -> schema -> record
Records = Mapping[str, Mapping[str, dict[str, Any]]]
Figures = dict[str, float]
_CLOCKS = ("cpu", "wall")


@dataclass(slots=True)
class Verdicts:
    """What became of the schemas under one engine. A schema can be wrong in both directions."""

    schemas: int = 0
    without_instances: int = 0
    right: int = 0
    unsupported: int = 0
    rejects_valid: int = 0
    accepts_invalid: int = 0
    crashed: int = 0
    timed_out: int = 0
    valid_instances: int = 0
    valid_rejected: int = 0
    invalid_instances: int = 0
    invalid_accepted: int = 0
    unsupported_reasons: list[tuple[str, int]] = field(default_factory=list)
    crash_reasons: list[tuple[str, int]] = field(default_factory=list)


def verdicts(records: Iterable[dict[str, Any]]) -> Verdicts:
    """Judge the records of one engine."""
    out = Verdicts()
    unsupported: Counter[str] = Counter()
    crashes: Counter[str] = Counter()
    for record in records:
        out.schemas += 1
        judged = [(valid, accepted) for valid, accepted, *_ in record["instances"]]
        judged = [(valid, accepted) for valid, accepted in judged if accepted is not None]
        valid = [accepted for valid, accepted in judged if valid]
        invalid = [accepted for valid, accepted in judged if not valid]
        out.valid_instances += len(valid)
        out.valid_rejected += valid.count(False)
        out.invalid_instances += len(invalid)
        out.invalid_accepted += invalid.count(True)
        outcome = record["outcome"]
        if outcome == "refused":
            out.unsupported += 1
            unsupported[_general(record["reason"])] += 1
        elif outcome == "crashed":
            out.crashed += 1
            crashes[f"{record['stage']}: {_general(record['reason'])}"] += 1
        elif outcome == "timeout":
            out.timed_out += 1
        else:
            out.without_instances += not judged
            out.rejects_valid += False in valid
            out.accepts_invalid += True in invalid
            out.right += False not in valid and True not in invalid
    out.unsupported_reasons = unsupported.most_common()
    out.crash_reasons = crashes.most_common()
    return out


def _general(reason: str | None) -> str:
    """A reason without names, numbers and places, so that like ones count together."""
    text = reason or "no reason given"
    text = re.sub(r"(?<!\w)#[^\s:,;]*:? ?", "", text)
    if "keys: [" not in text:  # there the quoted words are the reason
        text = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "…", text)
    text = re.sub(r"\{.*", "{…", text)
    text = re.sub(r"\[\d\d:\d\d:\d\d\] \S+ ", "", text)
    text = re.sub(r"\d[\d,.]*", "N", text)
    return text[:110].strip()


@dataclass(slots=True)
class TimeSet:
    """Times of several engines over the same schemas, by CPU and by wall."""

    name: str
    schemas: int
    #: clock -> engine -> figure
    times: dict[str, dict[str, Figures]] = field(default_factory=dict)


def time_sets(records: Records, limit_s: float) -> list[TimeSet]:
    """Make the sets of schemas and sum up the times over each."""
    engines = list(records)
    compiled = {
        name: {schema for schema, r in records[name].items() if _compiles(r)} for name in engines
    }
    # Where a run was interrupted, only what every engine has been asked.
    common = set.intersection(*(set(records[name]) for name in engines)) if engines else set()
    wanted: list[tuple[str, list[str], set[str]]] = []
    if engines:
        everyone = set.intersection(common, *compiled.values())
        wanted.append(("schemas that every engine compiles", engines, everyone))
    if len(engines) > 2 and OURS in engines:
        for name in engines:
            if name != OURS:
                both = common & compiled[OURS] & compiled[name]
                wanted.append((f"schemas that {OURS} and {name} compile", [OURS, name], both))
    if "llguidance" in engines and len(engines) > 1:
        wanted.append(
            (
                "schemas that llguidance compiles; what another engine refuses counts at the limit",
                engines,
                common & compiled["llguidance"],
            )
        )
    return [
        _time_set(name, names, sorted(schemas), records, limit_s) for name, names, schemas in wanted
    ]


def _compiles(record: dict[str, Any]) -> bool:
    """Whether an engine takes a schema; one that runs out of time does, and counts at the limit."""
    return record["outcome"] != "refused" and record.get("ttfm_us") is not None


def _time_set(
    name: str, engines: Sequence[str], schemas: Sequence[str], records: Records, limit_s: float
) -> TimeSet:
    out = TimeSet(name, len(schemas), {clock: {} for clock in _CLOCKS})
    limit = np.array([limit_s * 1e6])
    for engine in engines:
        ttfm: list[list[float]] = []
        masks: tuple[list[Any], list[Any]] = ([], [])
        moved: list[Any] = []
        for schema in schemas:
            record = records[engine][schema]
            if _compiles(record):
                ttfm.append(record["ttfm_us"])
                cpu, wall, accepts = times_of(record)
                masks[0].append(cpu)
                masks[1].append(wall)
                moved.append(accepts)
            else:
                ttfm.append([limit_s * 1e6] * 2)
                masks[0].append(limit)
                masks[1].append(limit)
        accept = np.concatenate(moved) if moved else np.empty(0)
        for at, clock in enumerate(_CLOCKS):
            mask = np.concatenate(masks[at]) if schemas else np.empty(0)
            first = np.array([pair[at] for pair in ttfm]) / 1e3
            figures = {"masks": float(mask.size)}
            figures |= _figures("mask", mask) | _figures("ttfm", first)
            if clock == "cpu":
                figures |= {"accept avg": _mean(accept), "accept p99": _at(accept, 99)}
                total = float(mask.sum() + accept.sum())
                figures["mask+accept avg"] = total / mask.size if mask.size else float("nan")
            out.times[clock][engine] = figures
    return out


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else float("nan")


def _at(values: npt.NDArray[np.float64], percent: float) -> float:
    return float(np.percentile(values, percent)) if values.size else float("nan")


def _figures(name: str, values: npt.NDArray[np.float64]) -> Figures:
    return {
        f"{name} avg": _mean(values),
        f"{name} p50": _at(values, 50),
        f"{name} p99": _at(values, 99),
        f"{name} p99.9": _at(values, 99.9),
        f"{name} max": _at(values, 100),
    }


_COLUMNS = [
    *("mask avg", "mask p50", "mask p99", "mask p99.9", "mask max"),
    *("accept avg", "mask+accept avg"),
    *("ttfm avg", "ttfm p50", "ttfm p99", "ttfm max"),
]


def time_table(times: TimeSet, clock: str) -> Table:
    """The times of one set, and how many times ours each peer's are."""
    by_engine = times.times[clock]
    columns = [c for c in _COLUMNS if all(c in figures for figures in by_engine.values())]
    shown = "CPU" if clock == "cpu" else "wall"
    table = Table(
        f"{times.name} ({times.schemas:,}): {shown} time, masks in µs, ttfm in ms",
        ["", "masks", *columns],
    )
    for engine, figures in by_engine.items():
        cells = [figure(figures[column]) for column in columns]
        table.rows.append([engine, f"{int(figures['masks']):,}", *cells])
    ours = by_engine.get(OURS)
    if ours is not None:
        for engine, figures in by_engine.items():
            if engine != OURS:
                cells = [ratio(figures[column], ours[column]) for column in columns]
                table.rows.append([f"{engine} ÷ {OURS}", "", *cells])
        table.notes += _standing(by_engine, columns)
    return table


def _standing(by_engine: Mapping[str, Figures], columns: Sequence[str]) -> list[str]:
    """Say where ours is ahead of the best peer and where behind, with how many times."""
    peers = [name for name in by_engine if name != OURS]
    ahead: list[str] = []
    behind: list[str] = []
    for column in columns if peers else ():
        best = min(peers, key=lambda name: by_engine[name][column])
        theirs, own = by_engine[best][column], by_engine[OURS][column]
        (ahead if own <= theirs else behind).append(f"{column} {ratio(theirs, own)} ({best})")
    lines = []
    if ahead:
        lines.append("ahead of the best peer: " + ", ".join(ahead))
    if behind:
        lines.append("behind the best peer: " + ", ".join(behind))
    return lines


def verdict_tables(all_verdicts: Mapping[str, Verdicts], top: int = 8) -> list[Table]:
    """What became of the schemas, and the most frequent reasons of every engine."""
    engines = list(all_verdicts)
    table = Table("verdicts", ["", *engines])

    def row(title: str, name: str, whole: str | None = None) -> None:
        cells = []
        for engine in engines:
            count = getattr(all_verdicts[engine], name)
            total = getattr(all_verdicts[engine], whole) if whole else 0
            cells.append(f"{count:,} ({count / total:.1%})" if total else f"{count:,}")
        table.rows.append([title, *cells])

    row("schemas", "schemas")
    row("fully right", "right", "schemas")
    row("declared unsupported", "unsupported", "schemas")
    row("reject a valid instance", "rejects_valid", "schemas")
    row("accept an invalid instance", "accepts_invalid", "schemas")
    row("crashed", "crashed", "schemas")
    row("timed out", "timed_out", "schemas")
    row("valid instances rejected", "valid_rejected", "valid_instances")
    row("invalid instances accepted", "invalid_accepted", "invalid_instances")
    row("compiled, without instances", "without_instances")
    tables = [table]
    for engine in engines:
        for title, reasons in (
            ("declares unsupported", all_verdicts[engine].unsupported_reasons),
            ("crashes", all_verdicts[engine].crash_reasons),
        ):
            if reasons:
                rows = [[reason, f"{count:,}"] for reason, count in reasons[:top]]
                left = reasons[top:]
                if left:
                    rows.append(
                        [
                            number_of(len(left), "other reason"),
                            f"{sum(count for _, count in left):,}",
                        ]
                    )
                tables.append(Table(f"{engine} {title}", ["reason", "schemas"], rows))
    return tables
