"""What is opened and never closed: tags, fences of code, brackets.

Where nothing in the whole grammar can write the text that closes, or nothing but free text, in which a model may
forget it. Parts that are no author's (a schema) write brackets of their own and are not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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
    Token,
    children,
)

__all__ = ["mark_findings"]

#: A tag before what it is about; ``List<String>`` has none.
_TAG = re.compile(r"(?<!\w)<([A-Za-z][A-Za-z0-9_-]*)>\s*$")
_FENCE = re.compile(r"```(?!`)[A-Za-z]")
#: Tags that have no end: of HTML, and tokens that stand for the ends of texts and the like.
_ALONE = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "li", "link", "meta", "p"),
    *("param", "source", "td", "th", "tr", "wbr"),
    *("s", "bos", "eos", "pad", "unk", "mask", "cls", "sep", "unused", "image", "audio"),
    *("video", "endoftext", "sot", "eot"),
}
#: Marks that are looked for.
_MOST_MARKS = 50
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def mark_findings(subject: Subject) -> Iterator[LintFinding]:
    """The findings, each mark once."""
    texts = [one for name in subject.reached for one in _texts(subject.rules[name], name)]
    whole = [one.text for one in texts]
    told: set[str] = set()
    for text, name, place, goes_on in texts:
        if len(told) > _MOST_MARKS:
            return
        for found in _TAG.finditer(text) if goes_on else ():
            closing = f"</{found[1]}>"
            if found[1].lower() in _ALONE or closing in told:
                continue
            told.add(closing)
            if not _writes(subject, whole, closing):
                yield _open(subject, f"<{found[1]}>", closing, name, place, "warning")
        if _FENCE.search(text) and "```" not in told:
            told.add("```")
            ends = [one for one in whole if re.search(r"```(?![A-Za-z`])", one)]
            if not ends and not _has_path(subject, "```"):
                yield _open(subject, "```", "```", name, place, "warning")
        for bracket, closing in _BRACKETS.items():
            if bracket in text and bracket not in told:
                told.add(bracket)
                if not any(closing in one for one in whole) and not _can_write(subject, closing):
                    yield _open(subject, bracket, closing, name, place, "info")


def _open(
    subject: Subject, mark: str, closing: str, name: str, place: Origin | None, severity: str
) -> LintFinding:
    free = _can_write(subject, closing)
    rest = "nothing but free text can write" if free else "nothing can write"
    message = f"{mark} is written in rule {name!r}, and {rest} the {closing} that closes it"
    return finding(
        *(subject.grammar, "never closed", severity, message),  # type: ignore[arg-type]
        f"let {closing} follow, or leave {mark} out",
        rule=name,
        place=place or subject.place(name),
    )


class _Written(NamedTuple):
    """A text that is written letter by letter: in which rule, where, and whether something follows it there."""

    text: str
    rule: str
    place: Origin | None
    goes_on: bool


def _texts(expr: Expr, name: str) -> Iterator[_Written]:
    """What an expression writes letter by letter, neighbours joined; a token by its name."""
    todo = [expr]
    while todo:
        part = todo.pop()
        if isinstance(part, Seq):
            run: list[str] = []
            place: Origin | None = None
            for item in part.items:
                text = _letters(item)
                if text is None:
                    todo.append(item)
                    if run:
                        yield _Written("".join(run), name, place, True)
                    run, place = [], None
                else:
                    place = place or item.origin
                    run.append(text)
            if run:
                yield _Written("".join(run), name, place, False)
        elif (text := _letters(part)) is not None:
            # a tag by itself, as a rule or an alternative: what is around it follows
            yield _Written(text, name, part.origin, text.lstrip().startswith("<"))
        elif isinstance(part, Token) and not part.negated:
            yield from (_Written(one, name, part.origin, True) for one in part.names)
        elif not isinstance(part, Graph):
            todo += children(part)


def _letters(part: Expr) -> str | None:
    if isinstance(part, Literal):
        return part.data.decode("utf-8", "replace")
    if (
        isinstance(part, CharSet)
        and len(part.ranges) == 1
        and part.ranges[0][0] == part.ranges[0][1]
    ):
        code = part.ranges[0][0]
        return None if 0xD800 <= code <= 0xDFFF else chr(code)
    return None


def _writes(subject: Subject, texts: list[str], text: str) -> bool:
    """Whether a text is written letter by letter, or by an automaton."""
    return any(text in one for one in texts) or _has_path(subject, text)


def _has_path(subject: Subject, text: str) -> bool:
    """Whether some automaton among the parts reads a text on one of its ways."""
    return any(isinstance(expr, Graph) and _reads(expr, text) for expr in _everything(subject))


def _reads(graph: Graph, text: str) -> bool:
    """Whether a text leads from some state to another one, by edges that tell its characters from most others."""
    states = set(range(graph.n_states))
    for char in text:
        states = {
            target
            for source, label, target in graph.edges
            if source in states and _has(label, char) and _size(label) < 1_000
        }
    return bool(states)


def _can_write(subject: Subject, text: str) -> bool:
    """Whether a class, or a run of one, has the characters of a text."""
    return any(_may_have(expr, text) for expr in _everything(subject))


def _may_have(expr: Expr, text: str) -> bool:
    if isinstance(expr, Repeat) and expr.max != 1:
        items = expr.item.items if isinstance(expr.item, Alt) else (expr.item,)
        return all(any(_has(item, char) for item in items) for char in text)
    if isinstance(expr, Graph):
        return any(all(_has(label, char) for char in text) for _, label, _ in expr.edges)
    return len(text) == 1 and _has(expr, text)


def _everything(subject: Subject) -> Iterator[Expr]:
    """Every part of every rule that the start leads to, those of other grammars that stand in it too."""
    seen: set[int] = set()
    names = set(subject.reached)
    todo = [subject.rules[name] for name in subject.reached]
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, Ref) and part.name not in names:
            # what is no author's is read as far as it was written
            names.add(part.name)
            written = getattr(subject.grammar.rules, "emitted", {})
            if part.name in written:
                todo.append(written[part.name])
        todo += children(part)


def _has(expr: Expr, char: str) -> bool:
    if isinstance(expr, CharSet):
        return any(low <= ord(char) <= high for low, high in expr.ranges)
    if isinstance(expr, ByteSet):
        return ord(char) < 0x80 and bool(expr.mask >> ord(char) & 1)
    return isinstance(expr, Literal) and char.encode() == expr.data


def _size(expr: Expr) -> int:
    if isinstance(expr, CharSet):
        return sum(high - low + 1 for low, high in expr.ranges)
    return expr.mask.bit_count() if isinstance(expr, ByteSet) else 1
