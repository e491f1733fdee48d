"""The text of one function in LLVM's language, written from the top: registers, labels, jumps."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.jit.kinds import BOOL, INT, Array, Kind, Tuple

__all__ = ["Lines", "Value"]


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression comes to: an operand for each part of its kind; a number that is known is ``number``."""

    kind: Kind
    parts: tuple[str, ...]
    number: int | None = None

    @property
    def one(self) -> str:
        """The only operand."""
        (part,) = self.parts
        return part

    @property
    def typed(self) -> list[str]:
        """Operands with their types, as arguments are written."""
        return [f"{kind} {part}" for kind, part in zip(self.kind.parts, self.parts, strict=True)]

    def items(self) -> list[Value]:
        """The values of a tuple."""
        assert isinstance(self.kind, Tuple)
        found, at = [], 0
        for kind in self.kind.items:
            stop = at + len(kind.parts)
            found.append(Value(kind, self.parts[at:stop]))
            at = stop
        return found


class Lines:
    """Lines of a function under way; after a jump nothing is written until a label begins."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        #: slots of variables, which stand at the beginning
        self.slots: list[str] = []
        self.is_open = True
        self._made = 0
        self._reached: set[str] = set()

    def new(self, name: str) -> str:
        """A name that is not in use, for a register, a slot or a label."""
        self._made += 1
        return f"{name}{self._made}"

    def put(self, text: str) -> None:
        """Write an instruction without a result."""
        if self.is_open:
            self.lines.append(f"  {text}")

    def do(self, text: str) -> str:
        """Write an instruction; its result's register."""
        register = f"%{self.new('v')}"
        if self.is_open:
            self.lines.append(f"  {register} = {text}")
        return register

    def slot(self, kind: str) -> str:
        """Space for a value that changes; LLVM makes registers of it."""
        name = f"%{self.new('s')}"
        self.slots.append(f"  {name} = alloca {kind}")
        return name

    def begin(self, label: str) -> None:
        """What follows has a label; it is not written where no jump leads to it."""
        self.jump(label)
        if label in self._reached:
            self.lines.append(f"{label}:")
            self.is_open = True

    def jump(self, label: str) -> None:
        """Go on at a label."""
        if self.is_open:
            self._reached.add(label)
            self.put(f"br label %{label}")
            self.is_open = False

    def fork(self, condition: str, yes: str, no: str, note: str = "") -> None:
        """Go on at one of two labels."""
        if self.is_open:
            self._reached.update((yes, no))
            self.put(f"br i1 {condition}, label %{yes}, label %{no}{note}")
            self.is_open = False

    def converted(self, value: Value, kind: Kind) -> Value:
        """A value as one of another kind with which it can be joined."""
        if value.kind == kind:
            return value
        if isinstance(kind, Tuple):
            items = [
                self.converted(item, to) for item, to in zip(value.items(), kind.items, strict=True)
            ]
            return Value(kind, tuple(part for item in items for part in item.parts))
        if value.number is not None:
            return self.known(int(value.number), kind)
        if kind is INT:
            return Value(INT, (self.do(f"zext i1 {value.one} to i64"),))
        return Value(BOOL, (self.do(f"icmp ne i64 {value.one}, 0"),))

    def known(self, number: int, kind: Kind = INT) -> Value:
        """A number or a truth value that is known."""
        if kind is BOOL:
            return Value(BOOL, ("true" if number else "false",), int(bool(number)))
        number = (number + (1 << 63)) % (1 << 64) - (1 << 63)
        return Value(INT, (str(number),), number)

    def loaded(self, kind: Kind, slots: list[str]) -> Value:
        """The value that is in slots."""
        return Value(
            kind,
            tuple(
                self.do(f"load {part}, ptr {slot}")
                for part, slot in zip(kind.parts, slots, strict=True)
            ),
        )

    def stored(self, value: Value, slots: list[str]) -> None:
        """Put a value into slots."""
        for typed, slot in zip(value.typed, slots, strict=True):
            self.put(f"store {typed}, ptr {slot}")

    def array(self, element: str, data: str, *sizes: str) -> Value:
        """An array over memory that is another's."""
        return Value(Array(element, len(sizes)), (data, *sizes))
