"""The child's side of a replay: calls of a strategy's plug-ins come in one by one, and plain data
goes back.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from ..model import Counting, Message, ToolResult, compact_json
from ..model.errors import StrategyError
from ..plugins.worker import Answer as Answers
from ..strategies import Edits, Execution, Strategy, Window
from ..strategies.functions import awaited
from ..strategies.offloading import offloaded_to
from ..strategies.sandboxed import Ready
from ..tokens.counting import TokenCounter
from .answers import KINDS
from .cassettes import go_offline, refused
from .crossing import Answer, Change, Charge, Crossed, NumberedHistory, Request
from .outcomes import reason_of
from .plain import plain_data, plain_struct
from .thread import alike

if TYPE_CHECKING:
    from ..plugins.child import Link

_encoded = json.JSONEncoder(check_circular=False).encode


def open_strategy(
    link: Link, ready: Ready, number: int, encoding: str, counting: Counting
) -> Answers:
    """A function that answers the calls of one replay."""
    counter = TokenCounter(encoding, counting, elsewhere=link.count)
    served = ServedStrategy(ready.strategy(number), counter)
    go_offline(ready.place.base, served.charge)
    return served.answer


@dataclass
class _Instance:
    """One instance of a plug-in, and the prompt that it was given last."""

    kind: str
    instance: Any
    call: Callable[..., Any]
    prompt: list[Message] = field(default_factory=list)


class ServedStrategy:
    """The plug-ins of one strategy, each instance made at its first call."""

    def __init__(self, strategy: Strategy, counter: TokenCounter) -> None:
        self._strategy, self._counter = strategy, counter
        self._instances: dict[int, _Instance] = {}
        self._crossed = Crossed()
        self._tokens: dict[int | None, int] = {}
        self._out = Answer()

    def answer(self, body: bytes) -> bytes:
        """The answer to one request."""
        request: Request = pickle.loads(body)
        out = self._out = Answer()
        try:
            with offloaded_to(lambda name, value: out.handles.append((name, plain_data(value)))):
                instance = self._instance(request)
                if request.handle is None:
                    out.value = self._called(instance, request)
                else:
                    out.value = _behind(instance.instance, request.handle)
        except (MemoryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            out.error = reason_of(error)
        out.error = refused() or out.error  # also where the code went on without an answer
        return _encoded(msgspec.to_builtins(out)).encode("ascii")

    def charge(self, read: int, written: int, model: str | None) -> None:
        """The code had a model answered."""
        self._out.charges.append(Charge(read, written, model))

    def _instance(self, request: Request) -> _Instance:
        if request.number not in self._instances:
            plugin = self._strategy.plugins[request.slot][request.place]
            self._instances[request.number] = _Instance(plugin.entry.kind, *plugin.start())
        return self._instances[request.number]

    def _called(self, instance: _Instance, request: Request) -> Any:
        """The answer to one call, as plain data.

        Raises StrategyError where the code edited what it was given.
        """
        if request.messages is not None:
            self._change(instance.prompt, request.messages)
        given = request.given
        if instance.kind == "compactor":
            given = (self._window(instance.prompt, **given[0]),)
        elif instance.kind == "router":
            given = ({**given[0], **({"prompt": [*instance.prompt]} if given[1] else {})},)
        result = given[0].result if isinstance(given[0], Execution) else given[0]
        before = _data(result)
        answer = KINDS[instance.kind].read(instance.call(*given), given[0])
        if _data(result) != before:
            what = "the strategy changed its input"
            raise StrategyError(f"{what} — copy what a result holds before editing it")
        return self._numbered(instance.prompt, answer) if isinstance(answer, Edits) else answer

    def _change(self, prompt: list[Message], change: Change) -> None:
        for message, tokens in change.new:
            number = self._crossed.add(message)
            if tokens is not None:
                self._tokens[number] = tokens
        prompt[change.keep :] = self._crossed.at(change.tail)

    def _window(self, prompt: list[Message], *, seen: int, **fields: Any) -> Window:
        return Window(messages=[*prompt], added=prompt[seen:], count=self._count, **fields)

    def _numbered(self, prompt: list[Message], edits: Edits) -> NumberedHistory:
        """The history after edits, by number. Raises StrategyError for what is no message."""
        history = edits.applied(prompt)
        keep = alike(prompt, history)
        tail = [*map(self._number, history[keep:])]
        written = [([*map(self._number, one.read)], plain_data(one.text)) for one in edits.written]
        return NumberedHistory(keep, tail, written, plain_data(dict(edits.parts)))

    def _number(self, message: Any) -> int:
        """The number of a message. A new message is sent along with this answer."""
        if not isinstance(message, Message):
            kind = type(message).__name__
            raise StrategyError(f"a compactor's messages must be Message values, got {kind}")
        if self._crossed.number(message) is None:
            self._out.messages.append(plain_struct(Message, message))
        return self._crossed.add(message)

    def _count(self, item: Message | str) -> int:
        """The tokens of a text or a message."""
        if not isinstance(item, Message):
            return self._counter.of(plain_data(item))
        known = self._tokens.get(self._crossed.number(item))
        return self._counter.of(plain_struct(Message, item)) if known is None else known


def _behind(store: Any, handle: str) -> Any:
    """The value behind a handle of a store. Raises what its `resolve` does."""
    if not hasattr(store, "resolve"):
        raise StrategyError("the store has no method resolve(handle)")
    return plain_data(awaited(store.resolve(handle)))


def _data(result: Any) -> str:
    """The parts of a result that code could edit, as JSON; `""` for anything else."""
    return compact_json([result.data, result.arguments]) if isinstance(result, ToolResult) else ""
