"""The terminals of GBNF: literals, classes, bytes and tokens, from their text to expressions."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from workbench.errors import GrammarSyntaxError
from workbench.frontends.unicode_sets import LAST, Ranges, complement, is_surrogate, normalise
from workbench.grammar.ir import ByteSet, CharSet, Expr, Graph, Literal, Origin, Token
from workbench.grammar.until import until

__all__ = ["Terminals"]

_CHARACTER = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<c>.?))|.",
    re.DOTALL,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_TOKEN_IDS = re.compile(r"<\[ *[0-9]+ *(?:- *[0-9]+ *)?(?:, *[0-9]+ *(?:- *[0-9]+ *)?)*\]>")
_TOKEN_HINT = "as in <think>, <[1000]> or !<[1000]>"
#: The largest id that a token terminal may name; no vocabulary comes near.
_LAST_ID = 999_999

#: A character or byte with its place in the source.
_Character = tuple[int, re.Match[str]]


class Terminals:
    """Reads the terminals of one text. Every method raises ``GrammarSyntaxError`` with the position."""

    def __init__(self, source: str) -> None:
        self.source = source

    def fail(self, message: str, start: int, end: int, hint: str | None = None) -> NoReturn:
        """Raise a syntax error for the span ``start:end`` of the text."""
        raise GrammarSyntaxError(message, text=self.source, start=start, end=end, hint=hint)

    def expr(self, kind: str, tokens: list[Any], origin: Origin) -> Expr:
        """Make the expression of a terminal: a ``kind`` of tree node, with its tokens."""
        first = tokens[0]
        match kind:
            case "text":
                return Literal(self.text(first).encode("utf-8"), origin=origin)
            case "class":
                return CharSet(self._class(first), origin=origin)
            case "bytes":
                return Literal(self.data(first), origin=origin)
            case "byte_class":
                mask = sum((1 << high + 1) - (1 << low) for low, high in self._class(first))
                return ByteSet(mask, origin=origin)
            case "until":
                return self._until(tokens, origin)
            case _:
                return self._token(first, origin)

    def text(self, token: Any) -> str:
        """Read what stands between the quotes of a literal."""
        inside = self.source[token.start_pos + 1 : token.end_pos - 1]
        if "\\" not in inside and not _SURROGATE.search(inside):
            return inside
        out = io.StringIO()
        for code, match in self._characters(token, 1):
            if is_surrogate(code):
                self.fail(
                    f"U+{code:04X} is half of a surrogate pair and never stands in a text",
                    *match.span(),
                    hint="write the whole character, as in \\U0001F600",
                )
            out.write(chr(code))
        return out.getvalue()

    def data(self, token: Any) -> bytes:
        """Read what stands between the quotes of a byte literal."""
        return bytes(code for code, _ in self._bytes(token))

    def _characters(self, token: Any, opening: int) -> Iterator[_Character]:
        """Decode what stands between the delimiters of a literal or class."""
        for match in _CHARACTER.finditer(self.source, token.start_pos + opening, token.end_pos - 1):
            hexadecimal = match["x"] or match["u"] or match["U"]
            if hexadecimal:
                code = int(hexadecimal, 16)
            elif match["c"] is None:
                code = ord(match[0])
            elif match["c"] in _ESCAPES:
                code = ord(_ESCAPES[match["c"]])
            elif match["c"] in _HEX_DIGITS:
                count = _HEX_DIGITS[match["c"]]
                self.fail(f"{match[0]} needs {count} hexadecimal digits after it", *match.span())
            else:
                self.fail(
                    f"{match[0]} is not an escape of GBNF",
                    *match.span(),
                    hint='known are \\n \\r \\t \\\\ \\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH',
                )
            if code > LAST:
                self.fail("there is no character above U+10FFFF", *match.span())
            yield code, match

    def _bytes(self, token: Any) -> Iterator[_Character]:
        """Decode the bytes between the delimiters of a byte literal or class."""
        for code, match in self._characters(token, 2):
            if match["u"] or match["U"] or (code > 0x7F and not match["x"]):
                self.fail(
                    "between b and its end stand bytes: ASCII characters and \\xHH",
                    *match.span(),
                    hint='write the bytes of the character, as in b"\\xc3\\xa9", or a literal without b',
                )
            yield code, match

    def _class(self, token: Any) -> Ranges:
        """Read the members of a class, of characters or (with a ``b`` before it) of bytes."""
        of_bytes = token.startswith("b")
        characters = list(self._bytes(token) if of_bytes else self._characters(token, 1))
        negated = bool(characters) and characters[0][1][0] == "^"
        position = int(negated)
        members: list[tuple[int, int]] = []
        while position < len(characters):
            low, first = characters[position]
            if position + 2 < len(characters) and characters[position + 1][1][0] == "-":
                high, last = characters[position + 2]
                if low > high:
                    what = "byte" if of_bytes else "character"
                    self.fail(
                        f"this range is backwards: its first {what} comes after its last",
                        first.start(),
                        last.end(),
                    )
                members.append((low, high))
                position += 3
            else:
                members.append((low, low))
                position += 1
        ranges = normalise(members)
        if not negated:
            return ranges
        others = complement(ranges)
        return (
            tuple((low, min(high, 0xFF)) for low, high in others if low < 0x100)
            if of_bytes
            else others
        )

    def _until(self, tokens: list[Any], origin: Origin) -> Graph:
        markers: list[str | bytes] = []
        for token in tokens:
            if token.type == "COMMA":
                continue
            markers.append(self.data(token) if token.startswith("b") else self.text(token))
            if not markers[-1]:
                self.fail("a marker is not empty", token.start_pos, token.end_pos)
        return until(markers, origin=origin)

    def _token(self, token: Any, origin: Origin) -> Token:
        negated = token.startswith("!")
        name = token[negated:]
        if not name.startswith("<["):
            if name == "<>":
                self.fail("this names no token", token.start_pos, token.end_pos, _TOKEN_HINT)
            return Token(names=(str(name),), negated=negated, origin=origin)
        if not _TOKEN_IDS.fullmatch(name):
            self.fail(
                "between <[ and ]> stands the id of a token, a number",
                token.start_pos,
                token.end_pos,
                _TOKEN_HINT,
            )
        ids: set[int] = set()
        for part in name[2:-2].split(","):
            low, _, high = part.partition("-")
            if max(len(low), len(high)) > 12 or max(int(low), int(high or low)) > _LAST_ID:
                self.fail("this token id is too large", token.start_pos, token.end_pos)
            first, last = int(low), int(high or low)
            if first > last:
                self.fail(
                    "this range is backwards: its first id comes after its last",
                    token.start_pos,
                    token.end_pos,
                )
            ids.update(range(first, last + 1))
        return Token(tuple(ids), negated=negated, origin=origin)
