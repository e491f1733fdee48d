"""Formats: trees that say how a model's output is made of free text, tags and what stands in them.

Kinds and fields have the names of XGrammar's structural tags, so that their JSON can be read and written
(``structural_tag.py``); :class:`Marker`, :class:`Part`, :class:`Capture` and the names of tags are our own. A format is
a value; :func:`~workbench.frontends.tags.build.grammar_of` makes its grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.frontends.json_schema.emit.tag_styles import STYLES
from workbench.grammar.ir import Grammar
from workbench.inputs import need_at_least, need_grammar, wrong_type

__all__ = [
    "AnyText",
    "AnyTokens",
    "Capture",
    "ConstString",
    "Dispatch",
    "ExcludeToken",
    "Format",
    "GrammarText",
    "JSONSchema",
    "Marker",
    "Optional",
    "Or",
    "Part",
    "Plus",
    "RegexPattern",
    "Repeat",
    "Sequence",
    "Star",
    "Tag",
    "TagsWithSeparator",
    "Text",
    "TokenDispatch",
    "TokenOf",
    "TokenTriggeredTags",
    "TriggeredTags",
    "text_of",
]


@dataclass(frozen=True, slots=True)
class Format:
    """Base class of the formats."""


@dataclass(frozen=True, slots=True)
class Marker(Format):
    """A text in which special tokens stand where the vocabulary has tokens of that name, else its bytes."""

    text: str

    def __post_init__(self) -> None:
        _need_text(self, "text", self.text)


#: A text that stands for itself, or one in which special tokens may stand.
Text = str | Marker


def text_of(text: Text) -> str:
    """The characters of a text."""
    return text.text if isinstance(text, Marker) else text


@dataclass(frozen=True, slots=True)
class TokenOf(Format):
    """One token of the vocabulary, by its id or name."""

    token: int | str

    def __post_init__(self) -> None:
        object.__setattr__(self, "token", _token(self, "token", self.token))


@dataclass(frozen=True, slots=True)
class ConstString(Format):
    """This text."""

    value: str

    def __post_init__(self) -> None:
        _need_text(self, "value", self.value, empty=True)


@dataclass(frozen=True, slots=True)
class JSONSchema(Format):
    """A value of a schema, as JSON or in one of the other ``STYLES``.

    ``options`` are those of :func:`~workbench.json_schema`, but that ``additional_properties`` is false where they do
    not say otherwise: objects that list properties have no others. ``excludes`` are texts that no string and no name
    of a member holds, as they are written. ``any_order`` lets properties come in any order, and
    ``max_whitespace_cnt`` bounds runs of whitespace.
    """

    schema: Mapping[str, Any] | bool
    style: str = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    excludes: tuple[Text, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.schema, Mapping | bool):
            raise wrong_type("JSONSchema", "a schema: a mapping or a boolean", self.schema)
        if self.style not in STYLES:
            raise ValueError(
                f"{self.style!r:.60} is no style of values; there are {', '.join(STYLES)}"
            )
        _at_least(self, "max_whitespace_cnt", 0)
        _texts(self, "excludes")


@dataclass(frozen=True, slots=True)
class AnyText(Format):
    """Free text that holds none of some texts; inside a tag, none of the tag's ends either."""

    excludes: tuple[Text, ...] = ()
    max_chars: int | None = None

    def __post_init__(self) -> None:
        _texts(self, "excludes")
        _at_least(self, "max_chars", 0)


@dataclass(frozen=True, slots=True)
class GrammarText(Format):
    """A text of a GBNF grammar, whose start is ``root``."""

    grammar: str

    def __post_init__(self) -> None:
        _need_text(self, "grammar", self.grammar)


@dataclass(frozen=True, slots=True)
class RegexPattern(Format):
    """A text that a regular expression matches from end to end, and that holds none of some texts."""

    pattern: str
    excludes: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        _need_text(self, "pattern", self.pattern, empty=True)
        _texts(self, "excludes")


@dataclass(frozen=True, slots=True)
class Part(Format):
    """Any grammar as a part; ``name`` is what it is called in explanations."""

    grammar: Grammar
    name: str = ""

    def __post_init__(self) -> None:
        need_grammar(self.grammar, "Part")
        _need_text(self, "name", self.name, empty=True)


@dataclass(frozen=True, slots=True)
class Capture(Format):
    """A format whose texts come back from ``match`` and ``generate`` by a name."""

    name: str
    content: Format

    def __post_init__(self) -> None:
        _need_text(self, "name", self.name, empty=True)
        _formats(self, "content", self.content)


@dataclass(frozen=True, slots=True)
class Sequence(Format):
    """Formats one after the other."""

    elements: tuple[Format, ...]

    def __post_init__(self) -> None:
        _listed(self, "elements")


