"""Helpers for the tests of published policies: random histories, and a compactor run over one or many calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from bench.model import Message, ToolCall
from bench.plugins import registry
from bench.plugins.registry import build, entries, register
from bench.replayer.numbering import Numbers
from bench.replayer.threads import Thread
from bench.strategies import NewHistory, Window
from bench.strategies.user_code.functions import SlotFunction
from bench.tokens.counting import TokenCounter


def spied(messages: Sequence[Message]) -> str:
    """A summary that says what its writer read."""
    return "SUMMARY OF " + "|".join(f"{message.kind}:{message.text}" for message in messages)


@pytest.fixture(autouse=True, scope="module")
def spied_writer() -> Iterator[None]:
    """The writer `spied`, gone when the tests of the file that imports this end."""
    entries("writer")
    register("writer", "spied")(spied)
    yield
    del registry._entries["writer"]["spied"]


TEXTS = st.one_of(
    st.sampled_from(["", "ok", "a\nb\nc", "one line that is a little longer than the others\n"]),
    st.integers(1, 60).map(lambda length: ("word " * length)[: 4 * length]),
    st.integers(1, 30).map(lambda lines: "\n".join(f"line {number}" for number in range(lines))),
)
COUNTER = TokenCounter()
NAMES = st.sampled_from(["read", "bash", "search"])


@st.composite
def histories(
    draw: Any, max_turns: int = 8, *, orphans: bool = True, system: bool | None = None, opens: bool = False
) -> list[Message]:
    """A conversation: perhaps a system message, a request, turns with calls, their results, and sometimes another request.

    `orphans`: a call may have no result. `opens`: it begins with a request.
    """
    messages: list[Message] = []

    def say(**fields: Any) -> None:
        messages.append(Message(step=len(messages), **fields))

    if draw(st.booleans()) if system is None else system:
        say(role="system", kind="system", text=draw(TEXTS))
    if opens or draw(st.booleans()):
        say(role="user", kind="user", text=draw(TEXTS) or "go")
    for turn in range(draw(st.integers(0, max_turns))):
        calls = tuple(
            ToolCall(
                id=f"c{turn}_{number}",
                name=draw(NAMES),
                arguments={"path": draw(st.sampled_from(["a.py", "b"])), "n": turn},
            )
            for number in range(draw(st.integers(0, 3)))
        )
        say(role="assistant", kind="model", text=draw(TEXTS), tool_calls=calls)
        for call in calls:
            if not orphans or draw(st.integers(0, 9)):
                say(role="tool", kind="result", text=draw(TEXTS), call_id=call.id)
        if draw(st.integers(0, 3)) == 0:
            say(role="user", kind="user", text=draw(TEXTS) or "more")
    return messages


def window_of(messages: Sequence[Message], max_tokens: int = 128_000) -> Window:
    """The window that a compactor gets for a new history."""
    tokens = 3 + sum(map(COUNTER.message, messages))
    return Window(len(messages), "main", messages, list(messages), tokens, max_tokens, counted)


def counted(item: Message | str) -> int:
    """The tokens of a message or a text."""
    return COUNTER.message(item) if isinstance(item, Message) else COUNTER.text(item)


def answer(spec: str, messages: Sequence[Message], max_tokens: int = 128_000) -> list[Message]:
    """The messages that a compactor makes of a history at its first call."""
    return after(build("compactor", spec).start()[1](window_of(messages, max_tokens)), messages)


def after(given: Any, messages: Sequence[Message]) -> list[Message]:
    """The messages of a history after the answer of a compactor."""
    if given is None:
        return list(messages)
    return list(given.messages if isinstance(given, NewHistory) else given)


def prompts(spec: str, messages: Sequence[Message], max_tokens: int = 128_000) -> list[list[Message]]:
    """The prompts of a compactor when a model is called at each of its own messages, and once at the end."""
    plugin = build("compactor", spec)
    per_call = plugin.attribute("mode", "history") == "per_call"
    compact = SlotFunction(plugin)
    numbers = Numbers(counted)
    history = Thread("main", numbers, compact, framing=3, max_tokens=max_tokens, per_call=per_call)
    found: list[list[Message]] = []
    for message in [*messages, None]:
        if message is None or message.kind == "model":
            history.call(len(messages) if message is None else message.step or 0)
            found.append(list(history.messages))
        if message is not None:
            history.join(message, message)
    return found


def contents(messages: Sequence[Message]) -> list[tuple[Any, ...]]:
    """Messages by what they say: kind, text, call id, and calls with their arguments."""
    return [
        (m.kind, m.text, m.call_id, tuple((call.id, call.name, repr(call.arguments)) for call in m.tool_calls))
        for m in messages
    ]


def original(messages: Sequence[Message]) -> list[Any]:
    """Messages as langchain has them; text written by a strategy is a user's."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    found: list[Any] = []
    for number, message in enumerate(messages):
        shared: dict[str, Any] = {"content": message.text, "id": str(number)}
        if message.kind == "system":
            found.append(SystemMessage(**shared))
        elif message.kind == "model":
            made = [{"name": c.name, "args": c.arguments, "id": c.id, "type": "tool_call"} for c in message.tool_calls]
            found.append(AIMessage(**shared, tool_calls=made))
        elif message.kind == "result":
            found.append(ToolMessage(**shared, tool_call_id=message.call_id))
        else:
            found.append(HumanMessage(**shared))
    return found


