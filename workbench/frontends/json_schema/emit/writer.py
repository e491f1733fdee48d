"""What all rules of one grammar share: their names, and how strings and names of members are written.

Both emitters write by it, that of plain values and that of values inside arrays with distinct items.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

from workbench.automaton.budgets import in_force, too_complex, using
from workbench.automaton.finite import Dfa, determinise, minimise, to_graph, without_empty
from workbench.automaton.regular import intersect
from workbench.frontends.json_schema.containers.compared_texts import is_endless
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.logic.strings import spelled
from workbench.frontends.json_schema.scalars.counted import Counted
from workbench.frontends.json_schema.text.json_spelling import (
    ANY,
    Ranges,
    quoted,
    spell as spell_text,
    spell_class,
)
from workbench.frontends.json_schema.text.whitespace import Layout, in_row
from workbench.grammar.ir import (
    NEVER,
    CharSet,
    Expr,
    Graph,
    JsonStyle,
    Literal,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Seq,
    walk,
)
from workbench.grammar.json_strings import spelled_out
from workbench.grammar.lazy import LazyRules
from workbench.grammar.names import Names
from workbench.grammar.until import without

__all__ = ["ANY_CHARACTER", "ANY_STRING", "QUOTE", "Writer"]

QUOTE = Literal(b'"')
#: What an escape is written with: a text that begins with one of these may begin in the middle of one.
_IN_ESCAPES = '\\"/bfnrtu0123456789abcdefABCDEF'
#: The expressions for one character of a string, and any string.
ANY_CHARACTER = spell_class(ANY)
_ANY_CONTENT = Repeat(ANY_CHARACTER, 0, None)
ANY_STRING = Seq((QUOTE, _ANY_CONTENT, QUOTE))


class Writer:
    """Names the rules of one grammar, writes each when it is asked for, and spells texts in one style.

    ``layout`` puts whitespace between values. ``style`` is that of :func:`spell_class`. ``once``: names that are
    not listed come once in an object. No string or name holds one of the ``excludes`` between its quotes, as it is
    written; names that are not listed may then come twice.
    """

    def __init__(
        self, layout: Layout, style: JsonStyle, once: bool, excludes: Sequence[str] = ()
    ) -> None:
        self.layout = layout
        self.once = once and not excludes
        self.excluded = tuple(excludes)
        #: the texts whose spellings, whatever they are, hold nothing that is excluded; None where that is not known
        self.within: Dfa | None = None
        if excludes and not any(text[0] in _IN_ESCAPES for text in excludes):
            self.within = minimise(determinise(without(excludes)))
        self._excludes = without(excludes) if excludes else None
        #: whether characters were left out that there is no way to write
        self.lost = False
        #: rules that hold no whitespace between values
        self.flat: set[str] = set()
        self._style = style
        self._any_content: Expr = _ANY_CONTENT
        #: any string, written out
        self.string_itself: Expr = ANY_STRING
        if style != "any" or excludes:
            self._any_content = self._kept(Repeat(self.character(ANY), 0, None))
            self.string_itself = Seq((QUOTE, self._any_content, QUOTE))
        self._rules: dict[Hashable, Ref] = {}
        self._texts: dict[Hashable, Expr] = {}
        self._pending: dict[str, Callable[[], Expr]] = {}
        #: rules are written later, when these may no longer be in force
        self._budgets = in_force()
        self._names = Names()
        #: any string, by one rule for all uses: what it allows inside is worked out once
        self.any_string: Expr = self.flat_rule("string", "string", lambda: self.string_itself)

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
        return LazyRules(self._write, name)

    def _write(self, name: str) -> Expr:
        with using(self._budgets):
            return self._pending[name]()

    # Texts

    def _kept(self, content: Expr) -> Expr:
        """What of the content of strings is not excluded. Raises ``GrammarTooComplex`` for one that is counted."""
        if self._excludes is None or content == NEVER:
            return content
        if any(isinstance(part, Ref) for part in walk(content)):
            raise too_complex("finite_states")
        graph = intersect(content, self._excludes)
        return graph if graph.finals else NEVER

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
        if self._excludes is not None and made != NEVER:
            return in_row(QUOTE, self._kept(self.spell(text)), QUOTE)
        self.lost = self.lost or (made == NEVER and _is_text(text))
        return made

    def spelled(self, content: Expr, counted: Callable[[Counted], Expr] | None = None) -> Expr:
        """An expression over characters as it stands in a string; ``counted`` as in ``strings.spelled``.

        What is excluded is left out where the content is not one of ``within`` already.
        """
        made = spelled(content, self.character, self._style, counted)
        return made if self.within is not None else self._kept(made)

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
            body = _ANY_CONTENT if self._excludes is not None else self._any_content
            other = OtherText(names, body, self.once, style=self._style)
            content = other if self._excludes is None else self._kept(spelled_out(other))
            known = self._texts[names] = Seq((QUOTE, content, QUOTE))
        return known

    def cell_name(self, plan: ObjectPlan, number: int) -> Expr:
        """A name of a cell of an object, quotes included; not the empty one where names come once.

        ``NEVER`` when there is no other.
        """
        cell = plan.cells()[number]
        if cell.content is None:
            if self.once:
                return self.other_name(tuple(sorted({"", *plan.named})))
            return self.other_name(tuple(sorted(plan.named))) if plan.named else self.any_string
        known = self._texts.get(id(cell))
        if known is None:
            content: Expr = self._kept(self.spelled(cell.content))
            if self.once:
                content = self.cell_text(plan, number) or NEVER
            known = self._texts[id(cell)] = in_row(QUOTE, content, QUOTE)
        return known

    def cell_text(self, plan: ObjectPlan, number: int) -> OtherText | None:
        """A name of a cell that comes once, without quotes; ``None`` when the cell has just the empty one."""
        names = plan.cell_names(number)
        if names is None:
            texts = tuple(sorted({"", *plan.named}))
            return OtherText(texts, self._any_content, True, style=self._style)
        some = without_empty(names)
        return None if some.is_empty else self.fresh(some, number + 1)


def _is_text(name: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in name)
