"""Engines whose behaviour is known, for the benchmark to judge."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

from workbench.benchmarks.engines import Mask, Session, Setup
from workbench.benchmarks.judge import instance_text
from workbench.benchmarks.schema_engines import Compiler, Refused, SchemaEngine, Start

Mark = Callable[[str], None]


def planted(name: str, module: str = "workbench", **options: Any) -> SchemaEngine:
    return SchemaEngine(name, "none", module, f"{__name__}:{name}", options)


def accepts_all(setup: Setup, options: dict[str, Any]) -> Compiler:
    return _constant(-1)


def rejects_all(setup: Setup, options: dict[str, Any]) -> Compiler:
    return _constant(0)


def _constant(word: int) -> Compiler:
    def compile_schema(schema: Any, mark: Mark) -> Start:
        return lambda mask: Session(lambda: mask.fill(word), lambda token: True)

    return Compiler(compile_schema)


def refuses_all(setup: Setup, options: dict[str, Any]) -> Compiler:
    def compile_schema(schema: Any, mark: Mark) -> Start:
        raise Refused(f"#/enum: the keyword 'enum' of {len(schema['enum'])} values")

    return Compiler(compile_schema)


def right(setup: Setup, options: dict[str, Any]) -> Compiler:
    """An engine of enums."""
    vocabulary = setup.vocabulary
    tokens = [vocabulary.token_bytes(token) for token in range(vocabulary.size)]

    def compile_schema(schema: Any, mark: Mark) -> Start:
        texts = [instance_text(value).encode() for value in schema["enum"]]

        def start(mask: Mask) -> Session:
            so_far = b""

            def fill() -> None:
                mask.fill(0)
                for token, data in enumerate(tokens):
                    ends = token in vocabulary.eos_ids and so_far in texts
                    if ends or (data and any(text.startswith(so_far + data) for text in texts)):
                        mask[token >> 5] |= 1 << (token & 31)

            def accept(token: int) -> bool:
                nonlocal so_far
                so_far += tokens[token]
                return True

            return Session(fill, accept)

        return start

    return Compiler(compile_schema)


def unruly(setup: Setup, options: dict[str, Any]) -> Compiler:
    """Does what the title of a schema says."""

    def compile_schema(schema: Any, mark: Mark) -> Start:
        title = schema["title"]
        if title == "spins while it compiles":
            _spin(60)
        if title == "sleeps while it compiles":
            time.sleep(60)
        if title == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if title == "aborts":
            os.write(2, b"panicked at the disco\n")
            os.abort()
        if title == "raises":
            raise KeyError("a mistake of its own")

        def start(mask: Mask) -> Session:
            masks = 0

            def fill() -> None:
                nonlocal masks
                mask.fill(-1)
                masks += 1
                if title == "spins in a mask" and masks == 3:
                    _spin(60)
                if title == "takes long for every mask":
                    _spin(0.25)
                if title == "raises in a mask" and masks == 3:
                    raise KeyError("a mistake of its own")
                if title == "refuses in a mask" and masks == 3:
                    raise Refused("more than it can do")

            return Session(fill, lambda token: title != "disagrees")

        return start

    return Compiler(compile_schema)


def _spin(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass
