"""Flags, comments and POSIX classes of ``workbench.regex``, held against Python's ``re``."""

from __future__ import annotations

import contextlib
import itertools
import re
import warnings

import pytest

import workbench as wb
from tests.frontends.ir_match import matches
from workbench.errors import GrammarSyntaxError, UnsupportedConstraint

#: Patterns that Python reads with the same meaning, for texts of the letters beside them.
SAME = [
    ("(?s)a.b|.", "ab\n"),
    ("(?s:a.)b.", "ab\n"),
    ("(?-s:a.)b.", "ab\n"),
    ("(?i)ab", "aAbB"),
    ("(?i:a)b", "aAbB"),
    ("(?i)a(?-i:b)a", "aAbB"),
    ("a(?i:b(?-i:a)b)a", "aAbB"),
    ("(?is)a.", "aA\n"),
    ("(?s)(?i)a.", "aA\n"),
    ("(?u)a+", "ab"),
    ("(?m)^a$", "ab\n"),
    ("(?m)(^a$\n?)+", "ab\n"),
    ("(?m)^a$\n^b$", "ab\n"),
    ("(?ms)^a$.^b$", "ab\n"),
    ("(?m:^a$)\n?b", "ab\n"),
    ("(?m)a*^b*", "ab\n"),
    (r"(?m)\Aa$\n\Z|b", "ab\n"),
    (r"(?m)a\b$\n?", "ab\n"),
    ("(?x) a  b # the rest\n | b", "ab \n"),
    ("(?x) a + b ? [ ] \\ ", "ab "),
    ("(?x)( a | b # c ) |\n ) {2}", "ab#"),
    ("(?x)(?=a) a b", "ab "),
    ("(?x:a b) ", "ab "),
    ("(?xi) a b", "abA "),
    ("(?#a comment)a(?#)*b(?#()", "ab#"),
    ("(?i)(?#then)a", "aA"),
    ("a(?#c)(?=b)b", "ab"),
]


@pytest.mark.parametrize(("pattern", "letters"), SAME)
def test_python_reads_it_alike(pattern: str, letters: str) -> None:
    grammar = wb.regex(pattern)
    for length in range(5):
        for some in itertools.product(letters, repeat=length):
            text = "".join(some)
            assert matches(grammar, text) == bool(re.fullmatch(pattern, text)), text


def test_ends_of_lines_are_those_that_a_dot_does_not_match() -> None:
    grammar = wb.regex("(?m)(?:^.$\\s?)+")
    for end in "\n\r\u2028\u2029":
        assert matches(grammar, f"a{end}b"), ascii(end)
    assert not matches(grammar, "a\tb")


#: What the locale of C says of ASCII.
POSIX = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "ascii": str.isascii,
    "blank": " \t".__contains__,
    "cntrl": lambda c: ord(c) < 0x20 or ord(c) == 0x7F,
    "digit": str.isdigit,
    "graph": lambda c: c.isprintable() and c != " ",
    "lower": str.islower,
    "print": str.isprintable,
    "punct": lambda c: c.isprintable() and not c.isalnum() and c != " ",
    "space": " \t\n\v\f\r".__contains__,
    "upper": str.isupper,
    "word": lambda c: c.isalnum() or c == "_",
    "xdigit": "0123456789abcdefABCDEF".__contains__,
}


@pytest.mark.parametrize("name", POSIX)
def test_posix_classes_are_ascii(name: str) -> None:
    inside, outside = wb.regex(f"[[:{name}:]]"), wb.regex(f"[^[:{name}:]]")
    negated = wb.regex(f"[[:^{name}:]]")
    data = wb.regex(f"[[:{name}:]]".encode())
    for char in map(chr, range(128)):
        wanted = bool(POSIX[name](char))
        assert matches(inside, char) == wanted, ascii(char)
        assert matches(outside, char) == matches(negated, char) == (not wanted), ascii(char)
        assert matches(data, char) == wanted, ascii(char)
    for char in "éλ漢\xa0²":
        assert not matches(inside, char)
        assert matches(outside, char) and matches(negated, char)


def test_posix_classes_stand_among_others() -> None:
    grammar = wb.regex(r"[_[:digit:]\-a-c[:upper:]]+(?![[:upper:]])x\b")
    assert matches(grammar, "_1-aZx")
    assert not matches(grammar, "dx")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("a(?i)b", "very start of a pattern, or with the part"),
        ("(a(?s).)", "very start of a pattern, or with the part"),
        ("(?a)a", "the flag a is not supported"),
        ("(?iL:a)", "the flag L is not supported"),
        ("(?#a", "comment is never closed"),
        ("a(?#b", "comment is never closed"),
        ("[[:letter:]]", "there is no POSIX class [:letter:]"),
        ("(?i:a", "this group is never closed"),
        ("(?x) a + + b", "a quantifier cannot follow another"),
        ("(?s-i", "does not start as any known group does"),
    ],
)
def test_what_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(GrammarSyntaxError, match=re.escape(words)):
        wb.regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?s).", "flags are not supported in patterns of schemas (ECMA-262)"),
        ("(?i:a)", "flags are not supported in patterns of schemas (ECMA-262)"),
        ("(?m)^a$", "flags are not supported in patterns of schemas (ECMA-262)"),
        ("(?#c)a", "a comment (?#…) is not supported in patterns of schemas (ECMA-262)"),
        ("[[:alpha:]]", "[:alpha:] is not supported in patterns of schemas (ECMA-262)"),
        (r"[[:alpha:]]\b", "[:alpha:] is not supported in patterns of schemas (ECMA-262)"),
    ],
)
def test_schemas_keep_to_ecma_262(pattern: str, words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnsupportedConstraint, match=re.escape(words)):
            wb.json_schema({"type": "string", "pattern": pattern})


@pytest.mark.parametrize(
    "pattern", ["[[:alpha:]]", "[[a]", "[a--b]", "[a||b]", "[a&&b]", "[[:x:]]"]
)
def test_no_warning_leaks(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for front in (wb.regex, lambda p: wb.json_schema({"pattern": p + r"\1"})):
            with contextlib.suppress(wb.WorkbenchError):
                front(pattern)


def test_a_byte_order_mark_is_no_part_of_a_pattern() -> None:
    assert matches(wb.regex("\ufeffa|b"), "a")
    assert matches(wb.regex("\ufeff(?i)a"), "A")
    assert matches(wb.regex(r"\ufeffa"), "\ufeffa")
