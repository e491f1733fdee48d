"""The tutorials: small, stored without outputs, running as they are, exercises solvable.

The last cell of each is an exercise with a check. Its first paragraph is the reader's answer; the cell's metadata
hold a solution, and a wrong answer that is nearly right. What the prose says of the results is asserted in the
notebook's own kernel: ``FACTS``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: Seconds of processor time that a notebook may take.
LIMIT = 60

#: How many pictures of automata the text of a notebook speaks of.
DRAWN = {"02": 3, "03": 1, "08": 1}

#: What the prose of each notebook says, true in its kernel after its cells have run.
FACTS = {
    "01_first_mask": """
        m = wb.compile(wb.regex("(ab)+c?"), vocabulary).matcher()
        assert [tokens[i] for i in m.allowed_ids()] == [b"a", b"ab", b"abab"]
        assert m.accept(tokens.index(b"ab"))
        assert [tokens[i] for i in m.allowed_ids()] == [b"<end>", b"a", b"ab", b"abab", b"c"]
        assert [i for i in range(9) if bits[i] == "1"] == m.allowed_ids().tolist()
        assert "root" in m.explain(tokens.index(b"bc")).reason
        assert model.vocabulary.size > 1000 * len(tokens)
        assert 1024 < wb.empty_mask(model.vocabulary).nbytes < 10 * 1024
        assert set(json.loads(stepper.text)) == {"name", "age"}
    """,
    "02_bytes_and_states": """
        m = compiled.matcher()
        walked = [m.live_states()]
        for byte in b"abab":
            assert m.accept(byte)
            walked += [m.live_states()]
        assert walked == [(0,), (1,), (2,), (1,), (2,)]
        size = lambda pattern: wb.compile(wb.regex(pattern), every_byte).automaton.n_states
        assert size("(ab)+c?") == size("ab(ab)*c?") == size("ab(ab)*|ab(ab)*c")
        assert size("[0-9]{4}") == 5 and size("[0-9]{6}") == 7 and size("[0-9]{1000}") < 5
        assert size(".") < 20
        assert [len(c.encode()) for c in "aé€🙂"] == [1, 2, 3, 4]
        assert 0 < len(halves) < v.size // 10
        pieces = [v.token_bytes(i) for i in smile]
        assert len(pieces) > 1 and "😀".encode().startswith(pieces[0])
        m = wb.compile(wb.regex("🙂|😀"), v).matcher()
        assert m.accept(smile[0])
        found = {v.token_bytes(i) for i in m.allowed_ids()}
        assert {piece[:1] for piece in found} == {"🙂".encode()[2:3], "😀".encode()[2:3]}
    """,
    "03_the_stack": """
        m = {t: wb.compile(grammar, vocabulary).matcher() for t in ("2+", "2", "(2", "((2")}
        for t in m:
            assert m[t].accept_tokens([names.index(c) for c in t]) == len(t)
        may = {t: [names[i] for i in m[t].allowed_ids()] for t in m}
        assert may["2+"] == ["2", "("]
        assert may["2"] == ["<end>", "+"] and may["(2"] == may["((2"] == ["+", ")"]
        assert len({m[t].live_states() for t in ("2", "(2", "((2")}) == 1
        assert compiled.automaton.n_states == 6
        assert "".join(label[-1] for label in labels) == "((2+2)+(2))+2"
        assert owed == [2, 3, 2, 3, 2, 1, 2, 3, 2, 1, 0, 1, 0]
        grown = [wb.compile(wb.regex(sums(d)), vocabulary).automaton.n_states for d in range(6)]
        assert all(2 * a < b for a, b in zip(grown, grown[1:]))
        deep = wb.compile(wb.regex(sums(5)), vocabulary).matcher()
        assert deep.accept_tokens([3] * 6) == 5
        reason = str(wb.explain(string_in_list, '"}'))
        assert "byte 2 ('}') needs object # on top, found array #/properties/tags" in reason
    """,
    "04_token_boundaries": """
        assert len(ways("abab", ["a", "b", "ab", "ba", "abab"])) == 6
        assert counts[-1] == len(every) == 384 and len(after) == 1
        spelled = [model.vocabulary.token_bytes(i) for i in own]
        assert spelled[0] == b'{"' and b'":' in spelled and b"".join(spelled) == text
        m = compiled.matcher()
        assert m.accept_tokens([ids[b'{"'], ids[b"name"]]) == 2
        found = {model.vocabulary.token_bytes(i) for i in m.allowed_ids()}
        assert found >= {b'"', b'":'} and all(t.startswith(b'"') for t in found)
        asked = "The capital of France is"
        others = [[b" Par", b"is"], [b" ", b"Paris"], [b" P", b"aris"]]
        assert likely(asked, [b" Paris"]) > 10_000 * max(likely(asked, way) for way in others)
        best = Decoder(model, asked, chat=False).candidates(5)
        assert len(best) == 5 and best[0].label == "·Paris"
        assert all(c.label[0] == "·" for c in best)
        best = Decoder(model, asked + " ", chat=False).candidates(5)
        assert not any("Paris" in c.label or c.label[0] == "·" for c in best)
    """,
    "05_stepping_a_model": """
        assert model.vocabulary.size == 49_152
        assert json.loads(run.text)["animal"] in pet["animal"]["enum"]
        for step in steps:
            scaled = step.probability_before / (1 - step.mass_removed)
            assert abs(step.probability_after - scaled) < 0.01
        (le,) = [s for s in steps if s.text_before.endswith('"le')]
        assert le.allowed_count == 2
        assert all(step.allowed_count < 1000 for step in steps)
        assert any(s.mass_removed > 0.5 and s.text_before.endswith('"animal": "') for s in steps)
        assert len(horse) == 1 and json.loads(stepper.text)["animal"] == "horse"
        positions = stepper.session.document.positions
        assert len({p.id for p in positions} - {p.parent for p in positions}) == 2
        assert first.mass_removed > 0.9
    """,
    "06_dead_ends": """
        m = wb.compile(wb.regex("ac|b"), small).matcher()
        assert m.accept(tokens.index(b"a")) and m.allowed_ids().tolist() == []
        found = wb.dead_ends(wb.regex("ac|b"), small)
        assert len(found) == 1 and found[0].escape is not None
        assert len(wb.dead_ends(wb.regex(found[0].suggestion.apply("ac|b")), small)) == 0
        (found,) = wb.dead_ends(schema, examples=examples)
        assert [c.after for c in found.suggestion.effect] == [True]
        assert mended["properties"]["code"] == {**code, "maxLength": 3}
        assert after('{"id": 1', schema) == [] and "," in after('{"id": 1', mended)
        assert len(wb.dead_ends(mended, model.vocabulary)) == 0
        assert 0x04 in missing and not set(missing) & set("aé€🙂 \\t\\n".encode())
        (found,) = wb.dead_ends(wb.gbnf(words), model.vocabulary)
        assert found.kind == "never written" and "⟨04⟩" in found.message
        m = wb.compile(wb.json_schema({"const": "\\x04"}), model.vocabulary).matcher()
        spelled = model.tokenizer.encode('"\\\\u0004"', add_special_tokens=False)
        assert m.accept_tokens(spelled) == len(spelled) and m.is_accepting
        (found,) = wb.dead_ends(wb.json_schema(mended), model.vocabulary, max_tokens=3)
        assert found.kind == "over budget"
        assert len(wb.dead_ends(ticket)) == 2
    """,
    "07_where_time_goes": """
        # only what holds on a busy machine too
        assert forward > 10 * mask
        assert sum(cold.values()) > 5 * sum(warm.values())
        assert times.warm_up[0] == 0 and all(s.exposed <= s.mask for s in times.counted)
        fresh = wb.compile(grammar, model.vocabulary, cache=False)
        new = [misses(fresh, f'{{"title": "{t}", "mood": "sad"}}') for t in ("A bat", "A bat", "My cat")]
        assert new[0] > new[2] and new[1] == 0
        def looked_at(before):
            m = wb.compile(grammar, model.vocabulary, cache=False).matcher()
            m.accept_tokens(model.tokenizer.encode(before, add_special_tokens=False))
            m.fill_mask(wb.empty_mask(model.vocabulary))
            return m.stats()["trie_nodes"]
        assert looked_at('{"title": "A') > 2 * looked_at('{"title') > 0
        assert misses(lists, "[" * 300 + "1" + "]" * 300) == 0
        assert {g.name for g in times.by_rule()} >= {"properties/title"}
        assert same[0] is same[2]
    """,
    "08_export_a_tested_grammar": """
        assert wb.verify("colour.zip").ok and not wb.verify("changed.zip").ok
        assert any("00FG7f" in p for p in wb.verify("changed.zip").problems)
        assert "byte 8" in str(refused_reasons)
        assert {"grammar.gbnf", "report.html", "test_grammar.py", "manifest.json"} <= set(files)
        assert wb.verify("coat.zip", model.vocabulary).ok
        found = wb.coverage(wb.json_schema(schema), [{"name": "coat"}])
        assert len(found.parts) == 3 and len(found.used) == 1
    """,
    "09_an_agents_answer": """
        assert [call.name for call in read] == ["get_weather", "find_trains"]
        assert read[1].arguments == {"start": "Oslo", "to": "Bergen"}
        assert out.text.encode()[found.start : found.end].decode() == found.text == advice
        told_spans = [s for p in panel.document.positions for s in p.spans.left + p.spans.closed]
        assert {"thoughts", "call", "name", "arguments", "advice"} <= {s.label for s in told_spans}
        (call,) = wb.read_calls(forced, small.text)
        assert call.name == "weather" and 1 <= call.arguments["days"] <= 7
        assert any(step.kind == "forced" for step in small.trace.steps)
        assert "<end>" in may_come["Hello"] and len(may_come["Hello"]) > 100
        assert [may_come[text] for text in may_come][1:] == [["↵"], ["f", "g"]]
        assert "'ask'" in told and "integr" in told and len(told.splitlines()) == 3
        assert any("ask" in str(outcome) for outcome in kept.outcomes)
        assert wb.match(same, "\\n".join([thoughts, first])) and not wb.match(same, "Hello")
        assert wb.verify("agent.zip").ok
    """,
}


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def answered(cell: Any, answer: str) -> Any:
    """The exercise with another answer in the place of the reader's."""
    _, check = cell.source.split("\n\n", 1)
    return nbformat.v4.new_code_cell(f"{answer}\n\n{check}")


