"""Regular expressions: tables from ECMA-262, `re` and `regex` as independent judges, error texts."""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from itertools import pairwise

import pytest
import regex as regex_package
from hypothesis import example, given, settings, strategies as st

from tests.frontends.ir_match import matches
from workbench.errors import GrammarSyntaxError
from workbench.frontends.regex import Branch, full_match, parse_regex, regex, search
from workbench.frontends.unicode_sets import (
    ANY,
    complement,
    fold_case,
    normalise,
    property_ranges,
)
from workbench.grammar.ir import ByteSet, CharSet, Origin, Repeat, Seq, walk


def members(pattern: str, *, ignore_case: bool = False) -> set[int]:
    (branch,) = parse_regex(pattern, ignore_case=ignore_case)
    assert isinstance(branch.expr, CharSet)
    return {code for low, high in branch.expr.ranges for code in range(low, high + 1)}


FULL = [
    # pattern, texts that match from end to end, texts that do not
    ("", [""], ["a"]),
    ("abc", ["abc"], ["ab", "abcd", "ABC", ""]),
    ("a|bc|", ["a", "bc", ""], ["abc", "b"]),
    ("(a|b)*c", ["c", "abac"], ["ab", "cc"]),
    ("(?:ab)+", ["ab", "abab"], ["", "aba"]),
    ("(?<year>[0-9]{4})-(?P<month>[0-9]{2})", ["2024-01"], ["2024-1", "202-011"]),
    ("a{2}", ["aa"], ["a", "aaa"]),
    ("a{2,}", ["aa", "a" * 9], ["a"]),
    ("a{2,3}", ["aa", "aaa"], ["a", "aaaa"]),
    ("a{0}b", ["b"], ["ab"]),
    ("a*?b+?c??d{1,2}?", ["bd", "abbcdd"], ["ad", "bcddd"]),
    ("(a{1,2}){2}", ["aa", "aaaa"], ["a", "aaaaa"]),
    ("(a*)*", ["", "aaa"], ["b"]),
    ("a{1000000,2000000}", [], ["a", "a" * 50]),
    (".", ["a", "é", "😀", "\x00", "\x85"], ["\n", "\r", "\u2028", "\u2029", "", "ab"]),
    ("[a-c]", ["a", "b", "c"], ["d", "-", ""]),
    ("[^a-c]", ["d", "\n", "😀"], ["a", "b", "c"]),
    ("[]", [], ["", "]", "a"]),
    ("[^]", ["a", "\n", "]"], ["", "ab"]),
    ("[^^]", ["a"], ["^"]),
    ("[a^]", ["a", "^"], ["b"]),
    ("[-a]", ["-", "a"], ["b"]),
    ("[a-]", ["-", "a"], ["b"]),
    ("[+--]", ["+", ",", "-"], ["*", "."]),
    (r"[\w-.]", ["a", "-", "."], ["+", "/"]),
    (r"[.-\d]", [".", "-", "7"], ["/", "+"]),
    (r"[a\]b]", ["]", "a", "b"], ["\\"]),
    ("[[(.*+?{|^$]", list("[(.*+?{|^$"), ["\\", "]", ")"]),
    (r"[\b]", ["\b"], ["b"]),
    (r"[^\d\s]", ["a", "_"], ["1", " ", "\t"]),
    (r"\d\D\w\W\s\S", ["1a_- x"], ["aaaaaa", "1a_-xx"]),
    (r"\d", ["0", "9"], ["a", "٣", "²"]),
    (r"\w", ["a", "Z", "_", "5"], ["é", "-", "ß"]),
    (r"\s", [" ", "\t", "\n", "\u00a0", "\ufeff", "\u3000", "\u2028"], ["\u200b", "\x1c", "\x85"]),
    (r"\n\r\t\f\v", ["\n\r\t\f\v"], ["nrtfv"]),
    (r"\0\x41\u0042\u{43}\u{1F600}", ["\0ABC😀"], ["0ABC😀"]),
    (r"\uD83D\uDE00", ["😀"], ["😁"]),
    (r"[\uD83D\uDE00-\uD83D\uDE02]", ["😀", "😁", "😂"], ["😃", "-"]),
    (r"[\u{1F600}-\u{1F602}x]", ["😀", "x"], ["😃"]),
    (r"\cA\cz", ["\x01\x1a"], ["cA"]),
    (r"\.\*\+\?\(\)\[\]\{\}\|\^\$\\\/\-", [r".*+?()[]{}|^$\/-"], ["a"]),
    (r"\"\'\@\ \é", ["\"'@ é"], []),
    ("}]{a}{", ["}]{a}{"], []),
    ("x{a}", ["x{a}"], ["xa"]),
    (r"\p{Lu}\p{L}\P{L}", ["Éé1", "ZZ "], ["ééa", "1a1"]),
    (r"\p{Script=Greek}+", ["αβγ", "Ω"], ["abc", "я"]),
    (r"[\p{Nd}_]", ["7", "٣", "_"], ["a", "²"]),
    (r"[^\p{L}]", ["1", " "], ["a", "é"]),
    (r"\p{Emoji_Presentation}", ["😀"], ["a"]),
    ("^(a|b)$", ["a", "b"], ["ab"]),
    ("(^a|b$)", ["a", "b"], ["ab"]),
    (r"\Aab\Z|\Acd\z", ["ab", "cd"], ["abcd"]),
    ("^^a$$", ["a"], ["^a"]),
    ("^a|b$", ["a", "b"], ["ab"]),
    ("^([a-z]+(,|$))+$", ["a", "a,b", "a,b,"], ["", ",a"]),
    ("é|漢|😀", ["é", "漢", "😀"], ["e"]),
    ("(?i)aB[c-d]", ["ab" + "c", "ABD", "aBC"], ["abe"]),
    ("(?i)k", ["k", "K", "\u212a"], ["c"]),
    ("(?i)straße", ["STRAßE", "Straẞe"], ["STRASSE"]),
    ("(?i)[^k]", ["a"], ["k", "K", "\u212a"]),
    ("(?i)σ", ["σ", "Σ", "ς"], ["s"]),
]


