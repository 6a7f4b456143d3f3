"""A cache that keeps only marked prefixes of prompts, as Claude's does."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..model import Message


class MarkedStarts:
    """The prompt starts of one thread that the provider was asked to cache; each ends at a mark.

    Every prompt is marked twice, after its system messages and at its end, as Anthropic's page
    recommends for agents and Claude Code does. A cached start is found again if a later prompt
    begins with the same messages and the start ends close enough before one of its marks.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int | None, Hashable], int] = {}
        """A number for each start, by the number of the start that is one message shorter, and the
        last message."""

        self._starts: list[int] = []
        """The numbers of the last prompt's starts: of no message, its first, its first two, …"""

        self._used: dict[int, int] = {}
        """The step that last wrote or read each marked start, by the start's number."""

    def read(
        self,
        step: int,
        begins: Hashable,
        keys: Sequence[Hashable],
        at: int,
        messages: Any,
        look_back: int,
        kept: Callable[[int], bool],
    ) -> tuple[int, int] | None:
        """The number of messages that a prompt reads from the cache, and the step that last used
        them; None for nothing. Then the prompt's own starts are marked.

        `begins` is the part before all messages (model and tool definitions), `keys` are the
        prompt's messages; the first `at` are the same as in the prompt before. `look_back` is the
        number of positions searched back from a mark, including the mark's own. `kept(step)` is
        True if an entry last used at a step is still cached.
        """
        self._follow(begins, keys, at)
        marks = len(keys), _system_count(keys, messages)
        ends = (self._back(mark, keys, messages, look_back, kept) for mark in marks)
        cached = next((end for end in ends if end is not None), None)
        read = None if cached is None else (cached, self._used[self._starts[cached]])
        for end in marks if cached is None else (*marks, cached):
            self._used[self._starts[end]] = step
        return read

    def _follow(self, begins: Hashable, keys: Sequence[Hashable], at: int) -> None:
        """Number the starts of a prompt; the first `at` messages are the same as before."""
        root = self._numbers.setdefault((None, begins), len(self._numbers))
        if root not in self._starts:
            self._starts, at = [root], 0
        del self._starts[at + 1 :]
        for key in keys[at:]:
            self._starts.append(
                self._numbers.setdefault((self._starts[-1], key), len(self._numbers))
            )

    def _back(
        self,
        mark: int,
        keys: Sequence[Hashable],
        messages: Any,
        look_back: int,
        kept: Callable[[int], bool],
    ) -> int | None:
        """The number of messages in the longest cached start that ends at a mark or shortly before;
        None without one."""
        position, end = 1, mark
        while position <= look_back:
            used = self._used.get(self._starts[end])
            if used is not None and kept(used):
                return end
            if end == 0:
                break
            end -= 1
            position += positions(messages[keys[end]], messages[keys[end - 1]] if end else None)
        return None


def positions(message: Message, before: Message | None = None) -> int:
    """The positions of a message in the provider's count.

    A text, a part other than text, a block of reasoning and a run of tool calls are one each.

    Consecutive results share one position: a result after another result adds none.

    >>> from bench.model import ToolCall
    >>> shown = Message(role="tool", text="36", kind="result")
    >>> asks = Message(role="assistant", text="36?", kind="model", tool_calls=(ToolCall(id="c", name="f", arguments={}),))
    >>> positions(asks), positions(asks, shown), positions(shown, asks), positions(shown, shown)
    (2, 2, 1, 0)
    """
    if _is_result(message):
        return 0 if before is not None and _is_result(before) else 1
    calls = any(not call.in_text for call in message.tool_calls)
    return max(
        1, bool(message.text.strip()) + calls + bool(message.reasoning_tokens) + message.non_text
    )


def _is_result(message: Message) -> bool:
    return message.kind == "result" and message.role != "user"


def _system_count(keys: Sequence[Hashable], messages: Any) -> int:
    """The number of system messages at the start of a prompt."""
    for place, key in enumerate(keys):
        if messages[key].role not in ("system", "developer"):
            return place
    return len(keys)
