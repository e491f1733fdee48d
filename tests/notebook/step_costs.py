"""What a step of the panel costs beyond the model: bytes to the page and processor time, along a long run.

``python -m tests.notebook.step_costs [TOKENS]`` lets a scripted model write a long text under a JSON schema, over
128,256 tokens, and prints what one click on "step" costs at 10, 500 and 2,300 tokens.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from tests.notebook.large import SIZE, large_vocabulary, noise_config
from workbench.frontends.json_schema import json_schema
from workbench.grammar.ir import Grammar
from workbench.models import LoadedModel
from workbench.vocabulary import Vocabulary

PROMPT = [5, 6, 7]
AT = (10, 500, 2300)


def orders() -> Grammar:
    """A list of objects with a text, a number and a choice each, as long as one likes."""
    item = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "note": {"type": "string", "maxLength": 400},
            "count": {"type": "integer", "minimum": 0, "maximum": 9999},
            "size": {"enum": ["small", "medium", "large"]},
        },
        "required": ["name", "note", "count", "size"],
        "additionalProperties": False,
    }
    return json_schema(
        {
            "type": "object",
            "properties": {"items": {"type": "array", "items": item}},
            "required": ["items"],
            "additionalProperties": False,
        }
    )


def script(vocabulary: Vocabulary, tokens: int) -> list[int]:
    """At least so many tokens of an instance that never ends."""
    choice = random.Random(11)
    words = [vocabulary.token_bytes(i).decode() for i in range(300, min(4000, vocabulary.size))]
    by_bytes = {vocabulary.token_bytes(i): i for i in range(vocabulary.size)}
    ids = [by_bytes[bytes([b])] for b in b'{"items":[']
    while len(ids) < tokens:
        name, note = ("".join(choice.choices(words, k=k)) for k in (3, 60))
        text = f'{{"name":"{name}","note":"{note[:380]}","count":{choice.randint(0, 9999)},"size":"small"}},'
        data = text.encode()
        at = 0
        while at < len(data):
            size = next(n for n in range(8, 0, -1) if data[at : at + n] in by_bytes)
            ids.append(by_bytes[data[at : at + size]])
            at += size
    return ids


def scripted_model(tokens: int, size: int = SIZE) -> LoadedModel:
    """One layer of noise which is sure of the next token of the script; ``model.seconds`` is what it took."""
    import torch
    import transformers

    vocabulary = large_vocabulary(size)
    wanted = script(vocabulary, tokens)
    torch.manual_seed(3)
    config = noise_config(size)

    class Scripted(transformers.LlamaForCausalLM):  # type: ignore[misc]
        seconds = 0.0

        def forward(self, input_ids: Any, cache: Any = None, **rest: Any) -> Any:
            started = time.thread_time()
            out = super().forward(input_ids, cache=cache, **rest)
            at = cache.get_seq_length() - len(PROMPT)
            if at < len(wanted):
                out.logits[0, -1, wanted[at]] += 40.0
            self.seconds += time.thread_time() - started
            return out

    model = Scripted(config).eval()
    return LoadedModel(model, None, vocabulary, "scripted", model.device, (0,))


@dataclass
class Wire:
    """Stands in for the way to the page: counts what is sent, by kind."""

    sent: dict[str, int] = field(default_factory=dict)

    def watch(self, bench: Any) -> None:
        """Count what a widget sends from now on, and what its static view is drawn with."""
        bench.comm.publish_msg = self._message
        bench._static = self

    def _message(self, kind: str, data: Any = None, buffers: Any = None, **_: Any) -> None:
        data = data or {}
        named = data.get("content") or {}
        what = named.get("type") or ", ".join(data.get("state") or ()) or data.get("method", kind)
        size = len(json.dumps(data).encode()) + sum(memoryview(b).nbytes for b in buffers or ())
        self.sent[what] = self.sent.get(what, 0) + size

    def update(self, shown: Any) -> None:
        """The static view is drawn anew."""
        self.sent["static view"] = self.sent.get("static view", 0) + len(shown.data.encode())


@dataclass(frozen=True)
class Cost:
    """One click at a length: bytes by kind, seconds of processor time beyond the forward pass."""

    length: int
    sent: dict[str, int]
    answering: float
    settling: float

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(self.sent.values())


def click(bench: Any, wire: Wire) -> Cost:
    """One click on "step", and the rest that follows it."""
    wire.sent.clear()
    model = bench.session.decoder.model.model
    forward, started = model.seconds, time.process_time()
    bench.protocol.receive({"type": "step", "node": bench.session.cursor})
    answered = time.process_time() - started - (model.seconds - forward)
    started = time.process_time()
    timer = bench._settling
    if timer is not None:
        timer.cancel()
        timer.function()
    settled = time.process_time() - started
    return Cost(len(bench.session.decoder.token_ids), dict(wire.sent), answered, settled)


def workbench_at(tokens: int, size: int = SIZE) -> tuple[Any, Wire]:
    """A panel at the start of a script, and the way to its page."""
    from workbench.notebook.workbench import Workbench

    bench = Workbench(scripted_model(tokens + 100, size), orders(), PROMPT, title="long")
    wire = Wire()
    wire.watch(bench)
    return bench, wire


def main(arguments: list[str]) -> None:
    """Print the costs at some lengths."""
    import torch

    torch.set_num_threads(1)
    profiled = "--profile" in arguments
    lengths = [int(a) for a in arguments if a.isdigit()] or list(AT)
    bench, wire = workbench_at(max(lengths))
    for length in lengths:
        while len(bench.session.decoder.token_ids) < length:
            bench.session.step()
        bench.protocol.announce()
        click(bench, wire)
        costs = [click(bench, wire) for _ in range(8)]
        middle = sorted(costs, key=lambda cost: cost.answering)[4]
        largest = max(costs, key=lambda cost: cost.size)
        print(
            f"{length:>6,} tokens: answering {middle.answering * 1000:7.1f} ms,"
            f" settling {sorted(c.settling for c in costs)[4] * 1000:7.1f} ms;"
            f" {largest.size:>9,} bytes ({', '.join(f'{k} {v:,}' for k, v in largest.sent.items())})",
            flush=True,
        )
    if profiled:
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(20):
            click(bench, wire)
        profile.disable()
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


if __name__ == "__main__":
    main(sys.argv[1:])
