"""Completions that OpenHands logs, one file a model call: the whole prompt, the answer, its cost and its time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...model.errors import TraceError
from .. import Confidence, Document, Keeps, Near, PartOf, Traces, as_dict, by_marks, register
from ..exchange import answers_of, prompt_of
from ..messages import messages
from ..nodes import filled, first_of
from ..parts import Unread
from ..prompts import Prompts, key_of

_CALL = {"messages", "tools", "kwargs", "args", "context_window", "response", "cost", "timestamp", "latency_sec", "usage_summary", "raw_response",
         "fncall_messages", "fncall_response", "llm_path", "metrics", "instructions", "input"}  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@register("reader", "openhands_sdk")
class OpenHandsSdk:
    """One run of calls a trace. In a folder the last call of a conversation tells the whole run; the calls before it are part of it.

    A file is `{messages, response, cost, timestamp, latency_sec, tools}`, or has `instructions` and `input` as the Responses interface does.
    Two calls are of one run where the later prompt holds the earlier answer. A file given by name is read by itself: what was said before is
    there, its usage and times are not. Costs and latencies by step are in `meta`. Prompts of models without function calling are read as
    the agent meant them (`fncall_messages`).

    Source: github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/llm/utils/telemetry.py`; All-Hands-AI/OpenHands,
    `openhands/llm/llm.py` (log_completions)
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "tools", "model"),
        never="the untruncated result, errors of tools, how the run ended: a file is one model call",
        tested="completion logs of openhands-sdk at 611629e, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = as_dict(document.head)
        asked = isinstance(head.get("messages"), list) or isinstance(head.get("input"), list)
        answered = isinstance(head.get("response"), dict)
        logged = not head.keys().isdisjoint({"latency_sec", "context_window", "fncall_messages"})
        marks = {"a list 'messages' or 'input' beside an object 'response'": asked and answered}
        return by_marks(marks | {"OpenHands' 'latency_sec', 'context_window' or 'fncall_messages'": logged})

    def read(self, document: Document) -> Traces:
        """The run that this call ends. PartOf where another file of the folder tells it."""
        last = _Logged(document)
        others = [path for path in sorted(document.beside, key=_order) if path.name != document.path.name]
        at = sum(_order(path) < _order(document.path) for path in others)
        for later in map(_opened, others[at:]):
            if later is not None and later.goes_on_from(last):
                raise PartOf(f"{document.name}: a call of the run that {later.document.path.name} ends")
        run = [last]
        for earlier in map(_opened, reversed(others[:at])):
            if earlier is not None and run[0].goes_on_from(earlier):
                run.insert(0, earlier)
        steps = Prompts()
        kept: dict[str, dict[str, Any]] = {"cost": {}, "latency_sec": {}}
        for call in run:
            step = call.ask(steps)
            for key, values in kept.items():
                if call.whole[key].seconds() is not None:
                    values[str(step)] = call.whole[key].value
        for what, count in last.unread.counts.items():  # the last prompt holds what the others hold
            steps.unread.add(what, count)
        steps.unread.keys(last.whole, _CALL, "the file")
        window = last.whole["context_window"].value
        meta = filled(costs_usd=kept["cost"], latencies_s=kept["latency_sec"], context_window=window)
        yield steps.trace(document, "openhands_sdk", last.whole, meta=meta)


class _Logged:
    def __init__(self, document: Document) -> None:
        self.document, self.whole, self.unread = document, document.node(), Unread()
        response, meant = first_of(self.whole, "fncall_response", "response"), self.whole["fncall_messages"]
        self.prompt = messages(meant.value, self.unread) if meant.value else prompt_of(self.whole.value, self.unread)
        answers = answers_of(response.value, self.unread)
        if not answers:
            raise response.fail("expected an answer, got none — the call failed; leave the file out")
        self.answer = answers[0]
        self.keys = [key_of(said) for said in self.prompt]

    def goes_on_from(self, earlier: _Logged) -> bool:
        """True if the prompt holds an earlier call's answer: by the ids of its tool calls, else word for word after the same prompt."""
        answer = key_of(earlier.answer)
        named = bool(earlier.answer.calls) and all(call.id for call in earlier.answer.calls)
        return answer in self.keys if named else self.keys[: len(earlier.keys) + 1] == [*earlier.keys, answer]

    def ask(self, steps: Prompts) -> int:
        answered, seconds = self.whole["timestamp"].seconds(), self.whole["latency_sec"].seconds()
        asked = None if answered is None or seconds is None else answered - seconds
        tools = [tool.value for tool in self.whole["tools"].items()]
        return steps.ask(self.prompt, self.answer, tools=tools, asked=asked, answered=answered)


def _order(path: Path) -> tuple[float, str]:
    """The files' order in time: the logger ends a name with the time of the call."""
    numbers = _NUMBER.findall(path.stem)
    return (float(numbers[-1]) if numbers else 0.0, path.name)


def _opened(path: Path) -> _Logged | None:
    try:
        return _Logged(Document(path))
    except TraceError:
        return None
