"""What readers give of published files against a second, plain reading of the same files: messages, answers, calls, results, usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from second_reading import READINGS, Count

from bench.model import ModelTurn, SystemTurn, ToolResult, Trace, UserTurn
from bench.model.trace import RouteDecision
from bench.plugins.registry import entries
from bench.traces import Confidence, confidence_of, load
from bench.traces.documents import Document

EMPTY = "no-samples"
"""In the name of a log without samples, which is an error that says so."""


def given(traces: tuple[Trace, ...]) -> Iterator[Count]:
    """What traces hold, a step at a time."""
    for trace in traces:
        yield Counter(alone=trace.left_out.get("call of a result: the result stands alone", 0))
        for step in trace.steps:
            if isinstance(step, UserTurn | SystemTurn):
                yield Counter(told=1)
            elif isinstance(step, ToolResult):
                yield Counter(results=1, agents=1)
            elif isinstance(step, RouteDecision):
                yield Counter(decisions=bool(step.state))
            elif isinstance(step, ModelTurn):
                yield Counter(answers=1, calls=len(step.tool_calls))
                if step.usage is not None:
                    used = step.usage
                    yield Counter(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens)


def readers_of(path: Path) -> list[str]:
    """The readers that are certain of a file; none for those of the pool, which are refused in part."""
    document = Document(path)
    if "pool" in path.parts:
        return []
    return [
        name
        for name, entry in entries("reader").items()
        if confidence_of(entry.target().sniff(document)) is Confidence.CERTAIN
    ]


@pytest.mark.slow
def test_every_published_file_counts_as_it_does_in_a_second_reading(shared_traces: Path) -> None:
    compared: Counter[str] = Counter()
    wrong = []
    for path in sorted(shared_traces.rglob("*")):
        found = readers_of(path) if path.is_file() and EMPTY not in path.name else []
        if found and found[0] in READINGS:
            (name,) = found
            second = +READINGS[name](path)
            counted = sum(given(load([f"{name}:{path}"]).traces), Counter())
            first = Counter({key: counted[key] for key in {*second, *COUNTED.get(name, USUAL)} if counted[key]})
            compared[name] += 1
            if first != second:
                wrong.append((path.relative_to(shared_traces).as_posix(), dict(first), dict(second)))
    assert wrong == []
    assert compared.keys() == READINGS.keys()
    assert compared.total() > 190


@pytest.mark.slow
def test_no_result_of_a_published_file_lacks_its_call_in_silence(shared_traces: Path) -> None:
    for path in sorted(shared_traces.rglob("*.*")):
        found = readers_of(path) if EMPTY not in path.name else []
        for trace in load([f"{found[0]}:{path}"]).traces if found else ():
            made = {call.id for turn in trace.model_turns for call in turn.tool_calls}
            alone = sum(result.call_id not in made for result in trace.results)
            assert alone == trace.left_out.get("call of a result: the result stands alone", 0), path


USUAL = ("told", "answers", "calls", "results", "prompt_tokens", "completion_tokens")
COUNTED: dict[str, tuple[str, ...]] = {
    "http_cassette": ("answers",),
}
"""What is compared of every file; and of the formats whose reading counts something else."""


def test_at_least_nine_in_ten_published_files_are_read_and_the_others_for_a_true_reason(shared_traces: Path) -> None:
    files = [path for path in sorted((shared_traces / "pool").rglob("*.*")) if path.name != "MANIFEST.json"]
    refused = {}
    for path in files:
        try:
            assert load([str(path)]).traces
        except Exception as error:
            refused[path.name] = str(error)
    assert len(refused) <= len(files) // 10, refused
    for reason in refused.values():
        assert any(
            true in reason for true in ("is a model call", "holds no simulations", "the messages of an answer")
        ), reason
