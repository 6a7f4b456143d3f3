"""Answers that a scenario asks for: whether they are still where they must survive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import ScenarioError
from ..evidence.presence import message_texts
from ..evidence.probes import probes_of, same, search, turn_after
from ..evidence.uses import turn_text
from ..model import AskedProbe, Message, Run, Sample, Trace, as_text, compact_json
from ..text.decode import decoded
from ..text.facts import occurs
from ..text.leaf_tokens import tokens_of
from ..text.leaves import flatten
from . import metric

SHOWN_CHARS = 200


@metric("probes.recall", unit="fraction", better="higher", aggregate="pooled")
def recall(trace: Trace, run: Run) -> list[Sample]:
    """Share of a scenario's questions whose expected answer is still held where it must survive: a prompt, the store, or the reply.

    0–1. One sample a probe. `found` in its detail is `path` where the probe's path, asked of the message or record of that result, gives the
    same typed value, `token` where every value of the answer only occurs as a whole token (an upper bound), `""` where it is lost; `got` is
    what the path gives instead. A reply that no consumer made is the recorded turn, the same for every strategy. No probes: no samples.

    Source: design §4 "probes"

    >>> import msgspec
    >>> from bench.metrics import example
    >>> trace, run = example()
    >>> probes = [{"question": "How many rows?", "expected": 471, "step": 2, "path": "rows"}]
    >>> labelled = msgspec.structs.replace(trace, labels={"probes": probes})
    >>> sample = recall(labelled, run)[0]
    >>> sample.numerator, sample.detail["found"], sample.detail["upper_bound"]
    (1.0, 'token', True)
    """
    try:
        return [_sample(trace, run, probe) for probe in probes_of(trace)]
    except ScenarioError as error:
        return [Sample(numerator=None, reason=str(error))]


def _sample(trace: Trace, run: Run, probe: AskedProbe) -> Sample:
    detail: dict[str, Any] = {
        "question": probe.question,
        "expected": compact_json(probe.expected)[:SHOWN_CHARS],
        "where": probe.where,
    }
    if probe.where == "store":
        values, texts = _stored(run, probe)
        step = probe.step
    elif probe.where == "reply":
        texts, step = _reply(trace, run, probe, detail)
        values = []
    else:
        values, texts, step = _prompt(trace, run, probe)
    if step is None:
        return Sample(numerator=None, reason="no model turn follows the result", step=probe.step, detail=detail)
    got = [] if probe.path is None else [search(probe.path, value) for value in values]
    found = "path" if any(same(value, probe.expected) for value in got) else "token" if _written(probe, texts) else ""
    detail["found"] = found
    if found == "token":
        detail["upper_bound"] = True
    instead = next((value for value in got if value is not None), None)
    if found != "path" and instead is not None:
        detail["got"] = compact_json(instead)[:SHOWN_CHARS]
    return Sample(numerator=float(bool(found)), denominator=1.0, step=step, detail=detail)


def _stored(run: Run, probe: AskedProbe) -> tuple[list[Any], list[str]]:
    kept = [outcome.stored for outcome in run.results if outcome.step == probe.step]
    return kept, [as_text(value) for value in kept]


def _reply(trace: Trace, run: Run, probe: AskedProbe, detail: dict[str, Any]) -> tuple[list[str], int | None]:
    made = [outcome.reply.text for outcome in run.results if outcome.step == probe.step and outcome.reply is not None]
    if made:
        return made, probe.step
    turn = turn_after(trace, probe)
    detail["recorded_reply"] = True
    return ([], None) if turn is None else ([turn_text(turn)], turn.index)


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


def _written(probe: AskedProbe, texts: Iterable[str]) -> bool:
    """Whether every value of the answer occurs in some text as a whole token."""
    plain = [decoded(text) for text in texts]
    ways = [tokens_of(typed) for _, typed in flatten(probe.expected)]
    return bool(plain) and all(any(occurs(text, token) for text in plain for token in tokens) for tokens in ways)
