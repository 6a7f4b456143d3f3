"""What a strategy does during a replay beside its answers: model calls, offloaded values, errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from ..model import Resolved, WriterCall, as_text
from ..model.errors import own_error
from ..strategies import Written
from .threads import Numbers


class Ledger:
    """The model calls and the offloaded values of a strategy during one replay.

    `step` is the index of the last replayed step, -1 before the first. With `is_free` nothing is
    entered: the untruncated side is being judged, for the comparison alone.
    """

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.step, self.is_free = -1, False
        self.calls: list[WriterCall] = []
        self.handles: list[Resolved] = []
        self._offloaded: dict[str, tuple[str, Any]] = {}  # by handle the text and the value

    def charge(self, read: int, written: int, model: str | None) -> None:
        """Charge a model call that the strategy itself made."""
        if not self.is_free:
            call = WriterCall(
                step=self.step, consumed_tokens=read, produced_tokens=written, model=model
            )
            self.calls.append(call)

    def charge_summaries(self, summaries: Iterable[Written]) -> None:
        """Charge summaries as if the run's model wrote them, unless a call was made for them."""
        if self.calls and self.calls[-1].step == self.step:
            return
        count = self.numbers.count
        for one in summaries:  # a model is not sent its own reasoning
            read = sum(count(message) - message.reasoning_tokens for message in one.read)
            self.charge(read, count(one.text), None)

    def offload(self, handle: str, value: Any) -> None:
        """Let a handle stand for a value from this step on."""
        text = as_text(value)
        known, _ = self._offloaded.get(handle, (None, None))
        if not self.is_free and known != text:
            self._offloaded[handle] = text, value
            self.handles.append(Resolved(handle=handle, step=self.step, text=text))

    def offloaded(self, handle: str) -> Any:
        """The value that a handle stands for; None for an unknown one."""
        _, value = self._offloaded.get(handle, ("", None))
        return value


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
