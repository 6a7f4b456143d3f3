"""Things that the recorded harness itself cut, cleared or asked again: results seen in part, cleared histories, calls and readings repeated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ..model import (
    AnyStep,
    ContextEdit,
    ContextReset,
    ModelTurn,
    RecordedCut,
    RecordedReset,
    Run,
    SystemTurn,
    ToolCall,
    ToolResult,
    Trace,
    Value,
    as_text,
    grouped,
    lines_of,
)
from ..text.decode import NothingParsed, parse_json
from ..text.texts import Texts
from .spoken import spoken

NAMED = 4  # the most later turns and facts of one cut that are named


def find_cuts(trace: Trace, texts: Texts) -> Iterator[RecordedCut]:
    """Every result whose recorded text is not its untruncated text, in order. None where the trace recorded no other text."""
    known: dict[str, set[str]] = {}
    for position, step in enumerate(trace.steps):
        before = known.setdefault(step.thread, set())
        if isinstance(step, ToolResult) and step.full is not None and step.seen is not None and step.seen != step.full:
            facts = texts.facts(step.full)
            lost = [fact for fact in texts.missing(step.seen, facts) if fact not in before]
            later = list(_later(trace.steps[position:], step.thread, lost, texts))
            said = [(item.index, here) for item, here in later if isinstance(item, ModelTurn)]
            yield RecordedCut(
                step=step.index,
                function=step.function,
                untruncated_chars=_output_chars(step.full),
                seen_chars=len(step.seen),
                facts=len(facts),
                lost=len(lost),
                asked_again=tuple((item.index, len(here)) for item, here in later if isinstance(item, ToolResult)),
                said=tuple((at, here[:NAMED]) for at, here in said[:NAMED]),
                said_total=sum(len(here) for _, here in said),
            )
        before.update(texts.facts(_text(step)))


def _output_chars(text: str) -> int:
    """Characters of the longest string in a text that is JSON, else of the text."""
    try:
        value = parse_json(text)
    except NothingParsed:
        return len(text)
    values = value.values() if isinstance(value, dict) else value
    return max((len(item) for item in values if isinstance(item, str)), default=len(text))


def _text(step: AnyStep) -> str:
    """The words of a step to its thread, a result as its harness showed it; `""` for none."""
    return step.shown_by_recorder if isinstance(step, ToolResult) else "\n".join(spoken(step))


def _later(
    steps: tuple[AnyStep, ...], thread: str, lost: list[str], texts: Texts
) -> Iterator[tuple[AnyStep, tuple[str, ...]]]:
    """The steps of a thread in which lost facts first turn up again, with these."""
    left = set(lost)
    for step in steps:
        if not left:
            return
        if step.thread == thread:
            here = tuple(fact for fact in texts.facts(_text(step)) if fact in left)
            left.difference_update(here)
            if here:
                yield step, here


def find_resets(trace: Trace, texts: Texts) -> Iterator[RecordedReset]:
    """Every context reset of the recorded harness, in order."""
    held: dict[str, list[AnyStep]] = {}
    reworded: dict[int, str] = {}

    def shown(item: AnyStep) -> str:
        return reworded.get(item.index, _text(item))

    for step in trace.steps:
        before = held.setdefault(step.thread, [])
        if isinstance(step, ContextEdit):
            reworded.update(step.shown)
            continue
        if not isinstance(step, ContextReset):
            before.append(step)
            continue
        kept = [item for item in before if item.index in step.kept or isinstance(item, SystemTurn)]
        gone = [item for item in before if isinstance(item, ToolResult) and item.index not in step.kept]
        left = {fact for item in kept for fact in texts.facts(shown(item))} | texts.facts(step.summary or "").keys()
        facts = {fact for item in gone for fact in texts.facts(shown(item))}
        yield RecordedReset(
            step=step.index,
            results=len(gone),
            kept=len(kept),
            summary_chars=len(step.summary or ""),
            facts=len(facts),
            lost=len(facts - left),
        )
        held[step.thread] = kept


class Repeat(NamedTuple):
    """A call that an earlier one of its thread had already made, and the facts that both results told the recorded model.

    `turn` is the step of the call, `earlier` the latest result of the same call before it, `again` the step of its own result.
    """

    turn: int
    call_id: str
    command: str
    earlier: ToolResult
    again: int
    told: tuple[str, ...]


def find_repeats(trace: Trace, texts: Texts) -> Iterator[Repeat]:
    """Every repeated call of a trace that was told a fact again, in order of their results.

    The same call is the same function with the same arguments, or the same command. A call without a result, and one that got nothing it
    had been told before, is left out.
    """
    answered: dict[tuple[str, str], list[ToolResult]] = {}
    calls = answered_calls(trace)
    for result in trace.results:
        if result.index in calls:
            turn, call = calls[result.index]
            before = answered.setdefault((result.thread, call.command), [])
            earlier = next((item for item in reversed(before) if item.index < turn), None)
            before.append(result)
            if earlier is not None and (told := _told_twice(earlier, result, texts)):
                yield Repeat(turn, call.id, call.command, earlier, result.index, told)


def _told_twice(earlier: ToolResult, again: ToolResult, texts: Texts) -> tuple[str, ...]:
    """The facts that the recorded model saw in both; one that only a harness's own warning held is no strategy's to keep."""
    untruncated, seen_again = texts.facts(earlier.text), texts.facts(again.shown_by_recorder)
    return tuple(fact for fact in texts.facts(earlier.shown_by_recorder) if fact in seen_again and fact in untruncated)


SHARE = 0.95  # the share of a result's lines that earlier results must hold

FEWEST_LINES = 5
"""The lines that a result must have to be judged by its lines; of fewer only the same call with the same answer counts."""

_SHORTEST = 8  # characters of a line that says something: `}` and `pass` stand everywhere
_SAME = 20  # characters of an answer that says something: "OK" is no reading
_PLACES = 12  # earlier results of one line that are remembered
_NUMBERED = re.compile(r"^\s*\d+\s*(?:[→|:]|\t)\s?")

_SUBJECTS = ("command", "cmd", "file_path", "path", "pattern", "query", "url")
"""The arguments that say what a call is about, the one that says most first."""

Why = Literal["cut", "dropped", "in prompt"]
"""`cut`: the model had seen only a part of the earlier results, and the rest held these lines, so an untruncated result would have saved the call.
`dropped`: it had seen them, and its prompt no longer held them. `in prompt`: they stood before it."""


class Reread(Value, frozen=True, kw_only=True):
    """A result most of whose lines earlier results of its thread held.

    `turn` is the step of the model's call, `step` that of the result, `earlier` that of the earlier result with most of them; `known` of `lines`
    distinct lines are the same.
    """

    turn: int
    step: int
    function: str
    asked: str
    earlier: int
    lines: int
    known: int
    why: Why


def rereads(trace: Trace, run: Run) -> Iterator[Reread]:
    """Yield every result that was read again, in order; `run` is the trace under the strategy `recorded`, which says what prompts held.

    Lines are compared without the numbers that a viewer puts before them, and short ones (`}`) are left out. A result of few lines counts where
    the same call gave the same answer. Takes time in proportion to the text.
    """
    gone = gone_at(trace, run)
    called = answered_calls(trace)
    holders: dict[tuple[str, str], list[int]] = {}
    answered: dict[tuple[str, str], ToolResult] = {}
    shown: dict[int, frozenset[str]] = {}
    last_turn: dict[str, int] = {}
    for step in trace.steps:
        if isinstance(step, ModelTurn):
            last_turn[step.thread] = step.index
        if not isinstance(step, ToolResult):
            continue
        turn, call = called.get(step.index, (last_turn.get(step.thread, -1), None))
        command = step.function if call is None else call.command
        lines = _lines(step.shown_by_recorder) or frozenset(("",))
        known = {line: holders[step.thread, line] for line in lines if (step.thread, line) in holders}
        before = answered.get((step.thread, command))
        enough = SHARE * len(lines)
        if len(lines) < FEWEST_LINES or len(known) < enough:
            text = step.shown_by_recorder
            same = before is not None and len(text) >= _SAME and text == before.shown_by_recorder
            known = {line: [before.index] for line in lines} if before is not None and same else {}
        if known:
            seen = {line: [at for at in places if line in shown[at]] for line, places in known.items()}
            there = {line: [at for at in places if gone.get(at, turn + 1) > turn] for line, places in seen.items()}
            cut, dropped = (sum(map(bool, places.values())) < enough for places in (seen, there))
            why: Why = "cut" if cut else "dropped" if dropped else "in prompt"
            every = (at for places in known.values() for at in places)
            of = [at for at in every if why != "dropped" or gone.get(at, turn + 1) <= turn]
            earlier = max(Counter(of).items(), key=lambda item: (item[1], item[0]))[0]
            yield Reread(turn=turn, step=step.index, function=step.function, earlier=earlier, asked="" if call is None else asked(call),
                         lines=len(lines), known=len(known), why=why)  # fmt: skip
        answered[step.thread, command] = step
        shown[step.index] = lines
        for line in lines if step.full is None else _lines(step.text) | lines:
            places = holders.setdefault((step.thread, line), [])
            if len(places) < _PLACES:
                places.append(step.index)
            else:
                places[places.index(min(places))] = step.index


def answered_calls(trace: Trace) -> dict[int, tuple[int, ToolCall]]:
    """The model turn and the call that each result answers, by the step of the result: the latest before it, as some recorders use an id again."""
    calls: dict[tuple[str, str], tuple[int, ToolCall]] = {}
    found = {}
    for step in trace.steps:
        if isinstance(step, ModelTurn):
            calls.update({(step.thread, call.id): (step.index, call) for call in step.tool_calls})
        elif isinstance(step, ToolResult) and (step.thread, step.call_id) in calls:
            found[step.index] = calls[step.thread, step.call_id]
    return found


def _lines(text: str) -> frozenset[str]:
    """Return the distinct lines of a text that say something, without numbers before them."""
    stripped = (_NUMBERED.sub("", line).strip() for line in lines_of(text))
    return frozenset(line for line in stripped if len(line) >= _SHORTEST)


def asked(call: ToolCall) -> str:
    """Return what a call asked for in one line: its command, its file or what it searched, else its arguments as JSON; `""` for none.

    >>> asked(ToolCall(id="c", name="Read", arguments={"file_path": "a.py", "offset": 40, "limit": 9}))
    'a.py offset=40 limit=9'
    >>> asked(ToolCall(id="c", name="shell", arguments={"command": ["bash", "-lc", "ls -l"], "workdir": "/x"}))
    'ls -l'
    """
    given = call.arguments
    if not isinstance(given, dict):
        return "" if given is None else " ".join(as_text(given).split())
    subject = next((given[name] for name in _SUBJECTS if given.get(name)), None)
    if isinstance(subject, list):
        subject = subject[-1] if subject[:1] in (["bash"], ["sh"], ["/bin/bash"]) else " ".join(map(str, subject))
    more = [f"{name}={given[name]}" for name in ("offset", "limit", "page") if given.get(name) is not None]
    return " ".join([*as_text(given if subject is None else subject).split(), *more])


def gone_at(trace: Trace, run: Run) -> dict[int, int]:
    """Return by the step of each result the step of the first prompt that could hold its text and did not; those that stayed are not in it."""
    found: dict[int, int] = {}
    live: dict[str, list[str]] = {}
    first = {outcome.step: outcome.shown for outcome in run.results}
    waiting = grouped((result.thread, result.index) for result in reversed(trace.results))
    for prompt in run.prompts:
        keys = live.setdefault(prompt.thread, [])
        for key in prompt.edit(keys):
            step = run.messages[key].step
            if step is not None and first.get(step) == key:
                found[step] = prompt.step
        of_thread = waiting.get(prompt.thread, [])
        while of_thread and of_thread[-1] < prompt.step:
            found[of_thread.pop()] = prompt.step
        for splice in prompt.splices:
            for key in splice.added:
                step = run.messages[key].step
                if step is not None and first.get(step) == key:
                    found.pop(step, None)
    return found
