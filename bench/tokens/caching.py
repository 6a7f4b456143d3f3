"""The prefix caches of providers: which part of a prompt is read from an earlier one.

Every provider here reuses an unchanged start of the prompt, the *prefix*; they differ in how long
it must be, in what steps it is read, how long it is kept, and whether the caller has to ask for it.
The rules are those of the providers' own pages; where these are silent or wrong, of the usage in
recorded runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from ..model import ContextEdit, ContextReset, ModelTurn, ToolsChanged, Trace
from .prices import provider_of

MINUTE_S = 60.0
HOUR_S = 3600.0


@dataclass(frozen=True)
class CacheRule:
    """The rule by which one provider's cache serves a model's prompts.

    A prefix of fewer than `minimum` tokens is not cached; a longer one is read in whole steps of
    `step` tokens. After `lifetime_s` seconds without use it expires (None: the provider states no
    time). `promised` is True if the provider guarantees such a read, `writes` if cache writes have
    their own price, `answers` if the answer to the previous prompt belongs to the prefix too.
    `source` is the provider's page.
    """

    minimum: int
    source: str
    step: int = 1
    lifetime_s: float | None = None
    promised: bool = True
    writes: bool = False
    answers: bool = False
    look_back: int | None = None

    def read(self, prefix_tokens: int, idle_s: float | None = None) -> int:
        """The tokens read from a prefix that was last used `idle_s` seconds ago (None: not known,
        assumed to be recent)."""
        if prefix_tokens < self.minimum or self.expired(idle_s):
            return 0
        return prefix_tokens // self.step * self.step

    def expired(self, idle_s: float | None) -> bool:
        return self.lifetime_s is not None and idle_s is not None and idle_s > self.lifetime_s


_OPENAI = "https://developers.openai.com/api/docs/guides/prompt-caching"
_AZURE = "https://learn.microsoft.com/azure/foundry/openai/how-to/prompt-caching"
_ANTHROPIC = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
_BEDROCK = "https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html"
_GOOGLE = "https://ai.google.dev/gemini-api/docs/caching"
_XAI = "https://docs.x.ai/developers/advanced-api-usage/prompt-caching"
_DEEPSEEK = "https://api-docs.deepseek.com/guides/kv_cache"
_GROQ = "https://console.groq.com/docs/prompt-caching"

_GPT = re.compile(r"gpt-(\d)(?:\.(\d{1,9}))?(?!\d)")
_BEFORE_CACHING = re.compile(r"gpt-3|gpt-4(?![o.\d])")
_NEVER = 2**62
_LOOK_BACK = 20

# The first pattern that matches a model's name counts. Sonnet 4.6: the page says 1,024, but shorter
# prefixes than 2,048 are not kept, as recorded runs show too
# (github.com/anthropics/anthropic-sdk-python/issues/1194).
_CLAUDE_MINIMUM = (
    (re.compile(r"(opus|fable|mythos)-5"), 512),
    (re.compile(r"opus-4-[56]|haiku-4-5"), 4096),
    (re.compile(r"opus-4-7|sonnet-4-6"), 2048),
    (re.compile(r"3-5-haiku|haiku-3|3-haiku"), 2048),
    (re.compile(r""), 1024),
)
_GEMINI_MINIMUM = ((re.compile(r"gemini-2\.5"), 2048), (re.compile(r""), 4096))


def cache_rule(provider: str | None, model: str | None) -> CacheRule | None:
    """The cache rule of a model at a provider of the price tables; None if it is not known.

    OpenAI and Azure, gpt-4o and newer: from 1,024 tokens in steps of 128, kept for 10 minutes;
    gpt-5 to gpt-5.4 read the answer before too, gpt-5.5 reads in steps of 512 (both as recorded
    usage shows) and keeps a day; from gpt-5.6 on whole messages, for 30 minutes, and writes are
    charged. Claude, at Anthropic, Bedrock or Google: on request, from 512 to 4,096 tokens by model,
    for 5 minutes, writes are charged. It keeps what ends at a mark and finds it in 20 positions
    back from one; a run of tool calls is one position, and so is a run of results. The caller is
    assumed to mark the end of its system prompt and the end of the prompt, as the page recommends
    to agents and Claude Code does, and no other place. Gemini: from 2,048 or 4,096. xAI: blocks of
    64 (recorded usage), no minimum. DeepSeek: units of 64, the answer before too. Groq: from 1,024,
    for 2 hours. Gemini, xAI and Groq do not promise a hit. Each rule names its page.

    >>> rule = cache_rule("openai", "gpt-4o")
    >>> rule.read(1300), rule.read(1023), rule.source
    (1280, 0, 'https://developers.openai.com/api/docs/guides/prompt-caching')
    >>> cache_rule("anthropic", "claude-opus-4-5").minimum, cache_rule("cohere", "command-r") is None
    (4096, True)
    """
    name = (model or "").lower()
    if provider in ("openai", "azure"):
        return _openai(name, _OPENAI if provider == "openai" else _AZURE)
    if "claude" in name and provider in ("anthropic", "aws", "google"):
        name = name.replace(".", "-")
        source = _BEDROCK if provider == "aws" else _ANTHROPIC
        minimum = (
            4096 if provider == "aws" and "opus-4-7" in name else _first(_CLAUDE_MINIMUM, name)
        )
        return CacheRule(
            minimum, source, lifetime_s=5 * MINUTE_S, writes=True, look_back=_LOOK_BACK
        )
    if provider == "google" and "gemini" in name:
        return CacheRule(_first(_GEMINI_MINIMUM, name), _GOOGLE, promised=False)
    return _RULES.get(provider or "")


def rule_of(model: str | None) -> CacheRule | None:
    """The cache rule of a model at the provider that its name implies; None if it is not known.

    >>> rule_of("claude-sonnet-4-5").minimum, rule_of("my-own-model"), rule_of(None)
    (1024, None, None)
    """
    return cache_rule(provider_of(model), model)


_RULES = {
    "x-ai": CacheRule(1, _XAI, step=64, promised=False),
    "deepseek": CacheRule(64, _DEEPSEEK, step=64, answers=True),
    "groq": CacheRule(1024, _GROQ, lifetime_s=2 * HOUR_S, promised=False),
}


def _openai(name: str, source: str) -> CacheRule:
    """OpenAI's rule for a model, by the version in its name."""
    if _BEFORE_CACHING.search(name):
        return CacheRule(_NEVER, source)
    gpt = _GPT.search(name)
    version = (int(gpt.group(1)), int(gpt.group(2) or 0)) if gpt else (0, 0)
    if version >= (5, 6):
        return CacheRule(1024, source, lifetime_s=HOUR_S / 2, writes=True)
    if version == (5, 5):
        return CacheRule(1024, source, step=512, lifetime_s=24 * HOUR_S)
    return CacheRule(1024, source, step=128, lifetime_s=10 * MINUTE_S, answers=version >= (5, 0))


