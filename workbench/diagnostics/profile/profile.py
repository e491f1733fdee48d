"""Where the time of a run went: masks beside the model, hidden and exposed, heaviest parts first.

Times are those of the trace, in milliseconds of the clock that it was recorded with
(``time.perf_counter``). Steps that warm up (the first one, which reads the prompt, and leading ones that stand
out) are marked and take no part in any statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.inputs import need_trace
from workbench.readable import readable
from workbench.wording import joined, more, number_of, percent

if TYPE_CHECKING:
    from workbench.decoding.trace import Trace, TraceStep

__all__ = ["TRACKS", "Group", "Profile", "ProfileStep", "Times", "profile"]

#: The times of a step, with their fields in a trace.
TRACKS = {
    "mask": "mask_ms",
    "hidden": "mask_hidden_ms",
    "exposed": "mask_exposed_ms",
    "forward": "forward_ms",
    "sample": "sample_ms",
}
#: Leading steps slower than this many times the median are warm-up, at most so many.
_STANDS_OUT = 5.0
_MOST_WARM_UP = 5
#: Rules that the text lists.
_RULES = 8


@dataclass(frozen=True, slots=True)
class Times:
    """Statistics of some times in milliseconds; all zero for none."""

    n: int
    total: float
    median: float
    p90: float
    p99: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Times:
        """Statistics of values, percentiles interpolated between neighbours."""
        if not values:
            return cls(0, 0.0, 0.0, 0.0, 0.0, 0.0)
        p50, p90, p99 = np.percentile(values, [50, 90, 99]).tolist()
        return cls(len(values), float(sum(values)), p50, p90, p99, float(max(values)))

    def to_json(self) -> dict[str, float]:
        """The statistics as JSON values."""
        return {key: getattr(self, key) for key in self.__slots__}


@dataclass(frozen=True, slots=True)
class ProfileStep:
    """The times of one step, the rule and states that it stood in, and whether it warms up.

    ``index`` counts from 0, as in the trace; figures and screens count steps from 1.
    ``forward`` is None for a step without a forward pass of its own (it was run ahead, or its token was forced).
    ``certain`` says whether all bytes of its token had to come, ``draft`` and ``source`` what became of a drafted
    token and who drafted it, as in a trace.
    """

    index: int
    label: str
    kind: str
    rule: str
    states: tuple[int, ...]
    mask: float
    hidden: float
    exposed: float
    forward: float | None
    sample: float
    warm_up: bool
    certain: bool = False
    draft: str = ""
    source: str = ""

    def to_json(self) -> dict[str, Any]:
        """The step as JSON values."""
        found = {key: getattr(self, key) for key in self.__slots__}
        return {**found, "states": list(self.states)}


@dataclass(frozen=True, slots=True)
class Group:
    """Steps (their indices) that stood in one rule, or in the same states: mask times, and share of all."""

    name: str
    steps: tuple[int, ...]
    mask: Times
    share: float

    def to_json(self) -> dict[str, Any]:
        """The group as JSON values."""
        return {
            "name": self.name,
            "steps": list(self.steps),
            "mask": self.mask.to_json(),
            "share": self.share,
        }


@readable
@dataclass(frozen=True, slots=True)
class Profile:
    """The times of a run."""

    steps: tuple[ProfileStep, ...]
    device: str = ""
    clock: str = "time.perf_counter"
    #: forward passes whose steps are no longer there: their tokens were replaced
    lost_passes: int = 0

    @property
    def counted(self) -> tuple[ProfileStep, ...]:
        """The steps that statistics are made of: all but those that warm up."""
        return tuple(step for step in self.steps if not step.warm_up)

    @property
    def warm_up(self) -> tuple[int, ...]:
        """The indices of the steps that warm up."""
        return tuple(step.index for step in self.steps if step.warm_up)

    def times(self, track: str) -> Times:
        """Statistics of a track: "mask", "hidden", "exposed", "forward" or "sample"."""
        if track not in TRACKS:
            raise ValueError(f"there is no track {track!r}; there are {', '.join(TRACKS)}")
        values = [getattr(step, track) for step in self.counted]
        return Times.of([value for value in values if value is not None])

    @property
    def certain(self) -> int:
        """How many steps lie in text that had to come: a recorded trace knows, another one says 0."""
        return sum(step.certain for step in self.steps)

    @property
    def forward_passes(self) -> int:
        """Forward passes of the model, those for tokens that were replaced later included."""
        return self.lost_passes + sum(step.forward is not None for step in self.steps)

    @property
    def drafts(self) -> dict[str, dict[str, int]]:
        """By who drafted: how many steps took the drafted token ("accepted", "injected") or another ("refused")."""
        found: dict[str, dict[str, int]] = {}
        for step in self.steps:
            if step.draft:
                verdicts = found.setdefault(step.source, {})
                verdicts[step.draft] = verdicts.get(step.draft, 0) + 1
        return found

    @property
    def exposed_share(self) -> float:
        """Exposed mask time as a share of the time of the forward passes; 0 without any."""
        forward = self.times("forward").total
        return self.times("exposed").total / forward if forward else 0.0

    @property
    def hidden_share(self) -> float:
        """The share of mask time that forward passes hide; 1 when there was none."""
        total = self.times("mask").total
        return self.times("hidden").total / total if total else 1.0

    def between(self, first: int, last: int) -> Profile:
        """The profile of the steps with the indices ``first`` to ``last``, both included."""
        kept = tuple(step for step in self.steps if first <= step.index <= last)
        return Profile(kept, self.device, self.clock)

    def by_rule(self) -> tuple[Group, ...]:
        """The steps by the rule on top of the stack, heaviest mask time first."""
        return self._groups((step, step.rule or "(no rule)") for step in self.counted)

    def by_state(self) -> tuple[Group, ...]:
        """The steps by their live states, heaviest mask time first."""
        return self._groups((step, _states(step.states)) for step in self.counted)

    def _groups(self, named: Iterable[tuple[ProfileStep, str]]) -> tuple[Group, ...]:
        members: dict[str, list[ProfileStep]] = {}
        for step, name in named:
            members.setdefault(name, []).append(step)
        total = self.times("mask").total
        groups = []
        for name, steps in members.items():
            mask = Times.of([step.mask for step in steps])
            share = mask.total / total if total else 0.0
            groups.append(Group(name, tuple(step.index for step in steps), mask, share))
        return tuple(sorted(groups, key=lambda group: (-group.mask.total, group.name)))

    def figure(self, view: str = "time") -> Any:
        """A plotly figure: "time" (both tracks), "heaviest" (by rule), "state" or "histogram".

        It needs no network: bare in a notebook, or by ``write_html(path)``. Raises ``ImportError`` without
        plotly and ``ValueError`` for another view.
        """
        from workbench.diagnostics.profile.figures import figure

        return figure(self, view)

    def __str__(self) -> str:
        lines = [
            f"{number_of(len(self.steps), 'step')}, {len(self.warm_up)} of them warm-up and not counted",
            f"{'ms':<10}{'n':>6}{'total':>11}{'median':>10}{'p90':>10}{'p99':>10}{'most':>10}",
        ]
        titles = {"hidden": "  hidden", "exposed": "  exposed"}
        for track in TRACKS:
            t = self.times(track)
            lines.append(
                f"{titles.get(track, track):<10}{t.n:>6}{t.total:>11.3f}{t.median:>10.4f}{t.p90:>10.4f}"
                f"{t.p99:>10.4f}{t.most:>10.4f}"
            )
        each = self.times("exposed").total / max(1, self.times("exposed").n)
        lines.append(
            f"exposed mask time: {each:.4f} ms a step, {percent(self.exposed_share)} of the forward passes; "
            f"{percent(self.hidden_share)} of mask time is hidden behind them"
        )
        lines += self._passes()
        lines.append("heaviest rules by mask time:")
        groups = self.by_rule()
        for group in groups[:_RULES]:
            lines.append(
                f"  {percent(group.share):>7} {group.mask.total:>10.3f} ms "
                f"{number_of(len(group.steps), 'step'):>11}  {group.name}"
            )
        if left_out := more(len(groups), _RULES, "rule"):
            lines.append(f"  … {left_out}")
        lines.append(f"clock: {self.clock}{f', device: {self.device}' if self.device else ''}")
        return "\n".join(lines)

    def _passes(self) -> list[str]:
        """What had to come, and what drafts saved, in lines; none where nothing is known of it."""
        lines, total = [], len(self.steps)
        if self.certain:
            share = percent(self.certain / total)
            lines.append(
                f"certain: {self.certain:,} of {number_of(total, 'step')} ({share}) lie in text that had to come"
            )
        if self.drafts:
            verdicts = "; ".join(
                f"{source} {', '.join(f'{n:,} {verdict}' for verdict, n in found.items())}"
                for source, found in self.drafts.items()
            )
            lines.append(
                f"{number_of(self.forward_passes, 'forward pass', 'forward passes')}, {total - self.forward_passes:,} "
                f"saved by drafts: {verdicts}"
            )
        return lines

    def to_json(self) -> dict[str, Any]:
        """The profile as JSON values."""
        return {
            "steps": [step.to_json() for step in self.steps],
            "warm_up": list(self.warm_up),
            "times": {track: self.times(track).to_json() for track in TRACKS},
            "exposed_share": self.exposed_share,
            "hidden_share": self.hidden_share,
            "certain": self.certain,
            "forward_passes": self.forward_passes,
            "drafts": self.drafts,
            "by_rule": [group.to_json() for group in self.by_rule()],
            "by_state": [group.to_json() for group in self.by_state()],
            "device": self.device,
            "clock": self.clock,
        }


def profile(trace: Trace, *, warm_up: int | None = None) -> Profile:
    """Say where the time of a run went.

    ``warm_up`` is the number of leading steps that are not counted; by default the first one, and those
    right after it whose mask or forward pass took more than five times the median of the others (at most
    five in all).

    >>> import workbench as wb
    >>> step = wb.TraceStep(index=0, kind="sampled", token_id=1, token_bytes=b"a", mask_ms=2, forward_ms=8)
    >>> trace = wb.Trace()
    >>> _ = [trace.append(step) for _ in range(4)]
    >>> found = wb.profile(trace)
    >>> found.warm_up, found.times("mask").n, found.times("forward").median
    ((0,), 3, 8.0)
    """
    need_trace(trace, "profile")
    if warm_up is not None and warm_up < 0:
        raise ValueError("warm_up must not be negative")
    steps = trace.steps
    leading = _leading(steps) if warm_up is None else warm_up
    made = []
    for step in steps:
        frames = trace.stack(step.stacks[0])[:1] if step.stacks else []
        rule = joined(frames[0].rules, 3, " or ") if frames else ""
        made.append(
            ProfileStep(
                index=step.index,
                label=step.token_bytes.decode("utf-8", "replace"),
                kind=step.kind,
                rule=rule,
                states=tuple(step.live_states),
                mask=step.mask_ms or 0.0,
                hidden=step.mask_hidden_ms or 0.0,
                exposed=step.mask_exposed_ms or 0.0,
                forward=step.forward_ms or None,
                sample=step.sample_ms or 0.0,
                warm_up=step.index < leading,
                certain=step.is_certain,
                draft=step.draft,
                source=step.draft_source,
            )
        )
    passes = trace.drafts.get("forward_passes", 0)
    seen = sum(step.forward is not None for step in made)
    lost = max(0, passes - seen) if isinstance(passes, int) else 0
    return Profile(tuple(made), trace.device, lost_passes=lost)


def _leading(steps: Sequence[TraceStep]) -> int:
    """How many steps warm up: the first, and next to it those that stand out."""
    if len(steps) < 3:
        return min(1, max(0, len(steps) - 1))
    mask = median(step.mask_ms for step in steps[1:])
    forward = median([step.forward_ms for step in steps[1:] if step.forward_ms] or [0.0])
    count = 1
    for step in steps[1 : min(_MOST_WARM_UP, len(steps) - 1)]:
        slow_mask = mask > 0 and step.mask_ms > _STANDS_OUT * mask
        slow_forward = forward > 0 and step.forward_ms > _STANDS_OUT * forward
        if not (slow_mask or slow_forward):
            break
        count += 1
    return count


def _states(states: tuple[int, ...]) -> str:
    if not states:
        return "(no states)"
    return f"state {joined(states, 6, ' ')}"
