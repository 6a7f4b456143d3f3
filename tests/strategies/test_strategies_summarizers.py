from __future__ import annotations

import json
from typing import Any

import pytest
from handmade import result

from bench.model import ToolResult
from bench.model.errors import SpecError
from bench.plugins.registry import build


def value_of(spec: str, given: ToolResult) -> Any:
    """The answer of a summarizer to one result."""
    return build("summarizer", spec).start()[1](given)


def rows(count: int) -> dict[str, Any]:
    return {"type": "table", "data": json.dumps([{"n": number} for number in range(count)])}


def script(output: str = "", *items: Any, key: str = "structured_output") -> ToolResult:
    return result(None, data={"is_success": True, "output": output, key: list(items)})


def log(lines: int) -> str:
    return "".join(f"line {number}\r\n" for number in range(lines))


FIRST_FIVE = [{"n": number} for number in range(5)]


def test_output_summary_takes_any_table_and_ignores_the_console() -> None:
    assert value_of("output_summary", script(log(9), rows(36))) == {
        "type": "table",
        "message": "Showing 5 of 36 rows",
        "table": {"row_count": 36, "truncated_rows": FIRST_FIVE},
    }
    assert value_of("output_summary", script(log(9), rows(3)))["message"] == "Showing 3 of 3 rows"
    assert value_of("output_summary", script(log(9), rows(0)))["table"] == {"row_count": 0, "truncated_rows": []}


def test_output_summary_of_a_console() -> None:
    assert value_of("output_summary", script(log(5))) is None
    assert value_of("output_summary", script(log(6))) == {
        "type": "console",
        "message": "Showing 5 of 6 lines",
        "console": {"line_count": 6, "truncated_lines": [f"line {number}" for number in range(5)]},
    }


def test_table_console_needs_more_than_five_rows() -> None:
    assert value_of("table_console", script(log(9), rows(6))) == {
        "type": "table",
        "message": "Table with 6 rows; first 5 shown.",
        "table": {"row_count": 6, "truncated_rows_json": FIRST_FIVE},
    }
    assert value_of("table_console", script(log(9), rows(5)))["type"] == "console"  # a short table falls through
    assert value_of("table_console", script(log(2), rows(5))) is None
    assert value_of("table_console", script("", rows(2), rows(8)))["table"]["row_count"] == 8


def test_table_console_does_not_count_status_lines() -> None:
    status = "✅ Code executed successfully | Monday\n❌ Code execution failed: no\n"
    assert value_of("table_console", script(status + log(5))) is None
    assert value_of("table_console", script(status + log(6))) == {
        "type": "console",
        "message": "6 console lines; first 5 shown.",
        "console": {"line_count": 6, "truncated_lines": [f"line {number}" for number in range(5)]},
    }


def test_noise_markers_loses_answers_like_the_first_deployed_version() -> None:
    given = script(log(6) + "✅ Wall created.\n")
    assert value_of("table_console:max_lines=6", given)["console"]["line_count"] == 7
    assert value_of("table_console:noise=markers", given)["console"]["line_count"] == 6
    assert value_of("table_console:max_lines=6,noise=markers", given) is None
    with pytest.raises(SpecError, match="noise"):
        build("summarizer", "table_console:noise=all")


def test_count_only_has_the_conditions_of_table_console() -> None:
    assert value_of("count_only", script(log(9), rows(50))) == {"type": "table", "row_count": 50}
    assert value_of("count_only", script(log(12), rows(5))) == {"type": "console", "line_count": 12}
    assert value_of("count_only", script(log(5), rows(5))) is None


BY_TABLE = ("output_summary", "table_console", "count_only")


@pytest.mark.parametrize("spec", BY_TABLE)
@pytest.mark.parametrize("data", ["[{", '{"a": 1}', None, 7])
def test_malformed_table_data_falls_through(spec: str, data: Any) -> None:
    bad = {"type": "table", "data": data}
    assert value_of(spec, script("", bad)) is None
    assert value_of(spec, script(log(9), bad))["type"] == "console"
    assert value_of(spec, script(log(9), bad, rows(7)))["type"] == "table"


@pytest.mark.parametrize("spec", BY_TABLE)
def test_tables_are_read_in_both_spellings_as_lists_and_as_json_text(spec: str) -> None:
    wanted = value_of(spec, script("", rows(7)))
    plain = {"type": "table", "data": [{"n": number} for number in range(7)]}
    assert value_of(spec, script("", rows(7), key="structuredOutput")) == wanted
    assert value_of(spec, script("", plain)) == wanted
    assert value_of(spec, result(json.dumps({"output": "", "structured_output": [rows(7)]}))) == wanted
    assert value_of(spec, result(None, data={"structured_output": json.dumps([rows(7)])})) == wanted


@pytest.mark.parametrize("spec", BY_TABLE)
def test_plain_text_counts_as_console_output(spec: str) -> None:
    assert value_of(spec, result(log(6)))["type"] == "console"
    assert value_of(spec, result(log(5))) is None
    assert value_of(spec, result("")) is None
    assert value_of(spec, result(None, data=[1, 2, 3])) is None


def test_head_tail_keeps_the_first_and_last_lines() -> None:
    lines = [f"row {number}" for number in range(50)]
    assert value_of("head_tail", result("\n".join(lines))) == "\n".join(
        [*lines[:20], "[10 lines left out]", *lines[30:]]
    )
    assert value_of("head_tail:head=2,tail=0", result("a\nb\n\nc\nd")) == "a\nb\n[2 lines left out]"
    assert value_of("head_tail", result("a\r\n\r\nb")) == "a\r\n\r\nb"


def test_head_tail_cuts_the_lines_that_json_holds() -> None:
    given = result(json.dumps({"returncode": 0, "output": "\n".join(f"row {number}" for number in range(9))}))
    assert value_of("head_tail:head=2,tail=1", given) == "returncode: 0\noutput:\n[8 lines left out]\nrow 8"
