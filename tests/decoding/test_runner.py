"""Forward passes over a cache give what passes without one give."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from workbench.decoding.runner import Runner  # noqa: E402
from workbench.models import LoadedModel  # noqa: E402

IDS = [5, 9, 3, 12, 7, 7, 4, 16]


def plain(model: LoadedModel, ids: list[int]) -> Any:
    with torch.no_grad():
        return model.model(torch.tensor([ids]), use_cache=False).logits[0, -1]


def check(model: LoadedModel, runner: Runner, ids: list[int]) -> None:
    torch.testing.assert_close(runner.logits(ids), plain(model, ids), rtol=1e-5, atol=1e-5)
    assert len(runner) == len(ids)


def test_one_by_one_and_in_pieces(tiny: LoadedModel) -> None:
    runner = Runner(tiny)
    for length in (1, 2, 5, 6, 8):
        check(tiny, runner, IDS[:length])


def test_again_and_back(tiny: LoadedModel) -> None:
    runner = Runner(tiny)
    check(tiny, runner, IDS)
    check(tiny, runner, IDS)
    runner.truncate(3)
    assert len(runner) == 3
    check(tiny, runner, [*IDS[:3], 15, 14])
    runner.truncate(99)
    assert len(runner) == 5


def test_forks_go_apart(tiny: LoadedModel) -> None:
    runner = Runner(tiny)
    check(tiny, runner, IDS[:4])
    other = runner.fork()
    check(tiny, runner, [*IDS[:4], 3])
    check(tiny, other, [*IDS[:4], 17, 3])
    check(tiny, runner, [*IDS[:4], 3, 3])
    check(tiny, Runner(tiny).fork(), IDS)


def test_a_cache_that_cannot_shrink_is_filled_again(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import DynamicCache

    def refuse(*_: Any) -> None:
        raise NotImplementedError

    monkeypatch.setattr(DynamicCache, "crop", refuse)
    runner = Runner(tiny)
    check(tiny, runner, IDS)
    runner.truncate(5)
    assert len(runner) == 0
    check(tiny, runner, IDS[:6])


def test_an_interrupted_pass_leaves_no_half_cache(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(tiny)
    check(tiny, runner, IDS[:4])

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tiny.model.model.layers[1], "forward", interrupt)
        with pytest.raises(KeyboardInterrupt):
            runner.logits(IDS[:5])
    check(tiny, runner, IDS[:5])
