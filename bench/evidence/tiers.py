"""Where a fact is that a prompt does not hold: behind a handle that the prompt shows and that resolves to it, or lost.

A fact is `retrievable` where the outcome's record has a handle, the prompt holds that handle as a whole, and resolving it gave a value that holds
the fact. A handle that resolves to nothing, or that no message shows, retrieves nothing. Anything else is `lost`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..model import Run
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


def tiered(standing: Standing, behind_handle: str, texts: Texts) -> Tiered:
    """The tiers of what is gone of a result; `behind_handle` is the text that the handle which its prompt shows resolves to (`""`: none, or nothing).

    >>> from bench.model import ToolResult
    >>> cut = Standing(ToolResult(index=0, call_id="a", function="f", seen="471 36.5"), False, ("471", "36.5"))
    >>> tiered(cut, "", Texts()).lost, tiered(cut, "total 471", Texts()).retrievable
    (('471', '36.5'), ('471',))
    """
    lost = frozenset(texts.missing(behind_handle, standing.gone)) if behind_handle else frozenset(standing.gone)
    return Tiered(
        standing,
        tuple(fact for fact in standing.gone if fact not in lost),
        tuple(fact for fact in standing.gone if fact in lost),
    )


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
