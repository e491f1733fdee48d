"""What has come in a scope, as far as least tokens depend on it: a frame's number in ``token_network.py``."""

from __future__ import annotations

from typing import NamedTuple

from workbench.automaton.network import Automaton

__all__ = ["ScopeStates"]


class _Came(NamedTuple):
    """Of a scope the required members that have come, as bits, and how many members in all, as far as that matters."""

    scope: int
    required: int
    members: int


class ScopeStates:
    """Numbers for what has come, and guards on it.

    Members that may come or not are not told apart, names and values not at all: what lets one of them pass is in
    doubt.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._guards, self._scopes = automaton.guards, automaton.scopes
        self._numbers: dict[_Came, int] = {}
        self._states: list[_Came] = []

    def number(self, scope: int, members: int = 0, count: int = 0) -> int:
        """The number for a scope of which some members, as bits, and so many in all have come."""
        spec = self._scopes[scope]
        if spec.most < 0:
            count = min(count, spec.least)
        came = _Came(scope, members & spec.required, count)
        number = self._numbers.get(came)
        if number is None:
            number = self._numbers[came] = len(self._states)
            self._states.append(came)
        return number

    def behind(self, number: int, guard: int) -> tuple[int, int] | None:
        """The number behind a guard and whether that is in doubt; None where it does not let pass."""
        scope, came, count = self._states[number]
        spec, (kind, among, others, _) = self._scopes[scope], self._guards[guard]
        missing = spec.required & ~came
        free = spec.most < 0 or count + missing.bit_count() < spec.most
        if kind == "end":
            return (number, 0) if not missing and count >= spec.least else None
        if kind == "may":
            if missing & among:
                return number, 0
            return (number, int(not others)) if free and (others or among & ~came) else None
        if kind not in ("take", "other"):
            return number, 1
        if kind == "take" and among & spec.required:
            if among & came:
                return None
            return self.number(scope, came | among, count + 1), int(spec.gather is not None)
        return (
            (self.number(scope, came, count + 1), int(kind == "take" or spec.gather is not None))
            if free
            else None
        )
