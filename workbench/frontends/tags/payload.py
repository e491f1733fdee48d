"""Objects that requests hold, read field by field: each error names the field and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from workbench.errors import GrammarSyntaxError, UnsatisfiableGrammar, UnsupportedConstraint
from workbench.frontends.json_schema.read.plain import plain
from workbench.frontends.json_schema.text.json_values import read_json
from workbench.frontends.nearest import nearest
from workbench.inputs import read_text, wrong_type

__all__ = ["Payload", "json_of", "placed"]


def json_of(value: Any, who: str) -> Any:
    """What a request holds: a JSON value, or its text. Raises ``WrongType`` for what is neither."""
    if isinstance(value, bytes | bytearray):
        value = read_text(bytes(value), "the request")
    if isinstance(value, str):
        return read_json(value.removeprefix("\ufeff"), "the request")
    if not isinstance(value, Mapping):
        raise wrong_type(who, "an object of a request (a mapping) or its JSON text", value)
    return plain(value)


@contextmanager
def placed(pointer: str) -> Iterator[None]:
    """Tell in what front ends raise where their text or schema stands in the request."""
    try:
        yield
    except GrammarSyntaxError as error:
        if error.pointer is None:
            raise GrammarSyntaxError(f"{pointer}: {error}") from None
        within = pointer + error.pointer.removeprefix("#")
        raise GrammarSyntaxError(error.message, pointer=within, hint=error.hint) from None
    except UnsupportedConstraint as error:
        raise UnsupportedConstraint(
            pointer + error.pointer.removeprefix("#"), error.reason
        ) from None
    except UnsatisfiableGrammar as error:
        raise UnsatisfiableGrammar(pointer + error.part.removeprefix("#"), error.reason) from None


class Payload:
    """An object of a request and the JSON pointer of its place. ``what`` names it in errors."""

    def __init__(self, value: Any, pointer: str = "#", what: str = "the request") -> None:
        self.pointer = pointer
        self.what = what
        if not isinstance(value, dict):
            raise self.error(f"{what} must be an object, not {_named(value)}")
        self.fields: dict[str, Any] = value

    def __contains__(self, name: str) -> bool:
        """Whether a field is there and not null."""
        return self.fields.get(name) is not None

    def at(self, *steps: str | int) -> str:
        """The pointer of a place inside."""
        told = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
        return "/".join([self.pointer, *told])

    def error(self, message: str, *steps: str | int, hint: str = "") -> GrammarSyntaxError:
        """An error at a place inside."""
        return GrammarSyntaxError(message, pointer=self.at(*steps), hint=hint or None)

    def need_only(self, required: Sequence[str], optional: Sequence[str] = ()) -> None:
        """Raise for a field that is not known and for one that is missing."""
        known = (*required, *optional)
        for name in self.fields:
            if name not in known:
                raise self.error(
                    f"{self.what} has no field {name!r}", name, hint=nearest(name, known)
                )
        for name in required:
            if name not in self.fields:
                raise self.error(f"{self.what} needs the field {name!r}")

    def text(self, name: str, *, empty: bool = True) -> str:
        """A text."""
        return self.is_text(self.fields[name], name, empty=empty)

    def is_text(self, value: Any, *steps: str | int, empty: bool = True) -> str:
        """A value that has to be a text."""
        if not isinstance(value, str):
            raise self.error(f"{steps[0]} must be a text, not {_named(value)}", *steps)
        if not (value or empty):
            raise self.error(f"{steps[0]} must not be empty", *steps)
        if any(0xD800 <= ord(char) <= 0xDFFF for char in value):
            raise self.error(f"{steps[0]} holds half of a surrogate pair", *steps)
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false; what is missing or null is the default."""
        value = self.fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(f"{name} must be true or false, not {_named(value)}", name)
        return value

    def number(self, name: str, least: int = 0) -> int | None:
        """A whole number; None for what is missing or null."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"{name} must be a whole number, not {_named(value)}", name)
        if value < least:
            raise self.error(f"{name} must be at least {least}, not {value}", name)
        return value

    def listed(self, name: str, least: int = 1) -> list[Any]:
        """A list with enough in it; empty for what is missing where nothing is enough."""
        value = self.fields.get(name)
        if value is None and not least:
            return []
        if not isinstance(value, list):
            raise self.error(f"{name} must be a list, not {_named(value)}", name)
        if len(value) < least:
            raise self.error(f"{name} must not be empty", name)
        return value

    def texts(self, name: str, least: int = 0) -> list[str]:
        """A list of texts that are not empty."""
        return [
            self.is_text(one, name, i, empty=False)
            for i, one in enumerate(self.listed(name, least))
        ]

    def inner(self, name: str, what: str) -> Payload:
        """An object in a field."""
        return Payload(self.fields[name], self.at(name), what)

    def one_of(self, name: str, known: Sequence[str], default: str) -> str:
        """One of some words."""
        value = self.fields.get(name)
        if value is None:
            return default
        if value not in known:
            shown = value if isinstance(value, str) else _named(value)
            raise self.error(
                f"{name} has no value {shown!r:.60}", name, hint=nearest(str(value), known)
            )
        return str(value)


def _named(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"{value!r:.60}"
