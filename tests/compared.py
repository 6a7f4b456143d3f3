"""Comparisons put together by hand, for the tests of reports: numbers chosen to be checked by eye, nothing replayed."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from bench.evidence.case import prompt_data
from bench.evidence.shown import calls_shown, notes_shown, routes_shown, window_shown
from bench.evidence.side_by_side import excerpt

from bench.model import (
    Against,
    Asked,
    Case,
    Comparison,
    Decision,
    Delta,
    Failure,
    FindingChange,
    GateRule,
    Judgement,
    Kept,
    Loss,
    Message,
    MetricInfo,
    ModelTurn,
    NeededAt,
    Note,
    Prompt,
    RecordedCut,
    RecordingShown,
    ResultShown,
    Row,
    Rows,
    Run,
    RunShown,
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
    "cost.with_refetches_tokens": MetricInfo(
        name="cost.with_refetches_tokens", unit="tokens", better="lower", aggregate="sum"
    ),
    "cost.with_refetches_usd": MetricInfo(name="cost.with_refetches_usd", unit="usd", better="lower", aggregate="sum"),
    "needed.recall": MetricInfo(name="needed.recall", unit="fraction", better="higher", aggregate="pooled"),
    "needed.fault_rate": MetricInfo(name="needed.fault_rate", unit="fraction", better="lower", aggregate="pooled"),
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
for _scored in (*VALUES.values(), *TOTALS.values()):  # nothing has to be fetched again
    _scored["cost.with_refetches_tokens"] = _scored["cost.prompt_tokens"]
for _name in VALUES:
    VALUES[_name]["needed.fault_rate"] = [0.5, 0.0] if _name == "cut" else [0.0, 0.0]
    TOTALS[_name]["needed.fault_rate"] = 0.25 if _name == "cut" else 0.0
UNPRICED = "no prices for model 'm-1'"
SHA256 = "ab" * 32
NEEDED = (NeededAt(turn=3, fact="Level_12"),)
TABLE = Rows(("Name", "Area"), (("Wall_1", "4.5"), ("Wall_2", "9")), frozenset(), "2 rows; 2 columns.")
HALF = Rows(TABLE.columns, TABLE.rows, frozenset({(0, 1), (1, 0), (1, 1)}), "Something left in 1 of 2 rows.")


def comparison(text: str = LOG, name: str = "cut", title: str = "Two strategies by hand") -> Comparison:
    """Two declared strategies and two references on two cases; `cut` loses facts that step 3 needs, and fails a gate.

    `text` is the tool result, `name` what the first strategy and the first case are called after: both may be hostile.
    """
    ids = (f"case {name}", "case two")
    names = {"cut": name, "mask": "mask", "keep_all": "keep_all", "floor": "floor"}
    cases = tuple(_case(case, names, text, number) for number, case in enumerate(ids))
    summary = [_row(names[key], metric, None, TOTALS[key].get(metric)) for key in VALUES for metric in INFOS]
    return Comparison(
        title=title,
        signature=Signature(
            bench_version="0.1.0",
            traces=dict.fromkeys(ids, SHA256),
            strategies={names["cut"]: "cut=summarizer=truncate", "mask": "mask=compactor=mask_observations"},
            encodings=("o200k_base",),
            facts_version="1",
            prices_date="2026-11-01",
            seed=0,
        ),
        strategies=(names["cut"], "mask"),
        references=("keep_all", "floor"),
        cases=cases,
        rows=tuple(
            _row(names[key], metric, case, VALUES[key].get(metric, [None, None])[number])
            for key in VALUES
            for metric in INFOS
            for number, case in enumerate(ids)
        ),
        summary=tuple(summary),
        deltas=_deltas(names["cut"]),
        rules=(
            GateRule(metric="needed.recall", gate="limits", settings={"min": 0.95}, number=1),
            GateRule(metric="cost.cost_usd", gate="limits", settings={"max": 1.0}, number=2),
        ),
        metrics=INFOS,
        skipped=(("notes.txt", "no reader recognises it"),),
        verdicts=_verdicts(names["cut"], ids[0]),
    )


def hostile() -> Comparison:
    """The same with markup, control and direction characters in every text that comes from outside."""
    broken = comparison(LOG + HOSTILE, HOSTILE, HOSTILE)
    verdicts = tuple(
        msgspec.structs.replace(verdict, gate=HOSTILE, sentence=HOSTILE, losses=tuple(map(_worse, verdict.losses)))
        for verdict in broken.verdicts
    )
    return msgspec.structs.replace(
        broken,
        cases=tuple(map(_hostile_case, broken.cases)),
        verdicts=verdicts,
        skipped=((HOSTILE, HOSTILE),),
        against=Against(stale={"needed.recall": HOSTILE}),
    )


def unmeasured() -> Comparison:
    """One strategy that raised on its only case: no value, no verdict, no prompt."""
    failure = Failure(step=0, slot="summarizer", error="ValueError: no such key")
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
        cases=(
            Case(
                id="only",
                recording=RecordingShown(sha256=SHA256),
                rows=(row,),
                runs={"broken": RunShown(failure=failure, encoding="o200k_base")},
            ),
        ),
        rows=(row,),
        summary=(msgspec.structs.replace(row, case=None),),
        metrics={"cost.prompt_tokens": INFOS["cost.prompt_tokens"]},
    )


def recording(text: str = LOG, case: str = "case two") -> Trace:
    """What the cases were recorded as."""
    call = ToolCall(id="c1", name="run", arguments={"script": "export.py"})
    return Trace(
        id=case,
        source=Source(format="native", path="x.jsonl", sha256=SHA256),
        steps=(
            SystemTurn(index=0, content="Be brief."),
            ModelTurn(index=1, tool_calls=(call,), model="m-1"),
            ToolResult(index=2, call_id="c1", function="run", seen=text),
            ModelTurn(index=3, content="Level_12 and /data/run_7.csv are done.", model="m-1"),
        ),
    )


# ---------------------------------------------------------------- a case


def _case(case: str, names: dict[str, str], text: str, number: int) -> Case:
    """One case; something is lost in the first one alone."""
    first = number == 0
    runs = {names[key]: _run(key, names[key], case, text, first) for key in VALUES}
    missed = {names["cut"]: {3: ("Level_12",)}} if first else {}
    calls = {name: calls_shown(run, missed.get(name)) for name, run in runs.items()}
    return Case(
        id=case,
        recording=RecordingShown(sha256=SHA256, format="native", calls=2, results=1, model="m-1"),
        rows=tuple(
            _row(names[key], metric, case, VALUES[key].get(metric, [None, None])[number])
            for key in VALUES
            for metric in INFOS
        ),
        runs={
            name: RunShown(
                encoding="o200k_base",
                encoding_assumed=True,
                window=window_shown(run, calls[name]),
                routes=routes_shown(run.decisions),
                notes=notes_shown(run),
                finding_changes=_changes(name == names["cut"] and first),
                findings_differing=int(name == names["cut"] and first),
                findings_judged=int(first and name in (names["cut"], "mask")),
            )
            for name, run in runs.items()
        },
        results=(_result(text, names["cut"]),) if first else (),
        results_damaged=int(first),
        results_needed=int(first),
        prompts=prompt_data({name: (run, calls[name]) for name, run in runs.items()}),
    )


def _changes(differs: bool) -> tuple[FindingChange, ...]:
    change = FindingChange(step=2, path="extraction.rows", kind="values_changed", before="4711", after="47")
    return (change,) if differs else ()


def _result(text: str, cut: str) -> ResultShown:
    """The one result, of which `cut` lost what step 3 needed and `mask` everything."""
    lost = ("Level_12", "/data/run_7.csv", "4711")
    return ResultShown(
        step=2,
        function="run",
        characters=len(text),
        untruncated=excerpt(text, lost, ("Level_12",), 6000),
        kept=(
            Kept(strategy=cut, where="in the prompt of step 3, which needed it", text=excerpt(text[:20], (), (), 99),
                 lost=lost, lost_total=3, needed_at=NEEDED),
            Kept(strategy="mask", where="in the last prompt", text=excerpt("[left out]", (), (), 99), lost=lost,
                 lost_total=3, retrievable=("4711",), said=("5 of 5 lines gone.",)),
        ),
        missed=1,
        lost=3.0,
    )  # fmt: skip


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
    decisions: tuple[Decision, ...] = ()
    if key in ("cut", "mask"):
        taken = "abort" if key == "cut" and cuts else "continue"
        decisions = (
            Decision(step=2, router="step_evaluator", at="after_evaluation", route=taken, untruncated="continue"),
        )
    return Run(
        trace_id=case,
        trace_sha256=SHA256,
        strategy=strategy,
        spec=key,
        encoding="o200k_base",
        encoding_assumed=True,
        model="m-1",
        messages=messages,
        message_tokens={"a": 6, "b": 4, "c": 9},
        prompts=prompts,
        decisions=decisions,
        notes=(Note(step=2, slot="summarizer", text="table data is not JSON"),) if key == "cut" else (),
    )


def _hostile_case(case: Case) -> Case:
    """A case in which everything that a trace, a strategy or a scenario said is hostile."""
    judgement = Judgement(step=2, function=HOSTILE, outcome=HOSTILE, result_type=HOSTILE, conclusions=HOSTILE)
    asked = Asked(question=HOSTILE, expected=HOSTILE, where=HOSTILE, got=HOSTILE)
    cut = RecordedCut(step=2, function=HOSTILE, untruncated_chars=9, seen_chars=4, facts=2, lost=1, said=((3, (HOSTILE,)),),
                      said_total=1)  # fmt: skip
    change = FindingChange(step=2, path=HOSTILE, kind=HOSTILE, before=HOSTILE, after=HOSTILE)
    rows = Rows((HOSTILE, "b"), ((HOSTILE, HOSTILE),), frozenset({(0, 1)}), HOSTILE)
    return msgspec.structs.replace(
        case,
        recording=msgspec.structs.replace(case.recording, left_out={HOSTILE: 2}, cuts=(cut,), cuts_total=1),
        runs={
            name: msgspec.structs.replace(
                run,
                notes=(Note(slot=HOSTILE, text=HOSTILE, count=1, step=2),),
                judgements=(judgement,),
                judged=1,
                finding_changes=(change,),
                findings_differing=1,
                findings_judged=1,
                probes=(Sample(numerator=0.0, denominator=1.0, step=2, detail=asked),),
            )
            for name, run in case.runs.items()
        },
        results=tuple(
            msgspec.structs.replace(
                result,
                function=HOSTILE,
                rows=rows,
                kept=tuple(
                    msgspec.structs.replace(kept, where=HOSTILE, lost=(HOSTILE,), said=(HOSTILE,), rows=rows)
                    for kept in result.kept
                ),
            )
            for result in case.results
        ),
    )


def _worse(loss: Loss) -> Loss:
    needed = (NeededAt(turn=3, fact=HOSTILE),)
    return msgspec.structs.replace(loss, function=HOSTILE, facts=(HOSTILE,), needed_at=needed)


# ---------------------------------------------------------------- rows, differences, verdicts


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
        Delta(strategy=cut, **{**tokens, "metric": "cost.with_refetches_tokens"}, better=True, **common),
        Delta(strategy="mask", **{**tokens, "metric": "cost.with_refetches_tokens"}, better=True, **common),
        Delta(strategy=cut, **needed, better=None, reason="the interval holds zero", **common),
    )


def _verdicts(cut: str, case: str) -> tuple[Verdict, ...]:
    recall, cost = "needed.recall ≥ 0.95", "cost.cost_usd ≤ 1"
    dropped = Loss(step=2, function="run", facts=("Level_12",), count=1, needed_at=NEEDED)
    return (
        Verdict(gate=recall, metric="needed.recall", strategy=cut, outcome="fail", case=case, value=0.75, limit=0.95,
                sentence=f"{cut}: needed.recall is 0.75, the limit is ≥ 0.95", losses=(dropped,), losses_total=2),
        Verdict(gate=recall, metric="needed.recall", strategy="mask", outcome="pass", value=1.0, limit=0.95,
                sentence="mask: needed.recall is 1, within ≥ 0.95"),
        Verdict(gate=cost, metric="cost.cost_usd", strategy=cut, outcome="inconclusive", sentence=UNPRICED),
        Verdict(gate=cost, metric="cost.cost_usd", strategy="mask", outcome="skipped", sentence="no baseline yet"),
    )  # fmt: skip


def untimed(comparison: Comparison) -> Comparison:
    """A comparison without how long it took: what is the same twice."""
    cases = tuple(
        msgspec.structs.replace(
            case, runs={name: msgspec.structs.replace(run, seconds=0.0) for name, run in case.runs.items()}
        )
        for case in comparison.cases
    )
    return msgspec.structs.replace(comparison, cases=cases)


def untimed_xml(text: bytes) -> bytes:
    """A JUnit report without its times."""
    return re.sub(rb' time="[0-9.]+"', b"", text)
