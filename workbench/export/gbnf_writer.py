"""Grammar -> GBNF text that :func:`workbench.gbnf` reads back as the same language.

Graphs become rules, one a state; parts that are long or used often become rules of their own. Rules that are
written lazily are written now, within a budget. Bytes, and ``<[…]>`` with several ids, are extensions that
llama.cpp does not read: the result says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from workbench.errors import GrammarTooComplex, WorkbenchError
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Literal,
    Marker,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
)
from workbench.grammar.json_strings import spelled_out
from workbench.grammar.scopes import record_parts, uses_record, written_out
from workbench.inputs import need_grammar

__all__ = ["GbnfText", "to_gbnf"]

#: Rules, and characters, of a text.
MAX_RULES = 50_000
MAX_CHARACTERS = 8_000_000
#: Parts with a longer text become rules.
_LONG = 80
#: What binds how tightly: alternatives, sequences, what can be repeated.
_ALTERNATIVES, _SEQUENCE, _ATOM = range(3)
_NONE = "[]"
#: A rule that is used, or what may hold the letters of one.
_USES = re.compile(
    r'b?"(?:\\.|[^"\\])*"|b?\[(?:\\.|[^\]\\])*\]|<[^<>]*>|\{[0-9,]*\}|([A-Za-z0-9_-]+)', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class GbnfText:
    """A GBNF text, what it says less exactly than the grammar, and what only this workbench reads.

    ``looser`` names constraints that are left out, so that the text accepts more; empty means the same language.
    """

    text: str
    looser: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()


def to_gbnf(grammar: Grammar) -> GbnfText:
    """Write a grammar as GBNF; its start rule becomes ``root``.

    A marker is written as its text, by which llama.cpp reads special tokens, too.
    Raises ``WorkbenchError`` for what GBNF has no words for (any token at all, names of tokens without angle
    brackets) and ``GrammarTooComplex`` for more than 50,000 rules or 8 million characters.

    >>> import workbench as wb
    >>> print(to_gbnf(wb.regex("(yes|no)!{2,3}")).text)
    root ::= ("yes" | "no") "!"{2,3}
    <BLANKLINE>
    """
    need_grammar(grammar, "to_gbnf")
    return _Writer(grammar).write()


class _Writer:
    """Writes one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.lines: dict[str, str] = {}
        self.size = 0
        self.looser: dict[str, None] = {}
        self.extensions: dict[str, None] = {}
        self.names: dict[str, str] = {grammar.start: "root"}
        #: names that a text could not define without giving them another meaning
        self.taken = {"root", "b", "until"}
        self.waiting = [grammar.start]
        #: by identity, with the expression, which so keeps its identity
        self.made: dict[int, tuple[Expr, str, int]] = {}

    def write(self) -> GbnfText:
        for name in self.waiting:
            try:
                text, _ = self.expr(self.grammar.rules[name], _ALTERNATIVES)
            except RecursionError:
                raise GrammarTooComplex("nested parts of a rule", 1000, name) from None
            self.add(self.names[name], text)
        text = "".join(f"{name} ::= {self.lines[name]}\n" for name in self.reached())
        return GbnfText(text, tuple(self.looser), tuple(self.extensions))

    def reached(self) -> list[str]:
        """The rules that ``root`` leads to, it first, the others in the order in which they were written.

        A part gets a rule before it is known whether what it stands in is written with it.
        """
        seen = {"root"}
        todo = ["root"]
        while todo:
            uses = {match[1] for match in _USES.finditer(self.lines[todo.pop()]) if match[1]}
            todo += uses - seen
            seen |= uses
        return ["root", *(name for name in self.lines if name in seen and name != "root")]

    def add(self, name: str, text: str) -> None:
        self.lines[name] = text
        self.size += len(name) + len(text)
        if len(self.lines) > MAX_RULES:
            raise GrammarTooComplex("rules of a GBNF text", MAX_RULES)
        if self.size > MAX_CHARACTERS:
            raise GrammarTooComplex("characters of a GBNF text", MAX_CHARACTERS)

    def fresh(self, wanted: str) -> str:
        """A name that GBNF takes and that is not taken."""
        name = base = re.sub(r"[^A-Za-z0-9_-]+", "-", wanted).strip("-") or "rule"
        number = 2
        while name in self.taken:
            name = f"{base}-{number}"
            number += 1
        self.taken.add(name)
        return name

    def rule(self, name: str) -> str:
        """What a rule is called in the text; it will be written."""
        if name not in self.names:
            self.names[name] = self.fresh(name)
            self.waiting.append(name)
        return self.names[name]

    # Expressions

    def atom(self, expr: Expr) -> str:
        text, binds = self.expr(expr, _ATOM)
        return text if binds == _ATOM else f"({text})"

    def expr(self, expr: Expr, wanted: int) -> tuple[str, int]:
        """The text of an expression and how tightly it binds; long texts become rules unless all fits."""
        known = self.made.get(id(expr))
        if known is None:
            text, binds = self.written(expr)
            if len(text) > _LONG and wanted != _ALTERNATIVES:
                name = self.fresh("part")
                self.add(name, text)
                text, binds = name, _ATOM
            known = self.made[id(expr)] = expr, text, binds
        return known[1], known[2]

    def written(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case Literal(data=data):
                return self.literal(data), _ATOM
            case ByteSet(mask=mask):
                return self.byte_set(mask), _ATOM
            case CharSet(ranges=((low, high),)) if low == high and not 0xD800 <= low <= 0xDFFF:
                return f'"{_quoted(chr(low))}"', _ATOM
            case CharSet(ranges=ranges):
                return f"[{''.join(_range(low, high) for low, high in ranges)}]", _ATOM
            case Seq(items=items):
                return self.sequence(items)
            case Alt(items=items):
                return self.alternatives(items)
            case Repeat():
                return self.repeat(expr)
            case Ref(name=name):
                return self.rule(name), _ATOM
            case ByteGraph():
                return self.byte_graph(expr)
            case Graph():
                return self.graph(expr), _ATOM
            case Token():
                return self.token(expr)
            case Marker(text=text):
                return self.literal(text.encode()), _ATOM
            case OtherText():
                return self.other(expr)
            case Scope():
                return self.scope(expr)
        raise WorkbenchError(f"GBNF has no words for {type(expr).__name__}")

    def literal(self, data: bytes) -> str:
        try:
            text = data.decode("utf-8")
            plain = text.isprintable() and '"' not in text and "\\" not in text
            return f'"{text}"' if plain else f'"{"".join(map(_quoted, text))}"'
        except UnicodeDecodeError:
            self.extensions.setdefault("bytes")
            return f'b"{"".join(f"{chr(92)}x{byte:02x}" for byte in data)}"'

    def byte_set(self, mask: int) -> str:
        ranges: list[tuple[int, int]] = []
        for byte in range(256):
            if mask >> byte & 1:
                if ranges and ranges[-1][1] == byte - 1:
                    ranges[-1] = ranges[-1][0], byte
                else:
                    ranges.append((byte, byte))
        text = f"[{''.join(_range(low, high) for low, high in ranges)}]"
        if mask >> 128:
            self.extensions.setdefault("bytes")
            return f"b{text}"
        return text  # a byte below 0x80 is the character

    def sequence(self, items: tuple[Expr, ...]) -> tuple[str, int]:
        if not items:
            return '""', _ATOM
        if len(items) == 1:
            return self.expr(items[0], _SEQUENCE)
        parts: list[str] = []
        after_text = False
        for item in items:
            text, binds = self.expr(item, _SEQUENCE)
            # neighbouring characters and literals are one literal
            is_text = isinstance(item, Literal | CharSet) and text.startswith('"')
            if is_text and after_text:
                parts[-1] = parts[-1][:-1] + text[1:]
            else:
                parts.append(f"({text})" if binds == _ALTERNATIVES else text)
            after_text = is_text
        return " ".join(parts), _SEQUENCE if len(parts) > 1 else _ATOM

    def alternatives(self, items: tuple[Expr, ...]) -> tuple[str, int]:
        if not items:
            return _NONE, _ATOM
        if len(items) == 1:
            return self.expr(items[0], _SEQUENCE)
        return " | ".join(self.expr(item, _SEQUENCE)[0] for item in items), _ALTERNATIVES

    def repeat(self, expr: Repeat) -> tuple[str, int]:
        least, most = expr.min, expr.max
        if most is not None and most < least:
            return _NONE, _ATOM
        if most == 0:
            return '""', _ATOM
        # a repetition of a repetition is written apart: "a"*{2} would be another thing to some readers
        item = self.atom(expr.item)
        if item[-1] in "*+?}":
            item = f"({item})"
        signs = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}
        sign = signs.get((least, most))
        if sign is None:
            if max(least, most or 0) >= 10**18:
                raise WorkbenchError(f"GBNF has no counts like {max(least, most or 0)}")
            count = f"{least}" if most == least else f"{least},{'' if most is None else most}"
            sign = f"{{{count}}}"
        return f"{item}{sign}", _SEQUENCE

    def byte_graph(self, graph: ByteGraph) -> tuple[str, int]:
        """Its texts where they can be listed, else one rule a state."""
        texts = graph.texts(MAX_CHARACTERS)
        if texts is not None:
            return self.alternatives(tuple(map(Literal, texts)))
        if graph.n_states > MAX_RULES:
            raise GrammarTooComplex("rules of a GBNF text", MAX_RULES)
        return self.graph(graph), _ATOM

    def graph(self, graph: Graph) -> str:
        """One rule a state: what may still come from it."""
        leaving: dict[int, list[tuple[Expr, int]]] = {}
        for source, label, target in graph.edges:
            leaving.setdefault(source, []).append((label, target))
        names = {graph.start: self.fresh("graph")}
        todo = [graph.start]
        for state in todo:
            for _, target in leaving.get(state, ()):
                if target not in names:
                    names[target] = self.fresh(f"{names[graph.start]}-{target}")
                    todo.append(target)
        for state in todo:
            sides = ['""'] if state in graph.finals else []
            for label, target in leaving.get(state, ()):
                text, binds = self.expr(label, _SEQUENCE)
                text = f"({text})" if binds == _ALTERNATIVES else text
                last = target in graph.finals and not leaving.get(target)
                sides.append(text if last else f"{text} {names[target]}")
            self.add(names[state], " | ".join(sides) or _NONE)
        return names[graph.start]

    def token(self, token: Token) -> tuple[str, int]:
        parts = []
        if token.ids:
            parts.append(f"<[{_ids(token.ids)}]>")
            if len(token.ids) > 1:
                self.extensions.setdefault("several ids in one <[…]>")
        for name in token.names:
            if not re.fullmatch(r"<[^<>\r\n\[][^<>\r\n]*>", name):
                raise WorkbenchError(f"GBNF has no words for the token {name!r}")
            parts.append(name)
        if token.negated:
            if len(parts) != 1:
                raise WorkbenchError("GBNF has no words for any token, or any but several by name")
            return f"!{parts[0]}", _ATOM
        return " | ".join(parts), _ATOM if len(parts) == 1 else _ALTERNATIVES

    def other(self, expr: OtherText) -> tuple[str, int]:
        if expr.fresh:
            self.looser.setdefault("names that are not listed may come twice in an object")
        return self.expr(self.keep(spelled_out(replace(expr, fresh=False))), _SEQUENCE)

    def keep(self, expr: Expr) -> Expr:
        """Hold on to an expression made here, so that no other one gets its identity."""
        self.made.setdefault(-len(self.made) - 1, (expr, "", _ATOM))
        return expr

    def scope(self, scope: Scope) -> tuple[str, int]:
        if scope.gather is not None:
            self.looser.setdefault("items that have to differ may be equal")
        plain = self.plain(scope)
        if uses_record(plain.item):
            return self.expr(self.keep(written_out(plain)), _SEQUENCE)
        return self.expr(plain.item, _SEQUENCE)

    def plain(self, scope: Scope) -> Scope:
        """A scope whose texts may come again; the same one when it keeps none."""
        if not _has_fresh_texts(scope.item):
            return scope
        item = self.keep(_unfresh(scope.item, self))
        return replace(scope, item=item)


