"""What kernels can do: the compiled code does what Python does, or is refused with the place and the reason."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from tests.jit.programs import program
from workbench import jit
from workbench.jit import BOOL, Array, Kernels, Kind, Record, Table, View

pytestmark = pytest.mark.skipif(not jit.COMPILED, reason="kernels run as Python")

KINDS: Mapping[str, Kind] = {
    "yes": BOOL,
    "small": Array("uint8"),
    "shorts": Array("uint16"),
    "values": Array("int32"),
    "words": Array("uint32"),
    "longs": Array("int64"),
    "table": Array("int32", 2),
    "pair": Record("a pair", {"left": Array("int32"), "right": Array("int64")}),
    "ctx": Table("a table", {"list": Array("int32"), "limit": jit.INT, "long": Array("int64")}),
}
NUMBERS = count()


class Gone(Exception):
    """Raised by kernels."""


class Pair(NamedTuple):
    left: NDArray[np.int32]
    right: NDArray[np.int64]


def module_of(folder: Path, text: str) -> Any:
    """A module with functions, not compiled."""
    path = folder / f"kernels{next(NUMBERS)}.py"
    head = "from tests.jit.test_language import Gone\nfrom workbench.jit import View\n"
    path.write_text(f"{head}{text}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions_of(module: Any) -> list[Any]:
    return [f for f in vars(module).values() if getattr(f, "__module__", "") == module.__name__]


def compiled(folder: Path, text: str, held: Sequence[str] = ()) -> tuple[Any, dict[str, Any]]:
    """A module with functions, and the same compiled, by name; all of them are for Python."""
    module = module_of(folder, text)
    functions = functions_of(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_KERNELS_DIR", str(folder / "cache"))
        names = [function.__name__ for function in functions]
        kernels = Kernels(module.__name__, [Path(module.__file__)], KINDS, names, held)
        for function in functions:
            kernels.jit(function)
        kernels.finished()
    return module, {function.__name__: jit.entry(function) for function in functions}


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (Gone, KeyError, ZeroDivisionError) as error:
        return type(error)


ARITHMETIC = """
def add(a, b): return a + b
def sub(a, b): return a - b
def times(a, b): return a * b
def floor(a, b): return a // b
def rest(a, b): return a % b
def floor_7(a): return a // 7
def floor_minus_8(a): return a // -8
def rest_16(a): return a % 16
def rest_minus_3(a): return a % -3
def none(a): return a // 0 if a > 3 else a % (3 - 3)
def both(a, b): return a & b
def either(a, b): return a | b
def apart(a, b): return a ^ b
def left(a): return (a & 0xFFFF) << 3
def right(a, b): return a >> (b & 63)
def minus(a): return -a
def inverted(a): return ~a
def least(a, b): return min(a, b, 3)
def most(a, b): return max(a, b)
def chosen(a, b, yes): return a if yes else b
def truth(a, yes): return 1 if a and yes or not a else 0
def chain(a, b, c): return a < b <= c
def differ(a, b, c): return a != b > c
def one_of(a, b): return a in (1, b, -4)
def none_of(a, b): return a not in (1, b, -4)
def is_more(a, b): return (a > b) + (a >= b) * 2 + (a == b) * 4
def bools(a, b, yes): return (a < b) & yes | (a == 3) ^ yes
def logic(a, b, yes): return a < b and yes or a == 7
def truths(a, yes): return yes == (a != 0)
"""
_SMALL = st.integers(-20, 20)
_LARGE = st.integers(-(1 << 31), 1 << 31)


def test_arithmetic_is_pythons(tmp_path: Path) -> None:
    module, made = compiled(tmp_path, ARITHMETIC)

    @settings(max_examples=300, deadline=None)
    @given(st.one_of(_SMALL, _LARGE), st.one_of(_SMALL, _LARGE), _SMALL, st.booleans())
    def check(a: int, b: int, c: int, yes: bool) -> None:
        values = {"a": a, "b": b, "c": c, "yes": yes}
        for name, function in made.items():
            code = getattr(module, name).__code__
            arguments = [values[one] for one in code.co_varnames[: code.co_argcount]]
            expected = outcome(getattr(module, name), *arguments)
            found = outcome(function, *arguments)
            assert found == expected, (name, arguments)
            assert type(found) is type(expected), (name, arguments)

    check()


def test_numbers_of_64_bits_wrap(tmp_path: Path) -> None:
    _, made = compiled(tmp_path, ARITHMETIC)
    least, most = -(1 << 63), (1 << 63) - 1
    assert made["add"](most, 1) == least
    assert made["times"](most, 2) == -2
    assert made["minus"](least) == least
    # 2 ** 63 has no place: it wraps, and stops no process
    assert made["floor"](least, -1) == least
    assert made["rest"](least, -1) == 0
    with pytest.raises(OverflowError):
        made["add"](1 << 63, 0)


ARRAYS = """
def read(small, shorts, values, words, longs, i):
    return small[i], shorts[i], values[i], words[i], longs[i]
