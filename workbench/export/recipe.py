"""What a bundle is made of, and making it: the same recipe gives the same files, so that they can be proved.

Everything in a bundle but the recipe follows from it. ``verify`` reads the recipe out of a bundle, makes the
files again and compares.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from workbench.diagnostics.coverage.coverage import coverage
from workbench.diagnostics.coverage.covered import Coverage
from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.diagnostics.dead_ends.findings import DeadEndReport, distinct
from workbench.diagnostics.explain.explain import explain
from workbench.diagnostics.verdicts import Judge, Verdict, as_bytes
from workbench.errors import WorkbenchError
from workbench.export.gbnf_writer import GbnfText, to_gbnf
from workbench.export.page import page
from workbench.export.testfile import TEST_FILE
from workbench.grammar.ir import Grammar
from workbench.grammar.written import from_rules
from workbench.inputs import need_examples, wrong_type
from workbench.vocabulary.labels import quoted

__all__ = [
    "EXPECTED",
    "FORMAT",
    "Built",
    "Examined",
    "Example",
    "Recipe",
    "build",
    "canonical",
    "examine",
    "held_against",
    "made",
    "proved_gbnf",
    "source_text",
]

FORMAT = "workbench bundle"
FORMAT_VERSION = 1
#: What an example can be expected to be.
EXPECTED = ("accept", "reject", "prefix")
#: The file of the source, by kind of grammar.
SOURCE_FILES = {
    "json_schema": "grammar.schema.json",
    "gbnf": "grammar.source.gbnf",
    "regex": "grammar.regex.json",
    "rules": "grammar.rules.json",
}
GBNF_FILE = "grammar.gbnf"
#: Characters of a GBNF text that is read back and held against the examples: half a minute.
MAX_PROVED = 500_000


@dataclass(frozen=True, slots=True)
class Example:
    """A text and what the grammar is to say of it: "accept", "reject" or "prefix" (a beginning)."""

    data: bytes
    expected: str

    def fits(self, verdict: Verdict) -> bool:
        """Whether a verdict is the expected one."""
        if self.expected == "accept":
            return verdict.accepted
        return verdict.prefix if self.expected == "prefix" else not verdict.accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that a bundle is made of.

    ``source`` is the text of the schema, GBNF, pattern or rules; ``options`` are those of its front end.
    ``tokenizer`` describes the vocabulary that ``tokenizer_report`` is about. ``dead_end_note`` says why dead
    ends are accepted.
    """

    kind: str
    source: str
    start: str = "root"
    options: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    title: str = ""
    created: str = ""
    dead_end_note: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    tokenizer: Mapping[str, Any] | None = None
    tokenizer_report: Mapping[str, Any] | None = None

    def grammar(self) -> Grammar:
        """Read the source. Raises what the front end raises, ``WorkbenchError`` for options it has not."""
        return made(self.kind, self.source, self.start, self.options)

    def reports(self, report: DeadEndReport) -> list[Mapping[str, Any]]:
        """What was found byte by byte, and with the tokenizer if there is one, as JSON values."""
        tokenizer = [] if self.tokenizer_report is None else [self.tokenizer_report]
        return [report.to_json(), *tokenizer]


@dataclass(frozen=True, slots=True)
class Examined:
    """A recipe's grammar, the verdicts on its examples, its dead ends, and what stands against exporting it."""

    recipe: Recipe
    grammar: Grammar
    verdicts: tuple[Verdict, ...]
    report: DeadEndReport
    problems: tuple[str, ...]

    @property
    def covered(self) -> Coverage:
        """What the accepted examples use."""
        accepted = [e.data for e in self.recipe.examples if e.expected == "accept"]
        return coverage(self.grammar, accepted)


@dataclass(frozen=True, slots=True)
class Built:
    """The files of a bundle, and what stands against writing it."""

    files: dict[str, bytes]
    manifest: dict[str, Any]
    problems: tuple[str, ...]


def made(kind: str, source: str, start: str, options: Mapping[str, Any]) -> Grammar:
    """The grammar of a source text."""
    try:
        if kind == "json_schema":
            from workbench.frontends.json_schema import json_schema

            given: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in options.items()
            }
            return json_schema(source, **given)
        if kind == "gbnf":
            from workbench.frontends.gbnf import gbnf

            return gbnf(source, start, **options)
        if kind == "regex":
            from workbench.frontends.regex import regex

            pattern = json.loads(source)
            data = bytes.fromhex(pattern["hex"]) if "hex" in pattern else pattern["pattern"]
            return regex(data, **options)
        if kind == "rules":
            return from_rules(source, **options)
    except (TypeError, ValueError, KeyError) as error:
        raise WorkbenchError(f"the source cannot be read with its options: {error}") from error
    raise WorkbenchError(f"there is no front end for grammars of kind {kind!r}")


