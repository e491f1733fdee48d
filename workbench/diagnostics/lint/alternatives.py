"""Alternatives that say nothing new: written twice, or with no text that another one does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.automaton.budgets import in_force, using
from workbench.automaton.linear import NotRegular
from workbench.automaton.regular import inclusions
from workbench.diagnostics.lint.report import LintFinding, finding
from workbench.diagnostics.lint.subject import Subject
from workbench.errors import GrammarTooComplex
from workbench.grammar.ir import Alt, Expr, Literal, Ref, walk

__all__ = ["alternative_findings"]

#: Alternatives of one choice that are compared by their languages.
_MOST = 24
#: Parts of one alternative, with all rules that it uses.
_MOST_PARTS = 300
#: Limits of one comparison.
_STATES, _WORK = 400, 20_000


def alternative_findings(
    subject: Subject, most: int, told: set[int]
) -> Iterator[LintFinding | str]:
    """The findings, and what was not compared; at most so many choices are looked into.

    The ids of choices with findings go into ``told``.
    """
    budgets = replace(in_force(), finite_states=_STATES, finite_work=_WORK)
    left = most
    seen: set[int] = set()
    for name in subject.reached:
        for part in walk(subject.rules[name]):
            if not isinstance(part, Alt) or len(part.items) < 2 or id(part) in seen:
                continue
            seen.add(id(part))
            twice = list(_twice(part.items))
            for first, second in twice:
                told.add(id(part))
                yield _duplicate(subject, name, part, first, second)
            if all(isinstance(item, Literal) for item in part.items):
                continue
            if left <= 0:
                yield "not all alternatives were compared"
                return
            left -= 1
            with using(budgets):
                shadowed = _shadowed(subject, name, part, {second for _, second in twice})
                found = list(shadowed)
            if any(isinstance(one, LintFinding) for one in found):
                told.add(id(part))
            yield from found


def _twice(items: Sequence[Expr]) -> Iterator[tuple[int, int]]:
    """Alternatives that were written before, with the number of the first."""
    known: dict[Expr, int] = {}
    for number, item in enumerate(items):
        first = known.setdefault(item, number)
        if first != number:
            yield first, number


def _duplicate(subject: Subject, name: str, part: Alt, first: int, second: int) -> LintFinding:
    message = f"an alternative of rule {name!r} stands there twice: the {_th(second)} is the {_th(first)} again"
    return finding(
        *(subject.grammar, "duplicate", "warning", message, "remove one of them"),
        rule=name,
        place=part.items[second].origin or part.origin or subject.place(name),
    )


def _shadowed(
    subject: Subject, name: str, part: Alt, skipped: set[int]
) -> Iterator[LintFinding | str]:
    """Alternatives all of whose texts another one has; or why that was not looked for."""
    regular = [
        number
        for number, item in enumerate(part.items)
        if number not in skipped and _is_regular(subject, item)
    ]
    if len(regular) < 2:
        return
    left_out = f"the alternatives of rule {name!r} were not compared by their texts: "
    if len(regular) > _MOST:
        yield f"{left_out}there are more than {_MOST}"
        return
    try:
        pairs = inclusions([part.items[number] for number in regular], subject.rules)
    except (GrammarTooComplex, NotRegular):
        yield f"{left_out}their automata are too large"
        return
    equal = {(one, other) for one, other in pairs if (other, one) in pairs}
    told: set[int] = set()
    for one, other in sorted(pairs):
        same = (one, other) in equal
        if one in told or (same and one < other):
            continue
        told.add(one)
        inner, outer = regular[one], regular[other]
        if same:
            message = f"two alternatives of rule {name!r} have the same texts: the {_th(inner)} and the {_th(outer)}"
        else:
            message = (
                f"the {_th(inner)} alternative of rule {name!r} adds nothing: "
                f"the {_th(outer)} has all of its texts"
            )
        yield finding(
            *(subject.grammar, "duplicate" if same else "shadowed", "warning" if same else "info"),
            message,
            "remove it, unless it is there for its capture or for a reader",
            rule=name,
            place=part.items[inner].origin or part.origin or subject.place(name),
        )


def _is_regular(subject: Subject, item: Expr) -> bool:
    """Whether a part has texts, is not large, and uses no rule that leads back to itself or is not an author's."""
    if not subject.analysis.is_productive(item):
        return False
    seen: set[str] = set()
    todo = [item]
    parts = 0
    while todo:
        for part in walk(todo.pop()):
            parts += 1
            if parts > _MOST_PARTS:
                return False
            if isinstance(part, Ref):
                if part.name in subject.analysis.recursive or part.name not in subject.rules:
                    return False
                if part.name not in seen:
                    seen.add(part.name)
                    todo.append(subject.rules[part.name])
    return True


def _th(number: int) -> str:
    names = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
    return names[number] if number < len(names) else f"{number + 1}th"
