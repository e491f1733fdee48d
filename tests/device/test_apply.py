"""Masks on logits: torch, and the Triton kernel in Triton's interpreter, against plain Python."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

torch = pytest.importorskip("torch", reason="torch is not installed")

from workbench.device.apply import MaskApplier, apply_mask  # noqa: E402

HAS_TRITON = importlib.util.find_spec("triton") is not None
TYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64]


@pytest.fixture(scope="module", autouse=True)
def interpreter() -> Iterator[None]:
    """Load the kernel for Triton's interpreter; that is decided when it is decorated."""
    before = os.environ.get("TRITON_INTERPRET")
    os.environ["TRITON_INTERPRET"] = "1"
    name = "workbench.device.triton_kernel"
    sys.modules.pop(name, None)
    if HAS_TRITON:
        importlib.import_module(name)
    yield
    sys.modules.pop(name, None)
    if before is None:
        del os.environ["TRITON_INTERPRET"]
    else:
        os.environ["TRITON_INTERPRET"] = before


needs_triton = pytest.param(
    "triton", marks=pytest.mark.skipif(not HAS_TRITON, reason="Triton is not installed")
)


def expected(logits: list[float], row: list[int]) -> list[float]:
    """One token at a time, by the definition of a mask."""
    return [
        value if i // 32 < len(row) and (row[i // 32] >> (i % 32)) & 1 else float("-inf")
        for i, value in enumerate(logits)
    ]


def check(logits: torch.Tensor, mask: np.ndarray, backend: str) -> None:
    rows = logits.reshape(-1, logits.shape[-1]).tolist()
    words = mask.reshape(-1, mask.shape[-1]).tolist()
    words = words * len(rows) if len(words) == 1 else words
    want = [expected(row, word) for row, word in zip(rows, words, strict=True)]
    apply_mask(logits, mask, backend=backend)
    assert logits.reshape(-1, logits.shape[-1]).tolist() == want


@pytest.mark.parametrize("backend", ["torch", needs_triton])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_equals_the_definition(backend: str, data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 4))
    tokens = data.draw(st.one_of(st.integers(1, 100), st.sampled_from([1023, 1024, 1025, 2049])))
    words = data.draw(st.integers(1, tokens // 32 + 2))
    mask_rows = data.draw(st.sampled_from([1, rows]))
    seed = data.draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    mask = random.integers(-(2**31), 2**31, (mask_rows, words)).astype(np.int32)
    if data.draw(st.booleans()):
        mask[random.random(mask.shape) < 0.5] = random.choice([0, -1, -(2**31), 1])
    kind = data.draw(st.sampled_from(TYPES))
    layout = data.draw(st.sampled_from(["plain", "rows", "columns", "transposed"]))
    torch.manual_seed(seed)
    if layout == "plain":
        logits = torch.randn(rows, tokens)
    elif layout == "rows":
        logits = torch.randn(rows * 2, tokens + 5)[::2, 2 : tokens + 2]
    elif layout == "columns":
        logits = torch.randn(rows, tokens * 3)[:, ::3]
    else:
        logits = torch.randn(tokens, rows).t()
    check(logits.to(kind), mask, backend)


@pytest.mark.parametrize("backend", ["torch", needs_triton])
def test_strides_leave_neighbours_alone(backend: str) -> None:
    wide = torch.zeros(4, 100)
    apply_mask(wide[1::2, 10:75], np.zeros(3, dtype=np.int32), backend=backend)
    refused = torch.isinf(wide)
    assert refused[1::2, 10:75].all()
    assert int(refused.sum()) == 2 * 65


@pytest.mark.parametrize("backend", ["torch", needs_triton])
def test_one_row(backend: str) -> None:
    check(torch.arange(40.0), np.array([5, -1], dtype=np.int32), backend)
    check(torch.arange(70.0), np.array([-(2**31), 1], dtype=np.int32), backend)
    apply_mask(torch.zeros(0), np.array([1], dtype=np.int32), backend=backend)
    apply_mask(torch.zeros(0, 5), np.zeros((0, 1), dtype=np.int32), backend=backend)


def test_a_refused_nan_is_refused() -> None:
    logits = torch.tensor([float("nan"), 1.0, float("inf")])
    apply_mask(logits, np.array([2], dtype=np.int32))
    assert logits.tolist() == [float("-inf"), 1.0, float("-inf")]


def test_torch_masks_do_as_well() -> None:
    mask = torch.tensor([[5], [2]], dtype=torch.int32)
    logits = torch.zeros(2, 4)
    apply_mask(logits, mask)
    assert torch.isinf(logits).tolist() == [[False, True, False, True], [True, False, True, True]]


@pytest.mark.parametrize("backend", ["torch", needs_triton])
def test_a_prepared_mask_keeps_its_values(backend: str) -> None:
    applier = MaskApplier("cpu", backend)
    mask = np.array([3], dtype=np.int32)
    prepared = applier.prepare(mask)
    mask[:] = 0
    logits = torch.zeros(4)
    applier.apply(logits, prepared)
    assert torch.isinf(logits).tolist() == [False, False, True, True]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 mask rows for 3"):
        apply_mask(torch.zeros(3, 4), np.zeros((2, 1), dtype=np.int32))
    with pytest.raises(ValueError, match="int32"):
        apply_mask(torch.zeros(4), np.zeros(1, dtype=np.int64))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="shape"):
        apply_mask(torch.zeros(4), np.zeros((1, 1, 1), dtype=np.int32))
    with pytest.raises(ValueError, match="cannot be masked"):
        apply_mask(torch.zeros(4, dtype=torch.int64), np.zeros(1, dtype=np.int32))
    with pytest.raises(ValueError, match="on meta"):
        MaskApplier("cpu").apply(
            torch.zeros(4, device="meta"), MaskApplier("cpu").prepare(np.zeros(1, dtype=np.int32))
        )


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_every_path_agrees_on_the_gpu() -> None:
    done = subprocess.run([sys.executable, "-m", "workbench.device.check"], check=False)
    assert done.returncode == 0


def test_the_check_command_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench.device.check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "torch: equal" in done.stdout


def test_torch_is_loaded_late() -> None:
    code = "import sys, workbench.device, workbench.models; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