def source_text(grammar: Grammar) -> str | None:
    """The source of a grammar as text; None when it has none that can be read again."""
    source = grammar.source
    if grammar.kind in ("gbnf", "rules") and isinstance(source, str):
        return source
    if grammar.kind == "regex" and isinstance(source, str | bytes):
        pattern = {"hex": source.hex()} if isinstance(source, bytes) else {"pattern": source}
        return canonical(pattern).decode()
    if grammar.kind == "json_schema" and isinstance(source, dict | bool):
        return _schema_text(source)
    return None


def _schema_text(schema: Any) -> str | None:
    """A schema as JSON; exact decimals keep their digits."""
    numbers: list[str] = []
    mark = f"decimal {sha256(repr(schema).encode()).hexdigest()}"

    def tagged(value: Any) -> str:
        if not isinstance(value, Decimal):
            raise TypeError(f"{value!r:.60} is no JSON value")
        numbers.append(str(value))
        return f"{mark} {len(numbers) - 1}"

    try:
        text = json.dumps(schema, ensure_ascii=False, indent=2, default=tagged)
    except (RecursionError, TypeError, ValueError):
        return None
    # one pass: the numbers may be as many as the values
    return re.sub(rf'"{mark} (\d+)"', lambda found: numbers[int(found[1])], text)


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces: equal values give equal bytes.

    Half of a surrogate pair, which UTF-8 has no bytes for, is written as the escape that it is in JSON.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _readable(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return text.encode("utf-8", "backslashreplace")


def examples_of(tests: Mapping[str, Sequence[Any]]) -> tuple[Example, ...]:
    """Examples from lists by what is expected. Raises ``ValueError`` for another key."""
    if not isinstance(tests, Mapping):
        raise wrong_type(
            "export",
            "tests as a mapping of lists",
            tests,
            'as in tests={"accept": […], "reject": […]}',
        )
    unknown = [key for key in tests if key not in EXPECTED]
    if unknown:
        raise ValueError(f"tests are lists under {', '.join(EXPECTED)}, not {unknown[0]!r}")
    for expected in EXPECTED:
        need_examples(tests.get(expected, ()), f"the list under {expected!r} of export's tests")
    return tuple(
        Example(as_bytes(example), expected)
        for expected in EXPECTED
        for example in tests.get(expected, ())
    )


def versions() -> dict[str, str]:
    """The versions that a bundle is made with."""
    found = {"python": platform.python_version()}
    for name in ("grammar-workbench", "lark", "llvmlite", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder that was not installed
            found[name] = "unknown"
    return found


# Making


def examine(recipe: Recipe) -> Examined:
    """Decide every example again, and look for dead ends.

    Raises what reading and compiling the source raise.
    """
    grammar = recipe.grammar()
    judge = Judge(grammar)
    verdicts = tuple(judge.verdict(example.data) for example in recipe.examples)
    problems = [
        _failure(judge, example, verdict)
        for example, verdict in zip(recipe.examples, verdicts, strict=True)
        if not example.fits(verdict)
    ]
    if not recipe.examples:
        problems.append("there are no examples: a tested grammar has at least one")
    report = dead_ends(grammar, examples=[e.data for e in recipe.examples])
    problems += _dead_end_problems(report, recipe)
    return Examined(recipe, grammar, verdicts, report, tuple(problems))


def build(recipe: Recipe) -> Built:
    """Make all files of a bundle, deciding every example again.

    Raises what reading and compiling the source raise.
    """
    found = examine(recipe)
    grammar, verdicts, report = found.grammar, found.verdicts, found.report
    gbnf, gbnf_problems, gbnf_entry = proved_gbnf(recipe, grammar, verdicts)
    problems = [*found.problems, *gbnf_problems]
    covered = found.covered
    files = {
        SOURCE_FILES[recipe.kind]: recipe.source.encode("utf-8", "backslashreplace"),
        "examples.json": _readable(_examples(recipe.examples, verdicts)),
        "outcomes.json": _readable(_outcomes(grammar)),
        "dead_ends.json": _readable(report.to_json()),
        "coverage.json": _readable(covered.to_json()),
        "test_grammar.py": TEST_FILE.encode(),
    }
    if gbnf is not None:
        files[GBNF_FILE] = gbnf.text.encode("utf-8", "backslashreplace")
    if recipe.tokenizer_report is not None:
        files["dead_ends_tokenizer.json"] = _readable(recipe.tokenizer_report)
    files["report.html"] = page(
        recipe, grammar, verdicts, report, covered, gbnf, gbnf_entry
    ).encode("utf-8", "backslashreplace")
    errors, warnings, complete = distinct(recipe.reports(report))
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "title": recipe.title,
        "created": recipe.created,
        "grammar": {
            "kind": recipe.kind,
            "start": recipe.start,
            "options": dict(recipe.options),
            "source": SOURCE_FILES[recipe.kind],
            "source_sha256": sha256(files[SOURCE_FILES[recipe.kind]]).hexdigest(),
            "rules": len(grammar.rules),
        },
        "gbnf": gbnf_entry,
        "examples": {kind: sum(e.expected == kind for e in recipe.examples) for kind in EXPECTED},
        "dead_ends": {
            "errors": errors,
            "warnings": warnings,
            "complete": complete,
            "note": recipe.dead_end_note,
        },
        "tokenizer": None if recipe.tokenizer is None else dict(recipe.tokenizer),
        "versions": dict(recipe.versions),
        "files": {
            name: {"sha256": sha256(data).hexdigest(), "bytes": len(data)}
            for name, data in sorted(files.items())
        },
    }
    manifest["manifest_sha256"] = sha256(canonical(manifest)).hexdigest()
    files["manifest.json"] = _readable(manifest)
    return Built(files, manifest, tuple(problems))


def _outcomes(grammar: Grammar) -> list[dict[str, Any]]:
    return [
        {
            "pointer": o.pointer,
            "keyword": o.keyword,
            "status": o.status,
            "detail": o.detail,
            "kinds": list(o.kinds),
            **({"warning": o.warning} if o.warning else {}),
        }
        for o in grammar.outcomes
    ]


def _examples(examples: Sequence[Example], verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    out = []
    for example, verdict in zip(examples, verdicts, strict=True):
        try:
            text: dict[str, Any] = {"text": example.data.decode("utf-8")}
        except UnicodeDecodeError:
            text = {"hex": example.data.hex()}
        out.append(
            {
                **text,
                "expected": example.expected,
                "verdict": verdict.word,
                "reached": verdict.reached,
            }
        )
    return out


def _failure(judge: Judge, example: Example, verdict: Verdict) -> str:
    """Why an example is not what it is to be, in one line."""
    what = f"{example.expected} example {quoted(example.data)}"
    if example.expected == "reject":
        return f"{what} is accepted"
    if judge.compiled is None:
        return f"{what} is refused: the grammar has no text at all"
    matcher = judge.compiled.matcher()
    matcher.accept_tokens(example.data[: verdict.reached])
    if verdict.reached == len(example.data):
        return f"{what} is not complete: {explain(matcher, 256).sentence}"
    sentence = explain(matcher, example.data[verdict.reached]).sentence.replace(
        "byte 1", f"byte {verdict.reached + 1}", 1
    )
    return f"{what} is refused: {sentence}"


def proved_gbnf(
    recipe: Recipe, grammar: Grammar, verdicts: Sequence[Verdict]
) -> tuple[GbnfText | None, list[str], dict[str, Any]]:
    """The grammar as GBNF, what stands against it, and its entry in the manifest.

    Read back, it is held against the verdicts on the examples.
    """
    from workbench.frontends.gbnf import gbnf as read

    try:
        text = to_gbnf(grammar)
        proved = len(text.text) <= MAX_PROVED
        judge = Judge(read(text.text)) if proved else Judge(None)
    except WorkbenchError as error:
        return None, [], {"written": False, "reason": str(error).splitlines()[0]}
    agree = 0
    problems: list[str] = []
    if proved:
        agree, problems = held_against(judge, "GBNF", recipe.examples, verdicts, bool(text.looser))
    entry = {
        "written": True,
        "file": GBNF_FILE,
        "proved": proved,
        "agree": agree,
        "examples": len(recipe.examples),
        "looser": list(text.looser),
        "extensions": list(text.extensions),
    }
    return text, problems, entry


def held_against(
    judge: Judge,
    what: str,
    examples: Sequence[Example],
    verdicts: Sequence[Verdict],
    looser: bool = False,
) -> tuple[int, list[str]]:
    """How many examples a grammar that was read back decides as before, and the others in words.

    A ``looser`` one may accept what the grammar does not, and never refuses what it does.
    """
    agree = 0
    problems: list[str] = []
    for example, verdict in zip(examples, verdicts, strict=True):
        again = judge.verdict(example.data)
        agree += again == verdict
        if again != verdict and not (looser and again.reached >= verdict.reached):
            problems.append(
                f"as {what}, {quoted(example.data)} is {again.word}, by the grammar {verdict.word}"
            )
    return agree, problems


def _dead_end_problems(report: DeadEndReport, recipe: Recipe) -> list[str]:
    if recipe.dead_end_note:
        return []
    hint = "mend it, or say why it does not matter: dead_end_note=…"
    found: dict[tuple[str, str], str] = {}
    reports = (("", report.to_json()), (" with the tokenizer", recipe.tokenizer_report or {}))
    for how, one in reports:
        for finding in one.get("findings", ()):
            if not finding["warning"]:
                place = finding["place"] or "the grammar"
                told = f"dead end{how}: {finding['message']} ({place}); {hint}"
                found.setdefault((finding["message"], place), told)
    return list(found.values())
