"""Compactor `qwen.auto`."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import Count, Share, Summarising, assistant_message, summary_message, system_count
from ..messages import arguments_mapping
from . import NOTED, answered, path_of, results_of


@register("compactor", "qwen.auto")
class QwenAuto(Summarising):
    """At 85 % of the window, or 33,000 tokens below it where that is less: everything becomes a summary, and up to five files come back.

    Left are the system prompt, the summary as user message, a fixed answer, the files that calls touched last, and what waits to be sent, with the
    call that it answers. There is no tail. A window of 33,000 tokens or less has the share alone. A file comes back as a user message if it has at
    most `file_tokens` (4 characters each) and all together `files_tokens`, else by its name. The original reads it from the disk; here it is
    what the last call of `file_tools` read or wrote. The writer reads the whole history, what waits included. Answer and words around files are
    ours. An empty summary, a failure in the original, stands.

    Source: QwenLM/qwen-code, packages/core/src/services/chatCompressionService.ts and postCompactAttachments.ts at 00b481a3

    >>> QwenAuto().tried("user: go", "assistant: done", "user: and now?")
    ['user: Summary of 2 earlier messages:', 'assistant: Noted.', 'user: and now?']
    """

    share: Share = 0.85
    reserve: Count = 33_000
    max_tokens: Count | None = None
    max_files: Count = 5
    file_tokens: Count = 5_000
    files_tokens: Count = 50_000
    file_tools: tuple[str, ...] = ("read_file", "write_file", "edit", "replace")

    def compact(self, window: Window) -> Edits | None:
        limit = window.max_tokens if self.max_tokens is None else self.max_tokens
        ceiling = limit - self.reserve
        at = min(self.share * limit, ceiling) if ceiling > 0 else self.share * limit
        start = system_count(window.messages)
        told = list(window.messages[start:])
        sent = answered(told)
        if window.tokens < at or sent < 2:
            return None
        waits = told[sent - 1 :] if told[sent - 1].tool_calls else told[sent:]
        read = told if results_of(told[sent:]) else told[:sent]
        files = self._files(told)
        note = f"{window.tokens} tokens: {len(read)} messages summarised, {len(files)} messages of files"
        return self.summarised(window, window.messages[:start], read, [assistant_message(NOTED), *files, *waits], note)

    def _files(self, messages: Sequence[Message]) -> list[Message]:
        """Return the files that were touched last, the newest first: a message of names for the long ones, one for each other."""
        results, found = results_of(messages), dict[str, str]()
        for call in (call for message in reversed(messages) for call in reversed(message.tool_calls)):
            path = path_of(call)
            if call.name not in self.file_tools or path is None or path in found or len(found) >= self.max_files:
                continue
            result = results[call.id].text if call.id in results else ""
            content = arguments_mapping(call).get("content", result)
            found[path] = content if isinstance(content, str) else ""
        names: list[str] = []
        whole: list[Message] = []
        room = 4 * self.files_tokens
        for path, content in found.items():
            if len(content) > min(4 * self.file_tokens, room):
                names.append(f"- {path}")
            elif content:
                room -= len(content)
                whole.append(summary_message(f"File {path}:\n{content}"))
        listed = "\n".join(["Files read or written lately:", *names])
        return [*([summary_message(listed)] if names else []), *whole]
