"""Why a token is refused, against answers worked out by hand from the grammars."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from tests.engine.grammars import Case, cases

#: Every byte is a token, and some longer ones.
LONGER = [b'"}', b"}]", b"ab", b"abc", "é".encode(), b"\xe2\x82", b"\xe2x", b""]
TOKENS = [*(bytes([b]) for b in range(256)), *LONGER]
END, THINK, PLAIN = len(TOKENS), len(TOKENS) + 1, len(TOKENS) + 2
VOCABULARY = wb.Vocabulary.from_bytes(
    [*TOKENS, b"", b"", b""],
    eos_ids=(END,),
    special_names={END: "</s>", THINK: "<think>", PLAIN: "<other>"},
    width=len(TOKENS) + 10,
)

NESTED = """root ::= obj
obj ::= "{" pair ("," pair)* "}"
pair ::= [a-z]+ ":" val
val ::= obj | arr | [0-9]+
arr ::= "[" val ("," val)* "]"
"""
PERSON = {
    "type": "object",
    "properties": {
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}},
    },
    "required": ["age"],
    "additionalProperties": False,
}


def token(data: bytes) -> int:
    return TOKENS.index(data)


def after(grammar: wb.Grammar, text: bytes) -> wb.Matcher:
    matcher = wb.compile(grammar, VOCABULARY).matcher()
    assert matcher.accept_tokens(text) == len(text)
    return matcher


def ask(grammar: wb.Grammar, text: bytes, asked: int | str | bytes) -> wb.Why:
    return wb.explain(after(grammar, text), asked)


def names(why: wb.Why) -> list[tuple[str, int | None]]:
    return [(frame.name, frame.entered) for frame in why.stack]


def test_a_bracket_that_closes_another_rule() -> None:
    # { a : [ 1 , 2   the array begins at offset 3, the object at 0, and "}" ends an obj alone
    why = ask(wb.gbnf(NESTED), b"{a:[1,2", "}")
    assert not why.allowed
    assert why.fatal == 0
    assert why.sentence == "byte 1 ('}') needs obj on top, found arr (entered after byte 3)"
    # after a digit of a val: another, or what follows the val in its arr
    assert why.expected == frozenset(b"0123456789,]")
    assert why.expected_text == "',', '0'-'9', ']'"
    assert names(why) == [
        ("val", 6),
        ("arr", 3),
        ("val", 3),
        ("pair", 1),
        ("obj", 0),
        ("root", 0),
    ]


def test_a_schema_pointer_and_the_second_byte() -> None:
    # {"age": 31, "tags": ["ab   the array is at offset 20, its string at 21; '"' may come, '}' may not
    why = ask(wb.json_schema(PERSON), b'{"age": 31, "tags": ["ab', '"}')
    assert [cell.status for cell in why.cells] == ["consumed", "fatal"]
    assert why.fatal == 1
    assert why.sentence == (
        "byte 2 ('}') needs object # on top, found array #/properties/tags (entered after byte 20)"
    )
    assert [frame.pointer for frame in why.cells[0].stack[:3]] == [
        "#/properties/tags/items",
        "#/properties/tags/items",
        "#/properties/tags",
    ]
    assert why.expected == frozenset(b" \t\r\n,]")
    assert [near.token_bytes for near in why.nearest] == [b'"']
    assert why.nearest[0].shared == 1


def test_a_bound_of_a_json_string() -> None:
    why = ask(wb.json_schema(PERSON), b'{"age": 31, "tags": ["abcde', "f")
    assert why.sentence == (
        "byte 1 ('f') may not come: #/properties/tags/items is full "
        "(5 of at most 5, entered after byte 22)"
    )
    assert why.expected == frozenset(b'"')


def test_a_span_of_a_regex_that_is_not_long_enough() -> None:
    # "(yes|no)" has 8 characters, ", because " 10: the class begins at 18 and ends before the "\."
    pattern = r"(yes|no), because [a-z ]{5,40}\."
    why = ask(wb.regex(pattern), b"no, because ab", ".")
    top = why.stack[0]
    assert (top.start, top.end, top.source) == (18, 30, "[a-z ]{5,40}")
    assert pattern[18:30] == "[a-z ]{5,40}"
    assert (top.count, top.least, top.most) == (2, 5, 40)
    assert why.sentence == (
        "byte 1 ('.') comes too early: of [a-z ]{5,40} there are 2 of at least 5 (entered after byte 12)"
    )
    assert why.expected == frozenset(b" abcdefghijklmnopqrstuvwxyz")


def test_an_end_that_comes_too_early() -> None:
    # the object is open; "}" alone would complete it
    why = ask(wb.json_schema(PERSON), b'{"age": 3', END)
    assert not why.allowed
    assert why.cells == ()
    reason = (
        "the text is not complete: object # (entered at the start) is open, at least 1 more byte"
    )
    assert why.sentence == reason
    assert [(end.token_id, end.allowed, end.reason) for end in why.ends] == [(END, False, reason)]


def test_an_end_that_may_come() -> None:
    why = ask(wb.regex("a+"), b"aa", "</s>")
    assert why.token_id == END and why.allowed
    assert why.sentence == "the text is complete"


def test_a_special_token() -> None:
    why = ask(wb.regex("a+"), b"a", "<think>")
    assert why.token_id == THINK and not why.allowed
    assert why.sentence == "a special token, which the grammar does not name"
    assert why.cells == ()


def test_a_token_that_the_grammar_names_elsewhere() -> None:
    grammar = wb.gbnf('root ::= <think> "a"')
    assert ask(grammar, b"", THINK).sentence == "the grammar names this token here"
    matcher = after(grammar, b"")
    assert matcher.accept(THINK)
    why = wb.explain(matcher, THINK)
    assert not why.allowed
    assert why.sentence == "the grammar names this token, but not here"
    assert [frame.name for frame in wb.explain(matcher, "b").stack] == ["root"]


def test_half_a_character() -> None:
    # U+20AC is E2 82 AC: its first two bytes are a beginning, "x" cannot go on with E2
    grammar = wb.regex("[a-z€]+")
    begun = ask(grammar, b"a", b"\xe2\x82")
    assert begun.allowed and begun.expected == frozenset(b"\xac")
    why = ask(grammar, b"a", b"\xe2x")
    assert why.fatal == 1
    assert why.sentence == "byte 2 ('x') may not come inside a character, of which E2 is there"
    assert why.expected == frozenset(b"\x82")


def test_a_number_past_its_maximum() -> None:
    # 15 goes on as 150 alone; "." is for 15.0, as integers may be written
    why = ask(wb.json_schema(PERSON), b'{"age": 15', "1")
    assert why.sentence == (
        "byte 1 ('1') may not come in #/properties/age (entered after byte 1), of "
        '{"type": "integer", "minimum": 0, "maximum": 150}, nor after it'
    )
    assert why.expected == frozenset(b" \t\r\n,.0}")


def test_a_text_that_is_complete() -> None:
    why = ask(wb.gbnf('root ::= "(" root ")" | "n"'), b"(n)", ")")
    assert why.sentence == "byte 1 (')') may not come: the text is complete"
    assert why.expected == frozenset()
    assert why.ends[0].allowed


def test_what_the_vocabulary_cannot_spell() -> None:
    tokens = [b"a", b"b", b"c", b""]
    vocabulary = wb.Vocabulary.from_bytes(tokens, eos_ids=3)
    # "d" is in no token: after "b" nothing completes, though the grammar goes on with it
    matcher = wb.compile(wb.gbnf('root ::= "a" | "bd"'), vocabulary).matcher()
    why = wb.explain(matcher, "b")
    assert why.sentence == (
        "byte 1 ('b') may come by the grammar, but no text that this vocabulary can spell goes on so"
    )
    assert why.expected == frozenset(b"a")


def test_a_part_that_never_ends() -> None:
    why = ask(wb.gbnf('root ::= "x" | "a" loop\nloop ::= "b" loop'), b"", "a")
    assert (
        why.sentence == "byte 1 ('a') may come by the grammar, but leads to a part that never ends"
    )


def test_bytes_that_are_no_token() -> None:
    why = ask(wb.regex("[a-z]+!"), b"", "abcd")
    assert why.token_id is None and not why.allowed
    assert why.sentence == "every byte may come, yet no token has exactly these bytes"
    assert [near.token_bytes for near in why.nearest[:3]] == [b"abc", b"ab", b"a"]


def test_padding_empty_tokens_and_the_end() -> None:
    matcher = after(wb.regex("a+"), b"a")
    assert "past the end of the vocabulary" in wb.explain(matcher, VOCABULARY.size).sentence
    assert wb.explain(matcher, token(b"")).sentence == "it spells no bytes"
    with pytest.raises(wb.VocabularyError):
        wb.explain(matcher, VOCABULARY.width)
    assert matcher.accept(END)
    for asked in ("a", "</s>"):
        assert wb.explain(matcher, asked).sentence == "the text has ended"


def test_names_that_are_not_listed() -> None:
    # "ag" may become any name but "age": its string belongs to the object
    schema = {"properties": {"age": {}}, "additionalProperties": {"type": "integer"}}
    why = ask(wb.json_schema(schema), b'{"b": 1, "age', '"')
    assert not why.allowed
    assert why.stack[0].pointer == "#"
    assert why.stack[0].entered == 10
    assert ord('"') not in why.expected
    assert why.sentence == 'byte 1 (\'"\') may not end "age" here: that one is listed, elsewhere'


def test_a_name_that_came_before() -> None:
    # the other text may go on, as "bc", but not end
    why = ask(wb.json_schema({"additionalProperties": {"type": "integer"}}), b'{"b": 1, "b', '"')
    assert why.sentence == 'byte 1 (\'"\') may not end "b" here: it came before in this object'
    assert ord("c") in why.expected


def test_the_matcher_stays_as_it_was() -> None:
    matcher = after(wb.gbnf(NESTED), b"{a:[1,2")
    before = matcher.token_ids, matcher.num_accepted, matcher.allowed_ids().tolist()
    first = wb.explain(matcher, "}")
    assert wb.explain(matcher, "}") == first
    assert (matcher.token_ids, matcher.num_accepted, matcher.allowed_ids().tolist()) == before
    matcher.rollback(4)  # {a:
    assert names(wb.explain(matcher, "]")) == [("pair", 1), ("obj", 0), ("root", 0)]
    matcher.accept_tokens(b"7")
    assert wb.explain(matcher, "}").allowed


def test_a_matcher_that_has_forgotten_its_beginning() -> None:
    matcher = wb.compile(wb.gbnf(NESTED), VOCABULARY).matcher(max_rollback=2)
    for byte in b"{a:[1,2" + b"3" * 40:
        assert matcher.accept(byte)
    why = wb.explain(matcher, "}")
    assert why.terms == "automaton"
    assert "keeps only the last tokens" in why.note
    assert why.fatal == 0 and not why.allowed
    assert why.expected == frozenset(b"0123456789,]")


def test_a_text_that_is_too_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.grammar.author.earley.DEFAULT_ITEMS", 200)
    matcher = after(wb.gbnf(NESTED + "# another\n"), b"{a:[" + b"1," * 60)
    why = wb.explain(matcher, "}")
    assert why.terms == "automaton" and "parser items" in why.note
    assert why.cells[0].stack[0].state is not None


def test_the_json_form_and_the_text_form() -> None:
    why = ask(wb.json_schema(PERSON), b'{"age": 31, "tags": ["ab', '"}')
    wire = json.loads(json.dumps(why.to_json()))
    assert wire["fatal"] == 1 and wire["bytes"] == b'"}'.hex()
    assert wire["cells"][1]["stack"][0]["name"] == "array #/properties/tags"
    assert wire["expected"] == sorted(why.expected)
    said = str(why)
    assert why.sentence in said and "✕ '}'" in said and "● '\"'" in said
    assert "end </s>: the text is not complete" in said


@given(cases(), st.data())
@settings(max_examples=40, deadline=None)
def test_every_token_of_random_grammars(case: Case, data: st.DataObject) -> None:
    """Verdicts are those of the masks, and every refused token has a byte or a reason of its own."""
    vocabulary = case.vocabulary()
    try:
        matcher = wb.compile(case.grammar, vocabulary, case.limits()).matcher()
    except (wb.UnsatisfiableGrammar, wb.GrammarTooComplex):
        return
    for _ in range(3):
        allowed = matcher.allowed_ids().tolist()
        for token_id in range(vocabulary.size):
            why = wb.explain(matcher, token_id)
            known = matcher.explain(token_id)
            assert why.allowed == (token_id in allowed) == known.allowed
            assert why.sentence and why.terms == "author" and not why.note
            if why.cells:
                assert why.consumed == known.consumed
                assert (why.fatal is None) == (known.consumed == len(why.token_bytes))
                assert why.expected == known.expected
                reached = [cell for cell in why.cells if cell.status != "not reached"]
                assert all(cell.stack and cell.states for cell in reached)
                assert "this vocabulary" not in why.sentence or vocabulary.missing_bytes
            assert all(near.token_id in allowed for near in why.nearest)
            assert all(end.allowed == (end.token_id in allowed) for end in why.ends)
        going = [i for i in allowed if i not in vocabulary.eos_ids]
        if not going:
            return
        assert matcher.accept(data.draw(st.sampled_from(going)))


# How far the rules were read

SUMS = """root ::= expr
expr ::= term ("+" term)* | # a sum
  "-" expr
