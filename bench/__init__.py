"""A bench that settles arguments about agents' memory: recorded runs through alternative strategies, measured and gated.

The verbs, in the order of the flow. Importing this package costs nothing: each verb imports what it needs when it is called.

>>> from bench import compare, load, check
>>> loaded = load(["native:traces/building_model/*.jsonl"])            # doctest: +SKIP
>>> result = compare(loaded.traces, ["keep_all", "mine=store=truncate:limit=80"])  # doctest: +SKIP
>>> check(result)                                                       # doctest: +SKIP
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Baseline, Comparison, GateRule, Run, Sample, Trace, Verdict
    from .scenario import Scenario
    from .strategies import Strategy
    from .traces import Loaded

__version__ = "0.1.0"
__all__ = ["check", "compare", "load", "render", "replay", "run_scenario", "score"]

REFERENCES = ("keep_all", "recorded", "drop_all", "clairvoyant", "floor")
"""The reference strategies that every comparison holds beside the declared ones, as brackets."""


def load(paths: Sequence[str], base: Path | None = None) -> Loaded:
    """The traces of some paths (`format:path`, or a path whose format is detected) and what was skipped. Errors: TraceError."""
    from .traces import load as read

    return read(paths, base or Path())


def replay(trace: Trace, strategy: Strategy | str) -> Run:
    """One trace through one strategy (a Strategy, or its spec string). A strategy that raises gives a Run with a `failure`."""
    from .replayer.loop import replay as run

    return run(trace, _strategy(strategy))


def score(trace: Trace, run: Run) -> dict[str, tuple[Sample, ...]]:
    """Every registered metric of one run, as samples by metric name; an old Run is scored without replaying it."""
    from .plugins.registry import entries

    if run.failure is not None:
        return dict.fromkeys(entries("metric"), ())
    return {name: tuple(entry.target(trace, run)) for name, entry in entries("metric").items()}


def compare(
    traces: Iterable[Trace],
    strategies: Sequence[Strategy | str],
    *,
    title: str = "",
    rules: Sequence[GateRule] = (),
    seed: int = 0,
    skipped: Sequence[tuple[str, str]] = (),
    baseline: Baseline | None = None,
    baseline_problem: str | None = None,
    base: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Replay and score every trace under every strategy, the references added, and pair the results by case.

    `progress` is called with (done, total). Raises SpecError for two strategies of one name, BenchError for no traces at all.
    """
    from .comparison.pairs import deltas
    from .comparison.rows import all_rows
    from .errors import BenchError, SpecError
    from .evidence.regret import RECALL, paired_samples
    from .metrics import info, measured
    from .model import Comparison

    by_case: dict[str, Trace] = {}
    for trace in traces:
        if by_case.setdefault(trace.id, trace) is not trace:
            raise BenchError(f"two traces are called {trace.id!r} — give each its own id")
    if not by_case:
        raise BenchError("no traces to replay — name at least one")
    declared = [_strategy(item, base) for item in strategies]
    names = [item.name for item in declared]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"two strategies are called {name!r} — give each its own name")
    for item in declared:
        if item.name in REFERENCES and item != _strategy(item.name):
            raise SpecError(f"strategy {item.name!r}: that name belongs to a reference strategy — choose another")
    everyone = declared + [_strategy(name) for name in REFERENCES if name not in names]
    runs, samples = {}, {}
    done, total = 0, len(by_case) * len(everyone)
    for case, trace in by_case.items():
        for strategy in everyone:
            runs[strategy.name, case] = run = replay(trace, strategy)
            for metric, found in score(trace, run).items():
                samples[strategy.name, metric, case] = found
            done += 1
            if progress:
                progress(done, total)
        own = {item.name: runs[item.name, case] for item in everyone}
        recalls = {name: samples[name, RECALL, case] for name in own}
        for (name, metric), found in paired_samples(trace, own, recalls, functools.partial(replay, trace)).items():
            samples[name, metric, case] = found
    infos = {name: info(entry) for name, entry in measured().items()}
    order, cases = [item.name for item in everyone], sorted(by_case)
    rows, summary = all_rows(tuple(infos.values()), order, cases, runs, samples)
    return Comparison(
        title=title,
        signature=_signature(by_case, everyone, runs, seed),
        strategies=tuple(names),
        references=tuple(name for name in REFERENCES if name not in names),
        cases=tuple(cases),
        rows=rows,
        summary=summary,
        deltas=deltas(infos, rows, order, "keep_all", seed),
        rules=tuple(rules),
        traces=by_case,
        runs=runs,
        samples=samples,
        metrics=infos,
        skipped=tuple(skipped),
        baseline=baseline,
        baseline_problem=baseline_problem,
    )


def check(comparison: Comparison) -> tuple[Verdict, ...]:
    """What the gates of a comparison decide, one verdict a gate and strategy, in the order declared."""
    from .gates import check as judge

    return judge(comparison)


