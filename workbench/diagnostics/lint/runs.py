"""Where a model may go on without end: white space, and characters that nothing but the model stops."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.diagnostics.lint.report import LintFinding, finding
from workbench.diagnostics.lint.subject import Subject
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Origin,
    Ref,
    Repeat,
    Seq,
    children,
    walk,
)
from workbench.wording import number_of

__all__ = ["run_findings"]

_SPACE = frozenset(" \t\n\r\f\v\u00a0\ufeff\u1680\u2028\u2029\u202f\u205f\u3000") | {
    chr(code) for code in range(0x2000, 0x200B)
}
#: Characters that a class has from which on a run of it is text.
_MANY = 10
#: Rules that are named.
_MOST_NAMES = 5


def run_findings(subject: Subject) -> Iterator[LintFinding]:
    """Runs of white space, each; and all other runs of characters together."""
    spaces = _Spaces(subject)
    runs: list[tuple[str, Origin | None]] = []
    for name in subject.reached:
        if name in subject.analysis.recursive and spaces.are_all(Ref(name)):
            yield _space(subject, name, subject.place(name))
            continue
        todo = [subject.rules[name]]
        while todo:
            part = todo.pop()
            if isinstance(part, Repeat) and part.max is None and spaces.are_all(part.item):
                if not spaces.go_on(part.item):  # else it is told inside
                    yield _space(subject, name, part.origin or subject.place(name))
            elif isinstance(part, Repeat) and part.max is None and _is_text(part.item):
                runs.append((name, part.origin or subject.place(name)))
            else:
                todo += reversed(children(part))
    if runs:
        yield _together(subject, runs)


def _space(subject: Subject, name: str, place: Origin | None) -> LintFinding:
    message = f"white space may go on for ever in rule {name!r}: models that hesitate write it"
    return finding(
        *(subject.grammar, "unbounded run", "warning", message),
        "bound it, as in {0,20}",
        rule=name,
        place=place,
    )


def _together(subject: Subject, runs: list[tuple[str, Origin | None]]) -> LintFinding:
    names = list(dict.fromkeys(name for name, _ in runs))
    shown = ", ".join(names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        shown += f" and {len(names) - _MOST_NAMES} more"
    places = number_of(len(runs), "run of characters", "runs of characters")
    message = f"{places} without a longest length, in {shown}: the model alone ends them"
    return finding(
        *(subject.grammar, "unbounded run", "info", message),
        "where a text has a longest length that makes sense, give it, as in {1,200}",
        rule=runs[0][0],
        place=runs[0][1],
    )


def _is_text(item: Expr) -> bool:
    """Whether a round is one character of many, or an escape in its place."""
    if isinstance(item, CharSet):
        return sum(high - low + 1 for low, high in item.ranges) >= _MANY
    if isinstance(item, ByteSet):
        return item.mask.bit_count() >= _MANY
    return isinstance(item, Alt) and any(map(_is_text, item.items))


class _Spaces:
    """Which parts write white space and nothing else."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        rules = subject.analysis.written
        users: dict[str, list[str]] = {name: [] for name in rules}
        for name, used in subject.analysis.used.items():
            for one in used:
                users.setdefault(one, []).append(name)
        #: rules that write something else, and those that write something
        self.other = _closed(
            [n for n, expr in rules.items() if _has_leaf(expr, blank=False)]
            + [name for name in users if name not in rules],
            users,
        )
        self.some = _closed([n for n, e in rules.items() if _has_leaf(e, blank=True)], users)

    def go_on(self, expr: Expr) -> bool:
        """Whether some rule that an expression uses goes on without end itself."""
        seen: set[str] = set()
        todo = [part.name for part in walk(expr) if isinstance(part, Ref)]
        for name in todo:
            if name in seen or name not in self.subject.rules:
                continue
            seen.add(name)
            if name in self.subject.analysis.recursive:
                return True
            for part in walk(self.subject.rules[name]):
                if isinstance(part, Repeat) and part.max is None:
                    return True
                if isinstance(part, Ref):
                    todo.append(part.name)
        return False

    def are_all(self, expr: Expr) -> bool:
        """Whether an expression has leaves, and all of them are white space."""
        names = {part.name for part in walk(expr) if isinstance(part, Ref)}
        if _has_leaf(expr, blank=False) or not names.isdisjoint(self.other):
            return False
        return _has_leaf(expr, blank=True) or not names.isdisjoint(self.some)


def _closed(names: list[str], users: dict[str, list[str]]) -> set[str]:
    """Rules, and all that use one of them."""
    found = set(names)
    for name in names:
        for user in users.get(name, ()):
            if user not in found:
                found.add(user)
                names.append(user)
    return found


def _has_leaf(expr: Expr, *, blank: bool) -> bool:
    """Whether a part of an expression itself is white space, or something else."""
    for part in walk(expr):
        if isinstance(part, Literal):
            if part.data and (set(part.data.decode("latin-1")) <= _SPACE) == blank:
                return True
        elif isinstance(part, CharSet | ByteSet):
            if _is_space(part) == blank:
                return True
        elif not blank and not isinstance(part, Seq | Alt | Repeat | Graph | Ref):
            return True
    return False


def _is_space(part: CharSet | ByteSet) -> bool:
    if isinstance(part, ByteSet):
        return all(chr(byte) in _SPACE for byte in range(256) if part.mask >> byte & 1)
    small = sum(high - low + 1 for low, high in part.ranges) <= 64
    return small and all(
        chr(code) in _SPACE for low, high in part.ranges for code in range(low, high + 1)
    )
