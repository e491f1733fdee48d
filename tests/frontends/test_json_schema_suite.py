"""The official JSON Schema test suite: every verdict exact, or the schema refused by name."""

from __future__ import annotations

import collections
import itertools
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.ir_match import matches
from workbench.errors import UnsatisfiableGrammar, UnsupportedConstraint
from workbench.frontends.json_schema import json_schema

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "json-schema-test-suite.tar.xz"

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

#: Files about keywords that are enforced, with the number of groups that are not refused.
CORE = {
    "additionalProperties.json": 5,
    "allOf.json": 11,
    "anyOf.json": 8,
    "boolean_schema.json": 2,
    "const.json": 17,
    "enum.json": 15,
    "exclusiveMaximum.json": 1,
    "exclusiveMinimum.json": 1,
    "items.json": 10,
    "maxItems.json": 2,
    "maxLength.json": 2,
    "maximum.json": 2,
    "minItems.json": 2,
    "minLength.json": 2,
    "minimum.json": 2,
    "pattern.json": 3,
    "prefixItems.json": 4,
    "properties.json": 5,
    "ref.json": 34,
    "required.json": 5,
    "type.json": 11,
    "infinite-loop-detection.json": 1,
}

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


def accepted(schema: Any, value: Any) -> bool:
    """Whether the value is accepted with its keys in some order."""
    try:
        grammar = json_schema(schema, whitespace="compact")
    except UnsatisfiableGrammar:
        return False
    texts = (
        json.dumps(order, separators=(",", ":"), ensure_ascii=False)
        for order in itertools.islice(orders(value), 200)
    )
    return any(matches(grammar, text) for text in texts)


def with_dialect(schema: Any, draft: str) -> Any:
    return {"$schema": DRAFTS[draft], **schema} if isinstance(schema, dict) else schema


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_verdict_is_wrong(suite: dict[str, Any], draft: str) -> None:
    wrong: list[str] = []
    exact: collections.Counter[str] = collections.Counter()
    for name, groups in suite.items():
        if not name.startswith(f"{draft}/"):
            continue
        for group in groups:
            schema = with_dialect(group["schema"], draft)
            try:
                json_schema(schema)
            except UnsupportedConstraint:
                continue
            except UnsatisfiableGrammar:
                pass
            exact[name.partition("/")[2]] += 1
            for test in group["tests"]:
                if accepted(schema, test["data"]) != test["valid"]:
                    wrong.append(f"{name}: {group['description']}: {test['description']}")
    assert not wrong
    if draft == "draft2020-12":
        assert {name: count for name, count in CORE.items() if exact[name] < count} == {}
        print(f"{draft}: {sum(exact.values())} groups exact")


@pytest.mark.parametrize("number", range(5))
def test_patterns_of_the_optional_tests(suite: dict[str, Any], number: int) -> None:
    """Big numbers and patterns beyond the BMP are optional in the suite, not here."""
    names = [
        "optional/bignum.json",
        "optional/non-bmp-regex.json",
        "optional/float-overflow.json",
        "optional/ecmascript-regex.json",
        "optional/anchor.json",
    ]
    with tarfile.open(ARCHIVE) as archive:
        stream = archive.extractfile(f"tests/draft2020-12/{names[number]}")
        assert stream is not None
        groups = json.load(stream)
    wrong = []
    for group in groups:
        try:
            json_schema(group["schema"])
        except UnsupportedConstraint:
            continue
        for test in group["tests"]:
            if accepted(group["schema"], test["data"]) != test["valid"]:
                wrong.append(f"{group['description']}: {test['description']}")
    assert not wrong
