"""Dead ends of a grammar, found before anything is generated and on the trace of a run.

Kinds: parts of a schema that no value satisfies, members and rules that no text can have, loops without an
exit, masks that a vocabulary leaves empty, ends that are out of reach of a token budget, and (on a trace)
steps at which the mask left next to nothing of what the model wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.automaton.budgets import using
from workbench.diagnostics.dead_ends.findings import (
    Change,
    DeadEndReport,
    Finding,
    Suggestion,
    ordered,
    part_of,
)
from workbench.diagnostics.dead_ends.grammar_parts import costly_parts, useless_parts
from workbench.diagnostics.dead_ends.live import live_dead_ends
from workbench.diagnostics.dead_ends.schema_parts import (
    blamed,
    broken_parts,
    unsatisfiable,
)
from workbench.diagnostics.dead_ends.stuck import least_tokens, stuck_finding
from workbench.diagnostics.dead_ends.suggesting import Effort
from workbench.diagnostics.dead_ends.unspellable import unspellable
from workbench.diagnostics.dead_ends.unwritten import unwritten
from workbench.diagnostics.verdicts import Judge, as_bytes, remake
from workbench.engine import CompiledGrammar, compile as compile_grammar
from workbench.engine.tokens import resolve_tokens, spelled_for
from workbench.errors import GrammarTooComplex, UnsatisfiableGrammar, WorkbenchError
from workbench.frontends.given import grammar_of, schema_of
from workbench.grammar.ir import Grammar, Token
from workbench.grammar.places import named_parts
from workbench.inputs import need_examples, need_grammar, need_vocabulary
from workbench.vocabulary import byte_vocabulary
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.vocabulary import Vocabulary

__all__ = ["dead_ends", "live_dead_ends"]


#: Steps of the search for what the tokens cannot spell: a second for most grammars, more for ambiguous ones.
DEFAULT_BUDGET = 200_000
#: Places without a token that are told, and those with a last way out and a suggestion.
_TOLD, _HELPFUL = 100, 10
#: How many times its budget the search may take again, to try edits.
_EFFORT = 10


def dead_ends(
    grammar: Grammar | CompiledGrammar | Mapping[str, Any] | bool | str,
    vocabulary: Vocabulary | None = None,
    *,
    max_tokens: int | None = None,
    examples: Iterable[Any] = (),
    budget: int = DEFAULT_BUDGET,
) -> DeadEndReport:
    """Find the dead ends of a grammar under a vocabulary.

    ``grammar`` may be a JSON Schema, so that one that no value satisfies can be looked at too, and the text of
    one, or of a grammar in GBNF. Without a vocabulary (and for a grammar that is not compiled) every byte counts
    as a token; a compiled one lends its budgets. ``max_tokens`` is the length that a run may have. ``examples``
    are texts, or JSON values, whose verdicts tell what a suggested
    edit would change. ``budget`` bounds the search for what the vocabulary cannot spell (see ``unspellable``).

    Suggested edits were tried: with them the grammar compiles and the finding is gone. They are edits of
    ``grammar.source``, read with the front end's default options.

    Raises ``GrammarSyntaxError`` and ``UnsupportedConstraint`` for a schema, ``VocabularyError`` for tokens
    that the grammar names and the vocabulary lacks.

    >>> import workbench as wb
    >>> report = wb.dead_ends({"type": "string", "pattern": "^[A-Z]{3}$", "maxLength": 2})
    >>> print(report[0].suggestion)
    raise maxLength to 3
      #/maxLength: 2 → 3
    """
    need_examples(examples, "dead_ends")
    if vocabulary is not None:
        need_vocabulary(vocabulary, "dead_ends")
    if isinstance(grammar, CompiledGrammar):
        with using(grammar.engine.budgets):
            return dead_ends(
                grammar.grammar,
                vocabulary or grammar.vocabulary,
                max_tokens=max_tokens,
                examples=examples,
                budget=budget,
            )
    work = _Work(list(examples))
    if not isinstance(grammar, Grammar):
        schema = schema_of(grammar)
        made = grammar_of(grammar) if schema is None else work.of_schema(schema)
        if made is not None:
            need_grammar(made, "dead_ends")
        if made is None:
            return work.report()
        grammar = made
    given = vocabulary
    vocabulary = vocabulary or byte_vocabulary()
    grammar = spelled_for(grammar, vocabulary)
    work.parts(grammar)
    work.listed(grammar, vocabulary)
    work.rules(grammar, vocabulary)
    work.within(grammar, vocabulary)
    try:
        compiled = compile_grammar(grammar, vocabulary)
    except UnsatisfiableGrammar as error:
        work.no_text(error, grammar, vocabulary)
        return work.report()
    if given is not None:
        work.ends(vocabulary)
    work.spelling(compiled, budget, told=given is not None)
    if max_tokens is not None:
        work.budget(compiled, max_tokens)
    return work.report()


class _Work:
    """Collects findings."""

    def __init__(self, examples: list[Any]) -> None:
        self.examples = [as_bytes(example) for example in examples]
        self.findings: list[Finding] = []
        self.checked: list[str] = []
        self.stopped: list[str] = []
        self.kind, self.source, self.start = "", None, ""
        self.grammar: Grammar | None = None

    def report(self) -> DeadEndReport:
        """What was found, with the effects of the suggestions."""
        before: list[bool] | None = None
        findings = []
        for finding in self.findings:
            suggestion = finding.suggestion
            if suggestion is not None and suggestion.edits and self.examples:
                if before is None:
                    before = self._verdicts(self.grammar)
                finding = replace(finding, suggestion=self._effect(suggestion, before))
            findings.append(finding)
        return DeadEndReport(ordered(findings), tuple(self.checked), tuple(self.stopped))

    def _verdicts(self, grammar: Grammar | None) -> list[bool]:
        judge = Judge(grammar)
        return [judge.verdict(example).accepted for example in self.examples]

    def _effect(self, suggestion: Suggestion, before: list[bool]) -> Suggestion:
        try:
            changed = remake(self.kind, suggestion.apply(self.source), self.start)
            after = self._verdicts(changed)
        except WorkbenchError:
            return suggestion
        effect = tuple(
            Change(example.decode("utf-8", "replace"), was, now)
            for example, was, now in zip(self.examples, before, after, strict=True)
            if was != now
        )
        return replace(suggestion, effect=effect)

    def _about(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.kind, self.source, self.start = grammar.kind, grammar.source, grammar.start

    # One kind after the other

    def of_schema(self, schema: Any) -> Grammar | None:
        """The grammar of a schema; None, with a finding, when no value satisfies it."""
        from workbench.frontends.json_schema import json_schema

        self.kind, self.source = "json_schema", schema
        pointer = blamed(schema)
        if pointer is None:
            return json_schema(schema)
        self.findings.append(unsatisfiable(schema, pointer))
        self.checked.append("the schema, for values that satisfy it")
        return None

    def parts(self, grammar: Grammar) -> None:
        """Members of a schema's objects, items and alternatives that can never be written."""
        self._about(grammar)
        if grammar.kind != "json_schema" or not isinstance(grammar.source, dict):
            return
        try:
            found, looked, stopped = broken_parts(grammar.source)
        except (
            WorkbenchError
        ) as error:  # options other than the default ones made sense of it, or allowed more
            self.stopped.append(f"the parts of the schema were not looked at: {error}")
            return
        self.findings += found
        self.checked.append(looked)
        self.stopped += stopped

    def listed(self, grammar: Grammar, vocabulary: Vocabulary) -> None:
        """Values and members that a schema lists, of bytes that are in no token."""
        if grammar.kind != "json_schema" or not isinstance(grammar.source, dict):
            return
        missing = frozenset(vocabulary.missing_bytes)
        found, stopped = unwritten(grammar.source, missing)
        for finding in found:
            suggestion = finding.suggestion
            if suggestion is not None and not self._compiles(suggestion, vocabulary):
                finding = replace(finding, suggestion=None)
            self.findings.append(finding)
        if missing:
            self.checked.append("the values and members that the schema lists, for missing bytes")
        if stopped:
            self.stopped.append(stopped)

    def _compiles(self, suggestion: Suggestion, vocabulary: Vocabulary) -> bool:
        try:
            compile_grammar(remake(self.kind, suggestion.apply(self.source)), vocabulary)
        except (ValueError, WorkbenchError):
            return False
        return True

    def rules(self, grammar: Grammar, vocabulary: Vocabulary) -> None:
        """Loops without an exit, and alternatives that cannot be written."""
        missing = frozenset(vocabulary.missing_bytes)
        found, stopped = useless_parts(grammar, missing, _tokens(grammar, vocabulary))
        self.findings += found
        self.checked.append("the rules, for loops without an exit")
        if stopped:
            self.stopped.append(stopped)

    def within(self, grammar: Grammar, vocabulary: Vocabulary) -> None:
        """The same of the grammars that stand in one, each by itself, with its name before what is told."""
        for name, part in named_parts(grammar).items():
            work = _Work([])
            part = spelled_for(part, vocabulary)
            work.parts(part)
            work.listed(part, vocabulary)
            work.rules(part, vocabulary)
            work.within(part, vocabulary)
            self.findings += [part_of(name, part.start, finding) for finding in work.findings]
            self.stopped += [f"{name}: {reason}" for reason in work.stopped]

    def no_text(
        self, error: UnsatisfiableGrammar, grammar: Grammar, vocabulary: Vocabulary
    ) -> None:
        """The whole grammar has no text: keep what explains it, or say just that."""
        blaming = [f for f in self.findings if f.rule == grammar.start or f.kind == "unsatisfiable"]
        if not blaming:
            message = str(error)
            if vocabulary.missing_bytes and Judge(grammar).compiled is not None:
                message = "no text can be written: each needs bytes that are in no token"
            self.findings.insert(
                0, Finding(kind="unsatisfiable", message=message, rule=grammar.start, path=b"")
            )

    def ends(self, vocabulary: Vocabulary) -> None:
        """A vocabulary without a token that ends the text."""
        if not vocabulary.eos_ids:
            self.findings.append(
                Finding(
                    kind="no end token",
                    message="the vocabulary has no token that ends a text: only the length limit ends a run",
                    suggestion=Suggestion("name one: Vocabulary.load(…, eos_ids=…)"),
                )
            )

    def spelling(self, compiled: CompiledGrammar, budget: int, *, told: bool) -> None:
        """What the tokens cannot spell (``told`` where they were given), and members that leave no way out."""
        report = unspellable(compiled, budget=budget)
        effort = Effort(budget, _EFFORT * budget)
        self.findings += [
            stuck_finding(compiled, place, report, helpful=i < _HELPFUL, effort=effort)
            for i, place in enumerate(report.places[:_TOLD])
        ]
        if len(report.places) > _TOLD:
            self.stopped.append(
                f"{number_of(len(report.places) - _TOLD, 'more place')} without a token"
            )
        if not told:
            self.checked.append("members that came, for a way out")
            self.stopped += [report.stopped] if report.stopped else []
            return
        left_out = f" ({str(report).splitlines()[0]})" if report.removed else ""
        self.checked.append(f"what the tokens can spell: {str(report).splitlines()[-1]}{left_out}")
        if report.stopped:
            self.stopped.append(f"what the tokens can spell: {report.stopped}")

    def budget(self, compiled: CompiledGrammar, max_tokens: int) -> None:
        """Texts that need more tokens than there are."""
        vocabulary = compiled.vocabulary
        longest = max(1, vocabulary.max_token_bytes)
        most = max_tokens * longest
        missing = frozenset(vocabulary.missing_bytes)
        tokens = _tokens(compiled.grammar, vocabulary)
        costly, least, stopped = costly_parts(compiled.grammar, missing, tokens, most)
        if stopped:
            self.stopped.append(stopped)
            try:
                least = compiled.matcher().finish_distance() or 0
            except GrammarTooComplex:
                return
        low = -(-least // longest)
        self.checked.append(
            f"the least text, of {number_of(least, 'byte')}, against {number_of(max_tokens, 'token')}"
        )
        if low > max_tokens:
            high = least_tokens(compiled)
            self.findings.append(self._over(compiled, low, high, max_tokens, least))
            return
        high = least_tokens(compiled)
        if high is None or high > max_tokens:
            self.findings.append(self._over(compiled, low, high, max_tokens, least, warning=True))
        for part in costly:
            self.findings.append(
                Finding(
                    kind="over budget",
                    message=(
                        f"a text with {part.what} has at least {number_of(part.cost, 'byte')}, and "
                        f"{number_of(max_tokens, 'token')} of at most {number_of(longest, 'byte')} spell "
                        f"{most:,}: once begun it is never complete"
                    ),
                    warning=True,
                    path=part.path,
                    rule=part.rule,
                    pointer=part.place.pointer if part.place else None,
                    start=part.place.start if part.place else None,
                    end=part.place.end if part.place else None,
                    suggestion=Suggestion(
                        f"allow at least {number_of(-(-part.cost // longest), 'token')}"
                    ),
                )
            )

    def _over(
        self,
        compiled: CompiledGrammar,
        low: int,
        high: int | None,
        max_tokens: int,
        least: int,
        *,
        warning: bool = False,
    ) -> Finding:
        sure = "needs" if not warning else "may need more than the budget: it needs"
        told = f", spelled with {number_of(high, 'token')}" if high is not None else ""
        return Finding(
            kind="over budget",
            message=(
                f"the end {sure} at least {number_of(low, 'token')} "
                f"(the least text has {number_of(least, 'byte')}{told}), the budget has {max_tokens}"
            ),
            warning=warning,
            path=b"",
            rule=compiled.grammar.start,
            suggestion=Suggestion(f"allow at least {number_of(high or low, 'token')}"),
        )


def _tokens(grammar: Grammar, vocabulary: Vocabulary) -> Mapping[Token, Set[int]]:
    return resolve_tokens(grammar, vocabulary)
