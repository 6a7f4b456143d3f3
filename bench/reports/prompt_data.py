"""Every prompt of a case as plain data, compressed: what a page needs to show any prompt beside any other."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..evidence.shown import calls, missed_facts
from ..evidence.spoken import call_text
from ..model import Message, Run, Sample
from ..text.wording import visible
from .prompts_shown import happened

MESSAGE_CHARS = 6_000
"""How much of one message a page shows; the rest is counted."""

MAX_BYTES = 1_500_000
"""How large the compressed prompts of one case may be; where they are larger, messages are cut shorter, and at last left out."""


def prompt_data(runs: Mapping[str, tuple[Run, Mapping[str, Sequence[Sample]]]]) -> bytes:
    """Every prompt of some runs as compressed JSON: each distinct message once, each prompt as edits. No prompts, or far too many: b"".

    `messages`: [role, kind, step, text, characters left out]; `strategies`: by name, prompts as [step, thread, tokens, edits, what happened],
    an edit being [at, removed, [numbers of messages]].
    """
    for chars in (MESSAGE_CHARS, MESSAGE_CHARS // 8):
        data = _data(runs, chars)
        if not data["strategies"]:
            return b""
        packed = zlib.compress(
            json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"), 6
        )
        if len(packed) <= MAX_BYTES:
            return packed
    return b""


def _data(runs: Mapping[str, tuple[Run, Mapping[str, Sequence[Sample]]]], chars: int) -> dict[str, Any]:
    numbers: dict[str, int] = {}
    messages: list[list[Any]] = []
    told: dict[str, list[list[Any]]] = {}
    for name, (run, samples) in runs.items():
        if not run.prompts:
            continue
        prompts = told.setdefault(name, [])
        for prompt, call in zip(run.prompts, calls(run, missed_facts(samples)), strict=True):
            edits = []
            for splice in prompt.splices:
                for key in splice.added:
                    if key not in numbers:
                        numbers[key] = len(messages)
                        messages.append(_message(run.messages[key], chars))
                edits.append([splice.at, splice.removed, [numbers[key] for key in splice.added]])
            prompts.append([prompt.step, visible(prompt.thread), prompt.tokens, edits, visible(happened(call))])
    return {"messages": messages, "strategies": [[visible(name), prompts] for name, prompts in told.items()]}


def _message(message: Message, chars: int) -> list[Any]:
    text = "\n".join(filter(None, [message.text, *(call_text(call) for call in message.tool_calls)]))
    left = max(0, len(text) - chars)
    return [visible(message.role), message.kind, message.step, visible(text[:chars]), left]
