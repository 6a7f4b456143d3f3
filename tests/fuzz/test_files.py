"""Mutated files: whatever they hold, they are read, or one line says what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bench
from bench.comparison.baseline import read_scores
from bench.model.errors import BenchError, one_line
from bench.plugins.registry import entries
from bench.run.scenario import read_scenario
from bench.strategies import parse_strategy
from bench.traces.formats.native import encode_trace
from bench.traces.redaction import Redactor

from .mutations import mutated

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests" / "data" / "formats"
RAW = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
STRATEGIES = (
    "mask_observations=compactor=mask_observations:keep_last=1",
    "table=summarizer=table_console",
    "store=store=truncate+evaluator=step_v1",
)


def _samples() -> Iterator[tuple[str, Path]]:
    for path in sorted(path for path in FORMATS.rglob("*") if path.is_file() and path.name != "README.md"):
        name = path.relative_to(FORMATS).parts[0].split(".")[0]
        if name in entries("reader"):
            yield name, path
    for folder in ("analysis", "building_model"):
        for path in sorted((ROOT / "traces" / folder).glob("*.jsonl")):
            if path.stat().st_size < 300_000:
                yield "native", path


SAMPLES = list(_samples())


def survives(read: Callable[[], Any], name: str = "") -> Any:
    """The result of reading; None where one line says what is wrong. Any other exception is the find."""
    try:
        return read()
    except BenchError as error:
        said = one_line(error)  # as everybody prints it
        assert not RAW.search(said), f"not one plain line: {said!r}"
        assert len(said) <= 600, said
        assert name in said, f"{said!r} does not name {name}"
        assert "defect" not in said, said  # what a reader did not foresee, put on its file
        return None


@pytest.mark.slow
@pytest.mark.parametrize(("reader", "path"), SAMPLES, ids=lambda item: item.name if isinstance(item, Path) else "")
def test_any_trace_is_read_or_refused_in_one_line(tmp_path, draws, reader, path):
    data = path.read_bytes()
    for number, draw in enumerate(draws()):
        file = tmp_path / f"fuzzed{path.suffix}"
        file.write_bytes(mutated(data, draw))
        found = survives(lambda file=file: bench.load([f"{reader}:{file}"]), "fuzzed")
        survives(lambda file=file: bench.load([str(file)]), "fuzzed")
        for trace in found.traces[:2] if found and number % 8 == 0 else ():
            assert encode_trace(Redactor().trace(trace))
            survives(lambda trace=trace: bench.compare([trace], STRATEGIES))


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_any_scenario_is_read_or_refused_in_one_line(tmp_path, draws, path):
    (tmp_path / "a.jsonl").write_bytes((FORMATS / "native.jsonl").read_bytes())
    (tmp_path / "scenarios").mkdir()
    text = re.sub(rb"traces = \[[^]]*\]", b'traces = ["../a.jsonl"]', path.read_bytes())
    file = tmp_path / "scenarios" / "fuzzed.toml"
    for number, draw in enumerate(draws(2)):
        file.write_bytes(mutated(text, draw))
        plan = survives(lambda: read_scenario(file), "fuzzed.toml")
        if plan is not None and number % 4 == 0:
            survives(lambda plan=plan: bench.run_scenario(plan), "fuzzed.toml")


@pytest.fixture(scope="module")
def compared() -> Any:
    return bench.compare([str(FORMATS / "native.jsonl")], STRATEGIES, title="fuzzed")


def test_any_baseline_is_read_or_refused_in_one_line(tmp_path, draws):
    file = tmp_path / "fuzzed.baseline.json"
    for path in sorted((ROOT / "scenarios").glob("*.baseline.json")):
        data = path.read_bytes()[:20_000] if path.stat().st_size > 200_000 else path.read_bytes()
        for draw in draws(2):
            file.write_bytes(mutated(data, draw))
            survives(lambda: read_scores(file), "fuzzed.baseline.json")


SPECS = (
    "summarizer=truncate:limit=80",
    "compactor=summarize_old:max_tokens=16000,writer=extractive",
    "store=truncate+evaluator=step_v1+routers=[executor,step_evaluator:at=after_result]",
    "compactor=clairvoyant",
    "compactor=mask_observations:keep_last=5|10|20",
    "recorded",
)


def test_any_spec_is_read_or_refused_in_one_line(draws):
    for text in SPECS:
        for draw in draws():
            spec = mutated(f"a={text}".encode(), draw)[:2000].decode("utf-8", "replace").replace("\0", "")
            if "." not in spec and "!" not in spec:  # a path or a module would be imported, a command run
                survives(lambda spec=spec: parse_strategy(spec))
