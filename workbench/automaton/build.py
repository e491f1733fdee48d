"""Grammar -> Automaton.

The steps: positions (``nfa.py``), states (``determinise.py``), arrays (here); for grammars whose rules are
written on demand, ``direct.py`` instead. Bytes that no token of the
vocabulary contains are passed in as ``missing`` and removed before anything else, so that "can be
completed" means: completed with this vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets
from workbench.automaton.determinise import Machine, determinise
from workbench.automaton.direct import direct_automaton
from workbench.automaton.model import Automaton
from workbench.automaton.nfa import Nfa, build_nfa, strongly_connected
from workbench.automaton.promises import is_large, keeps_promise
from workbench.errors import UnsatisfiableGrammar, VocabularyError
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Origin,
    OtherText,
    Ref,
    Scope,
    Token,
    walk,
)
from workbench.grammar.lazy import LazyRules
from workbench.wording import byte_quoted

__all__ = ["build_automaton"]

_MAX_ORIGINS = 16
_PRINTABLE = frozenset(range(0x20, 0x7F))
_MAX_COUNT = 2**30
_QUOTE = ord('"')


def build_automaton(
    grammar: Grammar,
    missing: frozenset[int] = frozenset(),
    budgets: Budgets | None = None,
    tokens: Mapping[Token, frozenset[int]] | None = None,
) -> Automaton:
    """Compile a grammar to its automaton.

    ``missing`` are the bytes that no token contains, ``tokens`` the ids behind each token terminal.

    Raises ``UnsatisfiableGrammar`` when no text at all can complete, ``GrammarTooComplex`` when a
    budget is used up, ``VocabularyError`` when texts may come once and printable ASCII is missing.
    """
    budgets = budgets or Budgets()
    if isinstance(grammar.rules, LazyRules):
        if missing.isdisjoint(_PRINTABLE):
            return direct_automaton(grammar, missing, budgets)
        grammar = replace(grammar, rules=_without_fresh(grammar.rules.all(), missing))
    elif not tokens and is_large(grammar) and keeps_promise(grammar, missing):
        return direct_automaton(grammar, missing, budgets)
    symbols, terminals = _symbols(tokens or {})
    nfa, root = build_nfa(grammar, missing, budgets, terminals)
    if not nfa.units[root].productive:
        raise _explain_empty(grammar, nfa, missing, terminals)
    return replace(_arrays(determinise(nfa, root, budgets), nfa), symbols=symbols)


def _without_fresh(rules: dict[str, Expr], missing: frozenset[int]) -> dict[str, Expr]:
    """The rules, if none speaks of texts that come once: automata that are built ahead keep no texts."""
    for expr in rules.values():
        if any(map(_keeps, walk(expr))):
            if _QUOTE in missing:
                raise VocabularyError(
                    """no token has the byte '"' (0x22), between two of which names and strings of JSON stand: """
                    "no object with a member can be written. Use a tokenizer that has it"
                )
            lacking = ", ".join(byte_quoted(byte) for byte in sorted(missing & _PRINTABLE)[:8])
            raise VocabularyError(
                f"no token contains {lacking}: texts that may come once (names of objects, unique items) "
                "need all of printable ASCII. Pass unique_keys=False to json_schema, or add tokens"
            )
    return rules


def _keeps(part: Expr) -> bool:
    """Whether texts or values that came matter for a part."""
    if isinstance(part, OtherText):
        return part.fresh or bool(part.role)
    return isinstance(part, Scope) and part.gather is not None


def _symbols(
    tokens: Mapping[Token, frozenset[int]],
) -> tuple[tuple[tuple[int, ...], ...], dict[Token, tuple[int, ...]]]:
    """Cut sets of token ids into disjoint ones, a symbol each: the ids of each, the symbols of a token."""
    within: dict[int, list[int]] = {}
    for number, ids in enumerate(tokens.values()):
        for token_id in ids:
            within.setdefault(token_id, []).append(number)
    parts: dict[tuple[int, ...], list[int]] = {}
    for token_id in sorted(within):
        parts.setdefault(tuple(within[token_id]), []).append(token_id)
    terminals = {
        token: tuple(256 + i for i, among in enumerate(parts) if number in among)
        for number, token in enumerate(tokens)
    }
    return tuple(tuple(ids) for ids in parts.values()), terminals


def _explain_empty(
    grammar: Grammar,
    nfa: Nfa,
    missing: frozenset[int],
    terminals: Mapping[Token, tuple[int, ...]],
) -> UnsatisfiableGrammar:
    """Name the smallest part that keeps the grammar from completing."""
    names = list(grammar.rules)
    number = {name: i for i, name in enumerate(names)}
    dead = _dead_rules(grammar, missing, terminals)

    def dead_uses(i: int) -> list[int]:
        parts = walk(grammar.rules[names[i]])
        return [number[p.name] for p in parts if isinstance(p, Ref) and p.name in dead]

    reached = {number[grammar.start]}
    order = list(reached)
    for i in order:
        for target in dead_uses(i):
            if target not in reached:
                reached.add(target)
                order.append(target)
    for component in strongly_connected(len(names), dead_uses):
        if component[0] not in reached or names[component[0]] not in dead:
            continue
        culprit = names[min(component)]
        expr = grammar.rules[culprit]
        pointer = expr.origin.pointer if expr.origin else None
        part = f"rule {culprit!r}" if pointer is None else f"{pointer or '#'}"
        if len(component) > 1 or component[0] in dead_uses(component[0]):
            also = [repr(names[i]) for i in component if names[i] != culprit][:3]
            through = f" (through {', '.join(also)})" if also else ""
            return UnsatisfiableGrammar(
                part, f"every alternative uses the rule itself{through}, so it never ends"
            )
        for leaf in walk(expr):
            if (isinstance(leaf, CharSet) and not leaf.ranges) or leaf == ByteSet(0):
                return UnsatisfiableGrammar(part, "a character class in it is empty")
        whole, alone = build_nfa(replace(grammar, start=culprit), frozenset(), Budgets(), terminals)
        if missing and whole.units[alone].productive:
            return UnsatisfiableGrammar(part, _lacking(expr, missing))
        return UnsatisfiableGrammar(part, "its language is empty")
    return UnsatisfiableGrammar(f"rule {grammar.start!r}", "its language is empty")


def _lacking(expr: Expr, missing: frozenset[int]) -> str:
    """Which of the missing bytes keep an expression from completing, as far as it spells them itself."""
    spelled = {byte for leaf in walk(expr) for byte in _bytes_of(leaf)}
    wanted = sorted(spelled & missing) or sorted(missing)
    shown = ", ".join(
        f"{chr(byte)!r} (0x{byte:02X})" if 0x21 <= byte < 0x7F else f"0x{byte:02X}"
        for byte in wanted[:8]
    )
    more = f" and {len(wanted) - 8} more" if len(wanted) > 8 else ""
    if len(wanted) == 1:
        return f"no token has the byte {shown}, which it needs"
    return f"no token has the bytes {shown}{more}, some of which it needs"


def _bytes_of(leaf: Expr) -> Iterable[int]:
    if isinstance(leaf, Literal):
        return leaf.data
    if isinstance(leaf, ByteSet):
        return [byte for byte in range(256) if leaf.mask >> byte & 1]
    if isinstance(leaf, CharSet):
        return [byte for low, high in leaf.ranges for byte in range(low, min(high, 0x7F) + 1)]
    return ()


def _dead_rules(
    grammar: Grammar, missing: frozenset[int], terminals: Mapping[Token, tuple[int, ...]]
) -> set[str]:
    """Rules whose language is empty, each judged as a start rule of its own."""
    probe = Budgets(inlining=-1, expansion=0)
    rules = dict(grammar.rules)
    top = "\0all"
    while top in rules:
        top += "\0"
    everything = Grammar({**rules, top: Alt(tuple(Ref(name) for name in rules))}, top)
    nfa, _ = build_nfa(everything, missing, probe, terminals)
    alive = {unit.name for unit in nfa.units if unit.productive and not unit.body}
    return set(rules) - alive


def _arrays(machine: Machine, nfa: Nfa) -> Automaton:
    n = len(machine.final)
    byte_edges = [edge for edges in machine.byte for edge in edges]
    calls = [call for some in machine.call for call in some]
    edges = np.array(byte_edges, dtype=np.int32).reshape(-1, 3)
    call_array = np.array(calls, dtype=np.int32).reshape(-1, 3)
    loop_min, loop_max, loop_entry, call_loop = _used_loops(machine, call_array)
    rules, origins = _provenance(machine, nfa)
    reach = [_iteration(machine, entry) for entry in loop_entry.tolist()]
    return Automaton(
        n_states=n,
        start=machine.start,
        final=np.array(machine.final, dtype=np.bool_),
        edge_start=_offsets([len(some) for some in machine.byte]),
        edge_lo=np.ascontiguousarray(edges[:, 0]),
        edge_hi=np.ascontiguousarray(edges[:, 1]),
        edge_target=np.ascontiguousarray(edges[:, 2]),
        call_start=_offsets([len(some) for some in machine.call]),
        call_entry=np.ascontiguousarray(call_array[:, 0]),
        call_return=np.ascontiguousarray(call_array[:, 2]),
        call_loop=call_loop,
        entry_state=np.array(machine.entry_state, dtype=np.int32),
        entry_names=tuple(nfa.units[unit].name for unit in machine.entry_unit),
        loop_entry=loop_entry,
        loop_min=loop_min,
        loop_max=loop_max,
        state_rules=rules,
        state_origins=origins,
        loop_least=tuple(least for least, _ in reach),
        loop_alphabet=tuple(alphabet for _, alphabet in reach),
    )


def _offsets(lengths: list[int]) -> NDArray[np.int32]:
    return np.array([0, *accumulate(lengths)], dtype=np.int32)


def _used_loops(
    machine: Machine, calls: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Number the loops that are still called; a loop is a body entry with its bounds."""
    numbers: dict[tuple[int, int], int] = {}
    call_loop = np.full(len(calls), -1, dtype=np.int32)
    least: list[int] = []
    most: list[int] = []
    entries: list[int] = []
    for i, (entry, loop, _) in enumerate(calls.tolist()):
        if loop < 0:
            continue
        key = (entry, loop)
        if key not in numbers:
            numbers[key] = len(least)
            _, low, high = machine.loops[loop]
            least.append(min(low, _MAX_COUNT))
            most.append(-1 if high < 0 or high > _MAX_COUNT else high)
            entries.append(entry)
        call_loop[i] = numbers[key]
    return (
        np.array(least, dtype=np.int32),
        np.array(most, dtype=np.int32),
        np.array(entries, dtype=np.int32),
        call_loop,
    )