def _has_fresh_texts(expr: Expr) -> bool:
    """Whether texts that may come once in the scope at hand are in an expression."""
    return any(isinstance(part, OtherText) for part in record_parts(expr))


def _unfresh(expr: Expr, writer: _Writer) -> Expr:
    if isinstance(expr, OtherText) and expr.fresh:
        writer.looser.setdefault("names that are not listed may come twice in an object")
        return replace(expr, fresh=False)
    if isinstance(expr, Scope) or not _has_fresh_texts(expr):
        return expr
    if isinstance(expr, Seq | Alt):
        return replace(expr, items=tuple(_unfresh(item, writer) for item in expr.items))
    if isinstance(expr, Repeat):
        return replace(expr, item=_unfresh(expr.item, writer))
    if isinstance(expr, Graph):
        edges = tuple((a, _unfresh(label, writer), b) for a, label, b in expr.edges)
        return replace(expr, edges=edges)
    return expr


def _quoted(character: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if character in escapes:
        return escapes[character]
    return character if character.isprintable() else _hexadecimal(ord(character))


def _hexadecimal(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _member(code: int) -> str:
    plain = chr(code).isascii() and (chr(code).isalnum() or chr(code) in " _.,:;!?+*/=()'")
    return chr(code) if plain else _hexadecimal(code)


def _range(low: int, high: int) -> str:
    if low == high:
        return _member(low)
    return f"{_member(low)}{'-' if high - low > 1 else ''}{_member(high)}"


def _ids(ids: tuple[int, ...]) -> str:
    runs: list[list[int]] = []
    for one in ids:
        if runs and runs[-1][1] == one - 1:
            runs[-1][1] = one
        else:
            runs.append([one, one])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
