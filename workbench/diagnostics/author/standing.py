"""Where a matcher's text stands in the author's grammar: parses that are kept and follow the matcher."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from workbench.automaton.frames import Frame, Stack, deep_end, shortened
from workbench.diagnostics.author.parse import AuthorParse, Dot, OpenPart, WayOut
from workbench.engine import CompiledGrammar, Matcher
from workbench.engine.engine import Engine
from workbench.engine.tokens import resolve_tokens
from workbench.forks import Level, fork_lock
from workbench.grammar.author.earley import TooMuch
from workbench.grammar.ir import Alt, Grammar, Origin
from workbench.grammar.places import home

__all__ = ["AuthorText", "author_text"]

#: Items of a parse that is kept for the next question; a larger one is made anew.
_KEPT_ITEMS = 60_000
#: Frames of a stack that are told.
MAX_FRAMES = 64
#: Characters of a grammar's text that a frame quotes.
_EXCERPT = 72
#: What repeats the part before it.
_REPEATED = re.compile(r"([*+?]|\{[0-9,]*\})\??")
#: A comment of a GBNF text; what looks like one in a literal or a class is kept.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\])|#[^\n]*')


class AuthorText:
    """A parse with the author's grammar that is kept, and follows the texts that are asked about.

    ``problem`` says why there is none: the text is too much work, or not known from its beginning.
    """

    def __init__(self, compiled: CompiledGrammar) -> None:
        self.lock = fork_lock(Level.READER)
        self.grammar: Grammar = compiled.spelled
        self._tokens = resolve_tokens(self.grammar, compiled.vocabulary)
        self._vocabulary = compiled.vocabulary
        self._parse: AuthorParse | None = None
        #: the tokens read, each with the symbols that it took
        self._read: list[tuple[int, int]] = []
        self.problem = ""

    def go_to(self, token_ids: Sequence[int], *, ended: bool = False) -> AuthorParse | None:
        """The parse after these tokens, the last of which ``ended`` the text or not; None with ``problem`` set."""
        wanted = token_ids[:-1] if ended else token_ids
        self.problem = ""
        try:
            parse = self._rewound(wanted)
            for token_id in wanted[len(self._read) :]:
                before = len(parse)
                if not parse.feed_token(token_id, self._vocabulary.token_bytes(token_id)):
                    self.problem = "the author's grammar reads the text in another way"
                    return None
                self._read.append((token_id, len(parse) - before))
        except TooMuch:
            assert self._parse is not None
            self.problem = f"the text needs more than {self._parse.most_items:,} parser items"
            self.forget()
            return None
        except RecursionError:
            self.problem = "the grammar is nested too deeply"
            self.forget()
            return None
        return parse

    def _rewound(self, wanted: Sequence[int]) -> AuthorParse:
        if self._parse is None:
            self._parse = AuthorParse(self.grammar, self._tokens)
            self._read = []
        shared = 0
        for (read, _), token_id in zip(self._read, wanted, strict=False):
            if read != token_id:
                break
            shared += 1
        self._parse.take_back(sum(symbols for _, symbols in self._read[shared:]))
        del self._read[shared:]
        return self._parse

    def frame(self, part: OpenPart, parse: AuthorParse) -> Frame:
        """The frame of an open part of the parse."""
        return author_frame(part, parse, self.grammar)

    def forget(self, above: int = 0) -> None:
        """Drop the parse when it has more than ``above`` items."""
        if self._parse is not None and self._parse.n_items > above:
            self._parse, self._read = None, []

    def done(self) -> None:
        """Keep the parse for the next question, unless it is large."""
        self.forget(above=_KEPT_ITEMS)


_texts: WeakKeyDictionary[Engine, AuthorText] = WeakKeyDictionary()
_lock = fork_lock(Level.READING)


def author_text(compiled: CompiledGrammar) -> AuthorText:
    """The text that is kept for a compiled grammar."""
    with _lock:
        found = _texts.get(compiled.engine)
        if found is None:
            found = _texts[compiled.engine] = AuthorText(compiled)
        return found


@dataclass(frozen=True, slots=True)
class Standing:
    """Open parts, innermost first, with the ways out of them where they are known."""

    frames: Stack = ()
    ways: tuple[WayOut, ...] = ()


def author_standing(parse: AuthorParse, grammar: Grammar, *, ways: bool = False) -> Standing:
    """Where a parse stands, by the first way to read its text."""
    stacks = parse.stacks(limit=1)
    if not stacks:
        return Standing()
    frames = tuple(author_frame(part, parse, grammar) for part in stacks[0][:MAX_FRAMES])
    frames += deep_end(len(stacks[0]) - MAX_FRAMES)
    return Standing(frames, tuple(parse.ways_out(MAX_FRAMES)) if ways else ())


def author_frame(part: OpenPart, parse: AuthorParse, grammar: Grammar) -> Frame:
    """The frame of an open part, its place looked up in the grammar's source."""
    place = part.place
    opened = bytes(parse.data[part.entered : part.entered + 1]).decode("latin-1")
    return Frame(
        rules=(part.rule,),
        pointer=place.pointer if place else None,
        start=place.start if place else None,
        end=place.end if place else None,
        source=excerpt(place, grammar),
        entered=part.entered,
        opened=opened if opened in ("{", "[", "(", '"') else "",
        count=part.count,
        least=part.least,
        most=part.most,
        items=tuple(
            dict.fromkeys(filter(None, (_dotted(part, dot, grammar) for dot in part.dots)))
        ),
    )


