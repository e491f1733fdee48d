"""Dead ends under vocabularies that lack bytes: against a search of all texts with the slow matcher."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import workbench as wb
from tests.oracle import Oracle
from workbench.cli import main
from workbench.diagnostics.dead_ends.unspellable import Place, SpellingReport, unspellable
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
    Token,
    literal,
)

LETTERS = b"abc"
#: No text of a random grammar that is compared is longer.
LONGEST = 7


def vocabulary(*tokens: bytes | str) -> wb.Vocabulary:
    """The tokens, then an end."""
    data = [token.encode() if isinstance(token, str) else token for token in tokens]
    return wb.Vocabulary.from_bytes([*data, b""], eos_ids=(len(data),))


class Maker:
    """Small random grammars and vocabularies in which some letters are no tokens by themselves."""

    def __init__(self, seed: int, *, finite: bool) -> None:
        self.chance = random.Random(seed)
        self.finite = finite

    def leaf(self) -> Expr:
        kind = self.chance.randrange(6)
        if kind < 2:
            return Literal(bytes(self.chance.choices(LETTERS, k=self.chance.randint(1, 3))))
        if kind < 4:
            return ByteSet(
                sum(1 << b for b in self.chance.sample(LETTERS, self.chance.randint(1, 3)))
            )
        if kind == 4:
            return CharSet(((0xE8, 0xE9),))
        return EMPTY

    def expr(self, depth: int) -> Expr:
        kind = self.chance.randrange(8 if depth else 3)
        if kind < 3:
            return self.leaf()
        if kind < 5:
            return Seq(tuple(self.expr(depth - 1) for _ in range(self.chance.randint(1, 3))))
        if kind < 7:
            return Alt(tuple(self.expr(depth - 1) for _ in range(self.chance.randint(1, 3))))
        least = self.chance.randint(0, 2)
        most = None if not self.finite and self.chance.random() < 0.5 else least + 1
        return Repeat(self.expr(depth - 1), least, most)

    def grammar(self) -> Grammar:
        rules: dict[str, Expr] = {"root": self.expr(3)}
        if not self.finite and self.chance.random() < 0.3:
            rules["root"] = Alt((Seq((self.leaf(), Ref("root"), self.leaf())), self.expr(2)))
        return Grammar(rules, "root")

    def tokens(self) -> list[bytes]:
        alphabet = "abcé"
        count = self.chance.randint(2, 8)
        words = {
            "".join(self.chance.choices(alphabet, k=self.chance.randint(1, 3))).encode()
            for _ in range(count)
        }
        return sorted(words | {bytes([b]) for b in LETTERS if self.chance.random() < 0.5})


def searched(oracle: Oracle, longest: int) -> tuple[dict[bytes, frozenset[int]], set[bytes]]:
    """Every text that tokens lead to, with the ids that may follow; and those that are no dead ends for
    ever: from which a complete text is reached.
    """
    allowed: dict[bytes, frozenset[int]] = {}
    todo = [b""]
    while todo:
        text = todo.pop()
        if text in allowed or len(text) > longest:
            continue
        allowed[text] = oracle.allowed(text)
        todo += [text + oracle.tokens[i] for i in allowed[text] if i not in oracle.eos_ids]
    finishing: set[bytes] = set()
    for text in sorted(allowed, key=len, reverse=True):
        after = {text + oracle.tokens[i] for i in allowed[text] if i not in oracle.eos_ids}
        if oracle.complete(text) or after & finishing:
            finishing.add(text)
    return allowed, finishing


def fewest(text: bytes, tokens: list[bytes]) -> int:
    best = {b"": 0}
    for end in range(1, len(text) + 1):
        ways = [best[text[: end - len(t)]] + 1 for t in tokens if t and text[:end].endswith(t)
                and text[: end - len(t)] in best]  # fmt: skip
        if ways:
            best[text[:end]] = min(ways)
    return best[text]


def check_place(place: Place, oracle: Oracle, tokens: list[bytes]) -> None:
    """A place is what it says, by the slow matcher alone."""
    text = b""
    for token_id in place.token_ids:
        assert token_id in oracle.allowed(text)
        text += tokens[token_id]
    assert text == place.text
    assert len(place.token_ids) == fewest(text, tokens)
    assert place.possible == oracle.bytes_after(text)
    assert oracle.alive(text)
    assert not oracle.complete(text)
    assert bool(oracle.allowed(text)) == (place.kind == "no return")


def compared(seed: int, *, finite: bool) -> SpellingReport | None:
    maker = Maker(seed, finite=finite)
    grammar, tokens = maker.grammar(), maker.tokens()
    eos = len(tokens)
    oracle = Oracle(grammar, [*tokens, b""], eos_ids=(eos,))
    if oracle.empty_language:
        with pytest.raises(wb.UnsatisfiableGrammar):
            unspellable(grammar, vocabulary(*tokens))
        return None
    report = unspellable(grammar, vocabulary(*tokens), budget=3000)
    allowed, finishing = searched(oracle, 30 if finite else LONGEST)
    dead = {text for text, ids in allowed.items() if not ids}
    places = [place for place in report.places if place.kind == "dead end"]
    for place in report.places:
        check_place(place, oracle, tokens)
    if not report.complete:
        assert not finite
        return report
    near = {text for text in dead if len(text) <= LONGEST}
    assert {oracle.bytes_after(text) for text in near} <= {place.possible for place in places}
    nearest = [min(map(len, found), default=99) for found in (near, [p.text for p in places])]
    assert nearest[0] == nearest[1] or min(nearest) > LONGEST
    if finite:
        assert sum(p.configurations for p in places) <= len(dead)
        assert bool(places) == bool(dead)
        stuck = set(allowed) - finishing
        entered = {b"": True} if b"" in stuck else {}
        for text in finishing:
            for i in allowed[text] - {eos}:
                entered[text + tokens[i]] = True
        gone = {text for text in stuck - dead if text in entered}
        returns = {place.text for place in report.places if place.kind == "no return"}
        assert returns <= gone
        assert min(map(len, returns), default=None) == min(map(len, gone), default=None)
    return report


@pytest.mark.parametrize("block", range(10))
def test_finite_languages_as_the_search_of_all_texts(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        compared(seed, finite=True)


@pytest.mark.parametrize("block", range(5))
def test_endless_languages_as_the_search_of_short_texts(block: int) -> None:
    for seed in range(1000 + 40 * block, 1000 + 40 * block + 40):
        compared(seed, finite=False)


def test_the_random_cases_have_all_outcomes() -> None:
    reports = [compared(seed, finite=seed % 2 == 0) for seed in range(2000, 2200)]
    assert {report.proof[:9] for report in reports if report} == {"", "each byte", "each part"}
    kinds = {place.kind for report in reports if report for place in report.places}
    assert kinds == {"dead end", "no return"}
    share = sum(bool(report and report.places) for report in reports) / len(reports)
    assert 0.1 < share < 0.9
    assert any(report is None for report in reports)
    assert any(report and report.complete and report.joined for report in reports)
    assert any(report and not report.complete for report in reports)
    assert any(report and report.removed for report in reports)


# --- tokens that the grammar names: against a search of all tokens with the engine's own masks -----------


class TokenMaker(Maker):
    """Grammars that name tokens here and there, of a vocabulary with one special token."""

    n_tokens = 0

    def leaf(self) -> Expr:
        if self.chance.random() < 0.3:
            ids = self.chance.sample(range(self.n_tokens), self.chance.randint(1, 2))
            return Token(tuple(ids), negated=self.chance.random() < 0.3)
        return super().leaf()


@pytest.mark.parametrize("block", range(4))
def test_named_tokens_as_the_search_of_all_tokens(block: int) -> None:
    outcomes = set()
    for seed in range(3000 + 40 * block, 3040 + 40 * block):
        maker = TokenMaker(seed, finite=True)
        tokens = maker.tokens()
        maker.n_tokens = len(tokens) + 1
        words = wb.Vocabulary.from_bytes(
            [*tokens, b"", b""],
            special_names={len(tokens): "<think>"},
            eos_ids=(len(tokens) + 1,),
        )
        try:
            compiled = wb.compile(maker.grammar(), words)
        except wb.UnsatisfiableGrammar:
            continue
        nearest: dict[str, int] = {}
        todo = [compiled.matcher()]
        texts = [b""]
        for matcher, text in zip(todo, texts, strict=False):
            allowed = matcher.allowed_ids().tolist()
            if not allowed:
                nearest["dead end"] = min(len(text), nearest.get("dead end", 99))
            for token_id in set(allowed) - set(words.eos_ids):
                todo.append(matcher.fork())
                texts.append(text + words.token_bytes(token_id))
                assert todo[-1].accept(token_id)
            if len(todo) > 3000:
                break
        else:
            report = unspellable(compiled)
            assert report.complete
            places = [place for place in report.places if place.kind == "dead end"]
            assert min((len(place.text) for place in places), default=None) == nearest.get(
                "dead end"
            )
            for place in report.places:
                matcher = compiled.matcher()
                assert matcher.accept_tokens(place.token_ids) == len(place.token_ids)
                assert bool(len(matcher.allowed_ids())) == (place.kind == "no return")
                assert matcher.allowed_bytes() == place.possible
            outcomes.add((bool(places), bool(report.joined)))
    assert outcomes == {(True, True), (False, True), (False, False)}


# --- by hand -------------------------------------------------------------------------------------------


def found(text: str, *tokens: bytes | str) -> str:
    return str(unspellable(wb.gbnf(text), vocabulary(*tokens)))


def test_a_byte_inside_of_a_token_alone() -> None:
    assert found('root ::= "a" "b" "c" | "x"', "a", "bc", "x", "ab") == (
        "only in tokens with others: 'b'-'c'\n"
        "dead end: after “ab” (tokens 3) only 'c' can come, and no token spells that there\n"
        "complete: 4 configurations, 64 steps"
    )


def test_a_point_of_no_return() -> None:
    report = unspellable(
        wb.gbnf('root ::= "a"* "bc" | "d"'), vocabulary("a", "bd", "d", "cb", "ab")
    )
    assert [(place.kind, place.text, place.token_ids) for place in report.places] == [
        ("no return", b"a", (0,)),
        ("dead end", b"ab", (4,)),
    ]
    assert "after “a” (tokens 0) tokens may come, but the text can never be completed" in str(
        report
    )


def test_a_character_in_pieces() -> None:
    report = unspellable(wb.regex("[a-zé]+!"), vocabulary("a", "é", b"a\xc3", "!"))
    assert [(place.text, place.possible) for place in report.places] == [
        (b"a\xc3", frozenset({0xA9}))
    ]
    assert "after “a⟨C3⟩” (tokens 2) only ⟨A9⟩ can come" in str(report)
    assert "no dead ends" in str(unspellable(wb.regex("[a-zé]+!"), vocabulary("a", "é", "!")))


def test_at_the_start() -> None:
    assert "dead end: at the start only 'a' can come" in found('root ::= "ab"', "b", "ca")


def test_situations_of_one_kind_are_one_place() -> None:
    report = unspellable(
        wb.gbnf('root ::= "(" root ")" | "bc"'), vocabulary("(", ")", "b", "cb"), budget=1000
    )
    (place,) = report.places
    assert (place.text, place.token_ids, report.complete) == (b"b", (2,), False)
    assert place.configurations > 5
    assert str(report).endswith(
        f"[{place.configurations} such]\nstopped at the budget of 1,000 steps: "
        f"{report.configurations} configurations, {report.steps:,} steps"
    )


def test_bytes_in_no_token_are_told() -> None:
    assert found('root ::= "a" | "b" | "é"', "a", "b") == (
        "in no token, so left out: ⟨A9⟩, ⟨C3⟩\n"
        "no dead ends\n"
        "complete: each byte that the grammar uses is a token by itself"
    )
    with pytest.raises(wb.UnsatisfiableGrammar):
        found('root ::= "é"', "a")


SINGLES = [bytes([b]) for b in range(256)]


@pytest.mark.parametrize(
    "grammar",
    [
        lambda: wb.regex(".*"),
        lambda: wb.json_schema({}),
        lambda: wb.gbnf('root ::= "(" root ")" | root root | "é"'),
        lambda: wb.until(b"\xff\xfe"),
    ],
)
def test_no_alarm_when_each_byte_is_a_token(grammar: Callable[[], Grammar]) -> None:
    report = unspellable(grammar(), vocabulary(*SINGLES, "é)", "(("))
    assert (report.places, report.complete, report.steps) == ((), True, 0)


def test_no_alarm_when_each_byte_that_is_used_is_a_token() -> None:
    report = unspellable(wb.regex("[ab]*c"), vocabulary("a", "b", "c", "dd", "ca"))
    assert (report.places, report.joined, report.steps) == ((), b"", 0)


@pytest.mark.parametrize(
    ("text", "tokens", "proved"),
    [
        ('root ::= "é" root "é" | "ab"', ["é", "a", "b", "ab"], True),
        ('root ::= "é" root "é" | "ab"', ["é", "é!", "a", "b"], True),
        ('root ::= "é"* "ab"', ["é", "ab"], False),  # b is no token
        ('root ::= "é"* "a"', ["aé", "éé", "a"], False),  # é is none
        ('root ::= "é"* "a"', ["é", b"a\xc3", "a"], False),  # a token ends within a character
        ('root ::= "é"* "a"', ["é", b"b\xc3", "a"], True),  # which never may come
        ('root ::= "é"* "a" | "ü"', ["é", "a"], True),  # ü is in no token
        ('root ::= "é" [à-ü] [a-z]', ["é", "a", "ù", "ö!"], True),
        ('root ::= "é" [à-ê] | [ü-þ]', ["é", "ö", "aþ"], False),
        ("root ::= [é] b[\\x41-\\x7f]", ["é", "B"], True),
        ("root ::= [é] b[\\x41-\\xff]", ["é", "B"], False),
        ('root ::= [é] b"\\xc3\\xa9"', ["é"], True),
        ('root ::= [é] b"\\xc3" b"\\xa9"', ["é"], False),
        ("root ::= [é] <[0]>*", ["é"], True),
        ("root ::= [é] !<[0]>*", ["é", b"\xc3"], False),
    ],
)
def test_proofs_by_characters(text: str, tokens: list[bytes | str], proved: bool) -> None:
    report = unspellable(wb.gbnf(text), vocabulary(*tokens), budget=200)
    assert report.joined
    assert bool(report.proof) == proved
    if proved:
        assert str(report).endswith(
            "no dead ends\ncomplete: each part of the grammar can be spelled with tokens of one character"
        )


def test_a_schema_under_tokens_of_whole_characters_is_proved() -> None:
    words = vocabulary(*map(chr, range(0x20, 0x7F)), "é", "漢字", "für", "😀")
    report = unspellable(wb.json_schema({"type": "object"}), words)
    assert report.removed
    assert (report.places, report.complete, report.steps) == ((), True, 0)


def test_a_schema_whose_strings_are_watched() -> None:
    schema = {"type": "object", "properties": {"e": {"const": 1}}}
    schema["additionalProperties"] = {"type": "boolean"}
    printable = [chr(c) for c in range(0x20, 0x7F) if chr(c) != "e"]
    report = unspellable(wb.json_schema(schema), vocabulary(*printable, "ex", "é", "\\u006"))
    assert (report.joined, report.complete) == (b"e\xa9\xc3", True)
    # the name may be spelled with an escape, the two values that others may have may not; the empty
    # name and one of some characters are two configurations
    assert [(place.kind, place.text) for place in report.places] == [
        ("no return", b'{"'),
        ("dead end", b'{"":tru'),
        ("dead end", b'{" ":tru'),
        ("dead end", b'{"":fals'),
        ("dead end", b'{" ":fals'),
    ]


def test_names_that_came_before_are_not_followed() -> None:
    """Else each name that was read would be another configuration, without end."""
    printable = [chr(c) for c in range(0x20, 0x7F) if chr(c) != "e"]
    words = vocabulary(*printable, "ex")
    schema = {"additionalProperties": {"enum": [1, True]}, "type": "object"}
    compiled = wb.compile(wb.json_schema(schema), words)
    report = unspellable(compiled)
    assert report.complete and {place.kind for place in report.places} >= {"dead end"}
    for place in report.places:
        matcher = compiled.matcher()
        assert matcher.accept_tokens(place.token_ids) == len(place.token_ids)
        assert (place.kind == "dead end") == (not len(matcher.allowed_ids()))
        assert not matcher.is_accepting
    proved = unspellable(wb.json_schema(schema), vocabulary(*printable, "e", "éx", "é"))
    assert (proved.places, proved.steps) == ((), 0)
    assert proved.proof


def test_bytes_that_are_not_told_apart_are_tried_once() -> None:
    words = vocabulary(*(chr(c) for c in range(0x61, 0x7B)), "+-")
    report = unspellable(wb.gbnf('root ::= ([a-p] | [g-z]) "+-"'), words)
    # three classes of letters and one longer token, beside three configurations
    assert (report.configurations, report.steps) == (3, 3 * 15 + 3 + 1)


def test_bytes_of_sets_that_overlap_are_told_apart() -> None:
    words = vocabulary(*(chr(c) for c in range(0x61, 0x7B)), "!", "-?")
    report = unspellable(wb.gbnf('root ::= [a-p] "!" | [g-z] "?-"'), words)
    assert [(place.text, place.possible) for place in report.places] == [(b"q", frozenset(b"?"))]


def test_the_shortest_way_to_a_point_of_no_return() -> None:
    report = unspellable(
        wb.gbnf('root ::= "c"? ("a" "x"* "bq" | "d")'), vocabulary("a", "c", "d", "x", "cb", "qd")
    )
    assert [(place.kind, place.text) for place in report.places] == [("no return", b"a")]


def test_a_compiled_grammar() -> None:
    words = vocabulary("a", "bc")
    compiled = wb.compile(wb.gbnf('root ::= "abc" | "aab"'), words)
    report = unspellable(compiled)
    assert [place.text for place in report.places] == [b"aa"]
    assert report == unspellable(compiled, words)
    with pytest.raises(ValueError, match="another vocabulary"):
        unspellable(compiled, vocabulary("a"))
    with pytest.raises(ValueError, match="needs a vocabulary"):
        unspellable(wb.regex("a"))


def test_what_was_found_holds_when_the_engine_tidies_up() -> None:
    grammar = wb.gbnf('root ::= "(" root ")" | [ab]{0,9} "c"')
    words = vocabulary("(", ")", "a", "b", "cc", "ac")
    tight = wb.compile(grammar, words, wb.Budgets(arena_words=1 << 14))
    plain = unspellable(wb.compile(grammar, words), budget=20_000)
    assert unspellable(tight, budget=20_000).places[:1] == plain.places[:1]


def test_long_texts_and_many_bytes_are_shown_short() -> None:
    report = unspellable(
        Grammar(
            {"r": Seq((literal("a" * 100), ByteSet(sum(1 << b for b in range(0x80, 0xA0, 2)))))},
            "r",
        ),
        vocabulary("a", *[bytes([b, 0x7A]) for b in range(0x80, 0xA0, 2)]),
    )
    said = str(report)
    assert len(said) < 1200
    assert "“…" + "a" * 60 + "”" in said
    assert "⟨80⟩, ⟨82⟩, ⟨84⟩, ⟨86⟩, ⟨88⟩, ⟨8A⟩ and 10 more" in said


def test_permutations_of_tokens_change_nothing() -> None:
    words = ["a", "ab", "bc", "ca"]
    texts = set()
    for order in itertools.permutations(words):
        report = unspellable(wb.gbnf('root ::= ("abc" | "ca")+ "b"'), vocabulary(*order))
        texts.add(tuple((place.kind, place.text) for place in report.places))
    assert len(texts) == 1


# --- the command line ----------------------------------------------------------------------------------


def tokenizer(path: Path, *tokens: str) -> Path:
    """A tokenizer file of a few ASCII tokens and an end."""
    content = {
        "version": "1.0",
        "added_tokens": [{"id": len(tokens), "content": "</s>", "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)}, "merges": []},
    }
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("tokens", "code", "said"),
    [
        (("a", "b", "c"), 0, "complete: each byte that the grammar uses is a token by itself\n"),
        (("a", "bc", "abc"), 0, "dead ends in the grammar: none found\n"),
        (("a", "bc", "abc"), 0, "what the tokens can spell: complete: 3 configurations"),
        (("a", "ab", "bc"), 1, "dead ends in the grammar: 1 error, 0 warnings\n"),
        (("a", "ab", "bc"), 1, "shortest path: “ab” (tokens 1)"),
    ],
)
def test_check_tells_dead_ends(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    tokens: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    file = tmp_path / "g.gbnf"
    file.write_text('root ::= "a" "bc"')
    path = tokenizer(tmp_path / "tokenizer.json", *tokens)
    assert main(["check", str(file), "--tokenizer", str(path)]) == code
    out = capsys.readouterr().out
    assert f"with the tokens of {path}:\n" in out
    assert said in out


def test_check_without_a_tokenizer_is_about_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "g.gbnf"
    file.write_text('root ::= "a"')
    assert main(["check", str(file)]) == 0
    assert "dead ends" not in capsys.readouterr().out
