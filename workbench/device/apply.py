"""Applying packed token masks to logits: one interface, the same results on every device.

A mask row is int32 words, bit ``id % 32`` of word ``id // 32`` set where a token is allowed. Refused
tokens get -inf; so does every logit beyond the last word. On CUDA the packed words go up from pinned
memory on a stream of their own and a Triton kernel applies them; elsewhere torch does.

Preparing a mask (unpacking or uploading it) is apart from applying it, so that it can happen while
the forward pass still runs.
"""

from __future__ import annotations

import importlib.util
import threading
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from workbench.wording import number_of

__all__ = ["Backend", "MaskApplier", "Prepared", "apply_mask"]

Backend = Literal["torch", "triton"]
#: Uploads that may be under way at once before one waits for another.
SLOTS = 4


@dataclass(slots=True, eq=False)
class Prepared:
    """A mask on its way to a device: what :meth:`MaskApplier.apply` takes.

    ``refused`` is bool of shape (rows, words * 32), or ``words`` int32 of shape (rows, words).
    """

    refused: torch.Tensor | None = None
    words: torch.Tensor | None = None
    slot: _Slot | None = None
    serial: int = 0


@dataclass(slots=True, eq=False)
class _Slot:
    """A pinned buffer, its twin on the device, and when each is free again."""

    pinned: torch.Tensor
    resident: torch.Tensor
    serial: int = 0
    uploaded: Any = field(default_factory=lambda: torch.cuda.Event())
    applied: Any = field(default_factory=lambda: torch.cuda.Event())


class MaskApplier:
    """Prepares and applies masks on one device.

    ``backend`` is "triton" or "torch"; by default Triton on CUDA where it is installed. Triton on
    the CPU works in its interpreter only (TRITON_INTERPRET=1). Raises ``ValueError`` for a backend
    that this machine lacks. Not for several threads at once.
    """

    def __init__(self, device: str | torch.device = "cpu", backend: Backend | None = None) -> None:
        self.device = torch.device(device)
        available = importlib.util.find_spec("triton") is not None
        if backend is None:
            backend = "triton" if self.device.type == "cuda" and available else "torch"
        if backend == "triton" and not available:
            raise ValueError("Triton is not installed")
        self.backend: Backend = backend
        self._stream = torch.cuda.Stream(self.device) if self.device.type == "cuda" else None
        self._slots: list[_Slot] = []
        self._turn = 0

    def prepare(self, bitmask: NDArray[np.int32] | torch.Tensor) -> Prepared:
        """Unpack or upload a mask of shape (words,) or (rows, words).

        The buffer may be overwritten as soon as this returns. On CUDA a prepared mask must be
        applied before four more are prepared. Raises ``ValueError`` for another shape or type.
        """
        if not isinstance(bitmask, torch.Tensor):
            if bitmask.dtype != np.int32:
                raise ValueError(f"a mask is int32, not {bitmask.dtype}")
            bitmask = torch.from_numpy(np.ascontiguousarray(bitmask))
        if bitmask.dtype != torch.int32 or bitmask.dim() not in (1, 2):
            raise ValueError(
                f"a mask is int32 of shape (words,) or (rows, words), not {bitmask.dtype} "
                f"{tuple(bitmask.shape)}"
            )
        words = bitmask.reshape(1, -1) if bitmask.dim() == 1 else bitmask
        if self._stream is not None and words.device.type == "cpu":
            prepared = self._upload(words)
        elif words.device.type == self.device.type == "cpu" and self.backend == "torch":
            return Prepared(refused=_refused_on_cpu(words))
        else:
            prepared = Prepared(words=words.to(self.device).contiguous().clone())
        return prepared

    def apply(self, logits: torch.Tensor, prepared: Prepared) -> None:
        """Set the logits of refused tokens to -inf, in place.

        ``logits`` is floating, of shape (tokens,) or (rows, tokens), with any strides. One mask row
        serves all rows. Raises ``ValueError`` when shapes or devices do not fit.
        """
        if not logits.is_floating_point() or logits.dim() not in (1, 2):
            raise ValueError(f"logits of {logits.dtype} {tuple(logits.shape)} cannot be masked")
        if logits.device.type != self.device.type:
            raise ValueError(f"logits on {logits.device}, mask on {self.device}")
        view = logits.unsqueeze(0) if logits.dim() == 1 else logits
        source = prepared.refused if prepared.words is None else prepared.words
        assert source is not None
        if source.shape[0] not in (1, view.shape[0]):
            raise ValueError(
                f"{number_of(source.shape[0], 'mask row')} for {number_of(view.shape[0], 'row')} of logits"
            )
        if prepared.slot is not None:
            if prepared.slot.serial != prepared.serial:
                raise ValueError(f"this mask is gone: {SLOTS} more were prepared since")
            torch.cuda.current_stream(self.device).wait_event(prepared.slot.uploaded)
        if prepared.words is None:
            _fill(view, source)
        elif self.backend == "triton":
            _triton().apply_packed(view, prepared.words)
        else:
            _fill(view, _refused_on_device(prepared.words))
        if prepared.slot is not None:
            prepared.slot.applied.record(torch.cuda.current_stream(self.device))

    def _upload(self, words: torch.Tensor) -> Prepared:
        slot = self._slot(words.shape)
        slot.uploaded.synchronize()  # the pinned buffer is free
        slot.pinned.copy_(words)
        with torch.cuda.stream(self._stream):
            self._stream.wait_event(slot.applied)  # type: ignore[union-attr]
            slot.resident.copy_(slot.pinned, non_blocking=True)
            slot.uploaded.record(self._stream)
        slot.serial += 1
        return Prepared(words=slot.resident, slot=slot, serial=slot.serial)

    def _slot(self, shape: torch.Size) -> _Slot:
        """The slot whose turn it is, made anew when its shape is another.

        Old buffers are let go only after their last use.
        """
        self._turn = (self._turn + 1) % SLOTS
        if self._turn < len(self._slots):
            old = self._slots[self._turn]
            if old.pinned.shape == shape:
                return old
            old.uploaded.synchronize()
            old.applied.synchronize()
        slot = _Slot(
            torch.empty(shape, dtype=torch.int32, pin_memory=True),
            torch.empty(shape, dtype=torch.int32, device=self.device),
        )
        # The device buffer comes from the current stream's pool: the upload waits for that stream.
        slot.applied.record(torch.cuda.current_stream(self.device))
        if self._turn < len(self._slots):
            self._slots[self._turn] = slot
        else:
            self._slots.append(slot)
            self._turn = len(self._slots) - 1
        return slot


