"""Document 002 as it was built: what each step of its rule does, and what it costs and loses on the shipped sessions."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from handmade import conversation_of, prompts_of
from measured import MeasuredReplay, replayed

from bench.model import Message, ModelTurn, ToolCall, ToolResult, Trace
from bench.plugins import registry
from bench.plugins.registry import entries, register
from bench.strategies.documents.document_002 import is_command

NAME = "separate_commands_deployed"


@pytest.fixture
def own_writers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the plugins that a test registered."""
    entries("writer")
    monkeypatch.setattr(registry, "_entries", {kind: dict(known) for kind, known in registry._entries.items()})


def session(turns: int, *, chars: int = 400) -> Trace:
    """A shell session in text: every result is `chars` long and says its number at both ends."""
    steps: list[Any] = []
    for number in range(1, turns + 1):
        index, command = 2 + len(steps), f"cat part_{number}.csv"
        call = ToolCall(id=f"c{number}", name="bash", arguments={"command": command}, in_text=True)
        steps.append(ModelTurn(index=index, content=f"execute: {command}", tool_calls=(call,)))
        body = f"begin {number} {'x' * (chars - 20)} end {number}".ljust(chars, "y")
        steps.append(ToolResult(index=index + 1, call_id=call.id, function="bash", role="user", seen=body))
    return conversation_of(steps)


def summarised_at(run: MeasuredReplay) -> list[int]:
    """The numbers of the prompts after a trigger."""
    steps = {call.step for call in run.own_calls}
    return [number for number, prompt in enumerate(run.prompts) if prompt.step in steps]


def run(turns: int, settings: str, *, chars: int = 400) -> MeasuredReplay:
    return replayed(session(turns, chars=chars), f"s=compactor={NAME}:{settings}")


# ---------------------------------------------------------------- before the first trigger


def test_before_a_trigger_every_prompt_is_the_full_history_and_the_last_commands() -> None:
    found, whole = run(23, "max_tokens=100000"), prompts_of(replayed(session(23), "keep_all"))
    for number, (prompt, kept) in enumerate(zip(prompts_of(found), whole, strict=True)):
        if number == 0:
            assert [m.text for m in prompt] == [m.text for m in kept]  # nothing was executed yet
            continue
        assert [m.text for m in prompt[:-1]] == [m.text for m in kept]
        assert (prompt[-1].role, prompt[-1].kind) == ("user", "made")
        assert prompt[-1].text.count("Step ") == min(number, 20)
    last = prompts_of(found)[-1][-1].text.split("\n")
    assert last[:2] == ["Command History:", "Step 4: cat part_4.csv"]
    assert last[-1] == "(Total 23 commands executed, showing last 20)"
    assert "(Total" not in prompts_of(found)[20][-1].text
    assert found.prompts[-1].tokens > replayed(session(23), "keep_all").prompts[-1].tokens


# ---------------------------------------------------------------- the trigger


def test_it_fires_at_a_share_of_the_maximum_not_counting_the_command_message() -> None:
    tokens = [prompt.tokens for prompt in replayed(session(12), "keep_all").prompts]
    assert summarised_at(run(12, f"threshold=1,max_tokens={tokens[9]}"))[0] == 9
    assert summarised_at(run(12, f"threshold=1,max_tokens={tokens[9] + 1}"))[0] == 10
    assert run(12, "max_tokens=100000").prompts[9].tokens > tokens[9]


def test_it_fires_again_only_when_it_uses_a_tenth_more_than_last_time() -> None:
    found, limit = run(60, "max_tokens=2000"), 2000
    conversation = [prompt.tokens for prompt in found.prompts]
    assert len(summarised_at(found)) >= 2
    base = run(60, "max_tokens=2000,rise=0.001")
    assert len(summarised_at(base)) > len(summarised_at(found))
    for before, after in zip(summarised_at(found), summarised_at(found)[1:], strict=False):
        grown = conversation[after - 1]
        assert grown + 300 > 0.8 * limit  # the prompt before the trigger was close to it
        assert after > before + 1


