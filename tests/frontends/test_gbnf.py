"""GBNF: the dialect of llama.cpp in tables, random grammars with their meaning, samples, errors."""

from __future__ import annotations

import tarfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.frontends.ir_match import matches
from workbench.errors import GrammarSyntaxError, GrammarTooComplex
from workbench.frontends.gbnf import gbnf
from workbench.grammar.ir import (
    EMPTY,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Origin,
    Ref,
    Repeat,
    Seq,
    Token,
    literal,
    walk,
)
from workbench.grammar.until import until

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "gbnf-samples.tar.xz"
ANY = ((0, 0x10FFFF),)


def root(text: str) -> Expr:
    return gbnf(text).rules["root"]


def chars(text: str) -> CharSet:
    codes = {ord(c) for c in text}
    lows = sorted(c for c in codes if c - 1 not in codes)
    highs = sorted(c for c in codes if c + 1 not in codes)
    return CharSet(tuple(zip(lows, highs, strict=True)))


def byte_set(values: Iterable[int]) -> ByteSet:
    return ByteSet(sum(1 << value for value in values))


FORMS = [
    ('root ::= "ab"', literal("ab")),
    ('root ::= ""', Literal(b"")),
    ("root ::=", EMPTY),
    ("root ::= ()", EMPTY),
    ('root ::= "a" | ', Alt((literal("a"), EMPTY))),
    (r'root ::= "\n\r\t\\\"\[\]\-"', literal('\n\r\t\\"[]-')),
    (r'root ::= "\x41\u00e9\U0001F600\xff"', literal("Aé😀\u00ff")),
    ('root ::= "line\nbreak"', literal("line\nbreak")),
    ('root ::= "#|()[]{}"', literal("#|()[]{}")),
    ("root ::= [abc]", CharSet(((97, 99),))),
    ("root ::= [a-cx]", CharSet(((97, 99), (120, 120)))),
    ("root ::= [^a]", CharSet(((0, 96), (98, 0x10FFFF)))),
    ("root ::= [a^]", chars("a^")),
    ("root ::= [-a]", chars("-a")),
    ("root ::= [a-]", chars("-a")),
    ("root ::= [a-c-e]", CharSet(((45, 45), (97, 99), (101, 101)))),
    (r"root ::= [\]\[\\\"\-]", chars(']["-\\')),
    (r"root ::= [a\-z]", chars("a-z")),
    ('root ::= ["]', chars('"')),
    ("root ::= [#|(]", chars("#|(")),
    (r"root ::= [\x00-\x1F\u2028]", CharSet(((0, 31), (0x2028, 0x2028)))),
    ("root ::= [ぁ-ゟ]", CharSet(((0x3041, 0x309F),))),
    ("root ::= []", CharSet(())),
    ("root ::= [^]", CharSet(ANY)),
    ("root ::= .", CharSet(ANY)),
    ("root ::= <think>", Token(names=("<think>",))),
    ("root ::= <|im_start|>", Token(names=("<|im_start|>",))),
    ("root ::= < a b >", Token(names=("< a b >",))),
    ("root ::= <[1000]>", Token((1000,))),
    ("root ::= <[ 7, 1000 - 1002,5]>", Token((5, 7, 1000, 1001, 1002))),
    ("root ::= !</think>", Token(names=("</think>",), negated=True)),
    ("root ::= !<[1001]>*", Repeat(Token((1001,), negated=True), 0, None)),
    ("root ::= <a><b>", Seq((Token(names=("<a>",)), Token(names=("<b>",))))),
    ('root ::= "a"*', Repeat(literal("a"), 0, None)),
    ('root ::= "a"+', Repeat(literal("a"), 1, None)),
    ('root ::= "a"?', Repeat(literal("a"), 0, 1)),
    ('root ::= "a" *', Repeat(literal("a"), 0, None)),
    ('root ::= "a"{3}', Repeat(literal("a"), 3, 3)),
    ('root ::= "a"{3,}', Repeat(literal("a"), 3, None)),
    ('root ::= "a"{0,7}', Repeat(literal("a"), 0, 7)),
    ('root ::= "a" { 3 , 7 }', Repeat(literal("a"), 3, 7)),
    ('root ::= "a"{1000000,2000000}', Repeat(literal("a"), 1_000_000, 2_000_000)),
    ('root ::= "ab"+?', Repeat(Repeat(literal("ab"), 1, None), 0, 1)),
    ('root ::= "a"{2}*', Repeat(Repeat(literal("a"), 2, 2), 0, None)),
    ('root ::= "a" "b"* "c"', Seq((literal("a"), Repeat(literal("b"), 0, None), literal("c")))),
    ('root ::= "a"|"b"|"c"', Alt((literal("a"), literal("b"), literal("c")))),
    ('root ::= ("a" | "b") "c"', Seq((Alt((literal("a"), literal("b"))), literal("c")))),
    ('root ::= (("a"))', literal("a")),
    ('root ::= ("a" "b")+', Repeat(Seq((literal("a"), literal("b"))), 1, None)),
    # Lines
    ('root ::= "a" |\n "b"', Alt((literal("a"), literal("b")))),
    ('root ::=\n\n "a"', literal("a")),
    ('root ::= (\n"a"\n|\n"b"\n*\n)', Alt((literal("a"), Repeat(literal("b"), 0, None)))),
    ('root ::= ("a"{\n2\n,\n3\n})', Repeat(literal("a"), 2, 3)),
    ('root ::= "a" # text "b"', literal("a")),
    (
        '# first\n\n  root ::= # why\n "a" | # or\n # and\n "b" # end',
        Alt((literal("a"), literal("b"))),
    ),
    ('\r\nroot ::= "a" |\r\n"b"\r\n\r\n', Alt((literal("a"), literal("b")))),
    ('root ::= "a"\rother ::= "b"', literal("a")),
    ('\ufeffroot ::= "a"', literal("a")),
    ('\t root\t::= \t"a"\t', literal("a")),
]


