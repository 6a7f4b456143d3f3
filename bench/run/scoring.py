"""The score of one replay and the facts about its recording; reads no file and starts no
process."""

from __future__ import annotations

from typing import Literal

from ..evidence.checks import CheckedReplay
from ..metrics import metrics, numbers_of
from ..model import Failure, Trace
from ..model.index import TraceIndex
from ..model.scores import Check, Finding, Number, RunFacts, Score
from ..strategies import Strategy
from ..strategies.slots import is_written_alike
from ..tokens.caching import rule_of
from .cache import prompts_digest

_CONSTANT_TEXTS, _CONSTANT_CHARS = 5, 200


def score_of(evidence: CheckedReplay, recorded_prompts: str) -> Score:
    """The numbers and checks of one replay. `recorded_prompts` is the digest of the recorded
    prompts."""
    replay = evidence.replay
    unstable = replay.unstable_at
    why = "two replays gave different answers"
    findings = () if unstable is None else (Finding(unstable, why),)
    ran = Check(hits=len(findings), of=1, findings=findings)
    texts = evidence.own_texts if evidence.wording else []
    added = {line.strip() for own in texts for line in own.new_lines}
    constant = sorted(evidence.wording & added, key=lambda line: (-len(line), line))
    return Score(
        strategy=replay.strategy,
        numbers=numbers_of(evidence),
        checks={"ran": ran, **evidence.checks},
        unstable_at=unstable,
        acted=_acted(evidence, recorded_prompts),
        constant_texts=tuple(line[:_CONSTANT_CHARS] for line in constant[:_CONSTANT_TEXTS]),
    )


def failed_score(strategy: Strategy, failure: Failure) -> Score:
    """The score of a strategy that failed: no numbers, only the reason.

    >>> from bench.strategies import parse_strategy
    >>> failed = failed_score(parse_strategy("keep_all"), Failure(step=3, slot="store", error="no"))
    >>> failed.numbers["cost.usd"]
    Number(value=None, weight=1.0, reason='store at step 3: no')
    """
    reason = failure.text
    ran = Check(hits=1, of=1, findings=(Finding(failure.step, reason),))
    numbers = {name: Number(None, reason=reason) for name in metrics()}
    return Score(strategy=strategy.name, numbers=numbers, checks={"ran": ran}, failure=failure)


def _acted(evidence: CheckedReplay, recorded_prompts: str) -> bool:
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


def facts_of(trace: Trace, recorded: CheckedReplay) -> RunFacts:
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
        skipped=dict(trace.left_out),
        prompts_known=trace.labels.get("prompts") != "unknown",
        cache_shares=_cache_shares(trace, index),
        encoding=index.encoding,
        encoding_assumed=index.encoding_assumed,
        counted_tokens=sum(counted),
        reported_tokens=sum(item.prompt_tokens for item in usage.values()),
    )


def _cache_shares(trace: Trace, index: TraceIndex) -> Literal["recorded", "assumed", ""]:
    """The source of the cache's shares: recorded usage, or the provider's rule; "" without a
    cache."""
    if any(
        t.usage is not None and t.usage.cached_prompt_tokens is not None for t in trace.model_turns
    ):
        return "recorded"
    return "" if rule_of(index.model) is None else "assumed"
