"""The prompts of a strategy by whole histories: every list is copied, nothing is numbered. Shares no code with the replayer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from bench.model import Message, ModelTurn, ToolResult, Trace
from bench.model.messages import recorded_messages

Shorten = Callable[[ToolResult], str]
Rework = Callable[[Sequence[Message]], Sequence[Message] | None]
Shown = tuple[str, str, int | None]
"""A message as it is compared: role, text, the step that it shows."""


def prompts(trace: Trace, shorten: Shorten | None, rework: Rework, *, per_call: bool) -> Iterator[list[Shown]]:
    """Yield the prompt before each model turn; `per_call`: `rework` gives that prompt alone, else the history from then on."""
    known = recorded_messages(trace)
    histories: dict[str, list[Message]] = {}
    for step in trace.steps:
        history = histories.setdefault(step.thread, [])
        if isinstance(step, ModelTurn):
            found = rework(list(history))
            prompt = list(history) if found is None else list(found)
            if not per_call:
                histories[step.thread] = history = list(prompt)
            yield [(message.role, message.text, message.step) for message in prompt]
        if step.index in known.full:
            message = known.messages[known.full[step.index]]
            if isinstance(step, ToolResult):
                text = None if shorten is None else shorten(step)
                message = known.messages[known.seen[step.index]] if text is None else with_text(message, text)
            history.append(message)


def with_text(message: Message, text: str) -> Message:
    """The same message with another text."""
    return msgspec.structs.replace(message, text=text)
