"""The same structural tags in XGrammar: each text is allowed by both, or by neither."""

from __future__ import annotations

import json
from functools import lru_cache
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
from tests.frontends.tags.verdicts import (
    KNOWS_ALL,
    is_deliberate,
    texts_for,
    their_compiler,
    they_accept,
    we_accept,
)
from workbench.frontends.tags.build import grammar_of
from workbench.vocabulary import byte_vocabulary

xgrammar = pytest.importorskip("xgrammar")
pytestmark = pytest.mark.skipif(not KNOWS_ALL, reason="these kinds need xgrammar 0.2.9")

CASES = [
    pytest.param(kind, number, id=f"{kind}-{number}")
    for kind, formats in KINDS.items()
    for number in range(len(formats))
]


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


TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": parameters}}
    for name, parameters in (("get_weather", CITY), ("noop", {"type": "object", "properties": {}}))
]


FAMILIES = "cohere deepseek_v3_2 gemma_4 glm_4_7 harmony kimi kimi_k3 llama minimax minimax_m3 qwen_3 qwen_3_coder"


@pytest.mark.parametrize("family", FAMILIES.split())
def test_the_tags_of_families_of_models(family: str) -> None:
    """What XGrammar asks of a model with tools: free text, thoughts and calls in each family's way."""
    built = xgrammar.get_model_structural_tag(family, tools=TOOLS, reasoning="enabled")
    tag = json.loads(built.model_dump_json())
    ours = wb.compile(wb.structural_tag(tag), byte_vocabulary())
    theirs = their_compiler().compile_structural_tag(tag)
    for text in texts_for(ours, ["", "so"], family):
        mine, other = we_accept(ours, text), they_accept(theirs, text)
        assert mine == other or is_deliberate(text, mine, other), text


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
