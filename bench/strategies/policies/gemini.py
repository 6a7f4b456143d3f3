"""The compression of the Gemini CLI."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import AtShare, Parts, Summary
from ..histories import assistant_message, system_count
from ..settings import Share


@register("compactor", "gemini.compress")
class GeminiCompress(Summary, AtShare):
    """A summary as user, a fixed answer, and the tail, at `threshold` of the window.

    The tail begins at the first user message within the last `preserve` of the characters, else at
    the last user message; a session with one request stays as it is. The original also moves old
    results into files first, asks the model to check its summary, and drops a summary that makes
    the history larger; none of that happens here. The wording of the answer is ours.

    Source: @google/gemini-cli-core 0.61.0, src/context/chatCompressionService.ts

    >>> GeminiCompress(preserve=0.7).tried(*["user: " + "x" * 99, "assistant: ok"] * 2)[:2]
    ['user: Summary of 2 earlier messages:', 'assistant: Noted.']
    """

    threshold: Share = 0.5
    preserve: Share = 0.3

    def divided(self, window: Window) -> Parts | None:
        """The system messages, the messages before the preserved share, and the rest."""
        if window.tokens < self.limit(window):
            return None
        start = system_count(window.messages)
        talk = window.messages[start:]
        cut = self._cut(talk)
        end = [assistant_message("Noted."), *talk[cut:]]
        return (window.messages[:start], talk[:cut], end) if cut else None

    def _cut(self, talk: Sequence[Message]) -> int:
        """The place of the first user message after the older share, else of the last user
        message."""
        older = (1 - self.preserve) * sum(len(message.text) for message in talk)
        cut = before = 0
        for place, message in enumerate(talk):
            if message.kind == "user":
                cut = place
                if before >= older:
                    break
            before += len(message.text)
        return cut
