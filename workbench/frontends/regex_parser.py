"""The parser of regular expressions: a pattern in, its top-level alternatives out.

One pass with an explicit stack of open groups, so that depth is no limit. Anchors are assertions on
the ends of the whole text. A part of a pattern is therefore kept as up to four languages, one for
each pair of flags (holds only at the start, holds only at the end): ``(^|,)a`` is ``a`` at the start,
or ``,a`` anywhere. Text before ``^`` has to be empty, so a sequence keeps such a case only when that
text can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.frontends.regex_chars import Scanner
from workbench.grammar.ir import EMPTY, Alt, ByteSet, CharSet, Expr, Origin, Repeat, Seq

__all__ = ["Flags", "Part", "Parts", "parse"]

#: (only at the start of the text, only at the end of the text)
Flags = tuple[bool, bool]

_FREE: Flags = (False, False)
_ANCHORS: dict[str, Flags] = {
    "^": (True, False),
    "$": (False, True),
    "\\A": (True, False),
    "\\Z": (False, True),
    "\\z": (False, True),
}
_QUANTIFIER = re.compile(r"[*+?]|\{([0-9]+)(?:(,)([0-9]*))?\}")
_OPEN_COUNT = re.compile(r"\{,[0-9]+\}")
_GROUP = re.compile(r"\((?:\?:|\?P?<(?![=!])([^>]*)>)?")
_NAME = re.compile(r"[^\W\d]\w*")
_UNSUPPORTED_GROUPS = (
    ("(?=", "look-ahead (?=…)"),
    ("(?!", "look-ahead (?!…)"),
    ("(?<=", "look-behind (?<=…)"),
    ("(?<!", "look-behind (?<!…)"),
    ("(?>", "an atomic group (?>…)"),
    ("(?|", "a branch reset (?|…)"),
    ("(?P=", "a back-reference (?P=…)"),
    ("(?P>", "a recursive pattern"),
    ("(?R", "a recursive pattern"),
    ("(?(", "a conditional group"),
)
#: Copies that anchors inside groups may force before the pattern is refused.
_MOST_NODES = 200_000


@dataclass(frozen=True, slots=True)
class Part:
    """A language, whether it holds the empty text, and the nodes that its expression needs."""

    expr: Expr
    nullable: bool
    size: int


Parts = dict[Flags, Part]

_NOTHING = Part(EMPTY, True, 0)


@dataclass(slots=True)
class _Run:
    """One way through a sequence so far."""

    items: list[Expr] = field(default_factory=list)
    nullable: bool = True
    size: int = 0

    def close(self, origin: Origin | None) -> Part:
        if len(self.items) == 1:
            return Part(self.items[0], self.nullable, self.size)
        return Part(Seq(tuple(self.items), origin=origin), self.nullable, self.size)


@dataclass(slots=True)
class _Group:
    """An open group, or the pattern itself: finished alternatives and the sequence being read."""

    start: int
    sequence_start: int
    alternatives: list[Parts] = field(default_factory=list)
    runs: dict[Flags, _Run] = field(default_factory=lambda: {_FREE: _Run()})
    anchor: tuple[int, int] = (0, 0)
    #: the flags in force outside of it
    flags: tuple[bool, bool, bool, bool] = (False, False, False, False)


def parse(
    text: str | bytes,
    *,
    ignore_case: bool = False,
    pointer: str | None = None,
    extended: bool = False,
) -> Parts:
    """Parse a pattern into at most four languages, keyed by the ends that they are bound to.

    The leaves are ``CharSet``, those of a pattern of bytes ``ByteSet``. ``extended`` reads flags, comments
    and POSIX classes, which ECMA-262 has not. Raises ``GrammarSyntaxError`` for what is malformed and for
    what is not supported.
    """
    return _Parser(text, ignore_case, pointer, extended).parse()


class _Parser:
    def __init__(
        self, pattern: str | bytes, ignore_case: bool, pointer: str | None, extended: bool
    ) -> None:
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        self.text = text
        self.pointer = pointer
        self.scan = Scanner(
            text,
            ignore_case=ignore_case,
            pointer=pointer,
            of_bytes=isinstance(pattern, bytes),
            extended=extended,
        )
        self.groups = [_Group(self.scan.pos, self.scan.pos)]

    def parse(self) -> Parts:
        scan = self.scan
        while True:
            scan.skip()
            if scan.pos >= len(self.text):
                break
            char = self.text[scan.pos]
            if char == "(":
                self._open()
            elif char == ")":
                self._close()
            elif char == "|":
                self._end_alternative(self.groups[-1])
                scan.pos += 1
                self.groups[-1].sequence_start = scan.pos
            elif _QUANTIFIER.match(self.text, scan.pos):
                scan.fail("there is nothing to repeat here", scan.pos, scan.pos + 1)
            elif not self._anchor():
                self._character()
        if len(self.groups) > 1:
            start = self.groups[-1].start
            scan.fail("this group is never closed: ')' is missing", start, start + 1)
        self._end_alternative(self.groups[0])
        return self._merge(self.groups[0])

    def _origin(self, start: int) -> Origin:
        return Origin(pointer=self.pointer, start=start, end=self.scan.pos)

    def _open(self) -> None:
        start = self.scan.pos
        outside = self.scan.flags
        if self.scan.scoped_flags():
            self.groups.append(_Group(start, self.scan.pos, flags=outside))
            return
        match = _GROUP.match(self.text, start)
        end = match.end() if match else start + 1
        if self.text.startswith("(?", start) and end == start + 1:
            self._refuse_group(start)
        if match and match[1] is not None and not _NAME.fullmatch(match[1]):
            self.scan.fail("the name of this group is not an identifier", start, end)
        self.scan.pos = end
        self.groups.append(_Group(start, end, flags=outside))

    def _refuse_group(self, start: int) -> None:
        for opening, what in _UNSUPPORTED_GROUPS:
            if self.text.startswith(opening, start):
                self.scan.fail(f"{what} is not supported", start, start + len(opening))
        if self.text.startswith("(?#", start):
            self.scan.fail(
                "a comment (?#…) is not supported in patterns of schemas (ECMA-262)",
                start,
                start + 3,
            )
        self.scan.fail("this group does not start as any known group does", start, start + 2)

    def _close(self) -> None:
        group = self.groups.pop()
        if not self.groups:
            self.scan.fail("this ')' closes no group", self.scan.pos, self.scan.pos + 1)
        self._end_alternative(group)
        self.scan.pos += 1
        self.scan.flags = group.flags
        self._add(self._quantify(self._merge(group), group.start), group.start)

    def _anchor(self) -> bool:
        start = self.scan.pos
        width = 2 if self.text[start] == "\\" else 1
        flags = _ANCHORS.get(self.text[start : start + width])
        if flags is None:
            return False
        if self.scan.multiline and width == 1:
            self.scan.fail("an anchor at the ends of lines is not supported here", start, start + 1)
        self.scan.pos += width
        self.scan.skip()
        if _QUANTIFIER.match(self.text, self.scan.pos):
            self.scan.fail("an anchor cannot be repeated", start, self.scan.pos + 1)
        self._add({flags: _NOTHING}, start)
        return True

    def _character(self) -> None:
        start = self.scan.pos
        if count := _OPEN_COUNT.match(self.text, start):
            self.scan.fail(
                "this count has no least number",
                *count.span(),
                hint=f"write {{0{count.group()[1:]} for a count, or \\{{ for the brace itself",
            )
        ranges = self.scan.atom()
        leaf: Expr = CharSet(ranges, origin=self._origin(start))
        if self.scan.of_bytes:
            mask = sum((1 << high + 1) - (1 << low) for low, high in ranges)
            leaf = ByteSet(mask, origin=self._origin(start))
        self._add(self._quantify({_FREE: Part(leaf, False, 1)}, start), start)

    def _quantify(self, parts: Parts, start: int) -> Parts:
        """Apply the quantifier that may follow the item that began at ``start``."""
        scan = self.scan
        scan.skip()
        match = _QUANTIFIER.match(self.text, scan.pos)
        if match is None:
            return parts
        scan.pos = match.end()
        least, most = self._counts(match)
        if self.text.startswith("?", scan.pos):
            scan.pos += 1
        elif self.text.startswith("+", scan.pos):
            scan.fail("possessive quantifiers are not supported", match.start(), scan.pos + 1)
        scan.skip()
        if _QUANTIFIER.match(self.text, scan.pos):
            scan.fail(
                "a quantifier cannot follow another",
                match.start(),
                scan.pos + 1,
                hint="put the repeated part in (?:…)",
            )
        if most == 0:
            return {_FREE: _NOTHING}
        if (least, most) == (1, 1):
            return parts
        if parts.keys() == {_FREE}:
            part = parts[_FREE]
            repeat = Repeat(part.expr, least, most, origin=self._origin(start))
            return {_FREE: Part(repeat, part.nullable or least == 0, part.size + 1)}
        return self._union(_repeat_anchored(parts, least, most, self._origin(start)), start)

    def _counts(self, match: re.Match[str]) -> tuple[int, int | None]:
        if match[1] is None:
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[match[0]]
        if max(len(match[1]), len(match[3] or "")) > 18:
            self.scan.fail("this count is too large", *match.span())
        least = int(match[1])
        most = least if match[2] is None else int(match[3]) if match[3] else None
        if most is not None and most < least:
            self.scan.fail("the least count is above the greatest", *match.span())
        return least, most

    def _add(self, parts: Parts, start: int) -> None:
        """Append an item to the sequence of the innermost open group."""
        group = self.groups[-1]
        if parts.keys() == {_FREE}:
            _append_plain(group.runs, parts[_FREE])
        else:
            group.anchor = (start, self.scan.pos)
            group.runs = self._product(group.runs, parts, group.sequence_start)
        if not group.runs:
            self.scan.fail(
                "this anchor can never hold: it is not at an end of the text", *group.anchor
            )

    def _product(self, runs: dict[Flags, _Run], parts: Parts, start: int) -> dict[Flags, _Run]:
        """Every way through the sequence followed by every way through the next item."""
        origin = self._origin(start)
        ways: dict[Flags, list[Part]] = {}
        for flags, run in runs.items():
            before = run.close(origin)
            for next_flags, part in parts.items():
                first, second = before, part
                if next_flags[0] and first.size:
                    if not first.nullable:
                        continue
                    first = _NOTHING
                if flags[1] and second.size:
                    if not second.nullable:
                        continue
                    second = _NOTHING
                both = (flags[0] or next_flags[0], flags[1] or next_flags[1])
                ways.setdefault(both, []).append(_join(first, second, origin))
        merged = self._union([{flags: way} for flags in ways for way in ways[flags]], start)
        return {
            flags: _Run([part.expr] if part.size else [], part.nullable, part.size)
            for flags, part in merged.items()
        }

    def _end_alternative(self, group: _Group) -> None:
        origin = self._origin(group.sequence_start)
        group.alternatives.append({flags: run.close(origin) for flags, run in group.runs.items()})
        group.runs = {_FREE: _Run()}

    def _merge(self, group: _Group) -> Parts:
        return self._union(group.alternatives, group.start)

    def _union(self, alternatives: Iterable[Parts], start: int) -> Parts:
        """Join languages that are bound to the same ends."""
        gathered: dict[Flags, list[Part]] = {}
        for parts in alternatives:
            for flags, part in parts.items():
                gathered.setdefault(flags, []).append(part)
        origin = self._origin(start)
        union: Parts = {}
        for flags, same in gathered.items():
            if len(same) == 1:
                union[flags] = same[0]
                continue
            size = 1 + sum(part.size for part in same)
            expr = Alt(tuple(part.expr for part in same), origin=origin)
            union[flags] = Part(expr, any(part.nullable for part in same), size)
        if len(union) > 1 and sum(part.size for part in union.values()) > _MOST_NODES:
            self.scan.fail("anchors are nested in too many ways", start, self.scan.pos)
        return union


def _append_plain(runs: dict[Flags, _Run], part: Part) -> None:
    """Append an item without anchors in place; ways that have passed ``$`` need it to be empty."""
    for flags, run in list(runs.items()):
        if not flags[1]:
            run.items.append(part.expr)
            run.nullable &= part.nullable
            run.size += part.size
        elif not part.nullable:
            del runs[flags]


def _join(first: Part, second: Part, origin: Origin) -> Part:
    if not first.size:
        return second
    if not second.size:
        return first
    return Part(
        Seq((first.expr, second.expr), origin=origin),
        first.nullable and second.nullable,
        first.size + second.size + 1,
    )


def _repeat_anchored(parts: Parts, least: int, most: int | None, origin: Origin) -> list[Parts]:
    """Repeat a group that holds anchors: only its first turn can be bound to the start, only its last
    to the end. Any further turns outside of those two have to be empty.
    """
    free, first = parts.get(_FREE), parts.get((True, False))
    last, both = parts.get((False, True)), parts.get((True, True))

    def inner(fewer: int, *, padded: bool) -> Part | None:
        """The turns without anchors; ``padded`` when empty turns outside can make up the count."""
        low = 0 if padded else max(0, least - fewer)
        high = None if most is None else most - fewer
        if high is not None and high < low:
            return None
        if high == 0 or free is None:
            return None if low else _NOTHING
        repeat = Repeat(free.expr, low, high, origin=origin)
        return Part(repeat, free.nullable or low == 0, free.size + 1)

    def nullable(*some: Part | None) -> bool:
        return any(part is not None and part.nullable for part in some)

    ways: list[Parts] = []
    padded = nullable(free, first), nullable(free, last)
    if turns := inner(0, padded=False):
        ways.append({_FREE: turns})
    if first and (turns := inner(1, padded=padded[0])):
        ways.append({(True, False): _join(first, turns, origin)})
    if last and (turns := inner(1, padded=padded[1])):
        ways.append({(False, True): _join(turns, last, origin)})
    if first and last and (turns := inner(2, padded=any(padded))):
        ways.append({(True, True): _join(_join(first, turns, origin), last, origin)})
    if both and (least <= 1 or any(padded)):
        ways.append({(True, True): both})
    if most != 1 and nullable(first, both) and nullable(last, both):
        ways.append({(True, True): _NOTHING})
    return ways
