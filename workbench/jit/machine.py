"""This machine's code: made of LLVM's language, loaded into the process, called from Python."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import llvmlite
from llvmlite import binding as llvm

__all__ = ["DECLARED", "callables", "entry_symbol", "object_code", "processor"]

#: what of Python's C API is called
DECLARED = {
    "PyBool_FromLong": "ptr (i64)",
    "PyBuffer_Release": "void (ptr)",
    "PyErr_Occurred": "ptr ()",
    "PyErr_SetNone": "void (ptr)",
    "PyErr_SetString": "void (ptr, ptr)",
    "PyEval_RestoreThread": "void (ptr)",
    "PyEval_SaveThread": "ptr ()",
    "PyLong_AsLongLong": "i64 (ptr)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyObject_GetBuffer": "i32 (ptr, ptr, i32)",
    "PyObject_IsTrue": "i32 (ptr)",
    "PyTuple_GetItem": "ptr (ptr, i64)",
    "PyTuple_New": "ptr (i64)",
    "PyTuple_SetItem": "i32 (ptr, i64, ptr)",
    "Py_DecRef": "void (ptr)",
    "Py_IncRef": "void (ptr)",
}
#: METH_FASTCALL
_FASTCALL = 0x80
#: engines, definitions and what else has to stay as long as code may run
_KEPT: list[Any] = []


class _Definition(ctypes.Structure):
    """A PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def processor() -> tuple[str, ...]:
    """For what code is made: the processor, what it can do, the system, Python and LLVM.

    ``WORKBENCH_CPU_NAME`` and ``WORKBENCH_CPU_FEATURES`` name another processor than this one.
    """
    name = os.environ.get("WORKBENCH_CPU_NAME") or llvm.get_host_cpu_name()
    features = os.environ.get("WORKBENCH_CPU_FEATURES")
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    version = ".".join(map(str, llvm.llvm_version_info))
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return name, features, llvm.get_process_triple(), python, llvmlite.__version__, version


@cache
def _ready() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target_machine() -> Any:
    _ready()
    name, features, triple, *_ = processor()
    x86 = triple.startswith(("x86", "i386", "i686"))
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=name,
        features=features,
        opt=2,
        reloc="static" if x86 else "default",
        codemodel="jitdefault",
        jit=True,
    )


def object_code(text: str, step: Callable[[], object]) -> bytes:
    """Optimise a module in LLVM's language, all of it together, and make an object file of it.

    ``step`` is called after each of three parts of the work.
    """
    machine = _target_machine()
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    step()
    options = llvm.create_pipeline_tuning_options(2)
    # with more, compiling takes a third longer, and kernels are no faster
    options.inlining_threshold = 100
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    step()
    image: bytes = machine.emit_object(module)
    step()
    return image


def entry_symbol(name: str) -> str:
    """The symbol of the function that Python calls for a kernel."""
    return f"entry.{name}"


def callables(
    image: bytes, names: Iterable[str], bound: tuple[object, ...], module: str
) -> dict[str, Any]:
    """What Python calls, by name, of an object file.

    ``bound`` is what the functions get as ``self``, ``module`` their module's name. Raises ``RuntimeError`` where the
    file is none for this machine.
    """
    _ready()
    for name in DECLARED:
        function = getattr(ctypes.pythonapi, name)
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(image))
    engine.finalize_object()
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    new.restype = ctypes.py_object
    found = {}
    for name in names:
        address = engine.get_function_address(entry_symbol(name))
        definition = _Definition(name.encode(), address, _FASTCALL, None)
        found[name] = new(ctypes.addressof(definition), bound, module)
        _KEPT.append(definition)
    _KEPT.append(engine)
    return found
