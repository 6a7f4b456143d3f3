"""A replay counted the slow way: every prompt is rebuilt whole and read again. Shares no code with the engine but its values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from genai_prices import Usage, calc_price

from bench.model import Message, Trace, compact_json
from bench.model.index import TraceIndex
from bench.model.replay import Call, Replay

from .tokens import UNDATED, count


def prompts(replay: Replay, recorded: Sequence[Message]) -> Iterator[tuple[Call, list[Message]]]:
    """Yield each call with the messages of its prompt, written out."""
    messages = [*recorded, *replay.written]
    last: dict[str, list[Message]] = {}
    for call in replay.calls:
        last[call.thread] = [*last.get(call.thread, [])[: call.keep], *(messages[n] for n in call.tail)]
        yield call, last[call.thread]


def tokens(message: Message, encoding: str) -> int:
    """Plain tokens of a message: 3 of framing, its text, and the calls that are not written in it."""
    parts = [message.text]
    for call in message.tool_calls:
        if not call.in_text:
            parts += [call.name, compact_json(call.arguments)]
    return 3 + sum(count(encoding, part) for part in parts)


def prompt_tokens(replay: Replay, recorded: Sequence[Message], name: str) -> list[int]:
    """The tokens of each prompt: 3, its tool definitions, and its messages."""
    return [
        3 + call.tools_tokens + sum(tokens(message, name) for message in messages)
        for call, messages in prompts(replay, recorded)
    ]


def cached_tokens(
    replay: Replay, recorded: Sequence[Message], name: str, at_least: int, step: int, *, answers: bool = False
) -> list[int]:
    """The tokens of each prompt that its thread's last prompt begins with, as a cache without marks or times reads them.

    `at_least` tokens, then whole steps: what is left over is not read. `answers`: the answer to that
    prompt was kept behind it.
    """
    last: dict[str, tuple[list[Message], int]] = {}
    asked: dict[str, int] = {}
    found = []
    for call, messages in prompts(replay, recorded):
        before, tools = last.get(call.thread, ([], -1))
        same = 0
        while same < min(len(before), len(messages)) and before[same] is messages[same]:
            same += 1
        if answers and before and same == len(before) and [m.kind for m in messages[same : same + 1]] == ["model"]:
            same += messages[same].step == asked[call.thread]
        shared = call.tools_tokens + sum(tokens(message, name) for message in messages[:same])
        usable = tools == call.tools_tokens and not call.tools_changed and shared >= at_least
        found.append(shared - (shared - at_least) % step if usable else 0)
        last[call.thread], asked[call.thread] = (messages, call.tools_tokens), call.step
    return found


def uncached_usd(trace: Trace, sizes: Sequence[int], index: TraceIndex) -> float:
    """Dollars by genai-prices' own calculation, without a cache."""
    found = 0.0
    for turn, size in zip(trace.model_turns, sizes, strict=True):
        usage = Usage(input_tokens=size, output_tokens=index.answer_tokens[turn.index])
        found += float(calc_price(usage, turn.model or index.model, genai_request_timestamp=UNDATED).total_price)
    return found


def says(message: Message, fact: str) -> bool:
    """True if a message says a fact literally, whole."""
    text = "\n".join([message.text, *(compact_json(call.arguments) for call in message.tool_calls)])
    return re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", text) is not None


def invalid(messages: Sequence[Message]) -> bool:
    """True if calls and results of a whole prompt do not pair: each run of results answers the calls right before it, all of them."""
    place, wrong = 0, False
    while place < len(messages):
        asked = {call.id for call in messages[place].tool_calls if not call.in_text}
        given = []
        while place + 1 < len(messages) and _answers(messages[place + 1]):
            place += 1
            given.append(messages[place].call_id)
        wrong = wrong or sorted(given) != sorted(asked)
        place += 1
    return wrong or bool(messages and _answers(messages[0]))


def _answers(message: Message) -> bool:
    return message.role != "user" and bool(message.call_id) and (message.kind == "result" or message.role == "tool")
