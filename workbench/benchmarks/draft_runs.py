"""``workbench bench drafts``: forward passes and times of a model under real schemas, with and without drafts.

Each schema is asked for in one prompt, greedily, by every way in turn. Schemas are closed and all their members
required, as tool calls are written: so a part of each text must come. "Same texts" counts those with the tokens of
plain decoding.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from workbench.benchmarks.machine import machine, machine_line
from workbench.benchmarks.maskbench import read_archive
from workbench.benchmarks.report_tables import Table, figure, render_markdown, render_text
from workbench.errors import WorkbenchError
from workbench.wording import number_of, percent

__all__ = ["WAYS", "DraftReport", "bench_drafts"]

#: The ways of decoding by name, with their options for ``generate``.
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "verify": {"fast_forward": "verify"},
    "inject": {"fast_forward": "inject"},
}
#: Schemas that are longer make prompts that cost more than the texts.
_LONGEST = 400
_COMPILING_S = 5.0
PROMPT = "Call the function with arguments as JSON, for this schema:\n"


@dataclass(slots=True)
class DraftReport:
    """What each way took, one entry a schema; times without the compilation."""

    created: str
    machine: dict[str, Any]
    versions: dict[str, str]
    data: str
    model: str
    most_tokens: int
    seed: int
    schemas: list[str] = field(default_factory=list)
    #: tokens of plain decoding, and how many of them were certain
    tokens: list[int] = field(default_factory=list)
    certain: list[int] = field(default_factory=list)
    #: by way: forward passes, seconds of CPU time of the process, seconds, and whether the tokens are those of plain
    passes: dict[str, list[int]] = field(default_factory=dict)
    cpu_s: dict[str, list[float]] = field(default_factory=dict)
    wall_s: dict[str, list[float]] = field(default_factory=dict)
    same: dict[str, list[bool]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def _head(self) -> list[str]:
        return [
            f"{self.data}, {number_of(len(self.schemas), 'schema')} drawn with seed {self.seed}; {self.model}, greedy, "
            f"at most {number_of(self.most_tokens, 'token')} each; {self.created}",
            machine_line(self.machine, self.versions),
        ]

    def _table(self, title: str, chosen: list[int]) -> Table:
        tokens = sum(self.tokens[i] for i in chosen)
        certain = sum(self.certain[i] for i in chosen)
        found = Table(
            f"{title}: {number_of(len(chosen), 'schema')}, {number_of(tokens, 'token')}, "
            f"{percent(certain / max(1, tokens))} of them certain",
            ["", "passes", "of plain", "CPU s", "of plain", "s", "of plain", "same texts"],
        )
        for way in self.passes:
            cells = [way]
            for values in (self.passes, self.cpu_s, self.wall_s):
                one, plain = (float(sum(values[w][i] for i in chosen)) for w in (way, "plain"))
                cells += [figure(one), percent(one / plain if plain else 1.0)]
            cells.append(str(sum(self.same[way][i] for i in chosen)))
            found.rows.append(cells)
        return found

    def _tables(self) -> list[Table]:
        everything = list(range(len(self.schemas)))
        half = [i for i in everything if 2 * self.certain[i] >= self.tokens[i]]
        return [
            self._table("all", everything),
            self._table("half of the tokens certain, or more", half),
        ]

    def text(self) -> str:
        """Render the report as text."""
        return render_text(self._head(), self._tables())

    def markdown(self) -> str:
        """Render the report for a page."""
        return render_markdown(self._head(), self._tables())


def bench_drafts(
    data: Path,
    *,
    schemas: int = 20,
    tokens: int = 40,
    seed: int = 0,
    model: Any = None,
    progress: bool = True,
) -> DraftReport:
    """Run a model (default: the packaged one) on one thread under short schemas drawn at random.

    An interrupt by the keyboard ends it with what there is so far. Schemas that cannot be compiled within some
    seconds are passed over. Raises ``WorkbenchError`` for data that is none, and ``ModelNotFound`` when the model
    cannot be had.
    """
    import torch
    from tqdm.auto import tqdm

    from workbench.models import load_model

    files = [(name, json.loads(raw)["schema"]) for name, raw in read_archive(data)]
    short = [(name, schema) for name, schema in files if len(json.dumps(schema)) <= _LONGEST]
    random.Random(seed).shuffle(short)
    model = load_model(device="cpu", progress=progress) if model is None else model
    report = DraftReport(
        datetime.now(UTC).isoformat(timespec="seconds"),
        machine(),
        {name: metadata.version(name) for name in ("torch", "transformers")},
        data.name,
        model.name,
        tokens,
        seed,
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tqdm(total=schemas, desc="drafts", unit="schema", disable=not progress) as bar:
            for name, schema in short:
                if len(report.schemas) == schemas:
                    break
                compiled = _compiled(schema, model)
                if compiled is not None:
                    _measure(report, name, PROMPT + json.dumps(schema), compiled, model)
                    bar.update()
    except KeyboardInterrupt:
        if not report.schemas:
            raise
    finally:
        torch.set_num_threads(threads)
    return report


def _compiled(schema: Any, model: Any) -> Any:
    """A schema's grammar compiled, or None where it cannot be."""
    from workbench.engine import compile as compile_grammar
    from workbench.frontends.json_schema import json_schema

    try:
        grammar = json_schema(schema, strict=True, separators=(", ", ": "))
        return compile_grammar(grammar, model.vocabulary, check="all", within=_COMPILING_S)
    except (WorkbenchError, ValueError):
        return None


def _measure(report: DraftReport, name: str, prompt: str, compiled: Any, model: Any) -> None:
    """Run one schema by every way, and put it into a report."""
    from workbench.decoding import generate

    found: list[tuple[str, int, float, float, tuple[int, ...]]] = []
    for way, options in WAYS.items():
        cpu, wall = time.process_time(), time.perf_counter()
        out = generate(
            model, prompt, compiled, max_tokens=report.most_tokens, trace=False, **options
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if out.finish_reason == "interrupted":
            raise KeyboardInterrupt
        passes = out.trace.drafts.get("forward_passes", len(out.token_ids))
        found.append((way, passes, cpu, wall, out.token_ids))
    plain = found[0][-1]
    report.schemas.append(name)
    report.tokens.append(len(plain))
    report.certain.append(_certain(compiled, plain))
    for way, passes, cpu, wall, tokens in found:
        report.passes.setdefault(way, []).append(passes)
        report.cpu_s.setdefault(way, []).append(cpu)
        report.wall_s.setdefault(way, []).append(wall)
        report.same.setdefault(way, []).append(tokens == plain)


def _certain(compiled: Any, tokens: tuple[int, ...]) -> int:
    """How many tokens of a text lie in bytes that had to come."""
    matcher = compiled.matcher()
    count = 0
    for token in tokens:
        data = compiled.vocabulary.token_bytes(token)
        count += bool(data) and matcher.forced_bytes(len(data)) == data
        matcher.accept(token)
    return count
