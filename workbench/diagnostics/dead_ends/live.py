"""Dead ends and near dead ends on the trace of a run: no model and no engine is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.automaton.frames import Stack, shortened
from workbench.diagnostics.author.standing import MAX_FRAMES
from workbench.diagnostics.dead_ends.findings import DeadEndReport, Escape, Finding, ordered
from workbench.inputs import need_trace
from workbench.vocabulary.labels import quoted
from workbench.wording import number_of, percent

if TYPE_CHECKING:
    from workbench.decoding.trace import Trace, TraceStep
    from workbench.vocabulary import Vocabulary

__all__ = ["live_dead_ends"]

#: Steps, none of which could end the text, that may be a loop when the length runs out.
_LOOP = 8
#: How often the same tokens come in a loop, and how many they are at most.
_TIMES = 3
_PERIOD = 64


def live_dead_ends(
    trace: Trace,
    vocabulary: Vocabulary | None = None,
    *,
    threshold: float = 0.01,
    steps: int = 4,
) -> DeadEndReport:
    """Find where a run got stuck, and where it nearly did.

    A near dead end is a row of at least ``steps`` steps at each of which the mask left less than
    ``threshold`` of the model's probability. A run that its length limit ended is "out of tokens"; it is an
    "endless loop" when its last steps repeat the same tokens, or stand in one place that every token which
    may come there was seen to lead back to. The ``vocabulary`` of the run names the tokens of escapes.
    """
    need_trace(trace, "live_dead_ends")
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
    """The length ran out: in a loop, or in the middle of a text that was going on."""
    looped = _closed(trace, vocabulary) or _repeated(trace)
    first, message = looped or (
        len(trace.steps),
        f"the text was not complete after {number_of(len(trace.steps), 'token')}, where the limit ended it",
    )
    at = trace.steps[first] if looped else None
    tops = at.stacks if at else [t for t in trace.final.get("stacks", ()) if isinstance(t, int)]
    if not tops and trace.steps:
        tops = trace.steps[-1].stacks
    rule, stack = _where(trace, tops)
    return Finding(
        kind="endless loop" if looped else "out of tokens",
        message=message,
        path=trace.output,
        rule=rule,
        stack=stack,
        escape=_escape(trace, first, vocabulary) if looped else None,
        steps=(first, len(trace.steps)),
    )


def _closed(trace: Trace, vocabulary: Vocabulary | None) -> tuple[int, str] | None:
    """The first of the last steps that stood in one place, when all that was allowed led back to it.

    A long text inside a string stands in one place as well, and could have ended: where some allowed token
    was never taken, nothing is known of where it leads.
    """
    tail: list[TraceStep] = []
    for step in reversed(trace.steps):
        if step.is_accepting or not step.live_states or (tail and _place(step) != _place(tail[-1])):
            break
        tail.append(step)
    tail.reverse()
    if len(tail) < _LOOP:
        return None
    final = trace.final
    back = tuple(final.get("live_states", ())), tuple(final.get("stacks", ()))
    taken = {step.token_id for step in (tail if back == _place(tail[0]) else tail[:-1])}
    if len(taken) < tail[0].allowed_count or not tail[0].mask:
        return None
    if trace.mask_order == "bytes" and vocabulary is None:
        return None
    allowed = set(np.flatnonzero(trace.allowed(tail[0].mask, vocabulary)).tolist())
    if not allowed or not allowed <= taken:
        return None
    count = number_of(len(tail), "step")
    return (
        tail[0].index,
        f"the last {count} stood in one place, every token that may come there was taken and led back to it, "
        "and the length limit ended them",
    )


def _repeated(trace: Trace) -> tuple[int, str] | None:
    """The first of the last steps that took the same tokens over and over."""
    steps = trace.steps
    open_ = len(steps)
    while open_ and not steps[open_ - 1].is_accepting:
        open_ -= 1
    for period in range(1, min(_PERIOD, (len(steps) - open_) // _TIMES) + 1):
        first = len(steps) - period
        while first > open_ and steps[first - 1].token_id == steps[first - 1 + period].token_id:
            first -= 1
        count = len(steps) - first
        if count >= max(_LOOP, _TIMES * period):
            again = b"".join(step.token_bytes for step in steps[first : first + period])
            return (
                first,
                f"the last {number_of(count, 'step')} repeat {quoted(again)}, and the length limit ended them",
            )
    return None


def _place(step: TraceStep) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return step.live_states, step.stacks


def _escape(trace: Trace, before: int, vocabulary: Vocabulary | None) -> Escape | None:
    """The last step before one at which another token was allowed: the likeliest other one."""
    for step in reversed(trace.steps[:before]):
        if step.allowed_count > 1:
            others = [i for i, _ in step.top_after if i != step.token_id]
            return Escape(step.bytes_before, _bytes_of(others, trace, vocabulary), step.index)
    return None


def _bytes_of(others: list[int], trace: Trace, vocabulary: Vocabulary | None) -> bytes | None:
    """What the first of some tokens spells: by the vocabulary, or by a step that took it."""
    if not others:
        return None
    if vocabulary is not None:
        spelled = vocabulary.token_bytes(others[0])
        ends = others[0] in vocabulary.eos_ids
        return spelled if spelled or ends else vocabulary.label(others[0]).encode()
    return next((step.token_bytes for step in trace.steps if step.token_id == others[0]), None)


def _where(trace: Trace, tops: Sequence[int]) -> tuple[str, Stack]:
    stack = shortened(trace.stack(tops[0]), MAX_FRAMES) if tops else ()
    return (stack[0].rule if stack else ""), stack
