"""The mask and the compression of the Gemini CLI."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import AtShare, Mask, Parts, Summary, state
from ..histories import Calls, assistant_message, callers, system_count, tool_name
from ..settings import Count, Share


@register("compactor", "gemini.mask")
class GeminiMask(Mask):
    """The newest `protect_tokens` of tool results; older ones as a preview and a file's name.

    It acts once `min_prunable_tokens` can go; the result that crosses the border goes too. The
    preview is the first and the last 250 characters of the result's JSON, or of a shell's output
    (`shell_tools`) the first and the last 10 lines. A result that would not become smaller stays,
    and so do those of `exempt` tools. Tokens are characters by 4.

    Source: @google/gemini-cli-core 0.61.0, src/context/toolOutputMaskingService.ts

    >>> policy = GeminiMask(protect_tokens=0, min_prunable_tokens=100)
    >>> policy.tried("tool: " + "x" * 4000, "assistant: ok")
    ['tool: <tool_output_masked>', 'assistant: ok']
    """

    protect_tokens: Count = 50_000
    min_prunable_tokens: Count = 30_000
    shell_tools: tuple[str, ...] = ("run_shell_command",)
    exempt: tuple[str, ...] = ("activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode")
    _calls: Calls = state(dict)

    def old(self, window: Window) -> Sequence[Message]:
        """The results beyond the protected tokens, where masking them frees enough."""
        sent = _answered(window.messages)
        self._calls = callers(sent)
        protected = prunable = 0.0
        old: list[Message] = []
        for message in reversed(sent):
            name = tool_name(message, self._calls) or ""
            is_masked = "<tool_output_masked" in message.text
            if message.kind != "result" or name in self.exempt or is_masked:
                continue
            size = _json_size(message.text)
            tokens = (len(name) + size) / 4
            if protected <= self.protect_tokens:
                protected += tokens
            if protected > self.protect_tokens:  # the one that crosses the border goes too
                prunable += tokens
                if _json_size(self.text(message)) < size:
                    old.append(message)
        return old if prunable >= self.min_prunable_tokens else []

    def text(self, message: Message) -> str:
        """The preview of a result, with the name of its file."""
        name, lines = tool_name(message, self._calls), message.text.split("\n")
        preview = json.dumps({"output": message.text}, indent=2, ensure_ascii=False)
        if name in self.shell_tools:
            left_out = f"\n... [{len(lines) - 20} lines omitted] ...\n"
            preview = (
                message.text
                if len(lines) <= 20
                else "\n".join([*lines[:10], left_out, *lines[-10:]])
            )
        elif len(preview) > 500:
            preview = f"{preview[:250]}\n... [TRUNCATED] ...\n{preview[-250:]}"
        path = f"tool-outputs/{name or 'tool'}_{message.call_id}.txt"
        return f"<tool_output_masked>\n{preview}\n\n[the whole is in {path}]\n</tool_output_masked>"


def _answered(messages: Sequence[Message]) -> Sequence[Message]:
    """A history up to its last answer of the model: what follows waits to be sent."""
    answers = (place for place, message in enumerate(messages, 1) if message.kind == "model")
    return messages[: max(answers, default=0)]


def _json_size(text: str) -> int:
    return len(json.dumps({"output": text}, ensure_ascii=False, separators=(",", ":")))


@register("compactor", "gemini.compress")
class GeminiCompress(Summary, AtShare):
    """A summary as user, a fixed answer, and the tail, at `threshold` of the window.

    The tail begins at the first message of a user behind all but `preserve` of the characters,
    else at the last one; a session of one request stays as it is. The original first cuts old
    results into files, is asked a second time to check its summary, and takes back one that makes
    the history larger; none of that here. The answer's words are ours.

    Source: @google/gemini-cli-core 0.61.0, src/context/chatCompressionService.ts

    >>> GeminiCompress(preserve=0.7).tried(*["user: " + "x" * 99, "assistant: ok"] * 2)[:2]
    ['user: Summary of 2 earlier messages:', 'assistant: Noted.']
    """

    threshold: Share = 0.5
    preserve: Share = 0.3

    def divided(self, window: Window) -> Parts | None:
        """The system messages, what is older than the preserved share, and the rest."""
        if window.tokens < self.limit(window):
            return None
        start = system_count(window.messages)
        talk = window.messages[start:]
        cut = self._cut(talk)
        end = [assistant_message("Noted."), *talk[cut:]]
        return (window.messages[:start], talk[:cut], end) if cut else None

    def _cut(self, talk: Sequence[Message]) -> int:
        """The place of the user's first message behind the older share, else of the last one."""
        older = (1 - self.preserve) * sum(len(message.text) for message in talk)
        cut = before = 0
        for place, message in enumerate(talk):
            if message.kind == "user":
                cut = place
                if before >= older:
                    break
            before += len(message.text)
        return cut
