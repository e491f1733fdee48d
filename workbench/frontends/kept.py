"""Grammars that front ends have read, by what they were read from: the same again costs a look-up.

A key is the text, or the content, of all that a front end was given; what cannot be told by content is read afresh.
What comes back shares only what never changes: rules and source are everyone's own.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import Any

from workbench.automaton.budgets import Budgets
from workbench.content_cache import ContentCache
from workbench.grammar.ir import Grammar
from workbench.grammar.lazy import LazyRules

__all__ = ["KEPT", "content", "copied", "kept", "limits_of", "written"]

#: Characters of a content, about; what is longer is no key.
_LONGEST = 2_000_000
_SCALARS = frozenset([bool, float, type(None), bytes])
#: of these all that is equal means the same
_SIMPLE = frozenset([bool, type(None), str, int])

#: The values of budgets, for a key.
limits_of: Callable[[Budgets], tuple[int, ...]] = attrgetter(
    *(field.name for field in fields(Budgets))
)


def content(value: Any, *, tuples: bool = False) -> str | None:
    """What two values of plain Python share only if they are the same: types and the order of keys included.

    None for what holds anything but the plain types (``1``, ``1.0`` and ``True`` are three values), and for what
    is very large. Tuples are plain where ``tuples`` says so.

    >>> content({"a": [1, None]}) == content({"a": [1, None]}) != content({"a": [1.0, None]})
    True
    """
    left = _LONGEST
    todo = [value]
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind is str:
            left -= len(one)
        elif kind is dict:
            left -= 4 * len(one)
            if left < 0:
                return None
            for key in one:
                if type(key) is not str:
                    return None
                left -= len(key)
            todo.extend(one.values())
        elif kind is list or (tuples and kind is tuple):
            left -= 4 * len(one)
            if left < 0:
                return None
            todo.extend(one)
        elif kind is int:
            left -= one.bit_length() >> 1
        elif kind is Decimal:
            left -= len(str(one))
        elif kind not in _SCALARS:
            return None
        elif kind is bytes:
            left -= len(one)
        if left < 0:
            return None
    try:
        return repr(value)
    except (RecursionError, ValueError):  # nested too deeply; an integer of very many digits
        return None


def copied(value: Any) -> Any:
    """Plain values again, with dictionaries and lists of their own; shared ones are shared in the copy, too."""
    made: dict[int, Any] = {}
    todo: list[tuple[Any, Any]] = []

    def of(one: Any) -> Any:
        kind = type(one)
        if kind is not dict and kind is not list:
            return one
        new = made.get(id(one))
        if new is None:
            new = made[id(one)] = kind()
            todo.append((one, new))
        return new

    copy = of(value)
    while todo:
        one, new = todo.pop()
        if type(one) is dict:
            for key, part in one.items():
                new[key] = of(part)
        else:
            new += [of(part) for part in one]
    return copy


@dataclass(frozen=True, slots=True)
class _Kept:
    grammar: Grammar
    #: characters of the text or content
    length: int

    def own(self) -> Grammar:
        """The grammar with rules and a source of its own; one that could be changed is copied when it is asked for."""
        grammar = self.grammar
        rules, source = grammar.rules, grammar.source
        one = object.__new__(Grammar)
        put = object.__setattr__  # its rules were checked when it was made
        put(one, "rules", rules if isinstance(rules, LazyRules) else dict(rules))
        put(one, "start", grammar.start)
        put(one, "kind", grammar.kind)
        if isinstance(source, dict):
            put(one, "_read_source", partial(copied, source))
        else:
            put(one, "source", source)
            put(one, "_read_source", None)
        put(one, "outcomes", grammar.outcomes)
        return one


def written(value: Any) -> bytes | None:
    """Plain values, written at once, whatever other threads do with them; None for what is nested too deeply."""
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        return None


def kept(
    front_end: str, given: str | bytes | None, options: Sequence[Any], make: Callable[[], Grammar]
) -> Grammar:
    """The grammar that a front end makes of what it was given and of its options, made if it is not there.

    ``front_end`` says also whether ``given`` is a text or a content; None is what has none. The grammar's source is
    a copy of the one that ``make`` gives it. What ``make`` raises is not kept: it is raised each time anew.
    """
    chosen = None if given is None or len(given) > _LONGEST else _exactly(options)
    if given is None or chosen is None:
        return _Kept(make(), 0).own()
    key: Hashable = front_end, type(given), given, chosen
    return KEPT.get(key, lambda: _Kept(make(), len(given))).own()


def _exactly(options: Sequence[Any]) -> Hashable | None:
    """As :func:`content`, quickly where there are scalars alone: what is equal is the same if its type is."""
    kinds = tuple(map(type, options))
    return (tuple(options), kinds) if _SIMPLE.issuperset(kinds) else content(options, tuples=True)


#: Bytes of a grammar, as measured: of any, by the characters of its text or content, by rules written on demand
_BYTES, _BYTES_A_CHARACTER, _BYTES_A_WRITTEN_RULE = 40_000, 200, 2_500


def _size(one: _Kept) -> int:
    """Bytes that a grammar takes, about: more as more of its rules are written."""
    rules = one.grammar.rules
    if isinstance(rules, LazyRules):
        return (
            _BYTES
            + _BYTES_A_CHARACTER // 6 * one.length
            + _BYTES_A_WRITTEN_RULE * len(rules.emitted)
        )
    return _BYTES + _BYTES_A_CHARACTER * one.length


KEPT: ContentCache[_Kept] = ContentCache(
    int(os.environ.get("WORKBENCH_READ_GRAMMARS", "128")), 1 << 27, _size
)
