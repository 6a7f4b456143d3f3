"""Results of tau2-bench: simulations of a service agent and a user who may have tools of their own, each with its reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...model import Outcome, Trace
from ...plugins.registry import register
from .. import Confidence, Keeps, Near, NoRun, by_marks
from ..chat import Form, said_of_message
from ..documents import Document, Node, values_of
from ..nodes import at, moment, only_text
from ..parts import usage_of
from ..steps import Steps

_FORM = Form(known=None)


@register("reader", "tau2")
class Tau2:
    """One trace a simulation: `{info, tasks, simulations}`, or simulations alone, each `{task_id, trial, messages, reward_info}`.

    Tool calls and results of the simulated user are counted: they are not the agent's. The expected actions of the task are a label, the reward
    is the outcome (1 is success), the reason of the end is in `meta`. Spoken simulations (`ticks` in place of messages) are not read.

    `{"task_id": "1", "messages": [{"role": "user", "content": "36 walls?"}, {"role": "assistant", "content": "yes", "usage": {"prompt_tokens": 9,
    "completion_tokens": 1}}], "reward_info": {"reward": 1.0}}` is two turns, with usage and a success.

    Source: github.com/sierra-research/tau2-bench, `src/tau2/data_model/simulation.py` (Results) and `message.py`
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "outcome", "labels", "tools", "model"),
        never="the system prompt (the policy is in the file, not the prompt), calls of the simulated user",
        tested="tau2-bench of July 2026, by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = document.head[0] if isinstance(document.head, list) and document.head else document.head
        held = head if isinstance(head, dict) else {}
        info = held.get("info")
        results = isinstance(info, dict) and "environment_info" in info and "tasks" in held
        listed = held.get("simulations")
        first = listed[0] if isinstance(listed, list) and listed else held
        run = first if isinstance(first, dict) else {}
        ran = {"task_id", "termination_reason"} <= run.keys()
        return (
            Confidence.CERTAIN
            if results
            else by_marks({"a task with a reason why it ended": ran, "messages": ran and "messages" in run})
        )

    def read(self, document: Document) -> Iterator[Trace]:
        """The file's simulations in order, named by their own ids."""
        for value in values_of(document):
            info = value["info"]
            runs = value["simulations"].items() if info.value is not None or value.has("simulations") else [value]
            if not runs:
                raise NoRun(
                    str(value.fail("holds no simulations — they lie in files of their own beside it; give those"))
                )
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
    keys = ("trial", "seed", "termination_reason", "duration", "agent_cost", "user_cost")
    meta = {key: run[key].value for key in keys if run[key].value is not None}
    labels = {
        "task": " ".join(
            filter(None, (only_text(at(info, "environment_info", "domain_name")), str(run["task_id"].value)))
        )
    }
    expected = at(task, "evaluation_criteria", "actions").value if task is not None else None
    reward = at(run, "reward_info", "reward").seconds()
    outcome = None if reward is None else Outcome(success=reward == 1, score=reward, said_by="tau2-bench's reward")
    said = {"labels": labels | ({"expected_actions": expected} if expected else {}), "meta": meta, "outcome": outcome}
    return steps.trace(document, "tau2", run, id=only_text(run["id"]) or "", **said)


def _say(steps: Steps, message: Node, model: str | None) -> None:
    theirs = message["requestor"].value == "user"
    calls = message["tool_calls"].items() if message["role"].value == "user" else []
    steps.unread.add("call or result of the simulated user's own", len(calls) or int(theirs))
    if theirs or (calls and not message["content"].value):
        return
    said = said_of_message(message, steps.unread, _FORM)
    if said.role == "tool":
        failed = message["error"].value is True
        said = replace(
            said,
            call_id=only_text(message["id"]) or "",
            failed=failed,
            error=said.text if failed and said.text else None,
        )
    answered = said.role == "assistant"
    usage = usage_of(message["usage"]) if answered else None
    steps.say(said, t=moment(message["timestamp"]), model=model if answered and usage else None, usage=usage)
