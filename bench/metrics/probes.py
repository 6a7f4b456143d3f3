"""Answers that a scenario asks for, still where they must survive or not."""

from __future__ import annotations

from typing import Any

import msgspec

from ..evidence.of_run import RunEvidence
from ..evidence.presence import messages_at
from ..evidence.probes import probes_of, search, turn_after
from ..evidence.spoken import message_texts, turn_text
from ..model import Asked, AskedProbe, Run, Sample, Trace, as_text, compact_json
from ..model.errors import ScenarioError
from ..text.answers import is_answer, said
from . import example as example, metric

SHOWN_CHARS = 200


@metric("probes.recall", unit="fraction", better="higher", aggregate="pooled")
def recall(evidence: RunEvidence) -> list[Sample]:
    """Share of a scenario's questions whose expected answer is still held where it must survive: a prompt, the store, or the reply.

    0–1. One sample a probe. `found` in its detail is `path` where the probe's path, asked of the message or record of that result, gives the
    answer; `token` where every value of it only occurs whole in a text, of the prompt in any of its messages (an upper bound); `""` where it is
    lost; `got` is what the path gives instead. The probe's `type` says how values are compared. A reply that no consumer made is the recorded
    turn, the same for every strategy. No probes: no samples.

    Source: RULER (arXiv 2404.06654), questions that only a kept context can answer; paths as JMESPath (jmespath.org)

    >>> import msgspec
    >>> from bench.evidence.of_trace import TraceEvidence
    >>> evidence = example()
    >>> probes = [{"question": "How many rows?", "expected": 471, "step": 2, "path": "rows"}]
    >>> labelled = TraceEvidence(msgspec.structs.replace(evidence.trace, labels={"probes": probes}))
    >>> sample = recall(RunEvidence(labelled, evidence.run))[0]
    >>> sample.numerator, sample.detail.found, sample.upper_bound
    (1.0, 'token', True)
    """
    return _asked(evidence, absent=False)


@metric("probes.unwanted", unit="answers", better="lower", aggregate="sum")
def unwanted(evidence: RunEvidence) -> list[Sample]:
    """Answers that must not be there and are: a stale value, or one that a summary invented.

    One sample a probe that says what must be `absent`, 1 or 0. It is there where every value of it occurs whole in a text: of the prompt in any
    of its messages, of the result's record, or of the reply. What says the same in other words is not seen. A history that is not cut holds what
    was ever said, so compare with `keep_all`. No such probes: no samples.

    Source: hallucinated and outdated statements of summaries, as in FactCC (arXiv 1910.12840)

    >>> import msgspec
    >>> from bench.evidence.of_trace import TraceEvidence
    >>> evidence = example()
    >>> probes = [{"question": "How many rows?", "expected": rows, "absent": True, "type": "number"} for rows in (471, 470)]
    >>> labelled = TraceEvidence(msgspec.structs.replace(evidence.trace, labels={"probes": probes}))
    >>> [sample.numerator for sample in unwanted(RunEvidence(labelled, evidence.run))]
    [1.0, 0.0]
    """
    return _asked(evidence, absent=True)


def _asked(evidence: RunEvidence, absent: bool) -> list[Sample]:
    try:
        return [_sample(evidence, probe) for probe in probes_of(evidence.trace) if probe.absent == absent]
    except ScenarioError as error:
        return [Sample(numerator=None, reason=str(error))]


def _sample(evidence: RunEvidence, probe: AskedProbe) -> Sample:
    trace, run = evidence.trace, evidence.run
    expected = compact_json(probe.expected)[:SHOWN_CHARS]
    asked = Asked(question=probe.question, expected=expected, where=probe.where, absent=probe.absent)
    values: list[Any] = []
    if probe.where == "store":
        values, texts = _stored(run, probe)
        step = probe.step
    elif probe.where == "reply":
        texts, step, recorded = _reply(trace, run, probe)
        asked = msgspec.structs.replace(asked, recorded_reply=recorded)
    else:
        values, texts, step = _prompt(trace, run, probe)
    if step is None:
        return Sample(numerator=None, reason="no model turn follows the result", step=probe.step, detail=asked)
    got = [] if probe.path is None else [search(probe.path, value) for value in values]
    by_path = any(is_answer(value, probe.expected, probe.type) for value in got)
    found = "path" if by_path else ""
    if not found and said([evidence.texts.plain(text) for text in texts], probe.expected, probe.type):
        found = "token"
    instead = next((value for value in got if value is not None), None) if found != "path" else None
    told = "" if instead is None else compact_json(instead)[:SHOWN_CHARS]
    detail = msgspec.structs.replace(asked, found=found, got=told)
    there = float(bool(found))
    if probe.absent:
        return Sample(numerator=there, step=step, detail=detail)
    return Sample(numerator=there, denominator=1.0, step=step, upper_bound=found == "token", detail=detail)


def _stored(run: Run, probe: AskedProbe) -> tuple[list[Any], list[str]]:
    kept = [outcome.stored for outcome in run.results if outcome.step == probe.step]
    return kept, [as_text(value) for value in kept]


def _reply(trace: Trace, run: Run, probe: AskedProbe) -> tuple[list[str], int | None, bool]:
    """The texts of the reply, its step, and whether it is the recorded one."""
    made = [outcome.reply.text for outcome in run.results if outcome.step == probe.step and outcome.reply is not None]
    if made:
        return made, probe.step, False
    turn = turn_after(trace, probe)
    return ([], None, True) if turn is None else ([turn_text(turn)], turn.index, True)


def _prompt(trace: Trace, run: Run, probe: AskedProbe) -> tuple[list[Any], list[str], int | None]:
    """The texts that show the result in the prompt that is asked, every text of that prompt, and its step."""
    turn = turn_after(trace, probe)
    messages = None if turn is None else messages_at(run, turn.index)
    if turn is None or messages is None:
        return [], [], None
    own = [message.text for message in messages if message.step is not None and message.step == probe.step]
    return [*own], [text for message in messages for text in message_texts(message)], turn.index