def _iteration(machine: Machine, entry: int) -> tuple[int, int]:
    """Bytes that one pass through an entry takes at least (a bound), and the bytes that may come in it."""
    start = machine.entry_state[entry]
    alphabet = 0
    depth = {start: 0}
    order = [start]
    least = 0
    for state in order:
        if machine.final[state] and not least:
            least = depth[state]
        for low, high, target in machine.byte[state]:
            alphabet |= (1 << (high + 1)) - (1 << low)
            if target not in depth:
                depth[target] = depth[state] + 1
                order.append(target)
        for callee, _, after in machine.call[state]:
            # a call takes one byte at least; states inside it are looked at for their bytes
            for target in (after, machine.entry_state[callee]):
                if target not in depth:
                    depth[target] = depth[state] + 1
                    order.append(target)
    return max(1, least), alphabet


def _provenance(
    machine: Machine, nfa: Nfa
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[Origin, ...], ...]]:
    shared: dict[frozenset[int], tuple[tuple[str, ...], tuple[Origin, ...]]] = {}
    rules: list[tuple[str, ...]] = []
    origins: list[tuple[Origin, ...]] = []
    for positions in machine.positions:
        if positions not in shared:
            names = dict.fromkeys(nfa.rule_names[nfa.rule[p]] for p in sorted(positions))
            places = dict.fromkeys(nfa.origin[p] for p in sorted(positions))
            known = tuple(place for place in places if place is not None)
            shared[positions] = (tuple(names), known[:_MAX_ORIGINS])
        rules.append(shared[positions][0])
        origins.append(shared[positions][1])
    return tuple(rules), tuple(origins)
