"""A hand-made vocabulary, automaton and trace: right values are known without engine or model."""

from __future__ import annotations

import math

import numpy as np

from workbench.automaton.frames import Frame
from workbench.automaton.network import Automaton
from workbench.decoding.trace import Trace, TraceStep, byte_order
from workbench.vocabulary.vocabulary import Vocabulary

TOKENS = [
    b"",  # 0 <eos>
    b"{",
    b'{"',
    b'"',
    b"name",
    b'":',
    b" ",
    b"A",
    b"da",
    b"3",
    b"}",
    b"\n",
    b"\xe2\x9c",  # 12: half a character
    b"</script><!--",
    "é".encode(),
    b"\\",
]
EOS = 0


def vocabulary() -> Vocabulary:
    return Vocabulary.from_bytes(TOKENS, [EOS], special_names={EOS: "<|im_end|>"}, width=32)


def automaton(n_extra: int = 0) -> Automaton:
    """``{"name":"…"}`` with a string rule; ``n_extra`` states follow in a chain from the end."""
    edges: list[tuple[int, int, int, int]] = [
        (0, 0x7B, 0x7B, 1),
        (1, 0x22, 0x22, 2),
        (2, 0x6E, 0x6E, 3),
        (3, 0x3A, 0x3A, 4),
        (5, 0x7D, 0x7D, 6),
        (7, 0x22, 0x22, 8),
        (8, 0x20, 0x21, 8),
        (8, 0x23, 0x5B, 8),
        (8, 0x5D, 0x7F, 8),
        (8, 0x22, 0x22, 9),
    ]
    n = 10 + n_extra
    edges += [(9 + i, 0x61, 0x7A, 10 + i) for i in range(n_extra)]
    edges.sort()
    start = np.searchsorted([e[0] for e in edges], np.arange(n + 1)).astype(np.int32)
    final = np.zeros(n, dtype=np.bool_)
    final[[6, 9]] = True
    rules = [("object",)] * 7 + [("string",)] * 3 + [()] * n_extra
    empty = np.zeros(0, dtype=np.int32)
    return Automaton(
        n_states=n,
        start=0,
        final=final,
        edge_start=start,
        edge_lo=np.array([e[1] for e in edges], dtype=np.int32),
        edge_hi=np.array([e[2] for e in edges], dtype=np.int32),
        edge_target=np.array([e[3] for e in edges], dtype=np.int32),
        call_start=np.array([0] * 5 + [1] * (n - 4), dtype=np.int32),
        call_entry=np.array([1], dtype=np.int32),
        call_return=np.array([5], dtype=np.int32),
        call_loop=np.array([-1], dtype=np.int32),
        entry_state=np.array([0, 7], dtype=np.int32),
        entry_names=("object", "string"),
        loop_entry=empty,
        loop_min=empty,
        loop_max=empty,
        state_rules=tuple(rules),
        state_origins=((),) * n,
    )


#: token taken, how, tokens allowed, live states, stack top first
RUN = [
    (2, "forced", (1, 2), (0,), [Frame(0, ("object",))]),
    (4, "sampled", (4,), (2,), [Frame(2, ("object",))]),
    (5, "forced", (5,), (3,), [Frame(3, ("object",))]),
    (3, "sampled", (3, 6), (4,), [Frame(4, ("object",))]),
    (7, "chosen", (4, 7, 8, 9, 13, 14), (8,), [Frame(8, ("string",), 3), Frame(5, ("object",))]),
    (8, "sampled", (4, 7, 8, 9, 13, 14), (8,), [Frame(8, ("string",)), Frame(5, ("object",))]),
    (13, "sampled", (3, 13, 14), (8,), [Frame(8, ("string",)), Frame(5, ("object",))]),
    (3, "sampled", (3, 13, 14), (8,), [Frame(8, ("string",)), Frame(5, ("object",))]),
    (10, "forced", (10,), (5,), [Frame(5, ("object",))]),
    (0, "eos", (0,), (6,), [Frame(6, ("object",))]),
]


def probabilities(step: int) -> np.ndarray:
    """What the made-up model thinks: float64 of shape (32,), the padded tail at zero."""
    weights = np.array([1.0 / (1 + (i * 7 + step * 3) % 16) ** 3 for i in range(len(TOKENS))])
    weights[12] = 1e-7
    return np.concatenate([weights / weights.sum(), np.zeros(16)])


def _top(p: np.ndarray) -> tuple[tuple[int, float], ...]:
    order = np.argsort(-p, kind="stable")[:50]
    return tuple((int(i), float(p[i])) for i in order if p[i] > 0)


def _entropy(p: np.ndarray) -> float:
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def trace() -> Trace:
    table = vocabulary()
    order = byte_order(table)
    result = Trace(
        created="2030-01-02T03:04:05+00:00",
        grammar_kind="json_schema",
        grammar_text='{"type": "object"}',
        model_name="made-up",
        vocabulary_fingerprint=table.fingerprint,
        vocabulary_size=table.size,
        vocabulary_width=table.width,
        prompt_text="A person</script>:",
        prompt_ids=[7, 8, 6, 13, 4, 4, 4, 6],
        settings={"temperature": 0.0, "seed": 7},
        device="cpu",
        versions={"workbench": "0.1.0"},
        mask_order="bytes",
        finish_reason="eos",
    )
    for i, (token, kind, allowed, live, stack) in enumerate(RUN):
        before = probabilities(i)
        bits = np.zeros(32, dtype=np.bool_)
        bits[list(allowed)] = True
        kept = float(before[bits].sum())
        after = np.where(bits, before / kept, 0.0)
        row = np.packbits(bits, bitorder="little").view("<i4")
        result.append(
            TraceStep(
                index=i,
                kind=kind,
                token_id=token,
                token_bytes=TOKENS[token],
                allowed_count=len(allowed),
                probability_before=float(before[token]),
                probability_after=float(after[token]),
                mass_removed=1 - kept,
                rank_before=int((before > before[token]).sum()),
                entropy_before=_entropy(before),
                entropy_after=_entropy(after),
                logsumexp_before=0.0,
                logsumexp_after=math.log(kept),
                top_before=_top(before),
                top_after=_top(after),
                mask=result.add_mask(row, order),
                live_states=live,
                stacks=(result.add_stack(stack),),
                is_accepting=token == EOS,
                mask_ms=0.05 + 0.03 * i,
                mask_hidden_ms=0.05,
                mask_exposed_ms=0.03 * i,
                forward_ms=57 + (i % 3) * 4.0,
                sample_ms=0.4,
            )
        )
    result.final = {"live_states": [6], "stacks": [], "is_accepting": True}
    return result