def _first(minimums: tuple[tuple[re.Pattern[str], int], ...], name: str) -> int:
    return next(tokens for pattern, tokens in minimums if pattern.search(name))


# ---------------------------------------------------------------- the usage that a trace recorded


class CacheUse(NamedTuple):
    """The use of the provider's cache in a recording.

    `share` is how much was read of the tokens that the cache rule allows to read.
    """

    used: bool = True
    share: float = 1.0


def cache_use(trace: Trace, model: str | None) -> CacheUse:
    """The use of the cache in a recording, from its usage.

    Without any usage the provider's rule is assumed to hold in full. If the usage does not report
    cached tokens, the cache counts as used if the provider promises it.
    """
    before: dict[str, ModelTurn] = {}  # the last turn of each thread
    readable_tokens = read_tokens = 0
    is_used = any_reported = any_counted = False
    promised = True
    for step in trace.steps:
        if isinstance(step, ToolsChanged | ContextReset | ContextEdit):
            before.pop(step.thread, None)
        if not isinstance(step, ModelTurn):
            continue
        last, usage = before.get(step.thread), step.usage
        before[step.thread] = step
        if usage is None:
            continue
        any_counted = any_counted or usage.prompt_tokens > 0
        turn_model = step.model or model
        rule = rule_of(turn_model)
        promised = promised and (rule is None or rule.promised)
        any_reported = any_reported or usage.cached_prompt_tokens is not None
        is_used = is_used or bool(usage.cached_prompt_tokens or usage.cache_write_tokens)
        if rule is not None and last is not None and (last.model or model) == turn_model:
            readable = _readable(last, step, rule)
            readable_tokens += readable
            read_tokens += min(usage.cached_prompt_tokens or 0, readable)
    if not any_reported:
        return CacheUse(used=promised or not any_counted)
    if not readable_tokens:
        return CacheUse()
    return CacheUse(is_used, round(read_tokens / readable_tokens, 4))


def idle_seconds(last: ModelTurn, turn: ModelTurn) -> float | None:
    """The seconds between two turns; None if one has no time."""
    return None if last.t is None or turn.t is None else turn.t - last.t


def _readable(last: ModelTurn, turn: ModelTurn, rule: CacheRule) -> int:
    """The tokens of a recorded prompt that the cache could serve, by the provider's own counts; 0
    if either turn has no count."""
    if last.usage is None or turn.usage is None:
        return 0
    prefix = last.usage.prompt_tokens + (last.usage.completion_tokens if rule.answers else 0)
    return rule.read(min(prefix, turn.usage.prompt_tokens), idle_seconds(last, turn))