@dataclass(frozen=True, slots=True)
class Or(Format):
    """Any one of some formats."""

    elements: tuple[Format, ...]

    def __post_init__(self) -> None:
        _listed(self, "elements")


@dataclass(frozen=True, slots=True)
class Optional(Format):
    """A format, or nothing."""

    content: Format

    def __post_init__(self) -> None:
        _formats(self, "content", self.content)


@dataclass(frozen=True, slots=True)
class Plus(Format):
    """A format, once or more often."""

    content: Format

    def __post_init__(self) -> None:
        _formats(self, "content", self.content)


@dataclass(frozen=True, slots=True)
class Star(Format):
    """A format, any number of times."""

    content: Format

    def __post_init__(self) -> None:
        _formats(self, "content", self.content)


@dataclass(frozen=True, slots=True)
class Repeat(Format):
    """A format, ``min`` to ``max`` times; None is no limit."""

    min: int
    max: int | None
    content: Format

    def __post_init__(self) -> None:
        object.__setattr__(self, "min", need_at_least(0, self.min, "Repeat(min=…)"))
        _at_least(self, "max", 0)
        if self.max is not None and self.max < self.min:
            raise ValueError(f"Repeat: max is {self.max}, less than min, {self.min}")
        _formats(self, "content", self.content)


@dataclass(frozen=True, slots=True)
class Tag(Format):
    """A content between a begin and an end; of several ends, any one.

    What is named by ``name`` has that name in explanations, as in ``tool get_weather › #/properties/city``.
    """

    begin: Text | TokenOf
    content: Format
    end: Text | TokenOf | tuple[Text | TokenOf, ...]
    name: str = ""

    def __post_init__(self) -> None:
        _bound(self, "begin", self.begin)
        _formats(self, "content", self.content)
        ends = tuple(self.end) if isinstance(self.end, list | tuple) else (self.end,)
        if not ends:
            raise ValueError("Tag: there is no end; an empty text is one")
        for end in ends:
            _bound(self, "end", end)
        object.__setattr__(self, "end", ends[0] if len(ends) == 1 else ends)
        _need_text(self, "name", self.name, empty=True)

    @property
    def ends(self) -> tuple[Text | TokenOf, ...]:
        """Its ends, one or several."""
        return self.end if isinstance(self.end, tuple) else (self.end,)


@dataclass(frozen=True, slots=True)
class TriggeredTags(Format):
    """Free text with tags in it: where a trigger comes, one of the tags that begin with it has to come.

    ``at_least_one``: the text begins with a tag; ``stop_after_first``: it ends with the first one.
    """

    triggers: tuple[Text, ...]
    tags: tuple[Tag, ...]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        _texts(self, "triggers")
        _texts(self, "excludes")
        if not self.triggers:
            raise ValueError("TriggeredTags: there is no trigger")
        _tags(self)
        starts = tuple(map(text_of, self.triggers))
        for tag in self.tags:
            if isinstance(tag.begin, TokenOf):
                raise ValueError(
                    f"TriggeredTags: a tag begins with the token {tag.begin.token!r}; use TokenTriggeredTags"
                )
            if not text_of(tag.begin).startswith(starts):
                raise ValueError(
                    f"TriggeredTags: no trigger begins the tag {text_of(tag.begin)!r:.80}; "
                    f"the triggers are {', '.join(map(repr, starts))}"
                )


@dataclass(frozen=True, slots=True)
class TokenTriggeredTags(Format):
    """Any tokens with tags among them: where a trigger token comes, one of the tags that begin with it has to come."""

    trigger_tokens: tuple[int | str, ...]
    tags: tuple[Tag, ...]
    at_least_one: bool = False
    stop_after_first: bool = False
    exclude_tokens: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        _tokens(self, "trigger_tokens")
        _tokens(self, "exclude_tokens")
        if not self.trigger_tokens:
            raise ValueError("TokenTriggeredTags: there is no trigger token")
        _tags(self)
        for tag in self.tags:
            if not isinstance(tag.begin, TokenOf):
                raise ValueError(
                    f"TokenTriggeredTags: a tag begins with the text {text_of(tag.begin)!r:.80}; use TriggeredTags"
                )
            token = tag.begin.token
            # whether a name is that of an id is known with a vocabulary alone
            known = all(isinstance(one, type(token)) for one in self.trigger_tokens)
            if known and token not in self.trigger_tokens:
                raise ValueError(
                    f"TokenTriggeredTags: a tag begins with the token {token!r}, which is no trigger; "
                    f"the triggers are {', '.join(map(repr, self.trigger_tokens))}"
                )


@dataclass(frozen=True, slots=True)
class TagsWithSeparator(Format):
    """Tags with a text between any two of them, and nothing else."""

    tags: tuple[Tag, ...]
    separator: Text
    at_least_one: bool = False
    stop_after_first: bool = False

    def __post_init__(self) -> None:
        _tags(self)
        if not isinstance(self.separator, Marker):
            _need_text(self, "separator", self.separator, empty=True)


