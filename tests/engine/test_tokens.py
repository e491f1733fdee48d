"""Tokens as terminals of a grammar: by id, by name, sets, all but some; beside tokens spelled in bytes.

The expected masks come from a recogniser of its own: texts as sequences of tokens, tried one by one.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.grammar.ir import Alt, Expr, Grammar, Literal, Ref, Repeat, Seq, Token

TOKENS = [b"a", b"b", b"ab", b"", b"", b"ba", b""]
THINK, END, EOS = 3, 4, 6
VOCABULARY = wb.Vocabulary.from_bytes(
    TOKENS, EOS, special_ids=[THINK, END], special_names={THINK: "<think>", END: "</think>"}
)


def ends(expr: Expr, rules: dict[str, Expr], text: tuple[int, ...], at: int) -> set[int]:
    """Where an expression may end that begins at ``at`` in a text of symbols (bytes, 1000 + token id)."""
    if isinstance(expr, Literal):
        stop = at + len(expr.data)
        return {stop} if text[at:stop] == tuple(expr.data) else set()
    if isinstance(expr, Token):
        ids = set(expr.ids or ())
        ids |= {THINK} if "<think>" in expr.names else set()
        ids |= {END} if "</think>" in expr.names else set()
        if expr.negated:
            ids = set(range(len(TOKENS))) - ids - {EOS}
        return {at + 1} if at < len(text) and text[at] - 1000 in ids else set()
    if isinstance(expr, Seq):
        here = {at}
        for item in expr.items:
            here = {stop for start in here for stop in ends(item, rules, text, start)}
        return here
    if isinstance(expr, Alt):
        return {stop for item in expr.items for stop in ends(item, rules, text, at)}
    if isinstance(expr, Repeat):
        assert expr.min == 0
        assert expr.max is None
        found, todo = {at}, [at]
        while todo:
            for stop in ends(expr.item, rules, text, todo.pop()):
                if stop not in found:
                    found.add(stop)
                    todo.append(stop)
        return found
    assert isinstance(expr, Ref)
    return ends(rules[expr.name], rules, text, at)


def readings(tokens: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All texts of symbols that a sequence of tokens may stand for."""
    ways = [
        [(1000 + token,)] + ([tuple(TOKENS[token])] if TOKENS[token] else []) for token in tokens
    ]
    return [tuple(s for part in way for s in part) for way in product(*ways)]


def complete(rules: dict[str, Expr], tokens: tuple[int, ...]) -> bool:
    return any(len(t) in ends(rules["root"], rules, t, 0) for t in readings(tokens))


def token(*ids: int, negated: bool = False, names: tuple[str, ...] = ()) -> Token:
    return Token(ids or None, names, negated)


a, b = Literal(b"a"), Literal(b"b")
GRAMMARS: dict[str, dict[str, Expr]] = {
    "by name": {"root": Seq((Token(names=("<think>",)), Repeat(a, 0, None), token(END), b))},
    "a set": {"root": Seq((token(0, THINK), token(1, 2, END), a))},
    "all but": {"root": Seq((Repeat(token(END, negated=True), 0, None), token(END), a))},
    "any": {"root": Seq((token(negated=True), a, token(negated=True)))},
    "as bytes or as itself": {"root": Seq((Alt((a, token(0, 2))), Alt((b, Seq((a, a))))))},
    "in brackets": {"root": Alt((Seq((token(THINK), Ref("root"), token(END))), a))},
    "overlapping sets": {
        "root": Alt((Seq((token(0, 1), a)), Seq((token(1, 2), b)), Seq((token(2, 5), token(0)))))
    },
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_with_token_terminals(name: str) -> None:
    rules = GRAMMARS[name]
    compiled = wb.compile(Grammar(rules, "root"), VOCABULARY)
    longest = 5
    usual = [i for i in range(len(TOKENS)) if i != EOS]
    full = {t for n in range(longest + 1) for t in product(usual, repeat=n) if complete(rules, t)}
    alive = {t[:n] for t in full for n in range(len(t) + 1)}
    todo: list[tuple[int, ...]] = [()]
    checked = 0
    while todo:
        prefix = todo.pop()
        matcher = compiled.matcher()
        assert matcher.accept_tokens(prefix) == len(prefix)
        mask = ids_of(mask_of(matcher))
        for i in usual:
            longer = (*prefix, i)
            if len(longer) <= longest // 2:  # what is longer may need more than the longest text
                assert (i in mask) == (longer in alive), (prefix, i)
                assert matcher.fork().accept(i) == (i in mask)
                if longer in alive:
                    todo.append(longer)
        assert (EOS in mask) == (prefix in full), prefix
        assert matcher.is_accepting == (prefix in full)
        checked += 1
    assert checked > 3


def test_long_texts_of_any_token_but_one() -> None:
    """The way reasoning is fenced: anything until the end token, then bytes again."""
    compiled = wb.compile(Grammar(GRAMMARS["all but"], "root"), VOCABULARY)
    rng = Random(1)
    matcher = compiled.matcher(max_rollback=0)
    for _ in range(500):
        assert set(ids_of(mask_of(matcher))) == set(range(len(TOKENS))) - {EOS}
        assert matcher.accept(rng.choice([0, 1, 2, 3, 5]))
    assert matcher.accept(END)
    assert ids_of(mask_of(matcher)) == [0]
    assert matcher.explain(END).reason.startswith("a special token")


def test_an_unknown_name_or_id_is_named() -> None:
    for bad, text in ((Token(names=("<nope>",)), "'<nope>'"), (token(99), "99")):
        with pytest.raises(wb.VocabularyError, match=text):
            wb.compile(Grammar({"root": bad}, "root"), VOCABULARY)
