"""What libraries count in a history, events, groups or requests, their estimates of tokens, and the places where a history may be cut."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ..model import Message, ToolCall
from .messages import arguments_mapping, own_calls

Calls = Mapping[str, tuple[Message, ToolCall]]
"""Each call by its id, with the message that makes it."""

Group = tuple[Message, ...]
"""Messages that go together: one message, or a call with all of its results."""


def callers(messages: Iterable[Message]) -> dict[str, tuple[Message, ToolCall]]:
    """Each call by its id, with the message that makes it. An id that comes again is the later one."""
    return {call.id: (message, call) for message in messages for call in message.tool_calls}


def tool_name(message: Message, calls: Calls) -> str | None:
    """The tool that gave a result; None where its call is not known."""
    found = calls.get(message.call_id or "")
    return None if found is None else found[1].name


def results_of(messages: Iterable[Message]) -> dict[str | None, Message]:
    """Each tool result by the id of its call; the last one of an id."""
    return {message.call_id: message for message in messages if message.kind == "result"}


def older(items: list[Any], keep_last: int) -> list[Any]:
    """All items of a list but the last ones.

    >>> older([1, 2, 3], 1), older([1, 2, 3], 9)
    ([1, 2], [])
    """
    return items[: max(0, len(items) - keep_last)]


def without_inputs(message: Message, cleared: Collection[str | None]) -> Message:
    """A model's message with empty arguments in these calls; a call that is written in its text stays."""
    calls = (
        msgspec.structs.replace(call, arguments={}) if call.id in cleared and not call.in_text else call
        for call in message.tool_calls
    )
    return msgspec.structs.replace(message, tool_calls=tuple(calls))


def exchanged(messages: Iterable[Message], instead: Mapping[Message, Message]) -> list[Message]:
    """A history with some messages exchanged for others."""
    return [instead.get(message, message) for message in messages]


# ---------------------------------------------------------------- tokens


def rounded_up(chars: float, per_token: float = 4) -> int:
    """Tokens as many projects estimate them: characters (or bytes) by a constant, rounded up."""
    return math.ceil(chars / per_token)


