"""The bench's summarizers and compactors as functions for the loop of an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..model import Message, ToolResult, as_text
from ..model.errors import SpecError, StrategyError
from ..plugins.registry import Plugin, build
from ..replayer.state import Numbers, Thread
from ..strategies.offloading import Keep, offloaded_to
from ..strategies.user_code.functions import SlotFunction
from ..strategies.user_code.messages import messages_in, openai_message
from ..strategies.user_code.plain import plain_data
from ..tokens.counting import DEFAULT_WINDOW_TOKENS, PROMPT_TOKENS, TokenCounter

_KINDS: Mapping[str, Any] = {"assistant": "model", "tool": "result", "function": "result"}


def summarizer(spec: str, *, keep: Keep | None = None) -> Callable[..., str]:
    """A function that takes a tool result, a text or data, and returns its text for the model.

    Its keyword arguments are fields of `ToolResult`, such as `function="ls"`. `keep(name, value)`
    stores a value of which the text only shows the name. Raises SpecError unless the spec names a
    summarizer of the bench; the function raises StrategyError for a value to keep without `keep`,
    and for one that is neither text nor data.

    >>> rewrite = summarizer("head_tail:head=1,tail=1")
    >>> rewrite("a.py\\nb.py\\nc.py\\nd.py")
    'a.py\\n[2 lines left out]\\nd.py'
    >>> summarizer("csv_table")([{"id": 1, "mark": "W1"}, {"id": 2, "mark": "W2"}])
    '{"@table":1}\\n@table 1: 2 rows\\nid,mark\\n1,W1\\n2,W2'
    """
    plugin = _shipped("summarizer", spec)
    _, summarize = plugin.start()

    def not_kept(name: str, value: Any) -> None:
        what = f"{spec} shows the name {name!r}, and nothing stores its value"
        raise StrategyError(f"{what} — give bench.summarizer a keep=function(name, value)")

    def rewrite(result: Any, **fields: Any) -> str:
        """The text for the model."""
        try:
            data = plain_data(result)
        except StrategyError:
            what = f"bench.summarizer got {type(result).__name__}"
            raise StrategyError(f"{what} — give text, or data as JSON has it") from None
        value = {"seen": data} if isinstance(data, str) else {"data": data, "seen": as_text(data)}
        tool_result = ToolResult(**{"index": 0, "call_id": "", "function": "", **fields}, **value)
        with offloaded_to(keep or not_kept):
            answer = summarize(tool_result)
        return tool_result.text if answer is None else as_text(answer)

    return rewrite


def compactor(
    spec: str, *, max_tokens: int = DEFAULT_WINDOW_TOKENS
) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that takes a conversation so far and returns the messages of its next prompt, both
    as chat mappings of OpenAI's interface. Each conversation needs its own function.

    Call it before each model call, and append to your list, not to the answer. `max_tokens` is the
    model's window. Raises SpecError unless the spec names a compactor of the bench; the function
    raises StrategyError for a message that it cannot read.

    >>> compact = compactor("mask_observations:keep_last=1")
    >>> messages = [{"role": "user", "content": "go"}]
    >>> for name in ("a.txt", "b.txt"):
    ...     messages += [
    ...         {"role": "assistant", "content": "", "tool_calls": [
    ...             {"id": name, "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    ...         ]},
    ...         {"role": "tool", "tool_call_id": name, "content": name},
    ...     ]
    ...     prompt = compact(messages)
    >>> [message["content"] for message in prompt]
    ['go', '', '[tool result left out: 5 characters, 1 lines]', '', 'b.txt']
    """
    return _Conversation(_shipped("compactor", spec), max_tokens).prompt


def _shipped(kind: str, spec: str) -> Plugin:
    """The plug-in of a spec. Raises SpecError for user code, and for one that reads the future."""
    plugin = build(kind, spec)
    if plugin.has_user_code or plugin.attribute("needs_future", False):
        raise SpecError(f"{kind} {spec!r}: it does not ship for agents — call your own code itself")
    return plugin


class _Conversation:
    """One conversation of an agent, as a thread of a replay."""

    def __init__(self, plugin: Plugin, max_tokens: int) -> None:
        self._thread = Thread(
            "main",
            Numbers(TokenCounter().of),
            SlotFunction(plugin),
            framing=PROMPT_TOKENS,
            max_tokens=max_tokens,
            per_call=plugin.attribute("mode") == "per_call",
        )
        self._items: dict[Message, Any] = {}  # the item from which each message was read

    def prompt(self, conversation: Sequence[Any]) -> list[Any]:
        """The messages of the next prompt."""
        if len(conversation) < len(self._items):
            what = "a compactor got a conversation that is shorter than before"
            raise StrategyError(f"{what} — make one compactor for each conversation")
        for item in conversation[len(self._items) :]:
            message = _message(item)
            self._items[message] = item
            self._thread.join(message, message)
        self._thread.call(len(conversation))
        prompt, items = self._thread.messages, self._items
        return [
            items[message] if message in items else openai_message(message) for message in prompt
        ]


def _message(item: Any) -> Message:
    """An item of a conversation as a message of a history."""
    try:
        (read,) = messages_in(item)
    except (TypeError, ValueError) as error:
        what = f"a message of the conversation cannot be read: {error}"
        raise StrategyError(f"{what} — give chat mappings as OpenAI's interface has them") from None
    kind = _KINDS.get(read.role, read.role if read.role in ("system", "user") else "system")
    return Message(
        role=read.role, text=read.text, kind=kind, tool_calls=read.tool_calls, call_id=read.call_id
    )
