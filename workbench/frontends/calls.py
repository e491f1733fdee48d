"""Functions -> Grammar: calls of them, as Python writes them or as JSON.

>>> def weather(city: str, days: int = 1) -> None: ...
>>> calls([weather]).kind
'composed'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal as TypingLiteral

from workbench.frontends.compose import alt, capture, optional, repeat, seq
from workbench.frontends.json_schema.text.json_spelling import spell
from workbench.frontends.json_schema.text.whitespace import Layout, layout
from workbench.frontends.python_types import grammar_of, needing_pydantic
from workbench.frontends.signatures import Signature, read_signature
from workbench.grammar.ir import NEVER, Expr, Grammar, JsonStyle
from workbench.inputs import need_at_least, wrong_type

__all__ = ["calls"]


def calls(
    functions: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    syntax: TypingLiteral["python", "json"] = "python",
    *,
    parallel: bool = False,
    separator: str | None = None,
    most: int | None = None,
    on_unsupported: str = "raise",
    **options: Any,
) -> Grammar:
    """Make a grammar of calls of some functions, with arguments that fit their signatures.

    ``functions`` are what ``inspect.signature`` reads (functions, methods, classes, partials, coroutines), or a
    mapping that gives each the name under which it is called. ``syntax="python"`` writes
    ``weather(city="Oslo", days=3)``: arguments by position and by name as the signature permits, those by name in any
    order, each once; values are literals that ``ast.literal_eval`` reads, and models, dataclasses and ``TypedDict``
    are dictionaries. ``syntax="json"`` writes ``{"name": "weather", "arguments": {"city": "Oslo"}}``, with all
    arguments by name: ``*rest`` is an array under its name, ``**others`` are members of other names. Types are those
    of :func:`workbench.from_type`; a parameter without one takes any literal.

    There is one call; with ``parallel`` a list of one to ``most`` of them, ``[f(1), g(2)]``, or, with a ``separator``,
    one after the other with it between them. Captures are ``call``, and in each ``name`` and ``arguments`` (the text
    between the parentheses, or the object).

    For JSON the remaining arguments are those of :func:`workbench.from_type`, but for ``indent``; for Python there is
    ``max_digits``. Functions that validate are named in ``grammar.outcomes``; ``on_unsupported="report"`` leaves out
    whatever else cannot be kept.

    Raises ``WrongType`` for what is no function, ``ValueError`` for none, for two of one name, for a name that
    Python cannot write and for a bad option, ``WorkbenchError`` for a signature that cannot be read and without
    pydantic, ``UnsupportedConstraint`` for a type without such a form, ``UnsatisfiableGrammar`` for an argument that
    is needed and has no value.

    >>> def weather(city: str, days: int = 1) -> None: ...
    >>> from workbench.engine.matching import match
    >>> [(one.name, one.text) for one in match(calls([weather]), 'weather("Oslo", days=3)').captures]
    [('call', 'weather("Oslo", days=3)'), ('name', 'weather'), ('arguments', '"Oslo", days=3')]
    """
    if syntax not in ("python", "json"):
        raise ValueError(f"syntax must be 'python' or 'json', not {syntax!r}")
    if on_unsupported not in ("raise", "report"):
        raise ValueError(f"on_unsupported must be 'raise' or 'report', not {on_unsupported!r}")
    if separator is not None and not isinstance(separator, str):
        raise wrong_type("calls", "a separator as text", separator)
    if not parallel and (separator is not None or most is not None):
        raise ValueError("separator and most are for several calls: pass parallel=True")
    read = _read(functions)
    comma: Grammar = seq(",", optional(" "))
    space: Grammar | str = ""
    if syntax == "json":
        style = layout(
            options.get("whitespace", "bounded"),
            options.get("max_whitespace", 20),
            options.get("separators"),
        )
        made = _json(read, style, on_unsupported, options)
        comma, space = _piece(style.comma), _piece(style.space)
    else:
        made = _python(read, on_unsupported, options)
    call = capture("call", alt(*made))
    if not parallel:
        return call
    most = None if most is None else need_at_least(1, most, "calls")
    if separator is not None:
        return repeat(call, 1, most, separator=separator)
    return seq("[", space, repeat(seq(call, space), 1, most, separator=comma), "]")


def _read(functions: Any) -> list[Signature]:
    """The signatures of functions, each with a name of its own."""
    if isinstance(functions, Mapping):
        for name in functions:
            if not isinstance(name, str):
                raise wrong_type("calls", "names of functions as texts", name)
        read = [read_signature(one, name=name) for name, one in functions.items()]
    elif callable(functions) and not isinstance(functions, Iterable):
        raise wrong_type("calls", "a list of functions", functions, "put it in a list")
    elif isinstance(functions, str | bytes) or not isinstance(functions, Iterable):
        raise wrong_type("calls", "a list of functions, or functions by name", functions)
    else:
        read = [read_signature(one) for one in functions]
    if not read:
        raise ValueError("calls takes at least one function")
    names = [one.name for one in read]
    twice = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if twice is not None:
        raise ValueError(
            f"two functions are called {twice!r}: pass a mapping that gives each a name of its own"
        )
    return read


def _python(read: list[Signature], on_unsupported: str, options: dict[str, Any]) -> list[Grammar]:
    with needing_pydantic("calls"):
        from workbench.frontends.python_arguments import check_dotted, python_arguments
    unknown = options.keys() - {"max_digits"}
    if unknown:
        raise ValueError(f"{min(unknown)} is an option for JSON: pass syntax='json'")
    made = []
    for one in read:
        check_dotted(one.name)
        arguments = python_arguments(one, on_unsupported == "report", **options)
        made.append(seq(capture("name", one.name), "(", capture("arguments", arguments), ")"))
    return made


def _json(
    read: list[Signature], style: Layout, on_unsupported: str, options: dict[str, Any]
) -> list[Grammar]:
    if options.get("indent") is not None:
        raise ValueError("calls are not indented: pass separators or whitespace instead")
    options = {"additional_properties": False, "numbers": "plain"} | options
    made = []
    for one in read:
        name = _name(one.name, options)
        arguments = capture("arguments", grammar_of(one.narrowed, on_unsupported, options))
        space, colon = _piece(style.space), _piece(style.colon)
        before = seq("{", space, '"name"', colon, '"', capture("name", name), '"', space)
        made.append(seq(before, _piece(style.comma), '"arguments"', colon, arguments, space, "}"))
    return made


def _name(name: str, options: dict[str, Any]) -> Grammar:
    """A name as it stands between the quotes of JSON."""
    spelling: JsonStyle = "any"
    if options.get("ascii_only"):
        spelling = "ascii"
    elif not options.get("unicode_escapes", True):
        spelling = "plain"
    made = spell(name, spelling)
    if made == NEVER:
        raise ValueError(f"JSON cannot write the name {name!r} with these options")
    return _piece(made)


def _piece(expr: Expr) -> Grammar:
    return Grammar({"root": expr}, "root")
