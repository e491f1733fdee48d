"""The commands ``workbench why | dead-ends | lint | coverage | profile``.

Each prints its text form, or JSON with ``--json``. The exit code is 0 when nothing is wrong and 1 when
something was found; mistakes of the user end in 2, as everywhere.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from workbench.diagnostics.command_files import (
    add_grammar_file,
    kind_of,
    read_examples,
    read_given,
    read_source,
    read_vocabulary,
    schema_options,
)
from workbench.errors import WorkbenchError

__all__ = ["add_diagnostics"]


def add_diagnostics(commands: Any) -> None:
    """Register the commands with the subparsers of an argument parser."""
    why = commands.add_parser(
        "why", aliases=["explain"], help="say why a token may or may not come next"
    )
    add_grammar_file(why)
    why.add_argument("token", help="its text, or id:17, or hex:e2 9c")
    why.add_argument(
        "--after", default="", metavar="TEXT", help="the text before it (default: none)"
    )
    _tokenizer(why, "the token's (default: every byte is a token)")
    _json_flag(why)
    why.set_defaults(run=_why)

    dead = commands.add_parser(
        "dead-ends", help="find where a grammar gets stuck; exit with 1 when it does"
    )
    add_grammar_file(dead)
    _tokenizer(dead, "look for what it cannot spell too")
    dead.add_argument(
        "--max-tokens", type=_positive, metavar="N", help="the length that a run may have"
    )
    dead.add_argument(
        "--examples", type=Path, metavar="PATH", help="texts: how many verdicts an edit changes"
    )
    _json_flag(dead)
    dead.set_defaults(run=_dead_ends)

    linted = commands.add_parser(
        "lint", help="say what of a grammar is hardly meant; exit with 1 for what has no text"
    )
    add_grammar_file(linted)
    linted.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    _json_flag(linted)
    linted.set_defaults(run=_lint)

    cover = commands.add_parser(
        "coverage", help="say which parts of a grammar examples use, and which never"
    )
    add_grammar_file(cover)
    cover.add_argument("examples", type=Path, help="a .json list, or one text a line")
    cover.add_argument(
        "--least", type=float, default=0.0, metavar="PERCENT", help="exit with 1 below this share"
    )
    _json_flag(cover)
    cover.set_defaults(run=_coverage)

    timed = commands.add_parser("profile", help="say where the time of a recorded run went")
    timed.add_argument("trace", type=Path, help="a trace, as trace.save(…) writes it")
    timed.add_argument("--warm-up", type=int, metavar="N", help="leading steps that do not count")
    timed.add_argument("--figure", type=Path, metavar="PATH", help="write a page with a figure")
    timed.add_argument("--view", choices=("time", "heaviest", "state", "histogram"), default="time")
    _json_flag(timed)
    timed.set_defaults(run=_profile)


def _tokenizer(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--tokenizer", type=Path, metavar="PATH", help=text)


def _json_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _show(found: Any, as_json: bool) -> None:
    print(json.dumps(found.to_json(), ensure_ascii=False, indent=1) if as_json else found)


def _why(arguments: argparse.Namespace) -> int:
    from workbench.diagnostics.explain.explain import explain
    from workbench.engine import compile as compile_grammar

    grammar = read_given(arguments)
    vocabulary = read_vocabulary(arguments.tokenizer)
    matcher = compile_grammar(grammar, vocabulary).matcher()
    _spell(matcher, _as_given(arguments.after))
    found = explain(matcher, _asked(arguments.token))
    _show(found, arguments.json)
    return 0 if found.allowed else 1


def _spell(matcher: Any, text: bytes) -> None:
    """Accept a text, each time by the longest token that may come and leads to its end.

    Raises ``WorkbenchError`` when no tokens do.
    """
    from workbench.diagnostics.explain.explain import tokens_at
    from workbench.vocabulary.labels import quoted

    vocabulary = matcher.vocabulary
    at = furthest = 0
    #: per token taken: where it began, and the shorter ones that were not tried
    open_: list[tuple[int, list[int]]] = []
    #: offsets that nothing leads on from
    dead: set[int] = set()
    choices = tokens_at(vocabulary, text, at)
    while at < len(text):
        taken = None
        while choices and taken is None:
            token_id = choices.pop()
            end = at + len(vocabulary.token_bytes(token_id))
            if end not in dead and matcher.accept(token_id):
                taken = token_id
        if taken is None:
            if not open_:
                reached = quoted(text[:furthest])
                raise WorkbenchError(
                    f"the text before the token is none of the grammar's: it gets to {reached}"
                )
            dead.add(at)
            at, choices = open_.pop()
            matcher.rollback(1)
            continue
        open_.append((at, choices))
        at += len(vocabulary.token_bytes(taken))
        furthest = max(furthest, at)
        choices = tokens_at(vocabulary, text, at)


def _asked(token: str) -> int | str | bytes:
    kind, _, rest = token.partition(":")
    try:
        if kind == "id" and rest:
            return int(rest)
        if kind == "hex" and rest:
            return bytes.fromhex(rest)
    except ValueError:
        raise WorkbenchError(
            f"{token!r}: write id: and a number, or hex: and pairs of digits"
        ) from None
    data = _as_given(token)
    return data if data != token.encode("utf-8", "replace") else token


def _as_given(text: str) -> bytes:
    """The bytes of an argument, those that are no UTF-8 too."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which no shell hands over
        return text.encode("utf-8", "surrogatepass")


