"""The command line of the benchmarks: ``workbench bench WHAT``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from workbench.errors import WorkbenchError

__all__ = ["add_bench"]


def add_bench(commands: Any) -> None:
    """Add ``bench`` and what it measures to a parser's commands."""
    bench = commands.add_parser("bench", help="measure").add_subparsers(
        dest="bench", required=True, metavar="WHAT"
    )
    _add_masks(bench)
    _add_maskbench(bench)
    _add_growth(bench)
    _add_process(bench)
    _add_suite(bench)
    _add_generation(bench)
    _add_drafts(bench)


def _add_masks(bench: Any) -> None:
    masks = bench.add_parser("masks", help="mask times beside XGrammar's and llguidance's")
    masks.add_argument("--tokenizer", type=Path, required=True, metavar="PATH")
    masks.add_argument("--repeat", type=_positive, default=5, metavar="N", help="warm passes")
    masks.add_argument("--compilations", type=_positive, default=3, metavar="N", help="cold passes")
    _add_outputs(masks)
    masks.set_defaults(run=_masks)


def _add_maskbench(bench: Any) -> None:
    command = bench.add_parser(
        "maskbench", help="verdicts and times on thousands of real schemas, beside the peers"
    )
    add = command.add_argument
    add("--data", type=Path, required=True, metavar="PATH", help="archive of schemas with tests")
    add("--tokenizer", type=Path, required=True, metavar="PATH")
    add("--engines", metavar="LIST", default="ours,xgrammar,llguidance", help="(default: all)")
    add("--sample", type=_positive, metavar="N", help="only so many schemas, drawn at random")
    add("--seed", type=int, default=0, metavar="S", help="of the draw and of the order")
    add("--jobs", type=_positive, metavar="N", help="processes (default: the cores)")
    add("--limit", type=float, default=10.0, metavar="SECONDS", help="CPU a schema and engine")
    add("--memory", type=float, default=8.0, metavar="GB", help="of a process")
    _add_results(command, "maskbench")
    add("--clock", choices=("cpu", "wall"), default="cpu", help="the times that are shown")
    add(
        "--slowest",
        type=_positive,
        default=0,
        metavar="N",
        help="also list our slowest masks and compilations",
    )
    add("--property-order", choices=("schema", "any"), help="what json_schema is told")
    add("--xgrammar-compliant", action="store_true", help="run XGrammar with strict_mode=False")
    add(
        "--xgrammar-fixed-whitespace",
        action="store_true",
        help="run XGrammar with any_whitespace=False",
    )
    _add_outputs(command)
    command.set_defaults(run=_maskbench)


def _add_growth(bench: Any) -> None:
    command = bench.add_parser(
        "growth", help="times along texts of 100,000 tokens, and by the size of a schema"
    )
    add = command.add_argument
    add("--tokenizer", type=Path, required=True, metavar="PATH")
    add("--engines", metavar="LIST", default="ours", help="(default: ours)")
    add("--quick", action="store_true", help="small sizes only")
    add("--limit", type=float, default=60.0, metavar="SECONDS", help="CPU a text or schema")
    add("--memory", type=float, default=8.0, metavar="GB", help="of a process for schemas")
    _add_outputs(command)
    command.set_defaults(run=_growth)


def _add_process(bench: Any) -> None:
    command = bench.add_parser(
        "process",
        help="start to first mask; first masks beside other packages and the collector; repeated calls",
    )
    add = command.add_argument
    add("--data", type=Path, required=True, metavar="PATH", help="archive of schemas")
    add("--tokenizer", type=Path, required=True, metavar="PATH")
    add("--sample", type=_positive, default=200, metavar="N", help="schemas, drawn at random")
    add("--seed", type=int, default=0, metavar="S", help="of the draw")
    add("--rounds", type=_positive, default=2, metavar="N", help="processes a way of the collector")
    _add_outputs(command)
    command.set_defaults(run=_process)


def _add_suite(bench: Any) -> None:
    command = bench.add_parser(
        "json-schema-suite", help="verdicts on the official test suite of JSON Schema, case by case"
    )
    add = command.add_argument
    add("--data", type=Path, required=True, metavar="PATH", help="archive of the suite")
    add("--drafts", metavar="LIST", help="such as draft7,draft2020-12 (default: all)")
    _add_results(command, "json-schema-suite")
    _add_outputs(command)
    command.set_defaults(run=_suite)


def _add_generation(bench: Any) -> None:
    command = bench.add_parser(
        "generation", help="random texts of real schemas, held against the jsonschema library"
    )
    add = command.add_argument
    add("--data", type=Path, required=True, metavar="PATH", help="archive of schemas")
    add("--tokenizer", type=Path, required=True, metavar="PATH")
    add("--schemas", type=_positive, default=500, metavar="N", help="drawn by keyword")
    add("--walks", type=_positive, default=5, metavar="N", help="texts a schema")
    add("--steps", type=_positive, default=64, metavar="N", help="tokens before the shortest end")
    add("--seed", type=int, default=0, metavar="S")
    _add_results(command, "generation")
    _add_outputs(command)
    command.set_defaults(run=_generation)


def _add_drafts(bench: Any) -> None:
    command = bench.add_parser(
        "drafts", help="forward passes and times of the packaged model, with and without drafts"
    )
    add = command.add_argument
    add("--data", type=Path, required=True, metavar="PATH", help="archive of schemas")
    add("--schemas", type=_positive, default=20, metavar="N", help="short ones, drawn at random")
    add("--tokens", type=_positive, default=40, metavar="N", help="the most of a text")
    add("--seed", type=int, default=0, metavar="S", help="of the draw")
    _add_outputs(command)
    command.set_defaults(run=_drafts)


