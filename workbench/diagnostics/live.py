"""Dead ends and near dead ends on the trace of a run: no model and no engine is asked.

Next file to read: ``workbench/diagnostics/profile.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.diagnostics.author import MAX_FRAMES, frames_left_out
from workbench.diagnostics.findings import DeadEndReport, Escape, Finding, ordered
from workbench.diagnostics.why import WhyFrame
from workbench.wording import joined, number_of, percent

if TYPE_CHECKING:
    from workbench.decoding.trace import StackNode, Trace, TraceStep
    from workbench.vocabulary import Vocabulary

__all__ = ["live_dead_ends"]

#: Steps in one place, none of which could end the text, that count as a loop when the length runs out.
_LOOP = 8


def live_dead_ends(
    trace: Trace,
    vocabulary: Vocabulary | None = None,
    *,
    threshold: float = 0.01,
    steps: int = 4,
) -> DeadEndReport:
    """Find where a run got stuck, and where it nearly did.

    A near dead end is a row of at least ``steps`` steps at each of which the mask left less than
    ``threshold`` of the model's probability. The ``vocabulary`` of the run names the tokens of escapes.
    """
    if not 0 < threshold <= 1 or steps < 1:
        raise ValueError("threshold lies above 0 and at most at 1, steps are at least 1")
    findings = [*_near(trace, threshold, steps)]
    if trace.finish_reason == "dead_end":
        findings.append(_stuck(trace, vocabulary))
    elif trace.finish_reason == "length" and not trace.final.get("is_accepting", False):
        findings.append(_cut_off(trace, vocabulary))
    checked = f"{number_of(len(trace.steps), 'step')}, for less than {percent(threshold)} of the probability left"
    return DeadEndReport(ordered(findings), (checked,), subject="trace")


def _near(trace: Trace, threshold: float, least: int) -> list[Finding]:
    findings = []
    run: list[TraceStep] = []
    for step in [*trace.steps, None]:
        # where the probabilities were not recorded there is nothing to say
        if step is not None and step.top_before and 1 - step.mass_removed < threshold:
            run.append(step)
            continue
        if len(run) >= least:
            findings.append(_near_finding(trace, run))
        run = []
    return findings


def _near_finding(trace: Trace, run: list[TraceStep]) -> Finding:
    most = max(1 - step.mass_removed for step in run)
    rule, stack = _where(trace, run[0].stacks)
    return Finding(
        kind="near dead end",
        message=(
            f"the mask left at most {percent(most)} of the probability for {number_of(len(run), 'step')} "
            f"from step {run[0].index + 1}"
        ),
        warning=True,
        path=run[0].bytes_before,
        token_ids=tuple(trace.token_ids[: run[0].index]),
        rule=rule,
        stack=stack,
        steps=(run[0].index, run[-1].index),
    )


def _stuck(trace: Trace, vocabulary: Vocabulary | None) -> Finding:
    tops = [top for top in trace.final.get("stacks", ()) if isinstance(top, int)]
    rule, stack = _where(trace, tops)
    return Finding(
        kind="empty mask",
        message=trace.error or "no token may come, and the text is not complete",
        path=trace.output,
        token_ids=tuple(trace.token_ids),
        rule=rule,
        stack=stack,
        escape=_escape(trace, len(trace.steps), vocabulary),
        steps=(len(trace.steps), len(trace.steps)),
    )


def _cut_off(trace: Trace, vocabulary: Vocabulary | None) -> Finding:
    """The length ran out: in a loop, when the last steps all stood in one place."""
    tail: list[TraceStep] = []
    for step in reversed(trace.steps):
        if step.is_accepting or (tail and _place(step) != _place(tail[-1])):
            break
        tail.append(step)
    looped = len(tail) >= _LOOP
    first = tail[-1].index if looped else len(trace.steps)
    rule, stack = _where(trace, tail[-1].stacks if tail else ())
    if looped:
        message = f"the last {number_of(len(tail), 'step')} stood in one place, and the length limit ended them"
    else:
        message = f"the text was not complete after {number_of(len(trace.steps), 'token')}"
    return Finding(
        kind="endless loop" if looped else "over budget",
        message=message,
        path=trace.output,
        rule=rule,
        stack=stack,
        escape=_escape(trace, first, vocabulary) if looped else None,
        steps=(first, len(trace.steps)),
    )


def _place(step: TraceStep) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return step.live_states, step.stacks


def _escape(trace: Trace, before: int, vocabulary: Vocabulary | None) -> Escape | None:
    """The last step before one at which another token was allowed: the likeliest other one."""
    for step in reversed(trace.steps[:before]):
        if step.allowed_count > 1:
            others = [i for i, _ in step.top_after if i != step.token_id]
            other = b""
            if others and vocabulary is not None:
                other = vocabulary.token_bytes(others[0])
            return Escape(step.bytes_before, other, step.index)
    return None


def _where(trace: Trace, tops: Sequence[int]) -> tuple[str, tuple[WhyFrame, ...]]:
    nodes: list[StackNode] = trace.stack(tops[0]) if tops else []
    stack = tuple(
        WhyFrame(rule=joined(node.rules, 3, " or "), state=node.state, count=node.count)
        for node in nodes[:MAX_FRAMES]
    )
    stack += frames_left_out(len(nodes))
    return (stack[0].rule if stack else ""), stack
