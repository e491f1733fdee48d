"""The set of allowed tokens at one position: what the token explorer asks for.

The page gets the whole vocabulary once and, per position, the mask and the probabilities as binary
data; it groups, searches and sorts by itself. Here is what it cannot know: which rule reads a token's first
byte, and after which tokens the text may end. :func:`groups_of` makes the same groups for the static view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.naming import places, repeated_entries
from workbench.automaton.network import JUMP, NOT_BUILT, Automaton
from workbench.wording import joined

if TYPE_CHECKING:
    from workbench.automaton.frames import Stack
    from workbench.decoding import Decoder
    from workbench.engine import Matcher
    from workbench.vocabulary import Vocabulary

__all__ = ["Group", "endings", "first_rules", "groups_of", "mask_at", "vocabulary_table"]

#: Frames and states that the search for the rule of a first byte looks at.
REACH = 4096
#: Tokens listed per group of the static view.
SAMPLES = 10
#: Allowed tokens that are tried one after the other for endings.
TRIED = 20_000


@dataclass(frozen=True, slots=True)
class Group:
    """Allowed tokens with something in common; ``mass`` is their share after the mask."""

    name: str
    count: int
    mass: float
    samples: tuple[int, ...]


def vocabulary_table(vocabulary: Vocabulary) -> tuple[dict[str, Any], list[bytes]]:
    """The whole vocabulary: names of special tokens, and two buffers, all bytes and int32 offsets."""
    data = [vocabulary.token_bytes(i) for i in range(vocabulary.size)]
    special = {str(i): vocabulary.special_name(i) for i in sorted(vocabulary.special_ids)}
    for i, spelled in enumerate(data):
        if not spelled and str(i) not in special:
            special[str(i)] = vocabulary.label(i)
    offsets = np.zeros(len(data) + 1, dtype="<i4")
    np.cumsum([len(spelled) for spelled in data], out=offsets[1:])
    return {"size": vocabulary.size, "special": special}, [b"".join(data), offsets.tobytes()]


def first_rules(automaton: Automaton, stacks: Sequence[Stack]) -> dict[int, str]:
    """The author's rule that reads each first byte, as far as the recorded stacks tell.

    A byte is read in the rule of the state that it leads to. Counters are not looked at, so that a byte may be
    named that no token may begin with just now. Several rules are joined by " | ".
    """
    found: dict[int, set[str]] = {}
    for frames in stacks:
        first = _Step(frames[0].state, 0, _within(automaton, frames, 0)) if frames else None
        todo = [first] if first else []
        seen = set(todo)
        while todo and len(seen) < REACH:
            step = todo.pop()
            if not 0 <= step.state < automaton.n_states:
                continue
            for edge in range(*automaton.edge_start[step.state : step.state + 2].tolist()):
                target = int(automaton.edge_target[edge])
                names = places(automaton, target, step.within) or places(automaton, step.state)
                low, high = int(automaton.edge_lo[edge]), int(automaton.edge_hi[edge])
                for byte in range(low, min(high, 255) + 1):
                    found.setdefault(byte, set()).add(names[0] if names else "(no rule)")
            for further in _further(automaton, frames, step):
                if further not in seen:
                    seen.add(further)
                    todo.append(further)
    return {byte: joined(sorted(names), 3, " | ") for byte, names in sorted(found.items())}


@dataclass(frozen=True, slots=True)
class _Step:
    """A state on the way to a first byte, in the frame at a ``depth`` of the stack.

    ``depth`` is -1 inside a rule that is called from there: its end is not followed, because no rule is empty.
    ``within`` are the names of the counted part that it is a round of.
    """

    state: int
    depth: int
    within: tuple[str, ...] = ()


def _within(automaton: Automaton, frames: Stack, depth: int) -> tuple[str, ...]:
    """The names of the counted part that the frame at a depth is a round of, if it is one."""
    if depth + 1 >= len(frames) or frames[depth + 1].count is None:
        return ()
    return places(automaton, frames[depth + 1].state, _within(automaton, frames, depth + 1))


def _further(automaton: Automaton, frames: Stack, step: _Step) -> Iterable[_Step]:
    """States reached without a byte."""
    state, depth = step.state, step.depth
    for edge in range(*automaton.empty_start[state : state + 2].tolist()):
        yield replace(step, state=int(automaton.empty_target[edge]))
    for call in range(*automaton.call_start[state : state + 2].tolist()):
        entry = int(automaton.entry_state[automaton.call_entry[call]])
        if entry == NOT_BUILT:
            continue
        if automaton.call_return[call] == JUMP:
            yield replace(step, state=entry)
        elif automaton.call_loop[call] < 0:
            yield _Step(entry, -1)
        else:
            yield _Step(entry, -1, places(automaton, int(automaton.call_return[call]), step.within))
    if depth >= 0 and automaton.final[state] and depth + 1 < len(frames):
        below = frames[depth + 1]
        yield _Step(below.state, depth + 1, _within(automaton, frames, depth + 1))
        if below.count is not None:  # one more round of a counted part; its frame stays
            for entry in repeated_entries(automaton, below.state):
                yield replace(step, state=entry)


def mask_at(
    decoder: Decoder, automaton: Automaton | None, stacks: Sequence[Stack]
) -> tuple[dict[str, Any], list[bytes]]:
    """The allowed tokens where a decoder stands: a packed mask by id, float32 probabilities before it."""
    mask = decoder.mask
    probabilities = _probabilities(decoder)
    kept = float(probabilities[mask[: len(probabilities)]].sum())
    rules = {} if automaton is None else first_rules(automaton, stacks)
    names = list(dict.fromkeys(rules.values()))
    by_byte = [names.index(rules[byte]) if byte in rules else -1 for byte in range(256)]
    answer = {"allowed": int(mask.sum()), "kept": kept, "rules": names, "byByte": by_byte}
    packed = np.packbits(mask, bitorder="little").tobytes()
    return answer, [packed, probabilities.astype("<f4").tobytes()]


def _probabilities(decoder: Decoder) -> NDArray[np.float32]:
    import torch

    found = torch.softmax(decoder.logits.float(), dim=-1).numpy()
    result: NDArray[np.float32] = found[: decoder.vocabulary.width]
    return result


def endings(matcher: Matcher, allowed: Iterable[int]) -> tuple[bytes, int]:
    """After which allowed tokens the text may end: bits by id, and how many tokens were tried."""
    probe = matcher.fork()
    bits = np.zeros(matcher.vocabulary.width, dtype=np.bool_)
    tried = 0
    for token in allowed:
        if tried >= TRIED:
            break
        tried += 1
        if not probe.accept(int(token)):
            continue
        bits[token] = probe.is_accepting or probe.is_terminated
        probe.rollback(1)
    return np.packbits(bits, bitorder="little").tobytes(), tried


_first: WeakKeyDictionary[Vocabulary, NDArray[np.int16]] = WeakKeyDictionary()


def _first_bytes(vocabulary: Vocabulary) -> NDArray[np.int16]:
    """The first byte of each token, 256 for tokens without bytes; made once a vocabulary."""
    found = _first.get(vocabulary)
    if found is None:
        found = np.full(vocabulary.width, 256, dtype=np.int16)
        for token in range(vocabulary.size):
            data = vocabulary.token_bytes(token)
            if data and token not in vocabulary.special_ids:
                found[token] = data[0]
        _first[vocabulary] = found
    return found


def groups_of(
    decoder: Decoder, automaton: Automaton | None, stacks: Sequence[Stack]
) -> list[Group]:
    """The allowed tokens grouped by the rule that reads their first byte, the likeliest group first."""
    mask = decoder.mask
    probabilities = np.zeros(len(mask), dtype=np.float64)
    known = _probabilities(decoder)
    probabilities[: len(known)] = np.where(mask[: len(known)], known, 0.0)
    kept = float(probabilities.sum()) or 1.0
    rules = {} if automaton is None else first_rules(automaton, stacks)
    first = _first_bytes(decoder.vocabulary)
    names = [rules.get(byte, "(no rule)") for byte in range(256)] + ["end of the text, or special"]
    kinds = list(dict.fromkeys(names))
    kind = np.array([kinds.index(name) for name in names], dtype=np.int16)[first]
    groups = []
    for number, name in enumerate(kinds):
        ids = np.flatnonzero(mask & (kind == number))
        if len(ids):
            best = ids[np.argsort(-probabilities[ids], kind="stable")[:SAMPLES]]
            share = float(probabilities[ids].sum()) / kept
            groups.append(Group(name, len(ids), share, tuple(best.tolist())))
    return sorted(groups, key=lambda group: (-group.mass, group.name))
