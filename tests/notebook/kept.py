"""The document that a widget's state holds, read as the page reads it."""

from __future__ import annotations

import json
import zlib
from typing import Any


def kept(state: dict[str, Any]) -> dict[str, Any]:
    """The payload of a state, the changes in its pieces, and what its screens keep."""
    document: dict[str, Any] = json.loads(zlib.decompress(state["payload"]))
    for number in range(state["pieces"]):
        for line in zlib.decompress(state[f"piece_{number}"]).split(b"\n"):
            if line:
                apply(document, json.loads(line))
    for screen in ("grammar", "tokens", "dead", "export"):
        document["panels"].pop(screen, None)
        if state[f"kept_{screen}"]:
            document["panels"][screen] = json.loads(zlib.decompress(state[f"kept_{screen}"]))
    return document


def apply(document: dict[str, Any], change: dict[str, Any]) -> None:
    for part in ("tokens", "graphs", "rules"):
        document[part] |= change[part]
    for position in change["positions"]:
        document["positions"][position["id"] : position["id"] + 1] = [position]
    document["problem"] = change["problem"]
