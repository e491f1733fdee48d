"""Rules that are written when they are first used.

A large schema has thousands of rules of which one text meets a few dozen; a front end hands over a
:class:`LazyRules` and writes a rule's expression when the engine first reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from workbench.forks import Level, fork_lock
from workbench.grammar.ir import Expr, Ref, walk

__all__ = ["LazyRules", "SharedRules", "captured", "viewed", "written_ahead"]


class SharedRules:
    """Rules that many grammars have under the same names, and as the same objects; they use no others.

    They promise what :class:`LazyRules` promise. What an automaton has of them is made once (``automaton/seeds.py``);
    two of these are equal only if they are the same.
    """

    __slots__ = ("__weakref__", "rules")

    def __init__(self, rules: Mapping[str, Expr]) -> None:
        self.rules = rules


class LazyRules(Mapping[str, Expr]):
    """Rules by name, each made by ``emit(name)`` on first use; safe to use from many threads.

    The front end promises what an analysis of all rules would establish for other grammars: every rule
    has a text that printable ASCII can spell, none names tokens, none accepts the empty text, none can reach
    its own use without consuming a byte, and ``emit`` knows every name that an emitted rule refers to. ``emit``
    raises ``KeyError`` for other names. Iterating writes every rule that ``start`` leads to.

    ``key`` stands for all that the rules are made of (see ``fingerprint.content_key``): the same key, start
    and kind of grammar promise the same rules, origins and outcomes. None promises nothing.

    ``written`` are rules that are there already and promise nothing: those among which others are embedded.
    ``captures`` are rules whose texts are told apart in what was read, each with the name that it has there.
    ``shared`` are those of the rules that other grammars have as well.
    """

    written: Mapping[str, Expr] = MappingProxyType({})
    captures: Mapping[str, str] = MappingProxyType({})
    shared: SharedRules | None = None

    def __init__(self, emit: Callable[[str], Expr], start: str, key: str | None = None) -> None:
        self._emit = emit
        self._start = start
        self.key = key
        self._lock = fork_lock(Level.RULES)
        self.emitted: dict[str, Expr] = {}

    def may_come_early(self, name: str) -> bool:
        """Whether a rule is worth building before a text gets to it; not where texts use few of them."""
        return True

    def __getitem__(self, name: str) -> Expr:
        found = self.emitted.get(name)
        if found is None:
            with self._lock:
                found = self.emitted.get(name)
                if found is None:
                    found = self.emitted[name] = self._emit(name)
        return found

    def __contains__(self, name: object) -> bool:
        if name in self.emitted:
            return True
        try:
            self[name]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def all(self) -> dict[str, Expr]:
        """Every rule that the start leads to, in the order in which it leads there."""
        order = {self._start: self[self._start]}
        todo = [self._start]
        for name in todo:
            for part in walk(order[name]):
                if isinstance(part, Ref) and part.name not in order:
                    order[part.name] = self[part.name]
                    todo.append(part.name)
        return order

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())


class _View(LazyRules):
    """Rules of which those that were there already may have been written anew."""

    def __init__(
        self, rules: LazyRules, start: str, written: Mapping[str, Expr], key: str | None
    ) -> None:
        super().__init__(rules.__getitem__, start, key)
        self.written = written
        self.emitted.update(written)
        self.captures = rules.captures
        self.shared = rules.shared
        self._viewed = rules
        #: the grammars that stand in them
        self.parts = getattr(rules, "parts", {})

    def may_come_early(self, name: str) -> bool:
        """As in the rules that are viewed."""
        return self._viewed.may_come_early(name)


def viewed(
    rules: Mapping[str, Expr], start: str, written: Mapping[str, Expr] | None = None
) -> Mapping[str, Expr]:
    """Rules as an object of their own; ``written`` stands for those that are there already."""
    if not isinstance(rules, LazyRules):
        return dict(rules if written is None else written)
    if written is None:
        return _View(rules, start, rules.written, rules.key)
    return _View(rules, start, MappingProxyType(dict(written)), None)


def written_ahead(rules: Mapping[str, Expr]) -> Mapping[str, Expr]:
    """The rules that are there already and promise nothing: all but those that are written on demand."""
    return rules.written if isinstance(rules, LazyRules) else rules


def captured(rules: Mapping[str, Expr]) -> Mapping[str, str]:
    """The rules whose texts are captured, each with its name there."""
    return rules.captures if isinstance(rules, LazyRules) else {}
