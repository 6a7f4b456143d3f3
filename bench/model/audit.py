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
    """The charges of one model call; `reported` is True if they follow from the provider's own
    counts, except for an `output_estimated` from the text, as its count was taken before the answer
    ended. `counted_in` is another session with the same answer, where its charges are (`""`: here).
    """

    step: int
    thread: str
    reported: bool
    output_estimated: bool = False
    counted_in: str = ""
    charges: Charges


class CacheBreak(Value, frozen=True, kw_only=True):
    """A turn that read less from the cache than the turn before had stored.

    `turn` counts model calls from 1. `tokens_again` could have been read from the cache but were
    billed as new; `usd` is the extra cost (None without listed prices).
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

    `explained` of the `judged` turns read at least what the cache model expects. Both are 0 if
    nothing is reported.
    """

    judged: int = 0
    explained: int = 0
    breaks: tuple[CacheBreak, ...] = ()


class PromptPart(Value, frozen=True, kw_only=True):
    """One part of the prompts over a whole run: the results of a tool, or messages of one kind.

    `tokens` counts each message once, `carried_tokens` counts it in every prompt that had it.
    """

    name: str
    tool: bool
    messages: int
    tokens: int
    carried_tokens: int
    usd: float | None = None


class DearResult(Value, frozen=True, kw_only=True):
    """The cost of one tool result over the rest of its run: its size, the number of prompts with
    it, its dollars."""

    step: int
    function: str
    asked: str
    tokens: int
    prompts: int
    carried_tokens: int
    usd: float | None = None


class Shortening(Value, frozen=True, kw_only=True):
    """One time that the recorded harness shortened a history, before the model call number `turn`.

    `results_dropped` are the steps of dropped results, `facts_lost` their needed facts that no
    prompt had any more, `rules_dropped` the standing instructions that the next prompt lacked,
    `asked_again` the calls that read dropped contents again.
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
    """One result that the recorded model saw only in part.

    `marker` is the notice that says so, "" without one.

    `characters` is the untruncated size (None: not recorded). `needed` counts facts of the missing
    part that later turns used: other messages showed them.
    """

    step: int
    function: str
    seen_characters: int
    characters: int | None = None
    marker: str = ""
    needed: int = 0


class Reread(Value, frozen=True, kw_only=True):
    """A result that repeats an earlier one in `lines_same` of its `lines`.

    `why` says if the earlier one had been truncated, had been dropped by the harness, or was still
    in the prompt.
    """

    step: int
    earlier_step: int
    asked: str
    lines_same: int
    lines: int
    why: Literal["cut", "dropped", "in prompt"]


class SessionAudit(Value, frozen=True, kw_only=True):
    """The audit of one recording.

    `minimum` are the charges with perfect foresight (None: unknown).

    `replayed` are those of the recording counted in the same way: their difference is the most that
    can be saved. `skipped` counts what the reader did not understand, by kind.
    """

    id: str
    task: str = ""
    path: str
    format: str
    model: str | None
    sha256: str
    results: int
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
