"""Random walks over masks: every call has arguments that its schema accepts, and the choice holds."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import pytest

import workbench as wb
from tests.frontends.tools.tool_sets import SETS, as_tools, drawn
from tests.frontends.tools.vocabularies import KINDS

FAMILIES = sorted(wb.tool_formats())
CHOICES: list[Any] = ["auto", "required", "forced", "auto", "none"]
DRAWN = 14
LIKELY = frozenset(b'ab <"\n')


def walked(compiled: wb.CompiledGrammar, rng: random.Random, begin: list[int]) -> list[int] | None:
    """The ids of a text of a grammar: what is likely to lead on first, then the shortest way to an end.

    ``begin`` are ids that are taken where free text may stand, so that calls come. None where no end was found.
    """
    matcher = compiled.matcher()
    vocabulary = compiled.vocabulary
    ends = set(vocabulary.eos_ids)
    pending: list[int] = []
    for _ in range(400):
        allowed = matcher.allowed_ids()
        options = [int(one) for one in allowed if one not in ends]
        if not options or (matcher.is_accepting and rng.random() < 0.04):
            break
        if pending and pending[0] in options:
            chosen = pending.pop(0)
        elif len(options) > 200 and begin and rng.random() < 0.15 and begin[0] in options:
            chosen, *pending = begin
        elif len(options) > 60:
            # the text of a string: letters, and its end
            likely = [one for one in options if one in LIKELY] or options
            chosen = rng.choice(likely if rng.random() < 0.9 else options)
        else:
            chosen = rng.choice(options)
        assert matcher.accept(chosen)
    return _ended(matcher, ends, rng)


def _ended(matcher: wb.Matcher, ends: set[int], rng: random.Random) -> list[int] | None:
    """The way to an end, each token nearer to it than the one before."""
    for _ in range(600):
        if matcher.is_accepting:
            return list(matcher.token_ids)
        distance = matcher.finish_distance()
        assert distance is not None
        options = [int(one) for one in matcher.allowed_ids() if one not in ends]
        rng.shuffle(options)
        for one in options:
            assert matcher.accept(one)
            nearer = matcher.finish_distance()
            if nearer is not None and nearer < distance:
                break
            matcher.rollback(1)
        else:
            return None
    return None


def whole(vocabulary: wb.Vocabulary, ids: list[int]) -> str:
    """A text with the names of special tokens in it."""
    return b"".join(
        vocabulary.special_name(one).encode()
        if one in vocabulary.special_ids
        else vocabulary.token_bytes(one)
        for one in ids
    ).decode()


def outside(form: wb.ToolFormat, text: str, calls: list[wb.ToolCall]) -> str:
    """The text without thoughts, calls and the sections in which they stand."""
    data = text.encode()
    for call in reversed(calls):
        data = data[: call.start] + data[call.end :]
    text = data.decode()
    for begin in form.begin:
        if calls and begin in text:
            head, _, rest = text.partition(begin)
            assert (
                rest.replace(form.between.strip() or "\0", "").strip().startswith(form.end.strip())
            )
            text = head + (rest.partition(form.end)[2] if form.end else "")
    if form.reasoning is not None and form.shape != "messages":
        text = text.rpartition(form.reasoning.close)[2]
    return text


def check(name: str, schemas: dict[str, Any], seed: int) -> int:
    """Walk through the grammars of one set; the number of calls that were seen."""
    rng = random.Random(f"{name} {seed}")
    kinds = list(KINDS)
    seen = 0
    for number in range(4):
        family = FAMILIES[(seed + number * 7) % len(FAMILIES)]
        form = wb.tool_formats()[family]
        choice = CHOICES[(seed + number) % len(CHOICES)]
        forced = rng.choice(list(schemas))
        parallel = rng.random() < 0.7
        try:
            grammar = wb.tools(
                as_tools(schemas),
                {"name": forced} if choice == "forced" else choice,
                format=family,
                parallel=parallel,
                reasoning=rng.choice([None, False]),
            )
        except wb.BrokenTools as error:
            # what a family cannot write is told
            assert all("the style" in one.reason for one in error.tools)  # noqa: PT017
            continue
        vocabulary = KINDS[kinds[number % 3]](form.markers)
        compiled = wb.compile(grammar, vocabulary)
        special = {vocabulary.special_name(one): one for one in vocabulary.special_ids}
        begin = [special[form.trigger]] if form.trigger in special else list(form.trigger.encode())
        for _ in range(2):
            ids = walked(compiled, rng, [] if choice == "none" else begin)
            if ids is None:
                continue
            calls = wb.read_calls(compiled, ids)
            seen += len(calls)
            told = (name, family, choice, vocabulary.decode(ids))
            for call in calls:
                assert call.name in schemas, told
                validator = jsonschema.validators.validator_for(
                    schemas[call.name], jsonschema.Draft202012Validator
                )(schemas[call.name])
                assert validator.is_valid(call.arguments), (told, call)
            n = len(calls)
            assert n >= (choice in ("required", "forced")), told
            assert n == 0 or choice != "none", told
            assert n <= 1 or (parallel and choice != "forced"), told
            assert all(call.name == forced for call in calls) or choice != "forced", told
            assert form.trigger not in outside(form, whole(vocabulary, ids), calls), told
    return seen


@pytest.mark.parametrize("name", SETS)
def test_calls_along_random_walks(name: str) -> None:
    assert sum(check(name, SETS[name], seed) for seed in range(3)) > 0


@pytest.mark.parametrize("number", range(DRAWN))
def test_calls_of_tools_with_public_schemas(number: int) -> None:
    sets = drawn(DRAWN)
    if len(sets) <= number:
        pytest.skip("the public schemas are not at hand")
    assert check(f"drawn {number}", sets[number], number) >= 0
