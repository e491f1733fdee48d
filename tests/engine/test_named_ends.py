"""End tokens that a grammar names inside of its texts: symbols like any other, and ends elsewhere.

The expected answers come from finite languages, listed as sequences of bytes and tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.errors import UnsatisfiableGrammar
from workbench.grammar.ir import Alt, Expr, Grammar, Literal, Repeat, Seq, Token

TOKENS = [b"a", b"b", b"ab", b"", b"", b"", b""]
#: special tokens; which of them end a text is up to the vocabulary
TURN, END, STOP, LAST = 3, 4, 5, 6
NAMES = {TURN: "<turn>", END: "<|end|>", STOP: "<stop>", LAST: "<last>"}

Symbols = tuple[int, ...]


def vocabulary(*ends: int) -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes(
        TOKENS, ends, special_ids=[TURN, END, STOP, LAST], special_names=NAMES
    )


def texts_of(expr: Expr) -> set[Symbols]:
    """All texts, as bytes and 1000 + token id."""
    if isinstance(expr, Literal):
        return {tuple(expr.data)}
    if isinstance(expr, Token):
        return {(1000 + i,) for i in expr.ids or ()}
    if isinstance(expr, Alt):
        return {text for item in expr.items for text in texts_of(item)}
    items = expr.items if isinstance(expr, Seq) else ()
    if isinstance(expr, Repeat):
        assert expr.min == 0 and expr.max is not None
        items = tuple(Alt((expr.item, Seq(()))) for _ in range(expr.max))
    found: set[Symbols] = {()}
    for item in items:
        found = {one + other for one in found for other in texts_of(item)}
    return found


def symbols_of(token: int) -> Symbols:
    return tuple(TOKENS[token]) or (1000 + token,)


class Oracle:
    """What a text of tokens may go on with, by the list of all texts."""

    def __init__(self, expr: Expr, ends: Sequence[int]) -> None:
        self.full = texts_of(expr)
        self.alive = {text[:n] for text in self.full for n in range(len(text) + 1)}
        self.ends = ends

    def goes_on(self, before: Symbols, token: int) -> bool:
        return before + symbols_of(token) in self.alive

    def allowed(self, before: Symbols) -> set[int]:
        found = {token for token in range(len(TOKENS)) if self.goes_on(before, token)}
        return found | (set(self.ends) if before in self.full else set())

    def stops(self, before: Symbols, token: int) -> bool:
        """Whether a token that is allowed ends the text."""
        if token not in self.ends or before not in self.full:
            return False
        if not self.goes_on(before, token):
            return True
        return not any(not self.goes_on(before, end) for end in self.ends)


def held(expr: Expr, *ends: int) -> set[Symbols]:
    """Walk all that the masks allow, against the oracle; returns the texts that were ended."""
    oracle, tokens = Oracle(expr, ends), vocabulary(*ends)
    compiled = wb.compile(Grammar({"root": expr}, "root"), tokens)
    done: set[Symbols] = set()
    todo: list[tuple[Symbols, wb.Matcher]] = [((), compiled.matcher())]
    while todo:
        before, matcher = todo.pop()
        allowed = set(ids_of(mask_of(matcher)))
        assert allowed == oracle.allowed(before), (expr, ends, before)
        assert matcher.is_accepting == (before in oracle.full)
        assert (matcher.finish_distance() == 0) <= (
            before in oracle.full or any(before + s in oracle.alive for s in named())
        )
        for token in range(len(TOKENS)):
            probe = matcher.fork()
            assert matcher.validate([token]) == (token in allowed)
            assert probe.accept(token) == (token in allowed)
            if token not in allowed:
                continue
            stops = oracle.stops(before, token)
            assert probe.is_terminated == stops, (expr, ends, before, token)
            told = matcher.explain(token)
            assert told.allowed and (told.reason == "the text is complete") == stops
            if stops:
                done.add(before)
                assert not ids_of(mask_of(probe)) and not probe.accept(token)
            else:
                todo.append((before + symbols_of(token), probe.fork()))
            probe.rollback()
            assert set(ids_of(mask_of(probe))) == allowed and not probe.is_terminated
            (taken,) = wb.accept_all([probe], [token])
            assert taken and probe.is_terminated == stops
    assert done <= oracle.full
    if len(oracle.full) and not set(ends) <= {i for text in oracle.full for i in named_in(text)}:
        assert done == oracle.full, (expr, ends)
    return done


def named() -> list[Symbols]:
    return [(1000 + token,) for token in NAMES]


def named_in(text: Symbols) -> set[int]:
    return {symbol - 1000 for symbol in text if symbol >= 1000}


def at_random(rng: Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.2:
        ids = rng.sample([TURN, END, END, STOP], rng.randint(1, 2))
        return rng.choice([Literal(b"a"), Literal(b"b"), Token(tuple(ids)), Token((END,))])
    items = tuple(at_random(rng, depth - 1) for _ in range(rng.randint(2, 3)))
    match rng.randrange(4):
        case 0:
            return Alt(items)
        case 1:
            return Seq((items[0], Repeat(Seq(items[1:]), 0, rng.randint(1, 2))))
        case _:
            return Seq(items)


@pytest.mark.parametrize("ends", [(END,), (END, STOP), (END, LAST), (END, STOP, LAST)])
@pytest.mark.parametrize("seed", range(30))
def test_grammars_at_random(seed: int, ends: tuple[int, ...]) -> None:
    rng = Random(seed)
    while True:
        expr = at_random(rng, 3)
        if len(texts_of(expr)) <= 60:
            break
    assert held(expr, *ends)


A, B, NAMED = Literal(b"a"), Literal(b"b"), Token((END,))


def test_a_text_goes_on_behind_an_end_that_is_named() -> None:
    assert held(Seq((A, NAMED, B)), END) == {(97, 1000 + END, 98)}
    matcher = wb.compile(wb.gbnf('root ::= "a" <|end|> "b"'), vocabulary(END, LAST)).matcher()
    assert matcher.accept_tokens([0, END, 1, LAST]) == 4
    assert matcher.is_terminated


def test_turns_of_a_chat() -> None:
    """Each turn ends with the token that ends the last one, too: behind a whole turn it ends the text."""
    grammar = wb.gbnf("root ::= (<turn> [ab]+ <|end|>)+")
    matcher = wb.compile(grammar, vocabulary(END)).matcher()
    for token in (TURN, 0, END, TURN, 2, END):
        assert matcher.accept(token) and not matcher.is_terminated
    assert ids_of(mask_of(matcher)) == [TURN, END]
    assert matcher.accept(END) and matcher.is_terminated


def test_what_may_go_on_and_may_end() -> None:
    both = Seq((A, Repeat(Seq((NAMED, B)), 0, 1)))
    # one end token: it ends what is complete, else nothing could
    assert held(both, END) == {(97,)}
    # another one ends the text, so that each text can be ended
    assert held(both, END, LAST) == texts_of(both)


def test_forced_tokens_and_bytes() -> None:
    grammar = wb.gbnf('root ::= "a" <|end|> "b"')
    matcher = wb.compile(grammar, vocabulary(END)).matcher()
    assert matcher.forced_tokens() == [0, END, 1, END]
    assert matcher.forced_bytes() == b"a"
    either = wb.compile(wb.gbnf('root ::= "a" (<turn> | "b")'), vocabulary(END)).matcher()
    assert either.forced_bytes() == b"a"


def test_a_history_that_was_cut_is_gone_back_in() -> None:
    grammar = wb.gbnf('root ::= ("a" <|end|>)+ "b"')
    matcher = wb.compile(grammar, vocabulary(END, LAST)).matcher(max_rollback=6)
    for _ in range(40):
        assert matcher.accept(0) and matcher.accept(END)
    for n in (1, 2, 3):
        matcher.rollback(n)
    assert matcher.token_ids == []
    assert ids_of(mask_of(matcher)) == [0, 1]


def test_why_and_dead_ends_read_on_behind_a_named_end() -> None:
    compiled = wb.compile(wb.gbnf('root ::= "a" <|end|> "b"'), vocabulary(END, LAST))
    matcher = compiled.matcher()
    assert matcher.accept_tokens([0, END]) == 2
    why = wb.explain(matcher, 0)
    assert why.terms == "author" and not why.allowed
    assert [end.allowed for end in wb.explain(matcher, END).ends] == [False, False]
    matcher.rollback()
    assert wb.explain(matcher, END).sentence == "the grammar names this token here"
    assert not wb.dead_ends(compiled).findings
    stuck = wb.dead_ends(wb.gbnf('root ::= "a" <|end|> "bb"'), lacking_b())
    (finding,) = [finding for finding in stuck if finding.kind == "empty mask"]
    assert finding.token_ids == (0, END)


def lacking_b() -> wb.Vocabulary:
    tokens = [b"a", b"ba", b"ab", *TOKENS[3:]]
    return wb.Vocabulary.from_bytes(
        tokens, [END], special_ids=[TURN, END, STOP, LAST], special_names=NAMES
    )


def test_rows_of_a_batch_go_on_and_end_each_by_itself() -> None:
    compiled = wb.compile(wb.gbnf('root ::= "a" <|end|> "b" | "a"'), vocabulary(END, LAST))
    rows = [compiled.matcher() for _ in range(3)]
    for token in (0, END):
        assert wb.accept_all(rows, [token] * 3).all()
    wb.rollback_all(rows[2:])
    assert wb.accept_all(rows, [1, LAST, LAST]).tolist() == [True, False, True]
    assert [row.is_terminated for row in rows] == [False, False, True]
    mask = wb.empty_mask(compiled.vocabulary, 3)
    wb.fill_masks(rows, mask)
    bits = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")
    assert [np.flatnonzero(row).tolist() for row in bits] == [[END, LAST], [1], []]


def test_a_grammar_of_nothing_but_ends() -> None:
    assert held(NAMED, END) == {(1000 + END,)}
    assert held(Repeat(NAMED, 0, 2), END) == {()}
    with pytest.raises(UnsatisfiableGrammar):
        wb.compile(Grammar({"root": Alt(())}, "root"), vocabulary(END))
