"""Users' functions and programs in a slot: their arguments, their answers, their errors."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..model import Record, ToolResult
from ..plugins.registry import Plugin
from ..plugins.spec import COMMAND
from .bridge import Bridge, Items
from .forms import FORMS, Form, SlotCall, execution_mapping, form_of
from .messages import OpenAIMessages
from .offloading import offload
from .slots import Execution, NewHistory

if TYPE_CHECKING:
    from ..plugins.command import Program


def with_form(plugin: Plugin) -> Plugin:
    """A user's plug-in with the form of its values, determined once for all replays.

    Raises SpecError for a form that its slot does not have.
    """
    if plugin.spec.target == COMMAND:
        return plugin
    _, call = plugin.start()
    form = form_of(plugin.entry.kind, call, plugin.entry.name, plugin.attribute("form"))
    return replace(plugin, entry=replace(plugin.entry, meta={**plugin.entry.meta, "form": form}))


def user_function(plugin: Plugin) -> Callable[..., Any]:
    """A function that passes the values of a slot to a new instance of a user's plug-in."""
    instance, call = plugin.start()
    if plugin.spec.target == COMMAND:
        return functools.partial(_of_program, instance, plugin.entry.kind)
    return UserFunction(plugin.entry.kind, plugin.entry.meta["form"], call)


class UserFunction:
    """A user's function in one slot, for one run; calling it converts the values and the answer."""

    def __init__(self, kind: str, form: Form, call: Callable[..., Any]) -> None:
        self._kind, self._form, self._call = kind, form, call
        self._records: list[Record] = []
        self._items: dict[Any, Items] = {}

    def __call__(self, *given: Any) -> Any:
        if self._kind == "evaluator":
            self._records.append(given[0])
        slot = SlotCall(given, self._records, self._items)
        answer = self._answer([build(slot) for build in self._form.builds])
        if slot.bridge is None or self._kind == "router" or isinstance(answer, NewHistory):
            return answer
        return slot.bridge.back(answer)

    def _answer(self, arguments: list[Any]) -> Any:
        """The answer of the function. An error about its arguments gets a note that lists the other
        forms."""
        try:
            return awaited(self._call(*arguments))
        except (AttributeError, TypeError) as error:
            lists = (argument for argument in arguments if isinstance(argument, list))
            given = itertools.chain(arguments, *lists)
            if any(type(value).__name__ in str(error) for value in given):
                others = ", ".join(form for form in FORMS[self._kind] if form != self._form.name)
                error.add_note(f"it got form={self._form.name}; other forms: {others}")
            raise


def awaited(answer: Any) -> Any:
    """The value of an answer, awaited if it is awaitable.

    >>> async def answer() -> int:
    ...     return 1
    >>> awaited(answer()), awaited(2)
    (1, 2)
    """
    if not inspect.isawaitable(answer):
        return answer
    import asyncio  # costs as much memory as all else here, and each replay forks

    async def wait() -> Any:
        return await answer

    return asyncio.run(wait())


# ---------------------------------------------------------------- programs


def _of_program(program: Program, kind: str, *given: Any) -> Any:
    """A program's answer; the values of its handles are offloaded."""
    answer = program.ask({"slot": kind, **_request(kind, *given)})
    for name, value in program.handles.items():
        offload(name, value)
    return answer


def _request(kind: str, first: Any, *rest: Any) -> dict[str, Any]:
    """The request to a program, with the values of a slot."""
    if kind == "compactor":
        names = ("step", "thread", "tokens", "max_tokens")
        about = {name: getattr(first, name) for name in names}
        return {"messages": Bridge(OpenAIMessages(), first.messages).given, **about}
    if kind == "evaluator":
        return {"record": execution_mapping(first), "history": rest[0]}
    if kind == "router":
        state = dict(first)
        prompt = Bridge(OpenAIMessages(), state.pop("prompt", ())).given
        return {"state": {**state, "messages": prompt}}
    if isinstance(first, Execution):
        return {"result": _result(first.result), "summary": first.summary}
    return {"result": _result(first)}


def _result(result: ToolResult) -> dict[str, Any]:
    names = ("call_id", "function", "arguments", "success", "error", "text", "data")
    return {"step": result.index, **{name: getattr(result, name) for name in names}}
