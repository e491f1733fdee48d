"""Grammars made to hurt, each looked at in a process of its own: ``python -m tests.engine.hostile NAME``.

A case raises when an answer is wrong. The process prints a JSON object: whether the grammar was answered or
refused (by name), the processor seconds and by how many MB memory grew beyond what an easy grammar takes. Past
``SECONDS`` of processor time the system ends it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import workbench as wb
from tests.engine import samples
from tests.engine.samples import joined, lit, one_of, option, star
from tests.engine.walks import ids_of, mask_of
from workbench.grammar.ir import EMPTY, Alt, Expr, Grammar, Ref, Repeat, Seq

SECONDS = 60
TOKENIZER = Path(__file__).parents[2].parent / "shared/data/llama-3.1-tokenizer.json.xz"

Case = Callable[[], None]

#: every case by name; those that the engine may refuse; those that need a real vocabulary
CASES: dict[str, Case] = {}
MAY_BE_REFUSED: set[str] = set()
REAL: set[str] = set()


def case(may_be_refused: bool = False, real: bool = False) -> Callable[[Case], Case]:
    def register(function: Case) -> Case:
        name = function.__name__
        CASES[name] = function
        if may_be_refused:
            MAY_BE_REFUSED.add(name)
        if real:
            REAL.add(name)
        return function

    return register


def small(*longer: str) -> wb.Vocabulary:
    """The printable characters, some longer tokens, an end."""
    tokens = [chr(c) for c in range(0x20, 0x7F)] + list(longer)
    return wb.Vocabulary.from_bytes([*(t.encode() for t in tokens), b"</s>"], [len(tokens)])


_LOADED: list[wb.Vocabulary] = []


def llama() -> wb.Vocabulary:
    """The real vocabulary of 128,256 tokens; loading it is not the grammar's cost."""
    if not _LOADED:
        _LOADED.append(wb.Vocabulary.load(TOKENIZER))
    return _LOADED[0]


def start(grammar: Grammar | dict[str, Expr] | Expr, vocabulary: wb.Vocabulary) -> wb.Matcher:
    if isinstance(grammar, Expr):
        grammar = {"root": grammar}
    if isinstance(grammar, dict):
        grammar = Grammar(grammar, next(iter(grammar)))
    return wb.compile(grammar, vocabulary).matcher()


def token(vocabulary: wb.Vocabulary, text: str) -> int:
    """The token with this text; of several any."""
    for token_id in range(vocabulary.size):
        if vocabulary.token_bytes(token_id) == text.encode():
            return token_id
    raise LookupError(text)


def spell(matcher: wb.Matcher, text: str) -> int:
    """Accept a text letter by letter; returns how many letters were accepted."""
    letters = {c: token(matcher.vocabulary, c) for c in set(text)}
    return matcher.accept_tokens(letters[c] for c in text)


def words(matcher: wb.Matcher) -> set[str]:
    """The allowed tokens as texts; "END" for the end."""
    vocabulary = matcher.vocabulary
    ids = ids_of(mask_of(matcher))
    return {
        "END" if i in vocabulary.eos_ids else vocabulary.token_bytes(i).decode("utf-8", "replace")
        for i in ids
    }


def is_text(matcher: wb.Matcher, text: str) -> bool:
    """Whether the text is one of the language; the matcher is left where it was."""
    taken = spell(matcher, text)
    found = taken == len(text) and matcher.is_accepting
    matcher.rollback(taken)
    return found


# Ambiguity


@case()
def pairs_and_triples() -> None:
    """S -> S S | S S S | a."""
    s = Ref("S")
    matcher = start({"S": Alt((Seq((s, s)), Seq((s, s, s)), lit("a")))}, small("aa", "aaa", "ab"))
    assert words(matcher) == {"a", "aa", "aaa"}
    for _ in range(5000):
        assert matcher.accept(token_a)
        assert words(matcher) == {"a", "aa", "aaa", "END"}
    matcher.rollback(5000)
    assert words(matcher) == {"a", "aa", "aaa"}


token_a = ord("a") - 0x20  # in every small vocabulary


