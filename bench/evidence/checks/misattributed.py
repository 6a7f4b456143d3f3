"""Misattributed: a sentence that states a value of a record which is not that record's."""

from __future__ import annotations

import re

from ...model.scores import Check, Finding
from ..of_replay import ReplayEvidence
from .own import check_of, new_lines, own_texts

_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)|\n")
_CLAUSE = re.compile(r"[,;]\s+|\s+(?:and|while|but)\s+")


def misattributed(evidence: ReplayEvidence) -> Check:
    """Own texts that state a value of a record in a sentence which names another record, over the own texts that name any record.

    A clause names a record by a value that tells it from the others (an id, a code, a name). Its
    other values must belong to a record that it names. Data and tables are no sentences: they are
    held against their records by the rule *changed*.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic hallucinations: facts put together wrongly)
    """
    records = evidence.session.records
    findings: list[Finding] = []
    naming = 0
    for own in own_texts(evidence):
        if not records.records:
            break
        text = "\n".join(new_lines(evidence, own))
        if text.lstrip()[:1] in ("{", "[", "|") or not records.identities:
            continue
        named = False
        for sentence in _SENTENCE.split(text):
            for clause in _CLAUSE.split(sentence):
                if evidence.session.said.verbatim(clause):
                    continue
                lowered = clause.casefold()
                if not any(word in records.identities for word in re.findall(r"[\w#@.$/-]*\w", lowered)):
                    continue
                named = True
                if value := records.strange(clause):
                    findings.append(Finding(own.message.step, clause.strip()[:200], value))
                    break
            else:
                continue
            break
        naming += named
    return check_of(findings, naming)
