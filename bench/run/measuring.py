"""One run under every strategy, measured: the unit of work of a comparison."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from ..evidence.checks import CheckedReplay
from ..evidence.checks.own import own_texts, template_lines
from ..evidence.contents import TraceContents
from ..evidence.index import index_trace
from ..evidence.of_replay import TraceSession
from ..metrics import metrics
from ..model import Failure, Trace, compact_json
from ..model.errors import one_line
from ..model.index import TraceIndex
from ..model.replay import Replay
from ..model.scores import Check, Finding, MeasuredRun, Number, RunFacts, Score
from ..replayer.replaying import Replayer
from ..strategies import Strategy, parse_strategy
from ..tokens.caching import cache_rule
from ..tokens.prices import provider_of
from .kept import Kept, replay_digest

RECORDED = "recorded"
"""The reference that does what the recorded system itself did."""

_CONSTANT_TEXTS, _CONSTANT_CHARS = 5, 200


@dataclass(frozen=True)
class Measuring:
    """The settings with which every run of a comparison is measured.

    `model` is that of runs which name none; without `calibrate` tokens follow the plain rule.
    """

    strategies: tuple[Strategy, ...]
    model: str | None = None
    calibrate: bool = True


def labelled(trace: Trace, labels: Mapping[str, Any] | None) -> Trace:
    """A trace with what a scenario adds to its labels."""
    if not labels:
        return trace
    return msgspec.structs.replace(trace, labels={**trace.labels, **labels})


class RunSession:
    """One recording while it is measured: its index, and its replays under strategies."""

    def __init__(self, trace: Trace, measuring: Measuring, kept: Kept | None = None, *, twice: bool = True) -> None:
        about = measuring.model or "", measuring.calibrate
        contents = TraceContents(trace)

        def make() -> TraceIndex:
            return index_trace(trace, model=measuring.model, calibrate=measuring.calibrate, contents=contents)

        key = "index", trace.sha256, *about
        self.trace = trace
        self.index = make() if kept is None else kept.value(TraceIndex, key, make)
        self.session = TraceSession(trace, self.index, contents)
        self.replayer = Replayer(trace, self.index, self.session.messages.count)
        self.as_recorded = CheckedReplay(self.session, self.replayer.replay(parse_strategy(RECORDED)))
        self._kept, self._about = kept, (trace.sha256, *about, compact_json(trace.labels))
        self._twice = twice

    @functools.cached_property
    def recorded(self) -> CheckedReplay:
        """The evidence of what the recorded system did. What its own prompts lacked is held against nobody."""
        self.session.excuse(self.as_recorded)
        return CheckedReplay(self.session, self.as_recorded.replay)

    def evidence(self, strategy: Strategy) -> CheckedReplay:
        """The evidence of one replay."""
        return self._evidence(strategy, self._replay(strategy))

    def _evidence(self, strategy: Strategy, replay: Replay) -> CheckedReplay:
        recorded = self.recorded
        return recorded if strategy.name == RECORDED else CheckedReplay(self.session, replay)

    def _replay(self, strategy: Strategy) -> Replay:
        known = self.as_recorded.replay
        return known if strategy.name == RECORDED else self.replayer.replay(strategy, twice=self._twice)

    def score(self, strategy: Strategy) -> Score:
        """The score of one strategy, as it was kept for an equal replay or measured now. One that cannot be measured has failed."""
        replay = self._replay(strategy)
        if replay.failure is not None:
            return failed_score(strategy, replay.failure)

        def make() -> Score:
            return self._scored(strategy, replay)

        if self._kept is None or replay.unstable_at is not None:
            return make()
        key = "score", *self._about, replay_digest(replay)
        score = self._kept.value(Score, key, make, lambda measured: measured.failure is None)
        return msgspec.structs.replace(score, strategy=strategy.name)

    def _scored(self, strategy: Strategy, replay: Replay) -> Score:
        """The score of a replay. A strategy of the bench that cannot be measured raises: that is our fault."""
        evidence = self._evidence(strategy, replay)
        try:
            return score_of(evidence, self.recorded.replay)
        except Exception as error:
            if not strategy.own:
                raise
            failure = Failure(step=-1, slot="strategy", error=f"cannot be measured: {one_line(error)}")
            return failed_score(strategy, failure)


def measure(
    trace: Trace,
    measuring: Measuring,
    labels: Mapping[str, Any] | None = None,
    kept: Kept | None = None,
    *,
    twice: bool = True,
) -> MeasuredRun:
    """One recording under every strategy; with `twice` user code is replayed a second time, and must answer the same.

    `labels` are what a scenario adds to those of the trace (routes, probes): they change what is
    asked of a recording, not the recording. `kept` has what earlier runs gave.

    >>> from bench.metrics import example
    >>> run = measure(example().trace, Measuring((parse_strategy("keep_all"),)))
    >>> [(score.strategy, score.numbers["needed.recall"].value) for score in run.scores]
    [('keep_all', 1.0)]
    """
    session = RunSession(labelled(trace, labels), measuring, kept, twice=twice)
    return MeasuredRun(
        id=trace.id,
        facts=facts_of(trace, session),
        scores=tuple(map(session.score, measuring.strategies)),
        questions_sha256=_sha256(compact_json(labels)) if labels else "",
    )


def score_of(evidence: CheckedReplay, recorded: Replay) -> Score:
    """The numbers and checks of one replay."""
    replay = evidence.replay
    unstable = replay.unstable_at
    findings = () if unstable is None else (Finding(unstable, "two replays gave different answers"),)
    ran = Check(hits=len(findings), of=1, findings=findings)
    texts = list(own_texts(evidence))
    constant = sorted(template_lines(texts), key=lambda line: (-len(line), line))
    return Score(
        strategy=replay.strategy,
        numbers={name: item.number(evidence) for name, item in metrics().items()},
        checks={"ran": ran, **evidence.checks},
        unstable_at=unstable,
        acted=_acted(replay, recorded),
        constant_texts=tuple(line[:_CONSTANT_CHARS] for line in constant[:_CONSTANT_TEXTS]),
    )


def failed_score(strategy: Strategy, failure: Failure) -> Score:
    """The score of a strategy that failed: no number, and the reason."""
    reason = failure.text
    ran = Check(hits=1, of=1, findings=(Finding(None if failure.of_process else failure.step, reason),))
    numbers = {name: Number(None, 0.0, reason) for name in metrics()}
    return Score(strategy=strategy.name, numbers=numbers, checks={"ran": ran}, failure=failure)


def _acted(replay: Replay, recorded: Replay) -> bool:
    """True if a replay shows, stores, judges or routes anything otherwise than the recording did."""
    if (replay.calls, replay.written) != (recorded.calls, recorded.written) or replay.decisions:
        return True
    return any(
        one.record.value != other.record.value or one.evaluation or one.reply
        for one, other in zip(replay.results, recorded.results, strict=True)
    )


def facts_of(trace: Trace, session: RunSession) -> RunFacts:
    """Facts about the recording itself, the same for every strategy."""
    index = session.index
    usage = {t.index: t.usage for t in trace.model_turns if t.usage and t.usage.prompt_tokens}
    counted = [call.prompt_tokens for call in session.as_recorded.walked.priced if call.step in usage]
    return RunFacts(
        sha256=trace.sha256,
        format=trace.source.format,
        task=trace.task,
        model=index.model,
        turns=len(trace.model_turns),
        results=len(trace.results),
        threads=len({turn.thread for turn in trace.model_turns}) or 1,
        cut=sum(r.truncated_at_source or r.recorded_text != r.text for r in trace.results),
        skipped=dict(trace.left_out),
        prompts_known=trace.labels.get("prompts") != "unknown",
        cache_shares=_cache_shares(trace, index),
        encoding=index.encoding,
        encoding_assumed=index.encoding_assumed,
        counted_tokens=sum(counted),
        reported_tokens=sum(item.prompt_tokens for item in usage.values()),
    )


def _cache_shares(trace: Trace, index: TraceIndex) -> Literal["recorded", "assumed", ""]:
    """The source of what the cache serves: the recording's usage, else the provider's rule; "" without any cache."""
    if any(t.usage is not None and t.usage.cached_prompt_tokens is not None for t in trace.model_turns):
        return "recorded"
    return "" if cache_rule(provider_of(index.model), index.model) is None else "assumed"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
