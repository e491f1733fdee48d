"""Keeping other libraries' progress bars and advice out of a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet_transformers"]


@contextmanager
def quiet_transformers(quiet: bool = True) -> Iterator[None]:
    """Silence transformers' progress bars and warnings inside the block, and restore them after."""
    from transformers.utils import logging

    if not quiet:
        yield
        return
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
