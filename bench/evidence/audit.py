"""The audit of one recording, without any strategy: where its money went, what was shortened, what was read twice, what could be saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec.structs import replace

from ..model import (
    ContextEdit,
    ContextReset,
    ModelTurn,
    RecordedCut,
    SystemTurn,
    ToolResult,
    UserTurn,
    Value,
    grouped,
)
from .of_run import RunEvidence
from .recorded_cut import Reread, answered_calls, asked, gone_at, rereads
from .recording import stated_usd
from .spending import OUTSIDE, Carried, Charges, TurnSpent, carried, total, turns_spent

DEAREST = 10  # the results that are named as the dearest of a recording
BESIDE = "not recorded: instructions, tools"
USER, SYSTEM, ANSWERS = "user messages", "system messages", "the model's own earlier answers"

Kind = Literal["compaction", "clearing", "masking"]
"""A history replaced by a summary; one cleared, or gone back in, without a summary; old messages shown as something shorter."""


class PartSpent(Value, frozen=True, kw_only=True):
    """The cost of one part of the prompts over a whole run: a tool's results, or messages of one kind.

    `messages` of `tokens` in all, each counted once; `carried_tokens` counts each in every prompt that held it. `usd` is 0 without listed prices.
    """

    name: str
    tool: bool
    messages: int
    tokens: int
    carried_tokens: float
    usd: float


class ResultSpent(Value, frozen=True, kw_only=True):
    """One result over the rest of its run: its tokens, the prompts that held it, its tokens over all of them, and their dollars."""

    step: int
    function: str
    asked: str
    tokens: int
    prompts: int
    carried_tokens: float
    usd: float


class Shortened(Value, frozen=True, kw_only=True):
    """One time that the harness shortened a history: at a step, before the model turn with the number `turn` (from 1) of all.

    `tokens_before` and `tokens_after` are those of the prompts around it (None: there was none). `results` went; `facts_lost` of them no longer
    stood anywhere (None: not looked for). `rules_gone` are the standing instructions that the prompt behind it no longer held, `asked_again` the
    calls that read what had gone once more.
    """

    step: int
    kind: Kind
    turn: int | None
    tokens_before: int | None
    tokens_after: int | None
    results: tuple[int, ...]
    facts_lost: int | None
    rules_gone: tuple[str, ...]
    asked_again: tuple[Reread, ...]


class Audit(Value, frozen=True, kw_only=True):
    """The events and costs of one recording. `floor` is what a strategy that knows the future would still spend, `replayed` what the recording spends
    when it is counted in the same way: their difference is the most that anybody can save (None: nothing to replay).

    `reported` model calls of `turns` state their usage; `early_counts` of them had stated their output before it ended.
    """

    id: str
    path: str
    format: str
    model: str | None
    sha256: str
    results: int
    cut_at_source: int
    reported: int
    early_counts: int
    spent: Charges
    stated_usd: float | None
    turns: tuple[TurnSpent, ...]
    parts: tuple[PartSpent, ...]
    dearest: tuple[ResultSpent, ...]
    shortened: tuple[Shortened, ...]
    cuts: tuple[RecordedCut, ...]
    rereads: tuple[Reread, ...]
    replayed: Charges | None = None
    floor: Charges | None = None

    @property
    def headroom(self) -> float | None:
        """The share of its cost that a strategy with perfect foresight would save, in dollars, without prices in prompt tokens; None: not known."""
        return None if self.replayed is None or self.floor is None else headroom(self.replayed, self.floor)


def headroom(now: Charges, least: Charges) -> float | None:
    """Return the share that one run costs less than another, in dollars, without prices in prompt tokens; 0 for more, None for a run of nothing."""
    priced = now.usd and least.usd is not None
    today, floor = (now.usd or 0.0, least.usd or 0.0) if priced else (now.prompt_tokens, least.prompt_tokens)
    return max(0.0, 1 - floor / today) if today else None


def audit_of(recorded: RunEvidence, floor: RunEvidence | None = None) -> Audit:
    """Return what happened in a recording, from its replay under `recorded`, and under `floor` where somebody replayed that."""
    trace = recorded.trace
    turns = turns_spent(recorded)
    costs = carried(recorded.run, recorded.calls, turns)
    again = tuple(rereads(trace, recorded.run))
    calls = answered_calls(trace)
    questions = {step: asked(call) for step, (_, call) in calls.items()}
    results = [
        ResultSpent(step=step, function=item.function, asked=questions.get(step, ""), **costs[step]._asdict())
        for step, item in recorded.of_trace.results.items()
        if step in costs
    ]
    dearest = sorted(results, key=lambda item: (-item.usd, -item.carried_tokens, item.step))
    answers = {turn.index: turn.usage.completion_tokens for turn in trace.model_turns if turn.usage is not None}
    return Audit(
        id=trace.id,
        path=trace.source.path,
        format=trace.source.format,
        model=recorded.of_trace.model,
        sha256=trace.sha256,
        results=len(trace.results),
        cut_at_source=sum(result.truncated_at_source for result in trace.results),
        reported=sum(turn.reported for turn in turns),
        early_counts=sum(turn.spent.output_tokens > answers.get(turn.step, turn.spent.output_tokens) for turn in turns),
        spent=total([turn.spent for turn in turns]),
        stated_usd=stated_usd(trace),
        turns=turns,
        parts=tuple(_parts(recorded, costs)),
        dearest=tuple(dearest[:DEAREST]),
        shortened=tuple(_shortened(recorded, turns, again)),
        cuts=recorded.of_trace.cuts,
        rereads=again,
        replayed=_replayed(recorded) if floor is not None else None,
        floor=None if floor is None or floor.run.failure else _replayed(floor),
    )


def _replayed(evidence: RunEvidence) -> Charges:
    """Return what a run spends when all of it is counted here, with the output of the recording."""
    return total([turn.spent for turn in turns_spent(evidence, as_reported=False)])


def _parts(evidence: RunEvidence, costs: dict[int, Carried]) -> list[PartSpent]:
    """Return what each tool's results, and each kind of other messages, cost over the run; the dearest first."""
    names: dict[int, tuple[str, bool]] = {OUTSIDE: (BESIDE, False)}
    for step in evidence.trace.steps:
        if isinstance(step, ToolResult):
            names[step.index] = step.function, True
        elif isinstance(step, ModelTurn):
            names[step.index] = ANSWERS, False
        elif isinstance(step, SystemTurn | UserTurn):
            names[step.index] = USER if isinstance(step, UserTurn) else SYSTEM, False
    parts: dict[tuple[str, bool], PartSpent] = {}
    for at, cost in costs.items():
        name, tool = names[at]
        nothing = PartSpent(name=name, tool=tool, messages=0, tokens=0, carried_tokens=0.0, usd=0.0)
        part = parts.get((name, tool), nothing)
        added = {field: getattr(part, field) + getattr(cost, field) for field in ("tokens", "carried_tokens", "usd")}
        parts[name, tool] = replace(part, messages=part.messages + (at != OUTSIDE), **added)
    return sorted(parts.values(), key=lambda part: (-part.usd, -part.carried_tokens, part.name, part.tool))


