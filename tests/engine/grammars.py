"""Random grammars, vocabularies and texts for the tests of the engine.

One :class:`Maker` draws everything from a function ``pick(low, high)``: a hypothesis draw, so that a
failure shrinks, or ``random.Random(seed).randint``, so that two processes see the same cases. The
alphabet is tiny, so that rules meet often; recipes plant the shapes that engines get wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

from tests.oracle import Oracle, utf8_sequences
from workbench.automaton.budgets import Budgets
from workbench.grammar import ir
from workbench.grammar.ir import (
    EMPTY,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Ref,
    Repeat,
    Seq,
    walk,
)
from workbench.vocabulary.vocabulary import Vocabulary

T = TypeVar("T")

NAMES = ("root", "A", "B", "C", "D")
LETTERS = b"abc"
WIDE = sum(1 << b for b in b"abcdefghijk")  # wide enough for a slice of the vocabulary
TEXT = CharSet(((0x61, 0x6B), (0x80, 0x10FFFF)))
TEXT_TOKENS = ("é", "中", "a😀", "ßb", "é)", "\U0010ffff", "ab中(")
CHAR_SETS = (
    ((0xE8, 0xEA),),  # two bytes, one lead
    ((0x7E, 0x81),),  # from one byte to two
    ((0x61, 0x62), (0x4E2D, 0x4E2E)),  # three bytes, beside letters
    ((0xD7FE, 0xE001),),  # across the surrogates
    ((0xFFFE, 0x10001),),  # from three bytes to four
    ((0x1F600, 0x1F601),),
)


@dataclass(frozen=True)
class Case:
    """A grammar with the tokens to spell it; ``seed`` starts the walks.

    ``budgets`` (names and limits) decides what is copied, counted and determinised, which no mask
    may show.
    """

    grammar: Grammar
    tokens: tuple[bytes, ...]
    eos_ids: tuple[int, ...]
    special_ids: tuple[int, ...] = ()
    width: int | None = None
    seed: int = 0
    recipes: tuple[str, ...] = field(default=(), compare=False)
    budgets: tuple[tuple[str, int], ...] = ()

    def limits(self) -> Budgets:
        return Budgets(**dict(self.budgets))

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.from_bytes(
            self.tokens, eos_ids=self.eos_ids, special_ids=self.special_ids, width=self.width
        )

    def oracle(self) -> Oracle:
        return Oracle(self.grammar, self.tokens, self.eos_ids, self.special_ids)


class Maker:
    """Builds random cases; 0 is always the simplest pick.

    ``regular`` leaves out Ref and Graph, ``wide`` puts in large classes.
    """

    def __init__(
        self, pick: Callable[[int, int], int], regular: bool = False, wide: bool = False
    ) -> None:
        self.pick = pick
        self.regular = regular
        self.wide = wide
        self.names: tuple[str, ...] = NAMES[:1]

    def chance(self, percent: int) -> bool:
        return self.pick(0, 99) >= 100 - percent

    def one(self, options: Sequence[T]) -> T:
        return options[self.pick(0, len(options) - 1)]

    # Expressions

    def letter(self) -> Literal:
        return Literal(bytes([self.one(LETTERS)]))

    def atom(self) -> Expr:
        kind = self.pick(0, 9)
        if kind < 5:
            return self.letter()
        if kind < 7:
            return Literal(bytes(self.one(b"abc()") for _ in range(self.pick(1, 3))))
        if kind < 9:
            return ByteSet(sum(1 << b for b in LETTERS if self.chance(60)) or 1 << ord("a"))
        if self.wide and self.chance(40):
            return ByteSet(WIDE)
        return CharSet(self.one(CHAR_SETS))

    def ref(self) -> Expr:
        return self.atom() if self.regular else Ref(self.one(self.names))

    def bounds(self, most: int) -> tuple[int, int | None]:
        least = self.pick(0, most)
        return least, None if self.chance(25) else least + self.pick(0, most)

    def repeat(self, item: Expr, most: int = 3) -> Repeat:
        return Repeat(item, *self.bounds(most))

    def graph(self, depth: int) -> ir.Graph:
        n = self.pick(1, 3)
        edges = tuple(
            (self.pick(0, n - 1), self.expr(depth - 1), self.pick(0, n - 1))
            for _ in range(self.pick(1, 4))
        )
        finals = tuple(s for s in range(n) if self.chance(60)) or (n - 1,)
        return ir.Graph(n, 0, finals, edges)

    def expr(self, depth: int) -> Expr:
        kind = self.pick(0, 10 if depth < 1 else 19 - self.regular)
        if kind < 6:
            return self.atom()
        if kind < 10:
            return self.ref()
        if kind == 10:
            return EMPTY
        if kind < 13:
            return Seq(tuple(self.expr(depth - 1) for _ in range(self.pick(1, 3))))
        if kind < 16:
            return Alt(tuple(self.expr(depth - 1) for _ in range(self.pick(1, 3))))
        if kind < 19:
            return self.repeat(self.expr(depth - 1))
        return self.graph(depth)

    # Rules

    def rule_random(self, name: str) -> Expr:
        sides = [self.atom()] if self.chance(70) else []
        for _ in range(self.pick(1, 3)):
            sides.append(Seq(tuple(self.expr(2) for _ in range(self.pick(1, 4)))))
        return Alt(tuple(sides))

    def rule_operators(self, name: str) -> Expr:
        me = Ref(name)
        bracket = Seq((Literal(b"("), me, Literal(b")")))
        base = self.atom() if self.chance(70) else Alt((self.letter(), self.ref()))
        return Alt((Seq((me, self.atom(), me)), bracket, base))

    def rule_doubling(self, name: str) -> Expr:
        me = Ref(name)
        sides: list[Expr] = [Seq((me,) * self.pick(2, 3)), self.atom()]
        return Alt((*sides, EMPTY) if self.chance(30) else tuple(sides))

    def rule_hidden_left(self, name: str) -> Expr:
        nothing = Alt((EMPTY, self.letter()))
        first = nothing if self.chance(50) else Repeat(self.expr(1), 0, self.pick(1, 2))
        return Alt((Seq((first, Ref(name), self.atom())), self.atom()))

    def rule_left(self, name: str) -> Expr:
        return Alt((Seq((Ref(name), self.expr(1))), self.atom(), Seq((self.ref(), self.letter()))))

    def rule_mutual(self, name: str) -> Expr:
        return Alt((Seq((self.ref(), self.letter())), Seq((self.ref(), self.atom())), self.atom()))

    def rule_unit_cycle(self, name: str) -> Expr:
        return Alt((self.ref(), Ref(name), self.expr(1), self.atom()))

    def rule_nested(self, name: str) -> Expr:
        inner = Alt((Ref(name), self.expr(1))) if self.chance(50) else Ref(name)
        return Alt((Seq((Literal(b"("), inner, Literal(b")"))), self.atom(), self.expr(1)))

    def rule_list(self, name: str) -> Expr:
        item = Alt((Ref(name), self.atom(), self.ref()))
        rest = self.repeat(Seq((Literal(b"c"), item)))
        return Seq((Literal(b"("), Repeat(Seq((item, rest)), 0, 1), Literal(b")")))

    def rule_palindrome(self, name: str) -> Expr:
        sides = [Seq((x, Ref(name), x)) for x in (Literal(b"a"), Literal(b"b"))]
        return Alt((*sides, self.expr(1), EMPTY))

    def rule_counted(self, name: str) -> Expr:
        body = self.expr(1)
        if self.chance(40):
            body = Repeat(body, 0, 1)
        inner = self.repeat(Seq((body, self.letter())) if self.chance(50) else body)
        return Seq((self.repeat(inner, 2), self.expr(1)))

    def rule_far(self, name: str) -> Expr:
        bodies = (self.atom(), Alt((Literal(b"ab"), Literal(b"c"))), Seq((self.letter(),) * 2))
        least = self.one((0, 1, 8, 13))
        most = None if self.chance(15) else least + self.one((0, 1, 9, 14))
        end = self.expr(1) if self.chance(50) else Literal(b")")
        return Seq((Repeat(self.one(bodies), least, most), end))

    def rule_text(self, name: str) -> Expr:
        """A quoted text, now and then of any characters."""
        item: Expr = self.letter()
        if self.wide:
            item = TEXT if self.chance(10) else ByteSet(WIDE)
        least = self.pick(0, 2)
        inside = Repeat(item, least, least + self.pick(0, 12) if self.chance(40) else None)
        return Alt((Seq((Literal(b"("), inside, Literal(b")"))), self.atom(), self.expr(1)))

    def rule_deep_counts(self, name: str) -> Expr:
        """Counters that wait on the stack while the same rule counts anew."""
        body = Alt((self.letter(), Seq((Literal(b"("), Ref(name), Literal(b")")))))
        return Repeat(body, self.pick(0, 3), None if self.chance(20) else self.pick(3, 7))

    def rule_dead(self, name: str) -> Expr:
        dead = self.one((Seq((Literal(b"a"), Ref(name))), ir.NEVER, ByteSet(0), CharSet(())))
        return dead if self.chance(40) else Alt((dead, self.atom()))

    def grammar(self) -> tuple[Grammar, tuple[str, ...]]:
        """One to five rules; the start rule is never planted dead."""
        self.names = NAMES[: self.pick(1, len(NAMES))]
        recipes = []
        rules: dict[str, Expr] = {}
        for name in self.names:
            recipe = self.one(RECIPES if name != NAMES[0] else RECIPES[:-1])
            recipes.append(recipe.__name__.removeprefix("rule_"))
            rules[name] = recipe(self, name)
        return Grammar(rules, NAMES[0]), tuple(recipes)

    def budgets(self) -> tuple[tuple[str, int], ...]:
        """The defaults; or nothing copied, repetitions counted, states left nondeterministic, and
        the memory so short that things are forgotten and moved in the middle of a walk.
        """
        limits = (("inlining", 0), ("expansion", self.one((2, 5))), ("deterministic_states", 4))
        limits += (("arena_words", 1 << 17), ("row_bytes", 1 << 14))
        return tuple(limit for limit in limits if self.chance(40))

    # Vocabularies

    def case(self) -> Case:
        """A grammar with a vocabulary in which a byte is a token of its own, or in no token."""
        for _ in range(2):  # small languages are wanted, though not in half of the cases
            grammar, recipes = self.grammar()
            alphabet = sorted(used_bytes(grammar) | {ord("a")})
            kept = [b for b in alphabet if not self.chance(5)] or alphabet[:1]
            tokens = [bytes([b]) for b in kept]
            texts = language(Oracle(grammar, tokens), 8, 100)
            if len(texts) > 8:
                break
        longest = self.one((2, 3, 4, 6))
        for _ in range(self.pick(2, 12)):
            if texts and self.chance(60):
                text = self.one(texts)
                start = self.pick(0, len(text))
                tokens.append(text[start : start + longest])
            else:
                tokens.append(bytes(self.one(kept) for _ in range(self.pick(2, longest))))
        if 0xF4 in kept:
            texts = [text.encode() for text in TEXT_TOKENS]
            tokens += [t for t in texts + [t[:-1] for t in texts] if set(t) <= set(kept)]
        tokens += [self.one(tokens) for _ in range(self.pick(0, 2))]  # ids with equal bytes
        tokens += [b"z", b"z" + bytes(kept[:1]), b""][: self.pick(0, 3)]
        n_special, n_eos = self.pick(0, 2), self.pick(1, 2)
        hidden = [self.one((b"", b"<s>", b"a", bytes(alphabet))) for _ in range(n_special + n_eos)]
        marked = [(t, "") for t in tokens] + [(t, "hidden") for t in hidden]
        for i in range(len(marked) - 1, 0, -1):
            j = i - self.pick(0, i)
            marked[i], marked[j] = marked[j], marked[i]
        hidden_ids = [i for i, (_, mark) in enumerate(marked) if mark]
        return Case(
            grammar,
            tuple(t for t, _ in marked),
            eos_ids=tuple(hidden_ids[:n_eos]),
            special_ids=tuple(hidden_ids[n_eos:]),
            width=None if self.chance(50) else len(marked) + self.pick(0, 40),
            seed=self.pick(0, 2**20),
            recipes=recipes,
            budgets=self.budgets(),
        )


class SmallMaker(Maker):
    """Builds cases over at most four letters, for which all texts can be listed."""

    def atom(self) -> Expr:
        kind = self.pick(0, 9)
        if kind < 5:
            return self.letter()
        if kind < 8:
            return Literal(bytes(self.one(b"abc()") for _ in range(self.pick(1, 3))))
        return ByteSet(sum(1 << b for b in LETTERS if self.chance(60)) or 1 << ord("a"))

    def case(self) -> Case:
        """A grammar with every letter as a token, some longer tokens, and one or two ends."""
        grammar, recipes = self.grammar()
        shared = self.one((b"abb()", b"aba()", b"abcab", b"abcbc", b"abbab", b"abab)", b"aaaaa"))
        table = bytes.maketrans(b"abc()", shared)
        grammar = Grammar(
            {name: translated(expr, table) for name, expr in grammar.rules.items()}, grammar.start
        )
        letters = sorted(set(shared))
        tokens = [bytes([letter]) for letter in letters]
        for _ in range(self.pick(2, 9)):
            tokens.append(bytes(self.one(letters) for _ in range(self.pick(1, 5))))
        tokens.append(b"")
        eos_ids = tuple(range(len(tokens), len(tokens) + self.pick(1, 2)))
        tokens += [b"a"] * len(eos_ids)
        return Case(
            grammar,
            tuple(tokens),
            eos_ids,
            seed=self.pick(0, 2**20),
            recipes=recipes,
            budgets=self.budgets(),
        )


def translated(expr: Expr, table: bytes) -> Expr:
    """The expression with every byte replaced by the one in the table."""
    match expr:
        case Literal(data=data):
            return Literal(data.translate(table))
        case ByteSet(mask=mask):
            return ByteSet(sum(1 << b for b in {table[b] for b in range(256) if mask >> b & 1}))
        case Seq(items=items) | Alt(items=items):
            return type(expr)(tuple(translated(item, table) for item in items))
        case Repeat(item=item, min=least, max=most):
            return Repeat(translated(item, table), least, most)
        case ir.Graph(n_states=n, start=start, finals=finals, edges=edges):
            return ir.Graph(
                n, start, finals, tuple((a, translated(x, table), b) for a, x, b in edges)
            )
    return expr


RECIPES: tuple[Callable[[Maker, str], Expr], ...] = (
    Maker.rule_random,
    Maker.rule_random,
    Maker.rule_random,
    Maker.rule_operators,
    Maker.rule_operators,
    Maker.rule_doubling,
    Maker.rule_hidden_left,
    Maker.rule_left,
    Maker.rule_mutual,
    Maker.rule_unit_cycle,
    Maker.rule_nested,
    Maker.rule_nested,
    Maker.rule_list,
    Maker.rule_palindrome,
    Maker.rule_counted,
    Maker.rule_counted,
    Maker.rule_far,
    Maker.rule_far,
    Maker.rule_deep_counts,
    Maker.rule_text,
    Maker.rule_dead,
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Random cases that hypothesis can shrink."""
    return Maker(lambda low, high: draw(st.integers(low, high)), wide=True).case()


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    """Random grammars that hypothesis can shrink."""
    return Maker(lambda low, high: draw(st.integers(low, high))).grammar()[0]


