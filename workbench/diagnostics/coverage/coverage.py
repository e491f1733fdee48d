"""What examples use of a grammar: its rules, the places of its text, the pointers of its schema.

Each accepted example is read with the author's grammar, in one way (of several the one found first), and
what that way goes through counts as used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from workbench.diagnostics.author.earley import TooMuch
from workbench.diagnostics.author.parse import AuthorParse
from workbench.diagnostics.author.standing import excerpt
from workbench.diagnostics.dead_ends.schema_parts import members
from workbench.diagnostics.verdicts import as_bytes
from workbench.engine import CompiledGrammar
from workbench.engine.tokens import resolve_tokens
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Grammar,
    Literal as LiteralExpr,
    Origin,
    Ref,
    Token,
    walk,
)
from workbench.grammar.lazy import LazyRules
from workbench.inputs import need_examples, need_grammar, need_vocabulary
from workbench.readable import readable
from workbench.vocabulary import Vocabulary
from workbench.vocabulary.labels import quoted
from workbench.wording import number_of, percent

__all__ = ["Coverage", "Covered", "coverage"]

#: Rules of a lazily written grammar that are looked through for places.
_MAX_RULES = 2_000


@dataclass(frozen=True, slots=True)
class Covered:
    """A rule, a place of a grammar's text or a pointer of a schema, and how many examples use it."""

    kind: Literal["rule", "place", "pointer"]
    name: str
    uses: int
    start: int | None = None
    end: int | None = None
    source: str = ""

    def __str__(self) -> str:
        if self.kind == "place":
            return f"{self.source or '…'} (characters {self.start}-{self.end} in {self.name})"
        return f"{self.kind} {self.name}{f'  {self.source}' if self.source else ''}"

    def to_json(self) -> dict[str, Any]:
        """The part as JSON values."""
        return {key: getattr(self, key) for key in self.__slots__}


@readable
@dataclass(frozen=True, slots=True)
class Coverage:
    """What examples use of a grammar, in its order.

    ``accepted`` is how many of the ``examples`` count; ``refused`` are those that the grammar does not
    accept, ``unread`` those that are too much work to read.
    """

    parts: tuple[Covered, ...]
    examples: int
    accepted: int
    refused: tuple[bytes, ...] = ()
    unread: tuple[bytes, ...] = ()

    @property
    def used(self) -> tuple[Covered, ...]:
        """The parts that some example uses."""
        return tuple(part for part in self.parts if part.uses)

    @property
    def never(self) -> tuple[Covered, ...]:
        """The parts that no example uses."""
        return tuple(part for part in self.parts if not part.uses)

    @property
    def share(self) -> float:
        """The used parts as a share of all, 1 for a grammar without parts."""
        return len(self.used) / len(self.parts) if self.parts else 1.0

    def __str__(self) -> str:
        lines = [
            f"coverage of {number_of(self.accepted, 'accepted example')}: {percent(self.share)}"
        ]
        kinds: tuple[tuple[str, str], ...] = (
            ("rule", "rules"),
            ("place", "places"),
            ("pointer", "schema pointers"),
        )
        for kind, words in kinds:
            parts = [part for part in self.parts if part.kind == kind]
            if parts:
                lines.append(f"  {words}: {sum(bool(p.uses) for p in parts)} of {len(parts)} used")
        if self.never:
            lines.append("never used:")
            lines += [f"  {part}" for part in self.never]
        lines += [f"not accepted: {quoted(text)}" for text in self.refused]
        lines += [f"too long to read: {quoted(text)}" for text in self.unread]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The coverage as JSON values."""
        return {
            "examples": self.examples,
            "accepted": self.accepted,
            "share": self.share,
            "parts": [part.to_json() for part in self.parts],
            "refused": [text.decode("utf-8", "replace") for text in self.refused],
            "unread": [text.decode("utf-8", "replace") for text in self.unread],
        }


def coverage(
    grammar: Grammar | CompiledGrammar,
    examples: Iterable[Any],
    vocabulary: Vocabulary | None = None,
) -> Coverage:
    """Find which parts of a grammar some examples use, and which none does.

    ``examples`` are texts, or JSON values. Parts are the rules; of a grammar that was written as text its
    literals, classes, uses of rules and alternatives; of a schema the members that it lists. A grammar that
    names tokens needs the ``vocabulary``, whose tokens the examples then cannot name: such parts stay unused.

    >>> import workbench as wb
    >>> found = wb.coverage(wb.gbnf('root ::= "a" | b\\nb ::= "c"'), ["a"])
    >>> [str(part) for part in found.never]
    ['rule b', 'b (characters 15-16 in root)', '"c" (characters 23-26 in b)']
    """
    if isinstance(grammar, CompiledGrammar):
        vocabulary = vocabulary or grammar.vocabulary
        grammar = grammar.grammar
    need_grammar(grammar, "coverage")
    if vocabulary is not None:
        need_vocabulary(vocabulary, "coverage")
    need_examples(examples, "coverage")
    tokens = resolve_tokens(grammar, vocabulary) if vocabulary is not None else {}
    texts = [as_bytes(example) for example in examples]
    rules: dict[str, int] = {}
    places: dict[Origin, int] = {}
    refused: list[bytes] = []
    unread: list[bytes] = []
    parse = AuthorParse(grammar, tokens)
    for text in texts:
        parse.take_back(len(parse))
        try:
            complete = parse.feed(text) == len(text) and parse.is_complete
        except TooMuch:
            unread.append(text)
            continue
        if not complete:
            refused.append(text)
            continue
        used_rules: set[str] = set()
        used_places: set[Origin] = set()
        for step in parse.derivation():
            if step.node is not None and step.node.kind == "rule":
                used_rules.add(step.node.rule)
            if step.place is not None:
                used_places.add(step.place)
        for rule in used_rules:
            rules[rule] = rules.get(rule, 0) + 1
        for place in used_places:
            places[place] = places.get(place, 0) + 1
    if grammar.kind == "json_schema":
        parts = list(_pointers(grammar, places))
    else:
        parts = [*_rules(grammar, rules), *_places(grammar, places)]
    accepted = len(texts) - len(refused) - len(unread)
    return Coverage(tuple(parts), len(texts), accepted, tuple(refused), tuple(unread))


def _names(grammar: Grammar) -> list[str]:
    """The rules that the start leads to, in the order of the grammar's text."""
    seen = {grammar.start}
    todo = [grammar.start]
    for name in todo:
        for part in walk(grammar.rules[name]):
            if isinstance(part, Ref) and part.name not in seen and len(seen) < _MAX_RULES:
                seen.add(part.name)
                todo.append(part.name)
    if isinstance(grammar.rules, LazyRules):
        return todo
    return [name for name in grammar.rules if name in seen]


