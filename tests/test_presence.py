"""What prompts hold: facts by text, prompts by their edits, sightings of results."""

from __future__ import annotations

from generated import traces
from handmade import opened, result, run_of, trace
from hypothesis import given, settings
from reference import rebuilt

from bench.evidence.presence import facts_in_prompts, message_texts, missing_from, sightings
from bench.evidence.prompt_scan import prompt_scan
from bench.model import Message, ModelTurn, ToolCall, Trace


def test_half_a_number_or_word_is_not_the_fact() -> None:
    facts = facts_in_prompts(trace(result("471 of run_7 in /data/run_7.csv", index=0)))
    assert facts("0.471, 4710, 471.5, -471, xrun_7 and run_71") == ()
    assert facts("(471)") == ("471",)
    assert set(facts("see /data/run_7.csv, twice")) == {"run_7", "/data/run_7.csv"}


def test_a_long_text_is_searched_like_a_short_one() -> None:
    facts = ["471", "run_7", "/data/run_7.csv", "36.5"]
    short = "run_7 has 471 rows, 136.5 in all"
    for text in (short, short + " and" * 30_000):
        assert missing_from(text, facts) == ["/data/run_7.csv", "36.5"]


def test_the_arguments_of_a_tool_call_are_in_the_prompt() -> None:
    call = ToolCall(id="c", name="read", arguments={"path": "/data/run_7.csv"})
    written = ToolCall(id="d", name="bash", arguments={"command": "ls /data"}, in_text=True)
    message = Message(role="assistant", text="", kind="model", tool_calls=(call, written))
    assert message_texts(message) == ("path: /data/run_7.csv",)


def test_a_result_after_the_last_prompt_is_not_sighted() -> None:
    recording = opened([result("total 471", index=2)])
    late = trace(*recording.steps, result("total 472", index=9))
    found = [(place, subject.index) for place, subject, _ in sightings(late, run_of(late, "keep_all"), str.split) if place != "prompt"]  # fmt: skip
    assert found == [("shown", 2), ("end", 2)]


def test_the_items_of_a_prompt_follow_its_edits() -> None:
    recording = opened([result("alpha beta", index=2), ModelTurn(index=3, content="beta"), result("gamma", index=4)])
    run = run_of(recording, "mask=compactor=mask_observations:keep_last=1")
    held = [dict(shown.items()) for place, _, shown in sightings(recording, run, str.split) if place == "prompt"]
    assert held[0]["alpha"] == 1
    assert held[0]["beta"] == 1
    assert "alpha" not in held[1]
    assert held[1]["beta"] == 1  # the model's own; the result's is masked
    assert held[1]["gamma"] == 1


@given(recording=traces(extras=True))
@settings(max_examples=40)
def test_items_and_texts_are_those_of_the_rebuilt_prompts(recording: Trace) -> None:
    run = run_of(recording, "mask=compactor=mask_observations:keep_last=1")
    prompts = iter(rebuilt.prompts(run))
    for place, _, shown in sightings(recording, run, str.split):
        if place == "prompt":
            _, messages, _ = next(prompts)
            words = [word for text in rebuilt.texts(messages) for word in text.split()]
            assert sorted(shown.items().elements()) == sorted(words)


def test_a_survey_is_made_once() -> None:
    recording = opened([result("total 471", index=2)])
    run = run_of(recording, "keep_all")
    assert prompt_scan(recording, run) is prompt_scan(recording, run)