def _shortened(evidence: RunEvidence, turns: tuple[TurnSpent, ...], again: Iterable[Reread]) -> Iterator[Shortened]:
    """Yield every shortening of a history, in order."""
    gone = grouped((prompt, result) for result, prompt in gone_at(evidence.trace, evidence.run).items())
    lost = {reset.step: reset.lost for reset in evidence.of_trace.resets}
    numbers = {turn.step: number for number, turn in enumerate(turns, 1)}
    dropped = [item for item in again if item.why == "dropped"]
    for step in evidence.trace.steps:
        if not isinstance(step, ContextReset | ContextEdit):
            continue
        mine = [turn for turn in turns if turn.thread == step.thread]
        before = next((turn for turn in reversed(mine) if turn.step < step.index), None)
        after = next((turn for turn in mine if turn.step > step.index), None)
        results = tuple(sorted(gone.get(after.step, ()))) if after is not None else ()
        kind: Kind = "masking" if isinstance(step, ContextEdit) else "compaction" if step.summary else "clearing"
        yield Shortened(
            step=step.index,
            kind=kind,
            turn=None if after is None else numbers[after.step],
            tokens_before=None if before is None else before.spent.prompt_tokens,
            tokens_after=None if after is None else after.spent.prompt_tokens,
            results=results,
            facts_lost=lost.get(step.index),
            rules_gone=() if after is None else _rules_gone(evidence, before, after),
            asked_again=tuple(item for item in dropped if item.earlier in results),
        )


def _rules_gone(evidence: RunEvidence, before: TurnSpent | None, after: TurnSpent) -> tuple[str, ...]:
    """Return the standing instructions that the recorded prompt of one turn held and that of the next did not."""
    recorded = evidence.of_trace.recorded
    known = frozenset[int]() if before is None else recorded.untold_at.get(before.step, frozenset())
    instructions = recorded.instructions.by_thread.get(after.thread, [])
    numbers = sorted(recorded.untold_at.get(after.step, frozenset()) - known)
    return tuple(instructions[number].text for number in numbers if instructions[number].kind == "rule")
