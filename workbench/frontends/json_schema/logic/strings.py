"""String languages over characters: what a formula about strings allows.

Everything here is about scalar values; ``spelled`` applies the JSON spelling of each character last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial, reduce

from workbench.automaton.finite import (
    Dfa,
    complement,
    determinise,
    intersect,
    length_range,
    minimise,
    to_graph,
    with_length,
)
from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import TRUE, And, Fact, Formula, Or, holds
from workbench.frontends.json_schema.scalars.counted import Counted, has_texts
from workbench.frontends.json_schema.scalars.formats import (
    bounded_format,
    format_automaton,
    format_expression,
    without_format,
)
from workbench.frontends.json_schema.scalars.patterns import (
    few_texts,
    pattern_automaton,
    pattern_expression,
)
from workbench.frontends.json_schema.text.json_spelling import ANY, Ranges, spell as spell_text
from workbench.frontends.json_schema.text.json_values import STRING
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    CharSet,
    Expr,
    Graph,
    Literal,
    Repeat,
    Seq,
    literal,
)
from workbench.grammar.json_strings import coded

__all__ = ["automaton", "spelled", "string_content", "surely_possible"]

#: Automata with more states than this, counted with the lengths, are written as texts get there.
MAX_COUNTED = 2_000

_ANYTHING = CharSet(ANY)

#: What an automaton is made for: facts, by what they compare as.
_Regular = tuple[Fact, ...]


def string_content(formula: Formula, rule: str | None = None, within: Dfa | None = None) -> Expr:
    """The texts that a formula about strings allows; ``NEVER`` when there are none.

    With ``within``, those of them that an automaton accepts. Leaves are ``CharSet``. Raises ``GrammarTooComplex``,
    naming ``rule``, when it needs too large an automaton.
    """
    if isinstance(formula, Or):
        texts_of = (string_content(one, rule, within) for one in formula.parts)
        kept = [text for text in texts_of if text != NEVER]
        return kept[0] if len(kept) == 1 else Alt(tuple(kept))
    parts = formula.parts if isinstance(formula, And) else () if formula is TRUE else (formula,)
    low, high = 0, None
    regular: list[Fact] = []
    deeper: list[Formula] = []
    for part in parts:
        if isinstance(part, f.AtLeast):
            low = max(low, part.count)
        elif isinstance(part, f.AtMost):
            high = part.count if high is None else min(high, part.count)
        elif isinstance(part, Fact):
            regular.append(part)
        else:
            deeper.append(part)
    if high is not None and low > high:
        return NEVER
    for fact in regular:
        if isinstance(fact, f.Matches) and fact.positive and (deeper or len(regular) > 1):
            few = few_texts(fact.pattern.text)
            if few is not None:
                # What else is said only has to be looked at for these.
                fit = [text for text in few if holds(formula, partial(_is_so, text))]
                fit = [text for text in fit if within is None or within.accepts(text)]
                ways = [Seq(tuple(map(_character, text))) for text in fit]
                return ways[0] if len(ways) == 1 else Alt(tuple(ways))
    for fact in regular:
        if isinstance(fact, f.Among) and fact.positive:
            texts = [text for text in fact.values if isinstance(text, str) and _is_text(text)]
            if formula is not fact:
                texts = [text for text in texts if holds(formula, partial(_is_so, text))]
            texts = [text for text in texts if within is None or within.accepts(text)]
            listed = [literal(text) for text in texts]
            return listed[0] if len(listed) == 1 else Alt(tuple(listed))
    if deeper:
        dfa = reduce(_both, [automaton(part, rule) for part in deeper])
        if regular:
            dfa = _both(dfa, _joined_at(tuple(regular), rule))
        dfa = dfa if within is None else _both(dfa, within)
        return _with_length(dfa, low, high, rule)
    if within is not None:
        dfa = _both(_joined_at(tuple(regular), rule), within) if regular else within
        return _with_length(dfa, low, high, rule)
    if not regular:
        return Repeat(_ANYTHING, low, high)
    return _content(tuple(regular), low, high, rule)


def _character(char: str) -> CharSet:
    return CharSet(((ord(char), ord(char)),))


def surely_possible(formula: Formula) -> bool:
    """Whether it is plain without an automaton that some text satisfies a formula about strings."""
    low, high = 0, None
    shortest = None
    for part in formula.parts if isinstance(formula, And) else (formula,):
        if isinstance(part, f.AtLeast):
            low = max(low, part.count)
        elif isinstance(part, f.AtMost):
            high = part.count if high is None else min(high, part.count)
        elif isinstance(part, f.Matches | f.Format) and part.positive and shortest is None:
            shortest = _shortest(part)
            if shortest is None:
                return False
        else:
            return False
    if shortest is None:
        return high is None or low <= high
    return low <= shortest and (high is None or shortest <= high)


@lru_cache(maxsize=2048)
def _shortest(fact: Fact) -> int | None:
    """How many characters the shortest text of a fact has, where that is told by its expression."""
    expr = _expression(fact)
    lengths = None if expr is None else length_range(expr)
    return None if lengths is None else lengths[0]


@lru_cache(maxsize=2048)
def _content(regular: _Regular, low: int, high: int | None, rule: str | None) -> Expr:
    if len(regular) == 1:
        expr = _expression(regular[0])
        if isinstance(regular[0], f.Format) and high is not None and low <= 3:
            lengths = None if expr is None else length_range(expr)
            if lengths is not None and (lengths[1] is None or lengths[1] > high):
                expr = bounded_format(regular[0].name, high) or expr
        if expr is not None:
            branches = expr.items if isinstance(expr, Alt) else (expr,)
            limited = [_limited(branch, low, high, rule) for branch in branches]
            kept = [branch for branch in limited if branch != NEVER]
            if not kept:
                return NEVER
            return kept[0] if len(kept) == 1 else Alt(tuple(kept))
    return _with_length(_joined_at(regular, rule), low, high, rule)


def _expression(fact: Fact) -> Expr | None:
    """A fact as an expression, where that is how it is given."""
    if isinstance(fact, f.Matches) and fact.positive:
        expr = pattern_expression(fact.pattern.text)
        return None if isinstance(expr, Graph) else expr
    if isinstance(fact, f.Format) and fact.positive:
        return format_expression(fact.name)
    return None


def automaton(formula: Formula, rule: str | None = None) -> Dfa:
    """The automaton of the texts that a formula about strings allows."""
    if isinstance(formula, And):
        return reduce(_both, (automaton(part, rule) for part in formula.parts))
    if isinstance(formula, Or):
        graphs = tuple(to_graph(automaton(part, rule), CharSet) for part in formula.parts)
        return minimise(determinise(Alt(graphs), rule=rule))
    if isinstance(formula, Fact):
        return _fact_automaton(formula)
    return determinise(Repeat(_ANYTHING, 0, None) if formula is TRUE else NEVER)


def _joined_at(facts: _Regular, rule: str | None) -> Dfa:
    """As ``_joined``; an error about a budget names the place, unless it names a pattern."""
    try:
        return _joined(facts)
    except GrammarTooComplex as error:
        raise error if error.rule is not None or rule is None else error.at(rule) from None


@lru_cache(maxsize=1024)
def _joined(facts: _Regular) -> Dfa:
    kept = [fact for fact in facts if not isinstance(fact, f.Among) or fact.positive]
    excluded = [fact for fact in facts if isinstance(fact, f.Among) and not fact.positive]
    if excluded:
        keys = frozenset().union(*(fact.keys for fact in excluded))
        values = tuple(value for fact in excluded for value in fact.values)
        kept.append(f.Among(keys, False, values))
    # one after the other, so that too large a product is seen before all of them are made
    return reduce(_both, map(_fact_automaton, kept))


def _both(left: Dfa, right: Dfa) -> Dfa:
    return minimise(intersect(left, right))


@lru_cache(maxsize=2048)
def _fact_automaton(fact: Fact) -> Dfa:
    match fact:
        case f.Matches(pattern=pattern, positive=positive):
            return pattern_automaton(pattern.text, positive)
        case f.Format(name=name, positive=positive):
            return format_automaton(name) if positive else without_format(name)
        case f.AtLeast(count=count):
            return determinise(Repeat(_ANYTHING, count, None))
        case f.AtMost(count=count):
            return determinise(Repeat(_ANYTHING, 0, count) if count >= 0 else NEVER)
        case f.Among(positive=positive, values=values):
            texts = [text for text in values if isinstance(text, str) and _is_text(text)]
            dfa = minimise(determinise(Alt(tuple(map(literal, texts)))))
            return dfa if positive else complement(dfa)
    raise TypeError(f"{fact!r} is not about strings")


def _is_so(text: str, fact: Fact) -> bool:
    """Whether a fact about strings holds for one of them."""
    match fact:
        case f.Matches(pattern=pattern, positive=positive):
            return pattern.found_in(text) == positive
        case f.Format(name=name, positive=positive):
            dfa = format_automaton(name) if positive else without_format(name)
            return dfa.accepts(text)
        case f.AtLeast(count=count):
            return len(text) >= count
        case f.AtMost(count=count):
            return len(text) <= count
        case f.Among(positive=positive, keys=keys):
            return ((STRING, text) in keys) == positive
    raise TypeError(f"{fact!r} is not about strings")


def _is_text(text: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in text)


def _limited(expr: Expr, low: int, high: int | None, rule: str | None, apart: bool = True) -> Expr:
    """The texts of an expression with ``low`` to ``high`` characters, by counts where those suffice."""
    lengths = length_range(expr)
    if lengths is None:
        return NEVER
    least, most = lengths
    if (high is not None and least > high) or (most is not None and most < low):
        return NEVER
    if least >= low and (high is None or (most is not None and most <= high)):
        return expr
    counted = _counted(expr, low, high)
    if counted is not None:
        return counted
    ways = _ways(expr) if apart else None
    if ways is not None:
        limited = [_limited(way, low, high, rule, apart=False) for way in ways]
        kept = [way for way in limited if way != NEVER]
        return NEVER if not kept else kept[0] if len(kept) == 1 else Alt(tuple(kept))
    return _with_length(minimise(determinise(expr, rule=rule)), low, high, rule)


def _with_length(dfa: Dfa, low: int, high: int | None, rule: str | None) -> Expr:
    """The texts of an automaton with ``low`` to ``high`` characters; ``NEVER`` when there are none."""
    if high is not None and len(dfa.table) * high > MAX_COUNTED:
        item = Counted(dfa, low, high)
        return item if has_texts(item) else NEVER
    limited = with_length(dfa, low, high, rule=rule)
    return NEVER if limited.is_empty else to_graph(limited, CharSet)


def _ways(expr: Expr) -> list[Expr] | None:
    """A sequence with its short alternatives multiplied out, if just one unbounded part is left."""
    parts = _flat(expr)
    ways: list[tuple[Expr, ...]] = [()]
    open_parts = 0
    for part in parts:
        lengths = length_range(part)
        if lengths is None:
            return None
        options = [part]
        if lengths[0] != lengths[1]:
            if isinstance(part, Alt):
                options = list(part.items)
            elif isinstance(part, Repeat) and part.max == 1:
                options = [EMPTY, part.item]
            else:
                open_parts += 1
        ways = [(*way, option) for way in ways for option in options]
        if open_parts > 1 or len(ways) > 32:
            return None
    return [Seq(way) for way in ways] if len(ways) > 1 else None


def _counted(expr: Expr, low: int, high: int | None) -> Expr | None:
    """Move the limits into the one repetition that decides the length, if there is just one."""
    parts = _flat(expr)
    fixed = 0
    varying: list[int] = []
    for number, part in enumerate(parts):
        lengths = length_range(part)
        if lengths is None:
            return NEVER
        if lengths[0] == lengths[1]:
            fixed += lengths[0]
        else:
            varying.append(number)
    if len(varying) != 1:
        return None
    repeat = parts[varying[0]]
    if not isinstance(repeat, Repeat):
        return None
    inner = length_range(repeat.item)
    if inner is None or inner[0] != inner[1] or not inner[0]:
        return None
    unit = inner[0]
    least = max(repeat.min, -((fixed - low) // unit)) if low > fixed else repeat.min
    most = repeat.max
    if high is not None:
        room = (high - fixed) // unit
        most = room if most is None else min(most, room)
        if most < least:
            return NEVER
    parts[varying[0]] = Repeat(repeat.item, least, most, origin=repeat.origin)
    return parts[0] if len(parts) == 1 else Seq(tuple(parts), origin=expr.origin)


def _flat(expr: Expr) -> list[Expr]:
    """The factors of nested sequences, in order."""
    out: list[Expr] = []
    stack = [expr]
    while stack:
        top = stack.pop()
        if isinstance(top, Seq):
            stack.extend(reversed(top.items))
        else:
            out.append(top)
    return out


def spelled(
    expr: Expr,
    spell: Callable[[Ranges], Expr],
    style: str = "any",
    counted: Callable[[Counted], Expr] | None = None,
) -> Expr:
    """Replace every character class by its spelling; iterative, shared parts stay shared.

    Graphs that tell few classes apart are spelled byte by byte instead; ``counted`` writes texts that are
    not written out yet.
    """
    done: dict[int, Expr] = {}
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        item, opened = stack.pop()
        if id(item) in done:
            continue
        if isinstance(item, CharSet):
            done[id(item)] = spell(item.ranges)
        elif isinstance(item, Counted) and counted is not None:
            done[id(item)] = counted(item)
        elif isinstance(item, Literal):
            done[id(item)] = spell_text(item.data.decode(), style)
        elif style == "any" and isinstance(item, Graph) and (in_bytes := coded(item)) is not None:
            done[id(item)] = in_bytes
        elif not opened:
            stack.append((item, True))
            stack.extend((part, False) for part in _parts(item))
        elif isinstance(item, Seq):
            done[id(item)] = Seq(tuple([done[id(part)] for part in item.items]), origin=item.origin)
        elif isinstance(item, Alt):
            done[id(item)] = Alt(tuple([done[id(part)] for part in item.items]), origin=item.origin)
        elif isinstance(item, Repeat):
            done[id(item)] = Repeat(done[id(item.item)], item.min, item.max, origin=item.origin)
        elif isinstance(item, Graph):
            edges = tuple([(a, done[id(label)], b) for a, label, b in item.edges])
            done[id(item)] = Graph(
                item.n_states, item.start, item.finals, edges, origin=item.origin
            )
        else:
            raise TypeError(f"{type(item).__name__} is not an expression over characters")
    return done[id(expr)]


def _parts(item: Expr) -> Iterable[Expr]:
    if isinstance(item, Seq | Alt):
        return item.items
    if isinstance(item, Repeat):
        return (item.item,)
    if isinstance(item, Graph):
        return [label for _, label, _ in item.edges]
    return ()
