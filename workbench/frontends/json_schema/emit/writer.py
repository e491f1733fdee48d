"""What all rules of one grammar share: their names, and how strings and names of members are written.

Both emitters write by it, that of plain values and that of values inside arrays with distinct items.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

from workbench.automaton.budgets import in_force, using
from workbench.automaton.finite import Dfa, to_graph, without_empty
from workbench.frontends.json_schema.containers.compared_texts import is_endless
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.emit.any_value import QUOTE, AnyValue
from workbench.frontends.json_schema.logic.strings import spelled
from workbench.frontends.json_schema.scalars.counted import Counted
from workbench.frontends.json_schema.text.json_spelling import (
    Ranges,
    quoted,
    spell as spell_text,
    spell_class,
)
from workbench.frontends.json_schema.text.whitespace import in_row
from workbench.grammar.ir import (
    NEVER,
    CharSet,
    Expr,
    Graph,
    JsonStyle,
    Origin,
    OtherText,
    Ref,
)
from workbench.grammar.lazy import LazyRules
from workbench.grammar.names import Names

__all__ = ["Writer"]


class Writer:
    """Names the rules of one grammar, writes each when it is asked for, and spells texts in one style.

    ``any_value`` are the rules that it has in common with others, and its options: ``layout`` puts whitespace between
    values; ``once``: names that are not listed come once in an object; ``excluded`` is what no string or name holds.
    """

    def __init__(self, any_value: AnyValue) -> None:
        self.any_value = any_value
        self.layout = any_value.layout
        self.once = any_value.once
        self.excluded = any_value.excluded
        #: whether characters were left out that there is no way to write
        self.lost = False
        shared = any_value.rules.rules
        #: rules that hold no whitespace between values
        self.flat: set[str] = {any_value.string.name}
        self._style: JsonStyle = any_value.style
        self._rules: dict[Hashable, Ref] = {}
        self._texts: dict[Hashable, Expr] = {}
        self._pending: dict[str, Callable[[], Expr]] = {
            name: partial(shared.__getitem__, name) for name in shared
        }
        #: rules are written later, when these may no longer be in force
        self._budgets = in_force()
        self._names = Names(shared)

    # Rules

    def rule(
        self, key: Hashable, name: str, make: Callable[[], Expr], origin: Origin | None = None
    ) -> Ref:
        """A use of the rule for a key; all with the same key share it. ``make`` writes it when it is reached.

        The first use decides on the name (with a number behind it where it is taken), ``make`` and ``origin``.
        """
        known = self._rules.get(key)
        if known is None:
            known = Ref(self._names.fresh(name), origin=origin)
            # an interrupt may come between: a rule that is known can be written
            self._pending[known.name] = make
            self._rules[key] = known
        return known

    def flat_rule(
        self, key: Hashable, name: str, make: Callable[[], Expr], origin: Origin | None = None
    ) -> Ref:
        """:meth:`rule` for a scalar or a part of one, without whitespace between values."""
        made = self.rule(key, name, make, origin)
        self.flat.add(made.name)
        return made

    def started(self, expr: Expr, wanted: str) -> tuple[LazyRules, str]:
        """The rules with a start rule for an expression, and its name."""
        name = self._names.fresh(wanted)
        self._pending[name] = lambda: expr
        return self.starting(name), name

    def starting(self, name: str) -> LazyRules:
        """The rules, each written when it is reached; one that there is already starts."""
        rules = LazyRules(self._write, name)
        if not self.excluded:  # where texts are, a value may have none, which shared rules promise
            rules.shared = self.any_value.rules
        return rules

    def _write(self, name: str) -> Expr:
        with using(self._budgets):
            return self._pending[name]()

    # Texts

    def character(self, ranges: Ranges) -> Expr:
        """One character out of some ranges, as it stands in a string."""
        if self._style == "any":
            return spell_class(ranges)
        made = spell_class(ranges, style=self._style)
        self.lost = self.lost or made == NEVER
        return made

    def spell(self, text: str) -> Expr:
        """A text without quotes; ``NEVER`` where it cannot be written."""
        return spell_text(text, style=self._style)

    def quoted(self, text: str) -> Expr:
        """A text between its quotes; ``NEVER`` where it cannot be written."""
        made = quoted(text, style=self._style)
        if self.excluded and made != NEVER:
            return in_row(QUOTE, self.excluded.kept(self.spell(text)), QUOTE)
        self.lost = self.lost or (made == NEVER and _is_text(text))
        return made

    def spelled(self, content: Expr, counted: Callable[[Counted], Expr] | None = None) -> Expr:
        """An expression over characters as it stands in a string; ``counted`` as in ``strings.spelled``.

        What is excluded is left out where the content is not one of ``excluded.within`` already.
        """
        made = spelled(content, self.character, self._style, counted)
        return made if self.excluded.within is not None else self.excluded.kept(made)

    def spell_graph(self, graph: Graph) -> Expr:
        """A graph over characters as it stands in a string, with escapes only where they are needed."""
        style = "ascii" if self._style == "ascii" else "plain"
        return spelled(graph, partial(spell_class, style=style), style)

    def fresh(self, texts: Dfa, cell: int) -> OtherText:
        """The content of a string that is not empty and does not come twice in its scope.

        Contents with different numbers ``cell`` are told apart.
        """
        graph = to_graph(texts, CharSet)
        if is_endless(texts):
            return OtherText((), self.spelled(graph), True, cell)
        return OtherText((), self.spell_graph(graph), True, cell, graph)

    def other_name(self, names: tuple[str, ...]) -> Expr:
        """A name that is none of these, quotes included; it comes once where such names do."""
        known = self._texts.get(names)
        if known is None:
            known = self._texts[names] = self.any_value.other_name(names)
        return known

    def cell_name(self, plan: ObjectPlan, number: int) -> Expr:
        """A name of a cell of an object, quotes included; not the empty one where names come once.

        ``NEVER`` when there is no other.
        """
        cell = plan.cells()[number]
        if cell.content is None:
            if self.once:
                return self.other_name(tuple(sorted({"", *plan.named})))
            return (
                self.other_name(tuple(sorted(plan.named))) if plan.named else self.any_value.string
            )
        known = self._texts.get(id(cell))
        if known is None:
            content: Expr = self.excluded.kept(self.spelled(cell.content))
            if self.once:
                content = self.cell_text(plan, number) or NEVER
            known = self._texts[id(cell)] = in_row(QUOTE, content, QUOTE)
        return known

    def cell_text(self, plan: ObjectPlan, number: int) -> OtherText | None:
        """A name of a cell that comes once, without quotes; ``None`` when the cell has just the empty one."""
        names = plan.cell_names(number)
        if names is None:
            texts = tuple(sorted({"", *plan.named}))
            return OtherText(texts, self.any_value.content, True, style=self._style)
        some = without_empty(names)
        return None if some.is_empty else self.fresh(some, number + 1)


def _is_text(name: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in name)
