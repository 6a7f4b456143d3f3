"""What to ship, in words: the same sentence on the page, on the terminal and in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..comparison.decision import KEEPS_ALL, RUN_TODAY, Decision, Standing, Why, unqualified
from ..comparison.intervals import FEWEST
from ..comparison.shippable import Obstacle
from ..model import Delta
from ..text.wording import counted, listed, percent, quantity
from .blocks import Prose, Tone

NAMED = 3
"""How many cases a sentence names, and strategies that it explains beside a winner."""

EXPLAINED = 6
"""How many strategies that do not qualify are explained in the sentence; the others are counted."""

TODAY = "what you run today"
MEASURED_AS = {
    "needed.recall": "what it keeps of what later turns needed",
    "needed.recall.far": "what it keeps of what was needed from far back",
    "prompt.invalid": "whether its prompts are valid",
    "prompt.task_missing": "whether its prompts hold the task",
}
"""What a metric of the rule is called in a sentence; any other is a price."""

DISAGREES: dict[Why, str] = {
    "costs_more": "costs more",
    "costs_as_much": "costs as much",
    "keeps_less": "keeps too little",
}

NAMES = {RUN_TODAY: TODAY, KEEPS_ALL: "keeping everything"}


def decision_sentence(decision: Decision) -> str:
    """The answer in one or two sentences: what to ship, its price for a run, what is lost at the worst case, and how sure that is."""
    won = decision.won
    if won is None:
        return _nobody(decision)
    if decision.outcome == "keep_what_you_run":
        head = f"Keep what you run: {_price(decision, won)}; {_no_better(decision)}"
    elif decision.beats_today:
        head = f"Ship {_name(won.strategy)}: {_price(decision, won)}{_against_today(decision)}"
    else:
        head = f"{_unsure(decision)}{_name(won.strategy)} costs {_price(decision, won)}{_against_today(decision)}"
    parts = [head, _worst(won), *_cases(decision)]
    return "; ".join(filter(None, parts)) + "." + _dominating(decision)


def decision_prose(decision: Decision) -> Prose:
    """The sentence as a block of a report."""
    tones: dict[str, Tone] = {
        "ship": "good" if decision.beats_today else "warn",
        "keep_what_you_run": "plain",
        "nobody": "bad",
    }
    return Prose(decision_sentence(decision), tones[decision.outcome])


def decision_notes(decision: Decision) -> Iterator[str]:
    """The rule, and what it could not look at, a sentence each."""
    price = "once every fault is repaired by one more call" if decision.with_refetches else "in all"
    yield (
        f"The rule: of the strategies whose prompts are valid and fit the window and whose gates pass, the one that costs least {price}, "
        f"if it keeps {percent(decision.keep)} of what later turns needed and {percent(decision.keep_far)} of what they needed from far back."
    )
    if decision.impossible:
        yield (
            f"Keeping everything is impossible here: {counted(decision.impossible, 'prompt')} would not fit the model's window. "
            "No saving is stated against it."
        )
    if decision.winner is not None and decision.unit == "tokens":
        yield "Some run has no listed price, so strategies are compared by tokens."
    said = {
        "window": "Whether every prompt fits is not known: no window is known for some model.",
        "prompts": "Whether providers would accept the prompts was not checked.",
        "far": "What was needed from far back was not measured.",
        "nothing_far": "Nothing was needed from far back, so that part of the rule does not apply.",
    }
    yield from (said[what] for what in decision.unchecked)


# ---------------------------------------------------------------- parts of the sentence


def _name(strategy: str) -> str:
    return f"{strategy} (nothing removed)" if strategy == KEEPS_ALL else strategy


def _price(decision: Decision, standing: Standing) -> str:
    unit = "" if decision.unit == "usd" else f" {decision.unit}"
    amount = quantity(standing.price_a_run, decision.unit)
    if decision.unit != "usd" and standing.price_a_run is not None:
        amount = quantity(round(standing.price_a_run), decision.unit)
    least = "at least " if standing.at_least else ""
    return f"{least}{amount}{unit} a run{' with refetches' if decision.with_refetches else ''}"


def _change(relative: float) -> str:
    """A change in price: `9% less than`."""
    if abs(relative) < 0.001:
        return "as much as"
    return f"{percent(abs(relative))} {'less' if relative < 0 else 'more'} than"


def _against_today(decision: Decision) -> str:
    found = decision.against_today
    if found is None or found.relative is None:
        return ""
    today = next((item for item in decision.standings if item.strategy == RUN_TODAY), None)
    unfit = f", which does not qualify itself ({_why(today)})" if today is not None and not today.qualifies else ""
    return f", {_change(found.relative)} {TODAY}{unfit}{_sure(found)}"


def _unsure(decision: Decision) -> str:
    """What comes before a winner that does not surely cost less than what is run today."""
    if decision.surely_cheaper:
        others = _name(decision.surely_cheaper[0])
        return f"Ship {others}, surely cheaper than {TODAY}. Cheapest of all, but not surely: "
    if decision.cases < FEWEST:
        return f"Keep {TODAY} until more is recorded: {counted(decision.cases, 'case')} can make nothing sure. Cheapest so far: "
    return f"Keep {TODAY}: nothing here surely beats it. Cheapest that qualifies: "


def _sure(found: Delta) -> str:
    if found.better is not None:
        return f" (sure over {counted(found.n, 'case')})"
    return f" ({found.reason})" if found.reason and found.n >= FEWEST else ""


def _no_better(decision: Decision) -> str:
    found = decision.against_today
    if decision.rival is None:
        others = [item for item in unqualified(decision) if item.strategy != KEEPS_ALL]
        if not others:
            return "nothing else was compared"
        return f"nothing else qualifies ({_reasons(others)})"
    if found is None or found.relative is None:
        return f"{_name(decision.rival)} is no cheaper"
    left = [item for item in unqualified(decision) if item.strategy != KEEPS_ALL and item.price is not None]
    won = decision.won
    cheaper = [item for item in left if won is not None and won.price is not None and (item.price or 0.0) < won.price]
    said = f"the cheapest other one that qualifies, {_name(decision.rival)}, costs {_change(found.relative)} that"
    return f"{said}; what is cheaper does not qualify ({_reasons(cheaper, NAMED)})" if cheaper else said


def _worst(won: Standing) -> str:
    if won.worst_kept is None:
        return ""
    if won.worst_kept >= 1:
        return "no case loses anything of what was needed"
    return f"the worst case loses {percent(1 - won.worst_kept)} of what was needed ({won.worst_case})"


def _cases(decision: Decision) -> Iterator[str]:
    """How many cases agree, and which do not."""
    others = decision.disagreeing
    judged = decision.agreeing + len(others)
    if judged < 2:
        return
    if not others:
        yield "both cases agree" if judged == 2 else f"all {judged} cases agree"
        return
    yield f"{decision.agreeing} of {judged} cases {'agrees' if decision.agreeing == 1 else 'agree'}"
    verb = "does" if len(others) == 1 else "do"
    if len(others) <= NAMED:
        yield f"{len(others)} {verb} not: {listed([f'{item.case} ({DISAGREES[item.why]} there)' for item in others])}"
        return
    counts = Counter(item.why for item in others)
    yield f"{len(others)} {verb} not: {listed([f'on {counts[why]} it {said}' for why, said in DISAGREES.items() if counts[why]])}"


def _dominating(decision: Decision) -> str:
    """The sentence about cases that decide it alone; `""` where none does."""
    if not decision.dominating:
        return ""
    case, other = decision.dominating[0]
    then = "nobody would qualify" if other is None else f"{NAMES.get(other, other)} would win"
    more = len(decision.dominating) - 1
    said = f" One case decides it: without {case}, {then}"
    return said + (f"; so it is with {counted(more, 'other case')}." if more else ".")


# ---------------------------------------------------------------- who does not qualify


def _nobody(decision: Decision) -> str:
    found = unqualified(decision)
    return f"Nobody qualifies, because: {_reasons(found)}." if found else "Nobody qualifies: nothing was compared."


def _reasons(found: Sequence[Standing], most: int = EXPLAINED) -> str:
    said = [f"{NAMES.get(item.strategy, item.strategy)}: {_why(item)}" for item in found[:most]]
    if len(found) > most:
        said.append(f"and {len(found) - most} more")
    return "; ".join(said)


def _why(standing: Standing) -> str:
    return " and ".join(obstacle_text(item) for item in standing.obstacles[:2])


def obstacle_text(found: Obstacle) -> str:
    """What speaks against a strategy, as a clause.

    >>> obstacle_text(Obstacle("keeps_too_little", value=0.62, limit=0.95))
    'keeps 62% of what was needed, below 95%'
    """
    if found.kind in ("keeps_too_little", "keeps_too_little_far"):
        far = " from far back" if found.kind == "keeps_too_little_far" else ""
        return f"keeps {quantity(found.value, 'fraction')} of what was needed{far}, below {quantity(found.limit, 'fraction')}"
    if found.kind == "raised":
        return f"raised on {found.case} ({found.reason})"
    if found.kind in ("gates", "undecided"):
        what = "failed" if found.kind == "gates" else "could not decide"
        return f"{counted(found.count, 'gate')} {what}"
    if found.kind == "unmeasured":
        where = f" on {found.case}" if found.case is not None else ""
        return f"{MEASURED_AS.get(found.metric, 'its price')} could not be measured{where} ({found.reason})"
    prompts = counted(found.count, "prompt")
    if found.kind == "invalid_prompts":
        return f"{prompts} would be refused by providers"
    if found.kind == "task_missing":
        return f"{prompts} no longer {'holds' if found.count == 1 else 'hold'} the task"
    return f"{prompts} {'is' if found.count == 1 else 'are'} larger than the model's window"