term ::= [0-9]+ | "(" expr ")" | "false" | "a\\n" | [xyz]{2,5} ("ab" "c"){3} ">"
"""
LEFT = 'root ::= expr\nexpr ::= expr "+" term | term\nterm ::= [0-9]+ | "(" expr ")"\n'
TWO = 'root ::= expr\nexpr ::= term "+" term | term "-" term\nterm ::= [0-9]\n'
ONE_LINE = 'root ::= expr\nexpr ::= term "+" term\nterm ::= [0-9]+\n'


@pytest.mark.parametrize(
    ("source", "text", "innermost", "around"),
    [
        (ONE_LINE, "2+", 'expr → term "+" • term', ["root → • expr"]),
        (SUMS, "", "root → • expr", []),
        (SUMS, "2", "term → [0-9]+ •", ['expr → • term ("+" term)*', "root → • expr"]),
        (SUMS, "2+", 'expr → term ("+" • term)*', ["root → • expr"]),
        (SUMS, "2+3", "term → [0-9]+ •", ['expr → term ("+" • term)*', "root → • expr"]),
        (SUMS, "-", 'expr → "-" • expr', ["root → • expr"]),
        (SUMS, "(2)", 'expr → term • ("+" term)*', ["root → • expr"]),
        # a literal in its middle; one with escapes is not cut
        (SUMS, "fal", 'term → "fal" • "se"', ['expr → • term ("+" term)*', "root → • expr"]),
        (SUMS, "a", 'term → • "a\\n"', ['expr → • term ("+" term)*', "root → • expr"]),
        # what is counted: not enough yet, enough, in the middle of one, between two
        (SUMS, "x", "term → • [xyz]{2,5}", ['term → • [xyz]{2,5} ("ab" "c"){3} ">"']),
        (SUMS, "xy", "term → [xyz]{2,5} •", ['term → • [xyz]{2,5} ("ab" "c"){3} ">"']),
        (SUMS, "xya", 'term → ("a" • "b" "c"){3}', ['term → [xyz]{2,5} • ("ab" "c"){3} ">"']),
        (SUMS, "xyabc", 'term → ("ab" "c" •){3}', ['term → [xyz]{2,5} • ("ab" "c"){3} ">"']),
        # left recursion, of which the automaton knows nothing
        (LEFT, "2+", 'expr → expr "+" • term', ["root → • expr"]),
        (LEFT, "(2+", 'expr → expr "+" • term', ['term → "(" • expr ")"', "expr → • term"]),
        # two ways to read it
        (TWO, "2", 'expr → term • "+" term or expr → term • "-" term', ["root → • expr"]),
        (TWO, "2-", 'expr → term "-" • term', ["root → • expr"]),
        ('root ::= "a" | "b"', "", 'root → • "a" | "b"', []),
    ],
)
def test_the_place_inside_a_rule(source: str, text: str, innermost: str, around: list[str]) -> None:
    """Dotted items as in J. Earley (1970), worked out by hand."""
    why = ask(wb.gbnf(source), text.encode(), "]")
    assert why.stack[0].place == innermost
    assert [frame.place for frame in why.stack[1 : len(around) + 1]] == around
    assert why.sentence.endswith(f": {innermost}") or why.stack[0].count is not None
    assert f"  place: {innermost}" in str(why)
    wire = json.loads(json.dumps(why.to_json()))
    assert " or ".join(wire["cells"][0]["stack"][0]["items"]) == innermost


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "root → •a(bc|é)+[0-9]{2,3}true|x"),
        ("a", "root → a•(bc|é)+[0-9]{2,3}true"),
        ("ab", "root → a(b•c|é)+[0-9]{2,3}true"),
        ("abc", "root → a(bc•|é)+[0-9]{2,3}true"),
        ("aé", "root → a(bc|é•)+[0-9]{2,3}true"),
        ("abc1", "root → •[0-9]{2,3}"),
        ("abc12tr", "root → a(bc|é)+[0-9]{2,3}tr•ue"),
    ],
)
def test_the_place_inside_a_pattern(text: str, place: str) -> None:
    assert ask(wb.regex("a(bc|é)+[0-9]{2,3}true|x"), text.encode(), "]").stack[0].place == place


def test_long_rules_are_shown_around_the_place() -> None:
    words = " ".join(f'"w{i:02}"' for i in range(60))
    why = ask(wb.gbnf(f"root ::= {words}"), b"".join(b"w%02d" % i for i in range(30)), "]")
    place = why.stack[0].place
    assert place.startswith("root → …") and place.endswith("…") and len(place) < 100
    assert '"w29" • "w30"' in place


def test_schemas_have_pointers_and_no_dots() -> None:
    assert all(not f.items for f in ask(wb.json_schema(PERSON), b'{"age": 1', "]").stack)


def test_a_place_in_the_middle_of_a_character() -> None:
    why = ask(wb.gbnf('root ::= "a" [é-ü] "b"'), b"a\xc3", b"\xb8")
    assert why.stack[0].place == 'root → "a" • [é-ü] "b"'
