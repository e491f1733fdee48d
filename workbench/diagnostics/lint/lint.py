"""What an author of a grammar may want to change before it is used.

What no text can get past is looked for by ``dead_ends``; this is about what can be written and is hardly meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.diagnostics.lint.alternatives import alternative_findings
from workbench.diagnostics.lint.ambiguity import Ambiguity, ambiguities
from workbench.diagnostics.lint.marks import mark_findings
from workbench.diagnostics.lint.report import LintFinding, LintReport, finding, ordered, shown
from workbench.diagnostics.lint.rule_checks import rule_findings
from workbench.diagnostics.lint.runs import run_findings
from workbench.diagnostics.lint.schema_checks import schema_findings
from workbench.diagnostics.lint.subject import Subject
from workbench.grammar.ir import Grammar
from workbench.grammar.places import named_parts, step_into
from workbench.inputs import need_at_least, need_grammar

__all__ = ["lint"]

#: Steps of the search for ambiguities for each choice of alternatives that is compared.
_STEPS = 100


def lint(grammar: Any, *, work: int = 400) -> LintReport:
    """Look for what an author of a grammar may want to change: mistakes that still leave a grammar.

    Rules that nothing leads to, rules that never end, loops that may read nothing, places where a model may go
    on without end, alternatives that are written twice or add nothing, texts that are read in two ways (with one
    such text), tags that nothing closes. Of a schema: what is listed twice, alternatives of ``anyOf`` that add nothing,
    strings and arrays without a longest length. Each finding has a severity, its place, and what to do.

    ``work`` bounds the search: choices whose languages are compared, and for each 100 steps after texts that are
    read in two ways; what was left out is in ``report.stopped``. What is found is so; ambiguities that only longer
    texts show are not found.

    Raises ``WrongType`` for what is no grammar, ``ValueError`` for negative ``work``.

    >>> from workbench.frontends.regex import regex
    >>> print(lint(regex("(a|b|a)+"))[0].message)
    an alternative of rule 'root' stands there twice: the third is the first again
    """
    grammar = getattr(grammar, "grammar", grammar)
    need_grammar(grammar, "lint")
    work = need_at_least(0, work, "lint")
    findings: list[LintFinding] = []
    stopped: list[str] = []
    try:
        for one in _all(grammar, work):
            if isinstance(one, str):
                stopped.append(one)
            else:
                findings.append(one)
    except RecursionError:
        stopped.append("parts are nested too deeply to look into all of them")
    return LintReport(f"{grammar.kind} grammar", ordered(findings), stopped)


def _all(grammar: Grammar, work: int) -> Iterator[LintFinding | str]:
    yield from _of_schemas(grammar, "")
    subject = Subject.of(grammar)
    if not subject.rules:
        return
    if subject.cut:
        yield "there are too many rules to look at all of them"
        return
    told: set[int] = set()
    yield from rule_findings(subject, told)
    yield from run_findings(subject)
    yield from mark_findings(subject)
    yield from alternative_findings(subject, work, told)
    found, complete = ambiguities(subject, work * _STEPS, told)
    if not complete:
        yield "texts that are read in two ways were not looked for in all rules"
    for one in found:
        yield _ambiguous(subject, one)


def _of_schemas(grammar: Grammar, prefix: str) -> Iterator[LintFinding | str]:
    if grammar.kind in ("json_schema", "python_type"):
        yield from schema_findings(grammar, prefix)
    for name, part in named_parts(grammar).items():
        yield from _of_schemas(part, prefix + step_into(name))


def _ambiguous(subject: Subject, one: Ambiguity) -> LintFinding:
    text = shown(one.text) if one.text else "the empty text"
    message = f"rule {one.rule!r} reads {text} in two ways"
    return finding(
        *(subject.grammar, "ambiguous", "info", message),
        "harmless for masks; captures and explanations take one of the ways. Let one of the parts that may read it "
        "be different",
        rule=one.rule,
        place=one.part.origin or subject.place(one.rule),
        witness=one.text,
    )