@pytest.mark.parametrize(("text", "expr"), FORMS, ids=[text for text, _ in FORMS])
def test_forms(text: str, expr: Expr) -> None:
    assert root(text) == expr


def test_rule_names_and_references() -> None:
    names = ["a", "check-mate", "dataType", "UPPER-CASE", "rule_123", "0x", "-", "_"]
    text = f"root ::= {' '.join(names)}\n" + "\n".join(f'{name} ::= "x"' for name in names)
    grammar = gbnf(text)
    assert list(grammar.rules) == ["root", *names]
    assert grammar.rules["root"] == Seq(tuple(Ref(name) for name in names))
    assert (grammar.kind, grammar.start, grammar.source) == ("gbnf", "root", text)
    assert gbnf(text, start="check-mate").start == "check-mate"


ARITHMETIC = """
# left recursion, too
root ::= sum
sum  ::= sum [-+] product | product
product ::= atom ("*" atom)*
atom ::= [0-9]{1,3} | "(" sum ")" | name
name ::= [a-z_]+ ("[" sum? "]")?
"""
LANGUAGES = [
    (ARITHMETIC, ["1", "1+2*3", "(a-b)*c[1]", "x[]", "((7))"], ["", "1+", "1234", "(1", "x[1"]),
    (
        'root ::= ("1. " move " " move "\\n")+\nmove ::= [NBKQR]? [a-h] [1-8] [+#]? | "O-O" "-O"?',
        ["1. e4 e5\n", "1. Nf3+ O-O\n1. O-O-O a1#\n"],
        ["1. e4 e5", "1. e9 e5\n", ""],
    ),
    ('root ::= "a" root "b" |', ["", "ab", "aaabbb"], ["a", "ba", "aab"]),
    ("root ::= [^\\n]+ .", ["ab", "a\n", "é😀"], ["a", "\n\n", ""]),
    ("root ::= [^\\x00-\\x7F]{2}", ["éé", "漢😀"], ["ab", "é", "ééé"]),
    ('root ::= "\\u00e9" | "\\xe9\\xe8"', ["é", "éè"], ["\u00c3", "e"]),
]


