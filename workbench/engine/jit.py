"""Compiling kernels: one signature each, kept on disk, never stale."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import count as count_from
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from llvmlite import binding as llvm
from numba import boolean, config, int32, int64, njit, uint8, uint16, uint32
from numba.core.bytecode import FunctionIdentity
from numba.core.typeinfer import register_dispatcher

from workbench.engine.context import context_type, part_type

__all__ = ["COMPILED", "entry", "finished", "jit"]

_INT32, _INT64, _UINT32 = int32[::1], int64[::1], uint32[::1]
#: parameters that are not int64, by name
_TYPES: dict[str, Any] = {
    "ctx": context_type,
    "part": part_type,
    **dict.fromkeys(("pool", "table", "buffer", "moved", "trans"), _INT32),
    **dict.fromkeys(("skips", "tokens", "lengths", "exits", "odd", "row_table"), _INT32),
    **dict.fromkeys(("count", "states", "offsets", "rows_at", "row_hash"), _INT64),
    **dict.fromkeys(("roots", "positions", "missed", "token_ids"), _INT64),
    **dict.fromkeys(("rows", "out", "words", "loops"), _UINT32),
    **dict.fromkeys(("bytes_", "data", "live"), uint8[::1]),
    "depths": uint16[::1],
    **dict.fromkeys(("exact", "by_rows"), boolean),
}


#: where kernels are: Numba's cache does not notice callees that have changed in another file
_FILES = """jit context layout terms seen values places texts records rows closures expansion questions masks runs walks
    slice_walks advances compaction kernels""".split()
_SOURCE = "".join(
    Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in _FILES
)
_DIGEST = sha256(_SOURCE.encode()).hexdigest()[:12]
_CACHED = [True]
#: names the folder by which two processes share the work, in the second one's environment
_SHARED = "WORKBENCH_SHARED_KERNELS"

#: what Python calls
_CALLED = frozenset(
    """accept_at accept_many_at accepts advance advance_symbol both closed_at compact excluded finish_at forget_rows
    intern live_symbols lookup_at lookup_many_at lookup_to prepare_at rehash rehash_rows rows_by_length run_length
    slice_trie tangled_node term1 term2""".split()
)
#: what holds the GIL while it runs: short, and not to be interrupted by other threads (see ``lookup_to``)
_HELD = frozenset(("accept_at", "lookup_to"))
#: what may be copied into its callers
_SMALL = frozenset(
    """add_result add_thread begin_closure character_begun character_on end_closure excluded fill find2
    in_run intern is_empty mix next_thread ones seen_child term1 term2 term3 tree_child utf8_byte
    zone_of""".split()
)

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


#: kernels that are not loaded yet, by name in the order of the sources: callees come first
_waiting: dict[str, _Kernel] = {}
_named: set[str] = set()


def jit(function: Any) -> Any:
    """Compile for one signature, by the arguments' names; what is not named above is an int64.

    One signature a function: left to itself, Numba would compile each for every mix of int32 and
    int64 arguments that occurs. Compiled code is kept on disk under the hash of this file, so it is
    never stale. Nothing is compiled before :func:`finished` is called.
    """
    if not COMPILED:
        return function
    name, code = function.__name__, function.__code__
    names = code.co_varnames[: code.co_argcount]
    signature = tuple(_TYPES.get(name, int64) for name in names)
    function.__qualname__ = f"{function.__qualname__}-{_DIGEST}"
    # no kernel allocates, so none needs reference counts: they cost more than most kernels' work
    options = {
        "nogil": name not in _HELD,
        "_nrt": False,
        "no_cpython_wrapper": name not in _CALLED,
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
    calls = frozenset(_named.intersection(code.co_names))
    _waiting[name] = _Kernel(name, dispatcher, signature, code.co_firstlineno, calls)
    _named.add(name)
    return dispatcher


def finished() -> None:
    """All kernels are known: load them, or compile those that are not on disk.

    Compiling them (once a machine, half a minute) shows its progress. Where there is a second core, a second
    process compiles as well; they share the work through the files on disk.
    """
    kernels = list(_waiting.values())
    _waiting.clear()
    shared = os.environ.get(_SHARED)
    if shared is not None:
        parent = os.getppid()
        _share(kernels, Path(shared), lambda: os.getppid() == parent)
        return
    for number, kernel in enumerate(kernels):
        if _load(kernel):
            continue
        # it was compiled: so must be what follows
        with _progress(len(kernels), number + 1) as bar:
            for known in kernels[: number + 1]:
                _keep_apart(known)
            _compile_all(kernels[number + 1 :], bar)
        return


def _compile_all(kernels: list[_Kernel], bar: Any) -> None:
    """Compile kernels whose callees, if not among them, are loaded; with the help of a second process."""
    with ExitStack() as stack:
        helper = None
        frozen = getattr(sys, "frozen", False)
        if _CACHED[0] and _cores() > 1 and sys.executable and not frozen:
            folder = stack.enter_context(TemporaryDirectory(prefix="workbench-kernels-"))
            with suppress(OSError):
                helper = subprocess.Popen(
                    [sys.executable, "-c", f"import {__name__.rpartition('.')[0]}.kernels"],
                    env=os.environ | {_SHARED: folder, "PYTHONPATH": os.pathsep.join(sys.path)},
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


def _load(kernel: _Kernel) -> bool:
    """Make a kernel callable; whether it was on disk."""
    dispatcher = kernel.dispatcher
    # names of the code must not depend on what else this process has compiled (see _keep_apart)
    numbers = getattr(FunctionIdentity, "_unique_ids", None)
    if numbers is not None:
        FunctionIdentity._unique_ids = count_from(1_000_000 + 1000 * kernel.line)
    try:
        with register_dispatcher(dispatcher):
            dispatcher.compile(kernel.signature)
        dispatcher.disable_compile()
    finally:
        if numbers is not None:
            FunctionIdentity._unique_ids = numbers
    return _CACHED[0] and not dispatcher.stats.cache_misses


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _progress(total: int, done: int) -> Any:
    from tqdm.auto import tqdm

    text = "compiling kernels, once per machine"
    return tqdm(total=total, initial=done, desc=text, unit="kernel")


def _keep_apart(kernel: _Kernel) -> None:
    """Let callers call a kernel instead of compiling all that it is made of once more.

    Numba optimises and emits each kernel together with everything that it calls, at every level: copies of
    copies, which made compilation several times as long. Here a caller gets to see a declaration only; the
    code is found by its name, for it is loaded already, from the cache or compiled, under the same name in
    every process. Numba has no option for this; where its insides are not as expected, all is right and
    only slower to compile.
    """
    if kernel.name in _SMALL or not hasattr(FunctionIdentity, "_unique_ids"):
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
