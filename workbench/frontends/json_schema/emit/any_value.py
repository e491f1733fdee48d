"""The rules for any value, object, array and string: the same objects in all grammars with the same options."""

from __future__ import annotations

from functools import lru_cache

from workbench.frontends.json_schema.emit.excluded import Excluded
from workbench.frontends.json_schema.logic.formula import TRUE
from workbench.frontends.json_schema.logic.intervals import numbers_in
from workbench.frontends.json_schema.scalars.numbers import Notation
from workbench.frontends.json_schema.text.json_spelling import ANY, spell_class
from workbench.frontends.json_schema.text.whitespace import Layout
from workbench.grammar.ir import (
    Alt,
    Expr,
    Guard,
    JsonStyle,
    Literal,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
)
from workbench.grammar.json_strings import spelled_out
from workbench.grammar.lazy import SharedRules

__all__ = [
    "ANY_CHARACTER",
    "ANY_STRING",
    "BOOLEAN_VALUE",
    "NO_NAME",
    "NULL_VALUE",
    "QUOTE",
    "AnyValue",
    "any_value",
]

QUOTE = Literal(b'"')
#: The expressions for one character of a string in any spelling, and for any string.
ANY_CHARACTER = spell_class(ANY)
_ANY_CONTENT = Repeat(ANY_CHARACTER, 0, None)
ANY_STRING = Seq((QUOTE, _ANY_CONTENT, QUOTE))
#: The expressions for ``null``, and for ``true`` or ``false``.
NULL_VALUE = Literal(b"null")
BOOLEAN_VALUE = Alt((Literal(b"true"), Literal(b"false")))
#: The empty name, as the first member of its scope; within quotes, so that the guard asks when it ends.
NO_NAME = Seq((QUOTE, Guard("take", 1), QUOTE))


class AnyValue:
    """Uses of the rules for any ``value``, ``object``, ``array`` and ``string``, and the ``rules``.

    ``layout`` puts whitespace between values, ``style`` is that of :func:`spell_class`. ``once``: no name comes
    twice in an object. ``content`` is any text between its quotes, ``number`` any number. No string or name holds
    one of the ``excludes`` between its quotes, as it is written; names that are not listed may then come twice.
    """

    def __init__(
        self,
        layout: Layout,
        style: JsonStyle,
        once: bool,
        notation: Notation,
        excludes: tuple[str, ...] = (),
    ) -> None:
        self.layout, self.style, self.once = layout, style, once and not excludes
        self.excluded = Excluded(excludes)
        self.value, self.object, self.array = Ref("value"), Ref("object"), Ref("array")
        #: by one rule for all uses: what it allows inside is worked out once
        self.string = Ref("string")
        self.number = numbers_in(TRUE, notation)
        self.content: Expr = _ANY_CONTENT
        string: Expr = ANY_STRING
        if style != "any" or excludes:
            self.content = self.excluded.kept(Repeat(spell_class(ANY, style=style), 0, None))
            string = Seq((QUOTE, self.content, QUOTE))
        scalars = string, self.number, BOOLEAN_VALUE, NULL_VALUE
        self.rules = SharedRules(
            {
                "value": Alt((self.object, self.array, *scalars)),
                "object": self._object(),
                "array": layout.array([], self.value, 0, None),
                "string": string,
            }
        )

    def _object(self) -> Expr:
        """Any members."""
        key = self.other_name(("",)) if self.once else self.string
        other = self.layout.member(key, self.value, False, None).expr
        if not self.once:
            return self.layout.object([], other, None)
        none = self.layout.member(NO_NAME, self.value, False, None).expr
        return Scope(self.layout.object([], Alt((other, none)), None), 1, names=True)

    def other_name(self, names: tuple[str, ...]) -> Expr:
        """A name that is none of these, quotes included; it comes once where such names do."""
        if self.excluded:
            other = OtherText(names, _ANY_CONTENT, self.once, style=self.style)
            return Seq((QUOTE, self.excluded.kept(spelled_out(other)), QUOTE))
        return Seq((QUOTE, OtherText(names, self.content, self.once, style=self.style), QUOTE))


#: one for each choice of options
any_value = lru_cache(maxsize=64)(AnyValue)
