"""Five revisions of the function that documents 000 and 003 specify, in their own signatures, as files that know nothing of the bench."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from handmade import LOG, TABLE, conversation_of, result
from measured import replayed

from bench.strategies import parse_strategy

FILES = sorted((Path(__file__).parents[1] / "data/summary_utils").glob("r*.py"))
STRATEGIES = [
    f"{path.stem}=summarizer={path.name}:generate_summary{':form=dict' if path.stem == 'r5_flat' else ''}"
    for path in FILES  # the fifth declares no type
]


def raw(key: str, structured: list[dict[str, str]] | None, output: str) -> dict[str, object]:
    """The return value of `execute_script` (document 000, Step 2)."""
    return {"is_success": True, "output": output, "error_message": "", "error_details": [], key: structured}


@pytest.mark.parametrize("key", ["structured_output", "structuredOutput"])
def test_the_five_revisions_run_unchanged_with_any_recorded_keys(key: str) -> None:
    assert len(FILES) == 5
    recorded = conversation_of(
        [result(None, index=2, data=raw(key, [TABLE], "")), result(None, index=3, data=raw(key, [], LOG)),
         result(None, index=4, data=raw(key, [], "done"))]
    )  # fmt: skip
    said = {}
    for path, text in zip(FILES, STRATEGIES, strict=True):
        run = replayed(recorded, parse_strategy(text, path.parent))
        assert run.failure is None, run.failure
        said[path.stem] = [run.messages[outcome.message].text for outcome in run.results]
    untouched = [run.messages[key].text for key in (run.results[2].message,)]
    for name, (table, console, short) in said.items():
        assert [short] == untouched, f"{name}: a small output is left as it is"
        assert json.loads(console)["type"] == "console"
        if name != "r1_console_only":
            assert json.loads(table)["type"] == "table"
    assert json.loads(said["r2_table_first"][0])["table"]["row_count"] == 36
    assert (
        json.loads(said["r3_noise_filtered"][1])["console"]["line_count"] == 12
    )  # without "✅ Code executed successfully"
    assert json.loads(said["r2_table_first"][1])["console"]["line_count"] == 13
    assert json.loads(said["r5_flat"][0]) == {"type": "table", "row_count": 36}