@pytest.mark.parametrize(("pattern", "accepted", "refused"), FULL, ids=[row[0] for row in FULL])
def test_full_match(pattern: str, accepted: list[str], refused: list[str]) -> None:
    grammar = regex(pattern)
    assert grammar.kind == "regex"
    assert grammar.source == pattern
    assert [t for t in accepted if not matches(grammar, t)] == []
    assert [t for t in refused if matches(grammar, t)] == []


SEARCH = [
    ("b", ["b", "abc", "😀b\n"], ["", "ac"]),
    ("^b", ["b", "bc"], ["ab", "\nb"]),
    ("b$", ["b", "ab"], ["bc", "b\n"]),
    ("^b$", ["b"], ["ab", "bc", "b\n"]),
    ("^a|b$", ["a", "ax", "xb"], ["xa", "bx"]),
    ("(^a|b$)", ["a", "ax", "xb"], ["xa", "bx"]),
    ("(^|,)a($|;)", ["a", "x,a", "a;x", "x,a;x"], ["xa", "ax", ",ax"]),
    ("(^|x)?a", ["a", "ya"], ["b"]),
    ("a?^b", ["b", "bc"], ["ab", "cb"]),
    ("a($|b?)c?", ["a", "xa", "ax"], ["b"]),
    ("^([^,]+(,|$)){3,}$", ["a,b,c", "a,b,c,", "a,b,c,d"], ["a,b", "a,b,,c"]),
    ("(^a|b){2}$", ["ab", "xbb", "bb"], ["ba", "xab", "aa"]),
    ("(^$){2}", [""], ["a"]),
    ("", ["", "anything"], []),
    ("^", ["", "anything"], []),
    ("$", ["", "anything"], []),
    ("^$", [""], ["a", "\n"]),
    ("$^", [""], ["a", "\n"]),
]