@pytest.mark.parametrize(("text", "accepted", "refused"), LANGUAGES)
def test_languages(text: str, accepted: list[str], refused: list[str]) -> None:
    grammar = gbnf(text)
    assert [t for t in accepted if not matches(grammar, t)] == []
    assert [t for t in refused if matches(grammar, t)] == []


def test_escapes_are_code_points_not_bytes() -> None:
    assert not matches(gbnf(r'root ::= "\xc3\xa9"'), "é")
    assert matches(gbnf(r'root ::= "\xe9"'), "é")
    assert not matches(gbnf(r'root ::= "\xe9"'), b"\xe9")


# --- extensions ---------------------------------------------------------------------------------------

EXTENSIONS = [
    (r'root ::= b"\xff\x00a\n"', Literal(b"\xff\x00a\n")),
    (r"root ::= b[\x80-\xff]", byte_set(range(0x80, 0x100))),
    (r"root ::= b[^\n\xf0-\xff]", byte_set({*range(0xF0)} - {10})),
    ("root ::= b[^]", byte_set(range(0x100))),
    ("root ::= b[]", ByteSet(0)),
    ('root ::= b["b]*', Repeat(byte_set(b'"b'), 0, None)),
    ('root ::= ab"x"\nab ::= "y"', Seq((Ref("ab"), literal("x")))),
    # rules of these names take them back
    ('root ::= b"x"*\nb ::= "y"', Seq((Ref("b"), Repeat(literal("x"), 0, None)))),
    ('root ::= b[x]{2}\r\n b\t::= "y"', Seq((Ref("b"), Repeat(chars("x"), 2, 2)))),
    ('root ::= until("x")+\nuntil ::= "y"', Seq((Ref("until"), Repeat(literal("x"), 1, None)))),
    ('root ::= b"x" # b ::=\na-b ::= "\nb ::= "', Literal(b"x")),
    ('root ::= until("</a>")', until("</a>")),
    ('root ::= until( "a" ,\n"\\u00e9" )', until(["a", "é"])),
    (r'root ::= until("a", b"\xff")', until(["a", b"\xff"])),
    ('root ::= "x" until("a") "y"', Seq((literal("x"), until("a"), literal("y")))),
]


@pytest.mark.parametrize(("text", "expr"), EXTENSIONS, ids=[text for text, _ in EXTENSIONS])
def test_bytes_and_markers(text: str, expr: Expr) -> None:
    assert root(text) == expr


SETS = [
    # text, accepted, refused
    ('root ::= [a-z]+ & ~"if"', ["i", "iff", "a"], ["if", "", "A"]),
    ("root ::= [ab]* & (. .)*", ["", "ab", "aabb"], ["a", "abc", "aba"]),
    ('root ::= "a" | "b" & [bc] | "c" & "d"', ["a", "b"], ["c", "d", ""]),
    ('root ::= "x" ("a" | "b") & . "a" | "y"', ["xa", "y"], ["xb"]),
    ('root ::= ~"a" "!"', ["!", "aa!", "b!!", "é!"], ["a!", "a"]),
    ('root ::= ~"a"{2} & [ab]{1,2}', ["b", "bb", "aa", "ab"], ["", "abb"]),
    ("root ::= ~[a] & ~[b] &\n # more\n ~\n()", ["ab", "c"], ["a", "b", ""]),
    ('root ::= ~(. "a" .*)', ["", "ab", "ba\n"[:1], "b"], ["ba", "baa"]),
    ('root ::= ~~"ab"', ["ab"], ["", "a", "abc"]),
    (
        'root ::= digits & ~zero\ndigits ::= [0-9] digits | [0-9]\nzero ::= "0" .+',
        ["0", "10"],
        ["01"],
    ),
    ('root ::= list & [^b]*\nlist ::= list "," item | item\nitem ::= "a" | "b"', ["a,a"], ["a,b"]),
    ('root ::= x & [^b]+\nx ::= "a" y\ny ::= ~"c" & [abc]', ["aa"], ["ab", "ac", "a"]),
    ('root ::= "(" root ")" | [a-z] & ~[x-z]', ["((a))", "w"], ["((x))", "(a", ""]),
    ('root ::= until("--") & ~(.* "!" .*)', ["--", "a-b--"], ["!--", "a", "----"]),
    ('root ::= ~until("-")', ["a", "", "-a", "--"], ["-", "a-"]),
]


