"""Parts of a JSON Schema that no value satisfies, and edits of the schema that mend them.

Whether a member can ever be written is asked of the front end itself: a schema that demands the member
beside the one at hand is satisfiable or not. So every way in which constraints meet is covered. Edits are
tried the same way before they are suggested.

Next file to read: ``workbench/diagnostics/grammar_parts.py``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.diagnostics.findings import ABSENT, Edit, Finding, Suggestion
from workbench.errors import GrammarSyntaxError, UnsatisfiableGrammar, WorkbenchError
from workbench.wording import number_of

__all__ = ["Part", "blamed", "broken_members", "members", "mend", "unsatisfiable"]

#: Work before the search for members stops: questions, each as many units as the schema has values in it.
MAX_WORK = 120_000
#: Members of one object that are asked about at once: when all of them can stand together, each can.
_TOGETHER = 32
_HOME = "urn:workbench:schema"

#: Bounds from above and from below, each with its partner.
_UPPER = {
    "maxLength": "minLength",
    "maxItems": "minItems",
    "maxProperties": "minProperties",
    "maximum": "minimum",
    "exclusiveMaximum": "exclusiveMinimum",
}
_LOWER = {low: high for high, low in _UPPER.items()}
_COUNTS = ("Length", "Items", "Properties")
#: What is left out, when nothing else helps: least missed first.
_LEAST_MISSED = (
    "format",
    "pattern",
    "not",
    "multipleOf",
    "uniqueItems",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "enum",
    "const",
    "type",
)
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object: the steps to it from the root (None for an item), and its schema's place."""

    steps: tuple[str | None, ...]
    pointer: str

    @property
    def name(self) -> str:
        """The member as a path of names."""
        return ".".join("[]" if step is None else step for step in self.steps)


def blamed(schema: Any, wanted: Any = True) -> str | None:
    """The pointer of what cannot be satisfied when a schema holds and ``wanted`` beside it, or None.

    Raises what the front end raises for a malformed schema; what it cannot decide counts as satisfiable.
    """
    from workbench.frontends.json_schema import json_schema

    try:
        if wanted is True:
            json_schema(schema, on_unsupported="report")
        else:
            both = {"allOf": [{"$ref": _HOME}, wanted]}
            _with_registry(both, schema)
    except UnsatisfiableGrammar as error:
        return error.part.removeprefix(_HOME)
    except GrammarSyntaxError:
        raise
    except WorkbenchError:
        return None
    return None


def unsatisfiable(schema: Any, pointer: str) -> Finding:
    """The finding for a schema that no value satisfies, because of the part at a pointer."""
    suggestion = mend(schema, pointer, lambda changed: blamed(changed) is None)
    return Finding(
        kind="unsatisfiable",
        message=f"no value satisfies {pointer}, and every text needs one",
        pointer=pointer,
        source=_excerpt(schema, pointer),
        suggestion=suggestion,
    )


