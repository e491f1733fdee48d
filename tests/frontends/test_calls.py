"""Calls of functions: what is walked out of their grammars can be made, by ``ast``, ``inspect`` and pydantic."""

from __future__ import annotations

import ast
import dataclasses
import datetime as dt
import enum
import functools
import inspect
import json
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import BaseModel, Field, TypeAdapter, validate_call
from typing_extensions import TypedDict, Unpack

import workbench as wb
from tests.frontends import test_python_types as types
from tests.frontends.walks import small_vocabulary
from workbench.benchmarks.generated_texts import walked_text
from workbench.vocabulary import Vocabulary

any_: Any = wb  # the functions, without their types


class Colour(enum.Enum):
    RED = "red"
    GREEN = "gr\"ün's"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Extra(TypedDict, total=False):
    unit: Colour
    days: int


@dataclasses.dataclass
class Place:
    lat: float
    near: list[Place] = dataclasses.field(default_factory=list)


class Order(BaseModel):
    id: Annotated[int, Field(gt=0)]
    to: Place | None = None
    tags: dict[str, bool] = {}


def weather(city: str, days: int = 1, *, unit: Literal["C", "F"] = "C") -> None: ...
def nothing() -> None: ...
def bare(x, y=2): ...  # type: ignore[no-untyped-def]
def two_positional(a: int, b: bool = True, /, c: int = 3) -> None: ...
def optional_positional(a: int = 1, b: int = 2, /, *, c: int) -> None: ...
def prefixes(a: int, ab: int = 1, abc: int = 2, b: int = 3) -> None: ...
def rest(a: Level, *more: Colour) -> None: ...
def rest_and_named(*more: float, last: None = None) -> None: ...
def others(a: int, **more: bool) -> None: ...
def only_others(**more: Place) -> None: ...
def everything(
    a: int, /, b: Colour, *rest: Place, c: Literal["x", 3, None, True] = "x", **d: bool
) -> None: ...
def unpacked(city: str, **extra: Unpack[Extra]) -> None: ...
def order(it: Order, when: dt.datetime | None = None) -> None: ...
def collections(
    a: Annotated[dict[str, int], Field(min_length=2)],
    b: tuple[int, ...] = (),
    c: tuple[int, str] | None = None,
    d: Annotated[set[str], Field(min_length=2, max_length=3)] = frozenset(),  # type: ignore[assignment]
    e: Annotated[dict[Literal["p", "pq"], int], Field(min_length=1)] = {},  # noqa: B006
    f: Annotated[set[Level], Field(min_length=2)] = frozenset(),  # type: ignore[assignment]
    g: Annotated[dict[Annotated[str, Field(pattern="^[ab]?$")], int], Field(min_length=3)] = {},  # noqa: B006
) -> None: ...
def texts(
    a: Annotated[str, Field(pattern=r"^[\"'\\\n]{1,2}é?$")],
    b: Annotated[str, Field(max_length=2)] = "",
    c: Annotated[bytes, Field(min_length=1, max_length=2)] = b"",
) -> None: ...
def unicode_name(größe: int, ª: int = 1) -> None: ...
async def later(text: str | None = None) -> None: ...


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


class Tool:
    def __init__(self, unit: Colour = Colour.RED) -> None: ...
    def method(self, x: int) -> None: ...
    @classmethod
    def of_class(cls, x: int) -> None: ...
    def __call__(self, z: Place) -> None: ...


FUNCTIONS: list[Any] = [
    *(weather, nothing, bare, two_positional, optional_positional, prefixes, rest),
    *(rest_and_named, others, only_others, everything, unpacked, order, collections, texts),
    *(unicode_name, later, wrapped(prefixes), Tool, Tool().method, Tool.of_class, Tool()),
    functools.partial(prefixes, 1, abc=5),
]


@pytest.fixture(scope="module")
def small() -> Vocabulary:
    return small_vocabulary()


def named(value: Any) -> str:
    return str(getattr(value, "__name__", type(value).__name__))


def arguments_of(node: ast.expr) -> tuple[list[Any], dict[str, Any]]:
    """What a call passes, each a literal."""
    assert isinstance(node, ast.Call)
    by_name = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    assert len(by_name) == len(node.keywords)
    return [ast.literal_eval(one) for one in node.args], by_name


