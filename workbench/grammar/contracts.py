"""Checks of what the docstrings of expressions ask of an author: once for each rule, when it is known.

Most of it is about the record of a scope: the parts that read and write it have to stand where the engine
finds it, and name members that it has. Two things no single rule can tell, so that they stay with the author:
that what a guard lets begin can be finished, and that a watched text goes on in as many ways as it says.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from itertools import pairwise
from typing import NoReturn, get_args
from weakref import WeakValueDictionary

from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.expressions import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Gather,
    Graph,
    Guard,
    JsonStyle,
    Literal,
    Marker,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
)
from workbench.inputs import described
from workbench.wording import number_of

__all__ = ["check_rule"]

_MOST_MEMBERS = 1 << 20
_MOST_CELLS = 1 << 30
#: stands for endlessly many values
_ENDLESS = 1 << 30
#: null, true, false, the empty text
_CONSTANTS = 4

_STYLES = get_args(JsonStyle)
_ROLES = ("", "name", "string", "number")
_GUARDS = ("may", "take", "other", "end", "between", "value", "name")
#: what a body is made of, besides plain repetitions
_REGULAR = {Literal, ByteSet, CharSet, Seq, Alt, Graph, Repeat}
#: bodies of texts, and languages within which these stay, that were looked at, by identity: many rules share them
_bodies: WeakValueDictionary[int, Expr] = WeakValueDictionary()
_languages: WeakValueDictionary[int, Graph] = WeakValueDictionary()


def check_rule(rule: str, top: Expr, defined: Container[str] | None = None) -> None:
    """Check the expression of a rule; ``defined`` are the rules that there are, where that is known.

    Raises ``ValueError`` that names the rule, the part and what to do.
    """
    _Rule(rule, defined).check(top)


class _Rule:
    """One walk over a rule; a part that is shared is looked at once for each scope around it."""

    def __init__(self, name: str, defined: Container[str] | None) -> None:
        self.name = name
        self.defined = defined
        #: the kinds of guards that stand in each scope
        self.asked: dict[int, tuple[Scope, set[str]]] = {}

    def check(self, top: Expr) -> None:
        """Raises ``ValueError``. Iterative, so that depth is no limit."""
        seen: set[tuple[int, int, bool]] = set()
        todo: list[tuple[Expr, Scope | None, bool]] = [(top, None, False)]
        while todo:
            expr, scope, counted = todo.pop()
            key = (id(expr), id(scope), counted)
            if key in seen:
                continue
            seen.add(key)
            if isinstance(expr, Scope):
                self.scope(expr, scope, counted)
                scope, counted = expr, False
            elif isinstance(expr, Repeat):
                counted = counted or _counts(expr)
            for part in self.parts(expr, scope, counted):
                # most parts, in which there is nothing else to check
                if type(part) is ByteSet and not part.mask >> 256:
                    continue
                if type(part) is not Literal:
                    todo.append((part, scope, counted))
        for one, kinds in self.asked.values():
            self.complete(one, kinds)

    def parts(self, expr: Expr, scope: Scope | None, counted: bool) -> Collection[Expr]:
        """Check an expression by itself; returns its parts, each at least once."""
        if isinstance(expr, Seq | Alt):
            return expr.items
        if isinstance(expr, Graph):
            # one over bytes was checked when it was made
            return () if isinstance(expr, ByteGraph) else self.graph(expr)
        if isinstance(expr, Scope):
            return (expr.item,)
        if isinstance(expr, Repeat):
            if expr.min < 0 or (expr.max is not None and expr.max < 0):
                self.refuse(expr, "a repeat counts below zero", "count from 0 on")
            return (expr.item,)
        if isinstance(expr, Ref):
            self.ref(expr, scope, counted)
        elif isinstance(expr, CharSet):
            self.char_set(expr)
        elif isinstance(expr, Guard):
            self.guard(expr, scope, counted)
        elif isinstance(expr, OtherText):
            self.text(expr, scope, counted)
        elif isinstance(expr, ByteSet):
            if expr.mask >> 256:
                self.refuse(expr, "a set of bytes has other bits", "use bits 0 to 255")
        elif not isinstance(expr, Literal | Token | Marker):
            what = f"{type(expr).__name__} is no kind of expression"
            self.refuse(expr, what, "use those of workbench.grammar.ir")
        return ()

    def refuse(self, part: object, what: str, remedy: str) -> NoReturn:
        origin = part.origin if isinstance(part, Expr) else None
        place = f" at {origin.pointer}" if origin is not None and origin.pointer else ""
        raise ValueError(f"rule {self.name!r}: {what}{place}; {remedy}")

    # -- leaves and graphs -------------------------------------------------------------------------

    def char_set(self, expr: CharSet) -> None:
        last = -1
        for low, high in expr.ranges:
            if not last < low <= high <= 0x10FFFF:
                what = f"the ranges of a CharSet are not in order near {low:#x}"
                self.refuse(expr, what, "sort them, without overlaps, up to 0x10ffff")
            last = high

    def ref(self, expr: Ref, scope: Scope | None, counted: bool) -> None:
        if self.defined is not None and expr.name not in self.defined:
            raise ValueError(f"rule {self.name!r} uses {expr.name!r}, which is not defined")
        if counted and scope is not None and scope.gather is not None:
            self.apart(expr, f"a use of rule {expr.name!r}")

    def graph(self, expr: Graph) -> Collection[Expr]:
        """Check the states of a graph; returns its labels, each once."""
        n = expr.n_states
        if not (0 <= expr.start < n and all(0 <= final < n for final in expr.finals)):
            self.refuse(expr, "the start or an end of a graph is none of its states", _states(n))
        if not expr.edges:
            return ()
        sources, labels, targets = zip(*expr.edges, strict=True)
        if min(min(sources), min(targets)) < 0 or max(max(sources), max(targets)) >= n:
            self.refuse(expr, "an edge of a graph joins what is none of its states", _states(n))
        return {id(label): label for label in labels}.values()

    # -- scopes ------------------------------------------------------------------------------------

    def scope(self, expr: Scope, around: Scope | None, counted: bool) -> None:
        self.asked.setdefault(id(expr), (expr, set()))
        if not 0 <= expr.members <= _MOST_MEMBERS:
            what = f"a scope has {number_of(expr.members, 'member')}"
            self.refuse(expr, what, f"use 0 to {_MOST_MEMBERS:,}")
        if not 0 <= expr.required < 1 << expr.members:
            what = f"a scope requires members that it does not have ({expr.required:#b})"
            self.refuse(expr, what, _members(expr))
        if expr.least < 0 or (expr.most is not None and expr.most < expr.least):
            what = f"a scope has at least {expr.least} and at most {number_of(expr.most or 0, 'member')}"
            self.refuse(expr, what, "let least be from 0 to most, or write NEVER")
        needed = expr.required.bit_count()
        if expr.most is not None and expr.most < needed:
            what = f"a scope requires {number_of(needed, 'member')} and has at most {expr.most}"
            self.refuse(expr, what, "allow all that are required, or write NEVER")
        if expr.gather is not None:
            self.gather(expr, expr.gather)
            inside = around is not None and around.gather is not None
            if counted and inside and not expr.gather.outermost:
                self.apart(expr, "a scope that gathers")

    def gather(self, scope: Scope, gather: Gather) -> None:
        names, counts = gather.names, gather.counts
        if gather.kind == "object":
            if not len(counts) == len(set(names)) == len(names) <= scope.members:
                what = f"an object that is gathered has {len(names)} names, {len(counts)} counts"
                remedy = f"give each name once, with its count, of {number_of(scope.members, 'member')} at most"
                self.refuse(scope, what, remedy)
        elif gather.kind != "array" or names or len(counts) != 1:
            what = f"an array that is gathered has {len(names)} names, {len(counts)} counts"
            self.refuse(scope, what, "give it one count, that of its items, and no names")
        if not all(0 <= count <= _ENDLESS for count in counts):
            self.refuse(scope, "a number of values is out of range", "use 0 to 2**30")
        if (gather.distinct or gather.outermost) and gather.kind != "array":
            self.refuse(scope, "the items of an object are to differ", "gather an array instead")
        if gather.outermost and not gather.distinct:
            self.refuse(scope, "an outermost array has items that may be equal", "make it distinct")

    def complete(self, scope: Scope, kinds: set[str]) -> None:
        """Check that the guards in a scope ask for everything that the scope demands."""
        if (scope.required or scope.least or scope.gather is not None) and "end" not in kinds:
            remedy = 'put Guard("end") before each of its ends'
            self.refuse(scope, "nothing asks a scope whether it may end", remedy)
        if (scope.required or scope.least) and not kinds & {"take", "other"}:
            remedy = 'put Guard("take") or Guard("other") before each member'
            what = "nothing tells a scope which members come, and some have to"
            self.refuse(scope, what, remedy)

    def apart(self, part: Expr, what: str) -> NoReturn:
        """Refuse what stands in a counted repeat."""
        remedy = "write the rounds out, or count members by least and most"
        what = f"{what} stands in a counted repeat, where its scope is not known"
        self.refuse(part, what, remedy)

    # -- guards ------------------------------------------------------------------------------------

    def guard(self, expr: Guard, scope: Scope | None, counted: bool) -> None:
        kind, among = expr.kind, expr.among
        said = f'a guard "{kind}"'
        if kind not in _GUARDS:
            self.refuse(expr, said, f"its kind is one of {', '.join(_GUARDS)}")
        if scope is None:
            remedy = "put both in the same rule"
            self.refuse(expr, f"{said} stands in no scope", remedy)
        if counted:
            self.apart(expr, said)
        self.asked[id(scope)][1].add(kind)
        if expr.others and kind != "may":
            self.refuse(expr, f"{said} speaks of others", 'only "may" does')
        if kind in ("other", "end", "between"):
            if among:
                self.refuse(expr, f"{said} names a member", "leave among at 0")
            return
        if kind in ("value", "name") and scope.gather is None:
            self.refuse(expr, f"{said} stands in a scope that does not gather", "let it gather")
        most = _CONSTANTS if kind == "value" else scope.members
        if not 0 <= among < 1 << most:
            what = f"{said} is for members that its scope does not have ({among:#b})"
            remedy = f"use bits 0 to {most - 1}" if most else "the scope has none"
            self.refuse(expr, what, remedy)
        if kind != "may" and among.bit_count() != 1:
            self.refuse(
                expr, f"{said} names {number_of(among.bit_count(), 'member')}", "name exactly one"
            )
        gather = scope.gather
        named = gather is not None and gather.kind == "object" and kind in ("take", "name")
        if named and gather is not None and among >= 1 << len(gather.names):
            what = f"{said} names a member whose name is not gathered ({among:#b})"
            self.refuse(expr, what, "give its name and its count")
        if kind == "name" and not named:
            self.refuse(expr, f"{said} stands in an array", "arrays have no names")

    # -- texts -------------------------------------------------------------------------------------

    def text(self, expr: OtherText, scope: Scope | None, counted: bool) -> None:
        said = "a fresh text" if expr.fresh else f"a text with the role {expr.role!r}"
        if expr.style not in _STYLES or expr.role not in _ROLES:
            what = f"a text has the style {expr.style!r} and the role {expr.role!r}"
            self.refuse(expr, what, f"use {', '.join(_STYLES)}; name, string, number")
        if expr.fresh or expr.role:
            if scope is None:
                self.refuse(expr, f"{said} stands in no scope", "put both in the same rule")
            if counted:
                self.apart(expr, said)
            if expr.role and scope.gather is None:
                what = f"a text with the role {expr.role!r} stands in a scope that does not gather"
                self.refuse(expr, what, "let it gather, or leave the role out")
            if expr.role == "name" and scope.gather is not None and scope.gather.kind == "array":
                self.refuse(expr, "a text is the name of a member in an array", "gather an object")
        if expr.texts and expr.within is not None:
            what = "a text has excluded ones and a language within which it stays"
            self.refuse(expr, what, "leave them out of both the body and within")
        if not 0 <= expr.cell < _MOST_CELLS:
            self.refuse(expr, f"a text has the cell {expr.cell}", "use 0 to 2**30 - 1")
        if _bodies.get(id(expr.body)) is not expr.body:
            self.body(expr)
            _bodies[id(expr.body)] = expr.body
        if expr.within is not None and _languages.get(id(expr.within)) is not expr.within:
            self.within(expr, expr.within)
            _languages[id(expr.within)] = expr.within

    def body(self, expr: OtherText) -> None:
        seen = {id(expr.body)}
        todo = [expr.body]
        while todo:
            part = todo.pop()
            if type(part) not in _REGULAR:
                what = f"what a text is made of has {described(part)} in it"
                self.refuse(expr, what, "write the body as a regular expression of its own")
            if isinstance(part, Repeat) and _counts(part):
                what = "what a text is made of has a counted repeat in it"
                self.refuse(expr, what, "write the rounds out")
            for child in self.parts(part, None, False):
                if type(child) is not Literal and id(child) not in seen:
                    seen.add(id(child))
                    todo.append(child)

    def within(self, expr: OtherText, graph: Graph) -> None:
        self.graph(graph)
        leaving: list[list[tuple[int, int]]] = [[] for _ in range(graph.n_states)]
        for source, label, _ in graph.edges:
            if not isinstance(label, CharSet):
                what = f"the language within which a text stays has {described(label)} in it"
                self.refuse(expr, what, "label its edges by CharSet")
            self.char_set(label)
            leaving[source] += label.ranges
        for ranges in leaving:
            ranges.sort()
            if any(high >= low for (_, high), (low, _) in pairwise(ranges)):
                what = "the language within which a text stays has two ways for a character"
                self.refuse(expr, what, "make the graph deterministic")


def _counts(repeat: Repeat) -> bool:
    """Whether a repeat has to count its rounds."""
    return repeat.min > 1 or (repeat.max is not None and repeat.max > 1)


def _states(n: int) -> str:
    return f"use 0 to {n - 1}" if n else "the graph has no states"


def _members(scope: Scope) -> str:
    return f"use bits 0 to {scope.members - 1}" if scope.members else "it has none"