@case()
def juxtaposed() -> None:
    """E -> E E | a."""
    e = Ref("E")
    matcher = start({"E": Alt((Seq((e, e)), lit("a")))}, small("aa"))
    assert matcher.accept_tokens([token_a] * 20_000) == 20_000
    assert words(matcher) == {"a", "aa", "END"}
    assert spell(matcher, "b") == 0
    matcher.rollback(20_000)
    assert words(matcher) == {"a", "aa"}


@case(real=True)
def juxtaposed_in_brackets() -> None:
    """E -> E E | ( E ) | a over a real vocabulary: a stack and its every way of being cut."""
    e = Ref("E")
    matcher = start({"E": Alt((Seq((e, e)), Seq((lit("("), e, lit(")"))), lit("a")))}, llama())
    for _ in range(200):
        assert spell(matcher, "(aa(a") == 5
        allowed = words(matcher)
        assert {"a", "aa", "(", ")", "))"} <= allowed
        assert "()" not in allowed
        assert "END" not in allowed
    assert spell(matcher, ")" * 401) == 400
    assert "END" in words(matcher)


@case()
def everything_ambiguous_at_once() -> None:
    """E -> E + E | E * E | E E | -E | (E) | E? | a, where a is also b and c."""
    e = Ref("E")
    sides = [Seq((e, lit(o), e)) for o in "+*-/"]
    sides += [Seq((e, e)), Seq((lit("-"), e)), Seq((lit("("), option(e), lit(")"))), option(e)]
    letters = [Ref("A"), Ref("B"), Ref("C"), Seq((Ref("A"), Ref("B"))), lit("a")]
    rules = {"E": Alt((*sides, *letters)), **dict.fromkeys("ABC", one_of("abc"))}
    matcher = start(rules, small("ab", "(("))
    rng = Random(1)
    open_brackets = 0
    for _ in range(600):
        letter = rng.choice("abc+*-/()")
        if letter == ")" and not open_brackets:
            assert spell(matcher, letter) == 0
            continue
        assert spell(matcher, letter) == 1
        open_brackets += {"(": 1, ")": -1}.get(letter, 0)
        assert ("END" in words(matcher)) == (open_brackets == 0)


# Counts


@case(real=True)
def a_thousand_times_a_thousand() -> None:
    matcher = start(wb.regex("(a{1000}){1000}"), llama())
    assert words(matcher) == {"a" * n for n in range(1, 300)} & words(matcher)
    eight = token(llama(), "a" * 8)
    assert matcher.accept_tokens([eight] * 200_000) == 125_000
    assert words(matcher) == {"END"}
    matcher.rollback(1)
    assert matcher.finish_distance() == 8
    assert spell(matcher, "aaaa") == 4
    assert "a" * 4 in words(matcher)
    assert "a" * 5 not in words(matcher)


@case(real=True)
def fifty_times_fifty_times_fifty() -> None:
    """((a{1,50}){1,50}){1,50}: 1 to 125,000 letters, in more ways than atoms."""
    matcher = start(wb.regex("((a{1,50}){1,50}){1,50}"), llama())
    assert "END" not in words(matcher)
    eight = token(llama(), "a" * 8)
    assert matcher.accept_tokens([eight] * 15_620) == 15_620
    assert matcher.is_accepting
    assert spell(matcher, "a" * 30) == 30
    assert {"a" * 8, "END"} <= words(matcher)
    assert spell(matcher, "a" * 30) == 10
    assert words(matcher) == {"END"}


@case(real=True)
def a_thousand_options() -> None:
    matcher = start(wb.regex("(a?){1000}"), llama())
    assert {"a", "a" * 8, "END"} <= words(matcher)
    assert matcher.accept_tokens([token(llama(), "a" * 8)] * 126) == 125
    assert words(matcher) == {"END"}


@case()
def options_then_as_many() -> None:
    """(a?){60}a{60}, on which backtracking takes 2^60 steps."""
    matcher = start(wb.regex("(a?){60}a{60}"), small())
    for length in range(121):
        assert ("END" in words(matcher)) == (length >= 60), length
        assert spell(matcher, "a") == (length < 120)


@case(real=True)
def stars_of_stars() -> None:
    matcher = start(wb.regex("((a*)*)*((b*)+)*c"), llama())
    assert spell(matcher, "a" * 500 + "b" * 500) == 1000
    assert {"b", "c"} <= words(matcher)
    assert spell(matcher, "a") == 0
    assert spell(matcher, "c") == 1
    assert words(matcher) == {"END"}


