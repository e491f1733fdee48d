"""What the screens show, as plain values: positions of a run, candidates, stacks, pictures, times.

A :class:`Document` is made from a trace (:func:`from_trace`) or grown by a session. It is lowered three
ways: to the JSON that the front end reads (:meth:`Document.wire`), to HTML without scripts
(``static_html.py``) and to text. Nothing here computes masks or probabilities, and nothing needs IPython.

Positions form a tree: position 0 is the start, every other one is reached from its parent by a token.

Next file to read: ``workbench/notebook/session.py``.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.automaton.dot import Picture, is_final, picture
from workbench.decoding.trace import Trace, TraceStep, byte_order
from workbench.notebook.places import place, places
from workbench.notebook.wire import (
    finite,
    picture_wire,
    problem_wire,
    row_wire,
    rules_wire,
    tokens_wire,
)

if TYPE_CHECKING:
    from workbench.automaton.model import Automaton

__all__ = [
    "Document",
    "Edge",
    "Frame",
    "Pictures",
    "Position",
    "Row",
    "TokenTable",
    "Why",
    "WhyCell",
    "closed_position",
    "from_trace",
    "position_before",
]

WIRE_VERSION = 1
#: Rows of the candidate table that are kept per position, of each of the two top lists.
TOP = 50
#: Characters of a grammar text that a document keeps.
GRAMMAR_SHOWN = 20_000


class TokenTable(Protocol):
    """What the screens need of a vocabulary."""

    @property
    def size(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def special_ids(self) -> frozenset[int]: ...
    def token_bytes(self, token_id: int, /) -> bytes: ...
    def special_name(self, token_id: int, /) -> str: ...
    def label(self, token_id: int, /) -> str: ...


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate: probability before and after the mask (None: too small to be recorded)."""

    token_id: int
    before: float | None
    after: float | None
    allowed: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """How a position was reached: the token, how it was taken, its probabilities and rank (from 0)."""

    token_id: int
    kind: str
    before: float
    after: float
    rank: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a stack: the state (on top) or where the call returns to, and the author's rules."""

    state: int
    rules: tuple[str, ...]
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one step; ``mask`` = ``hidden`` behind the forward pass + ``exposed``."""

    mask: float
    hidden: float
    exposed: float
    forward: float
    sample: float


@dataclass(frozen=True, slots=True)
class WhyCell:
    """One byte of a token: what became of it, where the text stood before it."""

    status: str
    states: tuple[int, ...] = ()
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Why a token is allowed or not: bytes that live, one sentence, the bytes accepted there.

    ``cells`` tell of each byte what became of it, the states before it and the open parts, innermost first;
    ``nearest`` are allowed tokens that begin alike.
    """

    consumed: int
    reason: str
    expected: str = ""
    cells: tuple[WhyCell, ...] = ()
    nearest: tuple[int, ...] = ()
    note: str = ""

    def wire(self) -> dict[str, Any]:
        """The JSON form that the front end reads; what is empty is left out."""
        found: dict[str, Any] = {
            "consumed": self.consumed,
            "reason": self.reason,
            "expected": self.expected,
        }
        if self.cells:
            found["cells"] = [[c.status, list(c.states), list(c.stack)] for c in self.cells]
        if self.nearest:
            found["nearest"] = list(self.nearest)
        if self.note:
            found["note"] = self.note
        return found


