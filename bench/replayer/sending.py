"""A replay in the child process of somebody else's code: the trace goes there as data, the run comes back as data, checked and counted here."""

from __future__ import annotations

import functools
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from ..evidence.of_trace import TraceEvidence
from ..evidence.oracle import Future
from ..model import Message, ModelTurn, Prompt, ResultOutcome, Run, ToolResult, ToolsChanged, Trace
from ..model.errors import StrategyError, one_line
from ..strategies import Strategy, untruncated_record
from .loop import Replayer
from .prompts import BaseMessages, message_key

_encoded = json.JSONEncoder(check_circular=False).encode


@dataclass(frozen=True)
class Bare:
    """A trace in a child process: what a replay needs of it."""

    trace: Trace
    model: str | None

    @functools.cached_property
    def results(self) -> dict[int, ToolResult]:
        """The tool results by step."""
        return {result.index: result for result in self.trace.results}

    @functools.cached_property
    def future(self) -> Future:
        """The whole recording, for a strategy that reads it."""
        return TraceEvidence(self.trace, self.model).future


class SentRun(msgspec.Struct, frozen=True):
    """A run without what its reader knows: of its messages, whose names are `keys`, it has the strategy's own, and no tokens. With `untouched`
    each result has the untruncated record, and what is extracted from it.
    """

    keys: tuple[str, ...]
    untouched: bool
    run: Run


class _Unweighed(BaseMessages):
    """Messages whose tokens nobody asks for in a child: the process that measures counts them."""

    def weigh(self, key: str, message: Message) -> int:
        """The tokens of a message that stands in the trace; 0 for any other."""
        return self.tokens.get(key, 0)


def there(sent: bytes, count: Callable[[str], int], on_step: Callable[[float], None], *, weighs: bool) -> Replayer:
    """In a child: the replayer of a trace that was sent as `Replayer.as_bytes`. `weighs`: its strategy may ask how long a prompt is."""
    trace, model, prepared = pickle.loads(sent)
    replayer = Replayer(Bare(trace, model), prepared=prepared, count=count, on_step=on_step)
    if not weighs:
        replayer.base = _Unweighed(replayer.counter, prepared.calibration.sizes, prepared.tokens)
    return replayer


def packed(run: Run, replayer: Replayer, *, untouched: bool) -> SentRun:
    """In a child: a run as it is sent. `untouched`: its strategy has no store."""
    known = replayer.base.known()
    results = [msgspec.structs.replace(outcome, extraction_untruncated=None) for outcome in run.results]
    if untouched:
        results = [
            msgspec.structs.replace(
                outcome,
                record=msgspec.structs.replace(outcome.record, value=None, arguments=None),
                stored=None,
                extraction=None,
            )
            for outcome in results
        ]
    made = {key: message for key, message in run.messages.items() if key not in known}
    bare = msgspec.structs.replace(run, messages=made, message_tokens={}, results=tuple(results))
    return SentRun(tuple(run.messages), untouched, bare)


def written(value: Any) -> bytes:
    """A value as JSON, whatever texts and numbers are in it."""
    return _encoded(msgspec.to_builtins(value)).encode("ascii")


def unpacked(sent: SentRun, strategy: Strategy, replayer: Replayer) -> Run:
    """A run that a child sent, with its tokens counted here. Raises StrategyError for one that is none of this trace."""
    trace = replayer.evidence.trace
    run, known = sent.run, replayer.every_message()
    if any(message_key(message) != key for key, message in run.messages.items()):
        raise StrategyError("its answer has a message under the name of another")
    try:
        messages = {key: run.messages[key] if key in run.messages else known[key] for key in sent.keys}
        tokens = {key: replayer.base.weigh(key, message) for key, message in messages.items()}
        results = tuple(_result(outcome, sent.untouched, replayer) for outcome in run.results)
        prompts = _counted(run.prompts, tokens, replayer)
        known_messages = all(item.shown in messages for item in results) and run.decoded.keys() <= messages.keys()
    except (KeyError, IndexError) as error:
        raise StrategyError(f"its answer names {one_line(error)}, which this trace does not have") from None
    calls = {turn.index for turn in trace.model_turns}
    steps = {step.index for step in trace.steps} | {-1}
    named = (item.step for items in (run.decisions, run.notes, run.handles, run.writer_calls) for item in items)
    whole = [prompt.step for prompt in prompts] == sorted(calls) and {item.step for item in results} == {
        result.index for result in trace.results
    }
    if not known_messages or not steps.issuperset(named) or not (whole or run.failure):
        raise StrategyError("its answer is no run of this trace")
    return msgspec.structs.replace(
        run, **replayer.about(strategy), messages=messages, message_tokens=tokens, prompts=prompts, results=results
    )


def _result(outcome: ResultOutcome, untouched: bool, replayer: Replayer) -> ResultOutcome:
    full = untruncated_record(replayer.evidence.results[outcome.step])
    extracted = replayer.extracted_from(full)
    if untouched:
        outcome = msgspec.structs.replace(outcome, record=full, stored=full.value, extraction=extracted)
    return msgspec.structs.replace(outcome, extraction_untruncated=extracted)


def _counted(prompts: tuple[Prompt, ...], tokens: dict[str, int], replayer: Replayer) -> tuple[Prompt, ...]:
    """Prompts with the tokens that they have, whatever was said of them."""
    turns = {turn.index: turn for turn in replayer.evidence.trace.model_turns}
    tools: dict[str, int] = {}
    of_tools: dict[int, int] = {}
    for step in replayer.evidence.trace.steps:
        if isinstance(step, ToolsChanged):
            tools[step.thread] = replayer.counter.tools(step.tools)
        elif isinstance(step, ModelTurn):
            of_tools[step.index] = tools.get(step.thread, 0)
    live: dict[str, tuple[list[str], int]] = {}
    found = []
    for prompt in prompts:
        turn: ModelTurn = turns[prompt.step]
        keys, total = live.get(turn.thread, ([], replayer.counter.counting.prompt_tokens))
        if prompt.thread != turn.thread or any(
            not (splice.at >= 0 and splice.removed >= 0 and splice.at + splice.removed <= len(keys))
            for splice in prompt.splices
        ):
            raise KeyError(prompt.step)
        total += sum(tokens[key] for splice in prompt.splices for key in splice.added)
        total -= sum(tokens[key] for key in prompt.edit(keys))
        live[turn.thread] = keys, total
        sizes = {
            "tokens": total + of_tools[turn.index],
            "tools_tokens": of_tools[turn.index],
            "window_tokens": replayer.prepared.window_tokens,
        }
        found.append(msgspec.structs.replace(prompt, **sizes))
    return tuple(found)
