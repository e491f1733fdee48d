"""Parts of a JSON Schema that no value satisfies or gets to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

from workbench.diagnostics.author.standing import at_pointer
from workbench.diagnostics.dead_ends.findings import Edit, Finding
from workbench.diagnostics.dead_ends.schema_edits import mend
from workbench.diagnostics.dead_ends.schema_routes import Dead, Kind, Search
from workbench.errors import GrammarSyntaxError, WorkbenchError
from workbench.frontends.json_schema.asking import Asking
from workbench.frontends.json_schema.read.resources import escape
from workbench.wording import number_of

__all__ = ["blamed", "broken_parts", "members", "reached", "unsatisfiable"]

#: Keywords whose value is a schema that holds, a list of such, or one for each name.
_ONE = ("items", "additionalItems", "additionalProperties", "contains", "then", "else")
_SEVERAL = ("allOf", "anyOf", "oneOf", "items", "prefixItems")
_BY_NAME = ("properties", "patternProperties", "dependentSchemas", "dependencies")
#: Values that may be read again to try edits.
_TRIED = 1_000_000
#: Parts that are looked at to blame one more closely, and those without values that are tried.
_CLOSER, _CLOSER_TRIED = 2_000, 20
_COUNTED: dict[Kind, tuple[str, str]] = {
    "member": ("member of objects", "members of objects"),
    "item": ("kind of item", "kinds of items"),
    "alternative": ("alternative", "alternatives"),
    "condition": ("condition", "conditions"),
    "name": ("schema of names", "schemas of names"),
}


def blamed(schema: Any) -> str | None:
    """The pointer of what cannot be satisfied, None for a schema that has values.

    Raises what the front end raises for a malformed schema; what it cannot decide counts as satisfiable.
    """
    try:
        asking = Asking(schema)
        pointer = asking.blame_all()
        if pointer is None or (pointer != "#" and asking.culprit(asking.root) is None):
            return pointer  # the latter: parts that have to have each other in them
    except GrammarSyntaxError:
        raise
    except WorkbenchError:
        return None
    return _closer(schema, asking, pointer)


def _closer(schema: Any, asking: Asking, pointer: str) -> str:
    """A part inside a schema without values that alone is to blame: without it there would be some."""
    trying = _Trying(schema)
    try:
        for part in islice(asking.empty_parts(_CLOSER), _CLOSER_TRIED):
            old = at_pointer(schema, part)
            if part == pointer or (old is not None and trying(Edit(old, True, part).apply(schema))):
                return part
    except (ValueError, WorkbenchError):
        pass  # the coarser answer stands
    return pointer


def unsatisfiable(schema: Any, pointer: str) -> Finding:
    """The finding for a schema that no value satisfies, because of the part at a pointer."""
    suggestion = mend(schema, pointer, _Trying(schema))
    return Finding(
        kind="unsatisfiable",
        message=f"no value satisfies {pointer}, and every text needs one",
        pointer=pointer,
        source=_excerpt(schema, pointer),
        suggestion=suggestion,
    )


def broken_parts(schema: Any) -> tuple[list[Finding], str, list[str]]:
    """Parts that no text can have, of a schema that has texts; what was looked at; what was not.

    Raises what reading the schema raises.
    """
    search = Search(schema)
    search.run()
    trying = _Trying(schema)
    findings = [_broken(schema, dead, trying) for dead in search.dead]
    counts = [
        number_of(search.looked[kind], *words)
        for kind, words in _COUNTED.items()
        if search.looked[kind] or kind == "member"
    ]
    stopped = []
    if search.left_out:
        parts = number_of(search.left_out, "part")
        stopped.append(f"{parts} of the schema, with what they lead to, were not looked at")
    if search.undecided:
        first = ", ".join(sorted(search.undecided)[:3])
        parts = number_of(len(search.undecided), "part")
        stopped.append(f"whether values get to {parts} of the schema is not known ({first})")
    return findings, f"{', '.join(counts)}, for values they can have", stopped


def _broken(schema: Any, dead: Dead, trying: _Trying) -> Finding:
    """The finding for a place that no text can have."""
    kind, part = dead.place.kind, dead.place.part
    at = f"the value of {dead.place.name!r}" if dead.place.steps else "the value"
    message = {
        "member": f"member {dead.place.name!r} can never be written",
        "item": f"no item can be written that {part.pointer} speaks of",
        "alternative": f"{at} can never be as {part.pointer} says",
        "condition": f"{at} can never be as {part.pointer} says",
        "name": f"{at} can have no members",
    }[kind]
    return Finding(
        kind="never written",
        message=f"{message}: {dead.pointer}: {dead.why}",
        warning=True,
        pointer=dead.pointer,
        source=_excerpt(schema, dead.pointer),
        suggestion=mend(
            schema, dead.pointer, lambda changed: trying(changed, dead.wanted, dead.apart)
        ),
    )


class _Trying:
    """Tells whether a changed schema has values that are wanted, as long as that is not too much work."""

    def __init__(self, schema: Any) -> None:
        self._each = _size(schema)
        self._left = _TRIED

    def __call__(self, changed: Any, wanted: Any = True, apart: bool = False) -> bool:
        if self._left <= 0:
            raise ValueError("no more edits are tried")
        self._left -= self._each
        try:
            return Asking(changed).blame(wanted, () if apart else None) is None
        except GrammarSyntaxError:
            raise
        except WorkbenchError:
            return False


def _size(schema: Any) -> int:
    """How many values a schema is made of."""
    count = 0
    todo = [schema]
    while todo:
        count += 1
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return count


def _excerpt(schema: Any, pointer: str) -> str:
    found = at_pointer(schema, pointer)
    text = "" if found is None else json.dumps(found, ensure_ascii=False, default=str)
    return text if len(text) <= 72 else text[:71] + "…"


def reached(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas that say how values have to be, each once with its pointer, outer ones first.

    References are followed within the schema, by pointer. What a schema excludes or only tests is left out.
    """
    seen: set[str] = set()
    todo = ["#"]
    for pointer in todo:
        at = at_pointer(schema, pointer)
        if pointer in seen or not isinstance(at, dict):
            continue
        seen.add(pointer)
        yield pointer, at
        reference = at.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            todo.append(unquote(reference))
        for keyword in _ONE:
            if isinstance(at.get(keyword), dict):
                todo.append(f"{pointer}/{keyword}")
        for keyword in _SEVERAL:
            if isinstance(at.get(keyword), list):
                todo += [f"{pointer}/{keyword}/{i}" for i in range(len(at[keyword]))]
        for keyword in _BY_NAME:
            if isinstance(at.get(keyword), dict):
                todo += [f"{pointer}/{keyword}/{escape(str(name))}" for name in at[keyword]]


def members(schema: Any) -> Iterator[str]:
    """The pointers of the members that a schema lists, at any depth."""
    for pointer, at in reached(schema):
        properties = at.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            yield f"{pointer}/properties/{escape(name)}"
