"""How a window moved: the prompts of a run call by call, what was compacted, what was evicted, and what was missed; and the prompts themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..evidence.uses import call_text
from ..model import Comparison, Message, Prompt, Run
from .blocks import Chart, Point, listed, visible
from .page.charts import COMPACTED, DANGLING, EVICTED

MAX_POINTS = 300
MESSAGE_CHARS = 6_000
"""How much of one message a page shows; the rest is counted."""

NEEDED = ("needed.recall", "needed.reuse_recall")
SENTENCE = (
    "Prompt tokens of each model call. Triangle: the strategy compacted the history. Square: results left the prompt. "
    "Cross: the turn leaned on something gone."
)


@dataclass(frozen=True)
class Call:
    """One model call: its number from 1, its prompt, the steps of the results that left the prompt here, and the facts it missed."""

    number: int
    prompt: Prompt
    evicted: tuple[int, ...]
    missed: tuple[str, ...]
    dangling: bool


def calls(comparison: Comparison, strategy: str, case: str) -> list[Call]:
    """Every model call of a run in order. A result that left a prompt and came back leaves once only."""
    run = comparison.runs[strategy, case]
    dangling = {
        sample.step
        for sample in comparison.samples.get((strategy, "needed.dangling_steps", case), ())
        if sample.numerator and sample.step is not None
    }
    missed: dict[int, list[str]] = {}
    for metric in NEEDED:
        for sample in comparison.samples.get((strategy, metric, case), ()):
            if "fact" in sample.detail and sample.step is not None:
                missed.setdefault(sample.step, []).append(str(sample.detail["fact"]))
    found = []
    for number, (prompt, evicted) in enumerate(_evictions(run), 1):
        facts = tuple(dict.fromkeys(missed.get(prompt.step, ())))
        found.append(Call(number, prompt, evicted, facts, prompt.step in dangling))
    return found


def _evictions(run: Run) -> list[tuple[Prompt, tuple[int, ...]]]:
    """Each prompt with the steps of the results that it no longer shows as the one before did."""
    live: dict[str, list[str]] = {}
    seen: set[int] = set()
    found = []
    for prompt in run.prompts:
        keys = live.setdefault(prompt.thread, [])
        removed: list[str] = []
        for splice in reversed(prompt.splices):
            removed += keys[splice.at : splice.at + splice.removed]
            keys[splice.at : splice.at + splice.removed] = splice.added
        added = {key for splice in prompt.splices for key in splice.added}
        steps = {_result_step(run.messages[key]) for key in removed if key not in added}
        evicted = tuple(sorted(step for step in steps if step is not None and step not in seen))
        seen.update(evicted)
        found.append((prompt, evicted))
    return found


def _result_step(message: Message) -> int | None:
    return message.step if message.kind == "result" else None


def window_chart(comparison: Comparison, case: str, shown: Sequence[str], marked: Collection[str]) -> Chart | None:
    """Prompt tokens of every model call of a case, one line a strategy; only `marked` strategies carry marks. None without a call."""
    points = tuple(point for name in shown for point in _points(comparison, name, case, name in marked))
    if not points:
        return None
    return Chart("line", case, "model call", "prompt tokens", "calls", "tokens", points, SENTENCE, case=case)


def _points(comparison: Comparison, strategy: str, case: str, marked: bool) -> list[Point]:
    """One line: every prompt, or every so many of a long run, and every marked one."""
    found = calls(comparison, strategy, case)
    every = -(-len(found) // MAX_POINTS) or 1
    points: list[Point] = []
    for call in found:
        marks = [mark for mark in _marks(call) if marked]
        if marks or call.number == len(found) or (call.number - 1) % every == 0:
            note = "; ".join([f"step {call.prompt.step}", *([_told(call)] if marks else [])])
            for mark in marks or [""]:
                points.append(Point(strategy, call.number, call.prompt.tokens, mark, note, call.prompt.step))
    return points


def _marks(call: Call) -> list[str]:
    happened = ((COMPACTED, call.prompt.compacted), (EVICTED, bool(call.evicted)), (DANGLING, call.dangling))
    return [mark for mark, so in happened if so]


def _told(call: Call) -> str:
    said = []
    if call.prompt.compacted:
        said.append("compacted")
    if call.evicted:
        said.append(f"evicted: results of {_some([f'step {step}' for step in call.evicted])}")
    if call.dangling:
        said.append(f"missed {_some(list(call.missed)) if call.missed else 'something'}")
    return "; ".join(said)


def _some(names: list[str]) -> str:
    shown = [name if len(name) <= 40 else name[:39] + "…" for name in names[:4]]
    return listed([*shown, f"{len(names) - 4} more"] if len(names) > 4 else shown)


def prompts_data(comparison: Comparison, case: str, strategies: Sequence[str]) -> Mapping[str, Any]:
    """Every prompt of a case under some strategies, as plain data: each distinct message once, each prompt as edits.

    `messages`: [role, kind, step, text, characters left out]; `strategies`: by name, prompts as [step, thread, tokens, edits, what happened],
    an edit being [at, removed, [numbers of messages]].
    """
    numbers: dict[str, int] = {}
    messages: list[list[Any]] = []
    told: dict[str, list[list[Any]]] = {}
    for name in strategies:
        run = comparison.runs.get((name, case))
        if run is None or not run.prompts:
            continue
        prompts = told.setdefault(name, [])
        for call in calls(comparison, name, case):
            edits = []
            for splice in call.prompt.splices:
                for key in splice.added:
                    if key not in numbers:
                        numbers[key] = len(messages)
                        messages.append(_message(run.messages[key]))
                edits.append([splice.at, splice.removed, [numbers[key] for key in splice.added]])
            prompts.append(
                [call.prompt.step, visible(call.prompt.thread), call.prompt.tokens, edits, visible(_told(call))]
            )
    return {"messages": messages, "strategies": [[visible(name), prompts] for name, prompts in told.items()]}


def _message(message: Message) -> list[Any]:
    text = "\n".join(filter(None, [message.text, *(call_text(call) for call in message.tool_calls)]))
    left = max(0, len(text) - MESSAGE_CHARS)
    return [visible(message.role), message.kind, message.step, visible(text[:MESSAGE_CHARS]), left]
