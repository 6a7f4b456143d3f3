"""The policies of the field by hand: what each leaves of a history, and the words that it writes."""

from __future__ import annotations

import pytest
from field import answer, prompts, session, shape, user, window_of

from bench.model import Message, ToolResult
from bench.plugins.registry import build

WIDE = 128_000
OFTEN = [*session(3), user("now this", 20), *session(2)[2:]]
REQUESTS = [user("a" * 40, 0), user("b" * 40, 1), user("c" * 40, 2), user("x", 3)]
TALK = [user(f"{n}: {'x' * 40}", n) for n in range(9)]
MIXED = [*session(2), *session(2, name="read", ids="r")[2:], *session(1, ids="d")[2:]]
LANGCHAIN = "langchain.summarize:trigger_messages"
HANDMADE = [
    ("codex keeps the user's messages and a summary", "codex:threshold=0.01", OFTEN, 1000, "0-1 8 user"),
    ("codex cuts the oldest that does not fit", "codex:threshold=0.01,user_tokens=16", REQUESTS, 100, "1~ 2-3 user"),
    ("codex below its threshold", "codex", session(12), WIDE, "0-25"),
    ("gemini: one request is not compressed", "gemini.compress:max_tokens=100", session(20), WIDE, "0-41"),
    ("gemini keeps the last 30%", "gemini.compress:max_tokens=100", TALK, WIDE, "user assistant 7-8"),
    ("gemini keeps the last request", "gemini.compress:max_tokens=100,preserve=0.01", OFTEN, WIDE, "0 user assistant 8-12"),
    ("langchain never acts without a trigger", "langchain.summarize", session(99), 1000, "0-199"),
    ("langchain keeps a result with its call", f"{LANGCHAIN}=13,keep_messages=3", session(6), WIDE, "0 user 10-13"),
    ("langchain waits for all triggers", f"{LANGCHAIN}=13,trigger_tokens=9999", session(6), WIDE, "0-13"),
    ("agent framework: calls become lines", "agent_framework.tool_result", session(3, "x" * 5000), WIDE, "0-1 assistant*2 6-7"),
    ("openhands stays within 80 events", "openhands.summarize", session(40)[:80], WIDE, "0-79"),
    ("openhands keeps head, summary and half", "openhands.summarize", session(40), WIDE, "0-3 user 48-81"),
    ("openhands counts parallel calls", "openhands.summarize", session(14, calls=3), WIDE, "0-5 user 38-57"),
    ("swe-agent keeps task and last", "swe_agent.last_n:n=3", session(8, "a\nb\nc"), WIDE, "0-2 3~ 4 5~ 6 7~ 8 9~ 10 11~ 12-17"),
    ("anthropic keeps three", "clear_tool_uses:trigger=1", session(6), WIDE, "0-2 3~ 4 5~ 6 7~ 8-13"),
    ("anthropic clears all", "clear_tool_uses:trigger=1,keep=0", session(6), WIDE, "0-2 3~ 4 5~ 6 7~ 8 9~ 10 11~ 12 13~"),
    ("anthropic excludes tools", "clear_tool_uses:trigger=1,keep=2,exclude_tools=[read]", MIXED, WIDE, "0-2 3~ 4-11"),
    ("anthropic below its trigger", "clear_tool_uses", session(6), WIDE, "0-13"),
]  # fmt: skip
"""Case, spec, history, window, and the messages left: places in the history, `~` for a changed message, the role of a new one."""


@pytest.mark.parametrize(("spec", "history", "window", "left"), [pytest.param(*row[1:], id=row[0]) for row in HANDMADE])
def test_a_policy_leaves_the_messages_found_by_hand(spec: str, history: list[Message], window: int, left: str) -> None:
    assert shape(answer(spec, history, window), history) == left


APART = [*session(4, "word " * 500), user("now this", 50), *session(5, "word " * 500, ids="d")[2:]]
WORDS = [
    ("codex:threshold=0.01,user_tokens=16", REQUESTS, 0, "b" * 10 + "…5 tokens truncated…" + "b" * 10),
    ("agent_framework.tool_result", session(3, "x" * 9), 2, "[Tool results: bash: 0: xxxxxxxxx]"),
    ("agent_framework.tool_result", session(3, "x" * 5000), 2, f"[Tool results: bash: 0: {'x' * 4056}... [truncated]]"),
    (f"{LANGCHAIN}=1,keep_messages=1", session(9, "word " * 500), 1, "Summary of 0 earlier messages:"),
    (f"{LANGCHAIN}=1,keep_messages=1", APART, 1, "Summary of 9 earlier messages:\nuser: now this"),
]  # fmt: skip
"""A spec, the history, which message of the prompt is looked at, and how its text begins."""


