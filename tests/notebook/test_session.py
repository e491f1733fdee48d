"""The session: the tree of positions, the decoder's place in it, reasons, search, dead ends."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.notebook.tiny import TOKENS
from workbench.decoding import Decoder, Sampling
from workbench.errors import WorkbenchError
from workbench.frontends.regex import regex
from workbench.notebook.session import Session

PROMPT = [1, 2, 3]


@pytest.fixture
def session(tiny: Any) -> Session:
    return Session(Decoder(tiny, PROMPT, regex("(ab|c)[ab]{2,9}[01]+")), "letters")


def decoder_of(tiny: Any, pattern: str) -> Decoder:
    return Decoder(tiny, PROMPT, regex(pattern))


class TestPositions:
    def test_the_start_is_known_at_once(self, session: Session) -> None:
        here = session.here
        assert (here.id, here.parent, here.edge, here.open) == (0, -1, None, True)
        # a, c, ab and aba may come first
        assert here.allowed == 4
        allowed = {row.token_id for row in here.rows if row.allowed}
        assert allowed == {1, 3, 11, 12}
        assert here.live
        assert here.times is not None
        assert here.times.forward > 0
        assert session.decoder.token_ids == []

    def test_rows_agree_with_the_decoder(self, session: Session) -> None:
        found = {c.token_id: c for c in session.decoder.candidates(99, refused=True)}
        for row in session.here.rows:
            if row.token_id >= session.decoder.vocabulary.size:
                assert not row.allowed  # padding: the model may like it, nobody may take it
                continue
            if row.before is not None:
                assert row.before == pytest.approx(found[row.token_id].probability_before, rel=1e-5)
            if row.allowed:
                assert row.after == pytest.approx(found[row.token_id].probability_after, rel=1e-5)
            assert row.allowed == found[row.token_id].allowed

    def test_a_step_takes_what_was_foretold(self, session: Session) -> None:
        foretold = session.here.next
        reached = session.step()
        assert reached.edge is not None
        assert reached.edge.token_id == foretold
        assert reached.edge.kind == "sampled"
        assert (session.cursor, reached.parent) == (1, 0)

    def test_positions_equal_those_of_a_plain_run(self, tiny: Any, session: Session) -> None:
        session.run()
        plain = decoder_of(tiny, "(ab|c)[ab]{2,9}[01]+")
        steps = []
        while not plain.is_finished and len(steps) < 256:
            steps.append(plain.step())
        path = session.document.path(session.cursor)
        assert [p.edge.token_id for p in path if p.edge] == [s.token_id for s in steps]
        for position, step in zip(path, steps, strict=False):
            assert position.allowed == step.allowed_count
            assert position.mass_removed == pytest.approx(step.mass_removed)
            assert position.live == step.live_states
        assert path[-1].end == plain.trace.finish_reason
        assert not path[-1].open

    def test_looking_back_runs_nothing(self, session: Session) -> None:
        session.run("end")
        end, tokens = session.cursor, session.decoder.token_ids
        assert session.back(2) == 2
        assert session.back(999) == end - 2
        assert session.cursor == 0
        assert session.decoder.token_ids == tokens
        session.goto(end)
        assert session.text.startswith(("ab", "c"))
        with pytest.raises(IndexError):
            session.goto(end + 1)

    def test_seeded_sampling_repeats(self, tiny: Any) -> None:
        def texts() -> str:
            sampling = Sampling(temperature=1.5, seed=11)
            session = Session(Decoder(tiny, PROMPT, regex("[abc01]{8}"), sampling=sampling))
            session.step()
            session.step()
            session.goto(1)
            session.take(3)
            session.goto(2)
            session.run()
            return session.text

        assert texts() == texts()


class TestBranches:
    def test_choosing_in_the_past_erases_nothing(self, session: Session) -> None:
        first = session.take(3)
        session.step()
        before = list(session.document.positions)
        session.goto(0)
        other = session.take(11)
        assert session.document.positions[: len(before)] == before
        assert (first.parent, other.parent) == (0, 0)
        assert other.edge is not None
        assert other.edge.kind == "chosen"
        assert session.decoder.token_ids == [11]

    def test_a_known_token_makes_no_second_branch(self, session: Session) -> None:
        first = session.take(3)
        session.goto(0)
        assert session.take(3) == first
        assert len(session.document.positions) == 2

    def test_the_decoder_follows_to_another_branch(self, session: Session) -> None:
        session.take(3)
        deep = session.take(1)
        session.take(11, 0)
        again = session.take(2, deep.id)
        assert session.decoder.token_ids == [3, 1, 2]
        assert session.document.text(again.id) == "cab"

    def test_undo_returns_to_before_each_taking(self, session: Session) -> None:
        session.take(3)
        session.take(1)
        session.take(11, 0)
        seen = []
        for _ in range(3):
            session.undo()
            seen.append(session.cursor)
        assert seen == [2, 1, 0]
        assert len(session.document.positions) == 4
        with pytest.raises(WorkbenchError, match="nothing to undo"):
            session.undo()

    def test_a_whole_run_is_undone_at_once(self, session: Session) -> None:
        session.take(3)
        session.run("end")
        end = session.cursor
        session.undo()
        assert session.cursor == 1
        session.goto(end)
        session.run("end")  # nothing to do there, so nothing to undo
        session.undo()
        assert session.cursor == 0

    def test_refused_tokens_change_nothing(self, session: Session) -> None:
        session.take(3)
        for bad in (10, 0, 18, 31, 99, -1):
            with pytest.raises(WorkbenchError):
                session.take(bad)
            assert (session.cursor, len(session.document.positions)) == (1, 2)
            assert session.decoder.token_ids == [3]
        session.step()

    def test_an_interrupted_step_is_taken_back(self, session: Session) -> None:
        session.take(3)
        session.decoder.step(1)  # as if the interrupt came before the position was kept
        reached = session.take(2)
        assert session.decoder.token_ids == [3, 2]
        assert session.document.text(reached.id) == "cb"


class TestRun:
    def test_stops_at_the_next_choice(self, tiny: Any) -> None:
        session = Session(decoder_of(tiny, 'a{4}"[01]{2}'))
        here = session.run("branching")
        assert here.allowed > 1
        passed = session.document.path(session.cursor)[1:-1]
        assert all(position.allowed == 1 for position in passed)

    def test_stops_at_the_end(self, tiny: Any) -> None:
        session = Session(decoder_of(tiny, "c{3}"))
        assert session.run("end").end == "eos"
        assert session.text == "ccc"
        assert session.run("end") == session.here  # nothing more to do
        with pytest.raises(WorkbenchError, match="ended"):
            session.step()
        kinds = [p.edge.kind for p in session.document.path() if p.edge]
        assert kinds == ["forced", "forced", "forced", "eos"]

    def test_a_full_context_ends_it(self, tiny: Any) -> None:
        session = Session(decoder_of(tiny, "[abc]{500}"))
        assert session.run("end").end == "length"
        assert len(session.document.path(session.cursor)) <= 64


class TestDeadEnds:
    """No token begins with z although "yz" holds it, so "az" cannot be spelled after "a"."""

    def test_is_shown_and_left_again(self, tiny: Any) -> None:
        session = Session(decoder_of(tiny, "az|cb"))
        session.take(3)
        session.goto(0)
        if not any(row.token_id == 1 and row.allowed for row in session.here.rows):
            pytest.skip("the engine leaves out tokens that lead nowhere")
        reached = session.take(1)
        assert (reached.open, reached.end) == (False, "dead_end")
        assert session.document.problem is not None
        assert session.document.problem[0] == "DeadEnd"
        assert session.document.text(session.take(2, 1).id) == "cb"
        assert session.document.problem is None

    def test_at_the_start(self, tiny: Any) -> None:
        session = Session(decoder_of(tiny, "z"))
        assert session.here.end == "dead_end"
        assert not session.here.open


class TestQuestions:
    def test_rejected_candidates_carry_reasons(self, session: Session) -> None:
        rejected = [row.token_id for row in session.here.rows if not row.allowed]
        assert set(session.here.whys) == set(rejected[:6])
        assert all(why.reason for why in session.here.whys.values())

    def test_why_names_the_fatal_byte(self, session: Session) -> None:
        session.take(3)
        why = session.why(12)  # "aba" is fine, its bytes are all in [ab]
        assert why.consumed == 3
        why = session.why(14)  # '":'
        assert why.consumed == 0
        assert why.sentence.startswith("byte 1 ('\"') may not come in root")
        assert [cell.status for cell in why.cells] == ["fatal", "not reached"]
        place = "root → (ab|c•)[ab]{2,9}[01]+"
        assert [frame.told for frame in why.cells[0].stack] == [
            f"root (entered at the start): {place}"
        ]
        assert why.expected == frozenset(b"ab")
        written = session.document.positions[1].wire()["whys"]["14"]
        assert written["reason"].startswith("Byte 1") and written["expected"] == "a b"
        (frame,) = written["cells"][0][2]
        assert (frame["told"], frame["place"]) == ("root (entered at the start)", place)
        assert session.document.positions[1].whys[14] == why

    def test_why_shows_where_the_text_stands_between_bytes(self, tiny: Any) -> None:
        """Live states, stacks and the picture move together: each has what the others have."""
        grammar = wb.gbnf('root ::= "{" name ":" root? "}"\nname ::= "\\"" [ab]* "\\""')
        session = Session(Decoder(tiny, PROMPT, grammar))
        session.take(TOKENS.index(b"{"))
        token = TOKENS.index(b'"')
        why = session.why(TOKENS.index(b'":'))
        inside = session.here.insides[TOKENS.index(b'":')]
        assert [len(inside), why.consumed] == [2, 1]  # the first byte may come, the second not
        assert (inside[0].live, inside[0].stacks) == (
            session.here.live,
            session.here.stacks,
        )
        for place in inside:
            assert {frames[0].state for frames in place.stacks} == set(place.live)
            assert set(place.live) <= set(session.document.pictures[place.graph].states)
        after = session.take(token)
        assert inside[1].live == after.live
        assert inside[1].stacks == after.stacks

    def test_why_in_the_past_leaves_the_decoder(self, session: Session) -> None:
        session.run("end")
        tokens = session.decoder.token_ids
        assert session.why(10, 0).expected == frozenset(b"ac")
        assert session.decoder.token_ids == tokens

    def test_search(self, session: Session) -> None:
        def ids(query: str, **options: Any) -> set[int]:
            return {row[0] for row in session.search(query, **options)["rows"]}

        assert ids("ab") == {11, 12}
        assert ids("B", allowed_only=True) == {11, 12}
        assert ids("hex:e2 9c") == {15}
        assert ids("id:16") == {16}
        assert ids("<end>") == {0}
        assert session.search("")["total"] == len(TOKENS)

    @pytest.mark.parametrize("query", ["id:", "id:x", "id:-1", "hex:", "hex:q", "hex:123", "id:²"])
    def test_unreadable_queries(self, session: Session, query: str) -> None:
        found = session.search(query)
        assert found["rows"] == []
        assert "hex:" in found["note"]

    def test_search_in_the_past_and_at_the_end(self, session: Session) -> None:
        session.run("end")
        tokens = session.decoder.token_ids
        assert session.search("c", 0)["rows"][0][3] == 1
        assert session.decoder.token_ids == tokens
        assert session.search("c")["note"] == "the run ended here"


class TestChanges:
    def test_only_what_is_new_is_sent(self, session: Session) -> None:
        first = session.changes()
        assert [p["id"] for p in first["positions"]] == [0]
        assert first["tokens"]
        assert session.changes()["positions"] == []
        session.take(3)
        session.why(14, 0)
        second = session.changes()
        assert [p["id"] for p in second["positions"]] == [0, 1]
        assert second["cursor"] == 1
        assert not set(second["tokens"]) & set(first["tokens"])


def test_without_a_grammar(tiny: Any) -> None:
    session = Session(Decoder(tiny, PROMPT, None))
    assert session.here.allowed == 19
    assert session.here.graph == ""
    session.step()
    assert session.why(3).reason == "there is no grammar: every token is allowed"
