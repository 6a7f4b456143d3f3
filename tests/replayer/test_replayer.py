"""Replay: sequential, the same twice, both sides judged alike, and a strategy that raises is a row and not the end."""

from __future__ import annotations

import msgspec
import pytest
from generated import traces
from handmade import SMALL, opened, prompts_of, result, run_of, shell, trace
from hypothesis import given, strategies as st
from measured import COUNT

from bench.model import (
    ContextReset,
    ModelTurn,
    Run,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    UserTurn,
    compact_json,
)
from bench.replayer.loop import replay
from bench.strategies import compose, parse_strategy
from bench.tokens.counting import TokenCounter

STRATEGIES = (
    "keep_all",
    "recorded",
    "drop_all",
    "clairvoyant",
    "floor",
    "cut=summarizer=truncate:limit=40+store=by_function+evaluator=step_v1+routers=[executor,step_evaluator]",
    "old=compactor=summarize_old:max_tokens=300,keep_last=3+store=truncate",
    "apart=compactor=separate_commands:max_tokens=300+store=external",
    "mask=compactor=mask_observations:keep_last=1+summarizer=table_console",
)


@given(traces(extras=True), st.sampled_from(STRATEGIES))
def test_a_run_is_the_same_twice_and_after_json_and_its_tokens_are_those_of_its_messages(trace, spec):
    run = replay(trace, parse_strategy(spec))
    assert run.failure is None
    assert msgspec.json.encode(replay(trace, parse_strategy(spec))) == msgspec.json.encode(run)
    kept = msgspec.json.decode(msgspec.json.encode(run), type=Run)
    assert msgspec.json.encode(kept) == msgspec.json.encode(run)
    assert [prompt.step for prompt in run.prompts] == [turn.index for turn in trace.model_turns]
    assert len(run.results) == len(trace.results)
    count = TokenCounter(run.encoding, run.counting)
    assert run.message_tokens == {key: count.message(message) for key, message in run.messages.items()}
    for prompt, keys in kept.walk():
        messages = sum(run.message_tokens[key] for key in keys)
        assert prompt.tokens == run.counting.prompt_tokens + prompt.tools_tokens + messages >= 0


@given(traces(extras=True))
def test_keep_all_gives_every_turn_the_whole_thread_before_it(trace):
    run = replay(trace, parse_strategy("keep_all"))
    shown = {}
    for prompt, keys in run.walk():
        shown[prompt.step] = [run.messages[key].step for key in keys]
    for turn in trace.model_turns:
        before = [
            step.index
            for step in trace.steps
            if step.thread == turn.thread
            and step.index < turn.index
            and isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult)
        ]
        assert shown[turn.index] == before
    assert all(
        compact_json(outcome.stored) == compact_json(item.value)
        for outcome, item in zip(run.results, trace.results, strict=True)
    )


# ---------------------------------------------------------------- what is shown and what is stored


def texts(run, at=-1):
    return [message.text for message in prompts_of(run)[at]]


def shown(run):
    return [[(message.step, message.text) for message in prompt] for prompt in prompts_of(run)]


DATA = {"rows": [{"a": 471}] * 20}
RECORDED = opened([result("seen, cut", index=2, full="the whole text", role="user"), result(None, index=3, data=DATA)])


def test_the_summarizer_is_given_the_untruncated_result_and_the_prompt_shows_its_summary():
    run = run_of(RECORDED, "s=summarizer=truncate:limit=9")
    assert texts(run)[2:] == ["the whole", str(DATA)[:9]]
    assert prompts_of(run)[0][2].role == "user"
    assert run.results[1].stored == DATA


def test_without_a_summary_the_prompt_shows_what_is_stored():
    run = run_of(RECORDED, "s=store=truncate:limit=9")
    assert texts(run)[2:] == ["the whole", str(DATA)[:9]]
    assert [outcome.stored for outcome in run.results] == ["the whole", str(DATA)[:9]]


def test_a_summarizer_that_has_none_leaves_what_is_stored(tmp_path):
    (tmp_path / "mine.py").write_text("def none(result):\n    return None\n")
    run = replay(RECORDED, compose("s", {"summarizer": "mine.py:none", "store": "truncate:limit=9"}, tmp_path))
    assert texts(run)[2] == "the whole"


