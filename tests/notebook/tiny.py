"""A tiny random model over nineteen tokens."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.vocabulary import Vocabulary

#: 0 ends a text; no token begins with "z".
TOKENS = [
    b"",
    *(bytes([b]) for b in b'abc"{}:,01'),
    b"ab",
    b"aba",
    b'{"',
    b'":',
    b"\xe2\x9c",
    b"10",
    b" ",
    b"yz",
]


def tiny_model() -> Any:
    """Two layers of noise, always the same noise; skips the test where torch is missing."""
    vocabulary = Vocabulary.from_bytes(TOKENS, eos_ids=[0], width=32, special_names={0: "<end>"})
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from workbench.models import LoadedModel

    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        vocab_size=32,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.6,
        bos_token_id=1,
        eos_token_id=0,
        pad_token_id=0,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    return LoadedModel(model, None, vocabulary, "tiny", model.device, (0,))
