"""The schema document: finding every schema in use, following references, collecting outcomes.

Reading goes over the schemas that the root reaches, without recursion, so depth and cycles are no
danger. Errors in the schema come first, then constraints that cannot be enforced.

Next file to read: ``keywords.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from workbench.errors import GrammarSyntaxError, GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema.exclusive import Exclusion
from workbench.frontends.json_schema.location import Location, Resource
from workbench.frontends.json_schema.values import MAX_LEVELS
from workbench.grammar.ir import Outcome

__all__ = ["MAX_SCHEMAS", "Document", "escape"]

#: Most schemas that one document may hold.
MAX_SCHEMAS = 300_000

_DRAFTS = (("draft-03", 3), ("draft-04", 4), ("draft-06", 6), ("draft-07", 7), ("2019-09", 2019))
_DATA_KEYWORDS = frozenset({"enum", "const", "default", "examples"})


def escape(token: str) -> str:
    """Write a name as one token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


class Document:
    """A schema with all schemas that it reaches, each read once.

    ``draft`` is 4, 6, 7, 2019 or 2020; ``declared`` tells whether ``$schema`` names it.
    """

    def __init__(self, schema: Any, *, report: bool) -> None:
        self.schema = schema
        self.report = report
        self.draft, self.declared = _draft(schema)
        self.outcomes: list[Outcome] = []
        #: ``oneOf`` groups: the number of the outcome, the schema that has it, its schemas
        self.exclusive: list[tuple[int, Location, tuple[Location, ...]]] = []
        self._locations: dict[str, Location] = {}
        self._pending: list[Location] = []
        self._index: tuple[dict[str, Resource], dict[tuple[str, str], tuple[str, Any]]] | None = (
            None
        )
        uri = self.id_of(schema) or ""
        resource = Resource(urldefrag(uri).url, schema, "#")
        self.root = self._location("#", schema, resource, None, 0)

    def read(self) -> None:
        """Read every schema in use.

        Raises ``GrammarSyntaxError``, ``GrammarTooComplex``, and ``UnsupportedConstraint`` unless those
        are to be reported.
        """
        from workbench.frontends.json_schema.keywords import read_keywords

        while self._pending:
            location = self._pending.pop()
            mark = len(self._pending)
            read_keywords(self, location)
            self._pending[mark:] = self._pending[mark:][::-1]
        self._refuse_endless()
        self._prove_exclusive()
        self._note_dialect()
        if not self.report:
            for outcome in self.outcomes:
                if outcome.status == "unsupported":
                    raise UnsupportedConstraint(outcome.pointer, outcome.detail)

    def _prove_exclusive(self) -> None:
        """Take back that ``oneOf`` is enforced where two of its schemas might hold at once."""
        exclusion = Exclusion()
        for number, location, group in self.exclusive:
            if not exclusion.proves(location, group):
                outcome = self.outcomes[number]
                reason = "two of the schemas may hold for the same value; only anyOf is enforced"
                self.outcomes[number] = Outcome(
                    outcome.pointer, outcome.keyword, "unsupported", reason
                )

    def _note_dialect(self) -> None:
        """Say so when ``$schema`` names a dialect whose keywords may mean something else."""
        declared = self.schema.get("$schema") if isinstance(self.schema, dict) else None
        if isinstance(declared, str) and (
            "json-schema.org/" not in declared or "draft-03" in declared
        ):
            reason = (
                f"the dialect {declared!r:.80} is not known; keywords are read as draft 2020-12"
            )
            self.outcomes.insert(0, Outcome("#/$schema", "$schema", "unsupported", reason))

    @property
    def locations(self) -> list[Location]:
        """The schemas in use, by index."""
        return list(self._locations.values())

    def id_of(self, schema: Any) -> str | None:
        """The URI that a schema gives itself, if it does."""
        if not isinstance(schema, dict):
            return None
        if self.draft <= 7 and "$ref" in schema:
            return None
        uri = schema.get("id" if self.draft == 4 else "$id")
        return uri if isinstance(uri, str) and not uri.startswith("#") else None

    def child(self, parent: Location, keyword: str, schema: Any, *rest: str) -> Location:
        """The schema under a keyword of another one."""
        pointer = "/".join((parent.pointer, keyword, *rest))
        return self._location(pointer, schema, parent.resource, parent, parent.level + 1)

    def _location(
        self, pointer: str, schema: Any, resource: Resource, parent: Location | None, level: int
    ) -> Location:
        known = self._locations.get(pointer)
        if known is not None:
            return known
        if level > MAX_LEVELS:
            raise GrammarTooComplex("schema nesting levels", MAX_LEVELS)
        if len(self._locations) >= MAX_SCHEMAS:
            raise GrammarTooComplex("schemas in one document", MAX_SCHEMAS)
        if not isinstance(schema, dict | bool):
            raise GrammarSyntaxError(
                f"a schema must be an object or a boolean, not {_kind(schema)}", pointer=pointer
            )
        if parent is not None and (uri := self.id_of(schema)) is not None:
            resource = Resource(urldefrag(urljoin(resource.uri, uri)).url, schema, pointer)
        location = Location(len(self._locations), pointer, schema, resource, parent, level)
        self._locations[pointer] = location
        self._pending.append(location)
        return location

    def resolve(self, location: Location, reference: str) -> Location | None:
        """The schema that a ``$ref`` names; ``None`` when it lies in another document.

        Raises ``GrammarSyntaxError`` when it names nothing.
        """
        resource = location.resource
        where = f"{location.pointer}/$ref"
        try:
            base, fragment = urldefrag(reference)
            target_uri = urldefrag(urljoin(resource.uri, base)).url if base else resource.uri
        except ValueError as error:
            raise GrammarSyntaxError(f"not a URI reference: {error}", pointer=where) from None
        if base and target_uri != resource.uri:
            resources, _ = self._scan()
            if target_uri not in resources:
                return None
            resource = resources[target_uri]
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            _, anchors = self._scan()
            if (resource.uri, fragment) not in anchors:
                raise GrammarSyntaxError(f"no schema is named {reference!r}", pointer=where)
            pointer, schema = anchors[resource.uri, fragment]
            target = self._location(pointer, schema, resource, None, pointer.count("/") // 2)
        else:
            target = self._walk(resource, fragment, reference, where)
        target.is_target = True
        return target

    def _walk(self, resource: Resource, fragment: str, reference: str, where: str) -> Location:
        schema, pointer = resource.schema, resource.pointer
        tokens = fragment.split("/")[1:]
        for position, token in enumerate(tokens):
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, dict) and name in schema:
                schema = schema[name]
            elif isinstance(schema, list) and name.isascii() and name.isdigit():
                number = int(name) if len(name) < 10 else len(schema)
                if number >= len(schema):
                    raise GrammarSyntaxError(f"{reference!r} leads nowhere", pointer=where)
                schema = schema[number]
            else:
                raise GrammarSyntaxError(f"{reference!r} leads nowhere", pointer=where)
            pointer = f"{pointer}/{escape(name)}"
            if position + 1 < len(tokens) and (uri := self.id_of(schema)) is not None:
                resource = Resource(urldefrag(urljoin(resource.uri, uri)).url, schema, pointer)
        if not isinstance(schema, dict | bool):
            raise GrammarSyntaxError(f"{reference!r} does not lead to a schema", pointer=where)
        if tokens and (uri := self.id_of(schema)) is not None:
            resource = Resource(urldefrag(urljoin(resource.uri, uri)).url, schema, pointer)
        return self._location(pointer, schema, resource, None, pointer.count("/") // 2)

    def _scan(self) -> tuple[dict[str, Resource], dict[tuple[str, str], tuple[str, Any]]]:
        """Find the resources and anchors of the whole document, once."""
        if self._index is not None:
            return self._index
        root = self.root.resource
        resources: dict[str, Resource] = {root.uri: root}
        anchors: dict[tuple[str, str], tuple[str, Any]] = {}
        stack: list[tuple[Any, str, Resource, int]] = [(self.schema, "#", root, 0)]
        seen = 0
        while stack:
            value, pointer, resource, level = stack.pop()
            seen += 1
            if level > 2 * MAX_LEVELS:
                raise GrammarTooComplex("schema nesting levels", MAX_LEVELS)
            if seen > 10 * MAX_SCHEMAS:
                raise GrammarTooComplex("schemas in one document", MAX_SCHEMAS)
            if isinstance(value, dict):
                if level and (uri := self.id_of(value)) is not None:
                    uri = urldefrag(urljoin(resource.uri, uri)).url
                    resource = resources.setdefault(uri, Resource(uri, value, pointer))
                for name in self._anchors_of(value):
                    anchors.setdefault((resource.uri, name), (pointer, value))
                for key, item in value.items():
                    if isinstance(item, dict | list) and key not in _DATA_KEYWORDS:
                        stack.append((item, f"{pointer}/{escape(str(key))}", resource, level + 1))
            else:
                for number, item in enumerate(value):
                    if isinstance(item, dict | list):
                        stack.append((item, f"{pointer}/{number}", resource, level + 1))
        self._index = (resources, anchors)
        return self._index

    def _anchors_of(self, schema: dict[str, Any]) -> Iterator[str]:
        if self.draft >= 2019:
            names = [schema.get("$anchor"), schema.get("$dynamicAnchor")]
            yield from (name for name in names if isinstance(name, str))
        else:
            uri = schema.get("id" if self.draft == 4 else "$id")
            if isinstance(uri, str) and uri.startswith("#") and len(uri) > 1:
                yield uri[1:]

    def _refuse_endless(self) -> None:
        """Refuse a schema that applies itself to the same instance: it has no meaning."""
        done: set[int] = set()
        for first in self._locations.values():
            if first.index in done or not (first.same_instance or first.choices):
                continue
            on_path: set[int] = {first.index}
            stack = [(first, iter(_same_instance(first)))]
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
                        stack.append((target, iter(_same_instance(target))))
                        break
                else:
                    stack.pop()
                    on_path.discard(location.index)
                    done.add(location.index)


def _same_instance(location: Location) -> list[Location]:
    found = [part for part in location.same_instance if part is not None]
    for group in location.choices:
        found.extend(group)
    return found


def _draft(schema: Any) -> tuple[int, bool]:
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(declared, str):
        for text, draft in _DRAFTS:
            if text in declared:
                return max(draft, 4), True
        return 2020, "2020-12" in declared
    return 2020, False


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
