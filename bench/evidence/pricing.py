"""The cost of each model call of a run: the part of its prompt that the provider's cache reads, the part it writes, and the prices of that day."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..model import Prompt, Run, Spent, WriterCall, grouped
from ..tokens.cache_marks import MarkedStarts
from ..tokens.caching import CacheRule
from ..tokens.counting import PROMPT_TOKENS, TokenCounter
from ..tokens.prices import UnitPrices, provider_of, unit_prices
from .of_trace import TraceEvidence
from .tiers import Missing


class CachePrefix(NamedTuple):
    """The tokens that the provider's cache may hold of a prompt, from its start, before its minimum, steps and life time.

    That is what the prompt shares with the one before in its thread; with a provider that keeps only marked starts, the longest of them that it
    finds. `answered` are the tokens of the answer to the prompt before, where it follows at once. `idle_s` are the seconds since it was used
    (None: not recorded). `warm` is what a thread's first prompt reads: the cache held it before the recording began.
    """

    tokens: int
    answered: int = 0
    idle_s: float | None = None
    warm: int = 0


class PricedCall(NamedTuple):
    """One model call: its prompt, what of it the cache reads (None: the provider's rule is not known here) and writes, and its answer, in
    tokens; the model, its provider, and its prices (None: none are listed). `reread` is what a call right after it would read of this prompt, and
    `writes` whether what that call adds would be charged as written. Where nobody knows what the cache served, `otherwise` is the same call if
    it had served all that its rule allows, or nothing: the other end of what it may have cost.
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
    otherwise: PricedCall | None = None

    @property
    def uncached(self) -> PricedCall:
        """The same call without any cache."""
        return self._replace(read=0, written=0, reread=0, writes=False, otherwise=None)

    def usd(self, repair: Refetch | None = None) -> float | None:
        """The cost in dollars, and of the call that repairs it; None without prices. Where no cache rule is known nothing is read from it.

        The repair sends the same prompt again right after it, with new tokens behind.
        """
        if self.prices is None:
            return None
        usd = self.prices.cost_usd(self.prompt_tokens, self.read or 0, self.written, self.answer_tokens)
        if repair is None:
            return usd
        again = self.prompt_tokens + repair.new_tokens
        written = again - self.reread if self.writes else 0
        return usd + self.prices.cost_usd(again, self.reread, written, repair.answer_tokens)


def kept_prefixes(of_trace: TraceEvidence, run: Run) -> list[CachePrefix]:
    """The part of each prompt of a run that the cache may hold: the framing at its start, the tool definitions, whole messages.

    Of a thread's first prompt it is what the recording's own was served of the same messages. Nothing is held after the tool definitions changed,
    or of another model's prompt.
    """
    threads: dict[str, _PricedThread] = {}
    return [threads.setdefault(prompt.thread, _PricedThread(of_trace, run)).kept(prompt) for prompt in run.prompts]


class _PricedThread:
    """The prompts of one thread, one after the other."""

    def __init__(self, of_trace: TraceEvidence, run: Run) -> None:
        self._of_trace, self._run = of_trace, run
        self._keys: list[str] = []
        self._last: int | None = None
        self._tools = 0
        self._marked = MarkedStarts()

    def kept(self, prompt: Prompt) -> CachePrefix:
        """The part of the next prompt that the cache may hold."""
        of_trace, last, held = self._of_trace, self._last, len(self._keys)
        at = self._edit(prompt)
        self._last = prompt.step
        self._tools += prompt.tools_changed
        rule = of_trace.cache_rule_of(prompt.step)
        marked = None
        if rule is not None and rule.look_back is not None:
            marked = self._of_marked(prompt, at, rule, rule.look_back)
        if last is None:
            most = self._before(prompt, self._as_recorded(prompt))
            return CachePrefix(0, warm=min(of_trace.warm.get(prompt.step, 0), most))
        if marked is not None:
            return marked
        if prompt.tools_changed or of_trace.model_of(last) != of_trace.model_of(prompt.step):
            return CachePrefix(0)
        answered = 0
        if at == held and at < len(self._keys):
            message = self._run.messages[self._keys[at]]
            if message.kind == "model" and message.step == last:
                answered = self._run.message_tokens[self._keys[at]]
        return CachePrefix(self._before(prompt, at), answered, of_trace.idle_s(last, prompt.step))

    def _edit(self, prompt: Prompt) -> int:
        """Turn the messages of the prompt before into those of this one; how many at the start are still the same."""
        keys = self._keys
        at = prompt.splices[0].at if prompt.splices else len(keys)
        old_keys = keys[at:]
        prompt.edit(keys)
        for old, new in zip(old_keys, keys[at:], strict=False):  # replaced by its equal: the provider sees no change
            if old != new:
                break
            at += 1
        return at

    def _of_marked(self, prompt: Prompt, at: int, rule: CacheRule, look_back: int) -> CachePrefix:
        of_trace = self._of_trace
        begins = of_trace.model_of(prompt.step), self._tools

        def is_kept(used: int) -> bool:
            return not rule.expired(of_trace.idle_s(used, prompt.step))

        found = self._marked.read(prompt.step, begins, self._keys, at, self._run.messages, look_back, is_kept)
        return (
            CachePrefix(0)
            if found is None
            else CachePrefix(self._before(prompt, found[0]), idle_s=of_trace.idle_s(found[1], prompt.step))
        )

    def _before(self, prompt: Prompt, count: int) -> int:
        """Tokens of a prompt's start up to its first `count` messages."""
        behind = sum(self._run.message_tokens[key] for key in self._keys[count:])
        return max(0, prompt.tokens - _at_end(self._run) - behind)

    def _as_recorded(self, prompt: Prompt) -> int:
        """The number of messages at the start of a thread's first prompt that are those recorded."""
        count = 0
        for key, (step, text) in zip(self._keys, self._of_trace.spoken.get(prompt.thread, ()), strict=False):
            message = self._run.messages[key]
            if (message.step, message.text) != (step, text):
                break
            count += 1
        return count


def _at_end(run: Run) -> int:
    """The tokens of a prompt's framing that stand at its end, where the answer starts."""
    return max(0, min(run.counting.prompt_tokens, PROMPT_TOKENS))


def calls_of(of_trace: TraceEvidence, run: Run, prefixes: list[CachePrefix], count: TokenCounter) -> list[PricedCall]:
    """Every model call of a run with what it costs.

    Source: for each provider the page that `bench.tokens.caching.cache_rule` names
    """
    answers, counting = of_trace.answer_tokens(count), run.counting
    found = []
    for prompt, kept in zip(run.prompts, prefixes, strict=True):
        model = of_trace.model_of(prompt.step)
        prices = unit_prices(model, of_trace.recorded_at_s)
        provider = prices.provider if prices is not None else provider_of(model)
        rule = of_trace.cache_rule_of(prompt.step)
        call = PricedCall(prompt.step, prompt.tokens, None, 0, answers[prompt.step], model, provider, prices)
        if rule is not None:
            served, never = _served(call, rule, kept, prompt.tokens - _at_end(run), counting.cache_share), call.uncached
            call = served if counting.cache_used else never
            if not counting.cache_known:
                call = call._replace(otherwise=never if counting.cache_used else served)
        found.append(call)
    return found


def _served(call: PricedCall, rule: CacheRule, kept: CachePrefix, begins: int, share: float) -> PricedCall:
    """A call whose cache is used; `begins` are the tokens of the prompt without its end, `share` is what this trace's provider served."""
    read, writes = _read(rule, kept, share), rule.writes and call.prompt_tokens >= rule.minimum
    reread = _read(rule, CachePrefix(begins), share)
    return call._replace(read=read, written=begins - read if writes else 0, reread=reread, writes=writes)


def spent(
    of_trace: TraceEvidence, run: Run, calls: Iterable[PricedCall], repairs: Mapping[int, Refetch]
) -> Spent | None:
    """Return the dollars of a run by their use; None if some call has no price."""
    parts, repaired, own = [0.0] * 4, 0.0, 0.0
    for call in calls:
        plain, again = call.usd(), call.usd(repairs.get(call.step))
        if call.prices is None or plain is None or again is None:
            return None
        found = call.prices.parts(call.prompt_tokens, call.read or 0, call.written, call.answer_tokens)
        parts = [a + b / 1e6 for a, b in zip(parts, found, strict=True)]
        repaired += again - plain
    for written in run.writer_calls:
        usd = own_usd(of_trace, written)
        if usd is None:
            return None
        own += usd
    new, cached, writes, answers = parts
    prompts = {"new_prompt": new, "cached_prompt": cached, "cache_writes": writes}
    return Spent(answers=answers, **prompts, own_calls=own, repairs=repaired)


def own_usd(of_trace: TraceEvidence, call: WriterCall) -> float | None:
    """The price of a call that the strategy made itself, uncached, by the model that it asked, else by that of its turn; None without prices."""
    prices = unit_prices(call.model or of_trace.model_of(call.step), of_trace.recorded_at_s)
    return None if prices is None else prices.cost_usd(call.consumed_tokens, 0, 0, call.produced_tokens)


def _read(rule: CacheRule, kept: CachePrefix, share: float) -> int:
    """The tokens read from the cache: those that the rule would read, as far as this trace's provider did."""
    if kept.warm:
        return kept.warm
    prefix = kept.tokens + (kept.answered if rule.answers else 0)
    return int(rule.read(prefix, kept.idle_s) * share)


class Refetch(NamedTuple):
    """The call that repairs one faulting turn, in tokens: its answer, which asks for what is gone, and the texts that come back, by handle, or by
    step of the result that holds it. `beyond` are the facts that no result of the trace and no handle gives again.
    """

    turn: int
    answer_tokens: int
    fetched: dict[int | str, int]
    beyond: tuple[str, ...]

    @property
    def new_tokens(self) -> int:
        """Tokens that the repaired prompt has more than the one before: the answer and what was fetched."""
        return self.answer_tokens + sum(self.fetched.values())


def refetches_of(of_trace: TraceEvidence, missed: Iterable[Missing], count: TokenCounter) -> dict[int, Refetch]:
    """The repair of every faulting turn of a run, by its step; `{}` for a run without faults.

    A fact is fetched from the smallest value behind a handle that the prompt shows, else from the smallest untruncated result of its thread that
    holds it; what one fetch gives serves every fact of the turn. The call that asks is as long as the median answer of the trace that called a tool.
    """
    by_turn = grouped((item[0].turn, item) for item in missed)
    if not by_turn:
        return {}
    answers = of_trace.answer_tokens(count)
    asking = [answers.get(turn.index, 0) for turn in of_trace.trace.model_turns if turn.tool_calls]
    answer = round(statistics.median(asking)) if asking else 0
    holders = _holders(of_trace, count, {wanted.fact for wants in by_turn.values() for wanted, _ in wants})
    found = {}
    for turn, wants in by_turn.items():
        fetched: dict[int | str, int] = {}
        beyond: list[str] = []
        for wanted, behind in sorted(wants, key=lambda want: not want[1]):  # what handles give first: it may give more
            choices: list[tuple[int, int | str]] = [(count.text(item.text), item.handle) for item in behind]
            if not behind:
                choices += [choice for choice in holders.get((wanted.thread, wanted.fact), ()) if choice[1] < turn]
            if not choices:
                beyond.append(wanted.fact)
            elif not any(where in fetched for _, where in choices):
                tokens, where = min(choices)
                fetched[where] = tokens
        found[turn] = Refetch(turn, answer, fetched, tuple(beyond))
    return found


def _holders(
    of_trace: TraceEvidence, count: TokenCounter, wanted: set[str]
) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """By thread and fact the tool results that hold it, each as (tokens untruncated, step)."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for result in of_trace.trace.results:
        held = wanted.intersection(of_trace.facts_held(result.text))
        if held:
            choice = count.text(result.text), result.index
            for fact in held:
                found.setdefault((result.thread, fact), []).append(choice)
    return found
