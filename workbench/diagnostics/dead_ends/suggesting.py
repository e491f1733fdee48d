"""Edits of a grammar that do away with a place where tokens get stuck; each one told was tried."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.automaton.frames import Frame
from workbench.diagnostics.author.standing import at_pointer
from workbench.diagnostics.dead_ends.cuts import cut
from workbench.diagnostics.dead_ends.findings import ABSENT, Edit, Suggestion
from workbench.diagnostics.dead_ends.unspellable import Place, SpellingReport, unspellable
from workbench.diagnostics.verdicts import remake
from workbench.engine import CompiledGrammar, compile as compile_grammar
from workbench.errors import WorkbenchError
from workbench.grammar.ir import Grammar, Origin
from workbench.vocabulary import Vocabulary
from workbench.vocabulary.labels import quoted
from workbench.wording import joined

__all__ = ["Effort", "suggested", "words"]

#: Edits that are tried for one place, and of one part of a schema.
_TRIED = 24
_OF_A_PART = 8
#: Characters of a class that are sorted into those that tokens spell and others.
_CLASS = 20_000

_ESCAPES = "write other characters as escapes: json_schema(…, ascii_only=True)"

#: What may be suggested: in words, and as edits.
_Candidate = tuple[str, list[Edit]]


@dataclass(slots=True)
class Effort:
    """Steps that the search after one edit may take, and how many are left for all edits."""

    each: int
    left: int


def suggested(
    compiled: CompiledGrammar,
    place: Place,
    report: SpellingReport,
    ways: Sequence[tuple[Origin, ...]],
    stack: Sequence[Frame],
    effort: Effort,
) -> Suggestion | None:
    """The smallest edit found that does away with a place of a report and makes no other one; None for none.

    ``ways`` are where it is written what may come, then, going back, where the last bytes are written.
    ``stack`` are the open parts, innermost first. Trying stops when the ``effort`` is used up.
    """
    grammar, vocabulary = compiled.grammar, compiled.vocabulary
    if isinstance(grammar.source, str | bytes):
        candidates = _of_text(grammar, vocabulary, ways)
    else:
        candidates = _of_schema(grammar.source, place, stack, vocabulary)
    for text, edits in candidates[:_TRIED]:
        suggestion = Suggestion(text, tuple(edits))
        try:
            changed = remake(grammar.kind, suggestion.apply(grammar.source), grammar.start)
            if _helps(changed, vocabulary, place, report, effort):
                return suggestion
        except (KeyError, ValueError, WorkbenchError):
            continue
    if grammar.kind == "json_schema" and min(place.possible, default=0) >= 0x80:
        try:
            plain = remake(grammar.kind, grammar.source, ascii_only=True)
            if _helps(plain, vocabulary, place, report, effort):
                return Suggestion(_ESCAPES)
        except (ValueError, WorkbenchError):
            return None
    return None


def _helps(
    changed: Grammar, vocabulary: Vocabulary, place: Place, before: SpellingReport, effort: Effort
) -> bool:
    """Whether a place of a report is gone from a changed grammar, and no other one has come."""
    if effort.left <= 0:
        return False
    compiled = compile_grammar(changed, vocabulary)
    after = unspellable(compiled, budget=effort.each)
    effort.left -= after.steps
    now = {found.text for found in after.places}
    if place.text in now:
        return False
    if not after.complete:
        # the search may not have come as far as the place
        matcher = compiled.matcher(max_rollback=0)
        there = matcher.accept_tokens(place.token_ids) == len(place.token_ids)
        if place.kind == "no return" or (
            there and not matcher.is_accepting and not len(matcher.allowed_ids())
        ):
            return False
    # a search that stopped may have left out what another one finds
    return not before.complete or now <= {found.text for found in before.places}


# Texts


def _of_text(
    grammar: Grammar, vocabulary: Vocabulary, ways: Sequence[tuple[Origin, ...]]
) -> list[_Candidate]:
    """Narrower classes, and parts to take out; what takes least of the text comes first."""
    text = grammar.source
    text = text.decode("latin-1") if isinstance(text, bytes) else text
    single = _single_characters(vocabulary)
    found: dict[tuple[Edit, ...], str] = {}
    for origins in ways:
        spans = [
            (origin.start, origin.end)
            for origin in origins
            if origin.start is not None and origin.end is not None
        ]
        # a byte of a character may be a token that leads nowhere: then without those characters
        for kept in (single, {character for character in single if character.isascii()}):
            narrowed = _narrowed(text, spans, kept) if isinstance(grammar.source, str) else []
            done = [(edit.start, edit.end) for edit in narrowed]
            rest = [span for span in spans if span not in done]
            edits = cut(text, grammar.kind, rest, start=grammar.start) if rest else []
            if narrowed and (edits or not rest):
                kept_apart = [edit for edit in narrowed if not _within(edit, edits)]
                told = "keep to the characters that tokens spell" if not rest else words(edits)
                found.setdefault(tuple(edits + kept_apart), told)
        edits = cut(text, grammar.kind, spans, start=grammar.start) if spans else []
        if edits:
            found.setdefault(tuple(edits), words(edits))
    return [(told, list(edits)) for edits, told in sorted(found.items(), key=_taken)]


def _taken(candidate: tuple[tuple[Edit, ...], str]) -> int:
    return sum(len(edit.old) - len(edit.new) for edit in candidate[0])


def _within(edit: Edit, others: Sequence[Edit]) -> bool:
    at = edit.start or 0
    return any((other.start or 0) <= at < (other.end or 0) for other in others)


def words(edits: Sequence[Edit]) -> str:
    """What cuts of a text do, in words."""
    if len(edits) > 1:
        return "take out what cannot be written"
    bar = "|" in (edits[0].old.strip()[:1], edits[0].old.strip()[-1:])
    return f"take the {'alternative' if bar else 'optional part'} out"


def _narrowed(text: str, spans: Sequence[tuple[int, int]], kept: set[str]) -> list[Edit]:
    edits = []
    for start, end in spans:
        old = text[start:end]
        new = _class_of(old, kept) if old.startswith("[") else ""
        if new and new != old:
            edits.append(Edit(old, new, start=start, end=end))
    return edits


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


# Schemas


def _of_schema(
    schema: Any, place: Place, stack: Sequence[Frame], vocabulary: Vocabulary
) -> list[_Candidate]:
    """Fewer values, branches, types and optional members, innermost parts first."""
    single = _single_characters(vocabulary)
    found: list[_Candidate] = []
    seen: set[str] = set()
    for frame in stack:
        pointer = frame.pointer
        if pointer is None or pointer in seen or not isinstance(schema, dict):
            continue
        seen.add(pointer)
        part = at_pointer(schema, pointer)
        if not isinstance(part, dict):
            continue
        read = place.text[frame.entered :] if frame.entered is not None else b""
        found += _fewer_values(part, pointer, read, place.possible, single)
        for key in ("anyOf", "oneOf", "type"):
            several = part.get(key)
            if isinstance(several, list) and len(several) > 1:
                found += [
                    (
                        f"leave out {key}/{i}" if key != "type" else f"leave out type {one}",
                        [Edit(several, [*several[:i], *several[i + 1 :]], f"{pointer}/{key}")],
                    )
                    for i, one in enumerate(several[:_OF_A_PART])
                ]
        found += _fewer_members(part, pointer)
    return found


def _fewer_values(
    part: dict[str, Any], pointer: str, read: bytes, possible: frozenset[int], single: set[str]
) -> Iterator[_Candidate]:
    """Fewer values of an enum: without those that no token goes on to, or with characters that no token spells."""
    values = part.get("enum")
    if not isinstance(values, list):
        return
    texts = [
        json.dumps(v, ensure_ascii=False, default=str).encode("utf-8", "replace") for v in values
    ]
    going_on = [
        not (text.startswith(read) and len(text) > len(read) and text[len(read)] in possible)
        for text in texts
    ]
    spelled = [not isinstance(value, str) or set(value) <= single for value in values]
    for keeps in (going_on, spelled):
        kept = [value for value, keep in zip(values, keeps, strict=True) if keep]
        out = [value for value, keep in zip(values, keeps, strict=True) if not keep]
        if kept and out:
            told = joined([quoted(str(value).encode("utf-8", "replace")) for value in out], 3)
            yield f"leave out {told}", [Edit(values, kept, f"{pointer}/enum")]


def _fewer_members(part: dict[str, Any], pointer: str) -> Iterator[_Candidate]:
    """Members of an object that need not come."""
    members = part.get("properties")
    required = part.get("required")
    if not isinstance(members, dict):
        return
    needed = required if isinstance(required, list) else []
    optional = [name for name in members if name not in needed]
    for name in optional[:_OF_A_PART]:
        key = name.replace("~", "~0").replace("/", "~1")
        where = f"{pointer}/properties/{key}"
        yield f"leave the member {name!r} out", [Edit(members[name], ABSENT, where)]
