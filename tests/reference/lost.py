"""What was lost by kind, by compaction and asked for again, the slow way: prompts rebuilt as lists, every text looked through every time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from bench.model import Message, ModelTurn, Prompt, Run, SystemTurn, ToolResult, Trace, UserTurn, as_text

from . import loss, rebuilt
from .facts import facts_of as facts_with
from .needs import lower_of
from .notices import is_noticed, marker
from .reading import Nothing, some

UNITS = (
    ["%", "‰", "°", "°C", "°F", "bytes", "byte", "B", "KB", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hour", "hours"]
    + ["day", "days", "K", "px", "ft", "bp", "USD", "EUR", "€", "kb", "Mb"]
    + [prefix + "B" for prefix in "kKMGT"]
    + [prefix + "iB" for prefix in "kKMGT"]
    + [prefix + unit for prefix in ("", "k", "c", "m", "µ", "μ", "n", "p") for unit in ("m", "m²", "m³", "m2", "m3", "m^2", "m^3")]
    + [prefix + "g" for prefix in ("", "k", "m", "µ", "μ", "n")]
    + [prefix + "s" for prefix in ("", "m", "µ", "μ", "n")]
    + ["Hz", "kHz", "MHz", "GHz", "W", "kW", "MW", "V", "mV", "kV", "x", "X"]
)  # fmt: skip


def of_kind(trace: Trace, run: Run, kind: str) -> tuple[int, int]:
    """Facts of one kind, of all results: held by the last prompt, all."""
    kept = total = 0
    for place, result, messages in rebuilt.places(trace, run):
        if place != "end":
            continue
        for fact, own in facts_with(result.text, lower_of(trace)).items():
            if own == kind or (kind == "measure" and _measured(fact, own, result)):
                total += 1
                kept += rebuilt.shows_whole(messages, result) or rebuilt.present(fact, rebuilt.texts(messages, trace))
    return kept, total


def _measured(fact: str, kind: str, result: ToolResult) -> bool:
    plain = rebuilt.decoded(result.text)
    if kind == "name":
        return any(fact.endswith(unit) and re.fullmatch(r"\d[\d.]*", fact[: -len(unit)]) for unit in UNITS)
    if kind != "number":
        return False
    bare = fact.lstrip("+-")
    for found in re.finditer(re.escape(bare), plain):
        before, after = plain[: found.start()], plain[found.end() :]
        if re.search(r"[\w.][-+]?$", before):
            continue
        for gap in ("", " ", "\t", "\u00a0"):
            for unit in UNITS:
                rest = after[len(gap) + len(unit) :]
                if after.startswith(gap + unit) and not re.match(r"\w", rest) and not (unit in "xX" and gap):
                    return True
    return False


def exit_codes(trace: Trace, run: Run) -> tuple[int, int]:
    """Results that state an exit code: whose code is still stated where they are shown, all."""
    kept = total = 0
    for place, result, messages in rebuilt.places(trace, run):
        codes = _codes(result.text)
        if place == "end" and codes:
            total += 1
            texts = [item.text for item in messages if item.step == result.index]
            kept += rebuilt.shows_whole(messages, result) or any(codes[0] in _codes(text) for text in texts)
    return kept, total


def _codes(text: str) -> list[int]:
    words = [
        "returncode", "return_code", "exitcode", "exit_code", "exitstatus", "exit_status", "exit code", "exit status",
        "exit with code", "exit with status", "exited code", "exited status", "exited with code", "exited with status",
    ]  # fmt: skip
    stated = re.compile(rf"(?i:{'|'.join(words)})[\"']?(?:>|\s*[:=]\s*|\s+)(-?\d+)(?!\w)")
    return [int(match[1]) for at in range(len(text)) if (match := stated.match(text, at))]


def compactions(trace: Trace, run: Run) -> dict[str, list[tuple[int, int, int]]]:
    """Per thread the compactions: step, facts held, facts told."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    for prompt, messages, keys in rebuilt.prompts(run):
        summarised = any(call.step == prompt.step for call in run.writer_calls)
        if summarised or (prompt.compacted and _taken_apart(trace, run, prompt, messages, keys)):
            before = [r for r in trace.results if r.thread == prompt.thread and r.index < prompt.step]
            held = [
                rebuilt.present(fact, rebuilt.texts(messages, trace))
                for result in before
                for fact in facts_with(result.text, lower_of(trace))
            ]
            if held:
                found.setdefault(prompt.thread, []).append((prompt.step, sum(held), len(held)))
    return found


