"""A strategy's own texts: the lines that most of one kind share, the counts that one may state, and what a page shows."""

from __future__ import annotations

import measured
import pytest
from handmade import compose, trace

import bench
from bench.evidence.checks import checks_of
from bench.evidence.checks.findings import template_lines
from bench.evidence.generated_text import GeneratedText
from bench.evidence.session import TraceSession
from bench.model import Message, ModelTurn, Source, ToolCall, ToolResult, Trace, UserTurn
from bench.run.measuring import Measuring, RunSession
from bench.strategies import parse_strategy


def test_a_legend_is_expanded_only_in_the_text_of_a_result() -> None:
    text = "P1 = /usr/lib/site-packages\nin P1/numpy and P1/pandas"
    written_out = "in /usr/lib/site-packages/numpy and /usr/lib/site-packages/pandas"
    contents = evidence_of(f"{written_out}!").messages.contents
    shown = Message(role="tool", text=text, kind="result", step=0)
    assert contents.text_of(shown) == written_out
    assert contents.text_of(Message(role="user", text=text, kind="made")) == text


def test_data_in_another_layout_are_recognised_between_other_words() -> None:
    result = '[{"id": 7, "state": "open"}, {"id": 8, "state": null}]'
    contents = evidence_of(result).messages.contents
    texts = "Orders:\nid | state\n7 | open\n8 | -", '[{"state": "open", "id": 7.0}, {"id": 8}]', "id,state\n7,shut\n8,"
    shown = [Message(role="tool", text=text, kind="result", step=0) for text in texts]
    assert [contents.text_of(message) for message in shown] == [f"Orders:\n{result}", result, texts[2]]


def test_only_a_notice_by_a_strategy_has_no_text() -> None:
    messages = evidence_of("[4711 rows left out]").messages
    own = messages.number_of(Message(role="tool", text="[4712 rows left out]", kind="result", step=0))
    recorded = messages.index.full[0]
    assert (messages.texts_of(recorded), messages.texts_of(own)) == (["[4711 rows left out]"], [])


def generated_text(session: TraceSession, text: str, *, is_result: bool) -> GeneratedText:
    message = Message(role="tool" if is_result else "user", text=text, kind="made", step=0 if is_result else None)
    return session.generated_text(session.messages.number_of(message))


def test_a_line_in_half_of_the_texts_of_a_kind_is_wording() -> None:
    session = evidence_of("x").session
    results = [generated_text(session, text, is_result=True) for text in ("shortened\n1", "shortened\n2", "3", "4")]
    assert template_lines(results) == {"shortened"}
    assert template_lines([*results, generated_text(session, "5", is_result=True)]) == frozenset()
    summaries = [generated_text(session, text, is_result=False) for text in ("## Summary\na", "  ## Summary\nb", "c")]
    assert template_lines([*results, *summaries]) == {"shortened", "## Summary"}
    one_of_each = [generated_text(session, f"## Summary\n{text}", is_result=text == "r") for text in "ar"]
    assert template_lines(one_of_each) == frozenset()


def evidence_of(*results: str):
    steps = [ToolResult(index=at, call_id=f"c{at}", function="f", seen=text) for at, text in enumerate(results)]
    last = ModelTurn(index=len(steps), content="Done.")
    session = RunSession(Trace(id="t", source=Source(format="native"), steps=(*steps, last)), Measuring(()))
    return session.evidence(parse_strategy("keep_all"))


@pytest.mark.parametrize(
    ("stated", "unchecked"), [("55 lines", 0), ("40 lines", 1), ("1 line", 1), ("lines 3 to 57", 0), ("about 55", 0)]
)
def test_a_notice_may_not_state_far_fewer_lines_than_are_left_out(stated: str, unchecked: int) -> None:
    lines = [f"row {at} of the table" for at in range(60)]
    recording = trace(
        UserTurn(index=0, content="List."),
        ModelTurn(index=1, tool_calls=(ToolCall(id="c", name="f", arguments={}),)),
        ToolResult(index=2, call_id="c", function="f", seen="\n".join(lines)),
        ModelTurn(index=3, content="Listed."),
    )
    text = "\n".join([*lines[:3], f"[{stated} left out]", *lines[-2:]])
    invented = measured.evidence_of(recording, compose("mine", {"summarizer": lambda result: text}, "tests"))
    assert checks_of(invented)["invented"].unchecked == unchecked


