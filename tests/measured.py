"""Replays of a trace for tests, with full prompts and metrics.

Values that depend only on the trace are cached for the last one, as in a real run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.evidence.of_replay import ReplayEvidence
from bench.metrics import metrics
from bench.model import Message, Trace
from bench.model.replay import Replay
from bench.model.scores import Number
from bench.run.measuring import Measuring, RunSession
from bench.strategies import Strategy, build_strategy
from bench.strategies.declaring import declaration
from bench.tokens.counting import TokenCounter

COUNT = TokenCounter()
"""Counts tokens in the default encoding."""

_sessions: list[RunSession] = []  # of the trace asked about last


@dataclass(frozen=True)
class Prompt:
    """One full prompt: its step and thread, its tokens, its messages.

    `commands` are the tokens of a separate command history; `cut` is true where the prompt before is no prefix of it.
    """

    step: int
    thread: str
    tokens: int
    tools_tokens: int
    tools_changed: bool
    messages: list[Message]
    commands: int | None
    cut: bool


class MeasuredReplay:
    """A replay with full prompts. `messages` are by number; other fields are those of the Replay."""

    def __init__(self, evidence: ReplayEvidence) -> None:
        self.evidence, self.replay = evidence, evidence.replay
        self.messages = [*evidence.messages.messages[: evidence.messages.recorded], *evidence.replay.written]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.replay, name)

    @property
    def prompts(self) -> list[Prompt]:
        """Every prompt in order, put together from the start."""
        found, threads = [], {}
        for call, priced in zip(self.replay.calls, self.evidence.walked.priced, strict=True):
            before = len(threads.get(call.thread, ()))
            numbers = threads[call.thread] = [*threads.get(call.thread, [])[: call.keep], *call.tail]
            messages = [self.messages[number] for number in numbers]
            found.append(
                Prompt(
                    call.step,
                    call.thread,
                    priced.prompt_tokens,
                    call.tools_tokens,
                    call.tools_changed,
                    messages,
                    call.commands,
                    call.keep < before,
                )
            )
        return found


def session_of(recording: Trace) -> RunSession:
    """The session of a trace; the same one until another trace is asked about."""
    if not _sessions or _sessions[0].trace is not recording:
        _sessions[:] = [RunSession(recording, Measuring(()))]
    return _sessions[0]


def strategy(given: Any) -> Strategy:
    """A strategy: itself, from its spec, or of a function."""
    return given if isinstance(given, Strategy) else build_strategy(declaration(given))


def evidence_of(recording: Trace, given: Any) -> ReplayEvidence:
    """The evidence of a trace under a strategy."""
    return session_of(recording).evidence(strategy(given))


def replayed(recording: Trace, given: Any) -> MeasuredReplay:
    """A trace replayed through a strategy; a failure fails the test."""
    found = evidence_of(recording, given)
    assert found.replay.failure is None, found.replay.failure
    return MeasuredReplay(found)


def replay_of(recording: Trace, given: Any) -> Replay:
    """The replay of a trace under a strategy, which may have failed."""
    return evidence_of(recording, given).replay


def number(recording: Trace, given: Any, metric: str) -> Number:
    """One metric of a trace under a strategy."""
    return metrics()[metric].number(evidence_of(recording, given))


def value(recording: Trace, given: Any, metric: str) -> float | None:
    """The value of one metric of a trace under a strategy."""
    return number(recording, given, metric).value


def replayed_or_failed(recording: Trace, given: Any) -> MeasuredReplay:
    """A trace replayed through a strategy, which may have failed."""
    return MeasuredReplay(evidence_of(recording, given))
