"""The command line: ``workbench demo | check | why | dead-ends | lint | coverage | profile | export | verify | …``.

Commands import what they need when they run. A mistake of the user's ends in one message on standard
error and exit code 2, Ctrl-C in exit code 130.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.automaton.budgets import using
from workbench.benchmarks.bench_commands import add_bench
from workbench.diagnostics.command_files import (
    add_grammar_file,
    budgets_of,
    read_given,
    read_vocabulary,
)
from workbench.diagnostics.diagnostic_commands import add_diagnostics
from workbench.errors import GrammarTooComplex, WorkbenchError
from workbench.export.commands import add_export
from workbench.wording import number_of, percent

__all__ = ["DEMO_PROMPT", "DEMO_SCHEMA", "main"]

#: What ``workbench demo`` asks the model for: objects in an array in an object, an enum, bounds.
DEMO_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order_id": {"type": "integer", "minimum": 1000, "maximum": 9999},
        "customer": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "maxLength": 30},
                "city": {"type": "string", "minLength": 2, "maxLength": 20},
                "member": {"type": "boolean"},
            },
            "required": ["name", "city", "member"],
            "additionalProperties": False,
        },
        "items": {
            "type": "array",
            "minItems": 2,
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {
                    "product": {"type": "string", "minLength": 2, "maxLength": 24},
                    "quantity": {"type": "integer", "minimum": 1, "maximum": 12},
                    "size": {"enum": ["small", "medium", "large"]},
                },
                "required": ["product", "quantity", "size"],
                "additionalProperties": False,
            },
        },
        "status": {"enum": ["open", "paid", "shipped"]},
    },
    "required": ["order_id", "customer", "items", "status"],
    "additionalProperties": False,
}

DEMO_PROMPT = (
    "Ann Miller from Boston, a member of our club, ordered two large pizzas and one small salad. "
    "She has paid. Write her order, number 2041, as JSON."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # half of a surrogate pair, of a schema or of an argument, has no bytes: it is shown as an escape
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        with using(budgets_of(arguments)):
            return run(arguments)
    except GrammarTooComplex as error:
        way = f" (here: --budget {error.field}=NUMBER)" if error.field else ""
        print(f"workbench: {error}{way}", file=sys.stderr)
        return 2
    except WorkbenchError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("workbench: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="workbench", description="Grammar-constrained decoding: check, measure, demonstrate."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="generate an object for a nested schema, write a page")
    demo.add_argument("--out", type=Path, default=Path("demo.html"), metavar="PATH")
    demo.add_argument("--max-tokens", type=_positive, default=200, metavar="N")
    demo.add_argument("--complete", action="store_true", help="end the text within them")
    demo.add_argument("--model", metavar="NAME", help="a folder or hub id (default: packaged)")
    demo.set_defaults(run=_demo)

    check = commands.add_parser(
        "check", help="compile a grammar file, or say what is wrong with it"
    )
    add_grammar_file(check)
    check.add_argument(
        "--tokenizer",
        type=Path,
        metavar="PATH",
        help="check against it, not against bare bytes; exit with 1 when it makes dead ends",
    )
    check.add_argument(
        "--places", action="store_true", help="list every place of a schema that is restricted"
    )
    check.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 when there are warnings about the grammar",
    )
    check.set_defaults(run=_check)

    add_diagnostics(commands)
    add_export(commands)
    add_bench(commands)

    warm = commands.add_parser("warm", help="compile the kernels now, for later runs")
    warm.add_argument("--model", action="store_true", help="also fetch and convert the model")
    warm.set_defaults(run=_warm)
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _check(arguments: argparse.Namespace) -> int:
    """Compile a grammar file and describe the result."""
    from workbench.diagnostics.lint.lint import lint
    from workbench.engine import compile as compile_grammar
    from workbench.grammar.outcomes import TOLD, grouped

    path: Path = arguments.file
    began = time.perf_counter()
    grammar = read_given(arguments)
    compiled = compile_grammar(grammar, read_vocabulary(arguments.tokenizer))
    matcher = compiled.matcher()
    least = matcher.finish_distance()
    print(f"{path}: a {grammar.kind} grammar of {number_of(len(grammar.rules), 'rule')}")
    print(f"automaton: {number_of(compiled.automaton.n_states, 'state')}", end="")
    print(f", {number_of(len(compiled.automaton.edge_target), 'byte edge')}", end="")
    print(f", {number_of(len(compiled.automaton.call_entry), 'call')}")
    print(
        f"shortest text: {number_of(least, 'byte')}"
        if least is not None
        else "shortest text: not known"
    )
    for group in grouped(grammar.outcomes, TOLD):
        print(group.lines(None if arguments.places else 3))
    print(f"ready in {time.perf_counter() - began:.2f} s")
    found = lint(grammar)
    if found or found.stopped:
        print(found)
    refused = bool(found.errors or (arguments.strict and found.warnings))
    if arguments.tokenizer is None:
        return int(refused)
    from workbench.diagnostics.dead_ends.dead_ends import dead_ends

    report = dead_ends(compiled)
    print(f"with the tokens of {arguments.tokenizer}:\n{report}")
    return int(refused or bool(report.errors))


def _warm(arguments: argparse.Namespace) -> int:
    """Compile the kernels by using small grammars once, and fetch the model when asked."""
    began = time.perf_counter()
    print("kernels ...", flush=True)
    from workbench.engine import compile as compile_grammar, empty_mask
    from workbench.frontends.json_schema import json_schema
    from workbench.frontends.regex import regex

    regex("(?!a)[a-z]+")  # reading it needs kernels, too
    vocabulary = read_vocabulary(None)
    matcher = compile_grammar(json_schema(DEMO_SCHEMA), vocabulary).matcher()
    mask = empty_mask(vocabulary)
    for byte in b'{"order_id":':
        matcher.fill_mask(mask)
        matcher.accept(byte)
    matcher.rollback(1)
    matcher.least_tokens()
    print(f"kernels ready in {time.perf_counter() - began:.1f} s")
    if arguments.model:
        from workbench.models import load_model

        began = time.perf_counter()
        print("model ...", flush=True)
        model = load_model()
        print(f"{model.name} ready in {time.perf_counter() - began:.1f} s")
    return 0


def _demo(arguments: argparse.Namespace) -> int:
    """Generate, print, validate, show where the time went, and write the steps as a page."""
    # For a model this small, and before torch is loaded: a second thread gains nothing, and on a
    # machine that does something else as well it costs a factor of ten.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import workbench as wb

    grammar = wb.json_schema(DEMO_SCHEMA)
    model = wb.load_model(arguments.model)
    compiled = wb.compile(grammar, model.vocabulary)
    messages = [{"role": "user", "content": DEMO_PROMPT}]
    print(f"{model.name} on {model.device}: {DEMO_PROMPT}", flush=True)
    out = wb.generate(
        model,
        messages,
        compiled,
        max_tokens=arguments.max_tokens,
        complete=arguments.complete,
        progress=True,
    )
    if out.finish_reason == "eos":
        value = json.loads(out.text)
        print(json.dumps(value, ensure_ascii=False, indent=2))
        print(_verdict(value))
    else:
        reason = "interrupted" if out.finish_reason == "interrupted" else "out of tokens"
        print(f"{out.text}\n{reason}: the object is not complete")
    print(_times(out.trace))
    try:
        page = wb.write_report(
            out.trace,
            arguments.out,
            vocabulary=model.vocabulary,
            automaton=compiled.automaton,
            grammar=compiled,
            title="An order, step by step",
        )
    except OSError as error:
        raise WorkbenchError(f"cannot write {arguments.out}: {error.strerror or error}") from error
    print(f"the steps, for a browser: {page.resolve()}")
    return 0 if out.finish_reason == "eos" else 1


def _verdict(value: Any) -> str:
    try:
        import jsonschema
    except ImportError:
        return "not validated: jsonschema is not installed"
    try:
        jsonschema.Draft202012Validator(DEMO_SCHEMA).validate(value)
    except jsonschema.ValidationError as error:
        raise WorkbenchError(f"jsonschema rejects the object: {error.message}") from error
    return "valid: jsonschema accepts it"


def _times(trace: Any) -> str:
    """Lay out mask time against forward time, over the steps that were sampled."""
    from statistics import median

    steps = [step for step in trace.steps if step.forward_ms]
    if not steps:
        return "no timed steps"
    lines = [f"{number_of(len(trace.steps), 'token'):<32}{'median':>11}{'total':>11}"]
    for title, name in (
        ("forward pass", "forward_ms"),
        ("mask", "mask_ms"),
        ("  of it hidden behind the pass", "mask_hidden_ms"),
        ("  of it exposed", "mask_exposed_ms"),
        ("sampling", "sample_ms"),
    ):
        values = [getattr(step, name) or 0.0 for step in steps]
        lines.append(f"{title:<32}{median(values):>8.3f} ms{sum(values):>8.1f} ms")
    share = sum(step.mask_ms or 0.0 for step in steps) / sum(step.forward_ms for step in steps)
    return "\n".join([*lines, f"mask time is {percent(share)} of forward time"])
