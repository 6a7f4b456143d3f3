"""Dependencies the slow way: every fact and every run of words of a turn looked for in every earlier message and in its recorded prompt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from bench.model import ModelTurn, RouteDecision, ToolsChanged, Trace, text_of

from . import rebuilt
from .facts import facts_of
from .needs import lower_of, recorded_prompt, said_by, told
from .numbers import numbers_in
from .reading import decoded, plain


class Found(NamedTuple):
    """One dependency: what it is, how the turn says it, and who said it before."""

    turn: int
    fact: str
    said: str
    kind: str
    form: str
    origin: str
    origin_step: int
    distance: int


class Said(NamedTuple):
    fact: str
    kind: str
    code: bool


def dependencies(trace: Trace, common: Collection[str]) -> list[Found]:
    """Every dependency of a trace; `common` are the words that say nothing."""
    lower = lower_of(trace)
    said = {turn.index: says(trace, turn, lower) for turn in trace.model_turns}
    habits = habits_of(trace, said)
    names, programs = tool_names(trace), programs_of(trace)
    found: list[Found] = []
    for turn in trace.model_turns:
        mine: list[Found] = []
        prompt = recorded_prompt(trace, turn)
        for item in said[turn.index]:
            if item.fact in names:
                continue
            for fact, form in ways(trace, turn, item):
                before = told(trace, turn, fact)
                if before is None or not rebuilt.present(fact, prompt):
                    continue
                if before.origin == "system" and fact in programs:
                    break
                own = before.origin == "model"
                habit = (turn.thread, item.fact) in habits
                made_up = item.code and item.kind in ("name", "quoted", "error")
                if not (own and (habit or made_up)) and fact not in [other.fact for other in mine]:
                    mine.append(Found(turn.index, fact, item.fact, item.kind, form, *before))
                break
        for run in copied(trace, turn, common):
            before = told(trace, turn, run)
            within = any(f" {run} " in rebuilt.flat(other.fact) for other in mine)
            if before is not None and before.origin != "model" and not within and rebuilt.present(run, prompt):
                mine.append(Found(turn.index, run, run, "span", "verbatim", *before))
        found += mine
    return found


# ---------------------------------------------------------------- what a turn says


def says(trace: Trace, turn: ModelTurn, lower: frozenset[str]) -> list[Said]:
    """The facts of a turn, each once: those of its prose first, then those that only its code says."""
    prose, code = parts(turn)
    prose = [*ledger(trace, turn), *prose]
    found: dict[str, Said] = {}
    for part in prose:
        for fact, kind in facts_of(part, lower).items():
            found.setdefault(fact, Said(fact, kind, False))
    for part in code:
        for fact, kind in facts_of(part, lower).items():
            if kind != "proper":
                found.setdefault(fact, Said(fact, kind, True))
    return list(found.values())


def ledger(trace: Trace, turn: ModelTurn) -> list[str]:
    """The strings of every ledger that the turn's thread wrote since its last turn."""
    found: list[str] = []
    for step in trace.steps:
        if step.index >= turn.index:
            break
        if isinstance(step, ModelTurn) and step.thread == turn.thread:
            found = []
        if isinstance(step, RouteDecision) and step.thread == turn.thread:
            found += values(step.state.get("ledger"))
    return found


def parts(turn: ModelTurn) -> tuple[list[str], list[str]]:
    """What is prose and what is code: fences, lines after `execute:`, and arguments that look like code or a command."""
    text = text_of(turn.content)
    rest, blocks = fenced(text)
    kept = [line for line in rest.split("\n") if not command_of(line)]
    prose = ["\n".join(kept)]
    code = [*blocks, *filter(None, map(command_of, text.split("\n")))]
    for call in turn.tool_calls:
        for value in [] if call.in_text else values(call.arguments):
            (code if is_code(value) else prose).append(value)
    return prose, [re.sub(r"<<-?\s*['\"]?\w+['\"]?", "", part) for part in code]


def fenced(text: str) -> tuple[str, list[str]]:
    """A text without its fences, a blank in place of each, and what stands in them."""
    blocks, out = [], ""
    while "```" in text:
        before, _, after = text.partition("```")
        _, line_end, body = after.partition("\n")
        if not line_end:
            break
        inside, end, text_after = body.partition("```")
        blocks.append(inside)
        out += before + " "
        text = text_after if end else ""
    return out + text, blocks


def command_of(line: str) -> str:
    """What follows `execute:` at the beginning of a line; `""` for any other line."""
    start = line.strip()
    return start.removeprefix("execute:").strip() if start.startswith("execute:") else ""


def values(arguments: Any) -> Iterator[str]:
    """The values of a call's arguments as texts, in order; names are left out, and so are true, false and null."""
    if isinstance(arguments, dict):
        arguments = list(arguments.values())
    if isinstance(arguments, list | tuple):
        for item in arguments:
            yield from values(item)
    elif isinstance(arguments, str):
        yield arguments
    elif arguments is not None and not isinstance(arguments, bool):
        yield plain(arguments)