def write(small, shorts, values, words, longs, i, a):
    small[i] = a & 255
    shorts[i] = a & 65535
    values[i] = a & 0x7FFFFFFF
    words[i] = a & 0xFFFFFFFF
    longs[i] = a
def bits(words, i, a):
    words[i] |= 1 << (a & 31)
    words[i] ^= 3
    words[i] = int(words[i]) & ~(1 << 5) & 0xFFFFFFFF
def last(values): return values[-1] + values[-2]
def place(longs):
    longs[0] += 1
    return longs[0] & 3
def once(longs):
    longs[place(longs)] += 10
    longs[place(longs)] = longs[place(longs)]
def cell(table, i, j):
    table[i, j] += 1
    return table[i, j] * 100 + table[1, 0] + table[-1, j] + table.shape[0] * 10 + table.shape[1] + table.size
def total(values):
    found = 0
    for i in range(values.size):
        found += values[i] * (i + 1)
    return found
def part(values, i, j): return total(values[i:j])
def tail(values, i): return total(values[i:])
def head(values, j): return total(values[:j])
def whole(values): return total(values[:])
def of_pair(pair, i):
    left, right = pair.left, pair.right
    left[i] = right[i] + 1
    return total(pair.left), right.size
"""


def arrays() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "small": rng.integers(0, 256, 6, dtype=np.uint8),
        "shorts": rng.integers(0, 65536, 6, dtype=np.uint16),
        "values": rng.integers(-(1 << 20), 1 << 20, 6, dtype=np.int32),
        "words": rng.integers(0, 1 << 32, 6, dtype=np.uint32),
        "longs": rng.integers(-(1 << 62), 1 << 62, 6, dtype=np.int64),
        "table": rng.integers(-100, 100, (3, 4), dtype=np.int32),
        "pair": Pair(np.arange(6, dtype=np.int32), np.arange(6, dtype=np.int64) << 20),
    }


def test_arrays_are_numpys(tmp_path: Path) -> None:
    """Read, written and cut as Python does, with indices below zero; truncated where elements are smaller."""
    module, made = compiled(tmp_path, ARRAYS)

    @settings(max_examples=100, deadline=None)
    @given(st.integers(-6, 5), st.integers(-9, 9), st.integers(0, (1 << 32) - 1))
    def check(i: int, j: int, a: int) -> None:
        for name, function in made.items():
            code = getattr(module, name).__code__
            names = code.co_varnames[: code.co_argcount]
            ours, theirs = arrays(), arrays()
            row, column = (i % 3, j % 4) if name == "cell" else (i, j)
            numbers = {"i": row, "j": column, "a": a}
            found = function(*(ours.get(n, numbers.get(n)) for n in names))
            expected = getattr(module, name)(*(theirs.get(n, numbers.get(n)) for n in names))
            assert found == expected, (name, i, j, a)
            for key, array in ours.items():
                for one, other in zip(array, theirs[key], strict=True):
                    assert np.array_equal(one, other), (name, key, i, j, a)

    check()


FLOW = """
STEP = -2
def loops(a, b, c):
    found = 0
    for i in range(a):
        if i == b:
            continue
        if i == 9:
            break
        for j in range(i, c):
            found = found * 3 + j
            if found > 10000:
                break
        i += 5
        found += i
    return found
