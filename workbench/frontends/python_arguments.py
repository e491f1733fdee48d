"""The arguments of a call as Python writes them: what may stand between the parentheses for a signature.

Arguments by position come first, then those by name in any order; each parameter gets one value at most, and those
without a default get one. All of it is one scope, whose members are the parameters. Where more than 32
come by position, those that may have their name have it.
"""

from __future__ import annotations

import keyword
import unicodedata
from functools import lru_cache
from typing import Any

from workbench.automaton.finite import (
    Dfa,
    complement,
    determinise,
    intersect,
    minimise,
    to_graph,
)
from workbench.errors import UnsatisfiableGrammar
from workbench.frontends.json_schema.text.whitespace import in_row
from workbench.frontends.python_literals import Literals
from workbench.frontends.python_members import (
    COMMA,
    Member,
    once_each,
    texts_among,
)
from workbench.frontends.python_types import uncarried
from workbench.frontends.signatures import Parameter, Signature, arguments_schema
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Guard,
    Literal,
    OtherText,
    Outcome,
    Repeat,
    Scope,
    Seq,
    literal,
)

__all__ = ["check_dotted", "is_name", "python_arguments"]

_FIRST = ((0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_LATER = ((0x30, 0x39), *_FIRST)
_EQUALS = Literal(b"=")
#: Most parameters that may be passed in either way: how far the end is depends on each that came by position.
_MOST_EITHER = 32


def python_arguments(
    signature: Signature, report: bool = False, *, max_digits: int | None = 100
) -> Grammar:
    """Make a grammar of the arguments of a call, without the parentheses.

    With ``report`` what cannot be kept is left out, and named in the outcomes. Raises ``UnsupportedConstraint``
    for a type without literals, ``UnsatisfiableGrammar`` for a parameter that needs a value and has none, and as
    :func:`workbench.json_schema` does.
    """
    parameters = signature.parameters
    schema, notes, _ = arguments_schema(parameters, signature.name, "calls", python=True)
    literals = Literals(schema.get("$defs", {}), max_digits=max_digits, report=report)
    values = {one.name: _value(one, schema, literals) for one in parameters if one.kind != "others"}
    for one in parameters:
        if one.required and values[one.name] == NEVER:
            raise UnsatisfiableGrammar(
                f"{signature.name}()", f"{one.name!r} needs a value, and its type has none"
            )
    others = None
    if any(one.kind == "others" for one in parameters):
        value = literals.value(schema["additionalProperties"], "#/additionalProperties")
        # also what goes by position alone: ``inspect`` has not always let another argument have that name
        taken = [one.name for one in parameters if one.kind in ("positional", "either", "keyword")]
        others = None if value == NEVER else (_other_name(tuple(taken)), value)
    arguments = _Arguments(parameters, values, others).expr()
    start = literals.rule("", "arguments", lambda: arguments).name
    lost = [Outcome(*one[:2], "unsupported", one[2]) for one in literals.lost]
    return Grammar(literals.rules, start, "call", signature.name, (*lost, *uncarried(notes)))


def is_name(text: str) -> bool:
    """Whether Python reads a text as this very name."""
    as_read = unicodedata.normalize("NFKC", text)
    return text.isidentifier() and not keyword.iskeyword(text) and as_read == text


def check_dotted(name: str) -> None:
    """Raise ``ValueError`` unless a text can stand before the parentheses of a call: ``f``, ``module.f``."""
    if not all(map(is_name, name.split("."))):
        raise ValueError(
            f"Python cannot call {name!r}: pass a mapping with another name, as in calls({{'name': function}})"
        )


def _value(one: Parameter, schema: dict[str, Any], literals: Literals) -> Expr:
    """The literals of one value of a parameter."""
    pointer = f"#/properties/{one.name}"
    part = schema["properties"][one.name]
    if one.kind != "rest":
        return literals.value(part, pointer)
    return literals.value(part.get("items", {}), f"{pointer}/items")


@lru_cache(maxsize=64)
def _other_name(taken: tuple[str, ...]) -> Expr:
    """A name of an argument that no parameter has, each once."""
    known = _names_of_arguments()
    texts = minimise(intersect(known, complement(texts_among(taken)))) if taken else known
    return OtherText((), to_graph(texts, CharSet), True)


@lru_cache(maxsize=1)
def _names_of_arguments() -> Dfa:
    """ASCII names but the words that Python keeps for itself."""
    names = determinise(Seq((CharSet(_FIRST), Repeat(CharSet(_LATER), 0, None))))
    return minimise(intersect(names, complement(texts_among(keyword.kwlist))))


class _Arguments:
    """Writes the arguments of a call as one graph.

    State ``n`` up to ``count`` has ``n`` arguments by position behind it; then come those right behind each of these,
    those for the rest, for arguments by name, and those inside of names.
    """

    def __init__(
        self,
        parameters: tuple[Parameter, ...],
        values: dict[str, Expr],
        others: tuple[Expr, Expr] | None,
    ) -> None:
        self.numbers = {one.name: n for n, one in enumerate(parameters)}
        self.parameters = parameters
        self.values = values
        self.others = others
        placed = [one for one in parameters if one.kind in ("positional", "either")]
        if len(placed) > _MOST_EITHER:
            placed = [one for one in placed if one.kind == "positional"]
        self.placed = placed
        self.named = [
            (self.numbers[one.name], Member(literal(one.name), values[one.name]))
            for one in parameters
            if one.kind in ("either", "keyword") and values[one.name] != NEVER and is_name(one.name)
        ]
        self.rest: Expr = NEVER
        if not any(one.kind == "either" and one not in placed for one in parameters):
            self.rest = next((values[one.name] for one in parameters if one.kind == "rest"), NEVER)

    def expr(self) -> Expr:
        """All of it: a scope, and no argument at all where none is needed."""
        if all(value == NEVER for value in self.values.values()) and self.others is None:
            return EMPTY
        count = len(self.placed)
        # behind each argument by position is a state of its own, which lies between members
        rest, read, after, name, end, free = range(2 * count + 1, 2 * count + 7)
        edges: list[tuple[int, Expr, int]] = []
        for n, one in enumerate(self.placed):
            value = self.values[one.name]
            if value == NEVER:
                break
            take = Guard("take", 1 << self.numbers[one.name])
            edges.append((n, in_row(take, COMMA if n else EMPTY, value), count + 1 + n))
            edges.append((count + 1 + n, Guard("between"), n + 1))
        else:
            if self.rest != NEVER:
                edges.append((count, in_row(COMMA if count else EMPTY, self.rest), rest))
                edges.append((rest, in_row(COMMA, self.rest), rest))
        # what has no name to be passed by, and has to come, is passed before any name
        by_name = {number for number, _ in self.named}
        needed = [
            n
            for n, one in enumerate(self.placed)
            if one.required and self.numbers[one.name] not in by_name
        ]
        before = needed[-1] + 1 if needed else 0
        if self.named or self.others is not None:
            among = sum(1 << number for number, _ in self.named)
            more = EMPTY if self.others is not None else Guard("may", among)
            for n in range(before, count + 1):
                edges.append((n, in_row(more, COMMA if n else EMPTY), name))
            edges += [(n, in_row(more, COMMA), name) for n in (rest, after)]
            edges += once_each(self.named, _EQUALS, self.others, False, (name, read, free))
            edges.append((read, Guard("between"), after))
        # a scope reads something: no argument at all stands beside it
        some = (*range(max(1, before), count + 1), rest, after)
        edges += [(n, Guard("end"), end) for n in some]
        n_states = 1 + max(free, *(target for _, _, target in edges))
        required = sum(1 << self.numbers[one.name] for one in self.parameters if one.required)
        graph = Graph(n_states, 0, (end,), tuple(edges))
        scope = Scope(graph, len(self.parameters), required)
        return scope if required else Alt((EMPTY, scope))
