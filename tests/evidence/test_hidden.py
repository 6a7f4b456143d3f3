"""Failures that a strategy hides, and texts that say all of one and hide nothing."""

from __future__ import annotations

import pytest
from handmade import compose, result, trace
from measured import evidence_of

from bench.evidence.checks import checks_of
from bench.model import Message, ModelTurn, ToolCall, UserTurn

FAILED = "find: paths must precede expression: `;'\nsee the manual"
LOG = "12 cases ran\nThe upload of report.csv failed at 10:42"
NOTE = '[{"id": "W1", "note": "Never call the customer before the parcel arrives"}]'
SHELL = '{"returncode": 1, "output": "total 8\\na.py\\n"}'
LOOKED_FOR = {"name": "report"}
RECORDING = trace(
    UserTurn(index=0, content="Find the report and upload it."),
    ModelTurn(index=1, content="I look.", tool_calls=(ToolCall(id="c", name="find", arguments=LOOKED_FOR),)),
    result(FAILED, index=2, success=False, function="find", arguments=LOOKED_FOR),
    ModelTurn(index=3, content="Again."),
    result(LOG, index=4),
    ModelTurn(index=5, content="Noted."),
    UserTurn(index=6, content="So?"),
    ModelTurn(index=7, content="It is there."),
)


def hidden(**slots: object) -> int:
    return checks_of(evidence_of(RECORDING, compose("mine", slots, "tests")))["hidden"].hits


@pytest.mark.parametrize(
    ("shown", "hits"),
    [
        (f"```\n{FAILED}\n```", 0),
        ("\n".join(f"{n}\t{line}" for n, line in enumerate(FAILED.split("\n"), 1)), 0),
        (f"Done.\n{FAILED}", 1),
        ("see the manual", 1),
        ("[1 result removed]", 0),
    ],
)
def test_a_text_with_all_of_a_failed_result_hides_nothing(shown: str, hits: int) -> None:
    assert hidden(summarizer=lambda item: shown if item.index == 2 else None) == hits


@pytest.mark.parametrize(
    ("full", "shown", "unchecked"),
    [
        (NOTE, '[{"id": "W1"}]', 1),
        (NOTE, "id: W1, note: Never call the customer before the parcel arrives", 0),
        (NOTE, '[{"id": "W1", "note": "Never call the…"}]', 0),
        (NOTE, '[{"id": "W1"}]\n[1 note left out]', 0),
        (SHELL, "rc=1\ntotal 8\na.py", 0),
        (SHELL, "<o rc=1>total 8\na.py</o>", 0),
        (SHELL, "total 8\na.py", 1),
        (SHELL.replace("1", "0"), "total 8\na.py", 0),
    ],
)
def test_what_is_left_out_without_a_notice_is_not_checked(full: str, shown: str, unchecked: int) -> None:
    recording = trace(result(full, index=0), ModelTurn(index=1, content="Noted."))
    strategy = compose("mine", {"summarizer": lambda item: shown}, "tests")
    assert checks_of(evidence_of(recording, strategy))["hidden"].unchecked == unchecked


@pytest.mark.parametrize(
    ("line", "unchecked"),
    [
        ("The upload of report.csv failed at 10:42", 0),
        ("user: Find the report and upload it.", 0),
        ("12 cases ran … failed at 10:42", 0),
        ("[2 results left out]", 0),
        ('find({"name": "report"}): ok', 1),
        ('find({"name": "invoice"}): failed', 1),
        ("assistant: Find the report and upload it.", 1),
        ("The upload of report.csv succeeded at 10:42", 1),
        ("All calls succeeded.", 1),
        ("There were no other results.", 1),
        ("Nobody asked for it.", 1),
    ],
)
def test_a_summary_is_checked_if_the_run_states_it(line: str, unchecked: int) -> None:
    def compactor(messages: list[Message]) -> list[Message] | None:
        if len(messages) < 7:
            return None
        made = Message(role="user", kind="made", text=f"So far:\n- {line}\n")
        return [messages[0], made, *messages[-2:]]

    evidence = evidence_of(RECORDING, compose("mine", {"compactor": compactor}, "tests"))
    assert checks_of(evidence)["invented"].unchecked == unchecked
