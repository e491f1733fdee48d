"""What a grammar needs and a vocabulary cannot spell, found before anything is generated.

A byte that is in no token is removed from a grammar when it is compiled. A byte that is in tokens, but
no token by itself, is more dangerous: where it comes first in what may follow, a token has to hold it
together with the right neighbours. :func:`unspellable` looks for the places where none does:

- a *dead end*: no token may come, and the text is not complete; it may go on in bytes, or not even that;
- a *point of no return*: tokens may come, but however one goes on the text is never complete.

Whatever the tokens are, the guards of a grammar may let begin what cannot be finished (``record_walks.py``).

It explores what can stand at the borders of tokens, shortest text first. Not every token has to be
tried: one whose bytes are all tokens by themselves leads where these lead one after the other. (Tokens
that the grammar names, of any bytes, are tried one by one and take no part in this.) Where each byte,
or each character that is needed, is a token by itself, there is nothing to look for.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

import numpy as np

from workbench.diagnostics.dead_ends.byte_needs import (
    byte_classes,
    characters_suffice,
    members_of,
    reached,
    without_records,
)
from workbench.diagnostics.dead_ends.record_walks import StuckText, stuck_by_records
from workbench.engine import CompiledGrammar, compile as compile_grammar
from workbench.engine.engine import Engine
from workbench.errors import GrammarTooComplex
from workbench.grammar import ir
from workbench.inputs import need_grammar, need_vocabulary
from workbench.vocabulary import Vocabulary
from workbench.vocabulary.labels import label_bytes
from workbench.wording import byte_quoted, number_of

__all__ = ["Place", "SpellingReport", "unspellable"]

#: Steps before the search stops: bytes and tokens that are tried, and what a configuration costs beside.
DEFAULT_BUDGET = 1_000_000
_CONFIGURATION_STEPS = 15

Kind = Literal["dead end", "no return"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the vocabulary fails the grammar.

    ``text`` is a shortest text that leads there and ``token_ids`` the fewest tokens that spell it (of two
    ways, the one found first). ``possible`` are the bytes that could come next. ``configurations`` counts
    the situations that this stands for: those with the same automaton states and the same bytes.
    """

    kind: Kind
    text: bytes
    token_ids: tuple[int, ...]
    possible: frozenset[int]
    configurations: int = 1

    def __str__(self) -> str:
        after = f"after {_quoted(self.text)}" if self.text else "at the start"
        tokens = " ".join(map(str, self.token_ids))
        where = f"{after} (tokens {tokens})" if tokens else after
        if self.kind == "no return":
            return f"no return: {where} tokens may come, but the text can never be completed"
        if not self.possible:
            return f"dead end: {where} nothing can come: all members that may come have come"
        return (
            f"dead end: {where} only {_bytes_shown(self.possible)} can come, "
            "and no token spells that there"
        )


@dataclass(frozen=True, slots=True)
class SpellingReport:
    """What ``unspellable`` found.

    ``removed`` are the bytes of the grammar that no token contains, ``joined`` those that only stand in
    tokens together with others. ``stopped`` says what ended the search early; it is empty when all that
    can be reached was looked at, and then there are no other dead ends. (Points of no return are only
    known then.) ``proof`` says why nothing had to be looked at, where that is so.
    """

    places: tuple[Place, ...]
    removed: bytes
    joined: bytes
    configurations: int
    steps: int
    stopped: str = ""
    proof: str = ""

    @property
    def complete(self) -> bool:
        """Whether everything that can be reached was looked at."""
        return not self.stopped

    def __str__(self) -> str:
        lines = []
        if self.removed:
            lines.append(f"in no token, so left out: {_bytes_shown(self.removed)}")
        if self.joined:
            lines.append(f"only in tokens with others: {_bytes_shown(self.joined)}")
        for place in self.places:
            more = f" [{place.configurations:,} such]" if place.configurations > 1 else ""
            lines.append(f"{place}{more}")
        if not self.places:
            lines.append("no dead ends" if self.complete else "no dead ends found so far")
        if self.proof and self.complete:
            lines.append(f"complete: {self.proof}")
        elif self.proof:
            lines.append(f"{self.stopped}; {self.proof}")
        else:
            seen = f"{number_of(self.configurations, 'configuration')}, {number_of(self.steps, 'step')}"
            lines.append(f"complete: {seen}" if self.complete else f"{self.stopped}: {seen}")
        return "\n".join(lines)


