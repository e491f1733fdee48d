"""A model that has learned one answer by heart: what a grammar does to a text that another model wrote."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from workbench.inputs import need_model, wrong_type
from workbench.models.load import LoadedModel

if TYPE_CHECKING:
    import torch

__all__ = ["scripted_model"]


def scripted_model(text: str, model: LoadedModel, *, certainty: float = 0.9) -> LoadedModel:
    """Make a model that wants to answer with a given text, whatever the prompt, and to end there.

    It has the tokenizer and the vocabulary of ``model``. At each step the next token of the text has the probability
    ``certainty``, the rest is noise, always the same; once the answer has left the text, by a mask or by a person, it
    wants to end. So an answer of any other model can be stepped through and explained under a grammar without that
    model. For :func:`~workbench.generate`, :func:`~workbench.step` and the panel; not for ``transformers``.

    Raises ``WrongType`` for what is no text or no model, ``ValueError`` for a certainty outside of 0 to 1.
    """
    if not isinstance(text, str):
        raise wrong_type("scripted_model", "a text", text)
    need_model(model, "scripted_model")
    if not 0 < certainty < 1:
        raise ValueError(f"scripted_model: the certainty is between 0 and 1, not {certainty!r}")
    network = _Script(text, model, certainty)
    return LoadedModel(
        network, model.tokenizer, model.vocabulary, "scripted", network.device, model.eos_ids
    )


class _Script:
    """In place of a network. What was read stands in the cache, as keys and values do elsewhere."""

    def __init__(self, text: str, model: LoadedModel, certainty: float) -> None:
        import torch

        self.config = model.model.config
        self.device = torch.device("cpu")
        self._certainty = certainty
        self._tokenizer = model.tokenizer
        self._vocabulary = model.vocabulary
        self._end = model.eos_ids[0]
        self._text = text.encode()
        self._ids = self._cut(text)
        #: the prompts seen: what is read first in a run
        self._prompts: list[list[int]] = []

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.forward(*args, **options)

    def forward(
        self, input_ids: torch.Tensor, past_key_values: Any = None, use_cache: bool = True
    ) -> Any:
        """The logits after some tokens that follow those of the cache: shape (1, 1, tokens)."""
        ids = [*getattr(past_key_values, "script", ()), *input_ids[0].tolist()]
        if past_key_values is not None:
            past_key_values.script = ids
        return SimpleNamespace(logits=self._logits(self._wanted(ids), len(ids))[None, None])

    def _logits(self, wanted: int, seed: int) -> torch.Tensor:
        import torch

        noise = torch.Generator().manual_seed(seed)
        logits = torch.randn(self._vocabulary.width, generator=noise)
        others = torch.cat((logits[:wanted], logits[wanted + 1 :])).logsumexp(0)
        logits[wanted] = others + torch.logit(torch.tensor(self._certainty))
        return logits

    def _wanted(self, ids: list[int]) -> int:
        """The token that comes next, after a prompt and a part of the text."""
        prompt = next((one for one in self._prompts if ids[: len(one)] == one), None)
        if prompt is None:
            self._prompts.append(prompt := ids)
        answer = ids[len(prompt) :]
        if answer == self._ids[: len(answer)]:
            rest = self._ids[len(answer) :]
        else:
            written = b"".join(map(self._spelled, answer))
            follows = self._text.startswith(written)
            rest = (
                self._cut(self._text[len(written) :].decode("utf-8", "ignore")) if follows else []
            )
        return rest[0] if rest else self._end

    def _spelled(self, token: int) -> bytes:
        special = token in self._vocabulary.special_ids
        return (
            self._vocabulary.special_name(token).encode()
            if special
            else self._vocabulary.token_bytes(token)
        )

    def _cut(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False)) if text else []
