"""The compactions of Pydantic AI's harness, which count requests."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..engines import Batched, Compactor, Mask, Parts, Summary
from ..histories import callers, exchanged, older, system_count, tool_name
from ..messages import arguments_mapping, own_calls
from ..settings import Count


@register("compactor", "pydantic_ai.clear")
class PydanticAiClear(Mask, Batched):
    """Above `max_tokens` every tool result but those of the last `keep_pairs` calls is cleared.

    Where that would free fewer than `min_clear_tokens` nothing is cleared. Results of
    `exclude_tools` stay, and use up what is kept. The original has no default trigger; 100,000 is
    the one of its example.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_clear_tool_results.py

    >>> PydanticAiClear(max_tokens=20, keep_pairs=0).tried("call read", "tool: " + "x" * 99)
    ['call read', 'tool: [tool result cleared]']
    """

    max_tokens: Count = 100_000
    keep_pairs: Count = 3
    min_clear_tokens: Count = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def replaced(self, window: Window) -> dict[Message, Message]:
        messages, calls = window.messages, callers(window.messages)
        before = pydantic_ai_tokens(messages)
        if before <= self.max_tokens:
            return {}
        old = older([m for m in messages if m.kind == "result" and m.call_id in calls], self.keep_pairs)
        new = [m for m in old if tool_name(m, calls) not in self.exclude_tools and m.text != self.placeholder]
        instead = self.cleared(new, calls)
        freed = before - pydantic_ai_tokens(exchanged(messages, instead))
        return instead if freed >= self.min_clear_tokens else {}


class RequestWindow(Compactor):
    """Above `max_messages` or `max_tokens`: what is old, and the last `keep_messages`.

    A message is an answer of the model, or all that comes between two answers; more stay where a call would be parted from a result.
    """

    max_messages: Count | None = None
    max_tokens: Count | None = None
    keep_messages: Count = 40
    preserve_first_user_message: bool = True

    def parts(self, window: Window) -> tuple[list[Message], list[Message], list[Message]] | None:
        """(The system messages and the first request, what is old, the end); None where nothing goes."""
        messages, most, limit = list(window.messages), self.max_messages, self.max_tokens
        above = most is not None and len(requests_of(messages)) > most
        if not above and (limit is None or pydantic_ai_tokens(messages) <= limit):
            return None
        start = system_count(messages)
        runs = requests_of(messages[start:])
        cut = run_cut(runs, self.keep_messages)
        request = next((run for run in runs[:cut] if any(message.kind == "user" for message in run)), [])
        head = [*messages[:start], *(request if self.preserve_first_user_message else [])]
        old, recent = ([message for run in part for message in run] for part in (runs[:cut], runs[cut:]))
        return (head, old, recent) if cut else None


@register("compactor", "pydantic_ai.sliding")
class PydanticAiSliding(RequestWindow):
    """Above `max_messages` the last `keep_messages` stay, and the first request.

    More stay where a call would be parted from a result. `max_tokens` triggers it too. The original
    has no default trigger; 80 is the one of its example. A message is an answer of the model, or
    all that comes between two answers.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_sliding_window_compaction.py (SlidingWindowCompaction)

    >>> PydanticAiSliding(max_messages=4, keep_messages=2).tried(*[line for n in "012" for line in (f"user: {n}", f"assistant: {n}")])
    ['user: 0', 'user: 2', 'assistant: 2']
    """

    max_messages: Count | None = 80
    keep_messages: Count = 40

    def compact(self, window: Window) -> Edits | None:
        parts = self.parts(window)
        return (
            None if parts is None else Edits(messages=[*parts[0], *parts[2]], notes=(f"{len(parts[1])} messages went",))
        )


@register("compactor", "pydantic_ai.summarize")
class PydanticAiSummarize(RequestWindow, Summary):
    """Above `max_messages`: the first request, a summary of what is old, and the last `keep_messages`, more to keep calls with their results.

    `max_tokens` triggers it too. The writer sees tool results cut at `tool_return_max_chars`, mark included. The
    original has no default trigger; 60 is the one of its example. It asks again for an empty summary; here it stands.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_summarizing_compaction.py (SummarizingCompaction)

    >>> PydanticAiSummarize(max_messages=3, keep_messages=1).tried(*["user: go", "assistant: ok"] * 2)
    ['user: go', 'user: Summary of 3 earlier messages:', 'assistant: ok']
    """

    max_messages: Count | None = 60
    keep_messages: Count = 20
    tool_return_max_chars: Count | None = 500

    def compact(self, window: Window) -> Edits | None:
        return Summary.compact(self, window)

    def divided(self, window: Window) -> Parts | None:
        parts = self.parts(window)
        return parts and (parts[0], list(map(self._cut, parts[1])), [m for m in parts[2] if m.kind != "made"])

    def _cut(self, message: Message) -> Message:
        limit, mark = self.tool_return_max_chars, "[...]"
        if limit is None or message.kind != "result" or len(message.text) <= limit:
            return message
        return self.rewritten(message, message.text[: limit - len(mark)] + mark if limit > len(mark) else mark[:limit])


def pydantic_ai_tokens(messages: Sequence[Message]) -> int:
    """The tokens of a history as Pydantic AI's harness estimates them: characters of texts and calls by 4, rounded down."""
    calls = [call for message in messages for call in own_calls(message)]
    chars = sum(len(message.text) for message in messages)
    return (chars + sum(len(call.name) + len(str(arguments_mapping(call))) for call in calls)) // 4


def requests_of(messages: Sequence[Message]) -> list[list[Message]]:
    """A history as Pydantic AI's messages: an answer of the model, or all between two answers; a summary is one of its own."""
    runs: list[list[Message]] = []
    for message in messages:
        if message.kind in ("model", "made") or not runs or runs[-1][0].kind in ("model", "made"):
            runs.append([message])
        else:
            runs[-1].append(message)
    return runs


def run_cut(runs: Sequence[Sequence[Message]], keep: int, searched: int = 5) -> int:
    """The place where the last `keep` requests begin, earlier where that parts a call from its result; 0 is nothing to cut.

    Only the `searched` requests around a cut are looked at, as in the original.
    """

    def parts(cut: int) -> bool:
        for place in range(max(0, cut - searched), cut):
            ids = {call.id for message in runs[place] for call in message.tool_calls}
            if any(message.kind == "result" and message.call_id in ids for run in runs[cut:] for message in run):
                return True
        return False

    return next((cut for cut in range(len(runs) - max(1, keep), 0, -1) if not parts(cut)), 0)
