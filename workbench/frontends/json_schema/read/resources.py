"""Resources of a schema document: parts with a URI of their own, anchors, and other documents.

Other documents come from a registry that the caller passes (of the ``referencing`` library, or a plain
mapping from URI to schema); nothing is fetched.

Documents are looked through here, not by that library: places need JSON pointers, a schema may be malformed (the
error must say where), and references may lead under keywords that no draft knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urldefrag, urljoin

from workbench.automaton.budgets import in_force, too_complex
from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.read.location import Resource
from workbench.frontends.json_schema.read.plain import plain
from workbench.frontends.json_schema.text.json_values import MAX_LEVELS

__all__ = ["Resources", "draft_of", "escape"]

_DRAFTS = (("draft-03", 4), ("draft-04", 4), ("draft-06", 6), ("draft-07", 7), ("2019-09", 2019))
#: Keywords whose values are schemas, or arrays or objects of schemas.
_SCHEMAS = frozenset(
    [
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "oneOf",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
_MAPS = frozenset(
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]
)
_DATA_KEYWORDS = frozenset({"enum", "const", "default", "examples"})
#: Part of the URIs of meta-schemas.
_META = "://json-schema.org/"


def escape(token: str) -> str:
    """Write a name as one token of a JSON pointer."""
    if "~" in token or "/" in token:
        return token.replace("~", "~0").replace("/", "~1")
    return token


def draft_of(schema: Any, default: int = 2020) -> tuple[int, bool]:
    """The draft that ``$schema`` names, and whether it names one that is known."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(declared, str):
        for text, draft in _DRAFTS:
            if text in declared:
                return draft, True
        return (2020, True) if "2020-12" in declared else (default, False)
    return default, False


class _Index:
    """The resources and anchors of one document."""

    def __init__(self) -> None:
        self.resources: dict[str, Resource] = {}
        self.anchors: dict[tuple[str, str], tuple[str, Any]] = {}
        self.dynamic: dict[str, set[str]] = {}


