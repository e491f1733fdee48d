"""What is worth a warning in a grammar text before it runs: rules that are never used or never end, empty loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.grammar import ir

__all__ = ["hints"]


def hints(grammar: ir.Grammar, text: str) -> list[dict[str, Any]]:
    """Warnings about the rules of a grammar that was read from ``text``, in the order of the text.

    Each has a ``message`` and the characters ``start`` to ``end`` that it is about; ``fix`` is a text to put there
    instead, where an edit is certain to change nothing else, and ``does`` says what that edit is. ``warning`` is
    false where no text can be written at all, as in a finding of ``dead_ends``. Only rules with a place in the
    text are looked at: those of a schema have none.
    """
    rules = grammar.rules
    if grammar.kind != "gbnf" or not isinstance(rules, Mapping):
        return []
    used = _used(rules, grammar.start)
    ends = _fixed(rules, _ends)
    empty = _fixed(rules, _empty)
    found: list[dict[str, Any]] = []
    for name, expr in rules.items():
        place = _definition(text, name, expr)
        if place is None:
            continue
        if name not in used:
            message = f"rule {name!r} is never used: nothing leads to it from {grammar.start!r}"
            whole = _lines(text, *place)
            found.append(_hint(message, *whole, fix="", does="remove it"))
        elif name not in ends:
            if any(isinstance(part, ir.Ref) for part in ir.walk(expr)):
                message = f"rule {name!r} never ends: each way through it needs it again"
            else:
                message = f"rule {name!r} has no text: one of its classes has no members"
            found.append(_hint(message, *place, warning=name != grammar.start))
        for part in ir.walk(expr):
            if isinstance(part, ir.Repeat) and part.max != 1 and _empty(part.item, empty):
                span = _span(part) or place
                message = f"in rule {name!r} a part that may be empty is repeated: it is read as if it were not empty"
                found.append(_hint(message, *span))
    if grammar.start in empty:
        place = _definition(text, grammar.start, rules[grammar.start])
        if place is not None:
            found.append(_hint("the empty text matches", *place))
    return sorted(found, key=lambda hint: int(hint["start"]))


def _hint(
    message: str,
    start: int,
    end: int,
    fix: str | None = None,
    does: str = "",
    *,
    warning: bool = True,
) -> dict[str, Any]:
    found = {"message": message, "start": start, "end": end, "fix": fix, "does": does}
    return found | {"warning": warning}


def _used(rules: Mapping[str, ir.Expr], start: str) -> set[str]:
    seen = {start}
    todo = [start]
    while todo:
        for part in ir.walk(rules[todo.pop()]):
            if isinstance(part, ir.Ref) and part.name not in seen:
                seen.add(part.name)
                todo.append(part.name)
    return seen


def _fixed(rules: Mapping[str, ir.Expr], holds: Callable[[ir.Expr, set[str]], bool]) -> set[str]:
    """The rules for which something holds: the least set that is right for each rule."""
    found: set[str] = set()
    while True:
        more = {name for name, expr in rules.items() if name not in found and holds(expr, found)}
        if not more:
            return found
        found |= more


def _ends(expr: ir.Expr, known: set[str]) -> bool:
    """Whether some text of an expression is finite, given the rules that have one."""
    match expr:
        case ir.Ref():
            return expr.name in known
        case ir.Seq():
            return all(_ends(item, known) for item in expr.items)
        case ir.Alt():
            return any(_ends(item, known) for item in expr.items)
        case ir.Repeat():
            return expr.min == 0 or _ends(expr.item, known)
        case ir.ByteSet():
            return expr.mask != 0
        case ir.CharSet():
            return bool(expr.ranges)
    return True


def _empty(expr: ir.Expr, known: set[str]) -> bool:
    """Whether an expression may be empty, given the rules that may."""
    match expr:
        case ir.Literal():
            return not expr.data
        case ir.Ref():
            return expr.name in known
        case ir.Seq():
            return all(_empty(item, known) for item in expr.items)
        case ir.Alt():
            return any(_empty(item, known) for item in expr.items)
        case ir.Repeat():
            return expr.min == 0 or _empty(expr.item, known)
    return False


def _span(expr: ir.Expr) -> tuple[int, int] | None:
    origin = expr.origin
    if origin is None or origin.start is None or origin.end is None:
        return None
    return origin.start, origin.end


def _definition(text: str, name: str, expr: ir.Expr) -> tuple[int, int] | None:
    """The characters of a rule's definition, its name included."""
    body = _span(expr)
    if body is None:
        return None
    arrow = text.rfind("::=", 0, body[0] + 1)
    start = text.rfind(name, 0, arrow) if arrow >= 0 else -1
    if start < 0 or text[start + len(name) : arrow].strip():
        return None
    return start, body[1]


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch of text with the rest of its last line, where only blanks are left on it."""
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop + 1
    return (start, end) if text[end:stop].strip() else (start, stop)
