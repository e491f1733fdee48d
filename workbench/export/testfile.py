"""The test file of a bundle: it runs against the unpacked bundle alone."""

from __future__ import annotations

__all__ = ["TEST_FILE"]

TEST_FILE = '''\
"""Tests of the grammar in this folder. Run: python -m pytest test_grammar.py

They need pytest and the grammar workbench, and no other file than those of the bundle.
"""

import hashlib
import json
from pathlib import Path

import pytest

import workbench as wb

HERE = Path(__file__).resolve().parent
MANIFEST = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
EXAMPLES = json.loads((HERE / "examples.json").read_text(encoding="utf-8"))
#: each byte is a token, 256 is the end
VOCABULARY = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=256)


def source_grammar():
    about = MANIFEST["grammar"]
    text = (HERE / about["source"]).read_bytes().decode("utf-8")
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in about["options"].items()}
    if about["kind"] == "json_schema":
        return wb.json_schema(text, **options)
    if about["kind"] == "gbnf":
        return wb.gbnf(text, about["start"], **options)
    if about["kind"] == "rules":
        return wb.from_rules(text)
    pattern = json.loads(text)
    return wb.regex(
        bytes.fromhex(pattern["hex"]) if "hex" in pattern else pattern["pattern"], **options
    )


def gbnf_grammar():
    if not MANIFEST["gbnf"]["written"]:
        pytest.skip(MANIFEST["gbnf"]["reason"])
    if not MANIFEST["gbnf"]["proved"]:
        pytest.skip("its text is very long")
    return wb.gbnf((HERE / MANIFEST["gbnf"]["file"]).read_bytes().decode("utf-8"))


@pytest.fixture(scope="module", params=["source", "gbnf"])
def compiled(request):
    grammar = source_grammar() if request.param == "source" else gbnf_grammar()
    return request.param, wb.compile(grammar, VOCABULARY)


def data(example):
    return bytes.fromhex(example["hex"]) if "hex" in example else example["text"].encode("utf-8")


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{e['expected']}-{i}" for i, e in enumerate(EXAMPLES)])
def test_example(compiled, example):
    which, grammar = compiled
    text = data(example)
    matcher = grammar.matcher()
    reached = matcher.accept_tokens(text)
    accepted = reached == len(text) and matcher.is_accepting
    if example["expected"] == "accept":
        assert accepted
    elif example["expected"] == "prefix":
        assert reached == len(text)
    elif which == "source" or not MANIFEST["gbnf"]["looser"]:
        assert not accepted
    if which == "source":
        assert reached == example["reached"]


def test_files_are_those_of_the_manifest():
    for name, entry in MANIFEST["files"].items():
        assert hashlib.sha256((HERE / name).read_bytes()).hexdigest() == entry["sha256"], name
'''
