"""Drafts: tokens that are run through the model together, before it is known whether they come.

::

    drafts = Drafts(decoder, fast_forward="verify", prompt_lookup=True)
    while not decoder.is_finished:
        drafts.step(most=256)

One forward pass over a draft gives the logits after each of its tokens. The sampler then chooses each token from
its own masked logits with its own random number, as without drafts, and goes on as long as it chose what was drafted.
So every token is the one that plain decoding takes, greedily or by its seed. Seen from a drafted token this is the
rule of speculative sampling (Leviathan et al. 2023, Chen et al. 2023): it is accepted with its probability after the
mask, else one of the others is drawn in proportion. A draft that a second model has drawn, with probability q, is
accepted with min(1, p / q), as in those papers: the distribution stays that of plain decoding, but not the text of
each seed.

Who drafts, in this order, again after each piece until nobody has anything to say: the grammar (bytes that must come,
cut as the tokenizer cuts them), the prompt and the text (what followed the last few tokens when they came before), a
second model under the same masks. A draft is one sequence: a tree would need caches with branches, which most models'
are not.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from workbench.decoding.canonical import CONTEXT, Canonical
from workbench.decoding.position import Drafted
from workbench.decoding.runner import Runner
from workbench.decoding.samplers import Sampling, uniform
from workbench.decoding.situation import forced_bytes
from workbench.decoding.trace import TraceStep
from workbench.errors import GrammarTooComplex
from workbench.inputs import need_model

if TYPE_CHECKING:
    from workbench.decoding.decoder import Decoder
    from workbench.models import LoadedModel
    from workbench.vocabulary import Vocabulary

__all__ = ["Drafts", "FastForward"]

FastForward = Literal["verify", "inject"]

#: The most tokens of a draft, and the most bytes that must come that are looked at.
MOST = 64
MOST_BYTES = 1024
#: Tokens that must have come before for a copy: the most and the least.
GRAM = 3, 2
#: The use of random numbers that a second model draws with.
DRAFTING = 1


class Drafts:
    """Steps of one decoder, with drafts.

    ``draft_tokens`` is the most tokens that ``prompt_lookup`` and ``draft_model`` guess for one pass. Raises
    ``ValueError`` for options out of range and for a draft model with other tokens.
    """

    def __init__(
        self,
        decoder: Decoder,
        *,
        fast_forward: FastForward | None = None,
        draft_model: LoadedModel | None = None,
        prompt_lookup: bool = False,
        draft_tokens: int = 8,
    ) -> None:
        if fast_forward not in (None, "verify", "inject"):
            raise ValueError(
                f'fast_forward is {fast_forward!r}, it must be "verify", "inject" or None'
            )
        if draft_tokens < 1:
            raise ValueError(f"draft_tokens is {draft_tokens}, it must be 1 or more")
        self._decoder = decoder
        self._fast_forward = fast_forward
        self._lookup = prompt_lookup
        self._guesses = draft_tokens
        self._second = None
        if draft_model is not None:
            self._second = _Second(draft_model, decoder.vocabulary, decoder.sampling, decoder.seed)
        self._canonical = Canonical(decoder.model.tokenizer, decoder.vocabulary)
        #: the options, as a trace keeps them
        self.settings: dict[str, Any] = {
            "fast_forward": fast_forward,
            "draft_model": None if draft_model is None else draft_model.name,
            "prompt_lookup": prompt_lookup,
            "draft_tokens": draft_tokens,
        }
        self._proposed: Counter[str] = Counter()
        self._replaced = 0

    def step(self, most: int) -> TraceStep:
        """Take the next token of a run of at most ``most`` tokens. Raises what ``Decoder.step`` raises."""
        decoder = self._decoder
        if decoder.drafted is None:
            self._look_ahead(most)
        drafted = decoder.drafted
        step = decoder.inject() if drafted is not None and drafted.sure else decoder.step()
        decoder.trace.drafts = {
            "forward_passes": decoder.forward_passes,
            "draft_passes": 0 if self._second is None else self._second.passes,
            "proposed": dict(self._proposed),
            "replaced": self._replaced,
        }
        return step

    def _look_ahead(self, most: int) -> None:
        """Run a draft through the model where a forward pass is due anyway, or the draft is certain."""
        decoder = self._decoder
        known = decoder.is_known
        if known and self._fast_forward != "inject":
            return
        started = time.perf_counter()
        replaced, draft = self._draft(most, only_sure=known)
        if not draft:
            return
        self._proposed.update(drafted.source for drafted in draft)
        self._replaced += replaced
        took = (time.perf_counter() - started) * 1000
        decoder.back(replaced)
        decoder.look_ahead(draft, took)

    def _draft(self, most: int, *, only_sure: bool) -> tuple[int, list[Drafted]]:
        """How many tokens to take back, and what to run from there."""
        decoder = self._decoder
        room = min(most - len(decoder.token_ids), MOST)
        limit = decoder.model.context_size
        if limit is not None:
            room = min(room, limit - 1 - len(decoder.trace.prompt_ids) - len(decoder.token_ids))
        probe, ids = decoder.matcher.fork(), decoder.token_ids
        replaced, draft = 0, list[Drafted]()
        try:
            if self._fast_forward == "inject":
                replaced, draft = self._injected(probe, ids, room)
                del ids[len(ids) - replaced :]
            if not draft and only_sure:
                return 0, []
            ids += [drafted.token_id for drafted in draft]
            guesses = self._guesses
            while len(draft) < room and not probe.is_terminated:
                piece = self._piece(probe, ids, min(guesses, room - len(draft)))
                piece = _accepted(probe, piece[: room - len(draft)])
                if not piece:
                    break
                draft += piece
                ids += [drafted.token_id for drafted in piece]
                guesses -= sum(drafted.source != "forced" for drafted in piece)
        except GrammarTooComplex:
            pass  # who gets there is told so
        # an end that is drafted alone saves nothing
        alone = len(draft) == 1 and draft[0].token_id in decoder.vocabulary.eos_ids
        return (0, []) if alone else (replaced, draft)

    def _piece(self, probe: Any, ids: list[int], guesses: int) -> list[Drafted]:
        """What the first source that has anything to say drafts after some tokens."""
        if self._fast_forward is not None:
            text = forced_bytes(probe, MOST_BYTES)
            tokens = self._canonical.tokens(ids[-CONTEXT:], text) if text else self._end(probe)
            if tokens:
                return [Drafted(token, "forced") for token in tokens]
        if guesses <= 0:
            return []
        if self._lookup:
            tokens = _copied(self._decoder.trace.prompt_ids + ids, guesses)
            if tokens and probe.fork().accept(tokens[0]):
                return [Drafted(token, "prompt") for token in tokens]
        if self._second is not None:
            drafted = self._second.next(probe, self._decoder.trace.prompt_ids, ids)
            if drafted is not None:
                return [drafted]
        return []

    def _end(self, probe: Any) -> list[int]:
        """An end token, where nothing else may come."""
        going_on = getattr(probe, "allowed_bytes", None)
        if going_on is None or not probe.is_accepting or going_on():
            return []
        ends = [*self._decoder.model.eos_ids, *self._decoder.vocabulary.eos_ids]
        return next(([token] for token in ends if probe.fork().accept(token)), [])

    def _injected(self, probe: Any, ids: list[int], room: int) -> tuple[int, list[Drafted]]:
        """Tokens that are taken without asking, and how many before them they replace; moves the probe.

        The last tokens of the text that must come are left to the model where an allowed token begins with the rest of
        it and goes on: there the tokenizer might have cut elsewhere.
        """
        text = forced_bytes(probe, MOST_BYTES)
        if not text:
            return 0, []
        replaced, tokens = self._canonical.across(ids[-CONTEXT:], text)
        again = self._decoder.vocabulary.decode(ids[len(ids) - replaced :])
        rest = again + text
        ahead = probe.fork()
        ahead.rollback(replaced)
        taken: list[Drafted] = []
        for token in tokens[: room + replaced]:
            if self._goes_beyond(ahead, rest) or not ahead.accept(token):
                break
            rest = rest[len(self._decoder.vocabulary.token_bytes(token)) :]
            taken.append(Drafted(token, "forced", sure=True))
        if len(rest) >= len(text):  # the model decides about the seam itself: nothing is replaced
            replaced, taken = 0, []
        probe.rollback(replaced)
        return replaced, _accepted(probe, taken)

    def _goes_beyond(self, probe: Any, rest: bytes) -> bool:
        """Whether an allowed token begins with all the rest of the text that must come, and goes on."""
        vocabulary = self._decoder.vocabulary
        if len(rest) >= vocabulary.max_token_bytes:
            return False
        longer = self._canonical.longer(rest)
        return bool(len(longer)) and bool(_allowed(probe, vocabulary)[longer].any())


class _Second:
    """A second model that drafts token by token under the masks of the first."""

    def __init__(
        self, model: LoadedModel, vocabulary: Vocabulary, sampling: Sampling, seed: int
    ) -> None:
        need_model(model, "a draft model")
        theirs = model.vocabulary
        same = theirs.size == vocabulary.size and theirs.blob == vocabulary.blob
        if not same or not np.array_equal(theirs.offsets, vocabulary.offsets):
            raise ValueError(
                f"the draft model {model.name} has other tokens than the model: it needs the same tokenizer"
            )
        self._model = model
        self._vocabulary = vocabulary
        self._sampling = sampling
        self._seed = seed
        self._runner = Runner(model)

    @property
    def passes(self) -> int:
        """Forward passes so far."""
        return self._runner.passes

    def next(self, probe: Any, prompt: list[int], ids: list[int]) -> Drafted | None:
        """The token that this model would take under the masks, if any."""
        limit = self._model.context_size
        if limit is not None and len(prompt) + len(ids) > limit:
            return None
        allowed = _allowed(probe, self._vocabulary)
        if not allowed.any():
            return None
        logits = self._runner.logits(prompt + ids)[: self._vocabulary.size].cpu()
        logits = torch.where(torch.from_numpy(allowed[: len(logits)]), logits, -torch.inf)
        if not bool(torch.isfinite(logits.max())):
            return None
        token = self._sampling.choose(logits, uniform(self._seed, len(ids), DRAFTING))
        odds = self._sampling.odds(logits) if self._sampling.temperature > 0 else None
        return Drafted(token, "model", odds=odds)


def _allowed(matcher: Any, vocabulary: Vocabulary) -> Any:
    """The mask of a matcher: bool of shape (size,)."""
    row = np.zeros((vocabulary.width + 31) // 32, dtype=np.int32)
    matcher.fill_mask(row)
    bits = np.unpackbits(row.astype("<i4").view(np.uint8), bitorder="little")
    return bits[: vocabulary.size].astype(np.bool_)


def _accepted(probe: Any, draft: list[Drafted]) -> list[Drafted]:
    """The part of a draft that may come, an end included; moves the probe over it."""
    count = 0
    while count < len(draft) and not probe.is_terminated and probe.accept(draft[count].token_id):
        count += 1
    return draft[:count]


def _copied(ids: list[int], most: int) -> list[int]:
    """What followed the last few tokens when they came before, the latest time; the longest run of them counts."""
    known = np.array(ids)
    for length in range(GRAM[0], GRAM[1] - 1, -1):
        if len(known) <= length:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(known[:-1], length)
        places = np.flatnonzero((windows == known[-length:]).all(axis=1))
        if len(places):
            first = int(places[-1]) + length
            return ids[first : first + most]
    return []
