"""Grammar -> one regular expression that :func:`workbench.regex` reads back as the same language.

Uses of rules are replaced by what they say, rules that come back to themselves only at their end (or only at
their beginning) by loops; other recursion has no pattern. Where a part is less than a character the pattern
is one of bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.automaton.linear import resolve
from workbench.errors import GrammarTooComplex, WorkbenchError
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Literal,
    Ref,
    Repeat,
    Seq,
    walk,
)
from workbench.grammar.utf8 import utf8_graph

__all__ = ["RegexText", "to_regex"]

#: Characters of a pattern.
MAX_CHARACTERS = 200_000
#: Characters that mean something else in a pattern.
_META = set("\\^$.|?*+()[]{}/")
_ALTERNATIVES, _SEQUENCE, _ATOM = range(3)
#: A text and how tightly it binds; None is the empty language.
_Text = tuple[str, int] | None
_NOTHING = ("", _SEQUENCE)


@dataclass(frozen=True, slots=True)
class RegexText:
    """A pattern, in ASCII where ``of_bytes`` says that it is one of bytes."""

    text: str
    of_bytes: bool = False

    @property
    def pattern(self) -> str | bytes:
        """The pattern as :func:`workbench.regex` takes it."""
        return self.text.encode("ascii") if self.of_bytes else self.text


def to_regex(grammar: Grammar) -> RegexText:
    """Write a grammar as one regular expression (ECMA-262 over code points).

    Raises ``NotRegular`` for recursion that makes no loop and for tokens, ``WorkbenchError`` for a grammar
    without texts, ``GrammarTooComplex`` for more than 200,000 characters.

    >>> import workbench as wb
    >>> print(to_regex(wb.gbnf('root ::= "(" digits ")"\\ndigits ::= [0-9] digits | ""')).text)
    \\([0-9]*\\)
    """
    (expr,) = resolve([Ref(grammar.start)], grammar.rules)
    of_bytes = any(map(_is_less_than_characters, walk(expr)))
    try:
        found = _Writer(of_bytes).expr(expr)
    except RecursionError:
        raise GrammarTooComplex("nested parts of a pattern", 1000, grammar.start) from None
    if found is None:
        raise WorkbenchError("it has no text at all, and no pattern says that")
    return RegexText(found[0], of_bytes)


def _is_less_than_characters(part: Expr) -> bool:
    if isinstance(part, Literal):
        try:
            part.data.decode("utf-8")
        except UnicodeDecodeError:
            return True
    return isinstance(part, ByteSet) and bool(part.mask >> 128)


class _Writer:
    """Writes expressions without uses of rules."""

    def __init__(self, of_bytes: bool) -> None:
        self.of_bytes = of_bytes
        #: by identity, with the expression, which so keeps its identity
        self.made: dict[int, tuple[Expr, _Text]] = {}

    def expr(self, expr: Expr) -> _Text:
        known = self.made.get(id(expr))
        if known is None:
            known = self.made[id(expr)] = expr, self.written(expr)
        return known[1]

    def written(self, expr: Expr) -> _Text:
        match expr:
            case Literal(data=data):
                characters = data.decode("latin-1" if self.of_bytes else "utf-8")
                text = "".join(self.character(ord(character)) for character in characters)
                return text, _ATOM if len(characters) == 1 else _SEQUENCE
            case ByteSet(mask=mask):
                return self.members((byte, byte) for byte in range(256) if mask >> byte & 1)
            case CharSet(ranges=ranges) if self.of_bytes:
                _, edges = utf8_graph(ranges)
                labels = [
                    (a, ByteSet((1 << high + 1) - (1 << low)), b) for a, low, high, b in edges
                ]
                states = 2 + max((max(a, b) for a, _, b in labels), default=0)
                return self.graph(Graph(states, 0, (1,), tuple(labels)))
            case CharSet(ranges=ranges):
                return self.members(ranges)
            case Seq(items=items):
                return self.sequence(map(self.expr, items))
            case Alt(items=items):
                return self.alternatives(map(self.expr, items))
            case Repeat(item=item, min=least, max=most):
                return self.repeat(self.expr(item), least, most)
            case Graph():
                return self.graph(expr)
        raise WorkbenchError(f"no pattern has words for {type(expr).__name__}")

    def checked(self, text: str, binds: int) -> _Text:
        if len(text) > MAX_CHARACTERS:
            raise GrammarTooComplex("characters of a pattern", MAX_CHARACTERS)
        return text, binds

    def character(self, code: int) -> str:
        character = chr(code)
        if character in _META:
            return f"\\{character}"
        if character.isprintable() and (character.isascii() or not self.of_bytes):
            return character
        return _hexadecimal(code)

    def members(self, ranges: Iterable[tuple[int, int]]) -> _Text:
        """A class; neighbouring ranges are joined, and halves of surrogate pairs left out."""
        runs: list[list[int]] = []
        for low, high in ranges:
            for a, b in ((low, min(high, 0xD7FF)), (max(low, 0xE000), high)):
                if a > b:
                    continue
                if runs and runs[-1][1] == a - 1:
                    runs[-1][1] = b
                else:
                    runs.append([a, b])
        if not runs:
            return None
        if len(runs) == 1 and runs[0][0] == runs[0][1]:
            return self.character(runs[0][0]), _ATOM
        return self.checked(f"[{''.join(_range(low, high) for low, high in runs)}]", _ATOM)

    def grouped(self, text: tuple[str, int], wanted: int) -> str:
        return text[0] if text[1] >= wanted else f"(?:{text[0]})"

    def sequence(self, items: Iterable[_Text]) -> _Text:
        parts: list[tuple[str, int]] = []
        for item in items:
            if item is None:
                return None
            if item[0]:
                parts.append(item)
        if len(parts) == 1:
            return parts[0]
        return self.checked("".join(self.grouped(part, _SEQUENCE) for part in parts), _SEQUENCE)

    def alternatives(self, items: Iterable[_Text]) -> _Text:
        kept = [item for item in dict.fromkeys(items) if item is not None]
        full = [item for item in kept if item[0]]
        if not full:
            return _NOTHING if kept else None
        if len(full) == 1:
            found: _Text = full[0]
        else:
            text = "|".join(self.grouped(item, _ALTERNATIVES) for item in full)
            found = self.checked(text, _ALTERNATIVES)
        return self.repeat(found, 0, 1) if len(full) < len(kept) else found

    def repeat(self, item: _Text, least: int, most: int | None) -> _Text:
        if most is not None and most < least:
            return None
        if item is None or most == 0:
            return None if least and item is None else _NOTHING
        if (least, most) == (1, 1) or not item[0]:
            return item
        signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        count = f"{least}" if most == least else f"{least},{'' if most is None else most}"
        # a sign after a sign would be another one
        body = item[0] if item[1] == _ATOM else f"(?:{item[0]})"
        return self.checked(body + signs.get((least, most), f"{{{count}}}"), _SEQUENCE)

    def graph(self, graph: Graph) -> _Text:
        """Take one state after the other out, and join what led through it (Brzozowski and McCluskey, 1963)."""
        first, last = -1, -2
        ways: dict[tuple[int, int], _Text] = {(first, graph.start): _NOTHING}
        for state in graph.finals:
            ways[state, last] = _NOTHING
        for source, label, target in graph.edges:
            text = self.expr(label)
            ways[source, target] = self.alternatives((ways.get((source, target)), text))
        ways = {ends: text for ends, text in ways.items() if text is not None}
        left = {state for ends in ways for state in ends} - {first, last}
        while left:
            state = min(left, key=lambda s: (_cost(ways, s), s))
            left.remove(state)
            loop = self.repeat(ways.pop((state, state), None), 0, None)
            into = {a: ways.pop((a, b)) for a, b in list(ways) if b == state}
            out = {b: ways.pop((a, b)) for a, b in list(ways) if a == state}
            for a, before in into.items():
                for b, after in out.items():
                    through = self.sequence((before, loop, after))
                    ways[a, b] = self.alternatives((ways.get((a, b)), through))
        return ways.get((first, last))


def _cost(ways: dict[tuple[int, int], _Text], state: int) -> int:
    """What taking a state out would write."""
    into = [text for (a, b), text in ways.items() if b == state != a]
    out = [text for (a, b), text in ways.items() if a == state != b]
    return sum(len(x[0]) + len(y[0]) for x in into if x for y in out if y)


def _hexadecimal(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"


def _member(code: int) -> str:
    plain = chr(code).isascii() and chr(code).isalnum()
    return chr(code) if plain else _hexadecimal(code)


def _range(low: int, high: int) -> str:
    if low == high:
        return _member(low)
    return f"{_member(low)}{'-' if high - low > 1 else ''}{_member(high)}"
