"""The conformance of every reader, on its samples: a newcomer's file is tested as soon as a sample lies in `data/formats`.

A sample of the reader `x` is `data/formats/x.ANYTHING` or a file in `data/formats/x/`.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fuzz.mutations import mutated
from reference import second_reading

from bench.model import ModelTurn, SystemTurn, ToolResult, Trace, UserTurn
from bench.model.errors import TraceError
from bench.plugins.registry import Plugin, entries
from bench.traces import Confidence, load
from bench.traces.documents import Document
from bench.traces.formats.native import encode_trace, write_traces

FORMATS = Path(__file__).parents[1] / "data" / "formats"
READERS = list(entries("reader").values())
MARK = "hologram-7f3a"
MUTATIONS = 12


def samples(name: str) -> list[Path]:
    inside = sorted(path for path in (FORMATS / name).rglob("*") if path.is_file())
    return [*sorted(path for path in FORMATS.iterdir() if path.is_file() and path.name.split(".")[0] == name), *inside]


FILES = [(entry.name, path) for entry in READERS for path in samples(entry.name)]
every = pytest.mark.parametrize("entry", READERS, ids=lambda entry: entry.name)
each = pytest.mark.parametrize(("name", "path"), FILES, ids=lambda item: item.name if isinstance(item, Path) else item)


def sure_of(document: Document) -> list[str]:
    """The readers that are as sure of a file as any."""
    sure = {entry.name: entry.target().sniff(document) for entry in READERS}
    best = max(sure.values())
    return [name for name, confidence in sure.items() if confidence is best is not Confidence.NO]


def counted(traces: list[Trace] | tuple[Trace, ...]) -> Counter[str]:
    """The messages, answers, calls, results and tokens of some traces."""
    found: Counter[str] = Counter()
    for step in (step for trace in traces for step in trace.steps):
        found["told"] += isinstance(step, UserTurn | SystemTurn)
        found["results"] += isinstance(step, ToolResult)
        if isinstance(step, ModelTurn):
            usage = step.usage
            found += Counter(
                answers=1,
                calls=len(step.tool_calls),
                prompt_tokens=usage.prompt_tokens if usage else 0,
                completion_tokens=usage.completion_tokens if usage else 0,
            )
    return +found


@every
def test_every_reader_is_documented_and_has_a_sample(entry: Plugin) -> None:
    assert entry.source
    assert "Not kept: " in entry.doc
    assert samples(entry.name)


@each
def test_a_sample_is_recognised_only_by_its_reader(name: str, path: Path) -> None:
    assert sure_of(Document(path)) == [name]


@each
def test_a_sample_is_read_and_comes_back_from_the_native_format(name: str, path: Path, tmp_path: Path) -> None:
    loaded = load([f"{name}:{path}"])
    for trace in loaded.traces:
        assert trace.steps
        made = {call.id for turn in trace.model_turns for call in turn.tool_calls}
        alone = sum(result.call_id not in made for result in trace.results)
        assert alone <= trace.left_out.get("call of a result: the result stands alone", 0)
    write_traces(loaded.traces, tmp_path / "back.jsonl")
    assert load([str(tmp_path / "back.jsonl")]).traces == loaded.traces


@each
def test_a_second_reading_counts_a_sample_equally(name: str, path: Path) -> None:
    odd = any(word in path.name for word in ("counted", "commands", "cut", "mini.text", "actions"))
    if name not in ("messages", "otel", "tau", "swe", "openhands") or odd:
        return  # of the others the published files are counted: these hold odd things on purpose
    second = second_reading.count_of(name, path)
    if second is not None:
        assert compared(name, load([f"{name}:{path}"]).traces) == second


def compared(name: str, traces: tuple[Trace, ...]) -> Counter[str]:
    """The counts of traces that the second reading of their format has."""
    found = counted(traces)
    return +Counter({key: found[key] for key in second_reading.PARTS.get(name, tuple(found))})


@pytest.mark.slow
def test_a_second_reading_counts_every_published_file_equally(shared_traces: Path) -> None:
    tried: Counter[str] = Counter()
    wrong = []
    for path in sorted(path for path in shared_traces.rglob("*.*") if path.is_file() and "pool" not in path.parts):
        found = sure_of(Document(path))
        second = second_reading.count_of(found[0], path) if len(found) == 1 and "no-samples" not in path.name else None
        if second is not None:
            first = compared(found[0], load([f"{found[0]}:{path}"]).traces)
            tried[found[0]] += 1
            wrong += [(path.name, dict(first), dict(second))] if first != second else []
    assert wrong == []
    assert tried.total() > 60


# ---------------------------------------------------------------- hostile files


@each
def test_a_mutated_sample_is_read_or_refused_in_one_line(name: str, path: Path, tmp_path: Path) -> None:
    for seed in range(MUTATIONS):
        target = tmp_path / f"{seed}-{path.name}"
        target.write_bytes(mutated(path.read_bytes(), random.Random(f"{name} {path.name} {seed}")))
        document = Document(target)
        for entry in READERS:
            entry.target().sniff(document)
        complaint = target.name
        try:
            for trace in entries("reader")[name].target().read(document):
                encode_trace(msgspec.structs.replace(trace, id="x"))
        except TraceError as error:
            complaint = str(error)
        assert "\n" not in complaint
        assert target.name in complaint


def value_of(path: Path) -> tuple[Any, bool] | None:
    """A sample as JSON, and True where it has a value a line; None where it is neither."""
    document = Document(path)
    if document.problem is not None:
        return None
    if not document.is_json_lines:
        return document.json, False
    return [document.decode(line) for _, line in document.lines()], True


def lists_of_messages(value: Any) -> list[list[Any]]:
    """Every list whose members are objects with a role."""
    own = (
        [value] if isinstance(value, list) and value and all(isinstance(i, dict) and "role" in i for i in value) else []
    )
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return own + [found for item in inside for found in lists_of_messages(item)]


@each
def test_a_block_of_an_unknown_kind_is_read_or_counted(name: str, path: Path, tmp_path: Path) -> None:
    held = value_of(path)
    if held is None or not lists_of_messages(held[0]) or name in ("copilot", "gemini_cli") or path.suffix == ".traj":
        return
    changed, lines = copy.deepcopy(held[0]), held[1]
    for found in lists_of_messages(changed):
        last = next((message for message in reversed(found) if "content" in message and message["role"] != "exit"), {})
        if not last:  # Gemini's parts, which name their kind by a key
            return
        content = last.get("content")
        last["content"] = [
            *([{"type": "text", "text": content}] if isinstance(content, str) else content or []),
            {"type": "hologram", "hologram": MARK},
        ]
    target = tmp_path / path.name
    target.write_text("\n".join(map(json.dumps, changed)) if lines else json.dumps(changed), encoding="utf-8")
    traces = load([f"{name}:{target}"]).traces
    text = "".join(encode_trace(trace).decode() for trace in traces)
    assert MARK in text or any("hologram" in what for trace in traces for what in trace.left_out)


def test_invalid_counts_and_times_are_left_out(tmp_path: Path) -> None:
    target = tmp_path / "odd.json"
    usage = {"prompt_tokens": "12", "completion_tokens": 12.5}
    target.write_text(
        json.dumps([{"role": "user", "content": "go"}, {"role": "assistant", "content": "x", "usage": usage}])
    )
    (trace,) = load([f"messages:{target}"]).traces
    assert trace.model_turns[0].usage is None
    assert sum(trace.left_out.values()) >= 1
