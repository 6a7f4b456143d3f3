"""The words of a report: terms with their meanings, metrics in words, and what a gate dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..model import Loss, MetricInfo, Verdict
from ..text.wording import counted, visible
from .blocks import needed

CALL = "One request to the model: everything in its prompt is paid for again."
NEEDED = (
    "Facts (numbers, names, paths) that a later turn used and that an earlier message had said. "
    "Kept means: still in the prompt of the turn that used them."
)
KEPT = "still there when needed"
"""The name of the share of needed facts that were still there, wherever it is a column or an axis."""

FAR = "Last said six or more model turns before the turn that needed it."
LOST = "What was still there on the strategy that kept least, of what later turns needed."
FAULTS = "Model turns whose prompt no longer held something that they used: the model would have had to ask again, or to guess."
REFETCHES = (
    "As if everything that was missing had been fetched again: one more call for each turn that missed something, "
    "with its prompt and its results."
)
RUN = "The whole of one recorded run, its model calls added up; the mean over all cases."
TODAY = "What the recorded system itself sent to its model (the strategy `recorded`)."
EVERYTHING = "Every message as it was said, nothing removed (the strategy `keep_all`)."
SURE = "An exact test over the cases says that chance alone gives such a difference at most one time in twenty. Below six cases nothing is sure."

TERMS: Mapping[str, str] = {
    "with refetches": REFETCHES,
    "a run": RUN,
    "what you run today": TODAY,
    "what you run": TODAY,
    "keeping everything": EVERYTHING,
    "from far back": FAR,
    "what was needed": NEEDED,
    "not sure": SURE,
    "sure over": SURE,
    "gates": "Limits that the scenario declares, such as how much may be lost.",
    "prompts are valid": "A provider would accept them: every tool result follows its call, and somebody speaks first.",
}
"""Words in the sentences of a report, each with its meaning."""


def terms_in(text: str) -> tuple[tuple[str, str], ...]:
    """The words of a text that have an explanation, with it.

    >>> [term for term, _ in terms_in("Ship a: $1 a run with refetches.")]
    ['with refetches', 'a run']
    """
    return tuple((term, said) for term, said in TERMS.items() if term in text)


MEASURES: Mapping[str, str] = {
    "needed.recall": "what is kept of what was needed",
    "needed.recall.far": "what is kept of what was needed from far back",
    "needed.faults": "turns that missed something",
    "cost.prompt_tokens": "prompt tokens",
    "cost.cost_usd": "cost",
    "cost.with_refetches_usd": "cost with refetches",
    "cost.with_refetches_tokens": "tokens with refetches",
    "cost.window_overflows": "prompts larger than the window",
    "loss.fact_recall.end": "facts kept to the end",
    "loss.leaf_recall.end": "values kept to the end",
    "loss.leaf_recall.stored": "values kept in store",
    "findings.agreement": "findings that agree",
    "routing.accuracy": "routes as expected",
    "prompt.invalid": "invalid prompts",
    "prompt.task_missing": "prompts without the task",
    "prompt.system_missing": "prompts without the system prompt",
    "prompt.rules_missing": "prompts that lack a standing instruction",
}
"""The metrics that gates judge most often, in words."""


def in_words(sentence: str, metric: str, info: MetricInfo | None) -> str:
    """A sentence about a metric with words in place of its name: ours, else the first line of what it says of itself.

    >>> in_words("a: needed.recall is 0.75", "needed.recall", None)
    'a: what is kept of what was needed is 0.75'
    """
    title = "" if info is None else info.title.rstrip(".")
    words = MEASURES.get(metric) or title[:1].lower() + title[1:] or metric
    return re.sub(rf"(?<![\w.]){re.escape(metric)}(?![\w.])", lambda _: words, sentence)


NAMED = 3
"""The most facts and steps that a sentence names."""

LISTED = 10
_FACT_CHARS = 60


def told(verdict: Verdict) -> str:
    """A verdict's sentence, with the worst of what was dropped where the gate failed."""
    clause = loss_line(verdict.losses[0], NAMED) if verdict.losses else ""
    return f"{verdict.sentence}: {clause}" if clause else verdict.sentence


def loss_lines(verdict: Verdict) -> list[str]:
    """The dropped facts, a line a place, worst first; `[]` for nothing."""
    lines = [loss_line(loss, LISTED) for loss in verdict.losses]
    left = verdict.losses_total - len(lines)
    return [*lines, f"and {counted(left, 'more place')}"] if lines and left > 0 else lines


def loss_line(loss: Loss, named: int) -> str:
    """The losses of one result, naming at most so many facts.

    >>> loss_line(Loss(step=4, function="grep", facts=("471", "a.csv"), count=2, total=5), 3)
    'step 4 (grep) dropped 2 of 5: "471", "a.csv"'
    """
    place = "the run" if loss.step is None else f"step {loss.step}"
    if loss.step is not None and loss.function:
        place += f" ({_short(loss.function)})"
    if loss.differs:
        words = [_short(fact) for fact in loss.facts[:named]] + ["…"] * (len(loss.facts) > named)
        return f"{place} came out otherwise: {', '.join(words) or f'{loss.count:g} of {loss.total:g}'}"
    facts = [_fact(fact) for fact in loss.facts[:named]]
    more = int(loss.count) - len(facts)
    if more > 0 and facts and not loss.needed_at:
        facts.append(f"{more} more")
    share = f" {loss.count:g} of {loss.total:g}:" if loss.total else ""
    text = f"{place} dropped{share} {', '.join(facts) or 'something unnamed'}"
    needs = [f"step {turn} needed {', '.join(map(_fact, facts[:named]))}" for turn, facts in needed(loss.needed_at)]
    if len(needs) > named:
        needs = [*needs[:named], f"{counted(len(needs) - named, 'more step')} needed what is gone"]
    return "; ".join([text, *needs])


def _fact(fact: str) -> str:
    return f'"{_short(fact)}"'


def _short(text: str) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= _FACT_CHARS else flat[: _FACT_CHARS - 1] + "…"