@pytest.mark.parametrize(("text", "accepted", "refused"), SETS, ids=[text for text, _, _ in SETS])
def test_both_and_not(text: str, accepted: list[str], refused: list[str]) -> None:
    grammar = gbnf(text)
    assert not any(name[0] in "&~" for name in grammar.rules)
    assert [t for t in accepted if not matches(grammar, t)] == []
    assert [t for t in refused if matches(grammar, t)] == []


def test_not_is_over_texts_until_a_part_has_bytes() -> None:
    assert not matches(gbnf('root ::= ~"a"'), b"\xff")
    assert matches(gbnf(r'root ::= ~b"\xff"'), b"\xff\xff")
    assert matches(gbnf(r'root ::= ~"a" & b[\x00-\xff]'), b"b")
    assert not matches(gbnf(r'root ::= ~"a" & b[\x00-\xff]'), b"\xff")


def test_an_operation_keeps_its_place() -> None:
    text = 'root ::= "x" ([a-z]+ & ~"if") "y"'
    origins = {part.origin for part in walk(root(text)) if isinstance(part, Graph)}
    assert origins == {Origin(start=14, end=28, rule="root")}
    assert text[14:28] == '[a-z]+ & ~"if"'


def test_an_operation_too_large_names_its_rule() -> None:
    with pytest.raises(GrammarTooComplex) as caught:
        gbnf('root ::= "a" part\npart ::= ~([ab]* "a" [ab]{20})')
    assert caught.value.rule == "part"


def test_many_operations() -> None:
    text = "root ::= " + " ".join(f"(a{i} & ~a{i + 1})" for i in range(200)) + "\n"
    text += "".join(f'a{i} ::= "{i}" | "x" & .\n' for i in range(201))
    assert matches(gbnf(text), "x" * 0 + "".join(map(str, range(200))))
    assert root("root ::= " + "~" * 400 + '"a"') == root('root ::= "a" & .')


# --- random grammars, each text made together with its meaning ---------------------------------------

Piece = tuple[str, Expr]
ESCAPED = {
    "\n": "\\n",
    '"': '\\"',
    "\\": "\\\\",
    "é": "\\u00e9",
    "]": "\\]",
    "[": "\\[",
    "a": "\\x61",
}
SPACES = st.sampled_from(["", " ", "\t", "  "])
BREAKS = st.sampled_from([" ", "\n", "\r\n\t", " # note ) | \n", "\n\n"])
QUANTIFIERS: list[tuple[str, int, int | None]] = [
    ("*", 0, None),
    ("+", 1, None),
    ("?", 0, 1),
    ("{2}", 2, 2),
    ("{0,3}", 0, 3),
    ("{ 2,}", 2, None),
]


@st.composite
def literals(draw: st.DrawFn) -> Piece:
    text = draw(st.text(alphabet='ab#|(]["\\\né😀', max_size=4))
    spelled = "".join(
        ESCAPED[c] if c in '"\\' or (c in ESCAPED and draw(st.booleans())) else c for c in text
    )
    return f'"{spelled}"', literal(text)


