"""The answer of each slot, read: what people's functions give, as the types that a slot allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..model import Message, Record, Reply, ToolResult, compact_json
from ..model.errors import StrategyError
from ..plugins.registry import Plugin
from ..strategies import Edits, Execution, Window, untruncated_record
from ..strategies.messages import Bridge, OpenAIMessages
from .numbering import alike
from .plain import copied, plain_data, plain_struct

Decision = tuple[str, dict[str, Any]]
"""A route, and its detail."""


def record_of(answer: Any, given: ToolResult) -> Record:
    """A store's answer as a record: itself, or one that holds the value it gave.

    A mapping with document 004's keys (`result_type`, `result`, `result_summary`) is a record, and
    not the value.

    >>> kept = {"result_type": "text", "result": "abc", "result_summary": "ab"}
    >>> record = record_of(kept, ToolResult(index=0, call_id="c", function="f", seen="abcdef"))
    >>> record.value, record.summary
    ('abc', 'ab')
    """
    if isinstance(answer, Record):
        return plain_struct(Record, answer)
    record, value = untruncated_record(given), plain_data(answer)
    match value:
        case {
            "result_type": "structured" | "visualization" | "text" as kind,
            "result": kept,
            "result_summary": str(summary),
        }:
            return msgspec.structs.replace(record, value=kept, result_type=kind, summary=summary)
    kind = "structured" if isinstance(value, dict | list) else "text"
    return msgspec.structs.replace(record, value=value, result_type=kind)


def reply_of(answer: Any, given: Any) -> Reply:
    """A consumer's answer: a Reply, or a mapping of its fields. Raises StrategyError for others."""
    if isinstance(answer, Reply):
        return plain_struct(Reply, answer)
    if not isinstance(answer, Mapping) or not {"text", "state", "route"} <= answer.keys():
        what = f"a consumer gives a Reply, got {type(answer).__name__}"
        raise StrategyError(f"{what} — or return a mapping with text, state and route")
    text, route = str(answer["text"]), str(answer["route"])
    path = str(answer.get("path", "function"))
    return plain_struct(Reply, Reply(text, path, answer["state"], route))


def findings_of(answer: Any, given: Any) -> dict[str, Any] | None:
    """An evaluator's answer: a mapping of findings, or None; of document 004's state its last."""
    findings = plain_data(dict(answer) if isinstance(answer, Mapping) else answer)
    if isinstance(findings, dict):
        findings = findings.get("last_step_evaluation", findings)
    if findings is not None and not isinstance(findings, dict):
        what = "an evaluator gives a mapping of findings, or None"
        raise StrategyError(f"{what}, got {type(findings).__name__}")
    return findings


def decision_of(answer: Any, given: Any) -> Decision | None:
    """A router's answer: a route, or (route, detail); None where the decision is another's.

    Raises StrategyError for others.
    """
    match answer:
        case None:
            return None
        case str():
            return plain_data(answer), {}
        case [str() as route, Mapping() as detail]:
            return plain_data(route), plain_data(dict(detail))
        case Mapping():
            what = "a router gives a route's name, and this one gave a mapping"
            hint = (
                "a function that rewrites the messages is a compactor: write compactor= before it"
            )
            raise StrategyError(f"{what} — {hint}")
    what = "a router gives a route's name or (name, detail), the detail a mapping"
    raise StrategyError(f"{what}, got {answer!r:.80}")


def edits_of(answer: Any, given: Window) -> Edits | None:
    """A compactor's answer: messages, ours or OpenAI's, Edits or None. Raises StrategyError."""
    if answer is None or isinstance(answer, Edits):
        return answer
    ours = isinstance(answer, list | tuple) and all(isinstance(item, Message) for item in answer)
    return Edits(messages=answer if ours else Bridge(OpenAIMessages(), given.messages).back(answer))


_READ: dict[str, Callable[[Any, Any], Any]] = {
    "summarizer": lambda answer, given: plain_data(answer),
    "store": record_of,
    "consumer": reply_of,
    "evaluator": findings_of,
    "router": decision_of,
    "compactor": edits_of,
}
"""By kind of plug-in what makes the value of its slot of an answer and its input."""


def started(plugin: Plugin) -> tuple[Any, Callable[..., Any]]:
    """A new instance of a plug-in, and what takes and gives the values of its slot."""
    instance, call = plugin.start()
    read = _READ[plugin.entry.kind]

    def answer(*given: Any) -> Any:
        value = call(*given)
        is_read = isinstance(value, Record | Reply)  # the bench's own values are not copied
        return value if is_read else read(value, given[0])

    return instance, OwnCode(call, read) if plugin.own else answer


class OwnCode:
    """Somebody's own code in a slot: what it is given is its own copy, and its answer is read."""

    def __init__(self, call: Callable[..., Any], read: Callable[[Any, Any], Any]) -> None:
        self._call, self._read = call, read

    def __call__(self, *given: Any) -> Any:
        first = given[0]
        if isinstance(first, Window):
            return _checked(self._read(self._call(first), first), first)
        before = _data(first)
        own: Any = given
        if isinstance(first, dict):
            own = (_copied_state(first),)
        elif isinstance(first, Record):
            own = copied(given)
        answer = self._read(self._call(*own), own[0])
        if _data(first) != before:
            what = "the strategy changed its input"
            raise StrategyError(f"{what} — copy what a result holds before editing it")
        return answer


def _copied_state(state: dict[str, Any]) -> dict[str, Any]:
    """A router's state, copied but for the messages of its prompt, which are frozen."""
    own: dict[str, Any] = copied({key: value for key, value in state.items() if key != "prompt"})
    return {**own, "prompt": [*state["prompt"]]} if "prompt" in state else own


def _data(given: Any) -> str:
    """The parts of a result that code could edit, as JSON; `""` for anything else."""
    result = given.result if isinstance(given, Execution) else given
    return compact_json([result.data, result.arguments]) if isinstance(result, ToolResult) else ""


def _checked(edits: Edits | None, window: Window) -> Edits | None:
    """The edits of somebody's own compactor. Raises StrategyError for what is no message."""
    if edits is None:
        return None
    history = edits.applied(window.messages)
    new = history[alike(window.messages, history) :]
    known = {*window.messages} if new else set()
    for message in new:
        if not isinstance(message, Message):
            kind = type(message).__name__
            raise StrategyError(f"a compactor's messages must be Message values, got {kind}")
        if message not in known:
            plain_struct(Message, message)
    return Edits(messages=history, written=edits.written, parts=plain_data(dict(edits.parts)))
