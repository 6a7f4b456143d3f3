"""The audit of one recording: its charges, its dearest results, its cache, and what was shortened,
truncated or read twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec.structs import replace

from ..model import ContextEdit, ContextReset, ModelTurn, SystemTurn, ToolResult, Usage, UserTurn
from ..model.audit import (
    Charges,
    CutResult,
    DearResult,
    PromptPart,
    Reread,
    SessionAudit,
    Shortening,
    TurnCharges,
)
from ..tokens.prices import UnitPrices
from .cache_breaks import cache_report
from .calls import answered_calls, asked
from .carried import OUTSIDE, Carried, carried_by
from .of_replay import ReplayEvidence
from .prices import PricedCall
from .rereads import rereads_of

DEAREST = 10
"""The number of dearest results to list."""

BESIDE = "instructions and tools that were not recorded"
USER, SYSTEM, ANSWERS = "user messages", "system messages", "the model's own earlier answers"


def audit_of(
    recorded: ReplayEvidence, minimum: ReplayEvidence | None, marker_of: Callable[[str], str]
) -> SessionAudit:
    """The audit of a recording, from its own replay and that of a reference with perfect foresight.

    `marker_of` returns the name of the program that left a truncation marker in a text, `""`
    without one.
    """
    trace = recorded.trace
    turns = _turns(recorded, as_reported=True)
    charges = {turn.step: turn.charges for turn in turns}
    carried = carried_by(recorded.walked.calls, recorded.messages.tokens, charges)
    rereads = tuple(rereads_of(recorded))
    priced = all(turn.charges.usd is not None for turn in turns)
    stated = trace.meta.get("cost_usd")
    return SessionAudit(
        id=trace.id,
        path=trace.source.path,
        format=trace.source.format,
        model=recorded.index.model,
        sha256=trace.sha256,
        results=len(trace.results),
        reported_turns=sum(turn.reported for turn in turns),
        charges=total_of([turn.charges for turn in turns]),
        stated_usd=float(stated) if isinstance(stated, int | float) else None,
        turns=turns,
        parts=tuple(_parts(recorded, carried, priced)),
        dearest=tuple(_dearest(recorded, carried, priced)),
        shortenings=tuple(_shortenings(recorded, turns, rereads)),
        cuts=tuple(_cuts(recorded, marker_of)),
        rereads=rereads,
        cache=cache_report(trace, recorded.index.model),
        replayed=total_of([turn.charges for turn in _turns(recorded, as_reported=False)]),
        minimum=None
        if minimum is None or minimum.replay.failure
        else total_of([turn.charges for turn in _turns(minimum, as_reported=False)]),
        skipped=dict(trace.left_out),
    )


def total_of(each: list[Charges]) -> Charges:
    """The sum of some charges; dollars only if all have them. Without charges all counts are 0.

    >>> total_of([Charges(prompt_tokens=5, usd=0.5), Charges(prompt_tokens=2)]).usd is None
    True
    """
    names = [name for name in Charges.__struct_fields__ if name != "usd"]
    sums = {name: sum(getattr(item, name) for item in each) for name in names}
    priced = bool(each) and all(item.usd is not None for item in each)
    return Charges(**sums, usd=sum(item.usd or 0.0 for item in each) if priced else None)


def _turns(evidence: ReplayEvidence, *, as_reported: bool) -> tuple[TurnCharges, ...]:
    """The charges of each model call: by its usage, else as counted and priced here."""
    usages = {
        turn.index: turn.usage if as_reported else None for turn in evidence.trace.model_turns
    }
    cache_known = any(u is not None and u.cached_prompt_tokens is not None for u in usages.values())
    turns = []
    for call, priced in zip(evidence.walked.calls, evidence.walked.priced, strict=True):
        usage = usages[call.step]
        prices = evidence.session.pricing.rule_of(call.step)[1]
        charges = _charges(priced, usage, prices, cache_known=cache_known)
        turns.append(
            TurnCharges(
                step=call.step, thread=call.thread, reported=usage is not None, charges=charges
            )
        )
    return tuple(turns)


def _charges(
    priced: PricedCall, usage: Usage | None, prices: UnitPrices | None, *, cache_known: bool
) -> Charges:
    """The charges of a call: by its reported usage, else as counted.

    >>> call = PricedCall(step=1, prompt_tokens=12, answer_tokens=3)
    >>> usage = Usage(prompt_tokens=10, cached_prompt_tokens=6, cache_write_tokens=9)
    >>> _charges(call, usage, None, cache_known=True).written_tokens
    4
    """
    prompt, read, written, hour = priced.prompt_tokens, priced.read or 0, priced.written, 0
    if usage is not None and usage.prompt_tokens:
        prompt = usage.prompt_tokens
        reported = (
            usage.cached_prompt_tokens
            if usage.cached_prompt_tokens is not None or not cache_known
            else 0
        )
        read = min(read if reported is None else reported, prompt)
        written = min(
            written if usage.cache_write_tokens is None else usage.cache_write_tokens, prompt - read
        )
        hour = min(usage.cache_write_1h_tokens or 0, written)
    charges = Charges(
        prompt_tokens=prompt,
        cached_tokens=read,
        written_tokens=written,
        written_1h_tokens=hour,
        output_tokens=priced.answer_tokens,
    )
    if prices is None:
        return charges
    new, cached, writes, output = (
        usd / 1e6 for usd in prices.parts(prompt, read, written, priced.answer_tokens, hour)
    )
    return replace(
        charges,
        usd=new + cached + writes + output,
        new_usd=new,
        cached_usd=cached,
        written_usd=writes,
        output_usd=output,
    )


def _parts(recorded: ReplayEvidence, carried: dict[int, Carried], priced: bool) -> list[PromptPart]:
    """The cost over the run of each tool's results and of each kind of other message, the dearest
    first.
    """
    names: dict[int, tuple[str, bool]] = {}
    for step in recorded.trace.steps:
        if isinstance(step, ToolResult):
            names[step.index] = step.function, True
        elif isinstance(step, ModelTurn):
            names[step.index] = ANSWERS, False
        elif isinstance(step, SystemTurn | UserTurn):
            names[step.index] = (USER if isinstance(step, UserTurn) else SYSTEM), False
    sums: dict[tuple[str, bool], list[float]] = {}
    for number, cost in carried.items():
        message = None if number == OUTSIDE else recorded.messages.messages[number]
        at = -1 if message is None or message.step is None else message.step
        of = sums.setdefault(names.get(at, (BESIDE, False)), [0, 0, 0.0, 0.0])
        if message is not None:
            of[0] += 1
            of[1] += recorded.messages.tokens[number]
        of[2] += cost.tokens
        of[3] += cost.usd
    parts = [
        PromptPart(
            name=name, tool=tool, messages=int(count), tokens=int(tokens),
            carried_tokens=round(over), usd=usd if priced else None,
        )
        for (name, tool), (count, tokens, over, usd) in sums.items()
    ]  # fmt: skip
    return sorted(parts, key=lambda part: (-(part.usd or 0.0), -part.carried_tokens, part.name))


def _dearest(
    recorded: ReplayEvidence, carried: dict[int, Carried], priced: bool
) -> list[DearResult]:
    """The results that cost most over the rest of their run."""
    questions = {step: asked(call) for step, (_, call) in answered_calls(recorded.trace).items()}
    dearest = []
    for result in recorded.trace.results:
        number = recorded.index.seen[result.index]
        cost = carried.get(number)
        if cost is not None:
            dearest.append(
                DearResult(
                    step=result.index,
                    function=result.function,
                    asked=questions.get(result.index, ""),
                    tokens=recorded.messages.tokens[number],
                    prompts=cost.prompts,
                    carried_tokens=round(cost.tokens),
                    usd=cost.usd if priced else None,
                )
            )
    dearest.sort(key=lambda item: (-(item.usd or 0.0), -item.carried_tokens, item.step))
    return dearest[:DEAREST]


def _shortenings(
    recorded: ReplayEvidence, turns: tuple[TurnCharges, ...], rereads: tuple[Reread, ...]
) -> Iterator[Shortening]:
    """Yield each shortening of a history by the recorded harness, in order."""
    numbers = {call.step: at for at, call in enumerate(recorded.walked.calls)}
    given = recorded.session.instructions.given
    lacking = {item.step: frozenset(item.missing) for item in recorded.lacking}
    none = frozenset[int]()
    for step in recorded.trace.steps:
        if not isinstance(step, ContextReset | ContextEdit):
            continue
        mine = [turn for turn in turns if turn.thread == step.thread]
        before = next((turn for turn in reversed(mine) if turn.step < step.index), None)
        after = next((turn for turn in mine if turn.step > step.index), None)
        call = None if after is None else numbers[after.step]
        dropped = [] if call is None else _dropped_at(recorded, call)
        lacked = none if before is None else lacking.get(before.step, none)
        rules = none if after is None else lacking.get(after.step, none) - lacked
        yield Shortening(
            step=step.index,
            kind=_kind_of(step),
            turn=None if after is None else turns.index(after) + 1,
            tokens_before=None if before is None else before.charges.prompt_tokens,
            tokens_after=None if after is None else after.charges.prompt_tokens,
            results_dropped=tuple(dropped),
            facts_lost=tuple(_facts_lost(recorded, dropped, call)),
            rules_dropped=tuple(given[at].text for at in sorted(rules) if given[at].kind == "rule"),
            asked_again=tuple(
                reread.step
                for reread in rereads
                if reread.why == "dropped" and reread.earlier_step in dropped
            ),
        )


def _kind_of(step: ContextReset | ContextEdit) -> Literal["masking", "compaction", "clearing"]:
    """The kind of a shortening: an edit masks, a reset with a summary compacts, any other clears."""
    if isinstance(step, ContextEdit):
        return "masking"
    return "compaction" if step.summary else "clearing"


def _dropped_at(recorded: ReplayEvidence, call: int) -> list[int]:
    """The steps of the results that were in the prompt before a call and are not in its own."""
    seen, left = recorded.index.seen, recorded.walked.left[call]
    return [result.index for result in recorded.trace.results if seen[result.index] in left]


def _facts_lost(recorded: ReplayEvidence, dropped: list[int], call: int | None) -> Iterator[str]:
    """Yield the facts of dropped results that are nowhere in the prompt of a call."""
    results = {result.index: result for result in recorded.trace.results}
    seen: set[str] = set()
    for step in dropped if call is not None else ():
        for fact in recorded.session.facts.lost(results[step], recorded.facts_at(call or 0)):
            if fact not in seen:
                seen.add(fact)
                yield fact


def _cuts(recorded: ReplayEvidence, marker_of: Callable[[str], str]) -> Iterator[CutResult]:
    """Yield every result that the recorded model saw only in part, known by its untruncated text or
    by a marker.
    """
    later: dict[str, list[int]] = {}
    for turn, needs in recorded.index.needs.items():
        for need in needs:
            later.setdefault(recorded.index.facts[need.fact], []).append(turn)
    for result in recorded.trace.results:
        seen = result.recorded_text
        cut = seen != result.text
        marker = marker_of(seen)
        if not (cut or marker or result.truncated_at_source):
            continue
        needed = 0
        if cut:
            lost = recorded.session.facts.lost_in_text(result, seen)
            needed = sum(any(turn > result.index for turn in later.get(fact, ())) for fact in lost)
        yield CutResult(
            step=result.index,
            function=result.function,
            seen_characters=len(seen),
            characters=len(result.text) if cut else None,
            marker=marker,
            needed=needed,
        )
