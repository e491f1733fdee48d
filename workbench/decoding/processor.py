"""A grammar inside plain ``model.generate`` of transformers.

::

    processor = GrammarLogitsProcessor(compiled)
    model.generate(**inputs, logits_processor=[processor])

Batches (left padded), several sequences a prompt, and beam search work: the matcher of each row is
found again from the row's token ids, whatever rows were dropped, doubled or moved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import LogitsProcessor, StoppingCriteria

from workbench.device import apply_mask
from workbench.errors import DeadEnd, WorkbenchError
from workbench.inputs import need_compiled

__all__ = ["GrammarLogitsProcessor"]


@dataclass(slots=True, eq=False)
class _Row:
    """One sequence: its matcher and the tokens that it has been given.

    ``lost`` is set when a token was refused: beam search goes on with such rows when too few tokens
    are allowed, at a score of minus infinity.
    """

    matcher: Any
    tokens: list[int] = field(default_factory=list)
    lost: bool = False

    def fork(self) -> _Row:
        return _Row(self.matcher.fork(), list(self.tokens), self.lost)

    def move_to(self, tokens: list[int]) -> None:
        """Go to other tokens by way of the beginning that both have in common."""
        shared = _shared(self.tokens, tokens)
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

    ``compiled`` is a compiled grammar. ``prompt_length`` is the width of the prompt, padding
    included; without it, it is the width that the first call sees, and a call with a shorter or
    another prompt begins a new run (:meth:`reset` does so in any case). After the end token a row
    may only repeat end tokens, which ``generate`` overwrites with padding.

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

    A token that the grammar refuses in a row means that another processor forced it: this raises
    ``WorkbenchError``. With ``beams`` True, for ``num_beams`` above 1, such a row is a beam that is
    lost already, and it ends. Raises ``DeadEnd`` when a row may not go on.
    """

    def __init__(
        self, compiled: Any, *, prompt_length: int | None = None, beams: bool = False
    ) -> None:
        need_compiled(compiled, "GrammarLogitsProcessor")
        self.compiled = compiled
        self.beams = beams
        self._given_length = prompt_length
        self._eos_ids = frozenset(compiled.vocabulary.eos_ids)
        self.reset()

    def reset(self) -> None:
        """Forget the run so far; the next call begins a new one."""
        self._length = self._given_length
        self._width = 0
        self._prompts: set[tuple[int, ...]] = set()
        self._rows: list[_Row] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Mask ``scores``, (rows, tokens), in place; ``input_ids`` is (rows, prompt + new tokens)."""
        from workbench.engine import empty_mask

        ids: list[list[int]] = input_ids.tolist()
        length = self._begin(ids)
        self._place([row[length:] for row in ids])
        bitmask = empty_mask(self.compiled.vocabulary, batch=len(ids))
        ended: list[int] = []
        for i, row in enumerate(self._rows):
            if row.matcher.is_terminated or row.lost:
                ended.append(i)
                continue
            row.matcher.fill_mask(bitmask, i)
            if not bitmask[i].any():
                text = self.compiled.vocabulary.decode(row.tokens).decode("utf-8", "replace")
                raise DeadEnd(f"row {i}: no token may come next after {text[-60:]!r}")
        kept = {i: scores[i, self._ends(scores)].clone() for i in ended}
        apply_mask(scores, bitmask)
        for i, values in kept.items():
            scores[i, self._ends(scores)] = torch.nan_to_num(values, nan=0.0, neginf=0.0)
        return scores

    def _ends(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.tensor(sorted(self._eos_ids), dtype=torch.long, device=scores.device)

    @property
    def stopping(self) -> StoppingCriteria:
        """What stops ``generate`` where the grammar's text has ended, for each row."""
        return _Ended(self)

    def ended(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Which rows of the ids that ``generate`` has come to have ended, (rows,) bool."""
        ids: list[list[int]] = input_ids.tolist()
        length = self._length if self._length is not None else len(ids[0])
        self._place([row[length:] for row in ids])
        ended = [row.matcher.is_terminated or row.lost for row in self._rows]
        return torch.tensor(ended, dtype=torch.bool, device=input_ids.device)

    def _begin(self, ids: list[list[int]]) -> int:
        """Notice a new run; returns the width of the prompt."""
        width = len(ids[0])
        if self._given_length is not None:
            if width < self._given_length:
                raise WorkbenchError(
                    f"the ids are {width} wide, the prompt was said to be {self._given_length}"
                )
            return self._given_length
        length = self._length
        known = length is not None and all(tuple(row[:length]) in self._prompts for row in ids)
        if length is None or width <= length or not known:
            self.reset()
            length = self._length = width
            self._prompts = {tuple(row) for row in ids}
        elif width > self._width + 1:
            raise WorkbenchError(
                "the ids grew by more than one token since the last call: for a new run call reset(), "
                "or give prompt_length"
            )
        self._width = width
        return length

    def _place(self, wanted: list[list[int]]) -> None:
        """Give every row a matcher at its tokens, moved from the nearest one of the last call."""
        old = self._rows
        sources = [self._nearest(i, tokens) for i, tokens in enumerate(wanted)]
        uses = [sources.count(i) for i in range(len(old))]
        rows: list[_Row] = []
        for source in sources:
            if source is None:
                rows.append(_Row(self.compiled.matcher()))
            else:
                uses[source] -= 1
                rows.append(old[source].fork() if uses[source] else old[source])
        for i, (row, tokens) in enumerate(zip(rows, wanted, strict=True)):
            row.move_to(tokens)
            if row.lost and not self.beams:
                vocabulary = self.compiled.vocabulary
                name = vocabulary.label(tokens[len(row.tokens)])
                if row.tokens and row.tokens[-1] in self._eos_ids:
                    raise WorkbenchError(
                        f"generate ended row {i} at {vocabulary.label(row.tokens[-1])!r}, where the grammar goes "
                        "on: pass stopping_criteria=[processor.stopping] and eos_token_id=[] to it"
                    )
                raise WorkbenchError(
                    f"row {i} holds {name!r}, which the grammar refuses there: another processor "
                    "forced it, or this is beam search (then pass beams=True)"
                )
        self._rows = rows

    def _nearest(self, i: int, tokens: list[int]) -> int | None:
        """The row of the last call that shares the longest beginning; the same row if it fits."""
        old = self._rows
        if i < len(old):
            known = old[i].tokens
            one_more = len(tokens) <= len(known) + 1 or old[i].matcher.is_terminated
            if tokens[: len(known)] == known and one_more:
                return i
        best, best_shared = None, 0
        for j, row in enumerate(old):
            shared = _shared(row.tokens, tokens)
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


def _shared(one: list[int], two: list[int]) -> int:
    """Length of the common beginning."""
    length = min(len(one), len(two))
    if one[:length] == two[:length]:
        return length
    return next(i for i in range(length) if one[i] != two[i])
