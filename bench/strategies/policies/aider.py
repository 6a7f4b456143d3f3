"""Compactor `aider`."""

from __future__ import annotations

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window, Written
from ..histories import Count, Summarising, assistant_message, summary_message, system_count, total

MIN_SPLIT, MAX_DEPTH = 4, 3
RESERVED_TOKENS = 512


@register("compactor", "aider")
class AiderSummary(Summarising):
    """The exchanges before the user's last message, once they exceed `max_tokens`: a summary as user message, and a tail within half of it.

    None for `max_tokens` is a sixteenth of the window, at least 1,024 and at most 8,192. The head ends with an assistant message; of it the writer
    reads users' and assistants' text, from the oldest on, while that fits the window. Where summary and tail are still too large they are
    summarised again, up to three times; 4 messages or fewer are summarised whole. An assistant "Ok." follows where the last message is not the
    assistant's. The user's last message and all behind it stay, so a session of one request is not summarised. It is done before the call; the
    original does it beside the next one.

    Source: aider-chat 0.86.2, aider/history.py (ChatSummary) and aider/models.py (max_chat_history_tokens)

    >>> AiderSummary(max_tokens=20).tried(*["user: go", "assistant: done"] * 4, "user: and now?", max_tokens=2000)
    ['user: Summary of 6 earlier messages:', 'user: go', 'assistant: done', 'user: and now?']
    """

    max_tokens: Count | None = None

    def compact(self, window: Window) -> Edits | None:
        messages = list(window.messages)
        start = system_count(messages)
        last = max((place for place, message in enumerate(messages) if message.kind == "user"), default=start)
        limit = min(max(window.max_tokens / 16, 1024), 8192) if self.max_tokens is None else self.max_tokens
        done = messages[start:last]
        if total(window.count, done) <= limit:
            return None
        written: list[Written] = []
        left = self._shortened(done, window, limit, written)
        if left[-1].role != "assistant":
            left.append(assistant_message("Ok."))
        note = f"{len(done)} messages before the last request: {len(left)} stay, {len(written)} summaries written"
        return Edits(messages=[*messages[:start], *left, *messages[last:]], written=written, notes=(note,))

    def _shortened(
        self, messages: list[Message], window: Window, limit: float, written: list[Written]
    ) -> list[Message]:
        split, tail = len(messages), 0
        while split and tail + window.count(messages[split - 1]) < limit // 2:
            split -= 1
            tail += window.count(messages[split])
        while split > 1 and messages[split - 1].role != "assistant":
            split -= 1
        whole = len(messages) <= MIN_SPLIT or len(written) > MAX_DEPTH or split <= MIN_SPLIT
        room, kept = window.max_tokens - RESERVED_TOKENS, 0
        while not whole and kept < split and window.count(messages[kept]) <= room:
            room -= window.count(messages[kept])
            kept += 1
        head = messages if whole else messages[:kept]
        written.append(self.write([message for message in head if message.role in ("user", "assistant")], window))
        left = [summary_message(written[-1].text), *([] if whole else messages[split:])]
        return left if whole or total(window.count, left) < limit else self._shortened(left, window, limit, written)
