"""``workbench bench generation``: texts walked at random out of real schemas, held against ``jsonschema``.

Each walk draws tokens evenly from the mask; after a number of tokens it goes to the end by the shortest
way. No walk is tried again: each has to end in a document that the validator accepts, formats checked,
and so has the shortest text of all. Schemas are drawn so that rare keywords come as often as frequent
ones.

The validator is the ``jsonschema`` library, told to be as exact as the specification: numbers are
decimals, an integer may have a fraction of zeros, patterns mean what ECMA-262 says, and those that Python's
``re`` cannot read go to the ``regex`` library.
"""

from __future__ import annotations

import decimal
import hashlib
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.benchmarks.engines import read_tokenizer, uncached
from workbench.benchmarks.machine import engine_digest, file_digest
from workbench.benchmarks.maskbench import read_archive
from workbench.benchmarks.report_tables import Table, render_markdown, render_text
from workbench.benchmarks.schema_engines import takes_property_order
from workbench.benchmarks.store import Store
from workbench.engine.matcher import Matcher
from workbench.errors import WorkbenchError
from workbench.frontends.json_schema.keyword_tables import SINCE, SPEAKS_OF, VALIDATION
from workbench.vocabulary import Vocabulary
from workbench.wording import number_of

__all__ = [
    "GenerationReport",
    "bench_generation",
    "generate_and_judge",
    "shortest_completion",
    "stratified",
    "walked_text",
]

#: Raised when the meaning of a record changes.
_PROTOCOL = 1
#: Keywords that schemas are drawn by; formats count as keywords of their own.
_KEYWORDS = (
    SPEAKS_OF.keys()
    | SINCE.keys()
    | VALIDATION
    | {"allOf", "anyOf", "oneOf", "not", "$ref", "$id", "$anchor"}
)


