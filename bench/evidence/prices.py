"""Prices of the model calls of a replay: the tokens that the provider's cache serves of each
prompt, and dollars with and without the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model import Message, Trace, memo
from ..model.index import TraceIndex
from ..model.messages import Running
from ..model.replay import Call
from ..tokens.cache_marks import MarkedStarts
from ..tokens.caching import HOUR_S, CacheRule, cache_rule
from ..tokens.counting import PROMPT_TOKENS
from ..tokens.prices import UnitPrices, provider_of, unit_prices
from .contents import Once, kept_between_runs, made_now

_Listed = tuple[str | None, UnitPrices | None]


class PricedCall(NamedTuple):
    """One model call in tokens and dollars. `read` is None without a known cache rule, dollars are
    None without listed prices.

    Of the `written` tokens `written_1h` are written for an hour. `reread` are the tokens of this
    prompt that the next call could read from the cache.
    """

    step: int
    prompt_tokens: int
    answer_tokens: int
    read: int | None = None
    written: int = 0
    written_1h: int = 0
    reread: int = 0
    usd: float | None = None
    uncached_usd: float | None = None


class ThreadPrompt:
    """The prompt of one thread, updated from call to call: its messages, their cumulative tokens,
    and the cache after the last call."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.numbers: list[int] = []
        self.length_before = 0
        self.last: Call | None = None
        self.tools_changes = 0
        self.marks = MarkedStarts()
        self._sizes = Running(0, lambda before, number: before + tokens[number])

    @property
    def sums(self) -> list[int]:
        """The tokens of its first messages together: of none, of one, of two, and so on."""
        return self._sizes.values

    def change(self, call: Call) -> int:
        """Become the prompt of a call; returns the tokens of its messages."""
        self.length_before = len(self.numbers)
        self.numbers[call.keep :] = call.tail
        return self._sizes.change(call.keep, call.tail)


