"""What requests ask of an output, as engines send it -> a grammar.

Known are ``response_format`` of OpenAI and those who follow it, ``structured_outputs`` and the older ``guided_…`` of
vLLM, the fields of llama.cpp's server (``grammar``, ``json_schema``, ``grammar_lazy`` with its triggers) and of SGLang
(``json_schema``, ``regex``, ``ebnf``, ``structural_tag``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from workbench.frontends.choice import choice
from workbench.frontends.gbnf import gbnf
from workbench.frontends.json_schema import json_schema
from workbench.frontends.json_schema.text.json_values import read_json
from workbench.frontends.nearest import nearest
from workbench.frontends.regex import regex
from workbench.frontends.tags.lazy_grammar import lazy_grammar
from workbench.frontends.tags.payload import Payload, json_of, placed
from workbench.frontends.tags.structural_tag import read_structural_tag
from workbench.frontends.unicode_sets import ANY
from workbench.grammar.ir import CharSet, Grammar, Repeat

__all__ = ["is_request", "response_format"]


def response_format(request: Mapping[str, Any] | str | bytes) -> Grammar:
    """Make the grammar of what a request asks of an output, as engines send it.

    ``request`` is an object or its JSON text: a ``response_format`` (with a ``type``), or the fields of a request that
    constrain its output, one of them. Schemas hold as they are written; those with ``"strict": true`` by the
    convention of hosted services (``strict`` of :func:`~workbench.json_schema`). Whatever is asked for is enforced:
    engines that take a schema without ``strict`` for a wish do less.

    Raises ``GrammarSyntaxError`` with the JSON pointer of a field that is not known or has a wrong value and for none
    or several constraints, ``WrongType`` for what is no request, and what the front ends of schemas, patterns and
    grammars raise.

    >>> response_format({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}})
    <Grammar json_schema: 0 rules, start 'integer'>
    >>> response_format({"structured_outputs": {"choice": ["yes", "no"]}})
    <Grammar choice: 1 rule, start 'root'>
    """
    return _of(Payload(json_of(request, "response_format")))


def _of(given: Payload) -> Grammar:
    for name in ("response_format", "structured_outputs"):
        if name in given:
            given.need_only([name])
            given = given.inner(name, name)
    if "type" in given:
        return _of_type(given)
    # a structural tag may come without its type
    is_tag = "structures" in given or list(given.fields) == ["format"]
    return _structural(given) if is_tag else _of_fields(given)


def is_request(value: Any) -> bool:
    """Whether a JSON value looks like what a request asks of an output, which no schema does."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    wraps = not {"response_format", "structured_outputs", "structures"}.isdisjoint(value)
    return (
        wraps or (isinstance(kind, str) and kind in _TYPES) or any(name in value for name in _OLDER)
    )


# -- with a type -----------------------------------------------------------------------------------


def _of_type(given: Payload) -> Grammar:
    kind = given.fields["type"]
    given.what = "a response format"
    if not isinstance(kind, str) or kind not in _TYPES:
        hint = nearest(str(kind), _TYPES)
        if kind in _OF_SCHEMAS or isinstance(kind, list):
            hint = 'it looks like a schema: wrap it in {"type": "json_schema", "schema": …}'
        raise given.error(f"there is no response format {kind!r:.60}", "type", hint=hint)
    given.what = f"a response format {kind!r}"
    return _TYPES[kind](given)


def _text(given: Payload) -> Grammar:
    given.need_only(["type"])
    return Grammar({"root": Repeat(CharSet(ANY), 0, None)}, "root", "text")


def _json_object(given: Payload) -> Grammar:
    given.need_only(["type"], ["schema"])
    return _schema(given, "schema") if "schema" in given else json_schema({"type": "object"})


def _json_schema(given: Payload) -> Grammar:
    if "json_schema" in given:
        given.need_only(["type", "json_schema"])
        given = given.inner("json_schema", "json_schema")
        given.need_only(["schema"], ["name", "description", "strict"])
    else:  # all in one object, as in a "text.format"
        given.need_only(["type", "schema"], ["name", "description", "strict"])
    for name in ("name", "description"):
        if name in given:
            given.text(name)
    return _schema(given, "schema", strict=given.flag("strict"))


def _typed(name: str) -> Callable[[Payload], Grammar]:
    def read(given: Payload) -> Grammar:
        given.need_only(["type", name])
        return _CONSTRAINTS[name](given, name, {})

    return read


def _structural(given: Payload) -> Grammar:
    return read_structural_tag(given.fields, given.pointer)


