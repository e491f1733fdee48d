"""Free text of at most so many characters: an automaton in a scope that counts them, which costs no states."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.grammar.ir import EMPTY, Alt, Grammar, Graph, Guard, Scope, Seq
from workbench.grammar.until import without

__all__ = ["counted_text"]


def counted_text(stops: Sequence[str], most: int) -> Grammar:
    """The texts of at most ``most`` characters (1 or more) that hold none of some texts."""
    free = without(stops)
    begin = free.n_states  # a scope is never empty: where the text is, there is none
    counted = [(a, Seq((Guard("other"), label)), b) for a, label, b in free.edges]
    first = [(begin, label, b) for a, label, b in counted if a == free.start]
    some = Graph(begin + 1, begin, free.finals, (*counted, *first))
    scope = Scope(Seq((some, Guard("end"))), 0, 0, 0, most)
    return Grammar({"root": Alt((EMPTY, scope))}, "root", "text")
