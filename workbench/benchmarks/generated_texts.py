"""``workbench bench generation``: texts walked at random out of real schemas, held against ``jsonschema``.

Each walk draws tokens evenly from the mask; after a number of tokens it goes to the end by the shortest
way. No walk is tried again: each has to end in a document that the validator accepts, formats checked,
and so has the shortest text of all. Schemas are drawn so that rare keywords come as often as frequent
ones.

The validator is the ``jsonschema`` library (see ``validator.py``).
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.benchmarks.engines import read_tokenizer, uncached
from workbench.benchmarks.machine import engine_digest, file_digest
from workbench.benchmarks.maskbench import read_archive
from workbench.benchmarks.report_tables import Table, render_markdown, render_text
from workbench.benchmarks.store import Store
from workbench.benchmarks.validator import exact_schema, validator_of
from workbench.engine.matcher import Matcher
from workbench.errors import WorkbenchError
from workbench.frontends.json_schema.read.keyword_tables import SINCE, SPEAKS_OF, VALIDATION
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
#: In what order keys are asked for.
_ORDERS = ("schema", "any")
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
    store = Store(results, resume=resume)
    setup, _ = read_tokenizer(tokenizer)
    files = dict(read_archive(data))
    texts = {name: json.loads(raw) for name, raw in files.items()}
    chosen = stratified({name: file["schema"] for name, file in texts.items()}, schemas, seed)
    report = GenerationReport(
        datetime.now(UTC).isoformat(timespec="seconds"),
        data.name,
        tokenizer.name,
        seed,
        walks,
        steps,
        list(_ORDERS),
    )
    common = [_PROTOCOL, file_digest(data), file_digest(tokenizer), engine_digest()]
    text = json.dumps([*common, walks, steps, seed])
    key = hashlib.sha256(text.encode()).hexdigest()[:24]
    known = store.load()
    with store, tqdm(chosen, desc="generation", unit="schema", disable=not progress) as bar:
        for name in bar:
            for order in _ORDERS:
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
