"""The parts of a turn that are prose and code: fences, commands, arguments."""

from __future__ import annotations

from typing import Any

import pytest
from handmade import trace

from bench.evidence.index import index_trace
from bench.evidence.step_texts import parts_by_turn, parts_of
from bench.model import ModelTurn, RouteDecision, ToolCall, UserTurn


def parts(content: str, *arguments: Any) -> tuple[list[str], list[str]]:
    calls = tuple(ToolCall(id=str(number), name="f", arguments=given) for number, given in enumerate(arguments))
    return parts_of(ModelTurn(index=0, content=content, tool_calls=calls))


@pytest.mark.parametrize(
    ("content", "prose", "code"),
    [
        ("I look.", "I look.", []),
        ("", "", []),
        ("I look.\nSo.\n", "I look.\nSo.\n", []),
        ("a ```py\nx = 1\n``` b", "a   b", ["x = 1\n"]),
        ("```\nx\n``` b", "  b", ["x\n"]),
        ("```\nx\n``````\ny\n```z", "  z", ["x\n", "y\n"]),
        ("```\n``` b", "  b", [""]),
        ("a ```sh\nls", "a  ", ["ls"]),  # not closed: to the end
        ("a ``` b", "a ``` b", []),  # no line ends behind it: no fence
        ("a\n``` b", "a\n``` b", []),
        ("I look.\nexecute: ls /data\nDone.", "I look.\n \nDone.", ["ls /data"]),
        ("  execute:ls\nexecute: pwd", " \n ", ["ls", "pwd"]),
        ("to execute: ls", "to execute: ls", []),
    ],
)
def test_fences_and_commands_are_code(content: str, prose: str, code: list[str]) -> None:
    assert parts(content) == ([prose], code)


def test_arguments_are_values_or_code_in_their_order_without_their_names() -> None:
    first = {
        "path": "/data/a.csv",
        "script": "x = 1\ny",
        "n": 471,
        "deep": {"of": ["a", ["b", 7.5]]},
        "ok": True,
        "no": None,
    }
    assert parts("So.", first, ["c", "ls -l | wc"], None) == (
        ["So.", "/data/a.csv", "471", "a", "b", "7.5", "c"],
        ["x = 1\ny", "ls -l | wc"],
    )


def test_the_delimiter_of_a_here_document_is_not_a_need() -> None:
    assert parts("So.", {"command": "cat <<'EOF_1' > a\nx\nEOF_1"}) == (["So."], ["cat  > a\nx"])
    assert parts("execute: cat <<-END_7 > a") == ([" "], ["cat  > a"])


@pytest.mark.parametrize(
    ("value", "is_code"), [("x" * 119, False), ("x" * 120, True), ("grep -r", True), ("it is a - b", False)]
)
def test_a_long_argument_or_one_with_an_option_is_code(value: str, is_code: bool) -> None:
    prose, code = parts("", {"v": value})
    assert (code == [value], prose == ["", value]) == (is_code, not is_code)


def test_a_call_written_in_the_text_counts_once() -> None:
    call = ToolCall(id="c", name="bash", arguments={"command": "ls"}, in_text=True)
    assert parts_of(ModelTurn(index=0, content="So.", tool_calls=(call,))) == (["So."], [])


def test_a_ledger_is_prose_of_its_turn() -> None:
    ledger = {"ledger": {"next_speaker": {"reason": "W4417 is open", "answer": "Surfer"}}}
    decision = RouteDecision(index=1, at="before_model", taken="next", router="ledger", state=ledger)
    turns = (
        ModelTurn(index=0, content="I plan."),
        ModelTurn(index=2, content="I look."),
        ModelTurn(index=3, content="So."),
    )
    found = parts_by_turn(trace(turns[0], decision, *turns[1:]))
    assert {turn: prose for turn, (prose, _) in found.items()} == {
        0: ["I plan."], 2: ["W4417 is open", "Surfer", "I look."], 3: ["So."],
    }  # fmt: skip


def test_a_proper_name_only_in_code_is_not_a_need() -> None:
    asked = UserTurn(index=0, content="Please ask Anna Miller about the walls.")
    needed = [
        index_trace(trace(asked, ModelTurn(index=1, content=text))).facts
        for text in ("So Anna Miller is free.", "```\necho Anna Miller\n```")
    ]
    assert needed == [("Anna Miller",), ()]
