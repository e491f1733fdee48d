"""Where tokens get stuck: the place in the author's terms, the last way out, and an edit that helps.

Next file to read: ``workbench/diagnostics/live.py``.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.diagnostics.author import author_text, excerpt
from workbench.diagnostics.author_parse import AuthorFrame
from workbench.diagnostics.explain import frames_after, tokens_at
from workbench.diagnostics.findings import Edit, Escape, Finding, Suggestion
from workbench.diagnostics.spelling import Place, SpellingReport, unspellable
from workbench.diagnostics.verdicts import remake
from workbench.diagnostics.why import WhyFrame, bytes_text, quoted
from workbench.engine import CompiledGrammar, Matcher
from workbench.errors import GrammarTooComplex, WorkbenchError
from workbench.grammar.ir import Grammar, Origin
from workbench.vocabulary import Vocabulary

__all__ = ["finishes", "last_escape", "least_tokens", "stuck_finding"]

#: Configurations that the search for a way to the end looks at.
_SEARCH = 300
_ESCAPE = 1_000
#: Tokens that are tried at each.
_TRIED = 40
#: Bytes of a text that is spelled with as few tokens as possible.
_LONGEST = 20_000
_NEVER = 1 << 30
#: Characters of a class that are sorted into those that tokens spell and others.
_CLASS = 20_000


def stuck_finding(compiled: CompiledGrammar, place: Place, *, helpful: bool = True) -> Finding:
    """The finding for a place that the vocabulary cannot get on from, or not to an end.

    Only a ``helpful`` one has the last way out and a suggestion, which take longer to find.
    """
    expects, stack = _standing(compiled, place)
    origin = next(iter(expects), None)
    innermost = stack[0] if stack else WhyFrame("")
    pointer = next((frame.pointer for frame in stack if frame.pointer is not None), None)
    if place.kind == "dead end":
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
        source=excerpt(origin, compiled.grammar) if origin else innermost.source,
        stack=stack,
        escape=last_escape(compiled, place.token_ids) if helpful else None,
        suggestion=_suggestion(compiled, place, expects, pointer) if helpful else None,
    )


def _standing(
    compiled: CompiledGrammar, place: Place
) -> tuple[tuple[Origin, ...], tuple[WhyFrame, ...]]:
    """The places of what may come, and the open parts."""
    text = author_text(compiled)
    with text.lock:
        parse = text.go_to(place.token_ids)
        if parse is None:
            matcher = compiled.matcher()
            matcher.accept_tokens(place.token_ids)
            return (), frames_after(matcher)
        stacks: list[tuple[AuthorFrame, ...]] = parse.stacks()
        stack = stacks[0] if stacks else ()
        expects = dict.fromkeys(
            origin for origin in parse.expected_places(place.possible) if origin is not None
        )
        frames = tuple(text.frame(frame, parse) for frame in stack)
        text.done()
        return tuple(expects), frames


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
    """Allowed tokens worth trying: no ends, short ones first."""
    vocabulary = matcher.vocabulary
    ids = matcher.allowed_ids()
    lengths = np.diff(vocabulary.offsets)
    ids = ids[~np.isin(ids, vocabulary.eos_ids)]
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
    """A shortest text, byte by byte nearer to the end; None for a very long one."""
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


# Edits


def _suggestion(
    compiled: CompiledGrammar, place: Place, expects: tuple[Origin, ...], pointer: str | None
) -> Suggestion | None:
    grammar, vocabulary = compiled.grammar, compiled.vocabulary
    for text, edits in _candidates(grammar, vocabulary, expects, pointer):
        try:
            changed = Suggestion(text, tuple(edits)).apply(grammar.source)
            report = unspellable(remake(grammar.kind, changed, grammar.start), vocabulary)
        except (KeyError, ValueError, WorkbenchError):
            continue
        if _is_gone(place, report):
            return Suggestion(text, tuple(edits))
    if grammar.kind == "json_schema" and min(place.possible, default=0) >= 0x80:
        try:
            report = unspellable(remake(grammar.kind, grammar.source, ascii_only=True), vocabulary)
        except (ValueError, WorkbenchError):
            return None
        if _is_gone(place, report):
            return Suggestion("write other characters as escapes: json_schema(…, ascii_only=True)")
    return None


def _is_gone(place: Place, report: SpellingReport) -> bool:
    return all((found.text, found.kind) != (place.text, place.kind) for found in report.places)


def _candidates(
    grammar: Grammar, vocabulary: Vocabulary, expects: tuple[Origin, ...], pointer: str | None
) -> Iterator[tuple[str, list[Edit]]]:
    single = _single_characters(vocabulary)
    source = grammar.source
    for origin in expects if isinstance(source, str) else ():
        if origin.start is None or origin.end is None:
            continue
        old = source[origin.start : origin.end]
        if old.startswith("["):
            # a byte of a character may be a token that leads nowhere: then without those characters
            for kept in (single, {character for character in single if character.isascii()}):
                new = _class_of(old, kept)
                if new and new != old:
                    yield (
                        "keep to the characters that tokens spell",
                        [Edit(old, new, start=origin.start, end=origin.end)],
                    )
        yield from without(source, origin)
    if isinstance(source, dict) and pointer is not None:
        yield from _fewer_values(source, pointer, single)


def without(source: str, origin: Origin) -> Iterator[tuple[str, list[Edit]]]:
    """Take an alternative out of a text, with the bar before or after it."""
    if origin.start is None or origin.end is None:
        return
    words = "take the alternative out"
    before, after = source[: origin.start].rstrip(), source[origin.end :]
    if before.endswith("|"):
        start = len(before) - 1
        yield words, [Edit(source[start : origin.end], "", start=start, end=origin.end)]
    following = len(source) - len(after.lstrip())
    if source[following : following + 1] == "|":
        end = following + 1
        yield words, [Edit(source[origin.start : end], "", start=origin.start, end=end)]


def _single_characters(vocabulary: Vocabulary) -> set[str]:
    """Characters that are tokens, or whose bytes all are."""
    singles = {vocabulary.token_bytes(i) for i in range(vocabulary.size)}
    found = {chr(code) for code in range(128) if bytes([code]) in singles}
    for text in singles:
        if 1 < len(text) <= 4:
            try:
                character = text.decode()
            except UnicodeDecodeError:
                continue
            if len(character) == 1:
                found.add(character)
    leads = [bytes([byte]) in singles for byte in range(256)]
    if all(leads[0x80:0xC0]):
        for code in range(0x80, 0x2000):
            if all(leads[byte] for byte in chr(code).encode()):
                found.add(chr(code))
    return found


def _class_of(old: str, single: set[str]) -> str:
    """A class like another one, of characters that tokens spell; empty when there is no such change."""
    from workbench.frontends.regex import regex
    from workbench.grammar.ir import CharSet, walk

    try:
        members = [p for p in walk(regex(old).rules["root"]) if isinstance(p, CharSet)]
    except WorkbenchError:
        return ""
    if len(members) != 1:
        return ""
    ranges = members[0].ranges
    if sum(high - low + 1 for low, high in ranges) > _CLASS:
        kept = sorted(c for c in single if any(low <= ord(c) <= high for low, high in ranges))
    else:
        every = (chr(code) for low, high in ranges for code in range(low, high + 1))
        kept = [character for character in every if character in single]
    return f"[{_ranges_text(kept)}]" if kept else ""


def _ranges_text(characters: list[str]) -> str:
    runs: list[list[int]] = []
    for code in map(ord, characters):
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    out = []
    for low, high in runs:
        ends = [_escaped(low)] if low == high else [_escaped(low), _escaped(high)]
        out.append("-".join(ends) if high - low > 1 else "".join(ends))
    return "".join(out)


def _escaped(code: int) -> str:
    if chr(code).isascii() and chr(code).isalnum():
        return chr(code)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _fewer_values(
    schema: object, pointer: str, single: set[str]
) -> Iterator[tuple[str, list[Edit]]]:
    """Values of an enum that hold no character without a token."""
    from workbench.diagnostics.author import at_pointer

    part = at_pointer(schema, pointer)
    values = part.get("enum") if isinstance(part, dict) else None
    if not isinstance(values, list):
        return
    kept = [v for v in values if not isinstance(v, str) or set(v) <= single]
    if kept and len(kept) < len(values):
        out = [value for value in values if value not in kept]
        yield (
            f"leave out {', '.join(quoted(str(value).encode()) for value in out[:3])}",
            [Edit(values, kept, f"{pointer}/enum")],
        )
