"""What happened in recorded sessions and what it cost, without any strategy: the value that `bench audit` shows."""

from __future__ import annotations

from typing import Literal

from .base import Value
from .compared import Skipped

Use = Literal["output", "new", "written_5m", "written_1h", "cached"]
"""What tokens are billed as: output, new prompt, written to the cache for five minutes or an hour, read from it."""

ContentKind = Literal["tool", "system", "user", "model", "tools", "not recorded"]
"""What fills a prompt: a tool's results, instructions, users, the model itself, tool definitions, unrecorded text."""

Cause = Literal[
    "system prompt changed", "tools changed", "prefix edited", "compaction", "lifetime over", "unknown"
]
"""Why a provider's cache no longer served a prefix."""


class Billed(Value, frozen=True, kw_only=True):
    """The tokens of one use and their price (None: no price is listed for the model)."""

    use: Use
    tokens: int
    usd: float | None = None


class TurnCost(Value, frozen=True, kw_only=True):
    """One model call: its tokens by use and its price. `reported`: the provider stated them, else they are counted."""

    step: int
    thread: str = "main"
    prompt_tokens: int
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    reported: bool = False


class ContentCost(Value, frozen=True, kw_only=True):
    """All messages of one kind, or all results of one tool: `tokens` counts each once, `sent_tokens` in every prompt."""

    name: str
    kind: ContentKind
    messages: int
    tokens: int
    sent_tokens: float
    usd: float | None = None


class ResultCost(Value, frozen=True, kw_only=True):
    """One tool result: how many prompts sent it again, and the price of all that. `request` is what was asked."""

    step: int
    tool: str
    request: str = ""
    tokens: int
    prompts: int
    sent_tokens: float
    usd: float | None = None


class Compaction(Value, frozen=True, kw_only=True):
    """One time that the harness shortened its history, before the model turn `turn` (from 1; None: the end).

    `values_gone` (None: not looked for) no longer stood anywhere; `rules_gone` are the standing
    instructions that the next prompt lacks; `asked_again` counts calls that fetched what had gone.
    """

    step: int
    kind: Literal["compaction", "clearing", "masking"]
    turn: int | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    results_gone: int = 0
    values_gone: int | None = None
    rules_gone: tuple[str, ...] = ()
    asked_again: int = 0


class RecordedCut(Value, frozen=True, kw_only=True):
    """One result that reached the model in part. `marker`: the text that says so, `""` where the full text is recorded.

    `characters` is the full length (None: not recorded), `used_later` the values of the missing part
    that a later turn used (None: the missing part is not recorded, so this cannot be known).
    """

    step: int
    tool: str
    marker: str = ""
    characters: int | None = None
    shown_characters: int = 0
    used_later: int | None = None


class Reread(Value, frozen=True, kw_only=True):
    """One call whose answer an earlier step had given. `why`: it was cut then, had been dropped, or still stood there."""

    step: int
    first_step: int
    tool: str
    request: str = ""
    why: Literal["cut", "dropped", "in prompt"]
    tokens: int = 0
    usd: float | None = None


class CacheBreak(Value, frozen=True, kw_only=True):
    """One turn (from 1) where the cache served less than the prompt before: the tokens billed again, and why."""

    turn: int
    step: int
    billed_again_tokens: int
    billed_as: Use = "new"
    usd: float | None = None
    cause: Cause = "unknown"
    detail: str = ""


class SessionAudit(Value, frozen=True, kw_only=True):
    """One recorded session. Prices are None where none is listed for its model; then tokens decide every order.

    `cache_explained` is the share of turns whose cache reads the cache model predicts (None: no
    usage is recorded); `minimum_usd` and `minimum_tokens` are what perfect foresight would cost.
    `turns`, `dearest` (at most ten), `compactions`, `cuts`, `rereads` and `breaks` are in the order of steps,
    but `dearest`, which is by price. `left_out` counts what the reader did not understand, by kind.
    """

    id: str
    path: str = ""
    format: str = ""
    model: str | None = None
    results: int = 0
    usd: float | None = None
    billed: tuple[Billed, ...] = ()
    turns: tuple[TurnCost, ...] = ()
    contents: tuple[ContentCost, ...] = ()
    dearest: tuple[ResultCost, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    cuts: tuple[RecordedCut, ...] = ()
    rereads: tuple[Reread, ...] = ()
    breaks: tuple[CacheBreak, ...] = ()
    cache_explained: float | None = None
    minimum_usd: float | None = None
    minimum_tokens: int | None = None
    left_out: dict[str, int] = {}


class Audited(Value, frozen=True, kw_only=True):
    """The sessions of one `bench audit`, and the files that could not be read."""

    sessions: tuple[SessionAudit, ...] = ()
    skipped: tuple[Skipped, ...] = ()
