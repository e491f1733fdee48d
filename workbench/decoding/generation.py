"""Generating a text under a grammar."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.decoding.decoder import Decoder
from workbench.decoding.drafts import Drafts, FastForward
from workbench.decoding.prompt import Prompt
from workbench.decoding.samplers import Sampling
from workbench.decoding.trace import FinishReason, Trace, TraceStep
from workbench.engine import CompiledGrammar
from workbench.engine.matching import Capture, captures_of
from workbench.models import LoadedModel
from workbench.wording import number_of

__all__ = ["Generation", "generate"]


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """What a run gave. ``token_ids`` holds an end token if one was taken; ``text`` never does."""

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    trace: Trace
    compiled: CompiledGrammar | None = field(default=None, repr=False)

    @property
    def captures(self) -> tuple[Capture, ...]:
        """What the grammar's captures hold, with their bytes in the text, found anew at each call.

        Nothing for a text that is not complete or was cut at a stop text; see :func:`~workbench.match` for texts
        that can be read in several ways. Raises ``GrammarTooComplex`` for a text that is too much work.
        """
        if self.compiled is None or self.finish_reason == "stop":
            return ()
        return captures_of(self.compiled, self.token_ids)

    def __repr__(self) -> str:
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return f"<Generation {number_of(len(self.token_ids), 'token')}, {self.finish_reason}: {shown!r}>"


def generate(  # noqa: PLR0913 - options, by keyword
    model: LoadedModel,
    prompt: Prompt,
    grammar: Any = None,
    *,
    max_tokens: int = 256,
    complete: bool = False,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    seed: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool | None = None,
    trace: bool = True,
    overlap: bool = True,
    fast_forward: FastForward | None = None,
    draft_model: LoadedModel | None = None,
    prompt_lookup: bool = False,
    draft_tokens: int = 8,
    on_step: Callable[[TraceStep], object] | None = None,
    progress: bool = False,
) -> Generation:
    """Generate a text that a grammar allows; ``grammar`` None allows any.

    ``prompt`` is a text (one user message where the tokenizer has a chat template, unless ``chat`` is
    False), a list of chat messages, or token ids. ``temperature`` 0 is greedy; see
    :class:`~workbench.decoding.samplers.Sampling`. ``finish_reason`` is "eos", "length" (max_tokens
    or the model's context is used up), "stop" (the text holds one of ``stop``; it is cut before it),
    or "interrupted" (by the keyboard: what there is so far is returned). ``on_step`` is called with
    each step. ``trace`` False records tokens and times alone, which is faster.

    Drafts save forward passes and change no token, up to the rounding of the model's arithmetic: ``fast_forward``
    "verify" runs text that must come as one draft, ``prompt_lookup`` drafts what followed the last tokens before,
    ``draft_model`` is a second model of the same tokenizer (where tokens are drawn, their distribution stays the same
    with it, but not the text of a seed); at most ``draft_tokens`` are guessed for a pass.
    ``fast_forward`` "inject" does not ask the model about text that must come: the tokenizer's own tokens are
    put in, which may replace the last ones (``on_step`` is then called with steps of these places again). Steps and
    ``trace.drafts`` say what was drafted.

    ``max_tokens`` counts the end token. With ``complete`` the text is complete within it (unless ``stop`` cuts it, or
    the keyboard): only tokens may come after which the rest, with its end, still fits, and all that do.
    ``BudgetTooSmall`` says how many tokens are needed at least, before anything is generated.

    Raises ``DeadEnd``, with the trace so far, when no token may come next; with ``complete`` also
    ``UnsatisfiableGrammar`` when no tokens complete a text, ``GrammarTooComplex`` when that is too much work to tell.
    """
    if max_tokens < 0:
        raise ValueError(f"max_tokens is {max_tokens}, it must be 0 or more")
    stops = [stop] if isinstance(stop, str) else list(stop)
    if not all(stops):
        raise ValueError("an empty stop text would stop everywhere")
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, seed=seed)
    decoder = Decoder(
        model,
        prompt,
        grammar,
        sampling=sampling,
        chat=chat,
        record=trace,
        overlap=overlap,
        budget=max_tokens if complete else None,
    )
    decoder.trace.settings |= {"max_tokens": max_tokens, "stop": stops}
    if complete:
        decoder.trace.settings["complete"] = True
    options = fast_forward, draft_model, prompt_lookup, draft_tokens
    take = _taking(decoder, max_tokens, *options)
    started = time.perf_counter()
    try:
        _run(decoder, take, max_tokens, [text.encode() for text in stops], on_step, progress)
    except KeyboardInterrupt:
        decoder.trace.finish_reason = "interrupted"
    finally:
        decoder.trace.timings = _timings(decoder.trace, time.perf_counter() - started)
    reason = decoder.seal().finish_reason
    assert reason is not None
    text = decoder.text
    if reason == "stop":
        text = text[: min(text.find(s) for s in stops if s in text)]
    compiled = decoder.compiled
    return Generation(text, tuple(decoder.token_ids), reason, decoder.trace, compiled)


def _taking(
    decoder: Decoder,
    max_tokens: int,
    fast_forward: FastForward | None,
    draft_model: LoadedModel | None,
    prompt_lookup: bool,
    draft_tokens: int,
) -> Callable[[], TraceStep]:
    """How a step is taken: by the decoder, or with drafts ahead of it."""
    if fast_forward is None and draft_model is None and not prompt_lookup:
        return decoder.step
    drafts = Drafts(
        decoder,
        fast_forward=fast_forward,
        draft_model=draft_model,
        prompt_lookup=prompt_lookup,
        draft_tokens=draft_tokens,
    )
    decoder.trace.settings |= drafts.settings
    return functools.partial(drafts.step, max_tokens)


def _run(
    decoder: Decoder,
    take: Callable[[], TraceStep],
    max_tokens: int,
    stops: list[bytes],
    on_step: Callable[[TraceStep], object] | None,
    progress: bool,
) -> None:
    from tqdm import tqdm

    trace = decoder.trace
    tail = max(map(len, stops), default=0) + decoder.vocabulary.max_token_bytes
    recent = b""
    with tqdm(total=max_tokens, unit=" tokens", disable=not progress, leave=False) as bar:
        while not decoder.is_finished:
            if len(trace.steps) >= max_tokens:
                trace.finish_reason = "length"
                return
            before = len(trace.steps)
            step = take()
            bar.update(len(trace.steps) - before)
            if on_step is not None:
                on_step(step)
            if step.index < before:  # it replaced some
                recent = step.bytes_before
            recent = (recent + step.token_bytes)[-tail:]
            if not decoder.is_finished and any(stop in recent for stop in stops):
                trace.finish_reason = "stop"


def _timings(trace: Trace, total: float) -> dict[str, float]:
    """Sums in milliseconds; the prompt's forward pass is apart from those of the tokens."""
    result = {"total_ms": total * 1000}
    for name in ("mask_ms", "mask_hidden_ms", "mask_exposed_ms", "forward_ms", "sample_ms"):
        result[name] = sum(getattr(step, name) for step in trace.steps)
    result["prompt_ms"] = trace.steps[0].forward_ms if trace.steps else 0.0
    result["forward_ms"] -= result["prompt_ms"]
    return result
