"""The texts of a format by its definition: a judge that shares nothing with the grammars made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from random import Random

from workbench import formats as f

LETTERS = "ab<"


def has(format: f.Format, text: str) -> bool:
    """Whether a text is one of a format."""
    return len(text) in ends(format, text, 0, ())


# long: a case for each kind
def ends(format: f.Format, text: str, at: int, stops: tuple[str, ...]) -> set[int]:
    """Where a format may end that begins at a place of a text, inside a tag that ends with one of ``stops``."""
    match format:
        case f.ConstString(value) | f.Marker(value):
            return {at + len(value)} if text.startswith(value, at) else set()
        case f.AnyText(excludes, most):
            held = [*excludes, *filter(None, stops)]
            last = len(text) if most is None else min(len(text), at + most)
            return {j for j in range(at, last + 1) if not any(one in text[at:j] for one in held)}
        case f.RegexPattern(pattern):
            return {j for j in range(at, len(text) + 1) if re.fullmatch(pattern, text[at:j])}
        case f.Sequence(elements):
            return chain(elements, text, {at}, stops)
        case f.Or(elements):
            return {j for one in elements for j in ends(one, text, at, stops)}
        case f.Optional(content):
            return {at} | ends(content, text, at, stops)
        case f.Star(content):
            return often(content, text, {at}, stops)
        case f.Plus(content):
            return often(content, text, ends(content, text, at, stops), stops)
        case f.Repeat(least, most, content):
            here = chain([content] * least, text, {at}, stops)
            if most is None:
                return often(content, text, here, stops)
            found = set(here)
            for _ in range(most - least):
                here = chain([content], text, here, stops)
                found |= here
            return found
        case f.Capture(content=content):
            return ends(content, text, at, stops)
        case f.Tag():
            return tag(format, text, at)
        case f.TagsWithSeparator(tags, separator, at_least_one, stop_after_first):
            first = {j for one in tags for j in tag(one, text, at)}
            found = set(first) if at_least_one else {at, *first}
            while not stop_after_first:
                after = chain([f.ConstString(str(separator))], text, first, ())
                first = {j for i in after for one in tags for j in tag(one, text, i)} - found
                if not first:
                    break
                found |= first
            return found
        case f.TriggeredTags(triggers, tags, at_least_one, stop_after_first, excludes):
            behind = [(str(t), f.Or(tuple(g for g in tags if g.begin.startswith(t)))) for t in triggers
                      if any(g.begin.startswith(t) for g in tags)]  # fmt: skip
            first = {j for one in tags for j in tag(one, text, at)} if at_least_one else {at}
            if at_least_one and stop_after_first:
                return first
            marks = list(map(str, triggers)), [*excludes, *filter(None, stops)]
            loop = not stop_after_first
            return {j for i in first for j in dispatched(behind, marks, text, i, loop, True, ())}
        case f.Dispatch(rules, loop, excludes):
            marks = [str(one) for one, _ in rules], list(excludes)
            return dispatched(
                [(str(one), inner) for one, inner in rules], marks, text, at, loop, False, stops
            )
    raise TypeError(format)


def tag(one: f.Tag, text: str, at: int) -> set[int]:
    stops = tuple(map(str, one.ends))
    inside = chain([f.ConstString(str(one.begin)), one.content], text, {at}, stops)
    return {j for i in inside for end in stops for j in ends(f.ConstString(end), text, i, ())}


def dispatched(
    behind: list[tuple[str, f.Format]],
    marks: tuple[list[str], list[str]],
    text: str,
    at: int,
    loop: bool,
    begins: bool,
    around: tuple[str, ...],
) -> set[int]:
    """Free text; where a trigger comes first, what stands behind that one, or what ``begins`` with it."""
    triggers, excluded = marks
    found: set[int] = set()
    seen, todo = {at}, [at]
    while todo:
        here = todo.pop()
        stop = here
        while stop <= len(text) and not text[here:stop].endswith((*triggers, *excluded)):
            found.add(stop)
            stop += 1
        free = text[here:stop]
        if stop > len(text) or free.endswith(tuple(excluded)):
            continue
        mark = max((one for one in triggers if free.endswith(one)), key=len)
        for one, inner in behind:
            if one == mark:
                after = ends(inner, text, stop - len(mark) if begins else stop, around)
                found |= after
                todo += [j for j in after - seen if loop]
                seen |= after
    return found


def chain(parts: Iterable[f.Format], text: str, here: set[int], stops: tuple[str, ...]) -> set[int]:
    for part in parts:
        here = {j for i in here for j in ends(part, text, i, stops)}
    return here


def often(content: f.Format, text: str, here: set[int], stops: tuple[str, ...]) -> set[int]:
    found, todo = set(here), list(here)
    while todo:
        for j in ends(content, text, todo.pop(), stops) - found:
            found.add(j)
            todo.append(j)
    return found


def random_text(rng: Random, least: int = 1) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(least, 2)))


def random_tag(rng: Random, depth: int, begin: str = "") -> f.Tag:
    several = tuple(random_text(rng, 0) for _ in range(rng.choice([1, 1, 2])))
    return f.Tag(
        begin + random_text(rng, 0 if begin else 1), random_format(rng, depth - 1), several
    )


# long: a case for each kind
def random_format(rng: Random, depth: int) -> f.Format:
    """A random format, at most so deep."""
    leaves = ["const", "text", "text", "regex"]
    inner = ["sequence", "or", "optional", "star", "plus", "repeat", "capture", "tag", "separated"]
    inner += ["triggered", "triggered", "triggered", "dispatch", "dispatch"]
    flag = lambda: rng.random() < 0.4  # noqa: E731
    excludes = tuple(random_text(rng) for _ in range(rng.choice([0, 0, 1])))
    deeper = lambda: random_format(rng, depth - 1)  # noqa: E731
    match rng.choice(leaves if depth <= 0 else [*leaves, *inner]):
        case "const":
            return f.ConstString(random_text(rng))
        case "text":
            return f.AnyText(excludes, rng.choice([None, None, 2]))
        case "regex":
            return f.RegexPattern(rng.choice(["a*b", "[ab]{1,3}", "<?a|b<", ""]))
        case "sequence":
            return f.Sequence([deeper() for _ in range(rng.randint(1, 3))])
        case "or":
            return f.Or([deeper() for _ in range(rng.randint(1, 3))])
        case "optional":
            return f.Optional(deeper())
        case "star":
            return f.Star(deeper())
        case "plus":
            return f.Plus(deeper())
        case "repeat":
            least = rng.randint(0, 2)
            return f.Repeat(least, rng.choice([None, least, least + 1]), deeper())
        case "capture":
            return f.Capture("some", deeper())
        case "tag":
            return random_tag(rng, depth)
        case "separated":
            tags = [random_tag(rng, depth) for _ in range(rng.randint(1, 2))]
            return f.TagsWithSeparator(tags, random_text(rng, 0), flag(), flag())
        case "dispatch":
            rules = [(random_text(rng), deeper()) for _ in range(rng.randint(1, 2))]
            return f.Dispatch(rules, flag(), excludes)
    triggers = [random_text(rng) for _ in range(rng.randint(1, 2))]
    tags = [random_tag(rng, depth, rng.choice(triggers)) for _ in range(rng.randint(1, 2))]
    return f.TriggeredTags(triggers, tags, flag(), flag(), excludes)
