"""Texts walked out of a grammar through the masks, for tests that hold them against another validator."""

from __future__ import annotations

import random
from typing import Any

from workbench.engine.matcher import Matcher
from workbench.vocabulary import Vocabulary

LONGER = ['":', '","', "}}", '{"', "1,", "\\u00", "ab", "]}", '"}', "é", ".0", '": "', "true", "00"]


def small_vocabulary() -> Vocabulary:
    """Every byte, some longer tokens across the borders of JSON's, and an end."""
    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in LONGER] + [b""]
    return Vocabulary.from_bytes(tokens, eos_ids=(len(tokens) - 1,), special_ids=(len(tokens) - 1,))


def random_text(matcher: Matcher, source: random.Random, steps: int = 64) -> str:
    """A token drawn evenly from the mask at each step, then the shortest completion."""
    end = set(matcher.vocabulary.eos_ids)
    ids: list[int] = []
    for _ in range(steps):
        token = int(source.choice(matcher.allowed_ids()))
        assert matcher.accept(token)
        if token in end:
            return matcher.vocabulary.decode(ids).decode()
        ids.append(token)
    return matcher.vocabulary.decode([*ids, *shortest_end(matcher)]).decode()


def shortest_end(matcher: Matcher) -> list[int]:
    """Single bytes along which the least number of bytes to an end goes down to nothing."""
    out: list[int] = []
    left: Any = matcher.finish_distance()
    while left:
        for token in matcher.allowed_ids():
            if token > 255:
                continue
            probe = matcher.fork()
            assert probe.accept(int(token))
            if probe.finish_distance() == left - 1:
                break
        else:
            raise AssertionError(f"no byte leads nearer to an end, {left} bytes away")
        matcher.accept(int(token))
        out.append(int(token))
        left -= 1
    assert matcher.is_accepting
    return out
