"""``workbench bench process``: what the engine costs a process: to start, and beside other packages.

CPU time from the start of a new process to its first mask (``start_up.py``). First masks of real schemas beside the
packages of a notebook (torch, transformers, plotly, where they are installed), with Python's garbage collector as
it is, with all that those packages made frozen (``gc.freeze``, as the workers of ``bench maskbench`` do), and with
the collector off. Each way has processes of its own, which take turns. Then the calls that a program repeats: the
same grammar read again, masks into arrays and tensors, tokens.
"""

from __future__ import annotations

import gc
import importlib
import json
import multiprocessing
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from workbench.benchmarks.engines import read_tokenizer
from workbench.benchmarks.machine import machine, machine_line
from workbench.benchmarks.maskbench import read_archive
from workbench.benchmarks.report_tables import Table, figure, render_markdown, render_text
from workbench.benchmarks.start_up import PARTS, start_up
from workbench.engine import Matcher, accept_all, compile as compile_grammar, empty_mask
from workbench.errors import WorkbenchError
from workbench.frontends.gbnf import gbnf
from workbench.frontends.json_schema import json_schema
from workbench.frontends.kept import KEPT
from workbench.frontends.regex import regex
from workbench.vocabulary import Vocabulary
from workbench.wording import number_of

__all__ = ["WAYS", "ProcessReport", "bench_process"]

#: How the collector is while first masks are made.
WAYS = ("as it is", "frozen", "off")
_BESIDE = ("torch", "transformers", "plotly.graph_objects")
#: Schemas before anything is measured.
_WARM_UP = 10
#: A schema, a grammar and a pattern of about 2 KB.
_NAMES = [f"member_{i}" for i in range(30)]
_SCHEMA = json.dumps({"properties": {n: {"type": "string", "maxLength": 9} for n in _NAMES}})
_GBNF = f"root ::= {' | '.join(_NAMES).replace('_', '-')}\n" + "\n".join(
    f'{name.replace("_", "-")} ::= "{name}" ":" [a-z]+ ("," [0-9]+)*' for name in _NAMES
)
_PATTERN = "|".join(f"{name}:[a-z]+(?:,[0-9]+)*=[^;]{{1,30}};{name}" for name in _NAMES)