class Resources:
    """Finds resources by URI and anchors by name; documents are looked through when first needed."""

    def __init__(self, schema: Any, draft: int, registry: Any) -> None:
        self._registry = registry
        uri = _id_of(schema, draft) or ""
        self.root = Resource(urldefrag(uri).url, schema, "#", draft)
        self._indices: dict[str, _Index] = {}
        self._roots = {"": self.root}

    @property
    def uses_dynamic_references(self) -> bool:
        """Whether a dynamic reference occurs in the root document, or in a meta-schema that it uses."""
        stack: list[Any] = [self.root.schema] if isinstance(self.root.schema, dict) else []
        seen = 0
        while stack:
            value = stack.pop()
            seen += 1
            if seen > in_force().values:
                return True
            if isinstance(value, dict):
                if "$dynamicRef" in value or "$recursiveRef" in value:
                    return True
                if _META in str(value.get("$ref", "")):  # the meta-schemas use them
                    return True
                stack.extend(item for item in value.values() if isinstance(item, dict | list))
            else:
                stack.extend(item for item in value if isinstance(item, dict | list))
        return False

    def entered(self, resource: Resource, schema: Any, pointer: str) -> Resource:
        """The resource that a schema is part of: its own when it names itself."""
        if not isinstance(schema, dict):
            return resource
        draft = draft_of(schema, resource.draft)[0] if "$schema" in schema else resource.draft
        uri = _id_of(schema, draft)
        if uri is None:
            return resource
        full = urldefrag(urljoin(resource.uri, uri)).url
        index = self._indices.get(resource.document)
        known = index.resources.get(full) if index is not None else None
        if known is not None and known.schema is schema:
            return known
        return Resource(full, schema, pointer, draft, resource.document)

    def find(self, uri: str) -> Resource | None:
        """The resource with a URI; ``None`` when nobody has it."""
        for index in (self._index(""), *self._indices.values()):
            if uri in index.resources:
                return index.resources[uri]
        document = self.retrieved(uri)
        if document is None:
            return None
        draft = draft_of(document, self.root.draft)[0]
        own = _id_of(document, draft)
        base = urldefrag(urljoin(uri, own)).url if own else uri
        self._roots[uri] = Resource(base, document, f"{uri}#", draft, uri)
        index = self._index(uri)
        index.resources.setdefault(uri, self._roots[uri])
        return index.resources[uri]

    def retrieved(self, uri: str) -> Any:
        """The document that the registry has for a URI, if it has one."""
        if self._registry is None:
            return _meta_schema(uri)
        try:
            if isinstance(self._registry, Mapping) and not hasattr(
                self._registry, "get_or_retrieve"
            ):
                return plain(self._registry.get(uri))
            return self._registry.get_or_retrieve(uri).value.contents
        except (LookupError, AttributeError):
            return None

    def anchor(self, resource: Resource, name: str) -> tuple[str, Any] | None:
        """The schema with an anchor in a resource, with its pointer."""
        return self._index(resource.document).anchors.get((resource.uri, name))

    def dynamic_anchors(self, resource: Resource) -> set[str]:
        """The dynamic anchors of a resource; "" stands for ``$recursiveAnchor``."""
        return self._index(resource.document).dynamic.get(resource.uri, set())

    def _index(self, document: str) -> _Index:
        index = self._indices.get(document)
        if index is None:
            index = self._indices[document] = _Index()
            self._look_through(self._roots[document], index)
        return index

    def _look_through(self, root: Resource, index: _Index) -> None:
        """Enter what is named in a document; under unknown keywords last, where only by custom it is."""
        index.resources[root.uri] = root
        stack: list[tuple[Any, str, Resource, int, bool]] = [
            (root.schema, root.pointer, root, 0, True)
        ]
        unknown: list[tuple[Any, str, Resource, int, bool]] = []
        seen = 0
        while stack or unknown:
            value, pointer, resource, level, is_schema = stack.pop() if stack else unknown.pop()
            seen += 1
            if level > 2 * MAX_LEVELS:
                raise GrammarTooComplex("schema nesting levels", MAX_LEVELS)
            if seen > in_force().values:
                raise too_complex("values")
            if isinstance(value, dict):
                if is_schema:
                    resource = self._enter(value, pointer, resource, index, level)
                for key, item in value.items():
                    if not isinstance(item, dict | list) or (is_schema and key in _DATA_KEYWORDS):
                        continue
                    known = not is_schema or key in _SCHEMAS or key in _MAPS
                    inside = not (is_schema and key in _MAPS)
                    place = f"{pointer}/{escape(str(key))}"
                    (stack if known else unknown).append((item, place, resource, level + 1, inside))
            elif isinstance(value, list):
                for number, item in enumerate(value):
                    if isinstance(item, dict | list):
                        stack.append((item, f"{pointer}/{number}", resource, level + 1, True))

    def _enter(
        self, value: dict[str, Any], pointer: str, resource: Resource, index: _Index, level: int
    ) -> Resource:
        """Enter a schema's URI and anchors; returns the resource that it is part of."""
        if level:
            inner = self.entered(resource, value, pointer)
            if inner is not resource:
                resource = index.resources.setdefault(inner.uri, inner)
        for name, dynamic in _anchors_of(value, resource.draft):
            if name:
                index.anchors.setdefault((resource.uri, name), (pointer, value))
            if dynamic and (name or value is resource.schema):
                index.dynamic.setdefault(resource.uri, set()).add(name)
        return resource


def _meta_schema(uri: str) -> Any:
    """A meta-schema of the drafts, where the package that holds them is installed."""
    if _META not in uri:
        return None
    try:
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

        return REGISTRY.contents(uri)
    except (ImportError, LookupError):
        return None


def _id_of(schema: Any, draft: int) -> str | None:
    """The URI that a schema gives itself, if it does."""
    if not isinstance(schema, dict):
        return None
    if draft <= 7 and "$ref" in schema:
        return None
    uri = schema.get("id" if draft == 4 else "$id")
    return uri if isinstance(uri, str) and uri and not uri.startswith("#") else None


def _anchors_of(schema: dict[str, Any], draft: int) -> Iterator[tuple[str, bool]]:
    if draft >= 2019:
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if isinstance(name, str) and name:
                yield name, keyword == "$dynamicAnchor"
        if schema.get("$recursiveAnchor") is True:
            yield "", True
    elif not (draft <= 7 and "$ref" in schema):
        uri = schema.get("id" if draft == 4 else "$id")
        if isinstance(uri, str) and uri.startswith("#") and len(uri) > 1:
            yield uri[1:], False
