"""What a verbatim selection costs, and the best one, the slow way: every prompt written anew, every choice tried."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from itertools import combinations

from bench.model import ModelTurn, Run, SystemTurn, ToolResult, ToolsChanged, Trace, compact_json, text_of

from . import rebuilt
from .reading import decoded
from .tokens import count
from .uses import uses

Fact = tuple[str, str]


Needed = dict[Fact, tuple[int, int, bool]]


def needed(trace: Trace) -> Needed:
    """Every needed fact by thread: the result it came from, the last turn that uses it, and whether a use is a first one."""
    found: Needed = {}
    for use in uses(trace):
        if not use.recorded_only:
            source, _, first = found.get((use.thread, use.fact), (use.source, 0, False))
            found[use.thread, use.fact] = source, use.turn, first or use.first
    return found


def tokens(trace: Trace, encoding: str, gone: Collection[Fact] = (), facts: Needed | None = None) -> int:
    """Tokens of all prompts that hold the system turns and the needed facts alone, but for those that are gone."""
    facts = needed(trace) if facts is None else facts
    kept = {key: told for key, told in facts.items() if key not in gone}
    return sum(_prompt(trace, step, encoding, kept) for step in trace.steps if isinstance(step, ModelTurn))


def _prompt(trace: Trace, turn: ModelTurn, encoding: str, kept: Needed) -> int:
    before = [step for step in trace.steps if step.thread == turn.thread and step.index < turn.index]
    system = [text_of(step.content) for step in before if isinstance(step, SystemTurn)]
    tools = [step.tools for step in before if isinstance(step, ToolsChanged)]
    results = {step.index: step.text for step in before if isinstance(step, ToolResult)}
    alive = [
        (source, decoded(results[source]).find(fact), fact)
        for (thread, fact), (source, last, _) in kept.items()
        if thread == turn.thread and source in results and turn.index <= last
    ]
    shown = [fact for *_, fact in sorted(alive) if not rebuilt.present(fact, system)]
    total = 3 + sum(3 + count(encoding, text) for text in system)
    total += count(encoding, compact_json(list(tools[-1]))) if tools and tools[-1] else 0
    return total + (3 + min(count(encoding, text) for text in _written(shown)) if shown else 0)


def _written(facts: list[str]) -> Iterable[str]:
    """The text that holds the facts, with either separator; what a longer one holds is not written twice."""
    for separator in (" ", "\n"):
        longest = [fact for fact in facts if not any(_inside(fact, other) for other in facts)]
        text = separator.join(longest)
        if decoded(text) != text:
            text = f">{text}"
        missing = [fact for fact in facts if not rebuilt.present(fact, [text])]
        yield separator.join([text, *missing])


def _inside(fact: str, other: str) -> bool:
    return len(other) > len(fact) and rebuilt.stands(other, fact)


def greedy(trace: Trace, encoding: str, miss: int) -> set[Fact]:
    """The facts to give up: one at a time, always the one that costs most; what is only reused goes with the first."""
    facts = needed(trace)
    left = {key: _cost(trace, key, told, encoding) for key, told in facts.items() if told[2]}
    gone = {key for key, (_, _, first) in facts.items() if not first} if miss else set()
    for _ in range(miss):
        dearest = max(left, key=lambda key: left[key])
        gone.add(dearest)
        del left[dearest]
    return gone


def _cost(trace: Trace, key: Fact, told: tuple[int, int, bool], encoding: str) -> int:
    source, last, _ = told
    prompts = [step for step in trace.model_turns if step.thread == key[0] and source < step.index <= last]
    return count(encoding, f" {key[1]}") * len(prompts)


def fewest(trace: Trace, encoding: str, miss: int) -> int:
    """The fewest tokens of all choices of at most so many first uses, what is only reused given up with them."""
    found = needed(trace)
    if not miss:
        return tokens(trace, encoding, (), found)
    reused = [key for key, (_, _, first) in found.items() if not first]
    once = [key for key, (_, _, first) in found.items() if first]
    return min(
        tokens(trace, encoding, {*reused, *chosen}, found)
        for size in range(miss + 1)
        for chosen in combinations(once, size)
    )


def clairvoyant_tokens(trace: Trace, run_keep_all: Run, miss: int) -> int:
    """Tokens of all prompts that hold the conversation and of each result the lines still needed, but for those given up for `miss` first uses."""
    encoding, facts = run_keep_all.encoding, needed(trace)
    gone = _lines_given_up(trace, encoding, miss, facts) if miss else set()
    total = 0
    for prompt in run_keep_all.prompts:
        total += prompt.tokens
        for result in trace.results:
            if result.thread == prompt.thread and result.index < prompt.step:
                alive = [
                    fact
                    for (thread, fact), (source, last, _) in facts.items()
                    if source == result.index and prompt.step <= last and (thread, fact) not in gone
                ]
                total += _cheaper(result.text, alive, encoding) - count(encoding, result.text)
    return total


def _line_of(text: str, fact: str) -> int:
    """Where the first line stands that holds a fact."""
    return next(place for place, line in enumerate(decoded(text).split("\n")) if rebuilt.stands(line, fact))


def _cheaper(whole: str, facts: list[str], encoding: str) -> int:
    """Tokens of the lines that hold the facts, or of everything where that is cheaper."""
    if not facts:
        return 0
    lines = decoded(whole).split("\n")
    text = "\n".join(lines[place] for place in sorted({_line_of(whole, fact) for fact in facts}))
    return min(count(encoding, text if decoded(text) == text else f">{text}"), count(encoding, whole))


def _lines_given_up(trace: Trace, encoding: str, miss: int, facts: Needed) -> set[Fact]:
    """The facts of the lines given up: always the line next that costs most for each first use it serves, of those that still may go."""
    texts = {result.index: result.text for result in trace.results}
    lines: dict[tuple[int, int], list[Fact]] = {}
    for (thread, fact), (source, _, _) in facts.items():
        lines.setdefault((source, _line_of(texts[source], fact)), []).append((thread, fact))
    worth = {}
    for (source, place), keys in lines.items():
        turns = [
            sum(turn.thread == key[0] and source < turn.index <= facts[key][1] for turn in trace.model_turns)
            for key in keys
        ]
        saved = count(encoding, decoded(texts[source]).split("\n")[place]) * max(turns)
        firsts = sum(facts[key][2] for key in keys)
        if saved:
            worth[source, place] = (saved / firsts if firsts else math.inf, saved, firsts)
    order = list(dict.fromkeys(source for source, _ in lines))
    left = sorted(worth, key=lambda at: (order.index(at[0]), at[1]))
    gone: set[Fact] = set()
    while True:
        able = [at for at in left if worth[at][2] <= miss]
        if not able:
            return gone
        best = max(able, key=lambda at: worth[at][:2])
        miss -= worth[best][2]
        gone.update(lines[best])
        left.remove(best)