@case()
def the_classic_of_backtracking() -> None:
    """(x+x+)+y and its kin."""
    for pattern in ("(x+x+)+y", "(x*)*y", "(x|x)*y", "(x|xx)+y", "((x+)+)+y"):
        matcher = start(wb.regex(pattern), small("xx", "xy"))
        assert spell(matcher, "x" * 2000) == 2000
        assert words(matcher) == {"x", "xx", "y", "xy"}
        assert spell(matcher, "y") == 1
        assert words(matcher) == {"END"}


@case()
def loops_in_recursion_in_loops() -> None:
    """(R,){2,40} with R -> (R;){1,3} in brackets or x: three counts live on every level."""
    rules = {
        "root": Repeat(Seq((Ref("R"), lit(","))), 2, 40),
        "R": Alt((Seq((lit("("), Repeat(Seq((Ref("R"), lit(";"))), 1, 3), lit(")"))), lit("x"))),
    }
    vocabulary = small(");", "x;", "x;x;x;x;", "x,", "((", "x;)")
    matcher = start(rules, vocabulary)
    assert spell(matcher, "x,x,") == 4
    assert "END" in words(matcher)
    assert spell(matcher, "(x;x;" * 3000) == 15_000
    assert words(matcher) == {"(", "((", "x", "x;", "x;)", ")", ");"}
    assert spell(matcher, "x;") == 2
    assert words(matcher) == {")", ");"}
    assert spell(matcher, ");" * 2999) == 5998
    assert words(matcher) == {")"}
    assert spell(matcher, "),") == 2
    assert spell(matcher, "x," * 40) == 74
    assert words(matcher) == {"END"}


@case()
def ambiguous_counts_in_recursion_in_counts() -> None:
    """R -> (R | R R){1,4} in brackets | x: how many are counted depends on the cut."""
    r = Ref("R")
    body = Repeat(Alt((r, Seq((r, r)))), 1, 4)
    rules = {
        "root": Repeat(r, 2, 5),
        "R": Alt((Seq((lit("("), body, lit(")"))), lit("x"))),
    }
    matcher = start(rules, small("xx", "))"))
    assert spell(matcher, "(xxx" * 40) == 160
    assert words(matcher) == {"(", "x", "xx", ")", "))"}
    assert spell(matcher, "xxxx") == 4
    assert words(matcher) == {"(", "x", ")", "))"}
    assert spell(matcher, "xx") == 1
    assert words(matcher) == {")", "))"}
    assert spell(matcher, ")" * 50) == 40
    assert spell(matcher, "xxxxx") == 4
    assert words(matcher) == {"END"}


# Determinisation


def letter_from_the_end(n: int) -> None:
    matcher = start(wb.regex(f"(a|b)*a(a|b){{{n}}}"), small("ab", "ba"))
    rng, text = Random(2), ""
    for _ in range(400):
        expected = {"a", "b", "ab", "ba"} | ({"END"} if text[-n - 1 : -n] == "a" else set())
        assert words(matcher) == expected
        letter = rng.choice("ab")
        assert spell(matcher, letter) == 1
        text += letter


@case(may_be_refused=True)
def the_letter_before_the_last_20() -> None:
    letter_from_the_end(20)


@case(may_be_refused=True)
def the_letter_before_the_last_30() -> None:
    letter_from_the_end(30)


@case(may_be_refused=True)
def the_letter_before_the_last_400() -> None:
    letter_from_the_end(400)


