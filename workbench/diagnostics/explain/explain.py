"""Why a token may or may not come next: down to the byte, the state, and the author's rule or schema.

What decides is the engine, asked byte by byte. In what the text stands, and since where, is told by
reading it again with the author's grammar (``earley.py``); where that is too much work, or the text is
not known from its beginning, by the automaton's own frames, and the answer says so.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from operator import index
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.frames import Frame, Stack
from workbench.automaton.network import NOT_BUILT
from workbench.diagnostics.author.parse import AuthorParse
from workbench.diagnostics.author.standing import (
    AuthorText,
    Standing,
    author_standing,
    author_text,
    automaton_standing,
)
from workbench.engine import Matcher
from workbench.engine.why import Nearest, Why, WhyByte, WhyEnd
from workbench.errors import GrammarTooComplex, VocabularyError
from workbench.grammar.author.earley import TooMuch
from workbench.inputs import need_matcher, wrong_type
from workbench.vocabulary import Vocabulary
from workbench.vocabulary.labels import label_bytes
from workbench.wording import byte_quoted, number_of

__all__ = ["explain", "frames_after", "tokens_at"]

_QUOTE = ord('"')
#: Allowed tokens that are named beside a refused one.
NEAREST = 6


def explain(matcher: Matcher, token: int | str | bytes) -> Why:
    """Say why a token may or may not come next where a matcher stands; the matcher does not change.

    ``token`` is an id, or the text or bytes of a token; a text that is the name of a special token means
    that token, and bytes that no token has are looked at all the same (``token_id`` is None then).

    ``matcher.explain(token_id)`` gives the same verdict and the same bytes without reading the text again, and
    names the automaton's rules: for a loop, or where the author's grammar does not matter.

    Raises ``VocabularyError`` for an id outside the logits, and what the matcher raises when a budget is used
    up.

    >>> import workbench as wb
    >>> vocabulary = wb.Vocabulary.from_bytes([b"(", b")", b"n", b"n)", b""], eos_ids=4)
    >>> grammar = wb.gbnf('root ::= "(" root ")" | "n"')
    >>> matcher = wb.compile(grammar, vocabulary).matcher()
    >>> matcher.accept(2)
    True
    >>> wb.explain(matcher, ")").sentence
    "byte 1 (')') may not come: the text is complete"
    """
    need_matcher(matcher, "explain")
    return _Question(matcher, token).answer()


def frames_after(matcher: Matcher) -> Stack:
    """The parts that are open where a matcher stands, innermost first, in the author's terms if possible."""
    text = author_text(matcher.compiled)
    with text.lock, matcher.compiled.engine.lock:
        known = len(matcher.token_ids) == matcher.num_accepted
        parse = text.go_to(matcher.token_ids, ended=matcher.is_terminated) if known else None
        if parse is None:
            return automaton_standing(matcher).frames
        frames = author_standing(parse, text.grammar).frames
        text.done()
        return frames


