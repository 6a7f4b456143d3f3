"""The usage that a provider or a library reports for one call, in every spelling of its counts."""

from __future__ import annotations

from typing import Any

from ..model import Usage
from .decoded import as_dict
from .parts import Unread

_SPELLINGS = {
    "prompt": ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count", "inputTokens", "inputTokenCount",
               "request_tokens", "promptTokens", "inputTextTokenCount", "prompt_eval_count", "input",
               "total_input_tokens", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens",
               "ai.usage.inputTokens"),
    "completion": ("completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count", "outputTokens",
                   "outputTokenCount", "response_tokens", "completionTokens", "generation_token_count", "eval_count", "output",
                   "total_output_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
                   "ai.usage.completionTokens", "ai.usage.outputTokens"),
    "total": ("total_tokens", "totalTokenCount", "total_token_count", "totalTokens", "total", "gen_ai.usage.total_tokens",
              "llm.usage.total_tokens", "llm.token_count.total", "ai.usage.totalTokens"),
    "read": ("cache_read_input_tokens", "cached_input_tokens", "cache_read_tokens", "cached_tokens",
             "cachedContentTokenCount", "cached_content_token_count", "cacheReadInputTokens", "cacheReadInputTokenCount",
             "cachedInputTokens", "total_cached_tokens", "input_cache_read", "input_cached_tokens", "input_tokens_cache_read", "cached",
             "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
             "llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens"),
    "written": ("cache_creation_input_tokens", "cacheWriteInputTokens", "cacheWriteInputTokenCount", "input_cache_creation",
                "cache_write_tokens", "input_tokens_cache_write", "gen_ai.usage.cache_creation.input_tokens",
                "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write"),
    "reasoning": ("reasoning_tokens", "reasoning", "reasoning_output_tokens", "thoughtsTokenCount", "thoughts_token_count",
                  "reasoningTokens", "total_thought_tokens", "output_reasoning", "output_reasoning_tokens", "thoughts",
                  "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.usage.reasoning_tokens",
                  "llm.token_count.completion_details.reasoning", "ai.usage.reasoningTokens"),
    "tools": ("total_tool_use_tokens", "toolUsePromptTokenCount", "tool_use_prompt_token_count", "tool"),
}  # fmt: skip
_INPUT = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_OUTPUT = ("completion_tokens_details", "output_tokens_details", "output_token_details", "details")
_BESIDE = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Counts that Anthropic gives beside the input."""


def usage_in(value: Any, unread: Unread) -> Usage | None:
    """The usage that an object reports: `prompt_tokens` with cached ones, `completion_tokens` with reasoning; None
    where no prompt size is given. The total tells if the prompt holds the cached tokens and the completion the
    reasoning; Anthropic gives no total, and counts cached tokens beside the input. An odd count is left out and counted.

    >>> usage_in({"input": 100, "output": 10, "total": 150, "cached": 40}, Unread()).prompt_tokens
    140
    >>> usage_in({"input_tokens": "12"}, unread := Unread()), unread.counts
    (None, {"odd count 'input_tokens'": 1})
    """
    if not isinstance(value, dict) or not value:
        return None
    counts = {name: _count(value, spellings, unread) for name, spellings in _SPELLINGS.items()}
    prompt = counts["prompt"]
    if prompt is None:
        return None
    inputs, outputs = _details(value, _INPUT), _details(value, _OUTPUT)
    given = _count(value, ("prompt_tokens",), unread)
    prompt, completion = prompt + (counts["tools"] or 0), counts["completion"] or 0
    if inputs is None and (given is None or given < prompt):
        prompt += sum(_count(value, (key,), unread) or 0 for key in _BESIDE)
    read = _or(_count(inputs, ("cached_tokens", "cache_read"), unread), counts["read"])
    reasoning = _or(_count(outputs, _SPELLINGS["reasoning"][:3], unread), counts["reasoning"])
    written = _or(counts["written"], _count(inputs, ("cache_creation_tokens", "cache_creation"), unread))
    missing = (counts["total"] or 0) - prompt - completion
    held, thought = next(
        (
            (held, thought)
            for thought in (0, reasoning or 0)
            for held in (0, read or 0, written or 0, (read or 0) + (written or 0))
            if held + thought == missing
        ),
        (0, 0),
    )
    hour = _count(as_dict(value.get("cache_creation")), ("ephemeral_1h_input_tokens",), unread)
    return Usage(
        prompt_tokens=prompt + held,
        completion_tokens=completion + thought,
        cached_prompt_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=hour or None,
        reasoning_tokens=reasoning,
    )


def _or(first: int | None, other: int | None) -> int | None:
    return other if first is None else first


def _count(value: dict[str, Any] | None, spellings: tuple[str, ...], unread: Unread) -> int | None:
    """The first of some counts that is above 0, else the first that is there."""
    first = None
    for name in spellings:
        count = value.get(name) if value else None
        if count is None:
            continue
        if type(count) is float and count.is_integer():
            count = int(count)
        if type(count) is not int or count < 0:
            unread.add(f"odd count {name!r}", not isinstance(count, dict | list))
            continue
        if count:
            return count
        first = count if first is None else first
    return first


def _details(value: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    return next((value[name] for name in names if isinstance(value.get(name), dict)), None)
