"""What a grammar asks of a vocabulary: its bytes, proofs that nothing is missing, and what to search."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from workbench.engine import CompiledGrammar, compile as compile_grammar
from workbench.grammar import ir
from workbench.grammar.rewriting import rewrite
from workbench.grammar.utf8 import utf8_graph
from workbench.vocabulary import Vocabulary

__all__ = ["byte_classes", "characters_suffice", "members_of", "reached", "without_records"]


def reached(grammar: ir.Grammar) -> Iterator[ir.Expr]:
    """The expressions of the rules that the start leads to, and those that are watched in them."""
    seen = {grammar.start}
    todo = [grammar.start]
    watched: dict[int, ir.Expr] = {}
    while todo:
        for part in ir.walk(grammar.rules[todo.pop()]):
            if isinstance(part, ir.Ref) and part.name not in seen:
                seen.add(part.name)
                todo.append(part.name)
            elif isinstance(part, ir.OtherText):
                watched[id(part.body)] = part.body
            yield part
    for body in watched.values():
        yield from ir.walk(body)


def byte_classes(grammar: ir.Grammar) -> list[int]:
    """The bytes in classes that the grammar treats alike, each class as a bit mask."""
    masks: set[int] = set()
    watching = False
    for part in reached(grammar):
        if isinstance(part, ir.Literal):
            masks.update(1 << byte for byte in part.data)
        elif isinstance(part, ir.ByteSet):
            masks.add(part.mask)
        elif isinstance(part, ir.CharSet):
            edges = utf8_graph(part.ranges)[1]
            masks.update((1 << high + 1) - (1 << low) for _, low, high, _ in edges)
        elif isinstance(part, ir.OtherText):
            watching = True
    if watching:  # what is watched may tell any bytes apart
        used = 0
        for mask in masks:
            used |= mask
        return [1 << byte for byte in members_of(used)]
    classes: list[int] = []
    for mask in sorted(masks):
        split = []
        for members in classes:
            split += [part for part in (members & mask, members & ~mask) if part]
            mask &= ~members
        classes = [*split, mask] if mask else split
    return classes


def members_of(mask: int) -> list[int]:
    """The bytes of a set given as bits."""
    return [byte for byte in range(256) if mask >> byte & 1]


def characters_suffice(
    grammar: ir.Grammar, vocabulary: Vocabulary, used: frozenset[int], missing: frozenset[int]
) -> bool:
    """Whether tokens of one character prove that there is nothing to find.

    They do when (1) every token that the grammar could take is made of whole characters, (2) so is every
    leaf of the grammar, (3) each set among the leaves has a member that is a token by itself, and (4) each
    character of the literals is one. By (1) and (2) a token always ends where a character does. Take then
    a text that completes the one so far, and the leaves that its characters are read by: by (3) each
    character that a set reads can be exchanged for one that is a token, which the same set reads, and by
    (4) the others are tokens. Spelled so, the text can be completed token by token. A literal with a
    missing byte stands in no such text. Where texts are watched for, there are such ways of any length, so
    one that is longer than these texts.
    """
    singles: set[str] = set()
    for token_id in range(vocabulary.size):
        data = vocabulary.token_bytes(token_id)
        if not used.issuperset(data):
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return False
        if len(text) == 1:
            singles.add(text)
    codes = sorted(map(ord, singles))
    watching = any(isinstance(part, ir.OtherText) for part in reached(grammar))
    for part in reached(grammar):
        if isinstance(part, ir.Literal):
            if not missing.isdisjoint(part.data):
                if watching:
                    return False
                continue
            try:
                if not singles.issuperset(part.data.decode("utf-8")):
                    return False
            except UnicodeDecodeError:
                return False
        elif isinstance(part, ir.ByteSet):
            if part.mask >> 128 or not any(part.mask >> code & 1 for code in codes if code < 128):
                return False
        elif isinstance(part, ir.CharSet) and not any(
            (at := bisect_left(codes, low)) < len(codes) and codes[at] <= high
            for low, high in part.ranges
        ):
            return False
    return True


def _keeps(part: ir.Expr) -> bool:
    """Whether texts or values that came matter for a part."""
    if isinstance(part, ir.OtherText):
        return part.fresh or bool(part.role)
    return isinstance(part, ir.Scope) and part.gather is not None


def without_records(compiled: CompiledGrammar) -> CompiledGrammar | None:
    """The same grammar, but texts may come again; None where it keeps no record of texts.

    With records each text that was read would make another configuration, and a search would not end. Whether tokens
    get stuck at a place does not depend on the records, only the ways there do.
    """
    grammar = compiled.spelled
    fresh = [part for part in reached(grammar) if _keeps(part)]
    if not fresh:
        return None

    def plain(part: ir.Expr) -> ir.Expr | None:
        if isinstance(part, ir.Scope):
            # a scope that keeps no record is none; inner ones are made anew before outer ones
            guards = any(isinstance(inner, ir.Guard) for inner in ir.walk(part.item))
            return replace(part, gather=None) if guards else part.item
        if isinstance(part, ir.Guard) and part.kind in ("value", "name"):
            return ir.EMPTY
        if not isinstance(part, ir.OtherText) or not _keeps(part):
            return None
        return replace(part, fresh=False, role="") if part.texts else part.opened(part.body)

    names = {grammar.start} | {part.name for part in reached(grammar) if isinstance(part, ir.Ref)}
    rules = {name: rewrite(grammar.rules[name], plain) for name in names}
    return compile_grammar(
        ir.Grammar(rules, grammar.start, grammar.kind),
        compiled.vocabulary,
        compiled.engine.budgets,
        cache=False,
    )
