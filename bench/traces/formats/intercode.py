"""Episodes of InterCode: one task each, solved by commands in bash, Python or SQL, with a reward and a validity for every command."""

from __future__ import annotations

import ast
import re
from typing import Any

from ...model import Outcome, ToolCall, Trace, compact_json
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, register, strict_json
from ..nodes import at, members
from ..steps import Ran, Said, Steps

_KEPT = ("dataset", "environment", "hardness", "info", "summary", "task_id")
_TURNS = ("actions", "observations", "rewards", "valid_action", "thoughts", "steps")
_EXECUTE = re.compile(r"execute\[(.*)\]", re.DOTALL)
_SUBMITTED = "EXCEEDED MAX TURNS: submit"
_NOT_EXECUTED = "Error executing action:"
_REACT_CHARS = 350
"""The characters that a ReAct run keeps of an observation; it is cut before it is recorded."""


@register("reader", "intercode")
class InterCode:
    """One trace an episode: `{"0": {query, turn_history: {actions, observations, rewards, valid_action}, summary}}`, also below `logs`.

    The query is the user's, each action a model turn whose text calls the environment (`bash`, `python`, `sql`), each observation its result;
    one that did not execute failed. A ReAct run's turn is its thought and its action, `execute[…]` the command, and an observation of 350
    characters was cut by the recorder. In other runs the whole observation is recorded and what the model was shown of it is not (`seen` is
    None). A plan is made in a thread of its own, and its steps are the user's. Rewards and validity are labels by step, the best reward is
    the outcome: 1 is success. What the harness submits when the turns are used up is no turn. An episode without actions is counted on the
    file's first trace.

    Source: github.com/princeton-nlp/intercode, `experiments/eval_n_turn.py`, `eval_react.py`, `eval_plan_solve.py`
    """

    keeps = Keeps(
        results="untruncated",
        also=("cuts", "errors", "outcome", "labels", "threads"),
        never="usage, times, reasoning, the model's name; what the model was shown of an output outside ReAct runs",
        tested="results of princeton-nlp/intercode at c3e46d8, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = as_dict(document.head)
        episode = as_dict(next(iter(as_dict(head.get("logs", head)).values()), None))
        acted = {"actions", "observations"} <= as_dict(episode.get("turn_history")).keys()
        marks = {"episodes with a 'query'": "query" in episode, "a 'turn_history' of actions and observations": acted}
        return by_marks(marks)

    def read(self, document: Document) -> Traces:
        """The file's episodes in order, named by their position; the task is in `meta`."""
        whole = document.node()
        episodes = [episode for _, episode in members(whole["logs"] if whole.has("logs") else whole)]
        acted = [episode for episode in episodes if at(episode, "turn_history", "actions").items()]
        for episode in acted:
            yield _trace(document, episode, len(episodes) - len(acted) if episode is acted[0] else 0)


def _trace(document: Document, episode: Node, empty: int) -> Trace:
    steps = Steps()
    steps.unread.add("episode without actions", empty)
    steps.unread.keys(episode, (*_KEPT, "query", "turn_history"), "an episode")
    history = episode["turn_history"]
    steps.unread.keys(history, _TURNS, "a turn history")
    environment = (episode["environment"].text_or_none() or "environment").removeprefix("ic_")
    actions, observations, rewards, valid, thoughts, plan = (history[key].items() for key in _TURNS)
    query = Said("user", episode["query"].text())
    steps.say(query)
    if plan:
        steps.say(query, "plan")
        numbered = (f"{number}. {step.text()}" for number, step in enumerate(plan, 1))
        steps.say(Said("assistant", "\n".join(numbered)), "plan")
    labels: dict[str, dict[str, object]] = {"rewards": {}, "valid": {}}
    submitted = False
    for turn, action in enumerate(actions):
        said = action.text()
        if thoughts:
            thought = thoughts[turn].text() if turn < len(thoughts) else ""
            submitted = thought == _SUBMITTED and turn == len(actions) - 1
            said = f"Thought {turn + 1}: {thought}\nAction {turn + 1}: {said}"
        if submitted:
            break
        if turn < len(plan):
            steps.say(Said("user", f"Step: {plan[turn].text()}"))
        call = _call(steps.index, environment, action.text())
        steps.say(Said("assistant", said, (call,)))
        if turn >= len(observations):
            steps.unread.add("action without an observation")
            continue
        executed = valid[turn].value if turn < len(valid) else None
        index = str(steps.index)
        _observe(steps, call, observations[turn].text(), failed=executed is False, react=bool(thoughts))
        for label, values in (("rewards", rewards), ("valid", valid)):
            if turn < len(values) and values[turn].value is not None:
                labels[label][index] = values[turn].value
    meta = {key: episode[key].value for key in _KEPT if episode[key].value is not None}
    info = as_dict(meta.get("info"))
    # it can be large, and is there already
    if info and observations and info.get("agent_obs") == observations[-1].value:
        meta["info"] = {key: value for key, value in info.items() if key != "agent_obs"}
    if submitted:
        meta["submitted_by_harness"] = True
    best = at(episode, "summary", "max_reward").seconds()
    outcome = None if best is None else Outcome(success=best == 1, score=best, said_by="InterCode's best reward")
    kept = {name: values for name, values in labels.items() if values}
    return steps.trace(document, "intercode", episode, labels=kept, meta=meta, outcome=outcome)


def _call(index: int, environment: str, action: str) -> ToolCall:
    if action == "submit":
        return ToolCall(id=f"turn{index}", name="submit", in_text=True)
    executed = _EXECUTE.fullmatch(action)
    command = executed.group(1) if executed else action
    return ToolCall(id=f"turn{index}", name=environment, arguments={"command": command}, in_text=True)


def _observe(steps: Steps, call: ToolCall, text: str, *, failed: bool, react: bool) -> None:
    if react:
        steps.say(Said("tool", text, call_id=call.id, ran=Ran(failed=failed, cut=len(text) == _REACT_CHARS)))
        return
    said = _python(text)
    error = str(said.get("error", "")) if said else text if text.startswith(_NOT_EXECUTED) else ""
    steps.ran[call.id] = Ran(output=text, data=said, failed=failed or error != "", error=error or None)
    steps.never_shown()


def _python(text: str) -> dict[str, Any] | None:
    """The output of the Python environment, written as Python writes it: `{'output': …, 'error': …}`, or one of them; None for any other text."""
    try:
        value = ast.literal_eval(text) if text.startswith(("{'output':", "{'error':")) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    said = isinstance(value, dict) and value.keys() <= {"output", "error"}
    return value if said and strict_json(compact_json(value)) == value else None