@dataclass(slots=True)
class GenerationReport:
    """How many walks ended in a valid document, and the ones that did not."""

    created: str
    data: str
    tokenizer: str
    seed: int
    walks: int
    steps: int
    property_orders: list[str]
    schemas: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    documents: int = 0
    valid: int = 0
    tokens: int = 0
    seconds: float = 0.0
    wrong: list[dict[str, Any]] = field(default_factory=list)
    keywords: dict[str, int] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Whether every document is valid."""
        return not self.wrong

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def head(self) -> list[str]:
        """What the figures stand on, in lines."""
        return [
            f"generation: {self.data}, {number_of(self.schemas, 'schema')} drawn by keyword with seed {self.seed}; "
            f"{self.tokenizer}; {self.created}",
            f"{number_of(self.walks, 'walk')} a schema, even over the mask, to their end by the shortest way after "
            f"{number_of(self.steps, 'token')}, and the shortest text; "
            f"keys in order: {', '.join(self.property_orders)}",
        ]

    def tables(self) -> list[Table]:
        """The totals."""
        rows = [
            ["schemas", f"{self.schemas:,}"],
            *([f"refused: {reason}", f"{count:,}"] for reason, count in self.refused.items()),
            ["documents", f"{self.documents:,}"],
            ["valid", f"{self.valid:,}"],
            ["tokens", f"{self.tokens:,}"],
            ["seconds of CPU", f"{self.seconds:,.0f}"],
        ]
        return [Table("generation", ["", "count"], rows)]

    def text(self) -> str:
        """Render for a terminal; what is wrong is listed."""
        parts = [render_text(self.head(), self.tables())]
        for one in self.wrong:
            parts.append(
                f"{one['schema']} ({one['order']}): {one['reason']}\n  {one['text'][:300]}"
            )
        return "\n\n".join(parts)

    def markdown(self) -> str:
        """Render for a page."""
        return render_markdown(self.head(), self.tables())


def bench_generation(  # noqa: PLR0913 - what the command line asks for
    data: str | os.PathLike[str],
    tokenizer: str | os.PathLike[str],
    *,
    schemas: int = 500,
    walks: int = 5,
    steps: int = 64,
    seed: int = 0,
    results: str | os.PathLike[str] = "generation.jsonl",
    resume: bool = False,
    progress: bool = True,
) -> GenerationReport:
    """Draw schemas, walk texts out of each, validate them, and sum up.

    Raises ``WorkbenchError`` for data that is none, for a results file that exists without ``resume``,
    and without the ``jsonschema`` library.
    """
    from tqdm.auto import tqdm

    data, tokenizer, results = Path(data), Path(tokenizer), Path(results)
    if results.exists() and not resume:
        raise WorkbenchError(
            f"{results} holds results already: resume it (--resume), remove it, or name another one"
        )
    setup, _ = read_tokenizer(tokenizer)
    files = dict(read_archive(data))
    texts = {name: json.loads(raw) for name, raw in files.items()}
    chosen = stratified({name: file["schema"] for name, file in texts.items()}, schemas, seed)
    orders = [order for order in ("schema", "any") if takes_property_order(order)]
    report = GenerationReport(
        datetime.now(UTC).isoformat(timespec="seconds"),
        data.name,
        tokenizer.name,
        seed,
        walks,
        steps,
        orders,
    )
    common = [_PROTOCOL, file_digest(data), file_digest(tokenizer), engine_digest()]
    text = json.dumps([*common, walks, steps, seed])
    key = hashlib.sha256(text.encode()).hexdigest()[:24]
    store = Store(results)
    known = store.load()
    with store, tqdm(chosen, desc="generation", unit="schema", disable=not progress) as bar:
        for name in bar:
            for order in orders:
                record = known.get((key, f"{name} {order}"))
                if record is None:
                    schema = exact_schema(files[name])
                    record = generate_and_judge(
                        schema, setup.vocabulary, order, walks, steps, f"{seed} {name}"
                    )
                    record |= {"key": key, "schema": f"{name} {order}", "order": order}
                    store.append(record)
                _add(report, name, record)
            report.schemas += 1
            for keyword in keywords_in(texts[name]["schema"]):
                report.keywords[keyword] = report.keywords.get(keyword, 0) + 1
    return report


def _add(report: GenerationReport, name: str, record: dict[str, Any]) -> None:
    if record["refused"] is not None:
        reason = record["refused"]
        report.refused[reason] = report.refused.get(reason, 0) + 1
    report.documents += record["documents"]
    report.valid += record["documents"] - len(record["wrong"])
    report.tokens += record["tokens"]
    report.seconds += record["seconds"]
    report.wrong += [one | {"schema": name, "order": record["order"]} for one in record["wrong"]]


def exact_schema(raw: bytes) -> str:
    """The schema of a file of the benchmark, with its numbers as they are written."""
    written: dict[str, str] = {}

    def kept(text: str) -> str:
        mark = f"\ue000{len(written)}\ue001"
        written[mark] = text
        return mark

    schema = json.loads(raw, parse_float=kept, parse_int=kept)["schema"]
    text = json.dumps(schema, ensure_ascii=False)
    return re.sub('"(\ue000[0-9]+\ue001)"', lambda found: written[found[1]], text)


def keywords_in(schema: Any) -> set[str]:
    """The keywords that occur anywhere in a schema, and the formats as ``format:NAME``."""
    found: set[str] = set()
    stack = [schema]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            found |= part.keys() & _KEYWORDS
            if isinstance(part.get("format"), str):
                found.add(f"format:{part['format']}"[:40])
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
    return found


def stratified(schemas: Mapping[str, Any], count: int, seed: int) -> list[str]:
    """Draw schemas for one keyword after the other, the rare ones first, until there are enough."""
    source = random.Random(seed)
    holding: dict[str, list[str]] = {}
    for name in sorted(schemas):
        # sorted: a set of texts has another order in every process, and the draw must not
        for keyword in sorted(keywords_in(schemas[name])):
            holding.setdefault(keyword, []).append(name)
    for names in holding.values():
        source.shuffle(names)
    chosen: dict[str, None] = {}
    order = sorted(holding, key=lambda keyword: (len(holding[keyword]), keyword))
    while len(chosen) < count and order:
        for keyword in list(order):
            names = holding[keyword]
            while names and names[-1] in chosen:
                names.pop()
            if not names:
                order.remove(keyword)
            elif len(chosen) < count:
                chosen[names.pop()] = None
    return list(chosen)


def generate_and_judge(
    schema: str, vocabulary: Vocabulary, order: str, walks: int, steps: int, seed: str
) -> dict[str, Any]:
    """Walk texts out of one schema, given as JSON text, and validate each of them."""
    from workbench.engine import compile as compile_grammar
    from workbench.frontends.json_schema import json_schema

    record: dict[str, Any] = {"refused": None, "documents": 0, "tokens": 0, "wrong": []}
    began = time.thread_time()
    options: dict[str, Any] = {} if order == "schema" else {"property_order": order}
    try:
        grammar = json_schema(schema, **options)
        compiled = compile_grammar(grammar, vocabulary, **uncached(compile_grammar))
        complain = validator_of(schema)
        for walk in range(walks + 1):
            matcher = compiled.matcher()
            source = random.Random(f"{seed} {walk}")
            text = walked_text(matcher, source, steps if walk < walks else 0)
            record["documents"] += 1
            record["tokens"] += len(matcher.token_ids)
            if (reason := complain(text)) is not None:
                record["wrong"].append({"walk": walk, "text": text, "reason": reason[:300]})
    except WorkbenchError as error:
        record["refused"] = f"{type(error).__name__}: {re.sub('[0-9]+', 'N', str(error))}"[:120]
    return record | {"seconds": round(time.thread_time() - began, 4)}


def walked_text(matcher: Matcher, source: random.Random, steps: int) -> str:
    """Draw tokens evenly from the mask, then go to the end by the shortest way."""
    for _ in range(steps):
        token = int(source.choice(matcher.allowed_ids()))
        if not matcher.accept(token):
            raise AssertionError(f"the mask allows token {token}, accept refuses it")
        if matcher.is_terminated:
            break
    else:
        shortest_completion(matcher)
    return matcher.vocabulary.decode(matcher.token_ids).decode()


def shortest_completion(matcher: Matcher) -> None:
    """Accept tokens of one byte each along which the least number of bytes to an end goes to nothing.

    A name that has come already is no way to an end, which its last quote tells: then it goes on elsewhere.
    """
    one_byte = _byte_tokens(matcher.vocabulary)
    left = matcher.finish_distance()
    detours = 0
    while left:
        ways: list[tuple[int, int]] = []
        for byte in sorted(matcher.allowed_bytes()):
            token = one_byte.get(byte)
            probe = matcher.fork()
            if token is not None and probe.accept(token):
                ways.append((probe.finish_distance() or 0, token))
                if ways[-1][0] < left:
                    break
        if not ways or detours > 100:
            raise AssertionError(
                f"no byte leads nearer to an end that is {number_of(left, 'byte')} away"
            )
        after, token = min(ways)
        matcher.accept(token)
        detours += after >= left
        left = after


def _byte_tokens(vocabulary: Vocabulary) -> dict[int, int]:
    found = _BYTES.get(id(vocabulary))
    if found is None or found[0] is not vocabulary:
        special = set(vocabulary.special_ids)
        table = {
            data[0]: token
            for token in range(vocabulary.width)
            if token not in special and len(data := vocabulary.token_bytes(token)) == 1
        }
        _BYTES.clear()
        found = _BYTES[id(vocabulary)] = (vocabulary, table)
    return found[1]


_BYTES: dict[int, tuple[Vocabulary, dict[int, int]]] = {}


# The validator


def validator_of(schema: str) -> Callable[[str], str | None]:
    """A function that says what ``jsonschema`` finds wrong with a text, ``None`` for nothing."""
    if find_spec("jsonschema") is None:
        raise WorkbenchError("this needs the jsonschema library")
    import jsonschema

    parsed = json.loads(schema, parse_float=decimal.Decimal)
    cls = _validator_class(parsed)
    # Those of the other drafts miss formats, or have drafts' older meanings of them.
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = cls(_for_python(parsed), format_checker=checker)

    def complain(text: str) -> str | None:
        with decimal.localcontext(prec=2_000):
            try:
                value = json.loads(
                    text, parse_float=_number, parse_int=_whole, object_pairs_hook=_once
                )
            except ValueError as error:
                return f"not JSON: {error}"
            for found in validator.iter_errors(value):
                path = "/".join(map(str, found.absolute_schema_path))
                return f"{path}: {found.message}"
        return None

    return complain


def _number(text: str) -> decimal.Decimal:
    """A number, with an exponent that is beyond all measure brought within it."""
    digits, letter, exponent = text.lower().partition("e")
    if letter and len(exponent) > 6:
        exponent = ("-" if exponent[0] == "-" else "") + "99999"
    return decimal.Decimal(f"{digits}e{exponent}" if letter else digits)


def _whole(text: str) -> int | decimal.Decimal:
    return int(text) if len(text) < 4_000 else decimal.Decimal(text)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _validator_class(schema: Any) -> Any:
    """The validator of the draft that the schema names, or else of the latest that can read it."""
    import jsonschema

    declared = schema.get("$schema") if isinstance(schema, dict) else None
    found = jsonschema.validators.validator_for({"$schema": declared}, default=None)
    if found is not None:
        return _exact(found)
    plain = json.loads(json.dumps(schema, default=float))
    for cls in (jsonschema.Draft202012Validator, jsonschema.Draft7Validator):
        try:
            cls.check_schema(plain, format_checker=jsonschema.FormatChecker(formats=()))
        except jsonschema.SchemaError:
            continue
        return _exact(cls)
    return _exact(jsonschema.Draft202012Validator)


def _exact(cls: Any) -> Any:
    """A validator class with exact numbers and patterns."""
    import jsonschema

    draft_4 = cls is jsonschema.Draft4Validator

    def integer(_: Any, value: Any) -> bool:
        if isinstance(value, decimal.Decimal):
            return not draft_4 and value == value.to_integral_value()
        return isinstance(value, int) and not isinstance(value, bool)

    def number(_: Any, value: Any) -> bool:
        return isinstance(value, int | decimal.Decimal) and not isinstance(value, bool)

    def pattern(_: Any, text: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and not found_in(text, value):
            yield jsonschema.ValidationError(f"{value!r} does not match {text!r}")

    def multiple(_: Any, of: Any, value: Any, __: Any) -> Iterator[Any]:
        if number(None, value) and Fraction(value) % Fraction(of):
            yield jsonschema.ValidationError(f"{value} is not a multiple of {of}")

    types = cls.TYPE_CHECKER.redefine_many({"integer": integer, "number": number})
    return jsonschema.validators.extend(
        cls, {"pattern": pattern, "multipleOf": multiple}, type_checker=types
    )


#: What ECMA-262 takes for letters, digits and white space.
_SETS = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
_TOKEN = re.compile(r"\\(.)|\[\^?\]?|\]|\$", re.DOTALL)


def as_python(pattern: str) -> str:
    """A pattern of ECMA-262 for Python's libraries, whose ``\\w`` and ``\\d`` know all of Unicode."""
    out: list[str] = []
    inside, at = False, 0
    for found in _TOKEN.finditer(pattern):
        text, letter = found[0], found[1]
        out.append(pattern[at : found.start()])
        at = found.end()
        if letter in _SETS:
            text = _SETS[letter] if inside else f"[{_SETS[letter]}]"
        elif letter in ("D", "W", "S") and not inside:
            text = f"[^{_SETS[letter.lower()]}]"
        elif text[0] == "[" and not inside:
            inside = text[-1] != "]"
        elif text == "]":
            inside = False
        elif text == "$" and not inside:
            text = r"\Z"
        out.append(text)
    out.append(pattern[at:])
    return "".join(out)


def _for_python(schema: Any) -> Any:
    """A schema with its patterns in Python's dialect."""
    if isinstance(schema, list):
        return [_for_python(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "pattern" and isinstance(value, str):
            out[key] = as_python(value)
        elif key == "patternProperties" and isinstance(value, dict):
            out[key] = {as_python(name): _for_python(item) for name, item in value.items()}
        else:
            out[key] = value if key in ("enum", "const") else _for_python(value)
    return out


def found_in(pattern: str, text: str) -> bool:
    """Whether a pattern of ECMA-262 is found in a text, by Python's libraries."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        import regex

        return regex.search(pattern, text) is not None
