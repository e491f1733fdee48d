"""Random compositions beside what they mean: a set of texts, and a matcher that goes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import workbench as wb
from workbench.grammar.ir import Grammar

#: Name, start and end of what was captured, by where it begins.
Spans = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Plan:
    """What a composition is made of: a kind, its parts, and what else it takes."""

    kind: str
    parts: tuple[Plan, ...] = ()
    text: str = ""
    least: int = 0
    most: int | None = None


def grammar_of(plan: Plan) -> Grammar:
    """The composition."""
    parts = [grammar_of(part) for part in plan.parts]
    match plan.kind:
        case "text":
            return wb.seq(plan.text)
        case "ref":
            return wb.ref(plan.text)
        case "regex":
            return wb.regex(plan.text)
        case "gbnf":
            return wb.gbnf(f'root ::= "{plan.text}" again?\nagain ::= root')
        case "seq":
            return wb.seq(*parts)
        case "+":
            return parts[0] + parts[1]
        case "alt":
            return wb.alt(*parts)
        case "|":
            return parts[0] | parts[1]
        case "repeat":
            return wb.repeat(parts[0], plan.least, plan.most)
        case "separated":
            return wb.repeat(parts[0], plan.least, plan.most, separator=parts[1])
        case "optional":
            return wb.optional(parts[0])
        case "capture":
            return wb.capture(plan.text, parts[0])
        case kind:
            raise AssertionError(kind)


class Backtracking:
    """Reads a text as Perl would: ends and captures in the order in which they are tried."""

    def __init__(self, text: str) -> None:
        self.text = text

    def first(self, plan: Plan) -> Spans | None:
        """The captures of the first way to read the whole text."""
        for end, spans in self.ways(plan, 0):
            if end == len(self.text):
                return spans
        return None

    def ways(self, plan: Plan, at: int) -> Iterator[tuple[int, Spans]]:
        match plan.kind:
            case "text":
                if self.text.startswith(plan.text, at):
                    yield at + len(plan.text), ()
            case "regex":  # a class, as often as possible
                end = at
                while end < len(self.text) and self.text[end] in plan.text:
                    end += 1
                for stop in range(end, at, -1):
                    yield stop, ()
            case "gbnf":
                stops = [at]
                while self.text.startswith(plan.text, stops[-1]):
                    stops.append(stops[-1] + len(plan.text))
                for stop in reversed(stops[1:]):
                    yield stop, ()
            case "seq" | "+":
                yield from self.following(plan.parts, at)
            case "alt" | "|":
                for part in plan.parts:
                    yield from self.ways(part, at)
            case "repeat":
                yield from self.rounds(plan, (plan.parts[0],), at, 0)
            case "separated":
                yield from self.rounds(plan, (plan.parts[1], plan.parts[0]), at, 0)
            case "optional":
                yield from self.ways(plan.parts[0], at)
                yield at, ()
            case "capture":
                for end, spans in self.ways(plan.parts[0], at):
                    yield end, ((plan.text, at, end), *spans)

    def following(self, parts: tuple[Plan, ...], at: int) -> Iterator[tuple[int, Spans]]:
        if not parts:
            yield at, ()
            return
        for end, spans in self.ways(parts[0], at):
            for last, more in self.following(parts[1:], end):
                yield last, spans + more

    def rounds(
        self, plan: Plan, parts: tuple[Plan, ...], at: int, done: int
    ) -> Iterator[tuple[int, Spans]]:
        if plan.most is None or done < plan.most:
            for end, spans in self.following(parts if done else parts[-1:], at):
                if end > at:  # parts are never empty
                    for last, more in self.rounds(plan, parts, end, done + 1):
                        yield last, spans + more
        if done >= plan.least:
            yield at, ()


def pattern_of(plan: Plan) -> str:
    """The same language as a pattern of Python's ``re``."""
    parts = [pattern_of(part) for part in plan.parts]
    most = "" if plan.most is None else str(plan.most)
    match plan.kind:
        case "text":
            return plan.text
        case "regex":
            return plan.text
        case "gbnf":
            return f"(?:{plan.text})+"
        case "seq" | "+":
            return "".join(parts)
        case "alt" | "|":
            return f"(?:{'|'.join(parts)})"
        case "repeat":
            return f"(?:{parts[0]}){{{plan.least},{most}}}"
        case "separated":
            if plan.most == 0:
                return ""
            fewer = "" if plan.most is None else str(plan.most - 1)
            several = f"{parts[0]}(?:{parts[1]}{parts[0]}){{{max(plan.least - 1, 0)},{fewer}}}"
            return several if plan.least else f"(?:{several})?"
        case "optional":
            return f"(?:{parts[0]})?"
        case _:
            return f"(?:{parts[0]})"


