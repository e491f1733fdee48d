"""The syntax of GBNF: its lark grammar, its line ends, and its errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from workbench.errors import GrammarSyntaxError
from workbench.frontends.gbnf_dialects import foreign

__all__ = ["parse_tree"]

_SYNTAX = r"""
start: (rule _NL)*
rule: NAME _DEFINE alternatives
alternatives: conjunction (_BAR conjunction)*
conjunction: sequence (AND sequence)*
sequence: _item*
_item: repeat | _atom
repeat: _item (STAR | PLUS | QUESTION | LBRACE INT (COMMA INT?)? RBRACE)
_atom: reference | text | class | any | token | negation | _LPAR alternatives _RPAR
negation: _TILDE _atom
reference: NAME
text: STRING
class: CLASS
any: DOT
token: TOKEN

NAME: /[A-Za-z0-9_-]+/
INT: /[0-9]+/
STRING: /"[^"\\]*(?:\\.[^"\\]*)*+"/s
CLASS: /\[[^\]\\]*(?:\\.[^\]\\]*)*+\]/s
TOKEN: /!?<[^<>\r\n]*>/
AND: "&"
_TILDE: "~"
DOT: "."
STAR: "*"
PLUS: "+"
QUESTION: "?"
LBRACE: "{"
RBRACE: "}"
COMMA: ","
_DEFINE: "::="
_BAR: "|"
_LPAR: "("
_RPAR: ")"
_NL: /\r\n|\r|\n/
_SPACE: /[ \t]+/
_COMMENT: /#[^\r\n]*/
%ignore _SPACE
%ignore _COMMENT
"""

#: What the names that begin an extension add, unless a rule has the name.
_BYTES = r"""
%extend _atom: bytes | byte_class
bytes: BYTES
byte_class: BYTE_CLASS
BYTES.2: /b"[^"\\]*(?:\\.[^"\\]*)*+"/s
BYTE_CLASS.2: /b\[[^\]\\]*(?:\\.[^\]\\]*)*+\]/s
"""
_UNTIL = r"""
%extend _atom: until
until: _UNTIL _marker (COMMA _marker)* _RPAR
_marker: STRING
_UNTIL.2: /until\(/
"""
_BYTE_MARKER = "%extend _marker: BYTES"
#: What may hold anything: literals, classes, comments. What is never closed goes to the end of the text, so
#: that none is looked through twice.
_OPAQUE = r'"(?:\\.|[^"\\]|\\\Z)*+(?:"|\Z)|\[(?:\\.|[^\]\\]|\\\Z)*+(?:\]|\Z)|#[^\r\n]*+'
_DEFINITION = re.compile(_OPAQUE + r"|(?<![A-Za-z0-9_-])(b|until)[ \t]*+::=", re.DOTALL)

_WORDS = {
    "STRING": "something to match (a literal, class, rule name or group)",
    "STAR": "a quantifier",
    "_BAR": "'|'",
    "_RPAR": "')'",
    "_DEFINE": "'::='",
    "_NL": "the end of the rule",
    "INT": "a number",
    "COMMA": "','",
    "RBRACE": "'}'",
    "NAME": "a rule name",
}
_LEXEMES = re.compile(_OPAQUE + "|[()]", re.DOTALL)
#: A rule name that became part of the rule before, because that one ends with '|' or '::='.
_SWALLOWED = re.compile(
    r"(?:[|&~]|::=)[ \t]*(?:#[^\r\n]*)?[\r\n](?:\s|#[^\r\n]*[\r\n])*[A-Za-z0-9_-]+[ \t]*\Z"
)
_UNTIL_HINT = 'as in until("</think>") or until(".", "!")'
_QUANTIFIERS = {"STAR", "PLUS", "QUESTION", "LBRACE"}
#: What a character that starts no token may have been meant as: message, hint.
_STRAY = {
    '"': ("this literal is never closed: '\"' is missing", 'write \\" for the quote itself'),
    "[": ("this class is never closed: ']' is missing", "write \\[ for the bracket itself"),
    "'": ("a literal needs double quotes", 'write "…"'),
    ":": ("a rule is written with '::='", "as in: name ::= …"),
    "=": ("a rule is written with '::='", "as in: name ::= …"),
    "/": ("this character has no meaning here", "comments start with '#'"),
    "<": ("this terminal is never closed: '>' is missing", None),
    "]": ("this ']' closes no class", None),
}


#: A line end after one of these ends no rule.
_GOING_ON = {"_NL", "_BAR", "_DEFINE", "AND", "_TILDE"}
#: Nor does one before a line that begins with one of these.
_BEGIN_A_LINE = {"_BAR", "AND"}


class _LineEnds:
    """Keeps the line ends that end a rule and drops the others."""

    always_accept = ("_NL",)

    def process(self, stream: Iterator[Any]) -> Iterator[Any]:
        from lark import Token

        depth = 0
        before = "_NL"
        last = held = None
        for token in stream:
            depth += (token.type in {"_LPAR", "_UNTIL"}) - (token.type == "_RPAR")
            if token.type == "_NL":
                # the next line says whether the rule goes on there
                if held is None and depth <= 0 and before not in _GOING_ON:
                    held = token
                continue
            if held is not None:
                if token.type not in _BEGIN_A_LINE:
                    yield held
                held = None
            before = token.type
            last = token
            yield token
        if held is not None:
            yield held
        elif last is not None and before != "_NL" and depth <= 0:
            yield Token.new_borrow_pos("_NL", "", last)


def _names(text: str) -> frozenset[str]:
    """The rules of a text whose names would begin an extension."""
    return frozenset(match[1] for match in _DEFINITION.finditer(text) if match[1])


@lru_cache(maxsize=4)
def _parser(names: frozenset[str]) -> Any:
    """The parser of texts that give their own meaning to ``names``."""
    from lark import Lark

    extensions = "" if "b" in names else _BYTES
    if "until" not in names:
        extensions += _UNTIL if "b" in names else _UNTIL + _BYTE_MARKER
    return Lark(
        _SYNTAX + extensions,
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        postlex=_LineEnds(),
    )


def parse_tree(source: str, told: str | None = None, names: frozenset[str] = frozenset()) -> Any:
    """Parse a GBNF text into a lark tree of rules, with character offsets in ``meta``.

    ``told`` is the text as its author wrote it, for errors; ``names`` are rules that came with it.

    Raises ``GrammarSyntaxError``, also for a text without rules.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    # A byte order mark is no part of the text; a blank in its place keeps the offsets.
    text = " " + source[1:] if source.startswith("\ufeff") else source
    source = source if told is None else told
    try:
        tree = _parser(_names(text) | names & {"b", "until"}).parse(text)
    except UnexpectedCharacters as error:
        raise _named(_stray_character(source, error.pos_in_stream), source) from None
    except UnexpectedToken as error:
        raise _named(_unexpected(source, error), source) from None
    if not tree.children:
        raise GrammarSyntaxError(
            "the grammar is empty: it has no rules", hint='write at least: root ::= "…"'
        )
    return tree


def _named(error: GrammarSyntaxError, source: str) -> GrammarSyntaxError:
    """The error, or one that says which other notation the text is in."""
    sentence = foreign(source)
    if sentence is None:
        return error
    return GrammarSyntaxError(sentence, text=source, start=error.start)


def _stray_character(source: str, start: int) -> GrammarSyntaxError:
    char = source[start]
    message, hint = _STRAY.get(char, ("this character has no meaning here", None))
    return GrammarSyntaxError(message, text=source, start=start, end=start + 1, hint=hint)


def _unexpected(source: str, error: Any) -> GrammarSyntaxError:
    token = error.token
    at_end = token.type == "$END"
    start = len(source) if at_end else token.start_pos
    end = start + 1 if at_end else max(token.end_pos, start + 1)
    accepts = error.accepts or error.expected
    opened = _open_parenthesis(source, start)
    hint = None
    if opened is not None and (at_end or token.type == "_DEFINE"):
        message, start, end = "this '(' is never closed: ')' is missing", opened, opened + 1
    elif token.type in _QUANTIFIERS:
        message = "there is nothing to repeat here"
    elif token.type == "_RPAR" and opened is None:
        message = "this ')' closes no '('"
    elif token.type == "COMMA" and accepts == {"INT"}:
        message, hint = "a count needs its least number", "write {0,n} for at most n"
    elif accepts <= {"STRING", "BYTES"}:
        message, hint = "until(…) takes the markers that end the text, as literals", _UNTIL_HINT
    else:
        found = _describe(token)
        message = f"expected {_expectation(accepts)}, found {found}"
        if token.type == "_DEFINE":
            hint = "each rule begins on a line of its own"
            if _SWALLOWED.search(source, max(0, start - 500), start):
                hint = "an empty part takes in the next line; write () to mean nothing"
    return GrammarSyntaxError(message, text=source, start=start, end=end, hint=hint)


def _describe(token: Any) -> str:
    if token.type == "$END":
        return "the end of the text"
    if token.type == "_NL":
        return "the end of the line" if token else "the end of the text"
    return repr(token[:40] + ("…" if len(token) > 40 else ""))


def _expectation(accepts: set[str]) -> str:
    named = [words for terminal, words in _WORDS.items() if terminal in accepts]
    if "STRING" in accepts and "NAME" in accepts:
        named.remove(_WORDS["NAME"])
    return " or ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def _open_parenthesis(source: str, end: int) -> int | None:
    """Find the innermost parenthesis that is open before an offset."""
    opened: list[int] = []
    for match in _LEXEMES.finditer(source, 0, end):
        if match[0] == "(":
            opened.append(match.start())
        elif match[0] == ")" and opened:
            opened.pop()
    return opened[-1] if opened else None
