"""Files of compiled grammars: what comes back, and that nothing else is believed."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.automaton import serial
from workbench.automaton.build import build_automaton
from workbench.automaton.network import Automaton
from workbench.automaton.serial import Artifact, read_artifact, write_artifact
from workbench.frontends.json_schema.emit.any_value import ANY_CHARACTER
from workbench.grammar.ir import (
    CharSet,
    Expr,
    Grammar,
    Graph,
    Guard,
    Literal,
    OtherText,
    Outcome,
    Repeat,
    Scope,
    Seq,
    walk,
)
from workbench.grammar.lazy import LazyRules

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "tags": {"type": "array", "items": {"$ref": "#"}, "maxItems": 9},
    },
    "additionalProperties": {"enum": [1, 2]},
}


def artifact_of(grammar: Grammar, missing: frozenset[int] = frozenset()) -> Artifact:
    automaton = build_automaton(grammar, missing).complete()
    return Artifact(grammar, automaton, wb.Budgets(), missing, "a vocabulary", "1.2.3")


def around(grammar: Grammar, path: Path, missing: frozenset[int] = frozenset()) -> Artifact:
    write_artifact(path, artifact_of(grammar, missing))
    return read_artifact(path)


def assert_same(one: Automaton, other: Automaton) -> None:
    for field in fields(Automaton):
        mine, its = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == its.dtype and np.array_equal(mine, its), field.name
            assert its.flags.writeable and its.flags.c_contiguous and its.flags.aligned
        elif field.name == "grow":
            assert (mine is None) == (its is None)
        elif field.name not in ("_distances", "columns"):  # made when asked for; looked at above
            assert mine == its, field.name


@pytest.mark.parametrize(
    "make",
    [
        lambda: wb.regex("a{3,1000}|[α-ω]+?"),
        lambda: wb.regex(b"\x89PNG.{4}"),
        lambda: wb.gbnf('root ::= "(" root ")" | [a-z]+ | root "+" root'),
        lambda: wb.json_schema(SCHEMA),
        lambda: wb.until("</think>"),
        lambda: wb.difference(wb.regex("[a-z]+"), wb.regex("if|in")),
    ],
)
def test_a_grammar_and_its_automaton_come_back(make: Callable[[], Grammar], tmp_path: Path) -> None:
    grammar = make()
    expected = artifact_of(grammar)
    found = around(grammar, tmp_path / "a.grammar")
    assert_same(expected.automaton, found.automaton)
    assert dict(found.grammar.rules) == dict(grammar.rules)
    assert isinstance(found.grammar.rules, LazyRules) == isinstance(grammar.rules, LazyRules)
    for name in ("start", "kind", "source", "outcomes"):
        assert getattr(found.grammar, name) == getattr(grammar, name)
    assert (found.budgets, found.missing) == (expected.budgets, expected.missing)
    assert (found.vocabulary, found.package) == ("a vocabulary", "1.2.3")


def test_every_field_of_an_automaton_is_written_or_known_not_to_be() -> None:
    written = {*serial._PLAIN, *serial._FLAGS, *serial._NAMED, "watches", "entry_names"}
    in_header = {"n_states", "start", "loop_least", "loop_alphabet", "symbols", "grow"}
    in_header |= {"languages", "guards", "scopes"}
    assert {f.name for f in fields(Automaton)} == written | in_header | {
        "_distances",
        "columns",
        "_scope_costs",
    }


@pytest.mark.parametrize(
    "source",
    [
        None,
        "",
        "text \ud800",
        b"\x00\xff",
        True,
        {"a": [1, 1.5, "x", None], "": {}},
        {"a": Decimal("0.10"), "b": [Decimal(10**30), {"decimal": "0.1"}]},
    ],
    ids=repr,
)
def test_sources_come_back(source: Any, tmp_path: Path) -> None:
    grammar = Grammar({"root": Literal(b"a")}, "root", source=source)
    back = around(grammar, tmp_path / "a").grammar.source
    assert back == source
    assert repr(back) == repr(source)  # the types, too


def test_a_source_without_a_json_form_is_left_out(tmp_path: Path) -> None:
    grammar = Grammar({"root": Literal(b"a")}, "root", source={1, 2})
    assert around(grammar, tmp_path / "a").grammar.source is None


def test_outcomes_budgets_and_missing_bytes_come_back(tmp_path: Path) -> None:
    outcomes = (
        Outcome("#/a", "type", "enforced"),
        Outcome("#", "title", "annotation", "é"),
        Outcome("#/b", "properties", "restricted", "in order", ("escapes", "order")),
    )
    grammar = Grammar({"root": Literal(b"a")}, "root", outcomes=outcomes)
    artifact = replace(
        artifact_of(grammar, frozenset({0, 200})), budgets=wb.Budgets(states=7, step_work=9)
    )
    write_artifact(tmp_path / "a", artifact)
    found = read_artifact(tmp_path / "a")
    assert found.grammar.outcomes == outcomes
    assert found.budgets == wb.Budgets(states=7, step_work=9)
    assert found.missing == {0, 200}


def test_lazy_rules_are_read_when_they_are_used(tmp_path: Path) -> None:
    found = around(wb.json_schema(SCHEMA), tmp_path / "a").grammar
    assert isinstance(found.rules, LazyRules)
    assert found.rules.emitted.keys() <= {found.start}
    assert "no such rule" not in found.rules
    again = read_artifact(tmp_path / "a").grammar
    assert isinstance(again.rules, LazyRules) and again.rules.key == found.rules.key is not None


@pytest.mark.parametrize("options", [{}, {"ascii_only": True}, {"unicode_escapes": False}])
@pytest.mark.parametrize("unique_keys", [True, False])
def test_texts_that_are_watched_come_back(
    options: dict[str, Any], unique_keys: bool, tmp_path: Path
) -> None:
    grammar = wb.json_schema(SCHEMA, unique_keys=unique_keys, **options)
    assert any(
        isinstance(part, OtherText) and part.texts
        for expr in dict(grammar.rules).values()
        for part in walk(expr)
    )
    assert dict(around(grammar, tmp_path / "a").grammar.rules) == dict(grammar.rules)


def test_scopes_come_back(tmp_path: Path) -> None:
    value = Literal(b"1")
    edges = ((0, Seq((Guard("may", 3, True), Guard("take", 2))), 1), (1, Guard("other"), 2))
    item = Seq((Graph(3, 0, (2,), edges), value, Guard("end")))
    body = Repeat(ANY_CHARACTER, 0, None)
    fresh = OtherText(("a",), body, fresh=True)
    few = Graph(2, 1, (0,), ((1, CharSet(((120, 130), (150, 0x10FFFF))), 0),))
    other = OtherText((), few, True, 3, few)
    item = Seq((item, value, fresh, value, other))
    rules: dict[str, Expr] = {"root": Scope(item, 40, 1 << 39, 2, 10**7)}
    grammar = Grammar(LazyRules(rules.__getitem__, "root"), "root")
    artifact = artifact_of(grammar)
    assert artifact.automaton.scopes and artifact.automaton.guards
    assert [one.language for one in artifact.automaton.watches] == [-1, 0]
    assert artifact.automaton.languages[0].counts == (11 + 0x10FFFF - 149, 1)
    write_artifact(tmp_path / "a", artifact)
    found = read_artifact(tmp_path / "a")
    assert_same(artifact.automaton, found.automaton)
    assert dict(found.grammar.rules) == rules


# -- what is refused -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("artifact") / "a"
    artifact = artifact_of(wb.json_schema(SCHEMA))
    automaton = replace(artifact.automaton, symbols=((1, 2),))
    assert all(
        len(getattr(automaton, name)) for name in (*serial._PLAIN, "watches", "state_origins")
    )
    write_artifact(path, replace(artifact, automaton=automaton))
    return path.read_bytes()


def read_all(path: Path) -> Artifact:
    """Also what is read when it is looked at."""
    found = read_artifact(path)
    dict(found.grammar.rules)
    list(found.grammar.outcomes)
    list(found.automaton.state_rules)
    list(found.automaton.state_origins)
    return found


def refusal(data: bytes, path: Path) -> str:
    path.write_bytes(data)
    with pytest.raises(wb.ArtifactError) as caught:
        read_all(path)
    assert caught.value.path == str(path)
    assert isinstance(caught.value, wb.WorkbenchError)
    return caught.value.reason


def test_other_files_are_refused(written: bytes, tmp_path: Path) -> None:
    for data in (b"", b"x", b"{}" * 100, b"\x80\x04" + written, written[1:]):
        assert refusal(data, tmp_path / "a") == "this is no compiled grammar"
    for path, reason in ((tmp_path / "none", "there is no such file"), (tmp_path, "a folder")):
        with pytest.raises(wb.ArtifactError, match=reason) as caught:
            read_artifact(path)
        assert str(caught.value).endswith("Compile the grammar and save it again.")


def test_other_formats_are_refused(written: bytes, tmp_path: Path) -> None:
    for version in (0, 1, 2, 3, 2**32 - 1):
        data = written[:8] + struct.pack("<I", version) + written[12:]
        reason = refusal(data, tmp_path / "a")
        assert reason == f"its format is {version}, this version of workbench reads 4"


def test_files_that_are_cut_off_or_too_long_are_refused(written: bytes, tmp_path: Path) -> None:
    for length in {*range(1, 60), *range(60, len(written), 97), len(written) - 1}:
        assert "cut off" in refusal(written[:length], tmp_path / "a")
    assert "something follows" in refusal(written + b"\0", tmp_path / "a")


def test_files_that_are_altered_are_refused(written: bytes, tmp_path: Path) -> None:
    for at in {*range(52), *range(52, len(written), 61), len(written) - 1}:
        refusal(written[:at] + bytes([written[at] ^ 1]) + written[at + 1 :], tmp_path / "a")


def sealed(payload: bytes) -> bytes:
    """A file with a right checksum."""
    head = serial.MAGIC + struct.pack("<IQ", serial.FORMAT, len(payload))
    return head + hashlib.sha256(payload).digest() + payload


def with_header(data: bytes, **changes: Any) -> bytes:
    payload = data[52:]
    end = 8 + int.from_bytes(payload[:8], "little")
    header = json.loads(payload[8:end])
    assert changes.keys() <= header.keys()
    text = json.dumps(header | changes).encode()
    return sealed(len(text).to_bytes(8, "little") + text + payload[end:])


def header(data: bytes) -> dict[str, Any]:
    end = 60 + int.from_bytes(data[52:60], "little")
    found: dict[str, Any] = json.loads(data[60:end])
    return found


def sizes(data: bytes) -> dict[str, int]:
    found: dict[str, int] = header(data)["sizes"]
    return found


def widths(data: bytes) -> dict[str, int]:
    found: dict[str, int] = header(data)["widths"]
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {"start": "no such rule"},
        {"start": 3},
        {"kind": None},
        {"lazy": None, "start": []},
        {"source": {"text": 3}},
        {"source": {"bytes": "zz"}},
        {"source": {"json": {"d": "x"}, "tag": "d"}},
        {"source": 3},
        {"outcomes": '[["#", "type", "guessed", ""]]'},
        {"outcomes": "[[1]]"},
        {"outcomes": 1},
        {"automaton_start": -1},
        {"automaton_start": 10**9},
        {"loop_least": []},
        {"loop_least": ["0"]},
        {"loop_least": ["x"]},
        {"loop_alphabet": ["1" + "0" * 64]},
        {"symbols": [[-1]]},
        {"symbols": [["a"]]},
        {"symbols": 7},
        {"missing": None},
        {"vocabulary": 3},
        {"budgets": {"states": "many"}},
        {"budgets": {"wishes": 3}},
        {"sizes": {}},
        {"widths": {}},
    ],
    ids=repr,
)
def test_a_header_that_makes_no_sense_is_refused(
    changes: dict[str, Any], written: bytes, tmp_path: Path
) -> None:
    assert read_artifact_of(with_header(written), tmp_path)
    reason = refusal(with_header(written, **changes), tmp_path / "a")
    # outcomes are read when they are looked at
    assert "do not fit together" in reason or "are broken" in reason


def read_artifact_of(data: bytes, folder: Path) -> Artifact:
    (folder / "sound").write_bytes(data)
    return read_artifact(folder / "sound")


def test_sizes_that_are_not_there_are_not_made_room_for(written: bytes, tmp_path: Path) -> None:
    for name in serial._ARRAYS:
        for size in (-1, 10**18, 1.5, None, sizes(written)[name] + 1):
            changed = with_header(written, sizes=sizes(written) | {name: size})
            assert "do not fit together" in refusal(changed, tmp_path / "a")
    for name, kind in serial._ARRAYS.items():
        for width in (0, -1, 3, 2 * kind.itemsize, "4", None):
            changed = with_header(written, widths=widths(written) | {name: width})
            assert "do not fit together" in refusal(changed, tmp_path / "a")
    for length in (0, 10**15, 2**64 - 1):
        payload = length.to_bytes(8, "little") + written[60:]
        assert "do not fit together" in refusal(sealed(payload), tmp_path / "a")


def test_a_header_nested_without_end_is_refused(tmp_path: Path) -> None:
    text = b"[" * 200_000
    assert refusal(sealed(len(text).to_bytes(8, "little") + text), tmp_path / "a")


def with_number(data: bytes, name: str, at: int, value: int) -> bytes:
    """One number of an array replaced, which takes its full width then."""
    begin = 60 + int.from_bytes(data[52:60], "little")
    for other in serial._ARRAYS:
        if other == name:
            break
        begin += sizes(data)[other] * widths(data)[other]
    kind = serial._ARRAYS[name]
    stored = serial._stored(kind, widths(data)[name])
    array = np.frombuffer(data, stored, sizes(data)[name], begin).astype(kind)
    array[at] = value
    whole = data[:begin] + array.tobytes() + data[begin + len(array) * stored.itemsize :]
    return with_header(whole, widths=widths(data) | {name: kind.itemsize})


@pytest.mark.parametrize("value", [-7, 10**6, 2**31 - 1])
@pytest.mark.parametrize("at", [0, -1])
@pytest.mark.parametrize(
    "name",
    [name for name in serial._ARRAYS if name not in (*serial._FLAGS, "texts", "loop_max")],
)
def test_numbers_that_point_outside_are_refused(
    name: str, at: int, value: int, written: bytes, tmp_path: Path
) -> None:
    if name == "loop_min" and value > 0:
        value = -value  # a least number of rounds may be large
    reason = refusal(with_number(written, name, at, value), tmp_path / "a")
    # lazy rules are looked at when they are used
    assert "do not fit together" in reason or "is broken" in reason


def test_edges_out_of_order_are_refused(written: bytes, tmp_path: Path) -> None:
    automaton = read_artifact_of(written, tmp_path).automaton
    busy = int(np.flatnonzero(np.diff(automaton.edge_start) > 1)[0])
    first = int(automaton.edge_start[busy])
    assert refusal(with_number(written, "edge_lo", first + 1, 0), tmp_path / "a")


def test_bytes_changed_at_random_under_a_right_checksum_raise_nothing_else(
    written: bytes, tmp_path: Path
) -> None:
    rng = Random(5)
    refused = 0
    for _ in range(400):
        payload = bytearray(written[52:])
        for _ in range(rng.randint(1, 3)):
            payload[rng.randrange(len(payload))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
        (tmp_path / "a").write_bytes(sealed(bytes(payload)))
        try:
            read_all(tmp_path / "a")
        except wb.ArtifactError:
            refused += 1
    assert refused > 100


def test_what_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    artifact = artifact_of(wb.regex("a"))
    write_artifact(path, artifact)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(serial.os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_artifact(path, artifact_of(wb.regex("b")))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]
