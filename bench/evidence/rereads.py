"""Results that told the model again what an earlier one had told, and why: it was cut, it had been dropped, or it still stood in the prompt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..model import ModelTurn, Run, ToolCall, ToolResult, Trace, Value, as_text, lines_of

SHARE = 0.95
"""The share of a result's lines that one earlier result must hold."""

FEWEST_LINES = 5
"""The lines that a result must have to be judged by its lines; of fewer only the same call with the same answer counts."""

_SHORTEST = 8  # characters of a line that says something: `}` and `pass` stand everywhere
_SAME = 20  # characters of an answer that says something: "OK" is no reading
_PLACES = 12  # earlier results of one line that are remembered
_NUMBERED = re.compile(r"^\s*\d+\s*(?:[→|:]|\t)\s?")

_SUBJECTS = ("command", "cmd", "file_path", "path", "pattern", "query", "url")
"""The arguments that say what a call is about, the one that says most first."""

Why = Literal["cut", "dropped", "in prompt"]
"""`cut`: the model had seen only a part of the earlier result, and the rest held these lines, so an untruncated result would have saved the call.
`dropped`: it had seen them, and its prompt no longer held them. `in prompt`: they stood before it."""


class Reread(Value, frozen=True, kw_only=True):
    """A result most of whose lines an earlier result of its thread held.

    `turn` is the step of the model's call, `step` that of the result, `earlier` that of the result before; `known` of `lines` distinct lines
    are the same.
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
    called = {(turn.thread, call.id): (turn.index, call) for turn in trace.model_turns for call in turn.tool_calls}
    holders: dict[tuple[str, str], list[int]] = {}
    answered: dict[tuple[str, str], ToolResult] = {}
    shown: dict[int, frozenset[str]] = {}
    last_turn: dict[str, int] = {}
    for step in trace.steps:
        if isinstance(step, ModelTurn):
            last_turn[step.thread] = step.index
        if not isinstance(step, ToolResult):
            continue
        turn, call = called.get((step.thread, step.call_id), (last_turn.get(step.thread, -1), None))
        command = step.function if call is None else call.command
        lines = _lines(step.shown_by_recorder)
        found = _holder(step, lines, holders) if len(lines) >= FEWEST_LINES else None
        before = answered.get((step.thread, command))
        if found is None and before is not None and _same(before, step):
            found = before.index, max(1, len(lines))
        if found is not None:
            earlier, known = found
            visible = len(lines & shown[earlier])
            whole = visible >= SHARE * len(lines)
            why: Why = "cut" if not whole else "dropped" if gone.get(earlier, turn + 1) <= turn else "in prompt"
            yield Reread(turn=turn, step=step.index, function=step.function, earlier=earlier,
                         asked="" if call is None else asked(call), lines=max(1, len(lines)), known=known, why=why)  # fmt: skip
        answered[step.thread, command] = step
        shown[step.index] = lines
        for line in lines if step.full is None else _lines(step.text) | lines:
            places = holders.setdefault((step.thread, line), [])
            if len(places) < _PLACES:
                places.append(step.index)
            else:
                places[places.index(min(places))] = step.index


def _holder(
    step: ToolResult, lines: frozenset[str], holders: dict[tuple[str, str], list[int]]
) -> tuple[int, int] | None:
    """Return the earlier result that holds most of these lines, the latest of several, and how many; None where none holds enough."""
    counts = Counter(place for line in lines for place in holders.get((step.thread, line), ()))
    best = max(counts.items(), key=lambda item: (item[1], item[0]), default=None)
    return best if best is not None and best[1] >= SHARE * len(lines) else None


def _same(before: ToolResult, again: ToolResult) -> bool:
    text = again.shown_by_recorder
    return len(text) >= _SAME and text == before.shown_by_recorder


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
    waiting: dict[str, list[int]] = {}
    for result in reversed(trace.results):
        waiting.setdefault(result.thread, []).append(result.index)
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