@dataclass(frozen=True, slots=True)
class Dispatch(Format):
    """Free text in which a format has to come behind each of some texts: with ``loop`` again and again, else once."""

    rules: tuple[tuple[Text, Format], ...]
    loop: bool = True
    excludes: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        _pairs(self)
        for pattern, _ in self.rules:
            _need_stop(self, "rules", pattern)
        _texts(self, "excludes")


@dataclass(frozen=True, slots=True)
class TokenDispatch(Format):
    """Any tokens among which, behind each of some tokens, a format has to come."""

    rules: tuple[tuple[int | str, Format], ...]
    loop: bool = True
    exclude_tokens: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        _pairs(self)
        for token, _ in self.rules:
            _token(self, "rules", token)
        _tokens(self, "exclude_tokens")


@dataclass(frozen=True, slots=True)
class ExcludeToken(Format):
    """One token that is none of some; inside a tag that a token ends, not that one either."""

    exclude_tokens: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        _tokens(self, "exclude_tokens")


@dataclass(frozen=True, slots=True)
class AnyTokens(Format):
    """Tokens that are none of some, at most ``max_tokens``; inside a tag that a token ends, not that one either."""

    exclude_tokens: tuple[int | str, ...] = ()
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        _tokens(self, "exclude_tokens")
        _at_least(self, "max_tokens", 0)


# -- what the fields hold ------------------------------------------------------------------------------


def _kind(one: Format) -> str:
    return type(one).__name__


def _need_text(one: Format, name: str, value: object, *, empty: bool = False) -> None:
    who = f"{_kind(one)}({name}=…)"
    if not isinstance(value, str):
        raise wrong_type(who, "a text", value)
    if not (value or empty):
        raise ValueError(f"{who}: the text is empty")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in value):
        raise ValueError(f"{who}: {value!r:.60} holds half of a surrogate pair, which no text has")


def _need_stop(one: Format, name: str, value: object) -> None:
    if not isinstance(value, Marker):
        _need_text(one, name, value)


def _several(one: Any, name: str, wanted: str) -> tuple[Any, ...]:
    given = getattr(one, name)
    if isinstance(given, str | Format) or not hasattr(given, "__iter__"):
        raise wrong_type(f"{_kind(one)}({name}=…)", wanted, given, "put it in a list")
    found = tuple(given)
    object.__setattr__(one, name, found)
    return found


def _texts(one: Format, name: str) -> None:
    for text in _several(one, name, "a list of texts"):
        _need_stop(one, name, text)


def _token(one: Format, name: str, value: object) -> int | str:
    who = f"{_kind(one)}({name}=…)"
    if isinstance(value, str):
        _need_text(one, name, value)
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise wrong_type(who, "the id or the name of a token", value)
    return need_at_least(0, value, who)


def _tokens(one: Any, name: str) -> None:
    found = tuple(_token(one, name, token) for token in _several(one, name, "a list of tokens"))
    object.__setattr__(one, name, found)


def _formats(one: Format, name: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, Format):
            instead = "wrap it: Part(grammar)" if hasattr(value, "rules") else ""
            instead = instead or ("wrap it: ConstString(text)" if isinstance(value, str) else "")
            raise wrong_type(f"{_kind(one)}({name}=…)", "a format", value, instead)


def _listed(one: Format, name: str) -> None:
    found = _several(one, name, "a list of formats")
    if not found:
        raise ValueError(f"{_kind(one)}: {name} is empty")
    _formats(one, name, *found)


def _tags(one: Format) -> None:
    found = _several(one, "tags", "a list of tags")
    if not found:
        raise ValueError(f"{_kind(one)}: there are no tags")
    for tag in found:
        if not isinstance(tag, Tag):
            raise wrong_type(f"{_kind(one)}(tags=…)", "tags", tag)


def _pairs(one: Format) -> None:
    found = _several(one, "rules", "a list of pairs: what is looked for, and the format behind it")
    if not found:
        raise ValueError(f"{_kind(one)}: there are no rules")
    for pair in found:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise wrong_type(f"{_kind(one)}(rules=…)", "pairs (what is looked for, format)", pair)
        _formats(one, "rules", pair[1])
    object.__setattr__(one, "rules", tuple(map(tuple, found)))


def _bound(one: Tag, name: str, value: object) -> None:
    if not isinstance(value, Marker | TokenOf):
        _need_text(one, name, value, empty=True)


def _at_least(one: Any, name: str, least: int) -> None:
    value = getattr(one, name)
    if value is not None:
        object.__setattr__(one, name, need_at_least(least, value, f"{_kind(one)}({name}=…)"))
