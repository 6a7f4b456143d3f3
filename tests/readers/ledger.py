"""The router of Magentic-One, whose recorded decisions Who&When has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Ledger:
    """An orchestrator's next act, by its ledger: `satisfied`, `next`, `replan` or `terminated`.

    With `next` the detail names the speaker. Satisfied wins. A ledger that sees a loop or no progress is a stall; progress never takes one away.
    After more than `max_stalls` stalls counting starts again. Only a boolean answer counts, as in Magentic-One.

    Source: Magentic-One (arXiv 2411.04468); microsoft/autogen, `autogen_magentic_one/agents/orchestrator.py` (LedgerOrchestrator)
    """

    at = "recorded"

    def __init__(self, *, max_stalls: int = 3, max_replans: int = 3) -> None:
        self.max_stalls, self.max_replans = max_stalls, max_replans
        self.stalls = self.replans = 0

    def decide(self, state: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
        if getattr(state.get("step"), "router", "ledger") != "ledger":
            return None
        route = self._route(state)
        detail: dict[str, Any] = {"stalls": self.stalls, "replans": self.replans}
        speaker = _answer(state, "next_speaker")
        return route, {"speaker": speaker, **detail} if route == "next" and isinstance(speaker, str) else detail

    def _route(self, state: Mapping[str, Any]) -> str:
        """The next act; stalls and replans are counted."""
        if _answer(state, "is_request_satisfied") is True:
            return "satisfied"
        self.stalls += _answer(state, "is_in_loop") is True or _answer(state, "is_progress_being_made") is False
        if self.stalls <= self.max_stalls:
            return "next"
        self.stalls = 0
        if self.replans >= self.max_replans:
            return "terminated"
        self.replans += 1
        return "replan"


def _answer(state: Mapping[str, Any], question: str) -> Any:
    ledger = state.get("ledger")
    entry = ledger.get(question) if isinstance(ledger, Mapping) else None
    return entry.get("answer") if isinstance(entry, Mapping) else None
