"""A grammar from Python types: a text that it allows parses as the type, and one that it refuses does not.

Run: python examples/order_from_types.py
"""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

import workbench as wb


class Line(BaseModel):
    sku: Annotated[str, Field(pattern="^[A-Z]{2}-[0-9]{4}$")]
    count: Annotated[int, Field(ge=1, le=99)] = 1


class Order(BaseModel):
    placed: datetime.date
    currency: Literal["EUR", "CHF"]
    lines: Annotated[list[Line], Field(min_length=1)]


TEXTS = [
    '{"placed": "2024-02-29", "currency": "CHF", "lines": [{"sku": "AB-2041", "count": 2}]}',
    '{"placed": "2023-02-29", "currency": "CHF", "lines": [{"sku": "AB-2041"}]}',
    '{"placed": "2024-02-29", "currency": "CHF", "lines": []}',
]


def main() -> None:
    grammar = wb.from_type(Order)
    bytes_only = wb.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], eos_ids=(256,))
    compiled = wb.compile(grammar, bytes_only)
    for text in TEXTS:
        matcher = compiled.matcher()
        taken = matcher.accept_tokens(list(text.encode()))
        accepted = taken == len(text) and matcher.is_accepting
        try:
            TypeAdapter(Order).validate_json(text)
            parses = True
        except ValidationError:
            parses = False
        print(f"{accepted!s:5} {parses!s:5} {text[:taken]}⟂{text[taken:]}")
        assert accepted == parses


if __name__ == "__main__":
    main()
