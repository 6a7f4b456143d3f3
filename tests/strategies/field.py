"""Helpers for the tests of published policies: random histories, and a compactor run over one or many calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from bench.model import Message, ToolCall
from bench.plugins.registry import build
from bench.replayer.state import Numbers, Thread
from bench.strategies import NewHistory, Window
from bench.strategies.user_code.functions import SlotFunction
from bench.tokens.counting import TokenCounter

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


def user(text: str, step: int) -> Message:
    """A request."""
    return Message(role="user", kind="user", text=text, step=step)


def session(
    turns: int, text: str = "word " * 20, *, calls: int = 1, name: str = "bash", path: str | None = None, ids: str = "c"
) -> list[Message]:
    """A system prompt, a request, and turns with calls and their results."""
    messages = [Message(role="system", kind="system", text="You help.", step=0), user("go", 1)]
    for turn in range(turns):
        given = [{"file_path": path or f"f{turn}.py"} if calls == 1 else {"n": n} for n in range(calls)]
        made = [ToolCall(id=f"{ids}{turn}_{n}", name=name, arguments=given[n]) for n in range(calls)]
        step = len(messages)
        messages.append(Message(role="assistant", kind="model", text="", step=step, tool_calls=tuple(made)))
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
