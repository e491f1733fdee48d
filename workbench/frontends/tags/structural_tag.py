"""Structural tags as engines send them -> formats -> grammars.

The JSON is that of XGrammar, ``{"type": "structural_tag", "format": {…}}``, or the older
``{"structures": [{"begin", "schema", "end"}], "triggers": […]}``. Its texts are markers: special tokens stand in them
where a vocabulary has tokens of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.emit.tag_styles import STYLES
from workbench.frontends.json_schema.text.json_values import read_json
from workbench.frontends.nearest import nearest
from workbench.frontends.tags import formats as f
from workbench.frontends.tags.build import MAX_LEVELS, grammar_of
from workbench.frontends.tags.payload import Payload, json_of, placed
from workbench.grammar.ir import Grammar

__all__ = ["format_of", "read_structural_tag", "structural_tag"]


def structural_tag(tag: Mapping[str, Any] | str | bytes) -> Grammar:
    """Make the grammar of a structural tag, of XGrammar's kinds or in the older form with ``structures``.

    ``tag`` is the object or its JSON text; a format without an object around it is one, too. Objects of schemas
    that list properties have no others, and whitespace in JSON is bounded, as :func:`~workbench.json_schema` does.
    Raises ``GrammarSyntaxError`` with the JSON pointer of a kind or field that is not known or has a wrong value,
    and what the front ends of its schemas, patterns and grammars raise.

    >>> number = {"type": "json_schema", "json_schema": {"type": "integer"}}
    >>> add = {"begin": "<add>", "content": number, "end": "</add>"}
    >>> structural_tag({"format": {"type": "triggered_tags", "triggers": ["<add>"], "tags": [add]}})
    <Grammar composed: 5 rules, start 'root'>
    """
    return read_structural_tag(json_of(tag, "structural_tag"))


def read_structural_tag(value: Any, pointer: str = "#") -> Grammar:
    """The grammar of a structural tag that stands at a place of a request."""
    reader = _Reader()
    try:
        return grammar_of(reader.whole(Payload(value, pointer, "a structural tag")), reader.places)
    except RecursionError:
        raise GrammarTooComplex("formats inside each other", MAX_LEVELS) from None


def format_of(tag: Mapping[str, Any] | str | bytes) -> f.Format:
    """The format that a structural tag says. Raises as :func:`structural_tag` does."""
    return _Reader().whole(Payload(json_of(tag, "format_of"), "#", "a structural tag"))


class _Reader:
    """Reads formats; ``places`` tells where each stands, by identity."""

    def __init__(self) -> None:
        self.places: dict[int, str] = {}
        self._levels = 0

    def whole(self, given: Payload) -> f.Format:
        """A structural tag, in either form, or a format."""
        if given.fields.get("type", "structural_tag") != "structural_tag":
            found: f.Format = self.format(given.fields, given.pointer)
            return found
        if "structures" in given.fields:
            return self.older(given)
        given.need_only(["format"], ["type"])
        return self.inner(given, "format")

    def older(self, given: Payload) -> f.Format:
        """Tags with schemas, as ``structures``."""
        given.need_only(["structures", "triggers"], ["type"])
        tags = []
        for i, value in enumerate(given.listed("structures")):
            one = Payload(value, given.at("structures", i), "a structure")
            one.need_only(["begin", "schema", "end"])
            schema = one.fields["schema"]
            if isinstance(schema, str):
                with placed(one.at("schema")):
                    schema = read_json(schema)
            content = self._schema(one, "schema", schema)
            begin, end = _marker(one.text("begin")), _marker(one.text("end"))
            tags.append(self._tag(begin, content, end))
        triggers = _markers(given.texts("triggers", 1))
        return self._made(given, lambda: f.TriggeredTags(triggers, tuple(tags)))

    def format(self, value: Any, pointer: str, *, tag: bool = False) -> Any:
        """A format of any kind, or a tag."""
        given = Payload(value, pointer, "a format")
        kind = given.fields.get("type", "tag" if tag else None)
        if kind is None:
            raise given.error(f"a format needs a type: {', '.join(_KINDS)}")
        if not isinstance(kind, str) or kind not in _KINDS:
            raise given.error(
                f"there is no format {kind!r:.60}", "type", hint=nearest(str(kind), _KINDS)
            )
        if tag and kind != "tag":
            raise given.error(f"a tag is wanted here, not {kind!r}", "type")
        given.what = f"a format {kind!r}"
        if self._levels == MAX_LEVELS:
            raise GrammarTooComplex("formats inside each other", MAX_LEVELS)
        self._levels += 1
        read, required, optional = _KINDS[kind]
        given.need_only(required, ("type", *optional))
        made = read(self, given)
        self._levels -= 1
        return made

    def inner(self, given: Payload, name: str = "content") -> f.Format:
        """The format in a field."""
        made: f.Format = self.format(given.fields[name], given.at(name))
        return made

    def formats(self, given: Payload) -> list[f.Format]:
        """The formats in ``elements``."""
        return [
            self.format(one, given.at("elements", i))
            for i, one in enumerate(given.listed("elements"))
        ]

    def tags(self, given: Payload) -> tuple[f.Tag, ...]:
        """The tags in ``tags``."""
        return tuple(
            self.format(one, given.at("tags", i), tag=True)
            for i, one in enumerate(given.listed("tags"))
        )

    # -- kinds -------------------------------------------------------------------------------------

    def json_schema(self, given: Payload) -> f.Format:
        style = given.one_of("style", STYLES, "json")
        most = given.number("max_whitespace_cnt")
        order = given.flag("any_order")
        excludes = _markers(given.texts("excludes"))
        told = style, order, most, excludes
        return self._schema(given, "json_schema", given.fields["json_schema"], told)

    def qwen(self, given: Payload) -> f.Format:
        return self._schema(given, "json_schema", given.fields["json_schema"], ("qwen_xml",))

    def any_text(self, given: Payload) -> f.Format:
        if "max_tokens" in given:
            raise given.error(
                "max_tokens of a text is not supported: a text is counted in characters", "max_tokens",
                hint="use max_chars, or a format 'any_tokens'",
            )  # fmt: skip
        excludes = _markers(given.texts("excludes"))
        return f.AnyText(excludes, given.number("max_chars"))

    def grammar(self, given: Payload) -> f.Format:
        if given.one_of("syntax", ("ebnf", "lark"), "ebnf") == "lark":
            raise given.error(
                "grammars of Lark are not supported", "syntax", hint="write it as GBNF"
            )
        made = f.GrammarText(given.text("grammar", empty=False))
        self.places[id(made)] = given.at("grammar")
        return made

    def regex(self, given: Payload) -> f.Format:
        made = f.RegexPattern(given.text("pattern", empty=False))
        self.places[id(made)] = given.at("pattern")
        return made

    def tag(self, given: Payload) -> f.Format:
        end = given.fields["end"]
        if isinstance(end, list):
            texts = [given.is_text(one, "end", i) for i, one in enumerate(given.listed("end"))]
            ends: Any = _markers(texts)
        else:
            ends = self.bound(given, "end")
        return self._tag(self.bound(given, "begin"), self.inner(given), ends)

    def bound(self, given: Payload, name: str) -> f.Text | f.TokenOf:
        """A begin or an end."""
        value = given.fields[name]
        if isinstance(value, dict):
            inner = given.inner(name, f"the {name} of a tag")
            if inner.fields.get("type", "token") != "token":
                raise inner.error(f"the {name} of a tag is a text or a token", "type")
            inner.need_only(["token"], ["type"])
            return f.TokenOf(_token(inner, inner.fields["token"], "token"))
        return _marker(given.is_text(value, name))

    def triggered(self, given: Payload) -> f.Format:
        triggers = _markers(given.texts("triggers", 1))
        tags, excludes = self.tags(given), _markers(given.texts("excludes"))
        flags = given.flag("at_least_one"), given.flag("stop_after_first")
        return self._made(given, lambda: f.TriggeredTags(triggers, tags, *flags, excludes))

    def token_triggered(self, given: Payload) -> f.Format:
        triggers, tags = _tokens(given, "trigger_tokens", 1), self.tags(given)
        flags = given.flag("at_least_one"), given.flag("stop_after_first")
        others = _tokens(given, "exclude_tokens")
        return self._made(given, lambda: f.TokenTriggeredTags(triggers, tags, *flags, others))

    def separated(self, given: Payload) -> f.Format:
        flags = given.flag("at_least_one"), given.flag("stop_after_first")
        return f.TagsWithSeparator(self.tags(given), _marker(given.text("separator")), *flags)

    def repeat(self, given: Payload) -> f.Format:
        most = given.number("max", -1)
        if "min" not in given or most is None:
            raise given.error("min and max of a repeat must be whole numbers")
        last = None if most == -1 else most
        least = given.number("min") or 0
        content = self.inner(given)
        return self._made(given, lambda: f.Repeat(least, last, content))

    def dispatch(self, given: Payload) -> f.Format:
        rules = [
            (_marker(given.is_text(first, "rules", i, 0, empty=False)), inner)
            for i, first, inner in self._pairs(given)
        ]
        excludes = _markers(given.texts("excludes"))
        return f.Dispatch(tuple(rules), given.flag("loop", True), excludes)

    def token_dispatch(self, given: Payload) -> f.Format:
        rules = [
            (_token(given, first, "rules", i, 0), inner) for i, first, inner in self._pairs(given)
        ]
        others = _tokens(given, "exclude_tokens")
        return f.TokenDispatch(tuple(rules), given.flag("loop", True), others)

    def _pairs(self, given: Payload) -> list[tuple[int, Any, f.Format]]:
        found = []
        for i, pair in enumerate(given.listed("rules")):
            if not isinstance(pair, list) or len(pair) != 2:
                raise given.error(
                    "a rule is a pair: what is looked for, and the format behind it", "rules", i
                )
            found.append((i, pair[0], self.format(pair[1], given.at("rules", i, 1))))
        return found

    def _schema(
        self, given: Payload, name: str, schema: Any, told: tuple[Any, ...] = ()
    ) -> f.Format:
        """A schema in a field, with what is ``told`` of how it is written."""
        if not isinstance(schema, dict | bool):
            raise given.error(f"{name} must be a schema: an object or true or false", name)
        made = f.JSONSchema(schema, *told)
        self.places[id(made)] = given.at(name)
        return made

    def _tag(self, begin: Any, content: f.Format, end: Any) -> f.Tag:
        name = begin.token if isinstance(begin, f.TokenOf) else f.text_of(begin)
        return f.Tag(begin, content, end, name=str(name).strip())

    def _made(self, given: Payload, make: Callable[[], f.Format]) -> f.Format:
        """A format whose parts may not fit together."""
        try:
            made = make()
        except ValueError as error:
            raise given.error(str(error)) from None
        self.places[id(made)] = given.pointer
        return made


def _marker(text: str) -> f.Text:
    return f.Marker(text) if text else ""


def _markers(texts: list[str]) -> tuple[f.Text, ...]:
    return tuple(map(_marker, texts))


def _token(given: Payload, value: Any, *steps: str | int) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str) or value in ("",):
        raise given.error("a token is told by its id or its name", *steps)
    if isinstance(value, int) and value < 0:
        raise given.error(f"{value} is not the id of a token", *steps)
    return value


def _tokens(given: Payload, name: str, least: int = 0) -> tuple[int | str, ...]:
    return tuple(_token(given, one, name, i) for i, one in enumerate(given.listed(name, least)))


_Read = Callable[[_Reader, Payload], f.Format]
_FLAGS = ("at_least_one", "stop_after_first")
#: How each kind is read, the fields that it needs, and others that it may have.
_KINDS: dict[str, tuple[_Read, tuple[str, ...], tuple[str, ...]]] = {
    "const_string": (lambda _, one: _constant(one), ("value",), ()),
    "json_schema": (
        _Reader.json_schema,
        ("json_schema",),
        ("style", "any_order", "max_whitespace_cnt", "excludes"),
    ),
    "any_text": (_Reader.any_text, (), ("excludes", "max_tokens", "max_chars")),
    "grammar": (_Reader.grammar, ("grammar",), ("syntax",)),
    "regex": (_Reader.regex, ("pattern",), ()),
    "sequence": (lambda self, one: f.Sequence(tuple(self.formats(one))), ("elements",), ()),
    "or": (lambda self, one: f.Or(tuple(self.formats(one))), ("elements",), ()),
    "tag": (_Reader.tag, ("begin", "content", "end"), ()),
    "triggered_tags": (_Reader.triggered, ("triggers", "tags"), (*_FLAGS, "excludes")),
    "token_triggered_tags": (
        _Reader.token_triggered,
        ("trigger_tokens", "tags"),
        (*_FLAGS, "exclude_tokens"),
    ),
    "tags_with_separator": (_Reader.separated, ("tags", "separator"), _FLAGS),
    "optional": (lambda self, one: f.Optional(self.inner(one)), ("content",), ()),
    "plus": (lambda self, one: f.Plus(self.inner(one)), ("content",), ()),
    "star": (lambda self, one: f.Star(self.inner(one)), ("content",), ()),
    "repeat": (_Reader.repeat, ("min", "max", "content"), ()),
    "token": (lambda _, one: f.TokenOf(_token(one, one.fields["token"], "token")), ("token",), ()),
    "exclude_token": (
        lambda _, one: f.ExcludeToken(_tokens(one, "exclude_tokens")),
        (),
        ("exclude_tokens",),
    ),
    "any_tokens": (
        lambda _, one: f.AnyTokens(_tokens(one, "exclude_tokens"), one.number("max_tokens")),
        (),
        ("exclude_tokens", "max_tokens"),
    ),
    "dispatch": (_Reader.dispatch, ("rules",), ("loop", "excludes")),
    "token_dispatch": (_Reader.token_dispatch, ("rules",), ("loop", "exclude_tokens")),
    "qwen_xml_parameter": (_Reader.qwen, ("json_schema",), ()),
}


def _constant(given: Payload) -> f.Format:
    value = given.text("value")
    return f.Marker(value) if value else f.ConstString("")
