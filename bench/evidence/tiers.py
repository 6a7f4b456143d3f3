"""Where a fact is that a prompt does not hold: behind a handle that the prompt shows and that resolves to it, or lost.

A fact is `retrievable` where the outcome's record has a handle, the prompt holds that handle as a whole, and resolving it gave a value that holds
the fact. A handle that resolves to nothing, or that no message shows, retrieves nothing. Anything else is `lost`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..model import ResultOutcome, Run, as_text
from ..text.texts import Texts
from .prompt_scan import Standing

TIERS = ("retrievable", "lost")
"""Best first; a fact out of context has the first that applies."""


@dataclass(frozen=True)
class Tiered:
    """The facts of one result (or of one use) that are not in context, by tier, in the order of the result."""

    standing: Standing
    retrievable: tuple[str, ...]
    lost: tuple[str, ...]

    def of(self, tier: str) -> tuple[str, ...]:
        """The facts of one tier."""
        return self.retrievable if tier == "retrievable" else self.lost


def tiered(standing: Standing, outcome: ResultOutcome | None, reachable: bool, texts: Texts) -> Tiered:
    """The tiers of what is gone of a result; `reachable` says whether the prompt shows its handle.

    >>> from bench.model import ToolResult
    >>> cut = Standing(ToolResult(index=0, call_id="a", function="f", seen="471 36.5"), False, ("471", "36.5"))
    >>> tiered(cut, None, False, Texts()).lost
    ('471', '36.5')
    """
    behind = (
        set(retrievable(standing, outcome, texts)) if reachable and outcome is not None and standing.gone else set()
    )
    return Tiered(
        standing,
        tuple(fact for fact in standing.gone if fact in behind),
        tuple(fact for fact in standing.gone if fact not in behind),
    )


def retrievable(standing: Standing, outcome: ResultOutcome, texts: Texts) -> list[str]:
    """Those of the facts that are gone which what was stored holds, the handle resolved; `[]` where it resolved to nothing."""
    stored, result = outcome.stored, standing.result
    if stored is None:
        return []
    text = as_text(stored)
    if stored is result.value or text in (result.text, as_text(result.value)):
        return list(standing.gone)
    missing = set(texts.missing(text, standing.gone))
    return [fact for fact in standing.gone if fact not in missing]


@dataclass(frozen=True)
class Handles:
    """Which results have their handle in their first prompt and in their last one, by place, and which handles each prompt shows, by step."""

    of_results: dict[str, frozenset[int]] = field(default_factory=lambda: {"shown": frozenset(), "end": frozenset()})
    of_prompts: dict[int, frozenset[str]] = field(default_factory=dict)


class HandlesOf:
    """The handles out of given ones that a text shows whole."""

    def __init__(self, handles: Iterable[str]) -> None:
        self._patterns = [
            (handle, re.compile(rf"(?<!\w){re.escape(handle)}(?!\w)")) for handle in dict.fromkeys(handles)
        ]
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        found = self._known.get(text)
        if found is None:
            found = tuple(handle for handle, pattern in self._patterns if handle in text and pattern.search(text))
            self._known[text] = found
        return found


def handles_of(run: Run) -> dict[int, str]:
    """The handle that was kept for each result, by its step; `{}` for a run without handles."""
    return {outcome.step: outcome.record.handle for outcome in run.results if outcome.record.handle}
