"""Handles: names in prompts for texts that a strategy keeps elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from ..model import grouped, memo
from ..model.replay import Replay
from .messages import TraceMessages


class Handles:
    """The handles of one replay: names in prompts for texts that the strategy keeps elsewhere."""

    def __init__(self, replay: Replay, messages: TraceMessages) -> None:
        self._messages = messages
        self._texts = grouped((item.handle, (item.step, item.text)) for item in replay.handles)

    @cached_property
    def names(self) -> list[str]:
        """The handles, longer ones first; `[]` without any."""
        return sorted(self._texts, key=lambda name: (-len(name), name))

    @memo
    def handles_in(self, number: int) -> list[str]:
        """The handles that a message has as whole words."""
        text = self._messages.messages[number].text
        return [
            name
            for name in self._texts
            if name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        ]

    def text_at(self, handle: str, step: int) -> str | None:
        """The text behind a handle at a step; None before it was stored."""
        texts = [text for at, text in self._texts[handle] if at <= step]
        return texts[-1] if texts else None

    def giving(self, fact: str, step: int, numbers: Iterable[int]) -> str:
        """A handle in one of some messages whose text has a needed fact; `""` without one."""
        for handle in (handle for number in numbers for handle in self.handles_in(number)):
            text = self.text_at(handle, step)
            if text is not None and fact in self._messages.contents.turn_search.in_text(text):
                return handle
        return ""
