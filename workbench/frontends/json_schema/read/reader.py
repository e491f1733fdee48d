"""A schema at its place while its keywords are read: checks of their form, and notes of what became of them."""

from __future__ import annotations

from typing import Any

from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.read.document import Document, escape
from workbench.frontends.json_schema.read.keyword_hints import misspelled
from workbench.frontends.json_schema.read.keyword_tables import SPEAKS_OF
from workbench.frontends.json_schema.read.location import Location
from workbench.frontends.json_schema.text.json_values import ALL_TYPES, decimal, is_number
from workbench.grammar.ir import Outcome

__all__ = ["Reader"]


class Reader:
    """One location being read."""

    def __init__(self, document: Document, location: Location) -> None:
        self.document = document
        self.location = location
        self.schema: dict[str, Any] = location.schema

    def pointer(self, keyword: str) -> str:
        return f"{self.location.pointer}/{escape(keyword)}"

    def wrong(self, keyword: str, message: str, *, hint: str | None = None) -> GrammarSyntaxError:
        return GrammarSyntaxError(f"{keyword} {message}", pointer=self.pointer(keyword), hint=hint)

    def note(
        self, keyword: str, status: Any, detail: str = "", *kinds: str, warning: str = ""
    ) -> None:
        if not self.document.silent:
            pointer = f"{self.location.pointer}/{escape(keyword)}"
            self.document.outcomes.append(Outcome(pointer, keyword, status, detail, kinds, warning))

    def restricted(self, keyword: str, detail: str, *kinds: str) -> None:
        self.note(keyword, "restricted", detail, *kinds)

    def unknown(self, keyword: str) -> None:
        """Note a word that is no keyword, and warn where it nearly is one."""
        near = misspelled(keyword, self.schema[keyword])
        if near is None or near in self.schema:
            self.note(keyword, "annotation")
            return
        if self.document.strict and not self.document.silent:
            raise GrammarSyntaxError(
                f"{keyword!r} is not a keyword",
                pointer=self.pointer(keyword),
                hint=f"did you mean {near!r}?",
            )
        warning = f"{keyword!r} is not a keyword and says nothing; did you mean {near!r}?"
        self.note(keyword, "annotation", warning=warning)

    def enforced(self, keyword: str) -> None:
        self.note(keyword, "enforced")

    def constrained(self, keyword: str) -> None:
        self.location.constrains = True
        self.note(keyword, "enforced")

    def unsupported(self, keyword: str, reason: str) -> None:
        if not self.location.types & SPEAKS_OF.get(keyword, ALL_TYPES):
            self.note(keyword, "enforced", "says nothing about the types that are allowed here")
        else:
            self.note(keyword, "unsupported", reason)

    def count(self, keyword: str, value: Any) -> int:
        if (
            not is_number(value)
            or decimal(value) != decimal(value).to_integral_value()
            or value < 0
        ):
            raise self.wrong(keyword, "must be a whole number that is not negative")
        exact = decimal(value)
        return int(exact) if exact < 10**9 else 10**9

    def schemas(self, keyword: str, value: Any) -> tuple[Location, ...]:
        if not isinstance(value, list | tuple) or not value:
            raise self.wrong(keyword, "must be an array of schemas, not empty")
        return tuple(
            self.document.child(self.location, keyword, item, str(position))
            for position, item in enumerate(value)
        )
