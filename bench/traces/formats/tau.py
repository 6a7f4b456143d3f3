"""Runs of tau-bench and tau2-bench: a service agent with tools and a simulated user, each with its
reward."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from ...model import Trace
from .. import Confidence, Document, NoRun, Traces, certain_if, register
from ..intakes.messages import messages
from ..intakes.usage import usage_in
from ..records import Unread, objects_of, time_of
from ..steps import Steps
from ..values import as_id, as_list, dict_in, dicts, number, text

_RUN = {"task_id", "reward", "info", "traj", "trial", "records"}
_INFO = {"task", "source", "user_cost", "reward_info"}
_FAILED = "Error:"


@register("reader", "tau")
class Tau:
    """One trace a run: a list of `{task_id, trial, reward, info, traj}`, or tau2's `{info, tasks,
    simulations}`.

    A tool's answer that begins with `Error:` failed. Calls and results of tau2's simulated user are
    counted: they are not the agent's.

    Not kept: the reward and the expected actions; the system prompt of tau2 (the policy is in the
    file, not the prompt); usage and times of tau-bench.

    Source: github.com/sierra-research/tau-bench, `tau_bench/types.py`;
    github.com/sierra-research/tau2-bench, `src/tau2/data_model/simulation.py`. Tested: tau-bench at
    59a200c and AgentRx at f228165, published files; tau2-bench of July 2026, by hand
    """

    def sniff(self, document: Document) -> Confidence:
        run = document.first
        if "environment_info" in dict_in(run, "info") and "tasks" in run:
            return Confidence.CERTAIN
        inner = next(iter(dicts(run.get("simulations"))), run)
        simulated = {"task_id", "termination_reason", "messages"} <= inner.keys()
        return certain_if(
            simulated or (isinstance(run.get("traj"), list) and {"reward", "task_id"} <= run.keys())
        )

    def read(self, document: Document) -> Traces:
        """The file's runs in order."""
        unread = Unread()
        values = objects_of(document, unread)
        if any("traj" in run for run in values):
            runs = [run for run in values if dicts(run.get("traj"))]
            unread.add("run without messages", len(values) - len(runs))
            traces = [_tau_bench(document, run) for run in runs]
        else:
            traces = [trace for value in values for trace in _simulations(document, value)]
        if not traces:
            where = "they lie in files of their own beside it; give those"
            raise NoRun(str(document.fail(f"holds no simulations — {where}")))
        left_out = {**traces[0].left_out, **unread.counts}
        yield from (msgspec.structs.replace(traces[0], left_out=left_out), *traces[1:])


def _tau_bench(document: Document, run: dict[str, Any]) -> Trace:
    """A run of tau-bench as a trace."""
    steps, info, task = Steps(), dict_in(run, "info"), dict_in(run, "info", "task")
    steps.unread.extra_keys(run, _RUN, "a run")
    steps.unread.extra_keys(info, _INFO, "a run's info")
    for message in messages(run["traj"], steps.unread):
        failed = message.role == "tool" and message.text.startswith(_FAILED)
        steps.say(replace(message, failed=True, error=message.text) if failed else message)
    # the numbers begin at 0 in each domain
    named = (as_id(run.get("task_id")), text(task.get("user_id")) or "")
    labels = {"task": " ".join(filter(None, named))} if named[0] else {}
    return steps.trace(document, "tau", labels=labels)


# ---------------------------------------------------------------- tau2-bench


def _simulations(document: Document, value: dict[str, Any]) -> list[Trace]:
    """The simulations of a file of results; a file may also be one simulation alone."""
    are_results = "info" in value or "simulations" in value
    runs = dicts(value.get("simulations")) if are_results else [value]
    return [_simulation(document, run, dict_in(value, "info")) for run in runs]


def _simulation(document: Document, run: dict[str, Any], info: dict[str, Any]) -> Trace:
    """A simulation of tau2 as a trace."""
    steps, world = Steps(), dict_in(info, "environment_info")
    steps.tools(as_list(world.get("tool_defs")))
    model = text(dict_in(info, "agent_info").get("llm"))
    for value in dicts(run.get("messages")):
        for inner in dicts(value.get("tool_messages")) or [value]:
            _say(steps, inner, model)
    domain, task_id = text(world.get("domain_name")), str(run.get("task_id"))
    labels = {"task": " ".join(filter(None, (domain, task_id)))}
    steps.cost_usd = number(run.get("agent_cost")) or 0.0
    return steps.trace(document, "tau", id=text(run.get("id")) or "", labels=labels)


def _say(steps: Steps, value: dict[str, Any], model: str | None) -> None:
    """Add a message; calls and results of the simulated user are counted."""
    role, theirs = value.get("role"), value.get("requestor") == "user"
    calls = dicts(value.get("tool_calls")) if role == "user" else []
    steps.unread.add("call or result of the simulated user's own", len(calls) or int(theirs))
    if theirs or (calls and not value.get("content")):
        return
    fields = {key: value[key] for key in ("role", "content", "tool_calls", "name") if key in value}
    usage = usage_in(value.get("usage"), steps.unread) if role == "assistant" else None
    for message in messages([fields], steps.unread):
        if message.role == "tool":
            error = (message.text or None) if value.get("error") is True else None
            call_id, failed = text(value.get("id")) or "", value.get("error") is True
            message = replace(message, call_id=call_id, failed=failed, error=error)
        t = time_of(value.get("timestamp"), steps.unread)
        steps.say(message.with_known(model=model if usage else None, usage=usage), t=t)
