"""Names that are nearly the one that was asked for, as they stand in a message.

>>> nearest("serch", ["search", "read_file"])
"did you mean 'search'?"
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from workbench.inputs import first_words
from workbench.wording import joined

__all__ = ["nearest"]

#: Names among which a near one is looked for, and characters of each: the search is quadratic in these.
_MOST, _LONGEST = 2_000, 80


def nearest(name: str, names: Iterable[str]) -> str:
    """What to do about a name that there is not: names that are like it, or else those there are; nothing for none."""
    known = list(names)
    likely = [one for one in known[:_MOST] if len(one) <= _LONGEST]
    close = get_close_matches(name[:_LONGEST], likely, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(map(first_words, close))}?"
    return f"there are {joined([first_words(one) for one in known], 10)}" if known else ""
