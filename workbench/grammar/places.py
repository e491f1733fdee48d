"""Places in grammars that stand in others: a path of names, then the place by itself.

The part ``#/properties/id`` of a schema that stands under the name ``args`` is ``args › #/properties/id``; the rule
``item`` of a text that stands under ``list`` is ``list › item``.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.grammar.ir import Grammar, Origin

__all__ = ["home", "named_parts", "step_into", "within"]

_STEP = " › "


def within(name: str, place: Origin, start: str = "") -> Origin:
    """A place of the grammar that stands under a name, as one of the grammar around it.

    The ``start`` of that grammar has its name.
    """
    pointer, rule = place.pointer, place.rule
    if rule is not None:
        if pointer is None and rule != start:
            pointer = rule
        rule = name if rule == start else f"{name}.{rule}"
    pointer = name if pointer is None else f"{name}{_STEP}{pointer}"
    return Origin(pointer, place.start, place.end, rule, place.negated)


def step_into(name: str) -> str:
    """What stands before the places of the grammar that stands under a name."""
    return f"{name}{_STEP}"


def named_parts(grammar: Grammar) -> Mapping[str, Grammar]:
    """The grammars that stand in a grammar, by name; none where that is not known."""
    found: Mapping[str, Grammar] = getattr(grammar.rules, "parts", {})
    return found


def home(grammar: Grammar, place: Origin) -> tuple[Grammar, Origin]:
    """The grammar in whose source a place is written, and the place in it."""
    while (parts := named_parts(grammar)) and place.pointer is not None:
        name, step, rest = place.pointer.partition(_STEP)
        if name not in parts:
            break
        grammar = parts[name]
        # what is written as text is found by its characters
        pointed = bool(step) and (rest.partition(_STEP)[0] in named_parts(grammar) or _points(rest))
        place = Origin(rest if pointed else None, place.start, place.end, None, place.negated)
    return grammar, place


def _points(place: str) -> bool:
    """Whether a place by itself is a JSON pointer, not the name of a rule."""
    return "#" in place
