r"""What JSON a Python type is parsed from, as pydantic says it, narrowed to what its validators take.

A schema says less than the validator behind it: ``{"format": "uri"}`` for a URL that has to begin with
``http://``, nothing at all for a date in the past. Each such place is either narrowed to texts that are
surely taken, or marked with a note that goes to the outcomes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Literal

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation
from pydantic.json_schema import GenerateJsonSchema

from workbench.errors import UnsupportedConstraint, WorkbenchError
from workbench.frontends.json_schema.scalars.formats import DATE, HOUR, IPV4

__all__ = ["PYTHON", "PYTHON_KEYS", "Narrowed", "schema_of", "schema_of_members"]

#: Keys that mark a part of the schema; taken out again before it is read.
_NOTE = "x-workbench-note"
_SET = "x-workbench-set"
#: What a part is in Python that JSON has no word for ("set", "tuple", "bytes", "member"), and what the keys of a
#: ``dict`` are that are no texts. They stay for who writes literals of Python.
PYTHON = "x-workbench-python"
PYTHON_KEYS = "x-workbench-keys"

_Schema = dict[str, Any]

#: A schema; what it does not say, by pointer; and its sets that may hold repetitions.
Narrowed = tuple[_Schema, list[tuple[str, str]], dict[str, _Schema]]

#: No leap seconds, no more than microseconds.
_CLOCK = rf"{HOUR}:[0-5][0-9]:[0-5][0-9](?:\.[0-9]{{1,6}})?"
_ZONE = f"(?:Z|[+-]{HOUR}:[0-5][0-9])"
_TIMES = "T(?:[0-9]{1,6}H(?:[0-9]{1,6}M)?(?:[0-9]{1,6}S)?|[0-9]{1,6}M(?:[0-9]{1,6}S)?|[0-9]{1,6}S)"
_DAYS = "(?:[0-9]{1,4}Y(?:[0-9]{1,4}M(?:[0-9]{1,4}D)?)?|[0-9]{1,4}M(?:[0-9]{1,4}D)?|[0-9]{1,6}D)"
_WORD = "[a-z0-9]{1,12}(?:-[a-z0-9]{1,12}){0,2}"
#: A host whose last label is no number, which would make it an address.
_HOST = rf"(?:{_WORD}\.){{0,3}}[a-z][a-z0-9]{{1,12}}"
_URL_CHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})"
_URL_TAIL = (
    rf"://{_HOST}(?::[1-9][0-9]{{0,3}})?(?:/{_URL_CHAR}{{0,40}}){{0,6}}"
    rf"(?:\?{_URL_CHAR}{{0,120}})?(?:#{_URL_CHAR}{{0,40}})?"
)
_TLD = "(?:[a-z]{2}|app|biz|com|dev|edu|gov|int|mil|net|org|pro)"
_EMAIL = (
    r"[A-Za-z0-9_]{1,16}(?:[.+-][A-Za-z0-9_]{1,16}){0,2}"
    rf"@(?:{_WORD}\.){{1,3}}{_TLD}"
)

#: Texts of a format that are surely taken, in place of those that the format has.
_FORMATS = {
    "date": DATE,
    "time": f"{_CLOCK}{_ZONE}",
    "date-time": f"{DATE}T{_CLOCK}{_ZONE}",
    "duration": f"P(?:{_DAYS}(?:{_TIMES})?|{_TIMES}|[0-9]{{1,6}}W)",
    "email": _EMAIL,
    "name-email": _EMAIL,
    "ipv4": IPV4,
    "ipv4network": IPV4,
    "ipv4interface": IPV4,
    "ipvanyaddress": IPV4,
    "ipvanynetwork": IPV4,
    "ipvanyinterface": IPV4,
    "base64url": "(?:[A-Za-z0-9_-]{4})*",
    "uri": f"[a-z][a-z0-9+.-]{{0,11}}{_URL_TAIL}",
    "multi-host-uri": f"[a-z][a-z0-9+.-]{{0,11}}{_URL_TAIL}",
}
for _version in range(1, 9):
    _FORMATS[f"uuid{_version}"] = (
        f"[0-9a-f]{{8}}-[0-9a-f]{{4}}-{_version}[0-9a-f]{{3}}-[89ab][0-9a-f]{{3}}-[0-9a-f]{{12}}"
    )
#: The same, written as another format.
_RENAMED = {"ipv6network": "ipv6", "ipv6interface": "ipv6"}
#: Formats that say nothing about the text.
_SILENT = {"binary", "password", "path"}
#: Formats that no grammar decides.
_OPEN = {
    "base64": "that the text is Base64",
    "color": "that the text is a colour",
    "directory-path": "that the directory exists",
    "file-path": "that the file exists",
    "json-string": "that the text is JSON",
    "regex": "that the text is a regular expression of Python's",
}

#: Modules and names of validators of pydantic's whose schema says all that they ask.
_CARRIED = re.compile(
    r"pydantic\._internal\._validators\.(?!fraction|import_string|forbid_inf_nan|pattern|compile)"
    r"|pydantic\._internal\._generate_schema\."
    r"|pydantic\.types\.Secret|pydantic\.networks\."
    r"|(?:ipaddress|decimal|pathlib|collections|uuid|datetime)\."
)

#: What classes of ECMA-262 and of pydantic's engines for patterns do not agree on lies outside of this.
_PLAIN_TEXT = r"^[\t\n -~]*$"
_DIFFERENT = re.compile(r"\\[DWSsbB]|\(\?<?!")
_LARGEST = 1.7976931348623157e308


def schema_of(type_: Any) -> Narrowed:
    """The JSON Schema of a type; what it does not say, by pointer; and its sets that may hold repetitions.

    Raises ``UnsupportedConstraint`` for a type without a JSON form, ``WorkbenchError`` for what pydantic
    makes no schema of.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(type_)
        schema = adapter.json_schema(mode="validation", schema_generator=_Generator)
    except PydanticInvalidForJsonSchema as error:
        raise UnsupportedConstraint("#", f"no JSON stands for it: {_first_line(error)}") from error
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise _no_schema(_name_of(type_), error) from error
    return _settled(schema)


