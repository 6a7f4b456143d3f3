"""The same result shown in another form: whoever reads it finds every fact of it, so every recall of facts is 1."""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from generated import traces
from hypothesis import given, strategies as st
from measured import replayer_of, value

import bench
from bench.model import Trace
from bench.strategies import compose

ROOT = Path(__file__).parents[2]
FORMS: dict[str, Callable[[str], object]] = {
    "the text of an object": lambda text: f"ToolMessage(content={text!r}, name='run')",
    "in a fence": lambda text: f"```\n{text}\n```",
    "in tags": lambda text: f"<tool_result>\n{text}\n</tool_result>",
    "as a citation": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "with line numbers": lambda text: "\n".join(f"{n:4d}| {line}" for n, line in enumerate(text.split("\n"), 1)),
    "as JSON text": json.dumps,
    "in JSON": lambda text: json.dumps({"content": text}),
    "in JSON in JSON": lambda text: json.dumps({"content": json.dumps({"content": text})}),
    "as Python writes it": repr,
    "in a Python mapping": lambda text: repr({"content": text}),
    "as a content block": lambda text: [{"type": "text", "text": text}],
    "with Windows line ends": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "indented": lambda text: textwrap.indent(text, "    "),
    "behind a line": lambda text: f"[all of it] {text}",
    "before a line": lambda text: f"{text}\n(end of the result)",
}
WHOLE_VALUES = ("in a fence", "in tags", "as JSON text", "in JSON", "indented", "behind a line", "before a line")
"""Forms from which JSON is read back as it was."""

FACTS = ("loss.fact_recall.shown", "loss.fact_recall.end", "needed.recall", "needed.recall.result")


def recalls(recording: Trace, form: str, metrics: tuple[str, ...]) -> dict[str, float]:
    """What falls below 1 when every result is shown in a form."""

    def shows(text: str) -> object:
        return FORMS[form](text)

    run = replayer_of(recording).run(compose(form, {"summarizer": shows}))
    assert run.failure is None, run.failure
    found = {name: value(name, recording, run)[0] for name in metrics}
    return {name: share for name, share in found.items() if share is not None and share < 1.0}


SHIPPED = ["traces/building_model/survey.jsonl", "traces/analysis/aborted.jsonl", "traces/terminal/session.json"]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "form"), zip(itertools.cycle(SHIPPED), FORMS, strict=False))
def test_facts_of_shipped_traces(path: str, form: str) -> None:
    (recording, *_) = bench.load([path], ROOT).traces
    assert recalls(recording, form, FACTS) == {}


@pytest.mark.slow
@given(traces(max_turns=4), st.sampled_from(sorted(FORMS)))
def test_facts_of_generated_traces(recording: Trace, form: str) -> None:
    assert recalls(recording, form, FACTS) == {}


@pytest.mark.parametrize("form", WHOLE_VALUES)
def test_leaves_of_shipped_traces(form: str) -> None:
    (recording, *_) = bench.load(SHIPPED[:1], ROOT).traces
    assert recalls(recording, form, ("loss.leaf_recall.shown", "loss.leaf_recall.end")) == {}
