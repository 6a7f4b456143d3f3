"""Other people's code in a file, run as a strategy: for tests of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from handmade import conversation_of, result
from measured import MeasuredReplay, evidence_of

from bench.model import Trace
from bench.model.errors import SpecError
from bench.plugins import loader
from bench.strategies import parse_strategy

RAW = {"is_success": True, "output": "a\nb\nc", "structuredOutput": [{"type": "text"}]}


def write(folder: Path, text: str, name: str = "mine.py") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    loader.load_file.cache_clear()


def with_one_result(**fields: object) -> Trace:
    return conversation_of([result(None, index=2, arguments={"path": "/a"}, **{"data": RAW, **fields})])


def run_of(folder: Path, spec: str, text: str = "", recorded: Trace | None = None) -> MeasuredReplay:
    if text:
        write(folder, text)
    return MeasuredReplay(evidence_of(recorded or with_one_result(), parse_strategy(f"m={spec}", folder)))


def text_shown(run: MeasuredReplay) -> str:
    assert run.failure is None, run.failure
    return run.messages[run.results[0].message].text


def refusal(folder: Path, spec: str, text: str = "") -> str:
    """The error message of a refused strategy."""
    if text:
        write(folder, text)
    with pytest.raises(SpecError) as refused:
        parse_strategy(f"m={spec}", folder)
    return str(refused.value)
