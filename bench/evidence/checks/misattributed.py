"""Misattributed: a sentence gives a record the value of another record."""

from __future__ import annotations

import re
from itertools import chain

from ...model.scores import Check, Finding
from ..generated_text import GeneratedText, RewrittenResult
from ..of_replay import ReplayEvidence
from .findings import check_of

_DATA = re.compile(r"\s*[{\[|]|(?:[^,;\t|]*(?:[,;](?!\s)|[\t|])){3}")
"""Matches JSON, or a row of a table: three cells with only separators between."""


def misattributed(evidence: ReplayEvidence) -> Check:
    """The check of summaries that give a record another record's value, over those that name a
    record. A text that shows a result is compared with it instead.

    A clause names a record by a value that identifies it (an id, a code, a name). It is a finding
    only if the record has another value under the same key. It is not one if somebody in the run
    said both in one message: a wish, a plan, a change. Data and tables are not read as sentences.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic hallucinations: facts put together wrongly)
    """
    findings: list[Finding] = []
    naming = 0
    for generated in evidence.generated_texts:
        if not isinstance(generated, RewrittenResult):
            names_any = generated.session.records.names_any
            lines = [
                line for line in generated.new_lines if not _DATA.match(line) and names_any(line)
            ]
            naming += bool(lines)
            findings += _first_misattribution(generated, lines)
    return check_of(findings, naming, naming)


def _first_misattribution(generated: GeneratedText, lines: list[str]) -> list[Finding]:
    """The first sentence that gives a record another record's value; [] without one."""
    records, mentions = generated.session.records, generated.session.mentions
    for item in chain.from_iterable(map(records.contradictions, lines)):
        named = records.named(item.words)
        if not any(mentions.has_together(item.stated, identity) for identity in named):
            return [Finding(generated.step, item.words, f"{item.actual}, not {item.stated}")]
    return []
