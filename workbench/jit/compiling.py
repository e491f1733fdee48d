"""From kernels to an object file: all kernels of a package become one module in LLVM's language."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from workbench.jit.expressions import Signature
from workbench.jit.kinds import INT, Kind
from workbench.jit.machine import DECLARED, object_code
from workbench.jit.statements import translated
from workbench.jit.wrappers import wrapper

__all__ = ["PARTS", "compiled"]

#: the functions of a file by name and first line
_Trees: TypeAlias = dict[tuple[str, int], ast.FunctionDef]
#: in how many parts of work :func:`compiled` tells how far it is
PARTS = 4
_HEAD = """
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
attributes #0 = { nounwind }
!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 2000}
"""


def compiled(
    functions: Sequence[Any],
    kinds: Mapping[str, Kind],
    called: Collection[str],
    held: Collection[str],
    step: Callable[[], object],
) -> tuple[bytes, list[type[BaseException]]]:
    """The object file of some kernels, and what they raise, in the order of the numbers.

    Functions come after those that they call. Parameters are int64, but those that ``kinds`` names; ``called`` are
    for Python, ``held`` of them keep the GIL. Raises ``TypeError`` for what kernels cannot do.
    """
    signatures: dict[Any, Signature] = {}
    exceptions: dict[type[BaseException], int] = {}
    trees: dict[str, _Trees] = {}
    texts = [_HEAD]
    texts += [
        f"declare {kind.replace('(', f'@{name}(', 1)}" for name, kind in sorted(DECLARED.items())
    ]
    for function in functions:
        code, name = function.__code__, function.__name__
        arguments = [
            (argument, kinds.get(argument, INT))
            for argument in code.co_varnames[: code.co_argcount]
        ]
        signature, text = translated(
            _tree(function, trees),
            arguments,
            function.__globals__,
            signatures,
            exceptions,
            (code.co_filename, name),
        )
        signatures[function] = signature
        texts.append(text)
        if name in called:
            texts.append(wrapper(signature, name in held))
    step()
    return object_code("\n".join(texts), step), list(exceptions)


def _tree(function: Any, trees: dict[str, _Trees]) -> ast.FunctionDef:
    """The syntax tree of a function; those of whole files are kept in ``trees``."""
    code = function.__code__
    if code.co_filename not in trees:
        trees[code.co_filename] = _read(code.co_filename)
    try:
        return trees[code.co_filename][code.co_name, code.co_firstlineno]
    except KeyError:
        raise TypeError(f"{code.co_filename} has no function {code.co_name} any more") from None


def _read(path: str) -> _Trees:
    """The functions of a file; the first line of one is that of its decorator."""
    tree = ast.parse(Path(path).read_bytes(), path)
    return {
        (node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])): node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
