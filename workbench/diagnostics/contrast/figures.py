"""A plotly figure of a contrast. It holds its data and needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.wording import percent

if TYPE_CHECKING:
    from workbench.diagnostics.contrast.contrast import Contrast

__all__ = ["contrast_figure"]

#: Okabe and Ito's colours, which people with any colour vision tell apart.
_OVERRULED, _AGREED = "#D55E00", "#56B4E9"


def contrast_figure(found: Contrast) -> Any:
    """One bar a token of the run under the grammar: the mass that the mask removed, and what was wanted."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError(
            "figures need plotly: pip install 'grammar-workbench[notebook]'"
        ) from error
    wishes = found.wishes
    texts = [
        f"wanted {found.label(wish.wanted)} {percent(wish.probability)}"
        + (f" → took {found.label(wish.taken)}" if wish.overruled else "")
        for wish in wishes
    ]
    made = go.Figure()
    for overruled, name, colour in ((False, "as wanted", _AGREED), (True, "overruled", _OVERRULED)):
        some = [i for i, wish in enumerate(wishes) if wish.overruled == overruled]
        made.add_bar(
            x=[i + 1 for i in some],
            y=[wishes[i].mass_removed for i in some],
            name=name,
            marker_color=colour,
            hovertext=[texts[i] for i in some],
        )
    labels = [found.label(wish.taken) for wish in wishes]
    made.update_xaxes(tickvals=[i + 1 for i in range(len(wishes))], ticktext=labels, title="token")
    made.update_yaxes(title="mass removed by the mask", range=[0, 1], tickformat=".0%")
    made.update_layout(title=found.sentence, barmode="overlay", height=320, margin={"b": 60})
    return made
