"""What the screens beside the stepper are answered, without a browser."""

from __future__ import annotations

import base64
import itertools
import json
import re
import threading
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.notebook.samples import automaton, vocabulary
from workbench.automaton.dot import transitions
from workbench.automaton.frames import Frame
from workbench.automaton.naming import place, places
from workbench.decoding import Decoder
from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.diagnostics.dead_ends.findings import Finding
from workbench.diagnostics.explain.stack_needs import decided_by_stack
from workbench.export.verify import verify
from workbench.frontends.gbnf import gbnf
from workbench.frontends.json_schema import json_schema
from workbench.frontends.regex import regex
from workbench.notebook.editor import is_source
from workbench.notebook.explorer import first_rules, vocabulary_table
from workbench.notebook.finding_wire import finding_wire
from workbench.notebook.request_handlers import RequestHandlers
from workbench.notebook.session import Session
from workbench.notebook.static_html import static_html
from workbench.notebook.static_panels import static_panels
from workbench.vocabulary import byte_vocabulary

PROMPT = [1, 2, 3]
LETTERS = "(ab|c)[ab]{2,9}[01]+"


@pytest.fixture
def handlers(tiny: Any) -> RequestHandlers:
    return RequestHandlers(Session(Decoder(tiny, PROMPT, regex(LETTERS)), "letters"))


def ask(
    handlers: RequestHandlers, about: str, **message: Any
) -> tuple[dict[str, Any], list[bytes]]:
    """An answer and its buffers, waited for where the work goes to a thread."""
    answered = threading.Event()
    heard: list[tuple[dict[str, Any], Any]] = []

    def reply(answer: dict[str, Any], buffers: Any = ()) -> None:
        heard.append((answer, buffers))
        answered.set()

    found = handlers.ask(about, message, reply)
    if found is None:
        assert answered.wait(60)
        found = heard[0]
    answer, buffers = found if isinstance(found, tuple) else (found, [])
    json.dumps(answer, allow_nan=False)
    return answer, list(buffers)


def test_which_tokens_the_stack_decides_about(tiny: Any) -> None:
    nested = gbnf('root ::= e\ne ::= "a" | "(" e ")" | "[" e "]"\n')
    handlers = RequestHandlers(Session(Decoder(tiny, PROMPT, nested), "nested"))
    answer, (bits,) = ask(handlers, "needs", node=0)
    decoder = handlers.session.decoder
    found = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    expected = decided_by_stack(decoder.matcher)
    assert np.flatnonzero(found).tolist() == np.flatnonzero(expected).tolist()
    assert answer == {"count": int(expected.sum())}


def test_without_a_stack_no_token_is_decided_by_it(handlers: RequestHandlers) -> None:
    answer, (bits,) = ask(handlers, "needs", node=0)
    assert answer == {"count": 0}
    assert not any(bits)


def test_tokens_of_a_state_are_counted(handlers: RequestHandlers) -> None:
    start = handlers.session.here.live[0]
    answer, _ = ask(handlers, "state", state=start)
    # a regular grammar has no stack: what may come at the start is what may come in its state
    assert answer == {"state": start, "inside": handlers.session.here.allowed, "above": 0}
    answer, _ = ask(handlers, "state", state=10**6)
    assert answer == {"error": "there is no state 1000000"}


def test_the_vocabulary_arrives_whole() -> None:
    table = vocabulary()
    answer, (blob, offsets) = vocabulary_table(table)
    cuts = np.frombuffer(offsets, "<i4")
    found = [blob[a:b] for a, b in itertools.pairwise(cuts)]
    assert found == [table.token_bytes(i) for i in range(table.size)]
    assert answer == {"size": 16, "special": {"0": "<|im_end|>"}}


