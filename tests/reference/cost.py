"""cost.* the slow way: by step, all of it counted again."""

from __future__ import annotations

from bench.model import (
    Message,
    ModelTurn,
    Run,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
    compact_json,
    text_of,
)

from . import rebuilt
from .tokens import count, dollars, provider


def prompt_tokens(trace: Trace, run: Run) -> dict[int, int]:
    """Tokens of every prompt."""
    return {
        prompt.step: 3 + tools_tokens(trace, run, prompt.thread, prompt.step) + sum(_message(run, m) for m in messages)
        for prompt, messages, _ in rebuilt.prompts(run)
    }


def _message(run: Run, message: Message) -> int:
    calls = [call for call in message.tool_calls if not call.in_text]
    texts = [message.text] + [text for call in calls for text in (call.name, compact_json(call.arguments))]
    return 3 + sum(count(run.encoding, text) for text in texts) + message.reasoning_tokens


def tools_tokens(trace: Trace, run: Run, thread: str, step: int) -> int:
    """Tokens of the tool definitions in force at a step."""
    before = [s.tools for s in trace.steps if isinstance(s, ToolsChanged) and s.thread == thread and s.index < step]
    return count(run.encoding, compact_json(list(before[-1]))) if before and before[-1] else 0


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


def cached(model: str | None, shared: int) -> int | None:
    """What a model's provider reads from its cache."""
    if provider(model) == "openai":
        return 0 if shared < 1024 else max(step for step in range(1024, shared + 1, 128))
    if provider(model) == "anthropic":
        return shared if shared >= 1024 else 0
    return None


def cost_usd(trace: Trace, run: Run) -> dict[int, float | None]:
    """Dollars of every call; None without prices."""
    tokens, shared = prompt_tokens(trace, run), shared_tokens(trace, run)
    at = next((step.t for step in trace.steps if step.t is not None), None)
    found: dict[int, float | None] = {}
    for turn in trace.model_turns:
        model, total = turn.model or run.model, tokens[turn.index]
        read = cached(model, shared[turn.index]) or 0
        written = total - 3 - read if provider(model) == "anthropic" and total - 3 >= 1024 else 0
        said = [text_of(turn.content), turn.reasoning or ""]
        for call in turn.tool_calls:
            said += [] if call.in_text else [call.name, compact_json(call.arguments)]
        answer = turn.usage.completion_tokens if turn.usage else sum(count(run.encoding, text) for text in said)
        parts = [dollars(model, at, total, read, written, answer)] + [
            dollars(model, at, call.consumed_tokens, 0, 0, call.produced_tokens)
            for call in run.writer_calls
            if call.step == turn.index
        ]
        found[turn.index] = None if None in parts else sum(part for part in parts if part is not None)
    return found


def recorded_prompt_tokens(trace: Trace, encoding: str, turn: ModelTurn) -> int:
    """Tokens of what the recorded model saw at a turn, in a trace without resets."""
    before = [step for step in trace.steps if step.thread == turn.thread and step.index < turn.index]
    tools = [step.tools for step in before if isinstance(step, ToolsChanged)]
    total = 3 + (count(encoding, compact_json(list(tools[-1]))) if tools and tools[-1] else 0)
    for step in before:
        texts: list[str] = []
        if isinstance(step, ToolResult):
            texts = [step.text if step.seen is None else step.seen]
        elif isinstance(step, SystemTurn | UserTurn | ModelTurn):
            texts = [text_of(step.content)]
        if isinstance(step, ModelTurn):
            for call in step.tool_calls:
                texts += [] if call.in_text else [call.name, compact_json(call.arguments)]
        total += 3 * bool(texts) + sum(count(encoding, text) for text in texts)
    return total
