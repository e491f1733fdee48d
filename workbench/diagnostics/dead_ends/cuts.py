"""Taking parts out of the text of a grammar: parts that cannot be written, and whatever needs them.

An alternative is taken out together with its bar, an optional part together with its sign. A sequence goes when one
part of it that is not optional goes, a group when all its alternatives go, and a rule, with every use of it, when all
of its alternatives go. So two neighbours never end up side by side because the part between them went.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.diagnostics.dead_ends.findings import Edit

__all__ = ["cut"]

#: Characters from the first to the one after the last.
Span = tuple[int, int]

_COUNT = r"\{(?P<least>[0-9]+)(?:[ \t]*,[ \t]*[0-9]*)?[ \t]*\}"
_LEXEMES = {
    "regex": re.compile(
        r"\((?:\?(?:<?[=!]|:|P?<[^>]*>))?(?P<open>)|(?P<close>\))|(?P<bar>\|)"
        rf"|(?P<times>(?:[*+?]|{_COUNT})\??)|\[(?:\\.|[^\]\\])*\]"
        r"|\\(?:[ux]\{[^}]*\}|[pP]\{[^}]*\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|.)|.",
        re.DOTALL,
    ),
    "gbnf": re.compile(
        r"(?P<space>\s+|#[^\r\n]*)|(?P<define>[A-Za-z0-9_-]+\s*::=)"
        r"|(?:until)?\((?P<open>)|(?P<close>\))|(?P<bar>\|)"
        rf"|(?P<times>[*+?]|{_COUNT.replace('{', '{[ ]*', 1)})"
        r'|b?"(?:\\.|[^"\\])*"|b?\[(?:\\.|[^\]\\])*\]|!?<[^<>\r\n]*>|(?P<name>[A-Za-z0-9_-]+)|.',
        re.DOTALL,
    ),
}

_OPAQUE = {"until(", "(?=", "(?!", "(?<=", "(?<!"}


@dataclass(slots=True)
class _Part:
    """A part of a sequence: its span with the sign that repeats it, the rule it names, a group's alternatives."""

    start: int
    end: int
    name: str = ""
    optional: bool = False
    inner: list[_Sequence] | None = None


@dataclass(slots=True)
class _Sequence:
    """An alternative: the offset of the bar before it (-1 for the first), its span, and its parts."""

    bar: int
    start: int
    end: int
    parts: list[_Part] = field(default_factory=list)


@dataclass(slots=True)
class _Rule:
    """A rule by its name and alternatives; a pattern is one without name."""

    name: str
    sequences: list[_Sequence]


def cut(
    source: str, kind: str, spans: Iterable[Span], names: Iterable[str] = (), start: str = "root"
) -> list[Edit]:
    """The edits that take out the parts at ``spans``, and every use of the rules called ``names``.

    ``kind`` is "gbnf" or "regex", ``start`` the first rule. Nothing for other kinds of text, where nothing of
    the grammar would be left, and where a span is not found.
    """
    if kind not in _LEXEMES:
        return []
    rules = _read(source, kind)
    cutting = _Cutting(source, kind, {rule.name: rule for rule in rules}, list(spans), set(names))
    try:
        return cutting.edits("" if kind == "regex" else start)
    except RecursionError:  # groups in groups, deeper than a suggestion is worth
        return []


def _read(source: str, kind: str) -> list[_Rule]:
    """The rules of a text; of a pattern the only one."""
    begin = 4 if kind == "regex" and source.startswith("(?i)") else 0
    rules = [_Rule("", [_Sequence(-1, begin, begin)])] if kind == "regex" else []
    open_ = [rules[-1].sequences] if rules else []
    for match in _LEXEMES[kind].finditer(source, begin):
        what, (start, end) = match.lastgroup, match.span()
        if what == "define":
            name = match["define"].removesuffix("::=").rstrip()
            rules.append(_Rule(name, [_Sequence(-1, end, end)]))
            open_ = [rules[-1].sequences]
        elif what == "space" or not open_:
            continue
        elif what == "bar":
            open_[-1].append(_Sequence(start, end, end))
        elif what == "open":
            parts = open_[-1][-1].parts
            open_.append([_Sequence(-1, end, end)])
            # what is negated or looked for is not cut into: the whole would allow more, not less
            opaque = match[0] in _OPAQUE or (parts and source[parts[-1].start : start] == "~")
            _add(open_[-2][-1], _Part(start, end, inner=None if opaque else open_[-1]))
        elif what == "close":
            if len(open_) > 1:
                open_.pop()
                _grow(open_[-1][-1], end)
        elif what == "times" and open_[-1][-1].parts:
            least = match["least"]
            part = open_[-1][-1].parts[-1]
            part.optional = match[0][0] in "*?" if least is None else int(least) == 0
            _grow(open_[-1][-1], end)
        else:
            _add(open_[-1][-1], _Part(start, end, name=match[0] if what == "name" else ""))
    return rules