@st.composite
def regular_expressions(draw: st.DrawFn) -> Expr:
    """Random expressions without rules and graphs."""
    return Maker(lambda low, high: draw(st.integers(low, high)), regular=True).expr(3)


def seeded_case(seed: int) -> Case:
    """The case with this number, the same in every process."""
    return Maker(Random(seed).randint, wide=True).case()


def small_case(seed: int) -> Case:
    """The case over few letters with this number, the same in every process."""
    return SmallMaker(Random(seed).randint).case()


def used_bytes(grammar: Grammar) -> set[int]:
    """The bytes that the grammar's expressions name."""
    found: set[int] = set()
    for rule in grammar.rules.values():
        for part in walk(rule):
            match part:
                case Literal(data=data):
                    found.update(data)
                case ByteSet(mask=mask):
                    found.update(b for b in range(256) if mask >> b & 1)
                case CharSet(ranges=ranges):
                    for low, high in ranges:
                        for spelling in utf8_sequences(low, high):
                            found.update(b for byte_set in spelling for b in byte_set)
    return found


def language(oracle: Oracle, length: int, limit: int) -> list[bytes]:
    """Texts of at most ``length`` bytes, the shortest first, among the first ``limit`` prefixes."""
    queue = deque([b""] if oracle.alive(b"") else [])
    found = []
    while queue and limit:
        prefix = queue.popleft()
        limit -= 1
        if oracle.complete(prefix):
            found.append(prefix)
        if len(prefix) < length and len(queue) < limit:
            queue.extend(prefix + bytes([b]) for b in sorted(oracle.bytes_after(prefix)))
    return found
