"""Misattributed: a sentence that gives a record another one's value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ...model import as_text, nested
from ...model.scores import Check, Finding
from ...text.containers import containers_in
from ...text.fields import FieldTable
from ...text.omissions import notice_at
from ...text.text_records import Pair
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from .changed import changes_of
from .findings import check_of

_DATA = re.compile(r"\s*[{\[|]|(?:[^,;\t|]*(?:[,;](?!\s)|[\t|])){3}")
"""Matches JSON, or a row of a table: three cells with only separators between."""

_QUOTED_BLANKS = 3
"""A text in data with at least this many blanks is a quotation."""

_OPENS = re.compile(r"\{\s*[\"'][^\"'{}\[\]]{1,60}[\"']\s*:\s*\S")


def misattributed(evidence: ReplayEvidence) -> Check:
    """The check of own texts that give a record another record's value, over those that name a
    record.

    A clause names a record by a value that identifies it (an id, a code, a name). It is a finding
    only if the record has another value under the same key. It is not one if somebody in the run
    said both in one message: a wish, a plan, a change. Data and tables are not read as sentences:
    those of a summary are compared with all records of that identity, those of a shown result by
    *changed*.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic hallucinations: facts put together wrongly)
    """
    findings: list[Finding] = []
    naming = summaries = 0
    for own in evidence.own_texts:
        records = evidence.session.records
        if isinstance(own, RewrittenResult):
            data, is_read = [], changes_of(own).is_read
        else:
            data, is_read = [*_of_other_records(own)], True
        lines = own.new_lines if is_read and records.by_identity else ()
        prose = [line for line in lines if not _DATA.match(line) and records.names_any(line)]
        names = bool(prose or data)
        naming += names
        summaries += names and not isinstance(own, RewrittenResult)
        findings += data[:1] or _of_another_record(own, prose)
    return check_of(findings, naming, summaries)


def _of_another_record(own: OwnText, prose: list[str]) -> list[Finding]:
    """The first sentence that gives a record another record's value; [] without one."""
    records, mentions = own.session.records, own.session.mentions
    for item in chain.from_iterable(map(records.contradictions, prose)):
        named = records.named(item.words)
        if not any(mentions.together(item.stated, identity) for identity in named):
            return [Finding(own.step, item.words, f"{item.own}, not {item.stated}")]
    return []


def _of_other_records(own: OwnText) -> Iterator[Finding]:
    """Yield the values in a summary's data that no record of that identity has."""
    records, mentions = own.session.records, own.session.mentions
    if "{" not in own.text or not records.by_identity:
        return
    if not any(map(records.names_any, own.text.split("\n"))):
        return
    parts = (
        part
        for part in _data_parts(own.text)
        if "{" in part and not mentions.verbatim(part[: notice_at(part)])
    )
    data = chain.from_iterable(map(containers_in, parts))
    for table in (FieldTable(_without_quotes(value, mentions.verbatim)) for value in data):
        for pairs in map(table.pairs, range(table.record_count)):
            values = {text.casefold() for _, text in pairs}
            if _is_call(own, pairs):
                continue
            for item in records.contradicted(pairs, values):
                named = values & records.by_identity.keys()
                if any(mentions.together(item.stated, identity) for identity in named):
                    continue  # a call, as it was made
                yield Finding(own.step, item.words, f"{item.own}, not {item.stated}")


def _without_quotes(value: Any, is_quoted: Callable[[str], bool]) -> Any:
    """A value without the sentences that a message has word for word.

    >>> _without_quotes([{"role": "user", "content": "Send it to Ann Lee"}], lambda text: "Ann" in text)
    [{'role': 'user', 'content': ''}]
    """
    if isinstance(value, dict):
        return {key: _without_quotes(item, is_quoted) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_quotes(item, is_quoted) for item in value]
    is_long = isinstance(value, str) and value.count(" ") >= _QUOTED_BLANKS
    return "" if is_long and is_quoted(value) else value


def _is_call(own: OwnText, pairs: Iterable[Pair]) -> bool:
    """True if data are a recorded call in the format of an interface: they have its id, and no
    other value for an argument.
    """
    stated = dict(pairs)
    calls = (call for step in own.session.trace.model_turns for call in step.tool_calls)
    call = next((call for call in calls if call.id in stated.values()), None)
    arguments = call.arguments if call is not None else None
    return isinstance(arguments, Mapping) and all(
        stated[name] in map(as_text, nested(value))
        for name, value in arguments.items()
        if name in stated
    )


def _data_parts(text: str) -> Iterator[str]:
    """Yield the lines that open data with a key, each alone, since truncated data end there, and
    the lines between them.
    """
    between: list[str] = []
    for line in text.split("\n"):
        if _OPENS.search(line):
            yield "\n".join(between)
            yield line
            between = []
        else:
            between.append(line)
    yield "\n".join(between)