def is_nullable(plan: Plan) -> bool:
    """Whether the empty text belongs to a plan."""
    return Backtracking("").first(plan) is not None


def _solid(plan: Plan) -> Plan:
    """A plan without the empty text."""
    return Plan("seq", (Plan("text", text="b"), plan)) if is_nullable(plan) else plan


def plans() -> st.SearchStrategy[Plan]:
    """Compositions over ``a`` and ``b`` whose repeated parts are never empty."""
    leaves: st.SearchStrategy[Any] = st.one_of(
        st.sampled_from(["a", "b", "ab", "ba", ""]).map(lambda text: Plan("text", text=text)),
        st.sampled_from(["[ab]+", "a+"]).map(lambda text: Plan("regex", text=text)),
        st.sampled_from(["a", "ab"]).map(lambda text: Plan("gbnf", text=text)),
    )
    bounds = st.sampled_from([(0, None), (1, None), (2, None), (0, 2), (1, 3), (2, 2), (0, 0)])

    def grown(inner: st.SearchStrategy[Plan]) -> st.SearchStrategy[Plan]:
        several = st.lists(inner, max_size=3).map(tuple)
        two = st.tuples(inner, inner)
        solid = inner.map(_solid)
        return st.one_of(
            several.map(lambda parts: Plan("seq", parts)),
            several.filter(len).map(lambda parts: Plan("alt", parts)),
            two.map(lambda parts: Plan("+", parts)),
            two.map(lambda parts: Plan("|", parts)),
            st.builds(lambda p, b: Plan("repeat", (p,), least=b[0], most=b[1]), solid, bounds),
            st.builds(
                lambda p, s, b: Plan("separated", (p, s), least=b[0], most=b[1]),
                solid,
                inner,
                bounds,
            ),
            inner.map(lambda part: Plan("optional", (part,))),
            st.builds(lambda p, n: Plan("capture", (p,), text=n), inner, st.sampled_from("xyz")),
        )

    return st.recursive(leaves, grown, max_leaves=8)


def rule_bodies(names: str) -> st.SearchStrategy[Plan]:
    """Bodies of rules that use each other by name."""
    leaves: st.SearchStrategy[Any] = st.one_of(
        st.sampled_from(["a", "b", "ab", ""]).map(lambda text: Plan("text", text=text)),
        st.sampled_from(names).map(lambda name: Plan("ref", text=name)),
    )

    def grown(inner: st.SearchStrategy[Plan]) -> st.SearchStrategy[Plan]:
        several = st.lists(inner, min_size=1, max_size=3).map(tuple)
        return st.one_of(
            several.map(lambda parts: Plan("seq", parts)),
            several.map(lambda parts: Plan("alt", parts)),
            inner.map(lambda part: Plan("optional", (part,))),
            inner.map(lambda part: Plan("repeat", (part,), least=1)),
            inner.map(lambda part: Plan("capture", (part,), text="x")),
        )

    return st.recursive(leaves, grown, max_leaves=6)


def texts_of(plan: Plan, rules: dict[str, frozenset[str]], most: int) -> frozenset[str]:
    """The texts of a plan up to a length, by those of the rules that are known so far."""
    parts = [texts_of(part, rules, most) for part in plan.parts]
    match plan.kind:
        case "text":
            return frozenset([plan.text])
        case "ref":
            return rules[plan.text]
        case "seq":
            found = frozenset([""])
            for part in parts:
                found = joined(found, part, most)
            return found
        case "alt":
            return frozenset().union(*parts)
        case "optional":
            return parts[0] | {""}
        case "repeat":
            found = parts[0]
            while (more := found | joined(found, parts[0], most)) != found:
                found = more
            return found
        case _:
            return parts[0]


def joined(first: frozenset[str], second: frozenset[str], most: int) -> frozenset[str]:
    return frozenset(a + b for a in first for b in second if len(a) + len(b) <= most)
