"""A kernel, from its syntax tree to a function in LLVM's language."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.jit.expressions import Expressions, Signature
from workbench.jit.kinds import BOOL, INT, NONE, Kind, Tuple, joined
from workbench.jit.lines import Value

__all__ = ["translated"]

#: in place of a variable's name: what the kernel returns
_RESULT = "<result>"


class _Widened(Exception):
    """A variable, or what is returned, is more than it seemed to be: begin anew."""


def translated(
    function: ast.FunctionDef,
    signature: Sequence[tuple[str, Kind]],
    names: Mapping[str, Any],
    kernels: Mapping[Any, Signature],
    exceptions: dict[type[BaseException], int],
    place: tuple[str, str],
) -> tuple[Signature, str]:
    """A kernel's signature and its function.

    ``names`` are the globals of its module, ``kernels`` those that it may call, ``exceptions`` the numbers of what is
    raised, which may become more. ``place`` are the file and the name that the function gets. Raises ``TypeError``,
    which names file and line, for what kernels cannot do.
    """
    kinds: dict[str, Kind] = {}
    while True:
        body = _Body(names, kernels, place[0], exceptions, kinds)
        try:
            return body.whole(function, signature, place[1])
        except _Widened:
            continue


class _Body(Expressions):
    """The statements of a kernel."""

    def __init__(
        self,
        names: Mapping[str, Any],
        kernels: Mapping[Any, Signature],
        place: str,
        exceptions: dict[type[BaseException], int],
        kinds: dict[str, Kind],
    ):
        super().__init__(names, kernels, place)
        self._exceptions = exceptions
        #: of variables what is known of their kinds from before
        self._kinds = kinds
        #: of the loops around: where they go on, where they end
        self._loops: list[tuple[str, str]] = []
        #: where the kernel returns: after so many lines, what
        self._returns: list[tuple[int, Value]] = []

    def whole(
        self, function: ast.FunctionDef, arguments: Sequence[tuple[str, Kind]], name: str
    ) -> tuple[Signature, str]:
        """The function."""
        given, parameters = [], function.args
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs or parameters.defaults:
            raise self.refused(
                function, "its parameters have defaults, or are as many as are given"
            )
        for i, (argument, kind) in enumerate(arguments):
            value = Value(kind, tuple(f"%a{i}.{j}" for j in range(len(kind.parts))))
            given += value.typed
            self._assign(function, argument, value)
        self.counters = _counters(function, self.names)
        self._suite(function.body)
        if self.is_open:
            if self._kinds.get(_RESULT, NONE) is not NONE:
                raise self.refused(function, "it may end without a value")
            self._finish(function, Value(NONE, ()))
        signature = Signature(
            name, tuple(arguments), self._kinds.get(_RESULT, NONE), raises=self.raises
        )
        for at, value in reversed(self._returns):
            self.lines[at:at] = _returning(signature, value, at)
        if self.raises:
            self.lines += ["failed:", *self._failing(signature)]
        head = f'define internal fastcc {signature.returned} @"{name}"({", ".join(given)}) #0 {{'
        return signature, "\n".join([head, *self.slots, *self.lines, "}", ""])

    def _failing(self, signature: Signature) -> list[str]:
        found = f"  %failed.status = load i64, ptr {self.status}"
        if signature.returned == "i64":
            return [found, "  ret i64 %failed.status"]
        whole = f"insertvalue {signature.returned} poison, i64 %failed.status, 0"
        return [found, f"  %failed.all = {whole}", f"  ret {signature.returned} %failed.all"]

    def fail(self, exception: type[BaseException]) -> None:
        number = self._exceptions.setdefault(exception, len(self._exceptions) + 1)
        self.raises = True
        self.put(f"store i64 {number}, ptr {self.status}")
        self.jump("failed")

    def _suite(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.is_open:
                return
            method = getattr(self, f"_on_{type(statement).__name__.lower()}", None)
            if method is None:
                raise self.refused(statement, f"it has a {type(statement).__name__}")
            method(statement)

    def _on_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def _on_pass(self, node: ast.Pass) -> None:
        pass

    def _on_assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._assign_to(target, value)

    def _assign_to(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._assign(target, target.id, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value.kind, Tuple) or len(value.kind.items) != len(target.elts):
                raise self.refused(
                    target, f"{value.kind.name} is not as many values as there are names"
                )
            for one, item in zip(target.elts, value.items(), strict=True):
                self._assign_to(one, item)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            address, array = self.element(target)
            if value.kind not in (INT, BOOL):
                raise self.refused(target, f"{value.kind.name} is no element")
            self.write(address, array, value)
        else:
            raise self.refused(target, f"it assigns to a {type(target).__name__}")

    def _assign(self, node: ast.AST, name: str, value: Value) -> None:
        """Give a variable a value."""
        kind = self._kind(node, name, value.kind)
        if name not in self.variables:
            self.variables[name] = kind, [self.slot(part) for part in kind.parts]
        self.stored(self.converted(value, kind), self.variables[name][1])

    def _kind(self, node: ast.AST, name: str, kind: Kind) -> Kind:
        """The kind of a variable that gets a value of a kind."""
        known = self._kinds.setdefault(name, kind)
        both = joined(known, kind)
        if both is None:
            what = "what it returns" if name == _RESULT else name
            raise self.refused(node, f"{what} is {known.name} and {kind.name}")
        if both != known:
            self._kinds[name] = both
            raise _Widened
        return both

    def _on_augassign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Subscript):
            before, more = self.value(node.target), self.value(node.value)
            self._assign_to(node.target, self.combined(node, node.op, before, more))
            return
        # where the element is, is found once
        address, array = self.element(node.target)
        before, more = self.read(address, array), self.value(node.value)
        self.write(address, array, self.combined(node, node.op, before, more))

    def _on_if(self, node: ast.If) -> None:
        yes, no, end = self.new("then"), self.new("else"), self.new("end")
        self.branch(node.test, yes, no if node.orelse else end)
        self.begin(yes)
        self._suite(node.body)
        self.jump(end)
        if node.orelse:
            self.begin(no)
            self._suite(node.orelse)
        self.begin(end)

    def _on_while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.refused(node, "a loop has an else")
        again, body, end = self.new("while"), self.new("body"), self.new("end")
        self.begin(again)
        self.branch(node.test, body, end)
        self.begin(body)
        self._looped(node.body, again, end)
        self.jump(again)
        self.begin(end)

    def _looped(self, body: list[ast.stmt], go_on: str, end: str) -> None:
        self._loops.append((go_on, end))
        self._suite(body)
        self._loops.pop()

    def _on_for(self, node: ast.For) -> None:
        if node.orelse or not isinstance(node.target, ast.Name):
            raise self.refused(node, "a loop goes over one variable, without an else")
        if isinstance(node.iter, ast.Tuple):
            self._for_items(node, node.iter)
            return
        call = node.iter
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if not is_range or call.func.id != "range" or not 1 <= len(call.args) <= 3:  # type: ignore[attr-defined]
            raise self.refused(node, "a loop goes over a range or a tuple")
        bounds = [self.number(bound) for bound in call.args]  # type: ignore[attr-defined]
        start, stop = (self.known(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else self.known(1)
        if not step.number:
            raise self.refused(node, "the step of a range has to be a number that is known")
        self._counted(node, start, stop, step.number, lambda number: number)

    def _counted(
        self,
        node: ast.For,
        start: Value,
        stop: Value,
        step: int,
        item: Callable[[Value], Value],
    ) -> None:
        """A loop that counts; its variable gets what ``item`` makes of the number."""
        assert isinstance(node.target, ast.Name)
        again, body, following, end = (self.new(n) for n in ("for", "body", "next", "end"))
        counter = [self.slot("i64")]
        self.stored(start, counter)
        self.begin(again)
        number = self.loaded(INT, counter)
        compared = "slt" if step > 0 else "sgt"
        self.fork(self.do(f"icmp {compared} i64 {number.one}, {stop.one}"), body, end)
        self.begin(body)
        self._assign(node.target, node.target.id, item(number))
        self._looped(node.body, following, end)
        self.begin(following)
        # one more step comes to the bound at most, and does not overflow
        sure = "nsw " if abs(step) == 1 else ""
        self.stored(Value(INT, (self.do(f"add {sure}i64 {number.one}, {step}"),)), counter)
        self.jump(again)
        self.begin(end)

    def _for_items(self, node: ast.For, items: ast.Tuple) -> None:
        """A loop over numbers, which are put into memory first."""
        count = len(items.elts)
        numbers = [self.number(item) for item in items.elts]
        listed = self.slot(f"[{count} x i64]")
        for i, number in enumerate(numbers):
            self.put(
                f"store i64 {number.one}, ptr {self.do(f'getelementptr i64, ptr {listed}, i64 {i}')}"
            )

        def item(number: Value) -> Value:
            address = self.do(f"getelementptr i64, ptr {listed}, i64 {number.one}")
            return Value(INT, (self.do(f"load i64, ptr {address}"),))

        self._counted(node, self.known(0), self.known(count), 1, item)

    def _on_continue(self, node: ast.Continue) -> None:
        self.jump(self._loops[-1][0])

    def _on_break(self, node: ast.Break) -> None:
        self.jump(self._loops[-1][1])

    def _on_return(self, node: ast.Return) -> None:
        self._finish(node, Value(NONE, ()) if node.value is None else self.value(node.value))

    def _finish(self, node: ast.AST, value: Value) -> None:
        """Return a value; how is written when it is known whether the kernel may raise."""
        value = self.converted(value, self._kind(node, _RESULT, value.kind))
        self._returns.append((len(self.lines), value))
        self.is_open = False

    def _on_raise(self, node: ast.Raise) -> None:
        name = node.exc.id if isinstance(node.exc, ast.Name) else ""
        found = self.names.get(name, getattr(builtins, name, None))
        if not isinstance(found, type) or not issubclass(found, BaseException) or node.cause:
            raise self.refused(node, "it raises something else than a class of exceptions")
        self.fail(found)


def _returning(signature: Signature, value: Value, number: int) -> list[str]:
    """The lines that return a value, and 0 for no exception."""
    parts = [*(["i64 0"] if signature.raises else []), *value.typed]
    if not parts:
        return ["  ret void"]
    if len(parts) == 1:
        return [f"  ret {parts[0]}"]
    lines, whole = [], "poison"
    for i, part in enumerate(parts):
        name = f"%r{number}.{i}"
        lines.append(f"  {name} = insertvalue {signature.returned} {whole}, {part}, {i}")
        whole = name
    return [*lines, f"  ret {signature.returned} {whole}"]


def _counters(function: ast.FunctionDef, names: Mapping[str, Any]) -> set[str]:
    """Variables that only loops over ranges set, from a start that is not negative, upwards."""
    found: set[str] = set()
    others = {argument.arg for argument in function.args.args}
    targets: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            targets.add(id(node.target))
            (found if _upwards(node.iter, names) else others).add(node.target.id)
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in targets
        ):
            others.add(node.id)
    return found - others


def _upwards(range_: ast.expr, names: Mapping[str, Any]) -> bool:
    """Whether a range begins at a number that is not negative, and its step is positive."""
    if not isinstance(range_, ast.Call):
        return False
    start = range_.args[:1] if len(range_.args) > 1 else []
    for number in (*start, *range_.args[2:]):
        known = names.get(number.id) if isinstance(number, ast.Name) else None
        known = number.value if isinstance(number, ast.Constant) else known
        if not isinstance(known, int) or known < 0:
            return False
    return True