def test_the_mask_and_what_the_model_thinks(handlers: RequestHandlers) -> None:
    answer, (mask, before) = ask(handlers, "mask", node=0)
    bits = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")
    decoder = handlers.session.decoder
    assert np.flatnonzero(bits).tolist() == np.flatnonzero(decoder.mask).tolist()
    probabilities = np.frombuffer(before, "<f4")
    assert probabilities.sum() == pytest.approx(1, abs=1e-5)
    assert answer["allowed"] == int(decoder.mask.sum())
    assert answer["kept"] == pytest.approx(1 - handlers.session.here.mass_removed, abs=1e-5)
    assert answer["rules"] == ["root"]
    assert [b for b, i in enumerate(answer["byByte"]) if i == 0] == [ord("a"), ord("c")]


def test_the_mask_of_an_earlier_position_leaves_the_run_where_it_is(
    handlers: RequestHandlers,
) -> None:
    first = ask(handlers, "mask", node=0)
    handlers.session.run()
    text = handlers.session.decoder.text
    assert ask(handlers, "mask", node=0) == first
    assert handlers.session.decoder.text == text
    assert ask(handlers, "mask", node=handlers.session.cursor)[0] == {"ended": True}


def test_after_which_tokens_the_text_may_end(tiny: Any) -> None:
    handlers = RequestHandlers(Session(Decoder(tiny, PROMPT, regex("a|ab|cc")), "ends"))
    answer, (bits,) = ask(handlers, "endings", node=0)
    ends = np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little"))
    assert ends.tolist() == [1, 11]  # "a" and "ab", not "c"
    assert answer["tried"] == 3


def test_first_bytes_are_read_in_rules() -> None:
    drawn = automaton()
    assert first_rules(drawn, [(Frame(4, ("object",)),)]) == {0x22: "string"}
    # In a final state of the string: its own bytes, and those after the frame is popped.
    at_end = first_rules(drawn, [(Frame(9, ("string",)), Frame(5, ("object",)))])
    assert at_end == {0x7D: "object"}
    assert first_rules(drawn, []) == {}
    assert first_rules(drawn, [(Frame(99),)]) == {}


@pytest.mark.parametrize(
    ("grammar", "text", "names"),
    [
        # each text stops inside a counted part: one more round may come, and what follows the last one
        (regex(r"(ab|ba){2,4}[0-9]"), b"ab", {ord("a"): "root", ord("b"): "root"}),
        (
            json_schema(
                {"properties": {"n": {"type": "string", "maxLength": 20}}, "required": ["n"]}
            ),
            b'{"n": "x',
            {ord("y"): "#/properties/n", 0xC3: "#/properties/n", ord('"'): "#/properties/n"},
        ),
        (
            json_schema({"properties": {"n": {"type": "null"}}, "required": ["n"]}),
            b"{ ",
            {ord(" "): "#"},
        ),
    ],
    ids=["pattern", "string", "blanks"],
)
def test_every_allowed_first_byte_has_its_rule(
    grammar: Any, text: bytes, names: dict[int, str]
) -> None:
    matcher = wb.compile(grammar, byte_vocabulary()).matcher()
    assert matcher.accept_tokens(text) == len(text)
    found = first_rules(matcher.compiled.automaton, matcher.stacks())
    assert matcher.allowed_bytes() <= set(found)
    assert {byte: found[byte] for byte in names} == names


def test_one_rule_has_one_name_everywhere(tiny: Any) -> None:
    """In the picture, on the stack, in the groups of tokens and in the reasons."""
    schema = {
        "type": "object",
        "properties": {"n": {"type": "string", "maxLength": 20}, "m": {"$ref": "#/$defs/x"}},
        "required": ["n", "m"],
        "$defs": {"x": {"type": "array", "items": {"type": "array"}}},
    }
    compiled = wb.compile(json_schema(schema), byte_vocabulary())
    automaton = compiled.automaton.complete()
    names = {name for state in range(automaton.n_states) for name in places(automaton, state)}
    assert {"#", "#/properties/n", "#/$defs/x"} <= names
    assert all(name.startswith("#") or "/" not in name for name in names)
    called = {t.label for s in range(automaton.n_states) for t in transitions(automaton, s)}
    calls = {label.removeprefix("▭ ") for label in called if re.match("▭ [#$pr]", label)}
    assert calls
    assert all(call.startswith("#") for call in calls)
    matcher = compiled.matcher()
    assert matcher.accept_tokens(b'{"n": "x') == 8
    assert "may not come in #/properties/n;" in matcher.explain(ord("\n")).reason
    texts = wb.gbnf('root ::= items\nitems ::= "a" items | "b"')
    whole = wb.compile(texts, byte_vocabulary()).automaton
    assert {place(whole, s) for s in range(whole.n_states)} <= {"root", "items"}


