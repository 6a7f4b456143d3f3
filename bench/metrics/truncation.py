"""Notices: results cut without a word, and notices where nothing was cut."""

from __future__ import annotations

from ..evidence.of_run import RunEvidence
from ..evidence.presence import HeldLeaves
from ..evidence.tiers import ResultHeld
from ..model import Sample, Told, ToolResult, lines_of
from ..text.notices import marker
from ..text.texts import Texts
from . import example as example, metric, sample

_PLACES = ("shown", "end")


@metric("loss.silent_truncation", unit="results", better="lower", aggregate="sum", version=2)
def silent_truncation(evidence: RunEvidence) -> list[Sample]:
    """Results that lost facts while nothing shown says so, in the first prompt after them or in the last one of their thread.

    A result lost facts where a fact of it is in no message of the prompt, or a leaf of it in none that can be read back. Something says so
    where the messages that show it hold a notice: a word for leaving out, a stated total larger than what is shown, or a placeholder; where no
    message shows it, one of the strategy's own holds one of the first two (all rules: `bench.text.notices`). One sample a result with a later
    prompt in its thread, 1 or 0, with the places in its detail where it was silent, or what said so. No such result: no samples.

    Source: 004 §1.2: `str(result)[:500]` does not say that it was cut

    >>> [(sample.step, sample.numerator, sample.detail.text) for sample in silent_truncation(example())]
    [(2, 1.0, 'silent: shown, end')]
    """
    silent: dict[int, list[str]] = {}
    said: dict[int, str] = {}
    results: dict[int, ToolResult] = {}
    for place in _PLACES:
        leaves = {held.result.index: held for held in evidence.prompts.leaves[place]}
        for standing in evidence.prompts.scan.results[place]:
            step = standing.result.index
            results[step] = standing.result
            held = leaves.get(step)
            if not standing.whole and (standing.gone or (held is not None and held.match.lost)):
                shown = standing.texts or standing.written
                notice = evidence.of_trace.notice(step, shown, in_its_place=bool(standing.texts))
                if notice is None:
                    silent.setdefault(step, []).append(place)
                else:
                    said.setdefault(step, notice)
    told = said | {step: f"silent: {', '.join(places)}" for step, places in silent.items()}
    return [
        sample(step in silent, step, result.call_id, detail=Told(text=told[step]) if step in told else None)
        for step, result in sorted(results.items())
    ]


@metric("loss.false_notices", unit="results", better="lower", aggregate="sum", version=2)
def false_notices(evidence: RunEvidence) -> list[Sample]:
    """Results that lost nothing while the first prompt after them says that something was left out.

    Nothing is lost where the untruncated text stands in a message that shows it, whole or every line of it, or every leaf of it is read back
    from these; something says so where these hold a word for leaving out that the untruncated text does not have there
    (`bench.text.notices`, rule 1), words about where the result is stored apart. Saying "truncated" of everything silences
    `loss.silent_truncation` and shows here. One sample a result with a later prompt in its thread, 1 or 0. No such result: no samples.

    Source: 001 §1 Rule #3: where nothing is left out there is no summary

    >>> [(sample.step, sample.numerator) for sample in false_notices(example())]
    [(2, 0.0)]
    """
    leaves = {held.result.index: held for held in evidence.prompts.leaves["shown"]}
    texts = evidence.texts
    samples = []
    for standing in evidence.prompts.scan.results["shown"]:
        result = standing.result
        said = None
        if standing.texts and not standing.gone and _all_there(standing, leaves.get(result.index), texts):
            markers = (marker(text, result.text, pointers=False, texts=texts) for text in standing.texts)
            said = next(filter(None, markers), None)
        detail = None if said is None else Told(text=f"says {said!r}")
        samples.append(sample(said is not None, result.index, result.call_id, detail=detail))
    return samples


def _all_there(standing: ResultHeld, held: HeldLeaves | None, texts: Texts) -> bool:
    text = standing.result.text.strip()
    if any(text in shown for shown in standing.texts):
        return True
    if held is not None and not held.labelled:
        return not held.match.lost
    shown = "\n".join(map(texts.plain, standing.texts))
    return all(line.strip() in shown for line in lines_of(texts.plain(standing.result.text)))
