"""What ``workbench bench growth`` measures of schemas: each at growing sizes, and how the times grow with them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.benchmarks.growth_cases import by_count, by_size
from workbench.benchmarks.growth_families import FAMILIES
from workbench.benchmarks.judge import times_of
from workbench.benchmarks.report_tables import Table, figure

__all__ = [
    "FULL",
    "QUICK",
    "Made",
    "SchemaRow",
    "Sizes",
    "family_schemas",
    "family_table",
    "schema_row",
    "schema_table",
    "schemas",
]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is measured: tokens of a text, bytes of a schema, counts in a schema, parts that might multiply."""

    tokens: tuple[int, ...]
    bytes: tuple[int, ...]
    counts: tuple[int, ...]
    parts: tuple[int, ...] = (16, 32, 64, 128, 256)


FULL = Sizes((1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000), (10, 1_000, 100_000))
QUICK = Sizes((50, 200), (1_000, 4_000), (10, 100), (4, 8))

_BY_SIZE = ("wide", "definitions", "enum")
_BY_COUNT = ("maxLength", "maxItems", "minItems")


@dataclass(slots=True)
class SchemaRow:
    """An engine on a schema of a size or with a count."""

    shape: str
    size: int
    engine: str
    schema_bytes: int
    outcome: str
    reason: str | None
    first_mask_ms: float | None = None
    stages_ms: dict[str, float] = field(default_factory=dict)
    masks: int = 0
    mask_us: float | None = None
    mask_max_us: float | None = None
    #: CPU after which it was refused
    refused_ms: float | None = None


#: A shape, a size or count, and the file for the workers.
Made = tuple[str, int, str]

#: CPU below which a time is mostly what every schema costs.
_LEAST_MS = 20.0
_LEAST_MASK_US = 1_000.0


def schemas(sizes: Sizes) -> dict[str, Made]:
    """The schemas of a size or with a count, by name."""
    wanted = [(shape, size) for shape in _BY_SIZE for size in sizes.bytes]
    wanted += [(shape, count) for shape in _BY_COUNT for count in sizes.counts]
    out: dict[str, Made] = {}
    for shape, size in wanted:
        schema, value = (by_size if shape in _BY_SIZE else by_count)(shape, size)
        out[f"{shape} {size}"] = (shape, size, _file(schema, (True, value)))
    return out


def family_schemas(sizes: Sizes) -> dict[str, Made]:
    """The schemas of the families, by name, each with a valid and an invalid value."""
    out: dict[str, Made] = {}
    for name, make in FAMILIES.items():
        for count in sizes.parts:
            schema, value, wrong = make(count)
            out[f"{name} {count}"] = (name, count, _file(schema, (True, value), (False, wrong)))
    return out


def _file(schema: Any, *values: tuple[bool, Any]) -> str:
    tests = [{"valid": valid, "data": value} for valid, value in values]
    return json.dumps({"schema": schema, "tests": tests})


def schema_row(record: dict[str, Any], made: Made) -> SchemaRow:
    """The row of a worker's record."""
    shape, size, file = made
    row = SchemaRow(
        shape,
        size,
        record["engine"],
        len(json.dumps(json.loads(file)["schema"])),
        record["outcome"],
        record["reason"],
    )
    if record["outcome"] == "ran":
        for valid, accepted, _ in record["instances"]:
            if valid != accepted:
                said = "rejects a valid value" if valid else "accepts an invalid value"
                row.outcome, row.reason = "wrong", said
    if (after := record.get("after_us")) is not None:
        row.refused_ms = after / 1e3
    if record.get("ttfm_us") is not None and record["outcome"] != "timeout":
        row.first_mask_ms = record["ttfm_us"][0] / 1e3
        row.stages_ms = {name: us / 1e3 for name, us in record["stages"].items()}
    masks, _, _ = times_of(record)
    row.masks = masks.size
    if masks.size:
        row.mask_us, row.mask_max_us = float(masks.mean()), float(masks.max())
    return row


