"""Arguments of the wrong kind: what was passed, and what to do instead, in one sentence.

Public functions check what they are given with these, so that each mistake reads the same wherever it is
made. Nothing here imports what the arguments belong to: types are known by their names.
"""

from __future__ import annotations

import codecs
import os
import re
import typing
from numbers import Real
from operator import index
from typing import Any

from workbench.errors import GrammarSyntaxError, WrongType

__all__ = [
    "described",
    "first_words",
    "is_python_type",
    "looks_like_file",
    "need_at_least",
    "need_compiled",
    "need_examples",
    "need_grammar",
    "need_list",
    "need_matcher",
    "need_matchers",
    "need_model",
    "need_number",
    "need_path",
    "need_seconds",
    "need_trace",
    "need_vocabulary",
    "read_text",
    "wrong_part",
    "wrong_schema",
    "wrong_text",
    "wrong_type",
]

#: Byte order marks and the encodings that they tell; those of UTF-32 begin as those of UTF-16 do.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FILE_NAME = re.compile(
    r"[^\s{}()\"'|*?<>]+\.(?:json|gbnf|regex|lark|ebnf|bnf|txt|zip|model)(?:\.xz|\.gz)?"
)


def described(value: Any) -> str:
    """Name what was passed: ``None``, ``the class Person``, ``a dict``."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, os.PathLike):
        return "a path"
    if is_python_type(value):
        return f"the type {value!r:.80}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def first_words(text: str) -> str:
    """The beginning of a text, as it may stand in a sentence."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


def is_python_type(value: Any) -> bool:
    """Whether a value is a type to describe: a class, or ``list[int]``, ``int | None``, ``Annotated[…]``."""
    return isinstance(value, type) or typing.get_origin(value) is not None


def looks_like_file(text: str) -> bool:
    """Whether a text is the name of a file rather than what stands in one."""
    return len(text) < 300 and _FILE_NAME.fullmatch(text.strip()) is not None


def read_text(data: bytes, what: str) -> str:
    """Decode a text: UTF-8, or what a byte order mark at its beginning says; the mark is left out.

    Raises ``GrammarSyntaxError`` with the offset of the byte that is wrong; ``what`` names the text.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        named = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        raise GrammarSyntaxError(
            f"{what} is not a text: byte {data[error.start]:#04x} at offset {error.start:,} is not {named}"
        ) from None


def wrong_type(who: str, wanted: str, value: Any, instead: str = "") -> WrongType:
    """``who`` takes ``wanted``, and got something else; ``instead`` says what to do."""
    return WrongType(
        f"{who} takes {wanted}, not {described(value)}" + (f": {instead}" if instead else "")
    )


def wrong_text(who: str, wanted: str, value: Any) -> WrongType:
    """Where a text was wanted and something that is no text came."""
    instead = ""
    if isinstance(value, os.PathLike):
        instead = "pass what the file holds, path.read_text()"
    elif _is_grammar(value):
        instead = "it is a grammar already"
    elif isinstance(value, re.Pattern):
        instead = "pass its text, pattern.pattern, to workbench.regex"
    elif is_python_type(value) or callable(value):
        instead = "workbench.from_type makes a grammar of a type"
    elif hasattr(value, "keys"):
        instead = "workbench.json_schema makes a grammar of a JSON schema"
    return wrong_type(who, wanted, value, instead)


def wrong_schema(value: Any) -> WrongType:
    """Where a JSON schema was wanted and something that JSON does not know came."""
    instead = ""
    if isinstance(value, os.PathLike):
        instead = "pass what the file holds, path.read_text()"
    elif _is_grammar(value):
        instead = "it is a grammar already"
    elif is_python_type(value) or callable(value):
        instead = "workbench.from_type makes a grammar of a type"
    elif hasattr(type(value), "model_json_schema"):
        instead = f"workbench.from_type({type(value).__name__}) makes a grammar of its class"
    return wrong_type(
        "json_schema", "a schema (a mapping or a boolean) or its JSON text", value, instead
    )


def wrong_part(value: Any, who: str) -> WrongType:
    """Where a part of a grammar was wanted, and something that is neither a grammar nor a text came."""
    wanted = "grammars, and texts that stand for themselves"
    if isinstance(value, list | tuple):
        instead = "pass each by itself, as in seq(*parts)"
    elif isinstance(value, int) and not isinstance(value, bool):
        instead = "a number is written as a text, a token as workbench.token(…)"
    elif isinstance(value, re.Pattern):
        instead = "pass workbench.regex(pattern.pattern)"
    else:
        instead = _make_grammar(value)
    return wrong_type(who, wanted, value, instead)


def need_grammar(value: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value is a grammar."""
    if not (hasattr(value, "rules") and hasattr(value, "start")):
        raise wrong_type(who, "a Grammar", value, _make_grammar(value))


def _make_grammar(value: Any) -> str:
    if isinstance(value, str | bytes):
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if looks_like_file(text):
            return (
                "read the file and make a grammar of its text (workbench.gbnf, json_schema, regex)"
            )
        if text.lstrip("\ufeff \t\r\n").startswith("{"):
            return "make one with workbench.json_schema(…)"
        if "::=" in text:
            return "make one with workbench.gbnf(…)"
        return "make one with workbench.regex(…), gbnf(…) or json_schema(…)"
    if isinstance(value, os.PathLike):
        return "read the file and make a grammar of its text (workbench.gbnf, json_schema, regex)"
    if _named(value, "CompiledGrammar"):
        return "pass what it was compiled from, compiled.grammar"
    if _named(value, "Vocabulary"):
        return "the grammar comes first, then the vocabulary"
    if isinstance(value, bool) or hasattr(value, "keys"):
        return "make one with workbench.json_schema(…)"
    if is_python_type(value) or callable(value):
        return "make one with workbench.from_type(…)"
    return ""


