"""How long the texts of an expression over characters are.

Next file to read: ``finite.py``.
"""

from __future__ import annotations

from workbench.grammar.ir import Alt, CharSet, Expr, Literal, Repeat, Seq

__all__ = ["length_range"]


def length_range(expr: Expr) -> tuple[int, int | None] | None:
    """The least and greatest number of characters of an expression; ``None`` for the empty language.

    Bounds are exact for expressions whose leaves are character sets; ``(low, None)`` has no bound.
    """
    done: list[tuple[int, int | None] | None] = []
    todo: list[tuple[Expr, bool]] = [(expr, False)]
    while todo:
        item, opened = todo.pop()
        if isinstance(item, CharSet):
            done.append((1, 1) if item.ranges else None)
        elif isinstance(item, Literal):
            length = len(item.data.decode("utf-8"))
            done.append((length, length))
        elif not isinstance(item, Seq | Alt | Repeat):
            raise TypeError(f"{type(item).__name__} is not an expression over characters")
        elif not opened:
            todo.append((item, True))
            parts = (item.item,) if isinstance(item, Repeat) else item.items
            todo.extend((part, False) for part in parts)
        elif isinstance(item, Repeat):
            done.append(_repeated(done.pop(), item))
        else:
            mark = len(done) - len(item.items)
            lengths = done[mark:]
            del done[mark:]
            done.append(_joined(lengths) if isinstance(item, Seq) else _widest(lengths))
    return done[0]


def _repeated(inner: tuple[int, int | None] | None, item: Repeat) -> tuple[int, int | None] | None:
    if inner is None:
        return (0, 0) if item.min == 0 else None
    low, high = inner
    if item.max == 0 or high == 0:
        return (0, 0)
    return low * item.min, None if high is None or item.max is None else high * item.max


def _joined(parts: list[tuple[int, int | None] | None]) -> tuple[int, int | None] | None:
    low, high = 0, 0
    unbounded = False
    for part in parts:
        if part is None:
            return None
        low += part[0]
        if part[1] is None:
            unbounded = True
        else:
            high += part[1]
    return low, None if unbounded else high


def _widest(parts: list[tuple[int, int | None] | None]) -> tuple[int, int | None] | None:
    some = [part for part in parts if part is not None]
    if not some:
        return None
    low = min(part[0] for part in some)
    highs = [part[1] for part in some]
    return low, None if None in highs else max(high for high in highs if high is not None)