def steps(a, b):
    found = 0
    for i in range(a, b, 3):
        found = found * 5 + i
    for i in range(b, a, -2):
        found = found * 7 + i
    for i in range(b, -1, -1):
        found += i
    return found & 0xFFFFFFFF
def spins(a):
    n = 0
    while True:
        n += 1
        if n > 5:
            if n > a:
                return n
            a -= 2
        elif n == a:
            break
    while n > 0 and n != 3:
        n -= 1
    return -n
def listed(a, b):
    found = 0
    for x in (3, a, b, a + b):
        if x < 0:
            continue
        found = found * 2 + x
        if found > 60:
            break
    return found
def widened(a, yes):
    x = yes
    if a > 3:
        x = a
    y = x
    return y
def swapped(a, b):
    a, b = b, a
    x = y = a - b
    return a, x, y > 0
def stops(a, b):
    if a == b:
        raise Gone
    a //= b
    return a
def passes_on(a, b):
    x = stops(a, b) + 1
    a, y, yes = swapped(x, stops(b, a))
    return a, x, y, yes
def nothing(a):
    if a > 3:
        return
    a = 5
def goes_below(a):
    found = 0
    for i in range(3, a, STEP):
        found = found * 3 + i // 2
    return found
def finds_none(a):
    if a == 2:
        raise KeyError
    return a
def only_stops(a):
    if a > 2:
        raise Gone
def calls(a):
    nothing(a)
    only_stops(a)
    return 7
def ends(a):
    while True:
        a += 1
        if a > 4:
            return a
"""


@pytest.mark.parametrize("held", [(), ("passes_on", "loops")])
def test_the_flow_is_pythons(tmp_path: Path, held: Sequence[str]) -> None:
    module, made = compiled(tmp_path, FLOW, held)

    @settings(max_examples=300, deadline=None)
    @given(_SMALL, _SMALL, _SMALL, st.booleans())
    def check(a: int, b: int, c: int, yes: bool) -> None:
        values = {"a": a, "b": b, "c": c, "yes": yes}
        for name, function in made.items():
            code = getattr(module, name).__code__
            arguments = [values[one] for one in code.co_varnames[: code.co_argcount]]
            expected = outcome(getattr(module, name), *arguments)
            assert outcome(function, *arguments) == expected, (name, arguments)

    check()


TABLES = """
numbers_at = View("int64")
def summed(ctx, i):
    ctx.list[0] += ctx.limit
    found = 0
    for j in range(ctx.list.size):
        found += ctx.list[j]
    return found + ctx.long[i]
def through(ctx, i): return summed(ctx, i) + 1
def seen(a, b):
    view = numbers_at(a, b)
    view[0] += 1
    return view[b - 1] + view.size