class _Question:
    """One token asked about where a matcher stands."""

    def __init__(self, matcher: Matcher, token: int | str | bytes) -> None:
        self.matcher = matcher
        self.vocabulary = matcher.vocabulary
        self.token_id, self.data = _find(self.vocabulary, token)
        self.engine = matcher.compiled.engine
        self.text: AuthorText = author_text(matcher.compiled)
        self.note = ""

    def answer(self) -> Why:
        with self.text.lock, self.engine.lock:
            try:
                return self._answer()
            finally:
                self.text.done()

    def _answer(self) -> Why:
        matcher = self.matcher
        parse = self._parse()
        before = self._standing(parse, ways=True)
        ends = tuple(self._end(i, before) for i in self.vocabulary.eos_ids)
        allowed = self.token_id is not None and self._allowed(self.token_id)
        cells: tuple[WhyByte, ...] = ()
        fatal: int | None = None
        expected = matcher.allowed_bytes()
        sentence = self._by_itself(ends, allowed)
        if not sentence:
            cells, fatal, expected, sentence = self._bytes(parse, before)
            if self.token_id is None and fatal is None:
                sentence = "every byte may come, yet no token has exactly these bytes"
        return Why(
            token_id=self.token_id,
            token_bytes=self.data,
            label=self._label(),
            allowed=allowed,
            sentence=sentence,
            cells=cells,
            consumed=len(cells) if fatal is None else fatal,
            fatal=fatal,
            expected=expected,
            nearest=() if allowed else self._nearest(fatal),
            ends=ends,
            after=len(parse.data) if parse is not None else self._length(),
            terms="author" if parse is not None else "automaton",
            note=self.note,
        )

    def _parse(self) -> AuthorParse | None:
        token_ids = self.matcher.token_ids
        if len(token_ids) != self.matcher.num_accepted:
            self.note = (
                "the matcher keeps only the last tokens, so the automaton's states are named"
            )
            return None
        parse = self.text.go_to(token_ids, ended=self.matcher.is_terminated)
        if parse is None:
            self.note = f"{self.text.problem}, so the automaton's states are named"
        return parse

    def _length(self) -> int:
        return len(self.vocabulary.decode(self.matcher.token_ids))

    def _label(self) -> str:
        return (
            label_bytes(self.data)
            if self.token_id is None
            else self.vocabulary.label(self.token_id)
        )

    def _allowed(self, token_id: int) -> bool:
        probe = self.matcher.fork()
        return probe.accept(token_id)

    def _standing(self, parse: AuthorParse | None, *, ways: bool = False) -> Standing:
        if parse is None:
            return automaton_standing(self.matcher)
        return author_standing(parse, self.text.grammar, ways=ways)

    def _by_itself(self, ends: tuple[WhyEnd, ...], allowed: bool) -> str:
        """The sentence for tokens that no single byte decides; empty for others."""
        token_id, vocabulary = self.token_id, self.vocabulary
        if self.matcher.is_terminated:
            return "the text has ended"
        if token_id is None:
            return "" if self.data else "no bytes, no token"
        if token_id in vocabulary.eos_ids:
            return next(end.reason for end in ends if end.token_id == token_id)
        named = token_id in self.engine.named_ids
        if named and allowed:
            return "the grammar names this token here"
        if self.data:
            return ""
        if token_id >= vocabulary.size:
            return "a number past the end of the vocabulary: no token has it"
        if named:
            return "the grammar names this token, but not here"
        if token_id in vocabulary.special_ids:
            return "a special token, which the grammar does not name"
        return "it spells no bytes"

    # Byte by byte

    def _bytes(
        self, parse: AuthorParse | None, before: Standing
    ) -> tuple[tuple[WhyByte, ...], int | None, frozenset[int], str]:
        matcher, engine = self.matcher, self.engine
        data = self.data
        array = np.frombuffer(data, dtype=np.uint8).copy()  # the kernels take no constants
        position = matcher.position
        cells: list[WhyByte] = []
        standing, fed = before, 0
        fatal: int | None = None
        try:
            for i, byte in enumerate(data):
                states = engine.states(position)
                following = engine.advance_bytes(position, array, i, i + 1)
                if following < 0:
                    fatal = i
                    cells.append(WhyByte(byte, "fatal", states, standing.frames))
                    break
                cells.append(WhyByte(byte, "consumed", states, standing.frames))
                position = following
                if parse is not None:
                    fed, standing = self._follow(parse, byte, fed)
                else:
                    standing = self._states_only(position)
            cells += [WhyByte(byte, "not reached") for byte in data[len(cells) :]]
            expected = engine.live_bytes(position)
            if fatal is None:
                return tuple(cells), None, expected, "every byte may come"
            known = parse if standing.frames else None
            sentence = self._sentence(fatal, standing, expected, known)
            return tuple(cells), fatal, expected, sentence
        finally:
            if parse is not None:
                parse.take_back(fed)

    def _follow(self, parse: AuthorParse, byte: int, fed: int) -> tuple[int, Standing]:
        try:
            if parse.feed(bytes([byte])):
                return fed + 1, self._standing(parse, ways=True)
        except TooMuch:
            pass
        self.note = "the author's grammar could not be followed into the token"
        return fed, Standing()

    def _states_only(self, position: int) -> Standing:
        rules = self.engine.automaton.state_rules
        return Standing(
            tuple(Frame(state, rules[state]) for state in self.engine.states(position)[:1])
        )

    def _sentence(
        self,
        fatal: int,
        standing: Standing,
        expected: frozenset[int],
        parse: AuthorParse | None,
    ) -> str:
        data = self.data
        byte = data[fatal]
        lead = f"byte {fatal + 1} ({byte_quoted(byte)})"
        if not expected:
            return f"{lead} may not come: the text is complete"
        begun = _unfinished(data[:fatal])
        if begun and not 0x80 <= byte < 0xC0:
            return f"{lead} may not come inside a character, of which {begun.hex(' ').upper()} is there"
        if parse is not None and byte in parse.next_bytes():
            if not self.vocabulary.missing_bytes:
                return f"{lead} may come by the grammar, but leads to a part that never ends"
            return f"{lead} may come by the grammar, but no text that this vocabulary can spell goes on so"
        refused = parse.refused_text() if parse is not None and byte == _QUOTE else None
        if refused is not None:
            why = "it came before in this object" if refused[1] else "that one is listed, elsewhere"
            return f"{lead} may not end {json.dumps(refused[0], ensure_ascii=False)} here: {why}"
        frames, ways = standing.frames, standing.ways
        if not frames:
            return f"{lead} may not come"
        blocker = next((i for i, way in enumerate(ways) if not way.may_end), 0)
        inner = frames[min(blocker, len(frames) - 1)]
        for i, way in enumerate(ways):
            if i > blocker and byte in way.follows:
                if inner.count is not None and inner.count < inner.least:
                    return f"{lead} comes too early: of {inner.name} there are {inner.times}"
                return f"{lead} needs {frames[i].name} on top, found {inner}"
        top = frames[0]
        if top.count is not None and top.count == top.most:
            return f"{lead} may not come: {top.name} is full ({top.counted}, {top.since})"
        if frames[0] is not inner and ways and ways[0].may_end:
            return f"{lead} may not come in {top}{_says(top)}, nor after it{_at(top)}"
        return f"{lead} may not come in {inner}{_says(inner)}{_at(inner)}"

    # Ends and neighbours

    def _end(self, token_id: int, before: Standing) -> WhyEnd:
        label = self.vocabulary.label(token_id)
        if self.matcher.is_terminated:
            return WhyEnd(token_id, label, False, "the text has ended")
        if self._allowed(token_id):
            ends = self.engine.ends(self.matcher.position, token_id)
            reason = "the text is complete" if ends else "the grammar names this token here"
            return WhyEnd(token_id, label, True, reason)
        return WhyEnd(token_id, label, False, self._missing(before))

    def _missing(self, before: Standing) -> str:
        reason = "the text is not complete"
        open_ = next((i for i, way in enumerate(before.ways) if not way.may_end), None)
        if open_ is not None and open_ < len(before.frames):
            reason += f": {before.frames[open_]} is open"
        automaton = self.engine.automaton
        if NOT_BUILT in automaton.entry_state:
            return reason  # building all of it for one number is too much
        try:
            least = self.matcher.finish_distance()
        except GrammarTooComplex:
            return reason
        return f"{reason}, at least {number_of(least, 'more byte')}" if least else reason

    def _nearest(self, fatal: int | None) -> tuple[Nearest, ...]:
        if self.matcher.is_terminated or not self.data:
            return ()
        order, texts = _ordered(self.vocabulary)
        allowed = np.zeros(self.vocabulary.size, dtype=np.bool_)
        ids = self.matcher.allowed_ids()
        allowed[ids[ids < self.vocabulary.size]] = True
        data = self.data
        longest = len(data) if fatal is None else fatal
        found: dict[int, Nearest] = {}
        for shared in range(longest, 0, -1):
            low = bisect_left(texts, data[:shared])
            high = bisect_left(texts, _after(data[:shared]), low)
            near = order[low:high][allowed[order[low:high]]]
            texts_near = [(self.vocabulary.token_bytes(i), i) for i in near[:2000].tolist()]
            for text, i in sorted(texts_near, key=lambda pair: (len(pair[0]), pair)):
                found.setdefault(i, Nearest(i, text, shared))
            if len(found) >= NEAREST:
                break
        return tuple(list(found.values())[:NEAREST])