def _add(sequence: _Sequence, part: _Part) -> None:
    if not sequence.parts:
        sequence.start = part.start
    sequence.parts.append(part)
    sequence.end = part.end


def _grow(sequence: _Sequence, end: int) -> None:
    sequence.parts[-1].end = sequence.end = end


class _Cutting:
    """Finds what has to go."""

    def __init__(
        self, source: str, kind: str, rules: dict[str, _Rule], spans: list[Span], names: set[str]
    ) -> None:
        self.source = source
        self.kind = kind
        self.rules = rules
        self.spans = spans
        self.names = names
        self.edited: list[Edit] = []
        self.met: set[Span] = set()

    def edits(self, start: str) -> list[Edit]:
        spans, names = self.spans, self.names
        self.spans, self.names = [], set()
        had = self.endless()
        self.spans, self.names = spans, names
        self.names = names | (self.endless() - had)
        if start in self.names:
            return []
        for rule in self.rules.values():
            if rule.name not in self.names:
                self.among(rule.sequences)
        if not self.met.issuperset(spans):
            return []  # in no rule, or in one that went for another reason
        return sorted(self.edited, key=lambda edit: edit.start or 0)

    def endless(self) -> set[str]:
        """The rules of which no alternative stays, or only such as lead back to one of them."""
        names, left = self.names, set(self.rules) - self.names
        try:
            while True:
                self.names = names | left
                ends = {name for name in left if not self.among(self.rules[name].sequences)}
                if not ends:
                    return left
                left -= ends
        finally:
            self.names, self.edited = names, []

    def among(self, sequences: list[_Sequence]) -> bool:
        """Take the alternatives out that have to go; whether all of them have to."""
        goes = [self.within(sequence) for sequence in sequences]
        if all(goes):
            return True
        first = goes.index(False)
        if first:
            self.take(sequences[0].start, sequences[first].start, "")
        for sequence, gone in list(zip(sequences, goes, strict=True))[first + 1 :]:
            if gone:
                self.take(self.blank(sequence.bar), sequence.end, "")
        return False

    def within(self, sequence: _Sequence) -> bool:
        """Take the optional parts out that have to go; whether all of the sequence has to."""
        before = len(self.edited)
        parts = sequence.parts
        goes = [self.goes(part) for part in parts]
        if any(gone and not part.optional for part, gone in zip(parts, goes, strict=True)):
            del self.edited[before:]
            return True
        for first, last in _runs(goes):
            if first:
                self.take(self.blank(parts[first].start), parts[last].end, "")
            elif last + 1 < len(parts):
                self.take(parts[0].start, parts[last + 1].start, "")
            else:
                self.take(parts[0].start, parts[last].end, '""' if self.kind == "gbnf" else "")
        return False

    def goes(self, part: _Part) -> bool:
        """Whether a part has to go, once what can go of it has."""
        if part.inner is not None:
            return self.among(part.inner)
        hit = [span for span in self.spans if span[0] < part.end and part.start < span[1]]
        self.met.update(hit)
        return bool(hit) or part.name in self.names

    def take(self, start: int, end: int, new: str) -> None:
        self.edited.append(Edit(self.source[start:end], new, start=start, end=end))

    def blank(self, start: int) -> int:
        """Where the blanks before an offset begin, in a text that has them for nothing."""
        while self.kind == "gbnf" and start and self.source[start - 1] in " \t":
            start -= 1
        return start


def _runs(marks: list[bool]) -> list[Span]:
    """The first and last number of each run of marks that are set."""
    runs: list[Span] = []
    for i, mark in enumerate(marks):
        if mark and i and marks[i - 1]:
            runs[-1] = runs[-1][0], i
        elif mark:
            runs.append((i, i))
    return runs