def render(comparisons: Comparison | Sequence[Comparison], path: Path | str) -> Path:
    """Write the report of one or more comparisons; the file's ending decides the format. Gives the path written."""
    from .model import Comparison as One
    from .reports import render as write

    several = [comparisons] if isinstance(comparisons, One) else list(comparisons)
    return write(several, Path(path))


def run_scenario(
    scenario: Scenario | Path | str,
    progress: Callable[[int, int], None] | None = None,
    *,
    against: str | None = None,
    accepting: bool = False,
) -> Comparison:
    """A scenario from traces to verdicts: load, replay, score, compare with its baseline, check.

    `against` names a git revision: the strategies' files as they were there are replayed too, and are the baseline. `accepting` says that
    the baseline is about to be written anew, so that one that cannot be read is taken for none.
    """
    import msgspec

    from .comparison.budgets import at_budgets, rules_at_budgets
    from .errors import ScenarioError, nearest
    from .evidence.probes import asked
    from .gates import require_known
    from .scenario import Scenario, read_scenario
    from .strategies.earlier import as_baseline, strategies_at

    plan = scenario if isinstance(scenario, Scenario) else read_scenario(Path(scenario))
    strategies = [_declared(name, slots, plan.base) for name, slots in plan.strategies.items()]
    require_known(plan.gates, [item.name for item in strategies] + list(REFERENCES), str(plan.path or plan.title))
    rules = rules_at_budgets(plan.gates, strategies, plan.budgets)
    strategies = list(at_budgets(strategies, plan.budgets, plan.base))
    loaded = load(plan.traces, plan.base)
    for case in plan.labels:
        if case not in (known := [trace.id for trace in loaded.traces]):
            raise ScenarioError(f"{plan.path or plan.title}: labels for unknown case {case!r}{nearest(case, known)}")
    questions = asked(plan.probes, loaded.traces, str(plan.path or plan.title))
    traces = [_labelled(trace, plan.labels.get(trace.id), questions.get(trace.id)) for trace in loaded.traces]

    def run(everyone: Sequence[Strategy], baseline: Baseline | None = None) -> Comparison:
        return compare(traces, everyone, title=plan.title, rules=rules, seed=plan.seed, skipped=loaded.skipped,
                       baseline=baseline, progress=progress)  # fmt: skip

    if against is not None:
        with strategies_at(against, strategies, plan.base) as earlier:
            compared = as_baseline(run([*strategies, *earlier.strategies.values()]), earlier)
    else:
        compared = _with_problem(run(strategies, _baseline(plan, accepting)))
    compared = msgspec.structs.replace(compared, budgets=plan.budgets)
    return msgspec.structs.replace(compared, verdicts=check(compared))


def _baseline(plan: Scenario, accepting: bool) -> Baseline | None:
    from .errors import ResultsError
    from .files.results import read_baseline

    try:
        return read_baseline(plan.baseline_path) if plan.baseline_path else None
    except ResultsError:
        if accepting:
            return None
        raise


def _with_problem(compared: Comparison) -> Comparison:
    """The comparison with the reason why its baseline does not compare with it, where it does not."""
    import msgspec

    from .comparison.pairs import require_comparable
    from .errors import ResultsError

    if compared.baseline is not None:
        try:
            priced = any(compared.metrics[rule.metric].unit == "usd" for rule in compared.rules)
            require_comparable(compared.signature, compared.baseline.signature, priced=priced)
        except ResultsError as error:
            return msgspec.structs.replace(compared, baseline_problem=str(error))
    return compared


def _strategy(item: Strategy | str, base: Path | None = None) -> Strategy:
    from .strategies import parse_strategy

    return parse_strategy(item, base) if isinstance(item, str) else item


def _declared(name: str, slots: Mapping[str, Any] | str, base: Path) -> Strategy:
    """A strategy of a scenario: a table of slots, the empty table of a reference, or the spec string of the command line."""
    from .strategies import compose

    if isinstance(slots, str):
        return _strategy(slots, base)
    return _strategy(name) if not slots and name in REFERENCES else compose(name, slots, base)


def _labelled(trace: Trace, labels: Mapping[str, Any] | None, probes: Sequence[Mapping[str, Any]] | None) -> Trace:
    import msgspec

    from .evidence.probes import LABEL

    added = {**(labels or {}), **({LABEL: probes} if probes else {})}
    return msgspec.structs.replace(trace, labels={**trace.labels, **added}) if added else trace


def _signature(
    traces: Mapping[str, Trace], strategies: Sequence[Strategy], runs: Mapping[tuple[str, str], Run], seed: int
) -> Any:
    from .model import Signature
    from .text.facts import FACTS_VERSION
    from .tokens.prices import prices_date

    return Signature(
        bench_version=__version__,
        traces={case: traces[case].sha256 for case in sorted(traces)},
        strategies={item.name: str(item) for item in strategies},
        encodings=tuple(sorted({run.encoding for run in runs.values()})),
        facts_version=FACTS_VERSION,
        prices_date=prices_date(),
        seed=seed,
        code={spec: sha for item in strategies for spec, sha in item.code.items()},
    )
