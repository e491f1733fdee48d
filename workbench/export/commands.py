"""The commands ``workbench export | verify``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.diagnostics.command_files import (
    add_grammar_file,
    read_given,
    read_tests,
    read_vocabulary,
    schema_options,
)
from workbench.errors import ExportRefused, WorkbenchError

__all__ = ["add_export"]


def add_export(commands: Any) -> None:
    """Register the commands with the subparsers of an argument parser."""
    out = commands.add_parser(
        "export",
        help="write a grammar with its examples and everything found about it into one file",
    )
    add_grammar_file(out)
    out.add_argument("out", type=Path, help="the bundle to write, a .zip; with --target, a folder")
    out.add_argument(
        "--tests",
        type=Path,
        required=True,
        metavar="PATH",
        help='a .json object of lists: {"accept": […], "reject": […], "prefix": […]}',
    )
    out.add_argument("--tokenizer", type=Path, metavar="PATH", help="add its dead ends")
    out.add_argument("--title", default="", help="of the report")
    out.add_argument("--dead-end-note", default="", help="why dead ends do not matter")
    out.add_argument(
        "--target",
        action="append",
        metavar="NAME",
        help="write single files, one a target: gbnf, regex, json_schema, python, pytest, trace, report",
    )
    out.add_argument(
        "--trace", type=Path, metavar="PATH", help="the trace that --target trace writes"
    )
    out.add_argument(
        "--dry-run", action="store_true", help="write nothing; say what would be written"
    )
    out.add_argument("--overwrite", action="store_true", help="write over files that are there")
    out.set_defaults(run=_export)

    proof = commands.add_parser(
        "verify", help="prove a bundle again; exit with 1 when it does not hold"
    )
    proof.add_argument("bundle", type=Path, help="what export has written")
    proof.add_argument(
        "--tokenizer", type=Path, metavar="PATH", help="search for its dead ends again too"
    )
    proof.set_defaults(run=_verify)


def _export(arguments: argparse.Namespace) -> int:
    from workbench.decoding.trace import Trace
    from workbench.export.bundle import export

    options = schema_options(arguments)
    grammar = read_given(arguments)
    vocabulary = read_vocabulary(arguments.tokenizer) if arguments.tokenizer else None
    tests = read_tests(arguments.tests)
    try:
        trace = None if arguments.trace is None else Trace.load(arguments.trace)
    except OSError as error:
        raise WorkbenchError(f"cannot read {arguments.trace}: {error.strerror or error}") from error
    try:
        done = export(
            grammar,
            arguments.out,
            tests=tests,
            vocabulary=vocabulary,
            options=options,
            title=arguments.title,
            dead_end_note=arguments.dead_end_note,
            targets=arguments.target,
            trace=trace,
            dry_run=arguments.dry_run,
            overwrite=arguments.overwrite,
        )
    except ExportRefused as refused:
        print(refused)
        return 1
    except ValueError as error:
        raise WorkbenchError(str(error)) from error
    print(done)
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    from workbench.export.verify import verify

    vocabulary = read_vocabulary(arguments.tokenizer) if arguments.tokenizer else None
    proved = verify(arguments.bundle, vocabulary)
    print(proved)
    return 0 if proved.ok else 1
