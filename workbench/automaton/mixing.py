"""A hash of numbers, for the kernels that find equal sets. Each layer of them makes it one of its own."""

from __future__ import annotations

__all__ = ["SEED", "mix"]

SEED = 0x1F123BB5


def mix(mixed: int, value: int) -> int:
    """A hash with one more number, of 32 bits."""
    mixed = ((mixed ^ (value & 0xFFFFFFFF)) * 0x2545F491) & 0x7FFFFFFFFFFFFFFF
    return (mixed ^ (mixed >> 29)) & 0xFFFFFFFF