def apply_mask(
    logits: torch.Tensor,
    bitmask: NDArray[np.int32] | torch.Tensor,
    *,
    backend: Backend | None = None,
) -> None:
    """Set the logits of refused tokens to -inf, in place.

    ``logits`` is floating, (tokens,) or (rows, tokens), with any strides; ``bitmask`` is int32,
    (words,) or (rows, words), NumPy or torch, on the CPU or on the device of the logits. Logits
    beyond the last word are refused.
    """
    appliers: dict[tuple[str, Backend | None], MaskApplier] = vars(_local).setdefault("made", {})
    key = (str(logits.device), backend)
    if key not in appliers:
        appliers[key] = MaskApplier(logits.device, backend)
    appliers[key].apply(logits, appliers[key].prepare(bitmask))


_local = threading.local()


def _triton() -> Any:
    from workbench.device import triton_kernel

    return triton_kernel


def _refused_on_cpu(words: torch.Tensor) -> torch.Tensor:
    data = np.invert(np.ascontiguousarray(words.numpy(), dtype="<i4")).view(np.uint8)
    return torch.from_numpy(np.unpackbits(data, axis=1, bitorder="little").view(np.bool_))


def _refused_on_device(words: torch.Tensor) -> torch.Tensor:
    bits = torch.arange(32, dtype=torch.int32, device=words.device)
    return ((words.unsqueeze(-1) >> bits) & 1 == 0).reshape(words.shape[0], -1)


def _fill(logits: torch.Tensor, refused: torch.Tensor) -> None:
    known = min(logits.shape[1], refused.shape[1])
    logits[:, :known].masked_fill_(refused[:, :known], float("-inf"))
    logits[:, known:] = float("-inf")