def of_original(messages: Sequence[Any]) -> list[tuple[Any, ...]]:
    """langchain's messages by what they say, as `said` gives ours."""
    kinds = {"human": "user", "ai": "model", "tool": "result", "system": "system"}
    return [
        (
            kinds[m.type],
            m.content,
            getattr(m, "tool_call_id", None),
            tuple((call["id"], call["name"], repr(call["args"])) for call in getattr(m, "tool_calls", ())),
        )
        for m in messages
    ]


def user(text: str, step: int) -> Message:
    """A request."""
    return Message(role="user", kind="user", text=text, step=step)


def model_message(text: str, step: int, *calls: ToolCall) -> Message:
    """An answer of the model, with its calls."""
    return Message(role="assistant", kind="model", text=text, step=step, tool_calls=calls)


def talk(turns: int, text: str = "x" * 40) -> list[Message]:
    """Requests and answers in turn."""
    return [(user if n % 2 == 0 else model_message)(f"{n}: {text}", n) for n in range(2 * turns)]


def session(
    turns: int, text: str = "word " * 20, *, calls: int = 1, name: str = "bash", path: str | None = None, ids: str = "c"
) -> list[Message]:
    """A system prompt, a request, and turns with calls and their results."""
    messages = [Message(role="system", kind="system", text="You help.", step=0), user("go", 1)]
    for turn in range(turns):
        given = [{"file_path": path or f"f{turn}.py"} if calls == 1 else {"n": n} for n in range(calls)]
        made = [ToolCall(id=f"{ids}{turn}_{n}", name=name, arguments=given[n]) for n in range(calls)]
        messages.append(model_message("", len(messages), *made))
        for call in made:
            messages.append(
                Message(role="tool", kind="result", text=f"{turn}: {text}", step=len(messages), call_id=call.id)
            )
    return messages


def shape(prompt: Sequence[Message], messages: Sequence[Message]) -> str:
    """A prompt in one line: places in the history (1-3 for a row), `~` for a changed message, the role for a written one (`*2` for two)."""
    places = {message: place for place, message in enumerate(messages)}
    calls = {(message.step, message.call_id): place for place, message in enumerate(messages)}
    found: list[str] = []
    for message in prompt:
        if message in places:
            first, _, last = (found[-1] if found else "").partition("-")
            if (last or first).isdigit() and int(last or first) + 1 == places[message]:
                found[-1] = f"{first}-{places[message]}"
            else:
                found.append(str(places[message]))
        elif message.step is None:
            last, _, times = (found[-1] if found else "").partition("*")
            found[len(found) - (last == message.role) :] = [
                f"{last}*{int(times or 1) + 1}" if last == message.role else message.role
            ]
        else:
            place = calls.get((message.step, message.call_id))
            found.append(f"{message.role if place is None else place}~")
    return " ".join(found)
