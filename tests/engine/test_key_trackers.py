"""Strings that may not spell some texts, tracked while they are read, in any spelling that JSON has.

The oracle is ``json.loads``: a string is right when its value is none of the texts. A prefix is alive when
it can be finished with something that differs.
"""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.automaton.budgets import Budgets
from workbench.frontends.json_schema.emit.any_value import ANY_CHARACTER
from workbench.grammar.ir import Alt, Expr, Grammar, Literal, OtherText, Ref, Repeat, Seq
from workbench.grammar.json_strings import other_texts
from workbench.grammar.lazy import LazyRules

BODY = Repeat(ANY_CHARACTER, 0, None)
QUOTE = Literal(b'"')
TOKENS = [bytes([b]) for b in range(256)]
TOKENS += [
    b'a"',
    b'b"',
    b'ab"',
    b'"',
    b"\\u",
    b"\\u00",
    b"61",
    b"na",
    b"me",
    b'me"',
    b'"]',
    b'", "',
]
TOKENS += ["é".encode(), 'é"'.encode(), b"\\ud83d", b"\\ude00", "😀".encode(), b""]
EOS = len(TOKENS) - 1
VOCABULARY = wb.Vocabulary.from_bytes(TOKENS, EOS)
SETS = (
    ("a",),
    ("",),
    ("ab", "a", "b"),
    ("name", "né", "n"),
    ("😀", "😁a", "é"),
    ('"', "\\", "/", "\n\t\b\f\r"),
    ("", "a", "aa", "aaa", "aab"),
)


def lazy(rules: dict[str, Expr]) -> Grammar:
    return Grammar(LazyRules(rules.__getitem__, "root"), "root")


def compiled(rules: dict[str, Expr], **budgets: int) -> wb.CompiledGrammar:
    found = wb.compile(lazy(rules), VOCABULARY, Budgets(**budgets))
    assert found.automaton.watches
    return found


def spellings(rng: Random, text: str) -> str:
    """One of the spellings of a text between quotes."""
    out = []
    for char in text:
        short = json.dumps(char)[1:-1]
        ways = [short, "".join(rf"\u{unit:04x}" for unit in units(char))]
        ways.append("".join(rf"\u{unit:04X}" for unit in units(char)))
        if char not in '"\\' and ord(char) >= 0x20:
            ways += [char] * 4
        if char == "/":
            ways.append("\\/")
        out.append(rng.choice(ways))
    return "".join(out)


def units(char: str) -> list[int]:
    data = char.encode("utf-16-be")
    return [data[i] << 8 | data[i + 1] for i in range(0, len(data), 2)]


@pytest.mark.parametrize("texts", SETS)
def test_each_spelling_of_each_text(texts: tuple[str, ...]) -> None:
    content = OtherText(texts, BODY)
    one = compiled({"root": Seq((QUOTE, content, QUOTE))})
    rng = Random(0)
    pieces = sorted({*"".join(texts), *"abné😀", "\\", '"', "/"})
    tried = list(texts) + [text + rng.choice(pieces) for text in texts]
    tried += [text[:-1] for text in texts if text] + [rng.choice(pieces) for _ in range(10)]
    tried += ["".join(rng.choices(pieces, k=rng.randint(0, 4))) for _ in range(150)]
    for text in tried:
        spelled = f'"{spellings(rng, text)}"'
        assert json.loads(spelled) == text
        matcher = one.matcher()
        data = spelled.encode()
        fits = matcher.accept_tokens(data) == len(data)
        assert (fits and matcher.is_accepting) == (text not in texts), spelled
        if not fits:  # it fails at the closing quote, not before
            assert matcher.num_accepted == len(data) - 1


@pytest.mark.parametrize("texts", SETS)
def test_masks_equal_those_of_the_complement(texts: tuple[str, ...]) -> None:
    """The same language written out as an automaton, which knows no watching, gives the same masks."""
    content = OtherText(texts, BODY)
    item = Alt((Seq((QUOTE, content, QUOTE)), Seq((Literal(b"["), Ref("list"), Literal(b"]")))))
    comma = Literal(b", ")
    rules: dict[str, Expr] = {
        "root": item,
        "list": Seq((Ref("root"), Repeat(Seq((comma, Ref("root"))), 0, 3))),
    }
    plain = {
        "root": Alt((Seq((QUOTE, other_texts(texts), QUOTE)), item.items[1])),
        "list": rules["list"],
    }
    watching = compiled(rules)
    written = wb.compile(Grammar(plain, "root"), VOCABULARY)
    crowded = compiled(rules, arena_words=60_000)
    for seed in range(6):
        rng = Random(seed)
        matchers = [one.matcher() for one in (watching, written, crowded)]
        for step in range(40):
            masks = [mask_of(one) for one in matchers]
            assert np.array_equal(masks[0], masks[1]), (seed, step)
            assert np.array_equal(masks[0], masks[2]), (seed, step)
            allowed = ids_of(masks[0])
            close = [i for i in allowed if TOKENS[i].startswith((b'"', b"[", b"\\"))]
            near = [i for i in allowed if len(TOKENS[i]) > 0 and TOKENS[i].isascii()]
            token = rng.choice(rng.choice([allowed, close or allowed, near or allowed]))
            assert all(one.accept(token) for one in matchers)
            if token == EOS:
                break
            distances = [one.finish_distance() for one in matchers]
            assert distances[0] == distances[2]
            assert distances[0] is not None
            assert distances[1] is not None
            assert distances[0] <= distances[1]
            if rng.random() < 0.2:
                back = rng.randint(0, min(4, matchers[0].max_rollback))
                for one in matchers:
                    one.rollback(back)
            if rng.random() < 0.1:
                watching.engine.compact()
    assert crowded.engine.epoch >= 0


def test_vocabularies_that_cannot_spell_ascii_get_the_complement() -> None:
    rules: dict[str, Expr] = {"root": Seq((QUOTE, OtherText(("a",), BODY), QUOTE))}
    tokens = [b'"', b"a", b"b", b""]
    vocabulary = wb.Vocabulary.from_bytes(tokens, 3)
    one = wb.compile(lazy(rules), vocabulary)
    assert not one.automaton.watches
    matcher = one.matcher()
    assert matcher.accept_tokens([0, 1]) == 2
    assert ids_of(mask_of(matcher)) == [1, 2]
