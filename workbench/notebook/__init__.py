"""Screens for notebooks: the token stepper, static views and report pages.

Names are looked up on first use, so that importing the package loads neither IPython nor a model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.notebook.mask_view import MaskView, show_mask
    from workbench.notebook.report import write_report
    from workbench.notebook.session import Session
    from workbench.notebook.show import step
    from workbench.notebook.stepper import Stepper
    from workbench.notebook.workbench import Workbench

__all__ = ["MaskView", "Session", "Stepper", "Workbench", "show_mask", "step", "write_report"]

_HOMES = {
    "MaskView": "mask_view",
    "Session": "session",
    "Stepper": "stepper",
    "Workbench": "workbench",
    "show_mask": "mask_view",
    "step": "show",
    "write_report": "report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