@pytest.mark.parametrize(("pattern", "accepted", "refused"), SEARCH, ids=[row[0] for row in SEARCH])
def test_search(pattern: str, accepted: list[str], refused: list[str]) -> None:
    expr = search(parse_regex(pattern))
    assert [t for t in accepted if not matches(expr, t)] == []
    assert [t for t in refused if matches(expr, t)] == []


def test_branches_carry_their_ends() -> None:
    assert [(b.anchored_start, b.anchored_end) for b in parse_regex("^a|b$|^c$|d|e")] == [
        (True, False),
        (False, True),
        (True, True),
        (False, False),
    ]
    assert parse_regex("^a$") == (Branch(CharSet(((97, 97),)), True, True),)


def test_leaves_are_characters_alone() -> None:
    for pattern, _, _ in FULL + SEARCH:
        for branch in parse_regex(pattern):
            for part in walk(branch.expr):
                assert type(part).__name__ in {"CharSet", "Seq", "Alt", "Repeat"}


# --- random patterns against `re` -------------------------------------------------------------------

ATOMS = ["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", r"\w", r"\d", r"\S", r"\x61", "é", "1"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{2,}", "{0}"]


def patterns(*leaves: str) -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(leaves),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
            inner.map(lambda part: f"({part}|)"),
            st.tuples(inner, st.sampled_from(QUANTIFIERS)).map(lambda p: f"({p[0]}){p[1]}"),
        ),
        max_leaves=8,
    )


TEXTS = st.lists(st.text(alphabet="aabbcé1 ", max_size=6), min_size=1, max_size=8)


@given(patterns(*ATOMS), TEXTS)
@settings(max_examples=300, deadline=None)
def test_full_match_agrees_with_re(pattern: str, texts: list[str]) -> None:
    judge = re.compile(pattern, re.ASCII)
    grammar = regex(pattern)
    for text in ["", *texts]:
        assert matches(grammar, text) == (judge.fullmatch(text) is not None), text


@given(patterns("a", "b", "[^a]", ".", "^", "$", r"\A", r"\Z", "(^|,)", "(,|$)"), TEXTS)
@example("(?:(^|,)b)+", [",b", "b,b"])
@example("(?:a*(^|,)(b|$)){2,3}", ["b", ",b,b", "a,b"])
@settings(max_examples=300, deadline=None)
def test_search_agrees_with_re_whatever_the_anchors(pattern: str, texts: list[str]) -> None:
    judge = re.compile(pattern.replace("$", r"\Z"))
    texts = ["", *(text.replace("c", ",") for text in texts)]
    try:
        branches = parse_regex(pattern)
    except GrammarSyntaxError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert "can never hold" in refusal
        return
    expr, whole = search(branches), full_match(branches)
    for text in texts:
        assert matches(expr, text) == (judge.search(text) is not None), text
        assert matches(whole, text) == (judge.fullmatch(text) is not None), text


# --- sets of characters -----------------------------------------------------------------------------


def test_white_space_is_the_list_of_ecma_262() -> None:
    zs = {c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) == "Zs"}
    assert members(r"\s") == zs | {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x2028, 0x2029, 0xFEFF}
    assert members(r"\S") == set(range(0x110000)) - members(r"\s")


@pytest.mark.parametrize(
    "name", ["Lu", "Ll", "Lt", "L", "Nd", "N", "P", "Zs", "Sm", "Cc", "Cs", "M"]
)
def test_general_categories_agree_with_unicodedata(name: str) -> None:
    found = members(rf"\p{{{name}}}")
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        # Characters of later versions of Unicode are known to one of the two; U+0295 has moved.
        if category != "Cn" and code != 0x295:
            assert (code in found) == category.startswith(name), hex(code)


def test_properties_have_several_spellings() -> None:
    assert property_ranges("Lu") == property_ranges("General_Category=Uppercase_Letter")
    assert property_ranges("Script=Greek") == property_ranges("sc=Grek")
    assert property_ranges("Any") == ANY
    assert members(r"\P{Greek}") == set(range(0x110000)) - members(r"\p{Greek}")
    with pytest.raises(KeyError):
        property_ranges("L}|(x")


