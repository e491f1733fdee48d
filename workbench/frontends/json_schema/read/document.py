"""The schema document: finding every schema in use, following references, collecting outcomes.

Reading goes over the schemas that the root reaches, without recursion, so depth and cycles are no
danger. Errors in the schema come first, then constraints that cannot be enforced.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from workbench.automaton.budgets import in_force, too_complex
from workbench.errors import GrammarSyntaxError, GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema.read.location import Location, Resource
from workbench.frontends.json_schema.read.resources import Resources, draft_of, escape
from workbench.frontends.json_schema.scalars.numbers import ANY_NOTATION, Notation
from workbench.frontends.json_schema.text.json_values import BOOLEAN, MAX_LEVELS, NULL, canonical
from workbench.grammar.ir import Outcome

__all__ = ["DanglingReference", "Document", "escape"]

#: Most values of items that uniqueItems tells apart.
MAX_UNIQUE = 8

_Scope = tuple[tuple[str, Resource], ...]


class DanglingReference(Exception):
    """A reference that names nothing; the reader of keywords decides what becomes of it."""


class Document:
    """A schema with all schemas that it reaches, each read once.

    ``draft`` is 4, 6, 7, 2019 or 2020; ``declared`` tells whether ``$schema`` names it.
    """

    def __init__(  # noqa: PLR0913 - options, by keyword
        self,
        schema: Any,
        *,
        report: bool = False,
        draft: int | None = None,
        registry: Any = None,
        formats: bool = True,
        closed: bool = False,
        strict: bool = False,
        any_order: bool = False,
        notation: Notation = ANY_NOTATION,
        forbid_dangling: bool = False,
    ) -> None:
        self.schema = schema
        self.report = report
        self.assert_formats = formats
        self.closed, self.strict = closed, strict
        self.any_order, self.notation = any_order, notation
        self.forbids_dangling = forbid_dangling
        found, declared = draft_of(schema)
        self.draft, self.declared = (found, declared) if draft is None else (draft, True)
        self.outcomes: list[Outcome] = []
        #: whether what is read now is not part of the schema
        self.silent = False
        #: schemas with uniqueItems, and the numbers of the outcomes that say so
        self.unique: list[tuple[Location, int]] = []
        self._locations: dict[Hashable, Location] = {}
        self._pending: list[Location] = []
        self._values: dict[Hashable, Location] = {}
        self._resources = Resources(schema, self.draft, registry)
        #: whether the dialect has the keywords for validation
        self.validates = self._has_validation()
        self._dynamic = registry is not None or (
            self.draft >= 2019 and self._resources.uses_dynamic_references
        )
        resource = self._resources.root
        self.root = self._location("#", schema, resource, None, 0, self._entered((), resource))

    def read(self) -> None:
        """Read every schema in use.

        Raises ``GrammarSyntaxError``, ``GrammarTooComplex``, and ``UnsupportedConstraint`` unless those
        are to be reported.
        """
        self._work_off()
        self._refuse_endless()
        self._list_few_items()
        self._note_dialect()
        self.refuse()

    def refuse(self) -> None:
        """Raise ``UnsupportedConstraint`` for what is unsupported, unless that is to be reported."""
        if not self.report:
            for outcome in self.outcomes:
                if outcome.status == "unsupported":
                    raise UnsupportedConstraint(outcome.pointer, outcome.detail)

    def _work_off(self) -> None:
        from workbench.frontends.json_schema.read.keywords import read_keywords

        while self._pending:
            location = self._pending.pop()
            mark = len(self._pending)
            read_keywords(self, location)
            self._pending[mark:] = self._pending[mark:][::-1]

    def _list_few_items(self) -> None:
        """Enumerate the values of items that must be distinct, where there are few."""
        left = []
        for location, number in self.unique:
            item = location.cells.rest if location.cells is not None else None
            values = None
            if item is not None and location.cells is not None and not location.cells.prefix:
                values = _few_values(item)
            if values is not None:
                location.domain = tuple(self.of_value(value) for value in values)
            else:
                left.append((location, number))
        self.unique = left

    def _has_validation(self) -> bool:
        """Whether the dialect that ``$schema`` names asks for validation, as far as the registry knows it."""
        declared = self.schema.get("$schema") if isinstance(self.schema, dict) else None
        if not isinstance(declared, str) or "json-schema.org/" in declared:
            return True
        dialect = self._resources.retrieved(urldefrag(declared).url)
        vocabulary = dialect.get("$vocabulary") if isinstance(dialect, dict) else None
        if not isinstance(vocabulary, dict):
            return True
        return any(str(uri).endswith("/vocab/validation") for uri in vocabulary)

    def _note_dialect(self) -> None:
        """Say so when ``$schema`` names a dialect whose keywords may mean something else."""
        declared = self.schema.get("$schema") if isinstance(self.schema, dict) else None
        if isinstance(declared, str) and (
            "json-schema.org/" not in declared or "draft-03" in declared
        ):
            reason = f"the dialect {declared!r:.80} is not known; keywords are read as draft {self.draft}"
            self.outcomes.insert(0, Outcome("#/$schema", "$schema", "annotation", reason))

    @property
    def locations(self) -> list[Location]:
        """The schemas in use, by index."""
        return list(self._locations.values())

    def child(self, parent: Location, keyword: str, schema: Any, *rest: str) -> Location:
        """The schema under a keyword of another one."""
        pointer = "/".join((parent.pointer, keyword, *rest))
        return self._location(
            pointer, schema, parent.resource, parent, parent.level + 1, parent.scope
        )

    def of_value(self, value: Any) -> Location:
        """A schema that only one array or object satisfies, said without ``const``."""
        key = canonical(value)
        known = self._values.get(key)
        if known is None:
            schema: dict[str, Any]
            if isinstance(value, dict):
                each = {name: {"const": item} for name, item in value.items()}
                schema = {"type": "object", "properties": each, "required": list(value)}
                schema["additionalProperties"] = False
            elif isinstance(value, list | tuple):
                schema = {"type": "array", "minItems": len(value), "maxItems": len(value)}
                if value:
                    schema["prefixItems"] = [{"const": item} for item in value]
            else:
                schema = {"const": value}
            pointer = f"value {len(self._values)}"
            resource = Resource("", schema, pointer, 2020)
            known = self._values[key] = self._location(pointer, schema, resource, None, 0, ())
            self.silent = True
            try:
                self._work_off()
            finally:
                self.silent = False
        return known

    def beside(self, schema: Any) -> Location:
        """A schema of draft 2020-12 that is not part of the document, but whose ``#/…`` lead into it.

        Raises ``GrammarSyntaxError`` for a reference that leads nowhere.
        """
        root = self._resources.root
        resource = Resource(root.uri, root.schema, root.pointer, 2020)
        pointer = f"question {len(self._locations)}"
        location = self._location(pointer, schema, resource, None, 0, self.root.scope)
        self.silent = True
        try:
            self._work_off()
        finally:
            self.silent = False
        return location

    def _location(
        self,
        pointer: str,
        schema: Any,
        resource: Resource,
        parent: Location | None,
        level: int,
        scope: _Scope,
    ) -> Location:
        key: Hashable = (pointer, scope) if scope else pointer
        known = self._locations.get(key)
        if known is not None:
            return known
        if level > MAX_LEVELS:
            raise GrammarTooComplex("schema nesting levels", MAX_LEVELS)
        if len(self._locations) >= in_force().schemas:
            raise too_complex("schemas")
        if not isinstance(schema, dict | bool):
            raise GrammarSyntaxError(
                f"a schema must be an object or a boolean, not {_kind(schema)}", pointer=pointer
            )
        if (
            parent is not None
            and isinstance(schema, dict)
            and ("$id" in schema or "id" in schema)
            and (inner := self._resources.entered(resource, schema, pointer)) is not resource
        ):
            resource, scope = inner, self._entered(scope, inner)
            key = (pointer, scope) if scope else pointer
            if (known := self._locations.get(key)) is not None:
                return known
        location = Location(len(self._locations), pointer, schema, resource, parent, level, scope)
        self._locations[key] = location
        self._pending.append(location)
        return location

    def _entered(self, scope: _Scope, resource: Resource) -> _Scope:
        """The dynamic anchors in force after entering a resource: the outermost of a name stays."""
        if not self._dynamic:
            return scope
        names = {name for name, _ in scope}
        fresh = [
            (name, resource)
            for name in sorted(self._resources.dynamic_anchors(resource))
            if name not in names
        ]
        return (*scope, *fresh)

    def resolve(self, location: Location, keyword: str, reference: str) -> Location | None:
        """The schema that a reference names; ``None`` when it lies in a document that is not known.

        Raises ``DanglingReference`` when it names nothing.
        """
        if reference.startswith("#"):
            uri, fragment = None, reference[1:]
        else:
            try:
                base, fragment = urldefrag(reference)
                uri = urldefrag(urljoin(location.resource.uri, base)).url if base else None
            except ValueError as error:
                raise DanglingReference(f"not a URI reference: {error}") from None
        resource: Resource | None = location.resource
        if uri is not None and uri != location.resource.uri:
            resource = self._resources.find(uri)
            if resource is None:
                return None
        assert resource is not None
        if "%" in fragment:
            fragment = unquote(fragment)
        resource = self._dynamic_target(location, keyword, resource, fragment)
        if fragment and not fragment.startswith("/"):
            found = self._resources.anchor(resource, fragment)
            if found is None:
                raise DanglingReference(f"no schema is named {reference!r}")
            pointer, schema = found
        else:
            pointer, schema, resource = self._walk(resource, fragment, reference)
        scope = self._entered(location.scope, resource)
        return self._location(pointer, schema, resource, None, pointer.count("/") // 2, scope)

    def _dynamic_target(
        self, location: Location, keyword: str, resource: Resource, fragment: str
    ) -> Resource:
        """The resource that a dynamic reference ends in: the outermost with the same dynamic anchor."""
        if keyword == "$ref" or fragment.startswith("/"):
            return resource
        if fragment not in self._resources.dynamic_anchors(resource):
            return resource
        bound = dict(self._entered(location.scope, resource))
        return bound.get(fragment, resource)

    def _walk(self, resource: Resource, fragment: str, reference: str) -> tuple[str, Any, Resource]:
        schema, pointer = resource.schema, resource.pointer
        tokens = fragment.split("/")[1:]
        for token in tokens:
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, Mapping) and name in schema:
                schema = schema[name]
            elif isinstance(schema, list) and name.isascii() and name.isdigit():
                number = int(name) if len(name) < 10 else len(schema)
                if number >= len(schema):
                    raise DanglingReference(f"{reference!r} leads nowhere")
                schema = schema[number]
            else:
                raise DanglingReference(f"{reference!r} leads nowhere")
            pointer = f"{pointer}/{escape(name)}"
            resource = self._resources.entered(resource, schema, pointer)
        if not isinstance(schema, dict | bool):
            raise DanglingReference(f"{reference!r} does not lead to a schema")
        return pointer, schema, resource

    def _refuse_endless(self) -> None:
        """Refuse a schema that applies itself to the same instance: it has no meaning."""
        done: set[int] = set()
        for first in self._locations.values():
            if first.index in done:
                continue
            applied = first.applied()
            if not applied:
                continue
            on_path: set[int] = {first.index}
            stack = [(first, iter(applied))]
            while stack:
                location, rest = stack[-1]
                for target in rest:
                    if target.index in on_path:
                        raise GrammarSyntaxError(
                            f"the schema applies itself ({target.pointer}) to the same value without "
                            "end",
                            pointer=location.pointer,
                        )
                    if target.index not in done:
                        on_path.add(target.index)
                        stack.append((target, iter(target.applied())))
                        break
                else:
                    stack.pop()
                    on_path.discard(location.index)
                    done.add(location.index)


def _few_values(item: Location) -> list[Any] | None:
    """The values that an item can have, when there are just a few."""
    while not item.constrains and not item.applies_others:
        targets = [target for target in item.same_instance if target is not None]
        if len(targets) != 1:
            break
        item = targets[0]
    if item.values is not None:
        found = item.values
    elif item.types & ~(BOOLEAN | NULL) == 0:
        found = [True, False] if item.types & BOOLEAN else []
        found += [None] if item.types & NULL else []
    else:
        return None
    return found if len(found) <= MAX_UNIQUE else None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {
        str: "a string",
        list: "an array",
        tuple: "an array",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), f"a {type(value).__name__}")