@dataclass(frozen=True, slots=True)
class Position:
    """What is known before the next token. ``open`` is False where the run ended: no candidates."""

    id: int
    parent: int = -1
    edge: Edge | None = None
    open: bool = True
    allowed: int = 0
    mass_removed: float = 0.0
    entropy_before: float = 0.0
    entropy_after: float = 0.0
    rows: tuple[Row, ...] = ()
    accepting: bool = False
    live: tuple[int, ...] = ()
    stacks: tuple[tuple[Frame, ...], ...] = ()
    graph: str = ""
    mask: str = ""
    times: Times | None = None
    #: the token that the sampler would take, where that is known
    next: int | None = None
    end: str | None = None
    whys: dict[int, Why] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Frames of the first live stack."""
        return len(self.stacks[0]) if self.stacks else 0

    @property
    def top_rules(self) -> frozenset[str]:
        """The author's rules on top of the live stacks."""
        return frozenset(rule for frames in self.stacks if frames for rule in frames[0].rules)

    def wire(self) -> dict[str, Any]:
        """The JSON form that the front end reads."""
        edge, times = self.edge, self.times
        return {
            "id": self.id,
            "parent": self.parent,
            "edge": edge
            and {
                "token": edge.token_id,
                "kind": edge.kind,
                "before": finite(edge.before),
                "after": finite(edge.after),
                "rank": edge.rank,
            },
            "open": self.open,
            "allowed": self.allowed,
            "massRemoved": finite(self.mass_removed),
            "entropyBefore": finite(self.entropy_before),
            "entropyAfter": finite(self.entropy_after),
            "rows": [row_wire(row) for row in self.rows],
            "accepting": self.accepting,
            "live": list(self.live),
            "stacks": [
                [{"state": f.state, "rules": list(f.rules), "count": f.count} for f in frames]
                for frames in self.stacks
            ],
            "graph": self.graph,
            "mask": self.mask,
            "times": times
            and {
                "mask": times.mask,
                "hidden": times.hidden,
                "exposed": times.exposed,
                "forward": times.forward,
                "sample": times.sample,
            },
            "next": self.next,
            "end": self.end,
            "whys": {str(token): why.wire() for token, why in self.whys.items()},
        }


