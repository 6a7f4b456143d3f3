"""Whether an answer is still held, the slow way: every prompt rebuilt, every value looked for at every position."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import jmespath

from bench.model import Run, ToolResult, Trace, as_text

from . import rebuilt
from .needs import turn_text
from .reading import Nothing, inside, some


def found(trace: Trace, run: Run, probe: dict[str, Any]) -> str | None:
    """`path`, `token` or `""`; None where there is nothing to look at."""
    result = next((item for item in trace.results if item.index == probe["step"]), None)
    held = _held(trace, run, probe, result)
    if held is None:
        return None
    values, texts = held
    if probe["path"] and any(_typed(_search(probe["path"], value)) == _typed(probe["expected"]) for value in values):
        return "path"
    spelled = [_spelled(leaf) for leaf in _leaves(probe["expected"])]
    whole = texts and all(any(rebuilt.present(token, texts) for token in tokens) for tokens in spelled)
    return "token" if whole else ""


def _held(trace: Trace, run: Run, probe: dict[str, Any], result: ToolResult | None) -> Any:
    outcomes = [item for item in run.results if item.step == probe["step"]]
    if probe["where"] == "store":
        return [item.stored for item in outcomes], [as_text(item.stored) for item in outcomes]
    turns = [
        turn
        for turn in trace.model_turns
        if (result is None or (turn.thread == result.thread and turn.index > result.index))
        and (probe["at"] is None or turn.index >= probe["at"])
    ]
    if probe["where"] == "reply":
        made = [item.reply.text for item in outcomes if item.reply]
        if made or not turns:
            return ([], made) if made else None
        early = probe["at"] is not None or result is not None
        return [], [turn_text(turns[0] if early else turns[-1])]
    if not turns:
        return None
    turn = turns[-1] if probe["at"] is None else turns[0]
    messages = next(messages for prompt, messages, _ in rebuilt.prompts(run) if prompt.step == turn.index)
    own = [item.text for item in messages if result is not None and item.step == result.index]
    return own, rebuilt.texts(messages)


def _search(path: str, value: Any) -> Any:
    if isinstance(value, str):
        with contextlib.suppress(Nothing):  # else the text itself
            value = some(value)
    try:
        return jmespath.search(path, inside(value))
    except jmespath.exceptions.JMESPathError:
        return None


def _typed(value: Any) -> Any:
    """A value with every type written out."""
    if isinstance(value, dict):
        return "dict", sorted((key, _typed(item)) for key, item in value.items())
    if isinstance(value, list):
        return "list", [_typed(item) for item in value]
    return type(value).__name__, repr(value)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict) and value:
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list) and value:
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _spelled(leaf: Any) -> list[str]:
    """How JSON writes a leaf, and how Python does."""
    if isinstance(leaf, str):
        return [leaf] if leaf else ['""', "''"]
    return list({json.dumps(leaf, separators=(",", ":")), str(leaf)})
