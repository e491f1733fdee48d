"""Grammars made of grammars, and of markers.

``intersection``, ``difference`` and ``complement`` take grammars whose start is regular: of any front
end, recursive only as ``NotRegular`` allows. ``until`` makes a grammar of the text that a marker ends.

>>> from workbench.frontends.regex import regex
>>> words = difference(regex("[a-z]{2,4}"), regex("if|in|or"))
>>> words
<Grammar difference: 1 rule, start 'root'>
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.automaton import regular
from workbench.automaton.budgets import Budgets, chosen, using
from workbench.automaton.linear import NotRegular, resolve
from workbench.grammar.ir import Expr, Grammar, Graph, Ref
from workbench.grammar.until import until as until_expr
from workbench.inputs import need_grammar, need_number, wrong_type

__all__ = ["NotRegular", "complement", "difference", "intersection", "until"]


def intersection(
    *grammars: Grammar, max_states: int | None = None, budgets: Budgets | None = None
) -> Grammar:
    """Make a grammar of the texts that every one of some grammars allows.

    Raises ``NotRegular`` for a grammar that is not regular, or not in a form that shows it, and
    ``GrammarTooComplex`` past ``max_states`` automaton states, by default ``budgets.finite_states``, or
    ``budgets.finite_work``. That nothing is left is found when the
    result is compiled.
    """
    return _operation("intersection", regular.intersect, grammars, max_states, budgets)


def difference(
    grammar: Grammar,
    *others: Grammar,
    max_states: int | None = None,
    budgets: Budgets | None = None,
) -> Grammar:
    """Make a grammar of the texts of one grammar that no other allows. Raises as ``intersection`` does."""
    return _operation("difference", regular.difference, (grammar, *others), max_states, budgets)


def complement(
    grammar: Grammar, *, max_states: int | None = None, budgets: Budgets | None = None
) -> Grammar:
    """Make a grammar of all texts that a grammar does not allow. Raises as ``intersection`` does.

    Of all byte strings, where the grammar has parts that are less than a character (bytes above 0x7F that
    are written one by one).
    """
    return _operation("complement", regular.complement, (grammar,), max_states, budgets)


def until(*markers: str | bytes, include: bool = True) -> Grammar:
    """Make a grammar of any text that ends where a marker ends for the first time.

    ``include=False`` leaves the marker out: the texts that may stand before it. With ``bytes`` for a marker
    any bytes may come, else any characters. Raises ``ValueError`` for no marker or an empty one.

    >>> until("</think>").rules["root"].n_states
    9
    """
    for marker in markers:
        if not isinstance(marker, str | bytes):
            raise wrong_type("until", "markers that are texts or bytes", marker)
    return Grammar({"root": until_expr(markers, include=include)}, "root", kind="until")


def _operation(
    kind: str,
    operation: Callable[..., Graph],
    grammars: tuple[Grammar, ...],
    max_states: int | None,
    budgets: Budgets | None,
) -> Grammar:
    """Apply an operation to the starts of grammars, whose rules may have the same names."""
    limits = chosen(budgets, kind)
    if max_states is not None:
        max_states = need_number(max_states, kind, "a number of states")
        limits = replace(limits, finite_states=max(limits.finite_states, max_states))
    starts: list[Expr] = []
    names: list[str] = []
    for number, grammar in enumerate(grammars):
        need_grammar(grammar, kind)
        try:
            starts += resolve([Ref(grammar.start)], grammar.rules)
        except NotRegular as error:
            raise NotRegular(
                f"{error.reason} (grammar {number + 1} of {len(grammars)})", error.part, error.rule
            ) from None
        names.append(grammar.start if len(grammars) == 1 else f"{grammar.start} ({number + 1})")
    with using(limits):
        graph = operation(*starts, names=names, max_states=max_states)
    return Grammar({"root": graph}, "root", kind=kind)
