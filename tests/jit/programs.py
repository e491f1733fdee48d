"""Random kernels: programs of the part of Python that kernels are written in, whose numbers stay small."""

from __future__ import annotations

from random import Random

__all__ = ["program"]

#: of each function its parameters; all of them have these kinds
PARAMETERS = ("a", "b", "yes", "values")
_INDENT = "    "


def program(seed: int) -> str:
    """The text of a module with three functions, which may call those before them."""
    rng = Random(seed)
    texts: list[str] = []
    results: list[int] = []
    for number in range(3):
        made = _Function(rng, number, tuple(results))
        texts.append(made.text)
        results.append(made.returned)
    return "\n".join(texts)


class _Function:
    """A function under way. Numbers stay below 2 ** 16, so that no product of two overflows."""

    def __init__(self, rng: Random, number: int, before: tuple[int, ...]):
        self._rng, self._before = rng, before
        self._numbers, self._truths = ["a", "b"], ["yes"]
        #: counters of loops, which nothing else sets
        self._counters = 0
        self._loops = 0
        #: how many values it returns
        self.returned = rng.choice((1, 1, 2, 3))
        lines = [f"def f{number}({', '.join(PARAMETERS)}):"]
        lines += self._block(3, _INDENT)
        lines.append(f"{_INDENT}{self._return()}")
        self.text = "\n".join(lines) + "\n"

    def _return(self) -> str:
        return f"return {', '.join(self._number(2) for _ in range(self.returned))}"

    def _block(self, depth: int, indent: str) -> list[str]:
        lines: list[str] = []
        known = len(self._numbers), len(self._truths)
        for _ in range(self._rng.randint(1, 4)):
            lines += self._statement(depth, indent)
        if depth < 3:  # what is set inside may not be set after it
            del self._numbers[known[0] :], self._truths[known[1] :]
        return lines

    def _statement(self, depth: int, indent: str) -> list[str]:
        kinds = ["number", "number", "truth", "add", "swap", "store", "add_store"]
        if self._before:
            kinds.append("call")
        if depth:
            kinds += ["if", "if", "for", "for", "while", "items"]
        if self._loops:
            kinds += ["break", "continue"]
        kind = self._rng.choice(kinds)
        if kind in ("if", "for", "while", "items"):
            lines: list[str] = getattr(self, f"_{kind}")(depth - 1, indent)
            return lines
        if kind in ("break", "continue"):
            leave = self._rng.choice((kind, kind, self._return(), "raise Gone"))
            return [f"{indent}if {self._truth(1)}:", f"{indent}{_INDENT}{leave}"]
        return [f"{indent}{getattr(self, f'_{kind}_line')()}"]

    def _target(self, names: list[str], prefix: str) -> str:
        if len(names) < 5 and self._rng.random() < 0.4:
            names.append(f"{prefix}{len(names)}")
            return names[-1]
        return self._rng.choice(names)

    def _bounded(self, text: str) -> str:
        return f"({text}) % 4093 - 1000"

    def _number_line(self) -> str:
        value = self._bounded(self._number(3))
        return f"{self._target(self._numbers, 'n')} = {value}"

    def _truth_line(self) -> str:
        value = self._truth(2)
        return f"{self._target(self._truths, 't')} = {value}"

    def _add_line(self) -> str:
        name = self._rng.choice(self._numbers)
        value = self._number(1)
        return f"{name} {self._rng.choice(('|', '^', '&'))}= ({value}) & 0xFFF"

    def _swap_line(self) -> str:
        one, other = self._rng.choice(self._numbers), self._rng.choice(self._numbers)
        value = self._bounded(self._number(1))
        return f"{one}, {other} = {other}, {value}"

    def _index(self) -> str:
        return f"({self._number(1)}) % 6" + self._rng.choice(("", " - 6", " - values.size"))

    def _store_line(self) -> str:
        return f"values[{self._index()}] = {self._bounded(self._number(2))}"

    def _add_store_line(self) -> str:
        return f"values[{self._index()}] ^= ({self._number(1)}) & 0xFFF"

    def _call_line(self) -> str:
        number = self._rng.randrange(len(self._before))
        given = f"{self._number(1)}, {self._number(1)}, {self._truth(1)}"
        targets = [self._rng.choice(self._numbers) for _ in range(self._before[number])]
        part = self._rng.choice(("values", "values", "values[:]"))
        call = f"f{number}({given}, {part})"
        if len(targets) == 1:
            return f"{targets[0]} = {self._bounded(call)}"
        return f"{', '.join(targets)} = {call}"

    def _if(self, depth: int, indent: str) -> list[str]:
        lines = [f"{indent}if {self._truth(2)}:", *self._block(depth, indent + _INDENT)]
        if self._rng.random() < 0.4:
            lines += [f"{indent}elif {self._number(1)}:", *self._block(depth, indent + _INDENT)]
        if self._rng.random() < 0.5:
            lines += [f"{indent}else:", *self._block(depth, indent + _INDENT)]
        return lines

    def _body(self, depth: int, indent: str) -> list[str]:
        self._loops += 1
        lines = self._block(depth, indent + _INDENT)
        self._loops -= 1
        return lines

    def _for(self, depth: int, indent: str) -> list[str]:
        start, stop = f"({self._number(1)}) % 5", f"({self._number(1)}) % 7"
        bounds = self._rng.choice(
            (stop, f"{start}, {stop}", f"{start}, {stop}, 2", f"{stop}, -1, -1")
        )
        name = self._rng.choice((self._rng.choice(self._numbers), self._counter()))
        return [f"{indent}for {name} in range({bounds}):", *self._body(depth, indent)]

    def _items(self, depth: int, indent: str) -> list[str]:
        items = f"{self._number(1)} & 0xFF, 3, {self._number(1)} & 0xFF"
        name = self._rng.choice(self._numbers)
        return [f"{indent}for {name} in ({items}):", *self._body(depth, indent)]

    def _while(self, depth: int, indent: str) -> list[str]:
        counter = self._counter()
        test = self._rng.choice((f"{counter} < 5", f"{counter} < 5 and {self._truth(1)}"))
        lines = [f"{indent}{counter} = 0", f"{indent}while {test}:"]
        return [*lines, f"{indent}{_INDENT}{counter} += 1", *self._body(depth, indent)]

    def _counter(self) -> str:
        self._counters += 1
        return f"i{self._counters}"

    def _number(self, depth: int) -> str:
        rng = self._rng
        if not depth or rng.random() < 0.2:
            return rng.choice(
                (*self._numbers, f"({rng.randint(-9, 99)})", f"values[{rng.randint(-6, 5)}]")
            )
        one, other = self._number(depth - 1), self._number(depth - 1)
        return rng.choice(
            (
                f"({one} + {other})",
                f"({one} - {other})",
                f"(({one} & 0xFF) * ({other} % 100 - 50))",
                f"({one} // {other})",
                f"({one} % {other})",
                f"(({one} & 0xFF) << ({other} & 7))",
                f"({one} >> ({other} & 7))",
                f"({one} ^ {other})",
                f"(-{one})",
                f"(~{one})",
                f"min({one}, {other})",
                f"max({one}, 7, {other})",
                f"({one} if {self._truth(depth - 1)} else {other})",
                f"int({self._truth(depth - 1)})",
            )
        )

    def _truth(self, depth: int) -> str:
        rng = self._rng
        if not depth or rng.random() < 0.2:
            return rng.choice((*self._truths, "True", "False"))
        one, other = self._number(depth - 1), self._number(depth - 1)
        yes, no = self._truth(depth - 1), self._truth(depth - 1)
        return rng.choice(
            (
                f"({one} {rng.choice(('<', '<=', '==', '!=', '>', '>='))} {other})",
                f"({one} < {other} <= {self._number(depth - 1)})",
                f"({one} in ({other}, 3, 5))",
                f"({one} not in ({other}, 3, 5))",
                f"({yes} and {no})",
                f"({yes} or {no})",
                f"(not {yes})",
                f"(not {one})",
                f"({yes} if {no} else {self._truth(depth - 1)})",
            )
        )
