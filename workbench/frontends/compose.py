"""Grammars made in Python: parts one after the other, alternatives, repeats, names.

Every function gives a grammar, and takes grammars of any front end as parts; a text stands for itself. ``+`` and
``|`` are :func:`seq` and :func:`alt` of two. A grammar that stands in several places is one set of rules.

>>> from workbench.frontends.regex import regex
>>> name = regex("[a-z]+")
>>> seq("hello ", name, optional(" and " + name), "!")
<Grammar composed: 2 rules, start 'root'>
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.grammar.composing import Hole, as_part, composed
from workbench.grammar.expressions import EMPTY, NEVER, Alt, Marker, Repeat, Seq, Token
from workbench.grammar.ir import Grammar
from workbench.grammar.until import until
from workbench.inputs import need_at_least, wrong_type

__all__ = [
    "alt",
    "capture",
    "define",
    "marker",
    "optional",
    "ref",
    "repeat",
    "seq",
    "text_until",
    "token",
]

#: What a part may be.
Part = Grammar | str | bytes


def seq(*parts: Part) -> Grammar:
    """Make a grammar of parts one after the other; of none, the empty text.

    Raises ``WrongType`` for a part that is neither a grammar nor a text.
    """
    return composed(Seq(tuple(as_part(part, "seq") for part in parts)) if parts else EMPTY)


def alt(*parts: Part) -> Grammar:
    """Make a grammar of any one of some parts; of none, a grammar that has no text.

    Where a text is one of several of them, the first counts for :func:`~workbench.match`. For thousands of texts
    there is :func:`~workbench.choice`. Raises as :func:`seq` does.
    """
    return composed(Alt(tuple(as_part(part, "alt") for part in parts)) if parts else NEVER)


def repeat(
    part: Part, least: int = 0, most: int | None = None, *, separator: Part | None = None
) -> Grammar:
    """Make a grammar of a part, ``least`` to ``most`` times; None is no limit.

    A ``separator`` stands between two of them, never before the first or after the last. Raises ``WrongType``, and
    ``ValueError`` for fewer than 0 times and for ``most`` below ``least``.

    >>> repeat("ab", 1, 3, separator=", ").rules["root"]
    Seq(items=(Literal(data=b'ab'), Repeat(item=Seq(items=(Literal(data=b', '), Literal(data=b'ab'))), min=0, max=2)))
    """
    item = as_part(part, "repeat")
    least = need_at_least(0, least, "repeat")
    if most is not None:
        most = need_at_least(0, most, "repeat")
        if most < least:
            raise ValueError(
                f"repeat takes at least {least} and at most {most}: write them in order"
            )
    if separator is None:
        return composed(Repeat(item, least, most))
    following = Seq((as_part(separator, "repeat"), item))
    if most == 0:
        return composed(EMPTY)
    more = Repeat(following, max(least - 1, 0), None if most is None else most - 1)
    several = Seq((item, more))
    return composed(several if least else Repeat(several, 0, 1))


def optional(part: Part) -> Grammar:
    """Make a grammar of a part, or nothing. Raises as :func:`seq` does."""
    return composed(Repeat(as_part(part, "optional"), 0, 1))


def token(*which: str | int, negated: bool = False) -> Grammar:
    """Make a grammar of one token of the vocabulary, whatever bytes it has: one of some names or ids.

    A name is that of a special token, or else the text of an ordinary one, angle brackets and all:
    ``"<think>"``. ``negated`` makes it any token but these and the ends of the text. Whether a vocabulary has the
    token is found out when the grammar is compiled for one. Raises ``WrongType`` for what is neither a name nor an
    id, ``ValueError`` for none, an empty name and a negative id.
    """
    for one in which:
        if isinstance(one, bool) or not (isinstance(one, str) or hasattr(one, "__index__")):
            raise wrong_type("token", "names and ids of tokens", one)
    names = tuple(one for one in which if isinstance(one, str))
    ids = tuple(one.__index__() for one in which if not isinstance(one, str))
    return composed(Token(ids or None, names, bool(negated)))


def marker(text: str) -> Grammar:
    """Make a grammar of a text in which special tokens stand where the vocabulary has tokens of that name.

    ``"<think>"`` is the token of that name alone for a vocabulary with such a special token, and these seven bytes
    for any other one; ``"<|channel|>final"`` is a token and a word, or bytes. What it is, is found out when the
    grammar is compiled for a vocabulary; in a text that :func:`~workbench.match` reads it is its bytes. Raises
    ``WrongType``, and ``ValueError`` for an empty text and half of a surrogate pair.

    >>> marker("<think>") + text_until("</think>") + marker("</think>")
    <Grammar composed: 2 rules, start 'root'>
    """
    if not isinstance(text, str):
        raise wrong_type("marker", "a text, such as the name of a special token", text)
    return composed(Marker(text))


def text_until(*stops: str | bytes, include: bool = False) -> Grammar:
    """Make a grammar of free text that ends before the first of some stop texts; with ``include``, behind it.

    The text never holds a stop text, and none begins in it that ends where the one behind it would: after it, the
    stop text comes for the first time. (So the text before ``aa`` does not end in ``a``, and may be empty.)
    It is of any characters; where a stop is ``bytes``, of any bytes. Raises ``WrongType`` for a stop that is no
    text, ``ValueError`` for none, an empty one, and one with half of a surrogate pair.

    >>> from workbench.grammar.ir import Grammar
    >>> isinstance("<think>" + text_until("</think>") + "</think>", Grammar)
    True
    """
    for stop in stops:
        _check_stop(stop)
    return Grammar({"root": until(stops, include=include)}, "root", "until")


def capture(name: str, part: Part) -> Grammar:
    """Make a grammar of a part whose texts come back from :func:`~workbench.match` and ``generate`` by a name.

    The language stays as it is. Any text is a name, also one that other captures have; rules and places of the part
    have it before them. Raises ``WrongType``.
    """
    return composed(as_part(part, "capture"), mark=_name(name, "capture"))


def ref(name: str) -> Grammar:
    """Make a grammar that stands for a name: what :func:`define` says that it is.

    A grammar with such a name in it can be put into others, and be used when ``define`` stands around it.
    Raises ``WrongType``.
    """
    return composed(Hole(_name(name, "ref")))


def define(rules: Mapping[str, Part] | None = None, /, **more: Part) -> Grammar:
    """Make a grammar of rules that may use each other, and themselves, by :func:`ref`; the first one is the start.

    Names that are no identifiers go into the mapping. A name means the innermost definition around it; what is
    not defined here may be defined further out. Raises ``WrongType``, and ``ValueError`` for no rules and for
    a name that is given twice.

    >>> total = define(
    ...     total=repeat(ref("term"), 1, separator="+"),
    ...     term=alt("x", seq("(", ref("total"), ")")),
    ... )
    >>> sorted(total.rules)
    ['root', 'term', 'total']
    """
    given: dict[str, Part] = {}
    for name, part in _mapping(rules).items():
        given[_name(name, "define")] = part
    twice = sorted(given.keys() & more.keys())
    if twice:
        raise ValueError(f"define: {twice[0]!r} is given twice")
    given |= more
    if not given:
        raise ValueError("define takes at least one rule, as in define(name=part)")
    names = {name: as_part(part, f"define({name}=…)") for name, part in given.items()}
    return composed(Hole(next(iter(names))), names=names)


def _check_stop(value: object) -> None:
    if not isinstance(value, str | bytes):
        several = isinstance(value, list | tuple | set | frozenset)
        instead = "pass each by itself, as in text_until(*stops)" if several else ""
        raise wrong_type("text_until", "texts or bytes to stop at", value, instead)


def _mapping(value: object) -> Mapping[object, Part]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise wrong_type("define", "rules by name: define(name=part) or a mapping", value)
    return value


def _name(value: object, who: str) -> str:
    if not isinstance(value, str):
        raise wrong_type(who, "a name as text", value)
    return value
