"""What the grammar editor is answered: is the text a grammar, where not, and what becomes of the examples.

Verdicts on examples are given byte by byte, so that no tokenizer has a say; the grammar is compiled for the
model's vocabulary, too.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.automaton.dot import byte_label
from workbench.diagnostics.author.standing import author_text
from workbench.diagnostics.verdicts import remake
from workbench.engine import CompiledGrammar, compile as compile_grammar
from workbench.errors import (
    GrammarSyntaxError,
    UnsatisfiableGrammar,
    UnsupportedConstraint,
    WorkbenchError,
)
from workbench.grammar.ir import Grammar, Origin
from workbench.grammar.outcomes import TOLD, grouped
from workbench.notebook.grammar_warnings import told
from workbench.notebook.pointers import locate
from workbench.vocabulary import byte_vocabulary
from workbench.wording import more, number_of

if TYPE_CHECKING:
    from workbench.engine import Matcher
    from workbench.vocabulary import Vocabulary

__all__ = [
    "KINDS",
    "check",
    "is_source",
    "judged",
    "make_examples",
    "read",
    "source_text",
    "stale",
]

#: Kinds of grammar texts that can be edited.
KINDS = ("gbnf", "json_schema", "regex")
#: Examples and bytes of one that are looked at.
MOST_EXAMPLES = 200
MOST_BYTES = 100_000
#: Places of one kind of restriction that are listed.
MOST_PLACES = 1000
#: Ways on that are listed where an example stops.
MOST_WAYS = 8


def source_text(grammar: Grammar | None) -> tuple[str, str]:
    """The text and kind that a grammar can be edited as; an empty text where there is none."""
    if grammar is None or grammar.kind not in KINDS or grammar.source is None:
        return "", "gbnf"
    if isinstance(grammar.source, str):
        return grammar.source, grammar.kind
    try:
        return json.dumps(grammar.source, indent=2, ensure_ascii=False), grammar.kind
    except (TypeError, ValueError, RecursionError):
        return "", "gbnf"


def is_source(text: str, kind: str, grammar: Grammar | None) -> bool:
    """Whether a grammar is what a text says; of schemas the layout does not matter, the order of keys does."""
    known, kind_known = source_text(grammar)
    if text == known or kind != kind_known or kind != "json_schema":
        return text == known and (kind == kind_known or not text)
    try:
        return json.dumps(json.loads(text)) == json.dumps(json.loads(known))
    except (ValueError, RecursionError):
        return False


def read(text: str, kind: str) -> Grammar:
    """Read a grammar text. Raises what the front end raises, ``GrammarSyntaxError`` for a text that is no JSON."""
    if kind != "json_schema":
        return remake(kind, text)
    try:
        schema = json.loads(text)
    except json.JSONDecodeError as error:
        raise GrammarSyntaxError(
            f"this is not JSON: {error.msg}", text=text, start=error.pos
        ) from None
    except RecursionError:
        raise GrammarSyntaxError("this JSON is nested too deeply") from None
    return remake(kind, schema)


def check(
    text: str, kind: str, examples: Iterable[Mapping[str, Any]], vocabulary: Vocabulary
) -> dict[str, Any]:
    """Read and compile a grammar text, and judge its examples; everything as JSON values."""
    started = time.perf_counter()
    given = list(examples)
    wanted = [_example(item) for item in given[:MOST_EXAMPLES]]
    answer: dict[str, Any] = {"text": text, "kind": kind, "states": None, "rules": None}
    judge: CompiledGrammar | None = None
    mistakes: list[dict[str, Any]] = []
    outcomes: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    notes: list[str] = []
    grammar: Grammar | None = None
    try:
        grammar = read(text, kind)
        found, notes = told(grammar, text)
        outcomes = _outcomes(grammar)
        judge = compile_grammar(grammar, byte_vocabulary())
        compiled = compile_grammar(grammar, vocabulary, check="all", within=1.0)
        answer["states"] = compiled.automaton.n_states
        answer["rules"] = len(getattr(grammar.rules, "emitted", grammar.rules))
    except (WorkbenchError, ValueError, RecursionError) as error:
        mistakes.append(_mistake(error, text, kind))
    return {
        **answer,
        "ok": not mistakes,
        "ms": round((time.perf_counter() - started) * 1000, 1),
        "mistakes": mistakes,
        "notes": [*notes, *_not_judged(given)],
        "hints": found,
        "outcomes": outcomes,
        "examples": [_judged(item, judge, text) for item in wanted],
    }


def _not_judged(examples: Sequence[object]) -> list[str]:
    left_out = more(len(examples), MOST_EXAMPLES, "example")
    return [f"the first {MOST_EXAMPLES} are judged: {left_out}"] if left_out else []


def _example(item: Mapping[str, Any]) -> dict[str, str]:
    want = item.get("want")
    return {
        "text": str(item.get("text", "")),
        "want": want if want in ("match", "not", "prefix") else "match",
    }


def _judged(item: dict[str, str], judge: CompiledGrammar | None, text: str = "") -> dict[str, Any]:
    """An example with its verdict; ``ok`` when it is what it should be.

    ``ways`` are what may come where it stops, by rule, with the rule's place in the grammar's text.
    """
    found: dict[str, Any] = {**item, "ok": False, "failing": None, "byte": "", "expected": ""}
    found["ways"] = []
    if judge is None:
        return {**found, "verdict": "not judged"}
    matcher = judge.matcher()
    data = item["text"].encode("utf-8", errors="surrogatepass")
    if len(data) > MOST_BYTES:
        too_long = f"{number_of(len(data), 'byte')}, at most {MOST_BYTES:,} are read"
        return {**found, "verdict": f"not judged: {too_long}"}
    try:
        reached = matcher.accept_tokens(data)
        accepted = reached == len(data) and matcher.is_accepting
        expected = byte_label(matcher.allowed_bytes(), limit=80)
    except WorkbenchError as error:
        return {**found, "verdict": f"not judged: {error}"}
    if reached < len(data) or not accepted:
        found["ways"] = _ways(matcher, text)
    if reached < len(data):
        found["failing"] = reached
        found["byte"] = byte_label([data[reached]])
    verdict = "match" if accepted else "prefix" if reached == len(data) else "no match"
    want = item["want"]
    ok = (want == "match" and accepted) or (want == "not" and not accepted)
    ok = ok or (want == "prefix" and reached == len(data))
    return {**found, "verdict": verdict, "ok": ok, "expected": expected}


def stale(examples: Iterable[Mapping[str, Any]], before: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Examples that could not be judged, with the verdicts that they had before, marked ``stale``."""
    known = {(e["text"], e["want"]): e for e in before if not e["verdict"].startswith("not judged")}
    found = []
    for example in examples:
        old = known.get((example["text"], example["want"]))
        found.append(example if old is None else {**old, "stale": True})
    return found


