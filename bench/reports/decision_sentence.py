"""The advice in words: the same sentence on the page, on the terminal, in Markdown, JSON, JUnit and notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..comparison.advice import KEEPS_ALL, NOISE_FLOOR, RUN_TODAY, Advice, Candidate, Choice, Word
from ..comparison.published import Experiment, Rule
from ..comparison.sure import Saving, could_miss, counted_tasks
from ..comparison.tuning import Tuned
from ..model import Comparison
from ..text.wording import counted, percent, rough
from .answered import Answered
from .words import against

TODAY = "what you run today"
RULES: dict[Rule, str] = {
    "mask": "all but the last {} observations masked",
    "events": "all but the last {} events masked",
    "summary": "older turns summarised",
}
"""The policy of an experiment, with its setting."""

CLAUSES: dict[Word, str] = {
    "providers would refuse it": "would be refused by providers",
    "not judged": "could not be judged",
}
"""Verdicts that do not go on a sentence as they are."""


def advice_text(comparison: Comparison) -> str:
    """The advice of a comparison in one sentence: what to run, what that saves or costs, how sure it is, and the worst it loses.

    Where it is another with or without the provider's prompt cache, a second sentence says so.
    """
    answered = Answered.of(comparison)
    said = decision_sentence(answered.choice) if answered.tuned is None else tuned_sentence(answered.tuned)
    return " ".join((said, *elsewhere_text(answered.advice)))


def asked_text(comparison: Comparison) -> str:
    """The answer to what the title asks about one strategy; `""` where it asks nothing.

    It begins with yes or no, or says that there is no difference.
    """
    decision = Answered.of(comparison).choice
    asked = decision.candidate(comparison.asks)
    if asked is None:
        return ""
    word, change = decision.word(asked), change_text(asked.saving) if asked.saving is not None else "as much as"
    name = named(asked)
    if not asked.qualifies:
        return f"No: {name} {CLAUSES.get(word, word).removeprefix('it ')}."
    return {
        "ship it": f"Yes: {name} costs {change} today.",
        "cheaper, not best": f"Yes, {name} costs {change} today; another is cheaper still.",
        "cheaper, not sure": f"Perhaps: {name} costs {change} today, which is not sure.",
        "costs more than today": f"No: {name} costs {change} today.",
        "never acted here": f"It makes no difference here: {name} never acted.",
        "same cost": f"It makes no difference here: {name} costs as much.",
    }.get(word, "Yes.")


def decision_sentence(decision: Choice) -> str:
    """The advice in one sentence of at most 30 words, names of strategies counted as one each."""
    subject = decision.advice.subject
    if subject is None:
        counts = Counter(decision.word(item) for item in decision.unqualified)
        found = [f"{word} ({count} of {len(decision.candidates)})" for word, count in counts.most_common(3)]
        return f"Nobody qualifies: {', '.join(found) or 'nothing was compared'}."
    if decision.advice.outcome == "keep":
        return f"Keep what you run: {_no_better(decision)}."
    found_today = decision.candidate(RUN_TODAY)
    cost = f"a run costs {price_text(decision.unit, subject)}"
    if subject.saving is not None:
        cost = f"a run costs {change_text(subject.saving)} today, {certainty(subject.saving)}"
        if found_today is not None and not found_today.qualifies:
            word = decision.word(found_today)
            cost = f"what runs today {CLAUSES.get(word, word)}; {cost}"
    return f"Ship {named(subject)}: {cost}; {worst_text(subject)}."


def _no_better(decision: Choice) -> str:
    """Say why nothing beats what is run today: the best alternative, and the cheaper ones that do not qualify."""
    advice, other, cheaper = decision.advice, decision.advice.alternative, decision.tempting
    beside = f"; {len(cheaper)} cheaper ones do not qualify" if cheaper else ""
    word = decision.word(cheaper[0]) if cheaper else "qualifies"
    clause = CLAUSES.get(word, word)
    if len(cheaper) == 1 and cheaper[0].saving is not None:
        beside = f"; {named(cheaper[0])} would cost {change_text(cheaper[0].saving)} today, but {clause}"
    if other is None:
        return f"nothing else {'qualifies' if decision.unqualified else 'was compared'}{beside}"
    found = other.saving
    if advice.alternative_word == "never acted here":
        return f"{named(other)}, the best alternative, never acted: same prompts as recorded{beside}"
    if found is None:
        return f"the best alternative is {named(other)}{beside}"
    if advice.alternative_word == "cheaper, not sure":
        if len(cheaper) == 1:  # two prices in one sentence are too many
            beside = f"; {named(cheaper[0])} {clause}"
        unsure = f"but that is not sure ({certainty(found)}){beside}"
        return f"{named(other)} would cost {change_text(found)} today, {unsure}"
    return f"the best alternative, {named(other)}, costs {change_text(found)} today{beside}"


def elsewhere_text(advice: Advice) -> Iterator[str]:
    """Yield the advice in the other economy, with the cache or without, where that is another."""
    other = advice.elsewhere
    if other is None:
        return
    what = "nobody qualifies"
    if other.subject is not None:
        less = "" if other.subject.saving is None else f", {change_text(other.subject.saving)} today"
        what = "keep what you run" if other.named == RUN_TODAY else f"ship {named(other.subject)}{less}"
    yield f"{'Without a prompt cache' if other.cache == 'none' else 'With the prompt cache'}: {what}."


def money_text(decision: Choice) -> Iterator[str]:
    """Yield the economy that prices are in, how much of the prompts the cache serves, and what is not known."""
    advice, today = decision.advice, decision.candidate(RUN_TODAY)
    share = None if today is None else today.cached_share
    if advice.cache == "none":
        yield "Prices are without any prompt cache."
    elif advice.cache == "provider":
        served = "" if share is None else f", which serves {percent(share)} of what you run today sends"
        yield f"Prices are under the provider's prompt cache{served}."
    if decision.unit == "tokens":
        yield "Prices are in tokens, because some run names no model with listed prices; `--model NAME` gives one to all that name none."
    if advice.unknown_cache:
        runs = counted(advice.unknown_cache, "run")
        yield f"The usage of {runs} does not say what the cache served: the price lies between nothing and all it may serve."
    if advice.unknown_prompts:
        recordings = counted(advice.unknown_prompts, "recording")
        yield f"It is not known what the model of {recordings} was shown."


def idle_text(idle: Sequence[Candidate]) -> str:
    """Name the strategies that never acted, in one line."""
    names = ", ".join(item.strategy for item in idle)
    return f"{len(idle)} never acted here (same prompts as recorded), so they cost as much as today: {names}."


def headroom_text(advice: Advice) -> str:
    """The most that anybody can save, as a sentence; `""` where it is not known.

    >>> from bench.comparison.advice import Headroom
    >>> headroom_text(Advice("nobody", None, "usd", 0, 0, headroom=Headroom(1.0, 0.6, 0.4, 0.4, 8)))
    'At most 40% can be saved: with perfect foresight a run costs $0.60.'
    """
    found = advice.headroom
    if found is None:
        return ""
    if found.relative < NOISE_FLOOR:
        return "There is nothing to save here: with perfect foresight a run costs as much."
    saving = None if advice.subject is None else advice.subject.saving
    if saving is not None and advice.outcome == "ship" and found.a_run + saving.a_run < NOISE_FLOOR * found.today_a_run:
        return "No more can be saved: with perfect foresight a run costs no less."
    least = _amount(found.today_a_run - found.a_run, advice.unit)
    return f"At most {percent(found.relative)} can be saved: with perfect foresight a run costs {least}."


def why(answered: Answered) -> Iterator[str]:
    """The statements behind the advice of a comparison, then the rule and what it could not look at."""
    tuned = answered.tuned
    yield from statements(answered.choice) if tuned is None else tuned_statements(tuned)
    yield from decision_notes(answered.choice if tuned is None else tuned.chosen)


def statements(decision: Choice) -> Iterator[str]:
    """Yield the best alternative, what is cheaper, public evidence, and the economy of prices."""
    advice, other = decision.advice, decision.advice.alternative
    if other is not None:
        cost = f"{price_text(decision.unit, other)} a run with refetches"
        if other.strategy == RUN_TODAY:
            yield f"Best alternative: {TODAY}, {cost}."
        else:
            found = other.saving
            sure = f", {change_text(found)} {TODAY} ({certainty(found)})" if found else ""
            yield f"Best alternative ({advice.alternative_word}): {named(other)}, {cost}{sure}; {worst_text(other)}."
    spoken_of = decision.advice.subject if decision.advice.outcome == "ship" else other
    if spoken_of is not None and not spoken_of.never_acted and spoken_of.strategy not in (RUN_TODAY, KEEPS_ALL):
        yield f"{evidence_text(advice.nearest)}."
    yield from money_text(decision)


def could_miss_text(saving: Saving, one_in: int) -> str:
    """Say what the number of tasks cannot show.

    >>> could_miss_text(Saving(-1, -0.1, 27, 8), 3)
    'With 8 tasks a large loss in fewer than 1 task of 3 could have been missed.'
    """
    one = saving.over.partition(" ")[2].removesuffix("s")
    return f"With {saving.over} a large loss in fewer than 1 {one} of {one_in} could have been missed."


def evidence_text(found: Experiment | None) -> str:
    """The nearest published experiment and what happened there, or that there is no public evidence.

    >>> from bench.comparison.published import nearest
    >>> evidence_text(nearest("compactor=openhands.mask:window=10"))  # doctest: +ELLIPSIS
    'Nearest published experiment: all but the last 10 events masked (OpenHands, Gemini 2.5 Flash, 500 tasks): cost ×0.52, turns ×2.27, ...
    """
    if found is None:
        return "No public evidence"
    cost = "" if found.cost is None else f"cost ×{found.cost:g}, "
    turns = "" if found.turns is None else f"turns ×{found.turns:g}, "
    solved = f"{found.solved:+g} points solved".replace("-", "−")
    where = f"{found.scaffold}, {found.model}, {found.tasks} tasks"
    what = RULES[found.rule].format(found.setting)
    return f"Nearest published experiment: {what} ({where}): {cost}{turns}{solved} ({found.source})"


def decision_notes(decision: Choice) -> Iterator[str]:
    """The rule, and what it could not look at, a sentence each."""
    yield (
        "The rule: a strategy qualifies where its prompts are valid and fit the window, its gates pass, it changes, invents and hides nothing of "
        f"what tools said, at most {percent(decision.max_fault_rate)} of its turns would have missed something they used, and it keeps "
        f"{percent(decision.min_far_recall)} of what was needed from far back, each as the mean over tasks. Of those the one that costs least, every "
        "fault repaired by one more call, is advised if it surely costs less than what runs today."
    )
    if decision.left_out:
        runs = counted(len(decision.left_out), "run")
        yield f"{runs} left out: there the prompts of {TODAY} exceed the model's window."
    if decision.impossible:
        yield (
            f"Keeping everything is impossible here: {counted(decision.impossible, 'prompt')} would not fit the model's window. "
            "Such a run has no price."
        )
    said = {
        "window": "It is not known if every prompt fits: no window is known for some model.",
        "prompts": "It was not checked if providers would accept the prompts.",
        "changed": "It was not measured if values are changed, invented or hidden.",
        "far": "What was needed from far back was not measured.",
        "nothing_far": "Nothing was needed from far back, so that part of the rule does not apply.",
    }
    yield from (said[what] for what in decision.unchecked)


def tuned_sentence(tuned: Tuned) -> str:
    """The result of tuning in one sentence: the setting, on how many tasks it was chosen, and what it costs and loses on the others."""
    chosen, judged, found = tuned.chosen, tuned.judged, tuned.candidate
    on = counted_tasks(chosen.tasks, chosen.compared)
    if found is None:
        return f"No setting is named: nobody qualifies on the {on} to choose on."
    where = f"chosen on {on}, judged on {judged.tasks} others"
    if not found.qualifies:
        return f"Keep {TODAY}: {named(found)}, chosen on {on}, does not qualify on the {judged.tasks} others: {against(found)}."
    if found.strategy == RUN_TODAY:
        return f"Keep {TODAY}: {where}."
    saving = found.saving
    change = f", {change_text(saving)} today, {certainty(saving)}" if saving is not None else ""
    head = f"Use {named(found)}:" if tuned.advice.outcome == "ship" else f"Keep {TODAY}. {named(found)} was"
    return f"{head} {where}: {price_text(judged.unit, found)} a run{change}; {worst_text(found)}."


def tuned_statements(tuned: Tuned) -> Iterator[str]:
    """Yield what the sentence about tuning has no room for."""
    found = tuned.candidate
    others = [item for item in tuned.chosen.unqualified if item.strategy != KEEPS_ALL]
    if (found is None or found.strategy == RUN_TODAY) and others:
        more = [f"and {len(others) - 6} more"] if len(others) > 6 else []
        said = [f"{item.strategy} ({against(item)})" for item in others[:6]]
        yield f"What was tried does not qualify: {'; '.join([*said, *more])}."
    if found is not None and found.qualifies and found.strategy != RUN_TODAY:
        if found.saving is not None:
            yield could_miss_text(found.saving, could_miss(found.saving.tasks))
        yield f"{evidence_text(tuned.advice.nearest)}."
    yield f"The tasks to choose on were drawn with seed {tuned.tuning.seed}."


def named(candidate: Candidate) -> str:
    """The name of a strategy in a sentence."""
    if candidate.strategy == RUN_TODAY:
        return TODAY
    return f"{candidate.strategy} (nothing removed)" if candidate.strategy == KEEPS_ALL else candidate.strategy


def price_text(unit: str, candidate: Candidate) -> str:
    """The price of a run of one strategy: dollars, or a number of tokens."""
    return f"{'at least ' if candidate.at_least else ''}{_amount(candidate.price_a_run, unit)}"


def _amount(value: float | None, unit: str) -> str:
    return rough(value, unit) if unit == "usd" or value is None else f"{rough(round(value), unit)} {unit}"


def change_text(saving: Saving) -> str:
    """A change in price: `9% less than`."""
    if saving.relative is None:
        return "more than"
    if abs(saving.relative) < NOISE_FLOOR:
        return "as much as"
    return f"{percent(abs(saving.relative))} {'less' if saving.relative < 0 else 'more'} than"


def certainty(found: Saving) -> str:
    """Return how sure a saving is, with the odds that it is chance; if it is not sure, the number of tasks on which it saves.

    >>> certainty(Saving(-1, -0.1, 8, 8, 6, 1, 1, 0.002, 0.004)), certainty(Saving(-1, -0.1, 8, 8, 6, 1, 1))
    ('sure over 8 runs (chance: 1 in 250)', 'cheaper on 6 of 8 runs, equal on 1')
    """
    if found.sure:
        return f"sure over {found.over} (chance: {odds(found.corrected)})"
    if found.a_run >= 0:
        return f"over {found.over}"
    equal = f", equal on {found.equal}" if found.equal else ""
    return f"cheaper on {found.cheaper} of {found.over}{equal}"


RAREST = 10_000  # odds below one in so many are given as that: the tests are not exact so far out


def odds(chance: float) -> str:
    """A small chance as odds of two digits, rounded so that they never sound too good.

    >>> odds(0.0039), odds(0.012), odds(1e-9)
    ('1 in 250', '1 in 83', 'below 1 in 10,000')
    """
    if chance * RAREST < 1:
        return f"below 1 in {RAREST:,}"
    whole = int(1 / chance + 1e-9)
    digits = 10 ** max(0, len(str(whole)) - 2)
    return f"1 in {whole // digits * digits:,}"


def worst_text(candidate: Candidate) -> str:
    """Return what turns would have missed on the worst run, as a clause.

    >>> worst_text(Candidate("a", 1.0, 8, 0.01, 1.0, "case 2", 0.125, 8)), worst_text(Candidate("a", 1.0, 8, 0.0, 1.0, "case 2", 0.0))
    ('on the worst run 1 turn of 8 would have missed something', 'no turn would have missed anything')
    """
    if candidate.worst_fault_rate is None:
        return "what it loses was not measured"
    if candidate.worst_fault_rate <= 0:
        return "no turn would have missed anything"
    return f"on the worst run {turns_missing(candidate)} would have missed something"


def turns_missing(candidate: Candidate) -> str:
    """The turns of the worst run that would have missed something, out of all of its turns.

    >>> turns_missing(Candidate("a", 1.0, 8, 0.01, 1.0, "case 2", 0.125, 8)), turns_missing(Candidate("a", 1.0, 8, 0.5, 1.0, "b", 1.0, 11))
    ('1 turn of 8', '11 turns of 11')
    """
    missing = round((candidate.worst_fault_rate or 0.0) * candidate.worst_turns)
    return f"{counted(missing, 'turn')} of {candidate.worst_turns:,}"
