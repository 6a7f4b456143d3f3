"""Results of tau2-bench: simulations of a service agent and a user who may have tools of their own, each with its reward."""

from __future__ import annotations

from ...model import Outcome, Trace
from .. import Confidence, Document, Keeps, Near, Node, NoRun, Traces, as_dict, by_marks, dicts, register, values_of
from ..chat import Form, said_of_message
from ..nodes import at, inside, moment, only_text
from ..parts import usage_of
from ..steps import Steps, result

_FORM = Form(known=None)
_META = ("trial", "seed", "termination_reason", "duration", "agent_cost", "user_cost")


@register("reader", "tau2")
class Tau2:
    """One trace a simulation: `{info, tasks, simulations}`, or simulations alone, each `{task_id, trial, messages, reward_info}`.

    Tool calls and results of the simulated user are counted: they are not the agent's. The expected actions of the task are a label, the reward
    is the outcome (1 is success), the reason of the end is in `meta`. Spoken simulations (`ticks` in place of messages) are not read.

    Source: github.com/sierra-research/tau2-bench, `src/tau2/data_model/simulation.py` (Results) and `message.py`
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "outcome", "labels", "tools", "model"),
        never="the system prompt (the policy is in the file, not the prompt), calls of the simulated user",
        tested="tau2-bench of July 2026, by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        held = document.first
        if "environment_info" in as_dict(held.get("info")) and "tasks" in held:
            return Confidence.CERTAIN
        run = next(iter(dicts(held.get("simulations"))), held)
        ran = {"task_id", "termination_reason"} <= run.keys()
        return by_marks({"a task with a reason why it ended": ran, "messages": ran and "messages" in run})

    def read(self, document: Document) -> Traces:
        """The file's simulations in order, named by their own ids."""
        for value in values_of(document):
            info = value["info"]
            runs = value["simulations"].items() if info.value is not None or value.has("simulations") else [value]
            if not runs:
                what = "holds no simulations — they lie in files of their own beside it; give those"
                raise NoRun(str(value.fail(what)))
            tasks = {str(task["id"].value): task for task in value["tasks"].items()}
            for run in runs:
                yield _trace(document, run, info, tasks.get(str(run["task_id"].value)))


def _trace(document: Document, run: Node, info: Node, task: Node | None) -> Trace:
    steps = Steps()
    steps.tools([tool.value for tool in at(info, "environment_info", "tool_defs").items()])
    model = only_text(at(info, "agent_info", "llm"))
    for message in run["messages"].items():
        for inner in message["tool_messages"].items() or [message]:
            _say(steps, inner, model)
    domain = only_text(at(info, "environment_info", "domain_name"))
    labels = {"task": " ".join(filter(None, (domain, str(run["task_id"].value))))}
    if expected := None if task is None else inside(task, "evaluation_criteria", "actions").value:
        labels["expected_actions"] = expected
    reward = at(run, "reward_info", "reward").seconds()
    outcome = None if reward is None else Outcome(success=reward == 1, score=reward, said_by="tau2-bench's reward")
    meta = {key: run[key].value for key in _META if run[key].value is not None}
    own = only_text(run["id"]) or ""
    return steps.trace(document, "tau2", run, id=own, labels=labels, meta=meta, outcome=outcome)


def _say(steps: Steps, message: Node, model: str | None) -> None:
    theirs = message["requestor"].value == "user"
    calls = message["tool_calls"].items() if message["role"].value == "user" else []
    steps.unread.add("call or result of the simulated user's own", len(calls) or int(theirs))
    if theirs or (calls and not message["content"].value):
        return
    said = said_of_message(message, steps.unread, _FORM)
    if said.role == "tool":
        said = result(said.content, only_text(message["id"]) or "", said.name, failed=message["error"].value is True)
    usage = usage_of(message["usage"]) if said.role == "assistant" else None
    steps.say(said, t=moment(message["timestamp"]), model=model if usage else None, usage=usage)