def run(notebook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Execute a notebook in an empty folder and return its code cells."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    # a fresh machine: no program but Python's own is found by its name
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    # the tests keep no compiled grammars; a reader's kernel does
    monkeypatch.delenv("WORKBENCH_COMPILED_GRAMMARS", raising=False)
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(cell: Any) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def pictures(cell: Any) -> int:
    kinds = ("text/html", "application/vnd.plotly.v1+json")
    return sum(any(kind in output.get("data", {}) for kind in kinds) for output in cell.outputs)


def test_there_are_nine_in_order() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"{n:02}" for n in range(1, 10)]
    assert {path.stem for path in NOTEBOOKS} == set(FACTS)


def test_the_readme_lists_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [path.stem for path in NOTEBOOKS if f"](notebooks/{path.name})" not in readme] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestEachNotebook:
    def test_is_small(self, path: Path) -> None:
        notebook = read(path)
        nbformat.validate(notebook)
        assert len(notebook.cells) <= 25
        for cell in notebook.cells:
            lines = [line for line in cell.source.splitlines() if line.strip()]
            assert cell.cell_type == "markdown" or len(lines) <= 8, cell.source
        assert any(cell.cell_type == "code" for cell in notebook.cells[:3])

    def test_explains_more_than_it_computes(self, path: Path) -> None:
        cells = read(path).cells
        words = {"markdown": 0, "code": 0}
        for cell in cells:
            words[cell.cell_type] += len(cell.source.split())
        assert words["markdown"] > words["code"]
        assert cells[0].source.startswith(f"# {path.stem[:2]} · ")
        kinds = [cell.cell_type for cell in cells]
        assert kinds == ["markdown", "code"] * (len(kinds) // 2), "each code cell is introduced"

    def test_is_stored_without_outputs(self, path: Path) -> None:
        notebook = read(path)
        assert set(notebook.metadata) == {"kernelspec", "language_info"}
        for cell in notebook.cells:
            if cell.cell_type == "code":
                assert cell.outputs == []
                assert cell.execution_count is None

    def test_ends_with_an_exercise(self, path: Path) -> None:
        last = read(path).cells[-1]
        first, check = last.source.split("\n\n", 1)
        assert "answer" in first
        assert "answer" in check
        for kind in ("solution", "wrong"):
            assert last.metadata["workbench"][kind].startswith(("answer = ", "def answer("))

    @pytest.mark.slow
    @pytest.mark.model
    def test_runs_says_the_truth_and_can_be_solved(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        notebook = read(path)
        last = notebook.cells[-1]
        told = last.metadata["workbench"]
        facts = ["import time", f"assert time.process_time() < {LIMIT}"]
        facts += [line.removeprefix(" " * 8) for line in FACTS[path.stem].splitlines()]
        notebook.cells += [
            nbformat.v4.new_code_cell("\n".join(facts)),
            answered(last, told["wrong"]),
            answered(last, told["solution"]),
        ]
        *cells, placeholder, _, wrong, solution = run(notebook, monkeypatch, tmp_path)
        assert any(pictures(cell) for cell in cells[:2])
        drawn = [cell for cell in cells if cell.source.endswith(".automaton")]
        assert len(drawn) == DRAWN.get(path.stem[:2], 0)
        for cell in drawn:
            assert any("<img alt=" in o.get("data", {}).get("text/html", "") for o in cell.outputs)
        for cell in (placeholder, wrong):
            # a message that says more than that it is wrong
            assert text_of(cell).startswith("not yet: ")
            assert len(text_of(cell).split()) > 3
        assert text_of(wrong) != text_of(placeholder) or path.stem.startswith("07")
        assert text_of(solution).strip() == "solved"


def test_the_first_notebook_says_what_it_shows() -> None:
    source = " ".join(
        cell.source for cell in read(ROOT / "notebooks" / "01_first_mask.ipynb").cells
    )
    assert "A mask is a set of tokens" in source
    assert "wb.step(model, prompt, person" in source
