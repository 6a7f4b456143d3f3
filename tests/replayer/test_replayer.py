"""Replays: prompts as whole histories say them, in the child as in this process, and no strategy sees another."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from generated import SHORTENING, traces
from handmade import SMALL, compose, conversation_of, result
from hypothesis import given, settings, strategies as st
from reference import histories, replayed

from bench.evidence.index import index_trace
from bench.model import ContextReset, Message, ModelTurn, ToolResult
from bench.model.messages import recorded_messages
from bench.replayer.replaying import Replayer
from bench.strategies import Window, parse_strategy
from bench.strategies.declaring import declaration
from bench.strategies.user_code.sandboxed import load_strategies, stop


def shorten(given):
    """A summarizer."""
    return f"{given.text[:9]}…"


def mask(messages):
    """Every result but the last two replaced by a line."""
    results = [message for message in messages if message.kind == "result"][:-2]
    return [histories.with_text(message, "masked") if message in results else message for message in messages]


def trim(messages):
    """The last five messages."""
    return messages[-5:]


def repeat(messages):
    """The newest message said twice, by another message."""
    return [*messages, Message(role="user", kind="made", text=messages[-1].text)] if messages else None


def sometimes(messages):
    """The newest message, and nothing else to say once there are many."""
    return messages[-1:] if len(messages) < 5 else None


REWORKS = {"unchanged": lambda messages: None, "mask": mask, "trim": trim, "repeat": repeat, "sometimes": sometimes}


def compactor(rework, per_call):
    """A compactor for the slot of a strategy."""

    def compact(window: Window) -> object:
        return rework(window.messages)

    compact.mode = "per_call" if per_call else "history"
    return compact


def plain(found):
    """A replay as data: messages are otherwise compared by identity."""
    return msgspec.to_builtins(found)


def shown_texts(replay, trace):
    """The prompts of a replay, put together from their edits."""
    recorded = recorded_messages(trace).messages
    return [[(m.role, m.text, m.step) for m in prompt] for _, prompt in replayed.prompts(replay, recorded)]


@given(traces(), st.sampled_from([None, shorten]), st.sampled_from([*REWORKS]), st.booleans())
def test_prompts_by_edits_equal_prompts_from_the_full_history(trace, summarizer, rework, per_call):
    slots = {"compactor": compactor(REWORKS[rework], per_call)} | ({"summarizer": summarizer} if summarizer else {})
    found = Replayer(trace, index_trace(trace)).replay(compose("mine", slots))
    assert found.failure is None, found.failure
    steps = tuple(step for step in trace.steps if not isinstance(step, ContextReset))
    bare = msgspec.structs.replace(trace, steps=steps)
    assert shown_texts(found, trace) == [*histories.prompts(bare, summarizer, REWORKS[rework], per_call=per_call)]


@given(traces(extras=True), st.sampled_from(SHORTENING))
def test_an_edit_keeps_the_longest_shared_start_and_names_only_real_messages(trace, spec):
    found = Replayer(trace, index_trace(trace)).replay(parse_strategy(spec))
    count, written = len(recorded_messages(trace).messages), len(found.written)
    before: dict[str, list[int]] = {}
    for call in found.calls:
        old = before.get(call.thread, [])
        assert 0 <= call.keep <= len(old)
        assert not call.tail or call.keep == len(old) or call.tail[0] != old[call.keep]
        assert all(0 <= number < count + written for number in call.tail)
        before[call.thread] = [*old[: call.keep], *call.tail]
    assert [call.step for call in found.calls] == [turn.index for turn in trace.model_turns]
    assert [item.step for item in found.results] == [item.index for item in trace.results]
    assert len({msgspec.json.encode(message) for message in found.written}) == written


@given(traces(extras=True), st.sampled_from(SHORTENING), st.sampled_from(SHORTENING))
def test_replays_do_not_affect_each_other(trace, one, other):
    replayer = Replayer(trace, index_trace(trace))
    before = msgspec.msgpack.encode(trace)
    first = replayer.replay(parse_strategy(one))
    replayer.replay(parse_strategy(other))
    replayer.replay(compose("spoils", {"summarizer": spoil}))
    again = replayer.replay(parse_strategy(one))
    fresh = Replayer(trace, index_trace(trace)).replay(parse_strategy(one))
    assert plain(again) == plain(first) == plain(fresh)
    assert msgspec.msgpack.encode(trace) == before


def test_the_recorded_prompt_has_the_text_that_the_model_saw_and_not_the_full_one():
    trace = conversation_of([result("W1 is open", index=2, full="W2 is shut"), ModelTurn(index=3, content="W1")])
    for spec, text in (("recorded", "W1 is open"), ("keep_all", "W2 is shut")):
        (*_, last) = shown_texts(Replayer(trace, index_trace(trace)).replay(parse_strategy(spec)), trace)
        assert [shown for _, shown, step in last if step == 2] == [text]


def test_a_strategy_without_a_compactor_repeats_the_recorded_resets():
    trace = conversation_of(
        [result("W1", index=2), ModelTurn(index=3, content="W1"), ContextReset(index=4, summary="So far.")]
    )
    for spec in ("recorded", "mine=summarizer=truncate:limit=1"):
        (*_, last) = shown_texts(Replayer(trace, index_trace(trace)).replay(parse_strategy(spec)), trace)
        assert [text for _, text, _ in last] == ["You run commands.", "So far."]


def test_a_router_decides_at_its_points_and_may_read_the_prompt_as_openai_messages():
    def route(state):
        return "done"

    def compact(window: Window):
        return [{"role": "user", "content": "All that counts."}]

    route.at = "end"
    trace = conversation_of([result("W1", index=2)])
    found = Replayer(trace, index_trace(trace)).replay(compose("mine", {"routers": [route], "compactor": compact}))
    assert [(item.step, item.at, item.route) for item in found.decisions] == [(3, "end", "done")]
    assert shown_texts(found, trace) == [[("user", "All that counts.", None)]]


def spoil(given: ToolResult) -> str:
    """A strategy that edits what it is given, as far as it goes."""
    for value in (given.data, given.arguments):
        if isinstance(value, dict | list):
            value.clear()
    return "x"


MINE = """
import json
seen = []
def f(given: dict):
    seen.append(given)
    return f"{len(seen)} {json.dumps(given, sort_keys=True, default=str)[:90]}"

