"""Time masks beside XGrammar's and llguidance's, in one process, along fixed texts.

Every engine steps through the same token ids; each ``fill`` is timed as the Python call that a user
makes. *Cold* is the first pass over a freshly compiled grammar (least of a few compilations, step by
step); *warm* is the least time of each step over repeated passes. Passes of the engines are
interleaved and their order rotates. Wall time is the call alone; CPU time is the thread's, less the
cost of reading that clock. Masks are compared step by step with the first engine's.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.diagnostics.bench_cases import CASES, Case
from workbench.diagnostics.bench_engines import (
    ENGINES,
    Engine,
    Mask,
    Session,
    Setup,
    installed,
    read_tokenizer,
)
from workbench.diagnostics.bench_machine import clock_overhead, machine, machine_line
from workbench.vocabulary import Vocabulary

__all__ = ["Report", "Row", "Times", "bench_masks"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds a call over the steps of a text."""

    median: float
    mean: float
    p99: float
    max: float

    @classmethod
    def of(cls, microseconds: Floats) -> Times:
        """Summarise one value a step."""
        return cls(
            float(np.median(microseconds)),
            float(microseconds.mean()),
            float(np.percentile(microseconds, 99)),
            float(microseconds.max()),
        )


@dataclass(slots=True)
class Row:
    """One engine on one case. ``problem`` says why there are no figures."""

    case: str
    engine: str
    steps: int = 0
    problem: str | None = None
    compile_ms: float | None = None
    cold: Times | None = None
    warm: Times | None = None
    cold_cpu: Times | None = None
    warm_cpu: Times | None = None
    accept: Times | None = None
    differing_steps: int | None = None
    first_difference: str | None = None