@pytest.mark.parametrize("slots", ["store=full", "evaluator=final_only", "compactor=recorded", "summarizer=recorded"])
def test_an_empty_slot_shows_what_the_recording_showed_its_resets_and_edits_included(slots):
    assert texts(run_of(RECORDED, "recorded"))[2:] == ["seen, cut", compact_json(DATA)]
    for recording in (RECORDED, *SMALL.values()):
        run = run_of(recording, f"s={slots}")
        assert shown(run) == shown(run_of(recording, "recorded"))
        assert all(outcome.evaluation == outcome.evaluation_untruncated for outcome in run.results)


def test_untruncated_and_none_are_the_harness_without_its_cuts():
    assert texts(run_of(RECORDED, "s=summarizer=untruncated"))[2:] == ["the whole text", compact_json(DATA)]
    reset = next(item for item in SMALL.values() if any(isinstance(step, ContextReset) for step in item.steps))
    parts = "s=summarizer=untruncated+compactor=none"
    assert shown(run_of(reset, parts)) == shown(run_of(reset, "keep_all")) != shown(run_of(reset, "recorded"))


def test_a_handle_is_read_back_as_the_value_it_stands_for():
    (_, outcome) = run_of(RECORDED, "s=store=external").results
    assert outcome.record.handle
    assert outcome.stored == DATA
    assert outcome.record.value != DATA


# ---------------------------------------------------------------- sequential

GROWS = """
from bench.model import Message
from bench.strategies import Window


class Grows:
    '''Writes on each prompt how many of its own notes it finds there.'''

    def __init__(self, *, most: int = 100):
        self.most = most

    def compact(self, window: Window):
        own = sum(message.kind == "made" for message in window.messages)
        note = Message(role="user", kind="made", text=f"note {own}")
        return [*window.messages, note][-self.most:]
"""


def test_what_a_strategy_did_is_what_it_finds_next(tmp_path):
    (tmp_path / "grows.py").write_text(GROWS)
    run = replay(opened(shell(3, start=2)), compose("s", {"compactor": "grows.py:Grows"}, tmp_path))
    notes = [[message.text for message in messages if message.kind == "made"] for messages in prompts_of(run)]
    assert notes == [[f"note {number}" for number in range(prompt + 1)] for prompt in range(4)]
    assert all(prompt.compacted for prompt in run.prompts)


def test_each_thread_has_a_compactor_of_its_own(tmp_path):
    (tmp_path / "grows.py").write_text(GROWS)
    run = replay(SMALL["threads"], compose("s", {"compactor": "grows.py:Grows"}, tmp_path))
    counts = {}
    for prompt, keys in run.walk():
        counts.setdefault(prompt.thread, []).append(sum(run.messages[key].kind == "made" for key in keys))
    assert counts == {"main": [1, 2, 3, 4, 5, 6], "critic": [1, 2, 3, 4, 5, 6]}


def test_state_lives_for_one_case_only(tmp_path):
    (tmp_path / "counting.py").write_text(
        "class Counting:\n    seen = 0\n\n    def summarize(self, result):\n"
        "        self.seen += 1\n        return f'result {self.seen}'\n"
    )
    strategy = compose("s", {"summarizer": "counting.py:Counting"}, tmp_path)
    assert texts(replay(RECORDED, strategy)) == texts(replay(RECORDED, strategy))


def test_the_future_is_given_only_to_who_declares_it(tmp_path):
    (tmp_path / "peeks.py").write_text(
        "from bench.strategies import Window\n\n\ndef peeks(window: Window):\n    raise ValueError(str(window.future))\n\n\n"
        "def declares(window: Window):\n    raise ValueError(len(window.future.needs))\n\n\ndeclares.needs_future = True\n"
    )
    recorded = opened([])
    blind = replay(recorded, compose("s", {"compactor": "peeks.py:peeks"}, tmp_path))
    sees = replay(recorded, compose("s", {"compactor": "peeks.py:declares"}, tmp_path))
    assert blind.failure.error.startswith("peeks.py:5: ValueError: None")
    assert sees.failure.error.startswith("peeks.py:9: ValueError: 0")


# ---------------------------------------------------------------- strategies that break

BREAKS = """
def boom(*given):
    raise KeyError("it\\nbroke")


def route(state):
    return 7


def odd(*given):
    return object()


def leaves(*given):
    raise SystemExit(0)


def mutates(result):
    if isinstance(result.data, dict):
        result.data["rows"].clear()
    return "shown"


boom.at = route.at = odd.at = leaves.at = "after_result"
"""


