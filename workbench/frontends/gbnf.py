"""GBNF, the grammar notation of llama.cpp, as grammars.

The text is parsed with lark (LALR, so depth is no limit); its tree is turned into expressions bottom
up. Line ends matter as they do in llama.cpp: a rule ends with its line, except inside parentheses,
after ``|`` and ``::=``, and where the next line begins with ``|`` (or ``&``). Characters are code
points, ``\\xHH`` included; ``.`` and negated classes match line breaks too.

Where llama.cpp is silent about a mistake this front end is not: a rule defined twice, a backwards
range or count and half a surrogate pair are errors, and ``[]`` is the empty language. Counts are
exact at any size.

Token terminals are one token each, whatever bytes it has: ``<think>`` is the token with that text,
``<[1000]>`` the token with that id, and ``!`` before either is any token but this one (the end of the
text is none). Whether a vocabulary has the token is found out when the grammar is compiled for it.

Extensions, which llama.cpp refuses:

- ``a & b`` is what both mean, ``~a`` any text that ``a`` does not mean. ``~`` binds tighter than
  repetition, ``&`` looser than a sequence and tighter than ``|``, as in llguidance. Both work on regular
  parts; rules that they use may be recursive at their end alone (or at their beginning alone).
- ``until("</think>")`` is any text that ends where that marker ends for the first time, ``until("a", "b")``
  where one of several does.
- ``b"\\xff\\x00"`` is bytes and ``b[\\x80-\\xff]`` one byte out of a class; ``\\xHH`` is a byte in them, a
  code point elsewhere. ``~`` of a part with bytes above 0x7F is any byte string but those.
- ``<[1000,1004-1007]>`` is one token out of several ids.
- ``%json {"type": …}`` is the texts of a JSON Schema, ``%regex /[a-z]+/`` those of a pattern (see
  :func:`~workbench.regex`); a slash in it is written ``\\/``, or stands in a class.

A text that defines a rule ``b`` or ``until`` means that rule by the name, as it does for llama.cpp.

>>> sorted(gbnf('root ::= "a" tail*\\ntail ::= [0-9]{2,3}').rules)
['root', 'tail']
>>> gbnf('root ::= [a-z]{2} & ~"if"').rules["root"].n_states
4
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from workbench.automaton.budgets import Budgets, chosen, using
from workbench.collector import CollectorWaits
from workbench.errors import GrammarSyntaxError
from workbench.frontends.gbnf_dialects import refuse_hexadecimal
from workbench.frontends.gbnf_operators import Operations
from workbench.frontends.gbnf_parts import Parts, given_parts
from workbench.frontends.gbnf_syntax import parse_tree
from workbench.frontends.gbnf_terminals import Terminals
from workbench.frontends.kept import kept, limits_of
from workbench.frontends.unicode_sets import ANY
from workbench.grammar.ir import (
    EMPTY,
    Alt,
    CharSet,
    Expr,
    Grammar,
    Origin,
    Ref,
    Repeat,
    Seq,
    walk,
)
from workbench.inputs import read_text, wrong_text

__all__ = ["gbnf"]

_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def gbnf(
    text: str | bytes,
    start: str = "root",
    *,
    rules: Mapping[str, Grammar | str | bytes] | None = None,
    budgets: Budgets | None = None,
) -> Grammar:
    """Make a grammar of a GBNF text; ``start`` names the rule that the whole output must match.

    The notation and its extensions (``&``, ``~``, ``until(…)``, bytes, ``%json``, ``%regex``) are described in this
    module. ``rules`` are grammars that the text uses by name: schemas, patterns, compositions, any others.
    Bytes are read as UTF-8, or as their byte order mark says. Raises ``WrongType`` for what is no text,
    ``GrammarSyntaxError`` with the position of what is malformed,
    undefined, defined twice or not regular where it has to be, ``GrammarTooComplex`` when the automaton
    of an operation has too many states for ``budgets``, and ``ValueError`` for a name in ``rules`` that is none.
    """
    limits = chosen(budgets, "gbnf")
    source = _decode(text)
    given = given_parts(rules)

    def make() -> Grammar:
        with CollectorWaits():
            return _grammar(source, start, limits, given)

    if given:
        return make()
    return kept("gbnf", source, [start, *limits_of(limits)], make)


def _grammar(source: str, start: str, limits: Budgets, given: Mapping[str, Grammar]) -> Grammar:
    parts = Parts(source, given)
    refuse_hexadecimal(parts.text)
    tree = parse_tree(parts.text, source, frozenset(given))
    terminals, operations = Terminals(source), Operations(source)
    rules: dict[str, Expr] = {}
    starts: dict[str, int] = {}
    for rule in tree.children:
        name = rule.children[0]
        if name.value in rules:
            first = source.count("\n", 0, starts[name.value]) + 1
            raise GrammarSyntaxError(
                f"rule {name.value!r} is defined twice, first in line {first}",
                text=source,
                start=name.start_pos,
                end=name.end_pos,
                hint="join the two with '|', or rename one",
            )
        if name.value in given:
            raise GrammarSyntaxError(
                f"rule {name.value!r} is defined here and passed in rules",
                text=source,
                start=name.start_pos,
                end=name.end_pos,
                hint="rename one of the two",
            )
        starts[name.value] = name.start_pos
        rules[name.value] = _Builder(terminals, operations, str(name)).build(rule.children[1])
    if start not in rules:
        raise GrammarSyntaxError(
            f"there is no rule named {start!r}, and the grammar starts with it",
            hint=f"defined are: {', '.join(list(rules)[:8])}; pass start=… to begin with another",
        )
    _check_references(source, rules, operations, parts.names)
    with using(limits):
        settled = operations.settle(rules, parts.rules() if operations.found else {})
        return parts.embedded(settled, start)


def _decode(text: str | bytes) -> str:
    if isinstance(text, bytes | bytearray):
        text = read_text(bytes(text), "the grammar")
    if not isinstance(text, str):
        raise wrong_text("gbnf", "a grammar as text", text)
    if (nul := text.find("\0")) >= 0:
        raise GrammarSyntaxError(
            f"this is not a grammar text: character {nul} is NUL, as in a binary file"
        )
    return text


def _check_references(
    source: str, rules: dict[str, Expr], operations: Operations, parts: set[str]
) -> None:
    known = rules.keys() | operations.found.keys() | parts
    for expr in (*rules.values(), *operations.operands()):
        for part in walk(expr):
            if isinstance(part, Ref) and part.name not in known and part.origin:
                near = get_close_matches(part.name, [*rules, *parts], n=1)
                raise GrammarSyntaxError(
                    f"rule {part.name!r} is used but not defined",
                    text=source,
                    start=part.origin.start,
                    end=part.origin.end,
                    hint=f"did you mean {near[0]!r}?" if near else f"add: {part.name} ::= …",
                )


class _Builder:
    """Turns the tree of one rule into an expression, leaves first."""

    def __init__(self, terminals: Terminals, operations: Operations, rule: str) -> None:
        self.terminals = terminals
        self.operations = operations
        self.rule = rule

    def build(self, tree: Any) -> Expr:
        made: dict[int, Expr] = {}
        for node in tree.iter_subtrees():
            children = [made.pop(id(c), c) for c in node.children]
            made[id(node)] = self._node(node, children)
        return made[id(tree)]

    def _node(self, node: Any, children: list[Any]) -> Expr:
        # The empty sequence has no position of its own.
        start, end = (None, None) if node.meta.empty else (node.meta.start_pos, node.meta.end_pos)
        origin = Origin(start=start, end=end, rule=self.rule)
        match node.data:
            case "alternatives":
                return children[0] if len(children) == 1 else Alt(tuple(children), origin=origin)
            case "sequence":
                return children[0] if len(children) == 1 else Seq(tuple(children), origin=origin)
            case "repeat":
                return Repeat(children[0], *self._counts(children[1:]), origin=origin)
            case "reference":
                return Ref(str(children[0]), origin=origin)
            case "any":
                return CharSet(ANY, origin=origin)
            case "conjunction":
                return self._conjunction(children, origin)
            case "negation":
                return self.operations.add("~", (children[0],), origin)
            case kind:
                return self.terminals.expr(kind, children, origin)

    def _conjunction(self, children: list[Any], origin: Origin) -> Expr:
        if len(children) == 1:
            only: Expr = children[0]
            return only
        for number, sign in enumerate(children[1::2]):
            for operand in children[2 * number : 2 * number + 3 : 2]:
                if operand == EMPTY:
                    self.terminals.fail(
                        "one side of this '&' is missing",
                        sign.start_pos,
                        sign.end_pos,
                        'write "" to mean the empty text',
                    )
        return self.operations.add("&", tuple(children[::2]), origin)

    def _counts(self, tokens: list[Any]) -> tuple[int, int | None]:
        if tokens[0] in _COUNTS:
            return _COUNTS[tokens[0]]
        numbers = [token for token in tokens if token.type == "INT"]
        for token in numbers:
            if len(token) > 18:
                self.terminals.fail("this count is too large", token.start_pos, token.end_pos)
        least = int(numbers[0])
        if len(numbers) == 2:
            if int(numbers[1]) < least:
                self.terminals.fail(
                    "the least count is above the greatest",
                    tokens[0].start_pos,
                    tokens[-1].end_pos,
                )
            return least, int(numbers[1])
        return least, None if any(token.type == "COMMA" for token in tokens) else least
