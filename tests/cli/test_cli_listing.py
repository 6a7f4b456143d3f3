"""`bench list`, `bench show` and help: what is there, readable and safe to print."""

from __future__ import annotations

import itertools
import re

import pytest
from repository import bench

from bench import __version__
from bench.metrics import metrics

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("traces", ["native", "messages", "swe"]),
        ("strategies", ["keep_all", "floor", "output_summary", "summarize_old", "extractive", "by_function", "step_v1",
                        "executor"]),
        ("metrics", ["cost.prompt_tokens", "loss.leaf_recall.PLACE", "loss.fact_recall[.KIND].PLACE", "needed.recall", "routing.accuracy"]),
        ("gates", ["limits", "regression"]),
        ("panels", ["ranking", "html", "junit"]),
    ],
)  # fmt: skip
def test_what_is_registered_is_listed(capsys, what, names):
    assert bench("list", what, "--long") == 0
    out = capsys.readouterr().out
    assert all(f"  {name}" in out for name in names)
    if what == "strategies":
        assert "keep_last=10 (" in out
        assert "Source: " in out
        assert "  at after_result" in out
    if what == "metrics":
        assert "tokens, lower is better, sum" in out
        assert "  PLACE: shown, end, stored" in out
    if what == "gates":
        assert "limits  [min=null (float or null), max=null (float or null)]" in out


def test_words_filter_a_list_of_one_line_each(capsys):
    assert bench("list", "strategies", "mask") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  mask_observations" in "\n".join(lines)
    assert all("mask" in line.lower() for line in lines if line.startswith("  "))
    assert len(lines) < 15


def test_a_bare_command_is_help(capsys):
    assert bench() == 0
    assert "Commands:" in capsys.readouterr().out


def test_every_metric_can_be_put_together_from_what_is_listed(capsys):
    assert bench("list", "metrics", "--long") == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split("  ")[1:] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    made = set()
    for name, _, *values in heads:
        named = dict(value.split(": ") for value in values)
        choices = [named[part].split(", ") + [""] * optional for part, optional in _parts(name)]
        family = re.split(r"[.\[]+[A-Z]", name)[0]
        made |= {".".join([family, *filter(None, chosen)]) for chosen in itertools.product(*choices)}
    assert set(metrics()) <= made


def _parts(name):
    """The placeholders of a listed metric, each with whether it may be left out."""
    return [(found[2], found[1] == "[.") for found in re.finditer(r"(\[?\.)([A-Z_]+)\]?", name)]


def test_the_steps_of_a_trace_are_shown_with_their_tokens(capsys):
    assert bench("show", "runs/facts.jsonl") == 0
    out = capsys.readouterr().out
    assert "facts (native): 5 steps" in out
    assert "4711" in out
    assert bench("show", "native:runs") == 0
    assert "shell (native)" in capsys.readouterr().out


def test_help_and_version(capsys):
    assert bench("--version") == 0
    assert __version__ in capsys.readouterr().out
    assert bench("-h") == 0
    out = capsys.readouterr().out
    assert all(f"  {command}" in out for command in ("list", "run", "show"))
    assert bench("run", "--help") == 0
    assert "--allow-inconclusive" in capsys.readouterr().out
