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
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets
from workbench.automaton.network import (
    Automaton,
    GuardSpec,
    Language,
    ScopeSpec,
    WatchSpec,
)
from workbench.automaton.soundness import check_automaton
from workbench.automaton.stored import PerState, StoredOutcomes, StoredRules, StoredSets, text_of
from workbench.errors import ArtifactError
from workbench.files import irregular, to_be_written
from workbench.grammar.encoding import (
    DTYPES,
    Decoder,
    Encoder,
    gather_in,
    gather_out,
)
from workbench.grammar.ir import Expr, Grammar
from workbench.grammar.lazy import LazyRules, captured, written_ahead

__all__ = ["FORMAT", "Artifact", "read_artifact", "write_artifact"]

MAGIC = b"WBGRAM\r\n"
FORMAT = 4
_PREFIX = len(MAGIC) + 4 + 8 + 32

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


def write_artifact(path: str | os.PathLike[str], artifact: Artifact) -> None:
    """Write a file, all of it or nothing. The automaton has to be complete.

    A symbolic link stays, and the file that it leads to is written. Raises ``WorkbenchError`` for what is there
    and no regular file.
    """
    target = to_be_written(path)
    payload = _encode(artifact)
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


def read_artifact(path: str | os.PathLike[str]) -> Artifact:
    """Read a file.

    Raises ``ArtifactError`` when there is none, or it is not whole, not as written or of another format.
    """
    if found := irregular(path):
        raise ArtifactError(path, f"this is {found}")
    try:
        payload, expected = _payload(path)
    except FileNotFoundError:
        raise ArtifactError(path, "there is no such file") from None
    digest = sha256(payload)
    if digest.digest() != expected:
        raise ArtifactError(path, "the file has been altered")
    try:
        return _decode(payload, digest.hexdigest(), path)
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


def _payload(path: str | os.PathLike[str]) -> tuple[bytes, bytes]:
    """What a file holds behind its prefix, and the digest that it should have."""
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
    return payload, prefix[20:]


# -- writing ---------------------------------------------------------------------------------------


def _encode(artifact: Artifact) -> bytes:
    grammar, automaton = artifact.grammar, artifact.automaton
    lazy = isinstance(grammar.rules, LazyRules)
    rules = dict(grammar.rules)
    encoder = Encoder().rules(rules)
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
        "written": [name for name in written_ahead(grammar.rules) if lazy and name in rules],
        "captures": dict(captured(grammar.rules)),
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


def _decode(payload: bytes, key: str, path: str | os.PathLike[str]) -> Artifact:
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
    decoder = Decoder(arrays)
    return Artifact(
        _grammar(header, decoder, key, path),
        _automaton(header, arrays, decoder),
        _budgets(header["budgets"]),
        frozenset(header["missing"]),
        text_of(header["vocabulary"]),
        text_of(header["package"]),
    )


def _grammar(
    header: Mapping[str, Any], decoder: Decoder, key: str, path: str | os.PathLike[str]
) -> Grammar:
    start = text_of(header["start"])
    rules: Mapping[str, Expr]
    if header["lazy"]:
        written = [text_of(name) for name in header["written"]]
        rules = StoredRules(decoder, start, f"file {key}", path, written)
        # files that know of none were written before there were any
        captures = header.get("captures", {}).items()
        rules.captures = {text_of(rule): text_of(name) for rule, name in captures}
    else:
        rules = {name: decoder.rule(name) for name in decoder.rules}
    # in place of a tuple
    outcomes: Any = StoredOutcomes(text_of(header["outcomes"]), path)
    return Grammar(rules, start, text_of(header["kind"]), _source_in(header["source"]), outcomes)


def _source_in(written: Mapping[str, Any] | None) -> Any:
    if written is None:
        return None
    if "text" in written:
        return text_of(written["text"])
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
        given[name] = PerState(arrays[name], StoredSets(name, arrays, member, most))
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
                StoredSets("watches", arrays, decoder.text, decoder.n_texts),
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
    check_automaton(automaton)
    return automaton


def _nothing_to_build(automaton: Automaton, entry: int) -> None:
    """In place of ``grow``: an automaton made to grow is laid out and walked differently."""
    raise AssertionError(f"entry {entry} is built")
