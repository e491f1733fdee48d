"""The official JSON Schema test suite: every verdict exact, or the schema refused by name."""

from __future__ import annotations

import itertools
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import referencing
from jsonschema_specifications import REGISTRY
from referencing.jsonschema import DRAFT202012

from tests.frontends.ir_match import matches
from tests.frontends.walks import small_vocabulary
from workbench.engine import compile as compile_grammar
from workbench.engine.matcher import Matcher
from workbench.errors import GrammarTooComplex, UnsatisfiableGrammar, UnsupportedConstraint
from workbench.frontends.json_schema import json_schema
from workbench.grammar.ir import Grammar

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "json-schema-test-suite.tar.xz"

DRAFTS = {"draft4": 4, "draft6": 6, "draft7": 7, "draft2019-09": 2019, "draft2020-12": 2020}

#: What is refused: a multiple with too many remainders.
REFUSED = {"multipleOf.json"}

pytestmark = pytest.mark.skipif(not ARCHIVE.exists(), reason="the official suite is not there")


@pytest.fixture(scope="module")
def suite() -> dict[str, Any]:
    """The files of the suite by path below ``tests/``, remote documents left out."""
    files: dict[str, Any] = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            _, _, name = member.name.partition("tests/")
            if name.endswith(".json") and "/optional/" not in name:
                stream = archive.extractfile(member)
                assert stream is not None
                files[name] = json.load(stream)
    return files


def orders(value: Any) -> Iterator[Any]:
    """A value with the keys of its objects in every order."""
    if isinstance(value, list):
        for items in itertools.product(*[list(orders(item)) for item in value]):
            yield list(items)
    elif isinstance(value, dict) and len(value) < 6:
        for keys in itertools.permutations(value):
            for items in itertools.product(*[list(orders(value[key])) for key in keys]):
                yield dict(zip(keys, items, strict=True))
    else:
        yield value


def grammar_of(schema: Any, **options: Any) -> Grammar | None:
    """The grammar, or nothing when no value satisfies the schema."""
    try:
        return json_schema(schema, whitespace="compact", **options)
    except UnsatisfiableGrammar:
        return None


def accepted(grammar: Grammar | None, value: Any) -> bool:
    """Whether the value is accepted with its keys in some order."""
    if grammar is None:
        return False
    texts = (
        json.dumps(order, separators=(",", ":"), ensure_ascii=False)
        for order in itertools.islice(orders(value), 200)
    )
    if any(isinstance(part, dict) and part.get("uniqueItems") for part in _parts(grammar.source)):
        # what the record of an array keeps is the engine's to judge
        compiled = compile_grammar(grammar, small_vocabulary())
        return any(_accepts(compiled.matcher(), text.encode()) for text in texts)
    return any(matches(grammar, text) for text in texts)


def _parts(schema: Any) -> Iterator[Any]:
    yield schema
    below = schema.values() if isinstance(schema, dict) else schema
    for part in below if isinstance(schema, dict | list) else ():
        yield from _parts(part)


def _accepts(matcher: Matcher, data: bytes) -> bool:
    return matcher.accept_tokens(list(data)) == len(data) and matcher.is_accepting


@pytest.fixture(scope="module")
def registry() -> Any:
    """The meta-schemas, and the other documents that the suite refers to."""
    found = REGISTRY
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            _, _, name = member.name.partition("remotes/")
            if name.endswith(".json"):
                stream = archive.extractfile(member)
                assert stream is not None
                resource = referencing.Resource(json.load(stream), DRAFT202012)
                found = found.with_resource(f"http://localhost:1234/{name}", resource)
    return found


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_verdict_is_wrong(suite: dict[str, Any], registry: Any, draft: str) -> None:
    wrong: list[str] = []
    exact = 0
    for name, groups in suite.items():
        place, _, file = name.partition("/")
        if place != draft:
            continue
        for group in groups:
            options = {"draft": DRAFTS[draft], "formats": "annotate", "registry": registry}
            try:
                grammar = grammar_of(group["schema"], **options)
            except (UnsupportedConstraint, GrammarTooComplex):
                assert file in REFUSED
                continue
            exact += 1
            for test in group["tests"]:
                if accepted(grammar, test["data"]) != test["valid"]:
                    wrong.append(f"{name}: {group['description']}: {test['description']}")
    assert not wrong
    print(f"{draft}: {exact} groups exact")


#: Formats that are written in part, see ``LEFT_OUT`` in ``formats.py``: they may refuse, never accept.
PARTLY = {"hostname", "idn-hostname", "idn-email", "date-time", "time", "ecmascript-regex"}


@pytest.mark.parametrize("draft", ["draft7", "draft2019-09", "draft2020-12"])
def test_formats(draft: str) -> None:
    wrong = []
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            folder, _, file = member.name.rpartition("/")
            if folder != f"tests/{draft}/optional/format" or not file.endswith(".json"):
                continue
            stream = archive.extractfile(member)
            assert stream is not None
            for group in json.load(stream):
                grammar = grammar_of(group["schema"], draft=DRAFTS[draft])
                for test in group["tests"]:
                    partly = file[:-5] in PARTLY and test["valid"]
                    if accepted(grammar, test["data"]) != test["valid"] and not partly:
                        wrong.append(f"{file}: {test['description']}")
    assert not wrong


@pytest.mark.parametrize("number", range(6))
def test_patterns_of_the_optional_tests(suite: dict[str, Any], number: int) -> None:
    """Big numbers and patterns beyond the BMP are optional in the suite, not here."""
    names = [
        "optional/bignum.json",
        "optional/non-bmp-regex.json",
        "optional/float-overflow.json",
        "optional/ecmascript-regex.json",
        "optional/anchor.json",
        "optional/unknownKeyword.json",
    ]
    with tarfile.open(ARCHIVE) as archive:
        stream = archive.extractfile(f"tests/draft2020-12/{names[number]}")
        assert stream is not None
        groups = json.load(stream)
    wrong = []
    for group in groups:
        try:
            grammar = grammar_of(group["schema"])
        except UnsupportedConstraint:
            continue
        for test in group["tests"]:
            if accepted(grammar, test["data"]) != test["valid"]:
                wrong.append(f"{group['description']}: {test['description']}")
    assert not wrong
