"""Sessions whose recorded usage follows a known rule: what calibration must find out again."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
from handmade import result, trace

from bench.model import (
    AnyStep,
    Counting,
    ModelTurn,
    SystemTurn,
    ToolCall,
    ToolsChanged,
    Trace,
    Usage,
    UserTurn,
)
from bench.tokens.counting import TokenCounter, encoding_for

WORDS = ("wall", "level", "gene", "471", "cluster", "/data/x_1.csv", "mean", "0.125", "row", "house", "the", "of")
TOOLS = ({"name": "bash", "description": "Run a command.", "parameters": {"type": "object"}},)


def session(
    turns: int,
    rule: Counting,
    *,
    model: str | None = "gpt-4o",
    thinking: Sequence[int] = (),
    resent: bool = False,
    told: bool = True,
    tools: bool = False,
    seed: int = 0,
    cached: float | None = None,
    every_s: float | None = None,
) -> Trace:
    """A session of some turns, each with a call and its result of random length, whose usage is what `rule` counts of each prompt.

    `thinking` are the tokens of reasoning of each turn (the last one again for more turns), sent back where `resent`, and reported where `told`.
    `cached` is the share of the prompt before that was read from the cache (None: not recorded).
    """
    draw, count = random.Random(seed), TokenCounter(encoding_for(model)[0], rule)
    steps: list[AnyStep] = [ToolsChanged(index=0, tools=TOOLS)] if tools else []
    size = rule.prompt_tokens + (count.tools(TOOLS) if tools else 0)

    def join(step: AnyStep, tokens: int) -> None:
        nonlocal size
        steps.append(step)
        size += tokens

    def some_words(words: int) -> str:
        return " ".join(draw.choice(WORDS) for _ in range(words))

    for made in (
        SystemTurn(index=len(steps), content=some_words(30)),
        UserTurn(index=len(steps) + 1, content=some_words(60)),
    ):
        join(made, count.framed(count.contents(made.content, ())))
    before = 0
    for number in range(turns):
        thought = thinking[min(number, len(thinking) - 1)] if thinking else 0
        calls = (ToolCall(id=f"c{number}", name="bash", arguments={"command": some_words(12)}),)
        content = some_words(draw.randrange(5, 40))
        spoken = count.contents(content, calls)
        usage = Usage(
            prompt_tokens=size,
            completion_tokens=round(rule.factor * spoken) + thought,
            reasoning_tokens=thought if told and thinking else None,
            cached_prompt_tokens=None if cached is None else int(cached * before),
        )
        before = size
        at = len(steps)
        step = ModelTurn(
            index=at,
            content=content,
            tool_calls=calls,
            model=model,
            usage=usage,
            t=None if every_s is None else 1.76e9 + number * every_s,
        )
        join(step, count.framed(spoken) + (thought if resent else 0))
        text = some_words(draw.randrange(10, 600))
        join(result(text, index=at + 1, call_id=f"c{number}", function="bash"), count.framed(count.contents(text, ())))
    return trace(*steps)


def without_usage(recording: Trace, *numbers: int) -> Trace:
    """The trace without the usage of some of its model turns, counted from 0; of all of them where none is named."""
    gone = {turn.index for number, turn in enumerate(recording.model_turns) if number in numbers or not numbers}
    return trace(
        *(msgspec.structs.replace(step, usage=None) if step.index in gone else step for step in recording.steps)  # type: ignore[arg-type]
    )
