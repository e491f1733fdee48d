"""Captures of whole texts: which way to read a text counts, tokens, bounds."""

from __future__ import annotations

import pytest

import workbench as wb

BYTES = wb.Vocabulary.from_bytes(
    [*(bytes([i]) for i in range(256)), b"", b""], [256], special_names={257: "<call>"}
)
WORD = wb.regex("[a-z]*")


def spans(grammar: wb.Grammar, text: str) -> list[tuple[str, int, int]] | None:
    found = wb.match(grammar, text)
    return None if found is None else [(c.name, c.start, c.end) for c in found.captures]


def test_a_match_gives_bytes_and_names() -> None:
    grammar = wb.seq(
        "é", wb.capture("w", WORD), wb.capture("n", wb.regex("[0-9]€?")), wb.capture("w", WORD)
    )
    found = wb.match(grammar, "éab1€c")
    assert found is not None and found.text == "éab1€c".encode()
    assert [(c.name, c.start, c.end, c.bytes) for c in found.captures] == [
        ("w", 2, 4, b"ab"),
        ("n", 4, 8, "1€".encode()),
        ("w", 8, 9, b"c"),
    ]
    assert found["w"].text == "ab" and [c.text for c in found.named("w")] == ["ab", "c"]
    assert found.named("x") == ()
    with pytest.raises(KeyError):
        found["x"]
    compiled = wb.compile(grammar, BYTES)
    assert wb.match(compiled, "éab1€c") == wb.match(grammar, "éab1€c".encode()) == found


@pytest.mark.parametrize(
    ("grammar", "text", "expected"),
    [
        # of alternatives the first, of repetitions the longest
        (wb.alt(wb.capture("a", "x"), wb.capture("b", "x")), "x", [("a", 0, 1)]),
        (wb.alt(wb.capture("b", "x"), wb.capture("a", "x")), "x", [("b", 0, 1)]),
        (wb.capture("a", WORD) + wb.capture("b", WORD), "xyz", [("a", 0, 3), ("b", 3, 3)]),
        (wb.optional(wb.capture("a", "x")) + wb.optional(wb.capture("b", "x")), "x", [("a", 0, 1)]),
        # the first alternative counts only where the whole can be read with it
        (wb.alt(wb.capture("a", "x"), wb.capture("b", "xy")) + "y", "xyy", [("b", 0, 2)]),
        (
            wb.repeat(wb.alt(wb.capture("1", "a"), wb.capture("2", "ab"), wb.capture("3", "b"))),
            "abab",
            [("1", 0, 1), ("3", 1, 2), ("1", 2, 3), ("3", 3, 4)],
        ),
        # a round without a byte is none, unless there have to be so many
        (wb.repeat(wb.capture("e", WORD)), "ab", [("e", 0, 2)]),
        (wb.repeat(wb.capture("e", WORD), 2, 4), "ab", [("e", 0, 2), ("e", 2, 2)]),
        (wb.repeat(wb.capture("e", WORD)), "", []),
        (wb.capture("outer", wb.capture("inner", "")), "", [("outer", 0, 0), ("inner", 0, 0)]),
    ],
)
def test_which_way_counts(
    grammar: wb.Grammar, text: str, expected: list[tuple[str, int, int]]
) -> None:
    assert spans(grammar, text) == expected


def test_rules_that_use_themselves() -> None:
    total = wb.define(
        e=wb.alt(wb.capture("sum", wb.ref("e") + "+" + wb.ref("e")), wb.capture("x", "x"))
    )
    # the left one as long as it can be, as a matcher that tries it first finds
    assert spans(total, "x+x+x") == [
        ("sum", 0, 5),
        ("sum", 0, 3),
        ("x", 0, 1),
        ("x", 2, 3),
        ("x", 4, 5),
    ]
    right = wb.define(e=wb.alt(wb.capture("s", "x+" + wb.ref("e")), "x"))
    assert spans(right, "x+x+x") == [("s", 0, 5), ("s", 2, 5)]
    tree = wb.define(t=wb.capture("t", "(" + wb.repeat(wb.ref("t")) + ")"))
    assert spans(tree, "(()(()))") == [("t", 0, 8), ("t", 1, 3), ("t", 3, 7), ("t", 4, 6)]


