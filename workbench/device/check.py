"""Check mask application on this machine: ``python -m workbench.device.check``.

Compares every available path with torch on the CPU, bit for bit, and prints one line each; on CUDA
it times them too. Without CUDA the Triton kernel runs in Triton's interpreter.
"""

from __future__ import annotations

import importlib.util
import os
import sys

__all__ = ["main"]

SHAPES = ((1, 32), (1, 33), (3, 1000), (2, 49152), (5, 49153), (64, 128_256), (1, 151_936))
TYPES = ("float32", "float16", "bfloat16")


def main() -> int:
    """Run the comparisons and return the number of paths that differ."""
    import torch

    cuda = torch.cuda.is_available()
    triton = importlib.util.find_spec("triton") is not None
    device = "cuda" if cuda else "cpu"
    print(f"torch {torch.__version__}, device {torch.cuda.get_device_name() if cuda else 'CPU'}")
    if triton and not cuda:
        os.environ["TRITON_INTERPRET"] = "1"
        print("no CUDA device: the Triton kernel runs in Triton's interpreter")
    wrong = 0
    for backend in ("torch", "triton") if triton else ("torch",):
        failed = [
            f"{kind} {rows}x{tokens}"
            for kind in TYPES
            for rows, tokens in SHAPES
            if cuda or rows * tokens < 60_000
            if not _agrees(device, backend, kind, rows, tokens)
        ]
        wrong += bool(failed)
        print(f"{device} {backend}: {'differs at ' + ', '.join(failed) if failed else 'equal'}")
        if cuda:
            _time(backend)
    return wrong


def _agrees(device: str, backend: str, kind: str, rows: int, tokens: int) -> bool:
    import numpy as np
    import torch

    from workbench.device.apply import MaskApplier

    random = np.random.default_rng(rows * tokens)
    applier = MaskApplier(device, backend)  # type: ignore[arg-type]
    for words in (tokens // 32, (tokens + 31) // 32, tokens // 32 + 2):
        mask = random.integers(-(2**31), 2**31, (rows, max(1, words))).astype(np.int32)
        wide = torch.randn(rows, tokens + 7).to(getattr(torch, kind)).to(device)
        for logits in (wide[:, :tokens].contiguous(), wide[:, 3 : tokens + 3]):
            expected = _expected(logits, mask)
            applier.apply(logits, applier.prepare(mask))
            if not torch.equal(logits.cpu(), expected):
                return False
    return True


def _expected(logits: object, mask: object) -> object:
    import numpy as np
    import torch

    result = torch.full_like(logits.cpu(), float("-inf"))  # type: ignore[attr-defined]
    tokens = result.shape[1]
    ids = np.arange(min(tokens, mask.shape[1] * 32))  # type: ignore[attr-defined]
    allowed = torch.from_numpy((mask[:, ids // 32] >> (ids % 32)) & 1 == 1)  # type: ignore[index]
    known = result[:, : len(ids)]
    known[allowed] = logits.cpu()[:, : len(ids)][allowed]  # type: ignore[attr-defined]
    return result


def _time(backend: str) -> None:
    import numpy as np
    import torch

    from workbench.device.apply import MaskApplier

    applier = MaskApplier("cuda", backend)  # type: ignore[arg-type]
    for rows, tokens in ((1, 128_256), (64, 128_256), (256, 128_256)):
        mask = np.full((rows, tokens // 32), 0x0F0F0F0F, dtype=np.int32)
        logits = torch.randn(rows, tokens, device="cuda")
        times = []
        for _ in range(60):
            prepared = applier.prepare(mask)
            torch.cuda.synchronize()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            applier.apply(logits, prepared)
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) * 1000)
        times = sorted(times[10:])
        print(f"  {rows} x {tokens}: apply, median {times[25]:.1f} us, min {times[0]:.1f} us")


if __name__ == "__main__":
    sys.exit(main())
