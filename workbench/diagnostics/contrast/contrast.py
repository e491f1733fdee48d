"""What a grammar does to a model: one prompt answered without it and under it, side by side.

A step is overruled where the mask left out the token that the model liked best. What the model wants is told of the run
under the grammar: at each step for the text that stands there, not for the one that it would have written alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.engine import CompiledGrammar
from workbench.inputs import need_at_least, need_model
from workbench.vocabulary.labels import label_bytes
from workbench.wording import joined, number_of, percent

if TYPE_CHECKING:
    from workbench.decoding import Generation
    from workbench.decoding.prompt import Prompt
    from workbench.models import LoadedModel
    from workbench.vocabulary import Vocabulary

__all__ = ["Break", "Contrast", "Wish", "contrast"]


@dataclass(frozen=True, slots=True)
class Wish:
    """A step of the run under a grammar: the token that the model liked best, and the one that was taken.

    ``probability`` is that of the wanted token before the mask, ``taken_probability`` that of the taken one;
    ``mass_removed`` is the probability of all that the mask left out.
    """

    index: int
    wanted: int
    probability: float
    taken: int
    taken_probability: float
    mass_removed: float

    @property
    def overruled(self) -> bool:
        """Whether another token was taken than the model wanted."""
        return self.wanted != self.taken


@dataclass(frozen=True, slots=True)
class Break:
    """Where a text leaves a grammar: the offset of the first byte that may not come, its token, and why."""

    offset: int
    step: int
    reason: str


@dataclass(frozen=True, eq=False)
class Contrast:
    """A prompt answered without a grammar (``free``) and under it (``constrained``), both greedily."""

    free: Generation
    constrained: Generation
    compiled: CompiledGrammar

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens of both runs."""
        return self.compiled.vocabulary

    @cached_property
    def wishes(self) -> tuple[Wish, ...]:
        """What the model wanted at each step under the grammar, and what was taken."""
        return tuple(
            Wish(
                step.index,
                *(step.top_before[0] if step.top_before else (step.token_id, 0.0)),
                step.token_id,
                step.probability_before,
                step.mass_removed,
            )
            for step in self.constrained.trace.steps
        )

    @property
    def overruled(self) -> tuple[Wish, ...]:
        """The steps at which the model wanted another token."""
        return tuple(wish for wish in self.wishes if wish.overruled)

    @cached_property
    def leaves(self) -> Break | None:
        """Where the free text leaves the grammar; None where all of it is a beginning of one of its texts.

        A free text that ends too early leaves it at its end.
        """
        matcher = self.compiled.matcher(max_rollback=0)
        offset = 0
        for number, token in enumerate(self.free.token_ids):
            if not matcher.accept(token):
                why = matcher.explain(token)
                return Break(offset + why.consumed, number, why.reason)
            offset += len(self.vocabulary.token_bytes(token))
        return None

    @property
    def sentence(self) -> str:
        """Both runs in one sentence."""
        found = self.overruled
        steps = number_of(len(self.wishes), "token")
        if not found:
            return f"steered none of {steps}: the model wrote what it wanted"
        most = max(found, key=lambda wish: wish.mass_removed)
        at = self.label(most.taken)
        return f"steered {len(found)} of {steps}; the largest push {percent(most.mass_removed)}, at {at}"

    def label(self, token: int) -> str:
        """A token in print."""
        special = token in self.vocabulary.special_ids
        return (
            self.vocabulary.label(token)
            if special
            else label_bytes(self.vocabulary.token_bytes(token))
        )

    def figure(self) -> Any:
        """A plotly figure: at each step the mass that the mask removed, and what was wanted where it was overruled.

        Raises ``ImportError`` without plotly.
        """
        from workbench.diagnostics.contrast.figures import contrast_figure

        return contrast_figure(self)

    def __repr__(self) -> str:
        return f"<Contrast: {self.sentence}>"

    def __str__(self) -> str:
        lines = [self.sentence, f"free: {self.free.text!r}"]
        if self.leaves is not None:
            lines.append(f"  leaves the grammar at byte {self.leaves.offset}: {self.leaves.reason}")
        lines.append(f"under the grammar: {self.constrained.text!r}")
        told = [
            f"{self.label(wish.wanted)} ({percent(wish.probability)}) → {self.label(wish.taken)}"
            for wish in self.overruled
        ]
        if told:
            lines.append(f"overruled: {joined(told, 12)}")
        return "\n".join(lines)


def contrast(
    model: LoadedModel,
    prompt: Prompt,
    grammar: Any,
    *,
    max_tokens: int = 64,
    chat: bool | None = None,
    progress: bool = False,
) -> Contrast:
    """Answer a prompt twice, greedily: without a grammar and under it.

    ``grammar`` is a grammar, a compiled one, a schema, or the text of one; the rest is as in
    :func:`~workbench.generate`. Each run takes at most ``max_tokens`` tokens. Raises as ``generate`` does.
    """
    from workbench.decoding import generate
    from workbench.engine import compile as compile_grammar
    from workbench.frontends.given import grammar_of

    need_model(model, "contrast")
    most = need_at_least(1, max_tokens, "contrast(max_tokens=…)")
    made = grammar_of(grammar)
    compiled = (
        made if isinstance(made, CompiledGrammar) else compile_grammar(made, model.vocabulary)
    )
    constrained = generate(model, prompt, compiled, max_tokens=most, chat=chat, progress=progress)
    free = generate(model, prompt, None, max_tokens=most, chat=chat, progress=progress)
    return Contrast(free, constrained, compiled)
