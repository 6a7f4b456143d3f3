"""The token usage of one call, from the counts of any provider or library."""

from __future__ import annotations

from typing import Any, TypeGuard

from ...model import Usage
from ..values import Fields, Unread, as_dict, first_of

_PREFIXES = ("gen_ai.usage.", "llm.token_count.", "llm.usage.", "ai.usage.")
_NAMES = {
    "prompt": "prompttokens inputtokens requesttokens promptevalcount input totalinputtokens prompt",
    "completion": "completiontokens outputtokens candidatestokens responsetokens generationtokens evalcount output"
    " totaloutputtokens completion",
    "total": "totaltokens total",
    "read": "cachereadinputtokens cachedinputtokens cachereadtokens cachedtokens cachedcontenttokens totalcachedtokens"
    " inputcacheread inputcachedtokens inputtokenscacheread cached promptdetailscacheread cacheread",
    "written": "cachecreationinputtokens cachewrite cachewriteinputtokens inputcachecreation cachewritetokens inputtokenscachewrite"
    " promptdetailscachewrite cachecreationtokens cachecreation",
    "reasoning": "reasoningtokens reasoning reasoningoutputtokens thoughtstokens totalthoughttokens outputreasoning"
    " outputreasoningtokens thoughts completiondetailsreasoning",
    "tools": "totaltoolusetokens tooluseprompttokens tool",
}
"""The names of each count, in small letters and without prefix, separators or `Count`. If a usage
has several, the first of them here is used."""
_COUNTS = {name: count for count, names in _NAMES.items() for name in names.split()}
_RANKS = {name: rank for rank, name in enumerate(_COUNTS)}
_INPUT = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_OUTPUT = ("completion_tokens_details", "output_tokens_details", "output_token_details", "details")
_MOST = 10_000_000  # the largest context window of any model
_NOT_IN_INPUT = (
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cacheRead",
    "cacheWrite",
)
"""Counts that the input does not include, at Anthropic and in agents such as pi."""


def usage_in(value: Any, unread: Unread) -> Usage | None:
    """The usage in an object: `prompt_tokens` with cached ones, `completion_tokens` with reasoning;
    None without a prompt size, if all counts are 0, or if more is cached than the prompt has.

    The total tells if the reported prompt includes the cached tokens, and if the completion
    includes the reasoning. Anthropic reports no total, and counts cached tokens separately. An odd
    count, such as one above any model's window, is not read, but counted in `unread`.

    >>> usage_in({"input": 100, "output": 10, "total": 150, "cached": 40}, Unread()).prompt_tokens
    140
    >>> usage_in({"input_tokens": 10**15}, unread := Unread()), unread.counts
    (None, {"odd count 'input_tokens'": 1})
    >>> usage_in({"prompt_tokens": 9, "total_tokens": 9, "cached_tokens": 10}, unread := Unread()), unread.counts
    (None, {'usage with more cached tokens than the prompt has': 1})
    """
    reported = as_dict(value)
    counts = _counts(reported, unread)
    if (prompt := counts.get("prompt")) is None or not any(counts.values()):
        return None
    inputs, outputs = first_of(reported, _INPUT), first_of(reported, _OUTPUT)
    within, thoughts = _counts(as_dict(inputs), unread), _counts(as_dict(outputs), unread)
    prompt_tokens = reported.get("prompt_tokens")
    prompt, completion = prompt + counts.get("tools", 0), counts.get("completion", 0)
    if not inputs and (type(prompt_tokens) is not int or prompt_tokens < prompt):
        prompt += sum(count for key in _NOT_IN_INPUT if _is_count(count := reported.get(key)))
    read = within.get("read", counts.get("read"))
    written = counts.get("written", within.get("written"))
    reasoning = thoughts.get("reasoning", counts.get("reasoning"))
    missing = counts.get("total", 0) - prompt - completion
    cached, thought = _not_included(missing, read or 0, written or 0, reasoning or 0)
    if max(read or 0, written or 0) > prompt + cached:
        unread.add("usage with more cached tokens than the prompt has")
        return None
    tiers = as_dict(reported.get("cache_creation"))
    hour = tiers.get("ephemeral_1h_input_tokens", reported.get("cacheWrite1h"))
    return Usage(
        prompt_tokens=prompt + cached,
        completion_tokens=completion + thought,
        cached_prompt_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=hour if _is_count(hour) and hour > 0 else None,
        reasoning_tokens=reasoning,
    )


def _not_included(missing: int, read: int, written: int, reasoning: int) -> tuple[int, int]:
    """The cached tokens and the reasoning that add up to what is `missing` from the total; zeros if
    none do."""
    for thought in (0, reasoning):
        for cached in (0, read, written, read + written):
            if cached + thought == missing:
                return cached, thought
    return 0, 0


def _counts(reported: Fields, unread: Unread) -> dict[str, int]:
    """The counts of a usage by their names in `_NAMES`; a zero only if no spelling has another."""
    ranked = []
    for key, count in reported.items():
        name = key
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        name = name.lower().replace("_", "").replace(".", "").replace("tokencount", "tokens")
        if name not in _COUNTS or count is None:
            continue
        if type(count) is float and count.is_integer():
            count = int(count)
        if _is_count(count):
            ranked.append((count == 0, _RANKS[name], _COUNTS[name], count))
        else:
            unread.add(f"odd count {key!r}", not isinstance(count, dict | list))
    return {counted: count for _, _, counted, count in sorted(ranked, reverse=True)}


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= _MOST
