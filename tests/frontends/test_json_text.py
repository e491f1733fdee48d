"""The generic JSON grammar: RFC 8259's syntax, by the cases that readers of JSON are tested with."""

from __future__ import annotations

import json
import random
import tarfile
from pathlib import Path

import pytest

from tests.frontends.walks import small_vocabulary
from workbench.benchmarks.generated_texts import walked_text
from workbench.engine import CompiledGrammar, compile
from workbench.frontends.json_text import json_text

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "json-test-suite.tar.xz"

GOOD = [
    "null",
    ' {"a":1,"a":2} ',
    '["\\ud800",-0.0e+12,{}]',
    '"\\u00e9\u2028\\/"',
    "\t[1\n,\r2 ]",
    "1" * 400,
    "[" * 3000 + "]" * 3000,
]
BAD = ["", "nul", "01", "1.", ".5", "+1", "[1,]", "{'a':1}", '"\t"', "[1", '{"a"}', "NaN", "\f1"]
BAD += ['"\\x"', '"\\u12g4"', "[1]]", "1 2", "\ufeff1", "[" * 3000]


@pytest.fixture(scope="module")
def compiled() -> CompiledGrammar:
    return compile(json_text(), small_vocabulary())


def accepts(compiled: CompiledGrammar, data: bytes) -> bool:
    matcher = compiled.matcher()
    return matcher.accept_tokens(list(data)) == len(data) and matcher.is_accepting


@pytest.mark.parametrize("text", GOOD, ids=lambda text: text[:20])
def test_what_is_json(compiled: CompiledGrammar, text: str) -> None:
    json.loads(text) if len(text) < 5000 else None
    assert accepts(compiled, text.encode())


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:20])
def test_what_is_not(compiled: CompiledGrammar, text: str) -> None:
    assert not accepts(compiled, text.encode())


@pytest.mark.parametrize("data", [b'"\xff"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xe2\x82"'])
def test_text_is_utf_8(compiled: CompiledGrammar, data: bytes) -> None:
    assert not accepts(compiled, data)


def test_walks_are_json(compiled: CompiledGrammar) -> None:
    for seed in range(40):
        json.loads(walked_text(compiled.matcher(), random.Random(seed), 64), parse_int=str)
    assert walked_text(compiled.matcher(), random.Random(0), 0) in "0123456789"


@pytest.mark.skipif(not ARCHIVE.exists(), reason="the suite of JSON texts is not there")
def test_every_case_of_the_parsing_suite(compiled: CompiledGrammar) -> None:
    wrong, counts = [], {"y": 0, "n": 0}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            name = Path(member.name).name
            if not name.endswith(".json") or name[0] not in counts:
                continue
            file = archive.extractfile(member)
            assert file is not None
            counts[name[0]] += 1
            if accepts(compiled, file.read()) != (name[0] == "y"):
                wrong.append(name)
    assert not wrong
    assert counts == {"y": 95, "n": 188}