def test_rules_that_come_back_to_themselves_without_a_byte() -> None:
    """There are endlessly many ways to read the text; one without a round of nothing is told."""
    for one in (
        wb.define(e=wb.alt(wb.ref("e"), wb.capture("x", "x"))),
        wb.define(e=wb.alt(wb.seq(wb.ref("e"), wb.ref("e")), wb.capture("x", "x"), "")),
        wb.define(a=wb.alt(wb.ref("b"), "y"), b=wb.alt(wb.ref("a"), wb.capture("x", "x"))),
        wb.repeat(wb.repeat(wb.optional(wb.capture("x", "x")))),
    ):
        found = spans(one, "x")
        assert found is not None and found == [("x", 0, 1)]
    assert spans(wb.capture("q", wb.define(e=wb.ref("e") | "x")), "x") == [("q", 0, 1)]


def test_deep_and_long_texts() -> None:
    tree = wb.define(t=wb.capture("t", "(" + wb.optional(wb.ref("t")) + ")"))
    depth = 3_000
    found = spans(tree, "(" * depth + ")" * depth)
    assert found is not None and found[0] == ("t", 0, 2 * depth)
    assert found[-1] == ("t", depth - 1, depth + 1) and len(found) == depth
    lines = wb.repeat(wb.capture("key", wb.regex("[a-z]+")) + "=" + wb.regex("[0-9]+") + "\n")
    found = spans(lines, "abc=12\n" * 2_000)
    assert found is not None and found[1999] == ("key", 13_993, 13_996)


def test_too_much_is_refused() -> None:
    ambiguous = wb.define(e=wb.alt(wb.ref("e") + wb.ref("e"), wb.capture("x", "x")))
    with pytest.raises(wb.GrammarTooComplex, match="items of a parse"):
        wb.match(ambiguous, "x" * 3_000)
    assert wb.match(ambiguous, "x" * 20) is not None


def test_tokens() -> None:
    grammar = wb.seq(
        wb.capture("think", wb.text_until("<")),
        wb.capture("call", wb.repeat(wb.token("<call>") + wb.capture("name", WORD), 1)),
    )
    ids = [*b"hm ", 257, *b"f", 257, *b"gh", 256]
    found = wb.match(grammar, ids, BYTES)
    assert found is not None
    assert [(c.name, c.bytes) for c in found.captures] == [
        ("think", b"hm "),
        ("call", b"fgh"),
        ("name", b"f"),
        ("name", b"gh"),
    ]
    assert wb.match(wb.compile(grammar, BYTES), ids) == found
    assert wb.match(grammar, ids[:-1], BYTES) == found
    # the name of a token, spelled out, is no token
    assert wb.match(grammar, "hm <call>f", BYTES) is None
    assert wb.match(grammar, [*b"hm ", 257, 256, 257], BYTES) is None


def test_what_only_the_engine_knows_is_asked_of_it() -> None:
    unique = wb.json_schema({"type": "array", "uniqueItems": True}, whitespace="compact")
    assert wb.match(wb.capture("a", unique), "[1,2]") is not None
    assert wb.match(wb.capture("a", unique), '[1,"a",1]') is None
    either = wb.alt(wb.capture("x", '{"a":1,"a":1}'), wb.capture("y", wb.json_schema(True)))
    assert spans(either, '{"a":1,"a":1}') == [("x", 0, 13)]
    assert spans(either, '{"a":1,"b":1}') == [("y", 0, 13)]


def test_a_grammar_without_texts_matches_nothing() -> None:
    assert wb.match(wb.alt(), "") is None
    assert wb.match(wb.seq("a", wb.alt()), "a") is None
    assert wb.match(wb.seq(), "") == wb.Match(b"", ())
