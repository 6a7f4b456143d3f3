"""Facts by kind: what counts as which, a case by hand, and agreement with the slow reference."""

from __future__ import annotations

import measured
import pytest
from generated import SHORTENING, traces
from handmade import opened, result, run_of
from hypothesis import given, strategies as st
from reference import lost

from bench.model import Run, Trace
from bench.text.fact_kinds import exit_codes, kinds_of, measures_of

KINDS = ("number", "name", "proper", "path", "url", "quoted", "date", "error", "measure")
TEXT = """<returncode>1</returncode>
<output>
run_7 took 36.5 s and 120ms, 950 % of 471 rows
see https://example.org/go/1 and /data/run.csv "wall type"
ValueError: no rows left
</output>"""


def value(kind: str, recording: Trace, run: Run) -> tuple[float | None, float]:
    return measured.value(f"loss.fact_recall.{kind}.end", recording, run)


def test_the_kinds_of_a_result() -> None:
    assert kinds_of(TEXT) == {
        "name": ("run_7", "120ms", "ValueError"),
        "number": ("36.5", "950", "471"),
        "url": ("https://example.org/go/1",),
        "path": ("/data/run.csv",),
        "quoted": ("wall type",),
        "error": ("no rows left",),
        "measure": ("36.5", "120ms", "950"),
    }


def test_a_unit_is_a_unit_only_where_it_ends() -> None:
    assert measures_of("471 months, 472 mm2, 473 m, 474 minutes, 475 miles") == ("472", "473", "474")
    assert measures_of('{"width": "12.5 mm", "height": 400}') == ("12.5",)


def test_exit_codes_need_words() -> None:
    assert exit_codes('{"returncode":0,"output":"exit status 2"}') == (0, 2)
    assert exit_codes("0\nexit\n1") == ()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # the first 100 characters: envelope, names but the error's, all numbers; "…/go/1" is cut before its end
        ("name", (2 / 3, 3)),
        ("number", (1.0, 3)),
        ("url", (0.0, 1)),
        ("path", (0.0, 1)),
        ("quoted", (0.0, 1)),
        ("error", (0.0, 1)),
        ("measure", (1.0, 3)),
        ("exit_code", (1.0, 1)),
    ],
)
def test_by_hand(kind: str, expected: tuple[float, float]) -> None:
    recording = opened([result(TEXT, index=2)])
    assert value(kind, recording, run_of(recording, "cut=summarizer=truncate:limit=100")) == expected
    assert value(kind, recording, run_of(recording, "keep_all")) == (1.0, expected[1])
    assert value(kind, recording, run_of(recording, "drop_all")) == (0.0, expected[1])


def test_an_exit_code_must_be_stated_where_the_result_is_shown() -> None:
    recording = opened([result("<returncode>0</returncode>", index=2), result("exit code 0", index=3)])
    masked = run_of(recording, "mask=compactor=mask_observations:keep_last=1")
    assert value("exit_code", recording, masked) == (0.5, 2)


def test_no_such_fact_is_not_measured() -> None:
    recording = opened([result("nothing to see", index=2)])
    for kind in (*KINDS, "exit_code"):
        assert value(kind, recording, run_of(recording, "keep_all")) == (None, 0)


@given(trace=traces(extras=True), strategy=st.sampled_from(SHORTENING))
def test_as_the_slow_reference(trace: Trace, strategy: str) -> None:
    run = run_of(trace, strategy)
    for kind in KINDS:
        kept, total = lost.of_kind(trace, run, kind)
        assert value(kind, trace, run) == ((kept / total if total else None), total), kind
    kept, total = lost.exit_codes(trace, run)
    assert value("exit_code", trace, run) == ((kept / total if total else None), total)