def _taken_apart(trace: Trace, run: Run, prompt: Prompt, messages: list[Message], keys: list[str]) -> bool:
    if sum(splice.removed for splice in prompt.splices):
        return True
    steps = [step for step in trace.steps if step.thread == prompt.thread and step.index < prompt.step]
    last = max((step.index for step in steps if isinstance(step, ModelTurn)), default=-1)
    for step in steps:
        if step.index < last or not isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult):
            continue
        if isinstance(step, ToolResult):
            if next(outcome.shown for outcome in run.results if outcome.step == step.index) not in keys:
                return True
        elif step.index not in [message.step for message in messages]:
            return True
    return False


def refetches(trace: Trace, run: Run) -> dict[str, tuple[int, int]]:
    """Per call that asked again for what it had been told: facts gone, facts told."""
    found = {}
    prompts = {prompt.step: messages for prompt, messages, _ in rebuilt.prompts(run)}
    for turn in trace.steps:
        if not isinstance(turn, ModelTurn):
            continue
        for call in turn.tool_calls:
            own = _answer(trace, turn, call.id)
            earlier = [
                answer
                for other in trace.steps
                if isinstance(other, ModelTurn) and other.index < turn.index and other.thread == turn.thread
                for asked in other.tool_calls
                if _same(asked, call)
                for answer in [_answer(trace, other, asked.id)]
                if answer is not None and answer.index < turn.index
            ]
            if own is None or not earlier:
                continue
            latest = max(earlier, key=lambda answer: answer.index)
            told = [
                fact
                for fact in facts_with(latest.shown_by_recorder, lower_of(trace))
                if fact in facts_with(own.shown_by_recorder, lower_of(trace))
                and fact in facts_with(latest.text, lower_of(trace))
            ]
            texts = rebuilt.texts(prompts[turn.index], trace)
            if told:
                found[call.id] = sum(not rebuilt.present(fact, texts) for fact in told), len(told)
    return found


def _same(one: Any, other: Any) -> bool:
    commands = [
        call.arguments.get("command") if isinstance(call.arguments, dict) and len(call.arguments) == 1 else None
        for call in (one, other)
    ]
    if all(isinstance(command, str) for command in commands):
        return bool(commands[0] == commands[1])
    return one.name == other.name and json.dumps(one.arguments) == json.dumps(other.arguments)


def _answer(trace: Trace, turn: ModelTurn, call_id: str) -> ToolResult | None:
    return next((r for r in trace.results if r.thread == turn.thread and r.call_id == call_id and r.index > turn.index), None)  # fmt: skip


# ---------------------------------------------------------------- tiers


def tiers(trace: Trace, run: Run, place: str, wanted: Sequence[Any]) -> tuple[dict[str, int], int]:
    """Facts of all results at a place (or at "needed" the dependencies, which are told) by tier, and how many there are."""
    counted = dict.fromkeys(("in_context", "retrievable", "lost"), 0)
    if place == "needed":
        by_turn = {prompt.step: messages for prompt, messages, _ in rebuilt.prompts(run)}
        asked = [
            (
                item.fact,
                next((result for result in trace.results if result.index == item.origin_step), None),
                by_turn[item.turn],
                item.turn,
            )
            for item in wanted
        ]
    else:
        asked = [
            (fact, result, messages, _prompt_of(run, result, place))
            for at, result, messages in rebuilt.places(trace, run)
            if at == place
            for fact in facts_with(result.text, lower_of(trace))
        ]
    for fact, result, messages, step in asked:
        counted[_tier(trace, run, fact, result, messages, step)] += 1
    return counted, len(asked)


def _prompt_of(run: Run, result: ToolResult, place: str) -> int:
    steps = [prompt.step for prompt in run.prompts if prompt.thread == result.thread and prompt.step > result.index]
    return steps[0] if place == "shown" else steps[-1]


