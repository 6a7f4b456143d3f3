"""Runs of tau-bench and tau2-bench: a service agent with tools and a simulated user."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import Document, Fields, register
from ..intakes.messages import messages
from ..steps import Steps
from ..values import Unread, as_dict, as_id, as_list, dicts, number, text
from . import Format

_RUN = {"id", "task_id", "trial", "info", "traj", "messages", "records", "reward", "reward_info", "seed", "timestamp",
        "start_time", "end_time", "duration", "termination_reason", "agent_cost", "user_cost"}  # fmt: skip


@register("reader", "tau")
class Tau(Format):
    """One trace per run: a list of `{task_id, trial, reward, info, traj}`, or tau2's `{info, tasks,
    simulations}`.

    A tool's answer that begins with `Error:` failed. Calls and results of tau2's simulated user are
    counted: they are not the agent's.

    Not kept: the system prompt of tau2 (the policy is in the file, not the prompt); usage and times
    of tau-bench.

    Source: github.com/sierra-research/tau-bench, `tau_bench/types.py`;
    github.com/sierra-research/tau2-bench, `src/tau2/data_model/simulation.py`. Tested: tau-bench at
    59a200c and AgentRx at f228165, published files; tau2-bench of July 2026, by hand
    """

    def marked(self, document: Document) -> object:
        run = document.first
        if "environment_info" in as_dict(run, "info") and "tasks" in run:
            return True
        inner = next(iter(dicts(run.get("simulations"))), run)
        simulated = {"task_id", "termination_reason", "messages"} <= inner.keys()
        traced = isinstance(run.get("traj"), list) and {"reward", "task_id"} <= run.keys()
        return simulated or traced

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        return [
            _run(run, as_dict(value, "info"))
            for value in document.objects(unread)
            for run in (dicts(value["simulations"]) if "simulations" in value else [value])
        ]


def _run(run: Fields, info: Fields) -> Steps:
    steps, world = Steps(), as_dict(info, "environment_info")
    steps.unread.extra_keys(run, _RUN, "a run")
    steps.set_tools(as_list(world.get("tool_defs")))
    steps.model = text(as_dict(info, "agent_info").get("llm"))
    for value in as_list(run.get("traj") or run.get("messages")):
        for inner in dicts(as_dict(value).get("tool_messages")) or [value]:
            _say(steps, inner)
    if "task_id" in run:  # the numbers begin at 0 in each domain
        named = (world.get("domain_name"), run["task_id"], as_dict(info, "task").get("user_id"))
        steps.labels["task"] = " ".join(filter(None, map(as_id, named)))
    steps.id, steps.cost_usd = as_id(run.get("id")), number(run.get("agent_cost")) or 0.0
    return steps


def _say(steps: Steps, value: Any) -> None:
    fields = as_dict(value)
    theirs = fields.get("requestor") == "user"
    calls = dicts(fields.get("tool_calls")) if fields.get("role") == "user" else []
    steps.unread.add("call or result of the simulated user's own", len(calls) or int(theirs))
    if theirs or (calls and not fields.get("content")):
        return
    for message in messages([value], steps.unread):
        if message.role == "tool":
            failed = message.failed or message.content.startswith("Error:")
            message = replace(message, failed=failed)
        steps.add_message(message)