def test_case_partners_agree_with_the_regex_package() -> None:
    turkic = {
        "i",
        "I",
        "ı",
        "İ",
    }  # the package adds the special folding of Turkic to the simple one
    letters = [chr(c) for c in range(0x20000) if fold_case(((c, c),)) != ((c, c),)]
    assert len(letters) > 2700
    for letter in letters:
        if letter not in turkic:
            judge = regex_package.compile(regex_package.escape(letter), regex_package.IGNORECASE)
            for low, high in fold_case(((ord(letter), ord(letter)),)):
                for code in range(low, high + 1):
                    assert judge.fullmatch(chr(code)), (letter, hex(code))


@pytest.mark.parametrize("letter", "aksKSßµåωσΣžǆᾳꭰЯ7-é漢ſ")
def test_case_partners_are_complete(letter: str) -> None:
    judge = regex_package.compile(regex_package.escape(letter), regex_package.IGNORECASE)
    everything = "".join(c for c in map(chr, range(0x20000)) if unicodedata.category(c) != "Cn")
    assert members(regex_package.escape(letter), ignore_case=True) == {
        ord(match.group()) for match in judge.finditer(everything)
    }


def test_ignore_case_covers_ranges_and_negation() -> None:
    assert members("[A-Z]", ignore_case=True) == members("[A-Za-zſ\u212a]")
    assert members("[^a-z]", ignore_case=True) == set(range(0x110000)) - members("[A-Za-zſ\u212a]")
    assert parse_regex("(?i)ab")[0].expr == parse_regex("ab", ignore_case=True)[0].expr


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=8))
def test_range_arithmetic(pairs: list[tuple[int, int]]) -> None:
    pairs = [(low, low + width) for low, width in pairs]
    wanted = {code for low, high in pairs for code in range(low, high + 1)}
    ranges = normalise(pairs)
    assert {code for low, high in ranges for code in range(low, high + 1)} == wanted
    assert all(left[1] + 1 < right[0] for left, right in pairwise(ranges))
    assert normalise((*ranges, *complement(ranges))) == ANY
    assert complement(complement(ranges)) == ranges


# --- origins, errors, limits ------------------------------------------------------------------------


def test_origins_point_into_the_pattern() -> None:
    pattern = "^x(ab|[0-9]{2,3})$"
    (branch,) = parse_regex(pattern, pointer="#/pattern")
    spans = {}
    for part in walk(branch.expr):
        assert part.origin is not None
        assert part.origin.pointer == "#/pattern"
        spans[type(part).__name__ + pattern[part.origin.start : part.origin.end]] = part
    assert {"CharSetx", "CharSeta", "Seqab", "CharSet[0-9]", "Repeat[0-9]{2,3}"} <= spans.keys()
    assert isinstance(spans["Repeat[0-9]{2,3}"], Repeat)
    assert spans["CharSetx"].origin == Origin(pointer="#/pattern", start=1, end=2)