@dataclass(slots=True)
class Report:
    """All rows, and what they were measured on."""

    created: str
    machine: dict[str, Any]
    versions: dict[str, str]
    tokenizer: str
    vocabulary_size: int
    repeat: int
    compilations: int
    setup_ms: dict[str, float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def table(self) -> str:
        """Render the report as text."""
        return _render(self)


@dataclass(slots=True)
class _Pass:
    """One run over a text: microseconds of every call, and the masks when they are kept."""

    wall: Floats
    cpu: Floats
    accept: Floats
    masks: list[Mask]


def bench_masks(
    tokenizer: str | os.PathLike[str],
    *,
    repeat: int = 5,
    compilations: int = 3,
    cases: Sequence[Case] = CASES,
    engines: Sequence[Engine] = ENGINES,
    progress: bool = True,
) -> Report:
    """Run the comparison on a ``tokenizer.json`` (plain or ``.xz``).

    ``repeat`` warm passes and ``compilations`` cold ones are made for every engine and case.
    Raises ``VocabularyError`` when the file is no tokenizer.
    """
    from tqdm import tqdm

    path = Path(tokenizer)
    setup, encode = read_tokenizer(path)
    report = Report(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        versions={engine.name: engine.version for engine in engines if installed(engine)},
        tokenizer=path.name,
        vocabulary_size=setup.vocabulary.size,
        repeat=repeat,
        compilations=compilations,
    )
    ready: dict[str, Any] = {}
    total = len(engines) + len(cases) * len(engines) * (repeat + compilations)
    with tqdm(total=total, desc="masks", disable=not progress, leave=False) as bar:
        for engine in engines:
            bar.set_postfix_str(f"{engine.name}: vocabulary")
            if installed(engine):
                began = time.perf_counter()
                ready[engine.name] = engine.prepare(setup)
                _kernels(ready[engine.name], cases[0], setup, encode)
                report.setup_ms[engine.name] = (time.perf_counter() - began) * 1e3
            bar.update()
        for case in cases:
            ids = encode(case.text)

            def step(name: str, case: Case = case) -> None:
                bar.set_postfix_str(f"{case.name}: {name}")
                bar.update()

            report.rows += _run_case(case, ids, engines, ready, setup, repeat, compilations, step)
    return report


def _kernels(compiler: Any, case: Case, setup: Setup, encode: Callable[[str], list[int]]) -> None:
    """Load whatever an engine builds once a process, so that it counts as setup, not as a first mask."""
    mask = np.zeros((setup.vocabulary.width + 31) // 32, np.int32)
    try:
        _walk(compiler(case)(mask), mask, encode(case.text), keep=False)
    except Exception:  # said in the table, by the case that it belongs to
        return


def _run_case(
    case: Case,
    ids: list[int],
    engines: Sequence[Engine],
    ready: dict[str, Any],
    setup: Setup,
    repeat: int,
    compilations: int,
    step: Callable[[str], None],
) -> list[Row]:
    rows = {engine.name: Row(case.name, engine.name, steps=len(ids) + 1) for engine in engines}
    for engine in engines:
        if engine.name not in ready:
            rows[engine.name].problem = "not installed"
    mask = np.zeros((setup.vocabulary.width + 31) // 32, np.int32)
    starts: dict[str, Any] = {}
    compile_ms: dict[str, list[float]] = {}
    cold: dict[str, list[_Pass]] = {}
    warm: dict[str, list[_Pass]] = {}
    masks: dict[str, list[Mask]] = {}
    for turn in range(compilations + repeat):
        for engine in _rotated(engines, turn):
            step(engine.name)
            name = engine.name
            if rows[name].problem is not None:
                continue
            try:
                if turn < compilations:
                    began = time.perf_counter()
                    starts[name] = ready[name](case)
                    compile_ms.setdefault(name, []).append((time.perf_counter() - began) * 1e3)
                run = _walk(starts[name](mask), mask, ids, keep=turn == 0)
            except Exception as error:  # a peer's failure is a result of the comparison
                rows[name].problem = f"{type(error).__name__}: {error}".splitlines()[0][:160]
                continue
            (cold if turn < compilations else warm).setdefault(name, []).append(run)
            if turn == 0:
                masks[name] = run.masks
    for name, row in rows.items():
        if row.problem is not None:
            continue
        row.compile_ms = min(compile_ms[name])
        row.cold, row.cold_cpu, _ = _summary(cold[name])
        row.warm, row.warm_cpu, row.accept = _summary(warm[name] or cold[name])
    _compare(rows, engines, masks, ids, setup.vocabulary)
    return list(rows.values())


def _rotated(engines: Sequence[Engine], turn: int) -> list[Engine]:
    first = turn % len(engines)
    return [*engines[first:], *engines[:first]]


def _walk(session: Session, mask: Mask, ids: list[int], *, keep: bool) -> _Pass:
    """Fill and accept along a text; the last fill is after its end."""
    wall_clock, cpu_clock = time.perf_counter_ns, time.thread_time_ns
    fill, accept = session.fill, session.accept
    wall, cpu, moved = (np.zeros(len(ids) + 1) for _ in range(3))
    masks: list[Mask] = []
    overhead = clock_overhead()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for index, token_id in enumerate([*ids, None]):
            cpu_began = cpu_clock()
            began = wall_clock()
            fill()
            ended = wall_clock()
            cpu_ended = cpu_clock()
            wall[index] = ended - began
            cpu[index] = max(0, cpu_ended - cpu_began - overhead)
            if keep:
                masks.append(mask.copy())
            if token_id is not None:
                began = wall_clock()
                accepted = accept(token_id)
                moved[index] = wall_clock() - began
                if not accepted:
                    raise ValueError(f"refuses token {token_id} at step {index}")
    finally:
        if collecting:
            gc.enable()
    return _Pass(wall / 1e3, cpu / 1e3, moved[:-1] / 1e3, masks)


def _summary(passes: list[_Pass]) -> tuple[Times, Times, Times]:
    return (
        Times.of(np.min([run.wall for run in passes], axis=0)),
        Times.of(np.min([run.cpu for run in passes], axis=0)),
        Times.of(np.min([run.accept for run in passes], axis=0)),
    )


def _compare(
    rows: dict[str, Row],
    engines: Sequence[Engine],
    masks: dict[str, list[Mask]],
    ids: list[int],
    vocabulary: Vocabulary,
) -> None:
    """Count the steps at which an engine's mask is not the first engine's, and describe the first one."""
    present = [engine.name for engine in engines if rows[engine.name].problem is None]
    if not present:
        return
    yardstick = present[0]
    for name in present:
        row, differing = rows[name], 0
        for index, (ours, theirs) in enumerate(zip(masks[yardstick], masks[name], strict=True)):
            if np.array_equal(ours, theirs):
                continue
            differing += 1
            if row.first_difference is None:
                before = b"".join(vocabulary.token_bytes(i) for i in ids[:index])[-16:]
                more, less = _only(theirs, ours), _only(ours, theirs)
                row.first_difference = (
                    f"after …{before.decode('utf-8', 'replace')!r}: +{len(more)} −{len(less)}"
                    f"{_samples('+', more, vocabulary)}{_samples('−', less, vocabulary)}"
                )
        row.differing_steps = differing


def _only(these: Mask, others: Mask) -> npt.NDArray[np.int64]:
    bits = np.unpackbits((these & ~others).view(np.uint8), bitorder="little")
    return np.flatnonzero(bits)


def _samples(sign: str, token_ids: npt.NDArray[np.int64], vocabulary: Vocabulary) -> str:
    shown = [
        vocabulary.label(int(i)) if i < vocabulary.size else f"padding {i}" for i in token_ids[:3]
    ]
    return f" {sign} {' '.join(shown)}" if shown else ""


def _render(report: Report) -> str:
    lines = [
        f"µs a mask, {report.tokenizer} ({report.vocabulary_size:,} tokens), one thread; "
        f"cold = first pass, least of {report.compilations} compilations; "
        f"warm = least of {report.repeat} passes, step by step",
        machine_line(report.machine, report.versions),
        "once a process, ms: "
        + ", ".join(f"{name} {value:,.0f}" for name, value in report.setup_ms.items()),
        "",
        f"{'':<20}{'compile':>9} │{'cold':^29}│{'warm':^29}│{'CPU mean':^15}│{'accept':>7} │"
        f"{'÷ ' + report.rows[0].engine if report.rows else '':^15}│ masks",
        f"{'':<20}{'ms':>9} │{'median':>9}{'mean':>9}{'p99':>10} │{'median':>9}{'mean':>9}{'p99':>10} │"
        f"{'cold':>7}{'warm':>7} │{'median':>7} │{'median':>7}{'mean':>7} │",
    ]
    yardstick: Row | None = None
    shown = None
    for row in report.rows:
        if row.case != shown:
            shown, yardstick = row.case, row
            lines += ["─" * 150, f"{row.case} ({row.steps} steps)"]
        lines.append(_line(row, yardstick))
        if row.first_difference:
            lines.append(f"    first difference {row.first_difference}")
    return "\n".join(lines)


def _line(row: Row, yardstick: Row | None) -> str:
    head = f"  {row.engine:<18}"
    if row.problem is not None or not (
        row.cold and row.warm and row.cold_cpu and row.warm_cpu and row.accept
    ):
        return f"{head}{row.problem}"
    ratio = f"{'':>14}"
    if yardstick and yardstick.warm and yardstick is not row:
        by_median = row.warm.median / max(yardstick.warm.median, 1e-3)
        by_mean = row.warm.mean / max(yardstick.warm.mean, 1e-3)
        ratio = f"{by_median:>7.1f}{by_mean:>7.1f}"
    same = "same" if row.differing_steps == 0 else f"{row.differing_steps} steps differ"
    if yardstick is row:
        same = ""
    return (
        f"{head}{row.compile_ms:>9,.1f} │{_three(row.cold)} │{_three(row.warm)} │"
        f"{row.cold_cpu.mean:>7,.1f}{row.warm_cpu.mean:>7,.1f} │{row.accept.median:>7,.1f} │"
        f"{ratio} │ {same}"
    )


def _three(times: Times) -> str:
    return f"{times.median:>9,.1f}{times.mean:>9,.1f}{times.p99:>10,.1f}"
