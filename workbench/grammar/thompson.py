"""Thompson's construction (1968): an expression becomes positions with empty edges between its parts.

What a leaf becomes, where positions are kept, and which repeats are counted instead of written out is up to the
subclasses: ``automaton/fragments.py`` makes edges of bytes, ``automaton/subsets.py`` edges of characters,
``grammar/author/states.py`` the states of the author's rules, ``scopes.py`` the places of a scope.
"""

from __future__ import annotations

from workbench.grammar.ir import Alt, Expr, Graph, Origin, Repeat, Seq

__all__ = ["Construction", "Task"]

#: an expression, where it begins and ends, and what it comes from
Task = tuple[Expr, int, int, Origin | None]


class Construction:
    """Connects positions by expressions; iterative, so that depth is no limit.

    No expression adds an edge into the position where it begins or out of the one where it ends: so alternatives
    can share both. ``origin`` is always the place that a part comes from, or else that of what is around it.
    """

    def position(self, origin: Origin | None, n: int = 1) -> int:
        """The first of ``n`` new positions."""
        raise NotImplementedError

    def skip(self, a: int, b: int) -> None:
        """An empty edge."""
        raise NotImplementedError

    def leaf(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """An expression of any other kind than those below. To connect others in its place, push them on ``stack``."""
        raise NotImplementedError

    def counts(self, expr: Repeat, copies: int) -> bool:
        """Whether a repeat is counted; asked before it is written out in so many copies (two or more)."""
        raise NotImplementedError

    def counted(
        self, expr: Repeat, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """A repeat that is counted. To connect other expressions in its place, push them on ``stack``."""
        raise NotImplementedError

    def nothing(self) -> None:
        """Called when a part has no text at all."""

    def connect(self, top: Expr, start: int, end: int, origin: Origin | None = None) -> None:
        """Lead from one position to another by the texts of an expression."""
        stack: list[Task] = [(top, start, end, origin)]
        while stack:
            expr, a, b, around = stack.pop()
            self.part(expr, a, b, expr.origin or around, stack)

    def part(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """One expression; the parts of it go on ``stack``."""
        if isinstance(expr, Seq):
            self.sequence(expr, a, b, origin, stack)
        elif isinstance(expr, Alt):
            self.alternatives(expr, a, b, origin, stack)
        elif isinstance(expr, Repeat):
            self.repeat(expr, a, b, origin, stack)
        elif isinstance(expr, Graph):
            self.graph(expr, a, b, origin, stack)
        else:
            self.leaf(expr, a, b, origin, stack)

    def sequence(self, expr: Seq, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """One after the other."""
        items = expr.items
        last = len(items) - 1
        if last < 0:
            self.skip(a, b)
            return
        stops = self.position(origin, last) if last else 0
        # pushed last to first, so that positions come in the order of the text
        for i in range(last, -1, -1):
            before = stops + i - 1 if i else a
            after = stops + i if i < last else b
            stack.append((items[i], before, after, origin))

    def alternatives(
        self, expr: Alt, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """Any one of them."""
        stack += [(item, a, b, origin) for item in reversed(expr.items)]
        if not expr.items:
            self.nothing()

    def graph(self, expr: Graph, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """A finite automaton; what is behind no final state is left out."""
        first = self.position(origin, expr.n_states)
        self.skip(a, first + expr.start)
        finals = set(expr.finals)
        into: dict[int, list[int]] = {}
        for source, _, target in expr.edges:
            into.setdefault(target, []).append(source)
        leaving = set().union(*into.values())
        useful = set(finals)
        todo = list(finals)
        while todo:
            for source in into.get(todo.pop(), ()):
                if source not in useful:
                    useful.add(source)
                    todo.append(source)
        if expr.start not in useful:
            self.nothing()
        for final in expr.finals:
            self.skip(first + final, b)
        for source, label, target in expr.edges:
            if target in useful:
                to = b if target in finals and target not in leaving else first + target
                stack.append((label, first + source, to, origin))

    def repeat(
        self, expr: Repeat, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """So many times."""
        item, least, most = expr.item, expr.min, expr.max
        if most is not None and least > most:
            self.nothing()
            return
        if most == 0:
            self.skip(a, b)
            return
        if most == 1:
            if least == 0:
                self.skip(a, b)
            stack.append((item, a, b, origin))
            return
        copies = least if most is None else most
        if copies > 1 and self.counts(expr, copies):
            self.counted(expr, a, b, origin, stack)
            return
        here = begin = self.position(origin)
        self.skip(a, here)
        for _ in range(least):
            there = self.position(origin)
            stack.append((item, here, there, origin))
            begin, here = here, there
        if most is not None:
            for _ in range(most - least):
                there = self.position(origin)
                stack.append((item, here, there, origin))
                self.skip(here, b)
                here = there
        elif least:
            self.skip(here, begin)
        else:
            stack.append((item, here, here, origin))
        self.skip(here, b)
