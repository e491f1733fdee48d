"""Random texts of a grammar, mutants of texts, and the verdicts of XGrammar on them, where it is there."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from random import Random
from typing import Any

import workbench as wb


def _their_version() -> tuple[int, ...]:
    try:
        return tuple(map(int, version("xgrammar").split(".")[:3]))
    except (PackageNotFoundError, ValueError):
        return (0,)


#: Whether it is there and knows all kinds of structural tags.
KNOWS_ALL = _their_version() >= (0, 2, 9)


def walked(matcher: wb.Matcher, rng: Random, likely: str) -> bytes:
    """A random text of a grammar: likely letters more often, then the shortest way to an end."""
    text = bytearray()
    while not (matcher.is_accepting and rng.random() < 0.2):
        ids = [i for i in matcher.allowed_ids() if i < 0x7F]
        if not ids:
            break
        chosen = [i for i in ids if chr(i) in likely] if rng.random() < 0.8 else ids
        if len(text) > 40:
            chosen = [min(ids, key=lambda i: _distance(matcher, i))]
        token = rng.choice(chosen or ids)
        assert matcher.accept(token)
        text.append(token)
    return bytes(text)


def _distance(matcher: wb.Matcher, token: int) -> int:
    after = matcher.fork()
    after.accept(token)
    found = after.finish_distance()
    return 10**9 if found is None else found


def mutant(text: str, rng: Random, letters: str) -> str:
    at = rng.randint(0, len(text))
    match rng.randrange(4):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + rng.choice(letters) + text[at:]
        case 2:
            return text[:at] + rng.choice(letters) + text[at + 1 :]
    other = rng.randint(0, len(text))
    return text[: max(at, other)] + text[min(at, other) :]


@lru_cache(maxsize=1)
def their_compiler() -> Any:
    import xgrammar

    tokens = [*(bytes([byte]) for byte in range(256)), b"<eos>"]
    info = xgrammar.TokenizerInfo(tokens, stop_token_ids=[256])
    return xgrammar.GrammarCompiler(info, max_threads=1)


def they_accept(compiled: Any, text: str) -> bool:
    import xgrammar

    matcher = xgrammar.GrammarMatcher(compiled)
    return bool(matcher.accept_string(text) and matcher.is_completed())


def we_accept(compiled: wb.CompiledGrammar, text: str) -> bool:
    matcher = compiled.matcher(max_rollback=0)
    data = text.encode()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


def texts_for(compiled: wb.CompiledGrammar, edges: list[str], seed: str) -> list[str]:
    """Fifty texts and more: at the edges, of random walks, and mutants of both."""
    rng = Random(seed)
    letters = "".join(sorted(set("".join(edges)))) or "ab"
    texts = list(edges)
    for _ in range(20):
        texts.append(walked(compiled.matcher(), rng, letters).decode())
    texts += [mutant(rng.choice(texts), rng, letters) for _ in range(30)]
    return list(dict.fromkeys(texts))


#: Integers with a fraction or an exponent are integers of JSON Schema: XGrammar writes none.
NOTATION = re.compile(r"[0-9](\.0+)?([eE][+-]?[0-9]+)?(?![0-9.])")


def is_deliberate(text: str, ours: bool, theirs: bool) -> bool:
    """Whether a text is in another notation of numbers, which we alone allow."""
    return ours and not theirs and any(any(found.groups()) for found in NOTATION.finditer(text))
