"""Tables in text results: other layouts of their rows pass, values moved to other rows or columns are held."""

import pytest
from handmade import trace
from harm import measured_runs, results_of

from bench.comparison.rules import unchecked_words
from bench.comparison.totals import Runs
from bench.model import ModelTurn, ToolCall, ToolResult

PODS = "NAME       READY  STATUS\napi-71     2/2    Running\nworker-55  0/1    Failed\ncache-08   1/1    Running"
CSV = "NAME,READY,STATUS\napi-71,2/2,Running\nworker-55,0/1,Failed\ncache-08,1/1,Running"


@pytest.mark.parametrize(
    "text",
    [CSV, "2 of 3 rows:\n" + CSV.rpartition("\n")[0] + "\n[1 row left out]"],
)
@pytest.mark.parametrize("harm", ["", "Running,Failed", "2/2,0/1", "READY,STATUS", "2,1"])
def test_cells_of_tables_are_compared(text: str, harm: str) -> None:
    one, _, other = harm.partition(",")
    written = text.replace(one, "@", 1).replace(other, one, 1).replace("@", other, 1) if harm else text
    first = ModelTurn(index=0, content="", tool_calls=(ToolCall(id="c", name="get", arguments={}),))
    result = ToolResult(index=1, call_id="c", function="get", seen=PODS)
    run = trace(first, result, ModelTurn(index=2, content="Done."))
    runs = Runs(measured_runs([run], {"mine": {"summarizer": lambda _: written}}))
    is_refused = not all(it.passed for it in results_of(runs, "mine", spec="mine=summarizer=x"))
    assert (is_refused or unchecked_words(runs, "mine") is not None) == (written != text)