def schema_of_members(types: Mapping[str, Any], who: str, *, python: bool = False) -> Narrowed:
    """As :func:`schema_of` for an object whose members have these types; they share their definitions.

    ``python`` keeps the marks of what Python writes otherwise than JSON; ``who`` has the members, for errors.
    Raises as :func:`schema_of` does, with the member at fault.
    """
    adapters: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = []
    for name, type_ in types.items():
        try:
            adapters.append((name, "validation", TypeAdapter(type_)))
            # by itself first, so that what has no form is told by its member
            adapters[-1][2].json_schema(mode="validation", schema_generator=_Generator)
        except PydanticInvalidForJsonSchema as error:
            reason = f"no JSON stands for {name!r} of {who}: {_first_line(error)}"
            raise UnsupportedConstraint(f"#/properties/{_escaped(name)}", reason) from error
        except (PydanticUserError, PydanticUndefinedAnnotation) as error:
            raise _no_schema(f"{name!r} of {who}", error) from error
    parts, shared = TypeAdapter.json_schemas(adapters, schema_generator=_Generator)
    members = {name: parts[name, "validation"] for name in types}
    schema: _Schema = {"type": "object", "properties": members}
    if "$defs" in shared:
        schema["$defs"] = shared["$defs"]
    return _settled(schema, python)


def _no_schema(what: str, error: Exception) -> WorkbenchError:
    return WorkbenchError(f"pydantic makes no schema of {what}: {_first_line(error)}")


def _settled(schema: _Schema, python: bool = False) -> Narrowed:
    """Take the marks out of a schema that pydantic made."""
    notes: list[tuple[str, str]] = []
    sets: dict[str, _Schema] = {}
    for pointer, part in _parts(schema):
        _settle_format(part)
        if note := part.pop(_NOTE, None):
            notes += [(pointer, text) for text in str(note).split("\n")]
        if part.pop(_SET, None) is not None:
            sets[pointer] = part
        if not python:
            part.pop(PYTHON, None)
            part.pop(PYTHON_KEYS, None)
    return schema, notes, sets


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _name_of(value: Any) -> str:
    return str(getattr(value, "__qualname__", None) or repr(value))


#: Keywords that have one schema.
_ONE_BELOW = {
    *("items", "additionalProperties", "propertyNames", "not", "contentSchema"),
    PYTHON_KEYS,
}


