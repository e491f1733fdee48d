"""What a person types to open a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.decoding.prompt import Prompt
    from workbench.models import LoadedModel
    from workbench.notebook.stepper import Stepper

__all__ = ["step"]


def step(
    model: LoadedModel,
    prompt: Prompt,
    grammar: Any = None,
    *,
    chat: bool | None = None,
    title: str | None = None,
    theme: str = "auto",
    **settings: Any,
) -> Stepper:
    """Open the token stepper: step a model through a grammar, forward, back, and by choice.

    ``prompt`` is a text, a list of chat messages or a list of token ids; ``grammar`` a Grammar, a compiled
    one, a JSON Schema, the text of one or of a grammar in GBNF, or None; ``settings`` are those of
    :class:`workbench.decoding.Sampling` (``temperature``, ``top_k``, ``top_p``, ``min_p``, ``seed``; by
    default the likeliest allowed token is taken). ``theme`` is "auto", "light" or "dark". Raises
    ``UnsatisfiableGrammar`` (``Workbench`` opens on what is to blame) and the other errors of ``compile``,
    ``TypeError`` for an unknown setting, and ``ImportError`` when the notebook packages are missing.
    """
    from workbench.decoding import Decoder, Sampling
    from workbench.frontends.given import grammar_of
    from workbench.notebook.session import Session

    try:
        from workbench.notebook.stepper import Stepper
    except ModuleNotFoundError as error:
        raise ImportError(
            f"the stepper needs {error.name}: pip install 'grammar-workbench[notebook]'"
        ) from error
    decoder = Decoder(model, prompt, grammar_of(grammar), sampling=Sampling(**settings), chat=chat)
    return Stepper(Session(decoder, title), theme=theme)
