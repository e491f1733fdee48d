"""Results that show their text form where a cell or prompt of IPython ends in them."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["readable"]

_Class = TypeVar("_Class", bound=type)


def readable(cls: _Class) -> _Class:
    """Let IPython print ``str`` of a class's objects; their ``repr`` stays as it is."""

    def pretty(self: object, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    # IPython takes the first of both that a class and its bases define: it has to stand in the class itself
    cls._repr_pretty_ = pretty  # type: ignore[attr-defined]
    return cls
