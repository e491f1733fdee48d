"""Parts of a grammar that no text can use: loops without an exit, and what a vocabulary cannot spell.

The engine leaves such parts out when it compiles; here they are named, with the way to them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

from workbench.diagnostics.author.shortest import NEVER, Shortest
from workbench.diagnostics.dead_ends.cuts import Span, cut
from workbench.diagnostics.dead_ends.findings import Edit, Finding, Suggestion
from workbench.diagnostics.dead_ends.suggesting import words
from workbench.diagnostics.verdicts import remake
from workbench.errors import WorkbenchError
from workbench.grammar.author.earley import TooMuch
from workbench.grammar.author.states import AuthorStates
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Origin,
    Ref,
    Token,
    children,
    walk,
)
from workbench.grammar.lazy import LazyRules, written_ahead
from workbench.grammar.places import named_parts
from workbench.grammar.utf8 import utf8_graph
from workbench.vocabulary.labels import bytes_text

__all__ = ["costly_parts", "useless_parts"]

_Tokens = Mapping[Token, Set[int]]
#: What may be suggested: in words, and as edits.
_Candidate = tuple[str, list[Edit]]


@dataclass(frozen=True, slots=True)
class Costly:
    """A part in words, its rule and place, the least bytes of a text with it, a shortest text before it."""

    what: str
    rule: str
    place: Origin | None
    cost: int
    path: bytes


def useless_parts(
    grammar: Grammar, missing: frozenset[int], tokens: _Tokens, *, helpful: bool = True
) -> tuple[list[Finding], str]:
    """Rules and alternatives that no text can use; and what was not looked at.

    Only ``helpful`` findings have suggestions. Lazily written rules promise to have texts, so there is nothing
    to find in them.
    """
    if not (names := _reached(grammar)):
        return [], ""
    try:
        alone = Shortest(AuthorStates(grammar, tokens))
        spelled = Shortest(AuthorStates(grammar, tokens), missing) if missing else alone
    except (TooMuch, RecursionError):
        return [], "the rules are too many to look for loops without an exit"
    found: list[tuple[Finding, Iterator[_Candidate]]] = []
    for name in names:
        node = alone.states.rule(name)
        if alone.rule(name) >= NEVER:
            found.append((_endless(grammar, name, alone.to(node)), _exits(grammar, name)))
            continue
        if spelled.rule(name) >= NEVER:
            told = _unspelled(grammar, name, None, alone.to(node), missing)
            found.append((told, _without(grammar, [], [name])))
            continue
        for part in _dead_alternatives(grammar.rules[name], spelled) if missing else ():
            if alone.has_text(part):
                told = _unspelled(grammar, name, part, alone.to(node), missing)
                origin = part.origin
                if origin is None or origin.start is None or origin.end is None:
                    found.append((told, iter(())))
                else:
                    found.append((told, _without(grammar, [(origin.start, origin.end)], [])))
    findings = [finding for finding, _ in found]
    if not helpful:
        return findings, ""
    before = Counter(finding.message for finding in findings)

    def works(changed: Grammar) -> bool:
        after, stopped = useless_parts(changed, missing, tokens, helpful=False)
        left = Counter(finding.message for finding in after)
        return not stopped and left < before

    return [
        replace(finding, suggestion=_first_that_works(grammar, candidates, works))
        for finding, candidates in found
    ], ""


def costly_parts(
    grammar: Grammar, missing: frozenset[int], tokens: _Tokens, most: int
) -> tuple[list[Costly], int, str]:
    """Parts that no text of at most ``most`` bytes uses, but for those inside another such part.

    Then the least bytes of a text of the grammar, and what was not looked at.
    """
    states = AuthorStates(grammar, tokens)
    try:
        shortest = Shortest(states, missing)
    except (TooMuch, RecursionError):
        return [], 0, "the rules are too many to look for parts that cost too much"
    found: list[Costly] = []
    seen: set[int] = set()
    told: set[tuple[str, Origin | None]] = set()
    todo = [states.root]
    for number in todo:
        node = states.nodes[number]
        cost = shortest.through(number)
        if most < cost < NEVER and number != states.root:
            if (node.rule, node.origin) not in told and node.kind != "body":
                told.add((node.rule, node.origin))
                pointer = node.origin.pointer if node.origin else None
                what = pointer or f"rule {node.rule!r}"
                if node.kind == "other":
                    what = f"a name that is not listed in {what}"
                elif node.kind == "repeat":
                    what = f"a repetition in {what}"
                found.append(Costly(what, node.rule, node.origin, cost, shortest.to(number)))
            continue
        for i in shortest.members(number):
            for callee, _, _ in states.states[i].calls:
                if callee not in seen:
                    seen.add(callee)
                    todo.append(callee)
    told_at = {(part.cost, part.path) for part in found}
    cheap = [number for number in {states.root, *seen} if shortest.through(number) <= most]
    for part in _costly_alternatives(grammar, shortest, cheap, most):
        if (part.cost, part.path) not in told_at:  # the part that costs too much is told
            found.append(part)
    return found, shortest.inside[states.root], ""


def _costly_alternatives(
    grammar: Grammar, shortest: Shortest, nodes: Iterable[int], most: int
) -> Iterator[Costly]:
    """Alternatives of a grammar's text that no text of at most ``most`` bytes uses, outermost ones."""
    if isinstance(grammar.rules, LazyRules) or not isinstance(grammar.source, str):
        return
    steps: dict[str, list[tuple[int, int, int, Origin]]] = {}
    for number in sorted(nodes):
        rule = shortest.states.nodes[number].rule
        for cost, state, place in shortest.steps(number):
            if place is not None and place.start is not None:
                steps.setdefault(rule, []).append((cost, number, state, place))
    for name, mine in steps.items():
        mine.sort(key=lambda one: (one[3].start or 0, one[:3]))
        starts = [one[3].start or 0 for one in mine]
        todo = [grammar.rules[name]]
        while todo:
            part = todo.pop()
            for item in children(part):
                place = item.origin
                inside: list[tuple[int, int, int, Origin]] = []
                if isinstance(part, Alt) and place is not None and place.end is not None:
                    first = bisect_left(starts, place.start or 0)
                    inside = mine[first : bisect_left(starts, place.end)]
                least = min(inside, key=lambda one: one[:3], default=None)
                if least is None or not most < least[0] < NEVER:
                    todo.append(item)
                    continue
                what = f"{_source(grammar, place)} in rule {name!r}"
                path = shortest.before(least[1], least[2])
                yield Costly(what, name, place, least[0], path)