def _dotted(part: OpenPart, dot: Dot, grammar: Grammar) -> str:
    """An item as the literature writes it: a rule with a dot where the text stands; "" where that is unknown."""
    place = part.place
    written = grammar if place is None else home(grammar, place)[0]
    source = written.source
    if place is None or place.start is None or place.end is None or not isinstance(source, str):
        return ""
    at = _dot_position(part, dot, source)
    if at is None or not place.start <= at[0] <= place.end:
        return ""
    whole = place.start, place.end
    start, end = whole if dot == Dot() else _alternative(part, at[0], grammar) or whole
    spaced = written.kind == "gbnf"
    left, right = source[start : at[0]], source[at[0] : end]
    if spaced:
        left, right = (" ".join(_COMMENT.sub(_kept, text).split()) for text in (left, right))
    if len(left) > _EXCERPT // 2:
        left = "…" + left[len(left) - _EXCERPT // 2 :]
    if len(right) > _EXCERPT // 2:
        right = right[: _EXCERPT // 2] + "…"
    if not spaced:
        return f"{part.rule} → {left}•{right}"
    if at[1]:  # in the middle of a literal
        return f'{part.rule} → {left}" • "{right}'
    gaps = ("" if left.endswith("(") else " ", "" if right.startswith(")") else " ")
    return f"{part.rule} → {left}{gaps[0]}•{gaps[1]}{right}".rstrip().replace("→  •", "→ •")


def _dot_position(part: OpenPart, dot: Dot, source: str) -> tuple[int, bool] | None:
    """The offset of the dot in a grammar's text, and whether that is inside of a literal."""
    if dot.half and dot.before is not None:
        start, end = dot.before.start, dot.before.end
        if start is None or end is None:
            return None
        try:
            read = dot.half.decode()
        except UnicodeDecodeError:
            return start, False
        quotes = 1 if source[start] == '"' else 0
        if source[start + quotes : end].startswith(read) and "\\" not in source[start:end]:
            return start + quotes + len(read), True
        return start, False
    if dot.after is not None:
        start, end = dot.after.start, dot.after.end
        if start is None or end is None:
            return None
        # of what is repeated, the repetition: it may end, unless it was counted and is not enough
        repeated = _REPEATED.match(source, end)
        if repeated is None:
            return end, False
        more = part.count is not None and part.count < part.least
        return (start if more else repeated.end()), False
    place = dot.before if dot.before is not None else part.place
    return None if place is None or place.start is None else (place.start, False)


def _alternative(part: OpenPart, at: int, grammar: Grammar) -> tuple[int, int] | None:
    """The one of a rule's alternatives that an offset lies in."""
    rule = grammar.rules.get(part.rule)
    if not isinstance(rule, Alt) or rule.origin != part.place:
        return None
    for item in rule.items:
        origin = item.origin
        if (
            origin
            and origin.start is not None
            and origin.end is not None
            and origin.start <= at <= origin.end
        ):
            return origin.start, origin.end
    return None


def _kept(found: re.Match[str]) -> str:
    return found.group(1) or " "


def excerpt(place: Origin | None, grammar: Grammar) -> str:
    """What an author wrote at a place, in one line and shortened."""
    text = ""
    if place is None:
        return text
    grammar, place = home(grammar, place)
    source: Any = grammar.source
    if place.start is not None and isinstance(source, str | bytes):
        part = source[place.start : place.end]
        text = part if isinstance(part, str) else part.decode("latin-1")
    elif place.pointer is not None and isinstance(source, dict):
        found = at_pointer(source, place.pointer)
        if found is not None:
            text = json.dumps(found, default=str, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"


def at_pointer(schema: Any, pointer: str) -> Any:
    """What stands in a JSON value at a pointer with a leading ``#``; None for nothing."""
    at = schema
    for part in pointer.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at = at[key]
        elif isinstance(at, list) and key.isdigit() and int(key) < len(at):
            at = at[int(key)]
        else:
            return None
    return at


def automaton_standing(matcher: Matcher) -> Standing:
    """Where a matcher stands, by the automaton's frames."""
    for stack in matcher.stacks(limit=1):
        return Standing(shortened(stack, MAX_FRAMES))
    return Standing()
