"""Prompts of small sessions, checked for what a provider would refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.evidence.of_run import PromptEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.validity import Checked
from handmade import result, trace

from bench.model import Message, ModelTurn, SystemTurn, ToolCall, Trace, UserTurn
from bench.plugins.registry import Entry, Plugin
from bench.plugins.spec import Spec
from bench.replayer.loop import Replayer
from bench.strategies import Strategy, Window, parse_strategy

Compact = Callable[[Window], Any]


def compacting(compact: Compact) -> Strategy:
    """A strategy of one compactor that is a function."""
    plugin = Plugin(Spec("tests", compact.__name__), Entry("compactor", compact.__name__, compact), {})
    return Strategy(compact.__name__, {"compactor": (plugin,)})


def checked(recording: Trace, strategy: Strategy | str) -> list[Checked]:
    """Every prompt of a strategy, checked."""
    evidence = TraceEvidence(recording)
    run = Replayer(evidence).run(parse_strategy(strategy) if isinstance(strategy, str) else strategy)
    assert run.failure is None, run.failure
    return PromptEvidence(evidence, run).checked


def last_five(window: Window) -> list[Message]:
    return list(window.messages)[-5:]


def backwards(window: Window) -> list[Message]:
    return list(window.messages)[::-1]


def without(*steps: int) -> Compact:
    def leave_out(window: Window) -> list[Message]:
        return [message for message in window.messages if message.step not in steps]

    return leave_out


def turn(index: int, *calls: str, **fields: Any) -> ModelTurn:
    return ModelTurn(index=index, tool_calls=tuple(ToolCall(id=call, name="look") for call in calls), **fields)


def session(turns: int) -> Trace:
    """System, task, then that many calls with a result each, and an answer: the steps of turn n are 2 + 2n and 3 + 2n."""
    steps: list[Any] = [
        SystemTurn(index=0, content="Use tools."),
        UserTurn(index=1, content="Find the 471 rows of a/b.csv."),
    ]
    for number in range(turns):
        at = 2 + 2 * number
        steps += [turn(at, f"c{number}"), result(f"row {number}", index=at + 1, call_id=f"c{number}")]
    return trace(*steps, ModelTurn(index=2 + 2 * turns, content="Done."))
