"""Rules that are never used, that have no text, and that go round without reading anything."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.diagnostics.lint.report import LintFinding, finding
from workbench.diagnostics.lint.subject import Subject
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import Alt, Expr, Origin, Ref, Repeat, Seq, walk

__all__ = ["rule_findings"]


def rule_findings(subject: Subject, told: set[int]) -> Iterator[LintFinding]:
    """The findings about rules as they stand; the ids of loops that may read nothing go into ``told``."""
    reached = subject.analysis.written
    for name, expr in subject.rules.items():
        if name not in reached:
            yield _unreachable(subject, name)
            continue
        if name not in subject.analysis.productive:
            yield _unproductive(subject, name, expr)
        yield from _empty_rounds(subject, name, expr, told)
    yield from _idle_recursion(subject)
    start = subject.grammar.start
    if start in subject.analysis.nullable:
        place = _definition(subject, start)
        yield finding(
            *(subject.grammar, "empty text", "info", "the empty text matches"),
            "if a run may end before it begins that is fine, else let something be required",
            rule=start,
            place=place,
        )


def _unreachable(subject: Subject, name: str) -> LintFinding:
    start = subject.grammar.start
    message = f"rule {name!r} is never used: nothing leads to it from {start!r}"
    return finding(
        *(subject.grammar, "unreachable", "warning", message, "remove it, or use it"),
        rule=name,
        place=_definition(subject, name),
    )


def _unproductive(subject: Subject, name: str, expr: Expr) -> LintFinding:
    if any(isinstance(part, Ref) for part in walk(expr)):
        message = f"rule {name!r} never ends: each way through it needs it again"
        advice = "add an alternative that does not use the rule"
    else:
        message = f"rule {name!r} has no text: one of its classes has no members"
        advice = "give the class a member"
    severity = "error" if name == subject.grammar.start else "warning"
    return finding(
        *(subject.grammar, "unproductive", severity, message, advice),  # type: ignore[arg-type]
        rule=name,
        place=_definition(subject, name),
    )


def _empty_rounds(subject: Subject, name: str, expr: Expr, told: set[int]) -> Iterator[LintFinding]:
    for part in walk(expr):
        if not isinstance(part, Repeat) or part.max == 1:
            continue
        if subject.analysis.is_nullable(part.item):
            told |= {id(one) for one in walk(part)}
            message = f"in rule {name!r} a part that may be empty is repeated: it is read as if it were not empty"
            yield finding(
                *(subject.grammar, "empty loop", "warning", message),
                "let each round read something: make the part inside not empty",
                rule=name,
                place=part.origin or subject.place(name),
            )


def _idle_recursion(subject: Subject) -> Iterator[LintFinding]:
    """Rules that come back to themselves without reading anything."""
    names = subject.reached
    number = {name: n for n, name in enumerate(names)}
    uses = [
        [number[one] for one in _alone(subject, subject.rules[name]) if one in number]
        for name in names
    ]
    for component in strongly_connected(len(names), uses.__getitem__):
        first = component[0]
        if len(component) == 1 and first not in uses[first]:
            continue
        name = names[min(component)]
        message = (
            f"rule {name!r} comes back to itself without reading anything: it says nothing more"
        )
        yield finding(
            *(subject.grammar, "empty loop", "warning", message),
            "remove the way that leads back, or let it read something",
            rule=name,
            place=_definition(subject, name),
        )


def _alone(subject: Subject, expr: Expr) -> set[str]:
    """The rules that may be all that an expression reads."""
    found: set[str] = set()
    todo = [expr]
    while todo:
        part = todo.pop()
        if isinstance(part, Ref):
            found.add(part.name)
        elif isinstance(part, Alt):
            todo += part.items
        elif isinstance(part, Repeat) and part.max != 0:
            if part.min <= 1 or subject.analysis.is_nullable(part.item):
                todo.append(part.item)
        elif isinstance(part, Seq):
            full = [item for item in part.items if not subject.analysis.is_nullable(item)]
            todo += part.items if not full else full if len(full) == 1 else []
    return found


def _definition(subject: Subject, name: str) -> tuple[int, int] | Origin | None:
    """Where a rule is written: its name included, where that is found before it."""
    place = subject.place(name)
    text = subject.grammar.source
    if place is None or place.start is None or place.end is None or not isinstance(text, str):
        return place
    arrow = text.rfind("::=", 0, place.start + 1)
    start = text.rfind(name, 0, arrow) if arrow >= 0 else -1
    if place.pointer is not None or start < 0 or text[start + len(name) : arrow].strip():
        return place
    return start, place.end
