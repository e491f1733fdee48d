r"""Look-aheads at the start of a pattern, as patterns of their own that a text has to match, or must not.

``^(?=.*\d)(?!-)[a-z]{1,63}$`` holds for the texts that match ``^.*\d`` and ``^[a-z]{1,63}$`` and do not match
``^-``. Three small automata and their product are made in place of one that follows all of them from each
position; and a part that only counts characters is a length, of which nobody makes states.

>>> parts_of(r"^(?=.*\d)(?!-).{1,63}$")
Parts(matches=(('^.*\\d', True), ('^-', False), ('^.*$', True)), least=1, most=63)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Parts", "parts_of"]

#: An escaped character, a class, or a character that groups and divides.
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
_QUANTIFIED = re.compile(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")
#: Any number of characters of one kind up to the end, and nothing else.
_COUNTED = re.compile(
    r"(\.|\\[dDwWsS]|\[(?:\\.|[^\]\\])+\])\{([0-9]{1,9})(?:(,)([0-9]{1,9})?)?\}\$", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Parts:
    """Patterns that are found in a text, or are not, and how many characters it has."""

    matches: tuple[tuple[str, bool], ...]
    least: int = 0
    most: int | None = None


@lru_cache(maxsize=2048)
def parts_of(pattern: str) -> Parts | None:
    """The parts of a pattern that begins with look-aheads; ``None`` for any other."""
    if not pattern.startswith(("^(?=", "^(?!")) or _divided(pattern):
        return None
    if "[]" in pattern or "[^]" in pattern:  # a bracket that dialects read in two ways
        return None
    at = 1
    matches: list[tuple[str, bool]] = []
    least, most = 0, None
    while pattern.startswith(("(?=", "(?!"), at):
        end = _end_of_group(pattern, at)
        if end is None or _QUANTIFIED.match(pattern, end):
            return None
        body, positive = pattern[at + 3 : end - 1].removeprefix("^"), pattern[at + 2] == "="
        matches.append((f"^(?:{body})" if _divided(body) else f"^{body}", positive))
        at = end
    if at < len(pattern):
        if _QUANTIFIED.match(pattern, at):
            return None
        matches.append((f"^{pattern[at:]}", True))
    kept: dict[tuple[str, bool], None] = {}
    for text, positive in matches:
        counted = _COUNTED.fullmatch(text, 1) if positive else None
        if counted is None:
            kept[text, positive] = None
            continue
        atom, low, comma, high = counted.groups()
        greatest = int(high) if high else None if comma else int(low)
        if greatest is not None and greatest < int(low):
            return None
        kept[f"^{atom}*$", True] = None
        least = max(least, int(low))
        if greatest is not None:
            most = greatest if most is None else min(most, greatest)
    return Parts(tuple(kept), least, most)


def _divided(pattern: str) -> bool:
    """Whether a pattern has alternatives that are in no group, or groups that do not fit."""
    depth = 0
    for found in _TOKEN.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth < 0 or (found[0] == "|" and not depth):
            return True
    return depth != 0


def _end_of_group(pattern: str, at: int) -> int | None:
    depth = 0
    for found in _TOKEN.finditer(pattern, at):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return found.end()
    return None
