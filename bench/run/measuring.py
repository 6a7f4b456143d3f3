"""Measuring of one recording under every strategy: index, replays, numbers and checks, from the
cache where it has them."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

import msgspec

from ..evidence.checks import checks_of
from ..evidence.checks.findings import wording_of
from ..evidence.checks.instructed import missing_instructions
from ..evidence.contents import TraceContents
from ..evidence.detail import detail_of
from ..evidence.index import index_trace
from ..evidence.of_replay import ReplayEvidence
from ..evidence.result_diff import added_lines
from ..evidence.session import TraceSession
from ..metrics import metrics, numbers_of
from ..model import ContextEdit, ContextReset, Failure, Trace
from ..model.advice import TODAY
from ..model.detail import ReplayDetail
from ..model.errors import BenchError, one_line
from ..model.index import TraceIndex
from ..model.replay import Replay
from ..model.scores import Check, Finding, MeasuredRun, Number, RunFacts, Score
from ..replayer.replaying import Replayer
from ..strategies import Strategy, parse_strategy
from ..strategies.slots import is_written_alike
from ..tokens.caching import rule_of
from .cache import Cache, prompts_digest, replay_digest
from .judgements import judgement_checks

_Value = TypeVar("_Value")
_OBJECTS = 100_000
"""The new objects after which Python collects garbage."""
_CONSTANT_TEXTS, _CONSTANT_CHARS = 5, 200
"""How many of the lines in most of a strategy's texts a score has, and the most characters of each."""


@contextlib.contextmanager
def rare_collection() -> Iterator[None]:
    """A context in which Python's garbage collector runs rarely.

    The index of a large result has millions of values without cycles, and collections took a
    quarter of the time.
    """
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@dataclass(frozen=True)
class Measuring:
    """The settings with which every run of a comparison is measured; they are sent to workers.

    `model` applies to runs that name none, `cache` has values of earlier comparisons.
    """

    strategies: tuple[Strategy, ...] = ()
    model: str | None = None
    cache: Cache | None = None


class RunSession:
    """One recording while it is measured. Its index, replays and evidence are made on demand.

    With `again` user code is replayed a second time, and must answer the same.
    """

    def __init__(self, trace: Trace, measuring: Measuring, again: bool = True) -> None:
        self.trace, self._measuring, self._again = trace, measuring, again
        self._scores: list[tuple[Replay, Score]] = []

    def _cached(self, kind: type[_Value], name: object, make: Callable[[], _Value]) -> _Value:
        """The value with a name from the cache; if it is not there, it is made and stored."""
        cache, key = self._measuring.cache, (name, self.trace.sha256, self._measuring.model or "")
        known = None if cache is None else cache.get(kind, *key)
        if known is not None:
            return known
        value = make()
        if cache is not None:
            cache.put(value, *key)
        return value

    # ------------------------------------------------------------ of the trace alone, made once

    @cached_property
    def _contents(self) -> TraceContents:
        this = weakref.proxy(self)  # no reference cycle, so that memory is freed at once
        return TraceContents(self.trace, lambda *arguments: this._cached(*arguments))

    @cached_property
    def index(self) -> TraceIndex:
        """The index of the trace."""

        def make() -> TraceIndex:
            return index_trace(self.trace, model=self._measuring.model, contents=self._contents)

        return self._cached(TraceIndex, "index", make)

    @cached_property
    def session(self) -> TraceSession:
        """The values that the evidence of all replays shares."""
        this = weakref.proxy(self)
        return TraceSession(self.trace, self.index, self._contents, lambda: this._excused())

    def _excused(self) -> list[tuple[int, int]]:
        """The instructions missing in the recorded prompts, by step and place."""

        def make() -> list[tuple[int, int]]:
            calls, missing = self.recorded.walked.calls, missing_instructions(self.recorded)
            pairs = zip(calls, missing, strict=True)
            return [(call.step, place) for call, places in pairs for place in places]

        return self._cached(list[tuple[int, int]], "missing instructions", make)

    @cached_property
    def replayer(self) -> Replayer:
        """Replays the trace, counting as the evidence does."""
        return Replayer(self.trace, self.index, self.session.messages.count, self._contents)

    @cached_property
    def recorded(self) -> ReplayEvidence:
        """The evidence of what the recorded system did."""
        return ReplayEvidence(self.session, self.replayer.replay(parse_strategy(TODAY)))

    # ------------------------------------------------------------ of one strategy

    def evidence(self, strategy: Strategy) -> ReplayEvidence:
        """The evidence of one replay."""
        if strategy.name == TODAY:
            return self.recorded
        return ReplayEvidence(self.session, self.replayer.replay(strategy, again=self._again))

    def score(self, strategy: Strategy) -> Score:
        """The score of one strategy; a strategy that cannot be measured has failed.

        The key in the cache is the spec of a strategy of the bench. Other code is always replayed,
        and the key is the bytes of its replay. Errors of a strategy of the bench are raised.
        """
        evidence, key = None, strategy.spec
        if not strategy.shipped:
            evidence = self.evidence(strategy)
            key = replay_digest(evidence.replay) if self._measuring.cache else ""
        try:
            score = self._cached(
                Score, ("score", key), lambda: self._score_of(evidence or self.evidence(strategy))
            )
        except Exception as error:
            if not strategy.has_user_code:
                raise
            problem = f"cannot be measured: {one_line(error)}"
            score = failed_score(Failure(step=-1, slot="strategy", error=problem))
        return msgspec.structs.replace(score, strategy=strategy.name)

    def _score_of(self, evidence: ReplayEvidence) -> Score:
        """The score of a replay; equal replays are measured once."""
        if evidence.replay.failure is not None:
            return failed_score(evidence.replay.failure)
        nameless = msgspec.structs.replace(evidence.replay, strategy="", spec="")
        for known, score in self._scores:
            if known == nameless:
                return score
        recorded = self._cached(
            str, "recorded prompts", lambda: prompts_digest(self.recorded.replay)
        )
        score = score_of(evidence, recorded)
        self._scores.append((nameless, score))
        return score

    # ------------------------------------------------------------ of the run

    def measured(self) -> MeasuredRun:
        """The recording under every strategy."""
        name = "facts", self.trace.source.format
        facts = self._cached(RunFacts, name, lambda: facts_of(self.trace, self.recorded))
        scores = tuple(map(self.score, self._measuring.strategies))
        return MeasuredRun(id=self.trace.id, facts=facts, scores=scores)

    def details(self, names: Sequence[str]) -> tuple[ReplayDetail, ...]:
        """The details of some strategies for a report, without those that fail."""
        strategies = [item for item in self._measuring.strategies if item.name in names]
        if not all(item.shipped for item in strategies):
            return self._details(strategies)
        name = "details", self.trace.id, *(f"{item.name}={item.spec}" for item in strategies)
        return self._cached(tuple[ReplayDetail, ...], name, lambda: self._details(strategies))

    def _details(self, strategies: Sequence[Strategy]) -> tuple[ReplayDetail, ...]:
        """The details of strategies compared with today's, without those that fail."""
        evidences = {}
        for strategy in strategies:
            with contextlib.suppress(BenchError):
                evidences[strategy.name] = self.evidence(strategy)
        today = evidences.pop(TODAY, None)
        others = (evidence for evidence in evidences.values() if evidence.replay.failure is None)
        return () if today is None else tuple(detail_of(evidence, today) for evidence in others)


