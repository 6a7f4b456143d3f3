"""The words of a report: terms with their meanings, metrics in words, and what a gate dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..comparison.advice import Candidate, Kind, Obstacle
from ..model import Loss, MetricInfo, Verdict
from ..text.wording import counted, cut, quantity, visible
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
ODDS = (
    "1 in 250: if both cost the same, chance alone would show such a saving at most once in 250 times. Above 1 in 40, and below six tasks, "
    "nothing is called sure."
)

TERMS: Mapping[str, str] = {
    "with refetches": REFETCHES,
    "a run": RUN,
    "what you run today": TODAY,
    "what you run": TODAY,
    "keeping everything": EVERYTHING,
    "from far back": FAR,
    "what was needed": NEEDED,
    "not sure": ODDS,
    "sure over": ODDS,
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


NAMED = 3  # the most facts and steps that a sentence names
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
    return cut(visible(" ".join(text.split())), _FACT_CHARS)


MEASURED_AS = {
    "needed.fault_rate": "what its turns would have missed",
    "needed.recall.far": "what it keeps of what was needed from far back",
    "prompt.invalid": "validity of its prompts",
    "prompt.task_missing": "presence of the task in its prompts",
    "prompt.system_missing": "presence of the system prompt",
    "changed.values": "values that it changes",
    "changed.errors_hidden": "errors that it hides",
    "changed.invented": "what it invents",
}
"""The names of the rule's metrics in a sentence; any other metric is a price."""

OBSTACLES: dict[Kind, str] = {
    "faults": "{value} of its turns would have missed something, above {limit}",
    "far": "keeps {value} of what was needed from far back, below {limit}",
    "invented": "{value} of the facts in its own text are invented, above {limit}",
    "invalid_prompts": "{prompts} would be refused by providers",
    "changed_values": "{values} shown otherwise than the tool returned",
    "hidden_errors": "{errors} hidden",
    "overflows": "{runs} where its prompts exceed the model's window",
    "unstable": "unstable: replayed again, it gave something else on {case}",
    "raised": "raised on {case} ({reason})",
    "gates": "{gates} failed",
    "undecided": "{gates} could not decide",
    "unmeasured": "{metric} could not be measured{where} ({reason})",
    "task_missing": "{prompts} no longer {hold} the task",
    "system_missing": "{prompts} no longer {hold} the system prompt",
}


def against(candidate: Candidate) -> str:
    """Return the first two obstacles of a strategy, as a clause."""
    return " and ".join(obstacle_text(item) for item in candidate.obstacles[:2])


def obstacle_text(found: Obstacle) -> str:
    """Return one obstacle of a strategy, as a clause.

    >>> obstacle_text(Obstacle("faults", value=0.18, limit=0.05)), obstacle_text(Obstacle("changed_values", count=2))
    ('18% of its turns would have missed something, above 5%', '2 values shown otherwise than the tool returned')
    """
    return OBSTACLES[found.kind].format(
        **{f"{what}s": counted(found.count, what) for what in ("prompt", "value", "error", "run", "gate")},
        value=_beside(found.value, found.limit),
        limit=quantity(found.limit, "fraction"),
        case=found.case,
        where=f" on {found.case}" if found.case is not None else "",
        reason=found.reason,
        metric=MEASURED_AS.get(found.metric, "its price"),
        hold="holds" if found.count == 1 else "hold",
    )


def _beside(value: float | None, limit: float | None) -> str:
    """A share with as many digits as tell it from its limit.

    >>> _beside(0.62, 0.9), _beside(0.89999, 0.9)
    ('62%', '89.999%')
    """
    text = quantity(value, "fraction")
    if value is None or limit is None or text != quantity(limit, "fraction"):
        return text
    shown = (f"{value * 100:.{digits}f}%" for digits in range(2, 10) if round(value * 100, digits) != limit * 100)
    return next(shown, text)
