"""Where tokens get stuck: the place in the author's terms, the last way out, and an edit that helps."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from workbench.automaton.frames import Frame, Stack
from workbench.diagnostics.author.parse import AuthorParse, OpenPart
from workbench.diagnostics.author.standing import author_text, excerpt
from workbench.diagnostics.dead_ends.findings import Escape, Finding
from workbench.diagnostics.dead_ends.suggesting import Effort, suggested
from workbench.diagnostics.dead_ends.unspellable import DEFAULT_BUDGET, Place, SpellingReport
from workbench.diagnostics.explain.explain import frames_after, tokens_at
from workbench.engine import CompiledGrammar, Matcher
from workbench.errors import GrammarTooComplex
from workbench.grammar.ir import Origin
from workbench.vocabulary.labels import bytes_text

__all__ = ["finishes", "last_escape", "least_tokens", "stuck_finding"]

#: Configurations that the search for a way to the end looks at.
_SEARCH = 300
_ESCAPE = 1_000
#: Tokens that are tried at each.
_TRIED = 40
#: Bytes of a text that is spelled with as few tokens as possible.
_LONGEST = 20_000
_NEVER = 1 << 30
#: Bytes before a place at which another way may have been possible.
_BACK = 16


def stuck_finding(
    compiled: CompiledGrammar,
    place: Place,
    report: SpellingReport,
    *,
    helpful: bool = True,
    effort: Effort | None = None,
) -> Finding:
    """The finding for a place of a report that the vocabulary cannot get on from, or not to an end.

    Only a ``helpful`` one has the last way out and a suggestion, which take longer to find: each edit that is
    tried costs a search, of the ``effort`` (by default of a million steps each).
    """
    effort = effort or Effort(DEFAULT_BUDGET, 10 * DEFAULT_BUDGET)
    ways, stack = _standing(compiled, place, _BACK if helpful else 0)
    origin = next(iter(ways[0]), None) if ways else None
    innermost = stack[0] if stack else Frame()
    shown = next((frame for frame in stack if frame.pointer is not None), innermost)
    pointer = shown.pointer
    if not place.possible:
        message = "nothing may come: all members that may come have come, and the mask is empty"
    elif place.kind == "dead end":
        message = (
            f"only {bytes_text(place.possible)} may come, and no token spells that there: "
            "the mask is empty"
        )
    else:
        message = "tokens may come for ever, but none of them ends in a complete text"
    return Finding(
        kind="empty mask" if place.kind == "dead end" else "endless loop",
        message=message,
        path=place.text,
        token_ids=place.token_ids,
        possible=place.possible,
        rule=innermost.rule,
        pointer=pointer,
        start=origin.start if origin else innermost.start,
        end=origin.end if origin else innermost.end,
        source=excerpt(origin, compiled.grammar) if origin and pointer is None else shown.source,
        stack=stack,
        escape=last_escape(compiled, place.token_ids) if helpful else None,
        suggestion=suggested(compiled, place, report, ways, stack, effort) if helpful else None,
    )


def _standing(
    compiled: CompiledGrammar, place: Place, back: int
) -> tuple[list[tuple[Origin, ...]], Stack]:
    """The places that may be read next, before them those read last (going back); and the open parts."""
    text = author_text(compiled)
    with text.lock:
        parse = text.go_to(place.token_ids)
        if parse is None:
            matcher = compiled.matcher()
            matcher.accept_tokens(place.token_ids)
            return [], frames_after(matcher)
        stacks: list[tuple[OpenPart, ...]] = parse.stacks()
        taken = 0
        while not stacks and taken < min(_BACK, len(parse)):
            # nothing is open where guards let nothing pass: what was open before is
            parse.take_back(1)
            taken += 1
            stacks = parse.stacks()
        stack = stacks[0] if stacks else ()
        frames = tuple(text.frame(part, parse) for part in stack)
        ways = [_places(parse, place.possible)]
        read = place.text[: len(place.text) - taken]
        for byte in reversed(read[len(read) - min(back, len(parse)) :]):
            parse.take_back(1)
            ways.append(_places(parse, frozenset({byte})))
        if taken or len(ways) > 1:
            text.forget()  # what was taken back, it still counts as read
        text.done()
        return ways, frames


def _places(parse: AuthorParse, possible: frozenset[int]) -> tuple[Origin, ...]:
    found = dict.fromkeys(parse.expected_places(possible))
    return tuple(origin for origin in found if origin is not None)


# The last way out


def last_escape(compiled: CompiledGrammar, token_ids: tuple[int, ...]) -> Escape | None:
    """The last step of a way at which another token led to a complete text; None when none is found.

    The search looks at a thousand configurations in all.
    """
    budget = _Budget(_ESCAPE)
    vocabulary = compiled.vocabulary
    matcher = compiled.matcher()
    matcher.accept_tokens(token_ids)
    for step in range(len(token_ids) - 1, -1, -1):
        matcher.rollback(matcher.num_accepted - step)
        before = vocabulary.decode(token_ids[:step])
        if matcher.is_accepting:
            return Escape(before, b"", step)
        for token_id in _to_try(matcher):
            if token_id == token_ids[step]:
                continue
            other = matcher.fork()
            if other.accept(token_id) and finishes(other, budget):
                return Escape(before, vocabulary.token_bytes(token_id), step)
    return None


@dataclass(slots=True)
class _Budget:
    """Configurations that may still be looked at."""

    left: int


def finishes(matcher: Matcher, budget: _Budget) -> bool:
    """Whether tokens that lead to a complete text were found, nearest ends first.

    False when none were found within 300 configurations or the budget, which proves nothing.
    """
    least = max(0, budget.left - _SEARCH)
    counter = itertools.count()
    seen: set[int] = set()
    try:
        heap = [(matcher.finish_distance() or 0, next(counter), matcher.fork())]
        while heap and budget.left > least:
            budget.left -= 1
            _, _, at = heapq.heappop(heap)
            if at.is_accepting:
                return True
            for token_id in _to_try(at):
                other = at.fork()
                if other.accept(token_id) and other.position not in seen:
                    seen.add(other.position)
                    heapq.heappush(heap, (other.finish_distance() or 0, next(counter), other))
    except GrammarTooComplex:
        return False
    return False


def _to_try(matcher: Matcher) -> list[int]:
    """Allowed tokens worth trying: none that only end a text, short ones first."""
    vocabulary = matcher.vocabulary
    ids = matcher.allowed_ids()
    lengths = np.diff(vocabulary.offsets)
    named = matcher.compiled.engine.named_ids
    ids = ids[~np.isin(ids, [end for end in vocabulary.eos_ids if end not in named])]
    order = np.lexsort((ids, lengths[ids]))
    found: list[int] = ids[order][:_TRIED].tolist()
    return found


def least_tokens(compiled: CompiledGrammar) -> int | None:
    """The fewest tokens of a shortest text; None when its tokens cannot spell it, or it is very long.

    An upper bound of the fewest tokens of any text.
    """
    text = _shortest_text(compiled)
    if text is None:
        return None
    vocabulary = compiled.vocabulary
    fewest = [0] + [_NEVER] * len(text)
    for start in range(len(text)):
        if fewest[start] < _NEVER:
            for token_id in tokens_at(vocabulary, text, start):
                end = start + len(vocabulary.token_bytes(token_id))
                fewest[end] = min(fewest[end], fewest[start] + 1)
    return fewest[-1] if fewest[-1] < _NEVER else None


def _shortest_text(compiled: CompiledGrammar) -> bytes | None:
    """A shortest text; None for a very long one, or where a named token has to end it."""
    engine = compiled.engine
    with engine.lock:
        position, text = engine.start, bytearray()
        left = engine.distance(position)
        while left:
            if len(text) >= _LONGEST:
                return None
            for byte in sorted(engine.live_bytes(position), key=lambda b: not chr(b).isalnum()):
                following = engine.advance_bytes(position, np.array([byte], dtype=np.uint8), 0, 1)
                if following >= 0 and engine.distance(following) < left:
                    position, left = following, engine.distance(following)
                    text.append(byte)
                    break
            else:
                return None  # what ends it is a token that the grammar names
        return bytes(text)
