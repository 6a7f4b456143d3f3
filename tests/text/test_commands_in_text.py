"""Commands in text: what counts as one, and an output that is written and read back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from bench.model import ToolCall, ToolResult
from bench.traces.commands import calls_in, command_run, commands_in, is_observation, observation_text
from bench.traces.steps import ReadMessage, Steps


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("EXECUTE:   ls -la  \r\nmore", ("ls -la",)),
        ("execute: a\nexecute: b", ("a", "b")),
        ("so execute: a", ()),
        ("  execute: a", ()),
        ("execute:\nls", ()),
        ("```mswea_bash_command\nls\n\npwd\n```", ("ls\n\npwd",)),
        ("```bash\nfirst\n```\n```mswea_bash_command\nsecond\n```", ("second",)),
        ("```bash\na\n```\ntext\n```bash\nb\n```", ("a", "b")),
        ("```bash\r\nls\r\n```\r\n", ("ls",)),
        ("```bash\n\n```", ()),
        ("```python\nprint(1)\n```", ()),
        ("```bash\nnever closed", ()),
        ("```python\nx\n```\nexecute: ls", ("ls",)),
        ("", ()),
    ],
)
def test_commands_are_found_only_in_the_documented_forms(text: str, commands: tuple[str, ...]) -> None:
    assert commands_in(text) == commands


def test_each_command_of_a_turn_has_its_own_id() -> None:
    assert [call.id for call in calls_in("execute: a\nexecute: b", 7)] == ["text7", "text7.1"]


@given(code=st.integers(-300, 300), output=st.text(max_size=40))
def test_a_written_output_is_read_back(code: int, output: str) -> None:
    text = observation_text(code, output)
    assert is_observation(text)
    steps, call = Steps(), ToolCall(id="c", name="bash", in_text=True)
    steps.note_calls((call,))
    steps.add_message(ReadMessage("tool", text, call_id="c", ran=command_run(text, {"raw_output": output})))
    (result,) = steps.steps
    assert isinstance(result, ToolResult)
    assert (result.success, result.seen, result.full, result.truncated_at_source) == (code == 0, text, None, False)
    assert (result.role, result.call_id, result.function) == ("user", "c", "bash")
