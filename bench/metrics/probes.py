"""Answers that a scenario asks for: whether they are still where they must survive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ..errors import ScenarioError
from ..evidence.of_run import RunEvidence
from ..evidence.probes import probes_of, search, turn_after
from ..evidence.spoken import message_texts, turn_text
from ..model import Asked, AskedProbe, Message, Run, Sample, Trace, as_text, compact_json
from ..text.equality import same
from ..text.facts import occurs
from ..text.leaves import flatten, tokens_of
from . import metric

SHOWN_CHARS = 200


@metric("probes.recall", unit="fraction", better="higher", aggregate="pooled")
def recall(evidence: RunEvidence) -> list[Sample]:
    """Share of a scenario's questions whose expected answer is still held where it must survive: a prompt, the store, or the reply.

    0–1. One sample a probe. `found` in its detail is `path` where the probe's path, asked of the message or record of that result, gives the
    same typed value, `token` where every value of the answer only occurs as a whole token (an upper bound), `""` where it is lost; `got` is
    what the path gives instead. A reply that no consumer made is the recorded turn, the same for every strategy. No probes: no samples.

    Source: RULER (arXiv 2404.06654), questions that only a kept context can answer; paths as JMESPath (jmespath.org)

    >>> import msgspec
    >>> from bench.evidence.of_trace import TraceEvidence
    >>> from bench.metrics import example
    >>> evidence = example()
    >>> probes = [{"question": "How many rows?", "expected": 471, "step": 2, "path": "rows"}]
    >>> labelled = TraceEvidence(msgspec.structs.replace(evidence.trace, labels={"probes": probes}))
    >>> sample = recall(RunEvidence(labelled, evidence.run))[0]
    >>> sample.numerator, sample.detail.found, sample.upper_bound
    (1.0, 'token', True)
    """
    try:
        return [_sample(evidence, probe) for probe in probes_of(evidence.trace)]
    except ScenarioError as error:
        return [Sample(numerator=None, reason=str(error))]


def _sample(evidence: RunEvidence, probe: AskedProbe) -> Sample:
    trace, run = evidence.trace, evidence.run
    asked = Asked(question=probe.question, expected=compact_json(probe.expected)[:SHOWN_CHARS], where=probe.where)
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
    by_path = any(same(value, probe.expected) for value in got)
    found = "path" if by_path else "token" if _written(evidence, probe, texts) else ""
    instead = next((value for value in got if value is not None), None) if found != "path" else None
    told = "" if instead is None else compact_json(instead)[:SHOWN_CHARS]
    return Sample(
        numerator=float(bool(found)),
        denominator=1.0,
        step=step,
        upper_bound=found == "token",
        detail=msgspec.structs.replace(asked, found=found, got=told),
    )


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
    """What the messages of the result say in the prompt that is asked, every text of that prompt, and its step."""
    turn = turn_after(trace, probe)
    if turn is None:
        return [], [], None
    for prompt, keys in run.walk():
        if prompt.step == turn.index:
            messages: list[Message] = [run.held_messages[key] for key in keys]
            own = [message.text for message in messages if message.step is not None and message.step == probe.step]
            return [*own], [text for message in messages for text in message_texts(message)], prompt.step
    return [], [], None


def _written(evidence: RunEvidence, probe: AskedProbe, texts: Iterable[str]) -> bool:
    """Whether every value of the answer occurs in some text as a whole token."""
    plain = [evidence.texts.plain(text) for text in texts]
    ways = [tokens_of(typed) for _, typed in flatten(probe.expected)]
    return bool(plain) and all(any(occurs(text, token) for text in plain for token in tokens) for tokens in ways)