def _ways(matcher: Matcher, text: str) -> list[dict[str, Any]]:
    """The bytes that may come, in groups by the place of the text that says so."""
    compiled = matcher.compiled
    author = author_text(compiled)
    found: dict[Origin, list[int]] = {}
    with author.lock:
        parse = author.go_to(matcher.token_ids, ended=matcher.is_terminated)
        for byte in sorted(matcher.allowed_bytes()):
            places = parse.expected_places(frozenset((byte,))) if parse is not None else ()
            for place in dict.fromkeys(places):
                if place is not None:
                    found.setdefault(place, []).append(byte)
        author.done()
    ways = []
    for place, values in found.items():
        span = (place.start, place.end)
        if place.pointer is not None:
            span = locate(text, place.pointer) or (None, None)
        way = {"label": byte_label(values, limit=40), "rule": place.pointer or place.rule or "text"}
        ways.append({**way, "start": span[0], "end": span[1]})
    left_out = more(len(ways), MOST_WAYS, "rule")
    rest = {"label": "…", "rule": left_out, "start": None, "end": None}
    return [*ways[:MOST_WAYS], *([rest] if left_out else [])]


def judged(item: Mapping[str, Any], grammar: Grammar, vocabulary: Vocabulary) -> dict[str, Any]:
    """One example with its verdict under a grammar, compiled for a vocabulary of bytes."""
    return _judged(_example(item), compile_grammar(grammar, vocabulary))


