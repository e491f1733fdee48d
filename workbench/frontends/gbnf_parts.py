"""Schemas and patterns that stand in a GBNF text, ``%json {…}`` and ``%regex /…/``, and grammars passed with it.

While the text is parsed, a name of a rule that it has not stands in the place of each, with blanks around it, so that
all offsets stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import GrammarSyntaxError, UnsupportedConstraint
from workbench.frontends.regex import regex
from workbench.grammar.composing import as_part, composed
from workbench.grammar.embedding import embed
from workbench.grammar.ir import Expr, Grammar, Ref
from workbench.grammar.names import Names
from workbench.grammar.rewriting import rewrite
from workbench.inputs import wrong_type

__all__ = ["Parts", "given_parts"]

#: Literals, classes, tokens and comments, which may hold anything; and what begins a part.
_SCANNED = re.compile(
    r'"(?:\\.|[^"\\]|\\\Z)*+(?:"|\Z)|\[(?:\\.|[^\]\\]|\\\Z)*+(?:\]|\Z)|<[^<>\r\n]*+>|#[^\r\n]*+'
    r"|%(?P<kind>json|regex)(?![A-Za-z0-9_-])",
    re.DOTALL,
)
_BLANKS = re.compile(r"\s*+")
_PATTERN = re.compile(
    r"[ \t]*+/(?P<pattern>(?:\\[^\r\n]|\[(?:\\[^\r\n]|[^\]\\\r\n])*+\]|[^/\\\[\r\n])*+)/"
)
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MOST = 10_000
_HINT = 'as in %json {"type": "integer"} or %regex /[a-z]+/'


@dataclass(frozen=True, slots=True)
class _Part:
    kind: str
    grammar: Grammar


class Parts:
    """The grammars that stand in one text: ``text`` is what is parsed, ``given`` those that came with it."""

    def __init__(self, source: str, given: Mapping[str, Grammar]) -> None:
        self.source = source
        self.given = given
        self._inline: dict[str, _Part] = {}
        self.text = source
        if "%json" in source or "%regex" in source:
            self._find()

    @property
    def names(self) -> set[str]:
        """The names under which they are used in the text."""
        return {*self.given, *self._inline}

    def rules(self) -> Mapping[str, Expr]:
        """The rules of all parts, to look them up in."""
        parts = {**self.given, **{name: part.grammar for name, part in self._inline.items()}}
        if not parts:
            return {}
        return embed({}, next(iter(parts)), parts).rules

    def embedded(self, rules: dict[str, Expr], start: str) -> Grammar:
        """The grammar of the text with its parts in it.

        A part that is all of a rule has its name; others are called by what they are.
        """
        if not self.names:
            return Grammar(rules, start, kind="gbnf", source=self.source)
        parts = dict(self.given)
        whole = {
            expr.name: name
            for name, expr in rules.items()
            if isinstance(expr, Ref) and expr.name in self._inline
        }
        names = Names({*rules, *parts})
        called: dict[str, str] = {}
        for stand_in, part in self._inline.items():
            name = whole.get(stand_in) or names.fresh(part.kind)
            parts[name] = part.grammar
            called[stand_in] = name

        def named(part: Expr) -> Expr | None:
            if isinstance(part, Ref) and part.name in called:
                return Ref(called[part.name], origin=part.origin)
            return None

        around = {
            name: rewrite(expr, named) for name, expr in rules.items() if name not in whole.values()
        }
        return embed(around, start, parts, "gbnf", self.source)

    def _find(self) -> None:
        """Read the parts, and put names in their places."""
        pieces: list[str] = []
        dash = "-"
        while dash in self.source:
            dash += "-"
        done = at = 0
        while (found := _SCANNED.search(self.source, at)) is not None:
            at = found.end()
            if found["kind"] is None:
                continue
            start = found.start()
            read = self._schema if found["kind"] == "json" else self._pattern
            grammar, at = read(start, at)
            name = f"{dash}{len(self._inline)}"
            # a blank, the name, a blank at least
            if len(self._inline) >= _MOST or len(name) + 2 > at - start:
                raise self._error(
                    "there are too many parts of other grammars in this text", start, at
                )
            self._inline[name] = _Part(found["kind"], grammar)
            pieces += (self.source[done:start], f" {name}".ljust(at - start))
            done = at
        self.text = "".join([*pieces, self.source[done:]])

    def _schema(self, start: int, at: int) -> tuple[Grammar, int]:
        from workbench.frontends.json_schema import json_schema

        begin = _BLANKS.match(self.source, at).end()  # type: ignore[union-attr]
        try:
            _, end = json.JSONDecoder().raw_decode(self.source, begin)
        except RecursionError:
            raise self._error("this schema is nested too deeply", start, begin) from None
        except ValueError as error:
            place = getattr(error, "pos", begin)
            what = f"behind %json stands a JSON Schema: {getattr(error, 'msg', error)}"
            raise self._error(what, place, place + 1, _HINT) from None
        text = self.source[begin:end]
        return self._made(lambda: json_schema(text), begin, end), end

    def _pattern(self, start: int, at: int) -> tuple[Grammar, int]:
        found = _PATTERN.match(self.source, at)
        if found is None:
            what = "behind %regex stands a pattern between slashes, in one line"
            raise self._error(what, start, at, _HINT)
        return self._made(lambda: regex(found["pattern"]), *found.span("pattern")), found.end()

    def _made(self, make: Callable[[], Grammar], start: int, end: int) -> Grammar:
        """A part; what is wrong in it is told by its place in the text."""
        try:
            return make()
        except GrammarSyntaxError as error:
            message = error.message
            if error.pointer is not None:
                message = f"{message} (at {error.pointer or '#'})"
            elif error.start is not None:
                start, end = start + error.start, start + error.start + 1
            raise self._error(message, start, end, error.hint) from None
        except UnsupportedConstraint as error:
            hint = (
                "leave it out, or make the grammar with workbench.json_schema(…, "
                "on_unsupported='report') and pass it in rules={…}"
            )
            what = f"{error.pointer or '#'}: {error.reason}"
            raise self._error(what, start, end, hint) from None

    def _error(
        self, message: str, start: int, end: int, hint: str | None = None
    ) -> GrammarSyntaxError:
        return GrammarSyntaxError(message, text=self.source, start=start, end=end, hint=hint)


def given_parts(rules: Any) -> dict[str, Grammar]:
    """The grammars that a caller passed with a text, by the names that it uses.

    Raises ``WrongType`` for what is none, ``ValueError`` for a name that no text can use.
    """
    if rules is None:
        return {}
    if not isinstance(rules, Mapping):
        raise wrong_type(
            "gbnf", "rules as grammars by name", rules, "as in rules={'args': grammar}"
        )
    found: dict[str, Grammar] = {}
    for name, part in rules.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{name!r:.60} is no name of a rule: use letters, digits, - and _")
        who = f"the rule {name!r} of gbnf"
        found[name] = part if isinstance(part, Grammar) else composed(as_part(part, who))
    return found