# ---------------------------------------------------------------- the deployment's own count


def test_a_message_that_names_the_command_history_takes_its_place() -> None:
    steps = list(session(6).steps[2:])
    steps[4] = msgspec.structs.replace(steps[4], content=f"By the Command History part 2 is empty.\n{steps[4].content}")
    shown = [
        prompt[-1].text.startswith("Command History:")
        for prompt in prompts_of(replayed(conversation_of(steps), f"s=compactor={NAME}"))
    ]
    assert shown == [False, True, True, *[False] * (len(shown) - 3)]


def test_the_new_history_has_a_summary_and_persists_in_later_prompts() -> None:
    found = run(40, "max_tokens=2000")
    first, prompts = summarised_at(found)[0], prompts_of(found)
    prompt = prompts[first]
    assert [message.kind for message in prompt[:3]] == ["system", "made", "made"]
    assert [message.kind for message in prompt[3:-1]] == ["model", "result"] * 4
    assert prompt[1].text.startswith("Summary of ")
    last = prompt[-1].text
    assert last.startswith(f"Command History:\nStep {first - 4}: ")
    assert "(Total" not in last
    assert last.count("Step ") == 5
    for later in prompts[first + 1 : first + 4]:
        assert [id(m) for m in later[: len(prompt)]] == [id(m) for m in prompt]  # the command message stands too
        assert sum(message.text.startswith("Command History:") for message in later) == 1


def test_results_without_the_mark_are_conversation_and_are_summarised() -> None:
    found = run(40, "max_tokens=2000", chars=900)
    first = summarised_at(found)[0]
    of_talk, of_commands = [call for call in found.own_calls if call.step == found.prompts[first].step]
    assert prompts_of(found)[first][1].text.startswith(f"Summary of {1 + first - 4} earlier messages:")
    assert of_commands.consumed_tokens > of_talk.consumed_tokens  # 1,000 characters a result against 500


@pytest.mark.usefixtures("own_writers")
def test_older_commands_are_summarised_again_from_the_commands() -> None:
    read: list[list[str]] = []

    @register("writer", "spy_of_deployed")
    def spy(messages: list[Message]) -> str:
        read.append([message.text for message in messages])
        return "short"

    found = run(60, "max_tokens=3000,rise=0.01,writer=spy_of_deployed", chars=1500)
    of_commands = [texts for texts in read if texts[0].startswith("Step 1: ")]
    assert len(of_commands) > 2
    for texts in of_commands:
        assert [text.partition(":")[0] for text in texts] == [f"Step {n}" for n in range(1, len(texts) + 1)]
        assert {text.partition("Result: ")[2][1000:] for text in texts} == {"..."}
    of_talk = [texts for texts in read if not texts[0].startswith("Step 1: ")]
    assert max(len(text) for texts in of_talk for text in texts) == 500
    assert summarised_at(found)


# ---------------------------------------------------------------- command messages


@pytest.mark.parametrize(
    ("role", "text", "command"),
    [
        ("assistant", "execute: ls", True),
        ("assistant", "x" * 50 + "\nexecute: ls -la\n" + "y" * 50, True),
        ("assistant", "x" * 51 + "\nexecute: ls", False),
        ("assistant", "execute: ls\n" + "y" * 51, False),
        ("assistant", "I looked.", False),
        ("user", "Command result: a.txt", True),
        ("user", "<returncode>0</returncode>", False),
        ("user", "x" * 99 + "execute: ls", True),
        ("system", "Write execute: <command>.", False),
        ("system", "It comes back as Command result: …", True),
    ],
)
def test_a_command_message_is_recognised_by_its_text(role: str, text: str, command: bool) -> None:
    assert is_command(Message(role=role, text=text, kind="user")) is command
