"""Templates of statements: what comes one after the other, before it is known which tables are meant.

The same templates are read in two ways (``writer``): where the tables are known, a template becomes a rule; in front
of a FROM clause it is followed step by step, and each step knows what the text so far asks of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from workbench.frontends.sql.lexis import Lexis
from workbench.grammar.expressions import Alt, Expr, Seq

__all__ = ["Alternatives", "Call", "Fixed", "Many", "Node", "Step", "Templates", "Together"]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part of a template; ``number`` tells it apart in the names of rules."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Fixed(Node):
    """A text that does not depend on tables; never empty."""

    expr: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Together(Node):
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives(Node):
    """Any one of them."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Many(Node):
    """A part any number of times; ``once``: at most once."""

    item: Node
    once: bool


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """Another template by name; ``inside`` brackets, where followed steps may end and a rule be used."""

    name: str
    inside: bool


@dataclass(frozen=True, slots=True, eq=False)
class Step(Node):
    """Something that depends on the tables: a method of the writer, and its arguments."""

    name: str
    arguments: tuple[Any, ...]


#: What a template is made of: nodes, expressions, words.
Part = Node | Expr | str


class Templates:
    """The templates of one grammar, by name; parts are made by methods and numbered in the order of making."""

    def __init__(self, lexis: Lexis) -> None:
        self.lexis = lexis
        self.nodes: list[Node] = []
        self._bodies: dict[str, Node] = {}
        self._fixed: dict[str, Node] = {}
        self._steps: dict[Any, Node] = {}

    def _add(self, kind: Callable[..., Node], *arguments: Any) -> Node:
        node = kind(len(self.nodes), *arguments)
        self.nodes.append(node)
        return node

    def define(self, name: str, body: Node) -> None:
        """Say what a name stands for."""
        self._bodies[name] = body

    def body(self, name: str) -> Node:
        """What a name stands for."""
        return self._bodies[name]

    def fixed(self, expr: Expr) -> Node:
        """A text."""
        return self._add(Fixed, expr)

    def part(self, part: Part) -> Node:
        """A node; a text stands for words (``Lexis.text``)."""
        if isinstance(part, Node):
            return part
        if isinstance(part, Expr):
            return self.fixed(part)
        known = self._fixed.get(part)
        if known is None:
            known = self._fixed[part] = self.fixed(self.lexis.text(part))
        return known

    def seq(self, *parts: Part) -> Node:
        """One after the other."""
        items: list[Node] = []
        for part in map(self.part, parts):
            inner = part.items if isinstance(part, Together) else (part,)
            for one in inner:
                if items and isinstance(one, Fixed) and isinstance(items[-1], Fixed):
                    items[-1] = self.fixed(Seq((items[-1].expr, one.expr)))
                else:
                    items.append(one)
        return items[0] if len(items) == 1 else self._add(Together, tuple(items))

    def alt(self, *parts: Part) -> Node:
        """Any one of them."""
        nodes = list(map(self.part, parts))
        texts = [one.expr for one in nodes if isinstance(one, Fixed)]
        if len(texts) > 1:
            nodes = [one for one in nodes if not isinstance(one, Fixed)]
            nodes.append(self.fixed(self.lexis.shared(Alt(tuple(texts)))))
        return nodes[0] if len(nodes) == 1 else self._add(Alternatives, tuple(nodes))

    def opt(self, *parts: Part) -> Node:
        """It, or nothing."""
        return self._add(Many, self.seq(*parts), True)

    def star(self, *parts: Part) -> Node:
        """Any number of times."""
        return self._add(Many, self.seq(*parts), False)

    def plus(self, *parts: Part) -> Node:
        """Once and more."""
        item = self.seq(*parts)
        return self.seq(item, self.star(item))

    def call(self, name: str, *, inside: bool = False) -> Node:
        """What a name stands for; looked up when it is read."""
        return self._step(("call", name, inside), Call, name, inside)

    def step(self, name: str, *arguments: Any) -> Node:
        """What depends on the tables."""
        return self._step((name, *arguments), Step, name, arguments)

    def _step(self, key: Any, kind: Callable[..., Node], *arguments: Any) -> Node:
        known = self._steps.get(key)
        if known is None:
            known = self._steps[key] = self._add(kind, *arguments)
        return known

    def listed(self, item: Part, separator: Part = "~ , ~") -> Node:
        """One and more, with something between them."""
        return self.seq(item, self.star(separator, item))

    def any_of(self, parts: Iterable[Part]) -> Node:
        """Any one of some."""
        return self.alt(*parts)
