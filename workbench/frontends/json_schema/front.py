"""The front end for JSON Schema: options in, a grammar with its outcomes out.

Reading order: ``values``, ``location``, ``resources``, ``document``, ``keywords`` (reading the schema),
``formula``, ``facts``, ``nodes``, ``exclusive``, ``unevaluated`` (what it says), ``patterns``, ``formats``,
``strings``, ``intervals``, ``numbers``, ``multiples`` (scalars), ``weave``, ``settle``, ``alternatives``,
``shapes`` (objects and arrays), ``distinct``, ``anyorder``, ``hopes``, ``emptiness``, ``spelling``, ``coding``,
``counted``, ``layout``, ``indent``, ``emit`` (how it is written).

>>> grammar = json_schema({"type": "object", "properties": {"n": {"type": "integer"}}})
>>> grammar.kind, sorted(o.keyword for o in grammar.outcomes if o.status == "unsupported")
('json_schema', [])

Next file to read: ``document.py``.
"""

from __future__ import annotations

from typing import Any

from workbench.errors import GrammarSyntaxError, GrammarTooComplex, UnsatisfiableGrammar
from workbench.frontends.json_schema.document import Document
from workbench.frontends.json_schema.emit import Emitter
from workbench.frontends.json_schema.indent import indented
from workbench.frontends.json_schema.layout import layout
from workbench.frontends.json_schema.nodes import Nodes
from workbench.frontends.json_schema.settled import settle_items
from workbench.frontends.json_schema.value_counts import Counter
from workbench.frontends.json_schema.values import MAX_LEVELS, read_json
from workbench.grammar.fingerprint import content_key
from workbench.grammar.ir import Grammar, Outcome

__all__ = ["json_schema"]


def json_schema(
    schema: dict[str, Any] | bool | str,
    *,
    whitespace: str = "bounded",
    max_whitespace: int = 20,
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
    unique_keys: bool = True,
) -> Grammar:
    r"""Make a grammar of the JSON texts that a schema accepts.

    ``schema`` is a schema or its JSON text (with exact numbers). ``whitespace`` is ``"bounded"`` (runs
    of at most ``max_whitespace`` characters), ``"compact"`` (none) or ``"any"``; ``separators``, such as
    ``(", ", ": ")``, fixes what stands between values instead, and ``indent`` lays texts out as
    ``json.dumps(…, indent=…)`` does. Properties come in the order of the
    schema, others after them, unless ``property_order`` is ``"any"``. No object gets a key twice, in
    whatever spelling, unless ``unique_keys`` is false.

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
    ``numbers="plain"`` leaves exponents out, and the fraction of numbers that have to be integers.
    ``grammar.outcomes`` tells for each keyword whether it is enforced, restricted, an annotation or
    unsupported; ``warning`` is what an outcome has of a mistake, such as a misspelled keyword.

    Raises ``GrammarSyntaxError`` (JSON pointer) for a malformed schema, ``UnsupportedConstraint`` for a
    keyword that cannot be enforced unless ``on_unsupported="report"``, ``GrammarTooComplex`` past a
    budget (one of a deeper part when a text first gets there: rules are written when they are reached;
    ``dict(grammar.rules)`` writes all), ``UnsatisfiableGrammar`` when no value satisfies the schema,
    ``ValueError`` for a bad option.
    """
    if property_order not in ("schema", "any"):
        raise ValueError(f"property_order must be 'schema' or 'any', not {property_order!r}")
    if on_unsupported not in ("raise", "report"):
        raise ValueError(f"on_unsupported must be 'raise' or 'report', not {on_unsupported!r}")
    if on_dangling not in ("raise", "forbid"):
        raise ValueError(f"on_dangling must be 'raise' or 'forbid', not {on_dangling!r}")
    if formats not in ("assert", "annotate"):
        raise ValueError(f"formats must be 'assert' or 'annotate', not {formats!r}")
    if draft not in (None, 4, 6, 7, 2019, 2020):
        raise ValueError(f"draft must be 4, 6, 7, 2019 or 2020, not {draft!r}")
    if numbers not in ("any", "plain"):
        raise ValueError(f"numbers must be 'any' or 'plain', not {numbers!r}")
    if ascii_only and not unicode_escapes:
        raise ValueError("ascii_only needs unicode_escapes")
    spelling = "ascii" if ascii_only else "any" if unicode_escapes else "plain"
    style = layout(whitespace, max_whitespace, separators, indent)
    parsed = read_json(schema) if isinstance(schema, str) else schema
    if not isinstance(parsed, dict | bool):
        raise GrammarSyntaxError("a schema must be an object or a boolean", pointer="#")
    try:
        document = Document(
            parsed,
            report=on_unsupported == "report",
            draft=draft,
            registry=registry,
            formats=formats == "assert",
            closed=strict or not additional_properties,
            strict=strict,
            any_order=property_order == "any",
            forbid_dangling=on_dangling == "forbid",
        )
        document.read()
        any_order = property_order == "any"
        counter = Counter(Nodes(document.of_value), any_order)
        if document.unique and settle_items(document, counter):
            counter = Counter(Nodes(document.of_value), any_order)
        root = counter.nodes.of((document.root,))
        if counter.emptiness.holds(root):
            raise UnsatisfiableGrammar(*counter.emptiness.blame(root))
        emitter = Emitter(counter, style, spelling, numbers == "plain", unique_keys)
        rules, start = emitter.rules(root)
    except RecursionError:
        raise GrammarTooComplex("schema nesting levels", MAX_LEVELS) from None
    outcomes = document.outcomes
    if spelling != "any":
        detail = "ASCII only" if ascii_only else "no \\u escapes, nor characters that need them"
        outcomes = [Outcome("#", "escapes", "restricted", detail), *outcomes]
    if numbers == "plain":
        detail = "no exponents; integers without a fraction"
        outcomes = [Outcome("#", "numbers", "restricted", detail), *outcomes]
    if style.detail:
        outcomes = [Outcome("#", "whitespace", "restricted", style.detail), *outcomes]
    if style.indent is not None:
        rules = indented(rules, start, emitter.flat, style.indent)
    if registry is None:
        rules.key = content_key(
            parsed,
            [
                whitespace,
                max_whitespace,
                separators,
                indent,
                property_order,
                on_unsupported,
                on_dangling,
                draft,
                formats,
            ],
            [additional_properties, strict, ascii_only, unicode_escapes, numbers, unique_keys],
        )
    if not unicode_escapes:
        # a rule that asks for what cannot be written has no text: then the builder has to look at all
        every = rules.all()
        if emitter.lost:
            return Grammar(every, start, "json_schema", parsed, tuple(outcomes))
    return Grammar(rules, start, "json_schema", parsed, tuple(outcomes))
