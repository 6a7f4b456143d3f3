"""Probes: questions of a scenario, each with an answer and a place where it must survive."""

from __future__ import annotations

from typing import Any, Literal

from .base import Value

Where = Literal["prompt", "store", "reply"]

AnswerType = Literal["exact", "number", "text"]
"""The comparison of an answer. `exact`: the same typed value; in a text the same characters.
`number`: the same value, ignoring separators, currency signs and trailing zeros. `text`: the same
words in the same order, ignoring case and what is between them.
"""


class Probe(Value, frozen=True, kw_only=True):
    """One question as a scenario declares it.

    Its answer is what the JMESPath `path` finds in a tool result, or `expected` as written;
    `absent` is a wrong answer, stale or invented, that must not be there. `type` is its comparison:
    see `AnswerType`.

    `run` is an id or a glob; `result` names the tool result by step, call id or function. `where`
    is the place of the answer: the last `prompt` (with `at`, the first one from that step on), the
    `store`, or the `reply` after the result.
    """

    question: str
    run: str = "*"
    result: int | str | None = None
    path: str | None = None
    expected: Any = None
    absent: Any = None
    type: AnswerType = "exact"
    where: Where = "prompt"
    at: int | None = None


class AskedProbe(Value, frozen=True, kw_only=True):
    """A probe on one trace, its answer known: an item of `labels["probes"]`.

    `step` is the tool result that it reads, if any; with `absent` the answer must not be there.
    """

    question: str
    expected: Any
    where: Where = "prompt"
    step: int | None = None
    path: str | None = None
    at: int | None = None
    type: AnswerType = "exact"
    absent: bool = False
