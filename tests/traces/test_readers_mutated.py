"""Published files with something odd in them: what a reader does not understand is kept, counted or an error; no other reader takes the file."""

from __future__ import annotations

import copy
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_readers_conformance import MARK, VALUES, at, left, lists_of_typed, said, written
from test_readers_hostile import outcome

from bench.model.errors import TraceError
from bench.plugins.registry import entries
from bench.traces import Confidence, confidence_of, load
from bench.traces.documents import Document

A_FORMAT, A_SHAPE = 4, 2
"""How many files of a format, and how many places of one shape in a file, are changed."""

SAID_AGAIN = re.compile(
    r"inspect_log \.(plan|reductions|samples\.N\.(messages|input|events\.N\.(call|state|score|sample|input)))"  # events tell it
    r"|openhands .*model_response"  # repeated with each event of an answer
    r"|openhands_sdk \.kwargs"  # the tools once more
    r"|mini_swe_agent .*(extra\.response|provider_specific_fields)"  # the provider's answer beside the message
    r"|claude_code .*usage\.iterations"  # parts of a sum that is kept
)
"""Places that say again what the file says elsewhere, or what no prompt holds."""


def published(folder: Path) -> Iterator[tuple[str, Path, Any]]:
    """Files of every JSON format: the reader's name, the path, and its value."""
    taken: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.*")):
        if "pool" in path.parts or path.suffix not in (".json", ".jsonl", ".traj") or path.stat().st_size > 1_000_000:
            continue
        document = Document(path)
        sure = [name for name, entry in entries("reader").items() if confidence_of(entry.target().sniff(document))]
        if sure and taken[sure[0]] < A_FORMAT and "no-samples" not in path.name:
            taken[sure[0]] += 1
            lines = [node.value for node in document.line_nodes()] if document.is_json_lines else None
            yield sure[0], path, lines if lines is not None else document.json


@pytest.mark.slow
def test_a_thing_of_an_unknown_kind_in_a_published_file(shared_traces: Path, tmp_path: Path) -> None:
    chance, silent, tried = random.Random(0), [], 0
    for name, path, value in published(shared_traces):
        reader = entries("reader")[name].target()
        before, _ = outcome(reader, written(tmp_path, path, value))
        shapes: Counter[str] = Counter()
        places = list(lists_of_typed(value))
        for place, key in chance.sample(places, len(places)):
            shape = re.sub(r"\.\d+", ".N", "".join(f".{part}" for part in place))
            shapes[shape] += 1
            if shapes[shape] > A_SHAPE or SAID_AGAIN.match(f"{name} {shape}"):
                continue
            changed = copy.deepcopy(value)
            things = at(changed, place)
            things.insert(chance.randint(1, len(things)), {key: "hologram", "content": MARK, "text": MARK})
            after, complaint = outcome(reader, written(tmp_path, path, changed))
            tried += 1
            if complaint is None and MARK not in said(after) and left(after) <= left(before):
                silent.append((name, path.name, shape))
    assert silent == []
    assert tried > 70


@pytest.mark.slow
@pytest.mark.parametrize(("name", "path", "value"), VALUES, ids=[f"{name}-{path.name}" for name, path, _ in VALUES])
def test_a_file_that_lacks_a_key_is_not_taken_for_another_format_in_silence(
    name: str, path: Path, value: Any, tmp_path: Path
) -> None:
    items = [value] if isinstance(value, dict) else [item for item in value if isinstance(item, dict)]
    for key in sorted({key for item in items for key in item}):
        changed = copy.deepcopy(value)
        for item in [changed] if isinstance(changed, dict) else changed:
            item.pop(key, None)
        document = written(tmp_path, path, changed)
        try:
            traces = load([str(document.path)]).traces
        except TraceError:
            continue
        other = [trace for trace in traces if trace.source.format != name]
        assert all(trace.left_out for trace in other), f"without {key!r}: {other[0].source.format}, in silence"


@pytest.mark.parametrize("odd", ["x" * 3_000_000, "\ud83d half a pair", "", "\x00\x1b[31m", "𝕏" * 70_000])
def test_an_odd_long_message_is_read_whole(odd: str, tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps({"a": odd})}}
    messages = [
        {"role": "user", "content": odd},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": odd},
    ]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    (trace,) = load([str(path)]).traces
    (result,) = trace.results
    assert (trace.steps[0].content, result.seen, result.arguments) == (odd, odd, {"a": odd})  # type: ignore[union-attr]
    assert confidence_of(entries("reader")["openai"].target().sniff(Document(path))) is Confidence.CERTAIN
