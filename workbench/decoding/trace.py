"""The record of a decoding run, and its open JSON form.

A :class:`Trace` says what a run was (grammar, model, prompt, settings) and holds one
:class:`TraceStep` a token. It is plain data: no torch, no engine objects and no engine ids, so a
saved trace opens years later and on another machine. Two things are stored once and referred to:
mask rows (by content hash, ``Trace.masks``) and stack nodes (by index, ``Trace.stack_nodes``).

JSON, version 1: an object with the field names of :class:`Trace`; ``steps`` is a list of objects
with the field names of :class:`TraceStep` (``token_bytes`` in hexadecimal, numbers that are not
finite as the strings "nan", "inf" and "-inf"); ``masks`` maps a hash to base64 of zlib of the packed
bits, bit ``i`` (least significant first in each byte) being token ``i`` when ``mask_order`` is "id",
or the ``i``-th token in the order of (bytes, id) when it is "bytes"; ``stack_nodes`` is a list of
``[state, rules, count, parent]``. Fields that a reader does not know are ignored.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import math
import os
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.frames import NO_STATE, Frame, Stack
from workbench.errors import WorkbenchError
from workbench.files import irregular, to_be_written
from workbench.inputs import need_path
from workbench.wording import number_of

__all__ = [
    "MAX_COUNTED",
    "TRACE_VERSION",
    "FinishReason",
    "StackNode",
    "StepKind",
    "Trace",
    "TraceStep",
    "byte_order",
]

TRACE_VERSION = 1
#: Live stacks are counted so far.
MAX_COUNTED = 1000
#: A trace file larger than this (after decompression) is refused.
MAX_FILE_BYTES = 1 << 30

StepKind = Literal["sampled", "forced", "chosen", "eos"]
DraftVerdict = Literal["", "accepted", "refused", "injected"]
FinishReason = Literal["eos", "length", "stop", "dead_end", "interrupted"]


class _TokenTable(Protocol):
    """What reading a mask in byte order needs of a vocabulary."""

    @property
    def size(self) -> int: ...
    @property
    def width(self) -> int: ...
    def token_bytes(self, token_id: int, /) -> bytes: ...


def byte_order(vocabulary: _TokenTable) -> NDArray[np.int32]:
    """Order the ids of a vocabulary by (token bytes, id), the padded tail last.

    Returns int32 of shape (width,). Tokens with a common beginning become neighbours, so that a
    mask row permuted this way compresses to a few hundred bytes.
    """
    ids = sorted(range(vocabulary.size), key=lambda i: (vocabulary.token_bytes(i), i))
    ids.extend(range(vocabulary.size, vocabulary.width))
    return np.array(ids, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class StackNode:
    """A recorded frame and the index of the one below, or -1: stacks share their lower frames.

    In JSON ``[state, rules, count, parent]``. The deep end of a very deep stack is one node of the state -1, with the
    number of its frames as count.
    """

    frame: Frame
    parent: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One token of a run: what was known before it was taken, and how it was taken.

    Probabilities are the model's at temperature 1, before the mask and after it (renormalised);
    ``kind`` is "sampled" (by the settings of the run), "forced" (the mask left a single token),
    "chosen" (by a person) or "eos". ``mass_removed`` is the probability that the mask took away.
    ``rank_before`` is 0 for the token that the model liked best. Entropies are in bits. The two top
    lists hold (token id, probability), best first, 50 at most. Times are in milliseconds:
    ``mask_ms`` (computing the mask and sending it to the device) = ``mask_hidden_ms`` (while the
    forward pass ran) + ``mask_exposed_ms``.
    ``stacks`` are indices into ``Trace.stack_nodes``, eight at most; ``stack_count`` is how many were live (1,000
    where there were so many or more; 0 in older traces). ``mask`` is a key of ``Trace.masks``. In a run that is to be
    complete, ``budget_left`` is how many tokens it had left, this one and the end included (0 in other runs), and
    ``budget_removed`` how many tokens the mask lost because no complete text would have fitted after them.
    ``forced_bytes`` is how many bytes had to come here, 32 at most.

    Where a token was drafted, ``draft`` says what became of it: "accepted" (the token of this step is the one
    that the model took of itself), "refused" (the model took another one) or "injected" (it was put in without
    asking the model). ``draft_token`` is the draft's token, ``draft_source`` who drafted it: "forced" (bytes that
    had to come), "prompt" (a copy out of the prompt or text) or "model" (a second model). ``forward_ms`` is 0
    where an earlier step's pass ran this one's as well; ``draft_ms`` is what it took to draft for a pass.
    """

    index: int
    kind: StepKind
    token_id: int
    token_bytes: bytes
    allowed_count: int = 0
    probability_before: float = 0.0
    probability_after: float = 0.0
    mass_removed: float = 0.0
    rank_before: int = 0
    entropy_before: float = 0.0
    entropy_after: float = 0.0
    logsumexp_before: float = 0.0
    logsumexp_after: float = 0.0
    top_before: tuple[tuple[int, float], ...] = ()
    top_after: tuple[tuple[int, float], ...] = ()
    mask: str = ""
    live_states: tuple[int, ...] = ()
    stacks: tuple[int, ...] = ()
    stack_count: int = 0
    is_accepting: bool = False
    budget_left: int = 0
    budget_removed: int = 0
    mask_ms: float = 0.0
    mask_hidden_ms: float = 0.0
    mask_exposed_ms: float = 0.0
    forward_ms: float = 0.0
    sample_ms: float = 0.0
    forced_bytes: int = 0
    draft: DraftVerdict = ""
    draft_source: str = ""
    draft_token: int = -1
    draft_ms: float = 0.0
    #: The step before, so that ``text_before`` costs no memory; not part of the JSON form.
    previous: TraceStep | None = field(default=None, repr=False, compare=False)

    @property
    def is_certain(self) -> bool:
        """Whether all bytes of the token had to come, whatever tokens might spell them."""
        return 0 < len(self.token_bytes) <= self.forced_bytes

    @property
    def bytes_before(self) -> bytes:
        """The bytes of all tokens before this one."""
        parts: list[bytes] = []
        step = self.previous
        while step is not None:
            parts.append(step.token_bytes)
            step = step.previous
        return b"".join(reversed(parts))

    @property
    def text_before(self) -> str:
        """The text before this token; a character cut in two shows as U+FFFD."""
        return self.bytes_before.decode("utf-8", errors="replace")


