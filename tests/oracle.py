"""A slow, obvious matcher: the independent judge of the engine's masks.

It rewrites a Grammar to plain context-free productions over sets of bytes (repetitions unrolled, so
keep counts small), drops what can never be finished with the bytes that the tokens have, and runs
Earley's algorithm: a prefix can then be completed if and only if its last column is not empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from workbench.grammar import ir

Bytes = frozenset[int]
Symbol = int | Bytes  # a nonterminal by number, or one byte out of a set
Side = tuple[Symbol, ...]
Item = tuple[int, int]  # dotted production, number of bytes before it began

LENGTH_BORDERS = ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))


def utf8_sequences(low: int, high: int) -> Iterator[tuple[Bytes, ...]]:
    """The UTF-8 spellings of the scalar values low..high, in blocks whose last bytes run free."""
    for first, last in LENGTH_BORDERS:
        code, stop = max(low, first), min(high, last)
        while code <= stop:
            size = max(n for n in (1, 64, 4096) if code % n == 0 and code + n - 1 <= stop)
            ends = zip(chr(code).encode(), chr(code + size - 1).encode(), strict=True)
            yield tuple(frozenset(range(a, b + 1)) for a, b in ends)
            code += size


class Productions:
    """Context-free productions of a Grammar; ``sides[n]`` lists the right-hand sides of n."""

    def __init__(self, grammar: ir.Grammar, spellable: Bytes) -> None:
        self.spellable = spellable
        self.sides: list[list[Side]] = []
        self.named = {name: self.rule() for name in grammar.rules}
        for name, expr in grammar.rules.items():
            self.sides[self.named[name]].append((self.symbol(expr),))
        self.start = self.named[grammar.start]
        productive = self.closure(byte_counts=True)
        for n, sides in enumerate(self.sides):
            self.sides[n] = [
                s for s in sides if all(x in productive if isinstance(x, int) else x for x in s)
            ]
        self.nullable = self.closure(byte_counts=False)

    def rule(self, *sides: Side) -> int:
        """Add a nonterminal."""
        self.sides.append(list(sides))
        return len(self.sides) - 1

    def symbol(self, expr: ir.Expr) -> Symbol:
        """The symbol that stands for an expression."""
        match expr:
            case ir.Literal(data=data):
                return self.rule(tuple(frozenset({b}) & self.spellable for b in data))
            case ir.ByteSet(mask=mask):
                return frozenset(b for b in self.spellable if mask >> b & 1)
            case ir.CharSet(ranges=ranges):
                spellings = (s for low, high in ranges for s in utf8_sequences(low, high))
                return self.rule(*(tuple(b & self.spellable for b in s) for s in spellings))
            case ir.Seq(items=items):
                return self.rule(tuple(self.symbol(item) for item in items))
            case ir.Alt(items=items):
                return self.rule(*((self.symbol(item),) for item in items))
            case ir.Ref(name=name):
                return self.named[name]
            case ir.Repeat(item=item, min=least, max=most):
                return self.repeat(self.symbol(item), least, most)
            case ir.Graph():
                return self.graph(expr)
        raise TypeError(f"not an expression: {expr!r}")

    def repeat(self, item: Symbol, least: int, most: int | None) -> int:
        """Unroll: the owed times one by one, then up to ``most - least`` more, or a loop."""
        if most is not None and most < least:
            return self.rule()
        more = self.rule(())
        if most is None:
            self.sides[more].append((more, item))
        else:
            for _ in range(most - least):
                more = self.rule((), (more, item))
        return self.rule((*[item] * least, more))

    def graph(self, graph: ir.Graph) -> int:
        """One nonterminal a state: what may still follow from it."""
        states = [self.rule() for _ in range(graph.n_states)]
        for state in graph.finals:
            self.sides[states[state]].append(())
        for source, label, target in graph.edges:
            self.sides[states[source]].append((self.symbol(label), states[target]))
        return states[graph.start]

    def closure(self, byte_counts: bool) -> set[int]:
        """Nonterminals with a side of such ones only: the productive, or the nullable ones."""
        members: set[int] = set()

        def holds(symbol: Symbol) -> bool:
            return symbol in members if isinstance(symbol, int) else byte_counts and bool(symbol)

        while True:
            found = {n for n, s in enumerate(self.sides) if any(all(map(holds, x)) for x in s)}
            if found == members:
                return members
            members = found


class Column:
    """An Earley column: who waits for which nonterminal, who waits for a byte."""

    def __init__(self) -> None:
        self.items: set[Item] = set()
        self.waiting: defaultdict[int, list[Item]] = defaultdict(list)
        self.scans: list[tuple[Bytes, Item]] = []


class Oracle:
    """What a grammar allows over a list of tokens; prefixes are bytes, answers are memoised."""

    def __init__(
        self,
        grammar: ir.Grammar,
        tokens: Sequence[bytes],
        eos_ids: Sequence[int] = (),
        special_ids: Sequence[int] = (),
    ) -> None:
        hidden = {*eos_ids, *special_ids}
        self.tokens = [b"" if i in hidden else token for i, token in enumerate(tokens)]
        self.eos_ids = tuple(eos_ids)
        plain = Productions(grammar, frozenset(b for token in self.tokens for b in token))
        self.empty_language = not plain.sides[plain.start]
        self.nullable = plain.nullable
        self.ambiguous = False
        self.head: list[int] = [-1, -1]  # by dotted production; 0 and 1 are "· start", "start ·"
        self.next: list[Symbol | None] = [plain.start, None]
        self.starts: list[list[int]] = []
        for n, sides in enumerate(plain.sides):
            self.starts.append([])
            for side in sides:
                self.starts[n].append(len(self.head))
                self.head += [n] * (len(side) + 1)
                self.next += [*side, None]
        self.columns = {b"": Column()}
        if not self.empty_language:
            self._close(self.columns[b""], b"", [(0, 0)])

    def _close(self, column: Column, prefix: bytes, todo: list[Item]) -> None:
        """Predict and complete until nothing is new."""
        while todo:
            dotted, origin = item = todo.pop()
            if item in column.items:  # reached in a second way: some text has two derivations
                self.ambiguous = True
                continue
            column.items.add(item)
            symbol = self.next[dotted]
            if symbol is None:
                if origin < len(prefix):  # what is empty was advanced when it was predicted
                    waiting = self.columns[prefix[:origin]].waiting[self.head[dotted]]
                    todo += [(d + 1, o) for d, o in waiting]
            elif isinstance(symbol, int):
                if symbol not in column.waiting:
                    todo += [(start, len(prefix)) for start in self.starts[symbol]]
                column.waiting[symbol].append(item)
                if symbol in self.nullable:
                    todo.append((dotted + 1, origin))
            else:
                column.scans.append((symbol, item))

    def _column(self, prefix: bytes) -> Column:
        for end in range(1, len(prefix) + 1):
            if prefix[:end] not in self.columns:
                before, new = self.columns[prefix[: end - 1]], Column()
                hits = [
                    (d + 1, o) for members, (d, o) in before.scans if prefix[end - 1] in members
                ]
                self._close(new, prefix[:end], hits)
                self.columns[prefix[:end]] = new
        return self.columns[prefix]

    def alive(self, prefix: bytes) -> bool:
        """Whether some text of the language begins with the prefix."""
        return bool(self._column(prefix).items)

    def complete(self, prefix: bytes) -> bool:
        """Whether the prefix is a text of the language."""
        return (1, 0) in self._column(prefix).items

    def bytes_after(self, prefix: bytes) -> Bytes:
        """The bytes that may follow."""
        return frozenset().union(*(members for members, _ in self._column(prefix).scans))

    def allowed(self, prefix: bytes) -> frozenset[int]:
        """The token ids that may follow, EOS ids included."""
        ids = {i for i, t in enumerate(self.tokens) if t and self.alive(prefix + t)}
        return frozenset(ids | set(self.eos_ids) if self.complete(prefix) else ids)
