"""A grammar inside plain ``model.generate`` of transformers.

::

    processor = GrammarLogitsProcessor(compiled)
    model.generate(**inputs, logits_processor=[processor])

Batches (left padded), several sequences a prompt, beam search and assisted generation work: the matcher of
each row is found again from the row's token ids, whatever rows were dropped, doubled or moved.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import LogitsProcessor, StoppingCriteria

from workbench.decoding.decoder import NO_ENDS
from workbench.decoding.generate_calls import GenerateCall, calling_generate
from workbench.decoding.situation import within
from workbench.device import apply_mask
from workbench.errors import DeadEnd, WorkbenchError
from workbench.grammar.prefixes import common_prefix
from workbench.inputs import need_compiled
from workbench.wording import number_of

__all__ = ["GrammarLogitsProcessor"]


@dataclass(slots=True, eq=False)
class _Row:
    """One sequence: which grammar it has, its matcher and the tokens that it has been given.

    ``matcher`` is None where no grammar is asked for. ``lost`` is set when a token was refused: a beam
    goes on so when too few tokens are allowed, at a score of minus infinity, and a draft may.
    """

    grammar: int
    matcher: Any
    tokens: list[int] = field(default_factory=list)
    lost: bool = False

    def fork(self) -> _Row:
        return _Row(self.grammar, self.matcher.fork(), list(self.tokens), self.lost)

    def move_to(self, tokens: list[int]) -> None:
        """Go to other tokens by way of the beginning that both have in common."""
        shared = common_prefix(self.tokens, tokens)
        if shared < len(self.tokens):
            self.matcher.rollback(len(self.tokens) - shared)
            del self.tokens[shared:]
        self.lost = False
        for token in tokens[shared:]:
            if self.matcher.is_terminated:  # padding comes behind the end
                return
            if not self.matcher.accept(token):
                self.lost = True
                return
            self.tokens.append(token)


class GrammarLogitsProcessor(LogitsProcessor):
    """Masks the logits of each row by what the grammar allows after the row's new tokens.

    ``compiled`` is a compiled grammar, or a list with one for each prompt of the batch, None for a prompt
    whose rows are left as they are; several sequences or beams of one prompt share its grammar.

    A processor may serve one run after another: each call of ``generate`` begins a new one. A loop of your
    own calls :meth:`reset` before each run. The text begins behind the prompt, padding included: where the
    first call of a run ends, or at ``prompt_length``, which is how a text goes on that was begun before.
    After the end token a row may only repeat end tokens, which ``generate`` overwrites with padding.

    ``generate`` by itself stops at each token of its ``eos_token_id``, also where the grammar names that token
    inside of its texts (``<|end|>`` between turns, say) and the text goes on. For such a grammar let the grammar
    say when a text has ended::

        model.generate(
            **inputs,
            logits_processor=[processor],
            stopping_criteria=[processor.stopping],
            eos_token_id=[],
        )

    Without it, rows of a batch that were stopped too early raise ``WorkbenchError``; a single one comes back as it
    is, cut short. What stands behind the end of a row that was done before others are end tokens.

    With ``max_tokens`` each row's text is complete, and ends, within so many tokens behind the prompt: pass the same
    ``max_new_tokens`` to ``generate`` or more. Raises ``BudgetTooSmall`` in the first call if the grammar needs more.

    Raises ``DeadEnd`` when a row may not go on, and ``WorkbenchError`` when a run cannot be told from the
    one before, when the logits are fewer than the tokens of the vocabulary, and when a row holds a token
    that the grammar refuses: another processor forced it. Beams and drafts may hold such tokens where
    ``generate`` is known to search that way; with ``beams`` True they may in any loop, and then end. Warns
    when ``generate`` ends its texts with other tokens than the vocabulary does.
    """

    #: rows of one call have one width and stay in their order or with their tokens
    supports_continuous_batching = False

    def __init__(
        self,
        compiled: Any,
        *,
        prompt_length: int | None = None,
        beams: bool = False,
        max_tokens: int | None = None,
    ) -> None:
        self._grammars = _grammars(compiled)
        self.compiled = compiled
        self.beams = beams
        self.max_tokens = max_tokens
        vocabularies = [g.vocabulary for g in self._grammars if g is not None]
        self._vocabulary = vocabularies[0] if vocabularies else None
        self._eos_ids = frozenset(self._vocabulary.eos_ids if self._vocabulary else ())
        self._given_length: int | None = None
        #: whether ``stopping`` was asked for, which ends runs where the vocabulary's ends are
        self._stops = False
        self.reset(prompt_length)

    def reset(self, prompt_length: int | None = None) -> None:
        """Forget the run so far: the next call begins a new one.

        ``prompt_length`` is the width of its prompt; by default what was given before, if anything was.
        Raises ``ValueError`` for a negative one.
        """
        if prompt_length is not None:
            if prompt_length < 0:
                raise ValueError(f"prompt_length is {prompt_length}, it must be 0 or more")
            self._given_length = prompt_length
        self._used = False
        self._forget()

    def _forget(self) -> None:
        self._run: weakref.ref[Any] | None = None
        self._length: int | None = None
        self._width = 0
        self._prompts: set[tuple[int, ...]] = set()
        self._count = 0
        self._rows: list[_Row] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Mask ``scores``, (rows, tokens), in place; ``input_ids`` is (rows, prompt + new tokens)."""
        from workbench.engine import empty_mask

        if self._vocabulary is None:
            return scores
        if scores.shape[-1] < self._vocabulary.size:
            raise WorkbenchError(
                f"the model has {number_of(scores.shape[-1], 'logit')} a row, the grammar was compiled for "
                f"{number_of(self._vocabulary.size, 'token')}: compile it for the vocabulary of this model"
            )
        ids: list[list[int]] = input_ids.tolist()
        call = calling_generate()
        length = self._begin(ids, call)
        self._place(ids, length, call)
        bitmask = empty_mask(self._vocabulary, batch=len(ids))
        kept: dict[int, torch.Tensor] = {}
        for i, row in enumerate(self._rows):
            if row.matcher is None or (row.lost and call is not None and call.drafts):
                kept[i] = scores[i].clone()
            elif row.matcher.is_terminated or row.lost:
                kept[i] = self._only_ends(scores[i])
            else:
                row.matcher.fill_mask(bitmask, i)
                if not bitmask[i].any():
                    raise DeadEnd(self._dead_end(i, row))
        apply_mask(scores, bitmask)
        for i, values in kept.items():
            scores[i] = values
        return scores

    def _only_ends(self, scores: torch.Tensor) -> torch.Tensor:
        ends = torch.tensor(sorted(self._eos_ids), dtype=torch.long, device=scores.device)
        result = torch.full_like(scores, float("-inf"))
        result[ends] = torch.nan_to_num(scores[ends], nan=0.0, neginf=0.0)
        return result

    def _dead_end(self, i: int, row: _Row) -> str:
        assert self._vocabulary is not None
        text = self._vocabulary.decode(row.tokens).decode("utf-8", "replace")[-60:]
        if row.matcher.is_accepting and not self._eos_ids:
            return (
                f"row {i}: the text is complete after {text!r}, and nothing can end it: {NO_ENDS}"
            )
        return f"row {i}: no token may come next after {text!r}"

    @property
    def stopping(self) -> StoppingCriteria:
        """What stops ``generate`` where the grammar's text has ended, for each row."""
        self._stops = True
        return _Ended(self)

    def ended(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Which rows of the ids that ``generate`` has come to have ended, (rows,) bool."""
        ids: list[list[int]] = input_ids.tolist()
        if self._vocabulary is None:
            return torch.zeros(len(ids), dtype=torch.bool, device=input_ids.device)
        length = self._length if self._length is not None else len(ids[0])
        self._place(ids, length, calling_generate())
        ended = [
            row.matcher is not None and (row.matcher.is_terminated or row.lost)
            for row in self._rows
        ]
        return torch.tensor(ended, dtype=torch.bool, device=input_ids.device)

    # Runs.

    def _begin(self, ids: list[list[int]], call: GenerateCall | None) -> int:
        """Notice a new run; returns the width of the prompt."""
        width = len(ids[0])
        if self._given_length is not None and width < self._given_length:
            raise WorkbenchError(
                f"the ids are {width} wide, the prompt was said to be {self._given_length}"
            )
        if call is None:
            self._go_on_by_hand(ids)
        elif self._run is None or self._run() is not call.config:
            self._start(ids)
            self._run = weakref.ref(call.config)
            self._compare_ends(call.eos_ids)
        elif not self._is_known(ids):
            raise WorkbenchError(
                "the ids of a row do not begin with the prompt of this run: an assistant model with another "
                "tokenizer, or another loop inside this one, needs a processor of its own"
            )
        self._width = width
        assert self._length is not None
        return self._length

    def _start(self, ids: list[list[int]]) -> None:
        width, given = len(ids[0]), self._given_length
        if given is not None and self._used and width != given:
            raise WorkbenchError(
                f"this is another run, its ids are {width} wide, and prompt_length was said to be {given} for "
                "the run before: call reset(prompt_length=...) first"
            )
        self._forget()
        self._used = True
        self._length = width if given is None else given
        self._prompts = {tuple(row[: self._length]) for row in ids}
        self._count = len(ids)

    def _is_known(self, ids: list[list[int]]) -> bool:
        return all(tuple(row[: self._length]) in self._prompts for row in ids)

    def _go_on_by_hand(self, ids: list[list[int]]) -> None:
        """Without a call of ``generate`` to go by: what may be the next step or a new run is refused."""
        width, length = len(ids[0]), self._length
        if self._given_length is not None and self._run is None:
            if length is None:
                self._start(ids)
            return
        if length is None or width <= length or not self._is_known(ids):
            self._start(ids)
            return
        if self._run is not None or width != self._width + 1:
            why = f"they are {width} wide, and the last ones were {self._width}"
        elif all(row.matcher is not None and row.matcher.is_terminated for row in self._rows):
            why = "each row of that run has ended"
        else:
            return
        raise WorkbenchError(
            "a new run cannot be told from the one before: the ids begin with its prompt, and "
            f"{why}. Call reset() before each run, or give prompt_length"
        )

    def _compare_ends(self, theirs: frozenset[int]) -> None:
        """Warn where a text may end in one way and its run in another."""
        assert self._vocabulary is not None
        vocabulary = self._vocabulary
        name = vocabulary.label
        passed = [] if self._stops else sorted(self._eos_ids - theirs)
        cut = [t for t in sorted(theirs - self._eos_ids) if t < vocabulary.size]
        cut = [t for t in cut if vocabulary.token_bytes(t) and t not in vocabulary.special_ids]
        faults = []
        if passed:
            shown = ", ".join(f"{name(t)} ({t})" for t in passed[:8])
            faults.append(
                f"{shown} may end a text of the grammar, but not a run of this model, which then writes "
                "end tokens up to its limit"
            )
        if cut:
            shown = ", ".join(f"{name(t)} ({t})" for t in cut[:8])
            faults.append(f"{shown} ends a run of this model in the middle of a text")
        if faults:
            mend = f"Pass eos_token_id={sorted(self._eos_ids)} to generate"
            if theirs:
                mend += f", or make the vocabulary with eos_ids={sorted(theirs)}"
            warnings.warn(f"{'; '.join(faults)}. {mend}", stacklevel=2)

    # Rows.

    def _check_rows(self, ids: list[list[int]]) -> None:
        """See that each grammar has as many rows, those of one prompt, and keeps them."""
        count, rows = len(self._grammars), len(ids)
        if count == 1:
            return
        if rows != self._count:
            raise WorkbenchError(
                f"{number_of(rows, 'row')} in a run that began with {self._count}: whose grammar is whose cannot "
                "be told"
            )
        share = rows // count
        same = rows % count == 0 and all(
            ids[i][: self._length] == ids[i // share * share][: self._length] for i in range(rows)
        )
        if not same:
            raise WorkbenchError(
                f"{number_of(count, 'grammar')} for {number_of(rows, 'row')}: give one grammar, or one (or None) "
                "for each prompt of the batch"
            )

    def _place(self, ids: list[list[int]], length: int, call: GenerateCall | None) -> None:
        """Give every row a matcher at its tokens, moved from the nearest one of the last call."""
        old = self._rows
        self._check_rows(ids)
        share = len(ids) // len(self._grammars)
        grammars = [i // share for i in range(len(ids))]
        wanted = [row[length:] for row in ids]
        sources = [
            self._nearest(i, grammar, tokens)
            for i, (grammar, tokens) in enumerate(zip(grammars, wanted, strict=True))
        ]
        uses = [sources.count(i) for i in range(len(old))]
        rows: list[_Row] = []
        for grammar, source in zip(grammars, sources, strict=True):
            compiled = self._grammars[grammar]
            if source is None:
                matcher = compiled and within(compiled.matcher(), self.max_tokens)
                rows.append(_Row(grammar, matcher))
            else:
                uses[source] -= 1
                rows.append(old[source].fork() if uses[source] else old[source])
        for i, (row, tokens) in enumerate(zip(rows, wanted, strict=True)):
            if row.matcher is None:
                continue
            row.move_to(tokens)
            if row.lost and not (self.beams or (call is not None and (call.beams or call.drafts))):
                raise WorkbenchError(self._refusal(i, row, tokens, call))
        self._rows = rows

    def _refusal(self, i: int, row: _Row, tokens: list[int], call: GenerateCall | None) -> str:
        assert self._vocabulary is not None
        if row.tokens and row.tokens[-1] in self._eos_ids:
            return (
                f"generate ended row {i} at {self._vocabulary.label(row.tokens[-1])!r}, where the grammar goes "
                "on: pass stopping_criteria=[processor.stopping] and eos_token_id=[] to it"
            )
        message = (
            f"row {i} holds {self._vocabulary.label(tokens[len(row.tokens)])!r}, which the grammar refuses "
            "there: "
        )
        if not self._rows and self._given_length is not None:
            return message + (
                f"it stands behind the prompt, which was said to be {self._given_length} wide; for another "
                "prompt call reset(prompt_length=...)"
            )
        if call is None:
            return message + (
                "another processor forced it, or this is a new run (then call reset() first) or beam search "
                "(then pass beams=True)"
            )
        return message + "another processor forced it"

    def _nearest(self, i: int, grammar: int, tokens: list[int]) -> int | None:
        """The row of the last call that shares the longest beginning; the same row if it fits."""
        old = self._rows
        if i < len(old) and old[i].grammar == grammar:
            known = old[i].tokens
            matcher = old[i].matcher
            one_more = len(tokens) <= len(known) + 1 or (matcher and matcher.is_terminated)
            if tokens[: len(known)] == known and one_more:
                return i
        best, best_shared = None, 0
        for j, row in enumerate(old):
            shared = common_prefix(row.tokens, tokens) if row.grammar == grammar else 0
            if shared > best_shared:
                best, best_shared = j, shared
        return best


class _Ended(StoppingCriteria):
    """Stops rows whose text has ended."""

    def __init__(self, processor: GrammarLogitsProcessor) -> None:
        self._processor = processor

    def __call__(
        self, input_ids: torch.Tensor, scores: torch.Tensor, **kwargs: Any
    ) -> torch.Tensor:
        """Which rows are done, (rows,) bool."""
        return self._processor.ended(input_ids)


def _grammars(compiled: Any) -> list[Any]:
    """The grammars of the prompts; ``WrongType`` and ``ValueError`` say what is wrong with them."""
    grammars = list(compiled) if isinstance(compiled, Sequence) else [compiled]
    if not grammars:
        raise ValueError(
            "an empty list of grammars: give one, or None, for each prompt of the batch"
        )
    for grammar in grammars:
        if grammar is not None:
            need_compiled(grammar, "GrammarLogitsProcessor")
    prints = {g.vocabulary.fingerprint for g in grammars if g is not None}
    if len(prints) > 1:
        raise ValueError("these grammars were compiled for different vocabularies")
    return grammars
