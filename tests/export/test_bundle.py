"""Exporting and proving bundles: what is in them, what is refused, and what is noticed."""

from __future__ import annotations

import copy
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.export.bundle import pack, write_whole
from workbench.export.recipe import build, canonical, examples_of
from workbench.export.verify import MAX_MEMBERS, _recipe, read_bundle
from workbench.grammar.ir import Grammar, Literal

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 10},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
    },
    "required": ["name"],
    "additionalProperties": False,
}
TESTS: dict[str, list[Any]] = {
    "accept": [{"name": "Ann", "age": 31}, '{"name": "Zoë"}'],
    "reject": [{"name": "A"}, b"\xff", "", '{"name": "Ann"'],
    "prefix": ['{"na', '{"name": "Ann"}'],
}
FILES = {
    "coverage.json",
    "dead_ends.json",
    "examples.json",
    "grammar.gbnf",
    "grammar.schema.json",
    "manifest.json",
    "outcomes.json",
    "report.html",
    "test_grammar.py",
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "person.zip"
    wb.export(wb.json_schema(SCHEMA), path, tests=TESTS, title="A <person>")
    return path


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A copy of a bundle with its files changed; hashes are left alone."""
    files = contents(path)
    change(files)
    copied = tmp_path / "changed.zip"
    copied.write_bytes(pack(files))
    return copied


def signed(files: dict[str, bytes]) -> None:
    """Write all hashes of a manifest anew, as someone would who hides a change."""
    manifest = json.loads(files["manifest.json"])
    manifest.pop("manifest_sha256")
    manifest["files"] = {
        name: {"sha256": sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in sorted(files.items())
        if name != "manifest.json"
    }
    manifest["manifest_sha256"] = sha256(canonical(manifest)).hexdigest()
    files["manifest.json"] = json.dumps(manifest).encode()


class TestExport:
    def test_what_is_in_it(self, bundle: Path) -> None:
        files = contents(bundle)
        assert files.keys() == FILES
        assert json.loads(files["grammar.schema.json"]) == SCHEMA
        examples = json.loads(files["examples.json"])
        assert [(e["expected"], e["verdict"]) for e in examples] == [
            ("accept", "accept"),
            ("accept", "accept"),
            ("reject", "reject"),
            ("reject", "reject"),
            ("reject", "prefix"),
            ("reject", "prefix"),
            ("prefix", "prefix"),
            ("prefix", "accept"),
        ]
        # {"name": "A"} dies at its second quote: 11 bytes live
        assert examples[2]["reached"] == 11 and examples[3]["hex"] == "ff"
        manifest = json.loads(files["manifest.json"])
        assert manifest["gbnf"]["agree"] == manifest["gbnf"]["examples"] == 8
        assert manifest["examples"] == {"accept": 2, "reject": 4, "prefix": 2}
        assert {"grammar-workbench", "python", "numpy"} <= manifest["versions"].keys()
        for name, entry in manifest["files"].items():
            assert sha256(files[name]).hexdigest() == entry["sha256"]
        statuses = {o["status"] for o in json.loads(files["outcomes.json"])}
        assert "enforced" in statuses

    def test_the_report_is_one_page_that_loads_nothing(self, bundle: Path) -> None:
        page = contents(bundle)["report.html"].decode()
        assert "<title>A &lt;person&gt;</title>" in page and "default-src 'none'" in page
        for loads in ("<script", "http:", "https:", "src=", "@import", "url("):
            assert loads not in page
        assert "8 of 8 as expected" in page and "round trip 8 of 8" in page
        assert "#/properties/name/minLength" in page and "Zoë" in page

    def test_the_same_recipe_gives_the_same_bytes(self, bundle: Path) -> None:
        files = contents(bundle)
        recipe = _recipe(bundle, files, json.loads(files["manifest.json"]))
        assert build(recipe).files == files
        assert pack(files) == bundle.read_bytes()

    def test_the_test_file_runs_against_the_bundle_alone(
        self, bundle: Path, tmp_path: Path
    ) -> None:
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(tmp_path)
        run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_grammar.py"]
        here = Path(wb.__file__).parents[1]
        environment = {**os.environ, "PYTHONPATH": str(here)}
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
        # each example by its source and as GBNF, and the hashes
        assert done.returncode == 0 and "17 passed" in done.stdout, done.stdout + done.stderr
        (tmp_path / "grammar.schema.json").write_text('{"type": "null"}')
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 1 and "failed" in done.stdout

    @pytest.mark.parametrize(
        ("grammar", "tests"),
        [
            (wb.regex("[ab]{2,3}é"), {"accept": ["abé"], "reject": ["ab"], "prefix": ["ab"]}),
            (wb.regex(rb"\xff+"), {"accept": [b"\xff\xff"], "reject": ["a"]}),
            (wb.gbnf('start ::= "a" start | "b"', "start"), {"accept": ["aab"], "prefix": ["aa"]}),
            (Grammar({"S": Literal(b"x")}, "S"), {"accept": ["x"]}),
            (
                wb.json_schema({"multipleOf": 0.1, "minimum": 1.5}),
                {"accept": ["1.6"], "reject": ["1.55"]},
            ),
            (
                wb.json_schema('{"minimum": 1.50, "maximum": 1e2}'),
                {"accept": ["1.5"], "reject": ["1.4"]},
            ),
            (wb.json_schema(True), {"accept": [{"a": [1]}], "reject": ["{"]}),
        ],
        ids=["regex", "bytes", "gbnf", "ir", "floats", "decimals", "true"],
    )
    def test_every_kind_of_grammar(
        self, grammar: wb.Grammar, tests: dict[str, Any], tmp_path: Path
    ) -> None:
        path = tmp_path / "g.zip"
        done = wb.export(grammar, path, tests=tests)
        assert done.path == path and done.sha256 == sha256(path.read_bytes()).hexdigest()
        proved = wb.verify(path)
        assert proved.ok and not proved.notes, str(proved)
        assert proved.sha256 == done.sha256

    def test_a_long_gbnf_is_written_but_not_read_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("workbench.export.recipe.MAX_PROVED", 10)
        done = wb.export(wb.regex("[ab]{2}"), tmp_path / "g.zip", tests={"accept": ["ab"]})
        assert "too long to be read back" in str(done)
        files = contents(done.path)
        assert b"too long to be read back" in files["report.html"] and "grammar.gbnf" in files

    def test_options_are_part_of_a_grammar(self, tmp_path: Path) -> None:
        grammar = wb.json_schema(SCHEMA, separators=(",", ":"))
        tests = {"accept": ['{"name":"Ann"}'], "reject": ['{"name": "Ann"}']}
        with pytest.raises(wb.ExportRefused, match="options"):
            wb.export(grammar, tmp_path / "g.zip", tests=tests)
        wb.export(grammar, tmp_path / "g.zip", tests=tests, options={"separators": (",", ":")})
        assert wb.verify(tmp_path / "g.zip").ok


class TestRefusal:
    def refused(self, path: Path, **more: Any) -> tuple[str, ...]:
        given: dict[str, Any] = {"tests": TESTS, **more}
        grammar = given.pop("grammar", wb.json_schema(SCHEMA))
        with pytest.raises(wb.ExportRefused) as caught:
            wb.export(grammar, path, **given)
        return caught.value.reasons

    def test_examples_that_fail(self, tmp_path: Path) -> None:
        reasons = self.refused(
            tmp_path / "g.zip",
            tests={
                "accept": [{"name": "A"}, '{"name": "Ann"'],
                "reject": [{"name": "Ann"}],
                "prefix": ["x"],
            },
        )
        assert reasons[:3] == (
            'accept example “{"name":·"A"}” is refused: byte 12 (\'"\') comes too early: of '
            "#/properties/name there are 1 of at least 2 (entered after byte 10)",
            'accept example “{"name":·"Ann"” is not complete: the text is not complete: '
            "object # (entered at the start) is open, at least 1 more byte",
            'reject example “{"name":·"Ann"}” is accepted',
        )
        assert reasons[3].startswith(
            "prefix example “x” is refused: byte 1 ('x') may not come in # "
        )
        assert len(reasons) == 4
        assert not (tmp_path / "g.zip").exists() and not list(tmp_path.iterdir())

    def test_no_examples(self, tmp_path: Path) -> None:
        assert "no examples" in self.refused(tmp_path / "g.zip", tests={})[0]
        with pytest.raises(ValueError, match="accept, reject, prefix"):
            wb.export(wb.regex("a"), tmp_path / "g.zip", tests={"accepts": ["a"]})

    def test_dead_ends_need_a_note(self, tmp_path: Path) -> None:
        grammar = wb.gbnf('root ::= "(" [a-cé] ")"')
        tokens = [b"a", b"b", b"c", b"(", b")", b"\xc3", b"\xa9)x", b""]
        vocabulary = wb.Vocabulary.from_bytes(tokens, eos_ids=7)
        path = tmp_path / "g.zip"
        given: dict[str, Any] = {"tests": {"accept": ["(a)"]}, "vocabulary": vocabulary}
        (reason,) = self.refused(path, grammar=grammar, **given)
        assert reason.startswith("dead end with the tokenizer: only ⟨A9⟩ may come")
        wb.export(grammar, path, dead_end_note="é is rare", **given)
        manifest = json.loads(contents(path)["manifest.json"])
        assert manifest["tokenizer"]["fingerprint"] == vocabulary.fingerprint
        assert manifest["dead_ends"]["note"] == "é is rare"
        assert wb.verify(path, vocabulary).ok
        assert "pass it" in wb.verify(path).notes[0]
        other = wb.Vocabulary.from_bytes([*tokens, b"d"], eos_ids=7)
        assert "another one" in wb.verify(path, other).problems[0]

    def test_tokens_cannot_be_decided_by_bytes(self, tmp_path: Path) -> None:
        (reason,) = self.refused(tmp_path / "g.zip", grammar=wb.gbnf('root ::= <[1]> "a"'))
        assert "names tokens" in reason


class TestAtomic:
    def test_the_old_file_stays_when_an_example_fails(self, bundle: Path, tmp_path: Path) -> None:
        path = tmp_path / "g.zip"
        path.write_bytes(b"old")
        with pytest.raises(wb.ExportRefused):
            wb.export(wb.regex("a"), path, tests={"accept": ["b"]})
        assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
    def test_the_old_file_stays_when_writing_fails(
        self, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "g.zip"
        path.write_bytes(b"old")

        def fail(*args: Any, **kwargs: Any) -> None:
            raise OSError(28, "No space left on device")

        home: Any = os if step == "fsync" else Path
        monkeypatch.setattr(home, step, fail)
        with pytest.raises(wb.WorkbenchError, match="No space left"):
            write_whole(path, b"new")
        monkeypatch.undo()
        assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(wb.WorkbenchError, match="cannot write"):
            wb.export(wb.regex("a"), tmp_path / "none" / "g.zip", tests={"accept": ["a"]})


class TestVerify:
    def test_it_holds(self, bundle: Path) -> None:
        proved = wb.verify(bundle)
        assert proved.ok and not proved.notes
        assert "8 examples decided again" in str(proved) and "holds" in str(proved)

    @pytest.mark.parametrize("name", sorted(FILES))
    def test_any_changed_byte_is_noticed(self, name: str, bundle: Path, tmp_path: Path) -> None:
        def change(files: dict[str, bytes]) -> None:
            data = files[name]
            # a blank more is a change too: JSON reads the same with it
            files[name] = data.replace(b'"', b' "', 1) if name.endswith("json") else data + b" "

        if name == "manifest.json":

            def change(files: dict[str, bytes]) -> None:
                files[name] = files[name].replace(b"A <person>", b"Another")

        problems = wb.verify(rewritten(bundle, tmp_path, change)).problems
        assert any(problem.startswith(f"{name} was changed") for problem in problems)

    @pytest.mark.parametrize(
        ("name", "old", "new", "noticed"),
        [
            ("grammar.schema.json", b'"minLength": 2', b'"minLength": 1', "reject example"),
            ("examples.json", b'"verdict": "reject"', b'"verdict": "prefix"', "the verdict on"),
            ("examples.json", b'"expected": "accept"', b'"expected": "reject"', "is accepted"),
            ("grammar.gbnf", b"root ::=", b"root  ::=", "grammar.gbnf is not what follows"),
            ("report.html", b"8 of 8", b"9 of 9", "report.html is not what follows"),
            ("outcomes.json", b'"enforced"', b'"restricted"', "outcomes.json is not what follows"),
            ("test_grammar.py", b"import pytest", b"import os, pytest", "test_grammar.py is not"),
        ],
    )
    def test_changes_with_new_hashes_are_noticed(
        self, name: str, old: bytes, new: bytes, noticed: str, bundle: Path, tmp_path: Path
    ) -> None:
        def change(files: dict[str, bytes]) -> None:
            assert old in files[name]
            files[name] = files[name].replace(old, new, 1)
            signed(files)

        proved = wb.verify(rewritten(bundle, tmp_path, change))
        assert any(noticed in problem for problem in proved.problems), str(proved)
        assert not any("was changed" in problem for problem in proved.problems)

    def test_files_more_and_less(self, bundle: Path, tmp_path: Path) -> None:
        def more(files: dict[str, bytes]) -> None:
            files["extra.txt"] = b""

        def less(files: dict[str, bytes]) -> None:
            del files["grammar.gbnf"]

        problems = wb.verify(rewritten(bundle, tmp_path, more)).problems
        assert "extra.txt is not in the manifest" in problems
        assert "grammar.gbnf is missing" in wb.verify(rewritten(bundle, tmp_path, less)).problems

    def test_another_version_is_a_note(self, bundle: Path, tmp_path: Path) -> None:
        def change(files: dict[str, bytes]) -> None:
            manifest = json.loads(files["manifest.json"])
            manifest["versions"]["numpy"] = "0.1"
            files["manifest.json"] = json.dumps(manifest).encode()
            signed(files)

        proved = wb.verify(rewritten(bundle, tmp_path, change))
        assert proved.ok and any("other versions" in note for note in proved.notes)


class TestHostile:
    def zip_of(self, tmp_path: Path, write: Callable[[zipfile.ZipFile], None]) -> Path:
        path = tmp_path / "bad.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            write(archive)
        return path

    def said(self, path: Path) -> str:
        with pytest.raises(wb.BundleError) as caught:
            wb.verify(path)
        message = str(caught.value)
        assert message.startswith(f"{path}: ") and "\n" not in message
        return message

    @pytest.mark.parametrize(
        "name", ["../evil.py", "/etc/passwd", "a/b", "..", "c:\\x", "manifest.json\x00x", "", "é"]
    )
    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_names_that_lead_elsewhere(self, name: str, bundle: Path, tmp_path: Path) -> None:
        def write(archive: zipfile.ZipFile) -> None:
            for known, data in contents(bundle).items():
                archive.writestr(known, data)
            archive.writestr(zipfile.ZipInfo(name), b"x")

        # zipfile cuts names at NUL: then it is one that is there twice
        said = self.said(self.zip_of(tmp_path, write))
        assert "which no bundle has" in said or "twice" in said

    def test_a_bomb(self, tmp_path: Path) -> None:
        def write(archive: zipfile.ZipFile) -> None:
            for i in range(3):
                archive.writestr(f"zeros{i}", b"\0" * (60 << 20))

        path = self.zip_of(tmp_path, write)
        assert path.stat().st_size < 1 << 20
        assert "would unpack to" in self.said(path)

    def test_a_bomb_that_lies_about_its_size(self, tmp_path: Path) -> None:
        def write(archive: zipfile.ZipFile) -> None:
            archive.writestr("manifest.json", b"\0" * (80 << 20))

        path = self.zip_of(tmp_path, write)
        data = path.read_bytes()
        true_size = (80 << 20).to_bytes(4, "little")
        assert data.count(true_size) == 2
        path.write_bytes(data.replace(true_size, (10).to_bytes(4, "little")))
        self.said(path)

    def test_many_files_and_no_files(self, tmp_path: Path) -> None:
        def many(archive: zipfile.ZipFile) -> None:
            for i in range(MAX_MEMBERS + 1):
                archive.writestr(f"f{i}", b"")

        assert "at most" in self.said(self.zip_of(tmp_path, many))
        assert "it has no" in self.said(self.zip_of(tmp_path, lambda archive: None))

    def test_no_zip_at_all(self, bundle: Path, tmp_path: Path) -> None:
        path = tmp_path / "x.zip"
        whole = bundle.read_bytes()
        for data in (b"", b"PK", b"hello" * 100, whole[:-30], whole[: len(whole) // 2]):
            path.write_bytes(data)
            assert "no zip file" in self.said(path)
        assert "cannot be read" in self.said(tmp_path / "none.zip")
        assert "cannot be read" in self.said(tmp_path)

    def test_flipped_bytes_never_crash(self, bundle: Path, tmp_path: Path) -> None:
        whole = bytearray(bundle.read_bytes())
        path = tmp_path / "x.zip"
        for at in range(0, len(whole), 97):
            changed = bytearray(whole)
            changed[at] ^= 0x55
            path.write_bytes(changed)
            try:
                proved = wb.verify(path)
            except wb.BundleError:
                continue
            # dates and attributes of members are no content
            assert not proved.ok or contents(path) == contents(bundle)

    def test_a_member_twice(self, bundle: Path, tmp_path: Path) -> None:
        def write(archive: zipfile.ZipFile) -> None:
            for name, data in contents(bundle).items():
                archive.writestr(name, data)
            archive.writestr("examples.json", b"[]")

        with pytest.warns(UserWarning, match="Duplicate"):
            path = self.zip_of(tmp_path, write)
        assert "twice" in self.said(path)

    @pytest.mark.parametrize(
        "manifest",
        [
            b"",
            b"[]",
            b"[" * 100_000,
            b'{"format": "other"}',
            b"\xff",
            b'{"format": "workbench bundle"}',
        ],
    )
    def test_manifests(self, manifest: bytes, bundle: Path, tmp_path: Path) -> None:
        def change(files: dict[str, bytes]) -> None:
            files["manifest.json"] = manifest

        self.said(rewritten(bundle, tmp_path, change))

    @pytest.mark.parametrize(
        "change",
        [
            lambda m: m.pop("grammar"),
            lambda m: m["grammar"].update(kind="python"),
            lambda m: m["grammar"].update(options=[1]),
            lambda m: m.update(title=3),
            lambda m: m.update(versions=3),
        ],
    )
    def test_manifests_with_parts_of_another_kind(
        self, change: Callable[[Any], Any], bundle: Path, tmp_path: Path
    ) -> None:
        def rewrite(files: dict[str, bytes]) -> None:
            manifest = json.loads(files["manifest.json"])
            change(manifest)
            files["manifest.json"] = json.dumps(manifest).encode()

        self.said(rewritten(bundle, tmp_path, rewrite))

    def test_a_source_that_cannot_be_read(self, bundle: Path, tmp_path: Path) -> None:
        def change(files: dict[str, bytes]) -> None:
            files["grammar.schema.json"] = b'{"type": "nothing"}'
            signed(files)

        problems = wb.verify(rewritten(bundle, tmp_path, change)).problems
        assert any("cannot be read again" in problem for problem in problems)

    def test_unknown_options(self, bundle: Path, tmp_path: Path) -> None:
        def change(files: dict[str, bytes]) -> None:
            manifest = json.loads(files["manifest.json"])
            manifest["grammar"]["options"] = {"evil": 1}
            files["manifest.json"] = json.dumps(manifest).encode()
            signed(files)

        assert not wb.verify(rewritten(bundle, tmp_path, change)).ok


def test_tests_are_examples_of_texts_bytes_and_values() -> None:
    given: Mapping[str, Any] = {"accept": ["a", b"\xff", {"b": "é"}, 1]}
    before = copy.deepcopy(given)
    assert [e.data for e in examples_of(given)] == [b"a", b"\xff", '{"b": "é"}'.encode(), b"1"]
    assert given == before
    with pytest.raises(wb.WorkbenchError):
        examples_of({"accept": [object()]})


def test_reading_is_bounded(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.export.verify.MAX_FILE", 100)
    with pytest.raises(wb.BundleError, match="larger than 100"):
        read_bundle(bundle)
    assert zipfile.is_zipfile(io.BytesIO(bundle.read_bytes()))


def test_long_lists_are_exported_and_proved(tmp_path: Path) -> None:
    """Of texts of which all begin alike no more is made than what a parse looks at; decimals keep their digits."""
    texts = [f"value number {n:06}" for n in range(30_000)]
    grammar = wb.json_schema({"enum": texts})
    path = tmp_path / "texts.zip"
    wb.export(grammar, path, tests={"accept": [json.dumps(texts[7])], "reject": ['"value"']})
    assert wb.verify(path).ok
    numbers = [f"{n}.{'0' * 30}{n}" for n in range(1, 400)]
    path = tmp_path / "numbers.zip"
    grammar = wb.json_schema(f'{{"enum": [{", ".join(numbers)}]}}')
    wb.export(grammar, path, tests={"accept": [numbers[7]], "reject": ["7"]})
    assert wb.verify(path).ok
    with zipfile.ZipFile(path) as archive:
        source = archive.read("grammar.schema.json").decode()
    assert [line.strip(" ,") for line in source.splitlines() if "." in line] == numbers


def test_coverage_of_more_alternatives_than_are_looked_at() -> None:
    grammar = wb.json_schema({"enum": [f"{n:06}" for n in range(250_000)]})
    found = wb.coverage(grammar, ['"000001"'])
    assert found.unread == (b'"000001"',)


def test_the_package_is_its_function() -> None:
    import workbench.export

    assert callable(workbench.export) and wb.export is workbench.export
