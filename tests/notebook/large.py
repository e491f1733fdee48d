"""A random model over 128,256 made-up tokens, and a grammar of thousands of states: sizes, not sense."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from workbench.frontends.gbnf import gbnf
from workbench.grammar.ir import Grammar
from workbench.vocabulary import Vocabulary

SIZE = 128_256


@cache
def large_vocabulary(size: int = SIZE) -> Vocabulary:
    """256 bytes, one end, and different words of small letters, with and without a blank before them."""
    choice = random.Random(7)
    tokens = [b"", *(bytes([b]) for b in range(256))]
    known = set(tokens)
    while len(tokens) < size:
        word = "".join(choice.choices("etaoinshrdlucmfw", k=choice.randint(2, 7))).encode()
        word = (b" " if choice.random() < 0.4 else b"") + word
        if word not in known:
            known.add(word)
            tokens.append(word)
    return Vocabulary.from_bytes(tokens, eos_ids=[0], special_names={0: "<end>"})


@cache
def large_grammar() -> Grammar:
    """A list of words out of 1,500: their tree has about 5,000 states; a list of any words beside it."""
    choice = random.Random(3)
    words = {"".join(choice.choices("etaoinshrdlucmfw", k=8)) for _ in range(1900)}
    known = " | ".join(f'"{word}"' for word in sorted(words))
    return gbnf(
        'root ::= "[" item (", " item){299,} "]"\n'
        'item ::= known | list | free\nlist ::= "(" item (" " item)* ")"\n'
        f'free ::= "#" [a-z ]+ "."\nknown ::= {known}\n'
    )


def noise_config(size: int) -> Any:
    """The configuration of a model of one small layer over so many tokens, and not trained."""
    import transformers

    return transformers.LlamaConfig(
        vocab_size=size,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
        initializer_range=0.6,
        bos_token_id=1,
        eos_token_id=0,
        pad_token_id=0,
    )


def large_model() -> Any:
    """Two layers of noise over the large vocabulary."""
    import torch
    import transformers

    from workbench.models import LoadedModel

    torch.manual_seed(3)
    config = noise_config(SIZE)
    model = transformers.LlamaForCausalLM(config).eval()
    return LoadedModel(model, None, large_vocabulary(), "large", model.device, (0,))
