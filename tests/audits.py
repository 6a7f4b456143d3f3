"""Audits of sessions for the tests of reports, of any length by seed."""

from __future__ import annotations

import random

from msgspec.structs import replace

from bench.evidence.session_audit import total_of
from bench.model.audit import (
    CacheBreak,
    CacheReport,
    Charges,
    CutResult,
    DearResult,
    PromptPart,
    Reread,
    SessionAudit,
    Shortening,
    TurnCharges,
)  # fmt: skip


def charges(prompt: int, cached: int, output: int, priced: bool) -> Charges:
    """The charges of one call at 3, 0.3, 3.75 and 15 dollars a million."""
    written = (prompt - cached) // 2
    new = prompt - cached - written
    parts = (new * 3e-6, cached * 0.3e-6, written * 3.75e-6, output * 15e-6)
    return Charges(
        prompt_tokens=prompt, cached_tokens=cached, written_tokens=written, written_1h_tokens=written // 3, output_tokens=output,
        usd=sum(parts) if priced else None, new_usd=parts[0], cached_usd=parts[1], written_usd=parts[2], output_usd=parts[3],
    )  # fmt: skip


def session(number: int, *, turns: int = 60, priced: bool = True, eventful: bool = True) -> SessionAudit:
    """One session; an eventful one was compacted, cut, read twice, and lost its cache."""
    rng = random.Random(number)
    calls, size = [], 12_000
    broken = sorted(rng.sample(range(2, turns), min(4, turns - 2))) if eventful and turns > 3 else []
    for turn in range(turns):
        size = 18_000 if turn == turns // 2 and eventful else size + rng.randint(200, 4_000)
        cached = 4_000 if turn in broken else int(size * 0.93)
        costs = charges(size, cached, rng.randint(40, 900), priced)
        calls.append(TurnCharges(step=turn * 2 + 1, thread="main", reported=True, charges=costs))
    every = total_of([call.charges for call in calls])
    causes = ("compaction", "lifetime over", "prefix edited", "unknown")
    breaks = tuple(
        CacheBreak(
            step=turn * 2 + 1,
            turn=turn + 1,
            thread="main",
            tokens_again=calls[turn].charges.prompt_tokens - 4_000,
            cause=cause,
            idle_s=1_900.0 if cause == "lifetime over" else None,
            usd=0.11 if priced else None,
        )  # type: ignore[arg-type]
        for turn, cause in zip(broken, causes, strict=False)
    )
    each = [
        (call.charges.prompt_tokens // 2, call.charges.cached_tokens // 2, call.charges.output_tokens) for call in calls
    ]
    least = total_of([charges(*halved, priced) for halved in each])
    parts = tuple(
        PromptPart(
            name=name,
            tool=tool,
            messages=9,
            tokens=tokens,
            carried_tokens=tokens * 20,
            usd=tokens * 2e-5 if priced else None,
        )
        for name, tool, tokens in (
            ("Read", True, 40_000),
            ("Bash", True, 26_000),
            ("model answers", False, 9_000),
            ("tools and instructions", False, 12_000),
        )
    )
    dearest = tuple(
        DearResult(
            step=at * 4 + 2,
            function="Read",
            asked=f"/home/me/project/src/module_{at}/very/long/path/to/some/file_{at}.py",
            tokens=4_000 - at * 150,
            prompts=50 - at,
            carried_tokens=150_000 - at * 9_000,
            usd=0.4 - at * 0.03 if priced else None,
        )
        for at in range(10)
    )
    events = (
        Shortening(step=turns, kind="compaction", turn=turns // 2 + 1, tokens_before=96_000, tokens_after=18_000, results_dropped=(2, 4, 6), facts_lost=("a.py", "41"), rules_dropped=("Never push to main without asking.",), asked_again=(71,)),
        Shortening(step=turns + 9, kind="clearing", turn=None, tokens_before=88_000, results_dropped=(8,)),
    ) if eventful else ()  # fmt: skip
    cuts = (
        CutResult(step=14, function="Bash", seen_characters=30_000, marker="[output truncated: 81,203 characters]"),
        CutResult(step=20, function="Read", seen_characters=2_000, characters=41_000, needed=3),
    ) if eventful else ()  # fmt: skip
    again = (
        (
            Reread(step=71, earlier_step=4, asked="/home/me/project/a.py", lines_same=120, lines=120, why="dropped"),
            Reread(step=75, earlier_step=14, asked="make test", lines_same=40, lines=44, why="cut"),
        )
        if eventful
        else ()
    )
    return SessionAudit(
        id=f"sessions/session-{number:04}.jsonl", path=f"session-{number:04}.jsonl", format="claude_code", model="claude-sonnet-4-5", sha256="ab" * 32, results=turns // 2,
        charges=every, turns=tuple(calls), parts=parts, dearest=dearest, shortenings=events, cuts=cuts, rereads=again,
        cache=CacheReport(judged=turns - 1, explained=turns - 1 - len(broken), breaks=breaks), replayed=replace(every, prompt_tokens=every.prompt_tokens + 900), minimum=least, skipped={"block of type 'audio'": 2} if eventful else {},
    )  # fmt: skip


def audits(many: int, *, priced: bool = True) -> list[SessionAudit]:
    """So many sessions, the odd ones eventful."""
    return [session(number, turns=20 + number * 30, priced=priced, eventful=number % 2 == 0) for number in range(many)]