def is_code(value: str) -> bool:
    """Whether an argument holds what only code and commands hold, or is long."""
    return len(value) >= 120 or re.search(r"[\n()=|;$<>]|^\w+ -", value) is not None


# ---------------------------------------------------------------- what only looks like it


def habits_of(trace: Trace, said: dict[int, list[Said]]) -> set[tuple[str, str]]:
    """What an agent says in more than a quarter of its turns, and in more than two; no habit before the fourth turn."""
    found = set()
    for thread in {turn.thread for turn in trace.model_turns}:
        turns = [[item.fact for item in said[turn.index]] for turn in trace.model_turns if turn.thread == thread]
        for fact in {fact for facts in turns for fact in facts}:
            count = sum(fact in facts for facts in turns)
            if len(turns) >= 4 and count > 2 and count > len(turns) / 4:
                found.add((thread, fact))
    return found


def programs_of(trace: Trace) -> set[str]:
    """What commands begin with, but for paths."""
    arguments = [call.arguments for turn in trace.model_turns for call in turn.tool_calls]
    commands = [given["command"] for given in arguments if isinstance(given, dict) and "command" in given]
    return {
        command.split()[0]
        for command in commands
        if isinstance(command, str) and command.split() and "/" not in command.split()[0]
    }


def tool_names(trace: Trace) -> set[str]:
    """Names of tools and of their parameters, called or defined."""
    found: set[str] = set()
    for turn in trace.model_turns:
        for call in turn.tool_calls:
            found |= {call.name, *(map(str, call.arguments) if isinstance(call.arguments, dict) else ())}

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("name"), str):
                found.add(node["name"])
            if isinstance(node.get("properties"), dict):
                found.update(map(str, node["properties"]))
            for item in node.values():
                walk(item)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    for step in trace.steps:
        if isinstance(step, ToolsChanged):
            for tool in step.tools:
                walk(tool)
    return found


# ---------------------------------------------------------------- forms


def ways(trace: Trace, turn: ModelTurn, item: Said) -> list[tuple[str, str]]:
    """What an earlier message may have said for a turn to say this, the nearest first."""
    found = [(item.fact, "verbatim")]
    if item.kind == "path":
        names = [name for name in item.fact.split("/") if name]
        for start in range(len(names)):
            end = "/".join(names[start:])
            if end != item.fact and len(end) > 3 and re.search(r"[/_\d-]|\w\.\w", end):
                found.append((end, "composed"))
    if item.kind == "name" and re.fullmatch(r"0x[0-9a-fA-F]{8,}", item.fact):
        found.append((item.fact[2:], "composed"))
    if item.kind == "number" and not item.code and "e" not in item.fact and digits(item.fact) >= 3:
        longer = [number for number in numbers_told(trace, turn) if rounds(item.fact, number)]
        if longer:
            found.append((min(longer, key=lambda number: (-len(number), Decimal(number))), "rounded"))
    return found


def digits(number: str) -> int:
    """How many digits a number is written with, without those that only say how small it is."""
    return len(number.split("e")[0].replace(".", "").lstrip("0"))


def rounds(short: str, long: str) -> bool:
    """Whether the longer number, written with as many decimals as the shorter one, may be the shorter one."""
    if digits(long) <= max(3, digits(short)) or short == long:
        return False
    decimals = len(short.split(".")[1]) if "." in short else 0
    return abs(Decimal(long) - Decimal(short)) * 2 <= Decimal(1).scaleb(-decimals)


def numbers_told(trace: Trace, turn: ModelTurn) -> set[str]:
    """Every number that anybody but the model had said in this thread."""
    earlier = [step for step in trace.steps if step.thread == turn.thread and step.index < turn.index]
    return {
        number
        for step in earlier
        if not isinstance(step, ModelTurn)
        for text in said_by(step)
        for number in numbers_in(decoded(text))
    }


# ---------------------------------------------------------------- copied spans


def copied(trace: Trace, turn: ModelTurn, common: Collection[str]) -> list[str]:
    """Runs of three words or more that an earlier message of the thread holds: of the first text with the first three, as far as a paragraph goes.

    Two of the words must say something, else the next run may begin one word on.
    """
    earlier = [
        [rebuilt.flat(part) for part in decoded(text).split("\n\n")]
        for step in trace.steps
        if step.thread == turn.thread and step.index < turn.index
        for text in said_by(step)
    ]
    found: list[str] = []
    for part in [*ledger(trace, turn), *parts(turn)[0]]:
        for sentence in re.split(r"[.!?:;\n]+(?:\s|$)|\n", part):
            words = rebuilt.flat(decoded(sentence)).split()
            at = 0
            while at < len(words) - 2:
                ends = range(at + 3, len(words) + 1)
                begins = f" {' '.join(words[at : at + 3])} "
                first = next((parts for parts in earlier if any(begins in part for part in parts)), [])
                held = [end for end in ends if any(f" {' '.join(words[at:end])} " in part for part in first)]
                run = words[at : max(held, default=at)]
                if len({word for word in run if word not in common and len(word) > 2}) >= 2:
                    found.append(" ".join(run))
                    at += len(run)
                else:
                    at += 1
    return list(dict.fromkeys(found))