def unspellable(
    grammar: ir.Grammar | CompiledGrammar,
    vocabulary: Vocabulary | None = None,
    *,
    budget: int = DEFAULT_BUDGET,
) -> SpellingReport:
    """Find the dead ends of a grammar under a vocabulary.

    ``vocabulary`` may be left out for a compiled grammar. The search stops after about ``budget`` steps:
    trying a byte or a token is one, looking at a configuration some more. Raises what compiling raises.
    """
    if not isinstance(grammar, CompiledGrammar):
        need_grammar(grammar, "unspellable")
    if vocabulary is not None:
        need_vocabulary(vocabulary, "unspellable")
    if isinstance(grammar, CompiledGrammar):
        compiled = grammar
        if vocabulary is not None and vocabulary != compiled.vocabulary:
            raise ValueError("the grammar was compiled for another vocabulary")
    elif vocabulary is None:
        raise ValueError("a grammar that is not compiled needs a vocabulary")
    else:
        compiled = compile_grammar(grammar, vocabulary)
    report = _spelled(compiled, budget)
    if not any(isinstance(part, ir.Scope) for part in reached(compiled.spelled)):
        return report
    stuck, stopped = stuck_by_records(compiled, budget)
    return replace(
        report,
        places=(*report.places, *_as_places(stuck, compiled.vocabulary)),
        stopped=report.stopped or stopped,
    )


def _as_places(stuck: Iterable[StuckText], vocabulary: Vocabulary) -> Iterator[Place]:
    """The places that some texts lead to, those that tokens can spell."""
    id_of = ids_by_bytes(vocabulary)
    for one in stuck:
        spelled = fewest_tokens(one.text, id_of, vocabulary.max_token_bytes)
        if spelled is not None:
            kind: Kind = "no return" if one.possible else "dead end"
            yield Place(kind, one.text, spelled, one.possible)


def _spelled(compiled: CompiledGrammar, budget: int) -> SpellingReport:
    """What the tokens cannot spell."""
    vocabulary = compiled.vocabulary
    single = _single_bytes(vocabulary)
    alphabet = byte_classes(compiled.spelled) if len(single) < 256 else []
    used = frozenset(byte for members in alphabet for byte in members_of(members))
    missing = frozenset(vocabulary.missing_bytes)
    removed, joined = bytes(sorted(used & missing)), bytes(sorted(used - missing - single.keys()))
    if not joined:
        # Nothing to find. In whatever configuration the engine is, some text completes the one so far
        # (that is what it keeps alive), with bytes that the automaton has: bytes of the grammar, none of
        # them missing. Each of them is a token by itself, so the first one may come next, and the end of
        # that text can be reached token by token.
        proof = "each byte that the grammar uses is a token by itself"
        return SpellingReport((), removed, joined, 0, 0, proof=proof)
    if characters_suffice(compiled.spelled, vocabulary, used - missing, missing):
        proof = "each part of the grammar can be spelled with tokens of one character"
        return SpellingReport((), removed, joined, 0, 0, proof=proof)
    searched = without_records(compiled) or compiled
    search = _Search(searched, alphabet)
    stopped = search.run(budget)
    places = search.places(complete=not stopped)
    return SpellingReport(
        tuple(place for place in places if searched is compiled or _holds(compiled, place)),
        removed,
        joined,
        search.expanded,
        search.steps,
        stopped,
    )


def _holds(compiled: CompiledGrammar, place: Place) -> bool:
    """Whether a place is reached in a grammar, and its tokens get stuck there."""
    matcher = compiled.matcher(max_rollback=0)
    if matcher.accept_tokens(place.token_ids) < len(place.token_ids):
        return False
    return place.kind == "no return" or not (len(matcher.allowed_ids()) or matcher.is_accepting)


def _single_bytes(vocabulary: Vocabulary, without: frozenset[int] = frozenset()) -> dict[int, int]:
    """Bytes that are a token by themselves, with the least id of such a token."""
    lengths = np.diff(vocabulary.offsets)
    found: dict[int, int] = {}
    for token_id in np.flatnonzero(lengths == 1).tolist():
        if token_id not in without:
            found.setdefault(vocabulary.token_bytes(token_id)[0], token_id)
    return found


class _Positions:
    """Positions of the engine, registered so that they stay valid when it tidies up."""

    __slots__ = ("__weakref__", "positions")

    def __init__(self) -> None:
        self.positions: array[int] = array("q")


