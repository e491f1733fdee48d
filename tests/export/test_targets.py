"""Single targets: what is written, what each cannot say, what is refused, and that nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.diagnostics.command_files import read_grammar
from workbench.diagnostics.verdicts import Judge
from workbench.export import targets as module
from workbench.export.targets import TARGETS, ExportedTargets, write_all
from workbench.grammar.fingerprint import fingerprint

ENUM = {"enum": ["red", "blü", 7]}
TESTS: dict[str, list[Any]] = {
    "accept": ['"red"', '"blü"', 7],
    "reject": ['"green"', "77", b"\xff"],
    "prefix": ['"re'],
}
ALL = [name for name in TARGETS if name != "trace"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def verdicts(grammar: wb.Grammar) -> list[bool]:
    examples = [*TESTS["accept"], *TESTS["reject"], *TESTS["prefix"]]
    judge = Judge(grammar)
    texts = [e if isinstance(e, bytes) else str(e).encode() for e in examples]
    return [judge.verdict(text).accepted for text in texts]


EXPECTED = [True] * 3 + [False] * 4


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> ExportedTargets:
    folder = tmp_path_factory.mktemp("out") / "colours"
    found = wb.export(wb.json_schema(ENUM), folder, tests=TESTS, targets=ALL, title='A "b\\c"')
    assert isinstance(found, ExportedTargets)
    return found


class TestWriting:
    def test_files_sizes_and_hashes(self, done: ExportedTargets) -> None:
        written = contents(done.folder)
        assert written.keys() == {TARGETS[name] for name in ALL}
        for target in done.targets:
            data = written[target.path.name]
            assert (target.size, target.sha256) == (len(data), sha256(data).hexdigest())
            assert not target.reason and not target.exists
        assert done.written and f"exported to {done.folder}" in str(done)
        assert json.loads(json.dumps(done.to_json()))["targets"][0]["name"] == "gbnf"

    @pytest.mark.parametrize(
        ("target", "kind"), [("gbnf", "gbnf"), ("regex", "regex"), ("json_schema", "json_schema")]
    )
    def test_grammars_read_back_from_their_files(
        self, done: ExportedTargets, target: str, kind: str
    ) -> None:
        assert done[target].proof == "round trip 7 of 7"
        if "characters, as it is a pattern of bytes" in done[target].cannot:
            grammar = wb.regex(done[target].path.read_bytes().removesuffix(b"\n"))
        else:
            grammar = read_grammar(done[target].path, kind)
        assert verdicts(grammar) == EXPECTED

    def test_python(self, done: ExportedTargets) -> None:
        code = "import grammar, json; print(json.dumps(grammar.grammar.source, ensure_ascii=True))"
        run = [sys.executable, "-c", code]
        said = subprocess.run(run, cwd=done.folder, capture_output=True, text=True, check=True)
        assert json.loads(said.stdout) == ENUM
        assert done["python"].proof == "round trip 7 of 7"

    def test_pytest(self, done: ExportedTargets) -> None:
        assert done["pytest"].proof == "7 of 7 cases pass"
        run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_grammar.py"]
        said = subprocess.run(run, cwd=done.folder, capture_output=True, text=True, check=False)
        assert "7 passed" in said.stdout, said.stdout

    def test_report(self, done: ExportedTargets) -> None:
        page = done["report"].path.read_text()
        assert "A &quot;b\\c&quot;" in page and "src=" not in page and "<script" not in page


class TestEachAlone:
    def only(self, grammar: wb.Grammar, tests: Mapping[str, Any], name: str, **more: Any) -> Any:
        return wb.export(grammar, "out", tests=tests, targets=[name], dry_run=True, **more)[name]

    def test_what_a_pattern_cannot_say(self) -> None:
        brackets = wb.gbnf('root ::= "(" root ")" | "x"')
        target = self.only(brackets, {"accept": ["(x)"]}, "regex")
        assert "rule 'root' uses itself elsewhere than at its end" in target.reason
        assert "✕ regex" in str(target) and target.size == 0
        digits = wb.gbnf('root ::= [0-9] root | "."')
        target = self.only(digits, {"accept": ["12."], "reject": ["12"]}, "regex")
        assert target.proof == "round trip 2 of 2" and not target.reason
        of_bytes = self.only(wb.regex(rb"\xff+"), {"accept": [b"\xff\xff"]}, "regex")
        assert of_bytes.cannot == ("characters, as it is a pattern of bytes",)

    def test_what_gbnf_cannot_say(self) -> None:
        schema = wb.json_schema({"type": "object", "additionalProperties": {"type": "integer"}})
        tests = {"accept": [{"a": 1}], "reject": ['{"a":1,"a":2}']}
        target = self.only(schema, tests, "gbnf")
        assert target.cannot[0].startswith("that less is accepted: names that are not listed")
        # one of two: the text with a name twice is accepted by the looser one
        assert target.proof == "round trip 1 of 2"

    def test_what_a_schema_cannot_say(self) -> None:
        assert self.only(wb.regex("a"), {"accept": ["a"]}, "json_schema").reason == (
            "a regex grammar is no JSON Schema"
        )
        options = {"separators": (",", ":")}
        schema = wb.json_schema({"type": "array", "items": {"const": 1}}, **options)
        target = self.only(schema, {"accept": ["[1,1]"]}, "json_schema", options=options)
        assert target.cannot[0] == "the option separators=[',', ':']"
        python = self.only(schema, {"accept": ["[1,1]"]}, "python", options=options)
        assert python.proof == "round trip 1 of 1" and not python.cannot

    def test_a_trace(self) -> None:
        run = wb.Trace()
        for byte in b"ab":
            step = wb.TraceStep(index=0, kind="sampled", token_id=byte, token_bytes=bytes([byte]))
            run.append(step)
        found = self.only(wb.regex("abc"), {"accept": ["abc"]}, "trace", trace=run)
        assert found.proof == "2 steps, read back the same" and not found.cannot
        other = self.only(wb.regex("xyz"), {"accept": ["xyz"]}, "trace", trace=run)
        assert other.cannot == ("a text of this grammar: it is of another run",)
        with pytest.raises(ValueError, match="pass trace="):
            self.only(wb.regex("a"), {"accept": ["a"]}, "trace")

    @pytest.mark.parametrize(
        "grammar",
        [wb.regex("a\\\\|\"''\n"), wb.regex(rb"\xff|'\""), wb.gbnf('s ::= "a\\n\'"  # "é"', "s")],
    )
    def test_python_of_any_source(self, grammar: wb.Grammar, tmp_path: Path) -> None:
        pattern = grammar.kind == "gbnf"
        example: Any = "a\n'" if pattern else b"'\"" if isinstance(grammar.source, bytes) else "a\\"
        wb.export(grammar, tmp_path, tests={"accept": [example]}, targets=["python"])
        space: dict[str, Any] = {}
        exec((tmp_path / "grammar.py").read_text(), space)
        assert fingerprint(space["grammar"]) == fingerprint(grammar)


class TestRefusing:
    def test_a_dry_run_writes_nothing(self, tmp_path: Path) -> None:
        folder = tmp_path / "out"
        dry = wb.export(
            wb.json_schema(ENUM), folder, tests=TESTS, targets=["gbnf", "report"], dry_run=True
        )
        assert not folder.exists() and not dry.written
        assert "nothing written yet" in str(dry)
        done = wb.export(wb.json_schema(ENUM), folder, tests=TESTS, targets=["gbnf"])
        assert done["gbnf"].sha256 == dry["gbnf"].sha256
        again = wb.export(wb.json_schema(ENUM), folder, tests=TESTS, targets=["gbnf"], dry_run=True)
        assert again["gbnf"].exists and "there already" in str(again)

    def test_nothing_is_written_over_unasked(self, tmp_path: Path) -> None:
        (tmp_path / "grammar.gbnf").write_text("mine")
        given: dict[str, Any] = {"tests": TESTS, "targets": ["python", "gbnf"]}
        with pytest.raises(wb.ExportRefused, match="gbnf is there already"):
            wb.export(wb.json_schema(ENUM), tmp_path, **given)
        assert contents(tmp_path) == {"grammar.gbnf": b"mine"}
        wb.export(wb.json_schema(ENUM), tmp_path, overwrite=True, **given)
        assert contents(tmp_path).keys() == {"grammar.gbnf", "grammar.py"}
        assert contents(tmp_path)["grammar.gbnf"].startswith(b"root ::=")

    def test_bundles_too(self, tmp_path: Path) -> None:
        path = tmp_path / "a.zip"
        given: dict[str, Any] = {"tests": {"accept": ["a"]}}
        dry = wb.export(wb.regex("a"), path, dry_run=True, **given)
        assert not path.exists() and not dry.written and "nothing written yet" in str(dry)
        assert dict(dry.files)["grammar.gbnf"] > 0
        wb.export(wb.regex("a"), path, **given)
        before = path.read_bytes()
        with pytest.raises(wb.ExportRefused, match="there already: overwrite=True"):
            wb.export(wb.regex("a|b"), path, **given)
        assert path.read_bytes() == before
        wb.export(wb.regex("a|b"), path, overwrite=True, **given)
        assert path.read_bytes() != before

    def test_examples_that_fail(self, tmp_path: Path) -> None:
        with pytest.raises(wb.ExportRefused, match="accept example"):
            wb.export(wb.regex("a"), tmp_path, tests={"accept": ["b"]}, targets=["python"])
        assert not contents(tmp_path)

    def test_a_target_that_cannot_be_written(self, tmp_path: Path) -> None:
        brackets = wb.gbnf('root ::= "(" root ")" | "x"')
        given: dict[str, Any] = {"tests": {"accept": ["x"]}, "targets": ["gbnf", "regex"]}
        with pytest.raises(wb.ExportRefused, match="regex cannot be written"):
            wb.export(brackets, tmp_path, **given)
        assert not contents(tmp_path)

    def test_a_writer_that_is_wrong(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is read back decides another example: a planted mistake of the writer."""
        monkeypatch.setattr(module, "to_regex", lambda grammar: module_text("ab?"))
        with pytest.raises(wb.ExportRefused, match="as a pattern, “ab” is accept, by the grammar"):
            wb.export(
                wb.regex("a"),
                tmp_path,
                tests={"accept": ["a"], "reject": ["ab"]},
                targets=["regex"],
            )

    @pytest.mark.parametrize("names", [["svg"], []])
    def test_unknown_targets(self, names: list[str], tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="targets are gbnf, regex"):
            wb.export(wb.regex("a"), tmp_path, tests={"accept": ["a"]}, targets=names)


