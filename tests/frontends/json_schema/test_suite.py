"""The official JSON Schema test suite, every draft and every file, judged by the engine.

Each schema is compiled, and the matcher reads each of its instances byte by byte, as ``workbench bench
json-schema-suite`` does. Every verdict is right but for those that are counted here: a schema that is refused by
name, and instances that are refused though they are valid where the outcomes say that a format is written in part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any

import pytest

from workbench.benchmarks.schema_suite import (
    DRAFTS,
    bytes_vocabulary,
    judge_group,
    read_suite,
    registry_of,
    suite_groups,
)

ARCHIVE = Path(__file__).parents[4] / "shared" / "data" / "json-schema-test-suite.tar.xz"

pytestmark = pytest.mark.skipif(not ARCHIVE.exists(), reason="the official suite is not there")

#: how many tests there are: required, of formats, other optional ones
CASES = {
    "draft4": (618, 219, 100),
    "draft6": (839, 325, 106),
    "draft7": (927, 676, 118),
    "draft2019-09": (1259, 757, 158),
    "draft2020-12": (1299, 764, 162),
}

#: a multiple with too many remainders, and assertions that draft 7 lets be annotations
REFUSED = {("unsupported", "multipleOf.json"): 1}
CONTENT = {("annotation", "optional/content.json"): 4}


def partly(**files: int) -> dict[tuple[str, str], int]:
    """Formats that are written in part, see ``LEFT_OUT`` in ``formats.py``: they may refuse, never accept."""
    names = {f"optional/format/{name.replace('_', '-')}.json": n for name, n in files.items()}
    return {("restricted", name): n for name, n in names.items()}


LATER = partly(date_time=1, ecmascript_regex=1, hostname=14, idn_email=1, idn_hostname=19, time=4)
#: tests that do not pass, by verdict and file
OTHERS: dict[str, dict[tuple[str, str], int]] = {
    "draft4": {
        **REFUSED,
        **partly(date_time=1),
        # 1e308, where numbers that are bounded are written without large exponents
        ("restricted", "optional/float-overflow.json"): 1,
    },
    "draft6": {**REFUSED, **partly(date_time=1)},
    "draft7": {**REFUSED, **LATER, **CONTENT},
    "draft2019-09": {**REFUSED, **LATER},
    "draft2020-12": {**REFUSED, **LATER},
}


@cache
def suite() -> dict[str, Any]:
    return read_suite(ARCHIVE)


def arrangements(value: Any) -> Iterator[Any]:
    """A value with its keys in up to 200 orders, its own first."""
    return islice(orders(value), 200)


def orders(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for items in product(*[list(orders(item)) for item in value]):
            yield list(items)
    elif isinstance(value, dict) and len(value) < 6:
        for keys in permutations(value):
            for items in product(*[list(orders(value[key])) for key in keys]):
                yield dict(zip(keys, items, strict=True))
    else:
        yield value


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("draft", DRAFTS)
def test_every_case(draft: str, order: str) -> None:
    """In the order of the schema, instances are tried with their keys in other orders, too."""
    registry, vocabulary = registry_of(suite()), bytes_vocabulary()
    cases: Counter[str] = Counter()
    others: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for group in suite_groups(suite(), {draft}):
        ways = arrangements if order == "schema" else (lambda value: (value,))
        record = judge_group(group, registry, vocabulary, order, ways)
        file = group.name.partition("#")[0].removeprefix(f"{draft}/")
        for test, verdict in zip(group.tests, record["verdicts"], strict=True):
            cases[group.area] += 1
            if verdict in ("wrongly accepted", "wrongly rejected", "crashed"):
                wrong.append(f"{verdict}: {group.name}: {test['description']}: {record['reason']}")
            elif verdict != "passes":
                others[verdict, file] += 1
    assert not wrong
    assert (cases["required"], cases["format"], cases["optional"]) == CASES[draft]
    assert others == OTHERS[draft]


def test_all_drafts_of_the_suite_are_there() -> None:
    assert {name.split("/")[1] for name in suite() if name.startswith("tests/")} == set(DRAFTS)
