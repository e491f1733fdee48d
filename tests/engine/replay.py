"""Fixed cases walked by the engine alone, to compare what two processes answer.

``python -m tests.engine.replay FIRST LAST`` prints a JSON object of digests by case number.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from random import Random

import workbench as wb
from tests.engine import samples
from tests.engine.grammars import seeded_case
from tests.engine.walks import ids_of, mask_of
from workbench.grammar.ir import Grammar

GRAMMARS: dict[str, Callable[[], Grammar]] = {
    "json": samples.generic_json,
    "schema": samples.person_schema,
    "arithmetic": samples.arithmetic,
    "sql": samples.sql,
    "doubling": samples.doubling,
    "operators": samples.operators,
}
TEXTS = (
    '{"name": "é", "age": 36, "tags": ["a", "b"], "role": "author"} [true, false, null, -1.5e3]'
    "SELECT DISTINCT a FROM t JOIN (SELECT * FROM u) ON a = b WHERE x IN (1, 2) ORDER BY c "
    "-(alpha + 3.25)*max(x1, (y - 2)**2) n+(n+n)+n aaaa"
).encode()


def pieces() -> wb.Vocabulary:
    """All bytes, and pieces of texts that the grammars have."""
    rng = Random(9)
    tokens = [bytes([b]) for b in range(256)]
    for _ in range(600):
        at = rng.randrange(len(TEXTS))
        tokens.append(TEXTS[at : at + rng.randint(2, 7)])
    return wb.Vocabulary.from_bytes([*tokens, b"</s>"], [len(tokens)], width=len(tokens) + 40)


def digest(seed: int) -> str:
    """A digest of all masks, refusals and positions along two walks of a case."""
    case = seeded_case(seed)
    try:
        compiled = wb.compile(case.grammar, case.vocabulary(), case.limits(), cache=False)
    except wb.UnsatisfiableGrammar:
        return "unsatisfiable"
    return walked(compiled, Random(seed))


def walked(compiled: wb.CompiledGrammar, rng: Random) -> str:
    """A digest of two walks."""
    found = hashlib.sha256()
    for _ in range(2):
        matcher = compiled.matcher()
        for _ in range(12):
            mask = mask_of(matcher)
            found.update(mask.tobytes())
            found.update(bytes([matcher.is_accepting]))
            found.update(matcher.forced_bytes()[:100])
            found.update(str(matcher.finish_distance()).encode())
            refused = rng.randrange(matcher.vocabulary.width)
            found.update(bytes([matcher.validate([refused, refused])]))
            options = [i for i in ids_of(mask) if i not in matcher.vocabulary.eos_ids]
            if not options:
                break
            matcher.accept(rng.choice(options))
            if rng.random() < 0.2:
                matcher.rollback(1)
        found.update(bytes([matcher.num_accepted]))
    return found.hexdigest()


def digests(first: int, last: int) -> dict[str, str]:
    """Digests of cases by number, and of the grammars that people write by name."""
    found = {str(seed): digest(seed) for seed in range(first, last)}
    for name, make in GRAMMARS.items():
        found[name] = walked(wb.compile(make(), pieces(), cache=False), Random(first))
    return found


if __name__ == "__main__":
    print(json.dumps(digests(int(sys.argv[1]), int(sys.argv[2]))))