"""


def test_tables_are_read_by_address(tmp_path: Path) -> None:
    _, made = compiled(tmp_path, TABLES)
    listed, longs = np.array([1, 2, 3], dtype=np.int32), np.array([1 << 40, 5], dtype=np.int64)
    table = np.array([listed.ctypes.data, 3, 100, 0, longs.ctypes.data, 2], dtype=np.int64)
    assert made["summed"](table.ctypes.data, 0) == 106 + (1 << 40)
    assert made["through"](table.ctypes.data, -1) == 206 + 5 + 1
    assert listed.tolist() == [201, 2, 3]
    assert made["seen"](longs.ctypes.data, 2) == 7
    assert View("int64")(longs.ctypes.data, 2).tolist() == [(1 << 40) + 1, 5]


def test_arguments_are_what_they_have_to_be(tmp_path: Path) -> None:
    """What is none is refused, and nothing is held afterwards: an array can be made larger."""
    _, made = compiled(tmp_path, ARITHMETIC + ARRAYS)
    values = np.arange(5, dtype=np.int32)
    assert made["total"](values) == 40
    assert made["add"](np.int64(3), True) == 4
    for function, arguments, message in (
        ("add", (1,), "add() takes 2 arguments"),
        ("add", (1, 2, 3), "add() takes 2 arguments"),
        ("add", (1, 2.5), "float"),
        ("add", ("1", 2), "str"),
        ("total", ([1, 2],), "list"),
        ("total", (values.astype(np.int64),), "total(): values has to be an array of int32"),
        ("total", (values.reshape(1, 5),), "values has to be an array of int32"),
        ("cell", (values, 0, 0), "table has to be an array of int32 in 2 dimensions"),
        ("last", (values[::2],), "contiguous"),
    ):
        with pytest.raises((TypeError, ValueError)) as raised:
            made[function](*arguments)
        assert message in str(raised.value), (function, arguments)
    values.resize(10, refcheck=False)
    values.setflags(write=False)
    assert made["total"](values) == 40


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("def f(a):\n    return a / 2", 4, "it has a Div"),
        ("def f(a, b=1):\n    return a", 3, "its parameters have defaults"),
        ("def f(a, *b):\n    return a", 3, "its parameters have defaults"),
        ("def f(a, values):\n    a[0] += 1", 4, "an array is needed, not a number"),
        ("def f(a, values):\n    values += 1", 4, "are no numbers"),
        ("def f(a):\n    return a.b", 4, "a number has no b"),
        ("def f(a):\n    return b", 4, "b is no variable and no number"),
        (
            "def f(a):\n    return g(a)\ndef g(a):\n    return a",
            4,
            "g is no kernel that stands before it",
        ),
        ("def f(a):\n    return f(a)", 4, "f is no kernel that stands before it"),
        ("def f(a):\n    return 'text'", 4, "'text'"),
        ("def f(a):\n    return [a]", 4, "it has a List"),
        ("def f(a):\n    with a:\n        pass", 4, "it has a With"),
        ("def f(a):\n    for x in a:\n        pass", 4, "a range or a tuple"),
        ("def f(a):\n    for x in range(0, 9, a):\n        pass", 4, "the step of a range"),
        ("def f(a):\n    raise ValueError('no')", 4, "a class of exceptions"),
        ("def f(a):\n    if a:\n        return 1", 3, "it may end without a value"),
        (
            "def f(a, values):\n    a = values\n    return 1",
            4,
            "a is a number and an array of int32",
        ),
        ("def f(a):\n    return 1 << 64", 4, "it shifts by 64"),
        ("def f(a):\n    return a and 3 == a", 4, "true or false"),
        ("def f(a, table):\n    return table[a]", 4, "has 2 indices"),
        ("def f(a, values):\n    values[0:2] = a", 4, "it assigns to a Subscript"),
        (
            "def f(a, values):\n    return a if a else values",
            4,
            "it comes to a number or an array of int32",
        ),
        ("def g(a): return a\ndef f(a):\n    return g(a, a)", 5, "g has 1 arguments"),
        (
            "def g(a): return a\ndef f(values):\n    return g(values)",
            5,
            "a is a number, not an array of int32",
        ),
        ("def g(a): return a, a\ndef f(a):\n    x, y, z = g(a)", 5, "not as many values"),
    ],
)
def test_what_kernels_cannot_do_is_refused(tmp_path: Path, text: str, line: int, why: str) -> None:
    with pytest.raises(TypeError) as raised:
        compiled(tmp_path, text)
    message = str(raised.value)
    assert f".py:{line}: a kernel cannot be compiled: " in message
    assert why in message


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 1 << 32),
    st.lists(st.tuples(_SMALL, _SMALL, st.booleans()), min_size=3, max_size=6),
)
def test_random_programs_do_what_python_does(
    tmp_path_factory: pytest.TempPathFactory, seed: int, arguments: list[tuple[int, int, bool]]
) -> None:
    """What they return, what they raise, and what is in the array afterwards."""
    module, made = compiled(tmp_path_factory.mktemp("programs"), program(seed))
    for a, b, yes in arguments:
        for name, function in made.items():
            ours = np.array([3, -1, 4, 1, -5, 9], dtype=np.int32)
            # Python's own numbers: those of NumPy are not kernels'
            theirs = Numbers(ours.tolist())
            expected = outcome(getattr(module, name), a, b, yes, theirs)
            assert outcome(function, a, b, yes, ours) == expected, (seed, name)
            assert ours.tolist() == list(theirs), (seed, name)


class Numbers(list[int]):
    """A list that is cut as an array is: a part is no copy. Only all of it is cut."""

    @property
    def size(self) -> int:
        return len(self)

    def __getitem__(self, where: Any) -> Any:
        return self if isinstance(where, slice) else super().__getitem__(where)
