from __future__ import annotations

import pytest
from handmade import SMALL, conversation_of, prompts_of, result, shell, trace
from measured import MeasuredReplay, replayed

from bench.model import Message, ModelTurn, SystemTurn, ToolCall, UserTurn
from bench.model.errors import SpecError
from bench.plugins.registry import build
from bench.strategies import parse_strategy

LONG = SMALL["long"]


def summarised_prompts(run: MeasuredReplay) -> list[int]:
    """The numbers of the prompts that the strategy summarised."""
    written = {call.step for call in run.own_calls}
    return [number for number, prompt in enumerate(run.prompts) if prompt.step in written]


# ---------------------------------------------------------------- summarize_old


def test_summarize_old_keeps_the_system_prompt_a_summary_and_eight_messages() -> None:
    run = replayed(LONG, "s=compactor=summarize_old:max_tokens=4000")
    prompts, first = prompts_of(run), summarised_prompts(run)[0]
    before, after = prompts[first - 1], prompts[first]
    assert [message.kind for message in after] == ["system", "made", *[m.kind for m in after[2:]]]
    assert len(after) == 10
    whole = [*before, *prompts_of(replayed(LONG, "keep_all"))[first][len(before) :]]
    assert [message.step for message in after[2:]] == [message.step for message in whole[-8:]]
    assert after[1].role == "user"
    assert after[1].text.startswith(f"Summary of {len(whole) - 9} earlier messages:")


def test_summarize_old_triggers_at_the_threshold_exactly() -> None:
    tokens = [prompt.tokens for prompt in replayed(LONG, "keep_all").prompts]
    at = tokens[10]  # prompts grow: exactly the eleventh is the first to cost as much
    assert summarised_prompts(replayed(LONG, f"s=compactor=summarize_old:threshold=1,max_tokens={at}"))[0] == 10
    assert summarised_prompts(replayed(LONG, f"s=compactor=summarize_old:threshold=1,max_tokens={at + 1}"))[0] == 11
    assert summarised_prompts(replayed(LONG, f"s=compactor=summarize_old:threshold=0.5,max_tokens={2 * at}"))[0] == 10


def test_summarize_old_acts_again_only_when_the_threshold_is_reached_again() -> None:
    run = replayed(LONG, "s=compactor=summarize_old:max_tokens=4000")
    acted = summarised_prompts(run)
    assert len(acted) > 1
    assert acted[1] > acted[0] + 1
    limit = 0.8 * 4000
    assert all(prompt.tokens < limit for number, prompt in enumerate(run.prompts) if number not in acted)
    assert sum(message.kind == "made" for message in prompts_of(run)[-1]) == 1  # the earlier summary is summarised too


# ---------------------------------------------------------------- separate_commands


def history_of(prompt: list[Message]) -> str:
    """The command history, which must be the last message."""
    assert prompt[-1].text.startswith("Command History:\n")
    return prompt[-1].text


def test_separate_commands_ends_every_prompt_with_the_history_from_the_first_trigger_on() -> None:
    run = replayed(LONG, "s=compactor=separate_commands:max_tokens=4000")
    prompts = prompts_of(run)
    shown = [any(message.text.startswith("Command History:") for message in prompt) for prompt in prompts]
    first = shown.index(True)
    assert 3 < first < 25
    assert all(shown[first:])
    for number, prompt in enumerate(prompts[first:], first):
        assert history_of(prompt).count("Step ") == min(number, 20)
        assert sum(message.text.startswith("Command History:") for message in prompt) == 1
    assert [message.kind for message in prompts[first][:2]] == ["system", "made"]


def test_separate_commands_summarises_conversation_only() -> None:
    middle = [
        ModelTurn(index=2, content="Thinking aloud about part_zero."),
        UserTurn(index=3, content="Mind the budget of 4711."),
        *shell(12, start=4),
    ]
    run = replayed(conversation_of(middle), "s=compactor=separate_commands:max_tokens=1500")
    prompt = prompts_of(run)[summarised_prompts(run)[0]]
    assert "Thinking aloud about part_zero." in prompt[1].text
    assert "4711" in prompt[1].text
    assert "execute:" not in prompt[1].text
    assert "returncode" not in prompt[1].text
    assert run.own_calls[0].consumed_tokens < 60


def test_separate_commands_history_is_cut_above_the_limit() -> None:
    run = replayed(LONG, "s=compactor=separate_commands:max_tokens=4000,full_below=100,last=3,result_chars=40")
    entries = history_of(prompts_of(run)[-1]).removeprefix("Command History:\n").split("\n\n")
    assert [entry.partition(":")[0] for entry in entries] == ["Step 28", "Step 29", "Step 30"]
    result_text = LONG.results[-1].text
    assert entries[-1] == f"Step 30: cat /data/part_29.csv\nResult: {result_text[:40]}..."


def test_separate_commands_reads_commands_from_text_alone() -> None:
    middle = [
        ModelTurn(index=2, content="execute: ls -l\nplease"),
        UserTurn(index=3, content="a.txt 12"),
        ModelTurn(index=4, content="I see."),
        UserTurn(index=5, content="And now?"),
    ]
    run = replayed(conversation_of(middle), "s=compactor=separate_commands:max_tokens=1,keep_last=1")
    assert history_of(prompts_of(run)[-1]) == "Command History:\nStep 1: ls -l\nResult: a.txt 12"
    assert "execute" not in prompts_of(run)[-1][1].text


