"""Everything about a trace that its replays share, whatever the strategy; and the error of a strategy that broke."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..evidence.oracle import Future
from ..model import ContextEdit, ContextReset, Message, ModelTurn, Record, SystemTurn, ToolResult, Trace, UserTurn
from ..model.errors import BenchError, debugged, one_line
from ..plugins.registry import build, entries
from ..strategies import Strategy, Window, untruncated_record
from ..strategies.functions import told_of
from ..tokens.calibration import Calibration, calibrated
from ..tokens.counting import TokenCounter, encoding_for
from ..tokens.prices import window_tokens
from .handed import fresh
from .prompts import BaseMessages


class Broken(Exception):
    """A strategy raised, or returned what its slot does not allow."""

    def __init__(self, slot: str, error: BaseException) -> None:
        self.slot = slot
        self.text = one_line(error) if isinstance(error, BenchError) else told_of(error)
        debugged(error)


@contextmanager
def broken(slot: str) -> Iterator[None]:
    """Turn what a slot raises into Broken, with the slot's name."""
    try:
        yield
    except Exception as error:
        raise Broken(slot, error) from error


class Replayable(Protocol):
    """The part of a trace's evidence that a replay needs."""

    @property
    def trace(self) -> Trace: ...

    @property
    def model(self) -> str | None: ...

    @property
    def results(self) -> dict[int, ToolResult]: ...

    @property
    def future(self) -> Future: ...


@dataclass(frozen=True)
class Prepared:
    """Everything that belongs to a trace and not to a strategy, as data: found once, and handed to the processes of somebody else's code.

    `tokens` are those of its messages, by key; `extracted` is what is extracted from each untruncated record, by step.
    """

    encoding: str
    encoding_assumed: bool
    window_tokens: int | None
    calibration: Calibration
    tokens: dict[str, int] = field(default_factory=dict)
    extracted: dict[int, dict[str, Any] | None] = field(default_factory=dict)


def _window_of(evidence: Replayable) -> int | None:
    """The window of a trace's model; no smaller than a prompt that its provider took. None where it is not known."""
    listed = window_tokens(evidence.model)
    taken = [turn.usage.prompt_tokens for turn in evidence.trace.model_turns if turn.usage is not None]
    return None if listed is None else max(listed, *taken, 0)


class Shared:
    """The part of a replay that belongs to the trace: encoding, calibration, messages of its steps, what is extracted from its results. Without
    `calibrate` tokens follow the plain rule.

    In a child process all that belongs to the trace is `prepared`, tokens are counted by `count`, and `on_step` is called before each step with the
    seconds that it may take more than others.
    """

    def __init__(
        self,
        evidence: Replayable,
        *,
        calibrate: bool = True,
        prepared: Prepared | None = None,
        count: Callable[[str], int] | None = None,
        on_step: Callable[[float], None] | None = None,
    ) -> None:
        self.evidence = evidence
        self.on_step = on_step
        if prepared is None:
            encoding, assumed = encoding_for(evidence.model)
            plain = TokenCounter(encoding)
            found = calibrated(evidence.trace, plain, evidence.model, assumed=assumed, fit=calibrate)
            prepared = Prepared(encoding, assumed, _window_of(evidence), found)
            self.counter = plain.calibrated(found.counting)
        else:
            self.counter = TokenCounter(prepared.encoding, prepared.calibration.counting, count)
        self.prepared = prepared
        self.base = BaseMessages(self.counter, prepared.calibration.sizes, prepared.tokens)
        self.extractors = [(name, build("extractor", name).start()[1]) for name in entries("extractor")]

    @functools.cached_property
    def recorded_compactor(self) -> Callable[[Window], Any] | None:
        """The compactor of an empty slot: what the recording itself did to its history. None where it did nothing."""
        did = any(isinstance(step, ContextReset | ContextEdit) for step in self.evidence.trace.steps)
        compact: Callable[[Window], Any] | None = build("compactor", "recorded").start()[1] if did else None
        return compact

    @functools.cached_property
    def as_bytes(self) -> bytes:
        """The trace with everything that belongs to it, for a child process: made once for all strategies."""
        self.every_message(count=True)
        for step in self.evidence.trace.steps:
            if isinstance(step, ToolResult):
                with suppress(Broken):  # raised again where it is some strategy's failure
                    self.extracted_from(untruncated_record(step))
        return pickle.dumps((self.evidence.trace, self.evidence.model, self.prepared), pickle.HIGHEST_PROTOCOL)

    def extracted_from(self, full: Record) -> dict[str, Any] | None:
        """The findings that are extracted from an untruncated record: the same for every strategy."""
        extracted = self.prepared.extracted
        if full.step not in extracted:
            extracted[full.step] = self.extract(full)
        return extracted[full.step]

    def extract(self, record: Record) -> dict[str, Any] | None:
        with broken("extractor"):
            found = {name: extract(fresh(record)) for name, extract in self.extractors}
        return {name: value for name, value in found.items() if value is not None} or None

    def every_message(self, *, count: bool = False) -> dict[str, Message]:
        """Every message that shows a step as it is, by key. With `count` their tokens are counted too."""
        for step in self.evidence.trace.steps:
            if isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult):
                self.base.of(step, count=count)
        return self.base.known()

    def about(self, strategy: Strategy) -> dict[str, Any]:
        """The fields of a run of a strategy that say which one it is."""
        return {
            "trace_id": self.evidence.trace.id,
            "trace_sha256": self.evidence.trace.sha256,
            "strategy": strategy.name,
            "spec": strategy.spec,
            "encoding": self.prepared.encoding,
            "encoding_assumed": self.prepared.encoding_assumed,
            "counting": self.counter.counting,
            "model": self.evidence.model,
        }
