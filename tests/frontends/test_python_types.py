"""Python types: what is walked out of their grammars parses as the type."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import json
import pathlib
import random
import re
import runpy
import subprocess
import sys
import uuid
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import pytest
from pydantic import (
    UUID4,
    AfterValidator,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    FilePath,
    HttpUrl,
    Json,
    NaiveDatetime,
    NegativeFloat,
    PastDate,
    PositiveFloat,
    PositiveInt,
    PostgresDsn,
    RootModel,
    SecretStr,
    StringConstraints,
    Tag,
    TypeAdapter,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

import workbench as wb
from tests.frontends.walks import small_vocabulary
from workbench.benchmarks.generated_texts import walked_text
from workbench.engine import compile
from workbench.errors import UnsupportedConstraint, WorkbenchError
from workbench.vocabulary import Vocabulary

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    GREEN = 'gr"ün'


class Size(enum.IntEnum):
    S = 1
    M = 2


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Address(TypedDict, total=False):
    street: str
    zip: Annotated[str, Field(pattern=r"^\d{5}$")]


@dataclasses.dataclass
class Line:
    sku: Annotated[str, Field(min_length=1, max_length=4)]
    count: Annotated[int, Field(ge=1, le=99)] = 1


class Card(BaseModel):
    kind: Literal["card"]
    number: Annotated[str, Field(pattern="^[0-9]{4}$")]


class Cash(BaseModel):
    kind: Literal["cash", "coins"]
    amount: decimal.Decimal = Field(gt=0, max_digits=5, decimal_places=2)


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: uuid.UUID
    placed: dt.datetime
    lines: list[Line] = Field(min_length=1, max_length=3)
    to: Address | None = None
    pay: Card | Cash = Field(discriminator="kind")
    tags: set[Literal["a", "b"]] = set()
    tint: Colour = Field(Colour.RED, alias="colour")


class Tree(BaseModel):
    value: int
    kids: list[Tree] = []


class Page(BaseModel, Generic[T]):
    items: list[T] = Field(max_length=2)
    next: str | None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    a: bool


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    name: Annotated[str, Field(min_length=3)]


def search(query: str, /, limit: int = 10) -> None: ...
def book(day: dt.date, guests: Annotated[int, Field(gt=0)], *, note: str = "") -> None: ...


TYPES: list[Any] = [
    Order,
    Tree,
    Page[Point],
    Open,
    Stripped,
    Address,
    Line,
    Colour,
    Size,
    book,
    search,
    int,
    float,
    bool,
    bytes,
    None,
    Any,
    dict[str, int],
    dict[int, bool],
    dict[Annotated[int, Field(ge=0)], str],
    dict[float, None],
    dict[bool, int],
    dict[Size, str],
    dict[Colour, str],
    dict[Literal[1, "a", "b"], int],
    dict[Annotated[str, Field(pattern="^x")], int],
    dict[dt.date, Literal[1]],
    set[str],
    set[int],
    frozenset[bool],
    Annotated[frozenset[Size], Field(min_length=2)],
    tuple[int, str, Point],
    tuple[bool, ...],
    Sequence[Literal["x", 3, None, True]],
    PositiveInt,
    PositiveFloat,
    NegativeFloat,
    Annotated[float, Field(lt=1, ge=0.5)],
    Annotated[float, Field(allow_inf_nan=False)],
    Annotated[int, Field(multiple_of=7, gt=-50)],
    Annotated[float, Field(multiple_of=0.25, gt=1)],
    decimal.Decimal,
    Annotated[decimal.Decimal, Field(max_digits=4, decimal_places=2)],
    Annotated[decimal.Decimal, Field(max_digits=4, ge=10)],
    Annotated[decimal.Decimal, Field(decimal_places=3)],
    Annotated[decimal.Decimal, Field(multiple_of=decimal.Decimal("0.5"), lt=100)],
    dt.date,
    dt.time,
    dt.datetime,
    NaiveDatetime,
    dt.timedelta,
    uuid.UUID,
    UUID4,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    AnyUrl,
    HttpUrl,
    PostgresDsn,
    pathlib.Path,
    SecretStr,
    complex,
    RootModel[list[int]],
    Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, pattern="b")],
    Annotated[str, StringConstraints(to_upper=True, pattern=r"^\S+\D\b")],
    Annotated[bytes, Field(min_length=2, max_length=3)],
    Annotated[str, Field(pattern=r"^(?P<year>\d{4})-\w+$")],
]


@pytest.fixture(scope="module")
def small() -> Vocabulary:
    return small_vocabulary()


def named(value: Any) -> str:
    return re.sub(r"\W+", "-", getattr(value, "__name__", "") or str(value))[:60]


@pytest.mark.parametrize("type_", TYPES, ids=named)
def test_whatever_is_walked_out_parses(small: Vocabulary, type_: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(type_)
    grammar = wb.from_type(type_)
    assert grammar.kind == "python_type"
    assert not [outcome for outcome in grammar.outcomes if outcome.status == "unsupported"]
    compiled = compile(grammar, small)
    for seed in range(12):
        steps = (0, 10, 40)[seed % 3]
        adapter.validate_json(walked_text(compiled.matcher(), random.Random(seed), steps))


def accepts(small: Vocabulary, type_: Any, text: str, **options: Any) -> bool:
    matcher = compile(wb.from_type(type_, **options), small).matcher()
    data = text.encode()
    return matcher.accept_tokens(list(data)) == len(data) and matcher.is_accepting


ORDER = {
    "id": "12345678-1234-4234-8234-123456789abc",
    "placed": "2024-02-29T12:30:00.25+01:00",
    "lines": [{"sku": "a", "count": 3}, {"sku": "bb"}],
    "to": {"street": "Rue é", "zip": "12345"},
    "pay": {"kind": "cash", "amount": 12.5},
    "tags": ["a"],
    "colour": "red",
}


def test_the_usual_spelling_of_values_is_there(small: Vocabulary) -> None:
    in_order = {key: ORDER[key] for key in ("id", "placed", "lines", "to", "pay", "tags", "colour")}
    assert accepts(small, Order, json.dumps(in_order))
    assert accepts(small, Tree, '{"value": 1, "kids": [{"value": 2, "kids": []}]}')
    assert accepts(small, book, '{"day": "2024-05-01", "guests": 2, "note": "n"}')
    assert accepts(small, search, '["words", 3]')
    assert accepts(small, HttpUrl, '"https://www.example.com:8080/a/b?q=1#top"')
    assert accepts(small, dt.timedelta, '"P1DT2H30M"')
    assert accepts(small, decimal.Decimal, "12.50") and accepts(small, decimal.Decimal, '"12.50"')


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (HttpUrl, '"ftp://example.com"'),
        (UUID4, '"12345678-1234-1234-8234-123456789abc"'),
        (dict[int, str], '{"x": "y"}'),
        (dt.datetime, '"2020-12-31T23:59:60Z"'),
        (dt.date, '"0000-01-01"'),
        (Order, '{"id": "x"'),
        (Line, '{"sku": "a", "other": 1}'),
        (int, "1e30"),
        (Annotated[float, Field(lt=1)], "0.99999999999999999999"),
    ],
    ids=str,
)
def test_what_would_not_parse_is_left_out(small: Vocabulary, type_: Any, text: str) -> None:
    assert not accepts(small, type_, text)


def test_members_that_are_not_listed_are_an_option(small: Vocabulary) -> None:
    assert accepts(small, Line, '{"sku": "a", "other": 1}', additional_properties=True)
    assert accepts(small, Open, '{"a": true, "other": 1}')
    assert not accepts(small, Open, '{"a": true, "other": "x"}')


def shout(text: str) -> str:
    return text.upper()


class Checked(BaseModel):
    name: Annotated[str, AfterValidator(shout)]
    age: int

    @field_validator("age")
    @classmethod
    def grown_up(cls, value: int) -> int:
        return value

    @model_validator(mode="after")
    def whole(self) -> Checked:
        return self


@dataclasses.dataclass
class Hooked:
    a: int

    def __post_init__(self) -> None: ...


def kind_of(value: Any) -> str:
    return "card"


NOTED: list[tuple[Any, dict[str, str]]] = [
    (
        Checked,
        {
            "#/properties/name": "AfterValidator shout",
            "#/properties/age": "AfterValidator Checked.grown_up",
            "#": "AfterValidator Checked.whole",
        },
    ),
    (list[Checked], {"#/$defs/Checked": "AfterValidator Checked.whole"}),
    (Hooked, {"#": "Hooked.__post_init__"}),
    (
        dict[str, Annotated[int, BeforeValidator(int)]],
        {"#/additionalProperties": "BeforeValidator"},
    ),
    (PastDate, {"#": "now_op past"}),
    (Annotated[dt.date, Field(ge=dt.date(2020, 1, 1))], {"#": "ge 2020-01-01"}),
    (list[Json[int]], {"#/items": "that the text is JSON"}),
    (FilePath, {"#": "that the file exists"}),
    (re.Pattern[str], {"#": "regular expression"}),
    (
        Annotated[
            Annotated[Card, Tag("card")] | Annotated[Cash, Tag("cash")], Discriminator(kind_of)
        ],
        {"#": "the choice by kind_of"},
    ),
    (dict[Annotated[int, Field(gt=5)], str], {"#": "limits of keys"}),
]


@pytest.mark.parametrize(("type_", "wanted"), NOTED, ids=[str(wanted) for _, wanted in NOTED])
def test_validators_are_named(type_: Any, wanted: dict[str, str]) -> None:
    outcomes = wb.from_type(type_).outcomes
    found = {o.pointer: o.detail for o in outcomes if o.status == "unsupported"}
    for pointer, text in wanted.items():
        assert text in found[pointer]


def test_a_set_that_may_repeat_its_items_says_so() -> None:
    details = [o.detail for o in wb.from_type(set[str]).outcomes if o.keyword == "uniqueItems"]
    assert len(details) == 1


def test_types_without_a_json_form() -> None:
    with pytest.raises(UnsupportedConstraint, match="no JSON"):
        wb.from_type(Callable[[int], int])
    with pytest.raises(WorkbenchError, match="pydantic"):
        wb.from_type(object())


def test_the_example_agrees_with_pydantic(capsys: pytest.CaptureFixture[str]) -> None:
    path = pathlib.Path(__file__).parents[2] / "examples" / "order_from_types.py"
    runpy.run_path(str(path), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["True"] * 2, ["False"] * 2, ["False"] * 2]


def test_pydantic_is_not_needed_before(tmp_path: Any) -> None:
    code = (
        "import sys; sys.modules['pydantic'] = None\n"
        "import workbench as wb\n"
        "try: wb.from_type(int)\n"
        "except wb.WorkbenchError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert "pip install" in done.stdout