def schema_table(rows: Sequence[SchemaRow]) -> Table:
    """A table of the rows of one shape."""
    by_bytes = rows[0].shape in _BY_SIZE
    engines = list(dict.fromkeys(row.engine for row in rows))
    table = Table(
        f"schemas: {rows[0].shape}, by {'size' if by_bytes else 'count'}: ms of CPU to the first mask, "
        "µs a mask",
        [
            "",
            "size" if by_bytes else "count",
            "front end",
            "compile",
            "to first mask",
            "grows with the power",
            "mask",
            "mask max",
        ],
    )
    before: dict[str, SchemaRow] = {}
    for row in sorted(rows, key=lambda row: engines.index(row.engine)):
        size = f"{row.schema_bytes:,}" if by_bytes else f"{row.size:,}"
        if row.outcome not in ("ran", "wrong"):
            table.rows.append([row.engine, size, "–", "–", "–", "–", "–", "–"])
            table.notes.append(f"{row.engine}, {size}: {row.outcome} {row.reason or ''}".rstrip())
            continue
        if row.outcome == "wrong":
            table.notes.append(f"{row.engine}, {size}: {row.reason}")
        table.rows.append(
            [
                row.engine,
                size,
                figure(row.stages_ms.get("front end")),
                figure(row.stages_ms.get("compile")),
                figure(row.first_mask_ms),
                _power(before.get(row.engine), row),
                figure(row.mask_us),
                figure(row.mask_max_us),
            ]
        )
        before[row.engine] = row
    return table


def family_table(rows: Sequence[SchemaRow]) -> Table:
    """A line for each family and engine: its largest size that ran, the powers of growth, where it is refused.

    The powers are those of the last two doublings, where times are more than what every schema costs.
    """
    table = Table(
        "families: to the first mask (ms of CPU), the worst mask (ms), and the power of the size with which they "
        "grow",
        ["", "size", "to first mask", "grows", "worst mask", "grows", "refused at", "after s"],
    )
    groups: dict[tuple[str, str], list[SchemaRow]] = {}
    for row in rows:
        groups.setdefault((row.shape, row.engine), []).append(row)
    for (shape, engine), some in groups.items():
        ran = [row for row in some if row.outcome in ("ran", "wrong")]
        wrong = [row for row in some if row.outcome == "wrong"]
        stopped = next((row for row in some if row not in ran), None)
        name = f"{shape}: {engine}"
        last = ran[-1] if ran else None
        worst = None if last is None or last.mask_max_us is None else last.mask_max_us / 1e3
        refused = (
            None if stopped is None or stopped.refused_ms is None else stopped.refused_ms / 1e3
        )
        firsts = [(row.size, row.first_mask_ms) for row in ran]
        worsts = [(row.size, row.mask_max_us) for row in ran]
        table.rows.append(
            [
                name,
                "–" if last is None else f"{last.size:,}",
                figure(None if last is None else last.first_mask_ms),
                _grows(firsts, _LEAST_MS),
                figure(worst),
                _grows(worsts, _LEAST_MASK_US),
                "–" if stopped is None else f"{stopped.size:,}",
                figure(refused),
            ]
        )
        if stopped is not None:
            table.notes.append(
                f"{name}, {stopped.size:,}: {stopped.outcome} {stopped.reason or ''}".rstrip()
            )
        table.notes += [f"{name}, {row.size:,}: {row.reason}" for row in wrong]
    return table


def _grows(points: Sequence[tuple[int, float | None]], least: float) -> str:
    """The power of growth over the last three sizes of which the times say something."""
    some = [(size, time) for size, time in points if time is not None and time >= least][-3:]
    if len(some) < 2:
        return "–"
    (size, time), (last_size, last_time) = some[0], some[-1]
    return f"{math.log(last_time / time) / math.log(last_size / size):.1f}"


def _power(before: SchemaRow | None, row: SchemaRow) -> str:
    """The power of its size with which the time to the first mask has grown since the row before."""
    if before is None or not before.first_mask_ms or not row.first_mask_ms:
        return "–"
    return f"{math.log(row.first_mask_ms / before.first_mask_ms) / math.log(row.size / before.size):.1f}"
