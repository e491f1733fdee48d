"""Expressions of kernels in LLVM's language.

Every integer is an int64: elements of arrays are widened when they are read and cut when they are written. Floats,
strings and objects are unknown. Division by zero raises as in Python; sums do not notice that they overflow. An index
below zero counts from the end, one that is out of bounds is not noticed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.jit.kinds import (
    BOOL,
    ELEMENTS,
    INT,
    NONE,
    Array,
    Kind,
    Record,
    Table,
    Tuple,
    View,
    joined,
)
from workbench.jit.lines import Lines, Value

__all__ = ["SELDOM", "Expressions", "Signature"]

#: note on a jump: the first label is seldom taken
SELDOM = ", !prof !1"
#: note on a load: what is there never changes
_FIXED = ", !invariant.load !0"
_ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[int, int], int]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("shl", operator.lshift),
    ast.RShift: ("ashr", operator.rshift),
}
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[int, int], bool]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("slt", operator.lt),
    ast.LtE: ("sle", operator.le),
    ast.Gt: ("sgt", operator.gt),
    ast.GtE: ("sge", operator.ge),
}


@dataclass(frozen=True, slots=True)
class Signature:
    """How a kernel is called in LLVM's language."""

    name: str
    arguments: tuple[tuple[str, Kind], ...]
    result: Kind
    #: whether it may raise: then what it returns begins with the exception's number, or 0
    raises: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The LLVM types of the parts of what it returns."""
        return ("i64", *self.result.parts) if self.raises else self.result.parts

    @property
    def returned(self) -> str:
        """The LLVM type of what it returns."""
        if not self.parts:
            return "void"
        return self.parts[0] if len(self.parts) == 1 else f"{{ {', '.join(self.parts)} }}"

    def call(self, lines: Lines, given: Sequence[str]) -> list[str]:
        """Write a call; the operands of what is returned, by their parts."""
        text = f'call fastcc {self.returned} @"{self.name}"({", ".join(given)})'
        if not self.parts:
            lines.put(text)
            return []
        found = lines.do(text)
        if len(self.parts) == 1:
            return [found]
        return [
            lines.do(f"extractvalue {self.returned} {found}, {i}") for i in range(len(self.parts))
        ]


class Expressions(Lines):
    """The expressions of one kernel; a subclass has its statements."""

    def __init__(self, names: Mapping[str, Any], kernels: Mapping[Any, Signature], place: str):
        super().__init__()
        self.names, self.kernels, self.place = names, kernels, place
        self.variables: dict[str, tuple[Kind, list[str]]] = {}
        #: variables that are never negative
        self.counters: set[str] = set()
        self.raises = False
        #: where the number of an exception is put before a jump to ``failed``
        self.status = self.slot("i64")

    def refused(self, node: ast.AST, why: str) -> TypeError:
        """The error that names a place and what is wrong there."""
        line = getattr(node, "lineno", 0)
        return TypeError(f"{self.place}:{line}: a kernel cannot be compiled: {why}")

    def value(self, node: ast.expr) -> Value:
        """What an expression comes to."""
        method = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refused(node, f"it has a {type(node).__name__}")
        found: Value = method(node)
        return found

    def number(self, node: ast.expr) -> Value:
        """What an expression comes to, as an int64."""
        value = self.value(node)
        if value.kind not in (INT, BOOL):
            raise self.refused(node, f"a number is needed, not {value.kind.name}")
        return self.converted(value, INT)

    def array_of(self, node: ast.expr) -> tuple[Value, Array]:
        """What an expression comes to, which is an array."""
        value = self.value(node)
        if not isinstance(value.kind, Array):
            raise self.refused(node, f"an array is needed, not {value.kind.name}")
        return value, value.kind

    def branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Go on at one of two labels, by an expression's truth."""
        if isinstance(node, ast.BoolOp):
            for part in node.values[:-1]:
                following = self.new("or" if isinstance(node.op, ast.Or) else "and")
                if isinstance(node.op, ast.Or):
                    self.branch(part, yes, following)
                else:
                    self.branch(part, following, no)
                self.begin(following)
            self.branch(node.values[-1], yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.branch(node.operand, no, yes)
        else:
            truth = self.truth(node)
            if truth.number is not None:
                self.jump(yes if truth.number else no)
            else:
                self.fork(truth.one, yes, no)

    def truth(self, node: ast.expr) -> Value:
        """Whether an expression is true."""
        value = self.value(node)
        if value.kind not in (INT, BOOL):
            raise self.refused(node, f"{value.kind.name} is neither true nor false")
        return self.converted(value, BOOL)

    def _of_constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool):
            return self.known(node.value, BOOL)
        if isinstance(node.value, int):
            return self.known(node.value)
        raise self.refused(node, f"it has {node.value!r}")

    def _of_name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            return self.loaded(*self.variables[node.id])
        found = self.names.get(node.id)
        if isinstance(found, int):
            return self.known(found, BOOL if isinstance(found, bool) else INT)
        raise self.refused(node, f"{node.id} is no variable and no number")

    def _of_tuple(self, node: ast.Tuple) -> Value:
        values = [self.value(item) for item in node.elts]
        kind = Tuple(tuple(value.kind for value in values))
        return Value(kind, tuple(part for value in values for part in value.parts))

    def _of_binop(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        return self.combined(node, node.op, left, right)

    def combined(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """Two numbers under an operator."""
        if not {left.kind, right.kind} <= {INT, BOOL}:
            raise self.refused(node, f"{left.kind.name} and {right.kind.name} are no numbers")
        if isinstance(op, _BITWISE) and left.kind == right.kind == BOOL:
            return Value(BOOL, (self.do(f"{_ARITHMETIC[type(op)][0]} i1 {left.one}, {right.one}"),))
        left, right = self.converted(left, INT), self.converted(right, INT)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return self._divided(node, isinstance(op, ast.Mod), left, right)
        if type(op) not in _ARITHMETIC:
            raise self.refused(node, f"it has a {type(op).__name__}")
        name, known = _ARITHMETIC[type(op)]
        shifts = isinstance(op, ast.LShift | ast.RShift)
        if left.number is not None and right.number is not None:
            if shifts and not 0 <= right.number < 64:
                raise self.refused(node, f"it shifts by {right.number}")
            return self.known(known(left.number, right.number))
        return Value(INT, (self.do(f"{name} i64 {left.one}, {right.one}"),))

    def _divided(self, node: ast.AST, rest: bool, left: Value, right: Value) -> Value:
        """The quotient, rounded down, or what remains."""
        divisor = right.one
        if not right.number:
            failed, go_on = self.new("zero"), self.new("divide")
            self.fork(self.do(f"icmp eq i64 {divisor}, 0"), failed, go_on, SELDOM)
            self.begin(failed)
            self.fail(ZeroDivisionError)
            self.begin(go_on)
        positive = right.number is not None and right.number > 0
        if positive and isinstance(node, ast.BinOp) and self._not_negative(node.left):
            name = "urem" if rest else "udiv"
            return Value(INT, (self.do(f"{name} i64 {left.one}, {divisor}"),))
        # the least number divided by -1 would stop the process
        negated = self.do(f"icmp eq i64 {divisor}, -1")
        divisor = self.do(f"select i1 {negated}, i64 1, i64 {divisor}")
        remainder = self.do(f"srem i64 {left.one}, {divisor}")
        apart = self.do(f"xor i64 {remainder}, {divisor}")
        wrong = self.do(f"icmp slt i64 {apart}, 0")
        some = self.do(f"icmp ne i64 {remainder}, 0")
        adjust = self.do(f"and i1 {wrong}, {some}")
        if rest:
            other = self.do(f"add i64 {remainder}, {divisor}")
            return Value(INT, (self.do(f"select i1 {adjust}, i64 {other}, i64 {remainder}"),))
        quotient = self.do(f"sdiv i64 {left.one}, {divisor}")
        less = self.do(f"sext i1 {adjust} to i64")
        quotient = self.do(f"add i64 {quotient}, {less}")
        minus = self.do(f"sub i64 0, {left.one}")
        return Value(INT, (self.do(f"select i1 {negated}, i64 {minus}, i64 {quotient}"),))

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            truth = self.truth(node.operand)
            if truth.number is not None:
                return self.known(not truth.number, BOOL)
            return Value(BOOL, (self.do(f"xor i1 {truth.one}, true"),))
        value = self.number(node.operand)
        if isinstance(node.op, ast.Invert):
            return self.combined(node, ast.BitXor(), value, self.known(-1))
        if isinstance(node.op, ast.USub):
            return self.combined(node, ast.Sub(), self.known(0), value)
        return value

    def _of_compare(self, node: ast.Compare) -> Value:
        if len(node.ops) == 1:
            return self._compared(node, node.ops[0], self.value(node.left), node.comparators[0])
        # a < b < c: b is looked at once, c only where a < b
        end, answer = self.new("compared"), self.slot("i1")
        left = self.value(node.left)
        for number, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.value(right_node)
            truth = self._of(node, op, left, right)
            self.put(f"store i1 {truth.one}, ptr {answer}")
            if number + 1 < len(node.ops):
                following = self.new("compare")
                self.fork(truth.one, following, end)
                self.begin(following)
            left = right
        self.begin(end)
        return Value(BOOL, (self.do(f"load i1, ptr {answer}"),))

    def _compared(self, node: ast.AST, op: ast.cmpop, left: Value, right: ast.expr) -> Value:
        if not isinstance(op, ast.In | ast.NotIn):
            return self._of(node, op, left, self.value(right))
        if not isinstance(right, ast.Tuple) or not right.elts:
            raise self.refused(right, "only a tuple may be looked through")
        found = ""
        for item in right.elts:
            one = self._of(node, ast.Eq(), left, self.value(item)).one
            found = self.do(f"or i1 {found}, {one}") if found else one
        if isinstance(op, ast.NotIn):
            found = self.do(f"xor i1 {found}, true")
        return Value(BOOL, (found,))

    def _of(self, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> Value:
        if type(op) not in _COMPARISONS or not {left.kind, right.kind} <= {INT, BOOL}:
            raise self.refused(
                node, f"{type(op).__name__} of {left.kind.name} and {right.kind.name}"
            )
        name, known = _COMPARISONS[type(op)]
        left, right = self.converted(left, INT), self.converted(right, INT)
        if left.number is not None and right.number is not None:
            return self.known(known(left.number, right.number), BOOL)
        return Value(BOOL, (self.do(f"icmp {name} i64 {left.one}, {right.one}"),))

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        end, answer = self.new("end"), self.slot("i1")
        for part in node.values:
            value = self.value(part)
            if value.kind is not BOOL:
                raise self.refused(part, "what and/or comes to has to be true or false")
            self.put(f"store i1 {value.one}, ptr {answer}")
            following = self.new("other")
            if isinstance(node.op, ast.Or):
                self.fork(value.one, end, following)
            else:
                self.fork(value.one, following, end)
            self.begin(following)
        self.begin(end)
        return Value(BOOL, (self.do(f"load i1, ptr {answer}"),))

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        yes, no, end = self.new("then"), self.new("else"), self.new("end")
        kind = self._kind_of_either(node)
        slots = [self.slot(part) for part in kind.parts]
        self.branch(node.test, yes, no)
        for label, part in ((yes, node.body), (no, node.orelse)):
            self.begin(label)
            if self.is_open:
                self.stored(self.converted(self.value(part), kind), slots)
            self.jump(end)
        self.begin(end)
        return self.loaded(kind, slots)

    def _kind_of_either(self, node: ast.IfExp) -> Kind:
        """The kind of a conditional expression; what is written to find it is thrown away."""
        state = self.lines, self.slots, self.is_open, set(self._reached), self.raises
        self.lines, self.slots = [], []
        one, other = self.value(node.body).kind, self.value(node.orelse).kind
        self.lines, self.slots, self.is_open, self._reached, self.raises = state
        kind = joined(one, other)
        if kind is None:
            raise self.refused(node, f"it comes to {one.name} or {other.name}")
        return kind

    def _of_attribute(self, node: ast.Attribute) -> Value:
        value, name = self.value(node.value), node.attr
        if isinstance(value.kind, Table) and name in value.kind.fields:
            kind = value.kind.fields[name]
            at = 2 * value.kind.places[name]
            first = self._word(value.one, at, kind.parts[0])
            return Value(kind, (first, *(self._word(value.one, at + 1, p) for p in kind.parts[1:])))
        if isinstance(value.kind, Record) and name in value.kind.fields:
            at = 0
            for field, kind in value.kind.fields.items():
                stop = at + len(kind.parts)
                if field == name:
                    return Value(kind, value.parts[at:stop])
                at = stop
        if isinstance(value.kind, Array) and name == "size":
            size = value.parts[1]
            for more in value.parts[2:]:
                size = self.do(f"mul i64 {size}, {more}")
            return Value(INT, (size,))
        if isinstance(value.kind, Array) and name == "shape":
            return Value(Tuple((INT,) * value.kind.dimensions), value.parts[1:])
        raise self.refused(node, f"{value.kind.name} has no {name}")

    def _word(self, table: str, number: int, kind: str) -> str:
        address = self.do(f"getelementptr i64, ptr {table}, i64 {number}")
        return self.do(f"load {kind}, ptr {address}, align 8{_FIXED}")

    def _of_subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            return self._sliced(node, node.slice)
        value = self.value(node.value)
        if isinstance(value.kind, Tuple):
            index = self.number(node.slice).number
            if index is None or not -len(value.kind.items) <= index < len(value.kind.items):
                raise self.refused(node, "a tuple has no such item")
            return value.items()[index]
        return self.read(*self.element(node))

    def read(self, address: str, array: Array) -> Value:
        """The element that is at an address."""
        llvm, _, widened = ELEMENTS[array.element]
        found = self.do(f"load {llvm}, ptr {address}")
        return Value(INT, (self.do(f"{widened} {llvm} {found} to i64") if widened else found,))

    def write(self, address: str, array: Array, value: Value) -> None:
        """Put a number to an address; of a smaller element its lowest bits."""
        number = self.converted(value, INT).one
        llvm, _, widened = ELEMENTS[array.element]
        if widened:
            number = self.do(f"trunc i64 {number} to {llvm}")
        self.put(f"store {llvm} {number}, ptr {address}")

    def element(self, node: ast.Subscript) -> tuple[str, Array]:
        """The address of an element, and the array's kind."""
        value, array = self.array_of(node.value)
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(nodes) != array.dimensions:
            raise self.refused(node, f"{array.name} has {array.dimensions} indices")
        at = ""
        for index, size in zip(nodes, value.parts[1:], strict=True):
            offset = self._from_start(index, size)
            if at:
                at = self.do(f"mul i64 {at}, {size}")
                offset = self.do(f"add i64 {at}, {offset}")
            at = offset
        llvm = ELEMENTS[array.element][0]
        return self.do(f"getelementptr {llvm}, ptr {value.parts[0]}, i64 {at}"), array

    def _from_start(self, node: ast.expr, size: str) -> str:
        """An index that counts from the start."""
        index = self.number(node)
        if index.number is not None:
            return index.one if index.number >= 0 else self.do(f"add i64 {size}, {index.one}")
        if self._not_negative(node):
            return index.one
        negative = self.do(f"icmp slt i64 {index.one}, 0")
        other = self.do(f"add i64 {index.one}, {size}")
        return self.do(f"select i1 {negative}, i64 {other}, i64 {index.one}")

    def _not_negative(self, node: ast.expr) -> bool:
        """Whether a number is known not to be negative, as long as nothing overflows."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int) and node.value >= 0
        if isinstance(node, ast.Name):
            if node.id in self.variables:
                return node.id in self.counters
            found = self.names.get(node.id)
            return isinstance(found, int) and found >= 0
        if isinstance(node, ast.BinOp):
            left, right = self._not_negative(node.left), self._not_negative(node.right)
            if isinstance(node.op, ast.BitAnd):
                return left or right
            if isinstance(node.op, ast.Mod):
                return right
            if isinstance(node.op, ast.RShift):
                return left
            return left and right and isinstance(node.op, ast.Add | ast.Mult | ast.FloorDiv)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            kind = self.variables.get(node.value.id, (NONE, []))[0]
            return isinstance(kind, Array) and node.attr == "size"
        return isinstance(node, ast.Attribute) and node.attr == "size"

    def _sliced(self, node: ast.Subscript, part: ast.Slice) -> Value:
        """A part of an array, as Python cuts it."""
        value, array = self.array_of(node.value)
        if array.dimensions != 1 or part.step is not None:
            raise self.refused(node, "only arrays of one dimension have slices, in steps of one")
        size = value.parts[1]
        lower = self._bound(part.lower, size) if part.lower is not None else "0"
        upper = self._bound(part.upper, size) if part.upper is not None else size
        length = self.do(
            f"call i64 @llvm.smax.i64(i64 {self.do(f'sub i64 {upper}, {lower}')}, i64 0)"
        )
        llvm = ELEMENTS[array.element][0]
        data = self.do(f"getelementptr {llvm}, ptr {value.parts[0]}, i64 {lower}")
        return self.array(array.element, data, length)

    def _bound(self, node: ast.expr, size: str) -> str:
        index = self._from_start(node, size)
        index = self.do(f"call i64 @llvm.smin.i64(i64 {index}, i64 {size})")
        return self.do(f"call i64 @llvm.smax.i64(i64 {index}, i64 0)")

    def _of_call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.refused(node, "only functions are called, without names of arguments")
        name = node.func.id
        called = self.names.get(name)
        if called is None and name in ("min", "max"):
            least = self.number(node.args[0])
            for other in node.args[1:]:
                right = self.number(other)
                least = Value(
                    INT,
                    (self.do(f"call i64 @llvm.s{name}.i64(i64 {least.one}, i64 {right.one})"),),
                )
            return least
        if called is None and name == "int" and len(node.args) == 1:
            return self.number(node.args[0])
        if isinstance(called, View) and len(node.args) == 2:
            address, length = self.number(node.args[0]), self.number(node.args[1])
            return self.array(
                called.element, self.do(f"inttoptr i64 {address.one} to ptr"), length.one
            )
        try:
            signature = self.kernels[called]
        except (KeyError, TypeError):
            raise self.refused(node, f"{name} is no kernel that stands before it") from None
        return self.called(node, signature)

    def called(self, node: ast.Call, signature: Signature) -> Value:
        """What a kernel returns; where it raises, this one does."""
        if len(node.args) != len(signature.arguments):
            raise self.refused(node, f"{signature.name} has {len(signature.arguments)} arguments")
        given = []
        for argument, (name, kind) in zip(node.args, signature.arguments, strict=True):
            value = self.value(argument)
            if joined(value.kind, kind) is None:
                raise self.refused(argument, f"{name} is {kind.name}, not {value.kind.name}")
            given += self.converted(value, kind).typed
        wholes = signature.call(self, given)
        if signature.raises:
            self.raises = True
            status, go_on = wholes.pop(0), self.new("go")
            self.put(f"store i64 {status}, ptr {self.status}")
            self.fork(self.do(f"icmp ne i64 {status}, 0"), "failed", go_on, SELDOM)
            self.begin(go_on)
        return Value(signature.result, tuple(wholes))

    def fail(self, exception: type[BaseException]) -> None:
        """Raise an exception; a subclass knows its number."""
        raise NotImplementedError
