"""Exporting tested grammars: dialect writers, bundles, and proving them.

The package is callable, so that ``wb.export(grammar, path, tests=…)`` works whether or not a module of it
was imported before.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Callable(ModuleType):
    """A package that is called like its function of the same name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from workbench.export.bundle import export

        return export(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
if TYPE_CHECKING:
    from workbench.export.bundle import export as export
else:
    #: what ``workbench.export`` is, under either way of reaching it
    export = sys.modules[__name__]
