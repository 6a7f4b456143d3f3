"""One recording measured under every strategy, with values from the cache where it has them."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from ..evidence.checks import CheckedReplay
from ..evidence.contents import TraceContents
from ..evidence.detail import detail_of
from ..evidence.index import index_trace
from ..evidence.session import TraceSession
from ..model import Failure, Trace
from ..model.advice import TODAY
from ..model.detail import ReplayDetail
from ..model.errors import BenchError, one_line
from ..model.index import TraceIndex
from ..model.replay import Replay
from ..model.scores import MeasuredRun, RunFacts, Score
from ..replayer.replaying import Replayer
from ..strategies import Strategy, parse_strategy
from .cache import Cache, TraceCache, prompts_digest, replay_digest
from .scoring import facts_of, failed_score, score_of

_OBJECTS = 100_000


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
    """The settings with which every run of a comparison is measured; workers get them.

    `model` applies to runs that name none, `cache` has values of earlier runs.
    """

    strategies: tuple[Strategy, ...] = ()
    model: str | None = None
    cache: Cache | None = None


class RunSession:
    """One recording while it is measured. Its index, replays and evidence are made on demand.

    `index` is the trace's if it is known already. With `again` user code is replayed a second time,
    and must answer the same.
    """

    def __init__(
        self,
        trace: Trace,
        measuring: Measuring,
        index: TraceIndex | None = None,
        again: bool = True,
    ) -> None:
        self.trace, self._measuring = trace, measuring
        self._cache = TraceCache(measuring.cache, trace, measuring.model or "")
        self._known_index, self._again = index, again
        self._scores: list[tuple[Replay, Score]] = []

    # ------------------------------------------------------------ made once, of the trace alone

    @cached_property
    def _contents(self) -> TraceContents:
        return TraceContents(self.trace, self._cache.get_or_make)

    @cached_property
    def index(self) -> TraceIndex:
        """The index of the trace."""

        def make() -> TraceIndex:
            return index_trace(self.trace, model=self._measuring.model, contents=self._contents)

        return self._known_index or self._cache.get_or_make(TraceIndex, "index", make)

    @cached_property
    def session(self) -> TraceSession:
        """The values that the evidence of all replays shares."""
        this = weakref.proxy(self)  # no circle: what is done with goes without a search for it
        return TraceSession(self.trace, self.index, self._contents, lambda: this._lacking())

    def _lacking(self) -> list[tuple[int, int]]:
        """The instructions missing in the recorded prompts, by step and place."""

        def make() -> list[tuple[int, int]]:
            return [(item.step, at) for item in self.recorded.lacking for at in item.missing]

        return self._cache.get_or_make(list[tuple[int, int]], "lacking", make)

    @cached_property
    def replayer(self) -> Replayer:
        """Replays the trace, counting as the evidence does."""
        return Replayer(self.trace, self.index, self.session.messages.count, self._contents)

    @cached_property
    def recorded(self) -> CheckedReplay:
        """The evidence of what the recorded system did."""
        return CheckedReplay(self.session, self.replayer.replay(parse_strategy(TODAY)))

    @property
    def _recorded_prompts(self) -> str:
        """The digest of the recorded prompts."""
        return self._cache.get_or_make(
            str, "recorded prompts", lambda: prompts_digest(self.recorded.replay)
        )

    # ------------------------------------------------------------ of one strategy

    def evidence(self, strategy: Strategy) -> CheckedReplay:
        """The evidence of one replay."""
        if strategy.name == TODAY:
            return self.recorded
        return CheckedReplay(self.session, self.replayer.replay(strategy, again=self._again))

    def score(self, strategy: Strategy) -> Score:
        """The score of one strategy; a strategy that cannot be measured has failed.

        The cache knows a strategy of the bench by its spec. Other code is always replayed, and
        known by the bytes of its replay.
        """
        evidence, about = None, strategy.spec
        if not strategy.shipped:
            evidence = self.evidence(strategy)
            about = replay_digest(evidence.replay) if self._cache else ""

        def make() -> Score:
            return self._score_of(strategy, evidence or self.evidence(strategy))

        score = self._cache.get_or_make(
            Score, ("score", about), make, lambda score: score.failure is None
        )
        return msgspec.structs.replace(score, strategy=strategy.name)

    def _score_of(self, strategy: Strategy, evidence: CheckedReplay) -> Score:
        """The score of a replay; equal replays are measured once.

        Raises where a strategy of the bench cannot be measured.
        """
        nameless = msgspec.structs.replace(evidence.replay, strategy="", spec="")
        for known, score in self._scores:
            if known == nameless:
                return score
        failure = evidence.replay.failure
        try:
            if failure is None:
                score = score_of(evidence, self._recorded_prompts)
        except Exception as error:
            if not strategy.has_user_code:
                raise
            problem = f"cannot be measured: {one_line(error)}"
            failure = Failure(step=-1, slot="strategy", error=problem)
        if failure is not None:
            score = failed_score(strategy, failure)
        self._scores.append((nameless, score))
        return score

    # ------------------------------------------------------------ of the run

    def measured(self) -> MeasuredRun:
        """The recording under every strategy."""
        about = "facts", self.trace.source.format
        facts = self._cache.get_or_make(
            RunFacts, about, lambda: facts_of(self.trace, self.recorded)
        )
        scores = tuple(map(self.score, self._measuring.strategies))
        return MeasuredRun(id=self.trace.id, facts=facts, scores=scores)

    def details(self, names: Sequence[str]) -> tuple[ReplayDetail, ...]:
        """The details of some strategies for a report, without those that fail."""
        strategies = [item for item in self._measuring.strategies if item.name in names]
        if not all(item.shipped for item in strategies):
            return self._details(strategies)
        about = "details", self.trace.id, *(f"{item.name}={item.spec}" for item in strategies)
        kind = tuple[ReplayDetail, ...]
        return self._cache.get_or_make(kind, about, lambda: self._details(strategies))

    def _details(self, strategies: Sequence[Strategy]) -> tuple[ReplayDetail, ...]:
        """The details of strategies compared with today's, without those that fail."""
        evidences = {}
        for strategy in strategies:
            with contextlib.suppress(BenchError):
                evidences[strategy.name] = self.evidence(strategy)
        today = evidences.pop(TODAY, None)
        others = (evidence for evidence in evidences.values() if evidence.replay.failure is None)
        return () if today is None else tuple(detail_of(evidence, today) for evidence in others)
