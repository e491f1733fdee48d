"""What the signature of a function says: its name, what it is for, its parameters, their types as a JSON Schema.

Functions, methods, classes, ``functools.partial``, coroutines, and what ``functools.wraps`` stands around: whatever
``inspect.signature`` reads. Annotations that are texts are looked up where the function was written.

>>> def weather(city: str, /, *, days: int = 1) -> str:
...     "Tell the weather."
>>> read = read_signature(weather)
>>> read.name, read.description, [(one.name, one.kind, one.required) for one in read.parameters]
('weather', 'Tell the weather.', [('city', 'positional', True), ('days', 'keyword', False)])
>>> read.schema["required"], read.schema["properties"]["days"]
(['city'], {'type': 'integer', 'default': 1})
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from workbench.errors import WorkbenchError
from workbench.frontends.python_types import needing_pydantic
from workbench.inputs import is_python_type, wrong_type

if TYPE_CHECKING:
    from workbench.frontends.pydantic_schema import Narrowed

__all__ = ["Parameter", "Signature", "read_signature"]

#: How arguments are passed: by position alone, in either way, by name alone, the rest by position, by other names.
Kind = Literal["positional", "either", "keyword", "rest", "others"]

_KINDS: dict[Any, Kind] = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "either",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.VAR_KEYWORD: "others",
}

#: What stands around the type of a key of a ``TypedDict``.
_MARKS = ("Required", "NotRequired", "ReadOnly")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: ``annotation`` is its type, ``Any`` for none, and of each value where there may be more."""

    name: str
    kind: Kind
    annotation: Any
    required: bool
    #: what it is without an argument; ``inspect.Parameter.empty`` for none
    default: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Signature:
    """What is read of a function; ``schema`` is the JSON Schema of an object of its arguments by name.

    In it ``*rest`` is an array under its name, and ``**others`` are members of other names. ``narrowed`` has what
    the schema does not say beside it.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    function: Callable[..., Any]
    narrowed: Narrowed = field(repr=False, compare=False)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return self.narrowed[0]


def read_signature(function: Any, *, name: str | None = None, who: str = "calls") -> Signature:
    """Read the signature of a function; ``name`` stands for its own, ``who`` asks, for errors.

    Raises ``WrongType`` for what cannot be called, ``WorkbenchError`` for a builtin without a signature, for an
    annotation that names what is not there, and without pydantic, ``UnsupportedConstraint`` for a type that JSON
    cannot hold.
    """
    if not callable(function) or (is_python_type(function) and not isinstance(function, type)):
        instead = ""
        if isinstance(function, Mapping):
            instead = "workbench.json_schema makes a grammar of a schema"
        elif isinstance(function, str | bytes):
            instead = "pass the function itself, not its name"
        raise wrong_type(who, "functions", function, instead)
    called = _name_of(function) if name is None else name
    parameters = _parameters(function, called)
    return Signature(
        called,
        _description(function),
        parameters,
        function,
        arguments_schema(parameters, called, who),
    )


def arguments_schema(
    parameters: tuple[Parameter, ...], called: str, who: str, *, python: bool = False
) -> Narrowed:
    """The schema of an object of arguments; ``python`` as in ``schema_of_members``.

    Raises as :func:`read_signature` does.
    """
    with needing_pydantic(who):
        from workbench.frontends.pydantic_schema import schema_of_members

        types = {_key(one): _type(one, python) for one in parameters}
    schema, notes, sets = schema_of_members(types, f"{called}()", python=python)
    rest = next((one for one in parameters if one.kind == "others"), None)
    schema["required"] = [one.name for one in parameters if one.required]
    schema["additionalProperties"] = False
    if rest is not None:
        old = f"#/properties/{_key(rest)}"
        schema["additionalProperties"] = schema["properties"].pop(_key(rest)) or True

        def moved(pointer: str) -> str:
            inside = pointer == old or pointer.startswith(old + "/")
            return "#/additionalProperties" + pointer[len(old) :] if inside else pointer

        notes = [(moved(pointer), text) for pointer, text in notes]
        sets = {moved(pointer): part for pointer, part in sets.items()}
    return schema, notes, sets


def _key(parameter: Parameter) -> str:
    """Under which name a parameter is asked about: ``**others`` may be called as a member is."""
    return f"**{parameter.name}" if parameter.kind == "others" else parameter.name


def _type(parameter: Parameter, python: bool) -> Any:
    from pydantic import Field

    if parameter.kind == "rest":
        return list[parameter.annotation]  # type: ignore[name-defined]
    if parameter.default is inspect.Parameter.empty or python:
        return parameter.annotation
    return Annotated[parameter.annotation, Field(default=parameter.default)]


def _parameters(function: Callable[..., Any], called: str) -> tuple[Parameter, ...]:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise WorkbenchError(
            f"{called} has no signature that Python can read: write a function around it, with its "
            "parameters and their types"
        ) from error
    hints = _hints(function)
    found: list[Parameter] = []
    for one in signature.parameters.values():
        annotation = one.annotation
        if annotation is inspect.Parameter.empty:
            annotation = Any
        elif isinstance(annotation, str) or one.name in hints:
            annotation = _resolved(one.name, annotation, hints, function, called)
        found += _read(one, annotation)
    return tuple(found)


def _read(one: inspect.Parameter, annotation: Any) -> list[Parameter]:
    """A parameter as it was found; the keys of ``**others: Unpack[TypedDict]`` are parameters each."""
    kind, default = _KINDS[one.kind], one.default
    if kind == "others" and _is_unpacked(annotation):
        return _unpacked(typing.get_args(annotation)[0])
    required = default is inspect.Parameter.empty and kind not in ("rest", "others")
    if type(default).__module__ == "pydantic.fields" and hasattr(default, "is_required"):
        # what pydantic's own functions take for a default: ``days: int = Field(3, gt=0)``
        annotation = Annotated[annotation, default]
        required = default.is_required()
        default = inspect.Parameter.empty
    return [Parameter(one.name, kind, annotation, required, default)]


def _is_unpacked(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    return getattr(origin, "__name__", getattr(origin, "_name", "")) == "Unpack"


def _unpacked(members: Any) -> list[Parameter]:
    hints = typing.get_type_hints(members, include_extras=True)
    found: list[Parameter] = []
    for name, hint in hints.items():
        needed = name in members.__required_keys__
        while (mark := getattr(typing.get_origin(hint), "_name", None)) in _MARKS:
            # annotations that are texts hide these from the class itself
            needed = mark == "Required" or (needed and mark != "NotRequired")
            hint = typing.get_args(hint)[0]
        found.append(Parameter(name, "keyword", hint, needed))
    return found


def _inner(function: Any) -> Any:
    """The function that was written, in what was made of it."""
    while True:
        if isinstance(function, functools.partial | functools.partialmethod):
            function = function.func
        elif isinstance(function, type):
            own = inspect.getattr_static(function, "__init__")
            return own if own is not object.__init__ else function.__new__
        elif hasattr(function, "__wrapped__"):
            function = inspect.unwrap(function)
        elif inspect.isroutine(function):
            return getattr(function, "__func__", function)
        else:
            function = type(function).__call__


def _hints(function: Any) -> dict[str, Any]:
    """The annotations with what their texts mean; none where a text means nothing."""
    try:
        return typing.get_type_hints(_inner(function), include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _resolved(
    name: str, annotation: Any, hints: Mapping[str, Any], function: Any, called: str
) -> Any:
    if name in hints and (isinstance(annotation, str) or not isinstance(function, type)):
        return hints[name]
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, getattr(_inner(function), "__globals__", {}))
    except Exception as error:
        raise WorkbenchError(
            f"the type {annotation!r} of {name!r} in {called}() is not known: {error}. Define what it "
            "names at the top of the module, or annotate with the type itself"
        ) from error


def _name_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _description(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        own = function.__doc__ if "__doc__" in vars(function) else None
        # what ``dataclass`` writes is the signature again
        return (
            "" if own is None or own.startswith(f"{function.__name__}(") else inspect.cleandoc(own)
        )
    if not inspect.isroutine(function):
        function = type(function).__call__
    return inspect.getdoc(function) or ""
