"""The fused kernel that applies packed masks on a GPU. Import it only where Triton is installed."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["apply_packed"]

BLOCK = 1024


@triton.jit
def _mask_rows(  # type: ignore[no-untyped-def]
    logits,
    words,
    n_tokens,
    n_words,
    logits_row,
    logits_column,
    words_row,
    BLOCK: tl.constexpr,
):
    """Write -inf wherever the bit is 0 or missing; logits that stay are neither read nor written."""
    row = tl.program_id(0).to(tl.int64)
    token = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(words + row * words_row + token // 32, mask=token < n_words * 32, other=0)
    refused = ((word >> (token % 32)) & 1) == 0
    place = logits + row * logits_row + token.to(tl.int64) * logits_column
    tl.store(place, float("-inf"), mask=refused & (token < n_tokens))


def apply_packed(logits: torch.Tensor, words: torch.Tensor) -> None:
    """Set the logits of refused tokens to -inf, in place.

    ``logits`` is floating, of shape (rows, tokens), with any strides; ``words`` is int32 of shape
    (rows, words) or (1, words), on the same device, its rows contiguous.
    """
    rows, tokens = logits.shape
    if rows == 0 or tokens == 0:
        return
    _mask_rows[(rows, triton.cdiv(tokens, BLOCK))](
        logits,
        words,
        tokens,
        words.shape[1],
        logits.stride(0),
        logits.stride(1),
        words.stride(0) if words.shape[0] > 1 else 0,
        BLOCK=BLOCK,
    )
