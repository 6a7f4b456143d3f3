"""docs/strategies.md: the template of each slot runs as it stands, in the slot it is shown for; the tables name what the code knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from handmade import LOG, TABLE, opened, result

from bench.model import ModelTurn, ToolCall
from bench.replayer.loop import replay
from bench.strategies import DECISION_POINTS, parse_strategy
from bench.strategies.forms import FORMS

PAGE = (Path(__file__).parents[2] / "docs/strategies.md").read_text(encoding="utf-8")
SLOTS = {"summarizer": "A summarizer", "compactor": "A compactor", "store": "A store", "evaluator": "An evaluator",
         "routers": "A router", "consumer": "A consumer"}  # fmt: skip
WANTED = {
    "summarizer": lambda run: '"row_count":36' in run.messages[run.results[0].shown].text,
    "compactor": lambda run: sum(message.text.startswith("[cleared: ") for message in run.messages.values()) == 2,
    "store": lambda run: run.results[0].record.value == [TABLE] and run.results[1].record.value == LOG[:500],
    "evaluator": lambda run: [item.evaluation["before"] for item in run.results] == [0, 0, 0, 0, 1],
    "routers": lambda run: {item.route for item in run.decisions} == {"complete"},
    "consumer": lambda run: run.results[1].reply.text == LOG and run.results[1].reply.route == "END",
}


def recording():
    """A table, a long log, a short one, an import that failed, and one more, each asked for by a call."""
    told = [
        {"data": {"structuredOutput": [TABLE], "output": ""}},
        {"seen": LOG},
        {"seen": "done"},
        {"seen": "no", "success": False, "error": "ModuleNotFoundError: x"},
        {"seen": "more"},
    ]
    steps = []
    for turn, fields in enumerate(told):
        steps.append(ModelTurn(index=2 + 2 * turn, tool_calls=(ToolCall(id=f"c{turn}", name="run_script"),)))
        steps.append(result(fields.pop("seen", None), index=3 + 2 * turn, call_id=f"c{turn}", **fields))
    return opened(steps)


@pytest.mark.parametrize("slot", SLOTS)
def test_the_template_of_a_slot_runs_as_it_stands(tmp_path, slot):
    section = PAGE.partition(f"## {SLOTS[slot]}\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    (name,) = re.findall(r"^def (\w+)", code, re.MULTILINE)
    (tmp_path / "mine.py").write_text(code)
    run = replay(recording(), parse_strategy(f"m={slot}=mine.py:{name}", tmp_path))
    assert run.failure is None, run.failure
    assert WANTED[slot](run)


def test_the_page_names_every_form_and_decision_point():
    table = PAGE.partition("| slot | form | it is given |")[2].partition("\n\n")[0]
    named = {
        form
        for line in table.splitlines()
        if line.startswith("| ")
        for form in re.findall(r"`(\w+)`", line.split("|")[2])
    }
    assert named == {form for forms in FORMS.values() for form in forms}
    assert all(f"`{point}`" in PAGE for point in DECISION_POINTS)