@st.composite
def classes(draw: st.DrawFn) -> Piece:
    letters = "".join(sorted(draw(st.sets(st.sampled_from("acegé]^"), min_size=1))))
    spelled = "".join(ESCAPED.get(c, "\\x5e" if c == "^" else c) for c in letters)
    if draw(st.booleans()):
        spelled, letters = f"{spelled}p-r", f"{letters}pqr"
    if draw(st.booleans()):
        bounds = [-1, *(b for pair in chars(letters).ranges for b in pair), 0x110000]
        gaps = zip(bounds[::2], bounds[1::2], strict=True)
        return f"[^{spelled}]", CharSet(tuple((a + 1, b - 1) for a, b in gaps))
    return f"[{spelled}]", chars(letters)


ATOMS = st.one_of(
    literals(),
    classes(),
    st.just((".", CharSet(ANY))),
    st.sampled_from(["root", "other-1"]).map(lambda name: (name, Ref(name))),
)


@st.composite
def groups(draw: st.DrawFn, items: st.SearchStrategy[Piece]) -> Piece:
    text, expr = draw(alternatives(items, BREAKS))
    return f"({draw(SPACES)}{text}{draw(BREAKS)})", expr


@st.composite
def alternatives(
    draw: st.DrawFn, items: st.SearchStrategy[Piece], spaces: st.SearchStrategy[str]
) -> Piece:
    texts, exprs = [], []
    for sequence in draw(st.lists(st.lists(items, max_size=3), min_size=1, max_size=3)):
        parts = [expr for _, expr in sequence]
        exprs.append(parts[0] if len(parts) == 1 else Seq(tuple(parts)))
        gap = draw(spaces) or " "
        texts.append(gap.join(text for text, _ in sequence))
    # An empty part at the end of a rule would take in the next line.
    texts[-1] = texts[-1] or "()"
    return f" |{draw(BREAKS)}".join(texts), exprs[0] if len(exprs) == 1 else Alt(tuple(exprs))


@st.composite
def repeats(draw: st.DrawFn, items: st.SearchStrategy[Piece]) -> Piece:
    text, expr = draw(items)
    mark, least, most = draw(st.sampled_from(QUANTIFIERS))
    return f"{text}{draw(SPACES)}{mark}", Repeat(expr, least, most)


ITEMS = st.recursive(ATOMS, lambda inner: groups(inner) | repeats(inner), max_leaves=8)


@given(alternatives(ITEMS, st.just(" ")), alternatives(ITEMS, st.just("\t")), BREAKS)
@settings(max_examples=150, deadline=None)
def test_random_grammars_mean_what_they_were_made_from(
    first: Piece, second: Piece, gap: str
) -> None:
    grammar = gbnf(f"root ::= {first[0]}\n{gap}other-1 ::= {second[0]}")
    assert grammar.rules == {"root": first[1], "other-1": second[1]}


# --- samples ------------------------------------------------------------------------------------------


def samples() -> dict[str, bytes]:
    with tarfile.open(SAMPLES) as archive:
        names = [name for name in archive.getnames() if name.endswith(".gbnf")]
        return {Path(name).stem: archive.extractfile(name).read() for name in names}


needs_samples = pytest.mark.skipif(not SAMPLES.exists(), reason=f"{SAMPLES.name} is not here")


@needs_samples
def test_every_sample_of_llama_cpp_is_read() -> None:
    found = samples()
    assert len(found) >= 9
    for name, text in found.items():
        grammar = gbnf(text)
        assert len(grammar.rules) == text.decode().count("::="), name


@needs_samples
@pytest.mark.parametrize(
    ("name", "accepted", "refused"),
    [
        (
            "json",
            ['{"a": [1, -2.5e3, {"b": null}], "c": "x\\u00e9\\n"}', "{}", '{"é": true}\n \t'],
            ["[]", '{"a": }', '{"a": 01}', '{"a": "\n"}', "{"],
        ),
        ("arithmetic", ["a=1\n", "(x_1 +2)*3=7 \nb=c\n"], ["a=1", "=1\n", "1a=\n"]),
        ("chess", ["1. e4 e5\n2. Nf3 O-O-O#\n"], ["1. e4 e5\n", "1. e9 e5\n2. a1 a2\n"]),
        ("list", ["- a\n- é b\n"], ["- a", "- \n", "- a\u2028\n"]),
        ("japanese", ["こんにちは", "カタ カナ、漢字"], ["abc", ""]),
        ("vllm-sql", ["SELECTcol_1fromtable_2wherecol_2=1"], ["SELECT col_1 from table_1"]),
    ],
)
def test_samples_mean_what_they_say(name: str, accepted: list[str], refused: list[str]) -> None:
    grammar = gbnf(samples()[name])
    assert [t for t in accepted if not matches(grammar, t)] == []
    assert [t for t in refused if matches(grammar, t)] == []


