"""Runs of tau-bench: a service agent with tools and a simulated user, each with its reward and the actions that were expected."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ...model import Outcome, Trace
from ...model.errors import TraceError
from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, register, values_of
from ..chat import said_of_message
from ..nodes import at
from ..steps import Steps

_RUN = {"task_id", "reward", "info", "traj", "trial", "records"}
_INFO = {"task", "source", "user_cost", "reward_info"}
_FAILED = "Error:"


@register("reader", "tau_bench")
class TauBench:
    """One trace a run: a list of `{task_id, trial, reward, info, traj}`, `traj` in OpenAI's form; step indices are positions in `traj`.

    The expected actions and outputs are labels; the reward is the outcome, and 1 is success. A tool's answer that begins with `Error:` failed.
    Where AgentRx's ground truth (a list of `{trajectory_id, failures, root_cause}`) lies beside the file, or in `../ground_truth`, the
    failures of a run are labels too, and the root cause is the step that failed: AgentRx counts steps from 1. A run without messages is
    counted on the file's first trace.

    Source: github.com/sierra-research/tau-bench, `tau_bench/types.py` (EnvRunResult); github.com/microsoft/AgentRx, `data/ground_truth`
    """

    keeps = Keeps(
        results="as shown",
        also=("errors", "outcome", "labels"),
        never="usage, times, tool definitions, the model's name",
        tested="tau-bench at 59a200c and AgentRx at f228165, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        run = document.first
        marks = {"a list 'traj'": isinstance(run.get("traj"), list)}
        return by_marks(marks | {f"a key {key!r}": key in run for key in ("reward", "task_id")})

    def read(self, document: Document) -> Traces:
        """The file's runs in order, named by their position; task and trial are in `meta`."""
        runs = values_of(document)
        causes = _ground_truth(document)
        spoken = [run for run in runs if run["traj"].items()]
        for run in spoken:
            empty = len(runs) - len(spoken) if run is spoken[0] else 0
            yield _trace(document, run, causes.get(str(run["task_id"].value)), empty)


def _trace(document: Document, run: Node, cause: Node | None, empty: int) -> Trace:
    steps = Steps()
    steps.unread.add("run without messages", empty)
    steps.unread.keys(run, _RUN, "a run")
    numbers: dict[int, int] = {}  # AgentRx's number of a step, and our index
    for position, message in enumerate(run["traj"].items()):
        number, said = message["index"].count(), said_of_message(message, steps.unread)
        if said.role == "tool" and said.text.startswith(_FAILED):
            said = replace(said, failed=True, error=said.text)
        numbers[position + 1 if number is None else number] = steps.say(said)
    task, info = at(run, "info", "task"), run["info"]
    if info.value is not None:
        steps.unread.keys(info, _INFO, "a run's info")
    labels = {f"expected_{key}": task[key].value for key in ("actions", "outputs") if at(task, key).value}
    if run["task_id"].value is not None:
        user = at(task, "user_id").text_or_none()  # the numbers begin at 0 in each domain
        labels["task"] = str(run["task_id"].value) + (f" {user}" if user else "")
    meta = {key: run[key].value for key in ("task_id", "trial", "records") if run[key].value not in (None, {})}
    for node, keys in ((info, ("source", "user_cost", "reward_info")), (task, ("user_id", "instruction"))):
        meta |= {key: value for key in keys if (value := at(node, key).value) is not None}
    reward = run["reward"].seconds()
    outcome = None if reward is None else Outcome(success=reward == 1, score=reward, said_by="tau-bench's reward")
    if cause is not None:
        told = ("failures", "root_cause", "failure_summary")
        labels |= {key: cause[key].value for key in told if cause.has(key)}
        outcome = _with_root_cause(outcome or Outcome(), cause, numbers)
    return steps.trace(document, "tau_bench", run, labels=labels, meta=meta, outcome=outcome)


def _ground_truth(document: Document) -> dict[str, Node]:
    """AgentRx's labels by the run they are about, from the files beside this one that hold such; `{}` where there are none."""
    folder = document.path.parent
    found: dict[str, Node] = {}
    for path in sorted([*folder.glob("*ground_truth*.json"), *folder.parent.glob("ground_truth/*.json")]):
        try:
            labels = Document(path).node().items()
        except TraceError:
            continue  # some other file of that name
        about = [label for label in labels if label.has("trajectory_id") and label.has("failures")]
        found.update((str(label["trajectory_id"].value), label) for label in about)
    return found


def _with_root_cause(outcome: Outcome, cause: Node, numbers: dict[int, int]) -> Outcome:
    wanted = at(cause, "root_cause", "failure_id").value
    named = [item for item in cause["failures"].items() if item["failure_id"].value == wanted]
    step = named[0]["step_number"].count() if named else None
    said_by = " and ".join(filter(None, (outcome.said_by, "AgentRx's annotators")))
    failed = None if step is None else numbers.get(step)
    return msgspec.structs.replace(outcome, failed_step=failed, said_by=said_by)