@dataclass(slots=True, kw_only=True)
class Document:
    """Everything that a screen shows of one run; positions are only ever added or replaced."""

    title: str
    meta: dict[str, str] = field(default_factory=dict)
    vocabulary_size: int = 0
    prompt: tuple[int, ...] = ()
    prompt_text: str = ""
    tokens: dict[int, tuple[bytes, str | None]] = field(default_factory=dict)
    positions: list[Position] = field(default_factory=list)
    pictures: dict[str, Picture] = field(default_factory=dict)
    masks: dict[str, list[int]] = field(default_factory=dict)
    #: True when ``tokens`` holds the whole vocabulary and ``masks`` every mask
    complete: bool = False
    problem: tuple[str, str] | None = None
    #: the author's rule of each state that a picture shows
    rules: dict[int, str] = field(default_factory=dict)
    #: what the screens beside the stepper show, by screen
    panels: dict[str, Any] = field(default_factory=dict)

    def path(self, leaf: int | None = None) -> list[Position]:
        """Positions from the start to ``leaf`` (by default the end of the newest branch)."""
        at = len(self.positions) - 1 if leaf is None else leaf
        found = []
        while at >= 0:
            found.append(self.positions[at])
            at = self.positions[at].parent
        return found[::-1]

    def text(self, leaf: int | None = None) -> str:
        """The text of the tokens on a path."""
        edges = [position.edge for position in self.path(leaf) if position.edge]
        data = b"".join(self.tokens[edge.token_id][0] for edge in edges)
        return data.decode("utf-8", errors="replace")

    def add_tokens(self, ids: Iterable[int], vocabulary: TokenTable) -> list[int]:
        """Take over the bytes of tokens that the document has not yet; returns their ids."""
        new = [i for i in dict.fromkeys(ids) if i not in self.tokens]
        self.tokens.update((i, token_entry(i, vocabulary)) for i in new)
        return new

    def wire(self) -> dict[str, Any]:
        """The JSON form that the front end reads."""
        return {
            "version": WIRE_VERSION,
            "title": self.title,
            "meta": self.meta,
            "vocabularySize": self.vocabulary_size,
            "prompt": list(self.prompt),
            "promptText": self.prompt_text,
            "tokens": tokens_wire(self.tokens),
            "positions": [position.wire() for position in self.positions],
            "graphs": {key: picture_wire(picture) for key, picture in self.pictures.items()},
            "masks": self.masks,
            "complete": self.complete,
            "problem": problem_wire(self.problem),
            "rules": rules_wire(self.rules),
            "panels": self.panels,
        }

    def payload(self) -> bytes:
        """The JSON form as deflated UTF-8."""
        text = json.dumps(self.wire(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return zlib.compress(text.encode("utf-8", errors="surrogatepass"), 6)


def token_entry(token_id: int, vocabulary: TokenTable) -> tuple[bytes, str | None]:
    """The bytes of a token, and its name if it is special or spells nothing."""
    if token_id in vocabulary.special_ids:
        return b"", vocabulary.special_name(token_id)
    data = vocabulary.token_bytes(token_id)
    return data, None if data else vocabulary.label(token_id)


class Pictures:
    """Draws an automaton for positions, each different picture once."""

    def __init__(self, automaton: Automaton | None) -> None:
        self.automaton = automaton
        self._whole: tuple[str, Picture] | None = None

    def at(
        self, live: Sequence[int], stacks: Sequence[Sequence[Frame]]
    ) -> tuple[str, Picture] | None:
        """The picture for a position and its key, or None when there is no automaton."""
        if self.automaton is None:
            return None
        if self._whole is None:
            around = [frame.state for frames in stacks for frame in frames[1:4]]
            returns = [
                (frames[0].state, frames[1].state)
                for frames in stacks
                if len(frames) > 1 and is_final(self.automaton, frames[0].state)
            ]
            drawn = picture(self.automaton, live, around, returns)
            key = f"{zlib.crc32(drawn.source.encode('utf-8')):08x}"
            if drawn.hidden:
                return key, drawn
            self._whole = key, drawn
        return self._whole


def _rows(step: TraceStep) -> tuple[Row, ...]:
    """Join the two top lists.

    The mask keeps the order of the tokens that it leaves, so an allowed token of the first list is in
    the second one too; and the two probabilities differ by the mass that was kept.
    """
    after = dict(step.top_after[:TOP])
    kept = math.exp(min(step.logsumexp_after - step.logsumexp_before, 0.0))
    rows = [Row(i, p, after.get(i), i in after) for i, p in step.top_before[:TOP]]
    known = {row.token_id for row in rows}
    rows += [Row(i, p * kept, p, True) for i, p in after.items() if i not in known]
    return tuple(rows)


def stacks_of(trace: Trace, tops: Iterable[int]) -> tuple[tuple[Frame, ...], ...]:
    """Read stacks of a trace, each top first."""
    return tuple(
        tuple(Frame(node.state, tuple(node.rules), node.count) for node in trace.stack(top))
        for top in tops
    )


def position_before(
    trace: Trace, step: TraceStep, number: int, parent: int, edge: Edge | None
) -> Position:
    """The position that a recorded step started from."""
    return Position(
        id=number,
        parent=parent,
        edge=edge,
        allowed=step.allowed_count,
        mass_removed=step.mass_removed,
        entropy_before=step.entropy_before,
        entropy_after=step.entropy_after,
        rows=_rows(step),
        accepting=step.is_accepting,
        live=tuple(step.live_states),
        stacks=stacks_of(trace, step.stacks),
        mask=step.mask,
        times=Times(
            step.mask_ms,
            step.mask_hidden_ms,
            step.mask_exposed_ms,
            step.forward_ms,
            step.sample_ms,
        ),
    )


def edge_of(step: TraceStep) -> Edge:
    """How a recorded step went on."""
    return Edge(
        step.token_id, step.kind, step.probability_before, step.probability_after, step.rank_before
    )


def closed_position(trace: Trace, number: int, parent: int, edge: Edge | None) -> Position:
    """The position after the last step of a trace."""
    final = trace.final
    tops = [top for top in final.get("stacks", ()) if isinstance(top, int)]
    return Position(
        id=number,
        parent=parent,
        edge=edge,
        open=False,
        accepting=bool(final.get("is_accepting", False)),
        live=tuple(int(state) for state in final.get("live_states", ())),
        stacks=stacks_of(trace, [top for top in tops if top < len(trace.stack_nodes)]),
        end=trace.finish_reason,
    )


def _meta(trace: Trace) -> dict[str, str]:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(trace.versions.items()))
    settings = ", ".join(f"{name} {value}" for name, value in trace.settings.items())
    found = {
        "model": trace.model_name,
        "grammar": trace.grammar_kind.replace("_", " "),
        "settings": settings,
        "device": trace.device,
        "date": trace.created,
        "versions": versions,
        "grammar text": trace.grammar_text[:GRAMMAR_SHOWN],
    }
    return {name: value for name, value in found.items() if value}


def start_document(trace: Trace, vocabulary: TokenTable, title: str | None) -> Document:
    """A document of a run without positions."""
    document = Document(
        title=title or f"{trace.grammar_kind.replace('_', ' ') or 'constrained'} run",
        meta=_meta(trace),
        vocabulary_size=trace.vocabulary_size or vocabulary.size,
        prompt=tuple(i for i in trace.prompt_ids if 0 <= i < vocabulary.width),
        prompt_text=trace.prompt_text,
    )
    document.add_tokens(document.prompt, vocabulary)
    return document


def add_position(
    document: Document, position: Position, pictures: Pictures, vocabulary: TokenTable
) -> Position:
    """Put a position into a document (at its id), with its picture and tokens.

    An end token leaves no live state: its position shows where the text ended.
    """
    if not position.open and not position.live and position.edge and position.edge.kind == "eos":
        before = document.positions[position.parent]
        position = replace(position, live=before.live, stacks=before.stacks)
    if pictures.automaton is not None:
        position = replace(position, stacks=_placed(position.stacks, pictures.automaton))
    drawn = pictures.at(position.live, position.stacks)
    if drawn is not None:
        add_picture(document, *drawn, pictures.automaton)
        position = replace(position, graph=drawn[0])
    ids = [row.token_id for row in position.rows]
    document.add_tokens([*ids, *([position.edge.token_id] if position.edge else [])], vocabulary)
    if position.id == len(document.positions):
        document.positions.append(position)
    else:
        document.positions[position.id] = position
    return position


def _placed(
    stacks: tuple[tuple[Frame, ...], ...], automaton: Automaton
) -> tuple[tuple[Frame, ...], ...]:
    """Stacks with their frames called by the place of a schema, where it is one."""
    return tuple(
        tuple(replace(f, rules=places(automaton, f.state) or f.rules) for f in frames)
        for frames in stacks
    )


def add_picture(document: Document, key: str, drawn: Picture, automaton: Automaton | None) -> None:
    """Put a picture into a document, with the rules of the states that it shows."""
    if key in document.pictures or automaton is None:
        return
    document.pictures[key] = drawn
    shown = [*drawn.states, *(t.target for t in drawn.transitions)]
    for state in shown:
        if state not in document.rules and (name := place(automaton, state)):
            document.rules[state] = name


def from_trace(
    trace: Trace,
    vocabulary: TokenTable,
    automaton: Automaton | None = None,
    title: str | None = None,
    *,
    complete: bool = False,
) -> Document:
    """Make the document of a recorded run: one position per step, and the end.

    ``complete`` adds the whole vocabulary and all masks, so that a page can search every token
    without a kernel. Raises ``WorkbenchError`` for masks that cannot be read.
    """
    document = start_document(trace, vocabulary, title)
    pictures = Pictures(automaton)
    edge: Edge | None = None
    for number, step in enumerate(trace.steps):
        position = position_before(trace, step, number, number - 1, edge)
        add_position(document, position, pictures, vocabulary)
        edge = edge_of(step)
    number = len(trace.steps)
    add_position(document, closed_position(trace, number, number - 1, edge), pictures, vocabulary)
    if trace.error:
        document.problem = (trace.finish_reason or "error").replace("_", " "), trace.error
    if complete:
        add_masks(document, trace, vocabulary)
    return document


def add_masks(document: Document, trace: Trace, vocabulary: TokenTable) -> None:
    """Put the whole vocabulary and all masks of a trace into a document.

    A mask becomes runs ``[start, length, ...]`` over the ids in the order of (bytes, id), where tokens
    with a common beginning are neighbours.
    """
    document.add_tokens(range(vocabulary.size), vocabulary)
    order = byte_order(vocabulary)
    for key in dict.fromkeys(step.mask for step in trace.steps if step.mask in trace.masks):
        bits = trace.allowed(key, vocabulary)[order]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], bits, [False])).astype(np.int8)))
        starts, ends = edges[::2], edges[1::2]
        document.masks[key] = np.stack([starts, ends - starts], axis=1).ravel().tolist()
    document.complete = True
