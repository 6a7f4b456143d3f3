"""The audit of one recording, without any strategy: its costs, its losses, its cache."""

from __future__ import annotations

from typing import Literal

from .base import Value

BreakCause = Literal[
    "compaction", "tools or system prompt changed", "prefix edited", "model changed",
    "lifetime over", "unknown",
]  # fmt: skip
"""The causes of a cache break."""


class Charges(Value, frozen=True, kw_only=True):
    """Tokens of one model call or of several, by what the provider charges for them.

    `prompt_tokens` is the whole prompt: `cached_tokens` read from the cache, `written_tokens` (of
    which `written_1h_tokens` for an hour) put into it, the rest new. Dollars are None without
    listed prices.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    written_1h_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    new_usd: float = 0.0
    cached_usd: float = 0.0
    written_usd: float = 0.0
    output_usd: float = 0.0


class TurnCharges(Value, frozen=True, kw_only=True):
    """One model call: its step and thread, and what it was charged.

    `reported`: by the provider's own counts.
    """

    step: int
    thread: str
    reported: bool
    charges: Charges


class CacheBreak(Value, frozen=True, kw_only=True):
    """A turn whose provider read less from the cache than the turn before had left there.

    `turn` counts model calls from 1. `tokens_again` were billed as new that the cache could have
    served; `usd` is what that cost beyond a read (None without listed prices).
    """

    step: int
    turn: int
    thread: str
    tokens_again: int
    cause: BreakCause
    idle_s: float | None = None
    usd: float | None = None


class CacheReport(Value, frozen=True, kw_only=True):
    """The fit of the cache model to a recording, and every break.

    `explained` of `judged` turns read what the model expects or more. Nothing reported: 0 of 0.
    """

    judged: int = 0
    explained: int = 0
    breaks: tuple[CacheBreak, ...] = ()


class PromptPart(Value, frozen=True, kw_only=True):
    """One part of the prompts over a whole run: the results of a tool, or messages of one kind.

    `tokens` counts each message once, `carried_tokens` in every prompt that held it.
    """

    name: str
    tool: bool
    messages: int
    tokens: int
    carried_tokens: int
    usd: float | None = None


class DearResult(Value, frozen=True, kw_only=True):
    """One tool result over the rest of its run: its size, the prompts that held it, its dollars."""

    step: int
    function: str
    asked: str
    tokens: int
    prompts: int
    carried_tokens: int
    usd: float | None = None


class Shortening(Value, frozen=True, kw_only=True):
    """One time that the recorded harness shortened a history, before the model call number `turn`.

    `results_dropped` are the steps of results that went, `facts_lost` those of their needed facts
    that stood nowhere any more, `rules_dropped` standing instructions that the next prompt lacked,
    `asked_again` the calls that read again what had gone.
    """

    step: int
    kind: Literal["compaction", "clearing", "masking"]
    turn: int | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    results_dropped: tuple[int, ...] = ()
    facts_lost: tuple[str, ...] = ()
    rules_dropped: tuple[str, ...] = ()
    asked_again: tuple[int, ...] = ()


class CutResult(Value, frozen=True, kw_only=True):
    """One result that the recorded model saw in part.

    `marker` is the notice that says so, "" without one.

    `characters` is the untruncated size (None: not recorded). `needed` counts facts of the missing
    part that later turns used.
    """

    step: int
    function: str
    seen_characters: int
    characters: int | None = None
    marker: str = ""
    needed: int = 0


class Reread(Value, frozen=True, kw_only=True):
    """A result that gave again what an earlier one had given: `lines_same` of `lines`.

    `why`: the earlier one had been cut, had been dropped by the harness, or still stood in the
    prompt.
    """

    step: int
    earlier_step: int
    asked: str
    lines_same: int
    lines: int
    why: Literal["cut", "dropped", "in prompt"]


class SessionAudit(Value, frozen=True, kw_only=True):
    """The audit of one recording.

    `minimum` is what perfect foresight would have been charged (None: unknown).

    `replayed` is the recording counted in the same way: their difference is the most that can be
    saved. `skipped` counts what the reader did not understand, by kind: nothing is promised over
    it.
    """

    id: str
    path: str
    format: str
    model: str | None
    sha256: str
    results: int
    reported_turns: int
    charges: Charges
    stated_usd: float | None = None
    turns: tuple[TurnCharges, ...] = ()
    parts: tuple[PromptPart, ...] = ()
    dearest: tuple[DearResult, ...] = ()
    shortenings: tuple[Shortening, ...] = ()
    cuts: tuple[CutResult, ...] = ()
    rereads: tuple[Reread, ...] = ()
    cache: CacheReport = CacheReport()
    replayed: Charges | None = None
    minimum: Charges | None = None
    skipped: dict[str, int] = {}
