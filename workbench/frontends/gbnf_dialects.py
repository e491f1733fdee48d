"""Texts that are passed for GBNF and are something else: which notation they are in.

Asked when a text could not be read, so that the message names the true mistake. One notation has to be
looked for before: in the EBNF of W3C specifications ``#x20`` is a character, in GBNF a comment.
"""

from __future__ import annotations

import re

from workbench.errors import GrammarSyntaxError
from workbench.inputs import first_words, looks_like_file

__all__ = ["foreign", "refuse_hexadecimal"]

#: Literals and classes, which may hold anything; comments; and ``#xHH`` where a part has to follow. What is
#: never closed goes to the end, so that no text is looked through twice.
_LEXEMES = re.compile(
    r'"(?:\\.|[^"\\]|\\\Z)*+(?:"|\Z)'
    r"|'[^'\r\n]*+'?"
    r"|(?P<ranges>\[\^?(?:#x[0-9A-Fa-f]{1,8}-?){2,400}\])"
    r"|\[(?:\\.|[^\]\\]|\\\Z)*+(?:\]|\Z)"
    r"|(?:::=|[|(-])[ \t]*+(?P<code>#x[0-9A-Fa-f]{1,8})\b"
    r"|#[^\r\n]*+",
    re.DOTALL,
)
_LARK = re.compile(
    r"^[ \t]*(?:%(?:import|ignore|declare|override|extend)\b|[?!]{1,2}\w+[ \t]*:(?![:=])"
    r"|\w+(?:\.-?\d+)?[ \t]*:(?![:=])[^\r\n]*/[^/\r\n]+/)",
    re.MULTILINE,
)
_COLON = re.compile(r"^[ \t]*\w+[ \t]*:(?![:=])", re.MULTILINE)
_ANTLR = re.compile(r"^[ \t]*(?:lexer|parser)?[ \t]*grammar[ \t]+\w+[ \t]*;", re.MULTILINE)
_EQUALS = re.compile(r"^[ \t]*[A-Za-z][\w \t-]*=(?!=)[^,;=]*[,;]", re.MULTILINE)
_ANGLES = re.compile(r"^[ \t]*<[A-Za-z][\w -]*>[ \t]*::=", re.MULTILINE)
_W3C = re.compile(r"/\*|['\])\w][ \t]{1,9}-[ \t]{1,9}['\[(\w]")
_RULE = "a rule of GBNF is written  name ::= …"


def refuse_hexadecimal(text: str) -> None:
    """Raise ``GrammarSyntaxError`` where W3C EBNF means a character and GBNF would read a comment."""
    if "#x" not in text:
        return
    for match in _LEXEMES.finditer(text):
        kind = match.lastgroup
        if kind is not None:
            raise GrammarSyntaxError(
                "this is the EBNF of W3C specifications, where #xHH is a character; GBNF reads a comment there",
                text=text,
                start=match.start(kind),
                end=match.end(kind),
                hint="write \\xHH, \\uHHHH or \\UHHHHHHHH between double quotes or in a class",
            )


def foreign(text: str) -> str | None:
    """What a text that is no GBNF is instead, as a sentence with what to do; None where nothing tells."""
    stripped = text.strip().removeprefix("\ufeff").lstrip()
    if looks_like_file(stripped):
        return f"{first_words(stripped)} is the name of a file, not a grammar: pass what it holds"
    if stripped.startswith("{") or (stripped.startswith("[") and "::=" not in text):
        return "this is JSON, not GBNF: workbench.json_schema makes a grammar of a schema"
    if _ANTLR.search(text):
        return f"this is a grammar for ANTLR, not GBNF: {_RULE}"
    if _ANGLES.search(text):
        return "this is BNF with rule names in angle brackets: in GBNF a name stands alone, <name> is a token"
    if "::=" in text:
        if _W3C.search(_LEXEMES.sub(_left_out, text)):
            return (
                "this is the EBNF of W3C specifications, not GBNF: write literals in double quotes, comments "
                "after #, characters by number as \\xHH, and what one side of '-' leaves as  a & ~b"
            )
        return None
    if _LARK.search(text) or len(_COLON.findall(text)) > 1:
        return f"this is a grammar for Lark, not GBNF: {_RULE}, a terminal as a class [a-z]+ in place of /[a-z]+/"
    if _EQUALS.search(text):
        return (
            f"this is EBNF or ABNF, not GBNF: {_RULE}, and parts follow each other without commas"
        )
    return None


def _left_out(lexeme: re.Match[str]) -> str:
    """In the place of a literal or class one that is empty, of a comment nothing."""
    return "" if lexeme[0].startswith("#") else "''"
