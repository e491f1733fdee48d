"""The format of a family of models, by one of its names.

>>> find_format("Qwen/Qwen3-Coder-30B-A3B-Instruct").name
'qwen3_coder'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from workbench.frontends.nearest import nearest
from workbench.frontends.tools.families import FAMILIES, Reasoning, ToolFormat
from workbench.inputs import first_words, wrong_type

__all__ = ["find_format", "known_format", "told_format", "tool_formats"]


def tool_formats() -> dict[str, ToolFormat]:
    """The formats that :func:`~workbench.tools` knows, by name, with the models and the source of each."""
    return dict(FAMILIES)


def find_format(given: Any) -> ToolFormat:
    """A format by its name, one of a model family, or that of a model, which begins with one.

    Raises ``WrongType``, and ``ValueError`` for a name that no format has.
    """
    if isinstance(given, ToolFormat):
        return given
    if not isinstance(given, str):
        raise wrong_type("format", "the name of a format, such as 'qwen3'", given)
    wanted = _plain(given.rpartition("/")[2])
    begins = [name for name in _NAMES if wanted == name or wanted.startswith(f"{name}-")]
    if not wanted or not begins:
        raise ValueError(f"no format is called {first_words(given)}: {nearest(given, FAMILIES)}")
    return _NAMES[max(begins, key=len)]


def told_format(form: ToolFormat) -> str | dict[str, Any]:
    """What stands for a format in JSON: its name, or all of it where it is none of ours."""
    return form.name if FAMILIES.get(form.name) == form else asdict(form)


def known_format(told: str | Mapping[str, Any]) -> ToolFormat:
    """The format of what :func:`told_format` gave, which may have been written and read since."""
    if isinstance(told, str):
        return FAMILIES[told]
    fields: dict[str, Any] = {
        key: tuple(one) if isinstance(one, list) else one for key, one in told.items()
    }
    fields["answers"] = tuple(map(tuple, fields["answers"]))
    if fields["reasoning"] is not None:
        fields["reasoning"] = Reasoning(**fields["reasoning"])
    return ToolFormat(**fields)


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]+", "-", name.lower()).strip("-")


_NAMES = {_plain(name): form for form in FAMILIES.values() for name in (form.name, *form.models)}
