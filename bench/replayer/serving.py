"""The child's side of a replay: calls of a strategy's plug-ins come in one by one, and plain data
goes back.
"""

from __future__ import annotations

import json
import pickle
import weakref
from typing import TYPE_CHECKING, Any

import msgspec

from ..model import Counting, Message, ToolResult, compact_json
from ..model.errors import StrategyError
from ..plugins.worker import Answer as Answers
from ..strategies import Edits, Execution, Strategy, Window
from ..strategies.functions import awaited, started
from ..strategies.offloading import offloaded_to
from ..strategies.sandboxed import Place, Ready, prepared
from ..tokens.counting import TokenCounter
from .answers import KINDS
from .cassettes import go_offline, refused
from .crossing import Answer, Change, Charge, Crossed, NumberedHistory, Request
from .outcomes import reason_of
from .plain import plain_data, plain_struct

if TYPE_CHECKING:
    from ..plugins.child import Link

_encoded = json.JSONEncoder(check_circular=False).encode


def open_strategy(
    link: Link,
    ready: Ready,
    item: bytes,
    name: str | None,
    place: Place,
    encoding: str,
    counting: Counting,
) -> Answers:
    """A function that answers the calls of one replay."""
    counter = TokenCounter(encoding, counting, elsewhere=link.count)
    served = ServedStrategy(prepared(ready, item, name, place), counter)
    go_offline(place.base, served.charge)
    return served.answer


class ServedStrategy:
    """The plug-ins of one strategy, each instance made at its first call."""

    def __init__(self, strategy: Strategy, counter: TokenCounter) -> None:
        self._strategy, self._counter = strategy, counter
        self._instances: dict[int, ServedInstance] = {}
        self.crossed = Crossed()
        self._tokens: dict[int | None, int] = {}
        self._out = Answer()

    def answer(self, body: bytes) -> bytes:
        """The answer to one request."""
        request: Request = pickle.loads(body)
        out = self._out = Answer()
        try:
            with offloaded_to(lambda name, value: out.handles.append((name, plain_data(value)))):
                out.value = self._value(request)
        except (MemoryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            out.error = reason_of(error)
        out.error = refused() or out.error  # also where the code went on without an answer
        return _encoded(msgspec.to_builtins(out)).encode("ascii")

    def charge(self, read: int, written: int, model: str | None) -> None:
        """The code had a model answered."""
        self._out.charges.append(Charge(read, written, model))

    def _value(self, request: Request) -> Any:
        """The value that the plug-in of a request answers with."""
        for message, tokens in () if request.messages is None else request.messages.new:
            number = self.crossed.add(message)
            if tokens is not None:
                self._tokens[number] = tokens
        if request.number not in self._instances:
            plugin = self._strategy.plugins[request.slot][request.place]
            self._instances[request.number] = ServedInstance(
                self, *started(plugin), plugin.entry.kind
            )
        instance = self._instances[request.number]
        return (
            instance.answer(request) if request.handle is None else instance.behind(request.handle)
        )

    def number(self, message: Any) -> int:
        """The number of a message. A new message is sent along with this answer."""
        if not isinstance(message, Message):
            kind = type(message).__name__
            raise StrategyError(f"a compactor's messages must be Message values, got {kind}")
        if self.crossed.number(message) is None:
            self._out.messages.append(plain_struct(Message, message))
        return self.crossed.add(message)

    def count(self, item: Message | str) -> int:
        """The tokens of a text or a message."""
        if not isinstance(item, Message):
            return self._counter.of(plain_data(item))
        known = self._tokens.get(self.crossed.number(item))
        return self._counter.of(plain_struct(Message, item)) if known is None else known


class ServedInstance:
    """One instance of a plug-in."""

    def __init__(self, served: ServedStrategy, instance: Any, call: Any, kind: str) -> None:
        self._served = weakref.proxy(served)  # no cycle, so that a program ends with its replay
        self._instance, self._call, self._kind = instance, call, kind
        self._prompt: list[Message] = []

    def answer(self, request: Request) -> Any:
        """The answer to one call, as plain data. Raises StrategyError where the code edited what it
        was given.
        """
        given = request.given
        if self._kind == "compactor":
            given = (self._window(request.messages, **given[0]),)
        elif self._kind == "router":
            given = (self._state(request.messages, *given),)
        result = given[0].result if isinstance(given[0], Execution) else given[0]
        before = _data(result)
        answer = KINDS[self._kind].read(self._call(*given), given[0])
        if _data(result) != before:
            what = "the strategy changed its input"
            raise StrategyError(f"{what} — copy what a result holds before editing it")
        return self._numbered(answer) if isinstance(answer, Edits) else answer

    def _numbered(self, edits: Edits) -> NumberedHistory:
        """The history after edits, by number. Raises StrategyError for what is no message."""
        number = self._served.number
        written = [([*map(number, one.read)], plain_data(one.text)) for one in edits.written]
        history = [*map(number, edits.applied(self._prompt))]
        return NumberedHistory(history, written, plain_data(dict(edits.parts)))

    def behind(self, handle: str) -> Any:
        """The value behind a handle of a store. Raises what its `resolve` does, and StrategyError
        without one.
        """
        if not hasattr(self._instance, "resolve"):
            raise StrategyError("the store has no method resolve(handle)")
        return plain_data(awaited(self._instance.resolve(handle)))

    def _changed(self, change: Change | None) -> list[Message]:
        if change is not None:
            self._prompt[change.keep :] = self._served.crossed.at(change.tail)
        return list(self._prompt)

    def _window(self, change: Change | None, *, seen: int, **fields: Any) -> Window:
        messages = self._changed(change)
        return Window(messages=messages, added=messages[seen:], count=self._served.count, **fields)

    def _state(
        self, change: Change | None, state: dict[str, Any], has_prompt: bool
    ) -> dict[str, Any]:
        prompt = self._changed(change)
        return {**state, "prompt": prompt} if has_prompt else state


def _data(result: Any) -> str:
    """The parts of a result that code could edit, as JSON; `""` for anything else."""
    return compact_json([result.data, result.arguments]) if isinstance(result, ToolResult) else ""
