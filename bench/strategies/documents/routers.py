"""Routers of the two documented workflows, of an orchestrator's ledger, and of a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...model import Approval, Message, ModelTurn, compact_json
from ...model.errors import SpecError
from ...plugins.registry import register
from ..routing import current_step_index, total_steps

RUN_SCRIPT = "run_script_by_name"
GET_PARAMETERS = "get_script_parameters_tool"


@register("router", "after_execution", at="after_result")
def after_execution(state: Mapping[str, Any]) -> str:
    """`respond_with_summary` where the execution left a summary, else `respond_with_raw`; both end the task.

    A summary that is null counts as none, as in the documents; an empty state is `respond_with_raw`.

    Source: 000 Step 5, 001 §2, 003 §3.3

    >>> after_execution({"execution_summary": {"type": "table", "row_count": 50}})
    'respond_with_summary'
    """
    return "respond_with_raw" if state.get("execution_summary") is None else "respond_with_summary"


@register("router", "agent_turn", at="after_model")
def agent_turn(state: Mapping[str, Any]) -> str:
    """The node after the agent's turn: `approval`, `get_parameters`, `tools`, the pending action, else `respond`.

    A call to run a script asks first, whatever else the turn calls; a call for a script's parameters has a node of its own; any other call goes
    to `tools`. Without a call a pending `next_conversational_action` is followed by its own name. No model turn counts as one without calls.

    Source: 003 §3.2, §3.3

    >>> agent_turn({"next_conversational_action": "summarize_results"}), agent_turn({})
    ('summarize_results', 'respond')
    """
    step = state.get("step")
    called = {call.name for call in step.tool_calls} if isinstance(step, ModelTurn) else set()
    if RUN_SCRIPT in called:
        return "approval"
    if called:
        return "get_parameters" if GET_PARAMETERS in called else "tools"
    pending = state.get("next_conversational_action")
    return pending if isinstance(pending, str) and pending else "respond"


@register("router", "approval", at="approval")
def approval(state: Mapping[str, Any]) -> str:
    """`execute` after a person's yes, `agent` after a no: a rejected call returns to the agent with nothing executed.

    Nothing but an approval event leads to execution: a state whose step is none is `agent`.

    Source: 003 §1 "Human-in-the-Loop", §3.2 `run_script_by_name`

    >>> approval({"step": Approval(index=3, call_id="c1", approved=False)})
    'agent'
    """
    step = state.get("step")
    return "execute" if isinstance(step, Approval) and step.approved else "agent"


@register("router", "executor", at="after_result")
def executor(state: Mapping[str, Any]) -> str:
    """`step_evaluate` while something was executed and the plan is not overrun, else `complete`; an empty state is `complete`.

    Source: 004 §4.2

    >>> executor({"execution_history": [{}], "current_step_index": 1, "total_steps": 1})
    'step_evaluate'
    """
    within = state.get("execution_history") and current_step_index(state) <= total_steps(state)
    return "step_evaluate" if within else "complete"


@register("router", "step_evaluator", at="after_evaluation")
def step_evaluator(state: Mapping[str, Any]) -> str:
    """`abort` after a critical failure, `complete` where the plan is done, else `continue`; an empty state is `complete`.

    Source: 004 §4.2

    >>> step_evaluator({"last_step_evaluation": {"critical_failure": True}, "current_step_index": 1, "total_steps": 3})
    'abort'
    """
    if _is_critical(state):
        return "abort"
    return "complete" if current_step_index(state) >= total_steps(state) else "continue"


@register("router", "plan", at="after_evaluation")
def plan(state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The way of a plan of several scripts after a step: `process_summary`, `continue`, `complete` or `abort`.

    The steps of `multi_step_plan` (else of `execution_plan`) run in order. A step that left a summary has that processed before the next starts;
    the detail says what comes `then`. A failed step goes where the step evaluator sends it. An empty state is `complete`.

    Source: 003 §5.1, 004 §4.2

    >>> steps = ["Foundation.cs", "Columns.cs"]
    >>> plan({"multi_step_plan": steps, "current_step_index": 1, "execution_history": [{"success": True}]})
    ('continue', {'next': 'Columns.cs', 'number': 1})
    """
    steps, done = _steps(state), current_step_index(state)
    then = "complete" if done >= len(steps) else "continue"
    detail = {} if then == "complete" else {"next": _name(steps[max(done, 0)]), "number": max(done, 0)}
    executed = state.get("execution_history")
    last = executed[-1] if executed else None
    if isinstance(last, Mapping) and not last.get("success", True):
        return ("abort", {}) if _is_critical(state) else (then, detail)
    if last is not None and state.get("execution_summary") is not None:
        return "process_summary", {"then": then, **detail}
    return then, detail


