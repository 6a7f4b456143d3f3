"""Reading of answers: what users' functions return, converted to the types of their slots."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from ..model import Message, Record, Reply, ToolResult
from ..model.errors import StrategyError, own_error
from ..plugins.registry import Plugin
from ..strategies import NewHistory, Window, untruncated_record
from ..strategies.bridge import Bridge
from ..strategies.functions import user_function
from ..strategies.messages import OpenAIMessages
from .cassettes import require_answered
from .plain import plain_data

_Struct = TypeVar("_Struct", bound=msgspec.Struct)
Decision = tuple[str, dict[str, Any]]
"""A route, and its detail."""


def record_of(answer: Any, given: ToolResult) -> Record:
    """A store's answer as a record: a Record as it is, any other value in a new record.

    A mapping with document 004's keys (`result_type`, `result`, `result_summary`) is read as a
    record.

    >>> kept = {"result_type": "text", "result": "abc", "result_summary": "ab"}
    >>> record = record_of(kept, ToolResult(index=0, call_id="c", function="f", seen="abcdef"))
    >>> record.value, record.summary
    ('abc', 'ab')
    """
    if isinstance(answer, Record):
        return answer
    record, value = untruncated_record(given), answer
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
    """A consumer's answer as a Reply; it may be a mapping of a Reply's fields. Raises StrategyError
    for anything else."""
    if isinstance(answer, Reply):
        return answer
    if not isinstance(answer, Mapping) or not {"text", "state", "route"} <= answer.keys():
        what = f"a consumer gives a Reply, got {type(answer).__name__}"
        raise StrategyError(f"{what} — or return a mapping with text, state and route")
    text, route = str(answer["text"]), str(answer["route"])
    path = str(answer.get("path", "function"))
    return Reply(text, path, answer["state"], route)


def findings_of(answer: Any, given: Any) -> dict[str, Any] | None:
    """The findings in an evaluator's answer, a mapping or None; the last ones in a state of
    document 004."""
    findings = dict(answer) if isinstance(answer, Mapping) else answer
    if isinstance(findings, dict):
        findings = findings.get("last_step_evaluation", findings)
    if findings is not None and not isinstance(findings, dict):
        what = "an evaluator gives a mapping of findings, or None"
        raise StrategyError(f"{what}, got {type(findings).__name__}")
    return findings


def decision_of(answer: Any, given: Any) -> Decision | None:
    """A router's answer, a route or (route, detail), as (route, detail); None if it does not decide
    here.

    Raises StrategyError for anything else.
    """
    match answer:
        case None:
            return None
        case str():
            return answer, {}
        case [str() as route, Mapping() as detail]:
            return route, dict(detail)
        case Mapping():
            what = "a router gives a route's name, and this one gave a mapping"
            hint = (
                "a function that rewrites the messages is a compactor: write compactor= before it"
            )
            raise StrategyError(f"{what} — {hint}")
    what = "a router gives a route's name or (name, detail), the detail a mapping"
    raise StrategyError(f"{what}, got {answer!r:.80}")


def history_of(answer: Any, given: Window) -> NewHistory | None:
    """A compactor's answer as a NewHistory; it may be messages, ours or OpenAI's. Raises
    StrategyError."""
    if answer is None or isinstance(answer, NewHistory):
        return answer
    if isinstance(answer, list | tuple) and (not answer or isinstance(answer[0], Message)):
        return NewHistory(answer)
    return NewHistory(Bridge(OpenAIMessages(), given.messages).back(answer))


_READ: dict[str, Callable[[Any, Any], Any]] = {
    "summarizer": lambda answer, given: answer,
    "store": record_of,
    "consumer": reply_of,
    "evaluator": findings_of,
    "router": decision_of,
    "compactor": history_of,
}
"""For each kind of plug-in the function from an answer and its input to the value of the slot."""


def slot_function(plugin: Plugin) -> Callable[..., Any]:
    """A function from the values of a slot to the plug-in's answer; the plug-in starts at the first
    call."""
    kind, is_own = plugin.entry.kind, plugin.user_code
    seen: set[Message] = set()  # by a compactor

    @functools.cache
    def code() -> Callable[..., Any]:
        if plugin.entry.user_code:
            return user_function(plugin)
        _, function = plugin.start()
        return function

    def answer_of(*given: Any) -> Any:
        """The checked answer of the code."""
        try:
            answer = code()(*given)
        finally:
            require_answered()
        if is_own and kind != "compactor":
            is_record = isinstance(answer, Record)
            answer = _checked(answer, Record) if is_record else plain_data(answer)
        value = _READ[kind](answer, given[0])
        if is_own and kind == "compactor":
            seen.update(given[0].messages)
            _require_messages(() if value is None else value.messages, seen)
        return value

    return answer_of


def _require_messages(messages: Iterable[Any], seen: set[Message]) -> None:
    """Raise StrategyError for a new message that is not a Message, or has values of wrong types.

    Each is looked at once, and then among those `seen`, by identity.
    """
    for message in messages:
        if not isinstance(message, Message):
            kind = type(message).__name__
            raise StrategyError(f"a compactor's messages must be Message values, got {kind}")
        if message not in seen:
            _checked(message, Message)
            seen.add(message)


def _checked(value: Any, kind: type[_Struct]) -> _Struct:
    """A value of the bench that user code made, as plain data. Raises StrategyError for fields of
    wrong types."""
    try:
        return msgspec.convert(plain_data(value), kind)
    except msgspec.ValidationError as error:
        raise StrategyError(f"its {kind.__name__} cannot be read: {error}") from None


# ---------------------------------------------------------------- errors


class Broken(Exception):
    """A strategy raised, or returned a value that its slot does not allow."""

    def __init__(self, slot: str, error: BaseException) -> None:
        self.slot = slot
        self.text = own_error(error)


@contextlib.contextmanager
def in_slot(slot: str) -> Iterator[None]:
    """A context in which an error is raised as Broken, with the name of a slot."""
    try:
        yield
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        raise Broken(slot, error) from error