def _find(vocabulary: Vocabulary, token: int | str | bytes) -> tuple[int | None, bytes]:
    """The id of a token, if it is one, and its bytes."""
    if isinstance(token, str):
        for token_id in sorted(vocabulary.special_ids):
            if vocabulary.special_name(token_id) == token:
                return token_id, b""
        token = token.encode("utf-8", "surrogatepass")
    if isinstance(token, bytes | bytearray):
        data = bytes(token)
        order, texts = _ordered(vocabulary)
        at = bisect_left(texts, data)
        found = data and at < len(texts) and texts[at] == data
        return (int(order[at]) if found else None), data
    if not hasattr(token, "__index__"):
        raise wrong_type("explain", "a token: its id, text or bytes", token)
    token = index(token)
    if not 0 <= token < vocabulary.width:
        raise VocabularyError(f"token id {token} is not in 0..{vocabulary.width - 1}")
    return token, vocabulary.token_bytes(token)


_orders: WeakKeyDictionary[Vocabulary, tuple[NDArray[np.int64], list[bytes]]] = WeakKeyDictionary()


def _ordered(vocabulary: Vocabulary) -> tuple[NDArray[np.int64], list[bytes]]:
    """The ids in the order of (bytes, id), and those bytes; made once a vocabulary."""
    found = _orders.get(vocabulary)
    if found is None:
        pairs = sorted((vocabulary.token_bytes(i), i) for i in range(vocabulary.size))
        ids = np.array([i for _, i in pairs], dtype=np.int64)
        found = _orders[vocabulary] = ids, [text for text, _ in pairs]
    return found