_OF_SCHEMAS = ("object", "array", "string", "number", "integer", "boolean", "null")
_TYPES: dict[str, Callable[[Payload], Grammar]] = {
    "text": _text,
    "json_object": _json_object,
    "json_schema": _json_schema,
    "structural_tag": _structural,
    "regex": lambda given: _pattern_of(given),
    "grammar": _typed("grammar"),
}


def _pattern_of(given: Payload) -> Grammar:
    given.need_only(["type", "pattern"])
    return _regex(given, "pattern", {})


# -- fields of a request ---------------------------------------------------------------------------


def _of_fields(given: Payload) -> Grammar:
    """The one constraint among some fields, with the options beside it."""
    given.need_only([], [*_CONSTRAINTS, *_OPTIONS, *_LAZY, *_OLDER])
    there = [
        name
        for name, value in given.fields.items()
        if _newer(name) in _CONSTRAINTS and value is not None and value is not False
    ]
    if len(there) != 1:
        found = f"several: {', '.join(there)}" if there else "none"
        raise given.error(
            f"a request has one constraint of its output, not {found}",
            hint=f"constraints are {', '.join(_CONSTRAINTS)}",
        )
    (name,) = there
    made = _CONSTRAINTS[_newer(name)](given, name, _options(given, _newer(name)))
    return lazy_grammar(given, made) if any(option in given for option in _LAZY) else made


def _newer(name: str) -> str:
    """The name that a field has now."""
    return _OLDER.get(name, name)


_OLDER = {
    f"guided_{name}": name
    for name in ("json", "regex", "choice", "grammar", "json_object", "whitespace_pattern")
} | {"guided_decoding_backend": "_backend"}
_LAZY = ("grammar_lazy", "grammar_triggers", "preserved_tokens")
#: Of these, the last two say nothing about the output.
_OPTIONS = (
    "whitespace_pattern",
    "disable_any_whitespace",
    "disable_additional_properties",
    "disable_fallback",
    "_backend",
)


def _options(given: Payload, name: str) -> dict[str, Any]:
    """The options of a schema that a request has."""
    found: dict[str, Any] = {}
    if given.flag("disable_any_whitespace"):
        found["whitespace"] = "compact"
    for told in ("whitespace_pattern", "guided_whitespace_pattern"):
        if told in given:
            found["whitespace_pattern"] = given.text(told)
    if given.flag("disable_additional_properties"):
        found["additional_properties"] = False
    if found and name not in ("json", "json_schema", "json_object"):
        told = next(one for one in (*_OPTIONS, *_OLDER) if one in given and _newer(one) != name)
        raise given.error(f"{told} is an option of schemas, not of {name}", told)
    return found


def _schema(given: Payload, name: str, **options: Any) -> Grammar:
    """The grammar of a schema, or of its JSON text, in a field."""
    schema = given.fields[name]
    place = given.at(name)
    with placed(place):
        if isinstance(schema, str):
            schema = True if schema == "$$ANY$$" else read_json(schema, "the schema")
    if not isinstance(schema, dict | bool):
        raise given.error(f"{name} must be a schema: an object, true or false, or its text", name)
    with _option_errors(given), placed(place):
        return json_schema(schema, **options)


@contextmanager
def _option_errors(given: Payload) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise given.error(str(error)) from None


def _json(given: Payload, name: str, options: dict[str, Any]) -> Grammar:
    return _schema(given, name, **options)


def _object(given: Payload, name: str, options: dict[str, Any]) -> Grammar:
    given.flag(name)
    return json_schema({"type": "object"}, **options)


def _regex(given: Payload, name: str, options: dict[str, Any]) -> Grammar:
    text = given.text(name)
    with placed(given.at(name)):
        return regex(text)


def _gbnf(given: Payload, name: str, options: dict[str, Any]) -> Grammar:
    text = given.text(name, empty=False)
    with placed(given.at(name)):
        return gbnf(text)


def _choice(given: Payload, name: str, options: dict[str, Any]) -> Grammar:
    return choice([given.is_text(one, name, i) for i, one in enumerate(given.listed(name))])


def _tag(given: Payload, name: str, options: dict[str, Any]) -> Grammar:
    value = given.fields[name]
    if isinstance(value, str):
        with placed(given.at(name)):
            value = read_json(value, "the structural tag")
    return read_structural_tag(value, given.at(name))


#: What may constrain an output, and how it is read with the options of schemas.
_CONSTRAINTS: dict[str, Callable[[Payload, str, dict[str, Any]], Grammar]] = {
    "json": _json,
    "json_schema": _json,
    "json_object": _object,
    "regex": _regex,
    "choice": _choice,
    "grammar": _gbnf,
    "ebnf": _gbnf,
    "structural_tag": _tag,
}
