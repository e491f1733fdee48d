"""Grammars as texts that hold their rules: for those that no notation has words for.

The text is JSON: names, outcomes and captures as they are, the rules as the arrays of ``encoding.py``. There is no code
in it, and what is read is checked as any grammar is.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import GrammarSyntaxError, GrammarTooComplex
from workbench.grammar.embedding import EmbeddedRules
from workbench.grammar.encoding import DTYPES, Decoder, Encoder
from workbench.grammar.ir import Grammar, Outcome
from workbench.grammar.lazy import captured
from workbench.inputs import need_grammar, read_text, wrong_text

__all__ = ["from_rules", "to_rules"]

_FORMAT = "workbench rules"
_VERSION = 1
_STATUSES = ("enforced", "restricted", "annotation", "unsupported")
#: Rules, and bytes of an array.
MAX_RULES = 50_000
MAX_BYTES = 1 << 28
#: Characters of a line.
_LINE = 96


def to_rules(grammar: Grammar) -> str:
    """Write a grammar as a text that holds its rules, with its outcomes and captures; of its source nothing.

    Rules that are written on demand are written now. Raises ``GrammarTooComplex`` for more than 50,000 rules.

    >>> import workbench as wb
    >>> wb.from_rules(to_rules(wb.regex("a|b"))).rules == wb.regex("a|b").rules
    True
    """
    need_grammar(grammar, "to_rules")
    rules: dict[str, Any] = {}
    for name in grammar.rules:
        rules[name] = grammar.rules[name]
        if len(rules) > MAX_RULES:
            raise GrammarTooComplex("rules of a text", MAX_RULES)
    arrays = Encoder().rules(rules).arrays()
    text = {
        "format": _FORMAT,
        "version": _VERSION,
        "start": grammar.start,
        "captures": dict(captured(grammar.rules)),
        "outcomes": [list(astuple(one)) for one in grammar.outcomes],
        "arrays": {name: _packed(arrays[name].astype(kind)) for name, kind in DTYPES.items()},
    }
    return json.dumps(text, indent=1) + "\n"


def from_rules(text: str | bytes) -> Grammar:
    """Make the grammar of a text that :func:`to_rules` wrote.

    Raises ``GrammarSyntaxError`` for any other text, ``WrongType`` for what is none.
    """
    if isinstance(text, bytes | bytearray):
        text = read_text(bytes(text), "the grammar")
    if not isinstance(text, str):
        raise wrong_text("from_rules", "a text that to_rules wrote", text)
    try:
        return _read(text)
    except (
        *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
        *(binascii.Error, zlib.error),
    ) as error:
        raise GrammarSyntaxError(f"this is no text that to_rules wrote ({error})") from None


def _read(text: str) -> Grammar:
    given = json.loads(text)
    if given["format"] != _FORMAT or given["version"] != _VERSION:
        raise ValueError("it is of another format")
    decoder = Decoder(
        {name: _unpacked(given["arrays"][name], kind) for name, kind in DTYPES.items()}
    )
    rules = {name: decoder.rule(name) for name in decoder.rules}
    captures = {_text(rule): _text(name) for rule, name in given["captures"].items()}
    if not captures.keys() <= rules.keys():
        raise ValueError("a rule that is captured is not there")
    outcomes = tuple(_outcome(*one) for one in given["outcomes"])
    made = EmbeddedRules(rules, _text(given["start"]), {}, captures)
    return Grammar(made, _text(given["start"]), "rules", text, outcomes)


def _outcome(
    pointer: Any, keyword: Any, status: Any, detail: Any, kinds: Any, warning: Any
) -> Outcome:
    if status not in _STATUSES:
        raise ValueError(f"{status!r:.60} becomes of no constraint")
    told = tuple(map(_text, kinds))
    return Outcome(_text(pointer), _text(keyword), status, _text(detail), told, _text(warning))


def _packed(array: NDArray[Any]) -> list[str]:
    """An array as lines of text."""
    data = zlib.compress(array.astype(array.dtype.newbyteorder("<")).tobytes(), 9)
    text = base64.b64encode(data).decode()
    return [text[i : i + _LINE] for i in range(0, len(text), _LINE)]


def _unpacked(lines: list[str], kind: type[np.generic]) -> NDArray[Any]:
    reader = zlib.decompressobj()
    data = reader.decompress(base64.b64decode("".join(lines), validate=True), MAX_BYTES)
    if not reader.eof:
        raise ValueError("an array is cut off or too large")
    dtype = np.dtype(kind)
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value
