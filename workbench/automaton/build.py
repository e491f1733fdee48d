"""Grammar -> Automaton.

What is known of rules before they are built comes from ``grammar/analysis.py``, states from ``builder.py``. Bytes that
no token of the vocabulary contains are passed in as ``missing`` and removed before anything else, so that "can be
completed" means: completed with this vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.automaton.budgets import Budgets
from workbench.automaton.builder import grow_automaton
from workbench.automaton.network import Automaton
from workbench.errors import UnsatisfiableGrammar, VocabularyError
from workbench.grammar.analysis import Analysis, analyse
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import (
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    OtherText,
    Scope,
    Token,
    walk,
)
from workbench.grammar.json_strings import spelled_out
from workbench.grammar.lazy import written_ahead
from workbench.grammar.rewriting import rewrite
from workbench.grammar.scopes import written_out
from workbench.wording import byte_quoted

__all__ = ["build_automaton"]

_PRINTABLE = frozenset(range(0x20, 0x7F))
_QUOTE = ord('"')


def build_automaton(
    grammar: Grammar,
    missing: frozenset[int] = frozenset(),
    budgets: Budgets | None = None,
    tokens: Mapping[Token, frozenset[int]] | None = None,
) -> Automaton:
    """Compile a grammar to its automaton.

    ``missing`` are the bytes that no token contains, ``tokens`` the ids behind each token terminal.

    Raises ``UnsatisfiableGrammar`` when no text at all can complete, ``GrammarTooComplex`` when a
    budget is used up, ``VocabularyError`` when texts may come once and printable ASCII is missing.
    """
    budgets = budgets or Budgets()
    rules = grammar.rules
    if not missing.isdisjoint(_PRINTABLE):
        # what rules promise that are written on demand holds for printable ASCII
        rules = _without_records(dict(rules), missing)
    symbols, terminals = _symbols(tokens or {})
    analysis = analyse(
        written_ahead(rules), grammar.start, missing, lambda token: bool(terminals.get(token))
    )
    if grammar.start in analysis.written and grammar.start not in analysis.productive:
        raise _explain_empty(grammar, analysis)
    automaton = grow_automaton(rules, grammar.start, analysis, terminals, budgets)
    automaton.symbols = symbols
    return automaton


def _without_records(rules: dict[str, Expr], missing: frozenset[int]) -> dict[str, Expr]:
    """Rules in which no text is watched and no scope keeps a record; raises ``VocabularyError`` where some must."""
    for expr in rules.values():
        if any(map(_keeps, walk(expr))):
            if _QUOTE in missing:
                raise VocabularyError(
                    """no token has the byte '"' (0x22), between two of which names and strings of JSON stand: """
                    "no object with a member can be written. Use a tokenizer that has it"
                )
            lacking = ", ".join(byte_quoted(byte) for byte in sorted(missing & _PRINTABLE)[:8])
            raise VocabularyError(
                f"no token contains {lacking}: texts that may come once (names of objects, unique items) "
                "need all of printable ASCII. Pass unique_keys=False to json_schema, or add tokens"
            )
    done: dict[int, Expr] = {}
    return {name: rewrite(expr, _written_out, done) for name, expr in rules.items()}


def _written_out(part: Expr) -> Expr | None:
    if isinstance(part, OtherText):
        return spelled_out(part)
    return written_out(part) if isinstance(part, Scope) else None


def _keeps(part: Expr) -> bool:
    """Whether texts or values that came matter for a part."""
    if isinstance(part, OtherText):
        return part.fresh or bool(part.role)
    return isinstance(part, Scope) and part.gather is not None


def _symbols(
    tokens: Mapping[Token, frozenset[int]],
) -> tuple[tuple[tuple[int, ...], ...], dict[Token, tuple[int, ...]]]:
    """Cut sets of token ids into disjoint ones, a symbol each: the ids of each, the symbols of a token."""
    within: dict[int, list[int]] = {}
    for number, ids in enumerate(tokens.values()):
        for token_id in ids:
            within.setdefault(token_id, []).append(number)
    parts: dict[tuple[int, ...], list[int]] = {}
    for token_id in sorted(within):
        parts.setdefault(tuple(within[token_id]), []).append(token_id)
    terminals = {
        token: tuple(256 + i for i, among in enumerate(parts) if number in among)
        for number, token in enumerate(tokens)
    }
    return tuple(tuple(ids) for ids in parts.values()), terminals


def _explain_empty(grammar: Grammar, analysis: Analysis) -> UnsatisfiableGrammar:
    """Name the smallest part that keeps the grammar from completing."""
    written = analysis.written
    names = [name for name in grammar.rules if name in written]
    number = {name: i for i, name in enumerate(names)}
    dead = written.keys() - analysis.productive

    def dead_uses(i: int) -> list[int]:
        return [number[name] for name in analysis.used[names[i]] if name in dead]

    reached = {number[grammar.start]}
    order = list(reached)
    for i in order:
        for target in dead_uses(i):
            if target not in reached:
                reached.add(target)
                order.append(target)
    for component in strongly_connected(len(names), dead_uses):
        if component[0] not in reached or names[component[0]] not in dead:
            continue
        culprit = names[min(component)]
        expr = written[culprit]
        pointer = expr.origin.pointer if expr.origin else None
        part = f"rule {culprit!r}" if pointer is None else f"{pointer or '#'}"
        if len(component) > 1 or component[0] in dead_uses(component[0]):
            also = [repr(names[i]) for i in component if names[i] != culprit][:3]
            through = f" (through {', '.join(also)})" if also else ""
            return UnsatisfiableGrammar(
                part, f"every alternative uses the rule itself{through}, so it never ends"
            )
        for leaf in walk(expr):
            if (isinstance(leaf, CharSet) and not leaf.ranges) or leaf == ByteSet(0):
                return UnsatisfiableGrammar(part, "a character class in it is empty")
        missing = analysis.missing
        if missing and culprit in analyse(written, culprit, spelled=analysis.spelled).productive:
            return UnsatisfiableGrammar(part, _lacking(expr, missing))
        return UnsatisfiableGrammar(part, "its language is empty")
    return UnsatisfiableGrammar(f"rule {grammar.start!r}", "its language is empty")


def _lacking(expr: Expr, missing: frozenset[int]) -> str:
    """Which of the missing bytes keep an expression from completing, as far as it spells them itself."""
    spelled = {byte for leaf in walk(expr) for byte in _bytes_of(leaf)}
    wanted = sorted(spelled & missing) or sorted(missing)
    shown = ", ".join(
        f"{chr(byte)!r} (0x{byte:02X})" if 0x21 <= byte < 0x7F else f"0x{byte:02X}"
        for byte in wanted[:8]
    )
    more = f" and {len(wanted) - 8} more" if len(wanted) > 8 else ""
    if len(wanted) == 1:
        return f"no token has the byte {shown}, which it needs"
    return f"no token has the bytes {shown}{more}, some of which it needs"


def _bytes_of(leaf: Expr) -> Iterable[int]:
    if isinstance(leaf, Literal):
        return leaf.data
    if isinstance(leaf, ByteSet):
        return [byte for byte in range(256) if leaf.mask >> byte & 1]
    if isinstance(leaf, CharSet):
        return [byte for low, high in leaf.ranges for byte in range(low, min(high, 0x7F) + 1)]
    return ()
