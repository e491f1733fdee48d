"""Free text of at most so many characters: rules that read a few of them each, written when a text gets there."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.automaton.budgets import in_force, using
from workbench.automaton.finite import determinise, minimise
from workbench.frontends.compose import optional
from workbench.frontends.json_schema.scalars.counted import Counted, block, has_texts
from workbench.frontends.kept import limits_of
from workbench.grammar.fingerprint import content_key
from workbench.grammar.ir import CharSet, Expr, Grammar, Ref
from workbench.grammar.lazy import LazyRules
from workbench.grammar.until import without

__all__ = ["counted_text"]


def counted_text(stops: Sequence[str], most: int) -> Grammar:
    """The texts of at most ``most`` characters (1 or more) that hold none of some texts.

    Raises ``GrammarTooComplex`` past a budget.
    """
    # of one character at least: where the text may also be empty is told around it
    item = Counted(minimise(determinise(without(stops))), 1, most)
    limits = in_force()
    if not has_texts(item):
        return optional("")

    def use(state: int, length: int) -> Ref:
        return Ref(f"{state}/{length}")

    def written(name: str) -> Expr:
        state, _, length = name.partition("/")
        if not (state.isdecimal() and length.isdecimal()):
            raise KeyError(name)
        with using(limits):
            return block(item, int(state), int(length), CharSet, use)

    key = content_key("counted text", list(stops), most, list(limits_of(limits)))
    return optional(Grammar(LazyRules(written, "0/0", key), "0/0", "text"))
