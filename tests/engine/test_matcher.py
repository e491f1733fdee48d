"""The rest of the Matcher, against values derived by hand."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest

import workbench as wb
from tests.engine import samples
from tests.engine.samples import lit, one_of, option, quoted, star
from tests.engine.walks import ids_of, mask_of
from tests.oracle import Oracle
from workbench.grammar.ir import Alt, ByteSet, Expr, Grammar, Literal, Ref, Repeat, Seq

WORDS = [
    "a",
    "b",
    "c",
    "ab",
    "abc",
    "(",
    ")",
    "((",
    "))",
    "h",
    "e",
    "l",
    "o",
    "p",
    "he",
    "hel",
    "lo",
]
TOKENS = [*(w.encode() for w in WORDS), b'"', b"", b"</s>", b"<pad>"]
END, PAD = len(TOKENS) - 2, len(TOKENS) - 1
WIDTH = 70


def token(text: str) -> int:
    return TOKENS.index(text.encode())


def vocabulary() -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes(TOKENS, eos_ids=[END], special_ids=[PAD], width=WIDTH)


def start(expr: Expr, **rules: Expr) -> wb.Matcher:
    grammar = Grammar({"root": expr, **rules}, "root")
    return wb.compile(grammar, vocabulary()).matcher()


def spell(matcher: wb.Matcher, *words: str) -> wb.Matcher:
    for word in words:
        assert matcher.accept(token(word)), word
    return matcher


HELLO = Alt((lit("hello"), lit("help")))
NESTED = Alt((Seq((lit("("), Ref("root"), lit(")"))), lit("a")))


class TestMask:
    def test_a_bit_for_every_token_that_lives(self) -> None:
        matcher = spell(start(HELLO), "he")
        assert ids_of(mask_of(matcher)) == [token("l")]
        assert ids_of(mask_of(spell(matcher, "l"))) == [token("l"), token("p"), token("lo")]

    def test_empty_mask_has_a_word_for_32_ids(self) -> None:
        row = wb.empty_mask(vocabulary())
        assert (row.shape, row.dtype) == ((3,), np.int32)
        assert not row.any()
        assert wb.empty_mask(vocabulary(), 4).shape == (4, 3)

    def test_only_the_row_is_written(self) -> None:
        mask = np.full((3, 3), -1, np.int32)
        start(HELLO).fill_mask(mask, 1)
        assert (mask[[0, 2]] == -1).all()
        assert ids_of(mask[1]) == [token("h"), token("he"), token("hel")]

    def test_a_row_of_a_view_with_gaps(self) -> None:
        mask = np.full((4, 6), -1, np.int32)
        start(HELLO).fill_mask(mask[::2, :3], 1)
        assert ids_of(np.ascontiguousarray(mask[2, :3])) == [token("h"), token("he"), token("hel")]
        assert (mask[[0, 1, 3]] == -1).all()
        assert (mask[2, 3:] == -1).all()

    def test_a_torch_tensor_is_filled_in_place(self) -> None:
        torch = pytest.importorskip("torch")
        mask = torch.full((2, 3), -1, dtype=torch.int32)
        start(HELLO).fill_mask(mask, 1)
        assert ids_of(mask[1].numpy()) == [token("h"), token("he"), token("hel")]
        assert (mask[0] == -1).all()

    @pytest.mark.parametrize(
        "mask",
        [np.zeros(3, np.int64), np.zeros(2, np.int32), np.zeros((1, 2), np.int32), [0, 0, 0]],
        ids=["dtype", "short", "narrow", "list"],
    )
    def test_a_buffer_that_does_not_fit_is_refused(self, mask: object) -> None:
        with pytest.raises((ValueError, TypeError)):
            start(HELLO).fill_mask(mask)

    def test_a_row_that_is_not_there_is_refused(self) -> None:
        with pytest.raises((ValueError, IndexError)):
            start(HELLO).fill_mask(np.zeros((2, 3), np.int32), 2)


class TestPosition:
    def test_tokens_and_their_number(self) -> None:
        matcher = spell(start(HELLO), "he", "l")
        assert matcher.num_accepted == 2

    @pytest.mark.parametrize(
        "token_id", [token("a"), TOKENS.index(b""), PAD, END, len(TOKENS), WIDTH - 1]
    )
    def test_a_refused_id_changes_nothing(self, token_id: int) -> None:
        matcher = spell(start(HELLO), "he")
        assert not matcher.accept(token_id)
        assert matcher.num_accepted == 1
        assert ids_of(mask_of(matcher)) == [token("l")]

    def test_accept_tokens_stops_at_the_first_refused(self) -> None:
        matcher = start(HELLO)
        assert matcher.accept_tokens([token("he"), token("l"), token("a"), token("p")]) == 2
        assert matcher.num_accepted == 2

    def test_validate_changes_nothing(self) -> None:
        matcher = start(HELLO)
        draft = [token("hel"), token("p"), END, END]
        assert matcher.validate(draft) == 3
        assert matcher.validate([]) == 0
        assert matcher.validate([END]) == 0
        assert matcher.num_accepted == 0
        assert not matcher.is_terminated

    def test_numpy_integers_are_ids(self) -> None:
        matcher = start(HELLO)
        assert matcher.accept(np.int64(token("hel")))
        assert matcher.accept_tokens(np.array([token("p")])) == 1
        assert matcher.is_accepting

    def test_the_end_is_taken_once(self) -> None:
        matcher = spell(start(HELLO), "hel", "p")
        assert matcher.is_accepting
        assert matcher.accept(END)
        assert matcher.is_terminated
        assert not mask_of(matcher).any()
        assert not matcher.accept(END)
        assert not matcher.accept(token("a"))
        assert matcher.validate([END]) == 0
        matcher.rollback(1)
        assert not matcher.is_terminated
        assert matcher.is_accepting
        assert ids_of(mask_of(matcher)) == [END]

    def test_reset_goes_back_to_the_start(self) -> None:
        matcher = spell(start(HELLO), "hel", "p")
        matcher.accept(END)
        matcher.reset()
        assert matcher.num_accepted == 0
        assert not matcher.is_terminated
        assert ids_of(mask_of(matcher)) == [token("h"), token("he"), token("hel")]

    def test_rollback_beyond_the_start_is_an_error(self) -> None:
        matcher = spell(start(HELLO), "he")
        for steps in (2, -1):
            with pytest.raises(ValueError):
                matcher.rollback(steps)
        assert matcher.num_accepted == 1
        matcher.rollback(0)
        matcher.rollback(1)
        assert matcher.num_accepted == 0

    def test_rollback_is_as_deep_as_asked_for(self) -> None:
        compiled = wb.compile(Grammar({"root": star(lit("a"))}, "root"), vocabulary())
        matcher = compiled.matcher(max_rollback=3)
        for _ in range(10):
            assert matcher.accept(token("a"))
        matcher.rollback(3)
        assert matcher.num_accepted == 7
        with pytest.raises(ValueError):
            matcher.rollback(4)

    def test_the_tokens_are_kept_that_can_be_taken_back(self) -> None:
        matcher = spell(start(HELLO), "he", "lo"[:1])
        assert not matcher.accept(token("a"))
        fork = matcher.fork()
        assert matcher.token_ids == [token("he"), token("l")]
        spell(matcher, "lo")
        assert matcher.accept(END)
        assert matcher.token_ids == [token("he"), token("l"), token("lo"), END]
        matcher.rollback(3)
        assert matcher.token_ids == [token("he")]
        assert fork.token_ids == [token("he"), token("l")]
        matcher.reset()
        assert matcher.token_ids == []

    def test_forks_part(self) -> None:
        matcher = spell(start(HELLO), "he")
        fork = matcher.fork()
        spell(fork, "l", "p")
        assert matcher.num_accepted == 1
        assert fork.is_accepting
        assert not matcher.is_accepting
        spell(matcher, "l", "lo")
        fork.rollback(2)
        assert fork.num_accepted == 1
        assert matcher.is_accepting


class TestForced:
    @pytest.mark.parametrize(
        ("expr", "words", "forced"),
        [
            (lit("hello"), [], b"hello"),
            (lit("hello"), ["he"], b"llo"),
            (HELLO, [], b"hel"),
            (HELLO, ["hel"], b""),
            (HELLO, ["hel", "lo"], b""),
            (Seq((lit("a"), option(lit("b")))), [], b"a"),  # "a" may end here
            (Seq((lit("a"), star(lit("b")), lit("c"))), ["a"], b""),
            (Repeat(lit("ab"), 3, 3), ["a"], b"babab"),
            (Alt((lit("abc"), Seq((lit("ab"), lit("c"))))), [], b"abc"),
            (Seq((Ref("root"),)), [], None),
        ],
    )
    def test_bytes(self, expr: Expr, words: list[str], forced: bytes | None) -> None:
        if forced is None:
            with pytest.raises(wb.UnsatisfiableGrammar):
                start(expr)
            return
        assert spell(start(expr), *words).forced_bytes() == forced

    def test_bytes_of_a_long_forced_text(self) -> None:
        assert start(Repeat(lit("ab"), 5000, 5000)).forced_bytes() == b"ab" * 5000

    def test_tokens_spell_a_beginning_of_the_forced_bytes(self) -> None:
        matcher = start(lit("hello"))
        tokens = matcher.forced_tokens()
        assert b"hello".startswith(vocabulary().decode(tokens))
        assert matcher.num_accepted == 0
        assert matcher.validate(tokens) == len(tokens)

    def test_nothing_is_forced_after_the_end(self) -> None:
        matcher = spell(start(HELLO), "hel", "p")
        matcher.accept(END)
        assert matcher.forced_bytes() == b""
        assert matcher.forced_tokens() == []


class TestDistance:
    @pytest.mark.parametrize(
        ("expr", "words", "least"),
        [
            (HELLO, [], 4),
            (HELLO, ["hel", "l"], 1),
            (HELLO, ["hel", "p"], 0),
            (NESTED, [], 1),
            (NESTED, ["(", "((", "("], 5),
            (NESTED, ["((", "a"], 2),
            (Repeat(lit("ab"), 3, None), [], 6),
            (Repeat(lit("ab"), 3, None), ["a"], 5),
            (Repeat(lit("a"), 1000, 2000), ["a", "a"], 998),
            (Seq((Repeat(one_of("ab"), 100, None), lit("c"))), ["ab"], 99),
            (Seq((star(lit("a")), Alt((lit("bbb"), Seq((lit("("), lit(")"))))))), ["a"], 2),
        ],
    )
    def test_least_bytes_to_accept(self, expr: Expr, words: list[str], least: int) -> None:
        assert spell(start(expr), *words).finish_distance() == least


class TestExplain:
    def test_an_allowed_token(self) -> None:
        found = spell(start(HELLO), "h").explain(token("e"))
        assert found.token_id == token("e")
        assert found.token_bytes == b"e"
        assert found.allowed
        assert found.consumed == 1

    def test_the_byte_that_dies(self) -> None:
        found = start(Alt((lit("abb"), lit("aba")))).explain(token("abc"))
        assert not found.allowed
        assert found.token_bytes == b"abc"
        assert found.consumed == 2
        assert found.expected == frozenset(b"ab")
        assert found.reason

    @pytest.mark.parametrize("token_id", [PAD, END, TOKENS.index(b""), len(TOKENS), WIDTH - 1])
    def test_ids_without_bytes(self, token_id: int) -> None:
        found = start(HELLO).explain(token_id)
        assert not found.allowed
        assert found.reason

    def test_the_end_where_the_text_may_end(self) -> None:
        assert spell(start(HELLO), "hel", "p").explain(END).allowed

    def test_after_the_end_everything_is_refused(self) -> None:
        matcher = spell(start(HELLO), "hel", "p")
        matcher.accept(END)
        found = matcher.explain(token("a"))
        assert not found.allowed
        assert found.reason

    def test_ids_out_of_range(self) -> None:
        for token_id in (-1, WIDTH):
            with pytest.raises((ValueError, IndexError, wb.VocabularyError)):
                start(HELLO).explain(token_id)

    def test_agrees_with_the_mask(self) -> None:
        matcher = spell(start(NESTED), "((")
        allowed = ids_of(mask_of(matcher))
        assert [i for i in range(WIDTH) if matcher.explain(i).allowed] == allowed


class TestView:
    def test_allowed_bytes(self) -> None:
        assert start(NESTED).allowed_bytes() == frozenset(b"(a")
        assert spell(start(NESTED), "(", "a").allowed_bytes() == frozenset(b")")
        assert spell(start(NESTED), "a").allowed_bytes() == frozenset()

    def test_a_frame_for_every_open_bracket(self) -> None:
        matcher = start(NESTED)
        depths = []
        for _ in range(4):
            depths.append(sorted(len(stack) - 1 for stack in matcher.stacks()))
            spell(matcher, "(")
        assert depths[0] == [0]
        assert all(b[0] - a[0] == 1 for a, b in pairwise(depths[1:]))

    def test_rules_are_the_authors(self) -> None:
        matcher = spell(
            start(Ref("item"), item=Seq((lit("("), Ref("inner"), lit(")"))), inner=NESTED), "("
        )
        names = {name for stack in matcher.stacks() for frame in stack for name in frame.rules}
        assert names <= {"root", "item", "inner"}
        assert names
        assert matcher.live_states()
        assert all(isinstance(state, int) for state in matcher.live_states())

    def test_a_limit_of_stacks(self) -> None:
        pairs = Seq((Repeat(Alt((lit("a"), lit("ab"), lit("b"))), 0, None), Ref("root"), lit("c")))
        matcher = spell(start(Alt((pairs, lit("a")))), "a", "b", "a")
        assert 1 <= len(matcher.stacks(limit=1)) <= 1

    def test_the_count_of_a_frame(self) -> None:
        item = Alt((Seq((lit("("), Ref("item"), lit(")"))), lit("a")))
        matcher = start(Repeat(Ref("item"), 500, 900), item=item)
        spell(matcher, *["a"] * 7, "(")
        found = {frame.count for stack in matcher.stacks() for frame in stack}
        assert found & {7, 8}, found

    def test_inside_a_token_it_stands_where_single_bytes_lead(self) -> None:
        grammar = wb.json_schema(
            {"type": "object", "properties": {"a": {"items": {"type": "null"}}}}
        )
        single = wb.compile(
            grammar, wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], 256)
        )
        data = b'{"a": [null, null]}x'
        matcher = single.matcher()
        inside = matcher.inside(data)
        assert len(inside) == len(data)  # the last byte may not come
        assert matcher.num_accepted == 0
        for byte, (states, stacks) in zip(data, inside, strict=True):
            assert (states, stacks) == (matcher.live_states(), matcher.stacks())
            assert {stack[0].state for stack in stacks} == set(states)
            matcher.accept(byte)

    def test_statistics_are_numbers(self) -> None:
        matcher = spell(start(NESTED), "(")
        mask_of(matcher)
        assert matcher.stats()
        assert all(isinstance(n, int) for n in matcher.stats().values())


COUNT_WORDS = ["a", "aa", "a" * 7, "a" * 100, "b", '"', 'a"', 'aa"', "a" * 50 + '"', '","', "ab"]
COUNT_TOKENS = [w.encode() for w in COUNT_WORDS]
LENGTHS = {"a": 1, "aa": 2, "a" * 7: 7, "a" * 100: 100, "b": 1, "ab": 2}


class TestCounting:
    def start(self, grammar: Grammar) -> wb.Matcher:
        vocabulary = wb.Vocabulary.from_bytes([*COUNT_TOKENS, b"</s>"], eos_ids=[len(COUNT_TOKENS)])
        return wb.compile(grammar, vocabulary).matcher()

    def expected(self, used: int, least: int, most: int | None) -> list[str]:
        """Which words fit inside the quotes after so many characters."""
        room = 10**9 if most is None else most - used
        found = []
        for word in COUNT_WORDS:
            inside, quote, rest = word.partition('"')
            if rest:
                continue
            closing_fits = not quote or used + len(inside) >= least
            if len(inside) <= room and closing_fits:
                found.append(word)
        return found

    def words(self, matcher: wb.Matcher) -> list[str]:
        return [COUNT_WORDS[i] for i in ids_of(mask_of(matcher)) if i < len(COUNT_WORDS)]

    @pytest.mark.parametrize(
        ("least", "most"),
        [
            (0, 10**5),
            (10**5, 10**5),
            (99_950, 10**5),
            (10**5, None),
            (3, 250),
            (0, 10**6),
            (57, 58),
        ],
    )
    def test_the_bounds_are_exact(self, least: int, most: int | None) -> None:
        matcher = self.start(quoted(least, most))
        assert matcher.accept(COUNT_WORDS.index('"'))
        hundred, one = COUNT_WORDS.index("a" * 100), COUNT_WORDS.index("a")
        ends = {least, most if most is not None else least}
        used = 0
        while used < min(max(ends), 10**5) + 3:
            room = min((end - used for end in ends if end >= used), default=0)
            near = room < 320 or any(abs(end - used) < 160 for end in ends)
            if near or used % 10_000 < 100:
                assert self.words(matcher) == self.expected(used, least, most), used
            token_id = one if near or room < 420 else hundred
            if not matcher.accept(token_id):
                assert most is not None
                assert used == most
                break
            used += len(COUNT_WORDS[token_id])
        else:
            assert most is None or used < most
        matcher.rollback(matcher.num_accepted - 1)
        assert self.words(matcher) == self.expected(0, least, most)

    def test_the_size_of_the_automaton_does_not_grow_with_the_count(self) -> None:
        states = [
            wb.compile(
                quoted(0, most), wb.Vocabulary.from_bytes(COUNT_TOKENS, [])
            ).automaton.n_states
            for most in (1000, 10**6)
        ]
        assert states[0] == states[1] < 100

    def test_two_counters_at_once(self) -> None:
        """([a-z]{2,60}-){3,70}: judged by lengths of the groups."""
        body = Seq((Repeat(one_of("ab"), 2, 60), lit("-")))
        tokens = [b"a", b"b", b"-", b"a" * 30, b"a-", b"-a", b"ab-ab-ab-", b"</s>"]
        grammar = Grammar({"root": Repeat(body, 3, 70)}, "root")
        matcher = wb.compile(grammar, wb.Vocabulary.from_bytes(tokens, [7])).matcher()
        for group in range(70):
            assert ids_of(mask_of(matcher)) == self.allowed_in_groups(tokens, group, 0)
            for length in range(1, 61 if group == 69 else 4):
                assert matcher.accept(0)
                assert ids_of(mask_of(matcher)) == self.allowed_in_groups(tokens, group, length)
            assert matcher.accept(2)
        assert ids_of(mask_of(matcher)) == [7]
        assert matcher.is_accepting

    def allowed_in_groups(self, tokens: list[bytes], groups: int, length: int) -> list[int]:
        found = [7] if groups >= 3 and not length else []
        for i, text in enumerate(tokens[:7]):
            closed, inside, fine = groups, length, True
            for byte in text:
                if byte == ord("-"):
                    fine = fine and 2 <= inside <= 60 and closed < 70
                    closed, inside = closed + 1, 0
                else:
                    inside += 1
                    fine = fine and inside <= 60 and closed < 70
            if fine:
                found.append(i)
        return sorted(found)

    @pytest.mark.parametrize(
        "body", [Alt((lit("a"), lit("ab"))), Seq((option(lit("a")), lit("b")))]
    )
    def test_counted_bodies_of_unequal_length(self, body: Expr) -> None:
        grammar = Grammar({"root": Seq((Repeat(body, 45, 47), lit('"')))}, "root")
        tokens = [b"a", b"b", b"ab", b"bb", b"aa", b"abab", b'"', b'b"', b'a"', b"</s>"]
        vocabulary = wb.Vocabulary.from_bytes(tokens, [9])
        matcher, oracle, prefix = (
            wb.compile(grammar, vocabulary).matcher(),
            Oracle(grammar, tokens, [9]),
            b"",
        )
        pattern = [2, 1, 0, 0, 1, 5]
        for i in range(120):
            allowed = ids_of(mask_of(matcher))
            assert allowed == sorted(oracle.allowed(prefix)), prefix
            spelled = [t for t in allowed if t < 6]
            if not spelled:
                break
            choice = pattern[i % 6] if pattern[i % 6] in spelled else spelled[0]
            assert matcher.accept(choice)
            prefix += tokens[choice]
        assert len(prefix) > 40


def test_bytes_that_no_token_has_are_left_out() -> None:
    expr = Alt((lit("ax"), lit("ab"), Seq((lit("h"), ByteSet(1 << 255)))))
    assert ids_of(mask_of(start(expr))) == [token("a"), token("ab")]


def test_a_part_that_cannot_be_spelled_is_named() -> None:
    with pytest.raises(wb.UnsatisfiableGrammar) as caught:
        start(Seq((lit("a"), Ref("odd"))), odd=Literal(b"\xff"))
    assert "odd" in str(caught.value)


@pytest.mark.parametrize("make", [samples.generic_json, samples.sql, samples.arithmetic])
def test_a_token_of_more_than_255_bytes(make: type) -> None:
    """One token spells a whole text, another a text with an error near its end."""
    texts = {
        samples.generic_json: b"[" + b'{"k": [1, "x"]}, ' * 40 + b"[]]",
        samples.sql: b"SELECT a FROM t WHERE " + b"a = 1 AND " * 40 + b"b < 2",
        samples.arithmetic: b"((a + b)*c)/" * 40 + b"3",
    }
    text = texts[make]
    bad = text[:-3] + b"\x00" + text[-2:]
    tokens = [text, bad, text[:-1], b"</s>", *(bytes([b]) for b in range(256))]
    matcher = wb.compile(make(), wb.Vocabulary.from_bytes(tokens, [3])).matcher()
    allowed = ids_of(mask_of(matcher))
    assert 0 in allowed
    assert 2 in allowed
    assert 1 not in allowed
    assert matcher.explain(1).consumed == len(text) - 3
    assert matcher.accept(0)
    assert matcher.is_accepting


def test_a_mask_that_cannot_be_written_is_refused_each_time() -> None:
    vocabulary = wb.Vocabulary.from_bytes([b"a", b"b", b""], 2)
    compiled = wb.compile(wb.regex("ab"), vocabulary, cache=False)
    compiled.matcher().allowed_ids()
    data = bytes(4)
    mask = np.frombuffer(data, dtype=np.int32)
    matcher = compiled.matcher()
    for _ in range(3):
        with pytest.raises(ValueError, match="read-only"):
            matcher.fill_mask(mask)
        with pytest.raises(ValueError, match="read-only"):
            wb.fill_masks([matcher], mask.reshape(1, 1))
    assert data == bytes(4)


def abc() -> wb.Matcher:
    vocabulary = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], 256)
    return wb.compile(wb.gbnf('root ::= "abc"'), vocabulary).matcher()


def retype(array: np.ndarray) -> None:
    array.dtype = np.float32  # type: ignore[misc]


CHANGES = {
    "read-only": (lambda array: array.setflags(write=False), "read-only"),
    "another type": (retype, "float32"),
    "another shape": (lambda array: setattr(array, "shape", (1, 3, 3)), "dimensions"),
    "fewer words": (lambda array: array.resize(3, refcheck=False), "needs 9"),
    "no words": (lambda array: array.resize((0,), refcheck=False), "needs 9"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_array_that_was_changed_is_seen(name: str) -> None:
    """The same array as before, which is looked at no more than needed: it is not the same any more."""
    matcher, array = abc(), np.zeros(9, dtype=np.int32)
    for _ in range(3):
        matcher.fill_mask(array)
    change, said = CHANGES[name]
    change(array)
    before = array.copy()
    with pytest.raises(ValueError, match=said):
        matcher.fill_mask(array)
    assert np.array_equal(before.view(np.uint8), array.view(np.uint8))
    mask = wb.empty_mask(matcher.vocabulary)
    matcher.fill_mask(mask)
    assert mask[3] == 2 and mask.sum() == 2


def test_an_array_with_other_memory_is_written_there() -> None:
    matcher, array = abc(), np.zeros(9, dtype=np.int32)
    for _ in range(3):
        matcher.fill_mask(array)
    array.resize(100_000, refcheck=False)
    array[:] = -1
    matcher.fill_mask(array)
    assert array[3] == 2 and array.sum() == 2
    two = np.zeros((2, 9), dtype=np.int32)
    for _ in range(3):
        matcher.fill_mask(two)
    assert two[0, 3] == 2 and two.sum() == 2
    two.shape = (18,)  # type: ignore[misc]
    two[:] = -1
    matcher.fill_mask(two)
    assert two[3] == 2 and two.sum() == 2


def test_a_copy_is_a_fork() -> None:
    matcher = abc()
    assert matcher.accept(97)
    other = copy.copy(matcher)
    assert matcher.accept(98)
    assert (matcher.token_ids, other.token_ids) == ([97, 98], [97])
    other.rollback(1)
    assert other.allowed_ids().tolist() == [97]
    assert matcher.allowed_ids().tolist() == [99]
