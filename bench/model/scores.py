"""The numbers of one strategy on one trace, and the findings of the decision's rules."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from .base import Value
from .outcome import Failure

Rule = Literal[
    "ran", "valid", "instructed", "changed", "misattributed", "invented", "hidden",
    "needed", "far", "stored", "judged", "routed", "better", "cheaper",
]  # fmt: skip
"""The rules of the decision, in the order in which they are applied."""


class Number(Value, frozen=True, array_like=True):
    """The value of one metric (None: not measured, for `reason`), and its weight when runs are
    pooled. A value with a reason is the least that it can be.

    The weight of a share is its denominator; 0 means that there was nothing to measure.
    """

    value: float | None
    weight: float = 1.0
    reason: str = ""

    @property
    def as_written(self) -> tuple[float | str | None, ...]:
        """The members to write to a file, without defaults at the end.

        >>> Number(0.5).as_written, Number(0.5, 3.0).as_written
        ((0.5,), (0.5, 3.0))
        """
        if self.reason:
            return self.value, self.weight, self.reason
        return (self.value,) if self.weight == 1.0 else (self.value, self.weight)


class Finding(Value, frozen=True):
    """One finding of a rule: its step, the words or the value, and the original in its place; the
    name of its run where findings of several are together."""

    step: int | None
    text: str
    was: str = ""
    run: str = ""


class Check(Value, frozen=True, kw_only=True):
    """The findings of one rule in one replay: `hits` in `of` texts (or prompts). `unchecked` texts
    could not be read, state something without support in the recording, or leave something out
    without a notice: `unchecked_text` says it of the first.

    `summaries` of the texts show no single result. `findings` are the first few, for the report.
    """

    hits: int = 0
    of: int = 0
    summaries: int = 0
    unchecked: int = 0
    unchecked_text: str = ""
    findings: tuple[Finding, ...] = ()


class FalseAlarms(NamedTuple):
    """The share of honest texts in which a rule finds something, 0–1: for short texts and prompts,
    and for summaries."""

    text: float = 0.0
    summary: float = 0.0

    def expected(self, of: int, summaries: int) -> float:
        """The expected share of false alarms among `of` texts, `summaries` of them summaries;
        without texts the share for short texts.

        >>> FalseAlarms(0.05, 0.15).expected(of=4, summaries=2)
        0.1
        """
        return self.text + (self.summary - self.text) * summaries / of if of else self.text


class Score(Value, frozen=True, kw_only=True):
    """One strategy on one run: its metrics by name, its checks by rule.

    `acted` is True if the replay differs from the recording in any prompt, record, evaluation or
    route.
    """

    strategy: str
    numbers: dict[str, Number] = {}
    checks: dict[Rule, Check] = {}
    failure: Failure | None = None
    unstable_at: int | None = None
    acted: bool = True
    constant_texts: tuple[str, ...] = ()


class RunFacts(Value, frozen=True, kw_only=True):
    """Facts about one recording itself, the same for every strategy.

    `skipped` counts what the reader did not understand, by kind; `cut` results the recorded model
    saw in part, `cut_unknown` those of them whose other parts are not recorded, `shortened` how
    often the recorded agent shortened its history. `cache_shares`: "recorded" or "assumed".
    """

    sha256: str
    format: str = ""
    task: str = ""
    model: str | None = None
    turns: int = 0
    results: int = 0
    cut: int = 0
    cut_unknown: int = 0
    shortened: int = 0
    skipped: dict[str, int] = {}
    prompts_known: bool = True
    cache_shares: Literal["recorded", "assumed", ""] = ""
    encoding: str = ""
    encoding_assumed: bool = False
    counted_tokens: int = 0
    reported_tokens: int = 0


class MeasuredRun(Value, frozen=True, kw_only=True):
    """One run (one recording) under every strategy, as a comparison stores it. At most 15 kB of
    JSON."""

    id: str
    facts: RunFacts
    scores: tuple[Score, ...] = ()

    @property
    def as_written(self) -> MeasuredRun:
        """The run to write to a file, without numbers that had nothing to measure."""
        scores = []
        for score in self.scores:
            numbers = {
                name: one.as_written
                for name, one in score.numbers.items()
                if one.weight or one.reason
            }
            scores.append(msgspec.structs.replace(score, numbers=numbers))
        return msgspec.structs.replace(self, scores=tuple(scores))
