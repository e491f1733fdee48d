"""The same structural tags in XGrammar: each text is allowed by both, or by neither."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import version
from itertools import product
from random import Random
from typing import Any

import pytest

import workbench as wb
from tests.frontends.tags.language import random_format
from tests.frontends.tags.structural_tags import (
    ANY,
    CALL,
    CITY,
    END,
    KINDS,
    TOKENS,
    dispatch,
    schema,
    tag,
    triggered,
)
from workbench.frontends.tags import grammar_of
from workbench.vocabulary import byte_vocabulary

xgrammar = pytest.importorskip("xgrammar")
pytestmark = pytest.mark.skipif(
    tuple(map(int, version("xgrammar").split(".")[:3])) < (0, 2, 9),
    reason="these kinds of structural tags need xgrammar 0.2.9",
)

LETTERS = [chr(byte) for byte in range(0x20, 0x7F)]
CASES = [
    pytest.param(kind, number, id=f"{kind}-{number}")
    for kind, formats in KINDS.items()
    for number in range(len(formats))
]


def walked(matcher: wb.Matcher, rng: Random, likely: str) -> bytes:
    """A random text of a grammar: likely letters more often, then the shortest way to an end."""
    text = bytearray()
    while not (matcher.is_accepting and rng.random() < 0.2):
        ids = [i for i in matcher.allowed_ids() if i < 0x7F]
        if not ids:
            break
        chosen = [i for i in ids if chr(i) in likely] if rng.random() < 0.8 else ids
        if len(text) > 40:
            chosen = [min(ids, key=lambda i: _distance(matcher, i))]
        token = rng.choice(chosen or ids)
        assert matcher.accept(token)
        text.append(token)
    return bytes(text)


def _distance(matcher: wb.Matcher, token: int) -> int:
    after = matcher.fork()
    after.accept(token)
    found = after.finish_distance()
    return 10**9 if found is None else found


def mutant(text: str, rng: Random, letters: str) -> str:
    at = rng.randint(0, len(text))
    match rng.randrange(4):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + rng.choice(letters) + text[at:]
        case 2:
            return text[:at] + rng.choice(letters) + text[at + 1 :]
    other = rng.randint(0, len(text))
    return text[: max(at, other)] + text[min(at, other) :]


@lru_cache(maxsize=1)
def their_compiler() -> Any:
    tokens = [*(bytes([byte]) for byte in range(256)), b"<eos>"]
    info = xgrammar.TokenizerInfo(tokens, stop_token_ids=[256])
    return xgrammar.GrammarCompiler(info, max_threads=1)


def they_accept(compiled: Any, text: str) -> bool:
    matcher = xgrammar.GrammarMatcher(compiled)
    return bool(matcher.accept_string(text) and matcher.is_completed())


def we_accept(compiled: wb.CompiledGrammar, text: str) -> bool:
    matcher = compiled.matcher(max_rollback=0)
    data = text.encode()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


def texts_for(compiled: wb.CompiledGrammar, edges: list[str], seed: str) -> list[str]:
    """Fifty texts and more: at the edges, of random walks, and mutants of both."""
    rng = Random(seed)
    letters = "".join(sorted(set("".join(edges)))) or "ab"
    texts = list(edges)
    for _ in range(20):
        texts.append(walked(compiled.matcher(), rng, letters).decode())
    texts += [mutant(rng.choice(texts), rng, letters) for _ in range(30)]
    return list(dict.fromkeys(texts))


#: Integers with a fraction or an exponent are integers of JSON Schema: XGrammar writes none.
NOTATION = re.compile(r"[0-9](\.0+)?([eE][+-]?[0-9]+)?(?![0-9.])")


def is_deliberate(text: str, ours: bool, theirs: bool) -> bool:
    """Whether a text is in another notation of numbers, which we alone allow."""
    return ours and not theirs and any(any(found.groups()) for found in NOTATION.finditer(text))


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_a_text_is_allowed_by_both_or_by_neither(kind: str, number: int) -> None:
    format, edges = KINDS[kind][number]
    tag = {"type": "structural_tag", "format": format}
    ours = wb.compile(wb.structural_tag(tag), byte_vocabulary())
    theirs = their_compiler().compile_structural_tag(tag)
    verdicts = {
        text: (we_accept(ours, text), they_accept(theirs, text))
        for text in texts_for(ours, edges, f"{kind} {number}")
    }
    assert any(mine for mine, _ in verdicts.values())
    assert not {
        text: (mine, other)
        for text, (mine, other) in verdicts.items()
        if mine != other and not is_deliberate(text, mine, other)
    }


SPECIAL = wb.Vocabulary.from_bytes(
    [*(bytes([byte]) for byte in range(256)), b"", b"", b""],
    256,
    special_names={CALL: "<call>", END: "</call>"},
)


@lru_cache(maxsize=1)
def their_token_compiler() -> Any:
    tokens = [*(bytes([byte]) for byte in range(256)), b"<eos>", b"<call>", b"</call>"]
    info = xgrammar.TokenizerInfo(tokens, stop_token_ids=[256])
    return xgrammar.GrammarCompiler(info, max_threads=1)


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, i) for kind, formats in TOKENS.items() for i in range(len(formats))]
)
def test_tokens_are_allowed_by_both_or_by_neither(kind: str, number: int) -> None:
    tag = {"type": "structural_tag", "format": TOKENS[kind][number]}
    ours = wb.compile(wb.structural_tag(tag), SPECIAL)
    theirs = their_token_compiler().compile_structural_tag(tag)
    verdicts = set()
    for length in range(5):
        for ids in product([CALL, END, ord("a"), ord("b"), ord("x")], repeat=length):
            matcher = ours.matcher(max_rollback=0)
            mine = matcher.accept_tokens(ids) == len(ids) and matcher.is_accepting
            other = xgrammar.GrammarMatcher(theirs)
            assert mine == (all(map(other.accept_token, ids)) and other.is_completed()), ids
            verdicts.add(mine)
    assert verdicts == {True, False}


ONE = {"type": "const_string", "value": "1"}
TWO = {"type": "const_string", "value": "2"}
#: Formats that mean something else to us, with a text that tells it, and why.
DIFFERENT: dict[str, tuple[Any, str, bool, bool]] = {
    # free text ends where the first trigger ends: what comes then is never both free and bound
    "a trigger that begins another": (dispatch([["a", ONE], ["ab", ONE]], loop=False), "ab1", False, True),
    "a trigger inside another": (triggered(["b<", "ab<x"], [tag("b<1", ""), tag("ab<x2", "")]), "ab<", False, True),
    # required members have to come, and none comes twice
    "members in any order": (
        schema({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}, any_order=True),
        '{"a":1,"a":1}', False, True,
    ),
    # whitespace is bounded, so that a model cannot write it for ever
    "much whitespace": (schema(CITY), '{"city":' + " " * 30 + '"x"}', False, True),
    # a text that goes on to the end of the output is a text
    "a tag without an end": (tag("<", "", ANY), "<a", True, False),
    "a tag of several triggers": (triggered(["<f", "<fu"], [tag("<fu1", "")]), "<fu1x", True, False),
    "a trigger without tags": (triggered(["<f", "<g"], [tag("<f1", "")]), "a<f1x", True, False),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_where_we_differ(name: str) -> None:
    format, text, mine, other = DIFFERENT[name]
    tag = {"type": "structural_tag", "format": format}
    try:
        found = wb.match(wb.structural_tag(tag), text) is not None
    except wb.GrammarSyntaxError:  # what can never come is an error, not a grammar without it
        found = False
    try:
        theirs = they_accept(their_compiler().compile_structural_tag(tag), text)
    except RuntimeError:
        theirs = False
    assert (found, theirs) == (mine, other)


def test_what_we_write_they_read() -> None:
    """Formats of ours as their JSON: the same verdicts again."""
    read = 0
    for seed in range(40):
        format = random_format(Random(seed), 3)
        try:
            ours = wb.compile(grammar_of(format), byte_vocabulary())
            theirs = their_compiler().compile_structural_tag(wb.to_structural_tag(format))
        except (RuntimeError, wb.WorkbenchError):
            continue
        read += 1
        for letters in product("ab<", repeat=4):
            text = "".join(letters)
            assert we_accept(ours, text) == they_accept(theirs, text), (format, text)
    assert read > 20