ERRORS = [
    # pattern, column, underlined text, part of the message
    ("(a", 1, "(", "never closed: ')' is missing"),
    ("x(a(b)", 2, "(", "never closed"),
    ("a)", 2, ")", "closes no group"),
    ("[a-", 1, "[", "never closed: ']' is missing"),
    ("x[^", 2, "[", "never closed"),
    ("*a", 1, "*", "nothing to repeat"),
    ("a|+", 3, "+", "nothing to repeat"),
    ("({2})", 2, "{", "nothing to repeat"),
    ("a**", 2, "**", "cannot follow another"),
    ("a{2}{3}", 2, "{2}{", "cannot follow another"),
    ("a*+", 2, "*+", "possessive quantifiers are not supported"),
    ("a{3,2}", 2, "{3,2}", "least count is above the greatest"),
    ("a{,2}", 2, "{,2}", "no least number"),
    ("a{99999999999999999999}", 2, "{99999999999999999999}", "too large"),
    ("^*", 1, "^*", "an anchor cannot be repeated"),
    ("a^b", 2, "^", "can never hold"),
    ("ab(c|^d)|x(^y)", 11, "(^y)", "can never hold"),
    ("$a", 1, "$", "can never hold"),
    ("[z-a]", 2, "z-a", "backwards"),
    ("(?>a)", 1, "(?>", "an atomic group (?>…) is not supported"),
    ("(?P=n)", 1, "(?P=", "back-reference"),
    ("a(?i)", 2, "(?i)", "flags stand at the very start"),
    ("(?~a)", 1, "(?", "does not start as any known group"),
    ("(?<1>a)", 1, "(?<1>", "not an identifier"),
    (r"(a)\1", 4, r"\1", r"back-reference \1 is not supported"),
    (r"\k<n>", 1, r"\k", "back-reference"),
    (r"\01", 1, r"\01", "octal escapes are not supported"),
    (r"\y", 1, r"\y", "not an escape"),
    ("a\\", 2, "\\", "ends after a backslash"),
    (r"\x4", 1, r"\x", "needs 2 hexadecimal digits"),
    (r"\u12", 1, r"\u", "needs 4 hexadecimal digits"),
    (r"\u{}", 1, r"\u{", "needs hexadecimal digits"),
    (r"\u{110000}", 1, r"\u{110000}", "no character above U+10FFFF"),
    (r"a\uD83Db", 2, r"\uD83D", "half of a surrogate pair"),
    ("\ud83d", 1, "\ud83d", "half of a surrogate pair"),
    (r"\c1", 1, r"\c", "needs a letter"),
    (r"\pL", 1, r"\p", "needs its name in braces"),
    (r"\p{Lu", 1, r"\p", "needs its name in braces"),
    (r"a\p{Klingon}", 2, r"\p{Klingon}", "no Unicode property named 'Klingon'"),
    ("ab\n(c", 1, "(", "line 2"),
]


@pytest.mark.parametrize(("pattern", "column", "part", "text"), ERRORS, ids=[e[0] for e in ERRORS])
def test_errors_say_what_and_where(pattern: str, column: int, part: str, text: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        regex(pattern)
    error = caught.value
    assert text in str(error)
    assert error.column == column
    _, line, marks = str(error).split("\n")[:3]
    underlined = "".join(c for c, m in zip(line, marks, strict=False) if m == "~")
    assert underlined == part


def test_error_text_in_full() -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        parse_regex("^[a-z]+(?=x)", pointer="#/properties/a/pattern")
    assert str(caught.value) == (
        "line 1, column 8: look-ahead (?=…) is not supported (at #/properties/a/pattern)\n"
        "^[a-z]+(?=x)\n"
        "       ~~~"
    )


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 100_000 + "a" + ")" * 100_000,
        "(a" * 100_000 + ")*" * 100_000,
        "a" * 100_000,
        "a|" * 100_000,
        "(^|a)" * 2_000,
        "[" + "a-z" * 100_000 + "]",
    ],
    ids=["nested", "nested repeats", "long", "wide", "anchors in a row", "long class"],
)
def test_size_is_no_limit(pattern: str) -> None:
    started = time.perf_counter()
    assert parse_regex(pattern)
    assert time.perf_counter() - started < 60


@pytest.mark.parametrize("pattern", ["(" * 100_000, ")" * 100_000, "[" * 100_000, "(a|" * 50_000])
def test_broken_and_deep(pattern: str) -> None:
    with pytest.raises(GrammarSyntaxError):
        parse_regex(pattern)


def test_anchors_that_would_multiply_are_refused() -> None:
    pattern = "x"
    for _ in range(30):
        pattern = f"((^|){pattern}($|))"
    with pytest.raises(GrammarSyntaxError, match="nested in too many ways"):
        parse_regex(pattern)


