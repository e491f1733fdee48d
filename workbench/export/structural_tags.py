"""Formats -> structural tags: the JSON that engines read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import ExportRefused, GrammarTooComplex
from workbench.export.gbnf_writer import to_gbnf
from workbench.frontends.tags import formats as f
from workbench.frontends.tags.build import MAX_LEVELS
from workbench.grammar.composing import ComposedRules
from workbench.grammar.ir import Grammar
from workbench.inputs import wrong_type

__all__ = ["to_structural_tag"]


def to_structural_tag(format: f.Format | Grammar) -> dict[str, Any]:
    """Write a format, or a grammar that was made of one, as a structural tag that engines read.

    A marker is written as its text, a part as GBNF; names and captures, which change no language, are left out. Raises
    ``ExportRefused`` naming what has no words there (options of schemas, tokens among several ends, patterns with
    excluded texts, parts that are no GBNF), ``GrammarTooComplex`` for a tree that is too deep, ``WrongType`` for any
    other grammar.

    >>> to_structural_tag(f.Tag("<n>", f.RegexPattern("[0-9]+"), f.Marker("</n>")))["format"]["end"]
    '</n>'
    """
    if isinstance(format, Grammar):
        made_of = format.rules.made_of if isinstance(format.rules, ComposedRules) else None
        if made_of is None:
            instead = "this one was made in another way; wrap it in a format: Part(grammar)"
            raise wrong_type("to_structural_tag", "a grammar of formats", format, instead)
        format = made_of
    if not isinstance(format, f.Format):
        raise wrong_type("to_structural_tag", "a format or a grammar of one", format)
    try:
        return {"type": "structural_tag", "format": _written(format)}
    except RecursionError:
        raise GrammarTooComplex("formats inside each other", MAX_LEVELS) from None


def _written(format: f.Format) -> dict[str, Any]:
    if isinstance(format, f.Capture):
        return _written(format.content)
    kind, write = _KINDS[type(format)]
    return {"type": kind, **write(format)}


def _refuse(what: str) -> ExportRefused:
    return ExportRefused([f"a structural tag has no words for {what}"])


def _texts(texts: Sequence[f.Text]) -> list[str]:
    return list(map(f.text_of, texts))


def _some(**fields: Any) -> dict[str, Any]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value not in (None, False, [])}


def _bound(one: f.Text | f.TokenOf) -> Any:
    return _written(one) if isinstance(one, f.TokenOf) else f.text_of(one)


def _schema(one: f.JSONSchema) -> dict[str, Any]:
    for name, value in one.options.items():
        if (name, value) != ("additional_properties", False):
            raise _refuse(f"the option {name}={value!r:.60} of a schema")
    schema = one.schema if isinstance(one.schema, bool) else dict(one.schema)
    options = _some(any_order=one.any_order)
    if one.style != "json":
        options["style"] = one.style
    if one.max_whitespace_cnt is not None:
        options["max_whitespace_cnt"] = one.max_whitespace_cnt
    if one.excludes:
        options["excludes"] = _texts(one.excludes)
    return {"json_schema": schema, **options}


def _any_text(one: f.AnyText) -> dict[str, Any]:
    most = {} if one.max_chars is None else {"max_chars": one.max_chars}
    return {**_some(excludes=_texts(one.excludes)), **most}


def _any_tokens(one: f.AnyTokens) -> dict[str, Any]:
    most = {} if one.max_tokens is None else {"max_tokens": one.max_tokens}
    return {**_some(exclude_tokens=list(one.exclude_tokens)), **most}


def _regex(one: f.RegexPattern) -> dict[str, Any]:
    if one.excludes:
        raise _refuse("a pattern without some texts")
    if not one.pattern:
        return {"type": "const_string", "value": ""}
    return {"pattern": one.pattern}


def _part(one: f.Part) -> dict[str, Any]:
    text = to_gbnf(one.grammar)
    if text.looser or text.extensions:
        what = "; ".join((*text.looser, *text.extensions))
        raise _refuse(
            f"the part {one.name or one.grammar.kind!r}: GBNF does not say all of it ({what})"
        )
    return {"grammar": text.text}


def _tag(one: f.Tag) -> dict[str, Any]:
    ends = [_bound(end) for end in one.ends]
    if len(ends) > 1 and any(isinstance(end, f.TokenOf) for end in one.ends):
        raise _refuse("a token among several ends of a tag")
    end = ends[0] if len(ends) == 1 else ends
    return {"begin": _bound(one.begin), "content": _written(one.content), "end": end}


def _flags(one: Any) -> dict[str, Any]:
    return _some(at_least_one=one.at_least_one, stop_after_first=one.stop_after_first)


def _triggered(one: f.TriggeredTags) -> dict[str, Any]:
    tags = list(map(_written, one.tags))
    others = _some(excludes=_texts(one.excludes))
    return {"triggers": _texts(one.triggers), "tags": tags, **_flags(one), **others}


def _token_triggered(one: f.TokenTriggeredTags) -> dict[str, Any]:
    tags = list(map(_written, one.tags))
    others = _some(exclude_tokens=list(one.exclude_tokens))
    return {"trigger_tokens": list(one.trigger_tokens), "tags": tags, **_flags(one), **others}


def _separated(one: f.TagsWithSeparator) -> dict[str, Any]:
    tags = list(map(_written, one.tags))
    return {"tags": tags, "separator": f.text_of(one.separator), **_flags(one)}


def _dispatch(one: f.Dispatch) -> dict[str, Any]:
    rules = [[f.text_of(text), _written(inner)] for text, inner in one.rules]
    return {"rules": rules, "loop": one.loop, **_some(excludes=_texts(one.excludes))}


def _token_dispatch(one: f.TokenDispatch) -> dict[str, Any]:
    rules = [[token, _written(inner)] for token, inner in one.rules]
    others = _some(exclude_tokens=list(one.exclude_tokens))
    return {"rules": rules, "loop": one.loop, **others}


def _repeat(one: f.Repeat) -> dict[str, Any]:
    most = -1 if one.max is None else one.max
    return {"min": one.min, "max": most, "content": _written(one.content)}


def _elements(one: Any) -> dict[str, Any]:
    return {"elements": list(map(_written, one.elements))}


def _content(one: Any) -> dict[str, Any]:
    return {"content": _written(one.content)}


#: What each format is called there, and how its fields are written.
_KINDS: dict[type[f.Format], tuple[str, Callable[[Any], dict[str, Any]]]] = {
    f.AnyText: ("any_text", _any_text),
    f.AnyTokens: ("any_tokens", _any_tokens),
    f.ConstString: ("const_string", lambda one: {"value": one.value}),
    f.Dispatch: ("dispatch", _dispatch),
    f.ExcludeToken: ("exclude_token", lambda one: {"exclude_tokens": list(one.exclude_tokens)}),
    f.GrammarText: ("grammar", lambda one: {"grammar": one.grammar}),
    f.JSONSchema: ("json_schema", _schema),
    f.Marker: ("const_string", lambda one: {"value": one.text}),
    f.Optional: ("optional", _content),
    f.Or: ("or", _elements),
    f.Part: ("grammar", _part),
    f.Plus: ("plus", _content),
    f.RegexPattern: ("regex", _regex),
    f.Repeat: ("repeat", _repeat),
    f.Sequence: ("sequence", _elements),
    f.Star: ("star", _content),
    f.Tag: ("tag", _tag),
    f.TagsWithSeparator: ("tags_with_separator", _separated),
    f.TokenDispatch: ("token_dispatch", _token_dispatch),
    f.TokenOf: ("token", lambda one: {"token": one.token}),
    f.TokenTriggeredTags: ("token_triggered_tags", _token_triggered),
    f.TriggeredTags: ("triggered_tags", _triggered),
}
