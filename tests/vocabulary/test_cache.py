"""The disk cache: used when sound, rebuilt when not, never trusted, never in the way."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.vocabulary import Vocabulary, cache, vocabulary as module
from workbench.vocabulary.cache import cache_directory, load_entry, store_entry

TOKENIZER = {
    "model": {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2, "Ġa": 3, "</s>": 4},
        "merges": [],
    },
    "decoder": {"type": "ByteLevel"},
    "added_tokens": [{"id": 4, "content": "</s>", "special": True}],
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    found = tmp_path / "t.json"
    found.write_text(json.dumps(TOKENIZER))
    return found


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count the vocabularies that are built rather than read."""
    counted: list[str] = []
    original = module.build_trie

    def build(tokens: Any) -> Any:
        counted.append("built")
        return original(tokens)

    monkeypatch.setattr(module, "build_trie", build)
    return counted


def entries() -> list[Path]:
    return sorted(cache_directory().glob("*"))


def expect_same(one: Vocabulary, other: Vocabulary) -> None:
    assert one == other
    assert (one.width, one.eos_ids, one.special_ids) == (other.width, other.eos_ids, {4})
    assert one.special_name(4) == "</s>"
    for name in ("byte", "depth", "skip", "token", "duplicates"):
        a, b = getattr(one.trie, name), getattr(other.trie, name)
        assert a.dtype == b.dtype, name
        assert np.array_equal(a, b), name
        assert b.flags.writeable and b.flags.c_contiguous


def test_second_load_reads_what_the_first_wrote(path: Path, builds: list[str]) -> None:
    first = Vocabulary.load(path)
    second = Vocabulary.load(path)
    assert builds == ["built"]
    expect_same(first, second)
    assert len(entries()) == 1 and entries()[0].suffix == ".vocabulary"


def test_every_setting_has_its_own_entry(path: Path, builds: list[str]) -> None:
    for settings in ({}, {"width": 8}, {"eos_ids": [0]}, {"eos_ids": []}, {"eos_ids": [1]}):
        v = Vocabulary.load(path, **settings)  # type: ignore[arg-type]
        assert v == Vocabulary.load(path, **settings)  # type: ignore[arg-type]
        assert v.width == settings.get("width", 5)
        assert v.eos_ids == tuple(settings.get("eos_ids", [4]))  # type: ignore[arg-type]
    assert len(builds) == 5
    path.write_text(json.dumps(TOKENIZER) + " ")
    Vocabulary.load(path)
    assert len(builds) == 6


def test_any_damage_is_rebuilt(path: Path, builds: list[str]) -> None:
    first = Vocabulary.load(path)
    (entry,) = entries()
    good = entry.read_bytes()
    source = random.Random(5)
    damaged = [b"", b"\x00", good[:8], good[:40], good[:47], good[:-1], good + b"\x00", good[::-1]]
    damaged += [good[: source.randrange(len(good))] for _ in range(10)]
    for _ in range(40):
        i = source.randrange(len(good))
        damaged.append(good[:i] + bytes([good[i] ^ (1 << source.randrange(8))]) + good[i + 1 :])
    for raw in damaged:
        entry.write_bytes(raw)
        del builds[:]
        expect_same(first, Vocabulary.load(path))
        assert builds == ["built"]
        assert entry.read_bytes() == good


def test_old_code_and_other_keys_are_not_believed(
    path: Path, builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Vocabulary.load(path)
    (entry,) = entries()
    with monkeypatch.context() as patch:
        patch.setattr(cache, "code_version", lambda: "older")
        Vocabulary.load(path)
        assert len(builds) == 2  # not what this code wrote
    Vocabulary.load(path)
    assert len(builds) == 3  # nor what the older code wrote
    other = entry.with_name("0" * 64 + ".vocabulary")
    entry.rename(other)
    assert load_entry("0" * 64) is None


def test_a_header_that_lies_under_a_good_checksum_is_not_believed(path: Path) -> None:
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert store_entry("k", {"x": 1}, {"a": array})
    meta, arrays = load_entry("k") or pytest.fail("not stored")
    assert meta == {"x": 1} and arrays["a"].tolist() == array.tolist()
    file = cache_directory() / "k.vocabulary"
    raw = file.read_bytes()
    for old, new in (
        (b"int32", b"int64"),
        (b"int32", b"objec"),
        (b"[2, 3]", b"[2, 9]"),
        (b"{", b"["),
    ):
        body = raw[40:].replace(old, new, 1)
        file.write_bytes(raw[:8] + hashlib.sha256(body).digest() + body)
        assert load_entry("k") is None, (old, new)


def test_a_folder_that_cannot_be_used_is_no_error(
    path: Path, builds: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    for place in (file, Path("/proc/nowhere"), Path("/dev/null/x")):
        monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(place))
        assert Vocabulary.load(path) == Vocabulary.load(path)
    assert len(builds) == 6

    def refuse(*_: object, **__: object) -> Any:
        raise PermissionError("read-only")

    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    with monkeypatch.context() as patch:
        patch.setattr(cache.tempfile, "mkstemp", refuse)
        assert Vocabulary.load(path).size == 5
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        assert Vocabulary.load(path).size == 5
    assert entries() == []  # no half-written file stays


def _load(path: str, gate: Any, results: Any) -> None:
    gate.wait()
    for _ in range(5):
        results.put(Vocabulary.load(path).fingerprint)


def test_several_processes_at_once(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    gate, results = context.Barrier(4), context.Queue()
    workers = [context.Process(target=_load, args=(str(path), gate, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    seen = {results.get(timeout=60) for _ in range(20)}
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert seen == {Vocabulary.load(path).fingerprint}
    assert len(entries()) == 1


def test_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", "/some/where")
    assert cache_directory() == Path("/some/where/vocabulary")
    monkeypatch.delenv("WORKBENCH_CACHE_DIR")
    assert cache_directory().parts[-2:] == ("grammar-workbench", "vocabulary") or os.name == "nt"
