"""Reports: panels say what a comparison shows as blocks, formats write the same blocks for a page, a terminal or a file.

A panel is one file in `panels/`; a format is one file here with a `render` function and the endings it writes.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from ..model.compared import Compared
from ..model.errors import BenchError, nearest
from . import panels
from .blocks import Report, Section, plain
from .gates import failed_sentence
from .numbers import listed, of
from .overview import overview
from .panels.answer import said
from .reading import Reading

FORMATS = {
    "html": ("html", (".html", ".htm")),
    "markdown": ("markdown", (".md",)),
    "text": ("terminal", (".txt",)),
    "json": ("json_file", (".json",)),
    "csv": ("csv_file", (".csv",)),
    "junit": ("junit", (".xml",)),
}
"""The formats: the module that writes each, and the endings of its files."""

_PLAIN = ("json", "csv", "junit")  # formats of values, which no panel makes


def panel_modules() -> list[ModuleType]:
    """Every panel of the folder, in the order of their names."""
    names = sorted(item.name for item in pkgutil.iter_modules(panels.__path__))
    return [importlib.import_module(f"{panels.__name__}.{name}") for name in names]


def report(compared: Compared, title: str = "") -> Report:
    """A comparison as a report: its panels in order, those with nothing to show left out."""
    reading = Reading(compared)
    modules = panel_modules()
    modules.sort(key=lambda panel: panel.order(reading) if hasattr(panel, "order") else panel.ORDER)
    sections: list[Section] = []
    for panel in modules:
        sections += panel.sections(reading)
    return Report(
        title or compared.title or "Which strategy?",
        about(reading),
        first_line(compared),
        tuple(sections),
        footer(reading),
    )


def first_line(compared: Compared) -> str:
    """The first line of every output: the gates that failed, else the sentence of the advice."""
    reading = Reading(compared)
    return " ".join(failed_sentence(reading)) if reading.failed else plain(said(reading))


def about(reading: Reading) -> str:
    """What a comparison is about, in one line.

    The data, the model, the runs, the strategies, the baseline.
    """
    compared, facts = reading.compared, [run.facts for run in reading.compared.runs]
    kinds = [name for name, _ in Counter(item.format for item in facts if item.format).most_common()]
    models = [name for name, _ in Counter(item.model for item in facts if item.model).most_common()]
    data = ", ".join(filter(None, [listed(kinds, 2) if kinds else "", listed(models, 2) if models else ""]))
    others = sum(name != compared.today for name in compared.strategies)
    held = f"{of(others, 'strategy', 'strategies')} against {'what runs today' if compared.today == 'recorded' else compared.today}"
    parts = [
        data,
        reading.size,
        held if others else "",
        f"baseline {compared.against}" if compared.against else "",
    ]
    return " · ".join(filter(None, parts))


def footer(reading: Reading) -> str:
    """The versions behind the numbers, in one line."""
    signature = reading.compared.signature
    parts = [f"bench {signature.bench_version}", *signature.encodings]
    parts += [f"prices of {signature.prices_date}"] if signature.prices_date else []
    return " · ".join((*parts, f"facts {signature.facts_version}", f"seed {signature.seed}"))


def reports(comparisons: Sequence[Compared]) -> tuple[Report, ...]:
    """The report of one comparison.

    Of several an overview, then each of them, the names told apart by a number.
    """
    titles: Counter[str] = Counter()
    found = []
    for compared in comparisons:
        title = compared.title or "Which strategy?"
        titles[title] += 1
        found.append(report(compared, title if titles[title] == 1 else f"{title} ({titles[title]})"))
    return tuple(found) if len(found) == 1 else (overview(comparisons, found), *found)


def format_of(path: Path, name: str | None = None) -> str:
    """The format of a file by its ending, or the named one. Raises BenchError for another."""
    if name is not None:
        if name not in FORMATS:
            raise BenchError(f"unknown format {name!r}{nearest(name, FORMATS)}")
        return name
    ending = path.suffix.lower()
    found = next((form for form, (_, endings) in FORMATS.items() if ending in endings), None)
    if found is None:
        known = [one for _, endings in FORMATS.values() for one in endings]
        raise BenchError(f"{path}: the ending decides the format — known: {', '.join(sorted(known))}")
    return found


def pieces(comparisons: Sequence[Compared], form: str) -> Iterator[str]:
    """A report in a format, piece by piece, so that a large one is never in memory as a whole.

    Raises BenchError where nothing was compared or the format is unknown.
    """
    if not comparisons:
        raise BenchError("nothing to report: no comparison was made")
    if form not in FORMATS:
        raise BenchError(f"unknown format {form!r}{nearest(form, FORMATS)}")
    writer = importlib.import_module(f"{__name__}.{FORMATS[form][0]}")
    yield from writer.render(comparisons if form in _PLAIN else reports(comparisons))


def rendered(comparisons: Sequence[Compared], form: str) -> str:
    """A report in a format: html, markdown, text, json, csv or junit."""
    return "".join(pieces(comparisons, form))
