"""Kinds of values that kernels work on, and the LLVM types of which each is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = [
    "BOOL",
    "INT",
    "NONE",
    "Array",
    "Kind",
    "Record",
    "Scalar",
    "Table",
    "Tuple",
    "View",
    "joined",
]

#: of each element type its LLVM type, its bytes, and how it becomes an int64
ELEMENTS = {
    "int32": ("i32", 4, "sext"),
    "int64": ("i64", 8, ""),
    "uint8": ("i8", 1, "zext"),
    "uint16": ("i16", 2, "zext"),
    "uint32": ("i32", 4, "zext"),
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of 64 bits, or a truth value; nothing, where a kernel returns nothing."""

    name: str
    parts: tuple[str, ...]


INT = Scalar("a number", ("i64",))
BOOL = Scalar("a truth value", ("i1",))
NONE = Scalar("nothing", ())


@dataclass(frozen=True, slots=True)
class Array:
    """An array in C order: where it begins, then how long it is in each dimension."""

    element: str
    dimensions: int = 1

    @property
    def name(self) -> str:
        more = "" if self.dimensions == 1 else f" in {self.dimensions} dimensions"
        return f"an array of {self.element}{more}"

    @property
    def parts(self) -> tuple[str, ...]:
        return ("ptr", *["i64"] * self.dimensions)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named arrays and numbers, as one argument: the address of a table of pairs of int64.

    A field is an array of one dimension, whose pair is (address, length), or a number, whose pair is (number, 0). No
    kernel changes the table. Python hands over the address.
    """

    name: str
    fields: Mapping[str, Array | Scalar]
    places: dict[str, int] = field(init=False)
    parts: tuple[str, ...] = ("ptr",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {name: i for i, name in enumerate(self.fields)})


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A named tuple of arrays."""

    name: str
    fields: Mapping[str, Array]

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for kind in self.fields.values() for part in kind.parts)


@dataclass(frozen=True, slots=True)
class Tuple:
    """Several values, as a kernel returns them."""

    items: tuple[Kind, ...]

    @property
    def name(self) -> str:
        return f"a tuple of {len(self.items)}"

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for item in self.items for part in item.parts)


@dataclass(frozen=True, slots=True)
class View:
    """A function of an address and a length that kernels may call: the array that is there."""

    element: str

    def __call__(self, address: int, length: int) -> Any:
        """The array, when the kernel runs as Python."""
        import ctypes

        import numpy as np

        code = getattr(ctypes, f"c_{self.element}")
        return np.ctypeslib.as_array((code * length).from_address(address))


Kind: TypeAlias = Scalar | Array | Table | Record | Tuple


def joined(one: Kind, other: Kind) -> Kind | None:
    """The kind of a variable that has values of both: a truth value may be a number; None where there is none."""
    if one == other:
        return one
    if {one, other} == {INT, BOOL}:
        return INT
    if isinstance(one, Tuple) and isinstance(other, Tuple) and len(one.items) == len(other.items):
        items = [joined(a, b) for a, b in zip(one.items, other.items, strict=True)]
        known = tuple(item for item in items if item is not None)
        return Tuple(known) if len(known) == len(items) else None
    return None
