"""The one rule that says which strategy to run, used by every report and by advice.

A strategy qualifies where its prompts are valid and fit the model's window, its gates pass, everything was measured, it changes, invents and hides
nothing of what tools said, and both its fault rate and what it keeps from far back are within limits, as means over tasks. Of those the cheapest is
advised (every fault repaired by a further call), if it surely costs less than what is run today; otherwise today's stays.

What is run today competes by its prompts and gates alone: what the recorded model could not see it did not need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..metrics import DOES_NOT_FIT
from ..model import Comparison, Economy, Row, Spent
from ..plugins.registry import entries
from ..plugins.spec import parse_spec, split_top
from .advice import (
    KEEPS_ALL,
    NOISE_FLOOR,
    RUN_TODAY,
    Advice,
    Candidate,
    Choice,
    Headroom,
    Kind,
    Obstacle,
    Unchecked,
)
from .published import nearest
from .rows import NOTHING, Total, over_tasks, tasks, total
from .sure import Saving, chance, corrected

NEVER = ("drop_all", "clairvoyant", "floor")
"""The references that say what is possible and cannot be shipped: nothing is kept, or the future is read."""

DOLLARS: dict[Economy, str] = {"provider": "cost.with_refetches_usd", "none": "cost.uncached_with_refetches_usd"}
TOKENS = "cost.with_refetches_tokens"
"""The price of a strategy, in each economy: what all calls cost, those that repair faults included."""

OTHER: dict[Economy, Economy] = {"provider": "none", "none": "provider"}

CACHED, PROMPTS = "cost.cached_prompt_tokens", "cost.prompt_tokens"
FLOOR = "floor"
RECALL, FAR, FAULTS = "needed.recall", "needed.recall.far", "needed.fault_rate"
OVERFLOWS = "cost.window_overflows"
MAX_INVENTED = 0.02
"""The share of facts in a strategy's own text that may be of nobody else: rounding, and a number that was worked out."""

ROUNDING = 1e-9
"""Slack on a limit, of gates too: a value that equals it is enough, whatever the last bit of a float says."""


class _Count(NamedTuple):
    """A count that must be 0: its metric, what is wrong where it is not, and True if what runs today may have it."""

    metric: str
    kind: Kind
    allowed_today: bool = False


COUNTS = (
    _Count("prompt.invalid", "invalid_prompts"),
    _Count("prompt.task_missing", "task_missing"),
    _Count("prompt.system_missing", "system_missing"),
    _Count("changed.values", "changed_values", True),
    _Count("changed.errors_hidden", "hidden_errors", True),
)
INVENTED = "changed.invented"


def able(comparison: Comparison) -> tuple[str, ...]:
    """The strategies that compete: the declared ones, what is run today and keeping everything; none that reads the future or keeps nothing."""
    named = (*comparison.strategies, *(name for name in (RUN_TODAY, KEEPS_ALL) if name in comparison.references))
    return tuple(name for name in named if name not in NEVER and not _reads_the_future(slots_of(comparison, name)))


def slots_of(comparison: Comparison, name: str) -> str:
    """The slots of a strategy as they were written, without its name."""
    return comparison.signature.strategies.get(name, "")[len(name) + 1 :]


def _reads_the_future(spec: str) -> bool:
    """True if a compactor of a strategy's slots knows what later turns need.

    >>> _reads_the_future("compactor=floor:recall=0.9"), _reads_the_future("summarizer=truncate:limit=5")
    (True, False)
    >>> _reads_the_future("summarizer=truncate:limit=5+compactor=floor:recall=0.9"), _reads_the_future("")
    (True, False)
    """
    knowing = {name for name, entry in entries("compactor").items() if entry.meta.get("needs_future")}
    slots = (part.partition("=") for part in split_top(spec, "+"))
    return any(slot == "compactor" and parse_spec(written).target in knowing for slot, _, written in slots)


def price_metric(comparison: Comparison, cache: Economy | None = None) -> str:
    """The metric of prices, in the comparison's economy or another: dollars, or tokens where some run has no price under any strategy."""
    dollars = DOLLARS[cache or comparison.cache]
    rows = [[comparison.rows.get(name, dollars, case) for name in able(comparison)] for case in comparison.case_ids]

    def is_unpriced(row: Row | None) -> bool:
        """True if a run could have been made and its model has no listed price."""
        known = row is not None and (row.finite is not None or row.reason == NOTHING)
        return row is None or not (known or (row.reason or "").startswith(DOES_NOT_FIT))

    unpriced = any(all(map(is_unpriced, of_case)) for of_case in rows)
    return TOKENS if unpriced or not comparison.cases else dollars