def broken_members(schema: Any) -> tuple[list[Finding], int, str]:
    """Members that no text can have, of a schema that has texts; how many were looked at; what was not."""
    findings: list[Finding] = []
    every = list(members(schema))
    questions = max(20, MAX_WORK // _size(schema))
    beside: dict[tuple[str | None, ...], list[Part]] = {}
    for part in every:
        beside.setdefault(part.steps[:-1], []).append(part)
    todo = [
        parts[i : i + _TOGETHER]
        for parts in beside.values()
        for i in range(0, len(parts), _TOGETHER)
    ][::-1]
    hopeless: list[tuple[str | None, ...]] = []
    looked = 0
    while todo and questions > 0:
        group = [part for part in todo.pop() if not _below(part.steps, hopeless)]
        if not group:
            continue
        questions -= 1
        if len(group) > 1:
            names = [str(part.steps[-1]) for part in group]
            if _satisfiable(schema, _demand(group[0].steps[:-1], names)):
                looked += len(group)
            else:
                half = len(group) // 2
                todo += [group[half:], group[:half]]
            continue
        looked += 1
        finding = _broken(schema, group[0])
        if finding is not None:
            hopeless.append(group[0].steps)
            findings.append(finding)
    left = len(every) - looked - sum(_below(part.steps, hopeless) for part in every)
    stopped = (
        f"{max(left, 1)} of {number_of(len(every), 'member')} were not looked at" if todo else ""
    )
    return findings, looked, stopped


def _below(steps: tuple[str | None, ...], hopeless: list[tuple[str | None, ...]]) -> bool:
    return any(steps[: len(above)] == above for above in hopeless)


def _broken(schema: Any, part: Part) -> Finding | None:
    """The finding for a member that no text can have."""
    wanted = _demand(part.steps)
    pointer = blamed(schema, wanted)
    if pointer is None:
        return None
    above = part.pointer == pointer or part.pointer.startswith(f"{pointer}/")
    if above or not pointer.startswith("#") or _at(schema, pointer) is ABSENT:
        pointer = part.pointer
    why = "the schema there is false" if _at(schema, pointer) is False else "no value satisfies it"
    return Finding(
        kind="never written",
        message=f"member {part.name!r} can never be written: {pointer}: {why}",
        warning=True,
        pointer=pointer,
        source=_excerpt(schema, pointer),
        suggestion=mend(schema, pointer, lambda changed: blamed(changed, wanted) is None),
    )


def _satisfiable(schema: Any, wanted: Any) -> bool:
    """Whether it is sure that some value satisfies both."""
    both = {"allOf": [{"$ref": _HOME}, wanted]}
    try:
        _with_registry(both, schema)
    except WorkbenchError:
        return False
    return True


def _with_registry(both: Any, schema: Any) -> None:
    """Read a schema that refers to the one that a grammar was made of, whatever that was forgiven."""
    from workbench.frontends.json_schema import json_schema

    json_schema(both, on_unsupported="report", on_dangling="forbid", registry={_HOME: schema})


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
    found = _at(schema, pointer)
    text = "" if found is ABSENT else json.dumps(found, ensure_ascii=False, default=str)
    return text if len(text) <= 72 else text[:71] + "…"


def members(schema: Any) -> Iterator[Part]:
    """The members that a schema lists, at any depth, each path once, outer ones first."""
    seen: set[str] = set()
    told: set[tuple[str | None, ...]] = set()
    todo: list[tuple[tuple[str | None, ...], str]] = [((), "#")]
    for steps, pointer in todo:
        at = _at(schema, pointer)
        if not isinstance(at, dict) or pointer in seen:
            continue
        seen.add(pointer)
        reference = at.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            todo.append((steps, reference))
        for keyword in ("allOf", "anyOf", "oneOf"):
            if isinstance(at.get(keyword), list):
                todo += [(steps, f"{pointer}/{keyword}/{i}") for i in range(len(at[keyword]))]
        if isinstance(at.get("items"), dict):
            todo.append(((*steps, None), f"{pointer}/items"))
        properties = at.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            part = Part((*steps, name), f"{pointer}/properties/{_escaped(name)}")
            if part.steps not in told:
                told.add(part.steps)
                yield part
            todo.append((part.steps, part.pointer))


def _demand(steps: tuple[str | None, ...], names: list[str] | None = None) -> Any:
    """A schema of the values that have a member, or several below one place."""
    wanted: Any = True if names is None else {"type": "object", "required": names}
    for step in reversed(steps):
        if step is None:
            wanted = {"type": "array", "contains": wanted}
        else:
            wanted = {"type": "object", "required": [step], "properties": {step: wanted}}
    return wanted


# Edits


def mend(schema: Any, pointer: str, works: Callable[[Any], bool]) -> Suggestion | None:
    """The first edit of the part at a pointer, out of a list of likely ones, after which ``works`` holds."""
    if not isinstance(schema, dict):
        return None
    for text, edits in _candidates(schema, pointer, works):
        changed = schema
        try:
            for edit in edits:
                changed = edit.apply(changed)
            if works(changed):
                return Suggestion(text, tuple(edits))
        except (GrammarSyntaxError, KeyError, ValueError):
            continue
    return None


def _candidates(
    schema: Any, pointer: str, works: Callable[[Any], bool]
) -> Iterator[tuple[str, list[Edit]]]:
    closed = ("/additionalProperties", "/unevaluatedProperties")
    if pointer.endswith(closed):
        # what is missing is a name in the object around it
        for here, part in _places(schema, pointer.rpartition("/")[0]):
            yield from _listed(here, part)
    places = list(_places(schema, pointer))
    if _at(schema, pointer) is False and pointer != "#":
        yield "allow it", [Edit(False, True, pointer)]
    for here, part in places:
        yield from _swapped(here, part)
    for here, part in places:
        for keyword in (*_UPPER, *_LOWER):
            old = part.get(keyword)
            if isinstance(old, int | float) and not isinstance(old, bool):
                yield from _moved(schema, f"{here}/{keyword}", keyword, old, works)
    for here, part in places:
        yield from _retyped(here, part)
        yield from _listed(here, part)
        yield from _optional(here, part)
    for keyword in _LEAST_MISSED:
        for here, part in places:
            if keyword in part:
                yield f"leave {keyword} out", [Edit(part[keyword], ABSENT, f"{here}/{keyword}")]
    for here, part in places:
        for keyword in part:
            yield (
                f"leave {keyword} out",
                [Edit(part[keyword], ABSENT, f"{here}/{_escaped(keyword)}")],
            )


def _places(schema: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas that hold for the value at a pointer: there, behind a reference, and in allOf."""
    seen: set[str] = set()
    todo = [pointer]
    for here in todo:
        part = _at(schema, here)
        if not isinstance(part, dict) or here in seen:
            continue
        seen.add(here)
        yield here, part
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            todo.append(reference)
        if isinstance(part.get("allOf"), list):
            todo += [f"{here}/allOf/{i}" for i in range(len(part["allOf"]))]


def _swapped(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    for high, low in _UPPER.items():
        least, most = part.get(low), part.get(high)
        if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            yield (
                f"{low} is above {high}: swap them",
                [Edit(least, most, f"{here}/{low}"), Edit(most, least, f"{here}/{high}")],
            )


def _moved(
    schema: Any, pointer: str, keyword: str, old: float, works: Callable[[Any], bool]
) -> Iterator[tuple[str, list[Edit]]]:
    """A bound moved just as far as is needed, found by halving."""

    def at(value: int) -> bool:
        return works(Edit(old, value, pointer).apply(schema))

    up = keyword in _UPPER
    counted = keyword.endswith(_COUNTS)
    sign = 1 if up else -1
    start = math.floor(old) if up else math.ceil(old)
    near, step = start, 1
    while True:
        far = start + sign * step
        if not up and counted:
            far = max(far, 0)
        if abs(far - start) > _LARGEST or far == near:
            return
        if at(far):
            break
        near, step = far, 2 * step
    # near does not do, far does
    while abs(far - near) > 1:
        middle = (near + far) // 2
        if at(middle):
            far = middle
        else:
            near = middle
    yield f"{'raise' if up else 'lower'} {keyword} to {far}", [Edit(old, far, pointer)]


def _retyped(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    """A type that fits the listed values."""
    values = part.get("enum", [part["const"]] if "const" in part else [])
    if "type" in part and isinstance(values, list) and values:
        kinds = list(dict.fromkeys(map(_type, values)))
        new = kinds[0] if len(kinds) == 1 else kinds
        yield "name the type of the listed values", [Edit(part["type"], new, f"{here}/type")]


def _listed(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    """Required members that a closed object does not list."""
    required, properties = part.get("required"), part.get("properties")
    if isinstance(required, list) and isinstance(properties, dict):
        missing = [name for name in required if isinstance(name, str) and name not in properties]
        if missing:
            edits = [Edit(ABSENT, {}, f"{here}/properties/{_escaped(name)}") for name in missing]
            yield f"list the required {', '.join(map(repr, missing))} among the properties", edits


def _optional(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    """One required member fewer."""
    required = part.get("required")
    if not isinstance(required, list):
        return
    for name in required:
        fewer = [other for other in required if other != name]
        yield f"do not require {name!r}", [Edit(required, fewer, f"{here}/required")]


def _type(value: Any) -> str:
    for name, kind in (
        ("null", type(None)),
        ("boolean", bool),
        ("integer", int),
        ("number", float),
        ("string", str),
        ("array", list),
    ):
        if isinstance(value, kind):
            return name
    return "object"


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _at(schema: Any, pointer: str) -> Any:
    """What stands at a pointer; ``ABSENT`` for nothing."""
    at = schema
    for key in pointer.removeprefix("#").split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and name in at:
            at = at[name]
        elif isinstance(at, list) and name.isdigit() and int(name) < len(at):
            at = at[int(name)]
        else:
            return ABSENT
    return at