def need_vocabulary(value: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value is a vocabulary."""
    if hasattr(value, "eos_ids") and hasattr(value, "token_bytes"):
        return
    instead = ""
    if isinstance(value, str | os.PathLike):
        instead = f"load it with workbench.Vocabulary.load({os.fspath(value)!r:.80})"
    elif hasattr(value, "vocabulary"):
        instead = "pass its vocabulary"
    elif _is_grammar(value):
        instead = "the grammar comes first, then the vocabulary"
    elif any(
        hasattr(value, name) for name in ("get_vocab", "convert_ids_to_tokens", "id_to_piece")
    ):
        instead = "load it with workbench.Vocabulary.load(tokenizer)"
    raise wrong_type(who, "a Vocabulary", value, instead)


def need_compiled(value: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value is a compiled grammar."""
    if hasattr(value, "matcher") and hasattr(value, "vocabulary"):
        return
    instead = "make one with workbench.compile(grammar, vocabulary)"
    raise wrong_type(
        who, "a CompiledGrammar", value, instead if _is_grammar(value) else _make_grammar(value)
    )


def need_matcher(value: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value is a matcher."""
    if hasattr(value, "fill_mask") and hasattr(value, "accept"):
        return
    instead = ""
    if _named(value, "CompiledGrammar"):
        instead = "make one with compiled.matcher()"
    elif _is_grammar(value):
        instead = "make one with workbench.compile(grammar, vocabulary).matcher()"
    raise wrong_type(who, "a Matcher", value, instead)


def need_matchers(values: Any, who: str) -> None:
    """Raise ``WrongType`` unless values are matchers."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        alone = "put it in a list" if hasattr(values, "fill_mask") else ""
        raise wrong_type(who, "a list of matchers", values, alone)
    if isinstance(values, list | tuple):
        # a batch is large, its types are few
        for value in values if len(values) == 1 else {type(one): one for one in values}.values():
            need_matcher(value, who)


def need_model(value: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value is a model with its vocabulary."""
    if hasattr(value, "vocabulary") and not hasattr(value, "matcher"):
        return
    loadable = isinstance(value, str | os.PathLike) or hasattr(value, "generate")
    instead = "load it with workbench.load_model(…)" if loadable else ""
    raise wrong_type(who, "a model as load_model gives it", value, instead)


def need_trace(value: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value is the trace of a run."""
    if hasattr(value, "steps") and hasattr(value, "finish_reason"):
        return
    instead = ""
    if isinstance(value, str | os.PathLike):
        instead = f"load it with workbench.Trace.load({os.fspath(value)!r:.80})"
    elif hasattr(value, "trace"):
        instead = "pass its trace, out.trace"
    raise wrong_type(who, "a Trace", value, instead)


def need_examples(values: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value is several examples: one text is none of these."""
    if isinstance(values, str | bytes | bytearray) or hasattr(values, "keys"):
        raise wrong_type(who, "a list of examples", values, "put it in a list")
    if not hasattr(values, "__iter__"):
        raise wrong_type(who, "a list of examples", values)


def need_list(value: Any, who: str, wanted: str) -> None:
    """Raise ``WrongType`` unless a value is several things; one text is none of these."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise wrong_type(who, wanted, value)


def need_number(value: Any, who: str, wanted: str) -> int:
    """A whole number as ``int``, of NumPy too. Raises ``WrongType`` for anything else."""
    try:
        return index(value)
    except TypeError:
        raise wrong_type(who, wanted, value) from None


def need_at_least(least: int, value: Any, who: str) -> int:
    """An integer from ``least`` (0 or 1) on as ``int``, of NumPy too.

    Raises ``WrongType`` for anything else, ``ValueError`` for one that is less.
    """
    wanted = "a positive integer" if least else "0 or a positive integer"
    if isinstance(value, bool):
        raise wrong_type(who, wanted, value)
    number = need_number(value, who, wanted)
    if number < least:
        raise ValueError(f"{who} takes {wanted}, not {number}")
    return number


def need_seconds(value: Any, who: str) -> float:
    """A time from 0 seconds on as ``float``. Raises ``WrongType`` for no number, ``ValueError`` for one below 0."""
    wanted = "a number of seconds"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise wrong_type(who, wanted, value)
    seconds = float(value)
    if not seconds >= 0:
        raise ValueError(f"{who} takes {wanted}, 0 or more, not {value}")
    return seconds


def need_path(value: Any, who: str) -> None:
    """Raise ``WrongType`` unless a value names a file."""
    if not isinstance(value, str | os.PathLike):
        raise wrong_type(who, "the path of a file", value)


def _named(value: Any, name: str) -> bool:
    return type(value).__name__ == name and type(value).__module__.startswith("workbench.")


def _is_grammar(value: Any) -> bool:
    return _named(value, "Grammar") or _named(value, "CompiledGrammar")
