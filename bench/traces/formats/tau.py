"""Runs of tau-bench and tau2-bench: a service agent with tools and a simulated user, each with its reward."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from ...model import Outcome, Trace
from ...model.errors import TraceError
from .. import Confidence, Document, Keeps, NoRun, Traces, as_dict, certain_if, dicts, register
from ..messages import messages
from ..parts import Unread
from ..records import dict_in, objects_of, text, time_of
from ..steps import Said, Steps
from ..usage import usage_in

_RUN = {"task_id", "reward", "info", "traj", "trial", "records"}
_INFO = {"task", "source", "user_cost", "reward_info"}
_TAU2_META = ("trial", "seed", "termination_reason", "duration", "agent_cost", "user_cost")
_FAILED = "Error:"


@register("reader", "tau", also=("tau_bench", "tau2"))
class Tau:
    """One trace a run: a list of `{task_id, trial, reward, info, traj}`, or tau2's `{info, tasks, simulations}`.

    The expected actions and outputs are labels; the reward is the outcome, and 1 is success. A tool's answer that
    begins with `Error:` failed. Calls and results of tau2's simulated user are counted: they are not the agent's.
    Where AgentRx's ground truth lies beside the file, or in `../ground_truth`, the failures of a run are labels too,
    and the root cause is the step that failed: AgentRx counts steps from 1.

    Source: github.com/sierra-research/tau-bench, `tau_bench/types.py`; github.com/sierra-research/tau2-bench,
    `src/tau2/data_model/simulation.py`; github.com/microsoft/AgentRx, `data/ground_truth`
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "outcome", "labels", "tools", "model"),
        never="the system prompt of tau2 (the policy is in the file, not the prompt); usage and times of tau-bench",
        tested="tau-bench at 59a200c and AgentRx at f228165, published files; tau2-bench of July 2026, by hand",
    )

    def sniff(self, document: Document) -> Confidence:
        run = document.first
        if "environment_info" in dict_in(run, "info") and "tasks" in run:
            return Confidence.CERTAIN
        inner = next(iter(dicts(run.get("simulations"))), run)
        simulated = {"task_id", "termination_reason", "messages"} <= inner.keys()
        return certain_if(simulated or (isinstance(run.get("traj"), list) and {"reward", "task_id"} <= run.keys()))

    def read(self, document: Document) -> Traces:
        """The file's runs in order."""
        unread = Unread()
        runs = objects_of(document, unread)
        if any("traj" in run for run in runs):
            causes = _ground_truth(document)
            spoken = [run for run in runs if dicts(run.get("traj"))]
            unread.add("run without messages", len(runs) - len(spoken))
            found = [_trace(document, run, causes.get(str(run.get("task_id")))) for run in spoken]
        else:
            found = [trace for value in runs for trace in _simulations(document, value)]
        if not found:
            raise NoRun(
                str(document.fail("holds no simulations — they lie in files of their own beside it; give those"))
            )
        left_out = {**found[0].left_out, **unread.counts}
        yield from (msgspec.structs.replace(found[0], left_out=left_out), *found[1:])


# ---------------------------------------------------------------- tau-bench


def _trace(document: Document, run: dict[str, Any], cause: dict[str, Any] | None) -> Trace:
    steps = Steps()
    steps.unread.extra_keys(run, _RUN, "a run")
    numbers: dict[int, int] = {}  # AgentRx's number of a step, and our index
    for position, value in enumerate(run["traj"], 1):
        for said in messages([value], steps.unread):
            if said.role == "tool" and said.text.startswith(_FAILED):
                said = replace(said, failed=True, error=said.text)
            number = as_dict(value).get("index")
            numbers[number if type(number) is int else position] = steps.say(said)
    info = as_dict(run.get("info"))
    task = as_dict(info.get("task"))
    steps.unread.extra_keys(info, _INFO, "a run's info")
    labels = {f"expected_{key}": task[key] for key in ("actions", "outputs") if task.get(key)}
    if run.get("task_id") is not None:  # the numbers begin at 0 in each domain
        labels["task"] = " ".join(filter(None, (str(run["task_id"]), text(task.get("user_id")))))
    meta = {key: run[key] for key in ("task_id", "trial", "records") if run.get(key) not in (None, {})}
    for held, keys in ((info, ("source", "user_cost", "reward_info")), (task, ("user_id", "instruction"))):
        meta |= {key: held[key] for key in keys if held.get(key) is not None}
    outcome = _outcome(run.get("reward"), "tau-bench's reward", steps.unread)
    if cause is not None:
        labels |= {key: cause[key] for key in ("failures", "root_cause", "failure_summary") if key in cause}
        outcome = _with_root_cause(outcome or Outcome(), cause, numbers)
    return steps.trace(document, "tau", labels=labels, meta=meta, outcome=outcome)


