r"""Word boundaries between plain parts of a pattern, by cutting the parts at their last and first character.

``[a-z.]{1,9}\b[/.]*$`` is one of two things: a word character last and no word character next, or the
other way round. Where that can be said with the parts themselves, counts and all, no automaton is needed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.text.json_spelling import ANY, Ranges, complement, intersect
from workbench.frontends.regex import Branch, parse_regex
from workbench.frontends.unicode_sets import WORD
from workbench.grammar.ir import Alt, CharSet, Expr, Repeat, Seq

__all__ = ["with_boundaries"]

#: A character that no pattern names, in place of a boundary.
_MARK = "\U0010fffd"
_MARKED = CharSet(((0x10FFFD, 0x10FFFD),))
#: Boundaries outside of classes, and what hides one: an escaped character or a class.
_BOUNDARY = re.compile(r"\\[^b]|\[(?:\\.|[^\]\\])*\]|(\\b)", re.DOTALL)
_ANYTHING = Repeat(CharSet(ANY), 0, None)
_OTHERS = complement(WORD)
#: Most ways that a pattern is cut into.
_MAX_WAYS = 64

#: The factors of a way to read a part, and whether a word character is at the end that was asked about;
#: ``None`` when there is no character at all.
_Ways = list[tuple[tuple[Expr, ...], bool | None]]


class _TooHard(Exception):
    """A boundary stands where it cannot be said with the parts around it."""


@lru_cache(maxsize=256)
def with_boundaries(pattern: str) -> Expr | None:
    """The texts that hold a match of a pattern with word boundaries; ``None`` where an automaton is needed."""
    if _MARK in pattern or "10fffd" in pattern.lower() or "\\b" not in pattern:
        return None
    marked = _BOUNDARY.sub(lambda found: _MARK if found[1] else found[0], pattern)
    if _MARK not in marked:
        return None
    try:
        branches = parse_regex(marked)
        ways = [way for branch in branches for way in _resolved(_padded(branch))]
    except (GrammarSyntaxError, _TooHard):
        return None
    if len(ways) > _MAX_WAYS:
        return None
    return Alt(tuple(ways))


def _padded(branch: Branch) -> list[Expr]:
    items = _flat(branch.expr)
    return [
        *([] if branch.anchored_start else [_ANYTHING]),
        *items,
        *([] if branch.anchored_end else [_ANYTHING]),
    ]


def _flat(expr: Expr) -> list[Expr]:
    if isinstance(expr, Seq):
        return [part for item in expr.items for part in _flat(item)]
    return [expr]


def _resolved(items: list[Expr]) -> list[Expr]:
    """A sequence with boundaries as sequences without."""
    at = next((n for n, item in enumerate(items) if item == _MARKED), None)
    if at is None:
        if any(map(_holds_mark, items)):
            raise _TooHard
        return [Seq(tuple(items))]
    before, after = items[:at], items[at + 1 :]
    if any(map(_holds_mark, before)):
        raise _TooHard
    out: list[Expr] = []
    for left, left_word in _ends(before):
        for right, right_word in _begins(after):
            if bool(left_word) != bool(right_word):
                out += _resolved([*left, *right])
                if len(out) > _MAX_WAYS:
                    raise _TooHard
    return out


def _holds_mark(expr: Expr) -> bool:
    if isinstance(expr, CharSet):
        return expr == _MARKED
    if isinstance(expr, Seq | Alt):
        return any(map(_holds_mark, expr.items))
    return isinstance(expr, Repeat) and _holds_mark(expr.item)


def _begins(items: list[Expr]) -> _Ways:
    """The ways of a sequence by its first character."""
    if not items:
        return [((), None)]
    out: _Ways = []
    for factors, word in _first(items[0]):
        if word is None:
            out += [((*factors, *rest), then) for rest, then in _begins(items[1:])]
        else:
            out.append(((*factors, *items[1:]), word))
    return out


def _ends(items: list[Expr]) -> _Ways:
    """The ways of a sequence by its last character."""
    turned = [_turned(item) for item in reversed(items)]
    return [
        (tuple(_turned(factor) for factor in reversed(factors)), word)
        for factors, word in _begins(turned)
    ]


def _turned(expr: Expr) -> Expr:
    """The texts of an expression read backwards."""
    if isinstance(expr, Seq):
        return Seq(tuple([_turned(item) for item in reversed(expr.items)]))
    if isinstance(expr, Alt):
        return Alt(tuple([_turned(item) for item in expr.items]))
    if isinstance(expr, Repeat):
        return Repeat(_turned(expr.item), expr.min, expr.max)
    return expr


def _first(expr: Expr) -> _Ways:
    """The ways of an expression by its first character."""
    if expr == _MARKED or (not isinstance(expr, CharSet) and _holds_mark(expr)):
        raise _TooHard
    if isinstance(expr, CharSet):
        ways: _Ways = []
        for ranges, is_word in ((WORD, True), (_OTHERS, False)):
            inside: Ranges = intersect(expr.ranges, ranges)
            if inside:
                ways.append(((CharSet(inside),), is_word))
        return ways
    if isinstance(expr, Seq):
        return _begins(list(expr.items))
    if isinstance(expr, Alt):
        return [way for item in expr.items for way in _first(item)]
    if isinstance(expr, Repeat):
        rest = Repeat(expr.item, max(0, expr.min - 1), None if expr.max is None else expr.max - 1)
        if expr.max == 0:
            return [((), None)]
        found: _Ways = [] if expr.min else [((), None)]
        for factors, word in _first(expr.item):
            if word is None:
                # An item without a character: what begins later begins in another round.
                found.append(((), None))
            else:
                found.append(((*factors, rest), word))
        return found
    raise _TooHard
