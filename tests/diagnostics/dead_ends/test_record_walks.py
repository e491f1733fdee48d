"""Places that the records of frames make dead: what is found, that it is so, and what is not told."""

from __future__ import annotations

import random
from typing import Any

import pytest

import workbench as wb
from workbench.diagnostics.dead_ends.ways_out import always_ends
from workbench.grammar.ir import Expr, Grammar, Graph, Guard, Literal, Ref, Scope, Seq
from workbench.grammar.lazy import LazyRules
from workbench.grammar.scopes import passed
from workbench.vocabulary import byte_vocabulary


def members(
    names: list[str], hopes: bool, required: int = 0, least: int = 0, most: int | None = None
) -> Scope:
    """Any of some names in brackets; with ``hopes`` a comma may come for one more that cannot be written."""
    every = (1 << len(names)) - 1
    opened, more, name, read, after, quoted, end = range(7)
    may = Guard("may", every, hopes)
    edges: list[tuple[int, Expr, int]] = [
        (opened, Literal(b"{"), more),
        (more, Seq((Guard("end"), Literal(b"}"))), end),
        (more, may, name),
        (name, Literal(b'"'), quoted),
        (read, Guard("between"), after),
        (after, Seq((may, Literal(b","))), name),
        (after, Seq((Guard("end"), Literal(b"}"))), end),
    ]
    for number, text in enumerate(names):
        label = Seq((Guard("take", 1 << number), Literal(text.encode() + b'"')))
        edges.append((quoted, label, read))
    return Scope(Graph(7, opened, (end,), tuple(edges)), len(names), required, least, most)


def grammar(scope: Expr) -> Grammar:
    """Written when it is used, as a schema is: else the scope is written out, and what is dead falls away."""
    rules: dict[str, Expr] = {"root": Seq((Literal(b"x"), Ref("object"))), "object": scope}
    return Grammar(LazyRules(rules.__getitem__, "root"), "root")


def test_a_comma_for_nobody_is_found() -> None:
    report = wb.dead_ends(grammar(members(["a", "b"], hopes=True)), byte_vocabulary())
    (finding,) = report
    assert finding.kind == "empty mask"
    assert finding.path in (b'x{"a","b","', b'x{"b","a","')
    assert finding.rule == "object"
    assert "all members that may come have come" in finding.message
    # it is so
    matcher = wb.compile(grammar(members(["a", "b"], hopes=True)), byte_vocabulary()).matcher()
    assert matcher.accept_tokens(finding.token_ids) == len(finding.token_ids)
    assert not len(matcher.allowed_ids()) and not matcher.is_accepting


def test_it_is_found_without_a_vocabulary_and_by_unspellable() -> None:
    dead = grammar(members(["a"], hopes=True))
    assert [finding.kind for finding in wb.dead_ends(dead)] == ["empty mask"]
    report = wb.unspellable(dead, byte_vocabulary())
    assert [place.kind for place in report.places] == ["dead end"]
    assert "nothing can come" in str(report)


def test_a_count_that_is_out_of_reach() -> None:
    """Two of three are needed, and the third one ends what may come."""
    scope = members(["a", "b"], hopes=True, least=2, most=3)
    (finding,) = wb.dead_ends(grammar(scope))
    assert finding.path in (b'x{"a","b","', b'x{"b","a","')


@pytest.mark.parametrize(
    "scope",
    [
        members(["a", "b"], hopes=False),
        members(["a", "b", "c"], hopes=False, required=3, most=2),
        members(["a", "b", "c"], hopes=False, least=2),
    ],
)
def test_nothing_is_told_of_what_ends(scope: Scope) -> None:
    report = wb.dead_ends(grammar(scope), byte_vocabulary())
    assert not list(report) and not report.stopped


SCHEMAS: list[Any] = [
    {"properties": {"a": {}, "b": {"type": "string"}}, "required": ["b"]},
    {"properties": {"a": True}, "patternProperties": {"^$": True}, "additionalProperties": False},
    {"patternProperties": {"^x?$": {"const": 1}}, "additionalProperties": False},
    {"properties": {"a": True, "b": True}, "minProperties": 2, "maxProperties": 3},
    {"not": {"properties": {"a": {"const": 1}, "b": {"const": 2}}}, "minProperties": 1},
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, "x", None]}, "minItems": 2},
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_nothing_is_told_of_schemas(schema: Any, order: Any) -> None:
    report = wb.dead_ends(wb.json_schema(schema, property_order=order), byte_vocabulary())
    assert not list(report) and not report.stopped