def _outcome(reward: Any, by: str, unread: Unread) -> Outcome | None:
    if type(reward) not in (int, float):
        unread.add("reward that is no number", reward is not None)
        return None
    return Outcome(success=reward == 1, score=float(reward), said_by=by)


def _ground_truth(document: Document) -> dict[str, dict[str, Any]]:
    """AgentRx's labels by the run they are about, from the files beside this one that hold such."""
    folder = document.path.parent
    found: dict[str, dict[str, Any]] = {}
    for path in sorted([*folder.glob("*ground_truth*.json"), *folder.parent.glob("ground_truth/*.json")]):
        try:
            labels = dicts(Document(path).json)
        except TraceError:
            continue  # some other file of that name
        found |= {
            str(label["trajectory_id"]): label for label in labels if {"trajectory_id", "failures"} <= label.keys()
        }
    return found


def _with_root_cause(outcome: Outcome, cause: dict[str, Any], numbers: dict[int, int]) -> Outcome:
    wanted = as_dict(cause.get("root_cause")).get("failure_id")
    step = next(
        (item.get("step_number") for item in dicts(cause["failures"]) if item.get("failure_id") == wanted), None
    )
    said_by = " and ".join(filter(None, (outcome.said_by, "AgentRx's annotators")))
    return msgspec.structs.replace(outcome, failed_step=numbers.get(step or 0), said_by=said_by)


# ---------------------------------------------------------------- tau2-bench


def _simulations(document: Document, value: dict[str, Any]) -> list[Trace]:
    info = as_dict(value.get("info"))
    runs = dicts(value.get("simulations")) if "info" in value or "simulations" in value else [value]
    tasks = {str(task.get("id")): task for task in dicts(value.get("tasks"))}
    return [_simulation(document, run, info, as_dict(tasks.get(str(run.get("task_id"))))) for run in runs]


def _simulation(document: Document, run: dict[str, Any], info: dict[str, Any], task: dict[str, Any]) -> Trace:
    steps = Steps()
    defined = dict_in(info, "environment_info").get("tool_defs")
    steps.tools(defined if isinstance(defined, list) else [])
    model = text(dict_in(info, "agent_info").get("llm"))
    for value in dicts(run.get("messages")):
        for inner in dicts(value.get("tool_messages")) or [value]:
            _say(steps, inner, model)
    domain = text(dict_in(info, "environment_info").get("domain_name"))
    labels: dict[str, Any] = {"task": " ".join(filter(None, (domain, str(run.get("task_id")))))}
    if expected := dict_in(task, "evaluation_criteria").get("actions"):
        labels["expected_actions"] = expected
    outcome = _outcome(dict_in(run, "reward_info").get("reward"), "tau2-bench's reward", steps.unread)
    meta = {key: run[key] for key in _TAU2_META if run.get(key) is not None}
    return steps.trace(document, "tau", id=text(run.get("id")) or "", labels=labels, meta=meta, outcome=outcome)


def _say(steps: Steps, value: dict[str, Any], model: str | None) -> None:
    role, theirs = value.get("role"), value.get("requestor") == "user"
    calls = dicts(value.get("tool_calls")) if role == "user" else []
    steps.unread.add("call or result of the simulated user's own", len(calls) or int(theirs))
    if theirs or (calls and not value.get("content")):
        return
    fields = {key: value[key] for key in ("role", "content", "tool_calls", "name") if key in value}
    usage = usage_in(value.get("usage"), steps.unread) if role == "assistant" else None
    for said in messages([fields], steps.unread):
        if said.role == "tool":
            failed = value.get("error") is True
            error = said.text or None if failed else None
            said = Said(
                "tool", said.content, call_id=text(value.get("id")) or "", name=said.name, failed=failed, error=error
            )
        time = time_of(value.get("timestamp"), steps.unread)
        steps.say(said, t=time, model=model if usage else None, usage=usage)
