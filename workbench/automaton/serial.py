"""Grammars and their automata as bytes, for files that outlive a process and move between machines.

A file is ``MAGIC``, the format's version (4 bytes, little endian), the length of the rest (8 bytes), the SHA-256
of the rest, and the rest: the length of a JSON header (8 bytes), the header, and the arrays one after the
other, each of a type that is fixed here and in as few bytes a number as hold it. There is no code and no
pickle in it. What is read is checked before it is believed: that nothing was cut off or altered, that all
parts fit together, that no number points outside its array; that the automaton belongs to the grammar is
not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets
from workbench.automaton.model import (
    GUARDS,
    JUMP,
    MANY,
    Automaton,
    GuardSpec,
    Language,
    ScopeSpec,
    WatchSpec,
)
from workbench.errors import ArtifactError
from workbench.grammar.encoding import (
    DTYPES,
    ROLES,
    Decoder,
    Encoder,
    Expand,
    gather_in,
    gather_out,
)
from workbench.grammar.ir import Expr, Grammar, Outcome
from workbench.grammar.lazy import LazyRules

__all__ = ["FORMAT", "Artifact", "read_artifact", "write_artifact"]

MAGIC = b"WBGRAM\r\n"
FORMAT = 3
_PREFIX = len(MAGIC) + 4 + 8 + 32
#: states are numbered below what the engine takes for a call site
_MOST_STATES = 1 << 29
_MOST_MEMBERS = 1 << 20

_STATUSES = {"enforced", "restricted", "annotation", "unsupported"}
_PLAIN = (
    "edge_start",
    "edge_lo",
    "edge_hi",
    "edge_target",
    "call_start",
    "call_entry",
    "call_return",
    "call_loop",
    "call_watch",
    "entry_state",
    "loop_entry",
    "loop_min",
    "loop_max",
    "empty_start",
    "empty_target",
    "empty_guard",
)
_FLAGS = ("final", "watched", "between")
_NAMED = ("state_rules", "state_origins")
_ARRAYS: dict[str, np.dtype[Any]] = {
    name: np.dtype(kind)
    for name, kind in (
        *((name, np.uint8) for name in _FLAGS),
        *((name, np.int32) for name in _PLAIN),
        ("entry_names", np.int64),
        *((name, np.int32) for name in _NAMED),
        *((f"{name}_sets", np.int64) for name in (*_NAMED, "watches")),
        *((f"{name}_starts", np.int64) for name in (*_NAMED, "watches")),
        *DTYPES.items(),
    )
}


@dataclass(frozen=True, slots=True)
class Artifact:
    """A grammar, its automaton, and what the automaton was made for."""

    grammar: Grammar
    automaton: Automaton
    budgets: Budgets
    #: the bytes that no token contains
    missing: frozenset[int]
    #: fingerprint of the vocabulary
    vocabulary: str
    #: version of the package that wrote it
    package: str


def write_artifact(
    path: str | os.PathLike[str], artifact: Artifact, names: Mapping[Expand, str]
) -> None:
    """Write a file, all of it or nothing. The automaton has to be complete.

    ``names`` are those of the functions that expand an ``OtherText``.
    """
    payload = _encode(artifact, names)
    target = Path(path)
    temporary = target.with_name(f"{target.name}.{token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(MAGIC + FORMAT.to_bytes(4, "little") + len(payload).to_bytes(8, "little"))
            file.write(sha256(payload).digest())
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def read_artifact(path: str | os.PathLike[str], functions: Mapping[str, Expand]) -> Artifact:
    """Read a file; ``functions`` are those that had names when it was written.

    Raises ``ArtifactError`` when it is not whole, not as written or of another format.
    """
    with Path(path).open("rb") as file:
        prefix = file.read(_PREFIX)
        if prefix[: len(MAGIC)] != MAGIC[: len(prefix)] or not prefix:
            raise ArtifactError(path, "this is no compiled grammar")
        if len(prefix) < _PREFIX:
            raise ArtifactError(path, "the file has been cut off")
        version = int.from_bytes(prefix[8:12], "little")
        if version != FORMAT:
            raise ArtifactError(
                path, f"its format is {version}, this version of workbench reads {FORMAT}"
            )
        size = os.fstat(file.fileno()).st_size - _PREFIX
        if size != int.from_bytes(prefix[12:20], "little"):
            raise ArtifactError(path, "the file has been cut off, or something follows it")
        payload = file.read(size)
    digest = sha256(payload)
    if digest.digest() != prefix[20:]:
        raise ArtifactError(path, "the file has been altered")
    try:
        return _decode(payload, digest.hexdigest(), path, functions)
    except (
        AttributeError,
        IndexError,
        InvalidOperation,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise ArtifactError(path, f"its parts do not fit together ({error})") from error


# -- writing ---------------------------------------------------------------------------------------


def _encode(artifact: Artifact, names: Mapping[Expand, str]) -> bytes:
    grammar, automaton = artifact.grammar, artifact.automaton
    lazy = isinstance(grammar.rules, LazyRules)
    encoder = Encoder(names).rules(dict(grammar.rules))
    arrays: dict[str, NDArray[Any]] = {
        **{name: getattr(automaton, name).astype(np.uint8) for name in _FLAGS},
        **{name: getattr(automaton, name) for name in _PLAIN},
        "entry_names": np.array([encoder.text(name) for name in automaton.entry_names]),
        **_sets("state_rules", automaton.state_rules, encoder.text),
        **_sets("state_origins", automaton.state_origins, encoder.origin),
        **_tuples("watches", [tuple(map(encoder.text, one.texts)) for one in automaton.watches]),
    }
    arrays |= encoder.arrays()
    header = {
        "package": artifact.package,
        "start": grammar.start,
        "kind": grammar.kind,
        "lazy": lazy,
        "source": _source_out(grammar.source),
        "outcomes": json.dumps(
            [
                [o.pointer, o.keyword, o.status, o.detail, o.warning, *o.kinds]
                for o in grammar.outcomes
            ]
        ),
        "automaton_start": automaton.start,
        "grows": automaton.grow is not None,
        "loop_least": [f"{least:x}" for least in automaton.loop_least],
        "loop_alphabet": [f"{alphabet:x}" for alphabet in automaton.loop_alphabet],
        "symbols": automaton.symbols,
        "watches": [[w.fresh, w.cell, w.language, w.role] for w in automaton.watches],
        "languages": [[list(one.counts), list(one.steps)] for one in automaton.languages],
        "guards": [[g.kind, f"{g.among:x}", g.others, g.members] for g in automaton.guards],
        "scopes": [
            [s.members, f"{s.required:x}", *s[2:5], gather_out(s.gather)] for s in automaton.scopes
        ],
        "missing": sorted(artifact.missing),
        "vocabulary": artifact.vocabulary,
        "budgets": {f.name: getattr(artifact.budgets, f.name) for f in fields(Budgets)},
    }
    widths = {name: _width(arrays[name], kind) for name, kind in _ARRAYS.items()}
    header["sizes"] = {name: arrays[name].size for name in _ARRAYS}
    header["widths"] = widths
    text = json.dumps(header).encode()
    parts = [
        arrays[name].astype(kind).astype(_stored(kind, widths[name])).tobytes()
        for name, kind in _ARRAYS.items()
    ]
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def _width(array: NDArray[Any], kind: np.dtype[Any]) -> int:
    """Bytes that each number of an array takes at least."""
    if kind.kind == "u" or not array.size:
        return 1
    low, high = int(array.min()), int(array.max())
    return next(w for w in (1, 2, 4, 8) if -(1 << 8 * w - 1) <= low and high < 1 << 8 * w - 1)


def _stored(kind: np.dtype[Any], width: int) -> np.dtype[Any]:
    """How an array lies in a file: its type there, little endian."""
    if width not in (1, 2, 4, 8) or width > kind.itemsize:
        raise ValueError("a number of no known width")
    return np.dtype(f"<{kind.kind}{width}")


def _sets(
    name: str, per_state: Sequence[tuple[Any, ...]], number: Callable[[Any], int]
) -> dict[str, NDArray[Any]]:
    """Per state the number of a tuple; the tuples one after the other, equal ones once."""
    # by identity first: most states share a tuple with a neighbour
    kept = list(per_state)
    seen: dict[int, int] = {}
    known: dict[tuple[int, ...], int] = {}
    for some in kept:
        if id(some) not in seen:
            seen[id(some)] = known.setdefault(tuple(map(number, some)), len(known))
    numbers = np.array([seen[id(some)] for some in kept], dtype=np.int32)
    return {name: numbers, **_tuples(name, known)}


def _tuples(name: str, tuples: Collection[tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    return {
        f"{name}_sets": np.array([one for some in tuples for one in some], dtype=np.int64),
        f"{name}_starts": np.cumsum([0, *map(len, tuples)], dtype=np.int64),
    }


def _source_out(source: Any) -> dict[str, Any] | None:
    """A source as JSON; None when it is none, or has no JSON form."""
    if isinstance(source, str):
        return {"text": source}
    if isinstance(source, bytes):
        return {"bytes": source.hex()}
    tag, tagged = "", False

    def out(value: Any) -> Any:
        nonlocal tagged
        if isinstance(value, Decimal):
            tagged = True
            return {tag: str(value)}
        raise TypeError(value)

    try:
        text = json.dumps(source, default=out)
        tag = "decimal"
        while tag in text:
            tag += "_"
        return {"json": json.loads(json.dumps(source, default=out)), "tag": tag if tagged else None}
    except (RecursionError, TypeError, ValueError):
        return None


# -- reading ---------------------------------------------------------------------------------------


def _decode(
    payload: bytes, key: str, path: str | os.PathLike[str], functions: Mapping[str, Expand]
) -> Artifact:
    end = 8 + int.from_bytes(payload[:8], "little")
    header = json.loads(payload[8:end])
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind in _ARRAYS.items():
        size = header["sizes"][name]
        if not isinstance(size, int) or not 0 <= size <= len(payload) - end:
            raise ValueError("arrays of these sizes are not there")
        found = np.frombuffer(payload, _stored(kind, header["widths"][name]), size, end)
        # a copy: aligned, writable, in the order of this machine
        arrays[name] = found.astype(kind)
        end += found.nbytes
    if end != len(payload):
        raise ValueError("something follows the arrays")
    decoder = Decoder(arrays, functions)
    return Artifact(
        _grammar(header, decoder, key, path),
        _automaton(header, arrays, decoder),
        _budgets(header["budgets"]),
        frozenset(header["missing"]),
        _text(header["vocabulary"]),
        _text(header["package"]),
    )


def _grammar(
    header: Mapping[str, Any], decoder: Decoder, key: str, path: str | os.PathLike[str]
) -> Grammar:
    start = _text(header["start"])
    rules: Mapping[str, Expr]
    if header["lazy"]:
        rules = _WrittenRules(decoder, start, f"file {key}", path)
    else:
        rules = {name: decoder.rule(name) for name in decoder.rules}
    # in place of a tuple
    outcomes: Any = _Outcomes(_text(header["outcomes"]), path)
    return Grammar(rules, start, _text(header["kind"]), _source_in(header["source"]), outcomes)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _source_in(written: Mapping[str, Any] | None) -> Any:
    if written is None:
        return None
    if "text" in written:
        return _text(written["text"])
    if "bytes" in written:
        return bytes.fromhex(written["bytes"])
    source, tag = written["json"], written["tag"]
    if tag is None:
        return source
    text = json.dumps(source)

    def read(value: dict[str, Any]) -> Any:
        return Decimal(value[tag]) if value.keys() == {tag} else value

    return json.loads(text, object_hook=read)


def _budgets(written: Mapping[str, Any]) -> Budgets:
    for value in written.values():
        if not isinstance(value, int):
            raise TypeError(f"{value!r:.60} is no budget")
    return Budgets(**written)


def _automaton(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], decoder: Decoder
) -> Automaton:
    symbols = tuple(tuple(ids) for ids in header["symbols"])
    if not all(type(i) is int and i >= 0 for ids in symbols for i in ids):
        raise ValueError("a symbol of no tokens")
    given: dict[str, Any] = {name: arrays[name] != 0 for name in _FLAGS}
    given |= {name: arrays[name] for name in _PLAIN}
    for name, member, most in (
        ("state_rules", decoder.text, decoder.n_texts),
        ("state_origins", decoder.origin, decoder.n_origins),
    ):
        given[name] = _PerState(arrays[name], _Sets(name, arrays, member, most))
    automaton = Automaton(
        n_states=len(arrays["final"]),
        start=int(header["automaton_start"]),
        **given,
        entry_names=tuple(map(decoder.text, arrays["entry_names"].tolist())),
        loop_least=tuple(int(least, 16) for least in header["loop_least"]),
        loop_alphabet=tuple(int(alphabet, 16) for alphabet in header["loop_alphabet"]),
        watches=tuple(
            WatchSpec(texts, bool(fresh), int(cell), int(language), str(role))
            for texts, (fresh, cell, language, role) in zip(
                _Sets("watches", arrays, decoder.text, decoder.n_texts),
                header["watches"],
                strict=True,
            )
        ),
        languages=tuple(
            Language(
                tuple(map(int, counts)),
                tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in steps),
            )
            for counts, steps in header["languages"]
        ),
        guards=tuple(
            GuardSpec(str(kind), int(among, 16), bool(others), int(members))
            for kind, among, others, members in header["guards"]
        ),
        scopes=tuple(
            ScopeSpec(
                int(members),
                int(required, 16),
                int(least),
                int(most),
                bool(names),
                gather_in(gather),
            )
            for members, required, least, most, names, gather in header["scopes"]
        ),
        symbols=symbols,
        grow=_nothing_to_build if header["grows"] else None,
    )
    _check(automaton)
    return automaton


def _nothing_to_build(automaton: Automaton, entry: int) -> None:
    """In place of ``grow``: an automaton made to grow is laid out and walked differently."""
    raise AssertionError(f"entry {entry} is built")


class _Sets(Sequence[Any]):
    """Tuples that are read when they are looked at: most never are."""

    def __init__(
        self, name: str, arrays: Mapping[str, NDArray[Any]], member: Callable[[int], Any], most: int
    ) -> None:
        starts, numbers = arrays[f"{name}_starts"], arrays[f"{name}_sets"]
        _require(_fills(starts, len(numbers)) and _within(numbers, 0, most), name)
        self._starts = starts
        self._numbers = numbers
        self._member = member
        self._known: dict[int, tuple[Any, ...]] = {}

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: Any) -> Any:
        found = self._known.get(number)
        if found is None:
            begin, end = self._starts[number], self._starts[number + 1]
            found = tuple(map(self._member, self._numbers[begin:end].tolist()))
            self._known[number] = found
        return found


class _PerState(Sequence[Any]):
    """A tuple per state, in place of the tuple of them all."""

    def __init__(self, numbers: NDArray[Any], sets: _Sets) -> None:
        _require(_within(numbers, 0, len(sets)), "names")
        self._numbers = numbers
        self._sets = sets

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, state: Any) -> Any:
        if isinstance(state, slice):
            return tuple(map(self._sets.__getitem__, self._numbers[state].tolist()))
        return self._sets[int(self._numbers[state])]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, _PerState) else other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class _Outcomes(Sequence[Outcome]):
    """The outcomes of a grammar, read when they are first looked at."""

    def __init__(self, text: str, path: str | os.PathLike[str]) -> None:
        self._text = text
        self._path = path

    @cached_property
    def _all(self) -> tuple[Outcome, ...]:
        try:
            read = [list(map(_text, outcome)) for outcome in json.loads(self._text)]
            found = tuple(
                Outcome(one[0], one[1], one[2], one[3], tuple(one[5:]), one[4])  # type: ignore[arg-type]
                for one in read
            )
            if not {outcome.status for outcome in found} <= _STATUSES:
                raise ValueError("an outcome of no known kind")
        except (IndexError, RecursionError, TypeError, ValueError) as error:
            raise ArtifactError(self._path, f"its outcomes are broken ({error})") from error
        return found

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, number: Any) -> Any:
        return self._all[number]

    def __eq__(self, other: object) -> bool:
        return self._all == (other._all if isinstance(other, _Outcomes) else other)

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return repr(self._all)


class _WrittenRules(LazyRules):
    """Rules out of a file, each read when it is used."""

    def __init__(
        self, decoder: Decoder, start: str, key: str, path: str | os.PathLike[str]
    ) -> None:
        def emit(name: str) -> Expr:
            try:
                return decoder.rule(name)
            except (IndexError, OverflowError, ValueError) as error:
                raise ArtifactError(path, f"rule {name!r} is broken ({error})") from error

        super().__init__(emit, start, key)
        self._names = decoder.rules

    def __contains__(self, name: object) -> bool:
        return name in self._names


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} of the automaton")


def _within(array: NDArray[Any], low: int, end: int) -> bool:
    return not len(array) or bool(array.min() >= low and array.max() < end)


def _fills(starts: NDArray[Any], size: int) -> bool:
    return (
        len(starts) > 0
        and starts[0] == 0
        and starts[-1] == size
        and bool((starts[1:] >= starts[:-1]).all())
    )


def _check(a: Automaton) -> None:
    """That no number points outside of what it numbers; the kernels do not look."""
    n, n_entries, n_loops = a.n_states, len(a.entry_state), len(a.loop_entry)
    _require(0 < n < _MOST_STATES and 0 <= a.start < n, "states")
    for starts, columns in (
        (a.edge_start, (a.edge_lo, a.edge_hi, a.edge_target)),
        (a.call_start, (a.call_entry, a.call_return, a.call_loop, a.call_watch)),
        (a.empty_start, (a.empty_target, a.empty_guard)),
    ):
        rows = len(columns[0])
        fits = len(starts) == n + 1 and _fills(starts, rows)
        _require(fits and all(len(column) == rows for column in columns), "rows")
    _require(_within(a.edge_lo, 0, 256 + len(a.symbols)), "edges")
    _require(_within(a.edge_hi, 0, 256 + len(a.symbols)), "edges")
    _require(bool((a.edge_lo <= a.edge_hi).all()), "edges")
    owners = np.repeat(np.arange(n), np.diff(a.edge_start))
    same = owners[1:] == owners[:-1]
    _require(not np.any(same & (a.edge_lo[1:] < a.edge_lo[:-1])), "the order of edges")
    for targets in (a.edge_target, a.empty_target, a.entry_state):
        _require(_within(targets, 0, n), "targets")
    _require(_within(a.call_entry, 0, n_entries), "calls")
    _require(_within(a.call_return, JUMP, n), "calls")
    _require(_within(a.call_loop, -1, n_loops), "calls")
    _require(_within(a.call_watch, -1 - len(a.scopes), len(a.watches)), "calls")
    _require(_within(a.empty_guard, -1, len(a.guards)), "guards")
    for scope in a.scopes:
        _require(0 <= scope.members <= _MOST_MEMBERS, "scopes")
        _require(0 <= scope.required < 1 << scope.members, "scopes")
        _require(0 <= scope.least < 1 << 31 and -1 <= scope.most < 1 << 31, "scopes")
        if scope.gather is not None:
            counts, named = scope.gather.counts, scope.gather.kind == "object"
            _require(all(0 <= count <= MANY for count in counts), "scopes")
            _require(len(counts) == (len(scope.gather.names) if named else 1), "scopes")
            _require(not named or len(counts) <= scope.members, "scopes")
    for guard in a.guards:
        _require(guard.kind in GUARDS and 0 <= guard.members <= _MOST_MEMBERS, "guards")
        most = 4 if guard.kind == "value" else guard.members
        number = guard.kind in ("empty", "room")
        _require(number or 0 <= guard.among < 1 << most, "guards")
        _require(guard.kind != "take" or guard.among.bit_count() == 1, "guards")
        _require(not number or 0 <= guard.among < len(a.watches), "guards")
        _require(guard.kind not in ("name", "value") or guard.among.bit_count() == 1, "guards")
    for watch in a.watches:
        _require(watch.role in ROLES, "watches")
        _require(0 <= watch.cell < 1 << 30, "watches")
        _require(-1 <= watch.language < len(a.languages), "watches")
    for language in a.languages:
        size = len(language.counts)
        _require(0 < size < 1 << 24 and all(0 <= n <= MANY for n in language.counts), "languages")
        _require(list(language.steps) == sorted(language.steps), "languages")
        for state, low, high, target in language.steps:
            fits = 0 <= state < size and 0 <= target < size and 0 <= low <= high < 0x110000
            _require(fits, "languages")
    framed = (a.call_loop >= 0) | (a.call_watch != -1)
    _require(not np.any(framed & (a.call_return == JUMP)), "calls")
    _require(not np.any((a.call_loop >= 0) & (a.call_watch != -1)), "calls")
    parts = (a.loop_min, a.loop_max, a.loop_least, a.loop_alphabet)
    _require(all(len(part) == n_loops for part in parts), "loops")
    _require(_within(a.loop_entry, 0, n_entries) and _within(a.loop_min, 0, 1 << 31), "loops")
    _require(bool(((a.loop_max == -1) | (a.loop_max >= a.loop_min)).all()), "loops")
    _require(all(least > 0 for least in a.loop_least), "loops")
    _require(all(0 <= alphabet < 1 << 256 for alphabet in a.loop_alphabet), "loops")
    for names in (a.state_rules, a.state_origins, a.watched, a.between):
        _require(len(names) == n, "names")
    _require(len(a.entry_names) == n_entries, "names")