def _tier(trace: Trace, run: Run, fact: str, result: ToolResult | None, messages: list[Message], step: int) -> str:
    if (result is not None and rebuilt.shows_whole(messages, result)) or rebuilt.present(
        fact, rebuilt.texts(messages, trace)
    ):
        return "in_context"
    values: dict[str, tuple[int, str]] = {}
    for outcome in run.results:
        if outcome.record.handle and outcome.step <= step:
            own = next(item for item in trace.results if item.index == outcome.step)
            text = "" if outcome.stored is None else as_text(outcome.stored)
            values[outcome.record.handle] = outcome.step, own.text if text == as_text(own.value) else text
    for kept in run.handles:
        if kept.step <= step and kept.step >= values.get(kept.handle, (-1, ""))[0]:
            values[kept.handle] = kept.step, kept.text
    for handle, (_, text) in values.items():
        if any(_word_in(handle, shown) for shown in rebuilt.texts(messages, trace)) and rebuilt.present(fact, [text]):
            return "retrievable"
    return "lost"


def _word_in(handle: str, text: str) -> bool:
    for start in range(len(text)):
        around = text[max(0, start - 1) : start] + text[start + len(handle) : start + len(handle) + 1]
        if text.startswith(handle, start) and not re.search(r"\w", around):
            return True
    return False


# ---------------------------------------------------------------- truncation


def silent(trace: Trace, run: Run) -> dict[int, float]:
    """Per result with a later prompt: whether at either place something of it is gone and nothing says so."""
    found: dict[int, float] = {}
    for _, result, messages in rebuilt.places(trace, run):
        shown = rebuilt.shown(messages, result, trace)
        written = [item.text for item in messages if item.step is None]
        gone = not rebuilt.shows_whole(messages, result) and (
            any(
                not rebuilt.present(fact, rebuilt.texts(messages, trace))
                for fact in facts_with(result.text, lower_of(trace))
            )
            or _leaves_gone(trace, run, result, messages)
        )
        is_silent = gone and not is_noticed(shown or written, result.text)
        if is_silent and any(_only_stands_there(text, result, trace) for text in shown):
            is_silent = False
        found[result.index] = max(found.get(result.index, 0.0), float(is_silent))
    return found


def _only_stands_there(text: str, result: ToolResult, trace: Trace) -> bool:
    """Whether a text where a result stood is short, no part of it, no data, and without any of its facts."""
    bare = text.strip()
    try:
        is_data = isinstance(some(bare), dict | list)
    except Nothing:
        is_data = False
    facts = facts_with(result.text, lower_of(trace))
    return (
        0 < len(bare) <= 200
        and bare not in result.text
        and not is_data
        and not any(rebuilt.present(fact, [bare]) for fact in facts)
    )


def false_notices(trace: Trace, run: Run) -> dict[int, float]:
    """Per result with a later prompt: whether all of it is there and something says otherwise."""
    found: dict[int, float] = {}
    for place, result, messages in rebuilt.places(trace, run):
        if place != "shown":
            continue
        shown = rebuilt.shown(messages, result, trace)
        everything = "\n".join(map(rebuilt.decoded, shown))
        whole = rebuilt.shows_whole(messages, result)
        kept, total, bound = 0, 0, True
        if isinstance(result.data, dict | list):
            kept, total, bound = loss.held(result, shown, rebuilt.texts(messages, trace), whole=whole)
        if not bound:
            there = kept == total or any(result.text.strip() in text for text in shown)
        else:
            there = all(line.strip() in everything for line in rebuilt.decoded(result.text).splitlines())
            there = there or any(result.text.strip() in text for text in shown)
        there = there and all(
            rebuilt.present(fact, rebuilt.texts(messages, trace)) for fact in facts_with(result.text, lower_of(trace))
        )
        said = any(marker(text, result.text, pointers=False) for text in shown)
        found[result.index] = float(there and said and not whole)
    return found


def _leaves_gone(trace: Trace, run: Run, result: ToolResult, messages: list[Message]) -> bool:
    if not isinstance(result.data, dict | list):
        return False
    shown = rebuilt.shown(messages, result, trace)
    kept, total, _ = loss.held(result, shown, rebuilt.texts(messages, trace), whole=False)
    return kept < total
