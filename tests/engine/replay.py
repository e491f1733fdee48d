"""Fixed cases walked by the engine alone, to compare what two processes answer.

``python -m tests.engine.replay FIRST LAST`` prints a JSON object of digests by case number.
"""

from __future__ import annotations

import hashlib
import json
import sys
from random import Random

import workbench as wb
from tests.engine.grammars import seeded_case
from tests.engine.walks import ids_of, mask_of


def digest(seed: int) -> str:
    """A digest of all masks, refusals and positions along two walks of a case."""
    case = seeded_case(seed)
    try:
        compiled = wb.compile(case.grammar, case.vocabulary(), case.limits())
    except wb.UnsatisfiableGrammar:
        return "unsatisfiable"
    found = hashlib.sha256()
    rng = Random(seed)
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
            options = [i for i in ids_of(mask) if i not in case.eos_ids]
            if not options:
                break
            matcher.accept(rng.choice(options))
            if rng.random() < 0.2:
                matcher.rollback(1)
        found.update(bytes([matcher.num_accepted]))
    return found.hexdigest()


def digests(first: int, last: int) -> dict[str, str]:
    """Digests of cases by number."""
    return {str(seed): digest(seed) for seed in range(first, last)}


if __name__ == "__main__":
    print(json.dumps(digests(int(sys.argv[1]), int(sys.argv[2]))))