def test_separate_commands_parallel_calls_find_their_results() -> None:
    calls = (
        ToolCall(id="x", name="read", arguments={"path": "a", "n": 1}),
        ToolCall(id="y", name="bash", arguments={"command": "pwd"}),
    )
    middle = [
        ModelTurn(index=2, tool_calls=calls),
        result("/work", index=3, call_id="y"),
        result("text of a", index=4, call_id="x"),
    ]
    run = replayed(conversation_of(middle), "s=compactor=separate_commands:max_tokens=1,keep_last=1")
    assert history_of(prompts_of(run)[-1]) == (
        'Command History:\nStep 1: pwd\nResult: /work\n\nStep 2: read {"path":"a","n":1}\nResult: text of a'
    )


def test_separate_commands_shows_results_as_the_strategy_shows_them() -> None:
    run = replayed(LONG, "s=summarizer=truncate:limit=20+compactor=separate_commands:max_tokens=1000")
    assert "Result: <returncode>0</retur" in history_of(prompts_of(run)[-1])
    assert "next is" not in history_of(prompts_of(run)[-1])


# ---------------------------------------------------------------- mask_observations


def test_mask_observations_leaves_the_last_results_and_states_the_length_of_the_others() -> None:
    prompt = prompts_of(replayed(LONG, "s=compactor=mask_observations:keep_last=3"))[-1]
    whole = prompts_of(replayed(LONG, "keep_all"))[-1]
    assert len(prompt) == len(whole)
    results = [(m, w) for m, w in zip(prompt, whole, strict=True) if w.kind == "result"]
    assert [m.text == w.text for m, w in results] == [False] * 27 + [True] * 3
    for masked, untouched in results[:27]:
        lines = len(untouched.text.splitlines())
        assert masked.text == f"[tool result left out: {len(untouched.text)} characters, {lines} lines]"
        assert (masked.role, masked.call_id, masked.step) == (untouched.role, untouched.call_id, untouched.step)
    assert all(m.text == w.text for m, w in zip(prompt, whole, strict=True) if w.kind != "result")


# ---------------------------------------------------------------- window, none


def test_window_keeps_the_system_prompt_and_the_last_messages() -> None:
    prompts = prompts_of(replayed(LONG, "s=compactor=sliding_window:keep_last=4"))
    whole = prompts_of(replayed(LONG, "keep_all"))
    assert [[m.step for m in prompt] for prompt in prompts] == [
        [m.step for m in (prompt if len(prompt) <= 5 else [prompt[0], *prompt[-4:]])] for prompt in whole
    ]


@pytest.mark.parametrize("keep_last", range(1, 8))
@pytest.mark.parametrize("name", SMALL)
def test_window_never_separates_a_call_from_its_results(name: str, keep_last: int) -> None:
    recording = SMALL[name]
    asked = {call.id for turn in recording.model_turns for call in turn.tool_calls}
    for prompt in prompts_of(replayed(recording, f"s=compactor=sliding_window:keep_last={keep_last}")):
        called = {call.id for message in prompt for call in message.tool_calls}
        assert all(m.call_id in called for m in prompt if m.kind == "result" and m.call_id in asked)


# ---------------------------------------------------------------- all of them


def test_system_messages_are_those_at_the_start() -> None:
    recording = trace(
        SystemTurn(index=0, content="one"),
        SystemTurn(index=1, content="two"),
        *(UserTurn(index=2 + number, content=f"u{number}") for number in range(6)),
        ModelTurn(index=8),
    )
    for spec in ("summarize_old:max_tokens=1,keep_last=2", "separate_commands:max_tokens=1,keep_last=2"):
        prompt = prompts_of(replayed(recording, f"s=compactor={spec}"))[0]
        assert [message.kind for message in prompt] == ["system", "system", "made", "user", "user"]
    prompt = prompts_of(replayed(recording, "s=compactor=sliding_window:keep_last=2"))[0]
    assert [message.text for message in prompt] == ["one", "two", "u4", "u5"]


@pytest.mark.parametrize("spec", ["threshold=0", "threshold=1.5", "writer=nobody", "max_tokens=-1"])
def test_a_wrong_setting_is_refused_before_the_replay(spec: str) -> None:
    with pytest.raises(SpecError):
        parse_strategy(f"s=compactor=summarize_old:{spec}")


# ---------------------------------------------------------------- writer


def messages(*texts: str) -> list[Message]:
    return [Message(role="user", text=text, kind="user") for text in texts]


def write(spec: str, given: list[Message]) -> str:
    return str(build("writer", spec).start()[1](given))


def test_extractive_stays_within_its_limit_and_prefers_facts() -> None:
    given = messages(
        *(f"just some words that say little, number {n} of them" for n in range(99)), "/data/run_7.csv has 4711"
    )
    text = write("extractive:max_chars=300", given)
    assert len(text) <= 300
    assert text.startswith("Summary of 100 earlier messages:\n")
    assert "user: /data/run_7.csv has 4711" in text.splitlines()
    assert write("extractive:max_chars=10", given) == "Summary of"
    assert write("extractive", []) == "Summary of 0 earlier messages:"


def test_extractive_keeps_the_order_of_what_it_takes() -> None:
    lines = write("extractive", messages("first 471", "second 472\nthird 473")).splitlines()
    assert lines[1:] == ["user: first 471", "user: second 472", "user: third 473"]


def test_extractive_reads_an_earlier_summary_without_its_header() -> None:
    earlier = Message(role="user", kind="made", text="Summary of 9 earlier messages:\nassistant: saw 471")
    text = write("extractive", [earlier, *messages("then 472")])
    assert text == "Summary of 2 earlier messages:\nassistant: saw 471\nuser: then 472"
