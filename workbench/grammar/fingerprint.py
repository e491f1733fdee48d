"""Fingerprints: equal ones mean that grammars have the same content, sources and origins included.

Grammars of equal languages that explain themselves differently (other texts, other places in them) have
different fingerprints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256
from secrets import token_hex
from typing import Any

from workbench.grammar.encoding import Encoder
from workbench.grammar.ir import Expr, Grammar
from workbench.grammar.lazy import LazyRules

__all__ = ["content_key", "fingerprint", "rules_key", "source_key"]

# random, so that no text of an object can be mistaken for it
_DECIMAL = f"decimal {token_hex(16)}"


def fingerprint(grammar: Grammar) -> str | None:
    """Return a SHA-256 in hex over a grammar's content, for this process alone.

    Lazy rules are represented by their ``key``: none is written for it. None when the content cannot be told:
    lazy rules without a key, a source that is neither text nor JSON.
    """
    head: list[Any] = [grammar.kind, grammar.start]
    if isinstance(grammar.rules, LazyRules):
        if grammar.rules.key is None:
            return None
        head += ["lazy", grammar.rules.key]
    else:
        rules = rules_key(grammar.rules)
        if rules is None:
            return None
        outcomes = [
            [o.pointer, o.keyword, o.status, o.detail, o.warning, *o.kinds]
            for o in grammar.outcomes
        ]
        told = source_key(grammar.source)
        if told is None:
            return None
        head += ["rules", rules, told, outcomes]
    return sha256(json.dumps(head).encode()).hexdigest()


def rules_key(rules: Mapping[str, Expr]) -> str | None:
    """Return a SHA-256 in hex over rules that are there already; None for what cannot be written."""
    try:
        arrays = Encoder().rules(rules).arrays()
    except (OverflowError, TypeError, ValueError):
        return None
    digest = sha256(json.dumps([array.size for array in arrays.values()]).encode())
    for array in arrays.values():
        digest.update(array.tobytes())
    return digest.hexdigest()


def source_key(source: Any) -> str | None:
    """Return what stands for a grammar's source, its type included; None for what is neither text nor JSON."""
    key = source.hex() if isinstance(source, bytes) else content_key(source)
    return None if key is None else f"{type(source).__name__} {key}"


def content_key(*parts: Any) -> str | None:
    """Return a SHA-256 in hex over JSON values, the order of keys included, for this process alone.

    Numbers may be ``Decimal``. None for anything else, and for values too deep for the JSON library.

    >>> content_key({"a": 1}) == content_key({"a": 1}) != content_key({"a": 1.0})
    True
    """
    try:
        text = json.dumps(parts, default=_tagged)
    except (RecursionError, TypeError, ValueError):
        return None
    return sha256(text.encode()).hexdigest()


def _tagged(value: Any) -> Any:
    if isinstance(value, Decimal):
        return {_DECIMAL: str(value)}
    raise TypeError(f"{value!r:.60} is no JSON value")
