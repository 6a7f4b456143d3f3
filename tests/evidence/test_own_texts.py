"""A strategy's own wording: the lines that most of its texts of one kind share."""

from __future__ import annotations

from bench.evidence.checks.own import OwnText, template_lines
from bench.model import Message, ToolResult

RESULT = ToolResult(index=0, call_id="a", function="f", seen="x")


def own(text: str, result: ToolResult | None = None) -> OwnText:
    return OwnText(0, Message(role="tool" if result else "user", text=text, kind="made"), result)


def test_lines_of_half_of_the_texts_of_a_kind_are_wording() -> None:
    results = [own("shortened\n1", RESULT), own("shortened\n2", RESULT), own("3", RESULT), own("4", RESULT)]
    assert template_lines(results) == {"shortened"}
    assert template_lines([*results, own("5", RESULT)]) == frozenset()
    summaries = [own("## Summary\na"), own("  ## Summary\nb"), own("c")]
    assert template_lines([*results, *summaries]) == {"shortened", "## Summary"}


def test_of_one_text_no_wording_is_known() -> None:
    assert template_lines([own("## Summary\na"), own("## Summary\nb", RESULT)]) == frozenset()
