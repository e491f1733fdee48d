"""Any JSON text, as RFC 8259 writes it: syntax only.

Keys may come twice, strings may hold half of a surrogate pair, numbers may be of any size, whitespace may go
on without end: that is what the RFC says. Options bound digits and whitespace, for models that do not stop. For
texts with a meaning on which all readers agree, ask for ``json_schema(True)``.

>>> json_text().kind
'json_text'
"""

from __future__ import annotations

from functools import lru_cache

from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Outcome,
    Ref,
    Repeat,
    Seq,
)
from workbench.wording import number_of

__all__ = ["json_text"]


def _bytes(text: str) -> ByteSet:
    return ByteSet(sum(1 << ord(char) for char in text))


def _optional(expr: Expr) -> Repeat:
    return Repeat(expr, 0, 1)


@lru_cache(maxsize=16)
def json_text(*, max_digits: int | None = None, max_whitespace: int | None = None) -> Grammar:
    """Make the grammar of all JSON texts (RFC 8259).

    ``max_digits`` and ``max_whitespace`` are the most digits and whitespace characters in a row. ``None``, the
    default, is no limit: nothing that the RFC allows is left out, and a model may write zeros for ever. Raises
    ``ValueError`` for fewer than one digit or a negative number of characters.
    """
    if max_digits is not None and max_digits < 1:
        raise ValueError("max_digits must be at least 1, or None for no limit")
    if max_whitespace is not None and max_whitespace < 0:
        raise ValueError("max_whitespace must not be negative; None is no limit")
    space = Repeat(_bytes(" \t\n\r"), 0, max_whitespace)
    digit = _bytes("0123456789")
    digits = Repeat(digit, 1, max_digits)
    more = Repeat(digit, 0, None if max_digits is None else max_digits - 1)
    whole = Alt((Literal(b"0"), Seq((_bytes("123456789"), more))))
    fraction = _optional(Seq((Literal(b"."), digits)))
    exponent = _optional(Seq((_bytes("eE"), _optional(_bytes("+-")), digits)))
    hexadecimal = Repeat(_bytes("0123456789abcdefABCDEF"), 4, 4)
    escape = Alt((_bytes('"\\/bfnrt'), Seq((Literal(b"u"), hexadecimal))))
    unescaped = CharSet(((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF)))
    char = Alt((unescaped, Seq((Literal(b"\\"), escape))))

    def listed(item: Expr) -> Expr:
        more = Repeat(Seq((Literal(b","), space, item)), 0, None)
        return _optional(Seq((item, more)))

    padded = Seq((Ref("value"), space))
    member = Seq((Ref("string"), space, Literal(b":"), space, Ref("value"), space))
    words = (Literal(b"true"), Literal(b"false"), Literal(b"null"))
    rules: dict[str, Expr] = {
        "text": Seq((space, Ref("value"), space)),
        "value": Alt((Ref("object"), Ref("array"), Ref("string"), Ref("number"), *words)),
        "object": Seq((Literal(b"{"), space, listed(member), Literal(b"}"))),
        "array": Seq((Literal(b"["), space, listed(padded), Literal(b"]"))),
        "string": Seq((Literal(b'"'), Repeat(char, 0, None), Literal(b'"'))),
        "number": Seq((_optional(Literal(b"-")), whole, fraction, exponent)),
    }
    limits = (
        (max_digits, "numbers", "digit", "length"),
        (max_whitespace, "whitespace", "character", "whitespace"),
    )
    outcomes = tuple(
        Outcome("#", keyword, "restricted", f"at most {number_of(most, what)} in a row", (kind,))
        for most, keyword, what, kind in limits
        if most is not None
    )
    return Grammar(rules, "text", kind="json_text", outcomes=outcomes)
