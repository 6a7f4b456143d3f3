"""routing.* the slow way: sums per run, every history gone through again for every decision."""

from __future__ import annotations

from typing import Any

from bench.model import Approval, ModelTurn, RouteDecision, Run, ToolResult, Trace, UserTurn, as_text, text_of


def first_divergence(trace: Trace, run: Run) -> tuple[int, int]:
    """How many decisions come before the first wrong one, and how many there are."""
    wrong = [number for number in range(len(run.decisions)) if run.decisions[number].route != expected(run, number)]
    return min(wrong, default=len(run.decisions)), len(run.decisions)


def expected(run: Run, number: int) -> str:
    decision = run.decisions[number]
    for route in (decision.labelled, decision.recorded):
        if route:
            return route
    return decision.untruncated


def disagreements(run: Run, prompt: str, history: str) -> int:
    """Decisions of routers that look for loops that are one thing on the prompt and another on the full history."""
    count = 0
    for d in run.decisions:
        if d.loop:
            said = ["loop" if route == d.loop else "none" for route in (d.route, d.untruncated)]
            count += said == [prompt, history]
    return count


def things(trace: Trace, last: int) -> list[Any]:
    """Everything different that a trace has held when a step is over, in order."""
    found: list[Any] = []
    for step in trace.steps:
        if step.index > last:
            break
        new: list[Any] = []
        if isinstance(step, UserTurn):
            new = [("user", text_of(step.content))]
        if isinstance(step, Approval):
            new = [("approval", step.call_id, step.approved)]
        if isinstance(step, ToolResult):
            new = [("result", step.function, as_text(step.arguments), repr(step.arguments), as_text(step.value))]
        if isinstance(step, ModelTurn) and step.tool_calls:
            new = [("call", call.name, repr(call.arguments)) for call in step.tool_calls]
        elif isinstance(step, ModelTurn):
            new = [("said", text_of(step.content))]
        found += [thing for thing in dict.fromkeys(new) if thing not in found]
    return found


def loops(trace: Trace, run: Run) -> dict[str, int]:
    """The loops of each router and of the consumer: three equal ones that the one before does not equal."""
    found: dict[str, int] = {}
    for router in {decision.router for decision in run.decisions}:
        mine = [decision for decision in run.decisions if decision.router == router]
        states = [(decision.route, len(things(trace, decision.step))) for decision in mine]
        found[router] = _starts(states)
    replies = [outcome.reply for outcome in run.results if outcome.reply is not None]
    if replies:
        states = [(n if r.route == "END" else -1, r.route, as_text(r.state)) for n, r in enumerate(replies)]
        found["consumer"] = _starts(states)
    return found


def _starts(states: list[Any]) -> int:
    """Where three in a row are equal and the one before is another."""
    return sum(
        states[n] == states[n + 1] == states[n + 2] and (n == 0 or states[n - 1] != states[n])
        for n in range(len(states) - 2)
    )


def unreset_states(trace: Trace, run: Run) -> int:
    bad = 0
    for outcome in run.results:
        if outcome.reply is not None:
            bad += _dirty(outcome.reply.state) or outcome.reply.route not in ("END", "__end__")
    if not any(outcome.reply for outcome in run.results):
        for step in trace.steps:
            if isinstance(step, RouteDecision) and step.at == "end":
                bad += _dirty(step.state) or step.taken not in ("END", "__end__")
    return bad


def _dirty(state: Any) -> bool:
    for key in ("selected_script", "script_parameters", "raw_output", "execution_summary"):
        if key in state and state[key] is not None and as_text(state[key]) not in ("", "{}", "[]"):
            return True
    return False


def unapproved_executions(trace: Trace) -> int:
    if not [step for step in trace.steps if isinstance(step, Approval)]:
        return 0
    bad = 0
    for place, step in enumerate(trace.steps):
        if isinstance(step, ToolResult) and step.function == "run_script_by_name":
            before = [s for s in trace.steps[:place] if isinstance(s, Approval) and s.call_id == step.call_id]
            if not before or (not before[-1].approved and step.success):
                bad += 1
    return bad
