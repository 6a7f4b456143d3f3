"""The audit of one recording: its charges, its dearest results, its cache, and what was shortened,
truncated or read twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from ..model import ContextEdit, ContextReset, ToolResult, Usage, grouped
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
from .calls import answered_calls, call_line
from .carried import OUTSIDE, TOOLS, Carried, carried_by, within_reported
from .checks.instructed import missing_instructions
from .of_replay import ReplayEvidence
from .prices import PricedCall
from .rereads import rereads_of

DEAREST = 10
"""The number of dearest results to list."""

_OUTSIDE = {TOOLS: "tool definitions", OUTSIDE: "billed beyond the counted texts"}
_KINDS = {
    "user": "user messages",
    "system": "system messages",
    "model": "the model's own earlier answers",
    "made": "summaries of earlier messages",
}


def audit_of(
    recorded: ReplayEvidence,
    minimum: ReplayEvidence | None,
    marker_of: Callable[[str], str],
    counted: Mapping[str, str],
) -> SessionAudit:
    """The audit of a recording, from its own replay and that of a reference with perfect foresight.

    `marker_of` returns the name of the program that left a truncation marker in a text, `""`
    without one. `counted` are answers whose charges another session has, by their ids: a fork of a
    session begins with its answers, which were billed once.
    """
    trace = recorded.trace
    ids = {turn.index: turn.answer_id or "" for turn in trace.model_turns}
    elsewhere = {step: counted[answer] for step, answer in ids.items() if answer in counted}
    turns = _turns(recorded, elsewhere, as_reported=True)
    charges = {turn.step: turn.charges for turn in turns}
    calls, messages = recorded.walked.calls, recorded.messages
    usages = {turn.index: turn.usage for turn in trace.model_turns}
    tokens = within_reported(calls, messages.messages, messages.tokens, usages)
    carried = carried_by(calls, tokens, charges)
    rereads = tuple(rereads_of(recorded))
    priced = all(turn.charges.usd is not None for turn in turns)
    stated = trace.meta.get("cost_usd")
    return SessionAudit(
        id=trace.id,
        task=trace.task,
        path=trace.source.path,
        format=trace.source.format,
        model=recorded.index.model,
        sha256=trace.sha256,
        results=len(trace.results),
        charges=total_of([turn.charges for turn in turns]),
        stated_usd=float(stated) if isinstance(stated, int | float) else None,
        turns=turns,
        parts=tuple(_parts(recorded, tokens, carried, priced)),
        dearest=tuple(_dearest(recorded, tokens, carried, priced)),
        shortenings=tuple(_shortenings(recorded, turns, rereads)),
        cuts=tuple(_cuts(recorded, marker_of)),
        rereads=rereads,
        cache=cache_report(trace, recorded.index.model, elsewhere, _new_tokens(recorded, tokens)),
        replayed=_replayed(recorded, elsewhere),
        minimum=None
        if minimum is None or minimum.replay.failure
        else _replayed(minimum, elsewhere),
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


def _new_tokens(recorded: ReplayEvidence, tokens: list[int]) -> dict[int, int]:
    """The tokens of the messages that no earlier prompt had, by the step of each call."""
    return {
        call.step: sum(tokens[n] for n in call.tail if recorded.first_call(n) == at)
        for at, call in enumerate(recorded.walked.calls)
    }


def _replayed(evidence: ReplayEvidence, elsewhere: Mapping[int, str]) -> Charges:
    """The charges of a replay as counted and priced here."""
    return total_of([turn.charges for turn in _turns(evidence, elsewhere, as_reported=False)])


def _turns(
    evidence: ReplayEvidence, elsewhere: Mapping[int, str], *, as_reported: bool
) -> tuple[TurnCharges, ...]:
    """The charges of each model call: none `elsewhere`, by its usage, else as counted and priced
    here."""
    usages = {
        turn.index: turn.usage if as_reported else None for turn in evidence.trace.model_turns
    }
    cache_known = any(u is not None and u.cached_prompt_tokens is not None for u in usages.values())
    turns = []
    for call, priced in zip(evidence.walked.calls, evidence.walked.priced, strict=True):
        usage, charges = usages[call.step], Charges(usd=0.0)
        if call.step not in elsewhere:
            _, prices = evidence.session.pricing.rule_of(call.step)
            charges = _charges(priced, usage, prices, cache_known=cache_known)
        is_partial = usage is not None and usage.completion_tokens != priced.answer_tokens
        turn = TurnCharges(
            step=call.step,
            thread=call.thread,
            reported=usage is not None,
            output_estimated=is_partial,  # the reported count is that of a part
            counted_in=elsewhere.get(call.step, ""),
            charges=charges,
        )
        turns.append(turn)
    return tuple(turns)


def _charges(
    priced: PricedCall, usage: Usage | None, prices: UnitPrices | None, *, cache_known: bool
) -> Charges:
    """The charges of a call: by its reported usage, else as counted.

    >>> call = PricedCall(step=1, prompt_tokens=12, answer_tokens=3, written=5, written_1h=5)
    >>> usage = Usage(prompt_tokens=10, cached_prompt_tokens=6, cache_write_tokens=9)
    >>> both = [_charges(call, it, None, cache_known=True) for it in (usage, None)]
    >>> [(charges.written_tokens, charges.written_1h_tokens) for charges in both]
    [(4, 0), (5, 5)]
    """
    prompt, read = priced.prompt_tokens, priced.read or 0
    written, hour = priced.written, priced.written_1h
    if usage is not None and usage.prompt_tokens:
        prompt, reported = usage.prompt_tokens, usage.cached_prompt_tokens
        if reported is not None or cache_known:
            read = reported or 0
        if usage.cache_write_tokens is not None:
            written, hour = usage.cache_write_tokens, usage.cache_write_1h_tokens or 0
        read = min(read, prompt)
        written = min(written, prompt - read)
        hour = min(hour, written)
    answer, parts = priced.answer_tokens, tuple[float, ...]((0.0,) * 4)
    if prices is not None:
        parts = prices.parts(prompt, read, written, answer, hour)
    new, cached, writes, output = (millionths / 1e6 for millionths in parts)
    return Charges(
        prompt_tokens=prompt,
        cached_tokens=read,
        written_tokens=written,
        written_1h_tokens=hour,
        output_tokens=answer,
        usd=None if prices is None else new + cached + writes + output,
        new_usd=new,
        cached_usd=cached,
        written_usd=writes,
        output_usd=output,
    )


def _parts(
    recorded: ReplayEvidence, tokens: list[int], carried: dict[int, Carried], priced: bool
) -> list[PromptPart]:
    """The cost over the run of each tool's results and of each kind of other message, the dearest
    first."""
    messages = recorded.messages.messages
    names = {result.index: result.function for result in recorded.trace.results}

    def part_of(number: int) -> tuple[str, bool]:
        """The name of the part that a message belongs to, and True for a tool."""
        if number in _OUTSIDE:
            return _OUTSIDE[number], False
        message = messages[number]
        name = names.get(-1 if message.step is None else message.step)
        return (_KINDS[message.kind], False) if name is None else (name, True)

    once = {TOOLS: sum(recorded.index.tools_tokens.values())}
    by_part = grouped((part_of(number), number) for number in carried)
    parts = [
        PromptPart(
            name=name,
            tool=tool,
            messages=sum(number not in _OUTSIDE for number in numbers),
            tokens=sum(once.get(n, 0) if n in _OUTSIDE else tokens[n] for n in numbers),
            carried_tokens=round(sum(carried[number].tokens for number in numbers)),
            usd=sum(carried[number].usd for number in numbers) if priced else None,
        )
        for (name, tool), numbers in by_part.items()
    ]
    return sorted(parts, key=lambda part: (-(part.usd or 0.0), -part.carried_tokens, part.name))


def _dearest(
    recorded: ReplayEvidence, tokens: list[int], carried: dict[int, Carried], priced: bool
) -> list[DearResult]:
    """The results that cost most over the rest of their run."""
    questions = {
        step: call_line(call) for step, (_, call) in answered_calls(recorded.trace).items()
    }
    numbers = ((result, recorded.index.seen[result.index]) for result in recorded.trace.results)
    dearest = [
        DearResult(
            step=result.index,
            function=result.function,
            asked=questions.get(result.index, ""),
            tokens=tokens[number],
            prompts=carried[number].prompts,
            carried_tokens=round(carried[number].tokens),
            usd=carried[number].usd if priced else None,
        )
        for result, number in numbers
        if number in carried
    ]
    dearest.sort(key=lambda item: (-(item.usd or 0.0), -item.carried_tokens, item.step))
    return dearest[:DEAREST]


def _shortenings(
    recorded: ReplayEvidence, turns: tuple[TurnCharges, ...], rereads: tuple[Reread, ...]
) -> Iterator[Shortening]:
    """Yield each shortening of a history by the recorded harness, in order."""
    given, missing = recorded.session.instructions.given, missing_instructions(recorded)
    again = [(reread.earlier_step, reread.step) for reread in rereads if reread.why == "dropped"]
    for step in recorded.trace.steps:
        if not isinstance(step, ContextReset | ContextEdit):
            continue
        after = recorded.call_after(step)
        before = recorded.call_before(step)
        dropped = [] if after is None else _dropped_at(recorded, after)
        steps = tuple(result.index for result in dropped)
        lost = (fact for result in dropped for fact in recorded.lost_facts(result, after or 0))
        missing_before = () if before is None else missing[before]
        missing_after = () if after is None else missing[after]
        rules = (given[place] for place in missing_after if place not in missing_before)
        yield Shortening(
            step=step.index,
            kind=_kind_of(step),
            turn=None if after is None else after + 1,
            tokens_before=None if before is None else turns[before].charges.prompt_tokens,
            tokens_after=None if after is None else turns[after].charges.prompt_tokens,
            results_dropped=steps,
            facts_lost=tuple(dict.fromkeys(lost)),
            rules_dropped=tuple(item.text for item in rules if item.kind == "rule"),
            asked_again=tuple(later for earlier, later in again if earlier in steps),
        )


def _kind_of(step: ContextReset | ContextEdit) -> Literal["masking", "compaction", "clearing"]:
    """The kind of a shortening: an edit masks, a reset with a summary compacts, any other clears."""
    if isinstance(step, ContextEdit):
        return "masking"
    return "compaction" if step.summary else "clearing"


def _dropped_at(recorded: ReplayEvidence, call: int) -> list[ToolResult]:
    """The results that were in the prompt before a call and are not in its own."""
    seen, left = recorded.index.seen, recorded.walked.left[call]
    return [result for result in recorded.trace.results if seen[result.index] in left]


def _cuts(recorded: ReplayEvidence, marker_of: Callable[[str], str]) -> Iterator[CutResult]:
    """Yield every result that the recorded model saw only in part, known by its untruncated text or
    by a marker."""
    facts, needs = recorded.index.facts, recorded.index.needs.items()
    contents = recorded.contents
    last_turns = {facts[need.fact]: turn for turn, of_turn in sorted(needs) for need in of_turn}
    for result in recorded.trace.results:
        seen = result.recorded_text
        is_cut, marker = seen != result.text, marker_of(seen)
        if is_cut or marker or result.truncated_at_source:
            of_result = contents.facts_of(result.index) if is_cut else frozenset[str]()
            lost = of_result and of_result - contents.search.in_text(seen)
            yield CutResult(
                step=result.index,
                function=result.function,
                seen_characters=len(seen),
                characters=len(result.text) if is_cut else None,
                marker=marker,
                needed=sum(last_turns.get(fact, -1) > result.index for fact in lost),
            )