def check_call(function: Any, node: ast.expr) -> None:
    """The call can be made, and its arguments are of their types."""
    args, kwargs = arguments_of(node)
    inspect.signature(function).bind(*args, **kwargs)
    if not isinstance(function, type | functools.partial) and inspect.isroutine(function):
        called = validate_call(inspect.unwrap(function))(*args, **kwargs)
        if inspect.iscoroutine(called):
            called.close()


def walks(grammar: wb.Grammar, small: Vocabulary, count: int = 24) -> list[str]:
    compiled = wb.compile(grammar, small)
    steps = (0, 8, 25, 60)
    return [walked_text(compiled.matcher(), random.Random(n), steps[n % 4]) for n in range(count)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=named)
def test_every_call_in_python_can_be_made(small: Vocabulary, function: Any) -> None:
    grammar = wb.calls([function])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an escape that Python does not know
        for text in walks(grammar, small):
            node = ast.parse(text, mode="eval").body
            assert isinstance(node, ast.Call) and ast.unparse(node.func) in text
            check_call(function, node)


@pytest.mark.parametrize("type_", types.TYPES, ids=types.named)
def test_literals_of_every_type(small: Vocabulary, type_: Any) -> None:
    if inspect.isfunction(type_):
        pytest.skip("a function is called itself")

    def f(x: Any) -> None: ...

    f.__annotations__["x"] = type_
    adapter: TypeAdapter[Any] = TypeAdapter(type_)
    for text in walks(wb.calls([f]), small, 12):
        args, kwargs = arguments_of(ast.parse(text, mode="eval").body)
        (value,) = [*args, *kwargs.values()]
        adapter.validate_python(value)


