"""What each keyword means: checking its form, reading it into a location, saying what became of it.

Keywords that are not in the tables are annotations, as the specification says.
"""

from __future__ import annotations

from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.read.document import Document
from workbench.frontends.json_schema.read.keyword_hints import wrapped
from workbench.frontends.json_schema.read.keyword_tables import SINCE, VALIDATION
from workbench.frontends.json_schema.read.keywords_container import CONTAINERS, close_object
from workbench.frontends.json_schema.read.keywords_general import GENERAL, read_reference, read_type
from workbench.frontends.json_schema.read.keywords_scalar import SCALARS
from workbench.frontends.json_schema.read.location import Location
from workbench.frontends.json_schema.read.reader import Reader
from workbench.grammar.ir import Outcome

__all__ = ["read_keywords"]

#: How drafts with a year are named.
_DRAFTS = {2019: "2019-09", 2020: "2020-12"}
#: What reads each keyword.
_HANDLERS = {**GENERAL, **SCALARS, **CONTAINERS}


def read_keywords(document: Document, location: Location) -> None:
    """Read one schema into its location and queue the schemas below it.

    Raises ``GrammarSyntaxError`` when a keyword does not have the form that the specification wants.
    """
    schema = location.schema
    if isinstance(schema, bool):
        location.never = location.constrains = not schema
        return
    reader = Reader(document, location)
    draft = location.resource.draft
    if "$ref" in schema and draft <= 7:
        read_reference(reader, "$ref", schema["$ref"])
        said = _HANDLERS.keys() - {"type"}  # beside a reference it mostly says the same again
        for keyword in schema:
            if keyword != "$ref":
                detail = "draft 7 and older ignore what is beside $ref"
                warning = detail if keyword in said else ""
                reader.note(keyword, "annotation", detail, warning=warning)
        return
    if location is document.root:
        _look_for_wrapping(reader)
    if "type" in schema and document.validates:
        read_type(reader, "type", schema["type"])
    placed = False
    for keyword, value in schema.items():
        if not isinstance(keyword, str):
            raise GrammarSyntaxError(
                f"the key {keyword!r} is not a string", pointer=location.pointer
            )
        if not placed and keyword in ("properties", "required"):
            location.same_instance += (None,)
            placed = True
        handler = _HANDLERS.get(keyword)
        if handler is None:
            reader.unknown(keyword)
        elif document.declared and SINCE.get(keyword, 0) > draft:
            since, named = (_DRAFTS.get(one, one) for one in (SINCE[keyword], draft))
            warning = (
                f"{keyword!r} came with draft {since} and says nothing in one of draft {named}"
            )
            detail = f"not a keyword of draft {draft}"
            reader.note(keyword, "annotation", detail, warning=warning)
        elif not document.validates and keyword in VALIDATION:
            reader.note(keyword, "annotation", "the dialect leaves validation out")
        else:
            handler(reader, keyword, value)
    if document.closed and not document.silent:
        close_object(reader)
    if not placed:
        location.same_instance += (None,)
    if location.same_instance == (None,):
        location.same_instance = ()


def _look_for_wrapping(reader: Reader) -> None:
    """Warn when what was passed only wraps the schema: read as it is, it has no keywords, and any JSON fits."""
    path = wrapped(reader.schema)
    if path is None:
        if reader.schema.get("type") == "json_object":
            raise reader.wrong(
                "type", "'json_object' is not a type", hint='any object is {"type": "object"}'
            )
        return
    inside = "".join(f"[{word!r}]" for word in path)
    pointer = "/".join(("#", *path))
    message = f"the schema is inside, at {pointer}, and what is around it says nothing"
    hint = f"pass schema{inside}"
    if reader.document.strict or "type" in reader.schema:
        raise GrammarSyntaxError(message, pointer="#", hint=hint)
    reader.document.outcomes.append(
        Outcome(pointer, path[-1], "annotation", warning=f"{message}: any JSON fits; {hint}")
    )
