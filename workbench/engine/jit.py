"""Compiling kernels: one signature each, kept on disk, never stale.

Next file to read: ``layout.py``.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import count as count_from
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm
from numba import boolean, config, int32, int64, njit, uint8, uint16, uint32
from numba.core.bytecode import FunctionIdentity

__all__ = ["COMPILED", "entry", "finished", "jit"]

_INT32, _INT64, _UINT32 = int32[::1], int64[::1], uint32[::1]
_TYPES: dict[str, Any] = {
    "auto": _INT32,
    "pool": _INT32,
    "table": _INT32,
    "trans": _INT32,
    "work": _INT32,
    "buffer": _INT32,
    "new_pool": _INT32,
    "new_table": _INT32,
    "skips": _INT32,
    "tokens": _INT32,
    "moved": _INT32,
    "lengths": _INT32,
    "exits": _INT32,
    "exits_at": _INT32,
    "odd": _INT32,
    "inner": _INT32,
    "inner_at": _INT32,
    "leaves": _INT32,
    "leaves_at": _INT32,
    "duplicates": _INT32,
    "symbol_ids": _INT32,
    "symbol_at": _INT32,
    "row_table": _INT32,
    "row_hash": _INT64,
    "eos": _INT64,
    "positions": _INT64,
    "missed": _INT64,
    "token_ids": _INT64,
    "slice_rows": _UINT32,
    "found": _INT64,
    "offsets": _INT64,
    "count": _INT64,
    "new_count": _INT64,
    "rows_at": _INT64,
    "roots": _INT64,
    "states": _INT64,
    "rows": _UINT32,
    "out": _UINT32,
    "words": _UINT32,
    "loops": _UINT32,
    "around_loops": _UINT32,
    "slice_loops": _UINT32,
    "bytes_": uint8[::1],
    "data": uint8[::1],
    "live": uint8[::1],
    "blob": uint8[::1],
    "depths": uint16[::1],
    "exact": boolean,
    "utf8": boolean,
}


#: where kernels are: Numba's cache does not notice callees that have changed in another file
_FILES = ("jit", "layout", "terms", "seen", "records", "kernels")
_SOURCE = "".join(
    Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in _FILES
)
_DIGEST = sha256(_SOURCE.encode()).hexdigest()[:12]
_bar: Any = None
_CACHED = [True]

#: what Python calls
_CALLED = frozenset(
    """accept_at accept_many_at accepts advance advance_symbol both compact excluded finish_at forget_rows
    intern keep_at live_symbols lookup_at lookup_many_at lookup_to prepare_at rehash rehash_rows root_node
    rows_by_length run_length slice_trie store term1 term2""".split()
)
#: what may be copied into its callers
_SMALL = frozenset(
    """add_result add_thread begin_closure end_closure excluded failure fill find2 in_run intern mix
    next_thread scopes seen_child term1 term2 term3 tree_child utf8_byte zone_of""".split()
)

#: whether the kernels are compiled, not run as plain Python
COMPILED: bool = not config.DISABLE_JIT


def jit(function: Any) -> Any:
    """Compile for one signature, by the arguments' names; what is not named above is an int64.

    One signature a function: left to itself, Numba would compile each for every mix of int32 and
    int64 arguments that occurs. Compiled code is kept on disk under the hash of this file, so it is
    never stale; compiling it (once a machine, half a minute) shows its progress.
    """
    global _bar
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    signature = tuple(_TYPES.get(name, int64) for name in names)
    if COMPILED:
        function.__qualname__ = f"{function.__qualname__}-{_DIGEST}"
    inner = function.__name__ not in _CALLED
    # no kernel allocates, so none needs reference counts: they cost more than most kernels' work
    # names of the code must not depend on what else this process has compiled (see _keep_apart)
    numbers = getattr(FunctionIdentity, "_unique_ids", None)
    if numbers is not None:
        FunctionIdentity._unique_ids = count_from(1_000_000 + 1000 * code.co_firstlineno)
    options = {
        "nogil": True,
        "_nrt": False,
        "no_cpython_wrapper": inner,
        "no_cfunc_wrapper": True,
    }
    try:
        compiled = njit(signature, cache=_CACHED[0], **options)(function)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        # neither beside this file nor in the user's folder anything can be written
        _CACHED[0] = False
        compiled = njit(signature, **options)(function)
    if numbers is not None:
        FunctionIdentity._unique_ids = numbers
        if COMPILED and function.__name__ not in _SMALL:
            _keep_apart(compiled)
    if COMPILED and (compiled.stats.cache_misses or not _CACHED[0]):
        if _bar is None:
            from tqdm.auto import tqdm

            total = _SOURCE.count("\n@jit\n") + _SOURCE.count("\n    @jit\n")
            _bar = tqdm(total=total, desc="compiling kernels, once per machine", unit="kernel")
        _bar.update()
    return compiled


def _keep_apart(compiled: Any) -> None:
    """Let callers call a kernel instead of compiling all that it is made of once more.

    Numba optimises and emits each kernel together with everything that it calls, at every level: copies of
    copies, which made compilation several times as long. Here a caller gets to see a declaration only; the
    code is found by its name, for it is loaded already, from the cache or compiled, under the same name in
    every process. Numba has no option for this; where its insides are not as expected, all is right and
    only slower to compile.
    """
    for result in compiled.overloads.values():
        library, name = result.library, result.fndesc.llvm_func_name
        module = getattr(library, "_final_module", None)
        if module is None or not hasattr(library, "_shared_module"):
            continue
        try:
            kernel = module.get_function(name)
        except (NameError, AttributeError):  # it was read from the cache
            continue
        result_type = str(kernel.global_value_type).split("(")[0]
        arguments = ", ".join(str(argument.type) for argument in kernel.arguments)
        text = f'target triple = "{module.triple}"\n'
        text += f'target datalayout = "{module.data_layout}"\n'
        text += f'declare {result_type} @"{name}"({arguments})\n'
        declaration = llvm.parse_assembly(text)
        library._shared_module = declaration


def entry(kernel: Any) -> Any:
    """A kernel to be called from Python as compiled code, without the look at its arguments' types.

    That look takes as long as a small kernel; arguments have to be what the kernel's signature says.
    """
    if not COMPILED:
        return kernel
    (compiled,) = kernel.overloads.values()
    return compiled.entry_point


def finished() -> None:
    """All kernels are there: close the progress bar."""
    if _bar is not None:
        _bar.n = _bar.total
        _bar.close()
