"""What expressions ask of their author: each breach is refused by name, and no front end commits one."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import workbench as wb
from tests.engine.grammars import grammars
from tests.engine.walks import ids_of, mask_of
from tests.frontends.json_schema.shape_cases import SHAPES
from tests.vocabulary.conftest import SHARED_DATA
from workbench.automaton.finite import Dfa, complement, determinise, intersect, to_graph
from workbench.automaton.languages import language_of
from workbench.automaton.network import MANY
from workbench.automaton.regular import _byte_leaf
from workbench.grammar.analysis import analyse
from workbench.grammar.contracts import check_rule
from workbench.grammar.expressions import (
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Gather,
    Graph,
    Guard,
    JsonStyle,
    Literal,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    children,
    walk,
)
from workbench.grammar.ir import Grammar
from workbench.grammar.json_strings import other_texts
from workbench.grammar.lazy import LazyRules
from workbench.grammar.rewriting import rewrite

A = Literal(b"a")
END, OTHER, TAKE = Guard("end"), Guard("other"), Guard("take", 1)
BODY = Repeat(CharSet(((97, 122),)), 0, None)
FRESH = OtherText((), BODY, fresh=True)
OBJECT = Gather("object", (1,), ("a",))
ARRAY = Gather("array", (1,))
ROUNDS = ((2, 2), (0, 2), (2, None), (0, 10**6))


def within(*ranges: tuple[tuple[int, int], ...]) -> Graph:
    """A graph with one edge for each set of characters, all to the same state."""
    return Graph(2, 0, (1,), tuple((0, CharSet(one), 1) for one in ranges))


def gathering(item: Expr, gather: Gather = OBJECT) -> Scope:
    return Scope(Seq((item, END)), 1, gather=gather)


FORKED = within(((97, 99),), ((99, 100),))

BREACHES: list[tuple[Expr, str]] = [
    # leaves and graphs
    (ByteSet(-1), "a set of bytes has other bits"),
    (ByteSet(1 << 256), "a set of bytes has other bits"),
    (CharSet(((98, 98), (97, 97))), "not in order near 0x61"),
    (CharSet(((97, 99), (99, 100))), "not in order near 0x63"),
    (CharSet(((99, 97),)), "not in order"),
    (CharSet(((0, 0x110000),)), "not in order"),
    (Repeat(A, -1, None), "counts below zero"),
    (Repeat(A, 0, -2), "counts below zero"),
    (Graph(1, 1, (), ()), "none of its states"),
    (Graph(1, 0, (1,), ()), "none of its states"),
    (Graph(0, 0, (), ()), "the graph has no states"),
    (Graph(2, 0, (1,), ((0, A, 2),)), "use 0 to 1"),
    (Graph(2, 0, (1,), ((-1, A, 1),)), "use 0 to 1"),
    (Ref("nowhere"), "uses 'nowhere', which is not defined"),
    (Expr(), "Expr is no kind of expression"),
    # scopes
    (Scope(A, -1), "a scope has -1 members"),
    (Scope(A, 1 << 30), "a scope has 1,073,741,824 members"),
    (Scope(Seq((TAKE, END)), 1, required=2), "requires members that it does not have"),
    (Scope(Seq((TAKE, END)), 1, required=-1), "requires members that it does not have"),
    (Scope(Seq((OTHER, END)), 1, least=3, most=2), "at least 3 and at most 2"),
    (Scope(Seq((OTHER, END)), 1, least=-1), "at least -1"),
    (Scope(Seq((TAKE, END)), 2, required=3, most=1), "requires 2 members and has at most 1"),
    (Scope(TAKE, 1, required=1), "nothing asks a scope whether it may end"),
    (Scope(OTHER, 1, least=1), "nothing asks a scope whether it may end"),
    (Scope(END, 1, least=1), "nothing tells a scope which members come"),
    (Scope(Seq((Scope(TAKE, 1), END)), 1, required=1), "nothing tells a scope which members"),
    # guards
    *((guard, "stands in no scope") for guard in (END, OTHER, TAKE, Guard("may", 1))),
    *((Scope(Repeat(OTHER, *some), 1), "in a counted repeat") for some in ROUNDS),
    (Scope(Repeat(Repeat(Seq((A, OTHER)), 0, 1), 2, 3), 1), "in a counted repeat"),
    (Scope(Guard("must", 1), 1), "its kind is one of may, take"),  # type: ignore[arg-type]
    (Scope(Guard("take", 0), 1), "names 0 members; name exactly one"),
    (Scope(Guard("take", 3), 2), "names 2 members; name exactly one"),
    (Scope(Guard("take", 4), 2), "members that its scope does not have"),
    (Scope(Guard("take", 1), 0), "the scope has none"),
    (Scope(Guard("may", 4), 2), "members that its scope does not have"),
    (Scope(Guard("may", -1), 2), "members that its scope does not have"),
    (Scope(Guard("end", 1), 2), "leave among at 0"),
    (Scope(Guard("take", 1, True), 2), 'only "may" does'),
    (Scope(Scope(Guard("take", 2), 1), 2), "members that its scope does not have"),
    (Scope(Guard("value", 1), 1), "does not gather"),
    (Scope(Guard("name", 1), 1), "does not gather"),
    (gathering(Guard("value", 16)), "use bits 0 to 3"),
    (gathering(Guard("value", 3)), "names 2 members"),
    (gathering(Guard("name", 1), ARRAY), "arrays have no names"),
    (Scope(Seq((Guard("take", 2), END)), 2, gather=OBJECT), "whose name is not gathered"),
    # what a scope gathers
    (Scope(A, 1, gather=ARRAY), "nothing asks a scope whether it may end"),
    (gathering(A, Gather("object", (1,))), "0 names, 1 counts"),
    (gathering(A, Gather("object", (1, 1), ("a", "b"))), "of 1 member at most"),
    (Scope(END, 2, gather=Gather("object", (1, 1), ("a", "a"))), "give each name once"),
    (gathering(A, Gather("array", (1, 2))), "0 names, 2 counts"),
    (gathering(A, Gather("array", (1,), ("a",))), "1 names, 1 counts"),
    (gathering(A, Gather("array", (-1,))), "out of range"),
    (gathering(A, Gather("array", (1 << 31,))), "out of range"),
    (gathering(A, replace(OBJECT, distinct=True)), "the items of an object"),
    (gathering(A, replace(ARRAY, outermost=True)), "items that may be equal"),
    *((gathering(Repeat(Ref("r"), *some)), "a use of rule 'r' stands in a") for some in ROUNDS),
    (gathering(Repeat(gathering(A), 2, 2)), "a scope that gathers stands in a counted"),
    # texts
    (FRESH, "a fresh text stands in no scope"),
    (Scope(Repeat(FRESH, 0, 3), 1), "a fresh text stands in a counted repeat"),
    (OtherText((), BODY, role="string"), "a text with the role 'string' stands in no scope"),
    (Scope(OtherText((), BODY, role="name"), 1), "a scope that does not gather"),
    (gathering(OtherText((), BODY, role="name"), ARRAY), "the name of a member in an array"),
    (gathering(Repeat(OtherText((), BODY, role="number"), 2, 2)), "in a counted repeat"),
    (OtherText((), BODY, cell=-1), "has the cell -1"),
    (OtherText((), BODY, style="loud"), "use any, ascii, plain"),  # type: ignore[arg-type]
    (OtherText((), BODY, role="verse"), "the role 'verse'"),  # type: ignore[arg-type]
    (OtherText((), Seq((A, Ref("r")))), "has a Ref in it"),
    (OtherText((), Alt((A, Scope(A, 0)))), "has a Scope in it"),
    (OtherText((), OtherText((), BODY)), "has an OtherText in it"),
    (OtherText((), Repeat(A, 0, 7)), "has a counted repeat in it"),
    (OtherText((), Graph(1, 0, (1,), ())), "none of its states"),
    (OtherText(("a",), BODY, within=within(((97, 97),))), "excluded ones and a language within"),
    (OtherText((), BODY, within=FORKED), "two ways for a character"),
    (OtherText((), FORKED, within=FORKED), "two ways for a character"),
    (OtherText((), BODY, within=Graph(2, 0, (1,), ((0, A, 1),))), "has a Literal in it"),
    (OtherText((), BODY, within=Graph(2, 2, (1,), ())), "none of its states"),
]


@pytest.mark.parametrize(("expr", "message"), BREACHES, ids=lambda one: str(one)[:60])
def test_what_is_refused(expr: Expr, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Grammar({"root": A, "odd one": Seq((A, expr)), "r": A}, "root")
    said = str(caught.value)
    assert "rule 'odd one'" in said
    # what to do
    assert "; " in said or "not defined" in said


def test_the_place_is_told() -> None:
    guard = Guard("take", 3, origin=Origin(pointer="#/properties/a"))
    with pytest.raises(ValueError, match="names 2 members at #/properties/a; name exactly one"):
        Grammar({"root": Scope(guard, 2)}, "root")


SOUND: list[Expr] = [
    NEVER,
    Repeat(A, 3, 2),
    Graph(1, 0, (), ()),
    CharSet(((0, 0x10FFFF),)),
    Scope(A, 0),
    Scope(A, 3, most=0),
    Scope(Seq((Repeat(Seq((TAKE, A)), 0, None), END)), 1, required=1),
    Scope(Seq((Repeat(Seq((OTHER, A)), 1, None), END)), 0, least=2, most=2),
    Scope(Repeat(Ref("r"), 2, 9), 0),
    Scope(Guard("may"), 2),
    Scope(Repeat(Scope(OTHER, 0, most=1), 2, 9), 0),
    Scope(Seq((Guard("may", 0, True), Guard("between"), FRESH, Guard("may", 1))), 1),
    gathering(Seq((TAKE, Guard("value", 8), Guard("name", 1), Ref("r")))),
    gathering(Seq((OTHER, replace(FRESH, role="string", opening=b'"'))), ARRAY),
    gathering(Repeat(Scope(A, 0), 2, 9), ARRAY),
    OtherText(("a",), other_texts(()), style="plain"),
    OtherText((), BODY, within=within(((97, 98), (100, 100)), ((99, 99),))),
]


@pytest.mark.parametrize("expr", SOUND, ids=lambda one: str(one)[:60])
def test_what_is_not(expr: Expr) -> None:
    Grammar({"root": expr, "r": A}, "root")


def test_a_part_is_judged_in_each_scope_that_it_stands_in() -> None:
    shared = Seq((A, Guard("take", 2)))
    Grammar({"root": Seq((Scope(shared, 2), Scope(shared, 3)))}, "root")
    for other in (shared, Scope(shared, 1), Scope(Repeat(shared, 2, 2), 2)):
        with pytest.raises(ValueError, match=r"take"):
            Grammar({"root": Seq((Scope(shared, 2), other))}, "root")


def test_parts_that_are_shared_are_looked_at_once() -> None:
    expr: Expr = Seq((A, TAKE))
    for _ in range(60):  # two to the sixtieth parts
        expr = Seq((expr, expr))
    Grammar({"root": Scope(expr, 1)}, "root")


def test_depth_is_no_limit() -> None:
    expr: Expr = Guard("take", 2)
    for _ in range(10_000):
        expr = Repeat(Seq((expr,)), 0, 1)
    with pytest.raises(ValueError, match="does not have"):
        Grammar({"root": Scope(expr, 1)}, "root")


@given(grammars())
@settings(max_examples=100)
def test_random_grammars_are_sound(grammar: Grammar) -> None:
    for name, expr in grammar.rules.items():
        check_rule(name, expr, grammar.rules)


# -- front ends ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Whole:
    """By identity, what was compared already."""

    expr: Expr
    found: Any


class Judge:
    """The contracts that take automata to check, besides those that are checked at once."""

    def __init__(self, ascii_only: bool = False) -> None:
        self.ascii = ascii_only
        self.known: dict[tuple[int, str], Whole] = {}

    def check(self, grammar: Grammar, most: int = 2_000) -> int:
        """How many rules were looked at."""
        todo = {grammar.start: grammar.rules[grammar.start]}
        for name in (order := [grammar.start]):
            check_rule(name, todo[name])
            for part in walk(todo[name]):
                if isinstance(part, Ref) and part.name not in todo and len(todo) < most:
                    todo[part.name] = grammar.rules[part.name]
                    order.append(part.name)
                elif isinstance(part, OtherText):
                    self.text(part)
                elif isinstance(part, Scope) and part.names:
                    self.names(part)
        return len(todo)

    def once(self, expr: Expr, question: str, answer: Callable[[], Any]) -> Any:
        key = id(expr), question
        if key not in self.known:
            self.known[key] = Whole(expr, answer())
        return self.known[key].found

    def spelled(self, expr: Expr) -> Dfa:
        """What an expression spells, bytes taken for characters."""
        found = self.once(expr, "spelled", lambda: determinise(rewrite(expr, _byte_leaf)))
        assert isinstance(found, Dfa)
        return found

    def counts(self, expr: Expr) -> tuple[int, ...]:
        def count() -> tuple[int, ...]:
            return language_of(to_graph(self.spelled(expr), CharSet)).counts

        found: tuple[int, ...] = self.once(expr, "counts", count)
        return found

    def text(self, text: OtherText) -> None:
        if text.texts:
            assert self.once(text.body, text.style, lambda: self.every(text.body, text.style))
        if text.within is None:
            assert min(self.counts(text.body)) == MANY, text
        else:
            language = language_of(text.within)
            # in ASCII alone a character has more than one spelling; some cannot be written without numbers
            numbered = any(low < 0x20 for _, low, _, _ in language.steps)
            assert self.ascii or numbered or language.counts[0] == self.counts(text.body)[0], text

    def every(self, body: Expr, style: JsonStyle) -> bool:
        """Whether a body is every text in a style."""
        one, other = self.spelled(body), self.spelled(other_texts((), style))
        ways = intersect(one, complement(other)), intersect(other, complement(one))
        return all(way.is_empty for way in ways)

    def names(self, scope: Scope) -> None:
        """That no fresh text of a scope is empty, where it says so."""
        todo = [scope.item]
        while todo:
            part = todo.pop()
            if isinstance(part, OtherText) and part.fresh:
                nullable = analyse({}, "").is_nullable
                empty = self.once(part.body, "empty", lambda: nullable(part.body))  # noqa: B023
                assert "" in part.texts or not empty, part
            if not isinstance(part, Scope):
                todo += children(part)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"property_order": "any"},
    {"property_order": "any", "ascii_only": True},
    {"unique_keys": False, "unicode_escapes": False},
    {"indent": 2},
]
VALUES = {"enum": [None, True, 1, "a", "", [1], {"a": [{}]}, {}]}
UNLIKE = {"type": "array", "uniqueItems": True}
SCHEMAS: list[Any] = [
    True,
    UNLIKE,
    {**UNLIKE, "items": VALUES, "minItems": 2},
    {**UNLIKE, "prefixItems": [VALUES, {"type": "string"}], "items": {"type": ["object", "array"]}},
    {**UNLIKE, "items": {"type": "string", "pattern": "^[ab]{1,2}$"}, "maxItems": 5},
    {**UNLIKE, "items": {"type": "object", "properties": {"a": UNLIKE}, "required": ["a"]}},
    {**UNLIKE, "items": {"type": "object", "patternProperties": {"^[xy]?$": True}}},
    {"patternProperties": {"^x": True, "^[ab]$": VALUES}, "additionalProperties": False},
    {"propertyNames": {"maxLength": 1}, "minProperties": 2, "maxProperties": 4},
    {"properties": {"a": True, "": True, "\x01": {}}, "required": ["a", "b"], "minProperties": 3},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "c": {}}},
    {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#"}}, "maxProperties": 2}}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_no_schema_breaks_a_contract(options: dict[str, Any]) -> None:
    judge, rules = Judge(options.get("ascii_only", False)), 0
    for schema in (*SCHEMAS, *(shape[1] for shape in SHAPES)):
        try:
            rules += judge.check(wb.json_schema(schema, **options))
        except (wb.UnsatisfiableGrammar, wb.UnsupportedConstraint):
            continue
    assert rules > 100


def real_schemas(every: int) -> Iterator[Any]:
    archive = SHARED_DATA / "maskbench-dev.tar.xz"
    if not archive.is_file():
        pytest.skip(f"the schemas are not at {archive}")
    with tarfile.open(archive) as members:
        for number, member in enumerate(members):
            file = members.extractfile(member)
            if file is not None and member.name.endswith(".json") and number % every == 0:
                yield json.load(file)["schema"]


@pytest.mark.parametrize(("options", "every"), [({}, 40), ({"property_order": "any"}, 60)])
def test_no_real_schema_breaks_a_contract(options: dict[str, Any], every: int) -> None:
    judge, rules = Judge(), 0
    for schema in real_schemas(every):
        try:
            rules += judge.check(wb.json_schema(schema, **options), 200)
        except wb.WorkbenchError:
            continue
    assert rules > 1_000


def test_names_that_cannot_be_written_are_not_waited_for() -> None:
    schema = {"patternProperties": {"^[\x01a]$": {"type": "null"}}, "additionalProperties": False}
    tokens = [bytes([b]) for b in range(256)]
    compiled = wb.compile(wb.json_schema(schema), wb.Vocabulary.from_bytes(tokens, []))
    matcher = compiled.matcher()
    for byte in b'{"a":null,"':
        if not matcher.accept(byte):
            return
    assert ids_of(mask_of(matcher))


def test_rules_of_a_file_are_checked(tmp_path: Path) -> None:
    """They come from elsewhere, other than those that a front end writes on demand."""
    vocabulary = wb.Vocabulary.from_bytes([bytes([b]) for b in range(256)], [])
    rules = LazyRules({}.__getitem__, "root")
    rules.emitted["root"] = Seq((A, Guard("end")))
    compiled = wb.compile(wb.json_schema({"const": 1}), vocabulary)
    replace(compiled, grammar=Grammar(rules, "root")).save(tmp_path / "a")
    loaded = wb.load_compiled(tmp_path / "a", vocabulary)
    with pytest.raises(wb.ArtifactError, match=r"rule 'root' is broken.*stands in no scope"):
        dict(loaded.grammar.rules)
