"""A frame is one value from the engine to the page: kept in a trace, shown at a position, written for the front end."""

from __future__ import annotations

import workbench as wb
from workbench.automaton.frames import Frame, deep_end, depth, shortened
from workbench.decoding.situation import MAX_FRAMES, kept_stacks
from workbench.decoding.trace import Trace, TraceStep
from workbench.notebook.recorded import from_trace
from workbench.notebook.wire import stacks_wire
from workbench.vocabulary import byte_vocabulary

NESTED = wb.gbnf('root ::= "(" root ")" | item{200,500}\nitem ::= "[" item "]" | "x"')


def stack_after(text: bytes) -> tuple[Frame, ...]:
    matcher = wb.compile(NESTED, byte_vocabulary()).matcher()
    assert matcher.accept_tokens(text) == len(text)
    (stack,) = matcher.stacks()
    return stack


def recorded(stack: tuple[Frame, ...]) -> Trace:
    trace = Trace(vocabulary_size=257, vocabulary_width=257)
    tops = tuple(map(trace.add_stack, kept_stacks([stack])))
    trace.append(TraceStep(index=0, kind="sampled", token_id=1, token_bytes=b"x", stacks=tops))
    return Trace.from_json(trace.to_json())


def test_a_frame_is_the_same_at_every_step_of_the_way() -> None:
    stack = stack_after(b"((x[")
    assert {frame.count for frame in stack} == {None, 1}
    trace = recorded(stack)
    assert trace.stack(trace.steps[0].stacks[0]) == stack
    position = from_trace(trace, byte_vocabulary()).positions[0]
    assert position.stacks == (stack,) and position.depth == len(stack)
    assert [
        (frame["state"], tuple(frame["rules"]), frame["count"])
        for frame in stacks_wire(position.stacks)[0]
    ] == [(frame.state, frame.rules, frame.count) for frame in stack]


def test_the_deep_end_of_a_stack_is_counted_wherever_it_is_cut() -> None:
    stack = stack_after(b"(" * 1_000)
    trace = recorded(stack)
    kept = trace.stack(trace.steps[0].stacks[0])
    assert kept[:-1] == stack[:MAX_FRAMES] and len(kept) == MAX_FRAMES + 1
    assert depth(kept) == depth(stack) == len(stack)
    again = shortened(kept, 64)
    assert depth(again) == len(stack) and len(again) == 65
    assert str(again[-1]) == f"… {len(stack) - 64:,} more" and not again[-1].counted
    assert shortened(again, 64) == again and shortened(again, 70) == again
    assert stacks_wire([again])[0][-1] == {
        "state": -1,
        "rules": [f"… {len(stack) - 64:,} more"],
        "count": len(stack) - 64,
    }


def test_a_stack_that_is_short_is_kept_whole() -> None:
    frames = tuple(Frame(i, ("r",)) for i in range(5))
    assert shortened(frames, 5) == shortened(frames, 9) == frames
    assert deep_end(0) == () and depth(()) == 0
    assert depth(shortened(frames, 4)) == 5


def test_a_finding_on_a_trace_counts_the_deep_end() -> None:
    trace = recorded(stack_after(b"(" * 1_000))
    trace.finish_reason = "dead_end"
    trace.final = {"stacks": list(trace.steps[0].stacks)}
    (finding,) = wb.live_dead_ends(trace)
    assert depth(finding.stack) == depth(trace.stack(trace.steps[0].stacks[0]))
    assert "of at least 0" not in " ".join(map(str, finding.stack))
    assert finding.to_json()["stack"][-1]["left_out"] == finding.stack[-1].left_out > 900


def test_frames_in_words() -> None:
    assert str(Frame(3)) == "this place" and Frame(3).rule == ""
    assert Frame(3, ("a", "b", "c", "d")).rule == "a or b or c … 1 more"
    assert Frame(3, ("a",), 1).counted == "1 time"
    assert str(Frame(rules=("r",), count=3, least=3, most=3, entered=0)) == (
        "r (3 of 3, entered at the start)"
    )
    assert Frame(rules=("r",), count=1, least=2).counted == "1 of at least 2"
    assert Frame(rules=("r",), count=4, least=2, most=9).counted == "4 of at most 9"
    assert Frame(rules=("r",), items=("r → a•b",)).told == "r: r → a•b"


def test_the_engine_and_the_author_answer_in_one_form() -> None:
    matcher = wb.compile(NESTED, byte_vocabulary()).matcher()
    matcher.accept_tokens(b"((x")
    quick, full = matcher.explain(ord(")")), wb.explain(matcher, ")")
    assert type(quick) is type(full) is wb.Why is wb.Explanation
    same = ("token_id", "token_bytes", "label", "allowed", "consumed", "fatal", "expected")
    assert all(getattr(quick, name) == getattr(full, name) for name in same)
    assert (quick.terms, full.terms) == ("automaton", "author")
    assert quick.reason == quick.sentence and not quick.cells and full.cells
    assert quick.to_json().keys() == full.to_json().keys()