def test_states_of_schemas_are_called_by_pointers(tiny: Any) -> None:
    schema = {"properties": {"a": {"const": 1}}, "required": ["a"]}
    schema |= {"type": "object", "additionalProperties": False}
    session = Session(Decoder(tiny, PROMPT, json_schema(schema, whitespace="compact")), "schema")
    compiled = session.decoder.compiled
    assert compiled is not None
    names = {place(compiled.automaton, s) for s in range(compiled.automaton.n_states)}
    assert {"#", "#/properties/a"} <= names
    assert session.here.stacks[0][0].rules[0] == "#"
    assert places(compiled.automaton, 10**6) == ()


def test_a_picture_around_any_state(handlers: RequestHandlers) -> None:
    answer, _ = ask(handlers, "picture", states=[0])
    assert 0 in answer["graph"]["shown"]
    assert answer["rules"]["0"] == "root"
    assert "error" in RequestHandlers(
        Session(Decoder(handlers.session.decoder.model, PROMPT), "free")
    ).ask("picture", {"states": [0]}, print)


class TestEditor:
    def test_knows_the_text_of_its_grammar(self, handlers: RequestHandlers) -> None:
        assert ask(handlers, "grammar")[0] == {"text": LETTERS, "kind": "regex", "examples": []}

    def test_judges_examples_byte_by_byte(self, handlers: RequestHandlers) -> None:
        examples = [
            {"text": "abab0", "want": "match"},
            {"text": "abab", "want": "prefix"},
            {"text": "abab", "want": "match"},
            {"text": "abx", "want": "not"},
            {"text": "abab0", "want": "not"},
        ]
        answer, _ = ask(handlers, "check", text=LETTERS, kind="regex", examples=examples)
        assert answer["ok"]
        assert answer["states"] > 3
        found = [(e["ok"], e["verdict"], e["failing"]) for e in answer["examples"]]
        assert found == [
            (True, "match", None),
            (True, "prefix", None),
            (False, "prefix", None),
            (True, "no match", 2),
            (False, "match", None),
        ]
        assert answer["examples"][3]["byte"] == "x"
        assert answer["examples"][3]["expected"] == "a b"
        assert handlers.session.document.panels["grammar"] == answer

    @pytest.mark.parametrize(
        ("kind", "text", "line", "underlined"),
        [
            ("gbnf", 'root ::= pair\npair ::= vlue "x"\nvalue ::= "1"', 2, "vlue"),
            ("gbnf", 'root ::= "a', 1, '"'),
            ("regex", "a(b", 1, "("),
            ("json_schema", '{"type": "object",\n "oops"', 2, None),
            (
                "json_schema",
                '{\n "properties": {"a": {"type": "strung"}}}',
                2,
                '"type": "strung"',
            ),
        ],
    )
    def test_points_to_a_mistake(
        self, handlers: RequestHandlers, kind: str, text: str, line: int, underlined: str | None
    ) -> None:
        answer, _ = ask(handlers, "check", text=text, kind=kind, examples=[{"text": "a"}])
        (mistake,) = answer["mistakes"]
        assert not answer["ok"]
        assert mistake["kind"] == "GrammarSyntaxError"
        assert mistake["line"] == line
        if underlined is not None:
            assert text[mistake["start"] : mistake["end"]] == underlined
        assert answer["examples"][0]["verdict"] == "not judged"

    def test_offers_the_nearest_name(self, handlers: RequestHandlers) -> None:
        answer, _ = ask(handlers, "check", text="root ::= vlue\nvalue ::= [0-9]", kind="gbnf")
        assert answer["mistakes"][0]["hint"] == "did you mean 'value'?"

    def test_an_error_keeps_the_old_verdicts_and_says_so(self, handlers: RequestHandlers) -> None:
        examples = [{"text": "caa0", "want": "match"}, {"text": "z", "want": "match"}]
        good, _ = ask(handlers, "check", text=LETTERS, kind="regex", examples=examples)
        examples.append({"text": "new", "want": "not"})
        for _ in range(2):  # the second error has only stale ones to go by
            bad, _ = ask(handlers, "check", text=LETTERS + "(", kind="regex", examples=examples)
            assert not bad["ok"]
            old, failed, new = bad["examples"]
            assert (old, failed) == tuple({**e, "stale": True} for e in good["examples"])
            assert new["verdict"] == "not judged"
            shown = static_panels(handlers.session.document, handlers.session.document.path())
            assert "◌ stale: match" in shown
            assert "1 of 3 examples as wanted before the error" in shown
        again, _ = ask(handlers, "check", text=LETTERS, kind="regex", examples=examples)
        assert not any(example.get("stale") for example in again["examples"])

    def test_says_what_is_restricted(self, handlers: RequestHandlers) -> None:
        answer, _ = ask(handlers, "check", text='{"type": "integer"}', kind="json_schema")
        assert any("integers as 12" in outcome["detail"] for outcome in answer["outcomes"])

    def test_makes_examples_that_are_what_they_should_be(self, handlers: RequestHandlers) -> None:
        made, _ = ask(handlers, "make", text=LETTERS, kind="regex", seed=1)
        assert {e["want"] for e in made["examples"]} == {"match", "not"}
        answer, _ = ask(handlers, "check", text=LETTERS, kind="regex", examples=made["examples"])
        assert all(e["ok"] for e in answer["examples"])
        assert "error" in ask(handlers, "make", text="(", kind="regex")[0]

    def test_a_new_grammar_begins_a_new_run(self, handlers: RequestHandlers) -> None:
        heard: list[Session] = []
        handlers.replaced = heard.append
        handlers.session.run()
        assert ask(handlers, "apply", text='root ::= "ab" [01]+', kind="gbnf")[0] == {"done": True}
        assert heard == [handlers.session]
        assert len(handlers.session.document.positions) == 1
        assert handlers.session.decoder.trace.prompt_ids == PROMPT
        assert handlers.session.step().edge is not None
        assert "error" in ask(handlers, "apply", text="root ::= (", kind="gbnf")[0]

    def test_the_run_before_it_stays(self, handlers: RequestHandlers) -> None:
        old = handlers.session
        old.run()
        left: list[int] = []
        handlers.leaving = lambda: left.append(len(left))
        handlers.examples = []
        ask(handlers, "apply", text='root ::= "ab" [01]+', kind="gbnf")
        new = handlers.session
        new.step()
        runs = new.document.runs
        assert runs is not None
        assert (runs.at, len(runs.names), list(runs.left)) == (1, 2, [0])
        assert runs.names[0] == f"run 1, regex, {len(old.document.positions) - 1} steps"
        wire = new.document.wire()["runs"]
        kept = json.loads(zlib.decompress(base64.b64decode(wire["others"]["0"]["payload"])))
        assert len(kept["positions"]) == len(old.document.positions)
        assert wire["others"]["0"]["cursor"] == old.cursor
        assert old.text in static_html(new.document)
        heard: list[Session] = []
        handlers.replaced = heard.append
        assert ask(handlers, "run", number=0)[0] == {"done": True}
        assert heard == [old] == [handlers.session]
        assert left == [0, 1]
        shown = old.document.runs
        assert shown is not None
        assert (shown.at, list(shown.left)) == (0, [1])
        assert new.document.runs is None
        assert handlers.grammar.kind == "regex"
        assert "there is no run 7" in ask(handlers, "run", number=7)[0]["error"]

    def test_only_the_newest_of_several_checks_is_done(self, handlers: RequestHandlers) -> None:
        gate = threading.Event()
        handlers.later("other", lambda: {"waited": gate.wait(30)}, lambda _: None)
        answers: list[dict[str, Any]] = []
        for text in ("a+", "b+", "c+"):
            handlers.ask("check", {"text": text, "kind": "regex"}, answers.append)
        gate.set()
        assert ask(handlers, "make", text="a", kind="regex")[0]["examples"]
        assert [a.get("overtaken", a.get("text")) for a in answers] == [True, True, "c+"]


