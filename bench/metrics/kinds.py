"""Facts kept to the end, by kind: a strategy that keeps the numbers and drops the paths is told from one that does the reverse."""

from __future__ import annotations

from ..evidence.alike import alike
from ..evidence.presence import LISTED
from ..evidence.prompt_scan import Standing, prompt_scan
from ..model import Run, Sample, Trace
from ..text.fact_kinds import exit_codes_of_results, kinds_of_results, states
from . import metric, once, with_rest


@metric("loss.fact_recall.number.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def number(trace: Trace, run: Run) -> list[Sample]:
    """Share of the numbers in tool results that the last prompt of their thread holds, in any of its messages.

    0–1; the part of `loss.fact_recall.end` that is of this kind. One sample a result that lost one, with up to 20 `lost` in its detail,
    and one for all others. No such fact in any result: no samples.

    Source: issue 4 "Text"; design §4 "fact"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in number(*example())]
    [(1.0, 1.0)]
    """
    return _kept(trace, run, "number")


@metric("loss.fact_recall.name.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def name(trace: Trace, run: Run) -> list[Sample]:
    """Share of the names in tool results that the last prompt of their thread holds, in any of its messages.

    0–1. Samples as in `loss.fact_recall.number.end`.

    Source: issue 4 "Text"; design §4 "fact"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in name(*example())]
    []
    """
    return _kept(trace, run, "name")


@metric("loss.fact_recall.path.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def path(trace: Trace, run: Run) -> list[Sample]:
    """Share of the paths in tool results that the last prompt of their thread holds, in any of its messages.

    0–1. Samples as in `loss.fact_recall.number.end`.

    Source: issue 4 "Text"; design §4 "fact"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in path(*example())]
    [(0.0, 1.0)]
    """
    return _kept(trace, run, "path")


@metric("loss.fact_recall.url.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def url(trace: Trace, run: Run) -> list[Sample]:
    """Share of the addresses in tool results that the last prompt of their thread holds, in any of its messages.

    0–1. Samples as in `loss.fact_recall.number.end`.

    Source: issue 4 "Text"; design §4 "fact"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in url(*example())]
    []
    """
    return _kept(trace, run, "url")


@metric("loss.fact_recall.quoted.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def quoted(trace: Trace, run: Run) -> list[Sample]:
    """Share of the quoted strings in tool results that the last prompt of their thread holds, in any of its messages.

    0–1. Samples as in `loss.fact_recall.number.end`.

    Source: issue 4 "Text"; design §4 "fact"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in quoted(*example())]
    []
    """
    return _kept(trace, run, "quoted")


@metric("loss.fact_recall.error.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def error(trace: Trace, run: Run) -> list[Sample]:
    """Share of the messages of error lines in tool results that the last prompt of their thread holds, in any of its messages.

    0–1. Samples as in `loss.fact_recall.number.end`.

    Source: issue 4 "Text"; design §4 "fact"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator) for sample in error(*example())]
    []
    """
    return _kept(trace, run, "error")


@metric("loss.fact_recall.measure.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def measure(trace: Trace, run: Run) -> list[Sample]:
    """Share of the numbers with a unit in tool results that the last prompt of their thread holds, in any of its messages.

    0–1. A number fact that a unit follows somewhere in the result (`36.5 mm`, `950 %`), or a name made of both (`120ms`); each also counts
    among numbers or names. The number is looked for, not its unit: an upper bound. Samples as in `loss.fact_recall.number.end`.

    Source: issue 4 "Text"

    >>> from bench.metrics import example
    >>> measure(*example())
    []
    """
    return _kept(trace, run, "measure")


@metric("loss.fact_recall.exit_code.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def exit_code(trace: Trace, run: Run) -> list[Sample]:
    """Share of the results with an exit code whose code the last prompt of their thread still states.

    0–1. The code is the first that the untruncated result states (`<returncode>`, `"exit_code":`, `exit status 1` and the like). It must be
    stated in such words in a message that shows the result: a bare 0 elsewhere says nothing. One sample a result that lost its code, one
    for all others. No exit codes: no samples.

    Source: issue 4 "Text"

    >>> from bench.metrics import example
    >>> exit_code(*example())
    []
    """
    codes = exit_codes_of_results(trace)
    samples = []
    total = 0
    for standing in prompt_scan(trace, run).standings["end"]:
        code = codes.get(standing.result.index)
        if code is None:
            continue
        total += 1
        if not standing.whole and not states(standing.texts, code):
            step, call_id = standing.result.index, standing.result.call_id
            detail = {"lost": [str(code)]}
            samples.append(Sample(numerator=0.0, denominator=1.0, step=step, call_id=call_id, detail=detail))
    return with_rest(samples, float(total - len(samples)), float(total))


def _kept(trace: Trace, run: Run, kind: str) -> list[Sample]:
    kinds = kinds_of_results(trace)
    samples = []
    kept = total = 0
    for standing, lost_of in once(alike(trace, run), "_lost_by_kind", lambda: _lost_by_kind(trace, run)):
        facts, lost = kinds[standing.result.index].get(kind, ()), lost_of.get(kind, ())
        kept, total = kept + len(facts) - len(lost), total + len(facts)
        if lost:
            samples.append(
                Sample(
                    numerator=float(len(facts) - len(lost)),
                    denominator=float(len(facts)),
                    step=standing.result.index,
                    call_id=standing.result.call_id,
                    detail={"lost": lost[:LISTED]},
                )
            )
    return with_rest(samples, float(kept), float(total))


def _lost_by_kind(trace: Trace, run: Run) -> list[tuple[Standing, dict[str, list[str]]]]:
    """Every result as it stands in the last prompt, with what is gone of it by kind."""
    kinds = kinds_of_results(trace)
    found = []
    for standing in prompt_scan(trace, run).standings["end"]:
        gone = set(standing.gone)
        of_kinds = kinds[standing.result.index].items() if gone else ()
        found.append((standing, {kind: [fact for fact in facts if fact in gone] for kind, facts in of_kinds}))
    return found
