"""Grammars, automata, traces and positions as HTML without scripts, for the output of a cell.

The objects themselves know nothing of notebooks: ``%load_ext workbench`` tells IPython about these functions.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.automaton.dot import picture
from workbench.automaton.naming import place, places
from workbench.decoding.trace import MAX_COUNTED
from workbench.grammar.outcomes import TOLD, grouped
from workbench.notebook.contrast_html import contrast_html
from workbench.notebook.drawing import image_of
from workbench.notebook.editor import source_text
from workbench.notebook.mask_view import MaskView
from workbench.notebook.static_parts import milliseconds, outcome_html, table
from workbench.vocabulary.labels import label_bytes
from workbench.wording import cut, joined, more, number_of, percent

if TYPE_CHECKING:
    from workbench.automaton.network import Automaton
    from workbench.decoding.trace import Trace
    from workbench.engine import CompiledGrammar, Matcher
    from workbench.grammar.ir import Grammar

__all__ = [
    "automaton_html",
    "compiled_html",
    "grammar_html",
    "matcher_html",
    "register",
    "trace_html",
]

#: Characters of a source, rows of a table, steps of a trace at each end that are shown.
SOURCE_SHOWN = 6_000
ROWS = 40
ENDS = 20
#: Characters of a trace's text, live stacks, and frames of one that are shown.
TEXT_SHOWN = 2_000
STACKS = 8
FRAMES = 13


def _details(title: str, *parts: str) -> str:
    return f"<details open><summary>{escape(title)}</summary>{''.join(parts)}</details>"


def grammar_html(grammar: Grammar) -> str:
    """A grammar: its text with line numbers, its rules, and what became of a schema's constraints."""
    rules = list(getattr(grammar.rules, "emitted", grammar.rules))
    text, _ = source_text(grammar)
    parts = []
    if text:
        lines = cut(text, SOURCE_SHOWN).split("\n")
        width = len(str(len(lines)))
        numbered = "\n".join(f"{i:>{width}}  {line}" for i, line in enumerate(lines, 1))
        parts.append(f"<pre>{escape(numbered)}</pre>")
    names = joined([f"<code>{escape(name)}</code>" for name in rules], ROWS)
    parts.append(f"<p>rules: {names}; start <code>{escape(grammar.start)}</code></p>")
    if grammar.outcomes:
        counts = Counter(outcome.status for outcome in grammar.outcomes)
        summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        parts.append(f"<p>Constraints of the schema: {summary}</p>")
        groups = grouped(grammar.outcomes, TOLD)
        parts += [outcome_html(group) for group in groups[:ROWS]]
        if left_out := more(len(groups), ROWS, "kind"):
            parts.append(f"<p>… {left_out}</p>")
    return _details(f"Grammar ({grammar.kind}), {number_of(len(rules), 'rule')}", *parts)


def compiled_html(compiled: CompiledGrammar) -> str:
    """A compiled grammar: its automaton's size, and the grammar."""
    states = compiled.automaton.n_states
    vocabulary = compiled.vocabulary
    lead = (
        f"<p>compiled for {number_of(vocabulary.size, 'token')}: {number_of(states, 'state')}</p>"
    )
    return lead + grammar_html(compiled.grammar)


def automaton_html(automaton: Automaton) -> str:
    """An automaton: a picture, and the transitions from its start."""
    drawn = picture(automaton, [automaton.start])
    rows = [
        [
            f"{t.source} {escape(place(automaton, t.source))}",
            f"<code>{escape(t.label)}</code>",
            f"{t.target} {escape(place(automaton, t.target))}",
        ]
        for t in drawn.transitions
    ]
    left_out = more(len(rows), ROWS, "transition")
    rest = [["…", left_out, ""]] if left_out else []
    shown = f"{len(drawn.states)} of {number_of(automaton.n_states, 'state')}"
    return _details(
        f"Automaton, {number_of(automaton.n_states, 'state')}",
        image_of(drawn, [automaton.start]),
        table(f"Transitions of {shown}", ["from", "on", "to"], [*rows[:ROWS], *rest]),
    )


def trace_html(trace: Trace) -> str:
    """A recorded run: its text and a table of its steps, long ones cut in the middle."""
    steps = list(trace.steps)
    shown = steps if len(steps) <= 2 * ENDS else [*steps[:ENDS], *steps[-ENDS:]]
    rows = [
        [
            str(step.index + 1),
            f"<code>{escape(label_bytes(step.token_bytes))}</code>",
            str(step.token_id),
            step.kind,
            f"{step.allowed_count:,}",
            percent(step.probability_before),
            percent(step.probability_after),
            percent(step.mass_removed),
            milliseconds(step.mask_ms),
            milliseconds(step.forward_ms),
        ]
        for step in shown
    ]
    columns = ["step", "token", "id", "how", "allowed", "before", "after", "mass removed"]
    if left_out := more(len(steps), len(shown), "step"):
        rows.insert(ENDS, ["…", left_out, *[""] * 8])
    left = f", {left_out} left out" if left_out else ""
    return _details(
        f"Trace of {number_of(len(steps), 'step')}, {trace.finish_reason or 'open'}",
        f"<p>{escape(trace.model_name)} · {escape(trace.grammar_kind)}</p>",
        f"<pre>{escape(cut(trace.text, TEXT_SHOWN))}</pre>",
        table(f"Steps{left}", [*columns, "mask", "forward"], rows),
    )


def matcher_html(matcher: Matcher) -> str:
    """Where a matcher stands: the mask as chips, and the live stacks."""
    automaton = matcher.compiled.automaton

    def names(state: int) -> str:
        return " · ".join(places(automaton, state)) or "(no rule)"

    rows = [
        [
            str(i),
            escape(
                joined(
                    [names(frame.state) for frame in stack],
                    FRAMES,
                    " < ",
                )
            ),
        ]
        for i, stack in enumerate(matcher.stacks(limit=STACKS), 1)
    ]
    total = matcher.count_stacks(MAX_COUNTED) if len(rows) == STACKS else len(rows)
    if left_out := more(total, STACKS, "live stack"):
        rows.append(["…", f"{left_out}{' or more' if total == MAX_COUNTED else ''}"])
    chips: str = MaskView(matcher)._repr_html_()
    state = "the text may end here" if matcher.is_accepting else "the text is not complete"
    return f"{chips}<p>{state}</p>{table('Live stacks, top first', ['stack', 'rules'], rows)}"


def register(shell: Any) -> None:
    """Tell IPython how to show these objects."""
    from workbench.automaton.network import Automaton
    from workbench.decoding.trace import Trace
    from workbench.diagnostics.contrast.contrast import Contrast
    from workbench.diagnostics.coverage.covered import Coverage
    from workbench.diagnostics.dead_ends.findings import DeadEndReport, Finding
    from workbench.diagnostics.profile.profile import Profile
    from workbench.engine import CompiledGrammar, Matcher
    from workbench.engine.why import Why
    from workbench.export.bundle import Exported
    from workbench.export.verify import Verification
    from workbench.grammar.ir import Grammar

    plain = shell.display_formatter.formatters["text/plain"]
    for kind in (Coverage, DeadEndReport, Exported, Finding, Profile, Verification, Why):
        plain.for_type(kind, lambda value, printer, _: printer.text(str(value)))
    html = shell.display_formatter.formatters["text/html"]
    html.for_type(Grammar, grammar_html)
    html.for_type(CompiledGrammar, compiled_html)
    html.for_type(Automaton, automaton_html)
    html.for_type(Contrast, contrast_html)
    html.for_type(Trace, trace_html)
    html.for_type(Matcher, matcher_html)
