"""Grammars, tokenizers and examples from files, for the command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.automaton.budgets import Budgets
from workbench.errors import WorkbenchError
from workbench.files import irregular
from workbench.inputs import read_text

if TYPE_CHECKING:
    from workbench.grammar.ir import Grammar
    from workbench.vocabulary import Vocabulary

__all__ = [
    "add_grammar_file",
    "budgets_of",
    "kind_of",
    "read_examples",
    "read_given",
    "read_grammar",
    "read_source",
    "read_tests",
    "read_vocabulary",
    "schema_options",
]

#: What a file is, by its suffix.
KINDS = {".gbnf": "gbnf", ".json": "json_schema", ".regex": "regex", ".rules": "rules"}
_OTHERS = {".lark": "for Lark", ".g4": "for ANTLR", ".ebnf": "in EBNF", ".bnf": "in BNF"}


def add_grammar_file(parser: argparse.ArgumentParser) -> None:
    """Give a command its grammar: a file, and its kind where the suffix does not say it."""
    parser.add_argument(
        "file", type=Path, help="a .gbnf grammar, a .json schema or a .regex pattern"
    )
    parser.add_argument(
        "--kind",
        choices=sorted({*KINDS.values(), "request", "tools"}),
        help=(
            "what the file is (default: its suffix); request: a .json response format or structural tag, "
            "as engines send it; tools: a .json list of tools that a model may call; both are seen by their fields, too"
        ),
    )
    parser.add_argument(
        "--tool-format",
        default="qwen3",
        metavar="NAME",
        help="of tools: the format of the model's family, or the name of a model (default: qwen3)",
    )
    parser.add_argument(
        "--tool-choice",
        default="auto",
        metavar="CHOICE",
        help="of tools: auto, none, required, or the name of a tool (default: auto)",
    )
    parser.add_argument(
        "--on-dangling",
        choices=("raise", "forbid"),
        default="raise",
        help="of a schema: refuse references that lead nowhere, or forbid the parts that have them",
    )
    parser.add_argument(
        "--budget",
        action="append",
        type=_budget,
        default=[],
        metavar="NAME=NUMBER",
        help="raise a limit that a message names (those of workbench.Budgets)",
    )


def budgets_of(arguments: argparse.Namespace) -> Budgets:
    """The budgets that the arguments of a command ask for."""
    return Budgets(**dict(getattr(arguments, "budget", ())))


def _budget(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    known = [field.name for field in fields(Budgets)]
    if name not in known or not number.replace("_", "").isdecimal():
        raise argparse.ArgumentTypeError(
            f"{text!r} is no NAME=NUMBER; names are {', '.join(known)}"
        )
    return name, int(number)


def kind_of(path: Path, kind: str | None) -> str:
    """What a grammar file is, also by what it holds. Raises ``WorkbenchError`` when nothing says it."""
    suffix = path.suffix.lower()
    found = kind or KINDS.get(suffix)
    if kind is None and path.name.lower().endswith(".rules.json"):  # as exports call them
        found = "rules"
    if kind is None and found == "json_schema":
        found = _seen(path)
    if found is None and suffix in _OTHERS:
        raise WorkbenchError(
            f"{path}: a grammar {_OTHERS[suffix]} is not read; write it as GBNF, its rules as  name ::= …"
        )
    if found is None:
        raise WorkbenchError(
            f"{path}: the suffix does not say what it is; pass --kind gbnf, json_schema, regex, rules, request or tools"
        )
    return found


def _seen(path: Path) -> str:
    """What a JSON file holds: what a request asks of an output, tools, or else a schema."""
    from workbench.frontends.tags.response_format import is_request

    try:
        value = json.loads(read_source(path))
        if is_request(value):
            return "request"
    except (WorkbenchError, RecursionError, ValueError):
        return "json_schema"
    listed = value.get("tools") if isinstance(value, dict) else value
    is_tools = isinstance(listed, list) and any(
        isinstance(one, dict) and ("name" in one or "function" in one) for one in listed
    )
    return "tools" if is_tools else "json_schema"


def read_source(path: Path) -> str:
    """The text of a file, without its byte order mark, in the encoding that this tells, else UTF-8.

    Raises ``WorkbenchError`` for one that cannot be read or is no text.
    """
    if found := irregular(path):
        raise WorkbenchError(f"cannot read {path}: it is {found}, not a file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorkbenchError(f"cannot read {path}: {error.strerror or error}") from error
    return read_text(data, str(path))


def schema_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options for a schema that are not the defaults of its front end."""
    return {} if arguments.on_dangling == "raise" else {"on_dangling": arguments.on_dangling}


def read_given(arguments: argparse.Namespace) -> Grammar:
    """The grammar that the arguments of a command name. Raises what its front end raises."""
    kind = kind_of(arguments.file, arguments.kind)
    if kind != "tools":
        return read_grammar(arguments.file, kind, schema_options(arguments))
    from workbench.frontends.json_schema.text.json_values import read_json
    from workbench.frontends.tools import tools

    chosen = arguments.tool_choice
    choice = chosen if chosen in ("auto", "none", "required") else {"name": chosen}
    try:
        return tools(read_json(read_source(arguments.file)), choice, format=arguments.tool_format)
    except ValueError as error:
        raise WorkbenchError(f"{arguments.file}: {error}") from error


def read_grammar(path: Path, kind: str, options: Mapping[str, Any] | None = None) -> Grammar:
    """Read a grammar file, a schema with options. Raises what its front end raises."""
    text = read_source(path)
    if kind == "gbnf":
        from workbench.frontends.gbnf import gbnf

        return gbnf(text)
    if kind == "regex":
        from workbench.frontends.regex import regex

        return regex(text.removesuffix("\n").removesuffix("\r"))
    if kind == "rules":
        from workbench.grammar.written import from_rules

        return from_rules(text)
    if kind == "request":
        from workbench.frontends.tags.response_format import response_format

        if options:
            raise WorkbenchError(f"{path}: {', '.join(options)} is an option of schemas alone")
        return response_format(text)
    from workbench.frontends.json_schema import json_schema

    return json_schema(text, **(options or {}))


def read_vocabulary(tokenizer: Path | None) -> Vocabulary:
    """Read a tokenizer; without one, every byte is a token."""
    from workbench.vocabulary import Vocabulary

    if tokenizer is not None:
        return Vocabulary.load(tokenizer)
    return Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=(256,))


def read_examples(path: Path) -> list[Any]:
    """Examples: a JSON list of texts and values, an object of such lists, or one text a line.

    Of an object the lists are joined, that of texts to be rejected left out.
    """
    value = _read(path)
    if isinstance(value, dict):
        return [example for key, listed in value.items() if key != "reject" for example in listed]
    return list(value)


def read_tests(path: Path) -> dict[str, list[Any]]:
    """Lists of examples by what is expected of them."""
    value = _read(path)
    if not isinstance(value, dict):
        raise WorkbenchError(
            f'{path}: tests are an object of lists: {{"accept": […], "reject": […], "prefix": […]}}'
        )
    return value


def _read(path: Path) -> Any:
    text = read_source(path)
    if path.suffix.lower() != ".json":
        return text.splitlines()
    try:
        value = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise WorkbenchError(f"{path} is no JSON: {error}") from None
    lists = list(value.values()) if isinstance(value, dict) else [value]
    if not all(isinstance(listed, list) for listed in lists):
        raise WorkbenchError(f"{path}: examples are a list, or an object of lists")
    return value
