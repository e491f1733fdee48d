"""What Python calls: for each entry a function of CPython's ABI, in LLVM's language.

It takes arguments as ``METH_FASTCALL`` hands them over: numbers as ``int`` does, a table as its address, an array as
a buffer in C order. Its ``self`` is a tuple: None, ``TypeError``, then the exceptions by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.jit.expressions import SELDOM, Signature
from workbench.jit.kinds import BOOL, ELEMENTS, INT, NONE, Array, Kind, Record, Scalar, Table, Tuple
from workbench.jit.lines import Lines, Value
from workbench.jit.machine import entry_symbol

__all__ = ["wrapper"]

#: places in the tuple ``self``; the exception of number n is at NONE_AT + 1 + n
NONE_AT, TYPE_ERROR_AT = 0, 1
#: a buffer in C order, with its shape: PyBUF_C_CONTIGUOUS
_IN_ORDER = 0x38
#: of a Py_buffer: its size in bytes, where it has items' size, number of dimensions, shape
_VIEW, _ITEM_SIZE, _DIMENSIONS, _SHAPE = 80, 24, 36, 48


def wrapper(signature: Signature, held: bool) -> str:
    """The function for an entry; ``held``: it keeps the GIL."""
    return _Wrapper(signature).whole(held)


class _Wrapper(Lines):
    """The function under way."""

    def __init__(self, signature: Signature):
        super().__init__()
        self._signature = signature
        self._views: list[str] = []
        self._messages: list[str] = []

    def whole(self, held: bool) -> str:
        signature = self._signature
        count = len(signature.arguments)
        arguments, call = self.new("arguments"), self.new("call")
        wrong = self.do(f"icmp ne i64 %count, {count}")
        self.fork(wrong, arguments, call, SELDOM)
        self.begin(arguments)
        self._complain(f"{signature.name}() takes {count} arguments")
        self.begin(call)
        given: list[str] = []
        for i, (name, kind) in enumerate(signature.arguments):
            address = self.do(f"getelementptr ptr, ptr %given, i64 {i}")
            value = self.do(f"load ptr, ptr {address}")
            given += self._taken(name, kind, value).typed
        thread = "" if held else self.do("call ptr @PyEval_SaveThread()")
        wholes = signature.call(self, given)
        if thread:
            self.put(f"call void @PyEval_RestoreThread(ptr {thread})")
        self._release()
        self._hand_over(wholes)
        self.begin("failed")
        if self.is_open:
            self._release()
            self.put("ret ptr null")
        head = (
            f'define ptr @"{entry_symbol(signature.name)}"(ptr %self, ptr %given, i64 %count) #0 {{'
        )
        cleared = [f"  store [{_VIEW} x i8] zeroinitializer, ptr {view}" for view in self._views]
        body = [head, *self.slots, *cleared, *self.lines, "}"]
        return "\n".join([*body, *self._messages, ""])

    def _complain(self, text: str) -> None:
        """Raise ``TypeError``."""
        symbol = f'@"{entry_symbol(self._signature.name)}.{self.new("text")}"'
        data = text.encode() + b"\0"
        escaped = "".join(
            chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:02X}" for c in data
        )
        self._messages.append(
            f'{symbol} = private unnamed_addr constant [{len(data)} x i8] c"{escaped}"'
        )
        error = self.do(f"call ptr @PyTuple_GetItem(ptr %self, i64 {TYPE_ERROR_AT})")
        self.put(f"call void @PyErr_SetString(ptr {error}, ptr {symbol})")
        self.jump("failed")

    def _fail_if(self, condition: str) -> None:
        go_on = self.new("go")
        self.fork(condition, "failed", go_on, SELDOM)
        self.begin(go_on)

    def _release(self) -> None:
        for view in self._views:
            self.put(f"call void @PyBuffer_Release(ptr {view})")

    def _taken(self, name: str, kind: Kind, value: str) -> Value:
        """An argument, from a Python object."""
        if kind is BOOL:
            truth = self.do(f"call i32 @PyObject_IsTrue(ptr {value})")
            self._fail_if(self.do(f"icmp slt i32 {truth}, 0"))
            return Value(BOOL, (self.do(f"icmp ne i32 {truth}, 0"),))
        if kind is INT or isinstance(kind, Table):
            number = self._number(value)
            if kind is not INT:
                number = self.do(f"inttoptr i64 {number} to ptr")
            return Value(kind, (number,))
        if isinstance(kind, Array):
            return self._buffer(name, kind, value)
        assert isinstance(kind, Record)
        parts: list[str] = []
        for i, (field, array) in enumerate(kind.fields.items()):
            item = self.do(f"call ptr @PyTuple_GetItem(ptr {value}, i64 {i})")
            self._fail_if(self.do(f"icmp eq ptr {item}, null"))
            parts += self._buffer(f"{name}.{field}", array, item).parts
        return Value(kind, tuple(parts))

    def _number(self, value: str) -> str:
        number = self.do(f"call i64 @PyLong_AsLongLong(ptr {value})")
        doubt, go_on = self.new("doubt"), self.new("go")
        self.fork(self.do(f"icmp eq i64 {number}, -1"), doubt, go_on, SELDOM)
        self.begin(doubt)
        error = self.do("call ptr @PyErr_Occurred()")
        self.fork(self.do(f"icmp eq ptr {error}, null"), go_on, "failed")
        self.begin(go_on)
        return number

    def _buffer(self, name: str, kind: Array, value: str) -> Value:
        view = self.slot(f"[{_VIEW} x i8], align 8")
        self._views.append(view)
        got = self.do(f"call i32 @PyObject_GetBuffer(ptr {value}, ptr {view}, i32 {_IN_ORDER})")
        self._fail_if(self.do(f"icmp ne i32 {got}, 0"))
        size = self._of_view(view, _ITEM_SIZE, "i64")
        dimensions = self._of_view(view, _DIMENSIONS, "i32")
        wrong_size = self.do(f"icmp ne i64 {size}, {ELEMENTS[kind.element][1]}")
        wrong_shape = self.do(f"icmp ne i32 {dimensions}, {kind.dimensions}")
        wrong, go_on = self.new("wrong"), self.new("go")
        self.fork(self.do(f"or i1 {wrong_size}, {wrong_shape}"), wrong, go_on, SELDOM)
        self.begin(wrong)
        self._complain(f"{self._signature.name}(): {name} has to be {kind.name}")
        self.begin(go_on)
        data = self._of_view(view, 0, "ptr")
        shape = self._of_view(view, _SHAPE, "ptr")
        sizes = []
        for i in range(kind.dimensions):
            address = self.do(f"getelementptr i64, ptr {shape}, i64 {i}")
            sizes.append(self.do(f"load i64, ptr {address}"))
        return self.array(kind.element, data, *sizes)

    def _of_view(self, view: str, at: int, kind: str) -> str:
        address = self.do(f"getelementptr i8, ptr {view}, i64 {at}")
        return self.do(f"load {kind}, ptr {address}")

    def _hand_over(self, wholes: list[str]) -> None:
        """Return what the kernel has returned, or raise."""
        signature = self._signature
        if signature.raises:
            status, raised, go_on = wholes.pop(0), self.new("raised"), self.new("go")
            self.fork(self.do(f"icmp ne i64 {status}, 0"), raised, go_on, SELDOM)
            self.begin(raised)
            at = self.do(f"add i64 {status}, {TYPE_ERROR_AT}")
            error = self.do(f"call ptr @PyTuple_GetItem(ptr %self, i64 {at})")
            self.put(f"call void @PyErr_SetNone(ptr {error})")
            self.put("ret ptr null")
            self.is_open = False
            self.begin(go_on)
        result = signature.result
        if result is NONE:
            none = self.do(f"call ptr @PyTuple_GetItem(ptr %self, i64 {NONE_AT})")
            self.put(f"call void @Py_IncRef(ptr {none})")
            self._return(none)
        elif isinstance(result, Scalar):
            self._return(self._object(result, wholes[0]))
        else:
            self._return_tuple(list(self._objects(result, wholes)))

    def _return(self, found: str) -> None:
        self.put(f"ret ptr {found}")
        self.is_open = False

    def _objects(self, result: Kind, parts: list[str]) -> Iterator[str]:
        assert isinstance(result, Tuple)
        for item, part in zip(result.items, parts, strict=True):
            assert isinstance(item, Scalar)
            yield self._object(item, part)

    def _object(self, kind: Scalar, part: str) -> str:
        if kind is BOOL:
            number = self.do(f"zext i1 {part} to i64")
            return self.do(f"call ptr @PyBool_FromLong(i64 {number})")
        return self.do(f"call ptr @PyLong_FromLongLong(i64 {part})")

    def _return_tuple(self, items: list[str]) -> None:
        """A tuple, or nothing where there is no memory for it: then the error is set."""
        whole = self.do(f"call ptr @PyTuple_New(i64 {len(items)})")
        missing = self.do(f"icmp eq ptr {whole}, null")
        for item in items:
            missing = self.do(f"or i1 {missing}, {self.do(f'icmp eq ptr {item}, null')}")
        none, full = self.new("none"), self.new("full")
        self.fork(missing, none, full, SELDOM)
        self.begin(none)
        for item in [whole, *items]:
            self.put(f"call void @Py_DecRef(ptr {item})")
        self.put("ret ptr null")
        self.is_open = False
        self.begin(full)
        for i, item in enumerate(items):
            self.put(f"call i32 @PyTuple_SetItem(ptr {whole}, i64 {i}, ptr {item})")
        self._return(whole)
