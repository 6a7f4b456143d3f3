"""Answers to the questions of a scenario that survive where they must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..evidence.of_replay import ReplayEvidence
from ..evidence.probes import probes_of, search, turn_after
from ..evidence.step_texts import message_texts, step_texts
from ..model import AskedProbe, as_text
from ..model.errors import ScenarioError
from ..model.scores import Number
from ..text.answers import is_answer, says_answer
from . import example as example, share, share_metric


@share_metric("probes.recall")
def recall(evidence: ReplayEvidence) -> Number:
    """Share of a scenario's questions that come out right: the answer is there, or what must be
    absent is not.

    From 0 (none) to 1 (all). An answer is there if the probe's path finds it in the message or
    record of its result, or if every value of it is in a text: in any message of the prompt, in the
    record, or in the reply. What must be absent is looked for in the same way, in texts alone.
    Without a consumer the reply is the recorded turn. Without a probe about a turn that exists there
    is nothing to measure.

    Source: RULER (arXiv 2404.06654), questions that only a kept context can answer; paths as
    JMESPath (jmespath.org)

    >>> import msgspec
    >>> from bench.evidence.index import index_trace
    >>> from bench.evidence.session import TraceSession
    >>> from bench.model import Trace
    >>> cut = example()
    >>> probes = [{"question": "How many rows?", "expected": 471, "step": 2, "path": "rows"},
    ...     {"question": "Which file?", "expected": "a/b.csv", "step": 2}]
    >>> trace = msgspec.structs.replace(cut.trace, labels={"probes": probes})
    >>> recall(ReplayEvidence(TraceSession(trace, index_trace(trace)), cut.replay)).value
    0.5
    """
    try:
        judged = [is_right for _, is_right in asked(evidence)]
    except ScenarioError as error:
        return Number(None, reason=str(error))
    return share(sum(judged), len(judged))


def asked(evidence: ReplayEvidence) -> Iterator[tuple[AskedProbe, bool]]:
    """Yield each probe about a turn that exists, and True if it comes out right. Raises ScenarioError
    for a probe without its result."""
    for probe in probes_of(evidence.trace):
        is_right = _right(evidence, probe)
        if is_right is not None:
            yield probe, is_right


def _right(evidence: ReplayEvidence, probe: AskedProbe) -> bool | None:
    """True if a probe comes out right; None if no model turn follows its result."""
    values: list[Any] = []
    texts: list[str] | None
    if probe.where == "store":
        values = [item.stored for item in evidence.replay.results if item.step == probe.step]
        texts = [as_text(value) for value in values]
    elif probe.where == "reply":
        texts = _reply(evidence, probe)
    else:
        values, texts = _prompt(evidence, probe)
    if texts is None:
        return None
    by_path = (search(probe.path, value) for value in values) if probe.path is not None else ()
    if not probe.absent and any(is_answer(value, probe.expected, probe.type) for value in by_path):
        return True
    plain = [evidence.messages.texts.plain(text) for text in texts]
    return says_answer(plain, probe.expected, probe.type) is not probe.absent


def _reply(evidence: ReplayEvidence, probe: AskedProbe) -> list[str] | None:
    """The consumer's replies to the probe's result, else the turn after it; None without one."""
    replies = [
        item.reply.text
        for item in evidence.replay.results
        if item.step == probe.step and item.reply
    ]
    if replies:
        return replies
    turn = turn_after(evidence.trace, probe)
    return None if turn is None else ["\n".join(step_texts(turn))]


def _prompt(evidence: ReplayEvidence, probe: AskedProbe) -> tuple[list[Any], list[str] | None]:
    """The texts that show the probe's result in the prompt to check, and all texts of that prompt."""
    turn = turn_after(evidence.trace, probe)
    call = None if turn is None else evidence.call_of.get(turn.index)
    if call is None:
        return [], None
    messages = evidence.prompt(call)
    about = [item.text for item in messages if item.step is not None and item.step == probe.step]
    return [*about], [text for item in messages for text in message_texts(item)]