class TestDeadEnds:
    def test_an_impossible_member_is_found_and_mended(self, tiny: Any) -> None:
        schema = {
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "^[ab]{3}$", "maxLength": 2}},
            "additionalProperties": False,
        }
        handlers = RequestHandlers(Session(Decoder(tiny, PROMPT, json_schema(schema)), "dead"))
        answer, _ = ask(handlers, "dead")
        finding = next(f for f in answer["findings"] if f["kind"] == "never written")
        assert ["caused by", "#/properties/a"] in finding["facts"]
        assert "+" in finding["diff"]
        assert json.loads(finding["edited"])["properties"]["a"]["maxLength"] == 3
        # The suggested text is a grammar without that finding.
        assert ask(handlers, "apply", text=finding["edited"], kind="json_schema")[0] == {
            "done": True
        }
        again, _ = ask(handlers, "dead")
        assert all(f["kind"] != "never written" for f in again["findings"])

    def test_tokens_on_the_way_have_their_texts(self, tiny: Any) -> None:
        finding = Finding(kind="near dead end", message="m", token_ids=(1, 13, *[3] * 50, 17))
        facts = dict(finding_wire(finding, None, tiny.vocabulary)["facts"])
        assert facts["tokens"] == f"13 tokens before, then {'c ' * 39}·"

    def test_a_budget_that_is_too_small_is_found(self, tiny: Any) -> None:
        handlers = RequestHandlers(Session(Decoder(tiny, PROMPT, regex("[ab]{9}")), "long"))
        answer, _ = ask(handlers, "dead", max_tokens=2)
        assert "over budget" in [f["kind"] for f in answer["findings"]]
        assert handlers.session.document.panels["dead"]["findings"] == answer["findings"]


