"""Constrained decoding one step at a time: forward, back, choose, fork.

::

    decoder = Decoder(model, "Name a colour.", grammar)
    decoder.candidates(5)          # what may come next, with probabilities before and after the mask
    decoder.peek()                 # what the sampler would choose
    decoder.step()                 # let it choose
    decoder.step(token_id)         # choose
    decoder.back()                 # take it back

``generate`` and the notebook stepper both drive this class. At every position the mask is computed on
a second thread while the forward pass runs; masks come first, then sampling.
"""

from __future__ import annotations

import copy
import datetime
import functools
import json
import platform
import secrets
import time
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from workbench.decoding.distribution import Distribution
from workbench.decoding.position import Drafted, Position
from workbench.decoding.prompt import Prompt, encode_prompt
from workbench.decoding.runner import Runner
from workbench.decoding.samplers import Sampling, uniform
from workbench.decoding.situation import (
    MatcherLike,
    Watcher,
    configuration,
    make_matcher,
    within,
)
from workbench.decoding.trace import StepKind, Trace, TraceStep, byte_order
from workbench.device import MaskApplier
from workbench.errors import DeadEnd, WorkbenchError
from workbench.inputs import need_model
from workbench.models import LoadedModel
from workbench.vocabulary import Vocabulary
from workbench.wording import number_of

__all__ = ["NO_ENDS", "Candidate", "Decoder"]

#: Why a complete text cannot end.
NO_ENDS = (
    "this vocabulary has no end token (give eos_ids to Vocabulary.load or Vocabulary.from_bytes)"
)

