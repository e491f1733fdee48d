"""A tiny random model over a small vocabulary, the packaged model, and grammars."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from tests.models.real import real_model  # noqa: E402
from workbench.engine import CompiledGrammar, compile  # noqa: E402
from workbench.frontends.regex import regex  # noqa: E402
from workbench.models import LoadedModel  # noqa: E402
from workbench.vocabulary import Vocabulary  # noqa: E402

#: 0 and 1 end a text, 2 is special; then bytes and a few longer tokens; the rest is padding.
TOKENS = [
    b"",
    b"",
    b"",
    *(bytes([b]) for b in range(97, 107)),
    b"ab",
    b"abc",
    b"bc",
    b"0",
    b"1",
    b"10",
]
EOS = (0, 1)
WIDTH = 40


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary.from_bytes(TOKENS, eos_ids=EOS, special_ids=(2,), width=WIDTH)


@pytest.fixture(scope="session")
def tiny(vocabulary: Vocabulary) -> LoadedModel:
    """Two layers of noise, always the same noise."""
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.6,
        bos_token_id=2,
        eos_token_id=list(EOS),
        pad_token_id=0,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    return LoadedModel(model, None, vocabulary, "tiny", model.device, EOS)


@pytest.fixture(scope="session")
def letters(vocabulary: Vocabulary) -> CompiledGrammar:
    return compile(regex("(ab|c)[a-e]{2,30}[01]+"), vocabulary)


@pytest.fixture
def model() -> LoadedModel:
    return real_model()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
