"""``why``, ``dead-ends``, ``coverage`` and ``profile`` on the command line: what they print and exit with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.diagnostics.profile.test_profile import TIMES, trace_of
from workbench.cli import main

LIST = 'root ::= "[" item ("," item)* "]"\nitem ::= [0-9]+ | root\n'


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, Any], str]:
    """Writes a file: texts as they are, other values as JSON."""

    def write(name: str, content: Any) -> str:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


class TestWhy:
    def test_a_refused_token(self, file: Any, run: Any) -> None:
        code, out, _ = run("why", file("g.gbnf", LIST), "x", "--after", "[1,[2")
        assert code == 1
        assert "byte 1 ('x') may not come in item (entered after byte 4), nor after it" in out

    def test_an_allowed_one_as_json(self, file: Any, run: Any) -> None:
        code, out, _ = run("explain", file("g.gbnf", LIST), "hex:2c", "--after", "[1", "--json")
        found = json.loads(out)
        assert code == 0 and found["allowed"] and found["bytes"] == "2c"
        assert [cell["stack"][0]["rule"] for cell in found["cells"]] == ["item"]

    def test_with_a_tokenizer(self, file: Any, run: Any, tokenizer: Path) -> None:
        schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}}
        vocabulary = wb.Vocabulary.load(tokenizer)
        given = ("--after", '{"name": "Ann', "--tokenizer", str(tokenizer))
        code, out, _ = run("why", file("s.json", schema), f"id:{vocabulary.eos_ids[0]}", *given)
        assert code == 1 and "the text is not complete" in out
        code, out, _ = run("why", file("s.json", schema), "a", *given)
        assert code == 1 and "is full (3 of at most 3, entered after byte 10)" in out

    def test_a_text_that_needs_a_shorter_token(self, file: Any, run: Any, tokenizer: Path) -> None:
        vocabulary = wb.Vocabulary.load(tokenizer)
        longest = max((vocabulary.token_bytes(i) for i in range(vocabulary.size)), key=len)
        # the longest token but its last byte, and then something else: the token itself may not come
        text = longest[:-1].decode()
        pattern = "".join(f"\\x{ord(c):02x}" for c in text) + "#"
        grammar = file("p.regex", pattern)
        code, _, _ = run("why", grammar, "#", "--after", text, "--tokenizer", str(tokenizer))
        assert code == 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("x", "--after", "[1]]"), "it gets to “[1]”"),
            (("id:x",), "id: and a number"),
            (("id:99999",), "token id 99999"),
        ],
    )
    def test_mistakes(self, arguments: tuple[str, ...], message: str, file: Any, run: Any) -> None:
        code, out, err = run("why", file("g.gbnf", LIST), *arguments)
        assert code == 2 and not out and message in err


class TestDeadEnds:
    def test_a_schema_that_no_value_satisfies(self, file: Any, run: Any) -> None:
        code_schema = {"type": "string", "pattern": "^[A-Z]{3}$", "maxLength": 2}
        schema = {"type": "object", "properties": {"code": code_schema}, "required": ["code"]}
        examples = file("e.json", {"accept": [{"code": "ABC"}], "reject": [{"code": "X"}]})
        code, out, _ = run("dead-ends", file("s.json", schema), "--examples", examples)
        assert code == 1
        assert "#/properties/code/maxLength: 2 → 3" in out
        assert "effect: 1 more example accepted, 0 fewer" in out

    def test_warnings_are_no_failure(self, file: Any, run: Any) -> None:
        grammar = file("g.gbnf", 'root ::= "x" | "a" loop\nloop ::= "b" loop')
        code, out, _ = run("dead-ends", grammar, "--json")
        assert code == 0 and json.loads(out)["findings"][0]["rule"] == "loop"

    def test_a_budget_and_a_tokenizer(self, file: Any, run: Any, tokenizer: Path) -> None:
        given = ("--max-tokens", "1", "--tokenizer", str(tokenizer))
        code, out, _ = run("dead-ends", file("p.regex", "[ab]{400}"), *given)
        assert code == 1 and "over budget" in out
        code, _, _ = run("dead-ends", file("p.regex", "a"), *given)
        assert code == 0


class TestCoverage:
    def test_examples_of_lines_and_lists(self, file: Any, run: Any) -> None:
        grammar = file("g.gbnf", LIST)
        code, out, _ = run("coverage", grammar, file("e.txt", "[1]\n[1,2]\nno\n"))
        assert code == 0 and "2 accepted examples" in out and "not accepted: “no”" in out
        code, out, _ = run("coverage", grammar, file("e.json", ["[1]"]), "--least", "99")
        assert code == 1

    def test_mistakes(self, file: Any, run: Any) -> None:
        grammar = file("g.gbnf", LIST)
        for content in ("{", "3", '{"accept": 3}'):
            code, out, err = run("coverage", grammar, file("e.json", content))
            assert code == 2 and not out and "e.json" in err
        assert run("coverage", grammar, "none.json")[0] == 2


class TestProfile:
    def test_a_trace(self, run: Any, tmp_path: Path) -> None:
        path = trace_of(TIMES).save(tmp_path / "run.json.gz")
        code, out, _ = run("profile", str(path))
        assert code == 0 and "7 steps, 2 of them warm-up" in out
        code, out, _ = run("profile", str(path), "--warm-up", "0", "--json")
        assert json.loads(out)["times"]["mask"]["n"] == 7

    def test_a_figure(self, run: Any, tmp_path: Path) -> None:
        pytest.importorskip("plotly")
        path = trace_of(TIMES).save(tmp_path / "run.json")
        page = tmp_path / "figure.html"
        assert run("profile", str(path), "--figure", str(page), "--view", "histogram")[0] == 0
        assert "mask times of 5 steps" in page.read_text()
        code, _, err = run("profile", str(path), "--figure", str(tmp_path / "none" / "x.html"))
        assert code == 2 and "cannot write" in err

    def test_mistakes(self, run: Any, file: Any) -> None:
        assert "cannot read" in run("profile", "none.json")[2]
        assert "not a trace" in run("profile", file("t.json", []))[2]
        assert "negative" in run("profile", file("t.json", []), "--warm-up", "-1")[2]