@pytest.mark.parametrize("seed", range(8))
def test_as_random_walks_see_it(seed: int) -> None:
    """Scopes at random: what walks get stuck in is found, and what is found they could get stuck in."""
    rng = random.Random(seed)
    names = ["a", "b", "c"][: rng.randint(1, 3)]
    bits = (1 << len(names)) - 1
    least = rng.randint(0, 3)
    most = rng.choice([None, max(least, 1), 3])
    scope = members(names, rng.random() < 0.5, rng.randint(0, bits), least, most)
    made = grammar(scope)
    try:
        compiled = wb.compile(made, byte_vocabulary())
    except wb.UnsatisfiableGrammar:
        return
    stuck = False
    for _ in range(60):
        matcher = compiled.matcher()
        while not matcher.is_terminated:
            allowed = matcher.allowed_ids().tolist()
            if not allowed:
                stuck = True
                break
            matcher.accept(rng.choice(allowed))
    found = [f for f in wb.dead_ends(made, byte_vocabulary()) if f.kind == "empty mask"]
    assert bool(found) == stuck


Edge = tuple[int, Guard | None, int]


def ends_by_trying(scope: Scope, edges: list[Edge], final: int) -> bool:
    """Whether each situation that is reached has a way to the end, one by one."""
    begin = (0, 0, 0)
    moves: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
    todo = [begin]
    while todo:
        here = todo.pop()
        if here in moves:
            continue
        state, came, count = here
        moves[here] = []
        for source, guard, target in edges:
            if source == state:
                after = (came, count) if guard is None else passed(scope, came, count, guard)
                if after is not None:
                    moves[here].append((target, *after))
        todo += moves[here]
    alive = {here for here in moves if here[0] == final}
    while more := {h for h, out in moves.items() if not alive.isdisjoint(out)} - alive:
        alive |= more
    return len(alive) == len(moves)


def scope_at_random(rng: random.Random) -> tuple[Scope, list[Edge], int]:
    """Members as objects have them, with a guard or a way changed here and there."""
    n = rng.randint(1, 3)
    every = (1 << n) - 1
    begin, key, other, read, after, end = range(6)
    hopes = rng.random() < 0.4
    least = rng.randint(0, 3)
    most = rng.choice([None, None, 1, 2, 3, 4])
    may: Guard | None = Guard("may", every, hopes)
    if most is None and hopes and rng.random() < 0.5:
        may = None
    closes = Guard("end") if rng.random() < 0.8 else None
    edges: list[Edge] = [
        (begin, may, key),
        (begin, closes, end),
        (read, Guard("between"), after),
        (after, may, key),
        (after, closes, end),
    ]
    if hopes or rng.random() < 0.2:
        edges += [(key, Guard("other") if rng.random() < 0.8 else None, other), (other, None, read)]
    place = 6
    for member in range(n):
        if rng.random() < 0.3:  # by way of a branch that asks
            asked = rng.choice([1 << member, every, rng.randint(1, every)])
            edges += [(key, Guard("may", asked), place), (place, Guard("take", 1 << member), read)]
            place += 1
        elif rng.random() < 0.9:
            edges.append((key, Guard("take", 1 << member), read))
    if rng.random() < 0.2:
        edges.remove(rng.choice(edges))
    required = rng.randint(0, every) if rng.random() < 0.5 else 0
    return Scope(Literal(b""), n, required, least, most), edges, end


def test_what_is_proved_is_so() -> None:
    """Whatever the members that came; and most of what is so is proved."""
    proved = so = 0
    for seed in range(1_500):
        scope, edges, end = scope_at_random(random.Random(seed))
        leaving: dict[int, list[tuple[Guard | None, int]]] = {}
        for source, guard, target in edges:
            leaving.setdefault(source, []).append((guard, target))
        told = always_ends(
            scope, 0, lambda s, out=leaving: out.get(s, []), lambda s, end=end: s == end
        )
        right = ends_by_trying(scope, edges, end)
        assert right or not told, (seed, scope, edges)
        proved += told
        so += right
    assert 0 < so < 1_500
    assert proved > so / 3


def test_many_members_need_no_walk() -> None:
    names = {f"name{i}": {"type": "integer"} for i in range(40)}
    for more in ({}, {"required": ["name3"], "minProperties": 2, "maxProperties": 7}):
        for closed in ({}, {"additionalProperties": False}):
            schema = {"type": "object", "properties": names, **more, **closed}
            report = wb.dead_ends(wb.json_schema(schema, property_order="any"))
            assert not report.findings and not report.stopped


def test_what_was_not_looked_at_is_told() -> None:
    schema = {
        "properties": {name: {"type": "integer"} for name in "abcdefghijklmn"},
        "dependentRequired": {"a": ["b"], "c": ["d"]},
    }
    (stopped,) = wb.dead_ends(wb.json_schema(schema, property_order="any")).stopped
    assert "situations of members" in stopped
