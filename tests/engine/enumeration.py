"""All texts of a small grammar up to a length, straight from the definition of each expression.

A set of texts over k letters is a row of booleans: those of length 0, 1, 2, ... one after the other, the
texts of one length in alphabetical order. Joining two sets is then an outer product, and the language of
a grammar the least fixed point over its rules, whatever is ambiguous, empty, left-recursive or counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
from numpy.typing import NDArray

import workbench as wb
from tests.engine.grammars import Case
from tests.engine.walks import ids_of, mask_of
from tests.oracle import Oracle
from workbench.automaton.budgets import Budgets
from workbench.grammar import ir
from workbench.grammar.ir import Alt, ByteSet, CharSet, Expr, Grammar, Literal, Ref, Repeat, Seq

Texts = NDArray[np.bool_]


class Enumeration:
    """The texts of at most ``length`` bytes over an alphabet of ASCII letters."""

    def __init__(self, alphabet: bytes, length: int) -> None:
        self.alphabet = bytes(sorted(alphabet))
        self.length = length
        sizes = [len(alphabet) ** n for n in range(length + 1)]
        self.at = [0, *itertools.accumulate(sizes)]

    def language(self, grammar: Grammar) -> frozenset[bytes]:
        """The texts of a grammar: rules are evaluated until none of them has a new text."""
        rules = dict.fromkeys(grammar.rules, self._none())
        while True:
            found = {name: self._meaning(expr, rules) for name, expr in grammar.rules.items()}
            if all(np.array_equal(found[name], rules[name]) for name in rules):
                return frozenset(self._texts(rules[grammar.start]))
            rules = found

    def _none(self) -> Texts:
        return np.zeros(self.at[-1], np.bool_)

    def _only(self, text: bytes) -> Texts:
        """The set of one text; of none when it is too long or has other letters."""
        found = self._none()
        if len(text) <= self.length and set(text) <= set(self.alphabet):
            number = 0
            for byte in text:
                number = number * len(self.alphabet) + self.alphabet.index(byte)
            found[self.at[len(text)] + number] = True
        return found

    def _texts(self, texts: Texts) -> Iterator[bytes]:
        for n in range(self.length + 1):
            for number in np.flatnonzero(texts[self.at[n] : self.at[n + 1]]).tolist():
                letters = []
                for _ in range(n):
                    number, letter = divmod(number, len(self.alphabet))
                    letters.append(self.alphabet[letter])
                yield bytes(reversed(letters))

    def _join(self, left: Texts, right: Texts) -> Texts:
        found = self._none()
        rows = [[t[a:b] for a, b in itertools.pairwise(self.at)] for t in (left, right)]
        some = [[bool(row.any()) for row in side] for side in rows]
        for i, a in enumerate(rows[0]):
            for j, b in enumerate(rows[1][: self.length + 1 - i]):
                if some[0][i] and some[1][j]:
                    found[self.at[i + j] : self.at[i + j + 1]] |= np.outer(a, b).ravel()
        return found

    def _union(self, parts: list[Texts]) -> Texts:
        return np.logical_or.reduce(parts) if parts else self._none()

    def _meaning(self, expr: Expr, rules: dict[str, Texts]) -> Texts:
        match expr:
            case Literal(data=data):
                return self._only(data)
            case ByteSet(mask=mask):
                return self._union([self._only(bytes([b])) for b in self.alphabet if mask >> b & 1])
            case CharSet(ranges=ranges):
                inside = [b for b in self.alphabet if any(low <= b <= hi for low, hi in ranges)]
                return self._union([self._only(bytes([b])) for b in inside])
            case Seq(items=items):
                texts = self._only(b"")
                for item in items:
                    texts = self._join(texts, self._meaning(item, rules))
                return texts
            case Alt(items=items):
                return self._union([self._meaning(item, rules) for item in items])
            case Ref(name=name):
                return rules[name]
            case Repeat(item=item, min=least, max=most):
                return self._repeat(self._meaning(item, rules), least, most)
            case ir.Graph():
                return self._graph(expr, rules)
        raise TypeError(expr)

    def _repeat(self, body: Texts, least: int, most: int | None) -> Texts:
        if most is not None and most < least:
            return self._none()
        power, texts, seen = self._only(b""), self._none(), set[bytes]()
        for count in itertools.count():
            if count >= least:
                texts |= power
                if count == most or power.tobytes() in seen:  # from here on the powers repeat
                    break
                seen.add(power.tobytes())
            power = self._join(power, body)
        return texts

    def _graph(self, graph: ir.Graph, rules: dict[str, Texts]) -> Texts:
        labels = [self._meaning(label, rules) for _, label, _ in graph.edges]
        reached = [self._none() for _ in range(graph.n_states)]
        reached[graph.start] |= self._only(b"")
        while True:
            before = [texts.copy() for texts in reached]
            for (source, _, target), texts in zip(graph.edges, labels, strict=True):
                reached[target] |= self._join(reached[source], texts)
            if all(map(np.array_equal, reached, before)):
                return self._union([reached[state] for state in graph.finals])


LONGEST = 8
MOST_LIVE = 3500  # texts tried; the lengths that would go beyond are left out
SAMPLES = 15
MOST_STEPS = 60  # of a way to the end; the oracle unrolls, and is slow on long texts


def enumerated(case: Case) -> int:
    """Try all texts up to a length, the longest of them that are few; returns how many are accepted.

    Exactly the listed texts are accepted; the distance to the end is that of the nearest listed text, or
    leads out of the list; every token is allowed exactly where the tree of living texts goes on. Beyond the
    list, the engine's own shortest way to an end is held against the oracle, for a sample.
    """
    alphabet = bytes(sorted({t[0] for t in case.tokens if len(t) == 1}))
    texts = Enumeration(alphabet, LONGEST).language(case.grammar)
    oracle = case.oracle()
    limits = replace(case.limits(), arena_words=Budgets().arena_words)  # a whole tree is alive
    try:
        compiled = wb.compile(case.grammar, case.vocabulary(), limits, cache=False)
    except wb.UnsatisfiableGrammar:
        assert not texts, "refused, though there are texts"
        assert oracle.empty_language
        return 0
    assert not oracle.empty_language, "compiled, though no text can complete"

    rng = Random(case.seed)
    tree = Tree(case, compiled.matcher(), rng)
    texts = frozenset(text for text in texts if len(text) <= tree.length)
    assert {text for text, ends in tree.accepting.items() if ends} == texts
    beginnings = nearest_ends(texts)
    assert set(beginnings) <= set(tree.accepting)
    for text, distance in tree.distance.items():
        if text in beginnings:
            assert distance == beginnings[text] - len(text), f"to the end of {text!r}"
        else:
            assert distance > tree.length - len(text), f"no end of {text!r} is so near"

    unlisted = [text for text in tree.accepting if text not in beginnings]
    for text in rng.sample(unlisted, min(SAMPLES, len(unlisted))):
        check_end(compiled.matcher(), oracle, spelled(case, text))
    beyond = tree.check_masks()
    for text, token_id, allowed in rng.sample(beyond, min(SAMPLES, len(beyond))):
        if allowed:
            check_end(compiled.matcher(), oracle, [*spelled(case, text), token_id])
        else:
            assert not oracle.alive(text + case.tokens[token_id])
    return len(texts)


def nearest_ends(texts: frozenset[bytes]) -> dict[bytes, int]:
    """The beginnings of texts, with the length of the shortest text that begins so."""
    found: dict[bytes, int] = {}
    for text in sorted(texts, key=len):
        for end in range(len(text), -1, -1):
            found.setdefault(text[:end], len(text))
    return found


def spelled(case: Case, text: bytes) -> list[int]:
    return [case.tokens.index(text[i : i + 1]) for i in range(len(text))]


class Tree:
    """The texts that live in the engine, level by level, and what it says of each."""

    def __init__(self, case: Case, matcher: wb.Matcher, rng: Random) -> None:
        self.case = case
        self.accepting: dict[bytes, bool] = {}
        self.distance: dict[bytes, int] = {}
        self.masks: dict[bytes, list[int]] = {}
        #: every living text of at most this length is there
        self.length = 0
        letters = {
            token: i for i, token in reversed(list(enumerate(case.tokens))) if len(token) == 1
        }
        level = {b"": matcher}
        while True:
            for text, at in level.items():
                self.accepting[text] = at.is_accepting
                self.masks[text] = ids_of(mask_of(at))
                if len(text) < 4 or rng.random() < 0.1:  # takes long
                    distance = at.finish_distance()
                    assert distance is not None
                    self.distance[text] = distance
            if self.length == LONGEST:
                break
            following = {}
            for text, at in level.items():
                for letter, token_id in letters.items():
                    fork = at.fork()
                    if fork.accept(token_id):
                        following[text + letter] = fork
            if len(self.accepting) + len(following) > MOST_LIVE:
                break
            self.length += 1
            level = following
            if rng.random() < 0.2:
                matcher.compiled.engine.compact()

    def check_masks(self) -> list[tuple[bytes, int, bool]]:
        """Every mask agrees with the tree; returns the tokens that lead out of it, allowed or not."""
        beyond = []
        for text, mask in self.masks.items():
            allowed = set(mask)
            for token_id, token in enumerate(self.case.tokens):
                if token_id in self.case.eos_ids:
                    expected = self.accepting[text]
                elif token and len(text + token) > self.length:
                    beyond.append((text, token_id, token_id in allowed))
                    continue
                else:
                    expected = token != b"" and text + token in self.accepting
                assert (token_id in allowed) == expected, f"id {token_id} after {text!r}"
            assert max(allowed, default=0) < len(self.case.tokens)
        return beyond


def check_end(matcher: wb.Matcher, oracle: Oracle, tokens: list[int]) -> None:
    """The engine's shortest way to an end leads to an end that the oracle knows."""
    assert matcher.accept_tokens(tokens) == len(tokens)
    text = b"".join(oracle.tokens[token_id] for token_id in tokens)
    letters = {t[0]: i for i, t in enumerate(oracle.tokens) if len(t) == 1}
    distance = matcher.finish_distance()
    assert distance is not None
    if distance > MOST_STEPS:
        assert oracle.alive(text)
        return
    for left in range(distance - 1, -1, -1):
        for byte in matcher.allowed_bytes():
            fork = matcher.fork()
            assert fork.accept(letters[byte])
            if fork.finish_distance() == left:
                matcher, text = fork, text + bytes([byte])
                break
        else:
            raise AssertionError(f"no letter after {text!r} leads to the end in {left} more")
    assert matcher.is_accepting
    assert oracle.complete(text), f"{text!r} is no text"
