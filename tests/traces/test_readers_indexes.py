"""The indexes of readers against a plain search: threads, and runs without a call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from bench.model import ToolCall, as_text
from bench.traces.intakes.prompts import Conversation, Thread, Threads, has_ids
from bench.traces.steps import ReadMessage, Steps, ToolRun

MESSAGES = [
    ReadMessage("user", "a"),
    ReadMessage("user", "b"),
    ReadMessage("assistant", "c"),
    ReadMessage("assistant", calls=(ToolCall(id="x", name="f"),)),
    ReadMessage("system", "s"),
]


def searched(threads: list[Thread], group: str, prompt: Conversation) -> Thread | None:
    """The conversation that a prompt goes on with, held against each."""
    keys, task = prompt.keys, len(prompt.opening)
    known = [thread for thread in threads if thread.group == group]
    whole = [thread for thread in known if keys[: len(thread.conversation.keys)] == thread.conversation.keys]
    if whole:
        return max(whole, key=lambda thread: len(thread.conversation.keys))
    after = [thread for thread in known if thread.answer in keys]
    handed = [thread for thread in threads if has_ids(thread.answer) and thread.answer in keys]
    begun = [
        thread
        for thread in known
        if 0 < task < len(keys)
        and thread.conversation.keys[:task] == keys[:task]
        and thread.conversation.keys[: len(keys)] != keys
    ]
    found = after or handed or begun
    return found[-1] if found else None


MESSAGE = st.sampled_from(MESSAGES)
ASKED = st.tuples(st.sampled_from("gh"), st.lists(MESSAGE, max_size=5), MESSAGE)


@pytest.mark.slow
@given(st.lists(ASKED, max_size=12))
def test_a_prompt_is_assigned_to_its_conversation(asked: list[tuple[str, list[ReadMessage], ReadMessage]]) -> None:
    threads, every = Threads(), list[Thread]()
    for group, messages, answer in asked:
        prompt = Conversation(messages)
        found = threads.continued(group, prompt)
        assert found is searched(every, group, prompt)
        thread = found or threads.begin(group)
        if found is None:
            every.append(thread)
        thread.conversation = prompt
        prompt.add(answer)
        thread.answer = prompt.keys[-1]
        threads.changed(thread)
    assert len({thread.name for thread in every}) == len(every)


VALUES: list[Any] = [None, 1, 1.0, True, "1", "x", [], {}, [1], {"q": 1}, {"q": True}, {"q": 2}, '{"q":1}', "{'q': 1}", "[1]"]  # fmt: skip
TOOLS = st.lists(st.tuples(st.sampled_from("fg"), st.sampled_from(VALUES)), max_size=12)


@given(TOOLS, TOOLS)
def test_a_call_is_assigned_to_its_run(ran: list[tuple[str, Any]], called: list[tuple[str, Any]]) -> None:
    steps, waiting = Steps(), [(*run, number) for number, run in enumerate(ran)]
    for name, given_to, number in waiting:
        steps.note_unnamed_run(name, given_to, ToolRun(output=number))
    for name, arguments in called:
        named = [run for run in waiting if run[0] == name]
        same = [run for run in named if run[1] in (arguments, str(arguments), as_text(arguments))]
        found = (same or named or [None])[0]
        steps.note_calls((ToolCall(id="c", name=name, arguments=arguments),))
        assert steps.ran.pop("c", None) == (None if found is None else ToolRun(output=found[2]))
        if found is not None:
            waiting.remove(found)
    steps.add_unseen_results()
    assert sum(count for what, count in steps.unread.counts.items() if what.startswith("run of a tool")) == len(waiting)
