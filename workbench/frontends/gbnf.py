"""GBNF, the grammar notation of llama.cpp, as grammars.

The text is parsed with lark (LALR, so depth is no limit); its tree is turned into expressions bottom
up. Line ends matter as they do in llama.cpp: a rule ends with its line, except inside parentheses,
after ``|`` and after ``::=``. Characters are code points, ``\\xHH`` included; ``.`` and negated
classes match line breaks too.

Where llama.cpp is silent about a mistake this front end is not: a rule defined twice, a backwards
range or count and half a surrogate pair are errors, and ``[]`` is the empty language. Counts are
exact at any size.

Token terminals are one token each, whatever bytes it has: ``<think>`` is the token with that text,
``<[1000]>`` the token with that id, and ``!`` before either is any token but this one (the end of the
text is none). ``<[1000,1004-1007]>``, several ids at once, is an extension. Whether a vocabulary has the
token is found out when the grammar is compiled for it.

>>> sorted(gbnf('root ::= "a" tail*\\ntail ::= [0-9]{2,3}').rules)
['root', 'tail']

Next file to read: ``workbench/frontends/gbnf_syntax.py``.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, NoReturn

from workbench.errors import GrammarSyntaxError
from workbench.frontends.gbnf_syntax import parse_tree
from workbench.frontends.unicode_sets import ANY, LAST, complement, is_surrogate, normalise
from workbench.grammar.ir import (
    Alt,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Origin,
    Ref,
    Repeat,
    Seq,
    Token,
    walk,
)

__all__ = ["gbnf"]

_CHARACTER = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<c>.?))|.",
    re.DOTALL,
)
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_TOKEN_IDS = re.compile(r"<\[ *[0-9]+ *(?:- *[0-9]+ *)?(?:, *[0-9]+ *(?:- *[0-9]+ *)?)*\]>")
_TOKEN_HINT = "as in <think>, <[1000]> or !<[1000]>"
#: The largest id that a token terminal may name; no vocabulary comes near.
_LAST_ID = 999_999
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def gbnf(text: str | bytes, start: str = "root") -> Grammar:
    """Make a grammar of a GBNF text; ``start`` names the rule that the whole output must match.

    Bytes are read as UTF-8. Raises ``GrammarSyntaxError`` with the position of what is malformed,
    undefined, defined twice or not supported.
    """
    source = _decode(text)
    tree = parse_tree(source)
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
        starts[name.value] = name.start_pos
        rules[name.value] = _Builder(source, str(name)).build(rule.children[1])
    if start not in rules:
        raise GrammarSyntaxError(
            f"there is no rule named {start!r}, and the grammar starts with it",
            hint=f"defined are: {', '.join(list(rules)[:8])}; pass start=… to begin with another",
        )
    _check_references(source, rules)
    return Grammar(rules, start, kind="gbnf", source=source)


def _decode(text: str | bytes) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise GrammarSyntaxError(
                f"this is not a grammar text: byte {error.start} "
                f"(0x{error.object[error.start]:02X}) is not UTF-8"
            ) from None
    if (nul := text.find("\0")) >= 0:
        raise GrammarSyntaxError(
            f"this is not a grammar text: character {nul} is NUL, as in a binary file"
        )
    return text


def _check_references(source: str, rules: dict[str, Expr]) -> None:
    for expr in rules.values():
        for part in walk(expr):
            if isinstance(part, Ref) and part.name not in rules and part.origin:
                near = get_close_matches(part.name, rules, n=1)
                raise GrammarSyntaxError(
                    f"rule {part.name!r} is used but not defined",
                    text=source,
                    start=part.origin.start,
                    end=part.origin.end,
                    hint=f"did you mean {near[0]!r}?" if near else f"add: {part.name} ::= …",
                )


class _Builder:
    """Turns the tree of one rule into an expression, leaves first."""

    def __init__(self, source: str, rule: str) -> None:
        self.source = source
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
            case "text":
                return Literal(self._text(children[0]), origin=origin)
            case "class":
                return CharSet(self._class(children[0]), origin=origin)
            case "token":
                return self._token(children[0], origin)
            case _:
                return CharSet(ANY, origin=origin)

    def _fail(self, message: str, start: int, end: int, hint: str | None = None) -> NoReturn:
        raise GrammarSyntaxError(message, text=self.source, start=start, end=end, hint=hint)

    def _counts(self, tokens: list[Any]) -> tuple[int, int | None]:
        if tokens[0] in _COUNTS:
            return _COUNTS[tokens[0]]
        numbers = [token for token in tokens if token.type == "INT"]
        for token in numbers:
            if len(token) > 18:
                self._fail("this count is too large", token.start_pos, token.end_pos)
        least = int(numbers[0])
        if len(numbers) == 2:
            if int(numbers[1]) < least:
                self._fail(
                    "the least count is above the greatest",
                    tokens[0].start_pos,
                    tokens[-1].end_pos,
                )
            return least, int(numbers[1])
        return least, None if any(token.type == "COMMA" for token in tokens) else least

    def _characters(self, token: Any) -> list[tuple[int, re.Match[str]]]:
        """Decode what stands between the delimiters of a literal or class."""
        start, end = token.start_pos + 1, token.end_pos - 1
        characters = []
        for match in _CHARACTER.finditer(self.source, start, end):
            hexadecimal = match["x"] or match["u"] or match["U"]
            if hexadecimal:
                code = int(hexadecimal, 16)
            elif match["c"] is None:
                code = ord(match[0])
            elif match["c"] in _ESCAPES:
                code = ord(_ESCAPES[match["c"]])
            elif match["c"] in _HEX_DIGITS:
                count = _HEX_DIGITS[match["c"]]
                self._fail(f"{match[0]} needs {count} hexadecimal digits after it", *match.span())
            else:
                self._fail(
                    f"{match[0]} is not an escape of GBNF",
                    *match.span(),
                    hint='known are \\n \\r \\t \\\\ \\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH',
                )
            if code > LAST:
                self._fail("there is no character above U+10FFFF", *match.span())
            characters.append((code, match))
        return characters

    def _token(self, token: Any, origin: Origin) -> Token:
        negated = token.startswith("!")
        name = token[negated:]
        if not name.startswith("<["):
            if name == "<>":
                self._fail("this names no token", token.start_pos, token.end_pos, _TOKEN_HINT)
            return Token(names=(str(name),), negated=negated, origin=origin)
        if not _TOKEN_IDS.fullmatch(name):
            self._fail(
                "between <[ and ]> stands the id of a token, a number",
                token.start_pos,
                token.end_pos,
                _TOKEN_HINT,
            )
        ids: set[int] = set()
        for part in name[2:-2].split(","):
            low, _, high = part.partition("-")
            if max(len(low), len(high)) > 12 or max(int(low), int(high or low)) > _LAST_ID:
                self._fail("this token id is too large", token.start_pos, token.end_pos)
            first, last = int(low), int(high or low)
            if first > last:
                self._fail(
                    "this range is backwards: its first id comes after its last",
                    token.start_pos,
                    token.end_pos,
                )
            ids.update(range(first, last + 1))
        return Token(tuple(ids), negated=negated, origin=origin)

    def _text(self, token: Any) -> bytes:
        characters = self._characters(token)
        for code, match in characters:
            if is_surrogate(code):
                self._fail(
                    f"U+{code:04X} is half of a surrogate pair and never stands in a text",
                    *match.span(),
                    hint="write the whole character, as in \\U0001F600",
                )
        return "".join(chr(code) for code, _ in characters).encode("utf-8")

    def _class(self, token: Any) -> tuple[tuple[int, int], ...]:
        characters = self._characters(token)
        negated = bool(characters) and characters[0][1][0] == "^"
        position = int(negated)
        members: list[tuple[int, int]] = []
        while position < len(characters):
            low, first = characters[position]
            if position + 2 < len(characters) and characters[position + 1][1][0] == "-":
                high, last = characters[position + 2]
                if low > high:
                    self._fail(
                        "this range is backwards: its first character comes after its last",
                        first.start(),
                        last.end(),
                    )
                members.append((low, high))
                position += 3
            else:
                members.append((low, low))
                position += 1
        ranges = normalise(members)
        return complement(ranges) if negated else ranges