def _dead_ends(arguments: argparse.Namespace) -> int:
    from workbench.diagnostics.dead_ends.dead_ends import dead_ends
    from workbench.frontends.json_schema.text.json_values import read_json

    kind = kind_of(arguments.file, arguments.kind)
    # a schema is handed over as such: one that no value satisfies is a finding
    subject: Any
    if kind == "json_schema" and not schema_options(arguments):
        subject = read_json(read_source(arguments.file))
        if not isinstance(subject, dict | bool):
            raise WorkbenchError(f"{arguments.file}: a schema must be an object or a boolean")
    else:
        subject = read_given(arguments)
    examples = read_examples(arguments.examples) if arguments.examples else ()
    vocabulary = read_vocabulary(arguments.tokenizer) if arguments.tokenizer else None
    report = dead_ends(subject, vocabulary, max_tokens=arguments.max_tokens, examples=examples)
    _show(report, arguments.json)
    return 1 if report.errors else 0


def _lint(arguments: argparse.Namespace) -> int:
    from workbench.diagnostics.lint.lint import lint

    found = lint(read_given(arguments))
    _show(found, arguments.json)
    return 1 if found.errors or (arguments.strict and found.warnings) else 0


def _coverage(arguments: argparse.Namespace) -> int:
    from workbench.diagnostics.coverage.coverage import coverage

    grammar = read_given(arguments)
    found = coverage(grammar, read_examples(arguments.examples))
    _show(found, arguments.json)
    return 1 if 100 * found.share < arguments.least else 0


def _profile(arguments: argparse.Namespace) -> int:
    from workbench.decoding.trace import Trace
    from workbench.diagnostics.profile.profile import profile

    if arguments.warm_up is not None and arguments.warm_up < 0:
        raise WorkbenchError("--warm-up must not be negative")
    try:
        trace = Trace.load(arguments.trace)
    except OSError as error:
        raise WorkbenchError(f"cannot read {arguments.trace}: {error.strerror or error}") from error
    found = profile(trace, warm_up=arguments.warm_up)
    _show(found, arguments.json)
    if arguments.figure is not None:
        try:
            found.figure(arguments.view).write_html(arguments.figure, include_plotlyjs=True)
        except (ImportError, OSError) as error:
            raise WorkbenchError(f"cannot write {arguments.figure}: {error}") from error
    return 0