@pytest.mark.parametrize(
    ("slot", "function", "at", "says"),
    [
        ("summarizer", "boom", 2, "KeyError: 'it\\nbroke'"),
        ("store", "boom", 2, "KeyError"),
        ("evaluator", "boom", 2, "KeyError"),
        ("compactor", "boom", 4, "KeyError"),
        ("consumer", "boom", 2, "KeyError"),
        ("routers", "boom", 2, "KeyError"),
        ("routers", "route", 2, "a router gives a route's name or (name, detail), the detail a mapping, got 7"),
        ("compactor", "odd", 4, "a compactor that is given a list of messages gives one back, or None; got object"),
        ("consumer", "odd", 2, "a consumer gives a Reply, got object"),
        ("summarizer", "odd", 2, "TypeError"),
        ("store", "odd", 2, "TypeError"),
        ("evaluator", "odd", 2, "an evaluator gives a mapping of findings, or None, got object"),
        ("summarizer", "leaves", 2, "exited with 0"),
        ("compactor", "leaves", 4, "exited with 0"),
        ("summarizer", "mutates", 3, "the strategy changed its input"),
        ("store", "mutates", 3, "the strategy changed its input"),
    ],
)
def test_a_strategy_that_breaks_is_the_failure_of_its_case(tmp_path, slot, function, at, says):
    (tmp_path / "breaks.py").write_text(BREAKS)
    recorded = opened([result("text", index=2), result(None, index=3, data={"rows": [1, 2]})])
    run = replay(recorded, compose("s", {slot: f"breaks.py:{function}"}, tmp_path))
    assert run.failure.step == at
    assert run.failure.slot.split()[0] in (slot, "router", "strategy")
    assert says in run.failure.error
    assert "\n" not in run.failure.error
    assert run.failure.error.count("Traceback") == 0


def test_a_router_that_breaks_at_the_end_is_a_failure_too(tmp_path):
    (tmp_path / "mine.py").write_text("def end(state):\n    raise ValueError('no')\n\n\nend.at = 'end'\n")
    run = replay(opened([]), compose("s", {"routers": "mine.py:end"}, tmp_path))
    assert run.failure.slot == "router mine.py:end"
    assert run.failure.error.startswith("mine.py:2: ValueError: no")
    assert len(run.prompts) == 1, "what was replayed before is kept"
    empty = replay(trace(), compose("s", {"routers": "mine.py:end"}, tmp_path))
    assert empty.failure.error.startswith("mine.py:2: ValueError: no")
    assert (empty.prompts, empty.results, empty.decisions) == ((), (), ())


# ---------------------------------------------------------------- the rest of a run


@pytest.mark.parametrize("spec", STRATEGIES)
def test_every_odd_trace_gets_through(spec):
    assert {run_of(recording, spec).trace_id for recording in SMALL.values()} == {"t"}


def test_the_model_of_the_trace_decides_encoding_and_window():
    known = replay(trace(ModelTurn(index=0, model="gpt-4")), parse_strategy("keep_all"))
    unknown = replay(trace(ModelTurn(index=0, model="somebodys-own")), parse_strategy("keep_all"))
    assert (known.encoding, known.encoding_assumed, known.prompts[0].window_tokens) == ("cl100k_base", False, 8192)
    assert (unknown.encoding, unknown.encoding_assumed, unknown.prompts[0].window_tokens) == ("o200k_base", True, None)


def test_tool_definitions_are_part_of_each_prompt_of_their_thread():
    tools = ({"name": "query"},)
    run = run_of(
        trace(
            ToolsChanged(index=0, thread="a", tools=tools),
            ModelTurn(index=1, thread="a"),
            ModelTurn(index=2, thread="b"),
        ),
        "keep_all",
    )
    assert [prompt.tools_tokens for prompt in run.prompts] == [COUNT.tools(tools), 0]


def test_what_a_writer_read_and_wrote_is_on_record():
    run = run_of(SMALL["long"], "s=compactor=summarize_old:max_tokens=2000,keep_last=4")
    assert run.writer_calls
    assert all(call.consumed_tokens > call.produced_tokens > 0 for call in run.writer_calls)