@dataclass(slots=True, kw_only=True)
class Trace:
    """The full record of one run; see the module docstring for the JSON form.

    ``final`` describes the configuration after the last step (``live_states``, ``stacks``, ``stack_count``,
    ``is_accepting``): where a dead end is. ``error`` is the message of the error that ended it. ``drafts``, of a run
    with drafts, counts ``forward_passes``, ``draft_passes`` (those of a second model), the tokens ``proposed`` by
    each source, and those ``replaced`` where injected text was cut together with a token before it.
    """

    version: int = TRACE_VERSION
    created: str = ""
    grammar_kind: str = ""
    grammar_text: str = ""
    model_name: str = ""
    vocabulary_fingerprint: str = ""
    vocabulary_size: int = 0
    vocabulary_width: int = 0
    prompt_text: str = ""
    prompt_ids: list[int] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    steps: list[TraceStep] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    error: str | None = None
    final: dict[str, Any] = field(default_factory=dict)
    device: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    drafts: dict[str, Any] = field(default_factory=dict)
    mask_order: Literal["id", "bytes"] = "id"
    masks: dict[str, str] = field(default_factory=dict)
    stack_nodes: list[StackNode] = field(default_factory=list)
    _node_index: dict[StackNode, int] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __repr__(self) -> str:
        return f"<Trace of {number_of(len(self.steps), 'step')}, {self.finish_reason}: {self.text[:40]!r}>"

    @property
    def token_ids(self) -> list[int]:
        """The ids of all steps, an end-of-sequence token included."""
        return [step.token_id for step in self.steps]

    @property
    def output(self) -> bytes:
        """The bytes of all tokens."""
        return b"".join(step.token_bytes for step in self.steps)

    @property
    def text(self) -> str:
        """The text of all tokens; bytes that are not UTF-8 show as U+FFFD."""
        return self.output.decode("utf-8", errors="replace")

    def copy(self) -> Trace:
        """Copy the trace so that steps added to one do not show in the other."""
        return replace(
            self,
            prompt_ids=list(self.prompt_ids),
            settings=dict(self.settings),
            steps=list(self.steps),
            final=dict(self.final),
            versions=dict(self.versions),
            timings=dict(self.timings),
            drafts=dict(self.drafts),
            masks=dict(self.masks),
            stack_nodes=list(self.stack_nodes),
        )

    def append(self, step: TraceStep) -> TraceStep:
        """Add a step, linked to the one before; returns the step as stored."""
        linked = replace(
            step, index=len(self.steps), previous=self.steps[-1] if self.steps else None
        )
        self.steps.append(linked)
        return linked

    def add_mask(self, row: NDArray[Any], order: NDArray[np.int32] | None = None) -> str:
        """Store a mask row once and return its key.

        ``row`` is int32 of shape (words,), bit ``id % 32`` of word ``id // 32``; ``order`` is the
        result of :func:`byte_order` when ``mask_order`` is "bytes". Raises ``ValueError`` when an
        order is missing or not wanted.
        """
        if (self.mask_order == "bytes") != (order is not None):
            raise ValueError(f"mask_order is {self.mask_order!r}")
        data = np.ascontiguousarray(row, dtype="<i4").tobytes()
        key = hashlib.sha256(data).hexdigest()[:24]
        if key not in self.masks:
            if order is not None:
                bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
                data = np.packbits(bits[order], bitorder="little").tobytes()
            self.masks[key] = base64.b64encode(zlib.compress(data, 9)).decode("ascii")
        return key

    def allowed(self, key: str, vocabulary: _TokenTable | None = None) -> NDArray[np.bool_]:
        """Unpack a mask row: bool of shape (vocabulary_width,), True where a token is allowed.

        A trace whose ``mask_order`` is "bytes" needs the vocabulary that it was made with.
        Raises ``KeyError`` for an unknown key and ``WorkbenchError`` for damaged data.
        """
        width = self.vocabulary_width
        size = (width + 7) // 8
        try:
            data = zlib.decompressobj().decompress(base64.b64decode(self.masks[key]), size + 4)
        except (binascii.Error, zlib.error) as error:
            raise WorkbenchError(f"mask {key} of this trace is damaged: {error}") from None
        if len(data) < size:
            raise WorkbenchError(
                f"mask {key} of this trace is damaged: {number_of(len(data), 'byte')}"
            )
        packed = np.frombuffer(data, np.uint8)
        bits = np.unpackbits(packed, bitorder="little")[:width].astype(np.bool_)
        if self.mask_order == "id":
            return bits
        if vocabulary is None or vocabulary.width != width:
            raise ValueError("these masks are in byte order: pass the vocabulary of the run")
        allowed = np.zeros(width, dtype=np.bool_)
        allowed[byte_order(vocabulary)] = bits
        return allowed

    def add_stack(self, stack: Sequence[Frame]) -> int:
        """Store a stack, top first, and return the id of its top."""
        index = self._node_index
        if len(index) != len(self.stack_nodes):
            index.clear()
            index.update((node, i) for i, node in enumerate(self.stack_nodes))
        top = -1
        for frame in reversed(stack):
            node = StackNode(frame, top)
            found = index.get(node)
            if found is None:
                found = index[node] = len(self.stack_nodes)
                self.stack_nodes.append(node)
            top = found
        return top

    def stack(self, node_id: int) -> Stack:
        """Read a stack back, top first."""
        frames: list[Frame] = []
        while node_id >= 0:
            node = self.stack_nodes[node_id]
            frames.append(node.frame)
            node_id = node.parent
        return tuple(frames)

    def to_dict(self) -> dict[str, Any]:
        """Turn the trace into JSON values."""
        result = {name: getattr(self, name) for name in _TRACE_FIELDS}
        result["steps"] = [_step_to_dict(step) for step in self.steps]
        result["stack_nodes"] = [
            [frame.state, list(frame.rules), frame.left_out or frame.count, parent]
            for frame, parent in ((node.frame, node.parent) for node in self.stack_nodes)
        ]
        result["text"] = self.text
        return {name: _plain(value) for name, value in result.items()}

    @classmethod
    def from_dict(cls, value: Any) -> Trace:
        """Read a trace from JSON values; ``WorkbenchError`` says what is wrong with them."""
        if not isinstance(value, Mapping) or "version" not in value:
            raise WorkbenchError("this is not a trace: it has no version")
        if value["version"] != TRACE_VERSION:
            raise WorkbenchError(
                f"this trace has version {value['version']!r}; this workbench reads {TRACE_VERSION}"
            )
        return cls(**_read_fields(_TRACE_FIELDS, value, "trace"))

    def to_json(self, indent: int | None = None) -> str:
        """Write the trace as a JSON text."""
        separators = (",", ":") if indent is None else None
        return json.dumps(
            self.to_dict(),
            indent=indent,
            separators=separators,
            ensure_ascii=False,
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Trace:
        """Read a trace from a JSON text; ``WorkbenchError`` says what is wrong with it."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise WorkbenchError(f"this is not a trace: {error}") from None
        return cls.from_dict(value)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the trace to a file, compressed when its name ends in ``.gz``, all or nothing."""
        target = to_be_written(path)
        data = self.to_json().encode("utf-8", "backslashreplace")
        if target.suffix == ".gz":
            data = gzip.compress(data, mtime=0)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trace:
        """Read a trace file, compressed or not; ``WorkbenchError`` says what is wrong with it."""
        need_path(path, "Trace.load")
        if found := irregular(path):
            raise WorkbenchError(f"{os.fspath(path)} is not a trace: it is {found}")
        with Path(path).open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        try:
            with gzip.open(path) if compressed else Path(path).open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise WorkbenchError(f"{path} is not a trace: {error}") from None
        if len(data) > MAX_FILE_BYTES:
            raise WorkbenchError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes")
        return cls.from_json(data)

    def __reduce__(self) -> tuple[Callable[[Any], Trace], tuple[dict[str, Any]]]:
        return Trace.from_dict, (self.to_dict(),)


def _plain(value: Any) -> Any:
    """Replace what JSON cannot hold: numbers that are not finite, tuples, NumPy scalars."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


def _step_to_dict(step: TraceStep) -> dict[str, Any]:
    result = {name: getattr(step, name) for name in _STEP_FIELDS}
    result["token_bytes"] = step.token_bytes.hex()
    return result


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is expected")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number is expected")
    return value


def _number(value: Any) -> float:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number is expected")
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is expected")
    return value


def _list(value: Any, read: Callable[[Any], Any]) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError("a list is expected")
    return [read(item) for item in value]


def _object(value: Any, read: Callable[[Any], Any]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("an object is expected")
    return {str(key): read(item) for key, item in value.items()}


def _one_of(value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ValueError(f"one of {', '.join(choices)} is expected")
    return cast(str, value)


def _top(value: Any) -> tuple[tuple[int, float], ...]:
    return tuple((_whole(pair[0]), _number(pair[1])) for pair in _list(value, list))


def _whole_tuple(value: Any) -> tuple[int, ...]:
    return tuple(_list(value, _whole))


def _node(value: Any) -> StackNode:
    state, rules, count, parent = _list(value, lambda item: item)
    state, rules = _whole(state), tuple(_list(rules, _text))
    count = None if count is None else _whole(count)
    if state == NO_STATE:
        return StackNode(Frame(rules=rules, left_out=count or 0), parent)
    return StackNode(Frame(state, rules, count), parent)


def _nodes(value: Any) -> list[StackNode]:
    nodes = _list(value, _node)
    for i, node in enumerate(nodes):  # parents come first: reading a stack always ends
        if not -1 <= _whole(node.parent) < i:
            raise ValueError("a stack node's parent must come before it")
    return nodes


def _steps(value: Any) -> list[TraceStep]:
    steps: list[TraceStep] = []
    for i, item in enumerate(_list(value, lambda item: _object(item, lambda part: part))):
        values = _read_fields(_STEP_FIELDS, item, f"step {i + 1}")
        values.update(index=i, previous=steps[-1] if steps else None)
        steps.append(TraceStep(**values))
    return steps


def _read_fields(
    readers: Mapping[str, Callable[[Any], Any]], value: Mapping[str, Any], where: str
) -> dict[str, Any]:
    result = {}
    for name, read in readers.items():
        if name not in value:
            continue
        try:
            result[name] = read(value[name])
        except (ValueError, TypeError, IndexError, KeyError) as error:
            raise WorkbenchError(f"{where} of this trace, field {name!r}: {error}") from None
    missing = [name for name in _REQUIRED if name in readers and name not in result]
    if missing:
        raise WorkbenchError(f"{where} of this trace has no {', '.join(missing)}")
    return result


_REQUIRED = ("kind", "token_id", "token_bytes")

_STEP_FIELDS: dict[str, Callable[[Any], Any]] = {
    **{f.name: _number for f in fields(TraceStep) if f.type == "float"},
    **{f.name: _whole for f in fields(TraceStep) if f.type == "int"},
    "kind": lambda value: _one_of(value, get_args(StepKind)),
    "token_bytes": bytes.fromhex,
    "top_before": _top,
    "top_after": _top,
    "mask": _text,
    "live_states": _whole_tuple,
    "stacks": _whole_tuple,
    "is_accepting": _truth,
    "draft": lambda value: _one_of(value, get_args(DraftVerdict)),
    "draft_source": _text,
}

_TRACE_FIELDS: dict[str, Callable[[Any], Any]] = {
    **{f.name: _text for f in fields(Trace) if f.type == "str"},
    **{f.name: _whole for f in fields(Trace) if f.type == "int"},
    "prompt_ids": lambda value: _list(value, _whole),
    "settings": lambda value: _object(value, lambda item: item),
    "steps": _steps,
    "finish_reason": lambda value: value and _one_of(value, get_args(FinishReason)),
    "error": lambda value: None if value is None else _text(value),
    "final": lambda value: _object(value, lambda item: item),
    "versions": lambda value: _object(value, _text),
    "timings": lambda value: _object(value, _number),
    "drafts": lambda value: _object(value, lambda item: item),
    "mask_order": lambda value: _one_of(value, ("id", "bytes")),
    "masks": lambda value: _object(value, _text),
    "stack_nodes": _nodes,
}
