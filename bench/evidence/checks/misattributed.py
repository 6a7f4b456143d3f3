"""Misattributed: a sentence that states a value of a record which has another value under that key."""

from __future__ import annotations

from itertools import chain

from ...model.scores import Check, Finding
from ..of_replay import ReplayEvidence
from .own import check_of, new_lines, own_texts


def misattributed(evidence: ReplayEvidence) -> Check:
    """Own texts that state of a record a value that is another record's, over the own texts that name any record.

    A clause names a record by a value that tells it from the others (an id, a code, a name). The
    record itself must have something else under a key of that value, so what it has not at all is
    no finding. Nor is what somebody in the run said in the same message as the record's identity: a wish, a plan, a
    change. Data and tables are no sentences: they are held against their records by *changed*.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic hallucinations: facts put together wrongly)
    """
    findings: list[Finding] = []
    naming = summaries = 0
    texts = list(own_texts(evidence))
    if not texts or not evidence.session.records.by_identity:
        return check_of(findings, naming)
    records, mentions = evidence.session.records, evidence.session.mentions
    for own in texts:
        prose = [line for line in new_lines(evidence, own) if line.lstrip()[:1] not in ("{", "[", "|")]
        names = any(map(records.names_any, prose))
        naming += names
        summaries += names and own.result is None
        for item in chain.from_iterable(map(records.contradictions, prose)):
            named = records.named(item.words)
            if not any(mentions.together(item.stated, identity) for identity in named):
                findings.append(Finding(own.message.step, item.words, f"{item.own}, not {item.stated}"))
                break
    return check_of(findings, naming, summaries)
