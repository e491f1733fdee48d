"""Sets of tools as servers offer them; more are drawn from public schemas where these are at hand."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import workbench as wb
from tests.vocabulary.conftest import SHARED_DATA

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
SHORT: Schema = {"type": "string", "minLength": 1, "maxLength": 12}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 1000}
DAY: Schema = {"type": "string", "format": "date"}


def obj(required: str = "", **properties: Schema | bool) -> Schema:
    """An object with some members that are required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def several(items: Schema, **more: Any) -> Schema:
    """An array."""
    return {"type": "array", "items": items, **more}


PLACE = obj(
    "lat lon", lat={"type": "number", "minimum": -90, "maximum": 90}, lon={"type": "number"}
)
PERSON = obj("email", email={"type": "string", "format": "email"}, name=TEXT)

SETS: dict[str, dict[str, Schema]] = {
    "files": {
        "read_file": obj("path", path=TEXT, head=COUNT, tail=COUNT),
        "write_file": obj("path content", path=TEXT, content=TEXT),
        "edit_file": obj(
            "path edits", path=TEXT, edits=several(obj("old new", old=TEXT, new=TEXT)), dry_run=FLAG
        ),
        "list_directory": obj("path", path=TEXT),
    },
    "calendar": {
        "create_event": obj(
            "title start", title=SHORT, start=DAY, guests=several(PERSON, maxItems=3)
        ),
        "find_free_slot": obj("day", day=DAY, minutes={"enum": [15, 30, 60]}),
        "delete_event": obj("id", id={"type": "string", "pattern": "^ev_[0-9a-f]{4}$"}),
    },
    "search": {
        "web_search": obj(
            "query", query=SHORT, limit=COUNT, freshness={"enum": ["day", "week", None]}
        ),
        "fetch_page": obj("url", url={"type": "string", "pattern": "^https://[a-z.]+/$"}),
    },
    "database": {
        "query": obj("sql", sql=TEXT, parameters=several({"type": ["string", "number", "null"]})),
        "list_tables": obj(),
        "describe_table": obj("table", table=SHORT, with_indexes=FLAG),
    },
    "browser": {
        "click": obj("ref", ref={"type": "integer"}, button={"enum": ["left", "right"]}),
        "type": obj("ref text", ref={"type": "integer"}, text=TEXT, submit=FLAG),
        "wait_for": {
            "type": "object",
            "properties": {"text": SHORT, "seconds": {"type": "number", "exclusiveMinimum": 0}},
            "minProperties": 1,
            "additionalProperties": False,
        },
        "screenshot": obj(full_page=FLAG),
    },
    "git": {
        "git_commit": obj("message", message=SHORT, amend=FLAG),
        "git_log": obj(max_count=COUNT, since=DAY),
        "git_checkout": obj(
            "branch", branch={"type": "string", "pattern": "^[a-z/]{1,20}$"}, create=FLAG
        ),
    },
    "mail": {
        "send": obj(
            "to subject", to=several(PERSON, minItems=1, maxItems=2), subject=SHORT, body=TEXT
        ),
        "label": obj(
            "ids add", ids=several(SHORT, uniqueItems=True, maxItems=3), add=several(SHORT)
        ),
    },
    "maps": {
        "route": obj("from to", **{"from": PLACE, "to": PLACE, "mode": {"enum": ["walk", "car"]}}),
        "nearby": obj("place", place=PLACE, kinds=several({"enum": ["food", "fuel"]}, maxItems=2)),
    },
    "shell": {
        "run": obj(
            "argv",
            argv=several(SHORT, minItems=1),
            timeout={"type": "number", "minimum": 0},
            env={"type": "object", "additionalProperties": TEXT},
        ),
        "kill": obj("pid", pid={"type": "integer", "minimum": 1}),
    },
    "tickets": {
        "create_issue": obj(
            "title",
            title=SHORT,
            labels=several(SHORT),
            assignee={"anyOf": [SHORT, {"type": "null"}]},
        ),
        "comment": obj("number body", number={"type": "integer", "minimum": 1}, body=TEXT),
        "close_issue": obj("number", number={"type": "integer"}, reason={"const": "done"}),
    },
    "payments": {
        "charge": obj(
            "amount currency",
            amount={"type": "integer", "minimum": 1},
            currency={"enum": ["EUR", "USD"]},
            method={"oneOf": [obj("card", card=SHORT), obj("iban", iban=SHORT)]},
        ),
        "refund": obj("charge", charge=SHORT, amount={"type": "integer", "minimum": 1}),
    },
    "home": {
        "set_light": obj(
            "room",
            room={"enum": ["kitchen", "hall"]},
            level={"type": "integer", "minimum": 0, "maximum": 100},
        ),
        "play": obj("what", what=SHORT, volume={"type": "number", "minimum": 0, "maximum": 1}),
        "all_off": obj(),
    },
    "trees": {
        "outline": {
            "$defs": {
                "node": obj(
                    "title", title=SHORT, children=several({"$ref": "#/$defs/node"}, maxItems=2)
                )
            },
            **obj("root", root={"$ref": "#/$defs/node"}),
        },
    },
    "memory": {
        "create_entities": obj(
            "entities",
            entities=several(obj("name kind", name=SHORT, kind=SHORT, facts=several(TEXT))),
        ),
        "open_nodes": obj("names", names=several(SHORT)),
        "read_graph": obj(),
    },
    "words": {
        "söken": obj("ord", ord=SHORT),
        "files.read-all": obj("paths", paths=several(SHORT)),
        "ns/tool:go": obj(n={"type": "integer", "multipleOf": 5}),
    },
    "loose": {
        "log": {
            "type": "object",
            "properties": {"level": {"enum": ["info", "warn"]}},
            "required": ["level"],
        },
        "patch": obj(
            "set", set={"type": "object", "additionalProperties": {"type": ["integer", "boolean"]}}
        ),
    },
}


def as_tools(schemas: dict[str, Schema]) -> list[Schema]:
    """Tools as an MCP server lists them."""
    return [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]


@cache
def drawn(n: int) -> tuple[dict[str, Schema], ...]:
    """Sets of three tools each with schemas of objects from public collections; none where these are not at hand."""
    found: list[Schema] = []
    for schema in _public():
        if len(found) == 3 * n:
            break
        if schema.get("type") != "object" or not schema.get("properties"):
            continue
        try:
            wb.tools([{"name": "f", "parameters": schema}])
        except wb.WorkbenchError:
            continue
        found.append(schema)
    return tuple(
        {f"tool_{number}": schema for number, schema in enumerate(found[at : at + 3])}
        for at in range(0, len(found), 3)
    )


def _public() -> Iterator[Schema]:
    archive = SHARED_DATA / "maskbench-dev.tar.xz"
    if not archive.is_file():
        return
    with tarfile.open(archive) as members:
        for number, member in enumerate(members):
            if member.name.endswith(".json") and member.size < 4_000 and number % 7 == 0:
                file = members.extractfile(member)
                schema = json.load(file)["schema"] if file is not None else None
                if isinstance(schema, dict):
                    yield schema
