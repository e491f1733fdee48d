"""The front end for JSON Schema: options in, a grammar with its outcomes out.

Reading order: ``read`` (``plain``, ``location``, ``resources``, ``document``, ``keywords``), ``logic`` (``formula``,
``facts``, ``nodes``, ``exclusive``, ``unevaluated``: what a schema says; ``strings``, ``intervals``: the texts and
numbers that it allows, with the languages in ``scalars``), ``containers`` (``propagate``, ``derivatives``,
``alternatives``, ``shapes``: objects and arrays; ``any_order``, ``obligations``, ``distinct``, ``emptiness``,
``value_counts``, ``unique_items``), ``emit`` (``writer``, ``emitter``, ``unique_emitter``, ``indent``), ``text`` (how
it is written). ``asking`` says what parts of a schema allow.

>>> grammar = json_schema({"type": "object", "properties": {"n": {"type": "integer"}}})
>>> grammar.kind, sorted(o.keyword for o in grammar.outcomes if o.status == "unsupported")
('json_schema', [])
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from workbench.automaton.budgets import Budgets, chosen, using
from workbench.collector import CollectorWaits
from workbench.errors import GrammarTooComplex, UnsatisfiableGrammar
from workbench.frontends.json_schema.containers.unique_items import plan_unique_items
from workbench.frontends.json_schema.emit.emitter import Emitter
from workbench.frontends.json_schema.emit.indent import indented
from workbench.frontends.json_schema.emit.tag_styles import STYLES, TAG_STYLES
from workbench.frontends.json_schema.emit.tagged_emitter import TaggedEmitter
from workbench.frontends.json_schema.emit.writer import Writer
from workbench.frontends.json_schema.read.document import Document
from workbench.frontends.json_schema.read.plain import read_schema
from workbench.frontends.json_schema.scalars.numbers import Notation
from workbench.frontends.json_schema.text.json_values import MAX_LEVELS
from workbench.frontends.json_schema.text.whitespace import Layout, layout, patterned
from workbench.frontends.kept import content, copied, kept, limits_of, written
from workbench.grammar.fingerprint import content_key
from workbench.grammar.ir import Grammar, JsonStyle, Outcome, Ref, walk
from workbench.grammar.lazy import LazyRules, viewed
from workbench.wording import number_of

__all__ = ["json_schema"]


# long: every option has a line in the signature and one where it goes
def json_schema(  # noqa: PLR0913 - options, by keyword
    schema: Mapping[str, Any] | bool | str | bytes,
    *,
    whitespace: str = "bounded",
    max_whitespace: int = 20,
    whitespace_pattern: str | None = None,
    separators: tuple[str, str] | None = None,
    indent: int | str | None = None,
    property_order: str = "schema",
    on_unsupported: str = "raise",
    on_dangling: str = "raise",
    draft: int | None = None,
    formats: str = "assert",
    registry: Any = None,
    additional_properties: bool = True,
    strict: bool = False,
    ascii_only: bool = False,
    unicode_escapes: bool = True,
    numbers: str = "any",
    max_digits: int | None = 100,
    unique_keys: bool = True,
    style: str = "json",
    excludes: Sequence[str] = (),
    budgets: Budgets | None = None,
) -> Grammar:
    r"""Make a grammar of the JSON texts that a schema accepts.

    ``schema`` is a schema or its JSON text (with exact numbers); NumPy scalars and arrays, tuples and other
    mappings stand for the JSON values that they are like. ``whitespace`` is ``"bounded"`` (runs
    of at most ``max_whitespace`` characters), ``"compact"`` (none) or ``"any"``, or what ``whitespace_pattern`` (a
    regular expression) matches; ``separators``, such as
    ``(", ", ": ")``, fixes what stands between values instead, and ``indent`` lays texts out as
    ``json.dumps(…, indent=…)`` does. The properties that the schema lists, required ones included, come in
    its order and all others after them, unless ``property_order`` is ``"any"``. No object gets a key twice,
    in whatever spelling, unless ``unique_keys`` is false.

    ``draft`` (4, 6, 7, 2019, 2020) stands for ``$schema``; formats that any draft defines are asserted
    unless ``formats`` is ``"annotate"``; other documents come from ``registry`` (of the ``referencing``
    library, or a mapping from URIs), never from a network.

    ``additional_properties=False`` closes the objects that list properties and say nothing about others
    (neither ``additionalProperties`` nor ``patternProperties`` nor ``unevaluatedProperties``).
    ``strict`` follows the convention of hosted services: such objects are closed, and all properties
    that they list are required; a word that nearly is a keyword, and a schema in a wrapping (a tool, a
    response format), are errors then, not warnings. ``on_dangling="forbid"`` forbids parts whose reference
    leads nowhere, as ``false`` does, for sets of schemas of which some are broken.
    ``ascii_only`` writes other characters as escapes;
    ``unicode_escapes=False`` leaves escapes with ``\u`` out, and so the characters that need one.
    ``style`` is how an object is written: ``"json"``, or with its members between tags, as families of models write
    the arguments of a call (``"qwen_xml"``, ``"glm_xml"`` and others, see ``emit/tag_styles.py``); names that a schema
    does not list may then come twice.
    ``excludes`` are texts that no string and no name holds, as they are written between their quotes.
    ``budgets`` bounds the work; a grammar keeps its own for the parts that are written later.
    ``numbers="plain"`` leaves exponents out, and the fraction of numbers that have to be integers.
    No number has more than ``max_digits`` digits in a row (before the point, after it, in the exponent),
    but where the schema's own numbers are longer; ``None`` is no limit. Python reads integers of up to 4,300.
    ``grammar.outcomes`` tells for each keyword whether it is enforced, restricted (``kinds`` of texts are left
    out, such as names in another order), an annotation or unsupported; ``warning`` is what an outcome has of a
    mistake, such as a misspelled keyword.

    Raises ``GrammarSyntaxError`` (JSON pointer) for a malformed schema, ``UnsupportedConstraint`` for a
    keyword that cannot be enforced unless ``on_unsupported="report"``, ``GrammarTooComplex`` past a
    budget (one of a deeper part when a text first gets there: rules are written when they are reached;
    ``dict(grammar.rules)`` writes all), ``UnsatisfiableGrammar`` when no value satisfies the schema,
    ``WrongType`` for what is no schema at all, ``ValueError`` for a bad option.
    """
    _need_one_of("property_order", property_order, ("schema", "any"))
    _need_one_of("on_unsupported", on_unsupported, ("raise", "report"))
    _need_one_of("on_dangling", on_dangling, ("raise", "forbid"))
    _need_one_of("formats", formats, ("assert", "annotate"))
    if draft is not None:
        _need_one_of("draft", draft, (4, 6, 7, 2019, 2020))
    _need_one_of("numbers", numbers, ("any", "plain"))
    _need_one_of("style", style, STYLES)
    if ascii_only and not unicode_escapes:
        raise ValueError("ascii_only needs unicode_escapes")
    limits = chosen(budgets, "json_schema")
    if max_digits is not None and max_digits < 1:
        raise ValueError("max_digits must be at least 1, or None for no limit")
    notation = Notation(numbers == "plain", max_digits)
    spelling: JsonStyle = "ascii" if ascii_only else "any" if unicode_escapes else "plain"
    laid = layout(whitespace, max_whitespace, separators, indent)
    if whitespace_pattern is not None:
        laid = patterned(whitespace_pattern)
    told = [
        *(whitespace, max_whitespace, separators, indent, property_order),
        *(on_unsupported, on_dangling, draft, formats),
        *(
            additional_properties,
            strict,
            ascii_only,
            unicode_escapes,
            numbers,
            max_digits,
            unique_keys,
        ),
        *([] if style == "json" else [style]),
        *([] if whitespace_pattern is None else ["pattern", whitespace_pattern]),
        *(["excludes", *excludes] if excludes else []),
    ]

    def make(parsed: dict[str, Any] | bool) -> Grammar:
        document = Document(
            parsed,
            report=on_unsupported == "report",
            draft=draft,
            registry=copied(registry),
            formats=formats == "assert",
            closed=strict or not additional_properties,
            strict=strict,
            any_order=property_order == "any",
            notation=notation,
            forbid_dangling=on_dangling == "forbid",
        )
        manner = style, tuple(excludes)
        grammar = _grammar(document, laid, spelling, unique_keys, manner)
        if registry is None and isinstance(grammar.rules, LazyRules):
            grammar.rules.key = content_key(parsed, told, asdict(limits))
        return grammar

    with using(limits):
        try:
            return _kept(schema, [*told, registry, *limits_of(limits)], make)
        except RecursionError:
            raise GrammarTooComplex("schema nesting levels", MAX_LEVELS) from None


def _kept(
    schema: Any, options: list[Any], make: Callable[[dict[str, Any] | bool], Grammar]
) -> Grammar:
    """The grammar of a schema in any form, made if it is not there, of values that nobody else has."""
    if type(schema) is str or type(schema) is bytes:
        return kept("json_schema of a text", schema, options, lambda: make(read_schema(schema)))
    given = content(schema)
    if given is None:
        schema = read_schema(schema)
        given = content(schema)

    def read() -> Grammar:
        with CollectorWaits():
            data = None if given is None else written(schema)
            if data is None:
                parsed = copied(read_schema(schema))
            else:
                parsed = read_schema(pickle.loads(data))
            if given is not None and repr(parsed) != given:
                raise RuntimeError("the schema was changed by another thread while it was read")
            return make(parsed)

    return kept("json_schema", given, options, read)


def _grammar(
    document: Document,
    laid: Layout,
    spelling: JsonStyle,
    unique_keys: bool,
    manner: tuple[str, tuple[str, ...]],
) -> Grammar:
    """Read a document and write its grammar in a style, without some texts in strings."""
    notation, (style, excludes) = document.notation, manner
    if style != "json":  # nor does JSON between tags hold what ends them
        excludes = (*excludes, TAG_STYLES[style].stop)
    with CollectorWaits():
        document.read()
        writer = Writer(laid, spelling, unique_keys, excludes)
        rules, start = _rules(document, writer, spelling, style)
    outcomes = (*_restrictions(laid, spelling, notation), *document.outcomes)
    if excludes:
        rules = _partly_written(rules, start, writer.flat)
    if laid.indent is not None:
        rules = indented(rules, start, writer.flat, laid.indent)
    if spelling == "plain":
        # a rule that asks for what cannot be written has no text: then the builder has to look at all
        every = rules.all()
        if writer.lost:
            return Grammar(every, start, "json_schema", document.schema, outcomes)
    return Grammar(rules, start, "json_schema", document.schema, outcomes)


def _partly_written(rules: LazyRules, start: str, flat: Container[str]) -> LazyRules:
    """Rules of which all but the texts and their parts are there, and so promise nothing.

    Objects between tags may be empty and hold markers; where texts are excluded, a value may have no text at all.
    """
    written = {start: rules[start]}
    todo = [start]
    for name in todo:
        for part in walk(written[name]):
            if isinstance(part, Ref) and part.name not in written and part.name not in flat:
                written[part.name] = rules[part.name]
                todo.append(part.name)
    made = viewed(rules, start, written)
    assert isinstance(made, LazyRules)
    return made


def _need_one_of(option: str, value: object, known: tuple[object, ...]) -> None:
    """Raise ``ValueError`` for an option that is none of the known ones."""
    if value not in known:
        *most, last = map(repr, known)
        raise ValueError(f"{option} must be {', '.join(most)} or {last}, not {value!r}")


def _rules(
    document: Document, writer: Writer, spelling: JsonStyle, style: str
) -> tuple[LazyRules, str]:
    """The rules of a document that was read, and the one to start with."""
    counter = plan_unique_items(document, spelling, writer.once)
    root = counter.nodes.of((document.root,))
    if counter.emptiness.is_empty(root):
        raise UnsatisfiableGrammar(*counter.emptiness.blame(root))
    if style != "json":
        return TaggedEmitter(counter, writer, document.notation, style).rules(root)
    return Emitter(counter, writer, document.notation).rules(root)


def _restrictions(laid: Layout, spelling: JsonStyle, notation: Notation) -> Iterator[Outcome]:
    """What options leave out of all texts."""
    if laid.detail:
        yield Outcome("#", "whitespace", "restricted", laid.detail, ("whitespace",))
    if notation.plain or notation.most is not None:
        yield _said_of_numbers(notation)
    if spelling == "ascii":
        yield Outcome("#", "escapes", "restricted", "ASCII only", ("escapes",))
    elif spelling == "plain":
        detail = "no \\u escapes, nor characters that need them"
        yield Outcome("#", "escapes", "restricted", detail, ("escapes", "values"))


def _said_of_numbers(notation: Notation) -> Outcome:
    """What options leave out of all numbers."""
    details, kinds = [], []
    if notation.plain:
        details.append("no exponents; integers without a fraction")
        kinds.append("notation")
    if notation.most is not None:
        details.append(f"at most {number_of(notation.most, 'digit')} in a row")
        kinds.append("length")
    return Outcome("#", "numbers", "restricted", "; ".join(details), tuple(sorted(kinds)))
