"""Tapes of TapeAgents: the thoughts, actions and observations of a run, one after the other."""

from __future__ import annotations

from typing import Any

from ...model import Outcome, ToolCall, compact_json
from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, dicts, register, values_of
from ..blocks import Blocks
from ..chat import calls_of
from ..nodes import at, inside, only_text, picked
from ..steps import Ran, Said, Steps

_ASKED = {"user", "question", "task", "system"}
_GRAPH = {"set_next_node", "call", "respond", "broadcast", "pass"}
"""Steps by which agents hand over to each other, or to a node of their own."""
_OBSERVED = ("_observation", "_result")


@register("reader", "tapeagents")
class TapeAgents:
    """One trace a tape: `{metadata, context, steps}`, a list or lines of those.

    The steps that one prompt made (`metadata.prompt_id`) are one turn of their agent's: thoughts are its reasoning, text what it says, actions
    its calls, named after their kind. The observations that follow are the results of its calls, in order. `call`, `respond` and
    `set_next_node` are RouteDecisions. A context that is a text, or has one as `content`, is the first user turn.

    Source: github.com/ServiceNow/TapeAgents, `tapeagents/core.py` (Tape, Step, Action, Observation)
    """

    keeps = Keeps(
        results="as shown",
        also=("times", "errors", "outcome", "labels", "routes", "reasoning"),
        never="prompts and usage, which are kept in a database of calls beside the tape",
        tested="tapes of ServiceNow/TapeAgents at e22d5e3, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        tape = document.first
        steps = dicts(tape.get("steps"))
        typed = bool(steps) and all({"kind", "metadata"} <= step.keys() for step in steps)
        framed = {"metadata", "context"} <= tape.keys()
        return by_marks({"steps with a kind and metadata": typed, "a context and metadata beside them": framed})

    def read(self, document: Document) -> Traces:
        """The file's tapes in order; author and parent are in `meta`."""
        for tape in values_of(document):
            metadata = tape["metadata"]
            said: dict[str, Any] = {"meta": picked(metadata, "id", "parent_id", "author", "error")}
            answer = at(metadata, "task", "Final answer").value
            if answer is not None:
                right = str(at(metadata, "result").value).strip().lower() == str(answer).strip().lower()
                said["labels"] = {"expected_answer": answer}
                said["outcome"] = Outcome(success=right, said_by="the task's final answer")
            yield _Tape(tape).trace(document, "tapeagents", tape, **said)


class _Tape(Steps):
    def __init__(self, tape: Node) -> None:
        super().__init__()
        self.prompt, self.agent = "", "agent"
        self.turn = Blocks()
        self.routes: list[tuple[str, str]] = []
        context = tape["context"]
        text = context.value if isinstance(context.value, str) else only_text(inside(context, "content"))
        if text:
            self.say(Said("user", text))
        if tools := inside(context, "tools").items():
            self.tools([tool.value for tool in tools])
        for step in tape["steps"].items():
            self._step(step)
        self._end()

    def _step(self, step: Node) -> None:
        kind, metadata = step["kind"].text(), step["metadata"]
        prompt = only_text(at(metadata, "prompt_id")) or ""
        agent = (only_text(at(metadata, "agent")) or "agent").rpartition("/")[2]
        own = kind in _GRAPH or kind in _ASKED or kind == "assistant"
        observed = not own and (not prompt or kind.endswith(_OBSERVED))
        if observed or kind in _ASKED or kind == "tool" or (prompt, agent) != (self.prompt, self.agent):
            self._end()
        self.prompt, self.agent = prompt, agent
        given = {key: value for key, value in step.object().items() if key not in ("metadata", "kind")}
        text = _words(step["content"].value)
        if kind in _GRAPH:
            self._handed(step, kind, text)
        elif kind == "assistant":
            self.turn.text(text)
            self.turn.calls += calls_of(step)
        elif kind == "tool":
            self.say(Said("tool", text, call_id=step["tool_call_id"].text_or_none() or ""))
        elif kind in _ASKED:
            self.say(Said("system" if kind == "system" else "user", text))
        elif observed:
            self._observation(step, {key: value for key, value in given.items() if value is not None})
        elif kind.endswith("thought") or kind.startswith(("plan", "facts", "think")):
            self.turn.thoughts.append("\n".join(map(_words, given.values())))
        else:
            self.turn.calls.append(ToolCall(id="", name=kind.removesuffix("_action"), arguments=given))

    def _handed(self, step: Node, kind: str, text: str) -> None:
        """A step of the graph: its text is said, and where it goes is a decision."""
        if kind in ("call", "respond") and text:
            self.turn.text(text)
        following = step["next_node"].value
        taken = only_text(step["agent_name"]) or ("" if following is None else str(following))
        self.routes += [(taken, kind)] if taken else []

    def _observation(self, step: Node, held: dict[str, Any]) -> None:
        error, took = held.get("error"), at(step["metadata"], "other", "action_execution_time").value
        failed = bool(error) or inside(step, "result", "exit_code").value not in (0, None)
        alone = next(iter(held.values())) if len(held) == 1 else None
        text = alone if isinstance(alone, str) else compact_json(held)
        ran = Ran(failed=failed, duration_s=float(took) if type(took) in (int, float) else None)
        said = Said("tool", text, failed=failed, error=_words(error) if error else None, ran=ran)
        self.say(said, agent=self.agent)

    def _end(self) -> None:
        self.tell(self.turn.answer(), agent=self.agent)
        for taken, router in self.routes:
            self.route(taken, router, self.agent)
        self.turn, self.routes = Blocks(), []


def _words(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else compact_json(value)
