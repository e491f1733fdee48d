"""Characters, escapes and classes of a regular expression: text in, sets of code points out.

The dialect is ECMA-262 over code points, as JSON Schema asks for: ``\\d`` is ``[0-9]``, ``\\w`` is
``[A-Za-z0-9_]``, ``\\s`` is the ECMA list of white space, ``.`` is anything but the line terminators.
A pattern of bytes is read with a byte for a code point: ``\\xHH`` is that byte, ``\\s`` is ASCII white
space, ``.`` is any byte, and there is neither ``\\u`` nor ``\\p``.
"""

from __future__ import annotations

import re
from typing import NoReturn

from workbench.errors import GrammarSyntaxError
from workbench.frontends.unicode_sets import (
    ANY,
    DIGIT,
    LAST,
    LINE_TERMINATORS,
    SPACE,
    WORD,
    Ranges,
    complement,
    fold_case,
    is_surrogate,
    normalise,
    property_ranges,
)

__all__ = ["Scanner"]

_SINGLE = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B}
#: An upper-case letter is the other characters.
_SETS = {
    "d": DIGIT,
    "D": DIGIT,
    "w": WORD,
    "W": WORD,
    "s": SPACE,
    "S": SPACE,
}
_UNSUPPORTED = {
    "b": "the word boundary \\b",
    "B": "the word boundary \\B",
    "k": "a back-reference \\k",
    "g": "a back-reference \\g",
    "G": "the anchor \\G",
    "K": "the escape \\K",
    "N": "the escape \\N",
    "Q": "quoting with \\Q…\\E",
    "R": "the escape \\R",
    "X": "the escape \\X",
    "h": "the escape \\h",
    "H": "the escape \\H",
}
_DOT = complement(LINE_TERMINATORS)
_ANY_BYTE: Ranges = ((0, 0xFF),)
_BYTE_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
_HEX = frozenset("0123456789abcdefABCDEF")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_POSIX_SETS: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": _BYTE_SPACE,
    "upper": ((0x41, 0x5A),),
    "word": WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:(-)([a-zA-Z]*))?([:)])")
_NAMES = {"i": "ignore_case", "m": "multiline", "s": "dot_all", "x": "verbose"}
_BLANK = re.compile(r"(?:[ \t\n\r\f\v]|#[^\n]*)+")
_COMMENT = re.compile(r"\(\?#[^)]*(\))?")