class Pricing:
    """The prices of one trace, by the rule of the model's provider and the prices of that day.

    Source: for each provider the page that `bench.tokens.caching.cache_rule` names
    """

    def __init__(self, trace: Trace, index: TraceIndex, once: Once = made_now) -> None:
        self.index = index
        self._models = {turn.index: turn.model or index.model for turn in trace.model_turns}
        self._times = {step.index: step.t for step in trace.steps if step.t is not None}
        self._first_time = next(iter(self._times.values()), None)
        first = {turn.thread: turn for turn in reversed(trace.model_turns)}
        self._warm = {
            turn.index: turn.usage.cached_prompt_tokens or 0
            for turn in first.values()
            if turn.usage
        }
        usages = [turn.usage for turn in trace.model_turns if turn.usage is not None]
        for_hour = sum(usage.cache_write_1h_tokens or 0 for usage in usages)
        written = sum(usage.cache_write_tokens or 0 for usage in usages)
        self._hour_share = for_hour / written if written else 0.0
        self.once = once

    @kept_between_runs
    def _listed(self) -> dict[str, _Listed]:
        """The provider and the prices of each model of the trace."""
        return {model: self._find_listed(model) for model in {*self._models.values()} if model}

    def _find_listed(self, model: str) -> _Listed:
        return provider_of(model), unit_prices(model, self._first_time)

    def rule_of(self, step: int) -> tuple[CacheRule | None, UnitPrices | None]:
        """The cache rule and the prices of the model of a turn."""
        return self._rule(self._models.get(step, self.index.model))

    def own_usd(self, step: int, model: str | None, read: int, written: int) -> float | None:
        """Dollars of a strategy's own call, uncached, at the prices of its model or else of the
        turn's."""
        _, prices = self._rule(model) if model else self.rule_of(step)
        return None if prices is None else prices.cost_usd(read, 0, 0, written)

    def again(
        self, call: PricedCall, new_tokens: int, answer_tokens: int
    ) -> tuple[float | None, float | None]:
        """Dollars of sending a call's prompt again at once, with new tokens: with and without the
        cache."""
        rule, prices = self.rule_of(call.step)
        size, written = call.prompt_tokens + new_tokens, 0
        if rule is not None and rule.writes and self.index.counting.cache_used:
            written = size - call.reread if call.prompt_tokens >= rule.minimum else 0
        return self._usd(prices, size, call.reread, written, answer_tokens)

    def _usd(
        self, prices: UnitPrices | None, size: int, read: int, written: int, answer: int
    ) -> tuple[float | None, float | None]:
        """Dollars of a call with and without the cache; None without listed prices."""
        if prices is None:
            return None, None
        usd = prices.cost_usd(size, read, written, answer, written_1h=self._for_hour(written))
        return usd, prices.cost_usd(size, 0, 0, answer)

    def _for_hour(self, written: int) -> int:
        """Of tokens written to the cache, those for an hour: the share that the recording wrote."""
        return round(written * self._hour_share)

    @memo
    def _rule(self, model: str | None) -> tuple[CacheRule | None, UnitPrices | None]:
        """The cache rule and the prices of a model; each is None if it is not known."""
        if model is None:
            return None, None
        provider, prices = self._listed.get(model) or self._find_listed(model)
        return cache_rule(provider, model), prices

    def price(
        self, call: Call, at: ThreadPrompt, size: int, messages: Sequence[Message]
    ) -> PricedCall:
        """The priced call of a thread's prompt `at` with `size` tokens; `at.last` is the call
        before."""
        counting = self.index.counting
        rule, prices = self.rule_of(call.step)
        begins = size - max(0, min(counting.prompt_tokens, PROMPT_TOKENS))
        answer = self.index.answer_tokens.get(call.step, 0)
        at.tools_changes += call.tools_changed
        read: int | None = None
        written = reread = 0
        if rule is not None:
            read = self._read(rule, call, at, begins, messages)
            if not counting.cache_used:
                read = 0
            elif rule.writes and size >= rule.minimum:
                written = begins - read
            reread = int(rule.read(begins) * counting.cache_share) if counting.cache_used else 0
        usd = self._usd(prices, size, read or 0, written, answer)
        hour = self._for_hour(written)
        return PricedCall(call.step, size, answer, read, written, hour, reread, *usd)

    def _read(
        self,
        rule: CacheRule,
        call: Call,
        at: ThreadPrompt,
        begins: int,
        messages: Sequence[Message],
    ) -> int:
        """The tokens of a prompt that come from the cache: the prefix that it shares with an
        earlier one, as far as the rule caches it and it has not expired.

        The first prompt of a thread reads at most what the recording read there.
        """
        last, idle_s, prefix = at.last, None, 0
        front = begins - at.sums[-1]
        share = self.index.counting.cache_share
        if rule.look_back is not None:
            model = self._models.get(call.step)
            read = at.marks.read(
                call.step, (model, at.tools_changes), at.numbers, call.keep, messages, rule.look_back,
                lambda used: not self._expired(rule, self._idle_s(used, call.step)),
            )  # fmt: skip
            if last is not None and read is not None:
                prefix, idle_s = front + at.sums[read[0]], self._idle_s(read[1], call.step)
        elif (
            last is not None
            and not call.tools_changed
            and self._models.get(last.step) == self._models.get(call.step)
        ):
            prefix, idle_s = front + at.sums[call.keep], self._idle_s(last.step, call.step)
            prefix += self._answered(rule, call, at, messages)
        if last is None and (warm := self._warm.get(call.step, 0)):
            recorded = len(self.index.tokens)
            same = next(
                (n for n, number in enumerate(at.numbers) if number >= recorded), len(at.numbers)
            )
            return min(warm, front + at.sums[same])
        if self._expired(rule, idle_s):
            return 0
        return int(rule.read(prefix) * share)

    def _answered(
        self, rule: CacheRule, call: Call, at: ThreadPrompt, messages: Sequence[Message]
    ) -> int:
        """The tokens of the last answer, if it comes next in the prompt and the provider caches
        answers."""
        if not rule.answers or not call.tail or call.keep != at.length_before or at.last is None:
            return 0
        answer = messages[call.tail[0]]
        if answer.kind != "model" or answer.step != at.last.step:
            return 0
        return at.sums[call.keep + 1] - at.sums[call.keep]

    def _expired(self, rule: CacheRule, idle_s: float | None) -> bool:
        """True if the cache has expired; with one-hour writes in the recording it lasts an hour."""
        if self._hour_share > 0.5 and idle_s is not None:
            return idle_s > HOUR_S
        return rule.expired(idle_s)

    def _idle_s(self, used: int, step: int) -> float | None:
        times = self._times
        return times[step] - times[used] if used in times and step in times else None
