"""What steps and messages say, as texts in which facts are looked for."""

from __future__ import annotations

from ..model import AnyStep, Message, ModelTurn, SystemTurn, ToolCall, ToolResult, UserTurn, text_of
from ..text.decode import plain_lines


def call_text(call: ToolCall) -> str:
    """The text of a tool call's arguments as facts are looked for in it; `""` where the call is written in the turn's own text."""
    if call.in_text or call.arguments is None:
        return ""
    return plain_lines(call.arguments)


def turn_text(turn: ModelTurn) -> str:
    """Everything a model turn says: its text, then its tool-call arguments, one after the other."""
    return "\n".join(filter(None, [text_of(turn.content), *(call_text(call) for call in turn.tool_calls)]))


def message_texts(message: Message) -> tuple[str, ...]:
    """Every text in which a message can hold something: its own, and the arguments of its tool calls.

    >>> call = ToolCall(id="c", name="grep", arguments={"pattern": "run_7"})
    >>> message_texts(Message(role="assistant", text="Looking.", kind="model", tool_calls=(call,)))
    ('Looking.', 'pattern: run_7')
    """
    return tuple(text for text in (message.text, *map(call_text, message.tool_calls)) if text)


def spoken(step: AnyStep) -> list[str]:
    """The texts in which a step says something to its thread, a result untruncated; `[]` for a step that says nothing."""
    if isinstance(step, SystemTurn | UserTurn):
        return [text_of(step.content)]
    if isinstance(step, ToolResult):
        return [step.text]
    if isinstance(step, ModelTurn):
        return [text for text in (text_of(step.content), *map(call_text, step.tool_calls)) if text]
    return []