class Scanner:
    """A cursor over a pattern that reads one character, escape or class at a time.

    ``pos`` is the offset of the next character. Every method raises ``GrammarSyntaxError`` with the
    position of what it could not read. ``of_bytes`` reads a pattern of bytes, given with one character
    for each. ``extended`` reads what ECMA-262 has not: flags, comments, POSIX classes.
    """

    def __init__(
        self,
        text: str,
        *,
        ignore_case: bool,
        pointer: str | None,
        of_bytes: bool = False,
        extended: bool = False,
    ) -> None:
        self.text = text
        self.of_bytes = of_bytes
        self.ignore_case = ignore_case
        self.multiline = self.dot_all = self.verbose = False
        self.pointer = pointer
        self.extended = extended
        self.pos = 0
        self._leading_flags()

    def _leading_flags(self) -> None:
        """Read the flags that a pattern begins with; of schemas ``(?i)`` alone."""
        while True:
            self.skip()
            flags = _FLAGS.match(self.text, self.pos)
            if flags is None or flags[4] != ")":
                return
            if not self.extended and flags[0] != "(?i)":
                return
            self._set_flags(flags)

    def skip(self) -> None:
        """Go past comments, and past white space where the flag x says that it means nothing."""
        while self.extended:
            if self.verbose and (blank := _BLANK.match(self.text, self.pos)):
                self.pos = blank.end()
            elif self.text.startswith("(?#", self.pos):
                comment = _COMMENT.match(self.text, self.pos)
                assert comment is not None
                if comment[1] is None:
                    self.fail(
                        "this comment is never closed: ')' is missing", self.pos, self.pos + 3
                    )
                self.pos = comment.end()
            else:
                return

    @property
    def flags(self) -> tuple[bool, bool, bool, bool]:
        """The flags in force, to be put back with ``flags =`` at the end of a group."""
        return self.ignore_case, self.multiline, self.dot_all, self.verbose

    @flags.setter
    def flags(self, flags: tuple[bool, bool, bool, bool]) -> None:
        self.ignore_case, self.multiline, self.dot_all, self.verbose = flags

    def scoped_flags(self) -> bool:
        """Read the beginning of a group with flags of its own, ``(?i:`` or ``(?s-i:``, if one is here."""
        found = _FLAGS.match(self.text, self.pos)
        if found is None or found[0] == "(?:":
            return False
        if not self.extended:
            self.fail(
                "flags are not supported in patterns of schemas (ECMA-262); only (?i) at the very start is",
                *found.span(),
            )
        if found[4] == ")":
            self.fail(
                "flags stand at the very start of a pattern, or with the part that they are for",
                *found.span(),
                hint=f"write (?{found[1]}:…)",
            )
        self._set_flags(found)
        return True

    def _set_flags(self, found: re.Match[str]) -> None:
        for letters, value in ((found[1], True), (found[3] or "", False)):
            for letter in letters:
                if letter in _NAMES:
                    setattr(self, _NAMES[letter], value)
                elif letter != "u":
                    self.fail(
                        f"the flag {letter} is not supported",
                        *found.span(),
                        hint="i, m, s and x are; u always holds",
                    )
        self.pos = found.end()

    def fail(self, message: str, start: int, end: int, hint: str | None = None) -> NoReturn:
        """Raise a syntax error for the span ``start:end`` of the pattern."""
        raise GrammarSyntaxError(
            message, text=self.text, start=start, end=end, pointer=self.pointer, hint=hint
        )

    def atom(self) -> Ranges:
        """Read one character, ``.``, escape or class: the set of code points that it matches."""
        start = self.pos
        char = self.text[start]
        if char == "[":
            return self._class()
        if char == ".":
            self.pos += 1
            return _ANY_BYTE if self.of_bytes else ANY if self.dot_all else _DOT
        if char == "\\":
            value = self._escape(in_class=False)
        else:
            self.pos += 1
            value = ord(char)
        if not isinstance(value, int):
            return self._folded(value)
        if is_surrogate(value):
            self.fail(
                f"U+{value:04X} is half of a surrogate pair and never stands alone in a text",
                start,
                self.pos,
                hint="write the whole character, as in \\u{1F600} or \\uD83D\\uDE00",
            )
        return self._folded(((value, value),))

    def _folded(self, ranges: Ranges) -> Ranges:
        if not self.ignore_case:
            return ranges
        return _fold_ascii(ranges) if self.of_bytes else fold_case(ranges)

    def _others(self, ranges: Ranges) -> Ranges:
        """Every character, or every byte, that is not in a set."""
        others = complement(ranges)
        if not self.of_bytes:
            return others
        return tuple((low, min(high, 0xFF)) for low, high in others if low <= 0xFF)

    def _class(self) -> Ranges:
        start = self.pos
        self.pos += 1
        negated = self.text.startswith("^", self.pos)
        self.pos += negated
        members: list[tuple[int, int]] = []
        while not self.text.startswith("]", self.pos):
            item = self.pos
            low = self._member(start)
            dash = self.text.startswith("-", self.pos) and self.text[self.pos + 1 : self.pos + 2]
            if not dash or dash == "]":
                members.extend(_as_ranges(low))
                continue
            self.pos += 1
            high = self._member(start)
            if not isinstance(low, int) or not isinstance(high, int):
                members.extend((*_as_ranges(low), (0x2D, 0x2D), *_as_ranges(high)))
            elif low > high:
                self.fail(
                    "this range is backwards: its first character comes after its last",
                    item,
                    self.pos,
                )
            else:
                members.append((low, high))
        self.pos += 1
        ranges = self._folded(normalise(members))
        return self._others(ranges) if negated else ranges

    def _member(self, start: int) -> int | Ranges:
        """Read one member of the class that opened at ``start``: a code point or a set."""
        if self.pos >= len(self.text):
            self.fail(
                "this class is never closed: ']' is missing",
                start,
                start + 1,
                hint="write \\[ to mean the bracket itself",
            )
        char = self.text[self.pos]
        if char == "\\":
            return self._escape(in_class=True)
        if char == "[" and (posix := _POSIX.match(self.text, self.pos)):
            return self._posix(posix)
        self.pos += 1
        return ord(char)

    def _posix(self, found: re.Match[str]) -> Ranges:
        """A class of POSIX, which is one of ASCII characters."""
        if not self.extended:
            self.fail(
                f"the POSIX class {found.group()} is not supported in patterns of schemas (ECMA-262)",
                *found.span(),
                hint="write a range or a Unicode property, as in \\p{L}",
            )
        ranges = _POSIX_SETS.get(found[2])
        if ranges is None:
            known = ", ".join(_POSIX_SETS)
            self.fail(
                f"there is no POSIX class {found.group()}", *found.span(), hint=f"known are {known}"
            )
        self.pos = found.end()
        return self._others(ranges) if found[1] else ranges

    def _escape(self, *, in_class: bool) -> int | Ranges:
        """Read an escape: a code point, or a set for the escapes that mean several."""
        start = self.pos
        if start + 1 >= len(self.text):
            self.fail("the pattern ends after a backslash", start, start + 1)
        char = self.text[start + 1]
        self.pos += 2
        if char in _SINGLE:
            return _SINGLE[char]
        if self.of_bytes and char in "uUpP":
            self.fail(
                f"\\{char} means characters, and this is a pattern of bytes",
                start,
                self.pos,
                hint="write the bytes, as in \\xC3\\xA9",
            )
        if self.of_bytes and char in "sS":
            return _BYTE_SPACE if char == "s" else self._others(_BYTE_SPACE)
        if char in _SETS:
            return self._others(_SETS[char.lower()]) if char.isupper() else _SETS[char]
        if char == "x":
            return self._hex(start, 2)
        if char == "u":
            return self._unicode(start)
        if char in "pP":
            return self._property(start, negated=char == "P")
        if char == "c":
            return self._control(start)
        if in_class and char == "b":
            return 0x08
        if char.isdecimal() and char.isascii():
            return self._digit(start, char)
        if char in _UNSUPPORTED:
            self.fail(f"{_UNSUPPORTED[char]} is not supported", start, self.pos)
        if char.isalnum() and char.isascii():
            self.fail(f"\\{char} is not an escape that is known here", start, self.pos)
        return ord(char)

    def _digit(self, start: int, digit: str) -> int:
        following = self.text[self.pos : self.pos + 1]
        if digit != "0":
            self.fail(f"a back-reference \\{digit} is not supported", start, self.pos)
        if following.isdecimal():
            self.fail(
                "octal escapes are not supported",
                start,
                self.pos + 1,
                hint="write \\xHH or \\uHHHH",
            )
        return 0

    def _control(self, start: int) -> int:
        letter = self.text[self.pos : self.pos + 1]
        if not (letter.isascii() and letter.isalpha()):
            self.fail("\\c needs a letter A-Z after it", start, self.pos)
        self.pos += 1
        return ord(letter) & 0x1F

    def _hex(self, start: int, count: int) -> int:
        digits = self.text[self.pos : self.pos + count]
        if len(digits) < count or not _HEX.issuperset(digits):
            kind = self.text[start : start + 2]
            self.fail(f"{kind} needs {count} hexadecimal digits after it", start, self.pos)
        self.pos += count
        return int(digits, 16)

    def _unicode(self, start: int) -> int:
        if self.text.startswith("{", self.pos):
            end = self.text.find("}", self.pos)
            digits = self.text[self.pos + 1 : end] if end >= 0 else ""
            if not digits or not _HEX.issuperset(digits):
                self.fail("\\u{…} needs hexadecimal digits between its braces", start, self.pos + 1)
            self.pos = end + 1
            value = int(digits, 16)
            if value > LAST:
                self.fail("there is no character above U+10FFFF", start, self.pos)
            return value
        value = self._hex(start, 4)
        if 0xD800 <= value <= 0xDBFF and self.text.startswith("\\u", self.pos):
            low = self.text[self.pos + 2 : self.pos + 6]
            if len(low) == 4 and _HEX.issuperset(low) and 0xDC00 <= int(low, 16) <= 0xDFFF:
                self.pos += 6
                return 0x10000 + ((value - 0xD800) << 10) + int(low, 16) - 0xDC00
        return value

    def _property(self, start: int, *, negated: bool) -> Ranges:
        end = self.text.find("}", self.pos)
        if not self.text.startswith("{", self.pos) or end < 0:
            self.fail(
                "a Unicode property needs its name in braces",
                start,
                self.pos,
                hint="as in \\p{L}, \\p{Lu} or \\p{Script=Greek}",
            )
        name = self.text[self.pos + 1 : end]
        self.pos = end + 1
        try:
            ranges = property_ranges(name)
        except KeyError:
            self.fail(
                f"there is no Unicode property named {name[:40]!r}",
                start,
                self.pos,
                hint="general categories (L, Lu, Nd), scripts (Script=Greek) and binary "
                "properties (Alphabetic) are known",
            )
        return complement(ranges) if negated else ranges


def _fold_ascii(ranges: Ranges) -> Ranges:
    """Add the other case of every ASCII letter."""
    added = list(ranges)
    for low, high in ranges:
        for first, shift in ((0x41, 0x20), (0x61, -0x20)):
            begin, end = max(low, first), min(high, first + 25)
            if begin <= end:
                added.append((begin + shift, end + shift))
    return normalise(added)


def _as_ranges(value: int | Ranges) -> Ranges:
    return ((value, value),) if isinstance(value, int) else value
