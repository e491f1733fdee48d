"""Grammar workbench: constrained decoding with exact masks, made visible.

What a user types is listed in ``__init__.pyi``; names are loaded when they are first used, so that importing
the package is quick and needs neither torch nor llvmlite nor Jupyter.

    >>> import workbench as wb
    >>> grammar = wb.regex(r"(yes|no), because [a-z ]{5,40}\\.")
    >>> grammar
    <Grammar regex: 1 rule, start 'root'>
"""

from typing import Any

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def load_ipython_extension(shell: Any) -> None:
    """Add the magics and the displays of notebooks: ``%load_ext workbench``."""
    from workbench.notebook.magics import load

    load(shell)
