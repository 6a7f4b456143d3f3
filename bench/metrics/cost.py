"""The cost of a strategy: tokens of its prompts and own model calls, tokens from the cache, and
dollars."""

from __future__ import annotations

from ..evidence.of_replay import ReplayEvidence
from ..evidence.prices import PricedCall
from ..evidence.unmet import Fetch, fetches
from ..model.scores import Number
from . import NOTHING, amount, example as example, metric, total

UNPRICED = "no price is listed for the model"
TOO_LARGE = "a prompt does not fit the model's window"


@metric("cost.prompt_tokens", unit="tokens")
def prompt_tokens(evidence: ReplayEvidence) -> Number:
    """Tokens of all prompts of the run together.

    Framing and tool definitions are included, and so are the additional prompts of calls that fetch
    texts by their handles. Without model calls there is nothing to measure.

    Source: 003 §1 "Token Efficiency"; 002 Token Management

    >>> prompt_tokens(example()).value
    31.0
    """
    sizes = [call.prompt_tokens for call in evidence.walked.priced]
    fetched = [item.prompt_tokens for item in fetches(evidence) if item.by_handle]
    return amount(sum(sizes) + sum(fetched), of=sizes)


@metric("cost.peak_prompt_tokens", unit="tokens", aggregate="mean over tasks")
def peak_prompt_tokens(evidence: ReplayEvidence) -> Number:
    """Tokens of the largest prompt of the run.

    Without model calls there is nothing to measure.

    Source: 002 Current Behavior: what triggers a compaction is the size of one prompt

    >>> peak_prompt_tokens(example()).value
    22.0
    """
    sizes = [call.prompt_tokens for call in evidence.walked.priced]
    return amount(max(sizes, default=0), of=sizes)


@metric("cost.cached_prompt_tokens", unit="tokens", better="higher")
def cached_prompt_tokens(evidence: ReplayEvidence) -> Number:
    """Prompt tokens that the provider's prompt cache would serve.

    For each prompt these are the tool definitions and the messages at its start that are the same
    as in the previous prompt of its thread (for Claude, which caches at marks, in any earlier
    prompt that it finds within 20 positions), by the provider's rule for that model, times the
    share that was served when the trace was recorded. 0: the cache serves nothing. Not measured for
    a provider whose rule is not known here; without model calls there is nothing to measure.

    Source: for each provider the page that `bench.tokens.caching.cache_rule` names

    >>> cached_prompt_tokens(example()).value
    0.0
    """
    reads = [call.read for call in evidence.walked.priced]
    return total(reads, "the provider's cache rule is not known here") if reads else NOTHING


@metric("cost.usd{}", unit="usd", places=("", "_uncached"))
def usd(evidence: ReplayEvidence, place: str) -> Number:
    """Dollars of the run: its prompts with the provider's cache (or without any), its answers, and
    the strategy's own model calls.

    A turn whose facts are behind a handle in its prompt costs one more call, which fetches them.
    Missed turns add nothing here: see `cost.refetch_usd`. Prices are those of the day of the
    recording. Not measured without listed prices, or if a prompt does not fit the model's window;
    without model calls there is nothing to measure.

    Source: genai-prices; 003 §1 "Token Efficiency"

    >>> f"{usd(example(), '').value:.6f}"
    '0.000188'
    """
    if not evidence.walked.priced:
        return NOTHING
    if evidence.walked.overflows:
        return Number(None, reason=TOO_LARGE)
    calls: list[PricedCall | Fetch] = [*evidence.walked.priced]
    calls += [item for item in fetches(evidence) if item.by_handle]
    own = [
        evidence.session.pricing.own_usd(
            call.step, call.model, call.consumed_tokens, call.produced_tokens
        )
        for call in evidence.replay.own_calls
    ]
    return total([*(item.uncached_usd if place else item.usd for item in calls), *own], UNPRICED)


@metric("cost.refetch_usd", unit="usd")
def refetch_usd(evidence: ReplayEvidence) -> Number:
    """Dollars of fetching missed facts again: one more call for each missed turn. Not part of any
    other price.

    A fact is fetched from the smallest untruncated result of its thread with it; one call can serve
    several facts of its turn. A lower bound if no result has a fact. 0: no turn misses anything. Not
    measured without listed prices; without model calls there is nothing to measure.

    Source: page faults of virtual memory (Denning 1968): a miss costs what the fetch costs

    >>> f"{refetch_usd(example()).value:.6f}"
    '0.000122'
    """
    if not evidence.walked.priced:
        return NOTHING
    return total([item.usd for item in fetches(evidence) if not item.by_handle], UNPRICED)


@metric("cost.strategy_call_tokens", unit="tokens")
def strategy_call_tokens(evidence: ReplayEvidence) -> Number:
    """Tokens that a strategy's own model calls read and produced, to write summaries or for
    anything else.

    0 without such calls. The provider's counts are used if a model was really called and reported
    them. Without model calls of the agent there is nothing to measure.

    Source: "The Complexity Trap" (arXiv 2508.21433): summaries cost model calls of their own

    >>> strategy_call_tokens(example()).value
    0.0
    """
    tokens = sum(call.consumed_tokens + call.produced_tokens for call in evidence.replay.own_calls)
    return amount(tokens, of=evidence.walked.priced)


@metric("cost.window_overflows", unit="prompts")
def window_overflows(evidence: ReplayEvidence) -> Number:
    """Prompts larger than the model's window: calls that could not have been made.

    0: all prompts fit. Not measured if the model's window is not known; without model calls there
    is nothing to measure.

    Source: genai-prices, `context_window` of a model

    >>> window_overflows(example()).value
    0.0
    """
    if evidence.walked.priced and evidence.index.window_tokens is None:
        model = evidence.index.model or "an unnamed model"
        return Number(None, reason=f"the window of {model} is not known")
    return amount(evidence.walked.overflows, of=evidence.walked.priced)


@metric("cost.{}_tokens", unit="tokens", places=("conversation", "command_history"))
def part_tokens(evidence: ReplayEvidence, place: str) -> Number:
    """Prompt tokens of the conversation, or of the command history, for a strategy that keeps
    commands separate from the conversation.

    Both add up to the tokens of all prompts. For any other strategy there is nothing to measure.

    Source: 002 Token Management
    """
    pairs = zip(evidence.walked.priced, evidence.replay.calls, strict=True)
    parts = [(one.prompt_tokens, it.commands) for one, it in pairs if it.commands is not None]
    history = sum(commands for _, commands in parts)
    prompts = sum(tokens for tokens, _ in parts)
    return amount(history if place == "command_history" else prompts - history, of=parts)
