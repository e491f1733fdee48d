"""From a trace to what the screens show: each recorded step becomes a position, with its picture and its tokens.

A session makes the positions of a live run in the same way.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.automaton.dot import Picture, is_final, picture
from workbench.automaton.frames import Frame, Stack
from workbench.automaton.naming import place, places, repeated_entries
from workbench.decoding.trace import Trace, TraceStep, byte_order
from workbench.notebook.views import (
    Document,
    Edge,
    Inside,
    Position,
    Row,
    Times,
    TokenTable,
)
from workbench.wording import cut

if TYPE_CHECKING:
    from workbench.automaton.network import Automaton
    from workbench.diagnostics.author.spans import SpanReader
    from workbench.engine import CompiledGrammar

__all__ = [
    "Pictures",
    "add_insides",
    "add_position",
    "closed_position",
    "edge_of",
    "from_trace",
    "position_before",
    "span_reader",
    "start_document",
]

#: Rows of the candidate table that are kept per position, of each of the two top lists.
TOP = 50
#: Characters of a grammar text that a document keeps.
GRAMMAR_SHOWN = 20_000


class Pictures:
    """Draws an automaton for positions, each different picture once."""

    def __init__(self, automaton: Automaton | None) -> None:
        self.automaton = automaton
        self._whole: tuple[str, Picture] | None = None
        self._known: dict[object, tuple[str, Picture]] = {}

    def at(self, live: Sequence[int], stacks: Sequence[Stack]) -> tuple[str, Picture] | None:
        """The picture for a position and its key, or None when there is no automaton."""
        if self.automaton is None:
            return None
        if self._whole is None:
            around = [frame.state for frames in stacks for frame in frames[1:4]]
            returns = [
                (frames[0].state, target)
                for frames in stacks
                if len(frames) > 1 and is_final(self.automaton, frames[0].state)
                for target in (frames[1].state, *frames[1].again)
            ]
            around += [state for frames in stacks if len(frames) > 1 for state in frames[1].again]
            place = tuple(live), tuple(around), tuple(returns)
            if place not in self._known:
                drawn = picture(self.automaton, live, around, returns)
                key = f"{zlib.crc32(drawn.source.encode('utf-8')):08x}"
                if not drawn.hidden:
                    self._whole = key, drawn
                self._known[place] = key, drawn
            return self._known[place]
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
        stacks=tuple(map(trace.stack, step.stacks)),
        stack_count=step.stack_count,
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
        step.token_id,
        step.kind,
        step.probability_before,
        step.probability_after,
        step.rank_before,
        f"draft ({step.draft_source}) {step.draft}" if step.draft else "",
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
        stacks=tuple(trace.stack(top) for top in tops if top < len(trace.stack_nodes)),
        stack_count=count if isinstance(count := final.get("stack_count"), int) else 0,
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
        "grammar text": cut(trace.grammar_text, GRAMMAR_SHOWN),
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
        sampling={
            name: trace.settings[name]
            for name in ("temperature", "top_k", "top_p", "min_p")
            if isinstance(trace.settings.get(name), int | float | None) and name in trace.settings
        },
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
        position = replace(
            position, live=before.live, stacks=before.stacks, stack_count=before.stack_count
        )
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


def add_insides(
    document: Document, insides: tuple[Inside, ...], pictures: Pictures
) -> tuple[Inside, ...]:
    """Places inside a token with a picture of each, which the document keeps."""
    automaton = pictures.automaton
    if automaton is None:
        return insides
    found: list[Inside] = []
    for inside in insides:
        stacks = _placed(inside.stacks, automaton)
        drawn = pictures.at(inside.live, stacks)
        assert drawn is not None
        add_picture(document, *drawn, automaton)
        found.append(Inside(inside.live, stacks, drawn[0]))
    return tuple(found)


def _placed(stacks: tuple[Stack, ...], automaton: Automaton) -> tuple[Stack, ...]:
    """Stacks with their frames called as the states of the picture are, and with the next rounds of counted parts."""
    return tuple(_named(frames, automaton) for frames in stacks)


def _named(frames: Stack, automaton: Automaton) -> Stack:
    found: list[Frame] = []
    within: tuple[str, ...] = ()
    for frame in reversed(frames):
        counted = frame.count is not None
        names = places(automaton, frame.state, within) or frame.rules
        again = repeated_entries(automaton, frame.state) if counted else ()
        found.append(replace(frame, rules=names, again=again))
        within = names if counted else ()
    return tuple(reversed(found))


def add_picture(document: Document, key: str, drawn: Picture, automaton: Automaton | None) -> None:
    """Put a picture into a document, with the rules of the states that it shows."""
    if key in document.pictures or automaton is None:
        return
    document.pictures[key] = drawn
    shown = [*drawn.states, *(t.target for t in drawn.transitions)]
    for state in shown:
        if state not in document.rules and (name := place(automaton, state)):
            document.rules[state] = name


def span_reader(compiled: object) -> SpanReader | None:
    """What tells the spans of texts of a compiled grammar; None for anything else."""
    from workbench.diagnostics.author.spans import SpanReader
    from workbench.engine import CompiledGrammar
    from workbench.engine.tokens import resolve_tokens

    if not isinstance(compiled, CompiledGrammar):
        return None
    grammar = compiled.spelled
    return SpanReader(grammar, resolve_tokens(grammar, compiled.vocabulary))


def from_trace(
    trace: Trace,
    vocabulary: TokenTable,
    automaton: Automaton | None = None,
    title: str | None = None,
    *,
    grammar: CompiledGrammar | None = None,
    complete: bool = False,
) -> Document:
    """Make the document of a recorded run: one position per step, and the end.

    ``grammar``, the compiled grammar of the run, adds the spans of the text; ``complete`` adds the whole vocabulary and
    all masks, so that a page can search every token without a kernel. Raises ``WorkbenchError`` for masks that cannot
    be read.
    """
    document = start_document(trace, vocabulary, title)
    pictures = Pictures(automaton)
    spans = span_reader(grammar)
    read: list[tuple[int, bytes]] = []

    def put(position: Position) -> None:
        turn = None if spans is None else spans.go_to(read)
        add_position(document, replace(position, spans=turn), pictures, vocabulary)

    edge: Edge | None = None
    for number, step in enumerate(trace.steps):
        put(position_before(trace, step, number, number - 1, edge))
        edge = edge_of(step)
        read.append((step.token_id, step.token_bytes))
    number = len(trace.steps)
    put(closed_position(trace, number, number - 1, edge))
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