@dataclass(slots=True)
class _Node:
    """A configuration that can stand between two tokens, as far as it was looked at."""

    length: int
    parent: int
    token_id: int
    expanded: bool = False
    accepting: bool = False
    #: nodes that a token leads to, with the token
    targets: dict[int, int] = field(default_factory=dict)
    possible: frozenset[int] = frozenset()


#: Bytes up to a node, the node before it (-1 for none), and the token that leads on.
_Way = tuple[int, int, int]


class _Search:
    """Explores configurations, nearest (in bytes) first."""

    def __init__(self, compiled: CompiledGrammar, alphabet: list[int]) -> None:
        self.vocabulary = compiled.vocabulary
        self.engine: Engine = compiled.engine
        self.steps = 0
        self.expanded = 0
        self.nodes: list[_Node] = []
        self.queue: list[tuple[int, int]] = []
        self.kept = _Positions()
        self.engine.sequences.add(self.kept)
        self.number_of: dict[int, int] = {}
        self.epoch = self.engine.epoch
        #: tokens that the grammar names: what they lead to is more than what their bytes do
        self.named = frozenset(i for ids in compiled.automaton.symbols for i in ids)
        self.single = _single_bytes(self.vocabulary, self.named)
        #: one byte of each class that has some that are tokens by themselves; equal bytes lead to equals
        self.apart: list[int] = []
        together: set[int] = set()
        for members in map(members_of, alphabet):
            self.apart += [byte for byte in members if byte in self.single][:1]
            together |= {byte for byte in members if byte not in self.single}
        #: other tokens to try, by their first byte
        self.longer: dict[int, list[int]] = {}
        known: set[bytes] = set()
        for token_id in range(self.vocabulary.size):
            data = self.vocabulary.token_bytes(token_id)
            if token_id not in self.named and data not in known and not together.isdisjoint(data):
                known.add(data)
                self.longer.setdefault(data[0], []).append(token_id)

    def run(self, budget: int) -> str:
        """Explore; says what ended the search, nothing when it came to its end."""
        try:
            self._meet(self.engine.start, 0, -1, -1)
            while self.queue:
                length, number = heapq.heappop(self.queue)
                node = self.nodes[number]
                if node.expanded or node.length != length:
                    continue
                if self.steps >= budget:
                    return f"stopped at the budget of {number_of(budget, 'step')}"
                self._expand(number, node)
        except GrammarTooComplex as error:
            return f"stopped at the engine's budget of {error.limit:,} {error.budget}"
        return ""

    def _position(self, number: int) -> int:
        """A node's position; the numbers of all have changed when the engine has tidied up."""
        if self.epoch != self.engine.epoch:
            self.epoch = self.engine.epoch
            self.number_of = {position: i for i, position in enumerate(self.kept.positions)}
        return self.kept.positions[number]

    def _meet(self, position: int, length: int, parent: int, token_id: int) -> int:
        number = self.number_of.get(position)
        if number is None:
            number = self.number_of[position] = len(self.nodes)
            self.kept.positions.append(position)
            self.nodes.append(_Node(length, parent, token_id))
        elif length >= self.nodes[number].length:
            return number
        else:
            node = self.nodes[number]
            node.length, node.parent, node.token_id = length, parent, token_id
        heapq.heappush(self.queue, (length, number))
        return number

    def _expand(self, number: int, node: _Node) -> None:
        self.steps += _CONFIGURATION_STEPS
        with self.engine.lock:
            position = self._position(number)
            node.accepting = self.engine.accepts(position)
            node.possible = self.engine.live_bytes(position)
            for token_id, target in self._moves(position, node.possible):
                longer = node.length + len(self.vocabulary.token_bytes(token_id))
                node.targets.setdefault(self._meet(target, longer, number, token_id), token_id)
        node.expanded = True
        self.expanded += 1

    def _moves(self, position: int, possible: frozenset[int]) -> Iterator[tuple[int, int]]:
        """Tokens that may come, with the positions after them."""
        one = np.zeros(1, dtype=np.uint8)
        for byte in self.apart:
            if byte in possible:
                self.steps += 1
                one[0] = byte
                yield self.single[byte], self.engine.advance_bytes(position, one, 0, 1)
        longer = (i for byte in sorted(possible) for i in self.longer.get(byte, ()))
        for token_id in chain(longer, sorted(self.named)):
            self.steps += 1
            if self.engine.ends(position, token_id):
                continue
            target = self.engine.advance_token(position, token_id)
            if target >= 0:
                yield token_id, target

    # -- what was found ------------------------------------------------------------------------

    def places(self, *, complete: bool) -> Iterator[Place]:
        """The places, those with the shortest texts first."""
        found: dict[tuple[Kind, tuple[int, ...], frozenset[int]], list[_Way]] = {}
        entered = self._entered(self._finishing()) if complete else {}
        for number, node in enumerate(self.nodes):
            if not node.expanded:
                continue
            if not node.targets and not node.accepting:
                kind: Kind = "dead end"
                way = (node.length, node.parent, node.token_id)
            elif number in entered:
                kind = "no return"
                way = entered[number]
            else:
                continue
            states = self.engine.states(self._position(number))
            found.setdefault((kind, states, node.possible), []).append(way)
        ordered = []
        id_of, longest = ids_by_bytes(self.vocabulary), self.vocabulary.max_token_bytes
        for (kind, _, possible), ways in found.items():
            path = self._path(min(ways))
            text = self.vocabulary.decode(path)
            # each prefix of a text may come, so any way to spell it may
            fewest = None if self.named else fewest_tokens(text, id_of, longest)
            ordered.append(Place(kind, text, fewest or tuple(path), possible, len(ways)))
        yield from sorted(ordered, key=lambda place: (len(place.text), place.text, place.kind))

    def _entered(self, finishing: set[int]) -> dict[int, _Way]:
        """Points of no return, with the way there: no text is completed from them, but from the node before each."""
        found: dict[int, _Way] = {} if 0 in finishing else {0: (0, -1, -1)}
        for number in finishing:
            for target, token_id in self.nodes[number].targets.items():
                if target not in finishing:
                    size = len(self.vocabulary.token_bytes(token_id))
                    way = (self.nodes[number].length + size, number, token_id)
                    found[target] = min(way, found.get(target, way))
        return found

    def _finishing(self) -> set[int]:
        """The nodes from which some way leads to a complete text."""
        into: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            for target in node.targets:
                into[target].append(number)
        found = {number for number, node in enumerate(self.nodes) if node.accepting}
        todo = list(found)
        while todo:
            for source in into[todo.pop()]:
                if source not in found:
                    found.add(source)
                    todo.append(source)
        return found

    def _path(self, way: _Way) -> list[int]:
        """The tokens of a way, back to the start."""
        _, number, token_id = way
        path: list[int] = []
        while number >= 0:
            path.append(token_id)
            number, token_id = self.nodes[number].parent, self.nodes[number].token_id
        return path[::-1]