def random_words(count: int, longest: int) -> list[str]:
    """Different words of at least three letters out of 26."""
    rng = Random(3)
    found: set[str] = set()
    while len(found) < count:
        length = rng.randint(3, longest)
        found.add("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=length)))
    return sorted(found)


def check_words(matcher: wb.Matcher, texts: list[str]) -> None:
    known = set(texts)
    prefixes = {text[:n] for text in texts for n in range(len(text) + 1)}
    rng = Random(4)
    for _ in range(5):
        text = rng.choice(texts)
        for end in range(len(text) + 1):
            so_far = text[:end]
            allowed = words(matcher)
            assert ("END" in allowed) == (so_far in known)
            assert all(so_far + word in prefixes for word in allowed - {"END"})
            assert {p[end] for p in prefixes if p[:end] == so_far and len(p) == end + 1} <= allowed
            if end < len(text):
                assert spell(matcher, text[end]) == 1
        matcher.reset()


@case(real=True)
def fifty_thousand_words() -> None:
    texts = random_words(50_000, 7)
    check_words(start(Alt(tuple(lit(w) for w in texts)), llama()), texts)


@case()
def fifty_thousand_words_as_a_pattern() -> None:
    texts = random_words(50_000, 7)
    check_words(start(wb.regex("|".join(texts)), small()), texts)


@case()
def fifty_thousand_long_words() -> None:
    """300,000 different beginnings."""
    texts = random_words(50_000, 14)
    check_words(start(Alt(tuple(lit(w) for w in texts)), small()), texts)


@case()
def ten_thousand_words_in_brackets() -> None:
    """In GBNF, each an alternative of its own inside a recursive rule."""
    texts = random_words(10_000, 7)
    source = 'root ::= "(" root ")" | ' + " | ".join(f'"{word}"' for word in texts)
    matcher = start(wb.gbnf(source), small())
    for text in texts[::1000]:
        assert is_text(matcher, f"(({text}))")
        assert not is_text(matcher, f"(({text})")
    assert not is_text(matcher, "((notaword0))")


# Depth and size of the grammar


@case()
def five_thousand_groups_in_a_pattern() -> None:
    matcher = start(wb.regex("(" * 5000 + "ab?" + ")" * 5000), small("ab"))
    assert words(matcher) == {"a", "ab"}


@case(may_be_refused=True)
def five_thousand_groups_that_end_in_options() -> None:
    matcher = start(wb.regex("(" * 5000 + "a" + "b?)" * 5000), small())
    assert is_text(matcher, "a" + "b" * 5000)
    assert not is_text(matcher, "a" + "b" * 5001)


@case()
def five_thousand_starred_groups() -> None:
    matcher = start(wb.regex("(?:" * 5000 + "a" + ")*" * 5000), small("ab"))
    assert spell(matcher, "a" * 1000) == 1000
    assert words(matcher) == {"a", "END"}


@case()
def five_thousand_groups_in_gbnf() -> None:
    matcher = start(wb.gbnf("root ::= " + "(" * 5000 + '"a"' + ")" * 5000), small("ab"))
    assert words(matcher) == {"a"}
    matcher = start(wb.gbnf("root ::= " + '("[" ' * 5000 + '"a"' + ' "]")?' * 5000), small("[["))
    assert words(matcher) == {"[", "[[", "END"}
    assert spell(matcher, "[" * 5001) == 5000
    assert words(matcher) == {"a"}


@case()
def unit_rules_in_a_circle() -> None:
    rules: dict[str, Expr] = {"A": Ref("B"), "B": Ref("C"), "C": Alt((Ref("A"), lit("x")))}
    matcher = start(rules, small("xx"))
    assert words(matcher) == {"x"}
    assert spell(matcher, "xx") == 1
    assert words(matcher) == {"END"}


@case()
def two_thousand_unit_rules_in_circles() -> None:
    """Every rule is the next one, or the one half-way round, or its own letter."""
    n = 2000
    rules: dict[str, Expr] = {
        f"r{i}": Alt((Ref(f"r{(i + 1) % n}"), Ref(f"r{(i + n // 2) % n}"), lit("abcd"[i % 4])))
        for i in range(n)
    }
    matcher = start(rules, small("ab"))
    assert words(matcher) == set("abcd")
    assert spell(matcher, "ab") == 1
    assert words(matcher) == {"END"}


@case()
def hidden_left_recursion() -> None:
    """Behind one to six parts that may be empty, some of them recursive themselves."""
    s, n, m = Ref("S"), Ref("N"), Ref("M")
    rules = {
        "S": Alt((Seq((n, s, lit("a"))), Seq((n, n, m, m, n, n, s, lit("b"))), lit("c"))),
        "N": Alt((EMPTY, Seq((m, m)), Seq((n, lit("n"))))),
        "M": Alt((n, star(lit("m")), EMPTY)),
    }
    matcher = start(rules, small("ca", "cab", "nc"))
    rng = Random(5)
    front = {"c", "n", "m", "ca", "cab", "nc"}
    for _ in range(150):
        assert words(matcher) == front
        assert spell(matcher, rng.choice("nm")) == 1
    assert spell(matcher, "c") == 1
    assert words(matcher) == {"a", "b"}
    for _ in range(150):
        assert spell(matcher, rng.choice("ab")) == 1
        assert words(matcher) == {"a", "b", "END"}


@case()
def a_chain_of_ten_thousand_rules() -> None:
    """Each says the next, then its own letter: a stack as deep, before the first letter."""
    n = 10_000
    rules: dict[str, Expr] = {f"r{i}": Seq((Ref(f"r{i + 1}"), lit("ab"[i % 2]))) for i in range(n)}
    rules[f"r{n}"] = lit("x")
    matcher = start(rules, small("ba", "bab"))
    assert words(matcher) == {"x"}
    assert spell(matcher, "x") == 1
    assert words(matcher) == {"b", "ba", "bab"}
    assert spell(matcher, "ba" * 5001) == 10_000
    assert words(matcher) == {"END"}


@case()
def a_chain_of_ten_thousand_unit_rules() -> None:
    n = 10_000
    rules: dict[str, Expr] = {f"r{i}": Ref(f"r{i + 1}") for i in range(n)}
    rules[f"r{n}"] = Seq((lit("x"), option(Seq((lit("("), Ref("r0"), lit(")"))))))
    matcher = start(rules, small("x("))
    assert spell(matcher, "x(" * 1000) == 2000
    assert words(matcher) == {"x", "x("}


@case()
def ten_thousand_rules_to_choose_from() -> None:
    """Each a number and then any of them again, in brackets."""
    n = 10_000
    rules: dict[str, Expr] = {"root": Alt(tuple(Ref(f"r{i}") for i in range(n)))}
    for i in range(n):
        rules[f"r{i}"] = Seq((lit(f"{i:04}"), option(Seq((lit("["), Ref("root"), lit("]"))))))
    matcher = start(rules, small("00", "9999", "]]"))
    assert words(matcher) == {*"0123456789", "00", "9999"}
    assert spell(matcher, "1234[5678[0042") == 14
    assert words(matcher) == {"[", "]", "]]"}


@case()
def ten_thousand_rules_that_overlap() -> None:
    """A choice of ten thousand rules that begin alike: letters, then a number of its own."""
    n = 10_000
    rules: dict[str, Expr] = {"root": Alt(tuple(Ref(f"r{i}") for i in range(n)))}
    for i in range(n):
        rules[f"r{i}"] = Seq((star(one_of("ab")), lit(f"{i:04}"), option(Ref("end"))))
    rules["end"] = Seq((lit("("), Ref("root"), lit(")")))
    matcher = start(rules, small("a0", "99"))
    assert spell(matcher, "abab0042(ba9999") == 15
    assert words(matcher) == {"(", ")"}
    assert spell(matcher, "(a123") == 5
    assert words(matcher) == {*"0123456789"}


@case()
def a_literal_of_a_hundred_thousand_bytes() -> None:
    rng = Random(6)
    text = "".join(rng.choices("abc", k=100_000))
    matcher = start(lit(text), small("ab", "ca"))
    assert spell(matcher, text) == len(text)
    assert words(matcher) == {"END"}


@case()
def many_ways_to_spell_one_thing() -> None:
    """(a|aa|aaa|...)* up to fifty letters a piece, between brackets that must match in number."""
    piece = Alt(tuple(lit("a" * n) for n in range(1, 51)))
    rules = {"S": Alt((Seq((lit("("), star(Ref("P")), Ref("S"), star(Ref("P")), lit(")"))), EMPTY))}
    matcher = start({**rules, "P": piece}, small("aa", "((", "))"))
    for _ in range(60):
        assert spell(matcher, "(" + "a" * 20) == 21
        assert words(matcher) == {"a", "aa", "(", "((", ")", "))"} - (
            {"))"} if matcher.num_accepted == 21 else set()
        )
    assert spell(matcher, ("a" * 10 + ")") * 60) == 660
    assert words(matcher) == {"END"}


# Depth of the text


DEPTH = 100_000


def json_deep(vocabulary: wb.Vocabulary) -> None:
    """Open, look, take back: what a token costs is the same at every depth, in counts."""
    matcher = start(samples.generic_json(), vocabulary)
    opening, quote = token(vocabulary, "["), token(vocabulary, '"')
    brace, colon, one = (token(vocabulary, c) for c in "{:1")
    piece = [opening, brace, quote, one, quote, colon]
    masks: dict[int, list[list[int]]] = {}
    counts = {}
    before = matcher.stats()
    for depth in range(1, DEPTH + 1):
        looked = depth in (10, 20, 1000, 1010, DEPTH - 10, DEPTH)
        seen = []
        for token_id in piece if depth % 10 == 0 else [opening]:
            if looked:
                seen.append(ids_of(mask_of(matcher)))
            assert matcher.accept(token_id)
        if looked:
            masks[depth] = seen
        if depth in (100, 1_100, 2_100, DEPTH - 1000, DEPTH):
            now = matcher.stats()
            counts[depth] = {name: now[name] - before[name] for name in now}
            before = now
    assert masks[20] == masks[1000] == masks[1010] == masks[DEPTH - 10] == masks[DEPTH]
    for name in ("steps", "stack_nodes", "stack_sets"):
        # what is met for the first time costs a step or two more, and so does an array that grows
        for depth in (1_100, 2_100):
            assert 0 <= counts[depth][name] - counts[DEPTH][name] <= 5, (name, counts)
    for name in ("shapes", "configurations", "masks", "trie_nodes", "mask_misses"):
        assert counts[DEPTH][name] == 0 or name == "shapes", (name, counts)
    assert counts[2_100]["shapes"] == counts[DEPTH]["shapes"]
    assert spell(matcher, "1") == 1
    deep = ids_of(mask_of(matcher))
    assert token(vocabulary, "}") in deep
    assert not set(vocabulary.eos_ids) & set(deep)
    closing = token(vocabulary, "]")
    assert not matcher.accept(closing)
    for _ in range(DEPTH // 10):
        assert spell(matcher, "}" + "]" * 10) == 11
    assert matcher.is_accepting
    assert set(vocabulary.eos_ids) <= set(ids_of(mask_of(matcher)))
    matcher.rollback(DEPTH // 10 * 11)
    assert ids_of(mask_of(matcher)) == deep
    matcher.rollback(matcher.num_accepted)
    first = ids_of(mask_of(matcher))
    assert opening in first
    assert closing not in first


@case()
def json_a_hundred_thousand_deep() -> None:
    json_deep(small('"}', "]]", "[["))


@case(real=True)
def json_a_hundred_thousand_deep_over_a_real_vocabulary() -> None:
    json_deep(llama())


@case()
def a_list_ten_thousand_long_of_ambiguous_items() -> None:
    """Items that are read in two ways, in a list that is read in many."""
    item = Alt((Ref("A"), Ref("B"), Seq((Ref("A"), Ref("B")))))
    rules = {
        "root": Alt((joined(item, option(lit(","))), Seq((Ref("root"), Ref("root"))))),
        "A": Repeat(one_of("ab"), 1, 4),
        "B": Alt((one_of("bc"), Seq((lit("a"), option(Ref("B")))))),
    }
    matcher = start(rules, small("ab", "a,", ",,"))
    assert spell(matcher, "ab,bcab,a" * 1111) == 9999
    assert words(matcher) == {"a", "b", "c", ",", "ab", "a,", "END"}


# The process


def peak_mb() -> float:
    """Most memory so far. What the system reports of a child's usage counts its parent's as well."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    except OSError:
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used / (2**20 if sys.platform == "darwin" else 2**10)


def main(name: str) -> None:
    """Run a case and print what it took."""
    if name in REAL:
        llama()
    mask_of(start(star(one_of("ab")), llama() if name in REAL else small()))
    memory, began = peak_mb(), time.process_time()
    limit = int(began) + SECONDS + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    outcome = "answered"
    try:
        CASES[name]()
    except wb.GrammarTooComplex as error:
        outcome = f"refused: {error}"
    spent, grown = time.process_time() - began, peak_mb() - memory
    print(json.dumps({"outcome": outcome, "seconds": round(spent, 2), "grown_mb": round(grown)}))


if __name__ == "__main__":
    os.environ.setdefault("TQDM_DISABLE", "1")
    main(sys.argv[1])