def _says(frame: Frame) -> str:
    """What a schema says at a frame's place."""
    return f", of {frame.source}" if frame.pointer is not None and frame.source else ""


def _at(frame: Frame) -> str:
    """The place inside a frame's rule."""
    return f": {frame.place}" if frame.place else ""


def tokens_at(vocabulary: Vocabulary, text: bytes, start: int) -> list[int]:
    """The tokens that a text goes on with from an offset, shortest first."""
    order, texts = _ordered(vocabulary)
    found = []
    for end in range(start + 1, min(len(text), start + vocabulary.max_token_bytes) + 1):
        piece = text[start:end]
        at = bisect_left(texts, piece)
        if at < len(texts) and texts[at] == piece:
            found.append(int(order[at]))
    return found


def _after(prefix: bytes) -> bytes:
    """The least byte string above all that begin with a prefix."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return prefix + b"\xff" * 256
    return stripped[:-1] + bytes([stripped[-1] + 1])


def _unfinished(data: bytes) -> bytes:
    """The bytes of a character that a byte string ends in the middle of."""
    for size in range(1, min(3, len(data)) + 1):
        lead = data[-size]
        if 0x80 <= lead < 0xC0:
            continue
        wanted = (
            2
            if 0xC2 <= lead < 0xE0
            else 3
            if 0xE0 <= lead < 0xF0
            else 4
            if 0xF0 <= lead < 0xF5
            else 1
        )
        return data[-size:] if wanted > size else b""
    return b""