def by_name(function: Any, arguments: dict[str, Any]) -> None:
    """Arguments by name fit the parameters one by one."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    known = {one.name for one in parameters if one.kind != one.VAR_KEYWORD}
    for one in parameters:
        type_: Any = Any if one.annotation is one.empty else one.annotation
        adapter: TypeAdapter[Any] = TypeAdapter(
            list[type_] if one.kind == one.VAR_POSITIONAL else type_
        )
        if one.kind == one.VAR_KEYWORD:
            for name in arguments.keys() - known:
                adapter.validate_json(json.dumps(arguments[name]))
        elif one.name in arguments:
            adapter.validate_json(json.dumps(arguments[one.name]))
        else:
            assert one.default is not one.empty or one.kind == one.VAR_POSITIONAL, one.name


@pytest.mark.parametrize("function", FUNCTIONS, ids=named)
def test_every_call_in_json_fits(small: Vocabulary, function: Any) -> None:
    for text in walks(wb.calls([function], "json"), small):
        call = json.loads(text)
        assert call.keys() == {"name", "arguments"} and call["name"]
        if function is not unpacked:
            by_name(function, call["arguments"])
        else:
            TypeAdapter(Extra).validate_python(
                {k: v for k, v in call["arguments"].items() if k != "city"}
            )


def accepts(grammar: wb.Grammar, text: str) -> bool:
    return wb.match(grammar, text) is not None


YES = [
    (weather, "weather('Oslo')"),
    (weather, 'weather("Oslo", 3)'),
    (weather, 'weather("Oslo",3)'),
    (weather, 'weather(days=3, unit="F", city="Oslo")'),
    (nothing, "nothing()"),
    (bare, "bare([1, {'a': (None,)}], y={1: -2.5})"),
    (two_positional, "two_positional(1, False, 2)"),
    (two_positional, "two_positional(1, c=2)"),
    (optional_positional, "optional_positional(c=1)"),
    (optional_positional, "optional_positional(1, c=1)"),
    (prefixes, "prefixes(abc=1, ab=2, a=3, b=4)"),
    (rest, "rest(2, 'red', \"red\")"),
    (others, "others(a=1, x_1=True, y=False)"),
    (everything, "everything(1, 'red', {\"lat\": 1, 'near': []}, c=None, z=True)"),
    (order, "order({'id': 1, 'to': None, 'tags': {'a': True, \"b\": False}})"),
    (collections, "collections({'a': 1, 'b': 2}, (1,), c=(2, 'x'), d={'a', 'b'})"),
    (texts, r"texts('\n\x27', b='\u00e9\U0001F600', c=b'\xff\n')"),
    (unicode_name, "unicode_name(größe=1)"),
    (later, "later(text=None)"),
]
NO = [
    (weather, "weather()"),
    (weather, "weather('Oslo', city='Oslo')"),
    (weather, "weather(city='Oslo', city='Oslo')"),
    (weather, "weather(days=1, 'Oslo')"),
    (weather, "weather('Oslo', 1, 'C')"),
    (weather, "weather('Oslo',)"),
    (weather, "weather('Oslo', 1.5)"),
    (weather, "weather('Oslo', 01)"),
    (weather, "weather('Oslo', unit='K')"),
    (nothing, "nothing(1)"),
    (two_positional, "two_positional(a=1)"),
    (two_positional, "two_positional(1, True, 2, c=3)"),
    (optional_positional, "optional_positional(1, 2)"),
    (rest, "rest(more='red', a=1)"),
    (others, "others(1, a=2)"),
    (others, "others(1, if=True)"),
    (others, "others(1, x=True, x=True)"),
    (others, "others(1, 2x=True)"),
    (collections, "collections({'a': 1, \"a\": 2})"),
    (collections, "collections({'a': 1})"),
    (texts, "texts('\n')"),
    (texts, "texts('\\n\\n\\n')"),
    (unicode_name, "unicode_name(1, ª=1)"),  # Python reads the name as "a"
]


@pytest.mark.parametrize(
    ("function", "text"),
    YES,
    ids=lambda value: (value if isinstance(value, str) else named(value))[:40],
)
def test_calls_that_are_there(function: Any, text: str) -> None:
    check_call(function, ast.parse(text, mode="eval").body)
    assert accepts(wb.calls([function]), text)


@pytest.mark.parametrize(
    ("function", "text"),
    NO,
    ids=lambda value: (value if isinstance(value, str) else named(value))[:40],
)
def test_calls_that_are_not_there(function: Any, text: str) -> None:
    assert not accepts(wb.calls([function]), text)


PARAMETER = st.tuples(st.sampled_from(["a", "ab", "abc", "b", "ba"]), st.booleans())
PARAMETERS = st.lists(PARAMETER, max_size=4, unique_by=lambda one: one[0])
ARGUMENTS = st.lists(st.sampled_from(["", "a", "ab", "abc", "b", "ba", "c", "args"]), max_size=5)


@given(PARAMETERS, st.integers(0, 4), st.integers(0, 4), st.booleans(), st.booleans(), ARGUMENTS)
@settings(max_examples=400, deadline=None)
def test_calls_of_random_signatures(
    parameters: list[tuple[str, bool]],
    first: int,
    second: int,
    rest: bool,
    others: bool,
    arguments: list[str],
) -> None:
    """A call is there just when Python can make it: ``arguments`` are by name, or by position with an empty one."""
    first, second = sorted((min(first, len(parameters)), min(second, len(parameters))))
    # Python wants parameters without a default before those with one
    placed = sorted(parameters[:second], key=lambda one: one[1])
    written = [
        f"{name}: int" + " = 0" * default for name, default in [*placed, *parameters[second:]]
    ]
    if rest:
        written.insert(second, "*args: int")
    elif second < len(written):
        written.insert(second, "*")
    if first:
        written.insert(first, "/")
    if others:
        written.append("**kwargs: int")
    names: dict[str, Any] = {}
    exec(f"def f({', '.join(written)}): pass", names)
    text = f"f({', '.join(f'{name}=1' if name else '1' for name in arguments)})"
    try:
        node = ast.parse(text, mode="eval").body
        check_call(names["f"], node)
        # versions of ``inspect`` differ about other arguments with the name of one by position alone
        wanted = not {name for name, _ in placed[:first]} & set(arguments)
    except (SyntaxError, TypeError, AssertionError):
        wanted = False
    assert accepts(wb.calls([names["f"]]), text) == wanted


def test_several_functions_and_their_captures() -> None:
    grammar = wb.calls([weather, nothing])
    found = wb.match(grammar, "weather('Oslo', days=2)")
    assert found is not None
    assert [(one.name, one.text) for one in found.captures] == [
        ("call", "weather('Oslo', days=2)"),
        ("name", "weather"),
        ("arguments", "'Oslo', days=2"),
    ]
    found = wb.match(wb.calls([weather, nothing], "json"), '{"name": "nothing", "arguments": {}}')
    assert found is not None
    assert [(one.name, one.text) for one in found.captures][1:] == [
        ("name", "nothing"),
        ("arguments", "{}"),
    ]


@pytest.mark.parametrize("syntax", ["python", "json"])
def test_lists_of_calls(small: Vocabulary, syntax: Any) -> None:
    several: list[Any] = [weather, others, nothing]
    for text in walks(wb.calls(several, syntax, parallel=True, most=3), small):
        if syntax == "json":
            listed = json.loads(text)
            assert {one["name"] for one in listed} <= {"weather", "others", "nothing"}
        else:
            node = ast.parse(text, mode="eval").body
            assert isinstance(node, ast.List)
            listed = node.elts
            for one in listed:
                assert isinstance(one, ast.Call)
                check_call(globals()[ast.unparse(one.func)], one)
        assert 1 <= len(listed) <= 3
    lines = wb.calls(several, syntax, parallel=True, separator="\n")
    alone = "nothing()" if syntax == "python" else '{"name": "nothing", "arguments": {}}'
    found = wb.match(lines, f"{alone}\n{alone}")
    assert found is not None and len(found.named("call")) == 2
    assert not accepts(lines, "") and not accepts(lines, f"{alone}\n")


def test_names_of_ones_own() -> None:
    tools = {"weather.now": weather, "identity": lambda x: x}
    assert accepts(wb.calls(tools), "weather.now('Oslo')") and accepts(
        wb.calls(tools), "identity(1)"
    )
    hostile = 'a"b\\c\n{}é'
    call = wb.calls({hostile: nothing}, "json", whitespace="compact")
    text = json.dumps({"name": hostile, "arguments": {}}, separators=(",", ":"), ensure_ascii=False)
    assert accepts(call, text)


def test_what_validates_is_named() -> None:
    def checked(x: types.Checked) -> None: ...

    for grammar in (wb.calls([checked]), wb.calls([checked], "json")):
        assert any("AfterValidator shout" in one.detail for one in grammar.outcomes)


def test_a_literal_of_members_has_no_form_in_python() -> None:
    def member(x: Literal[Colour.RED]) -> None: ...

    with pytest.raises(wb.UnsupportedConstraint, match="members of an Enum"):
        wb.calls([member])
    assert accepts(wb.calls([member], "json"), '{"name": "member", "arguments": {"x": "red"}}')


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: any_.calls(weather), wb.WrongType, "put it in a list"),
    (lambda: any_.calls("weather"), wb.WrongType, "a list of functions"),
    (lambda: any_.calls([3]), wb.WrongType, "takes functions, not an int"),
    (lambda: any_.calls({3: weather}), wb.WrongType, "names of functions as texts"),
    (lambda: wb.calls([]), ValueError, "at least one function"),
    (lambda: wb.calls([weather, weather]), ValueError, "two functions are called 'weather'"),
    (lambda: wb.calls([lambda x: x]), ValueError, "Python cannot call '<lambda>'"),
    (lambda: wb.calls({"if": weather}), ValueError, "Python cannot call 'if'"),
    (lambda: wb.calls({"a.": weather}), ValueError, "Python cannot call"),
    (lambda: wb.calls([min]), wb.WorkbenchError, "min has no signature"),
    (lambda: any_.calls([weather], "xml"), ValueError, "syntax must be"),
    (lambda: wb.calls([weather], most=2), ValueError, "parallel=True"),
    (lambda: wb.calls([weather], parallel=True, most=0), ValueError, "positive"),
    (lambda: any_.calls([weather], parallel=True, separator=3), wb.WrongType, "separator"),
    (lambda: wb.calls([weather], indent=2), ValueError, "indent is an option for JSON"),
    (lambda: wb.calls([weather], "json", indent=2), ValueError, "not indented"),
    (lambda: wb.calls([weather], on_unsupported="drop"), ValueError, "on_unsupported"),
]


@pytest.mark.parametrize(("act", "error", "match"), WRONG, ids=[row[2] for row in WRONG])
def test_wrong_arguments(act: Callable[[], object], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=re.escape(match)):
        act()


def test_the_examples_of_the_page_work() -> None:
    text = (Path(__file__).parents[2] / "docs" / "calls.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    names: dict[str, Any] = {"__name__": __name__}
    for block in blocks:
        exec(block, names)
