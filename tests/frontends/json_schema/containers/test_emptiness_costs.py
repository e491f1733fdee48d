"""How often the search for values looks at a node: a few times each, however deep or wide the schema is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from workbench.frontends.json_schema.containers.emptiness import Emptiness

Schema = dict[str, Any]


def wide(count: int) -> Schema:
    names = [f"p{n}" for n in range(count)]
    said = {name: {"type": "string", "minLength": 1} for name in names}
    return {"type": "object", "properties": said, "required": names}


def deep(count: int) -> Schema:
    said: Schema = {"type": "integer", "minimum": 3}
    for _ in range(count):
        said = {"type": "object", "properties": {"a": said}, "required": ["a"]}
    return said


def referring(count: int) -> Schema:
    """Each definition requires all that come after it, and may hold the first."""
    parts: Schema = {f"d{count}": {"type": "string", "minLength": 1}}
    for n in range(count):
        names = [f"d{k}" for k in range(n + 1, min(n + 4, count) + 1)]
        said: Schema = {name: {"$ref": f"#/$defs/{name}"} for name in names}
        said["back"] = {"$ref": "#/$defs/d0"}
        parts[f"d{n}"] = {"type": "object", "properties": said, "required": names}
    return {"$ref": "#/$defs/d0", "$defs": parts}


def endless(count: int) -> Schema:
    """Each definition requires the next one, the last one the first: no value satisfies them."""
    parts = {
        f"d{n}": {
            "type": "object",
            "properties": {"a": {"$ref": f"#/$defs/d{(n + 1) % count}"}},
            "required": ["a"],
        }
        for n in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": parts}


@pytest.mark.parametrize("schema", [wide, deep, referring, endless])
def test_nodes_are_looked_at_a_few_times_each(
    schema: Callable[[int], Schema], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    possible = Emptiness.possible

    def counted(*args: Any) -> bool:
        nonlocal looked
        looked += 1
        return possible(*args)

    monkeypatch.setattr(Emptiness, "possible", counted)
    try:
        wb.json_schema(schema(120))
    except wb.UnsatisfiableGrammar:
        assert schema is endless
    else:
        assert schema is not endless
    assert looked < 6 * 120
