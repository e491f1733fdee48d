"""Characters beyond ASCII, byte by byte in UTF-8."""

from __future__ import annotations

from workbench.engine.kernels.constants import NO_LINES
from workbench.engine.kernels.signatures import jit


@jit
def character_begun(byte, non_ascii):
    """What is to come after the first byte of a character in UTF-8, C2 to F4: see :func:`character_on`."""
    left = 0 if byte < 0xE0 else 1 if byte < 0xF0 else 2
    kind = 1
    if byte == 0xE0:
        kind = 2
    elif byte == 0xED:
        kind = 3
    elif byte == 0xF0:
        kind = 4
    elif byte == 0xF4:
        kind = 5
    elif byte == 0xE2 and non_ascii == NO_LINES:
        kind = 6
    return 64 * left + kind


@jit
def character_on(rest, byte):
    """What is to come after one more byte of a character: 0 when it ends, -1 when the byte does not fit.

    It is 64 * (bytes after the next) + kind of the next: which values it may have.
    """
    kind = rest & 63
    low = 0xA0 if kind == 2 else 0x90 if kind == 4 else 0x80
    high = 0x9F if kind == 3 else 0x8F if kind == 5 else 0xBF
    if byte < low or byte > high or (kind == 7 and 0xA8 <= byte <= 0xA9):
        return -1
    if kind == 6 and byte == 0x80:
        return 7
    if rest < 64:
        return 0
    return 64 * ((rest >> 6) - 1) + 1