@pytest.mark.parametrize(("spec", "history", "place", "begins"), WORDS, ids=lambda item: str(item)[:40])
def test_a_policy_begins_its_text_with_the_published_words(
    spec: str, history: list[Message], place: int, begins: str
) -> None:
    assert answer(spec, history, 100)[place].text.startswith(begins)


def test_a_policy_acts_exactly_at_its_trigger() -> None:
    history = session(6)
    tokens = window_of(history).tokens
    freed = tokens - window_of(answer("clear_tool_uses:trigger=1", history)).tokens
    for spec, window, acts in (
        (f"clear_tool_uses:trigger={tokens}", WIDE, False),
        (f"clear_tool_uses:trigger={tokens - 1}", WIDE, True),
        (f"clear_tool_uses:trigger=1,clear_at_least={freed + 1}", WIDE, False),  # all or nothing
        (f"clear_tool_uses:trigger=1,clear_at_least={freed}", WIDE, True),
    ):
        assert (answer(spec, history, window) != history) is acts, spec


# ---------------------------------------------------------------- call after call

REPLACED = ("[tool result cleared]", "[tool result left out", "Old environment")


SEQUENCES = [
    ("clear_tool_uses:trigger=1,keep=1", session(6), [0, 0, 1, 2, 3, 4, 5]),
    ("mask_observations:keep_last=1,every=3", session(6), [0, 0, 1, 1, 1, 4, 4]),
]  # fmt: skip
"""A spec, a session, and how many results are replaced in each prompt."""


@pytest.mark.parametrize(("spec", "history", "replaced"), SEQUENCES, ids=lambda item: str(item)[:40])
def test_the_number_of_replaced_results_per_call_equals_that_by_hand(
    spec: str, history: list[Message], replaced: list[int]
) -> None:
    assert [sum(m.text.startswith(REPLACED) for m in prompt) for prompt in prompts(spec, history)] == replaced


# ---------------------------------------------------------------- outputs

LONG = "a" * 5000 + "b" * 10 + "c" * 5000
CUT = f"<output_head>\n{LONG[:5000]}\n</output_head>\n<elided_chars>\n10 characters elided\n</elided_chars>\n"
CUT += f"<output_tail>\n{LONG[-5000:]}\n</output_tail>"
MANY = "\n".join(f"row {n} " + "x" * 2000 for n in range(50))
OUTPUTS = [
    ("codex.output:limit=10", "0123456789", "0123456789"),
    ("codex.output:limit=10", "0123456789A", "01234…1 chars truncated…6789A"),
    ("codex.output:limit=5", "é" * 5, "é…3 chars truncated…é"),
    ("codex.output:limit=0", "abc", "…3 chars truncated…"),
    ("mini_swe_agent.output", "x" * 9999, "x" * 9999),
    ("mini_swe_agent.output", LONG, CUT),
    ("mini_swe_agent.output", f"<returncode>0</returncode>\n<output>\n{LONG}\n</output>", f"<returncode>0</returncode>\n{CUT}"),
    ("deepagents.output:exclude_tools=[bash]", MANY, MANY),
    ("deepagents.output:ends=1,line_chars=8", MANY,
     "[shortened: the full output is in large_tool_results/c]\n1  row 0 xx\n... [48 lines truncated] ...\n50  row 49 x"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "text", "shown"), OUTPUTS, ids=lambda item: str(item)[:40])
def test_a_summarizer_shows_the_part_of_an_output_found_by_hand(spec: str, text: str, shown: str) -> None:
    assert build("summarizer", spec).start()[1](ToolResult(index=0, call_id="c", function="bash", seen=text)) == shown


def test_the_envelope_of_a_command_keeps_its_other_keys() -> None:
    result = ToolResult(
        index=0, call_id="c", function="bash", data={"returncode": 1, "output": LONG, "exception_info": "e"}
    )
    shown = build("summarizer", "mini_swe_agent.output").start()[1](result)
    assert list(shown) == ["returncode", "exception_info", "output_head", "output_tail", "elided_chars", "warning"]
