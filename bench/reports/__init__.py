"""Reports: panels turn a comparison into blocks, formats write the same blocks as a page or as
text.

A panel is one file in `panels/`; a format is one file here with a `render` function.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ..comparison.reasons import FIGURES, figure_in_words, losses_in_words
from ..comparison.rules import GAINS
from ..comparison.sentence import LOSES, is_unknown_today, todays_in_words
from ..comparison.wording import costs
from ..model.advice import TODAY
from ..model.compared import Compared
from ..model.errors import BenchError
from .blocks import Report
from .gates import failed_sentence
from .numbers import change, count, counted, listed
from .overview import overview
from .panels import answer, changes, losses, numbers, trust
from .reading import VERDICT, Reading

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
    return Report(title_of(compared), _about(reading), line, sections, _short(reading))


def title_of(compared: Compared) -> str:
    """The title of a comparison; without one the question that it answers."""
    names = [name for name in compared.strategies if name != TODAY]
    if compared.title or not names:
        return compared.title or "Which strategy?"
    if len(names) == 1:
        return f"Which is better: {names[0]} or what runs today?"
    return f"Which of {count(len(names))} strategies is best?"


def first_line(compared: Compared) -> str:
    """The first line of every output: the gates that failed, else the sentence of the advice."""
    reading = Reading(compared)
    failed = " ".join(failed_sentence(reading)) if reading.failed_gates else ""
    return failed or compared.advice.sentence


def _short(reading: Reading) -> str:
    """The first line in a few words, for one row among others: the verdict, and its main figures."""
    if reading.failed_gates:
        first, text = reading.failed_gates[0], failed_sentence(reading)[0]
        about = f"`{first.strategy}`: {reading.label(first.rule.metric)}" if first.strategy else ""
        return f"{text.rstrip('.')} ({about})" if about else text
    sentence, item = reading.advice.sentence, reading.subject
    verdict = VERDICT.search(sentence)
    if verdict is None or item is None:
        return sentence
    head, price = sentence[: verdict.end() - 1], reading.price(item)
    is_advised = item.strategy == reading.advice.advised
    figures = []
    if reading.compared.answers != "savings":
        rules = [rule for rule in item.rules if rule.rule == reading.compared.answers]
        asked = [rule for rule in rules if rule.metric in FIGURES and rule.value is not None][:1]
        todays = [todays_in_words(item, rule) for rule in asked]
        figures = [*map(figure_in_words, asked), *filter(None, todays)]
    elif is_advised:
        interval = f" [{reading.interval(price)}]" if price and price.interval else ""
        figures = [f"{change(price.ratio)}{interval}"] if price else []
        figures += filter(None, [losses_in_words(item, reading.advice)])
    else:
        economy = reading.pricing.economy and f" {reading.pricing.economy}"
        figures = [f"would {costs(price, '')}{economy}"] if price else []
        doubts = {**LOSES, "not certain": "that is not certain"}
        figures += [f"but {doubts[item.verdict]}"] if item.verdict in doubts else []
    if not is_advised:  # the answer before the verdict may be about it
        is_named = f"`{item.strategy}`" in sentence[: verdict.start()]
        return head if is_named else f"{head}: `{item.strategy}` {', '.join(figures)}".rstrip()
    if item.rules and item.rules[-1].rule in GAINS:
        is_fewer = reading.counts_tokens and item.rules[-1].rule == "cheaper"
        gain = f"certainly {'fewer tokens' if is_fewer else item.rules[-1].rule}"
        figures[:1] = [", ".join([gain, *figures[:1]])]
    return f"{head}: {'; '.join(figures)}" if figures else head


def _about(reading: Reading) -> str:
    """The subject of a comparison in one line: data, model, runs, strategies, baseline."""
    compared, facts = reading.compared, [run.facts for run in reading.runs]
    formats = Counter(item.format for item in facts if item.format)
    models = Counter(item.model or "unknown model" for item in facts)
    models = Counter() if [*models] == ["unknown model"] else models
    kinds = [listed([name for name, _ in names.most_common()], 2) for names in (formats, models)]
    kinds[0] = f"recordings in {kinds[0]} format" if formats else ""
    data = ", ".join(filter(None, kinds))
    others = sum(name != TODAY for name in compared.strategies)
    is_known = not any(map(is_unknown_today, reading.ranked))
    against = " against what runs today" if is_known else "; what runs today is not recorded"
    against = f"{counted(others, 'strategy', 'strategies')}{against}"
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
    """A report in a format: html, markdown, json or csv."""
    return "".join(pieces(comparisons, form))
