"""Python types -> Grammar: pydantic models, dataclasses, ``TypedDict``, enums, function signatures.

pydantic says what a type accepts, as a JSON Schema; that is read like any other. Its schemas promise
more than its validators take (a February 30th, a UUID of another version, keys of a ``dict[int, str]``
that are no numbers), so the parts where the two differ are narrowed first: whatever the grammar writes
parses as the type. What no grammar can know, such as the functions that validate a field, is named in
the outcomes.

>>> from typing import Literal
>>> grammar = from_type(dict[Literal["n"], int], whitespace="compact")
>>> grammar.kind, [outcome.keyword for outcome in grammar.outcomes if outcome.status == "unsupported"]
('python_type', [])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.frontends.json_schema import json_schema
from workbench.grammar.ir import Grammar, Outcome
from workbench.inputs import wrong_type

if TYPE_CHECKING:
    from workbench.frontends.pydantic_schema import Narrowed

__all__ = ["from_type", "grammar_of", "needing_pydantic", "uncarried"]


def from_type(
    type_: Any,
    *,
    additional_properties: bool = False,
    numbers: str = "plain",
    on_unsupported: str = "raise",
    **options: Any,
) -> Grammar:
    """Make a grammar of JSON texts that parse as a Python type.

    ``type_`` is whatever ``pydantic.TypeAdapter`` takes: a model, a dataclass, a ``TypedDict`` or
    ``NamedTuple``, an ``Enum``, ``Literal``, ``Union``, ``Annotated`` with constraints, generic
    collections; a function stands for the arguments that it is called with. Each text of the grammar is
    one that ``TypeAdapter(type_).validate_json`` takes, except for what the outcomes name.

    The remaining arguments are those of :func:`workbench.json_schema`, with two other defaults: objects
    hold no members that the type does not list (unless it says ``extra="allow"``), since these would be
    thrown away, and numbers are written without exponents. With ``max_digits`` above 4,300, or ``None``,
    integers may be longer than pydantic and ``json.loads`` read. Functions that validate (``AfterValidator``,
    ``field_validator``, ``model_validator``, ``__post_init__`` …) cannot be carried over. They are listed
    as unsupported in ``grammar.outcomes`` and never raise: the text goes through them when it is parsed.

    Raises what :func:`workbench.json_schema` raises, ``UnsupportedConstraint`` for a type that JSON cannot
    hold, ``WrongType`` for a schema or a
    name, and ``WorkbenchError`` without pydantic or for what it makes no schema of.
    """
    if isinstance(type_, Mapping):
        raise wrong_type(
            "from_type", "a Python type", type_, "workbench.json_schema makes a grammar of a schema"
        )
    if isinstance(type_, str | bytes):
        raise wrong_type("from_type", "a Python type", type_, "pass the type itself, not its name")
    if hasattr(type(type_), "model_fields"):
        raise wrong_type(
            "from_type", "a Python type", type_, f"pass its class, {type(type_).__name__}"
        )
    with needing_pydantic("from_type"):
        from workbench.frontends.pydantic_schema import schema_of

    options |= {"additional_properties": additional_properties, "numbers": numbers}
    grammar = grammar_of(schema_of(type_), on_unsupported, options)
    return replace(grammar, kind="python_type")


@contextmanager
def needing_pydantic(who: str) -> Iterator[None]:
    """Say what to install where an import inside finds no pydantic. Raises ``WorkbenchError``."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pydantic", "pydantic_core"):
            raise
        raise WorkbenchError(
            f"{who} needs pydantic 2: pip install 'grammar-workbench[types]'"
        ) from error


def grammar_of(narrowed: Narrowed, on_unsupported: str, options: dict[str, Any]) -> Grammar:
    """The grammar of a narrowed schema, with what it does not say among the outcomes.

    Raises as :func:`workbench.json_schema` does.
    """
    schema, notes, sets = narrowed
    loose: list[Outcome] = []
    if sets:
        # Sets take repeated items: where these cannot be kept out, nothing is lost.
        found = json_schema(schema, on_unsupported="report", **options)
        refused = {o.pointer for o in found.outcomes if o.status == "unsupported"}
        for pointer, part in sets.items():
            if f"{pointer}/uniqueItems" in refused or pointer in refused:
                del part["uniqueItems"]
                detail = "items may be repeated: a set keeps each once"
                loose.append(Outcome(pointer, "uniqueItems", "annotation", detail))
    grammar = json_schema(schema, on_unsupported=on_unsupported, **options)
    return replace(grammar, outcomes=(*grammar.outcomes, *loose, *uncarried(notes)))


def uncarried(notes: Iterable[tuple[str, str]]) -> tuple[Outcome, ...]:
    """What validators ask that no grammar has."""
    return tuple(
        Outcome(pointer, "validator", "unsupported", f"{text} is not part of the grammar")
        for pointer, text in notes
    )
