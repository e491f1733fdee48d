"""The operators ``&`` and ``~`` of GBNF texts, worked out when all rules are known.

While a text is read each operation stands as a use of a rule whose name no text can have; in the end
the automaton of its language takes that place.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.automaton import regular
from workbench.automaton.linear import NotRegular
from workbench.errors import GrammarSyntaxError, GrammarTooComplex
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import Expr, Graph, Origin, Ref, walk
from workbench.grammar.rewriting import rewrite

__all__ = ["Operations"]


class _Operation(NamedTuple):
    sign: str
    operands: tuple[Expr, ...]
    origin: Origin


class Operations:
    """The operations of one text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.found: dict[str, _Operation] = {}

    def add(self, sign: str, operands: tuple[Expr, ...], origin: Origin) -> Ref:
        """Note an operation; gives what stands for it until ``settle``."""
        name = f"{sign}{len(self.found)}"
        self.found[name] = _Operation(sign, operands, origin)
        return Ref(name, origin=origin)

    def operands(self) -> Iterator[Expr]:
        """The operands of all operations."""
        for operation in self.found.values():
            yield from operation.operands

    def settle(
        self, rules: dict[str, Expr], parts: Mapping[str, Expr] | None = None
    ) -> dict[str, Expr]:
        """Put the result of each operation in its place; ``parts`` are rules that use no operations.

        Raises ``GrammarSyntaxError`` with the position of what is not regular, and ``GrammarTooComplex``.
        """
        if not self.found:
            return rules
        names = list(self.found)
        uses = [self._uses(operation, rules) for operation in self.found.values()]
        numbers = [[names.index(name) for name in some] for some in uses]
        done: dict[str, Expr] = {}
        for component in strongly_connected(len(names), numbers.__getitem__):
            operation = self.found[names[component[0]]]
            if len(component) > 1 or component[0] in numbers[component[0]]:
                raise self._error(
                    f"this use of {operation.sign} comes back to itself through rule "
                    f"{operation.origin.rule!r}, so it is not regular",
                    operation.origin,
                )
            done[names[component[0]]] = self._result(operation, done, rules, parts or {})
        return {
            name: rewrite(expr, lambda part: done.get(part.name) if isinstance(part, Ref) else None)
            for name, expr in rules.items()
        }

    def _uses(self, operation: _Operation, rules: dict[str, Expr]) -> set[str]:
        """The operations that an operation's operands use, through rules too."""
        used: set[str] = set()
        seen: set[str] = set()
        todo = list(operation.operands)
        while todo:
            for part in walk(todo.pop()):
                if isinstance(part, Ref) and part.name not in seen:
                    seen.add(part.name)
                    if part.name in self.found:
                        used.add(part.name)
                    elif part.name in rules:
                        todo.append(rules[part.name])
        return used

    def _result(self, operation: _Operation, *known: Mapping[str, Expr]) -> Graph:
        sign, operands, origin = operation
        # only looked up in: what is first is found first
        rules: ChainMap[str, Expr] = ChainMap(*known)  # type: ignore[arg-type]
        try:
            if sign == "~":
                return regular.complement(operands[0], rules=rules, origin=origin)
            return regular.intersect(*operands, rules=rules, origin=origin)
        except NotRegular as error:
            place = error.part.origin or origin
            if place.start is None:
                place = origin
            raise self._error(
                f"what {sign} in rule {origin.rule!r} applies to has to be regular: {error.reason}",
                place,
            ) from None
        except GrammarTooComplex as error:
            raise error.at(origin.rule or "root") from None

    def _error(self, message: str, origin: Origin) -> GrammarSyntaxError:
        return GrammarSyntaxError(message, text=self.source, start=origin.start, end=origin.end)
