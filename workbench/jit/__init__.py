"""Compiling kernels: functions over arrays and integers, as machine code that is kept on disk and never stale.

A layer that has kernels makes one :class:`Kernels` of them; nothing of the layers is known here. They are written in
a small part of Python: integers of 64 bits, truth values, arrays, tuples, ``if``, ``while``, ``for`` over a range,
``raise`` of a class, calls of kernels that stand before. All kernels of a layer become one module in LLVM's language
(``compiling.py``: ``statements.py``, ``expressions.py``, ``lines.py``; ``wrappers.py`` for Python), which is optimised
as a whole. Its object file is kept (``store.py``): later processes load it (``machine.py``), and need no compiler.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from workbench.jit.kinds import BOOL, INT, Array, Kind, Record, Table, View
from workbench.jit.machine import callables
from workbench.jit.store import Store

__all__ = [
    "BOOL",
    "COMPILED",
    "INT",
    "Array",
    "Kernels",
    "Kind",
    "Record",
    "Table",
    "View",
    "entry",
]

#: kernels to compile for which a progress bar is worth it
_MANY = 16
#: of each kernel that Python calls its compiled code
_entries: dict[Any, Any] = {}


def _switched_off() -> bool:
    """Whether ``WORKBENCH_DISABLE_JIT`` is a number other than 0."""
    try:
        return int(os.environ.get("WORKBENCH_DISABLE_JIT") or 0) != 0
    except ValueError:
        return False


#: whether the kernels are compiled, not run as plain Python
COMPILED: bool = not _switched_off()


class Kernels:
    """The kernels of one package or module: functions over arrays and integers.

    ``module`` is the one whose import makes all of them known and then calls :meth:`finished`; ``sources`` are the
    files in which they are, or on which their code depends. ``kinds`` are those of the parameters, by name, that are
    not int64. ``called``: names of those that Python calls; ``held``: which of them hold the GIL while they run,
    being short and not to be interrupted.
    """

    def __init__(
        self,
        module: str,
        sources: Iterable[Path],
        kinds: Mapping[str, Kind],
        called: Collection[str],
        held: Collection[str] = (),
    ) -> None:
        self._module = module
        self._kinds = kinds
        self._called, self._held = called, held
        files = sorted(path.resolve() for path in sources)
        self._source = files[0] if files else Path(__file__)
        own = sorted(Path(__file__).parent.glob("*.py"))
        source = b"".join(path.read_bytes() for path in [*own, *files])
        self._digest = sha256(source).hexdigest()
        #: in the order of the sources: callees come first
        self._functions: dict[str, Any] = {}
        #: whether what is in use was on disk; None before :meth:`finished`
        self.was_on_disk: bool | None = None

    def jit(self, function: Any) -> Any:
        """Make a kernel of a function: other kernels may call it, and Python by :func:`entry`.

        Its parameters are of the kinds that their names have. The function itself stays as it is: nothing is compiled
        before :meth:`finished` is called. Raises ``ValueError`` for a second kernel of a name.
        """
        name = function.__name__
        if name in self._functions:
            raise ValueError(f"there are two kernels of the name {name}")
        self._functions[name] = function
        return function

    def finished(self) -> None:
        """All kernels are known: load them, or compile them where they are not on disk.

        Compiling many (once a machine, some seconds) shows its progress. Warns once of what was wrong with files.
        Raises ``TypeError`` for what kernels cannot do.
        """
        if not COMPILED:
            return
        store = Store.of(self._module, self._source, self._digest + self._numbers())
        damaged: list[str] = []
        found = store.read(damaged)
        why = ""
        self.was_on_disk = found is not None
        if found is None:
            found = self._compiled()
            why = store.write(*found)
        header, image = found
        bound = (None, TypeError, *map(_exception, header["exceptions"]))
        names = [name for name in self._functions if name in self._called]
        for name, function in callables(image, names, bound, self._module).items():
            _entries[self._functions[name]] = function
        _tell(damaged, why)

    def _numbers(self) -> str:
        """The numbers that kernels have from elsewhere: files that are no sources may have them."""
        found = []
        for name, function in self._functions.items():
            known = function.__globals__
            for other in function.__code__.co_names:
                value = known.get(other)
                if isinstance(value, int):
                    found.append(f"{name} {other} {value}")
        return "\n".join(found)

    def _compiled(self) -> tuple[dict[str, Any], bytes]:
        """The kernels, compiled now."""
        from workbench.jit.compiling import PARTS, compiled

        functions = list(self._functions.values())
        with _progress(PARTS, disable=len(functions) < _MANY) as bar:
            image, exceptions = compiled(
                functions, self._kinds, self._called, self._held, bar.update
            )
        names = [[one.__module__, one.__qualname__] for one in exceptions]
        return {"exceptions": names}, image


def _exception(name: list[str]) -> Any:
    module, qualified = name
    return attrgetter(qualified)(import_module(module))


def _tell(damaged: list[str], why: str) -> None:
    """Warn of what was wrong with files on disk."""
    for wrong, said, done in (
        ("; ".join(damaged), "kernels on disk were damaged", "they were compiled anew"),
        (why, "kernels cannot be kept on disk", "the next process compiles them again"),
    ):
        if wrong:
            warnings.warn(f"{said} ({wrong}); {done}", RuntimeWarning, stacklevel=3)


def _progress(total: int, disable: bool) -> Any:
    from tqdm.auto import tqdm

    text = "compiling kernels, once per machine"
    return tqdm(total=total, desc=text, unit="part", disable=disable)


def entry(kernel: Any) -> Any:
    """A kernel to be called from Python: its compiled code, or the function where kernels run as Python.

    Arguments have to be what the kernel's parameters are: a table as its address, an array with elements of the right
    size in C order.
    """
    return _entries[kernel] if COMPILED else kernel