# --- origins, errors, limits ----------------------------------------------------------------------------


def test_origins_point_into_the_text() -> None:
    text = 'root ::= "a" [b-c]{2} # note\n  tail\n'.replace("\n  tail", " ") + (
        '\ntail ::= (root | .)+ "é"'
    )
    grammar = gbnf(text)
    spans = set()
    for name, expr in grammar.rules.items():
        for part in walk(expr):
            assert part.origin is not None
            assert part.origin.rule == name
            spans.add((name, type(part).__name__, text[part.origin.start : part.origin.end]))
    assert spans == {
        ("root", "Seq", '"a" [b-c]{2}'),
        ("root", "Literal", '"a"'),
        ("root", "Repeat", "[b-c]{2}"),
        ("root", "CharSet", "[b-c]"),
        ("tail", "Seq", '(root | .)+ "é"'),
        ("tail", "Repeat", "(root | .)+"),
        ("tail", "Alt", "root | ."),
        ("tail", "Ref", "root"),
        ("tail", "CharSet", "."),
        ("tail", "Literal", '"é"'),
    }
    assert gbnf("root ::=\n").rules["root"].origin == Origin(rule="root")


ERRORS = [
    # text, line, column, underlined text, part of the message
    ('root ::= "a', 1, 10, '"', "this literal is never closed"),
    ('root ::= "a\\"', 1, 10, '"', "this literal is never closed"),
    ("root ::= [a", 1, 10, "[", "this class is never closed"),
    ('root ::= ("a"', 1, 10, "(", "this '(' is never closed"),
    ('root ::= ("a" ("b")\nb ::= "x"', 1, 10, "(", "this '(' is never closed"),
    ('root ::= "(" "a")', 1, 17, ")", "this ')' closes no '('"),
    ('root ::= "a" ]', 1, 14, "]", "closes no class"),
    ('root ::= "a"\n | "b"', 2, 2, "|", "only after a '|' or inside parentheses"),
    ('root = "a"', 1, 6, "=", "a rule is written with '::='"),
    ('root: "a"', 1, 5, ":", "a rule is written with '::='"),
    ('root "a"', 1, 6, '"a"', "expected '::=', found '\"a\"'"),
    ('root\n::= "a"', 1, 5, "", "expected '::=', found the end of the line"),
    ("root", 1, 1, "root", "expected '::=', found the end of the text"),
    ('root ::= "a" b ::= "c"', 1, 16, "::=", "each rule begins on a line of its own"),
    ('root ::= "a" |\nb ::= "c"', 2, 3, "::=", "an empty part takes in the next line"),
    ('root ::= # x\n\n b ::= "c"', 3, 4, "::=", "an empty part takes in the next line"),
    ('root ::= * "a"', 1, 10, "*", "nothing to repeat"),
    ('root ::= "a" | {2}', 1, 16, "{", "nothing to repeat"),
    ('root ::= "a"{,3}', 1, 14, ",", "a count needs its least number"),
    ('root ::= "a"{,}', 1, 14, ",", "a count needs its least number"),
    ('root ::= "a"{x}', 1, 14, "x", "expected a number, found 'x'"),
    ('root ::= "a"{}', 1, 14, "}", "expected a number, found '}'"),
    ('root ::= "a"{3', 1, 14, "3", "expected ',' or '}', found the end of the text"),
    ('root ::= "a"{3,2}', 1, 13, "{3,2}", "least count is above the greatest"),
    ('root ::= "a"{99999999999999999999}', 1, 14, "9" * 20, "too large"),
    ('root ::= "a"}', 1, 13, "}", "a quantifier, '|' or the end of the rule, found '}'"),
    ("root ::= [z-a]", 1, 11, "z-a", "backwards"),
    (r'root ::= "\d"', 1, 11, r"\d", r"\d is not an escape of GBNF"),
    (r"root ::= [\^]", 1, 11, r"\^", "not an escape"),
    (r'root ::= "\x4g"', 1, 11, r"\x", "needs 2 hexadecimal digits"),
    (r"root ::= [\u12]", 1, 11, r"\u", "needs 4 hexadecimal digits"),
    (r'root ::= "\U0001F60"', 1, 11, r"\U", "needs 8 hexadecimal digits"),
    (r'root ::= "\U00110000"', 1, 11, r"\U00110000", "no character above U+10FFFF"),
    (r'root ::= "\uD83D\uDE00"', 1, 11, r"\uD83D", "half of a surrogate pair"),
    ("root ::= 'a'", 1, 10, "'", "a literal needs double quotes"),
    ('root ::= "a" // b', 1, 14, "/", "comments start with '#'"),
    ('root ::= "a" $', 1, 14, "$", "no meaning here"),
    ("root ::= <think .*", 1, 10, "<", "this terminal is never closed"),
    ("root ::= ! <think>", 1, 10, "!", "no meaning here"),
    ("root ::= <>", 1, 10, "<>", "names no token"),
    ("root ::= (!<[x]>)*", 1, 11, "!<[x]>", "stands the id of a token"),
    ("root ::= <[]>", 1, 10, "<[]>", "stands the id of a token"),
    ("root ::= <[1,]>", 1, 10, "<[1,]>", "stands the id of a token"),
    ("root ::= <[7-5]>", 1, 10, "<[7-5]>", "backwards"),
    ("root ::= <[1000000]>", 1, 10, "<[1000000]>", "this token id is too large"),
    ('root ::= "a" &', 1, 14, "&", "one side of this '&' is missing"),
    ('root ::= | & "a"', 1, 12, "&", "one side of this '&' is missing"),
    ('root ::= "a" & & "b"', 1, 14, "&", "one side of this '&' is missing"),
    ('root ::= "a"\n & "b"', 2, 2, "&", "only after a '&' or inside parentheses"),
    ("root ::= ~", 1, 10, "~", "expected something to match"),
    ('root ::= "a" ~*', 1, 15, "*", "nothing to repeat"),
    ("root ::= until()", 1, 16, ")", "until(…) takes the markers"),
    ('root ::= until(a)\na ::= "b"', 1, 16, "a", "until(…) takes the markers"),
    ('root ::= until("a",)', 1, 20, ")", "until(…) takes the markers"),
    ('root ::= until("a" "b")', 1, 20, '"b"', "expected ')' or ','"),
    ('root ::= until("a"', 1, 15, "(", "never closed"),
    ('root ::= until("")', 1, 16, '""', "a marker is not empty"),
    (r'root ::= until("\uD83D")', 1, 17, r"\uD83D", "half of a surrogate pair"),
    ('root ::= b"é"', 1, 12, "é", "stand bytes"),
    (r'root ::= b"\u0041"', 1, 12, r"\u0041", "stand bytes"),
    ("root ::= b[a-é]", 1, 14, "é", "stand bytes"),
    (r"root ::= b[\xff-\x80]", 1, 12, r"\xff-\x80", "first byte comes after its last"),
    ('root ::= b"a', 1, 11, '"', "this literal is never closed"),
    ('root ::= "a" & x', 1, 16, "x", "rule 'x' is used but not defined"),
    (
        'root ::= ~x\nx ::= "(" x ")" | "a"',
        2,
        11,
        "x",
        "what ~ in rule 'root' applies to has to be",
    ),
    ("root ::= <a> & .", 1, 10, "<a>", "it names a token, which is no text"),
    ('root ::= "a" root & "b"', 1, 10, None, "comes back to itself through rule 'root'"),
    ('root ::= ~y\ny ::= "a" root', 1, 10, "~y", "this use of ~ comes back to itself"),
    (f"root ::= <[{'9' * 5000}]>", 1, 10, None, "this token id is too large"),
    ('root ::= expresion\nexpression ::= "a"', 1, 10, "expresion", "did you mean 'expression'?"),
    ("root ::= zzz", 1, 10, "zzz", "rule 'zzz' is used but not defined"),
    ('root ::= "a"\n\nroot ::= "b"', 3, 1, "root", "rule 'root' is defined twice, first in line 1"),
]