def ids_by_bytes(vocabulary: Vocabulary) -> dict[bytes, int]:
    """The least id of a token for each byte string that one spells."""
    found: dict[bytes, int] = {}
    for token_id in range(vocabulary.size):
        found.setdefault(vocabulary.token_bytes(token_id), token_id)
    return found


def fewest_tokens(text: bytes, id_of: Mapping[bytes, int], longest: int) -> tuple[int, ...] | None:
    """Spell a text with as few tokens as possible; None where they cannot spell it."""
    counts = [0]
    starts = [0]
    for end in range(1, len(text) + 1):
        ways = [
            (counts[start] + 1, start)
            for start in range(max(0, end - longest), end)
            if text[start:end] in id_of
        ]
        count, start = min(ways, default=(len(text) + 1, 0))
        counts.append(count)
        starts.append(start)
    if counts[-1] > len(text):
        return None
    spelled = []
    end = len(text)
    while end:
        spelled.append(id_of[text[starts[end] : end]])
        end = starts[end]
    return tuple(reversed(spelled))


def _quoted(text: bytes) -> str:
    shown = label_bytes(text if len(text) <= 60 else text[-60:])
    return f"“{shown}”" if len(text) <= 60 else f"“…{shown}”"


def _bytes_shown(values: Iterable[int]) -> str:
    """Bytes as a short list of ranges."""
    ranges: list[list[int]] = []
    for value in sorted(values):
        if ranges and ranges[-1][1] == value - 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    shown = [
        byte_quoted(a) if a == b else f"{byte_quoted(a)}-{byte_quoted(b)}" for a, b in ranges[:6]
    ]
    return ", ".join(shown) + (f" and {len(ranges) - 6} more" if len(ranges) > 6 else "")
