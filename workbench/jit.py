"""Compiling kernels: one signature each, kept on disk, never stale.

A layer that has kernels makes one :class:`Kernels` of them; nothing of the layers is known here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from glob import escape
from hashlib import sha256
from itertools import count as count_from
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from llvmlite import binding as llvm
from numba import config, int64, njit
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.typeinfer import register_dispatcher

__all__ = ["COMPILED", "Kernels", "entry"]

#: whether what is compiled can be kept on disk
_CACHED = [True]
#: names whose kernels two processes share, and the folder by which they do, in the second one's environment
_SHARED = "WORKBENCH_SHARED_KERNELS"
#: files on disk that were no kernels any more; why kernels that were compiled are not on disk
_damaged: list[str] = []
_not_kept: list[str] = []
#: kernels to compile for which a second process, which takes a second to begin, and a progress bar are worth it
_MANY = 16

#: whether the kernels are compiled, not run as plain Python
COMPILED: bool = not config.DISABLE_JIT


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A function to compile, with the kernels that it calls."""

    name: str
    dispatcher: Any
    signature: tuple[Any, ...]
    line: int
    calls: frozenset[str]
    #: whether it may be copied into its callers
    small: bool = False


class Kernels:
    """The kernels of one package or module: functions over arrays and integers.

    ``module`` is the one whose import makes all of them known and then calls :meth:`finished`; ``sources`` are the
    files in which they are, or on which their code depends: Numba's cache does not notice callees that have
    changed in another file. ``types`` are the parameters, by name, that are not int64. ``called``: names of
    those that Python calls; ``held``: which of them hold the GIL while they run, being short and not to be
    interrupted; ``small``: what may be copied into its callers.
    """

    def __init__(
        self,
        module: str,
        sources: Iterable[Path],
        types: Mapping[str, Any],
        called: Collection[str],
        held: Collection[str] = (),
        small: Collection[str] = (),
    ) -> None:
        self._module = module
        self._types = types
        self._called, self._held, self._small = called, held, small
        files = sorted(path.resolve() for path in sources)
        source = b"".join(path.read_bytes() for path in [Path(__file__), *files])
        self._digest = sha256(source).hexdigest()[:12]
        #: kernels that are not loaded yet, by name in the order of the sources: callees come first
        self._waiting: dict[str, _Kernel] = {}
        self._named: set[str] = set()

    def jit(self, function: Any) -> Any:
        """Compile for one signature, by the arguments' names.

        One signature a function: left to itself, Numba would compile each for every mix of int32 and
        int64 arguments that occurs. Compiled code is kept on disk under the hash of all sources, so it is
        never stale. Nothing is compiled before :meth:`finished` is called.
        """
        if not COMPILED:
            return function
        name, code = function.__name__, function.__code__
        if name in self._named:
            raise ValueError(f"there are two kernels of the name {name}")
        names = code.co_varnames[: code.co_argcount]
        signature = tuple(self._types.get(name, int64) for name in names)
        function.__qualname__ = f"{function.__qualname__}-{self._digest}"
        # no kernel allocates, so none needs reference counts: they cost more than most kernels' work
        options = {
            "nogil": name not in self._held,
            "_nrt": False,
            "no_cpython_wrapper": name not in self._called,
            "no_cfunc_wrapper": True,
        }
        try:
            dispatcher = njit(cache=_CACHED[0], **options)(function)
        except RuntimeError as error:
            if "no locator" not in str(error):
                raise
            # neither beside this file nor in the user's folder anything can be written
            _CACHED[0] = False
            dispatcher = njit(**options)(function)
        self._waiting[name] = _Kernel(
            name,
            dispatcher,
            signature,
            code.co_firstlineno,
            frozenset(self._named.intersection(code.co_names)),
            name in self._small,
        )
        self._named.add(name)
        return dispatcher

    def finished(self) -> None:
        """All kernels are known: load them, or compile those that are not on disk.

        Compiling many (once a machine, half a minute) shows its progress. Where there is a second core, a second
        process compiles as well; they share the work through the files on disk.
        """
        kernels = list(self._waiting.values())
        self._waiting.clear()
        module, _, folder = os.environ.get(_SHARED, "").partition("=")
        if module == self._module:
            parent = os.getppid()
            _share(kernels, Path(folder), lambda: os.getppid() == parent)
            return
        for number, kernel in enumerate(kernels):
            before = kernels[:number]
            if _load(kernel, lambda before=before: list(map(_keep_apart, before))):  # type: ignore[misc]
                continue
            # it was compiled: so must be what follows
            with _progress(len(kernels), number + 1) as bar:
                for known in kernels[: number + 1]:
                    _keep_apart(known)
                _compile_all(self._module, kernels[number + 1 :], bar)
            break
        _tell()