#: Positions whose logits are kept, so that stepping back is instant.
KEPT = 32
#: Uses of random numbers beside the choice of a token: whether a drawn draft is taken, and what is taken instead.
ACCEPTING, REFUSED = 2, 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that might come next, and how likely it is at temperature 1."""

    token_id: int
    token_bytes: bytes
    label: str
    allowed: bool
    probability_before: float
    probability_after: float
    rank_before: int


class Decoder:
    """One run of a model under a grammar, steppable in both directions.

    ``prompt`` is a text, a list of chat messages or a list of token ids (see ``chat`` in
    :func:`~workbench.decoding.prompt.encode_prompt`); ``grammar`` a Grammar, a compiled one, or None
    for no constraint. With ``record`` False the trace holds the tokens and times alone. ``overlap``
    False computes masks after the forward pass instead of beside it. With a ``budget`` only tokens may come after
    which a complete text, with its end token, fits into so many (and into the model's context): ``BudgetTooSmall``
    says what the grammar needs. Not for several threads.
    """

    def __init__(
        self,
        model: LoadedModel,
        prompt: Prompt,
        grammar: Any = None,
        *,
        sampling: Sampling | None = None,
        chat: bool | None = None,
        record: bool = True,
        overlap: bool = True,
        budget: int | None = None,
    ) -> None:
        need_model(model, "a run")
        self.model = model
        self.vocabulary: Vocabulary = model.vocabulary
        self.sampling = sampling or Sampling()
        self.seed = secrets.randbits(32) if self.sampling.seed is None else self.sampling.seed
        self._record = record
        self._overlap = overlap
        ids, text = encode_prompt(model.tokenizer, prompt, chat)
        limit = model.context_size
        if limit is not None and len(ids) >= limit:
            raise WorkbenchError(
                f"the prompt has {number_of(len(ids), 'token')}, the model sees {limit:,}"
            )
        if max(ids) >= self.vocabulary.size:
            raise WorkbenchError(f"the prompt holds {max(ids)}, which is no token of this model")
        make, self.compiled = make_matcher(grammar, self.vocabulary)
        self._applier = MaskApplier(model.model.device)
        self._watcher = self._watch(within(make(), budget, limit and limit - len(ids)))
        self._runner = Runner(model)
        self._positions: dict[int, Position] = {}
        self.trace = self._new_trace(ids, text, grammar if self.compiled is None else self.compiled)

    def __repr__(self) -> str:
        return f"<Decoder after {number_of(len(self.trace.steps), 'token')}: {self.trace.text[-40:]!r}>"

    # Where the run is.

    @property
    def matcher(self) -> Any:
        """The matcher after the tokens so far: read it, do not move it."""
        return self._watcher.matcher

    @property
    def token_ids(self) -> list[int]:
        """The tokens so far, without the prompt."""
        return self.trace.token_ids

    @property
    def text(self) -> str:
        """The text so far, without the prompt."""
        return self.trace.text

    @property
    def is_finished(self) -> bool:
        """Whether an end token was taken, a dead end met, or the model's context filled."""
        return self.trace.finish_reason is not None

    @property
    def allowed_count(self) -> int:
        """How many tokens may come next; 0 once finished."""
        return 0 if self.is_finished else self._ensure().situation.allowed_count

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which tokens may come next: bool of shape (vocabulary.width,)."""
        if self.is_finished:
            return np.zeros(self.vocabulary.width, dtype=np.bool_)
        row = self._ensure().situation.row.astype("<i4").view(np.uint8)
        return np.unpackbits(row, bitorder="little")[: self.vocabulary.width].astype(np.bool_)

    @property
    def logits(self) -> torch.Tensor:
        """The model's logits for the next token, before the mask: float32 of shape (tokens,)."""
        return self._ensure().logits.clone()

    def candidates(
        self, limit: int = 200, *, search: str = "", refused: bool = False
    ) -> list[Candidate]:
        """The likeliest next tokens; only allowed ones unless ``refused``.

        ``search`` keeps the tokens whose text contains it in any case, or "#12" the token 12.
        """
        if self.is_finished:
            return []
        position = self._ensure()
        before, after = position.describe()
        mask = torch.from_numpy(self.mask[: len(before.probabilities)])
        order = torch.sort(before.probabilities, descending=True, stable=True).indices
        rank = torch.empty_like(order)
        rank[order] = torch.arange(len(order))
        if not refused:
            order = order[mask[order]]
        result: list[Candidate] = []
        for token in self._matching(order, search):
            if len(result) >= limit:
                break
            result.append(
                Candidate(
                    token,
                    self.vocabulary.token_bytes(token),
                    self.vocabulary.label(token),
                    bool(mask[token]),
                    float(before.probabilities[token]),
                    float(after.probabilities[token]),
                    int(rank[token]),
                )
            )
        return result

    def _matching(self, order: torch.Tensor, search: str) -> Iterator[int]:
        wanted = search.casefold()
        for token in order.tolist():
            if token >= self.vocabulary.size:
                continue
            if not wanted or wanted == f"#{token}":
                yield token
                continue
            text = self.vocabulary.token_bytes(token).decode("utf-8", errors="replace")
            if wanted in text.casefold() or wanted in self.vocabulary.label(token).casefold():
                yield token

    # Moving.

    def step(self, token_id: int | None = None) -> TraceStep:
        """Take the next token: the one given, or the sampler's.

        Raises ``DeadEnd`` when no token may come next, ``WorkbenchError`` when the run is finished or
        the token given is not allowed; the decoder stays as it was then.
        """
        return self._take(self.peek() if token_id is None else self._chosen(int(token_id)))

    def _take(self, step: TraceStep) -> TraceStep:
        if not self.matcher.accept(step.token_id):
            raise WorkbenchError(self._refusal(step.token_id))
        if self.matcher.is_terminated:  # an end token may also be one that the grammar names inside
            step = replace(step, kind="eos")
        if step.draft_source and step.token_id != step.draft_token:
            self._forget(len(self.trace.steps) + 1)
        step = self.trace.append(step)
        self._after_token()
        return step

    def peek(self) -> TraceStep:
        """The step that the sampler would take next, which is not taken; a ``step`` after it costs little.

        Raises what :meth:`step` raises.
        """
        position = self._open()
        if position.choice is None:
            started = time.perf_counter()
            index = len(self.trace.steps)
            token = self._choose(position, index)
            position.choice = token, (time.perf_counter() - started) * 1000
        token, took = position.choice
        kind: StepKind = "forced" if position.situation.allowed_count == 1 else "sampled"
        return self._describe_step(position, token, kind, took + position.apply_ms)

    def _choose(self, position: Position, index: int) -> int:
        drafted = position.drafted
        if drafted is None or drafted.odds is None:
            return self.sampling.choose(position.masked, uniform(self.seed, index))
        draws = uniform(self.seed, index, ACCEPTING), uniform(self.seed, index, REFUSED)
        return self.sampling.verified(position.masked, drafted.token_id, drafted.odds, draws)

    def _chosen(self, token: int) -> TraceStep:
        position = self._open()
        return self._describe_step(position, token, "chosen", position.apply_ms)

    def look_ahead(self, draft: Sequence[Drafted], draft_ms: float = 0.0) -> None:
        """Run the model over tokens that may come, in one forward pass with the position here.

        The steps through them need no pass of their own as long as they take these tokens; the first one that
        takes another forgets the rest. Which tokens come does not change, up to the rounding of the model's
        arithmetic: a pass over several tokens may round otherwise than one over each. Where a draft has ``odds``,
        their distribution does not change. The run must not be finished.
        """
        self._run(draft, draft_ms)

    @property
    def drafted(self) -> Drafted | None:
        """The token that was run ahead to follow here, if any."""
        known = self._positions.get(len(self.trace.steps))
        return None if known is None else known.drafted

    @property
    def is_known(self) -> bool:
        """Whether the position here needs no forward pass any more."""
        return len(self.trace.steps) in self._positions

    @property
    def forward_passes(self) -> int:
        """Forward passes of the model so far, those for tokens that were taken back included."""
        return self._runner.passes

    def inject(self) -> TraceStep:
        """Take the drafted token without asking the model. Raises what :meth:`step` raises."""
        position, drafted = self._open(), self.drafted
        if drafted is None:
            raise WorkbenchError("no token was drafted here")
        step = self._describe_step(position, drafted.token_id, "forced", position.apply_ms)
        return self._take(replace(step, draft="injected"))

    def _open(self) -> Position:
        """The current position, where a token may be taken."""
        if self.is_finished:
            raise WorkbenchError(
                f"this run is finished ({self.trace.finish_reason}): step back first"
            )
        position = self._ensure()
        if position.situation.allowed_count == 0:
            self._dead_end()
        return position

    def back(self, n: int = 1) -> int:
        """Take back the last ``n`` tokens, or as many as there are; returns how many."""
        n = min(n, len(self.trace.steps))
        if n <= 0:
            return 0
        self._watcher.abandon()
        self.matcher.rollback(n)
        del self.trace.steps[-n:]
        self.trace.finish_reason = self.trace.error = None
        self.trace.final = {}
        self._forget(len(self.trace.steps) + 1)
        return n

    def _forget(self, first: int) -> None:
        """Forget what is known of the positions from one on."""
        for index in [i for i in self._positions if i >= first]:
            del self._positions[index]

    def fork(self) -> Decoder:
        """Copy the run, so that both can go on apart."""
        other = object.__new__(Decoder)
        for name, value in vars(self).items():
            setattr(other, name, value)
        other._applier = MaskApplier(self.model.model.device)
        other._watcher = other._watch(self.matcher.fork())
        other._runner = self._runner.fork()
        # Copies: what one run records of a position counts in its own trace.
        other._positions = {index: copy.copy(known) for index, known in self._positions.items()}
        other.trace = self.trace.copy()
        return other

    def seal(self) -> Trace:
        """Write into ``trace.final`` where the run stands, and return the trace."""
        states, stacks, count = configuration(self.matcher) if self._record else ((), (), 0)
        self.trace.final = {
            "is_accepting": self.matcher.is_accepting,
            "live_states": list(states),
            "stacks": [self.trace.add_stack(stack) for stack in stacks],
            "stack_count": count,
        }
        return self.trace

    # Inside.

    def _watch(self, matcher: MatcherLike) -> Watcher:
        words = (self.vocabulary.width + 31) // 32
        return Watcher(
            matcher, words, self._applier.prepare, record=self._record, overlap=self._overlap
        )

    def _ensure(self) -> Position:
        """What is known at the current position; runs model and mask when it is not known yet."""
        index = len(self.trace.steps)
        if index not in self._positions:
            self._run()
        return self._positions[index]

    @torch.inference_mode()
    def _run(self, draft: Sequence[Drafted] = (), draft_ms: float = 0.0) -> None:
        """Find out about the current position, and about those after each token of a draft."""
        index = len(self.trace.steps)
        tokens = [drafted.token_id for drafted in draft]
        # nothing is asked of the model after an end
        run = tokens[:-1] if tokens and tokens[-1] in self.vocabulary.eos_ids else tokens
        started = time.perf_counter()
        self._watcher.start(run)
        try:
            ids = self.trace.prompt_ids + self.trace.token_ids + run
            logits = self._runner.last_logits(ids, 1 + len(run))
            forward_end = time.perf_counter()
            situations = self._watcher.finish()
        finally:
            self._watcher.abandon()
        self._forget(index)
        for i, (situation, row) in enumerate(zip(situations, logits, strict=False)):
            hidden = min(situation.ended, forward_end) - max(situation.started, started)
            hidden = max(0.0, hidden)
            before_mask = time.perf_counter()
            masked = row.clone()
            prepared = self._applier.prepare(situation.row) if i else situation.prepared
            self._applier.apply(masked, prepared)
            self._positions[index + i] = Position(
                situation,
                row,
                masked,
                mask_hidden_ms=hidden * 1000,
                mask_exposed_ms=(situation.ended - situation.started - hidden) * 1000,
                forward_ms=0.0 if i else (forward_end - started) * 1000,
                apply_ms=(time.perf_counter() - before_mask) * 1000,
                drafted=draft[i] if i < len(draft) else None,
                draft_ms=0.0 if i else draft_ms,
            )
        for old in [i for i in self._positions if i <= index - KEPT]:
            del self._positions[old]

    def _describe_step(
        self, position: Position, token: int, kind: StepKind, sample_ms: float
    ) -> TraceStep:
        situation = position.situation
        if not 0 <= token < self.vocabulary.size:
            raise WorkbenchError(f"{token} is no token of this model")
        mask_ms = (situation.ended - situation.started) * 1000
        values: dict[str, Any] = {
            "index": len(self.trace.steps),
            "kind": kind,
            "token_id": token,
            "token_bytes": self.vocabulary.token_bytes(token),
            "allowed_count": situation.allowed_count,
            "is_accepting": situation.is_accepting,
            "budget_left": situation.budget_left,
            "budget_removed": situation.budget_removed,
            "mask_ms": mask_ms,
            "mask_hidden_ms": position.mask_hidden_ms,
            "mask_exposed_ms": position.mask_exposed_ms,
            "forward_ms": position.forward_ms,
            "sample_ms": sample_ms,
            "forced_bytes": situation.forced,
            "draft_ms": position.draft_ms,
        }
        if (drafted := position.drafted) is not None:
            values |= {
                "draft": "accepted" if token == drafted.token_id else "refused",
                "draft_source": drafted.source,
                "draft_token": drafted.token_id,
            }
        if self._record:
            before, after = position.describe()
            values |= {
                "probability_before": float(before.probabilities[token]),
                "probability_after": float(after.probabilities[token]),
                "rank_before": before.rank(token),
                **self._recorded(position, before, after),
            }
        return TraceStep(**values)

    def _recorded(
        self, position: Position, before: Distribution, after: Distribution
    ) -> dict[str, Any]:
        """What a step from a position records whatever its token is; made once a position."""
        if position.record is None:
            situation = position.situation
            position.record = {
                "mass_removed": _mass_removed(before, after),
                "entropy_before": before.entropy,
                "entropy_after": after.entropy,
                "logsumexp_before": before.logsumexp,
                "logsumexp_after": after.logsumexp,
                "top_before": before.top(),
                "top_after": after.top(),
                "mask": self.trace.add_mask(situation.row, _order(self.vocabulary)),
                "live_states": situation.live_states,
                "stacks": tuple(map(self.trace.add_stack, situation.stacks)),
                "stack_count": situation.stack_count,
            }
        return position.record

    def _after_token(self) -> None:
        limit = self.model.context_size
        if self.matcher.is_terminated:
            self.trace.finish_reason = "eos"
        elif limit is not None and len(self.trace.prompt_ids) + len(self.trace.steps) >= limit:
            self.trace.finish_reason = "length"

    def _dead_end(self) -> None:
        count = len(self.trace.steps)
        complete = self.matcher.is_accepting
        message = (
            f"no token may come next after {number_of(count, 'token')}, and the text is "
            f"{'' if complete else 'not '}complete: {self.trace.text[-60:]!r}"
        )
        if complete and not self.vocabulary.eos_ids:
            message += f"; nothing can end it: {NO_ENDS}"
        wanted = getattr(self.matcher, "allowed_bytes", None)
        if wanted is not None and (expected := sorted(wanted())):
            shown = ", ".join(repr(bytes([b]))[1:] for b in expected[:8])
            message += f"; the grammar goes on with {shown}, which no token of the model begins"
        self.trace.finish_reason = "dead_end"
        self.trace.error = message
        raise DeadEnd(message, self.seal())

    def _refusal(self, token: int) -> str:
        message = f"the grammar does not allow token {token} {self.vocabulary.label(token)!r} here"
        explain = getattr(self.matcher, "explain", None)
        return f"{message}: {explain(token).reason}" if explain is not None else message

    def _new_trace(self, ids: list[int], text: str, grammar: Any) -> Trace:
        source = getattr(grammar, "grammar", grammar)
        return Trace(
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            grammar_kind=getattr(source, "kind", ""),
            grammar_text=_source_text(getattr(source, "source", None)),
            model_name=self.model.name,
            vocabulary_fingerprint=self.vocabulary.fingerprint,
            vocabulary_size=self.vocabulary.size,
            vocabulary_width=self.vocabulary.width,
            prompt_text=text,
            prompt_ids=ids,
            settings=self.sampling.to_dict() | {"seed": self.seed},
            device=str(self.model.model.device),
            versions=_versions(),
            mask_order="bytes" if self._record else "id",
        )


def _mass_removed(before: Distribution, after: Distribution) -> float:
    """The probability that the mask took away, summed where the terms are: no difference of ones."""
    gone = before.probabilities[after.probabilities == 0].sum()
    return min(1.0, float(gone))


def _source_text(source: Any) -> str:
    if source is None or isinstance(source, str):
        return source or ""
    try:
        return json.dumps(source, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(source)[:100_000]


@functools.cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("grammar-workbench", "torch", "transformers", "numpy", "llvmlite"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


_orders: weakref.WeakKeyDictionary[Vocabulary, NDArray[np.int32]] = weakref.WeakKeyDictionary()


def _order(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The byte order of a vocabulary, computed once."""
    order = _orders.get(vocabulary)
    if order is None:
        order = _orders[vocabulary] = byte_order(vocabulary)
    return order
