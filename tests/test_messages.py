"""A wrong thing in, one clear sentence out: every public function, and every command."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections import OrderedDict, UserList
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontends.ir_match import matches
from workbench.cli import main
from workbench.errors import WrongType

pydantic = pytest.importorskip("pydantic")


class Person(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    """A model of pydantic, where a schema is wanted."""

    age: int


def without(some: bytes) -> wb.Vocabulary:
    """A vocabulary of all single bytes but some."""
    kept = [bytes([b]) for b in range(256) if b not in some]
    return wb.Vocabulary.from_bytes([*kept, b""], eos_ids=len(kept))


BYTES = without(b"")
GRAMMAR = wb.regex("[a-z]+")
TRACE = wb.Trace()
any_: Any = wb  # the functions, without their types


def matcher() -> Any:
    return wb.compile(GRAMMAR, BYTES).matcher()


Case = tuple[Callable[[], object], type[Exception], str]


def f(x: int) -> None:
    """A tool."""


WRONG: dict[str, Case] = {
    # front ends
    "json_schema of a class": (
        lambda: any_.json_schema(Person),
        WrongType,
        "the class Person.*from_type",
    ),
    "json_schema of an instance": (
        lambda: any_.json_schema(Person(age=1)),
        WrongType,
        r"from_type\(Person\)",
    ),
    "tools of one tool": (
        lambda: any_.tools({"name": "f"}),
        WrongType,
        "a list of tools, not a dict: put it in a list",
    ),
    "tools in an unknown format": (
        lambda: any_.tools([{"name": "f"}], format="qwenn3"),
        ValueError,
        "no format is called 'qwenn3'.*'qwen3'",
    ),
    "read_calls of a pattern's grammar": (
        lambda: any_.read_calls(any_.regex("a"), ""),
        WrongType,
        "a grammar that workbench.tools made.*not a Grammar",
    ),
    "json_schema of a type": (
        lambda: any_.json_schema(list[int]),
        WrongType,
        r"the type list\[int\].*from_type",
    ),
    "json_schema of a function": (
        lambda: any_.json_schema(len),
        WrongType,
        "the function len.*from_type",
    ),
    "json_schema of None": (
        lambda: any_.json_schema(None),
        wb.GrammarSyntaxError,
        "an object or a boolean, not null",
    ),
    "json_schema of a list": (
        lambda: any_.json_schema([1]),
        wb.GrammarSyntaxError,
        r"an object or a boolean, not \[1\]",
    ),
    "json_schema of a set": (
        lambda: any_.json_schema({1}),
        WrongType,
        "json_schema takes a schema.*not a set",
    ),
    "json_schema of a path": (
        lambda: any_.json_schema(Path("a.json")),
        WrongType,
        "not a path: pass what the file holds",
    ),
    "json_schema of a file name": (
        lambda: wb.json_schema("a.json"),
        wb.GrammarSyntaxError,
        "'a.json' is the name of a file",
    ),
    "json_schema of a grammar": (
        lambda: any_.json_schema(GRAMMAR),
        WrongType,
        "it is a grammar already",
    ),
    "json_schema of GBNF": (
        lambda: wb.json_schema('root ::= "a"'),
        wb.GrammarSyntaxError,
        "workbench.gbnf reads that",
    ),
    "json_schema of other bytes": (
        lambda: wb.json_schema(b"\xff"),
        wb.GrammarSyntaxError,
        "byte 0xff at offset 0 is not UTF-8",
    ),
    "json_schema of itself": (
        lambda: wb.json_schema(_endless()),
        wb.GrammarTooComplex,
        "500 schema nesting levels",
    ),
    "json_schema and a third": (
        lambda: wb.json_schema({"minimum": Fraction(1, 3)}),
        wb.GrammarSyntaxError,
        "1/3 has no decimal that ends",
    ),
    "json_schema and infinity": (
        lambda: wb.json_schema({"minimum": np.inf}),
        wb.GrammarSyntaxError,
        "minimum must be a number .at #/minimum",
    ),
    "json_schema and a set in it": (
        lambda: wb.json_schema({"enum": {1}}),
        wb.GrammarSyntaxError,
        "enum must be an array .at #/enum",
    ),
    "json_schema and bytes in it": (
        lambda: wb.json_schema({"const": b"a"}),
        wb.GrammarSyntaxError,
        "b'a' is not a JSON value .at #/const",
    ),
    "json_schema and a class in it": (
        lambda: wb.json_schema({"properties": {"a": int}}),
        wb.GrammarSyntaxError,
        "not a type .at #/properties/a",
    ),
    "json_schema and a key": (
        lambda: any_.json_schema({1: {}}),
        wb.GrammarSyntaxError,
        "the key 1 is not a string",
    ),
    "json_schema and half a pair": (
        lambda: wb.json_schema({"enum": ["\ud800"]}),
        wb.UnsatisfiableGrammar,
        "# can never be completed",
    ),
    "json_schema and max_whitespace": (
        lambda: any_.json_schema({}, max_whitespace="a"),
        WrongType,
        "max_whitespace takes a number",
    ),
    "json_schema and indent": (
        lambda: any_.json_schema({}, indent=1.5),
        WrongType,
        "indent takes a number of spaces, or whitespace, not a float",
    ),
    "json_schema and separators": (
        lambda: any_.json_schema({}, separators=(",",)),
        ValueError,
        "separators must be two texts",
    ),
    "from_type of a schema": (
        lambda: wb.from_type({"type": "string"}),
        WrongType,
        "not a dict: workbench.json_schema",
    ),
    "from_type of a name": (
        lambda: wb.from_type("Person"),
        WrongType,
        "not a str: pass the type itself",
    ),
    "from_type of an instance": (
        lambda: wb.from_type(Person(age=1)),
        WrongType,
        "not a Person: pass its class, Person",
    ),
    "from_type of a number": (
        lambda: wb.from_type(3),
        wb.WorkbenchError,
        "pydantic makes no schema of 3",
    ),
    "gbnf of a schema": (
        lambda: any_.gbnf({"type": "string"}),
        WrongType,
        "not a dict: workbench.json_schema makes",
    ),
    "gbnf of JSON": (
        lambda: wb.gbnf(' {"type": "string"}'),
        wb.GrammarSyntaxError,
        "this is JSON, not GBNF: workbench.json_schema",
    ),
    "gbnf of None": (lambda: any_.gbnf(None), WrongType, "gbnf takes a grammar as text, not None"),
    "gbnf of a path": (
        lambda: any_.gbnf(Path("a.gbnf")),
        WrongType,
        "not a path: pass what the file holds",
    ),
    "gbnf of a file name": (
        lambda: wb.gbnf("a.gbnf"),
        wb.GrammarSyntaxError,
        "'a.gbnf' is the name of a file",
    ),
    "gbnf of a class": (
        lambda: any_.gbnf(Person),
        WrongType,
        "the class Person: workbench.from_type",
    ),
    "gbnf of a Lark grammar": (
        lambda: wb.gbnf("start: word\nword: /[a-z]+/\n%ignore /x/"),
        wb.GrammarSyntaxError,
        "for Lark, not GBNF",
    ),
    "gbnf of W3C EBNF": (
        lambda: wb.gbnf("S ::= (#x20 | #x9)+"),
        wb.GrammarSyntaxError,
        "EBNF of W3C.*GBNF reads a comment there",
    ),
    "gbnf of W3C literals": (
        lambda: wb.gbnf("S ::= 'a' - 'b' /* c */"),
        wb.GrammarSyntaxError,
        "EBNF of W3C.*double quotes",
    ),
    "gbnf and half a pair": (
        lambda: wb.gbnf('root ::= "\ud800"'),
        wb.GrammarSyntaxError,
        r"U\+D800 is half of a surrogate pair",
    ),
    "gbnf and its start": (
        lambda: any_.gbnf('root ::= "a"', start=None),
        wb.GrammarSyntaxError,
        "there is no rule named None",
    ),
    "regex of None": (
        lambda: any_.regex(None),
        WrongType,
        "regex takes a pattern as text or bytes, not None",
    ),
    "regex of a pattern": (lambda: any_.regex(re.compile("a")), WrongType, "pattern.pattern"),
    "regex of a schema": (lambda: any_.regex({}), WrongType, "workbench.json_schema makes"),
    "regex of a number": (lambda: any_.regex(3), WrongType, "not an int"),
    "regex and half a pair": (
        lambda: wb.regex("\ud800"),
        wb.GrammarSyntaxError,
        r"U\+D800 is half of a surrogate pair",
    ),
    "gbnf with rules in a list": (
        lambda: any_.gbnf("root ::= x", rules=[GRAMMAR]),
        WrongType,
        "gbnf takes rules as grammars by name, not a list",
    ),
    "gbnf with a rule that is a number": (
        lambda: any_.gbnf("root ::= x", rules={"x": 3}),
        WrongType,
        "the rule 'x' of gbnf takes grammars.*not an int",
    ),
    "gbnf with a rule of no name": (
        lambda: wb.gbnf("root ::= x", rules={"x y": GRAMMAR}),
        ValueError,
        "'x y' is no name of a rule",
    ),
    # composition
    "seq of a number": (
        lambda: any_.seq("a", 3),
        WrongType,
        "seq takes grammars, and texts that stand for themselves, not an int",
    ),
    "seq of a list": (lambda: any_.seq(["a"]), WrongType, r"not a list: .*seq\(\*parts\)"),
    "seq of half a pair": (lambda: wb.seq("\ud800"), ValueError, "seq: .*half of a surrogate pair"),
    "alt of a schema": (
        lambda: any_.alt({"type": "null"}),
        WrongType,
        "not a dict: make one with workbench.json_schema",
    ),
    "repeat of a compiled grammar": (
        lambda: any_.repeat(wb.compile(GRAMMAR, BYTES)),
        WrongType,
        "pass what it was compiled from, compiled.grammar",
    ),
    "repeat fewer than no times": (
        lambda: wb.repeat("a", -1),
        ValueError,
        "repeat takes 0 or a positive integer, not -1",
    ),
    "repeat half a time": (lambda: any_.repeat("a", 0.5), WrongType, "not a float"),
    "repeat backwards": (
        lambda: wb.repeat("a", 3, 2),
        ValueError,
        "at least 3 and at most 2: write them in order",
    ),
    "optional None": (lambda: any_.optional(None), WrongType, "optional takes grammars.*not None"),
    "token of None": (lambda: any_.token(None), WrongType, "names and ids of tokens, not None"),
    "token without a name": (lambda: wb.token(), ValueError, "a token needs an id or a name"),
    "token of a negative id": (lambda: wb.token(-1), ValueError, "-1 is not the id of a token"),
    "text_until a list": (
        lambda: any_.text_until(["a"]),
        WrongType,
        r"not a list: pass each by itself, as in text_until\(\*stops\)",
    ),
    "marker of an empty text": (lambda: wb.marker(""), ValueError, "a marker is not empty"),
    "structural_tag of a list": (
        lambda: wb.structural_tag([]),
        wb.WrongType,
        "structural_tag takes an object of a request .* not a list",
    ),
    "to_structural_tag of a text": (
        lambda: wb.to_structural_tag("x"),
        wb.WrongType,
        "to_structural_tag takes a format or a grammar of one, not a str",
    ),
    "response_format of a number": (
        lambda: wb.response_format(3),
        wb.WrongType,
        "response_format takes an object of a request .* not an int",
    ),
    "response_format of a schema": (
        lambda: wb.response_format({"type": "object"}),
        wb.GrammarSyntaxError,
        "there is no response format 'object'.*looks like a schema",
    ),
    "formats in a sequence": (
        lambda: wb.formats.Sequence(["a"]),
        wb.WrongType,
        "a format, not a str: wrap it: ConstString",
    ),
    "text_until nothing": (lambda: wb.text_until(), ValueError, "no marker to stop at"),
    "text_until an empty text": (lambda: wb.text_until(""), ValueError, "a marker is not empty"),
    "capture without a name": (
        lambda: any_.capture(GRAMMAR, "a"),
        WrongType,
        "capture takes a name as text, not a Grammar",
    ),
    "ref of a grammar": (
        lambda: any_.ref(GRAMMAR),
        WrongType,
        "ref takes a name as text, not a Grammar",
    ),
    "ref of nothing": (
        lambda: wb.compile(wb.ref("a"), BYTES),
        ValueError,
        r"the name 'a' is used but not defined: .*workbench.define\(\{'a': …\}\)",
    ),
    "define nothing": (lambda: wb.define(), ValueError, "define takes at least one rule"),
    "define of a grammar": (
        lambda: any_.define(GRAMMAR),
        WrongType,
        "define takes rules by name.*not a Grammar",
    ),
    "define a name twice": (
        lambda: wb.define({"a": "1"}, a="2"),
        ValueError,
        "'a' is given twice",
    ),
    "define a number": (
        lambda: any_.define(a=3),
        WrongType,
        r"define\(a=…\) takes grammars.*not an int",
    ),
    "define itself alone": (
        lambda: wb.compile(wb.define(a=wb.ref("a")), BYTES),
        wb.UnsatisfiableGrammar,
        "can never be completed",
    ),
    "calls of a function": (lambda: any_.calls(matcher), WrongType, "put it in a list"),
    "calls of numbers": (lambda: any_.calls([3]), WrongType, "takes functions, not an int"),
    "calls of a name": (lambda: any_.calls(["matcher"]), WrongType, "not its name"),
    "tools of a number": (lambda: any_.tools(1), WrongType, "tools"),
    "tools of none": (lambda: wb.tools([]), ValueError, "the list is empty"),
    "tools in a format that there is not": (
        lambda: wb.tools([f], format="qwen33"),
        ValueError,
        "qwen3",
    ),
    "read_calls of a number": (
        lambda: any_.read_calls(wb.tools([f]), 1),
        WrongType,
        "read_calls",
    ),
    "sql of a text": (lambda: any_.sql("SELECT 1"), WrongType, "sql"),
    "contrast with a name": (
        lambda: any_.contrast("gpt2", "Hi", GRAMMAR),
        WrongType,
        r"load it with workbench.load_model\(",
    ),
    "scripted_model of a name": (
        lambda: any_.scripted_model("a", "gpt2"),
        WrongType,
        r"load it with workbench.load_model\(",
    ),
    "calls of nothing": (lambda: wb.calls([]), ValueError, "takes at least one function"),
    "calls of a builtin": (lambda: wb.calls([min]), wb.WorkbenchError, "min has no signature"),
    "lint of a text": (lambda: any_.lint("root ::= x"), WrongType, "lint takes a Grammar"),
    "lint without work": (lambda: wb.lint(GRAMMAR, work=-1), ValueError, "lint takes"),
    "choice of a text": (lambda: any_.choice("abc"), WrongType, "not a str: put it in a list"),
    "choice of numbers": (lambda: any_.choice([1, 2]), WrongType, "choice takes texts, not an int"),
    "choice of nothing": (lambda: wb.choice([]), ValueError, "choice takes at least one text"),
    "choice of no labels": (lambda: wb.choice({}), ValueError, "choice takes at least one text"),
    "choice of half a pair": (
        lambda: wb.choice(["\ud800"]),
        ValueError,
        "choice: .*half of a surrogate pair",
    ),
    "substring of a path": (
        lambda: any_.substring(Path("a.txt")),
        WrongType,
        "not a path: pass what the file holds",
    ),
    "substring by lines": (
        lambda: any_.substring("a", "line"),
        ValueError,
        "the unit of substring is 'character' or 'word', not 'line'",
    ),
    "substring by words of bytes": (
        lambda: wb.substring(b"a", "word"),
        WrongType,
        "substring by words takes a document as text, not a bytes",
    ),
    "substring of half a pair": (
        lambda: wb.substring("\ud800"),
        ValueError,
        "half of a surrogate pair",
    ),
    "match of a text": (
        lambda: any_.match("a", "a"),
        WrongType,
        "match takes a Grammar, not a str",
    ),
    "match with a number": (
        lambda: any_.match(GRAMMAR, 3),
        WrongType,
        "match takes a text, bytes or a sequence of token ids, not an int",
    ),
    "match of ids alone": (
        lambda: wb.match(GRAMMAR, [97]),
        ValueError,
        "token ids are those of a vocabulary",
    ),
    "match of an id that is none": (
        lambda: wb.match(GRAMMAR, [999], BYTES),
        ValueError,
        "the vocabulary has no token 999",
    ),
    "match past its bound": (
        lambda: wb.match(wb.capture("a", GRAMMAR), "a" * 50, max_items=10),
        wb.GrammarTooComplex,
        "more than 10 items of a parse",
    ),
    "to_rules of a text": (lambda: any_.to_rules("a"), WrongType, "to_rules takes a Grammar"),
    "from_rules of a grammar": (
        lambda: any_.from_rules(GRAMMAR),
        WrongType,
        "a text that to_rules wrote, not a Grammar",
    ),
    "from_rules of another text": (
        lambda: wb.from_rules('{"format": "other"}'),
        wb.GrammarSyntaxError,
        "this is no text that to_rules wrote",
    ),
    "until of None": (
        lambda: any_.until(None),
        WrongType,
        "until takes markers that are texts or bytes, not None",
    ),
    "until of a list": (lambda: any_.until(["a"]), WrongType, "not a list"),
    "until of half a pair": (
        lambda: wb.until("\ud800"),
        ValueError,
        "holds half of a surrogate pair",
    ),
    "until of nothing": (lambda: wb.until(), ValueError, "there is no marker"),
    "intersection of texts": (
        lambda: any_.intersection("a", "b"),
        WrongType,
        "intersection takes a Grammar, not a str.*regex",
    ),
    "difference of a text": (
        lambda: any_.difference(GRAMMAR, 'root ::= "a"'),
        WrongType,
        r"make one with workbench.gbnf\(",
    ),
    "complement of a schema": (
        lambda: any_.complement({"type": "string"}),
        WrongType,
        r"make one with workbench.json_schema\(",
    ),
    "complement and states": (
        lambda: any_.complement(GRAMMAR, max_states="a"),
        WrongType,
        "complement takes a number of states",
    ),
    # compiling
    "compile of GBNF": (
        lambda: any_.compile('root ::= "a"', BYTES),
        WrongType,
        r"not a str: make one with workbench.gbnf\(",
    ),
    "compile of JSON": (
        lambda: any_.compile('{"type": "string"}', BYTES),
        WrongType,
        r"make one with workbench.json_schema\(",
    ),
    "compile of a schema": (
        lambda: any_.compile({"type": "string"}, BYTES),
        WrongType,
        r"not a dict: make one with workbench.json_schema\(",
    ),
    "compile of a class": (
        lambda: any_.compile(Person, BYTES),
        WrongType,
        r"the class Person: make one with workbench.from_type\(",
    ),
    "compile of a file": (
        lambda: any_.compile("a.gbnf", BYTES),
        WrongType,
        "read the file and make a grammar",
    ),
    "compile of a path": (
        lambda: any_.compile(Path("a.gbnf"), BYTES),
        WrongType,
        "read the file and make a grammar",
    ),
    "compile of what is compiled": (
        lambda: any_.compile(wb.compile(GRAMMAR, BYTES), BYTES),
        WrongType,
        "compiled.grammar",
    ),
    "compile the other way round": (
        lambda: any_.compile(BYTES, GRAMMAR),
        WrongType,
        "the grammar comes first",
    ),
    "compile for a file": (
        lambda: any_.compile(GRAMMAR, "tokenizer.json"),
        WrongType,
        r"Vocabulary.load\('tokenizer.json'\)",
    ),
    "compile for a path": (
        lambda: any_.compile(GRAMMAR, Path("t.json")),
        WrongType,
        r"Vocabulary.load\('t.json'\)",
    ),
    "compile for None": (
        lambda: any_.compile(GRAMMAR, None),
        WrongType,
        "compile takes a Vocabulary, not None",
    ),
    "load_compiled of None": (
        lambda: any_.load_compiled(None, BYTES),
        WrongType,
        "load_compiled takes the path of a file",
    ),
    "load_compiled for a file": (
        lambda: any_.load_compiled("a", "t.json"),
        WrongType,
        r"Vocabulary.load\('t.json'\)",
    ),
    # vocabularies
    "load None": (lambda: wb.Vocabulary.load(None), wb.VocabularyError, "None is not a tokenizer"),
    "load nothing": (
        lambda: wb.Vocabulary.load("nowhere/t.json"),
        wb.VocabularyError,
        "there is no file or folder 'nowhere/t.json'",
    ),
    "load a vocabulary": (lambda: wb.Vocabulary.load(BYTES), WrongType, "it is one already"),
    "load and a width": (
        lambda: any_.Vocabulary.load("t.json", width="a"),
        WrongType,
        "takes a number of logits, not a str",
    ),
    "from_bytes of None": (
        lambda: any_.Vocabulary.from_bytes(None, 0),
        WrongType,
        "from_bytes takes a list of bytes",
    ),
    "from_bytes of a text": (lambda: any_.Vocabulary.from_bytes("ab", 0), WrongType, "not a str"),
    "from_bytes of texts": (
        lambda: any_.Vocabulary.from_bytes(["a"], 0),
        wb.VocabularyError,
        "token 0 is 'a': not bytes",
    ),
    "from_bytes and no end": (
        lambda: any_.Vocabulary.from_bytes([b"a"], None),
        WrongType,
        "the ids that end a text, not None",
    ),
    "token_bytes of a text": (
        lambda: any_.Vocabulary.token_bytes(BYTES, "a"),
        WrongType,
        "a token id, not a str",
    ),
    "decode of a text": (
        lambda: any_.Vocabulary.decode(BYTES, "ab"),
        WrongType,
        "decode takes a list of token ids, not a str",
    ),
    # no token has a byte that is needed
    "objects without a quote": (
        lambda: wb.compile(wb.json_schema({"type": "object"}), without(b'"')),
        wb.VocabularyError,
        r"^no token has the byte '\"' \(0x22\)(?!.*unique_keys)",
    ),
    "strings without a quote": (
        lambda: wb.compile(wb.json_schema({"type": "string"}), without(b'"')),
        wb.UnsatisfiableGrammar,
        r"no token has the byte '\"' \(0x22\), which it needs",
    ),
    "a pattern without a byte": (
        lambda: wb.compile(wb.regex("a[bc]"), without(b"bcx")),
        wb.UnsatisfiableGrammar,
        r"the bytes 'b' \(0x62\), 'c' \(0x63\), some of which",
    ),
    "what is empty anyhow": (
        lambda: wb.compile(wb.gbnf('root ::= [a] & "b"'), without(b"x")),
        wb.UnsatisfiableGrammar,
        "its language is empty",
    ),
    # matchers and masks
    "accept a text": (
        lambda: matcher().accept("a"),
        WrongType,
        "accept takes a token id, not a str",
    ),
    "accept None": (lambda: matcher().accept(None), WrongType, "accept takes a token id, not None"),
    "accept a float": (
        lambda: matcher().accept(97.0),
        WrongType,
        "accept takes a token id, not a float",
    ),
    "accept another id": (
        lambda: matcher().accept(10**9),
        wb.VocabularyError,
        "token id 1000000000 is not in",
    ),
    "accept_tokens of a text": (
        lambda: matcher().accept_tokens("ab"),
        WrongType,
        "accept_tokens takes a list of token ids",
    ),
    "accept_tokens of an id": (
        lambda: matcher().accept_tokens(97),
        WrongType,
        "accept_tokens takes a list of token ids",
    ),
    "rollback a text": (
        lambda: matcher().rollback("a"),
        WrongType,
        "rollback takes a number of tokens, not a str",
    ),
    "matcher.explain of a text": (
        lambda: matcher().explain("a"),
        WrongType,
        "explain takes a token id, not a str",
    ),
    "fill_mask of None": (
        lambda: matcher().fill_mask(None),
        ValueError,
        "a mask is an int32 NumPy array",
    ),
    "fill_masks of a matcher": (
        lambda: any_.fill_masks(matcher(), None),
        WrongType,
        "not a Matcher: put it in a list",
    ),
    "fill_masks of compiled": (
        lambda: any_.fill_masks([wb.compile(GRAMMAR, BYTES)], None),
        WrongType,
        r"compiled.matcher\(\)",
    ),
    "accept_all of None": (
        lambda: any_.accept_all(None, [1]),
        WrongType,
        "accept_all takes a list of matchers",
    ),
    "accept_all of no ids": (
        lambda: any_.accept_all([matcher()], None),
        WrongType,
        "a token id for each matcher, not None",
    ),
    "accept_all of parts of ids": (
        lambda: any_.accept_all([matcher()], [97.9]),
        WrongType,
        "a token id for each matcher, not a float",
    ),
    "accept_all of parts of ids in an array": (
        lambda: any_.accept_all([matcher()], np.array([97.0])),
        WrongType,
        "a token id for each matcher, not a float",
    ),
    "accept_all of the texts of ids": (
        lambda: any_.accept_all([matcher()], ["97"]),
        WrongType,
        "a token id for each matcher, not a str",
    ),
    "rollback_all of parts of tokens": (
        lambda: any_.rollback_all([matcher()], [0.5]),
        WrongType,
        "a number of tokens, or one for each matcher, not a float",
    ),
    "rollback_all of half a token": (
        lambda: any_.rollback_all([matcher()], 0.5),
        WrongType,
        "a number of tokens, or one for each matcher, not a float",
    ),
    "load_compiled of no file": (
        lambda: any_.load_compiled("no such file", BYTES),
        wb.ArtifactError,
        "no such file: there is no such file. Compile",
    ),
    "rollback_all of texts": (
        lambda: any_.rollback_all(["a"]),
        WrongType,
        "rollback_all takes a Matcher, not a str",
    ),
    "fork_all of a grammar": (
        lambda: any_.fork_all([GRAMMAR]),
        WrongType,
        r"workbench.compile\(grammar, vocabulary\).matcher\(\)",
    ),
    "empty_mask of a file": (
        lambda: any_.empty_mask("t.json"),
        WrongType,
        r"Vocabulary.load\('t.json'\)",
    ),
    "show_mask of a grammar": (
        lambda: any_.show_mask(GRAMMAR),
        WrongType,
        "show_mask takes a Matcher",
    ),
    # diagnostics
    "explain of a grammar": (
        lambda: any_.explain(GRAMMAR, "a"),
        WrongType,
        "explain takes a Matcher",
    ),
    "explain None": (
        lambda: any_.explain(matcher(), None),
        WrongType,
        "a token: its id, text or bytes, not None",
    ),
    "dead_ends of any text": (
        lambda: any_.dead_ends("an order"),
        wb.GrammarSyntaxError,
        r"neither a JSON Schema nor a grammar in GBNF(?s:.*)wb\.regex",
    ),
    "dead_ends of a class": (
        lambda: any_.dead_ends(Person),
        WrongType,
        "the class Person.*from_type",
    ),
    "dead_ends for a file": (
        lambda: any_.dead_ends(GRAMMAR, "t.json"),
        WrongType,
        r"Vocabulary.load\('t.json'\)",
    ),
    "dead_ends and an example": (
        lambda: any_.dead_ends(GRAMMAR, examples="a"),
        WrongType,
        "not a str: put it in a list",
    ),
    "unspellable of a text": (
        lambda: any_.unspellable("a", BYTES),
        WrongType,
        "unspellable takes a Grammar",
    ),
    "unspellable for a file": (
        lambda: any_.unspellable(GRAMMAR, "t.json"),
        WrongType,
        r"Vocabulary.load\('t.json'\)",
    ),
    "coverage of a text": (
        lambda: any_.coverage("a", ["a"]),
        WrongType,
        "coverage takes a Grammar",
    ),
    "coverage of one example": (
        lambda: any_.coverage(GRAMMAR, "a"),
        WrongType,
        "a list of examples, not a str: put it in a list",
    ),
    "coverage of None": (
        lambda: any_.coverage(GRAMMAR, None),
        WrongType,
        "a list of examples, not None",
    ),
    "coverage of a set": (
        lambda: any_.coverage(GRAMMAR, [{1}]),
        wb.WorkbenchError,
        r"\{1\} is no example",
    ),
    "profile of a file": (lambda: any_.profile("t.json"), WrongType, r"Trace.load\('t.json'\)"),
    "live_dead_ends of None": (
        lambda: any_.live_dead_ends(None),
        WrongType,
        "live_dead_ends takes a Trace, not None",
    ),
    "Trace.load of None": (
        lambda: any_.Trace.load(None),
        WrongType,
        "Trace.load takes the path of a file",
    ),
    # export
    "export of a text": (
        lambda: any_.export("a", "a.zip", tests={}),
        WrongType,
        "export takes a Grammar",
    ),
    "export of no tests": (
        lambda: any_.export(GRAMMAR, "a.zip", tests=None),
        WrongType,
        "tests as a mapping of lists, not None",
    ),
    "export of one test": (
        lambda: any_.export(GRAMMAR, "a.zip", tests={"accept": "a"}),
        WrongType,
        "put it in a list",
    ),
    "export for a file": (
        lambda: any_.export(GRAMMAR, "a.zip", tests={}, vocabulary="t.json"),
        WrongType,
        r"Vocabulary.load\(",
    ),
    "export to nowhere": (
        lambda: any_.export(GRAMMAR, None, tests={}),
        WrongType,
        "export takes the path of a file",
    ),
    "verify None": (
        lambda: any_.verify(None),
        WrongType,
        "verify takes the path of a file, not None",
    ),
    "verify for a file": (
        lambda: any_.verify("a.zip", "t.json"),
        WrongType,
        r"Vocabulary.load\('t.json'\)",
    ),
    "to_gbnf of a text": (lambda: any_.to_gbnf("a"), WrongType, "to_gbnf takes a Grammar"),
    # models and the notebook
    "load_model of a number": (
        lambda: any_.load_model(3),
        WrongType,
        "load_model takes the path of a file",
    ),
    "generate with a name": (
        lambda: any_.generate("model", "prompt", GRAMMAR),
        WrongType,
        r"load it with workbench.load_model\(",
    ),
    "step with a name": (
        lambda: any_.step("model", "prompt", GRAMMAR),
        WrongType,
        r"load it with workbench.load_model\(",
    ),
    "Workbench with a name": (
        lambda: any_.Workbench("model", GRAMMAR, "prompt"),
        WrongType,
        r"load it with workbench.load_model\(",
    ),
    "a processor of a grammar": (
        lambda: any_.GrammarLogitsProcessor(GRAMMAR),
        WrongType,
        r"workbench.compile\(grammar, vocabulary\)",
    ),
    "write_report of a file": (
        lambda: any_.write_report("t.json", "a.html", vocabulary=BYTES),
        WrongType,
        r"Trace.load\('t.json'\)",
    ),
    "write_report of a grammar": (
        lambda: any_.write_report(TRACE, "a.html", vocabulary=BYTES, grammar=GRAMMAR),
        WrongType,
        "write_report takes a CompiledGrammar",
    ),
}


def _endless() -> dict[str, Any]:
    schema: dict[str, Any] = {}
    schema["not"] = schema
    return schema


@pytest.mark.parametrize("name", WRONG)
def test_wrong_in_one_sentence_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, kind, words = WRONG[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind) as caught:
            call()
    assert isinstance(caught.value, wb.WorkbenchError | ValueError)
    message = str(caught.value)
    assert re.search(words, message, re.DOTALL), message
    assert "object has no attribute" not in message
    assert list(tmp_path.iterdir()) == []


def test_every_public_function_is_asked() -> None:
    called = " ".join(WRONG)
    functions = [
        name
        for name in wb.__all__
        if not isinstance(getattr(wb, name), type)
        and name not in ("cache_info", "clear_cache", "json_text", "tool_formats")
    ]
    assert [name for name in functions if name not in called] == []


#: What stands for a schema in Python, and the schema.
MEANT: list[tuple[Any, Any]] = [
    ({"type": "integer", "minimum": np.int64(3)}, {"type": "integer", "minimum": 3}),
    (
        {"type": "integer", "minimum": np.uint8(3), "maximum": np.int16(5)},
        {"type": "integer", "minimum": 3, "maximum": 5},
    ),
    ({"type": "number", "minimum": np.float64(1.5)}, {"type": "number", "minimum": 1.5}),
    ({"const": np.float32(0.1)}, {"const": 0.1}),
    ({"const": np.float16(0.1)}, {"const": 0.1}),
    ({"const": np.bool_(True)}, {"const": True}),
    ({"const": np.str_("a")}, {"const": "a"}),
    ({"enum": np.array([1, 2])}, {"enum": [1, 2]}),
    ({"const": np.array(3)}, {"const": 3}),
    ({"const": np.array([[1], [2]])}, {"const": [[1], [2]]}),
    ({"enum": np.array([0.1], np.float32)}, {"enum": [0.1]}),
    ({"enum": ("a", "b")}, {"enum": ["a", "b"]}),
    ({"enum": UserList(["a"])}, {"enum": ["a"]}),
    ({"const": Decimal("0.5")}, {"const": 0.5}),
    ({"const": Fraction(-7, 40)}, {"const": -0.175}),
    ({"const": Fraction(6, 3)}, {"const": 2}),
    (OrderedDict(type="null"), {"type": "null"}),
    (
        MappingProxyType({"type": "array", "items": MappingProxyType({"const": 1})}),
        {"type": "array", "items": {"const": 1}},
    ),
    (np.bool_(True), True),
    (b'{"const": 1}', {"const": 1}),
    (bytearray(b'{"const": 1}'), {"const": 1}),
    ('\ufeff{"const": 1}', {"const": 1}),
    ('{"const": "\u00e9"}'.encode("utf-8-sig"), {"const": "\u00e9"}),
    ('{"const": "\u00e9"}'.encode("utf-16"), {"const": "\u00e9"}),
]


@pytest.mark.parametrize(("given", "meant"), MEANT)
def test_what_stands_for_a_schema_is_one(given: Any, meant: Any) -> None:
    grammar, wanted = (
        wb.json_schema(given, whitespace="compact"),
        wb.json_schema(meant, whitespace="compact"),
    )
    assert grammar.source == wanted.source
    texts = [
        "1",
        "2",
        "3",
        "4",
        "6",
        "0.1",
        "0.5",
        "1.5",
        "1.25",
        "-0.175",
        "true",
        "null",
        '"a"',
        '"b"',
        '"é"',
        "[[1],[2]]",
        "[1]",
        "[]",
    ]
    assert [t for t in texts if matches(grammar, t)] == [t for t in texts if matches(wanted, t)]


def test_numbers_of_numpy_are_options_too() -> None:
    one = wb.json_schema({}, max_whitespace=np.int64(3), indent=np.int64(2))
    assert one.rules.keys() == wb.json_schema({}, max_whitespace=3, indent=2).rules.keys()
    tried = matcher()
    assert tried.accept(np.int64(97)) and tried.explain(np.uint16(98)).allowed
    tried.rollback(np.int8(1))
    assert wb.coverage(wb.json_schema({"type": "integer"}), [np.int64(3)]).accepted == 1


# Commands

NO_TEXT = os.fsdecode(b"\xff\xfe\xed\xa0\x80")  # an argument that is no UTF-8
FILES: dict[str, bytes] = {
    "half.json": rb'{"title": "\ud800", "type": "object", "properties": {"\ud801": {"type": "integer"},'
    rb' "b": {"enum": ["\ud802", "x"]}}, "required": ["b"]}',
    "pattern.json": rb'{"pattern": "\ud800"}',
    "type.json": rb'{"$ref": "#/$defs/\ud800", "$defs": {"\ud800": {"type": "strin\ud800"}}}',
    "bom.json": b'\xef\xbb\xbf{"type": "integer"}',
    "wide.gbnf": 'root ::= "a"\n  | "é"'.encode("utf-16"),
    "a.gbnf": b'root ::= "a" | "b"',
    "half.gbnf": b'root ::= "\xed\xa0\x80"',
    "w3c.gbnf": b"Char ::= #x9 | #xA",
    "json.gbnf": b'{"type": "string"}',
    "start.lark": b'start: "a"',
    "a.regex": b"\xef\xbb\xbf(?s)[[:alpha:]].",
    "deep.json": b'{"not":' * 3_000 + b"{}" + b"}" * 3_000,
    "list.json": b"[1]",
    "examples.json": rb'["\ud800", {"b": "\ud801"}, {"b": "x"}]',
    "tests.json": rb'{"accept": [{"b": "x"}], "reject": ["\ud800"]}',
    "fails.json": rb'{"accept": ["\ud800"]}',
    "odd.json": b'{"accept": 3}',
    "numbers.json": b'\xef\xbb\xbf{"accept": ["1"], "reject": ["a"]}',
}

#: Command, exit code, and words of its one line on standard error (none: it works).
COMMANDS: list[tuple[list[str], int, str]] = [
    (["check", "half.json"], 0, ""),
    (["check", "bom.json"], 0, ""),
    (["check", "wide.gbnf"], 0, ""),
    (["check", "a.regex"], 0, ""),
    (["check", "pattern.json"], 2, r"'\\ud800' is not supported: U\+D800 is half"),
    (["check", "type.json"], 2, r"is not a type"),
    (["check", "half.gbnf"], 2, "half.gbnf is not a text: byte 0xed at offset 10"),
    (["check", "w3c.gbnf"], 2, "the EBNF of W3C specifications"),
    (["check", "json.gbnf"], 2, "this is JSON, not GBNF"),
    (["check", "start.lark"], 2, "a grammar for Lark is not read; write it as GBNF"),
    (["check", "deep.json"], 2, "500 schema nesting levels; simplify it there$"),
    (["check", "list.json"], 2, r"an object or a boolean, not \[1\]"),
    (["check", "no.json"], 2, "cannot read no.json"),
    (["check", "."], 2, "the suffix does not say what it is"),
    (["check", NO_TEXT], 2, r"\\udcff.*the suffix does not say"),
    (["check", f"{NO_TEXT}.json"], 2, r"cannot read \\udcff"),
    (["check", "bom.json", "--tokenizer", NO_TEXT], 2, r"there is no file or folder '\\udcff"),
    (["check", "bom.json", "--tokenizer", "bom.json"], 2, "no tokenizer.json: it has no model"),
    (
        ["check", "bom.json", "--tokenizer", "."],
        2,
        "holds no tokenizer.json, and transformers finds no",
    ),
    (
        ["check", "half.json", "--budget", "schemas=1"],
        2,
        r"schemas=2\) for the front end \(here: --budget schemas=NUMBER\)",
    ),
    (["check", "half.json", "--budget", "schemas=100"], 0, ""),
    (["check", "a.gbnf", "--budget", "positions=1"], 2, r"here: --budget positions=NUMBER"),
    (["dead-ends", "half.json"], 0, ""),
    (["dead-ends", "half.json", "--json"], 0, ""),
    (["dead-ends", "half.json", "--examples", "examples.json"], 0, ""),
    (["dead-ends", "bom.json", "--examples", "odd.json"], 2, "examples are a list"),
    (["dead-ends", "type.json"], 2, "is not a type"),
    (["dead-ends", "list.json"], 2, "must be an object or a boolean"),
    (["dead-ends", "json.gbnf"], 2, "this is JSON, not GBNF"),
    (["dead-ends", "bom.json", "--tokenizer", NO_TEXT], 2, "there is no file or folder"),
    (["why", "a.gbnf", NO_TEXT], 1, ""),
    (["why", "a.gbnf", NO_TEXT, "--json"], 1, ""),
    (["why", "half.json", "\ud800"], 1, ""),
    (["why", "half.json", NO_TEXT, "--json"], 1, ""),
    (["why", "a.gbnf", "a", "--after", NO_TEXT], 2, "none of the grammar's"),
    (["why", "a.gbnf", "a", "--after", "\ud800"], 2, "none of the grammar's"),
    (["why", "a.gbnf", "id:x"], 2, "write id: and a number"),
    (["why", "a.gbnf", "id:-1"], 2, "token id -1 is not in"),
    (["coverage", "half.json", "examples.json"], 0, ""),
    (["coverage", "half.json", "examples.json", "--json"], 0, ""),
    (["coverage", "half.json", "odd.json"], 2, "examples are a list"),
    (["coverage", "a.gbnf", NO_TEXT], 2, r"cannot read \\udcff"),
    (["coverage", "a.gbnf", "half.gbnf"], 2, "is not a text"),
    (["profile", NO_TEXT], 2, r"cannot read \\udcff"),
    (["profile", "a.gbnf"], 2, "this is not a trace"),
    (["profile", "half.json"], 2, "this is not a trace"),
    (["export", "half.json", "o.zip", "--tests", "tests.json", "--title", NO_TEXT], 0, ""),
    (
        [
            "export",
            "half.json",
            "o",
            "--tests",
            "tests.json",
            "--target",
            "gbnf",
            "--target",
            "json_schema",
            "--target",
            "python",
            "--target",
            "report",
        ],
        0,
        "",
    ),
    (["export", "half.json", "f.zip", "--tests", "fails.json"], 1, ""),
    (["export", "bom.json", "n.zip", "--tests", "numbers.json"], 0, ""),
    (["export", "bom.json", "o.zip", "--tests", "odd.json"], 2, "examples are a list"),
    (["export", "bom.json", "o.zip", "--tests", NO_TEXT], 2, r"cannot read \\udcff"),
    (["export", "bom.json", "no/o.zip", "--tests", "numbers.json"], 2, "cannot write no/o.zip"),
    (
        ["export", "bom.json", "o", "--tests", "numbers.json", "--target", NO_TEXT],
        2,
        "targets are gbnf",
    ),
    (
        [
            "export",
            "bom.json",
            "o",
            "--tests",
            "numbers.json",
            "--target",
            "trace",
            "--trace",
            "a.gbnf",
        ],
        2,
        "this is not a trace",
    ),
    (["verify", NO_TEXT], 2, r"\\udcff.*cannot be read"),
    (["verify", "a.gbnf"], 2, "is no zip file"),
    (["verify", "."], 2, "cannot be read"),
    (["demo", "--model", "/no/where"], 2, "there is no folder /no/where"),
    (["bench", "masks", "--tokenizer", NO_TEXT], 2, r"cannot read \\udcff"),
    (["bench", "growth", "--tokenizer", NO_TEXT], 2, r"cannot read \\udcff"),
    (
        ["bench", "maskbench", "--data", NO_TEXT, "--tokenizer", "bom.json"],
        2,
        "is no tokenizer.json",
    ),
]


def _run(command: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Exit code, standard output and error, over streams that take UTF-8 alone, as those of a terminal."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors="strict") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    code = main(command)
    texts = []
    for stream in streams:
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        texts.append(buffer.getvalue().decode("utf-8"))
    return code, texts[0], texts[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code", "words"), COMMANDS, ids=[ascii(" ".join(c)) for c, _, _ in COMMANDS]
)
def test_no_command_ends_in_a_traceback(
    command: list[str], code: int, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, out, err = _run(command, monkeypatch)
    assert (found, bool(err)) == (code, code == 2), err
    if words:
        lines = err.splitlines()
        assert lines[0].startswith("workbench: ")
        assert len(lines) <= 4, err  # a picture of the place in two lines, and a hint, may follow
        assert re.search(words, lines[0]), err
    assert "Traceback" not in out + err


def test_a_bundle_of_half_a_pair_proves_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _run(["export", "half.json", "o.zip", "--tests", "tests.json"], monkeypatch)[0] == 0
    assert wb.verify("o.zip").ok


def test_raw_bytes_of_an_argument_are_bytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "raw.gbnf").write_text(r'root ::= b"\xff\xfe"', encoding="utf-8")
    assert _run(["why", "raw.gbnf", os.fsdecode(b"\xff")], monkeypatch)[0] == 0
    assert (
        _run(
            ["why", "raw.gbnf", os.fsdecode(b"\xfe"), "--after", os.fsdecode(b"\xff")], monkeypatch
        )[0]
        == 0
    )