def module_text(pattern: str) -> Any:
    from workbench.export.regex_writer import RegexText

    return RegexText(pattern)


class TestAllOrNothing:
    def test_a_failure_in_the_middle(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a").write_bytes(b"old a")
        (tmp_path / "c").write_bytes(b"old c")
        real = Path.replace

        def failing(self: Path, target: Path) -> Path:
            if target == tmp_path / "c" and self.name == "c":
                raise OSError("the disk is full")
            return real(self, target)

        monkeypatch.setattr(Path, "replace", failing)
        files = {"a": b"new a", "b": b"new b", "c": b"new c", "d": b"new d"}
        with pytest.raises(wb.WorkbenchError, match="cannot write"):
            write_all(tmp_path, files, overwrite=True)
        assert contents(tmp_path) == {"a": b"old a", "c": b"old c"}

    def test_a_folder_that_was_made_goes_again(self, tmp_path: Path) -> None:
        with pytest.raises(wb.WorkbenchError, match="cannot write"):
            write_all(tmp_path / "new", {"a": b"x", "no/such": b"y"})
        assert not contents(tmp_path)

    def test_a_folder_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"x")
        with pytest.raises(wb.WorkbenchError, match="cannot write"):
            write_all(tmp_path / "f", {"a": b"x"})
        assert contents(tmp_path) == {"f": b"x"}