def _parts(schema: _Schema) -> Iterator[tuple[str, _Schema]]:
    """The schemas inside a schema that pydantic made, with their pointers."""
    stack: list[tuple[str, Any]] = [("#", schema)]
    while stack:
        pointer, part = stack.pop()
        if not isinstance(part, dict):
            continue
        yield pointer, part
        for key, value in part.items():
            if key in ("properties", "patternProperties", "$defs") and isinstance(value, dict):
                stack += [(f"{pointer}/{key}/{_escaped(name)}", one) for name, one in value.items()]
            elif key in _ONE_BELOW:
                stack.append((f"{pointer}/{key}", value))
            elif key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
                stack += [(f"{pointer}/{key}/{number}", one) for number, one in enumerate(value)]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _settle_format(part: _Schema) -> None:
    """Put texts that are surely taken in the place of a format."""
    name = part.get("format")
    if not isinstance(name, str) or part.get("type") != "string":
        return
    if name in _FORMATS:
        del part["format"]
        part["pattern"] = f"^(?:{_FORMATS[name]})$"
        # Their texts are short enough for any limit that goes with these formats.
        part.pop("minLength", None)
        part.pop("maxLength", None)
    elif name in _RENAMED:
        part["format"] = _RENAMED[name]
    elif name in _SILENT:
        del part["format"]
    elif name in _OPEN:
        del part["format"]
        _note(part, _OPEN[name])


def _note(schema: _Schema, text: str) -> _Schema:
    """Mark what a part of the schema does not say; a note more for each."""
    known = schema.get(_NOTE)
    if known is None:
        schema[_NOTE] = text
    elif text not in str(known).split("\n"):
        schema[_NOTE] = f"{known}\n{text}"
    return schema


