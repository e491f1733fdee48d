"""One of many texts: a minimal acyclic automaton of them (Daciuk and others, 2000, from sorted texts).

>>> choice(["cherry", "apple", "apple pie"])
<Grammar choice: 1 rule, start 'root'>
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from workbench.collector import CollectorWaits
from workbench.frontends.compose import alt, capture
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.expressions import Alt, Literal
from workbench.grammar.ir import Grammar
from workbench.grammar.prefixes import common_prefix
from workbench.inputs import wrong_type

__all__ = ["choice"]

#: So many texts stay alternatives as they were written.
_FEW = 50
#: A state: whether it is final, then bytes and states that they lead to.
_State = tuple[int, ...]


def choice(texts: Iterable[str | bytes] | Mapping[str, str | bytes]) -> Grammar:
    """Make a grammar of one of some texts, exactly as they are; duplicates count once.

    Fifty thousand texts take about half a second. A mapping is from labels to texts: each text is captured by its
    label (see :func:`~workbench.match`). Raises ``WrongType`` for what is no texts, ``ValueError`` for none, and for a
    text with half of a surrogate pair.

    >>> from workbench.engine.matching import match
    >>> match(choice({"yes": "y", "no": "n"}), "n").captures[0].name
    'no'
    """
    if isinstance(texts, Mapping):
        if not texts:
            raise ValueError(_NONE)
        return alt(*(capture(label, _checked(text)) for label, text in texts.items()))
    data = [_encoded(text) for text in _several(texts)]
    if not data:
        raise ValueError(_NONE)
    unique = dict.fromkeys(data)
    if len(unique) <= _FEW:
        expr = Alt(tuple(map(Literal, unique)))
        return Grammar({"root": expr}, "root", "choice")
    with CollectorWaits():
        return Grammar({"root": _minimal(sorted(unique))}, "root", "choice")


_NONE = "choice takes at least one text"


def _several(texts: object) -> Iterable[object]:
    if isinstance(texts, str | bytes) or not hasattr(texts, "__iter__"):
        alone = "put it in a list" if isinstance(texts, str | bytes) else ""
        raise wrong_type("choice", "a list of texts, or texts by label", texts, alone)
    return texts


def _checked(text: object) -> str | bytes:
    if not isinstance(text, str | bytes):
        raise wrong_type("choice", "texts", text)
    return text


def _encoded(text: object) -> bytes:
    checked = _checked(text)
    if isinstance(checked, bytes):
        return checked
    try:
        return checked.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"choice: {checked!r:.60} holds half of a surrogate pair, which no text has"
        ) from None


def _minimal(texts: list[bytes]) -> ByteGraph:
    """The automaton with the fewest states of texts that are sorted and differ.

    The states of the last text are open: each is given its number, that of an equal state where there is one, when a
    text comes that leaves it.
    """
    numbers: dict[_State, int] = {}
    # by depth: whether a text ends there; bytes and states after the ones that are closed
    opened: list[list[int]] = [[0]]
    last = b""

    def close(depth: int) -> None:
        while len(opened) - 1 > depth:
            state = tuple(opened.pop())
            number = numbers.setdefault(state, len(numbers))
            opened[-1] += (last[len(opened) - 1], number)

    for text in texts:
        common = common_prefix(last, text)
        close(common)
        opened += [[0] for _ in range(len(text) - common)]
        opened[len(text)][0] = 1
        last = text
    close(0)
    states = [*numbers, tuple(opened[0])]
    ends = np.array([state[0] for state in states], dtype=np.bool_)
    lengths = np.array([len(state) // 2 for state in states])
    pairs = np.array([one for state in states for one in state[1:]], dtype=np.int32).reshape(-1, 2)
    sources = np.arange(len(states), dtype=np.int32).repeat(lengths)
    return ByteGraph(
        _joined(np.stack([sources, pairs[:, 0], pairs[:, 0], pairs[:, 1]])), ends, len(states) - 1
    )


def _joined(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Edges of neighbouring bytes between the same states are one."""
    if not rows.size:
        return rows
    begins = np.ones(rows.shape[1], dtype=np.bool_)
    begins[1:] = (np.diff(rows[0]) != 0) | (np.diff(rows[3]) != 0) | (np.diff(rows[1]) != 1)
    joined = rows[:, begins]
    joined[2] = rows[2, np.append(np.flatnonzero(begins)[1:] - 1, rows.shape[1] - 1)]
    return joined