LIBRARIES = (
    "summarizer=mini_swe_agent.output:limit=400,end=200", "summarizer=deepagents.output:max_chars=1500,ends=3,line_chars=120",
    "summarizer=mini_swe_agent.output:limit=1200,end=601", "summarizer=head_tail:head=3,tail=3",
    "summarizer=csv_table+compactor=mask_observations:keep_last=1", "compactor=clear_tool_uses:trigger=500,keep=1",
    "compactor=openhands.summarize:max_size=15", "store=external:preview_chars=50",
)  # fmt: skip


@pytest.mark.parametrize("recordings", ["terminal_tickets", "studies", "analysis"])
def test_what_libraries_write_can_be_checked_and_changes_nothing(recordings: str) -> None:
    ranked = bench.compare(f"traces/{recordings}", [f"s{at}={spec}" for at, spec in enumerate(LIBRARIES)]).advice.ranked
    failed = [(item.strategy, rule) for item in ranked for rule in item.rules if not rule.passed]
    assert [pair for pair in failed if pair[1].rule in ("changed", "misattributed", "invented", "hidden")] == []
    assert [(item.strategy, item.unchecked_text) for item in ranked if item.unchecked_text] == []


@pytest.mark.parametrize("known", ["call_I5bNG8aF", "case_E5"])
@pytest.mark.parametrize("unknown", ["", "call_Q9rTT2xZ", "case_E6"])
def test_a_notice_may_name_a_recorded_call_and_shorten_a_name(known: str, unknown: str) -> None:
    recording = trace(
        UserTurn(index=0, content="Who is it?"),
        ModelTurn(index=1, tool_calls=(ToolCall(id="call_I5bNG8aF", name="f", arguments={}),)),
        ToolResult(index=2, call_id="call_I5bNG8aF", function="f", seen="Ann Lee of case_E5_Rome"),
        ModelTurn(index=3, content="Ann."),
    )
    strategy = compose("mine", {"summarizer": lambda result: f"[the result of {known} {unknown} left out]"}, "tests")
    invented = checks_of(measured.evidence_of(recording, strategy))["invented"]
    assert invented.findings == ()  # a notice may have labels of its own
    assert bool(invented.unchecked) == bool(unknown)
    assert unknown in invented.unchecked_text


@pytest.mark.parametrize(("number", "changed"), [("1e300", 0), ("1e301", 1)])
def test_a_power_of_ten_is_a_number_however_it_is_written(number: str, changed: int) -> None:
    recording = trace(
        UserTurn(index=0, content="How large?"),
        ModelTurn(index=1, tool_calls=(ToolCall(id="i", name="f", arguments={}),)),
        ToolResult(index=2, call_id="i", function="f", seen='[{"id": "W1", "size": 1e+300}]'),
        ModelTurn(index=3, content="Very."),
    )
    strategy = compose("mine", {"summarizer": lambda result: f"id,size\nW1,{number}"}, "tests")
    assert checks_of(measured.evidence_of(recording, strategy))["changed"].hits == changed


@pytest.mark.parametrize(
    ("summary", "missed"),
    [("The agent: - Gift card 129.5 of 198.25", 0), ("129.5", 1), ("gift card: 129.5 is left", 1)],
)
def test_a_field_is_kept_by_the_line_in_which_a_turn_repeated_it(summary: str, missed: int) -> None:
    card = {"methods": [{"id": "card_1", "balance": 129.5}, {"id": "card_2", "balance": 20}]}
    recording = trace(
        UserTurn(index=0, content="What is left?"),
        ModelTurn(index=1, tool_calls=(ToolCall(id="i", name="f", arguments={}),)),
        ToolResult(index=2, call_id="i", function="f", data=card),
        ModelTurn(index=3, content="You have:\n- Gift card 129.5 of 198.25"),
        UserTurn(index=4, content="Use it."),
        ModelTurn(index=5, tool_calls=(ToolCall(id="b", name="pay", arguments={"amount": 129.5}),)),
    )

    def compactor(messages: list[dict[str, object]]) -> list[dict[str, object]]:
        return [messages[0], {"role": "user", "content": summary}] if len(messages) > 4 else messages

    found = measured.evidence_of(recording, compose("mine", {"compactor": compactor}, "tests"))
    assert measured.metrics()["needed.missed_turns"].number(found).value == missed
