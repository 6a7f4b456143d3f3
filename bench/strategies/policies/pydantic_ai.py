"""The summary of Pydantic AI's harness, which counts requests.

A request is an answer of the model, or all that comes between two answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import Parts, Summary
from ..histories import safe_cut, system_count
from ..messages import arguments_mapping, own_calls
from ..settings import Count


@register("compactor", "pydantic_ai.summarize")
class PydanticAiSummarize(Summary):
    """The first request; above `max_messages` requests a summary, and the last `keep_messages`.

    `max_tokens` triggers it too. More requests stay where a call would be parted from a result. The
    writer sees tool results cut at `tool_return_max_chars`, mark included. The original has no
    default trigger; 60 is the one of its example. It asks again for an empty summary; here that
    stands.

    Source: pydantic-ai-harness 0.62.0,
    pydantic_ai_harness/compaction/_summarizing_compaction.py (SummarizingCompaction)

    >>> policy = PydanticAiSummarize(max_messages=3, keep_messages=1)
    >>> policy.tried(*["user: go", "assistant: ok"] * 2)
    ['user: go', 'user: Summary of 3 earlier messages:', 'assistant: ok']
    """

    max_messages: Count | None = 60
    max_tokens: Count | None = None
    keep_messages: Count = 20
    preserve_first_user_message: bool = True
    tool_return_max_chars: Count | None = 500

    def divided(self, window: Window) -> Parts | None:
        """The system messages and the first request with a user, what is old, and the end."""
        if not self._is_due(window.messages):
            return None
        start = system_count(window.messages)
        talk = window.messages[start:]
        kept = requests_of(talk)[-max(1, self.keep_messages) :]
        cut = safe_cut(talk, len(talk) - sum(map(len, kept)))
        if not cut:
            return None
        head = list(window.messages[:start])
        if self.preserve_first_user_message:
            runs = requests_of(talk[:cut])
            head += next((run for run in runs if any(m.kind == "user" for m in run)), [])
        end = [message for message in talk[cut:] if message.kind != "made"]
        return head, list(map(self._cut, talk[:cut])), end

    def _is_due(self, messages: Sequence[Message]) -> bool:
        """True above either limit that is given."""
        if self.max_messages is not None and len(requests_of(messages)) > self.max_messages:
            return True
        return self.max_tokens is not None and pydantic_ai_tokens(messages) > self.max_tokens

    def _cut(self, message: Message) -> Message:
        limit, mark = self.tool_return_max_chars, "[...]"
        if limit is None or message.kind != "result" or len(message.text) <= limit:
            return message
        text = message.text[: limit - len(mark)] + mark if limit > len(mark) else mark[:limit]
        return self.rewritten(message, text)


def pydantic_ai_tokens(messages: Sequence[Message]) -> int:
    """The tokens of a history as the harness estimates them: characters by 4, rounded down."""
    calls = [call for message in messages for call in own_calls(message)]
    chars = sum(len(message.text) for message in messages)
    return (chars + sum(len(call.name) + len(str(arguments_mapping(call))) for call in calls)) // 4


def requests_of(messages: Sequence[Message]) -> list[list[Message]]:
    """A history as Pydantic AI's messages; a summary is one of its own."""
    runs: list[list[Message]] = []
    for message in messages:
        if message.kind in ("model", "made") or not runs or runs[-1][0].kind in ("model", "made"):
            runs.append([message])
        else:
            runs[-1].append(message)
    return runs
