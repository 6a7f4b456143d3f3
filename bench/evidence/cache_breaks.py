"""Cache breaks of a recording: turns billed again for tokens that the provider's cache could have
served."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ..model import ContextEdit, ContextReset, ModelTurn, SystemTurn, ToolsChanged, Trace, Usage
from ..model.audit import BreakCause, CacheBreak, CacheReport
from ..tokens.caching import HOUR_S, CacheRule, idle_seconds, rule_of
from ..tokens.prices import unit_prices

_TOLERANCE = 0.01
"""The share of an expected read that may be missing, since providers cache blocks, not tokens."""

FEWEST_TOKENS = 1024
"""A smaller shortfall is a block or two that was not read, and not a break."""


class _Earlier(NamedTuple):
    """An earlier turn of a thread with its usage, and what has changed the prompt since then."""

    turn: ModelTurn
    usage: Usage
    changed: BreakCause | None = None


def cache_report(
    trace: Trace,
    model: str | None = None,
    elsewhere: Collection[int] = (),
    new_tokens: Mapping[int, int] | None = None,
) -> CacheReport:
    """The cache breaks of a recording, and the share of its turns that the cache model explains.

    A turn is expected to read what the turn before it in its thread read and wrote; where a
    provider does not report writes, the prompt before as far as the provider's rule reads it; never
    the messages that are new in its own prompt, whose tokens `new_tokens` gives by its step. A
    shortfall of more than 1 % (and of at least 1,024 tokens) is a break. It has a cause that the
    recording shows, or "unknown"; a turn is explained if it read what was expected, or broke for a
    cause that the recording shows. Turns without reported cache reads, and those `elsewhere`, are not
    judged.

    >>> from bench.model import Source, UserTurn
    >>> def turn(at, prompt, read, t):
    ...     usage = Usage(prompt_tokens=prompt, cached_prompt_tokens=read, cache_write_tokens=prompt - read)
    ...     return ModelTurn(index=at, model="claude-sonnet-4-5", usage=usage, t=t)
    >>> turns = (turn(0, 9000, 0, 0.0), turn(1, 9500, 9000, 9.0), turn(2, 9900, 0, 900.0))
    >>> trace = Trace(id="a", source=Source(format="x"), steps=turns)
    >>> report = cache_report(trace)
    >>> report.judged, report.explained, [(b.turn, b.tokens_again, b.cause) for b in report.breaks]
    (2, 2, [(3, 9500, 'lifetime over')])
    >>> cache_report(trace, new_tokens={2: 700}).breaks[0].tokens_again
    9200
    """
    judged = explained = 0
    breaks: list[CacheBreak] = []
    for number, earlier, turn, usage in _pairs(trace):
        rule = rule_of(turn.model or model)
        if rule is None or turn.index in elsewhere:
            continue
        judged += 1
        sent_before = usage.prompt_tokens - (new_tokens or {}).get(turn.index, 0)
        expected = min(_left_in_cache(earlier, rule), max(0, sent_before))
        short = expected - (usage.cached_prompt_tokens or 0)
        if short < max(FEWEST_TOKENS, _TOLERANCE * expected):
            explained += 1
            continue
        idle_s = idle_seconds(earlier.turn, turn)
        cause = _cause(earlier, turn, rule, idle_s, model)
        explained += cause != "unknown"
        breaks.append(
            CacheBreak(
                step=turn.index,
                turn=number,
                thread=turn.thread,
                tokens_again=short,
                cause=cause,
                idle_s=idle_s,
                usd=_extra_usd(turn, usage, short, trace, model),
            )
        )
    return CacheReport(judged=judged, explained=explained, breaks=tuple(breaks))


def _pairs(trace: Trace) -> Iterator[tuple[int, _Earlier, ModelTurn, Usage]]:
    """Yield each turn that reports its cache reads, with its number from 1 and the turn before it
    in its thread that reports them too."""
    last: dict[str, _Earlier] = {}
    number = 0
    for step in trace.steps:
        before = last.get(step.thread)
        if isinstance(step, ModelTurn):
            number += 1
            usage = step.usage
            if usage is None or usage.cached_prompt_tokens is None:
                continue
            if before is not None:
                yield number, before, step, usage
            last[step.thread] = _Earlier(step, usage)
        elif before is not None:
            changed = _changed_by(step)
            if changed is not None and before.changed is None:
                last[step.thread] = before._replace(changed=changed)


def _changed_by(step: object) -> BreakCause | None:
    if isinstance(step, ContextReset):
        return "compaction"
    if isinstance(step, ContextEdit):
        return "prefix edited"
    return "tools or system prompt changed" if isinstance(step, ToolsChanged | SystemTurn) else None


def _left_in_cache(earlier: _Earlier, rule: CacheRule) -> int:
    """The tokens that a turn left in the cache: its reported reads and writes, else its prompt by
    the cache rule."""
    usage = earlier.usage
    if usage.cache_write_tokens is not None and rule.writes:
        return (usage.cached_prompt_tokens or 0) + usage.cache_write_tokens
    return rule.read(usage.prompt_tokens)


def _cause(
    earlier: _Earlier, turn: ModelTurn, rule: CacheRule, idle_s: float | None, model: str | None
) -> BreakCause:
    """The reason why a turn read less than the turn before it left in the cache."""
    if earlier.changed is not None:
        return earlier.changed
    if (earlier.turn.model or model) != (turn.model or model):
        return "model changed"
    lifetime_s = rule.lifetime_s
    if lifetime_s is not None and earlier.usage.cache_write_1h_tokens:
        lifetime_s = HOUR_S
    over = lifetime_s is not None and idle_s is not None and idle_s > lifetime_s
    return "lifetime over" if over else "unknown"


def _extra_usd(
    turn: ModelTurn, usage: Usage, short: int, trace: Trace, model: str | None
) -> float | None:
    """The dollars that the missing tokens cost more than a read from the cache, written for as long
    as what the turn wrote; None without listed prices."""
    first_time = next((step.t for step in trace.steps if step.t is not None), None)
    prices = unit_prices(turn.model or model, first_time)
    if prices is None:
        return None
    read, writes = usage.cached_prompt_tokens or 0, usage.cache_write_tokens or 0
    written = min(short, writes)
    hour = written * min(1.0, (usage.cache_write_1h_tokens or 0) / writes) if writes else 0
    new = prices.cost_usd(usage.prompt_tokens, read, written, 0, written_1h=round(hour))
    read = min(read + short, usage.prompt_tokens)
    return new - prices.cost_usd(usage.prompt_tokens, read, 0, 0)
