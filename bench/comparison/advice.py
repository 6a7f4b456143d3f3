"""Values that a decision is made of, from one obstacle to the advice. Reports put them into words and decide nothing themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..model import Economy, Spent
from .published import Experiment
from .sure import Saving, could_miss

RUN_TODAY = "recorded"
KEEPS_ALL = "keep_all"

Word = Literal[
    "ship it", "keep it", "cheaper, not sure", "same cost", "never acted here", "costs more than today", "loses too much",
    "changes what tools said", "does not fit", "providers would refuse it", "cheaper, not best", "qualifies", "fails a gate", "not judged",
]  # fmt: skip
"""The verdict on one candidate, one for each situation. "cheaper, not best": surely cheaper than today's, and
dearer than what is advised; "qualifies": there is nothing to hold it against, or it is what runs today and something else is advised."""

Kind = Literal[
    "raised", "unstable", "invalid_prompts", "overflows", "task_missing", "system_missing", "changed_values", "hidden_errors", "invented",
    "faults", "far", "gates", "undecided", "unmeasured",
]  # fmt: skip

WORDS: dict[Kind, Word] = {
    "invalid_prompts": "providers would refuse it",
    "overflows": "does not fit",
    "task_missing": "loses too much",
    "system_missing": "loses too much",
    "changed_values": "changes what tools said",
    "hidden_errors": "changes what tools said",
    "invented": "changes what tools said",
    "faults": "loses too much",
    "far": "loses too much",
    "gates": "fails a gate",
}
"""The word for a candidate that does not qualify, by its first obstacle; any other obstacle means that it could not be judged."""

Unchecked = Literal["prompts", "window", "changed", "far", "nothing_far"]
"""Parts of the rule that could not be checked; `nothing_far`: there was nothing from far back to look at."""


@dataclass(frozen=True)
class Obstacle:
    """One reason why a strategy does not qualify.

    `raised` (on `case`, with `reason`), `unstable` (on `case`), `invalid_prompts`, `task_missing`, `system_missing` (`count` prompts), `overflows`
    (`count` cases), `changed_values`, `hidden_errors` (`count` of them), `invented`, `faults`, `far` (`value`, beyond `limit`), `gates`, `undecided`
    (the `gates`), `unmeasured` (`metric`, with `reason`).
    """

    kind: Kind
    count: int = 0
    case: str | None = None
    metric: str = ""
    reason: str = ""
    gates: tuple[str, ...] = ()
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Candidate:
    """One strategy that competes: its price for one run, what it loses, the case on which it loses most, and its obstacles.

    A price is what all calls cost, those that repair faults included, over the `cases` that this strategy and what is run today can run;
    `at_least`: it can only be higher. None: not measured. `fault_rate` and `far_recall` are means over tasks. `worst_turns` are all turns of the
    worst case. `saving` is the difference to what is run today. `never_acted`: its prompts are the recorded ones on every case. `cached_share` is
    the part of its prompt tokens that the provider's cache serves (None: not known); `spent` says where its money goes, a run (None: prices are
    tokens).
    """

    strategy: str
    price_a_run: float | None
    cases: int
    fault_rate: float | None
    far_recall: float | None
    worst_case: str | None
    worst_fault_rate: float | None
    worst_turns: int = 0
    at_least: bool = False
    never_acted: bool = False
    saving: Saving | None = None
    cached_share: float | None = None
    spent: Spent | None = None
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def qualifies(self) -> bool:
        """True if nothing speaks against it."""
        return not self.obstacles


@dataclass(frozen=True)
class Headroom:
    """The most that anybody can save, `a_run` and as a share: what is run today costs `today_a_run`, perfect foresight `floor_a_run`, the means
    over the `cases` that both can run.
    """

    today_a_run: float
    floor_a_run: float
    a_run: float
    relative: float
    cases: int


@dataclass(frozen=True)
class Advice:
    """The strategy to run and why: its price, saving, worst case and certainty. Every output prints this and nothing else.

    `outcome` is `ship`, `keep` (what is run today) or `nobody` (`subject` None). `word` is the verdict on the subject. `sure`: the subject surely
    costs less than what is run today. `alternative` is the cheapest other one that qualifies, acted and is no reference (what is run today is none
    here), a second statement, with its own `alternative_word`. `nearest` is the published experiment that is nearest to
    the subject (of an alternative, where today's stays); None for no public evidence.

    `cache` is that of the prices (None: tokens, which know no cache), `elsewhere` the advice in the other economy where that names another strategy.
    `headroom` is None where what is run today, or perfect foresight, has no price. `unknown_prompts` counts cases whose recording does not tell
    what its model was shown, `unknown_cache` those whose usage does not say what the cache served.
    """

    outcome: Literal["ship", "keep", "nobody"]
    subject: Candidate | None
    unit: str
    unknown_prompts: int
    unknown_cache: int
    word: Word = "not judged"
    alternative: Candidate | None = None
    alternative_word: Word = "not judged"
    nearest: Experiment | None = None
    cache: Economy | None = None
    elsewhere: Advice | None = None
    headroom: Headroom | None = None

    def about(self, subject: Candidate | None, alternative: Candidate | None, near: Experiment | None) -> Advice:
        """The advice to run a strategy (None: nobody), with the best alternative to it, and the experiment that is nearest."""
        return replace(
            self,
            outcome="nobody" if subject is None else "keep" if subject.strategy == RUN_TODAY else "ship",
            subject=subject,
            word="not judged" if subject is None else word_of(subject, subject),
            alternative=alternative,
            alternative_word="not judged" if alternative is None else word_of(alternative, subject),
            nearest=near,
        )

    @property
    def could_miss(self) -> int:
        """With so few tasks a large loss in fewer than one of so many could have been missed; 0 for none."""
        return 0 if self.subject is None or self.subject.saving is None else could_miss(self.subject.saving.tasks)

    @property
    def named(self) -> str | None:
        """The strategy that it is about; None for nobody."""
        return None if self.subject is None else self.subject.strategy

    @property
    def sure(self) -> bool:
        """True if the subject surely costs less than what is run today."""
        return self.subject is not None and self.subject.saving is not None and self.subject.saving.sure


@dataclass(frozen=True)
class Choice:
    """The candidates of a comparison, sorted (those that qualify first, cheapest first), and the advice that follows.

    `metric` is that of prices, `unit` theirs. `cases` are all cases, `compared` those that what is run today fits, `tasks` how many tasks those are;
    `left_out` the cases that it does not fit. `unchecked` names parts of the rule that could not be looked at and were held against nobody.
    `impossible` counts the prompts with which keeping everything would overflow the window.
    """

    candidates: tuple[Candidate, ...]
    advice: Advice
    metric: str
    unit: str
    cases: int
    compared: int
    tasks: int
    max_fault_rate: float
    min_far_recall: float
    left_out: tuple[str, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    impossible: int = 0

    def candidate(self, name: str | None) -> Candidate | None:
        """The candidate of a name; None where there is none."""
        return next((item for item in self.candidates if item.strategy == name), None)

    @property
    def cheapest(self) -> Candidate | None:
        """The cheapest that qualifies, sure or not; what is run today unless another is cheaper by more than the noise floor."""
        able = [item for item in self.candidates if item.qualifies]
        today = next((item for item in able if item.strategy == RUN_TODAY), None)
        cheaper = (item for item in able if item.saving is not None and (item.saving.relative or 0.0) <= -NOISE_FLOOR)
        return next(cheaper, today) if today is not None else next(iter(able), None)

    @property
    def unqualified(self) -> tuple[Candidate, ...]:
        """The candidates that do not qualify."""
        return tuple(item for item in self.candidates if not item.qualifies)

    @property
    def idle(self) -> tuple[Candidate, ...]:
        """The candidates that never acted, where they are several and not what the advice is about."""
        spoken_of = (self.advice.subject, self.advice.alternative)
        found = tuple(item for item in self.candidates if item.never_acted and item not in spoken_of)
        return found if len(found) > 1 else ()

    @property
    def tempting(self) -> tuple[Candidate, ...]:
        """The candidates that would cost less than what is run today and do not qualify, the cheapest first; no references."""
        rest = (item for item in self.unqualified if item.strategy != KEEPS_ALL and item.saving is not None)
        return tuple(item for item in rest if item.saving and (item.saving.relative or 0.0) <= -NOISE_FLOOR)

    def word(self, candidate: Candidate) -> Word:
        """The verdict on one candidate."""
        return word_of(candidate, self.advice.subject)


NOISE_FLOOR = 0.001  # a relative difference below this is not called better or worse, however sure it is


def word_of(candidate: Candidate, advised: Candidate | None) -> Word:
    """The verdict on one candidate, given the one that is advised."""
    if not candidate.qualifies:
        return WORDS.get(candidate.obstacles[0].kind, "not judged")
    if candidate == advised:
        return "keep it" if candidate.strategy == RUN_TODAY else "ship it"
    saving = candidate.saving
    if candidate.strategy == RUN_TODAY:
        return "qualifies"
    if saving is None or saving.relative is None:
        return "qualifies"
    if abs(saving.relative) < NOISE_FLOOR:
        return "never acted here" if candidate.never_acted else "same cost"
    if saving.relative > 0:
        return "costs more than today"
    return "cheaper, not best" if saving.sure else "cheaper, not sure"