def _is_critical(state: Mapping[str, Any]) -> bool:
    evaluation = state.get("last_step_evaluation")
    return isinstance(evaluation, Mapping) and bool(evaluation.get("critical_failure"))


def _steps(state: Mapping[str, Any]) -> list[Any]:
    planned = state.get("multi_step_plan")
    if planned is None:
        overall = state.get("execution_plan")
        planned = overall.get("steps") if isinstance(overall, Mapping) else None
    return list(planned) if isinstance(planned, list | tuple) else []


def _name(step: Any) -> Any:
    keys = ("script_name", "script", "function_name", "name")
    return next((step[key] for key in keys if step.get(key)), step) if isinstance(step, Mapping) else step


@register("router", "ledger", at="before_model")
class Ledger:
    """The next act of an orchestrator, read from its ledger: `satisfied`, `next` (the detail names the speaker), `replan` or `terminated`.

    Satisfied wins. A ledger that sees a loop or no progress is a stall; progress never takes one away. After more than `max_stalls` stalls counting
    starts again. The ledger is `{is_request_satisfied | is_in_loop | is_progress_being_made | next_speaker: {answer}}`. Only a boolean answer
    counts, as in Magentic-One. A state without a ledger is `next`, with nobody named.

    Source: Magentic-One (arXiv 2411.04468); microsoft/autogen, `autogen_magentic_one/agents/orchestrator.py` (LedgerOrchestrator)

    >>> stalled = {"ledger": {"is_in_loop": {"answer": True}, "next_speaker": {"answer": "WebSurfer"}}}
    >>> router = Ledger(max_stalls=1)
    >>> router.decide(stalled)
    ('next', {'speaker': 'WebSurfer', 'stalls': 1, 'replans': 0})
    >>> router.decide(stalled)
    ('replan', {'stalls': 0, 'replans': 1})
    """

    def __init__(self, *, max_stalls: int = 3, max_replans: int = 3) -> None:
        self.max_stalls, self.max_replans = max_stalls, max_replans
        self.stalls = self.replans = 0

    def decide(self, state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        route = self._route(state)
        detail: dict[str, Any] = {"stalls": self.stalls, "replans": self.replans}
        speaker = _answer(state, "next_speaker")
        return route, {"speaker": speaker, **detail} if route == "next" and isinstance(speaker, str) else detail

    def _route(self, state: Mapping[str, Any]) -> str:
        if _answer(state, "is_request_satisfied") is True:
            return "satisfied"
        self.stalls += _answer(state, "is_in_loop") is True or _answer(state, "is_progress_being_made") is False
        if self.stalls <= self.max_stalls:
            return "next"
        self.stalls = 0
        if self.replans >= self.max_replans:
            return "terminated"
        self.replans += 1
        return "replan"


def _answer(state: Mapping[str, Any], question: str) -> Any:
    ledger = state.get("ledger")
    entry = ledger.get(question) if isinstance(ledger, Mapping) else None
    return entry.get("answer") if isinstance(entry, Mapping) else None


@register("router", "loop_detector", at="before_model", loop="break_loop")
class LoopDetector:
    """`break_loop` where the prompt shows the same call with the same arguments and result `repeats` times, else `continue`.

    It sees what the model sees, so compaction can hide a loop, and placeholders that look alike can feign one. Calls whose result is not shown do
    not count. No prompt: `continue`.

    Source: 001 §2 Step 3 "stuck in a loop"

    >>> from bench.model import Message, ToolCall
    >>> call = Message(role="assistant", text="", kind="model", tool_calls=(ToolCall(id="1", name="ls"),))
    >>> result = Message(role="tool", text="a.csv", kind="result", call_id="1")
    >>> LoopDetector(repeats=2).decide({"prompt": [call, result, call, result]})
    ('break_loop', {'function': 'ls', 'times': 2})
    """

    def __init__(self, *, repeats: int = 3) -> None:
        if repeats < 2:
            raise SpecError(f"repeats={repeats}: a loop is at least 2 equal calls")
        self.repeats = repeats

    def decide(self, state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        executions = Counter(_executions(state.get("prompt") or ()))
        (function, _, _), times = max(executions.items(), key=lambda item: item[1], default=(("", "", ""), 0))
        return ("break_loop", {"function": function, "times": times}) if times >= self.repeats else ("continue", {})


def _executions(prompt: Sequence[Message]) -> list[tuple[str, str, str]]:
    """Return function, arguments and result of each call that the prompt shows with its result, in order of the results."""
    open_calls: dict[str | None, tuple[str, str]] = {}
    executions = []
    for message in prompt:
        for call in message.tool_calls:
            open_calls[call.id] = (call.name, compact_json(call.arguments))
        asked = open_calls.pop(message.call_id, None) if message.kind == "result" else None
        if asked is not None:
            executions.append((*asked, message.text))
    return executions