def _reached(grammar: Grammar) -> list[str]:
    """The rules that the start leads to, but those written on demand and those of grammars that stand in this one."""
    parts, written = named_parts(grammar), written_ahead(grammar.rules)
    order = dict.fromkeys([grammar.start] if grammar.start in written else ())
    todo = list(order)
    for name in todo:
        for part in walk(written[name]):
            if (
                isinstance(part, Ref)
                and part.name not in order
                and part.name in written
                and part.name.partition(".")[0] not in parts
            ):
                order[part.name] = None
                todo.append(part.name)
    return todo


def _dead_alternatives(expr: Expr, shortest: Shortest) -> Iterator[Expr]:
    """Members of alternatives without a text, that no other rule is to blame for; outermost ones."""
    todo = [expr]
    while todo:
        part = todo.pop()
        if isinstance(part, Alt):
            for item in part.items:
                if shortest.has_text(item):
                    todo.append(item)
                elif all(shortest.has_text(use) for use in walk(item) if isinstance(use, Ref)):
                    yield item
        else:
            todo += children(part)


def _written(part: Expr) -> bytes:
    """The bytes of the literals of a part: what to look for missing bytes in."""
    found = bytearray()
    for inner in walk(part):
        if isinstance(inner, Literal):
            found += inner.data
        elif isinstance(inner, ByteSet):
            found += bytes(byte for byte in range(256) if inner.mask >> byte & 1)
        elif isinstance(inner, CharSet):
            for _, low, high, _ in utf8_graph(inner.ranges)[1]:
                found += bytes(range(low, high + 1))
    return bytes(found)


def _endless(grammar: Grammar, name: str, path: bytes) -> Finding:
    origin = grammar.rules[name].origin
    uses = any(isinstance(part, Ref) for part in walk(grammar.rules[name]))
    if uses:
        message = f"rule {name!r} has no way out: every alternative comes back to a rule like it"
    else:
        message = f"rule {name!r} has no text: one of its classes has no members"
    return Finding(
        kind="endless loop" if uses else "never written",
        message=message,
        path=path,
        warning=name != grammar.start,
        rule=name,
        start=origin.start if origin else None,
        end=origin.end if origin else None,
        source=_source(grammar, origin),
    )


def _exits(grammar: Grammar, name: str) -> Iterator[_Candidate]:
    """Make the whole rule optional, which lets it end wherever it begins again."""
    origin = grammar.rules[name].origin
    if grammar.kind == "gbnf" and origin and origin.start is not None:
        old = str(grammar.source)[origin.start : origin.end]
        yield (
            f"let {name} end: make what it repeats optional",
            [Edit(old, f"({old})?", start=origin.start, end=origin.end)],
        )


def _without(grammar: Grammar, spans: list[Span], names: list[str]) -> Iterator[_Candidate]:
    """Take parts of a text out, or all that uses some rules."""
    source = grammar.source
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    if isinstance(text, str):
        edits = cut(text, grammar.kind, spans, names, grammar.start)
        if edits:
            yield words(edits), edits


def _unspelled(
    grammar: Grammar, name: str, part: Expr | None, path: bytes, missing: frozenset[int]
) -> Finding:
    expr = part if part is not None else grammar.rules[name]
    origin = expr.origin or grammar.rules[name].origin
    lacking = frozenset(_written(expr)) & missing
    what = f"rule {name!r}" if part is None else f"an alternative of rule {name!r}"
    are = "are" if len(lacking) > 1 else "is"
    because = (
        f"{bytes_text(lacking)} {are} in no token" if lacking else "bytes of it are in no token"
    )
    message = f"{what} can never be written: {because}"
    return Finding(
        kind="never written",
        message=message,
        path=path,
        warning=part is not None or name != grammar.start,
        rule=name,
        start=origin.start if origin else None,
        end=origin.end if origin else None,
        source=_source(grammar, origin),
        possible=lacking,
    )


def _first_that_works(
    grammar: Grammar,
    candidates: Iterator[_Candidate],
    works: Callable[[Grammar], bool],
) -> Suggestion | None:
    for text, edits in candidates:
        suggestion = Suggestion(text, tuple(edits))
        try:
            if works(remake(grammar.kind, suggestion.apply(grammar.source), grammar.start)):
                return suggestion
        except (TooMuch, ValueError, WorkbenchError):
            continue
    return None


def _source(grammar: Grammar, origin: Origin | None) -> str:
    if origin is None or origin.start is None or not isinstance(grammar.source, str):
        return ""
    text = " ".join(grammar.source[origin.start : origin.end].split())
    return text if len(text) <= 72 else text[:71] + "…"