def _outcomes(grammar: Grammar) -> list[dict[str, Any]]:
    """What of a schema is not enforced as written, by kind; of each kind the number of places and the first ones."""
    return [
        {
            "status": group.status,
            "keyword": group.keyword,
            "detail": group.detail,
            "places": len(group.pointers),
            "pointers": list(group.pointers[:MOST_PLACES]),
        }
        for group in grouped(grammar.outcomes, TOLD)
    ]


def _mistake(error: Exception, text: str, kind: str) -> dict[str, Any]:
    """An error as the editor shows it: where, what, what to do."""
    found: dict[str, Any] = {
        "kind": type(error).__name__,
        "message": str(error),
        "line": None,
        "column": None,
        "start": None,
        "end": None,
        "hint": "",
        "pointer": "",
    }
    pointer: str | None = None
    if isinstance(error, GrammarSyntaxError):
        found["message"], found["hint"] = error.message, error.hint or ""
        found["line"], found["column"] = error.line, error.column
        pointer = error.pointer
        if error.start is not None:
            found["start"], found["end"] = error.start, _word_end(text, error.start)
    elif isinstance(error, UnsupportedConstraint):
        pointer, found["message"] = error.pointer, error.reason
    elif isinstance(error, UnsatisfiableGrammar) and error.part.startswith("#"):
        pointer = error.part
    if pointer is not None and kind == "json_schema" and (span := locate(text, pointer)):
        found["start"], found["end"] = span
    if pointer is not None:
        found["pointer"] = pointer or "#"
    if found["line"] is None and found["start"] is not None:
        found["line"] = text.count("\n", 0, found["start"]) + 1
        found["column"] = found["start"] - (text.rfind("\n", 0, found["start"]) + 1) + 1
    return found


def _word_end(text: str, start: int) -> int:
    match = re.compile(r"[\w-]+|.", re.DOTALL).match(text, start)
    return match.end() if match else min(len(text), start + 1)


# Making examples.


def make_examples(text: str, kind: str, count: int = 4, seed: int = 0) -> list[dict[str, str]]:
    """Texts that a grammar writes, and changes of one byte that it does not accept.

    Raises what reading and compiling raise.
    """
    compiled = compile_grammar(read(text, kind), byte_vocabulary())
    choice = random.Random(seed)
    good: list[str] = []
    bad: list[str] = []
    for _ in range(count * 6):
        written = _written(compiled.matcher(), choice)
        if written is not None and written not in good and len(good) < count:
            good.append(written)
    for item in good:
        changed = _changed(compiled, item, choice)
        if changed is not None and changed not in bad:
            bad.append(changed)
    return [
        *({"text": item, "want": "match"} for item in good),
        *({"text": item, "want": "not"} for item in bad[: max(1, count // 2)]),
    ]


def _written(matcher: Matcher, choice: random.Random, free: int = 24) -> str | None:
    """A random text: some free bytes, then the nearest end; None when no end is found."""
    data = bytearray()
    for i in range(400):
        if matcher.is_accepting and (i >= free or choice.random() < 0.3):
            break
        allowed = sorted(matcher.allowed_bytes())
        if not allowed:
            break
        plain = [b for b in allowed if 0x21 <= b < 0x7F] or allowed
        letters = [b for b in plain if chr(b).isalnum()] or plain
        byte = choice.choice(letters if choice.random() < 0.6 else plain)
        if i >= free:
            byte = min(plain, key=lambda b: (_distance_after(matcher, b), choice.random()))
        matcher.accept(byte)
        data.append(byte)
    if not matcher.is_accepting:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _distance_after(matcher: Matcher, byte: int) -> int:
    probe = matcher.fork()
    probe.accept(byte)
    distance = probe.finish_distance()
    return 1 << 30 if distance is None else distance


def _changed(compiled: CompiledGrammar, text: str, choice: random.Random) -> str | None:
    for _ in range(30):
        at = choice.randrange(len(text)) if text else 0
        new = choice.choice('0a"}], x')
        changed = text[:at] + new + text[at + 1 :]
        matcher = compiled.matcher()
        data = changed.encode()
        if matcher.accept_tokens(data) < len(data) or not matcher.is_accepting:
            return changed
    return None
