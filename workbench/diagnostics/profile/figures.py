"""Plotly figures of a profile. They hold their data and need no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.wording import number_of, percent

if TYPE_CHECKING:
    from workbench.diagnostics.profile.profile import Group, Profile

__all__ = ["VIEWS", "figure"]

VIEWS = ("time", "heaviest", "state", "histogram")
#: Okabe and Ito's colours, which people with any colour vision tell apart.
_FORWARD, _HIDDEN, _EXPOSED, _LINE = "#0072B2", "#56B4E9", "#D55E00", "#000000"
_GROUPS = 20
_BINS = 40


def figure(profile: Profile, view: str = "time") -> Any:
    """One view of a profile as a ``plotly.graph_objects.Figure``; see ``Profile.figure``."""
    if view not in VIEWS:
        raise ValueError(f"there is no view {view!r}; there are {', '.join(VIEWS)}")
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError(
            "figures need plotly: pip install 'grammar-workbench[notebook]'"
        ) from error
    if view == "time":
        return _time(go, profile)
    if view == "histogram":
        return _histogram(go, profile)
    groups = profile.by_rule() if view == "heaviest" else profile.by_state()
    return _heaviest(go, groups, "rule" if view == "heaviest" else "live states")


def _time(go: Any, profile: Profile) -> Any:
    """Forward pass, and mask hidden and exposed, per step; exposed parts have an outline."""
    steps = profile.steps
    x = [step.index + 1 for step in steps]  # as people count them
    texts = [
        f"{step.label!r} {step.kind}{', warm-up' if step.warm_up else ''}<br>{step.rule}"
        for step in steps
    ]
    made = go.Figure()
    made.add_bar(
        x=x, y=[step.forward for step in steps], name="forward", marker_color=_FORWARD,
        hovertext=texts, yaxis="y",
    )  # fmt: skip
    made.add_bar(
        x=x, y=[step.hidden for step in steps], name="mask, hidden", marker_color=_HIDDEN,
        hovertext=texts, yaxis="y2",
    )  # fmt: skip
    made.add_bar(
        # no bar where nothing was exposed: its outline would look like one
        x=x, y=[step.exposed or None for step in steps], name="mask, exposed", hovertext=texts,
        yaxis="y2", base=[step.hidden for step in steps],
        marker={"color": _EXPOSED, "line": {"color": _LINE, "width": 1.5}},
    )  # fmt: skip
    for index in profile.warm_up:
        made.add_vrect(x0=index + 0.5, x1=index + 1.5, fillcolor="gray", opacity=0.2, line_width=0)
    share = percent(profile.exposed_share)
    made.update_layout(
        title=f"mask beside forward pass, per step; exposed {share} of forward (grey: warm-up)",
        barmode="overlay",
        height=520,
        xaxis={
            "title": "step",
            "anchor": "y2",
            "rangeslider": {"visible": True, "thickness": 0.08},
        },
        yaxis={"title": "forward, ms", "domain": [0.55, 1.0]},
        yaxis2={"title": "mask, ms", "domain": [0.0, 0.45]},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        margin={"t": 110},
    )
    return made


def _heaviest(go: Any, groups: tuple[Group, ...], title: str) -> Any:
    shown = groups[:_GROUPS][::-1]
    made = go.Figure()
    made.add_bar(
        x=[group.mask.total for group in shown],
        y=[group.name for group in shown],
        orientation="h",
        marker_color=_HIDDEN,
        text=[f"{percent(group.share)}, {number_of(len(group.steps), 'step')}" for group in shown],
    )
    more = f" (the first {_GROUPS} of {len(groups)})" if len(groups) > _GROUPS else ""
    made.update_layout(title=f"mask time by {title}{more}", xaxis={"title": "mask, ms"})
    return made


def _histogram(go: Any, profile: Profile) -> Any:
    """Mask times on a logarithmic axis, with lines at the median and the 99th percentile."""
    values = np.array([step.mask for step in profile.counted if step.mask > 0])
    made = go.Figure()
    times = profile.times("mask")
    if len(values):
        logs = np.log10(values)
        low, high = float(logs.min()), float(logs.max())
        edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
        counts, _ = np.histogram(logs, bins=edges)
        centres = 10 ** ((edges[:-1] + edges[1:]) / 2)
        widths = 10 ** edges[1:] - 10 ** edges[:-1]
        made.add_bar(x=centres, y=counts, width=widths, marker_color=_HIDDEN, name="steps")
        for value, name in ((times.median, "median"), (times.p99, "p99")):
            made.add_vline(x=value, line_color=_EXPOSED, annotation_text=f"{name} {value:.4g} ms")
    made.update_layout(
        title=f"mask times of {number_of(times.n, 'step')}",
        xaxis={"title": "mask, ms", "type": "log"},
        yaxis={"title": "steps"},
    )
    return made
