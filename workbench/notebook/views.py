"""What the screens show, as plain values: positions of a run, candidates, stacks, pictures, times.

A :class:`Document` is made from a trace (``recorded.py``) or grown by a session. It is lowered three
ways: to the JSON that the front end reads (:meth:`Document.wire`), to HTML without scripts
(``static_html.py``) and to text. Nothing here computes masks or probabilities, and nothing needs IPython.

Positions form a tree: position 0 is the start, every other one is reached from its parent by a token.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from workbench.automaton.frames import Stack, depth
from workbench.decoding.trace import MAX_COUNTED
from workbench.notebook.wire import (
    finite,
    packed,
    picture_wire,
    problem_wire,
    row_wire,
    rules_wire,
    spelled,
    stacks_wire,
    tokens_wire,
    turn_wire,
    why_wire,
)

if TYPE_CHECKING:
    from workbench.automaton.dot import Picture
    from workbench.diagnostics.author.spans import Turn
    from workbench.engine.why import Why
    from workbench.notebook.panel_runs import OtherRuns

__all__ = [
    "STOPPED",
    "Document",
    "Edge",
    "Inside",
    "Position",
    "Row",
    "Times",
    "TokenTable",
]

WIRE_VERSION = 2
#: The kind of a problem that is none: a run that ended before it reached anything.
STOPPED = "stopped"


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
    """How a position was reached: the token, how it was taken, its probabilities and rank (from 0).

    ``draft`` says in words what became of a token that was drafted there.
    """

    token_id: int
    kind: str
    before: float
    after: float
    rank: int
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one step; ``mask`` = ``hidden`` behind the forward pass + ``exposed``."""

    mask: float
    hidden: float
    exposed: float
    forward: float
    sample: float


@dataclass(frozen=True, slots=True)
class Inside:
    """Where the text stands between two bytes of a token: live states, stacks, and the key of the picture."""

    live: tuple[int, ...]
    stacks: tuple[Stack, ...]
    graph: str = ""


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
    stacks: tuple[Stack, ...] = ()
    #: live stacks in all; 0 where no more than the listed ones are known of
    stack_count: int = 0
    graph: str = ""
    mask: str = ""
    times: Times | None = None
    #: the token that the sampler would take, where that is known
    next: int | None = None
    end: str | None = None
    #: what the token before it did to the spans of the text; None where the grammar is not known
    spans: Turn | None = None
    #: why tokens are allowed or not, as far as it was asked
    whys: dict[int, Why] = field(default_factory=dict)
    #: of tokens that were asked about by a person: where the text stands before each byte that may come, and after
    #: the last one where all may
    insides: dict[int, tuple[Inside, ...]] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Frames of the first live stack; of a very deep one the last frame stands for those left out."""
        return depth(self.stacks[0]) if self.stacks else 0

    @property
    def stack_total(self) -> str:
        """How many stacks are live, as a text: beyond what is counted "1,000 or more"."""
        total = max(self.stack_count, len(self.stacks))
        return f"{total:,}{' or more' if total >= MAX_COUNTED else ''}"

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
            "stacks": stacks_wire(self.stacks),
            "stackCount": max(self.stack_count, len(self.stacks)),
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
            "spans": self.spans and turn_wire(self.spans),
            "whys": {
                str(token): why_wire(why, self.insides.get(token, ()))
                for token, why in self.whys.items()
            },
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
    #: how tokens are drawn after the mask: "temperature", "top_k", "top_p", "min_p"; empty where not recorded
    sampling: dict[str, float | None] = field(default_factory=dict)
    #: the other runs of the same panel
    runs: OtherRuns | None = None
    #: what the screens beside the stepper show, by screen
    panels: dict[str, Any] = field(default_factory=dict)

    @property
    def trouble(self) -> tuple[str, str, str] | None:
        """A sign, the kind and the message of the problem; a run that was stopped is none to be warned of."""
        if self.problem is None:
            return None
        kind, message = self.problem
        return "■" if kind == STOPPED else "⊘", kind, message

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
            "sampling": self.sampling,
            "runs": self.runs and self.runs.wire(),
            "panels": self.panels,
        }

    def payload(self) -> bytes:
        """The JSON form as deflated UTF-8."""
        return packed(spelled(self.wire()))


def token_entry(token_id: int, vocabulary: TokenTable) -> tuple[bytes, str | None]:
    """The bytes of a token, and its name if it is special or spells nothing."""
    if token_id in vocabulary.special_ids:
        return b"", vocabulary.special_name(token_id)
    data = vocabulary.token_bytes(token_id)
    return data, None if data else vocabulary.label(token_id)
