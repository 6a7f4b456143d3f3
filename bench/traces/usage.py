"""The usage that a provider or a library reports for one call, in every spelling of its counts."""

from __future__ import annotations

from typing import Any

from ..model import Usage
from .decoded import as_dict
from .parts import Unread

_PREFIXES = ("gen_ai.usage.", "llm.token_count.", "llm.usage.", "ai.usage.")
_NAMES = {
    "prompt": "prompttokens inputtokens requesttokens promptevalcount input totalinputtokens prompt",
    "completion": "completiontokens outputtokens candidatestokens responsetokens generationtokens evalcount output"
    " totaloutputtokens completion",
    "total": "totaltokens total",
    "read": "cachereadinputtokens cachedinputtokens cachereadtokens cachedtokens cachedcontenttokens totalcachedtokens"
    " inputcacheread inputcachedtokens inputtokenscacheread cached promptdetailscacheread cacheread",
    "written": "cachecreationinputtokens cachewriteinputtokens inputcachecreation cachewritetokens inputtokenscachewrite"
    " promptdetailscachewrite cachecreationtokens cachecreation",
    "reasoning": "reasoningtokens reasoning reasoningoutputtokens thoughtstokens totalthoughttokens outputreasoning"
    " outputreasoningtokens thoughts completiondetailsreasoning",
    "tools": "totaltoolusetokens tooluseprompttokens tool",
}
"""The counts by what they count, each name in small letters, without a prefix, a sign between words or `Count`."""
_INPUT = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_OUTPUT = ("completion_tokens_details", "output_tokens_details", "output_token_details", "details")
_BESIDE = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Counts that Anthropic gives beside the input."""


def usage_in(value: Any, unread: Unread) -> Usage | None:
    """The usage that an object reports: `prompt_tokens` with cached ones, `completion_tokens` with
    reasoning; None where no prompt size is given. The total tells if the prompt holds the cached
    tokens and the completion the reasoning; Anthropic gives no total, and counts cached tokens
    beside the input. An odd count is left out and counted.

    >>> usage_in({"input": 100, "output": 10, "total": 150, "cached": 40}, Unread()).prompt_tokens
    140
    >>> usage_in({"input_tokens": "12"}, unread := Unread()), unread.counts
    (None, {"odd count 'input_tokens'": 1})
    """
    if not isinstance(value, dict) or not value:
        return None
    counts = _counts(value, unread)
    if (prompt := counts.get("prompt")) is None:
        return None
    inputs, outputs = _details(value, _INPUT), _details(value, _OUTPUT)
    within, thoughts = _counts(inputs, unread), _counts(outputs, unread)
    given = value.get("prompt_tokens")
    prompt, completion = prompt + counts.get("tools", 0), counts.get("completion", 0)
    if not inputs and (type(given) is not int or given < prompt):
        prompt += sum(count for key in _BESIDE if type(count := value.get(key)) is int)
    read, written = within.get("read", counts.get("read")), counts.get("written", within.get("written"))
    reasoning = thoughts.get("reasoning", counts.get("reasoning"))
    missing = counts.get("total", 0) - prompt - completion
    held, thought = next(
        (
            (held, thought)
            for thought in (0, reasoning or 0)
            for held in (0, read or 0, written or 0, (read or 0) + (written or 0))
            if held + thought == missing
        ),
        (0, 0),
    )
    hour = as_dict(value.get("cache_creation")).get("ephemeral_1h_input_tokens")
    return Usage(
        prompt_tokens=prompt + held,
        completion_tokens=completion + thought,
        cached_prompt_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=hour if type(hour) is int and hour > 0 else None,
        reasoning_tokens=reasoning,
    )


_MEANINGS = {name: what for what, names in _NAMES.items() for name in names.split()}
_RANK = {name: rank for rank, name in enumerate(_MEANINGS)}


def _counts(value: dict[str, Any], unread: Unread) -> dict[str, int]:
    """The counts of an object by what they count: of several the first that is above 0."""
    named = []
    for key, count in value.items():
        name = key
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        name = name.lower().replace("_", "").replace(".", "").replace("tokencount", "tokens")
        if name not in _MEANINGS or count is None:
            continue
        if type(count) is float and count.is_integer():
            count = int(count)
        if type(count) is int and count >= 0:
            named.append((count == 0, _RANK[name], _MEANINGS[name], count))
        else:
            unread.add(f"odd count {key!r}", not isinstance(count, dict | list))
    found: dict[str, int] = {}
    for _, _, what, count in sorted(named):
        found.setdefault(what, count)
    return found


def _details(value: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return next((value[name] for name in names if isinstance(value.get(name), dict)), {})
