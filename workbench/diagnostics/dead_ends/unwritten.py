"""Listed values and names of a schema that a vocabulary cannot write, as bytes of them are in no token.

The engine leaves them out when it compiles. Where a character has another spelling (an escape) that tokens
hold, it can be written. What comes of patterns, formats and numbers is not looked at here.
"""

from __future__ import annotations

import json
from typing import Any

from workbench.diagnostics.dead_ends.findings import ABSENT, Edit, Finding, Suggestion
from workbench.diagnostics.dead_ends.schema_parts import reached
from workbench.wording import joined, number_of

__all__ = ["unwritten"]

#: Values and names that are looked at.
MAX_LOOKED = 20_000
_SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def unwritten(schema: Any, missing: frozenset[int]) -> tuple[list[Finding], str]:
    """Findings for values of enums and consts, and for listed members; and what was not looked at.

    What the schema excludes or only tests is not looked at.
    """
    if not missing:
        return [], ""
    findings: list[Finding] = []
    looked = 0
    for pointer, part in reached(schema):
        for keyword in ("enum", "const"):
            values = _listed(part, keyword)
            looked += len(values)
            lost = [(value, lacking) for value in values if (lacking := _lacking(value, missing))]
            if lost:
                findings.append(_values(values, pointer, keyword, lost))
        properties = part.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            looked += 1
            if lacking := _lacking(name, missing):
                findings.append(_member(part, pointer, name, lacking))
        if looked > MAX_LOOKED:
            return findings, "the schema lists more values than were looked at for missing bytes"
    return findings, ""


def _listed(part: dict[str, Any], keyword: str) -> list[Any]:
    if keyword == "const":
        return [part["const"]] if "const" in part else []
    values = part.get("enum")
    return values if isinstance(values, list) else []


def _lacking(value: Any, missing: frozenset[int]) -> str:
    """The characters of a value that no token holds, in any spelling."""
    found: dict[str, None] = {}
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += [*part, *part.values()]
        elif isinstance(part, list):
            todo += part
        elif isinstance(part, str):
            if ord('"') in missing:
                found['"'] = None
            found.update(dict.fromkeys(c for c in part if not _spelled(c, missing)))
        elif part is None or isinstance(part, bool):
            word = json.dumps(part)
            found.update(dict.fromkeys(c for c in word if ord(c) in missing))
    return "".join(sorted(found))


def _spelled(character: str, missing: frozenset[int]) -> bool:
    """Whether the bytes of some JSON spelling of a character are in tokens."""
    if ord(character) >= 0x20 and character not in '"\\':
        raw = character.encode("utf-8", "surrogatepass")
        if missing.isdisjoint(raw) and not 0xD800 <= ord(character) <= 0xDFFF:
            return True
    if ord("\\") in missing:
        return False
    if character in _SHORT and character != "/":
        # listed values have this escape alone
        return ord(_SHORT[character]) not in missing
    units = character.encode("utf-16-be", "surrogatepass").hex()
    digits = (ord(d) in missing and ord(d.upper()) in missing for d in units)
    return ord("u") not in missing and not any(digits)


def _said(lacking: str) -> str:
    return f"{joined([repr(one) for one in lacking], 6)} {'are' if len(lacking) > 1 else 'is'} in no token"


def _values(values: list[Any], pointer: str, keyword: str, lost: list[tuple[Any, str]]) -> Finding:
    """The finding for values of one enum or const; ``lost`` are those that cannot be written, and why."""
    shown = [json.dumps(value, ensure_ascii=False, default=str)[:40] for value, _ in lost[:3]]
    more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
    lacking = "".join(sorted({character for _, some in lost for character in some}))
    kept = [value for value in values if all(value is not other for other, _ in lost)]
    suggestion = None
    if kept and keyword == "enum":
        edit = Edit(values, kept, f"{pointer}/enum")
        suggestion = Suggestion("leave out the values that cannot be written", (edit,))
    what = f"the value {shown[0]} can never be written"
    if len(lost) > 1:
        what = f"{number_of(len(lost), 'value')} can never be written ({', '.join(shown)}{more})"
    return Finding(
        kind="never written",
        message=f"{what}: {_said(lacking)}",
        warning=True,
        pointer=pointer,
        source=_excerpt(values),
        suggestion=suggestion,
    )


def _excerpt(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 72 else text[:71] + "…"


def _member(part: dict[str, Any], pointer: str, name: str, lacking: str) -> Finding:
    escaped = name.replace("~", "~0").replace("/", "~1")
    where = f"{pointer}/properties/{escaped}"
    required = part.get("required")
    needed = isinstance(required, list) and name in required
    suggestion = None
    if not needed:
        edit = Edit(part["properties"][name], ABSENT, where)
        suggestion = Suggestion(f"leave the member {name!r} out", (edit,))
    return Finding(
        kind="never written",
        message=f"the member {name!r} can never be written: {_said(lacking)}",
        warning=True,
        pointer=where,
        suggestion=suggestion,
    )
