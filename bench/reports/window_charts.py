"""The window of one case as a chart: prompt tokens call by call, a line a strategy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..model import CallShown, Case
from .blocks import Chart, Point
from .page.charts import COMPACTED, DANGLING, EVICTED
from .prompts_shown import happened

SENTENCE = (
    "Prompt tokens of each model call. Triangle: the strategy compacted the history. Square: results left the prompt. "
    "Cross: the turn leaned on something gone."
)


def window_chart(case: Case, shown: Sequence[str], marked: Collection[str]) -> Chart | None:
    """Prompt tokens of the model calls of a case, one line a strategy; only `marked` strategies carry marks. None without a call."""
    points = tuple(point for name in shown if name in case.runs for point in _points(case, name, name in marked))
    if not points:
        return None
    return Chart("line", case.id, "model call", "prompt tokens", "calls", "tokens", points, SENTENCE, case=case.id)


def _points(case: Case, strategy: str, marked: bool) -> Iterator[Point]:
    for call in case.runs[strategy].window.curve:
        marks = _marks(call) if marked else []
        note = "; ".join(filter(None, [f"step {call.step}", happened(call) if marks else ""]))
        for mark in marks or [""]:
            yield Point(strategy, call.number, call.tokens, mark, note, call.step)


def _marks(call: CallShown) -> list[str]:
    marks = ((COMPACTED, call.compacted), (EVICTED, bool(call.evicted)), (DANGLING, bool(call.missed)))
    return [mark for mark, so in marks if so]
