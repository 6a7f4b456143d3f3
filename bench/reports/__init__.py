"""Reports: panels turn a comparison into blocks, formats write the same blocks as a page or as
text.

A panel is one file in `panels/`; a format is one file here with a `render` function.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ..model.advice import TODAY
from ..model.compared import Compared
from ..model.errors import BenchError
from ..text.wording import counted, listed
from .blocks import Report
from .gates import failed_sentence
from .overview import overview
from .panels import answer, changes, losses, numbers, trust
from .reading import Reading

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json", ".csv": "csv"}
"""The format of a file, by its ending."""

_VALUES = ("json", "csv")  # formats of values, which have no panels

PANELS = (answer, changes, losses, trust, numbers)
"""The panels of a report in order; each has a function `sections`, which gives what it shows."""


def report(compared: Compared) -> Report:
    """A comparison as a report: its panels in order, without those that have nothing to show.

    The changes come first where a gate failed or something moved.
    """
    reading = Reading(compared)
    begins = changes if reading.failed_gates or compared.moves else answer
    panels = sorted(PANELS, key=lambda panel: panel is not begins)
    sections = tuple(section for panel in panels for section in panel.sections(reading))
    line = first_line(compared)
    answer_and_moves = compared.advice.short or line, changes.moved_in_words(reading)
    short = line if reading.failed_gates else " ".join(filter(None, answer_and_moves))
    title = compared.title or "Which strategy is best?"
    return Report(title, _about(reading), line, sections, short, bool(reading.failed_gates))


def first_line(compared: Compared) -> str:
    """The first line of every output: the gates that failed, else the sentence of the advice."""
    reading = Reading(compared)
    failed = " ".join(failed_sentence(reading)) if reading.failed_gates else ""
    return failed or compared.advice.sentence


def _about(reading: Reading) -> str:
    """The subject of a comparison in one line: data, model, runs, strategies, baseline."""
    compared, facts = reading.compared, [run.facts for run in reading.runs]
    formats = Counter(item.format for item in facts if item.format)
    models = Counter(item.model or "unknown model" for item in facts)
    models = Counter() if [*models] == ["unknown model"] else models
    kinds = [listed([name for name, _ in names.most_common()], 2) for names in (formats, models)]
    noun = "formats" if len(formats) > 1 else "format"
    kinds[0] = f"recordings in {kinds[0]} {noun}" if formats else ""
    data = ", ".join(filter(None, kinds))
    others = sum(name != TODAY for name in compared.strategies)
    against = f"{counted(others, 'strategy', 'strategies')} against what runs today"
    baseline = f"baseline {reading.against}" if reading.against else ""
    return " · ".join(filter(None, [data, reading.size, against if others else "", baseline]))


def reports(comparisons: Sequence[Compared]) -> tuple[Report, ...]:
    """The report of one comparison; for several, an overview and then a report for each."""
    each = tuple(map(report, comparisons))
    return each if len(each) == 1 else overview(comparisons, each)


def format_of(path: Path, among: Collection[str] = FORMATS.values()) -> str:
    """The format of a file by its ending. Raises BenchError for an ending of no format in
    `among`."""
    named = FORMATS.get(path.suffix.lower())
    if named is None or named not in among:
        known = ", ".join(sorted(ending for ending, form in FORMATS.items() if form in among))
        raise BenchError(f"{path}: no format has this ending — known: {known}")
    return named


def pieces(comparisons: Sequence[Compared], form: str) -> Iterator[str]:
    """A report in a format, piece by piece, so that a large one is never in memory at once.

    Raises BenchError where nothing was compared.
    """
    if not comparisons:
        raise BenchError("nothing to report: no comparison was made")
    module = f"{form}_file" if form in _VALUES else form
    writer = importlib.import_module(f"{__name__}.{module}")
    yield from writer.render(comparisons if form in _VALUES else reports(comparisons))


def rendered(comparisons: Sequence[Compared], form: str) -> str:
    """A report in a format: html, markdown, text, json or csv."""
    return "".join(pieces(comparisons, form))