class _Generator(GenerateJsonSchema):
    """pydantic's generator with the differences between schema and validator settled."""

    # What pydantic could not say is an error or a note, never a warning alone.
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default", "skipped-discriminator"}  # noqa: RUF012

    def emit_warning(self, kind: Any, detail: str) -> None:
        if kind == "skipped-choice":
            raise PydanticInvalidForJsonSchema(detail)

    # Functions that validate

    def _with_function(self, kind: str, schema: Any, made: _Schema) -> _Schema:
        function = schema["function"]["function"]
        function = getattr(function, "func", function)
        place = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
        if _CARRIED.match(place):
            return made
        return _note(made, f"{kind} {_name_of(function)}")

    def function_before_schema(self, schema: Any) -> _Schema:
        made = super().function_before_schema(schema)
        return self._with_function("BeforeValidator", schema, made)

    def function_after_schema(self, schema: Any) -> _Schema:
        return self._with_function("AfterValidator", schema, super().function_after_schema(schema))

    def function_wrap_schema(self, schema: Any) -> _Schema:
        return self._with_function("WrapValidator", schema, super().function_wrap_schema(schema))

    def function_plain_schema(self, schema: Any) -> _Schema:
        return self._with_function("PlainValidator", schema, super().function_plain_schema(schema))

    def model_schema(self, schema: Any) -> _Schema:
        made = super().model_schema(schema)
        hook = schema.get("post_init")
        function = getattr(schema["cls"], hook, None) if hook else None
        if function is not None and not str(function.__module__).startswith("pydantic."):
            _note(made, _name_of(function))
        if schema.get("custom_init"):
            _note(made, f"{schema['cls'].__qualname__}.__init__")
        return made

    def dataclass_schema(self, schema: Any) -> _Schema:
        made = super().dataclass_schema(schema)
        if schema.get("post_init"):
            _note(made, f"{schema['cls'].__qualname__}.__post_init__")
        return made

    def chain_schema(self, schema: Any) -> _Schema:
        made = super().chain_schema(schema)
        for step in schema["steps"][1:]:
            _note(made, f"a later step ({step['type']})")
        return made

    def json_schema(self, schema: Any) -> _Schema:
        self.generate_inner(schema.get("schema") or {"type": "any"})
        return _note({"type": "string"}, "that the text is JSON of another type")

    def tagged_union_schema(self, schema: Any) -> _Schema:
        made = super().tagged_union_schema(schema)
        tag = schema["discriminator"]
        return made if isinstance(tag, str) else _note(made, f"the choice by {_name_of(tag)}")

    # Numbers

    def float_schema(self, schema: Any) -> _Schema:
        made = super().float_schema(schema)
        # A decimal just below the bound is rounded to it when it is parsed.
        if (high := made.pop("exclusiveMaximum", None)) is not None:
            made["maximum"] = math.nextafter(float(high), -math.inf)
        if (low := made.pop("exclusiveMinimum", None)) is not None:
            made["minimum"] = math.nextafter(float(low), math.inf)
        if schema.get("allow_inf_nan") is False or self._config.allow_inf_nan is False:
            made["maximum"] = min(made.get("maximum", _LARGEST), _LARGEST)
            made["minimum"] = max(made.get("minimum", -_LARGEST), -_LARGEST)
        return made

    def decimal_schema(self, schema: Any) -> _Schema:
        digits, places = schema.get("max_digits"), schema.get("decimal_places")
        bounded = any(
            schema.get(key) is not None for key in ("le", "ge", "lt", "gt", "multiple_of")
        )
        if not bounded:
            text = {"type": "string", "pattern": _decimal_pattern(digits, places)}
            if digits is not None or places is not None:
                return text
            # A larger number is read as a float first.
            return {"anyOf": [{"type": "number", "minimum": -1e15, "maximum": 1e15}, text]}
        limits = {
            key: schema[key] for key in ("le", "ge", "lt", "gt", "multiple_of") if key in schema
        }
        made = self.float_schema(
            {"type": "float", "allow_inf_nan": False}
            | {key: float(limit) for key, limit in limits.items() if limit is not None}
        )
        if places is not None:
            step = 10.0 ** -min(places, 12)
            if "multipleOf" in made:
                made["allOf"] = [{"multipleOf": step}]
            else:
                made["multipleOf"] = step
        if digits is not None:
            largest = 10.0 ** max(0, min(digits - (places or 0), 15)) - (10.0 ** -(places or 0))
            made["maximum"] = min(made["maximum"], largest)
            made["minimum"] = max(made["minimum"], -largest)
            made.setdefault("multipleOf", 1)
        return made

    # Texts

    def str_schema(self, schema: Any) -> _Schema:
        made = super().str_schema(schema)
        more: list[_Schema] = []
        pattern = schema.get("pattern")
        if pattern is not None:
            text, flags = (
                (pattern, 0) if isinstance(pattern, str) else (pattern.pattern, pattern.flags)
            )
            made["pattern"] = _as_ecma(text)
            if flags & re.IGNORECASE:
                made["pattern"] = "(?i)" + made["pattern"]
            if flags & (re.MULTILINE | re.DOTALL | re.VERBOSE):
                _note(made, "the flags of a pattern")
            if _DIFFERENT.search(text):
                more.append({"pattern": _PLAIN_TEXT})
        strips = schema.get("strip_whitespace", self._config.str_strip_whitespace)
        if strips and (pattern is not None or made.get("minLength")):
            # Lengths and patterns are looked at after stripping.
            more.append({"pattern": r"^[!-~](?:[ -~]*[!-~])?$"})
        if schema.get("ascii_only"):
            more.append({"pattern": r"^[\x00-\x7f]*$"})
        if more:
            made["allOf"] = [*made.get("allOf", []), *more]
        return made

    def bytes_schema(self, schema: Any) -> _Schema:
        made = self._bytes(schema)
        least, most = schema.get("min_length"), schema.get("max_length")
        made[PYTHON] = {"bytes": [least or 0, most]}
        return made

    def _bytes(self, schema: Any) -> _Schema:
        made = super().bytes_schema(schema)
        coded = self._config.val_json_bytes
        if coded == "utf8":
            made.pop("format", None)
            if "minLength" in made or "maxLength" in made:
                made["pattern"] = r"^[\x00-\x7f]*$"
        elif "minLength" in made or "maxLength" in made:
            units = {"base64": (4, 3), "hex": (2, 1)}[coded]
            least, most = made.pop("minLength", 0), made.pop("maxLength", None)
            low = -(-least // units[1])
            high = "" if most is None else most // units[1]
            char = "[A-Za-z0-9_-]" if coded == "base64" else "[0-9a-f]"
            made["pattern"] = f"^(?:{char}{{{units[0]}}}){{{low},{high}}}$"
            made.pop("format", None)
        elif coded == "hex":
            made["pattern"] = "^(?:[0-9a-f]{2})*$"
            made.pop("format", None)
        return made

    def complex_schema(self, schema: Any) -> _Schema:
        number = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
        return {"type": "string", "pattern": f"^-?{number}[+-]{number}j$"}

    def url_schema(self, schema: Any) -> _Schema:
        return self._url(schema, super().url_schema(schema))

    def multi_host_url_schema(self, schema: Any) -> _Schema:
        return self._url(schema, super().multi_host_url_schema(schema))

    def _url(self, schema: Any, made: _Schema) -> _Schema:
        schemes = schema.get("allowed_schemes")
        if schemes:
            made.pop("format", None)
            made["pattern"] = f"^(?:{'|'.join(map(re.escape, schemes))}){_URL_TAIL}$"
        return made

    # Times

    def date_schema(self, schema: Any) -> _Schema:
        return self._timed(schema, super().date_schema(schema))

    def time_schema(self, schema: Any) -> _Schema:
        return self._timed(schema, super().time_schema(schema), _CLOCK)

    def datetime_schema(self, schema: Any) -> _Schema:
        return self._timed(schema, super().datetime_schema(schema), f"{DATE}T{_CLOCK}")

    def timedelta_schema(self, schema: Any) -> _Schema:
        return self._timed(schema, super().timedelta_schema(schema))

    def _timed(self, schema: Any, made: _Schema, naive: str | None = None) -> _Schema:
        zone = schema.get("tz_constraint")
        if naive is not None and zone == "naive":
            made.pop("format", None)
            made["pattern"] = f"^{naive}$"
        elif naive is not None and isinstance(zone, int):
            _note(made, f"the time zone at {zone} s")
        for key in ("ge", "gt", "le", "lt", "now_op"):
            if schema.get(key) is not None:
                _note(made, f"{key} {schema[key]}")
        return made

    # Collections

    def _common_set_schema(self, schema: Any) -> _Schema:
        made = super()._common_set_schema(schema)
        if not schema.get("min_length"):
            made[_SET] = ""
        made[PYTHON] = "set"
        return made

    def tuple_schema(self, schema: Any) -> _Schema:
        return super().tuple_schema(schema) | {PYTHON: "tuple"}

    def literal_schema(self, schema: Any) -> _Schema:
        made = super().literal_schema(schema)
        if any(isinstance(value, Enum) for value in schema["expected"]):
            # read from JSON by their values, in Python as themselves alone
            made[PYTHON] = "member"
        return made

    def _common_dict_schema(self, schema: Any) -> _Schema:
        made: _Schema = {"type": "object"}
        values = self.generate_inner(schema["values_schema"]) if "values_schema" in schema else {}
        made["additionalProperties"] = values or True
        if "keys_schema" in schema:
            names, note = self._names(schema["keys_schema"])
            if names:
                made["propertyNames"] = names
            if note:
                _note(made, note)
            if self._are_no_texts(schema["keys_schema"]):
                made[PYTHON_KEYS] = self.generate_inner(schema["keys_schema"])
        self.update_with_validations(made, schema, self.ValidationsMapping.object)
        return made

    def dict_schema(self, schema: Any) -> _Schema:
        return self._common_dict_schema(schema)

    def _are_no_texts(self, keys: Any) -> bool:
        if keys["type"] in ("literal", "enum"):
            values = keys["expected"] if keys["type"] == "literal" else keys["members"]
            return not all(isinstance(getattr(one, "value", one), str) for one in values)
        return keys["type"] in ("int", "float", "bool")

    def _names(self, keys: Any) -> tuple[_Schema, str | None]:
        """What the keys of an object have to be for some type of keys, and what that leaves out."""
        kind = keys["type"]
        if kind == "any":
            return {}, None
        if kind == "bool":
            return {"enum": ["true", "false"]}, None
        if kind in ("int", "float"):
            limits = [k for k in ("le", "ge", "lt", "gt", "multiple_of") if keys.get(k) is not None]
            sign = "" if keys.get("ge") == 0 and limits == ["ge"] else "-?"
            fraction = r"(?:\.[0-9]{1,17})?" if kind == "float" else ""
            names = {"pattern": f"^(?:0|{sign}[1-9][0-9]{{0,17}}){fraction}$"}
            return names, f"limits of keys ({', '.join(limits)})" if limits and sign else None
        if kind in ("literal", "enum"):
            found = keys["expected"] if kind == "literal" else [m.value for m in keys["members"]]
            values = [one.value if isinstance(one, Enum) else one for one in found]
            if kind == "enum" and keys.get("sub_type") == "int":
                values = [str(value) for value in values]
            return {"enum": [value for value in values if isinstance(value, str)]}, None
        made = self.generate_inner(keys)
        target = self.resolve_ref_schema(made) if "$ref" in made else made
        if target.get("type") == "string":
            return made, None
        return {}, f"that keys are a {kind}"


def _decimal_pattern(digits: int | None, places: int | None) -> str:
    """Decimals with no more digits than are allowed, in all and after the point."""
    after = 17 if places is None else places
    before = 17 if digits is None else max(0, digits - after) if places is not None else digits
    if digits is not None and places is None:
        after = 0
    whole = "0" if before == 0 else f"(?:0|[1-9][0-9]{{0,{before - 1}}})"
    fraction = rf"(?:\.[0-9]{{1,{after}}})?" if after else ""
    return f"^-?{whole}{fraction}$"


def _as_ecma(pattern: str) -> str:
    """Spellings that Python and Rust have and ECMA-262 has not."""
    pattern = re.sub(r"\(\?P<", "(?<", pattern)
    return re.sub(r"((?:^|[^\\])(?:\\\\)*)\\([AzZ])", _anchor, pattern)


def _anchor(found: re.Match[str]) -> str:
    return found[1] + ("^" if found[2] == "A" else "$")
