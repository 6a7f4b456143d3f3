"""A strategy's own code: each call of it is sent to where it runs, and its answer checked."""

from __future__ import annotations

import contextlib
import functools
import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..model import Message
from ..model.errors import StrategyError, one_line
from ..plugins.registry import Plugin
from ..plugins.worker import NoAnswer, Session
from ..strategies import Edits, Strategy, Window, Written
from ..strategies.offloading import offload
from ..tokens.counting import TokenCounter
from .answers import KINDS
from .crossing import Answer, Change, Crossed, NumberedHistory, Request
from .serving import ServedStrategy, open_strategy
from .thread import alike

Charged = Callable[[int, int, str | None], None]

_TIMES, _MORE = 100, 10_000_000
"""The bytes that a strategy may answer: so many times what it was given, and so many more. All are
measured here.
"""


class RemoteStrategy:
    """The plug-ins of one strategy during one replay. Code that is not the bench's runs in a
    session of its child.

    The session begins with the first call and ends with the block. Code that cannot be sent to a
    child is called here in the same way. `charge` is set by who replays: it takes the calls of
    models that the code made.
    """

    def __init__(self, strategy: Strategy, counter: TokenCounter) -> None:
        self._strategy, self._counter = strategy, counter
        self._places = {
            id(plugin): (slot, place)
            for slot, several in strategy.plugins.items()
            for place, plugin in enumerate(several)
        }
        self._instances = 0
        self._open = contextlib.ExitStack()
        self._crossed = Crossed()
        self._room = _MORE
        self.charge: Charged = lambda read, written, model: None

    def __enter__(self) -> RemoteStrategy:
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()
        vars(self).pop("_send", None)  # with what answered here the programs end that it started

    def started(self, plugin: Plugin) -> tuple[Any, Callable[..., Any]]:
        """A new instance of a plug-in, and what takes and gives the values of its slot."""
        if not plugin.own:
            return _started_here(plugin)
        slot, place = self._places[id(plugin)]
        self._instances += 1
        instance = _Instance(self, Request(self._instances, slot, place), plugin.entry.kind)
        return instance, instance

    @functools.cached_property
    def _send(self) -> Callable[[bytes], bytes]:
        """The way to the code: a session of its child, which begins here, or a call in this
        process.
        """
        sandbox, counter = self._strategy.sandbox, self._counter
        if sandbox is None:
            return ServedStrategy(self._strategy, counter).answer
        about = sandbox.number, counter.encoding, counter.counting
        session: Session = self._open.enter_context(
            sandbox.child.session(open_strategy, *about, count=counter.encoded)
        )
        return session.ask

    def ask(self, request: Request) -> Any:
        """The value of an answer. Raises StrategyError where the code did, and for none that can be
        read.
        """
        sent = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        try:
            body = self._send(sent)
        except NoAnswer as why:
            raise StrategyError(
                f"{why} — a strategy returns or raises" if why.ended else str(why)
            ) from None
        self._room += _TIMES * len(sent) - len(body)
        if self._room < 0:
            raise StrategyError(
                f"it answers more than {_TIMES} times as much as it was given, and {_MORE:,} bytes"
            )
        answer: Answer = read(body, Answer)
        for message in answer.messages:
            self._crossed.add(message)
        for charge in answer.charges:
            self.charge(charge.read, charge.written, charge.model)
        for name, value in answer.handles:
            offload(name, value)
        if answer.error:
            raise StrategyError(one_line(answer.error))
        return answer.value

    def change(
        self, before: list[Message], now: Sequence[Message], count: Callable[[Message], int | None]
    ) -> Change:
        """A list of messages as a change of the one before, which becomes it."""
        keep = alike(before, now)
        before[keep:] = now[keep:]
        new = [message for message in now[keep:] if self._crossed.number(message) is None]
        tail = tuple(map(self._crossed.add, now[keep:]))
        return Change(keep, tail, tuple((message, count(message)) for message in new))

    def edits(self, prompt: list[Message], given: NumberedHistory) -> Edits:
        """A compactor's answer. Raises StrategyError for a message that never crossed."""
        at = self._crossed.at
        messages = [*prompt[: max(0, given.keep)], *at(given.tail)]
        written = [Written(at(numbers), text) for numbers, text in given.written]
        return Edits(messages=messages, written=written, parts=given.parts)


def _started_here(plugin: Plugin) -> tuple[Any, Callable[..., Any]]:
    """A new instance of one of the bench's plug-ins; its answers are checked like any other."""
    instance, call = plugin.start()
    kind = KINDS[plugin.entry.kind]

    def answer(*given: Any) -> Any:
        value = call(*given)
        return value if type(value) is kind.type else kind.read(value, given[0])

    return instance, answer


class _Instance:
    """One instance of a plug-in in the child; it is made there at the first call."""

    def __init__(self, remote: RemoteStrategy, request: Request, kind: str) -> None:
        self._remote, self._request, self._kind = remote, request, kind
        self._prompt: list[Message] = []

    def __call__(self, *given: Any) -> Any:
        change = None
        if self._kind == "compactor":
            (window,) = given
            change = self._remote.change(self._prompt, window.messages, window.count)
            given = (_without_messages(window),)
        elif self._kind == "router":
            state = dict(given[0])
            change = self._remote.change(
                self._prompt, state.pop("prompt", []), lambda message: None
            )
            given = (state, "prompt" in given[0])
        value = self._remote.ask(self._request._replace(given=given, messages=change))
        if self._kind != "compactor":
            return read(value, KINDS[self._kind].type)
        history = read(value, NumberedHistory | None)
        return None if history is None else self._remote.edits(self._prompt, history)

    def resolve(self, handle: str) -> Any:
        """The value behind a handle of a store."""
        return self._remote.ask(self._request._replace(handle=handle))


def _without_messages(window: Window) -> dict[str, Any]:
    """The fields of a window that cross beside its messages."""
    names = ("step", "thread", "tokens", "max_tokens", "resets")
    return {name: getattr(window, name) for name in names} | {
        "seen": len(window.messages) - len(window.added)
    }


def read(given: Any, kind: Any) -> Any:
    """An answer as a value of a type, from plain data or from JSON.

    Raises StrategyError for what is none.
    """
    try:
        return msgspec.convert(json.loads(given) if isinstance(given, bytes) else given, kind)
    except (ValueError, RecursionError) as error:
        raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
