"""Applying masks on CPU and GPU. Names are looked up on first use, so that torch loads late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.device.apply import MaskApplier, apply_mask

__all__ = ["MaskApplier", "apply_mask"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from workbench.device import apply

    return getattr(apply, name)