def test_what_nobody_knows(handlers: RequestHandlers) -> None:
    assert "error" in ask(handlers, "weather")[0]


class TestExport:
    EXAMPLES = ({"text": "abab0", "want": "match"}, {"text": "x", "want": "not"})

    def export(self, handlers: RequestHandlers, path: Path, **more: Any) -> dict[str, Any]:
        answer, _ = ask(handlers, "export", path=str(path), **more)
        return answer

    def test_refuses_with_reasons(self, handlers: RequestHandlers, tmp_path: Path) -> None:
        answer = self.export(handlers, tmp_path / "a.zip", dry=False)
        assert not answer["ok"]
        assert any("no examples" in reason for reason in answer["reasons"])
        handlers.examples = [{"text": "abx", "want": "match"}]
        answer = self.export(handlers, tmp_path / "a.zip", dry=False)
        assert any("“abx” is refused" in reason for reason in answer["reasons"])
        assert self.export(handlers, tmp_path, dry=False)["reasons"] == ["name a file to write"]
        assert list(tmp_path.iterdir()) == []

    def test_a_dry_run_writes_nothing_an_export_is_proved(
        self, handlers: RequestHandlers, tmp_path: Path
    ) -> None:
        handlers.examples = list(self.EXAMPLES)
        target = tmp_path / "letters.zip"
        dry = self.export(handlers, target, dry=True)
        assert (dry["ok"], dry["reasons"], target.exists()) == (True, [], False)
        names = {name for name, _, _ in dry["files"]}
        assert {"examples.json", "manifest.json", "test_grammar.py", "report.html"} <= names
        done = self.export(handlers, target, dry=False)
        assert done["ok"]
        assert "proved again" in done["note"]
        assert verify(target).ok
        assert handlers.session.document.panels["export"] == done

    def test_refuses_while_the_editor_shows_another_grammar(
        self, tiny: Any, tmp_path: Path
    ) -> None:
        schema = {
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "^[ab]{3}$", "maxLength": 2}},
            "additionalProperties": False,
        }
        handlers = RequestHandlers(Session(Decoder(tiny, PROMPT, json_schema(schema)), "dead"))
        handlers.examples = [{"text": "{}", "want": "match"}]
        (finding,) = [f for f in ask(handlers, "dead")[0]["findings"] if f["subject"] == "grammar"]
        editor = {"text": finding["edited"], "kind": "json_schema"}
        assert ask(handlers, "check", **editor)[0]["in_use"] is False
        target = tmp_path / "dead.zip"
        for dry in (True, False):
            answer = self.export(handlers, target, dry=dry, editor=editor)
            assert not answer["ok"] and "not the grammar in use" in answer["reasons"][0]
        assert list(tmp_path.iterdir()) == []
        # with the text put to use it is the one that is written
        assert ask(handlers, "apply", **editor)[0] == {"done": True}
        assert handlers.session.document.panels["grammar"]["in_use"] is True
        answer = self.export(handlers, target, dry=False, editor=editor)
        assert answer["ok"] and verify(target).ok
        with zipfile.ZipFile(target) as bundle:
            assert json.loads(bundle.read("grammar.schema.json")) == json.loads(editor["text"])
        # another layout is the same schema, another order of members is another one
        assert is_source(json.dumps(json.loads(editor["text"])), "json_schema", handlers.grammar)
        changed = dict(reversed(json.loads(editor["text"]).items()))
        assert not is_source(json.dumps(changed), "json_schema", handlers.grammar)
        assert not is_source("{", "json_schema", handlers.grammar)
        assert not is_source(editor["text"], "gbnf", handlers.grammar)

    def test_a_grammar_from_a_cell_takes_the_place_of_the_text(
        self, handlers: RequestHandlers
    ) -> None:
        ask(handlers, "check", text=LETTERS, kind="regex")
        handlers.use({"enum": ["ab", 1]})
        assert "grammar" not in handlers.session.document.panels
        assert ask(handlers, "grammar")[0]["kind"] == "json_schema"

    def test_screen_bundle_and_report_count_alike(self, tiny: Any, tmp_path: Path) -> None:
        schema = {
            "anyOf": [{"type": "string", "minLength": 3, "maxLength": 2}, {"enum": ["aé", 1]}]
        }
        handlers = RequestHandlers(Session(Decoder(tiny, PROMPT, json_schema(schema)), "counts"))
        handlers.examples = [{"text": "1", "want": "match"}]
        screen, _ = ask(handlers, "dead")
        report = dead_ends(handlers.session.decoder.compiled, examples=["1"])
        assert report.summary == f"{len(report.errors)} errors, {len(report.warnings)} warnings"
        assert screen["summaries"][0] == ["grammar", report.summary, len(report.errors)]
        subjects = [f["subject"] for f in screen["findings"]]
        assert subjects == ["grammar"] * len(report)
        answer = self.export(handlers, tmp_path / "c.zip", dry=False, note="known")
        assert f"dead ends: {report.summary}" in answer["notes"]
        with zipfile.ZipFile(tmp_path / "c.zip") as bundle:
            counts = json.loads(bundle.read("manifest.json"))["dead_ends"]
            inside = json.loads(bundle.read("dead_ends_tokenizer.json"))
            page = bundle.read("report.html").decode()
        assert (counts["errors"], counts["warnings"]) == (len(report.errors), len(report.warnings))
        assert inside["summary"] == report.summary
        assert page.count(report.summary) == 2
        assert str(report).startswith(f"dead ends in the grammar: {report.summary}\n")

    def test_nothing_is_written_over_without_a_second_press(
        self, handlers: RequestHandlers, tmp_path: Path
    ) -> None:
        handlers.examples = list(self.EXAMPLES)
        target = tmp_path / "letters.zip"
        target.write_bytes(b"mine")
        answer = self.export(handlers, target, dry=False)
        assert answer["exists"]
        assert target.read_bytes() == b"mine"
        assert self.export(handlers, target, dry=False, overwrite=True)["ok"]
        assert target.read_bytes() != b"mine"