@pytest.mark.parametrize(("text", "line", "column", "part", "message"), ERRORS)
def test_errors_say_what_and_where(
    text: str, line: int, column: int, part: str | None, message: str
) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        gbnf(text)
    error = caught.value
    assert message in str(error)
    assert (error.line, error.column) == (line, column)
    _, shown, marks = str(error).split("\n")[:3]
    underlined = "".join(c for c, m in zip(shown, marks, strict=False) if m == "~")
    assert part is None or underlined == part


WHOLE_ERRORS: list[tuple[str | bytes, str]] = [
    ("", "the grammar is empty: it has no rules"),
    (" \n# nothing\n", "the grammar is empty: it has no rules"),
    ('a ::= "x"', "there is no rule named 'root'"),
    ('root ::= "\0"', "not a grammar text: character 10 is NUL"),
    (b"root ::= \xff", "not a grammar text: byte 9 (⟨FF⟩) is not UTF-8"),
    (b"\x7fELF\x02\x01\x01\x00\x00", "not a grammar text"),
    (bytes(range(256)) * 100, "not a grammar text"),
]


@pytest.mark.parametrize(("text", "message"), WHOLE_ERRORS)
def test_errors_of_the_whole_text(text: str | bytes, message: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        gbnf(text)
    assert message in str(caught.value)


def test_error_text_in_full() -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        gbnf('root ::= item\nitm ::= "- " [^\\n]+ "\\n"')
    assert str(caught.value) == (
        "line 1, column 10: rule 'item' is used but not defined\n"
        "root ::= item\n"
        "         ~~~~\n"
        "did you mean 'itm'?"
    )


@given(st.text(alphabet='abuntil:=|&~()[]{}"\\*+?.,0# \n<>!-é\ud83d', max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_grammar_or_one_error(text: str) -> None:
    for whole in (text, f'root ::= {text}\na ::= "x"\nb ::= "y"'):
        try:
            grammar = gbnf(whole)
        except GrammarSyntaxError as error:
            refusal = str(error)
        else:
            refusal = ""
        assert refusal or grammar.rules


@pytest.mark.parametrize(
    "text",
    [
        "root ::= " + "(" * 10_000 + '"a"' + ")" * 10_000,
        "root ::= " + '("a"' * 10_000 + ")*" * 10_000,
        "root ::= " + '"a" ' * 10_000,
        "root ::= " + '"a" | ' * 10_000,
        'root ::= "a"' + "?" * 10_000,
        'root ::= "' + "a\\n" * 50_000 + '"',
        "root ::= r0\n" + "".join(f"r{i} ::= r{i + 1}\n" for i in range(5_000)) + 'r5000 ::= "x"',
    ],
    ids=["nested", "nested repeats", "long", "wide", "repeats", "literal", "rules"],
)
def test_size_is_no_limit(text: str) -> None:
    started = time.perf_counter()
    assert gbnf(text).rules
    assert time.perf_counter() - started < 60


@pytest.mark.parametrize("text", ["(" * 10_000, '("a"' * 10_000, ")" * 10_000, "[" * 10_000])
def test_broken_and_deep(text: str) -> None:
    with pytest.raises(GrammarSyntaxError):
        gbnf(f"root ::= {text}")