def g(messages: list[dict]):
    return [m if m.get("role") != "tool" or n > len(messages) - 4 else {**m, "content": "gone"} for n, m in enumerate(messages)]

def h(record, history):
    return {"before": len(history), "long": len(str(record)) > 200}
"""


@pytest.fixture(scope="module")
def sandboxed(tmp_path_factory):
    """A strategy of a file, in its child and in this process."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "mine.py").write_text(MINE)
    spec = "+".join(f"{slot}={folder / 'mine.py'}:{name}" for slot, name in SLOTS.items())
    (there,) = load_strategies([declaration(spec, "mine")])
    yield there, lambda: parse_strategy(f"mine={spec}")
    stop([there])


SLOTS = {"summarizer": "f", "compactor": "g", "evaluator": "h"}


@pytest.mark.slow
@settings(max_examples=30)
@given(recording=traces(extras=True))
def test_the_child_process_gives_the_same_replay(recording, sandboxed):
    from bench.plugins.loader import load_file

    there, here = sandboxed
    replayer = Replayer(recording, index_trace(recording))
    load_file.cache_clear()
    assert plain(replayer.replay(there, again="")) == plain(replayer.replay(here(), again=""))


@pytest.mark.parametrize("name", SMALL)
def test_unusual_traces_are_replayed(name):
    found = Replayer(SMALL[name], index_trace(SMALL[name])).replay(compose("mine", {"summarizer": shorten}))
    assert found.failure is None, found.failure
    assert len(found.calls) == len(SMALL[name].model_turns)


UNSTABLE = {
    "import random\ndef f(given): return str(random.random())": 2,
    "import time\ndef f(given): return f'{time.time_ns()}' if given.index > 2 else 'x'": 4,
    "import os\ndef f(given): return str(os.getpid())": 2,
    "seen = []\ndef f(given):\n    seen.append(1)\n    return str(len(seen))": None,
    "import random\ndef f(given): return str(random.Random(7).random())": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("code", UNSTABLE)
def test_two_replays_that_differ_are_reported_and_a_single_one_is_not(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(code)
    steps = [result("a", index=2), ModelTurn(index=3, content=""), result("b", index=4, call_id="d")]
    trace = conversation_of([*steps, ModelTurn(index=5, content="")])
    (mine,) = load_strategies([declaration("mine=summarizer=mine.py:f")])
    replayer = Replayer(trace, index_trace(trace))
    found = [replayer.replay(mine, again=again).unstable_at for again in (True, False)]
    stop([mine])
    assert found == [UNSTABLE[code], None]