def test_search_pads_only_the_free_ends() -> None:
    anything = Repeat(CharSet(ANY), 0, None)
    a = CharSet(((97, 97),))
    assert search(parse_regex("^a$")) == a
    assert search(parse_regex("^a")) == Seq((a, anything))
    assert search(parse_regex("a$")) == Seq((anything, a))
    assert search(parse_regex("a")) == Seq((anything, a, anything))


# --- patterns of bytes ------------------------------------------------------------------------------

BYTE_ATOMS = [
    rb"a", rb".", rb"\xff", rb"\x00", rb"[\x80-\xff]", rb"[^\xc3a]", rb"[^a\n]", rb"\w", rb"\W", rb"\d",
    rb"\D", rb"\s", rb"\S", rb"[\s\xa0]", rb"[\W\d]", b"\xc3", b"[\xa9-\xab-]", rb"\n", rb"[\b]", rb"\.",
]  # fmt: skip
BYTE_STRINGS = st.lists(
    st.lists(st.sampled_from(b"aA1_ \n\x85\xa0\xc3\xa9\xff\x00.\x0b"), max_size=5).map(bytes),
    min_size=1,
    max_size=8,
)


@st.composite
def byte_patterns(draw: st.DrawFn) -> bytes:
    spelled = draw(patterns(*(atom.decode("latin-1") for atom in BYTE_ATOMS)))
    return spelled.encode("latin-1")


@given(byte_patterns(), BYTE_STRINGS, st.booleans())
@settings(max_examples=300, deadline=None)
def test_patterns_of_bytes_agree_with_re(
    pattern: bytes, texts: list[bytes], ignore_case: bool
) -> None:
    compiled = re.compile(pattern, re.DOTALL | (re.IGNORECASE if ignore_case else 0))
    grammar = regex(pattern, ignore_case=ignore_case)
    anywhere = search(parse_regex(pattern, ignore_case=ignore_case), of_bytes=True)
    for text in texts:
        assert matches(grammar, text) == (compiled.fullmatch(text) is not None)
        assert matches(anywhere, text) == (compiled.search(text) is not None)


@pytest.mark.parametrize("atom", BYTE_ATOMS, ids=repr)
@pytest.mark.parametrize("ignore_case", [False, True])
def test_classes_of_bytes_are_those_of_re(atom: bytes, ignore_case: bool) -> None:
    expr = regex(atom, ignore_case=ignore_case).rules["root"]
    assert isinstance(expr, ByteSet)
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    expected = {b for b in range(256) if re.fullmatch(atom, bytes([b]), flags)}
    assert {b for b in range(256) if expr.mask >> b & 1} == expected


def test_a_pattern_of_bytes_keeps_what_it_was_read_from() -> None:
    grammar = regex(b"\xff+|a")
    assert (grammar.kind, grammar.source) == ("regex", b"\xff+|a")
    spans = {
        (part.origin.start, part.origin.end) for part in walk(grammar.rules["root"]) if part.origin
    }
    assert spans == {(0, 4), (0, 1), (0, 2), (3, 4)}
    assert {type(part) for part in walk(regex(rb"(?i)[a]{2}").rules["root"])} == {Repeat, ByteSet}


@pytest.mark.parametrize(
    ("pattern", "column", "part", "text"),
    [
        (rb"a\u0041", 2, r"\u", "this is a pattern of bytes"),
        (rb"\p{L}", 1, r"\p", "this is a pattern of bytes"),
        (rb"[a\P{L}]", 3, r"\P", "write the bytes, as in"),
        (rb"\xf", 1, r"\x", "needs 2 hexadecimal digits"),
        (b"\xff(", 2, "(", "this group is never closed"),
    ],
)
def test_errors_in_patterns_of_bytes(pattern: bytes, column: int, part: str, text: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        regex(pattern)
    assert text in str(caught.value)
    assert caught.value.column == column
    _, line, marks = str(caught.value).split("\n")[:3]
    assert "".join(c for c, m in zip(line, marks, strict=False) if m == "~") == part
