from __future__ import annotations

from pathlib import Path

import pytest
from examples import some
from generated import traces
from handmade import SMALL, opened, prompt_tokens, prompts_of, result, run_of, trace, unmet
from hypothesis import given
from measured import dependencies_of

from bench.model import ContextReset, ModelTurn, SystemTurn, ToolCall, Trace, UserTurn
from bench.strategies import reference
from bench.traces import load

FULL_RECALL = ("keep_all", "clairvoyant", "floor")


def _check_brackets(recording: Trace) -> None:
    runs = {name: run_of(recording, name) for name in (*FULL_RECALL, "drop_all")}
    for name in FULL_RECALL:
        assert unmet(recording, runs[name]) == [], name
    tokens = [prompt_tokens(runs[name]) for name in ("drop_all", "floor", "clairvoyant", "keep_all")]
    assert tokens == sorted(tokens)


@pytest.mark.parametrize("name", SMALL)
def test_brackets_on_small_traces(name: str) -> None:
    _check_brackets(SMALL[name])


@pytest.mark.slow
@given(traces(max_turns=10))
def test_brackets_on_generated_traces(recording: Trace) -> None:
    _check_brackets(recording)


@pytest.mark.slow
def test_brackets_on_recorded_runs(shared_traces: Path) -> None:
    recordings = some(load([f"swe:{shared_traces / 'scbench'}"]).traces, 5)
    assert all(dependencies_of(recording) for recording in recordings)
    for recording in recordings:
        _check_brackets(recording)


def test_the_small_traces_do_use_what_they_learn() -> None:
    assert {name for name, recording in SMALL.items() if dependencies_of(recording)} >= {
        "structured",
        "unicode",
        "threads",
        "long",
    }
    assert unmet(SMALL["long"], run_of(SMALL["long"], "drop_all"))  # so the check above can fail


def test_recorded_is_the_empty_strategy() -> None:
    assert reference("recorded").spec == ""
    assert [[message.step for message in prompt] for prompt in prompts_of(run_of(SMALL["failed"], "keep_all"))] == [
        [0, 1],
        [0, 1, 2, 3, 4, 5],
    ]


def test_drop_all_keeps_every_system_turn() -> None:
    recording = trace(
        SystemTurn(index=0, content="be brief"),
        UserTurn(index=1, content="hi"),
        SystemTurn(index=2, content="be kind"),
        ModelTurn(index=3, content="hello"),
        ModelTurn(index=4),
    )
    assert [[message.text for message in prompt] for prompt in prompts_of(run_of(recording, "drop_all"))] == [
        ["be brief", "be kind"]
    ] * 2


def test_recorded_shows_what_was_seen_and_follows_resets() -> None:
    recording = trace(
        SystemTurn(index=0, content="s"),
        UserTurn(index=1, content="task"),
        result("head [cut]", index=2, full="head and tail"),
        ModelTurn(index=3, content="one"),
        ContextReset(index=4, summary="did one", kept=(1,)),
        UserTurn(index=5, content="go on"),
        ModelTurn(index=6, content="two"),
        ContextReset(index=7, kept=(3,)),  # what the first reset dropped does not come back
        ModelTurn(index=8),
    )
    assert [[message.text for message in prompt] for prompt in prompts_of(run_of(recording, "recorded"))] == [
        ["s", "task", "head [cut]"],
        ["s", "did one", "task", "go on"],
        ["s"],
    ]


SELECTING = opened(
    [
        result("header\nvalue 471 here\npath /data/a.csv\nvalue 471 again\nfiller" + " word" * 40, index=2),
        ModelTurn(index=3, content="so 471"),
        ModelTurn(
            index=4, content="read /data/a.csv", tool_calls=(ToolCall(id="x", name="read", arguments={"n": 471}),)
        ),
        ModelTurn(index=5, content="nothing more"),
    ]
)


def test_clairvoyant_shows_first_lines_until_the_last_use() -> None:
    shown = [prompt[2].text for prompt in prompts_of(run_of(SELECTING, "clairvoyant"))]
    assert shown == ["value 471 here\npath /data/a.csv", "value 471 here\npath /data/a.csv", "", ""]


def test_clairvoyant_keeps_the_conversation() -> None:
    kept, all_of_it = (prompts_of(run_of(SELECTING, name))[-1] for name in ("clairvoyant", "keep_all"))
    assert [message.step for message in kept] == [message.step for message in all_of_it]
    assert [message.text for message in kept if message.kind != "result"] == [
        message.text for message in all_of_it if message.kind != "result"
    ]


def test_clairvoyant_never_pays_more_than_the_untruncated_text() -> None:
    whole = '{"n":471,"m":472}'
    recording = opened([result(whole, index=2), ModelTurn(index=3, content="471 and 472")])
    assert prompts_of(run_of(recording, "clairvoyant"))[0][2].text in (whole, "n: 471\nm: 472")
    assert prompt_tokens(run_of(recording, "clairvoyant")) <= prompt_tokens(run_of(recording, "keep_all"))


def test_floor_shows_living_facts_alone() -> None:
    shown = [[message.text for message in prompt[1:]] for prompt in prompts_of(run_of(SELECTING, "floor"))]
    assert shown == [["471 /data/a.csv"], ["471 /data/a.csv"], [], []]


def test_floor_leaves_out_what_another_fact_or_a_system_turn_holds() -> None:
    recording = trace(
        result("open /data/run_7/cells.csv\ntotal 471, cells.csv 88.5", index=0),
        SystemTurn(index=1, content="The total is 471."),
        ModelTurn(index=2, content="/data/run_7/cells.csv has 471, run_7 cells.csv, 88.5"),
    )
    assert prompts_of(run_of(recording, "floor"))[0][-1].text == "/data/run_7/cells.csv 88.5"


@pytest.mark.parametrize("quoted", ["[one, two]", "{abc: x}"])
def test_a_fact_that_looks_like_json_is_not_read_as_json(quoted: str) -> None:
    line = f'"{quoted}"'
    recording = opened([result(f"{line}\n{'filler ' * 30}", index=2), ModelTurn(index=3, content=f"use {line}")])
    assert any(use.fact == quoted for use in dependencies_of(recording))
    for name in FULL_RECALL:
        assert unmet(recording, run_of(recording, name)) == []


def test_threads_are_foreseen_apart() -> None:
    recording = SMALL["threads"]
    threads = {prompt.step: prompt.thread for prompt, _ in run_of(recording, "floor").walk()}
    last = dict(zip(threads.values(), prompts_of(run_of(recording, "floor")), strict=True))
    assert {name: prompt[-1].text for name, prompt in last.items()} == {
        "main": "/data/part_5.csv",
        "critic": "/data/part_5.csv",
    }