def _add_results(command: Any, name: str) -> None:
    """Let a command keep its results as they arise, and go on with them."""
    command.add_argument(
        "--results",
        type=Path,
        default=Path(f"{name}.jsonl"),
        metavar="PATH",
        help=f"every result, as it arises (default: {name}.jsonl)",
    )
    command.add_argument(
        "--resume", action="store_true", help="go on with what the results file lacks"
    )


@contextmanager
def _kept(results: Path) -> Iterator[None]:
    """Say where the results are when a run is stopped."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"the results so far are in {results}; go on with --resume")
        raise


def _add_outputs(command: Any) -> None:
    command.add_argument("--json", type=Path, metavar="PATH", help="also write the figures here")
    command.add_argument(
        "--markdown",
        type=Path,
        metavar="PATH",
        help="also write the tables here, as Markdown; in a page that has the marks "
        "<!-- bench WHAT --> and <!-- end bench WHAT -->, between these",
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _masks(arguments: argparse.Namespace) -> int:
    from workbench.benchmarks.mask_times import bench_masks

    report = bench_masks(
        arguments.tokenizer, repeat=arguments.repeat, compilations=arguments.compilations
    )
    print(report.table())
    _write_outputs(arguments, report)
    return 0


def _maskbench(arguments: argparse.Namespace) -> int:
    from workbench.benchmarks.maskbench import bench_maskbench
    from workbench.benchmarks.schema_engines import schema_engines

    known = {
        engine.name: engine
        for engine in schema_engines(
            property_order=arguments.property_order,
            xgrammar_compliant=arguments.xgrammar_compliant,
            xgrammar_fixed_whitespace=arguments.xgrammar_fixed_whitespace,
        )
    }
    names = _names(arguments.engines)
    with _kept(arguments.results):
        report = bench_maskbench(
            arguments.data,
            arguments.tokenizer,
            engines=[known[name] for name in names],
            sample=arguments.sample,
            seed=arguments.seed,
            jobs=arguments.jobs,
            limit_s=arguments.limit,
            memory_gb=arguments.memory,
            results=arguments.results,
            resume=arguments.resume,
            slowest=arguments.slowest,
        )
    print(report.text(arguments.clock))
    if arguments.slowest:
        print("\n" + report.slowest())
    _write_outputs(arguments, report)
    return 0


def _growth(arguments: argparse.Namespace) -> int:
    from workbench.benchmarks.growth import FULL, QUICK, bench_growth

    report = bench_growth(
        arguments.tokenizer,
        engines=_names(arguments.engines),
        sizes=QUICK if arguments.quick else FULL,
        limit_s=arguments.limit,
        memory_gb=arguments.memory,
    )
    print(report.text())
    _write_outputs(arguments, report)
    return 0


def _process(arguments: argparse.Namespace) -> int:
    from workbench.benchmarks.process import bench_process

    report = bench_process(
        arguments.data,
        arguments.tokenizer,
        sample=arguments.sample,
        seed=arguments.seed,
        rounds=arguments.rounds,
    )
    print(report.text())
    _write_outputs(arguments, report)
    return 0


def _suite(arguments: argparse.Namespace) -> int:
    from workbench.benchmarks.schema_suite import DRAFTS, bench_suite

    drafts = list(DRAFTS) if arguments.drafts is None else arguments.drafts.split(",")
    for draft in drafts:
        if draft not in DRAFTS:
            raise WorkbenchError(f"no draft {draft!r}; there are {', '.join(DRAFTS)}")
    with _kept(arguments.results):
        report = bench_suite(
            arguments.data, drafts=drafts, results=arguments.results, resume=arguments.resume
        )
    print(report.text())
    _write_outputs(arguments, report)
    return 0 if report.is_clean else 1


def _generation(arguments: argparse.Namespace) -> int:
    from workbench.benchmarks.generated_texts import bench_generation

    with _kept(arguments.results):
        report = bench_generation(
            arguments.data,
            arguments.tokenizer,
            schemas=arguments.schemas,
            walks=arguments.walks,
            steps=arguments.steps,
            seed=arguments.seed,
            results=arguments.results,
            resume=arguments.resume,
        )
    print(report.text())
    _write_outputs(arguments, report)
    return 0 if report.is_clean else 1


def _drafts(arguments: argparse.Namespace) -> int:
    from workbench.benchmarks.draft_runs import bench_drafts

    report = bench_drafts(
        arguments.data,
        schemas=arguments.schemas,
        tokens=arguments.tokens,
        seed=arguments.seed,
    )
    print(report.text())
    _write_outputs(arguments, report)
    return 0


def _names(text: str) -> list[str]:
    """The engines of a list, each once; ours is called ``ours`` or by its name."""
    from workbench.benchmarks.schema_engines import OURS, schema_engines

    known = [engine.name for engine in schema_engines()]
    names = [OURS if name.strip() == "ours" else name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise WorkbenchError(f"no engine {name!r}; there are ours, xgrammar and llguidance")
    return list(dict.fromkeys(names))


class _Report(Protocol):
    def to_json(self) -> dict[str, Any]: ...

    def markdown(self) -> str: ...


def _write_outputs(arguments: argparse.Namespace, report: _Report) -> None:
    if arguments.json is not None:
        text = json.dumps(report.to_json(), ensure_ascii=False, indent=2)
        _write(arguments.json, text + "\n")
    if arguments.markdown is not None:
        page = _between_marks(arguments.markdown, arguments.bench, report.markdown())
        _write(arguments.markdown, page)


def _between_marks(path: Path, name: str, text: str) -> str:
    """The page at a path with a text between its marks, or the text alone."""
    begin, end = f"<!-- bench {name} -->\n", f"<!-- end bench {name} -->"
    page = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}" if found and closed else text


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(f"cannot write {path}: {error.strerror or error}") from error