def decide(comparison: Comparison) -> Choice:
    """Apply the rule of this file to a comparison. Its limits are `max_fault_rate` and `min_far_recall`.

    The declared strategies, `recorded` and `keep_all` compete; a reference that reads the future, or keeps nothing, never wins. Where a run has no
    listed price, all are judged by tokens. The advice without the provider's cache, or with it, is beside it where that names another strategy.

    >>> from bench.metrics import example
    >>> from bench.run.verbs import compare
    >>> decide(compare([example().trace], ["drop_all"])).advice.outcome
    'keep'
    """
    choice = _Rule(comparison, comparison.cache).choice()
    if choice.advice.cache is None:
        return choice
    other = _Rule(comparison, OTHER[comparison.cache]).choice().advice
    same = other.cache is None or (other.outcome, other.named) == (choice.advice.outcome, choice.advice.named)
    return choice if same else replace(choice, advice=replace(choice.advice, elsewhere=other))


class _Rule:
    """The rule with all it looks at: the cases that are compared, their tasks, and every candidate's price on each."""

    def __init__(self, comparison: Comparison, cache: Economy) -> None:
        self.comparison, self.cache = comparison, cache
        self.names = able(comparison)
        self.metric = price_metric(comparison, cache)
        today = self._too_large(RUN_TODAY) if RUN_TODAY in self.names else frozenset()
        self.left_out = tuple(case for case in comparison.case_ids if case in today)
        if len(self.left_out) == len(comparison.cases):
            self.left_out = ()  # what runs today fits nowhere: no case is left without it
        self.cases = tuple(case for case in comparison.case_ids if case not in self.left_out)
        self.tasks = tasks([case for case in comparison.cases if case.id not in self.left_out])

    def _too_large(self, name: str) -> frozenset[str]:
        """The cases on which some prompt of a strategy exceeds the model's window."""
        rows = self.comparison.rows_of(name, OVERFLOWS)
        return frozenset(row.case for row in rows if row.case is not None and (row.finite or 0) > 0)

    def of(self, name: str, metric: str) -> Total:
        """One metric of one strategy over the cases that are compared."""
        return total(self.comparison, name, metric, self.cases)

    def choice(self) -> Choice:
        """Every candidate, and the advice."""
        candidates = self._judged_together([self._candidate(name) for name in self.names])
        unit = self.comparison.metrics[self.metric].unit if self.metric in self.comparison.metrics else "tokens"
        return Choice(
            candidates=candidates,
            advice=self._advice(candidates, unit),
            metric=self.metric,
            unit=unit,
            cases=len(self.comparison.cases),
            compared=len(self.cases),
            tasks=len(self.tasks),
            max_fault_rate=self.comparison.max_fault_rate,
            min_far_recall=self.comparison.min_far_recall,
            left_out=self.left_out,
            unchecked=tuple(self._unchecked()),
            impossible=int(self.of(KEEPS_ALL, OVERFLOWS).known),
        )

    def _candidate(self, name: str) -> Candidate:
        too_large = self._too_large(name)
        fits = [case for case in self.cases if case not in too_large]
        price = total(self.comparison, name, self.metric, fits)
        measured = {row.case or "": row for row in self.of(name, FAULTS).rows}
        faults = {case: row.most or 0.0 for case, row in measured.items()}
        far = {row.case or "": row.least or 0.0 for row in self.of(name, FAR).rows}
        rate, recall = over_tasks(faults, self.tasks), over_tasks(far, self.tasks)
        worst = max(faults, key=lambda case: faults[case], default=None)
        runs = [case.runs.get(name) for case in self.comparison.cases]
        served, prompts = (total(self.comparison, name, metric, fits) for metric in (CACHED, PROMPTS))
        return Candidate(
            strategy=name,
            price_a_run=price.a_run,
            cases=len(price.rows),
            fault_rate=rate,
            far_recall=recall,
            worst_case=worst,
            worst_fault_rate=None if worst is None else faults[worst],
            worst_turns=0 if worst is None else round(measured[worst].n),
            at_least=price.at_least,
            never_acted=name not in (RUN_TODAY, KEEPS_ALL)
            and all(run is not None and run.same_prompts for run in runs),
            saving=self._saving(name, price),
            cached_share=served.known / prompts.known if served.rows and prompts.known and not served.unknown else None,
            spent=self._spent(name, price),
            obstacles=tuple(self._obstacles(name, price, rate, recall)),
        )

    def _spent(self, name: str, price: Total) -> Spent | None:
        """The money of a run by its use, as means over the priced cases."""
        cases = (self.comparison.by_case[row.case] for row in price.rows if row.case is not None)
        parts = [case.runs[name].spent.get(self.cache) for case in cases if name in case.runs]
        known = [part for part in parts if part is not None]
        if self.metric == TOKENS or not known or None in parts:
            return None
        mean = {field: sum(getattr(part, field) for part in known) / len(known) for field in Spent.__struct_fields__}
        return Spent(**mean)

    def _headroom(self, candidates: Sequence[Candidate]) -> Headroom | None:
        """The most that can be saved: by perfect foresight, or by what qualifies and is cheaper still."""
        theirs = {row.case: row.finite or 0.0 for row in self.of(RUN_TODAY, self.metric).rows}
        least = {row.case: row.finite or 0.0 for row in self.of(FLOOR, self.metric).rows if row.case in theirs}
        if not least or self.metric not in self.comparison.metrics:
            return None
        today, floor = (sum(found[case] for case in least) / len(least) for found in (theirs, least))
        savings = [-item.saving.a_run for item in candidates if item.qualifies and item.saving is not None]
        most = max(0.0, today - floor, *savings)
        return Headroom(today, floor, most, most / today if today else 0.0, len(least))

    def _saving(self, name: str, price: Total) -> Saving | None:
        """The difference to what is run today over the cases that both can run; None where there is none to state."""
        theirs = {row.case: row.finite for row in self.of(RUN_TODAY, self.metric).rows}
        pairs = {row.case: (row.finite, theirs[row.case]) for row in price.rows if row.case in theirs}
        known = {case: (a, b) for case, (a, b) in pairs.items() if case and a is not None and b is not None}
        if name == RUN_TODAY or RUN_TODAY not in self.names or not known or price.unknown:
            return None
        ours, today = (sum(pair[side] for pair in known.values()) for side in (0, 1))
        grouped = [[known[case] for case in cases if case in known] for cases in self.tasks]
        by_task = [(sum(a for a, _ in group), sum(b for _, b in group)) for group in grouped if group]
        moved = [0 if abs(a - b) <= NOISE_FLOOR * abs(b) else -1 if a < b else 1 for a, b in by_task]
        return Saving(
            a_run=(ours - today) / len(known),
            relative=(ours - today) / today if today else (0.0 if ours == today else None),
            cases=len(known),
            tasks=len(by_task),
            cheaper=moved.count(-1),
            equal=moved.count(0),
            dearer=moved.count(1),
            p=chance(by_task),
        )

    def _obstacles(self, name: str, price: Total, rate: float | None, far: float | None) -> Iterator[Obstacle]:
        """Why a strategy does not qualify, the gravest first."""
        today = name == RUN_TODAY
        failed = next(iter(self.comparison.failures.get(name, ())), None)
        if failed is not None:
            yield Obstacle("raised", case=failed[0], reason=failed[1].error)
            return
        unstable = next(iter(self.comparison.unstable.get(name, ())), None)
        if unstable is not None:
            yield Obstacle("unstable", case=unstable)
        beyond = self._too_large(name) & {*self.cases}
        if beyond:
            yield Obstacle("overflows", count=len(beyond), case=min(beyond))
        for count in COUNTS:
            if today and count.allowed_today:
                continue
            found = self.of(name, count.metric)
            if found.known > 0:
                yield Obstacle(count.kind, count=int(found.known))
            elif found.missing is not None:
                yield self._unmeasured(count.metric, found)
        if not today:
            yield from self._of_loss(name, rate, far)
        yield from self._of_gates(name)
        if price.missing is not None or (not price.rows and not beyond):
            yield self._unmeasured(self.metric, price)

    def _of_loss(self, name: str, rate: float | None, far: float | None) -> Iterator[Obstacle]:
        """The share it invents, the share of turns that would have missed something, and its recall from far back: means over tasks."""
        comparison = self.comparison
        invented = over_tasks({row.case or "": row.finite or 0.0 for row in self.of(name, INVENTED).rows}, self.tasks)
        limits: tuple[tuple[str, Kind, float | None, float, int], ...] = (
            (INVENTED, "invented", invented, MAX_INVENTED, 1),
            (FAULTS, "faults", rate, comparison.max_fault_rate, 1),
            (FAR, "far", far, comparison.min_far_recall, -1),
        )
        for metric, kind, value, limit, sign in limits:
            found = self.of(name, metric)
            if found.missing is not None:
                yield self._unmeasured(metric, found)
            elif value is not None and sign * (value - limit) > ROUNDING:
                yield Obstacle(kind, value=value, limit=limit)
            elif value is None and metric == FAULTS:
                yield self._unmeasured(metric, found)

    @staticmethod
    def _unmeasured(metric: str, found: Total) -> Obstacle:
        case, reason = found.missing or (None, NOTHING)
        return Obstacle("unmeasured", metric=metric, case=case, reason=reason)

    def _of_gates(self, name: str) -> Iterator[Obstacle]:
        judged: tuple[tuple[str, Kind], ...] = (("fail", "gates"), ("inconclusive", "undecided"))
        for outcome, kind in judged:
            verdicts = self.comparison.verdicts
            gates = tuple(item.gate for item in verdicts if (item.strategy, item.outcome) == (name, outcome))
            if gates and not (outcome == "inconclusive" and self.comparison.allow_inconclusive):
                yield Obstacle(kind, count=len(gates), gates=gates)

    def _judged_together(self, candidates: list[Candidate]) -> tuple[Candidate, ...]:
        """The candidates, sorted, with the odds of their savings although the best of many is picked."""
        claims = {item.strategy: item.saving.p for item in candidates if item.qualifies and item.saving is not None}
        known = corrected(claims)
        judged = []
        for item in candidates:
            saving, odds = item.saving, known.get(item.strategy)
            if saving is not None and odds is not None and (saving.relative or 0.0) <= -NOISE_FLOOR:
                saving = replace(saving, corrected=odds)
            judged.append(replace(item, saving=saving))
        return tuple(sorted(judged, key=self._order))

    @staticmethod
    def _order(item: Candidate) -> tuple[bool, bool, float, float, str]:
        """Those that qualify first, the cheapest first; at one price who loses less."""
        price = item.price_a_run
        return not item.qualifies, price is None, float(f"{price or 0.0:.9g}"), item.fault_rate or 0.0, item.strategy

    def _advice(self, candidates: tuple[Candidate, ...], unit: str) -> Advice:
        able_ones = [item for item in candidates if item.qualifies]
        today = next((item for item in able_ones if item.strategy == RUN_TODAY), None)
        others = [item for item in able_ones if item != today]
        sure = (item for item in others if item.saving is not None and item.saving.sure)
        subject = next(sure, today) if today is not None else next(iter(others), None)
        told = [case.recording for case in self.comparison.cases]
        rest = [item for item in able_ones if item != subject and item.strategy != KEEPS_ALL]
        rest.sort(key=lambda item: item.never_acted)  # what never acted is what is run today
        alternative = None if subject is None else next(iter(rest), None)
        spoken_of = subject if subject != today else alternative
        advice = Advice(
            outcome="nobody",
            subject=None,
            unit=unit,
            cache=None if self.metric == TOKENS else self.cache,
            headroom=self._headroom(candidates),
            unknown_prompts=sum(not item.prompts_known for item in told),
            unknown_cache=sum(not item.counting.cache_known for item in told),
        )
        near = None if spoken_of is None else nearest(slots_of(self.comparison, spoken_of.strategy))
        return advice.about(subject, alternative, near)

    def _unchecked(self) -> Iterator[Unchecked]:
        """Parts of the rule that could not be checked and were held against nobody."""
        known = self.comparison.metrics
        if "prompt.invalid" not in known or "prompt.task_missing" not in known:
            yield "prompts"
        if OVERFLOWS not in known or any(self.of(name, OVERFLOWS).missing for name in self.names):
            yield "window"
        if any(metric not in known for metric in ("changed.values", "changed.errors_hidden", INVENTED)):
            yield "changed"
        if FAR not in known:
            yield "far"
        elif not any(found.rows or found.unknown for found in (self.of(name, FAR) for name in self.names)):
            yield "nothing_far"
