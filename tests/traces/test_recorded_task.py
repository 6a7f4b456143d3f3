"""The task after a recorded reset that kept it, and which calls of a prompt are paired with results."""

from __future__ import annotations

from bench.evidence.of_run import PromptEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.validity import calls_in
from bench.tokens.calibration import recorded_prompts
from handmade import result, trace

from bench.model import ContextReset, ModelTurn, SystemTurn, ToolCall, UserTurn
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy
from bench.tokens.counting import TokenCounter


def test_after_a_recorded_reset_that_kept_the_task_losing_it_is_the_strategys_doing() -> None:
    call = ToolCall(id="c", name="f", arguments={})
    evidence = TraceEvidence(trace(
        SystemTurn(index=0, content="s"), UserTurn(index=1, content="Look at x_1."), ModelTurn(index=2, tool_calls=(call,)),
        result("4711", index=3, call_id="c"), ContextReset(index=4, kept=(1, 2, 3)), ModelTurn(index=5, content="4711"),
    ))  # fmt: skip
    found = {}
    for name in ("drop_all", "keep_all"):
        run = Replayer(evidence).run(parse_strategy(name))
        found[name] = [item.task_missing for item in PromptEvidence(evidence, run).checked]
    assert found == {"drop_all": [True, True], "keep_all": [False, False]}


def test_only_calls_that_a_provider_sees_are_paired() -> None:
    written = ToolCall(id="a", name="bash", arguments={"command": "ls"}, in_text=True)
    assert calls_in([written, ToolCall(id="b", name="f", arguments={})]) == ("b",)


def test_a_recorded_reset_leaves_what_it_kept_its_summary_and_the_system_prompt() -> None:
    recording = trace(
        SystemTurn(index=0, content="one"), UserTurn(index=1, content="one two"), result("one two three", index=2),
        ContextReset(index=3, kept=(2,), summary="one two three four"), ModelTurn(index=4, content="done"),
    )  # fmt: skip
    count = TokenCounter()
    ((turn, held, _),) = recorded_prompts(recording, count, lambda told: (told.step, told.said))
    assert (turn.index, held) == (
        4,
        [0 + 2 - 1, sum(map(count.encoded, ("one", "one two three", "one two three four")))],
    )