@dataclass(slots=True)
class ProcessReport:
    """First masks in milliseconds by the way of the collector; calls in microseconds."""

    created: str
    machine: dict[str, Any]
    versions: dict[str, str]
    data: str
    tokenizer: str
    schemas: int
    rounds: int
    beside: list[str]
    #: of each way: milliseconds of CPU time from a schema to its first mask, one each
    first_masks: dict[str, list[float]] = field(default_factory=dict)
    #: of each call: microseconds of CPU time, the least
    calls: dict[str, float] = field(default_factory=dict)
    #: of the first process on a machine and of later ones: seconds of CPU time, by part
    start_up: dict[str, dict[str, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def _head(self) -> list[str]:
        return [
            f"{self.data}, {number_of(self.schemas, 'schema')} drawn; {self.tokenizer}; {self.created}",
            machine_line(self.machine, self.versions),
            f"beside {', '.join(self.beside) or 'no other package'}; CPU time of the thread; "
            f"first masks: {number_of(self.rounds, 'process', 'processes')} a way, in turn",
        ]

    def _tables(self) -> list[Table]:
        masks = Table(
            "schema to first mask, ms, by the garbage collector",
            ["", "mean", "median", "p99", "max"],
        )
        for way, times in self.first_masks.items():
            values = [np.mean(times), np.median(times), np.percentile(times, 99), np.max(times)]
            masks.rows.append([way, *(figure(float(value)) for value in values)])
        calls = Table("calls, µs, the least", ["", "µs"])
        calls.rows += [[name, figure(value)] for name, value in self.calls.items()]
        start = Table(
            "start of a process to its first mask, seconds of CPU time", ["", *self.start_up]
        )
        for part in PARTS:
            start.rows.append([part, *(f"{one[part]:.3f}" for one in self.start_up.values())])
        total = [sum(one.values()) for one in self.start_up.values()]
        start.rows.append(["together", *(f"{seconds:.3f}" for seconds in total)])
        start.notes.append(
            "the first process compiles the kernels and spells the vocabulary; later ones find both on disk"
        )
        return [start, masks, calls]

    def text(self) -> str:
        """Render the report as text."""
        return render_text(self._head(), self._tables())

    def markdown(self) -> str:
        """Render the report for a page."""
        return render_markdown(self._head(), self._tables())


def bench_process(
    data: Path,
    tokenizer: Path,
    *,
    sample: int = 200,
    seed: int = 0,
    rounds: int = 2,
    beside: Sequence[str] = _BESIDE,
) -> ProcessReport:
    """Measure first masks of ``sample`` schemas of an archive, and the calls that a program repeats.

    Raises ``WorkbenchError`` for data that cannot be read, ``VocabularyError`` where the tokenizer is none.
    """
    setup, _ = read_tokenizer(tokenizer)
    files = read_archive(data)
    chosen = random.Random(seed).sample(files, min(sample + _WARM_UP, len(files)))
    schemas = [json.loads(raw)["schema"] for _, raw in chosen]
    present = [name for name in beside if find_spec(name.partition(".")[0]) is not None]
    report = ProcessReport(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        versions={},
        data=data.name,
        tokenizer=tokenizer.name,
        schemas=max(0, len(schemas) - _WARM_UP),
        rounds=rounds,
        beside=present,
        first_masks={way: [] for way in WAYS},
    )
    fresh = multiprocessing.get_context("spawn")
    for turn in range(rounds):
        for way in WAYS[turn % len(WAYS) :] + WAYS[: turn % len(WAYS)]:
            with fresh.Pool(1) as pool:
                arguments = tokenizer, schemas, way, present
                report.first_masks[way] += pool.apply(first_masks, arguments)
    report.calls = repeated_calls(setup.vocabulary)
    report.start_up = start_up(tokenizer)
    return report


def first_masks(
    tokenizer: Path, schemas: Sequence[Any], way: str, beside: Sequence[str]
) -> list[float]:
    """Milliseconds from each schema to its first mask, of those that are taken; in a process of its own."""
    for name in beside:
        importlib.import_module(name)
    vocabulary = read_tokenizer(tokenizer)[0].vocabulary
    mask = empty_mask(vocabulary)
    times: list[float] = []
    for number, schema in enumerate(schemas):
        if number == min(_WARM_UP, len(schemas) - 1):
            gc.collect()
            times.clear()
            if way == "frozen":
                gc.freeze()
            elif way == "off":
                gc.disable()
        KEPT.clear()
        began = time.thread_time_ns()
        try:
            compiled = compile_grammar(json_schema(schema), vocabulary, cache=False)
            compiled.matcher().fill_mask(mask)
        except WorkbenchError:  # not taken, which other benchmarks tell of
            continue
        times.append((time.thread_time_ns() - began) / 1e6)
    return times


def repeated_calls(vocabulary: Vocabulary) -> dict[str, float]:
    """Microseconds of calls that are repeated, each the least over many."""
    schema = json.loads(_SCHEMA)
    calls: dict[str, Callable[[], Any]] = {
        f"json_schema again, {number_of(len(_SCHEMA), 'character')}": lambda: json_schema(
            _copy(_SCHEMA)
        ),
        "json_schema again, the same as a dictionary": lambda: json_schema(schema),
        f"gbnf again, {number_of(len(_GBNF), 'character')}": lambda: gbnf(_copy(_GBNF)),
        f"regex again, {number_of(len(_PATTERN), 'character')}": lambda: regex(_copy(_PATTERN)),
    }
    compiled = compile_grammar(gbnf("root ::= [a-z]*"), vocabulary)
    batch = empty_mask(vocabulary, 4)
    token = next(i for i in range(vocabulary.size) if vocabulary.token_bytes(i) == b"a")

    def filling(mask: Any, row: int = 0) -> Callable[[], Any]:
        matcher: Matcher = compiled.matcher()
        return lambda: matcher.fill_mask(mask, row)

    calls["fill_mask, an array"] = filling(empty_mask(vocabulary))
    calls["fill_mask, a row of an array"] = filling(batch, 2)
    if find_spec("torch") is not None:
        import torch

        calls["fill_mask, a tensor"] = filling(torch.from_numpy(empty_mask(vocabulary)))
        calls["fill_mask, a row of a tensor"] = filling(torch.from_numpy(batch), 2)
    accepting, several, ids = compiled.matcher(), [compiled.matcher()], [token]
    calls["accept"] = lambda: accepting.accept(token)
    calls["accept_all, one sequence"] = lambda: accept_all(several, ids)
    least = dict.fromkeys(calls, float("inf"))
    rounds = dict.fromkeys(calls, 1)
    for _ in range(60):
        for name, call in calls.items():
            began = time.thread_time_ns()
            for _ in range(rounds[name]):
                call()
            each = (time.thread_time_ns() - began) / 1e3 / rounds[name]
            least[name] = min(least[name], each)
            rounds[name] = 20 if each < 1_000 else 1
    return least


def _copy(text: str) -> str:
    """The same text as another object, of which nothing is known yet."""
    return (text + " ")[:-1]
