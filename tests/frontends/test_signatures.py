"""Signatures of functions: what is read of them, against ``inspect`` and pydantic."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired

import jsonschema
import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict, Unpack

from workbench.errors import UnsupportedConstraint, WorkbenchError, WrongType
from workbench.frontends.signatures import Signature, read_signature


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


@dataclasses.dataclass
class Place:
    lat: float
    near: list[Place] = dataclasses.field(default_factory=list)


class Order(BaseModel):
    """An order."""

    id: Annotated[int, Field(gt=0)]
    to: Place | None = None


class Extra(TypedDict):
    unit: Unit
    days: NotRequired[int]


def everything(
    first: int, /, second: Unit, *rest: Place, third: Literal["x", 3] = "x", **others: bool
) -> None:
    """Do everything.

    At once.
    """


def unpacked(city: str, **extra: Unpack[Extra]) -> None: ...


def constrained(low: int = Field(gt=3), high: int = Field(9, lt=10)) -> None: ...


def bare(x, y=2):  # type: ignore[no-untyped-def]
    return x, y


async def later(text: str | None = None) -> None: ...


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


class Tool:
    """A tool."""

    def __init__(self, unit: Unit = Unit.C) -> None: ...
    def method(self, x: int) -> None: ...
    @classmethod
    def of_class(cls, x: int) -> None: ...
    @staticmethod
    def static(x: int) -> None: ...
    def __call__(self, z: Place) -> None:
        """Call it."""


def kinds(signature: Signature) -> list[tuple[str, str, bool]]:
    return [(one.name, one.kind, one.required) for one in signature.parameters]


EITHER_X = [("x", "either", True)]
READ: list[tuple[Any, str, str, list[tuple[str, str, bool]]]] = [
    (
        everything,
        "everything",
        "Do everything.\n\nAt once.",
        [
            ("first", "positional", True),
            ("second", "either", True),
            ("rest", "rest", False),
            ("third", "keyword", False),
            ("others", "others", False),
        ],
    ),
    (
        unpacked,
        "unpacked",
        "",
        [("city", "either", True), ("unit", "keyword", True), ("days", "keyword", False)],
    ),
    (constrained, "constrained", "", [("low", "either", True), ("high", "either", False)]),
    (bare, "bare", "", [("x", "either", True), ("y", "either", False)]),
    (later, "later", "", [("text", "either", False)]),
    (wrapped(later), "later", "", [("text", "either", False)]),
    (Tool, "Tool", "A tool.", [("unit", "either", False)]),
    (Tool().method, "method", "", EITHER_X),
    (Tool.of_class, "of_class", "", EITHER_X),
    (Tool.static, "static", "", EITHER_X),
    (Tool(), "Tool", "Call it.", [("z", "either", True)]),
    (functools.partial(bare, 1), "bare", "", [("y", "either", False)]),
    (functools.partial(bare, x=1), "bare", "", [("x", "keyword", False), ("y", "keyword", False)]),
    (Place, "Place", "", [("lat", "either", True), ("near", "either", False)]),
    (Order, "Order", "An order.", [("id", "keyword", True), ("to", "keyword", False)]),
    (lambda x: x, "<lambda>", "", EITHER_X),
]


@pytest.mark.parametrize(("function", "name", "text", "wanted"), READ, ids=[r[1] for r in READ])
def test_what_is_read(
    function: Any, name: str, text: str, wanted: list[tuple[str, str, bool]]
) -> None:
    read = read_signature(function)
    assert (read.name, read.description) == (name, text)
    assert kinds(read) == wanted
    jsonschema.Draft202012Validator.check_schema(read.schema)


def takes(function: Any, arguments: dict[str, Any]) -> bool:
    schema = read_signature(function).schema
    return bool(jsonschema.Draft202012Validator(schema).is_valid(arguments))


def test_the_schema_of_arguments_by_name() -> None:
    given = {"first": 1, "second": "celsius"}
    assert takes(everything, given)
    assert takes(everything, given | {"rest": [{"lat": 1.5, "near": [{"lat": 0}]}], "third": 3})
    assert takes(everything, given | {"another": True})
    assert not takes(everything, given | {"another": 1})
    assert not takes(everything, given | {"rest": [{"near": []}]})
    assert not takes(everything, {"first": 1})
    assert not takes(everything, {"first": 1, "second": "kelvin"})
    assert takes(unpacked, {"city": "a", "unit": "fahrenheit"})
    assert not takes(unpacked, {"city": "a", "days": 3})
    assert takes(constrained, {"low": 4}) and not takes(constrained, {"low": 3})
    assert not takes(constrained, {"low": 4, "high": 10})
    assert takes(bare, {"x": {"any": [None]}}) and not takes(bare, {"x": 1, "z": 1})


def test_parameters_of_other_names_may_have_the_name_of_a_member() -> None:
    def twice(x: int, **x_: int) -> None: ...
    def stars(*args: int, **kwargs: str) -> None: ...

    assert takes(twice, {"x": 1, "x_": 2})
    assert takes(stars, {"args": [1], "kwargs": "text"})
    assert not takes(stars, {"args": [1], "kwargs": 1})


def test_defaults_are_told() -> None:
    members = read_signature(everything).schema["properties"]
    assert members["third"]["default"] == "x" and "default" not in members["second"]
    assert read_signature(bare).schema["properties"]["y"] == {"default": 2}


def test_a_name_of_ones_own() -> None:
    assert read_signature(lambda x: x, name="identity").name == "identity"


def unknown(x: NotThere) -> None: ...  # type: ignore[name-defined] # noqa: F821
def no_json(x: Callable[[int], int]) -> None: ...


@pytest.mark.parametrize(
    ("function", "error", "match"),
    [
        (3, WrongType, "takes functions, not an int"),
        ("later", WrongType, "not its name"),
        ({"type": "object"}, WrongType, "json_schema"),
        (list[int], WrongType, "the type"),
        (min, WorkbenchError, "min has no signature"),
        (math.hypot, WorkbenchError, "hypot has no signature"),
        (unknown, WorkbenchError, "'NotThere' of 'x' in unknown.*top of the module"),
        (no_json, UnsupportedConstraint, "'x' of no_json"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_has_no_signature(function: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        read_signature(function)
