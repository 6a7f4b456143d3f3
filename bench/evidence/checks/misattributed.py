"""Misattributed: a sentence that gives a record another one's value."""

from __future__ import annotations

import re
from itertools import chain

from ...model.scores import Check, Finding
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from ..shown import own_lines, shown_of
from .findings import check_of

_DATA = re.compile(r"\s*[{\[|]|(?:[^,;\t|]*(?:[,;](?!\s)|[\t|])){3}")
"""Matches JSON, or a row of a table: three cells with only separators between."""

_QUOTED_KEY = re.compile(r"\"[\w .-]+\"\s*:")
"""Matches a key in a part of JSON, whose fields the rule `changed` checks in a result."""


def misattributed(evidence: ReplayEvidence) -> Check:
    """The check of own texts that give a record another record's value, over those that name a
    record.

    A clause names a record by a value that identifies it (an id, a code, a name). It is a finding
    only if the record has another value under the same key. It is not one if somebody in the run
    said both in one message: a wish, a plan, a change. Data and tables are not read as sentences.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic hallucinations: facts put together wrongly)
    """
    findings: list[Finding] = []
    naming = summaries = 0
    for own in evidence.own_texts:
        records = evidence.session.records
        is_read = not isinstance(own, RewrittenResult) or shown_of(own).is_read
        lines = own_lines(own) if is_read and records.by_identity else []
        if isinstance(own, RewrittenResult):
            is_data = bool(own.table.fields)
            lines = [line for line in lines if is_data and not _QUOTED_KEY.search(line)]
        prose = [line for line in lines if not _DATA.match(line) and records.names_any(line)]
        naming += bool(prose)
        summaries += bool(prose) and not isinstance(own, RewrittenResult)
        findings += _of_another_record(own, prose)
    return check_of(findings, naming, summaries)


def _of_another_record(own: OwnText, prose: list[str]) -> list[Finding]:
    """The first sentence that gives a record another record's value; [] without one."""
    records, mentions = own.session.records, own.session.mentions
    for item in chain.from_iterable(map(records.contradictions, prose)):
        named = records.named(item.words)
        if not any(mentions.together(item.stated, identity) for identity in named):
            return [Finding(own.step, item.words, f"{item.own}, not {item.stated}")]
    return []
