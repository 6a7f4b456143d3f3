"""cost.* the slow way: by step."""

from __future__ import annotations

from bench.model import ModelTurn, Run, SystemTurn, ToolResult, ToolsChanged, Trace, UserTurn, compact_json, text_of
from bench.tokens.counting import counter
from bench.tokens.prices import provider_of, unit_prices

from . import rebuilt


def prompt_tokens(trace: Trace, run: Run) -> dict[int, int]:
    """Tokens of every prompt, all of its messages counted again."""
    return {
        prompt.step: 3 + tools_tokens(trace, run, prompt.thread, prompt.step) + sum(_message(run, m) for m in messages)
        for prompt, messages, _ in rebuilt.prompts(run)
    }


def _message(run: Run, message: object) -> int:
    count = counter(run.encoding).text
    calls = [call for call in message.tool_calls if not call.in_text]  # type: ignore[attr-defined]
    return 3 + count(message.text) + sum(count(c.name) + count(compact_json(c.arguments)) for c in calls)  # type: ignore[attr-defined]


def tools_tokens(trace: Trace, run: Run, thread: str, step: int) -> int:
    """Tokens of the tool definitions in force at a step."""
    before = [s.tools for s in trace.steps if isinstance(s, ToolsChanged) and s.thread == thread and s.index < step]
    return counter(run.encoding).text(compact_json(list(before[-1]))) if before and before[-1] else 0


def shared_tokens(trace: Trace, run: Run) -> dict[int, int]:
    """Tokens that each prompt shares with the start of the one before in its thread; 0 after another model or other tools."""
    found: dict[int, int] = {}
    last: dict[str, tuple[int, list[str], str | None]] = {}
    models = {turn.index: turn.model or run.model for turn in trace.model_turns}
    for prompt, messages, keys in rebuilt.prompts(run):
        before = last.get(prompt.thread)
        last[prompt.thread] = (prompt.step, keys, models[prompt.step])
        found[prompt.step] = 0
        if before is None or before[2] != models[prompt.step]:
            continue
        if any(
            isinstance(s, ToolsChanged) and s.thread == prompt.thread and before[0] < s.index < prompt.step
            for s in trace.steps
        ):
            continue
        total = tools_tokens(trace, run, prompt.thread, prompt.step)
        for old, new, message in zip(before[1], keys, messages, strict=False):
            if old != new:
                break
            total += _message(run, message)
        found[prompt.step] = total
    return found


def cached(provider: str | None, shared: int) -> int | None:
    """The provider's rule."""
    if provider == "openai":
        return 0 if shared < 1024 else max(step for step in range(1024, shared + 1, 128))
    if provider == "anthropic":
        return shared if shared >= 1024 else 0
    return None


def cost_usd(trace: Trace, run: Run) -> dict[int, float | None]:
    """Dollars of every call; None without prices."""
    count = counter(run.encoding).text
    tokens, shared = prompt_tokens(trace, run), shared_tokens(trace, run)
    times = [step.t for step in trace.steps if step.t is not None]
    found: dict[int, float | None] = {}
    for turn in trace.model_turns:
        if turn.index not in tokens:
            continue
        model = turn.model or run.model
        prices = unit_prices(model, times[0] if times else None)
        if prices is None:
            found[turn.index] = None
            continue
        total, read = tokens[turn.index], cached(provider_of(model), shared[turn.index]) or 0
        written = total - 3 - read if provider_of(model) == "anthropic" and total - 3 >= 1024 else 0
        said = [text_of(turn.content), turn.reasoning or ""]
        for call in turn.tool_calls:
            said += [] if call.in_text else [call.name, compact_json(call.arguments)]
        answer = turn.usage.completion_tokens if turn.usage else sum(map(count, said))
        found[turn.index] = prices.cost_usd(total, read, written, answer) + sum(
            prices.cost_usd(call.consumed_tokens, 0, 0, call.produced_tokens)
            for call in run.writer_calls
            if call.step == turn.index
        )
    return found


def recorded_prompt_tokens(trace: Trace, run: Run, turn: ModelTurn) -> int:
    """Tokens of what the recorded model saw at a turn, in a trace without resets."""
    count = counter(run.encoding).text
    total = 3 + tools_tokens(trace, run, turn.thread, turn.index)
    for step in trace.steps:
        if step.thread != turn.thread or step.index >= turn.index:
            continue
        if isinstance(step, ToolResult):
            total += 3 + count(step.text if step.seen is None else step.seen)
        elif isinstance(step, SystemTurn | UserTurn):
            total += 3 + count(text_of(step.content))
        elif isinstance(step, ModelTurn):
            total += 3 + count(text_of(step.content))
            for call in step.tool_calls:
                total += 0 if call.in_text else count(call.name) + count(compact_json(call.arguments))
    return total
