"""Digests of masks along fixed walks: the same before and after every change of the engine's house.

``python -m tests.engine.digests`` prints those of this checkout; what was recorded is in ``digests.json``. A digest
changes when the language of a grammar does (a front end that writes it otherwise), never with the engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import workbench as wb
from tests.engine import samples
from tests.engine.replay import digest, pieces
from tests.engine.walks import ids_of, mask_of
from workbench.grammar.ir import Grammar

RECORDED = Path(__file__).with_name("digests.json")

#: positions looked at in each grammar, and tokens of a walk at most
POSITIONS = 300
LONGEST = 60
#: random grammars, by seed
SEEDS = range(150)

ORDER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "role": {"enum": ["admin", "author", None, 1.5]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5, "uniqueItems": True},
        "friend": {"$ref": "#"},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
OPEN = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "list": {"type": "array", "minItems": 1}},
    "patternProperties": {
        "^x": {"type": "boolean"},
        "e$": {"type": "string", "pattern": "^[a-c]+$"},
    },
    "minProperties": 2,
    "maxProperties": 6,
}
KINDS = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": kind}, **more},
            "required": ["kind"],
            "additionalProperties": False,
        }
        for kind, more in (
            ("circle", {"r": {"type": "number", "exclusiveMinimum": 0}}),
            ("square", {"side": {"type": "number", "multipleOf": 0.5}}),
            ("path", {"points": {"type": "array", "items": {"$ref": "#/$defs/point"}}}),
        )
    ],
    "$defs": {
        "point": {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "integer"}],
            "items": False,
            "minItems": 2,
        }
    },
}
UNIQUE = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"on": {"type": "boolean"}, "n": {"enum": [1, 2]}},
        "additionalProperties": False,
    },
    "uniqueItems": True,
    "minItems": 2,
}
TEXTS = {
    "type": "object",
    "properties": {
        "mail": {"type": "string", "format": "email"},
        "when": {"type": "string", "format": "date-time"},
        "id": {"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]{6,9}$"},
        "rest": {"type": "array", "items": {"not": {"type": ["object", "array"]}}},
    },
}
TOOL = r"""
root   ::= think? "call " name "(" args? ")" (";" root)?
think  ::= <think> until("</think>")
name   ::= [a-z_]+ & ~("none" | "null")
args   ::= value (", " value)*
value  ::= "\"" [^"\n]{0,80} "\"" | [0-9]{1,12} | "[" args "]"
"""
INDENTED = """
root ::= block
block ::= (line | "if " expr ":\\n  " block)+
line ::= expr "\\n"
expr ::= expr ("+" | "*" | " and ") expr | "(" expr ")" | [a-z] [a-z0-9_]{0,30} | [0-9]+
"""
EMAIL = r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}"

GRAMMARS: dict[str, Callable[[], Grammar]] = {
    "json, from the representation": samples.generic_json,
    "objects, from the representation": samples.person_schema,
    "arithmetic": samples.arithmetic,
    "sql": samples.sql,
    "doubling": samples.doubling,
    "operators": samples.operators,
    "brackets": samples.brackets,
    "bounded text": lambda: samples.quoted(3, 5000),
    "tools with tokens": lambda: wb.gbnf(TOOL),
    "left recursion in lines": lambda: wb.gbnf(INDENTED),
    "e-mail": lambda: wb.regex(EMAIL),
    "look-around": lambda: wb.regex(r"(?:(?<!a)b|a(?!c)|c+(?=ab|$))*"),
    "json text": wb.json_text,
    "schema, in order": lambda: wb.json_schema(ORDER),
    "schema, any order": lambda: wb.json_schema(ORDER, property_order="any"),
    "open, any order": lambda: wb.json_schema(OPEN, property_order="any", whitespace="compact"),
    "open, keys twice": lambda: wb.json_schema(OPEN, unique_keys=False),
    "kinds": lambda: wb.json_schema(KINDS, property_order="any"),
    "unique objects": lambda: wb.json_schema(UNIQUE, whitespace="compact"),
    "formats": lambda: wb.json_schema(TEXTS, whitespace="any"),
}


def vocabulary() -> wb.Vocabulary:
    """All bytes, pieces of texts, characters of several bytes, and a special token."""
    known = pieces()
    tokens = [known.token_bytes(i) for i in range(known.size - 1)]
    tokens += [text.encode() for text in ("é", "日本", "</th", "ink>", '":', '",', '"}', "\\u00")]
    tokens += [b'{"', b'": "', b'": ', b'", "', b"}, ", b"kind", b"circle", b"on", b"true", b"\n  "]
    special = len(tokens)
    tokens += [b"", b"</s>"]
    return wb.Vocabulary.from_bytes(
        tokens,
        [special + 1],
        width=len(tokens) + 40,
        special_names={special: "<think>"},
    )


def walked(compiled: wb.CompiledGrammar, rng: Random) -> str:
    """A digest of masks and verdicts at so many positions, each walk from the start."""
    found = hashlib.sha256()
    seen = 0
    ends = set(compiled.vocabulary.eos_ids)
    while seen < POSITIONS:
        matcher = compiled.matcher()
        for _ in range(LONGEST):
            mask = mask_of(matcher)
            found.update(mask.tobytes())
            found.update(bytes([matcher.is_accepting]))
            seen += 1
            options = [i for i in ids_of(mask) if i not in ends]
            if not options or seen >= POSITIONS:
                break
            # longer tokens as often as single bytes, of which there are more
            longer = [i for i in options if len(compiled.vocabulary.token_bytes(i)) != 1]
            assert matcher.accept(rng.choice(longer if longer and rng.random() < 0.5 else options))
            if rng.random() < 0.05:
                matcher.rollback(1)
        found.update(str(matcher.finish_distance()).encode())
    return found.hexdigest()


def digests() -> dict[str, str]:
    """Digests by the name of the grammar, and of all random ones together."""
    tokens = vocabulary()
    found = {
        name: walked(wb.compile(make(), tokens, cache=False), Random(name))
        for name, make in GRAMMARS.items()
    }
    together = hashlib.sha256("".join(digest(seed) for seed in SEEDS).encode())
    return found | {"random": together.hexdigest()}


if __name__ == "__main__":
    print(json.dumps(digests(), indent=1, ensure_ascii=False))
