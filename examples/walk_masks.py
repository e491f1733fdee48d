"""Walk through a text and print how many tokens each mask allows. Needs no model.

python examples/walk_masks.py [tokenizer.json]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import workbench as wb

GRAMMAR = Path(__file__).with_name("arithmetic.gbnf")


def main() -> None:
    if len(sys.argv) > 1:
        vocabulary = wb.Vocabulary.load(sys.argv[1])
    else:
        # A toy vocabulary: every printable byte, a few longer tokens, and an end.
        tokens = [*(bytes([byte]) for byte in range(32, 127)), b" + ", b"((", b"))", b"12", b""]
        vocabulary = wb.Vocabulary.from_bytes(tokens, eos_ids=(len(tokens) - 1,))
    grammar = wb.gbnf(GRAMMAR.read_text())
    matcher = wb.compile(grammar, vocabulary).matcher()
    mask = wb.empty_mask(vocabulary)
    ids = {vocabulary.token_bytes(i): i for i in reversed(range(vocabulary.size))}
    for character in "2*(3+4)":
        matcher.fill_mask(mask)
        allowed = int(np.bitwise_count(mask).sum())
        end = "may end" if matcher.is_accepting else ""
        print(f"{allowed:>6,} of {vocabulary.size:,} tokens before {character!r}  {end}")
        assert matcher.accept(ids[character.encode()])
    print(matcher.explain(ids[b"("]).reason)


if __name__ == "__main__":
    main()