# ---------------------------------------------------------------- scores and facts


def score_of(evidence: ReplayEvidence, recorded_prompts: str) -> Score:
    """The numbers and checks of one replay, without the strategy's name. `recorded_prompts` is the
    digest of the recorded prompts."""
    replay = evidence.replay
    unstable = replay.unstable_at
    why = "two replays gave different answers"
    findings = () if unstable is None else (Finding(unstable, why),)
    ran = Check(hits=len(findings), of=1, findings=findings)
    wording = wording_of(evidence)
    texts = evidence.generated_texts if wording else []
    added = {line.strip() for generated in texts for line in added_lines(generated)}
    constant = sorted(wording & added, key=lambda line: (-len(line), line))
    return Score(
        strategy="",
        numbers=numbers_of(evidence),
        checks={"ran": ran, **checks_of(evidence), **judgement_checks(evidence)},
        unstable_at=unstable,
        acted=_acted(evidence, recorded_prompts),
        constant_texts=tuple(line[:_CONSTANT_CHARS] for line in constant[:_CONSTANT_TEXTS]),
    )


def failed_score(failure: Failure) -> Score:
    """The score of a strategy that failed: no numbers, only the reason.

    >>> failed_score(Failure(step=3, slot="store", error="no")).numbers["cost.usd"]
    Number(value=None, weight=1.0, reason='store at step 3: no')
    """
    reason = failure.text
    ran = Check(hits=1, of=1, findings=(Finding(failure.step, reason),))
    numbers = {name: Number(None, reason=reason) for name in metrics()}
    return Score(strategy="", numbers=numbers, checks={"ran": ran}, failure=failure)


def _acted(evidence: ReplayEvidence, recorded_prompts: str) -> bool:
    """True if a replay differs from the recording in prompts, records, evaluations or routes."""
    replay = evidence.replay
    if replay.decisions or prompts_digest(replay) != recorded_prompts:
        return True
    return any(
        not is_written_alike(outcome.record.value, result.value)
        or outcome.evaluation
        or outcome.reply
        for outcome, result in zip(replay.results, evidence.trace.results, strict=True)
    )


def facts_of(trace: Trace, recorded: ReplayEvidence) -> RunFacts:
    """Facts about a recording itself, the same for every strategy."""
    index = recorded.index
    usage = {t.index: t.usage for t in trace.model_turns if t.usage and t.usage.prompt_tokens}
    counted = [call.prompt_tokens for call in recorded.walked.priced if call.step in usage]
    return RunFacts(
        sha256=trace.sha256,
        format=trace.source.format,
        task=trace.task,
        model=index.model,
        turns=len(trace.model_turns),
        results=len(trace.results),
        cut=sum(r.truncated_at_source or r.recorded_text != r.text for r in trace.results),
        cut_unknown=sum(r.truncated_at_source for r in trace.results),
        shortened=sum(isinstance(step, ContextReset | ContextEdit) for step in trace.steps),
        skipped=dict(trace.left_out),
        prompts_known=trace.labels.get("prompts") != "unknown",
        cache_shares=_cache_shares(trace, index),
        encoding=index.encoding,
        encoding_assumed=index.encoding_assumed,
        counted_tokens=sum(counted),
        reported_tokens=sum(item.prompt_tokens for item in usage.values()),
    )


def _cache_shares(trace: Trace, index: TraceIndex) -> Literal["recorded", "assumed", ""]:
    """Where the shares of cached tokens come from: the recorded usage, or the provider's rule; ""
    without a cache."""
    usages = (turn.usage for turn in trace.model_turns if turn.usage is not None)
    if any(usage.cached_prompt_tokens is not None for usage in usages):
        return "recorded"
    return "" if rule_of(index.model) is None else "assumed"
