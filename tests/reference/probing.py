"""Whether an answer is still held, the slow way: every prompt rebuilt, every value looked for at every position."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import jmespath

from bench.model import Run, ToolResult, Trace, as_text

from . import rebuilt
from .needs import turn_text
from .numbers import number_value, numbers_in
from .reading import Nothing, decoded, inside, some


def found(trace: Trace, run: Run, probe: dict[str, Any]) -> str | None:
    """`path`, `token` or `""`; None where there is nothing to look at."""
    result = next((item for item in trace.results if item.index == probe["step"]), None)
    held = _held(trace, run, probe, result)
    if held is None:
        return None
    values, texts = held
    if probe["path"] and any(_equal(_search(probe["path"], value), probe) for value in values):
        return "path"
    if probe.get("type", "exact") == "exact":
        spelled = [_spelled(leaf) for leaf in _leaves(probe["expected"])]
        whole = texts and all(any(rebuilt.present(token, texts) for token in tokens) for tokens in spelled)
    else:
        says = _has_number if probe["type"] == "number" else _has_words
        whole = texts and all(any(says(decoded(text), leaf) for text in texts) for leaf in _leaves(probe["expected"]))
    return "token" if whole else ""


def _equal(value: Any, probe: dict[str, Any]) -> bool:
    """Whether a value is the answer of a probe, by its type."""
    kind, answer = probe.get("type", "exact"), probe["expected"]
    if kind == "exact" or isinstance(answer, dict | list):
        return _typed(value) == _typed(answer)
    if kind == "text":
        return isinstance(value, str) and _words(value) == _words(answer)
    return (
        not isinstance(value, bool | dict | list)
        and value is not None
        and _as_number(str(value)) == _as_number(str(answer))
    )


def _has_number(text: str, number: Any) -> bool:
    """Whether a text has a number; one below zero, somewhere with a minus sign before it."""
    wanted = str(abs(number)) if not isinstance(number, str) else number.strip(" $€£+-")
    if number_value(wanted) not in numbers_in(text):
        return False
    if isinstance(number, str) or number >= 0:
        return True
    ends = (end for end in range(len(text)) if number_value(wanted) in numbers_in(text[end:]))
    last = max(ends)  # signs before every place but the last are in a text without it
    return re.search("[-\u2212][$€£]?$", text[:last]) is not None or _has_number(text[:last], number)


def _as_number(text: str) -> float | None:
    try:
        return float(text.strip(" $€£").replace(",", ""))
    except ValueError:
        return None


def _words(text: str) -> list[str]:
    return re.split(r"\W+", text.casefold().strip())


def _has_words(text: str, said: str) -> bool:
    there, wanted = [w for w in _words(text) if w], [w for w in _words(said) if w]
    return any(there[at : at + len(wanted)] == wanted for at in range(len(there) - len(wanted) + 1))


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