def _compile_all(module: str, kernels: list[_Kernel], bar: Any) -> None:
    """Compile kernels whose callees, if not among them, are loaded.

    With the help of a second process that imports their module, where there are many.
    """
    with ExitStack() as stack:
        helper = None
        frozen = getattr(sys, "frozen", False)
        many = len(kernels) >= _MANY and _cores() > 1
        if many and _CACHED[0] and sys.executable and not frozen:
            with suppress(OSError):  # no room, no process: then without
                folder = stack.enter_context(TemporaryDirectory(prefix="workbench-kernels-"))
                helper = subprocess.Popen(
                    [sys.executable, "-c", f"import {module}"],
                    env=os.environ
                    | {_SHARED: f"{module}={folder}", "PYTHONPATH": os.pathsep.join(sys.path)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
        if helper is None:
            for kernel in kernels:
                _load(kernel)
                _keep_apart(kernel)
                bar.update()
            return
        stack.callback(helper.wait)
        stack.callback(helper.terminate)
        _share(kernels, Path(folder), lambda: helper.poll() is None, bar.update)


def _share(
    kernels: list[_Kernel],
    folder: Path,
    alive: Callable[[], bool],
    update: Callable[[], object] = lambda: None,
) -> None:
    """Compile kernels that no other process has begun, and load those that it has compiled.

    Whoever makes the file of a kernel's name in ``folder`` compiles it; a second file says that it is on disk.
    ``alive`` tells whether the other one still works.
    """
    left = {kernel.name: kernel for kernel in kernels}
    while left:
        ready = [kernel for kernel in left.values() if not kernel.calls & left.keys()]
        for kernel in ready:
            done = folder / f"{kernel.name}.done"
            if not _claimed(folder / kernel.name) or done.exists() or not alive():
                break
        else:
            time.sleep(0.01)
            continue
        _load(kernel)
        _keep_apart(kernel)
        with suppress(OSError):  # the folder goes when the first process has all
            done.touch()
        del left[kernel.name]
        update()


def _claimed(path: Path) -> bool:
    """Whether another process has made a file; else it is made."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return True
    except OSError:  # the folder is gone, as is who shared it
        return False
    return False


def _load(kernel: _Kernel, compiling: Callable[[], object] = lambda: None) -> bool:
    """Make a kernel callable; whether it was on disk.

    What was there and is damaged is thrown away, and compiled after ``compiling`` was called.
    """
    dispatcher = kernel.dispatcher
    # names of the code must not depend on what else this process has compiled (see _keep_apart)
    numbers = getattr(FunctionIdentity, "_unique_ids", None)
    if numbers is not None:
        FunctionIdentity._unique_ids = count_from(1_000_000 + 1000 * kernel.line)
    try:
        with register_dispatcher(dispatcher):
            damaged = _compile(kernel, compiling)
        dispatcher.disable_compile()
    finally:
        if numbers is not None:
            FunctionIdentity._unique_ids = numbers
    return damaged or (_CACHED[0] and not dispatcher.stats.cache_misses)


def _compile(kernel: _Kernel, compiling: Callable[[], object]) -> bool:
    """Load or compile a kernel; whether what was on disk was damaged."""
    dispatcher = kernel.dispatcher
    try:
        dispatcher.compile(kernel.signature)
    except Exception as error:
        if dispatcher.overloads:  # it was compiled, but there is no room for it on disk
            _not_kept.append(str(error))
            return False
        if not _thrown_away(kernel):
            raise
        compiling()
        try:
            dispatcher.compile(kernel.signature)
        except OSError as another:
            if not dispatcher.overloads:
                raise
            _not_kept.append(str(another))
        return True
    return False


def _thrown_away(kernel: _Kernel) -> bool:
    """Remove the files of a kernel, if there are any; where they cannot be removed it goes without."""
    file = getattr(getattr(kernel.dispatcher, "_cache", None), "_cache_file", None)
    index = Path(getattr(file, "_index_path", ""))
    if file is None or not os.path.lexists(index):
        return False
    for path in (index, *index.parent.glob(f"{escape(index.stem)}.*.nbc")):
        with suppress(OSError):
            path.unlink()
    if os.path.lexists(index):
        kernel.dispatcher._cache = NullCache()
    _damaged.append(str(index))
    return True


def _tell() -> None:
    """Warn of what was wrong with the files on disk, once for all kernels."""
    for wrong, said, done in (
        (_damaged, "kernels on disk were damaged", "they were compiled anew"),
        (_not_kept, "kernels cannot be kept on disk", "the next process compiles them again"),
    ):
        if wrong:
            more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            warnings.warn(f"{said} ({wrong[0]}{more}); {done}", RuntimeWarning, stacklevel=2)
            wrong.clear()


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _progress(total: int, done: int) -> Any:
    from tqdm.auto import tqdm

    text = "compiling kernels, once per machine"
    return tqdm(total=total, initial=done, desc=text, unit="kernel", disable=total < _MANY)


def _keep_apart(kernel: _Kernel) -> None:
    """Let callers call a kernel instead of compiling all that it is made of once more.

    Numba optimises and emits each kernel together with everything that it calls, at every level: copies of
    copies, which made compilation several times as long. Here a caller gets to see a declaration only; the
    code is found by its name, for it is loaded already, from the cache or compiled, under the same name in
    every process. Numba has no option for this; where its insides are not as expected, all is right and
    only slower to compile.
    """
    if kernel.small or not hasattr(FunctionIdentity, "_unique_ids"):
        return
    for result in kernel.dispatcher.overloads.values():
        library, name = result.library, result.fndesc.llvm_func_name
        if not hasattr(library, "_shared_module"):
            continue
        # what was read from the cache has its code as a module for callers only
        modules: list[Any] = [getattr(library, "_final_module", None), library._shared_module]
        for module in modules:
            try:
                function = module.get_function(name)
            except (NameError, AttributeError):
                continue
            result_type = str(function.global_value_type).split("(")[0]
            arguments = ", ".join(str(argument.type) for argument in function.arguments)
            text = f'target triple = "{module.triple}"\n'
            text += f'target datalayout = "{module.data_layout}"\n'
            text += f'declare {result_type} @"{name}"({arguments})\n'
            library._shared_module = llvm.parse_assembly(text)
            break


def entry(kernel: Any) -> Any:
    """A kernel to be called from Python as compiled code, without the look at its arguments' types.

    That look takes as long as a small kernel; arguments have to be what the kernel's signature says.
    """
    if not COMPILED:
        return kernel
    (compiled,) = kernel.overloads.values()
    return compiled.entry_point
