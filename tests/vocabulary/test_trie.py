"""The flat trie against a brute force over all prefixes."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from workbench.errors import VocabularyError
from workbench.vocabulary.trie import MAX_TOKEN_BYTES, Trie, build_trie


def expect_trie(trie: Trie, tokens: list[bytes]) -> None:
    """Compare every array with what the definition says of a dictionary of prefixes."""
    ids: dict[bytes, list[int]] = {}
    for i, text in enumerate(tokens):
        if text:
            ids.setdefault(text, []).append(i)
    # bytes sort a prefix before its extensions: sorted prefixes are the depth-first order.
    nodes = sorted({text[: n + 1] for text in ids for n in range(len(text))})
    assert trie.byte.tolist() == [node[-1] for node in nodes]
    assert trie.depth.tolist() == [len(node) - 1 for node in nodes]
    assert trie.token.tolist() == [min(ids.get(node, [-1])) for node in nodes]
    skips = []
    for i, node in enumerate(nodes):
        later = (j for j in range(i + 1, len(nodes)) if not nodes[j].startswith(node))
        skips.append(next(later, len(nodes)))
    assert trie.skip.tolist() == skips
    rows = sorted([same[0], other] for same in ids.values() for other in same[1:])
    assert trie.duplicates.tolist() == rows


def expect_types(trie: Trie) -> None:
    names = ("byte", "depth", "skip", "token", "duplicates")
    types = [np.uint8, np.uint16, np.int32, np.int32, np.int32]
    for name, dtype in zip(names, types, strict=True):
        array = getattr(trie, name)
        assert array.dtype == dtype, name
        assert array.flags.c_contiguous, name
    assert trie.duplicates.ndim == 2 and trie.duplicates.shape[1] == 2


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=5),
            st.text("ab", max_size=6).map(str.encode),
            st.sampled_from([b"", b"\x00", b"\xff", b"\xff\xff", b"\x00\x00", b"a" * 20]),
        ),
        max_size=40,
    )
)
def test_trie_is_what_brute_force_says(tokens: list[bytes]) -> None:
    trie = build_trie(tokens)
    expect_trie(trie, tokens)
    expect_types(trie)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abc", max_size=5).map(str.encode), max_size=30), st.binary(max_size=3))
def test_walk_with_skips_finds_exactly_the_tokens_whose_prefixes_live(
    tokens: list[bytes], dead: bytes
) -> None:
    trie = build_trie(tokens)
    banned = set(dead) | {ord("b")}
    found, i = set(), 0
    while i < len(trie):
        if int(trie.byte[i]) in banned and int(trie.depth[i]) > 0:
            i = int(trie.skip[i])
            continue
        if trie.token[i] >= 0:
            found.add(int(trie.token[i]))
        i += 1
    found |= {b for a, b in trie.duplicates.tolist() if a in found}
    assert found == {i for i, text in enumerate(tokens) if text and not banned & set(text[1:])}


def test_several_ids_with_equal_bytes() -> None:
    tokens = [b"x", b"ab", b"x", b"", b"ab", b"x", b"a"]
    trie = build_trie(tokens)
    expect_trie(trie, tokens)
    assert trie.duplicates.tolist() == [[0, 2], [0, 5], [1, 4]]


@pytest.mark.parametrize("length", [255, 256, 257, 1000, MAX_TOKEN_BYTES])
def test_long_tokens(length: int) -> None:
    long = b"ab" * (length // 2) + b"c" * (length % 2)
    tokens = [long, long[:-1], b"ab", long, long[:-1] + b"\xff"]
    trie = build_trie(tokens)
    assert len(trie) == length + 1
    assert trie.depth[: length + 1].tolist()[-2:] == [length - 1, length - 1]
    assert trie.skip[0] == length + 1 and trie.skip[length - 1] == length
    assert trie.token[length - 1] == 0 and trie.token[length] == 4
    assert trie.token[length - 2] == 1 and trie.token[1] == 2
    assert trie.duplicates.tolist() == [[0, 3]]


def test_too_long_a_token_is_an_error() -> None:
    with pytest.raises(VocabularyError, match=r"token 1 has 65,537 bytes; the most is 65,536"):
        build_trie([b"a", b"x" * (MAX_TOKEN_BYTES + 1)])


def test_no_tokens() -> None:
    for tokens in ([], [b"", b""]):
        trie = build_trie(tokens)
        assert len(trie) == 0
        expect_types(trie)
        assert repr(trie) == "Trie(0 nodes, 0 tokens)"


def test_a_large_trie_is_built_fast_and_right() -> None:
    source = random.Random(3)
    tokens = [source.randbytes(source.randint(1, 9)) for _ in range(130_000)]
    start = time.process_time()
    trie = build_trie(tokens)
    assert time.process_time() - start < 5  # about 0.3 s on one busy core
    text, found = bytearray(), {}
    for byte, depth, token in zip(
        trie.byte.tolist(), trie.depth.tolist(), trie.token.tolist(), strict=True
    ):
        del text[depth:]
        text.append(byte)
        if token >= 0:
            found[token] = bytes(text)
    found.update({other: found[first] for first, other in trie.duplicates.tolist()})
    assert found == dict(enumerate(tokens))
    # A node ends its subtree exactly where the next node is not deeper.
    deeper = trie.depth[np.minimum(trie.skip, len(trie) - 1)] > trie.depth
    assert not (deeper & (trie.skip < len(trie))).any()
