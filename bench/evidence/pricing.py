"""What each model call of a run costs: which part of its prompt the provider's cache reads, which it writes, and the prices of that day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..model import Run, WriterCall
from ..tokens.caching import CacheRule, cache_rule
from ..tokens.counting import PROMPT_TOKENS
from ..tokens.prices import UnitPrices, provider_of, unit_prices

if TYPE_CHECKING:
    from .of_run import RunEvidence
    from .of_trace import TraceEvidence


class Kept(NamedTuple):
    """What a prompt shares, from its start, with the one before in its thread, in tokens, before any provider's rule.

    `answered` are those of the answer to that prompt, where it follows at once. `idle_s` are the seconds since then (None: not recorded).
    """

    tokens: int
    answered: int = 0
    idle_s: float | None = None


@dataclass(frozen=True)
class Call:
    """One model call: its prompt, what of it the cache reads (None: the provider's rule is not known here) and writes, and its answer, in
    tokens; the model, its provider, and its prices (None: none are listed). `reread` is what a call right after it would read of this prompt, and
    `writes` whether what that call adds would be charged as written.
    """

    step: int
    prompt_tokens: int
    read: int | None
    written: int
    answer_tokens: int
    model: str | None = None
    provider: str | None = None
    prices: UnitPrices | None = None
    reread: int = 0
    writes: bool = False

    @property
    def usd(self) -> float | None:
        """What the call costs in dollars; None without prices. Where no cache rule is known nothing is read from it."""
        if self.prices is None:
            return None
        return self.prices.cost_usd(self.prompt_tokens, self.read or 0, self.written, self.answer_tokens)

    def again_usd(self, new_tokens: int, answer_tokens: int) -> float | None:
        """What a call right after it costs that sends its prompt again with new tokens behind; None without prices."""
        if self.prices is None:
            return None
        prompt_tokens = self.prompt_tokens + new_tokens
        written = prompt_tokens - self.reread if self.writes else 0
        return self.prices.cost_usd(prompt_tokens, self.reread, written, answer_tokens)


def kept_prefixes(of_trace: TraceEvidence, run: Run) -> list[Kept]:
    """What each prompt of a run shares with the one before in its thread: the framing at its start, the tool definitions, whole messages.

    Nothing is shared by a thread's first prompt, after the tool definitions changed, or with another model's prompt.
    """
    live: dict[str, list[str]] = {}
    before: dict[str, int] = {}
    at_end = _at_end(run)
    found = []
    for prompt in run.prompts:
        keys = live.setdefault(prompt.thread, [])
        held = len(keys)
        at = prompt.splices[0].at if prompt.splices else held
        old_keys = keys[at:]
        prompt.edit(keys)
        for old, new in zip(old_keys, keys[at:], strict=False):  # replaced by its equal: the provider sees no change
            if old != new:
                break
            at += 1
        last = before.get(prompt.thread)
        before[prompt.thread] = prompt.step
        if last is None or prompt.tools_changed or of_trace.model_of(last) != of_trace.model_of(prompt.step):
            found.append(Kept(0))
            continue
        behind = sum(run.message_tokens[key] for key in keys[at:])
        answered = 0
        if at == held and at < len(keys):
            message = run.messages[keys[at]]
            if message.kind == "model" and message.step == last:
                answered = run.message_tokens[keys[at]]
        found.append(Kept(max(0, prompt.tokens - at_end - behind), answered, of_trace.idle_s(last, prompt.step)))
    return found


def _at_end(run: Run) -> int:
    """What of a prompt's framing stands at its end, where the answer starts."""
    return max(0, min(run.counting.prompt_tokens, PROMPT_TOKENS))


def calls_of(evidence: RunEvidence) -> list[Call]:
    """Every model call of a run with what it costs.

    Source: for each provider the page that `bench.tokens.caching.cache_rule` names

    >>> from bench.metrics import example
    >>> [(call.step, call.prompt_tokens, call.read, call.answer_tokens) for call in calls_of(example())]
    [(1, 9, 0, 2), (3, 22, 0, 9)]
    """
    run, of_trace = evidence.run, evidence.of_trace
    answers = of_trace.answer_tokens(evidence.count)
    found = []
    for prompt, kept in zip(run.prompts, evidence.prompts.kept, strict=True):
        model = of_trace.model_of(prompt.step)
        prices = unit_prices(model, of_trace.recorded_at_s)
        provider = prices.provider if prices is not None else provider_of(model)
        rule = cache_rule(provider, model)
        read = None if rule is None else _read(rule, kept, run)
        writes = rule is not None and rule.writes and run.counting.cache_used and prompt.tokens >= rule.minimum
        found.append(
            Call(
                step=prompt.step,
                prompt_tokens=prompt.tokens,
                read=read,
                written=prompt.tokens - _at_end(run) - (read or 0) if writes else 0,
                answer_tokens=answers.get(prompt.step, 0),
                model=model,
                provider=provider,
                prices=prices,
                reread=0 if rule is None else _read(rule, Kept(prompt.tokens - _at_end(run), 0, 0.0), run),
                writes=writes,
            )
        )
    return found


def own_usd(evidence: RunEvidence, call: WriterCall) -> float | None:
    """What a call that the strategy made itself costs, uncached, by the model that it asked, else by that of its turn; None without prices."""
    model = call.model or evidence.of_trace.model_of(call.step)
    prices = unit_prices(model, evidence.of_trace.recorded_at_s)
    return None if prices is None else prices.cost_usd(call.consumed_tokens, 0, 0, call.produced_tokens)


def _read(rule: CacheRule, kept: Kept, run: Run) -> int:
    """What is read from the cache: what the rule would read, as far as this trace's provider did."""
    if not run.counting.cache_used:
        return 0
    prefix = kept.tokens + (kept.answered if rule.answers else 0)
    return int(rule.read(prefix, kept.idle_s) * run.counting.cache_share)