def dense_json(value: Any) -> str:
    """A value as JSON without blanks, as JavaScript writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def langchain_tokens(message: Message, chars_per_token: float = 4) -> int:
    """A message's tokens as langchain-core's `count_tokens_approximately` counts them: text, role, calls and call id, and 3 more.

    >>> langchain_tokens(Message(role="user", text="12345", kind="user"))
    6
    """
    roles = {"system": "system", "model": "assistant", "result": "tool"}
    calls = [
        {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"} for call in own_calls(message)
    ]
    chars = len(message.text) + (len(repr(calls)) if calls else 0) + len(roles.get(message.kind, "user"))
    return rounded_up(chars + (len(message.call_id or "") if message.kind == "result" else 0), chars_per_token) + 3


def agent_framework_tokens(message: Message) -> int:
    """A message's tokens as Agent Framework estimates them: the characters of its JSON by 4, at least 1."""
    contents: list[dict[str, Any]] = []
    if message.kind == "result":
        contents.append({"call_id": message.call_id, "result": message.text, "type": "function_result"})
    elif message.text or not message.tool_calls:
        contents.append({"text": message.text, "type": "text"})
    for call in own_calls(message):
        told = {"arguments": arguments_mapping(call), "call_id": call.id, "hosted": False, "name": call.name}
        contents.append({**told, "type": "function_call"})
    payload = {
        "contents": [{"additional_properties": {}, **content} for content in contents],
        "message_id": f"msg_{message.step}",
        "role": "tool" if message.kind == "result" else message.role,
    }
    return max(1, len(json.dumps(payload, ensure_ascii=False, default=str)) // 4)


def pydantic_ai_tokens(messages: Sequence[Message]) -> int:
    """The tokens of a history as Pydantic AI's harness estimates them: characters of texts and calls by 4, rounded down."""
    calls = [call for message in messages for call in own_calls(message)]
    chars = sum(len(message.text) for message in messages)
    return (chars + sum(len(call.name) + len(str(arguments_mapping(call))) for call in calls)) // 4


def gemini_tokens(text: str) -> float:
    """The tokens of a text as the Gemini CLI estimates them: a quarter a character, 1.5 for one beyond ASCII in up to 100,000 characters."""
    other = 0 if len(text) > 100_000 else sum(character >= "\x80" for character in text)
    return (len(text) - other) / 4 + 1.5 * other


# ---------------------------------------------------------------- units


def events_of(messages: Sequence[Message]) -> list[Message]:
    """A history as OpenHands' events: a model's message once for each of its calls, any other once."""
    return [message for message in messages for _ in range(max(1, len(message.tool_calls)))]


def messages_of(events: Iterable[Message]) -> list[Message]:
    """The messages of which at least one event is among some events."""
    return list(dict.fromkeys(events))


def groups_of(messages: Sequence[Message]) -> list[Group]:
    """A history as Agent Framework's groups; results that are apart from their call join its group."""
    groups: list[list[Message]] = []
    by_call: dict[str, list[Message]] = {}
    open_group: list[Message] | None = None  # results may follow
    for message in messages:
        group = by_call.get(message.call_id or "", open_group) if message.kind == "result" else None
        if group is None:
            groups.append(group := [])
        group.append(message)
        if message.kind != "result":
            by_call.update({call.id: group for call in message.tool_calls})
        open_group = group if message.tool_calls or message.kind == "result" else None
    return list(map(tuple, groups))


def kind_of(group: Group) -> str:
    """The kind of a group: system, user, tool_call or assistant_text."""
    first = group[0]
    if first.tool_calls or first.kind == "result":
        return "tool_call"
    return first.role if first.role in ("system", "user") else "assistant_text"


def requests_of(messages: Sequence[Message]) -> list[list[Message]]:
    """A history as Pydantic AI's messages: an answer of the model, or all between two answers; a summary is one of its own."""
    runs: list[list[Message]] = []
    for message in messages:
        if message.kind in ("model", "made") or not runs or runs[-1][0].kind in ("model", "made"):
            runs.append([message])
        else:
            runs[-1].append(message)
    return runs


def results_together(messages: Iterable[Message]) -> list[list[Message]]:
    """A history as Gemini's contents: lists of one message each; tool results that follow each other are one list."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.kind == "result" and groups and groups[-1][0].kind == "result":
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def joined(groups: Iterable[Sequence[Message]]) -> list[Message]:
    """The messages of some groups, in order."""
    return [message for group in groups for message in group]


# ---------------------------------------------------------------- cuts


def within(messages: Sequence[Message], budget: int, tokens: Callable[[Message], int], *, least: int = 1) -> int:
    """The place where the longest end of a history within a budget begins; at least the last `least` messages are in it.

    >>> told = [Message(role="user", text=text, kind="user") for text in "abc"]
    >>> within(told, 2, lambda message: 1), within(told, 0, lambda message: 1), within(told, 0, lambda message: 1, least=0)
    (1, 2, 3)
    """
    cut = len(messages)
    while cut and tokens(messages[cut - 1]) <= budget:
        cut -= 1
        budget -= tokens(messages[cut])
    return min(cut, max(0, len(messages) - least))


def with_call(messages: Sequence[Message], cut: int) -> int:
    """The cut moved back to the call of the results that it would begin with; behind them where no message makes it."""
    if not 0 <= cut < len(messages) or messages[cut].kind != "result":
        return cut
    behind = next((place for place in range(cut, len(messages)) if messages[place].kind != "result"), len(messages))
    ids = {message.call_id for message in messages[cut:behind]}
    called = (place for place in range(cut - 1, -1, -1) if ids & {call.id for call in messages[place].tool_calls})
    return next(called, behind)


def answered(messages: Sequence[Message], none: int = 0) -> int:
    """The place behind the model's last message: what follows waits to be sent. `none` where the model said nothing."""
    return max((place + 1 for place, message in enumerate(messages) if message.kind == "model"), default=none)


def between_calls(messages: Sequence[Message]) -> list[int]:
    """The places between events where no call waits for its result."""
    given, waiting = results_of(messages), set[str]()
    cuts, place = [0], 0
    for message in messages:
        place += max(1, len(message.tool_calls))
        waiting.update(call.id for call in message.tool_calls if call.id in given)
        waiting.discard(message.call_id or "")
        if not waiting:
            cuts.append(place)
    return cuts


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


def trimmed(
    messages: Sequence[Message],
    max_tokens: int,
    count: Callable[[Message], int],
    *,
    start_on: str | None = None,
    include_system: bool = False,
    partial: bool = False,
) -> list[Message]:
    """The longest end of a history that fits, as langchain-core's `trim_messages` cuts it with strategy "last".

    `start_on` is a kind (user, model, result): that end begins with the first message of it. `partial`: of the message that does not fit
    whole, as many of its last lines as do. A call may be cut from its results.
    """
    system = [message for message in messages[:1] if include_system and message.kind == "system"]
    rest = list(messages[len(system) :])
    room = max(0, max_tokens - sum(map(count, system))) if system else max_tokens
    start = within(rest, room, count, least=0)
    kept = rest[start:]
    if partial and start:
        lines, left = rest[start - 1].text.split("\n"), room - sum(map(count, kept))
        ends = (msgspec.structs.replace(rest[start - 1], text="\n".join(lines[n:])) for n in range(1, len(lines)))
        kept = [*next(([cut] for cut in ends if count(cut) <= left), []), *kept]
    kinds = {"user": ("user", "made")}.get(start_on or "", (start_on,))
    first = next((place for place, message in enumerate(kept) if message.kind in kinds), len(kept))
    return [*system, *(kept if start_on is None else kept[first:])]


def middle_cut(text: str, max_bytes: int, unit: str) -> str:
    """A text with its middle cut out: `max_bytes` of UTF-8 are left, half at either end, and between them the amount that went."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= max_bytes:
        return text
    end, start = max_bytes // 2, len(data) - (max_bytes - max_bytes // 2)
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    head, gone, tail = (part.decode("utf-8", "surrogatepass") for part in (data[:end], data[end:start], data[start:]))
    amount = rounded_up(len(data) - max_bytes) if unit == "tokens" else len(gone)
    return f"{head}…{amount} {unit} truncated…{tail}"


def head_of(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """(The system messages and all up to the first user message, the rest), as Inspect divides a history."""
    system = [message for message in messages if message.kind == "system"]
    others = [message for message in messages if message.kind != "system"]
    end = next((place for place, message in enumerate(others) if message.kind in ("user", "made")), len(others))
    end += end < len(others) and others[end].kind == "user"
    return [*system, *others[:end]], others[end:]
