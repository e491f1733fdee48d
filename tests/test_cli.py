"""The command line as a user runs it: right answers, and one clear message for every mistake."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from workbench.cli import DEMO_SCHEMA

ROOT = Path(__file__).resolve().parents[1]

#: Far above what any of these takes (seconds), for machines that do something else as well.
SECONDS = 180


def run(*arguments: str | Path | int, seconds: int = SECONDS) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=seconds,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    """Compile the kernels where no run before has: that takes a minute and tells its progress."""
    subprocess.run([sys.executable, "-m", "workbench", "warm"], check=True, cwd=ROOT, timeout=900)


def check(path: Path, content: str | bytes) -> subprocess.CompletedProcess[str]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return run("check", path)


def message(done: subprocess.CompletedProcess[str]) -> str:
    """The one message of a refused input."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("workbench: ") == 1
    assert done.stdout == ""
    return done.stderr


def report(done: subprocess.CompletedProcess[str]) -> str:
    """What is said of an accepted input."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_check_describes_a_grammar(tmp_path: Path) -> None:
    said = report(
        check(tmp_path / "g.gbnf", 'root ::= "[" item ("," item)* "]"\nitem ::= [0-9]+\n')
    )
    assert "a gbnf grammar of 2 rules" in said
    assert "shortest text: 3 bytes" in said


def test_check_lists_the_restrictions_of_a_schema(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"const": 1}}}
    said = report(check(tmp_path / "s.json", json.dumps(schema)))
    assert "restricted: #" in said
    assert "shortest text: 2 bytes" in said


def test_check_warns_of_words_that_say_nothing(tmp_path: Path) -> None:
    schema = {"type": "object", "propertys": {"a": {}}, "additionalProperties": False}
    said = report(check(tmp_path / "a.json", json.dumps(schema)))
    assert "warning: #/propertys 'propertys' is not a keyword" in said and "'properties'" in said
    tool = {"name": "f", "parameters": {"type": "object"}}
    said = report(check(tmp_path / "b.json", json.dumps(tool)))
    assert "warning: #/parameters" in said and "schema['parameters']" in said


def test_check_forbids_what_refers_to_nothing_when_asked(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}
    path = tmp_path / "a.json"
    assert "--on-dangling" in message(check(path, json.dumps(schema)))
    said = report(run("check", path, "--on-dangling", "forbid"))
    assert "restricted: #/properties/a/$ref" in said and "leads nowhere" in said
    done = run("why", path, "7", "--after", '{"a": ', "--on-dangling", "forbid")
    assert done.returncode == 2 and "a" in done.stderr
    tests = tmp_path / "tests.json"
    tests.write_text(json.dumps({"accept": ["{}"], "reject": ['{"a": 1}']}))
    bundle = tmp_path / "bundle.zip"
    asked = ("--on-dangling", "forbid", "--dead-end-note", "one tool is broken")
    done = run("export", path, bundle, "--tests", tests, *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert run("verify", bundle).returncode == 0


def test_check_reads_a_pattern(tmp_path: Path) -> None:
    said = report(check(tmp_path / "p.regex", r"\d{3}-[a-z]{2,}" + "\n"))
    assert "shortest text: 6 bytes" in said


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty.gbnf", "", "root"),
        ("blank.gbnf", "  # nothing but a comment\n", "root"),
        ("empty.json", "", "line 1, column 1"),
        ("undefined.gbnf", 'root ::= "a" missing\n', "missing"),
        ("endless.gbnf", 'root ::= "a" root\n', "never be completed"),
        ("endless.json", '{"$ref": "#"}', "#"),
        ("class.regex", "[^\\s\\S]", "never be completed"),
        ("impossible.json", '{"allOf": [{"type": "string"}, {"type": "null"}]}', "never"),
        ("syntax.json", '{"type": "string",}', "line 1"),
        ("keyword.json", '{"type": "string", "pattern": 5}', "#/pattern"),
        ("binary.gbnf", bytes(range(256)) * 16, "not a text"),
        ("binary.json", b"\x7fELF\x02\x01\x01\x00\xff\xfe", "not a text"),
        ("binary.regex", b"\x89PNG\r\n\x1a\n", "not a text"),
        ("brackets.gbnf", "root ::= " + "(" * 10_000, "line 1"),
        ("brackets.json", "[" * 10_000, "nesting levels"),
        ("brackets.regex", "(" * 10_000, ""),
        ("unknown.txt", "root ::= [a]", "--kind"),
    ],
)
def test_check_refuses_with_one_message(
    tmp_path: Path, name: str, content: str | bytes, expected: str
) -> None:
    began = time.monotonic()
    said = message(check(tmp_path / name, content))
    assert expected in said
    assert len(said) < 1000
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nested.gbnf", "root ::= " + "(" * 10_000 + '"a"' + ")" * 10_000),
        ("nested.regex", "(" * 10_000 + "a" + ")" * 10_000),
    ],
)
def test_check_survives_deep_nesting(tmp_path: Path, name: str, content: str) -> None:
    done = check(tmp_path / name, content)
    if done.returncode == 0:
        assert "shortest text: 1 byte\n" in report(done)
    else:
        assert len(message(done)) < 1000


def test_check_survives_a_deep_schema(tmp_path: Path) -> None:
    depth = 10_000
    done = check(tmp_path / "deep.json", '{"items":' * depth + "true" + "}" * depth)
    if done.returncode == 0:
        assert "shortest text" in report(done)
    else:
        assert len(message(done)) < 1000


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["enum", "properties", "definitions", "description"])
def test_check_survives_a_schema_of_5_megabytes(tmp_path: Path, shape: str) -> None:
    names = [f"a value that is written out in full, number {number:06}" for number in range(90_000)]
    schema = {
        "enum": {"enum": names},
        "properties": {"type": "object", "properties": {n: {"type": "integer"} for n in names}},
        "definitions": {
            "$ref": "#/$defs/7",
            "$defs": {str(n): {"enum": [name, n]} for n, name in enumerate(names)},
        },
        "description": {"type": "string", "description": " ".join(names)},
    }[shape]
    text = json.dumps(schema)
    assert len(text) > 4_500_000
    done = check(tmp_path / "large.json", text)
    if done.returncode == 0:
        assert "shortest text" in report(done)
    else:
        assert len(message(done)) < 1000


@pytest.mark.slow
@pytest.mark.parametrize(("objects", "closed"), [(2_000, False), (45_000, True)])
def test_check_survives_a_chain_of_objects(tmp_path: Path, objects: int, closed: bool) -> None:
    links: dict[str, object] = {
        f"n{n}": {
            "type": "object",
            "properties": {f"v{n}": {"type": "integer"}, f"next{n}": {"$ref": f"#/$defs/n{n + 1}"}},
            **({"additionalProperties": False} if closed else {}),
        }
        for n in range(objects)
    }
    links[f"n{objects}"] = {"type": "string"}
    done = check(tmp_path / "chain.json", json.dumps({"$ref": "#/$defs/n0", "$defs": links}))
    if done.returncode == 0:
        assert "shortest text: 2 bytes" in report(done)
    else:
        assert len(message(done)) < 1000


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "No such file" in message(run("check", tmp_path / "none.gbnf"))
    assert "No such file" in message(run("bench", "masks", "--tokenizer", tmp_path / "none.json"))


def test_a_tokenizer_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"version": "1.0"}')
    assert "no tokenizer.json" in message(run("bench", "masks", "--tokenizer", path))


def test_help_names_the_commands() -> None:
    said = report(run("--help"))
    commands = ("demo", "check", "why", "dead-ends", "coverage", "profile", "export", "verify")
    for command in (*commands, "bench", "warm"):
        assert command in said


@pytest.mark.model
def test_demo_makes_a_valid_object_and_a_page_for_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    done = run("demo", "--out", page, seconds=900)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    text = said[said.index("\n{") : said.index("\n}") + 2]
    jsonschema.Draft202012Validator(DEMO_SCHEMA).validate(json.loads(text))
    assert "valid: jsonschema accepts it" in said
    for line in ("forward pass", "mask", "of it hidden behind the pass", "of it exposed"):
        assert f"{line} " in said
    content = page.read_text(encoding="utf-8")
    assert content.lstrip().lower().startswith("<!doctype html>")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", content)


@pytest.mark.model
def test_demo_says_when_the_object_is_not_complete(tmp_path: Path) -> None:
    done = run("demo", "--out", tmp_path / "cut.html", "--max-tokens", 5, seconds=900)
    assert done.returncode == 1
    assert "out of tokens: the object is not complete" in done.stdout
    assert (tmp_path / "cut.html").is_file()


def test_walk_through_masks() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "walk_masks.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    said = report(done)
    assert said.count(" tokens before ") == len("2*(3+4)")


@pytest.mark.parametrize("name", ["arithmetic.gbnf", "comment_thread.json", "iso_date.regex"])
def test_example_grammars_compile(name: str) -> None:
    assert "shortest text" in report(run("check", ROOT / "examples" / name))


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "parameters": {
                "type": "object",
                "properties": {"q": {"type": "string"}},
                "required": ["q"],
            },
        },
    },
    {"name": "ping"},
]


def test_check_reads_tools(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS))
    said = report(run("check", path, "--tool-format", "mistral"))
    assert "a tools grammar" in said and "shortest text: 0 bytes" in said
    said = report(run("check", path, "--kind", "tools", "--tool-choice", "required"))
    assert "shortest text: 0 bytes" not in said
    asked = ("--kind", "tools", "--tool-choice", "search", "--after")
    call = '<tool_call>\n{"name": "search", "arguments": {"q": '
    assert run("why", path, '"', *asked, call).returncode == 0
    done = run("why", path, "7", *asked, call)
    assert done.returncode == 1 and "search › #/properties/q" in done.stdout


def test_tools_that_are_broken_are_told(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"

    def told(content: str, *more: str) -> str:
        path.write_text(content)
        return message(run("check", path, "--kind", "tools", *more))

    said = told(json.dumps([*TOOLS, {"name": "a b"}]))
    assert "tool 2, 'a b', at #/2/name" in said
    given = json.dumps(TOOLS)
    assert "no format is called 'qwen'" in told(given, "--tool-format", "qwen")
    assert "did you mean 'search'" in told(given, "--tool-choice", "serch")
    assert "put it in a list" in told(json.dumps(TOOLS[0]))
    assert "line 1" in told("[")