def _rules(grammar: Grammar, uses: dict[str, int]) -> Iterator[Covered]:
    names = _names(grammar)
    if len(names) > 1:
        for name in names:
            yield Covered("rule", name, uses.get(name, 0))


def _places(grammar: Grammar, uses: dict[Origin, int]) -> Iterator[Covered]:
    """Leaves, uses of rules and alternatives that have a span, each span once.

    An alternative is used when something inside its span is, in the same rule.
    """
    spans: dict[tuple[int, int], int] = {}
    for origin, count in uses.items():
        if origin.start is not None and origin.end is not None:
            span = origin.start, origin.end
            spans[span] = max(spans.get(span, 0), count)
    told: dict[tuple[int, int], str] = {}
    for name in _names(grammar):
        for part in walk(grammar.rules[name]):
            wanted = list(part.items) if isinstance(part, Alt) else []
            if isinstance(part, LiteralExpr | ByteSet | CharSet | Ref | Token):
                wanted.append(part)
            for one in wanted:
                place = one.origin
                if place and place.start is not None and place.end is not None:
                    told.setdefault((place.start, place.end), place.rule or name)
    for (start, end), name in sorted(told.items()):
        inside = (n for (a, b), n in spans.items() if start <= a and b <= end)
        source = excerpt(Origin(start=start, end=end), grammar)
        yield Covered("place", name, max(inside, default=0), start, end, source)


def _pointers(grammar: Grammar, uses: dict[Origin, int]) -> Iterator[Covered]:
    """The members that a schema lists; used when the place itself is, or one below it."""
    counts: dict[str, int] = {}
    for origin, count in uses.items():
        if origin.pointer is not None:
            counts[origin.pointer] = max(counts.get(origin.pointer, 0), count)
    for pointer in members(grammar.source):
        found = (n for p, n in counts.items() if p == pointer or p.startswith(f"{pointer}/"))
        source = excerpt(Origin(pointer=pointer), grammar)
        yield Covered("pointer", pointer, max(found, default=0), source=source)
