"""What to call a state or a rule of an automaton: one name for each, on every screen and in every sentence.

A part of a schema is called by its JSON pointer, whether a state says so itself (its origin) or only belongs to
a rule that was made for that part; a rule of a grammar text keeps its name.
"""

from __future__ import annotations

import re

from workbench.automaton.network import NOT_BUILT, Automaton

__all__ = ["place", "places", "repeated_entries", "rule_title"]

#: Names of one state; a state that many parts share is called by the first ones.
MOST = 3
#: States that are asked whether the automaton is one of a schema.
ASKED = 64

#: A rule of a schema is named by the pointer of its part, without "#/"; rules of equal names have numbers.
_POINTED = re.compile(
    r"(?:\$defs|definitions|properties|patternProperties|additionalProperties|items|prefixItems|additionalItems"
    r"|unevaluated\w+|dependentSchemas|dependencies|propertyNames|contains|allOf|anyOf|oneOf|not|if|then|else)(?:/|$)"
)
_STEP = " › "
_NUMBER = re.compile(r"~\d{2,}$|~[2-9]$")


def is_of_schema(automaton: Automaton) -> bool:
    """Whether the parts of the automaton have JSON pointers."""
    asked = (automaton.start, *range(min(ASKED, len(automaton.state_origins))))
    return any(
        # in a grammar that others stand in, places of these have their names before them
        origin.pointer is not None and _STEP not in origin.pointer.partition("#")[0]
        for state in asked
        if state < len(automaton.state_origins)
        for origin in automaton.state_origins[state]
    )


def rule_title(automaton: Automaton, rule: str) -> str:
    """The name of a rule: a JSON pointer where it was made for a part of a schema."""
    part, sign, rest = rule.partition(", ")
    part = _NUMBER.sub("", part)
    if (part != "root" and not _POINTED.match(part)) or not is_of_schema(automaton):
        return rule
    return ("#" if part == "root" else f"#/{part}") + sign + rest


def places(automaton: Automaton, state: int, within: tuple[str, ...] = ()) -> tuple[str, ...]:
    """JSON pointers of a state of a schema, ``not …`` where it stands for what is excluded; else rule names.

    ``within`` are the names of the counted part to whose rounds the state belongs, where that is known. Parts that
    look alike share the states of a round, which know only the rule that had them first: it says nothing of the others.
    """
    if 0 <= state < len(automaton.state_origins):
        pointers = [
            f"not {origin.pointer}" if origin.negated else origin.pointer
            for origin in automaton.state_origins[state]
            if origin.pointer is not None
        ]
        if pointers:
            return tuple(dict.fromkeys(pointers))[:MOST]
    if within:
        return within
    if 0 <= state < len(automaton.state_rules):
        rules = automaton.state_rules[state][:MOST]
        return tuple(dict.fromkeys(rule_title(automaton, rule) for rule in rules))
    return ()


def place(automaton: Automaton, state: int) -> str:
    """The first name of a state; empty where it has none."""
    return next(iter(places(automaton, state)), "")


def repeated_entries(automaton: Automaton, target: int) -> tuple[int, ...]:
    """Where the counted parts begin that return to a state: a frame of one more round stays on the stack there."""
    found = []
    for call in (automaton.call_return == target).nonzero()[0].tolist():
        if (loop := int(automaton.call_loop[call])) >= 0:
            entry = int(automaton.entry_state[automaton.loop_entry[loop]])
            if entry != NOT_BUILT:
                found.append(entry)
    return tuple(dict.fromkeys(found))
