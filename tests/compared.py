"""Comparisons put together by hand, for the tests of reports: numbers chosen to be checked by eye, nothing replayed."""

from __future__ import annotations

from typing import Any

import msgspec

from bench.model import (
    Comparison,
    Decision,
    Delta,
    Failure,
    GateRule,
    Message,
    MetricInfo,
    ModelTurn,
    Note,
    Prompt,
    Record,
    ResultOutcome,
    Row,
    Run,
    Sample,
    Signature,
    Source,
    Splice,
    SystemTurn,
    ToolCall,
    ToolResult,
    Trace,
    Verdict,
)

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m|`**x**](http://evil.example)\n![i](https://evil.example/p.png)"
LOG = "wrote /data/run_7.csv with 4711 rows\nlevel Level_12 checked\n" + "filler line without facts\n" * 3
INFOS = {
    "cost.prompt_tokens": MetricInfo(name="cost.prompt_tokens", unit="tokens", better="lower", aggregate="sum"),
    "cost.cost_usd": MetricInfo(name="cost.cost_usd", unit="usd", better="lower", aggregate="sum"),
    "needed.recall": MetricInfo(name="needed.recall", unit="fraction", better="higher", aggregate="pooled"),
    "loss.fact_recall.end": MetricInfo(
        name="loss.fact_recall.end", unit="fraction", better="higher", aggregate="pooled"
    ),
}
VALUES: dict[str, dict[str, list[float | None]]] = {
    # strategy: metric: one value a case
    "cut": {"cost.prompt_tokens": [600.0, 900.0], "needed.recall": [0.5, 1.0], "loss.fact_recall.end": [0.25, 1.0]},
    "mask": {"cost.prompt_tokens": [700.0, 800.0], "needed.recall": [1.0, 1.0], "loss.fact_recall.end": [0.5, 1.0]},
    "keep_all": {
        "cost.prompt_tokens": [1000.0, 2000.0],
        "needed.recall": [1.0, 1.0],
        "loss.fact_recall.end": [1.0] * 2,
    },
    "floor": {"cost.prompt_tokens": [100.0, 200.0], "needed.recall": [1.0, 1.0], "loss.fact_recall.end": [0.1, 0.1]},
}
TOTALS = {
    "cut": {"cost.prompt_tokens": 1500.0, "needed.recall": 0.75, "loss.fact_recall.end": 0.625},
    "mask": {"cost.prompt_tokens": 1500.0, "needed.recall": 1.0, "loss.fact_recall.end": 0.75},
    "keep_all": {"cost.prompt_tokens": 3000.0, "needed.recall": 1.0, "loss.fact_recall.end": 1.0},
    "floor": {"cost.prompt_tokens": 300.0, "needed.recall": 1.0, "loss.fact_recall.end": 0.1},
}
UNPRICED = "no prices for model 'm-1'"


def comparison(text: str = LOG, name: str = "cut", title: str = "Two strategies by hand") -> Comparison:
    """Two declared strategies and two references on two cases; `cut` loses facts that step 3 needs, and fails a gate.

    `text` is the tool result, `name` what the first strategy and the first case are called after: both may be hostile.
    """
    cases = (f"case {name}", "case two")
    names = {"cut": name, "mask": "mask", "keep_all": "keep_all", "floor": "floor"}
    traces = {case: _trace(case, text) for case in cases}
    runs = {(names[key], case): _run(key, names[key], case, text, case == cases[0]) for key in VALUES for case in cases}
    rows = [
        _row(names[key], metric, case, VALUES[key].get(metric, [None, None])[number])
        for key in VALUES
        for metric in INFOS
        for number, case in enumerate(cases)
    ]
    summary = [_row(names[key], metric, None, TOTALS[key].get(metric)) for key in VALUES for metric in INFOS]
    return Comparison(
        title=title,
        signature=Signature(
            bench_version="0.1.0",
            traces=dict.fromkeys(cases, "ab" * 32),
            strategies={names["cut"]: "cut=summarizer=truncate", "mask": "mask=compactor=mask_observations"},
            encodings=("o200k_base",),
            facts_version="1",
            prices_date="2026-11-01",
            seed=0,
        ),
        strategies=(names["cut"], "mask"),
        references=("keep_all", "floor"),
        cases=cases,
        rows=tuple(rows),
        summary=tuple(summary),
        deltas=_deltas(names["cut"]),
        rules=(GateRule(metric="needed.recall", min=0.95), GateRule(metric="cost.cost_usd", max=1.0)),
        traces=traces,
        runs=runs,
        samples=_samples(names["cut"], cases[0]),
        metrics=INFOS,
        skipped=(("notes.txt", "no reader recognises it"),),
        verdicts=_verdicts(names["cut"]),
    )


def hostile() -> Comparison:
    """The same with markup, control and direction characters in every text that comes from outside."""
    broken = comparison(LOG + HOSTILE, HOSTILE, HOSTILE)
    verdicts = tuple(msgspec.structs.replace(verdict, gate=HOSTILE, sentence=HOSTILE) for verdict in broken.verdicts)
    return msgspec.structs.replace(broken, verdicts=verdicts, skipped=((HOSTILE, HOSTILE),), baseline_problem=HOSTILE)


def unmeasured() -> Comparison:
    """One strategy that raised on its only case: no value, no verdict, no prompt."""
    trace = Trace(id="only", source=Source(format="native"), steps=())
    run = _empty_run("broken", Failure(step=0, slot="summarizer", error="ValueError: no such key"))
    row = Row(
        strategy="broken", metric="cost.prompt_tokens", case="only", value=None, unit="tokens", n=0, reason="raised"
    )
    whole = comparison()
    return Comparison(
        title="Nothing measured",
        signature=msgspec.structs.replace(
            whole.signature, strategies={"broken": "broken=summarizer=x.py:f"}, traces={}
        ),
        strategies=("broken",),
        references=(),
        cases=("only",),
        rows=(row,),
        summary=(msgspec.structs.replace(row, case=None),),
        deltas=(),
        rules=(),
        traces={"only": trace},
        runs={("broken", "only"): run},
        samples={},
        metrics={"cost.prompt_tokens": INFOS["cost.prompt_tokens"]},
    )


def _empty_run(strategy: str, failure: Failure | None = None) -> Run:
    return Run(
        trace_id="only", trace_sha256="", strategy=strategy, spec="", encoding="o200k_base", messages={},
        message_tokens={}, failure=failure,
    )  # fmt: skip


def _trace(case: str, text: str) -> Trace:
    call = ToolCall(id="c1", name="run", arguments={"script": "export.py"})
    return Trace(
        id=case,
        source=Source(format="native", path="x.jsonl", sha256="ab" * 32),
        steps=(
            SystemTurn(index=0, content="Be brief."),
            ModelTurn(index=1, tool_calls=(call,), model="m-1"),
            ToolResult(index=2, call_id="c1", function="run", seen=text),
            ModelTurn(index=3, content="Level_12 and /data/run_7.csv are done.", model="m-1"),
        ),
    )


def _run(key: str, strategy: str, case: str, text: str, cuts: bool) -> Run:
    shown = {"cut": text[:20], "mask": "[left out]"}.get(key, text) if cuts else text
    messages = {
        "a": Message(role="system", text="Be brief.", kind="system", step=0),
        "b": Message(role="assistant", text="", kind="model", step=1),
        "c": Message(role="tool", text=shown, kind="result", step=2),
    }
    prompts = (
        Prompt(step=1, thread="main", splices=(Splice(at=0, removed=0, added=("a",)),), tokens=90, window_tokens=1000),
        Prompt(
            step=3, thread="main", splices=(Splice(at=1, removed=0, added=("b", "c")),), tokens=80 if cuts else 300,
            window_tokens=1000, compacted=cuts,
        ),
    )  # fmt: skip
    record = Record(step=2, call_id="c1", function="run", success=True, value=shown)
    found = {"extraction": {"rows": 47}, "extraction_untruncated": {"rows": 4711}} if key == "cut" and cuts else {}
    decisions: tuple[Decision, ...] = ()
    if key in ("cut", "mask"):
        taken = "abort" if key == "cut" and cuts else "continue"
        decisions = (
            Decision(step=2, router="step_evaluator", at="after_evaluation", route=taken, untruncated="continue"),
        )
    return Run(
        trace_id=case,
        trace_sha256="ab" * 32,
        strategy=strategy,
        spec=key,
        encoding="o200k_base",
        encoding_assumed=True,
        model="m-1",
        messages=messages,
        message_tokens={"a": 6, "b": 4, "c": 9},
        prompts=prompts,
        results=(ResultOutcome(step=2, call_id="c1", shown="c", record=record, stored=shown, **found),),
        decisions=decisions,
        notes=(Note(step=2, slot="summarizer", text="table data is not JSON"),) if key == "cut" else (),
    )


def _row(strategy: str, metric: str, case: str | None, value: float | None) -> Row:
    n = 4.0 if case else 8.0
    if value is None:
        return Row(
            strategy=strategy, metric=metric, case=case, value=None, unit=INFOS[metric].unit, n=0, reason=UNPRICED
        )
    return Row(strategy=strategy, metric=metric, case=case, value=value, unit=INFOS[metric].unit, n=n)


def _deltas(cut: str) -> tuple[Delta, ...]:
    common: dict[str, Any] = {"reference": "keep_all", "n": 2}
    tokens = {"metric": "cost.prompt_tokens", "delta": -1500.0, "relative": -0.5, "low": -2200.0, "high": -700.0,
              "relative_low": -0.55, "relative_high": -0.4}  # fmt: skip
    needed = {"metric": "needed.recall", "delta": -0.25, "relative": -0.25, "low": -0.5, "high": 0.0}
    return (
        Delta(strategy=cut, **tokens, better=True, **common),
        Delta(strategy="mask", **tokens, better=True, **common),
        Delta(strategy=cut, **needed, better=None, reason="the interval holds zero", **common),
    )


def _samples(cut: str, case: str) -> dict[tuple[str, str, str], tuple[Sample, ...]]:
    missed = Sample(numerator=0.0, denominator=1.0, step=3, detail={"fact": "Level_12", "source": 2, "age": 0})
    lost = Sample(numerator=1.0, denominator=4.0, step=2, call_id="c1", detail={"lost": ["4711", "Level_12"]})
    return {
        (cut, "needed.recall", case): (missed,),
        (cut, "needed.dangling_steps", case): (Sample(numerator=1.0, step=3),),
        (cut, "loss.fact_recall.end", case): (lost,),
        (cut, "findings.agreement", case): (Sample(numerator=0.0, denominator=1.0, step=2),),
        ("mask", "findings.agreement", case): (Sample(numerator=1.0, denominator=1.0, step=2),),
        ("mask", "loss.fact_recall.end", case): (msgspec.structs.replace(lost, numerator=2.0),),
    }


def _verdicts(cut: str) -> tuple[Verdict, ...]:
    recall, cost = "needed.recall ≥ 0.95", "cost.cost_usd ≤ 1"
    return (
        Verdict(gate=recall, metric="needed.recall", strategy=cut, outcome="fail", value=0.75, limit=0.95,
                sentence=f"{cut}: needed.recall is 0.75, the limit is ≥ 0.95"),
        Verdict(gate=recall, metric="needed.recall", strategy="mask", outcome="pass", value=1.0, limit=0.95,
                sentence="mask: needed.recall is 1, within ≥ 0.95"),
        Verdict(gate=cost, metric="cost.cost_usd", strategy=cut, outcome="inconclusive", sentence=UNPRICED),
        Verdict(gate=cost, metric="cost.cost_usd", strategy="mask", outcome="skipped", sentence="no baseline yet"),
    )  # fmt: skip
