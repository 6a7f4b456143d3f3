"""The report as one self-contained HTML page: no network, readable on a phone, in the dark, on paper and without JavaScript.

What opens on demand (each case in full, the chart library) travels compressed inside the page. Texts from outside are escaped here or set as
text by the script; the content security policy names the two scripts by hash and allows nothing remote and no `eval`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..comparison.advice import RUN_TODAY
from ..model import Verdict
from ..text.wording import quantity, visible
from . import Section, renderer
from .blocks import (
    Block,
    Cases,
    Cell,
    Chart,
    Column,
    Point,
    Prose,
    SideBySide,
    Table,
    needed,
    number,
)
from .charts import Style, specification, styles, svg
from .page_data import chart_library, inert_json, packed, source_hash, why_undrawn
from .page_parts import Glossary, breakable, label, place, table_html
from .scenarios_table import scenarios_sentence, scenarios_table
from .words import in_words, told

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

MAX_OPEN = 3
MAX_DETAILS_BYTES = 48_000_000
"""The most bytes of a page for cases that open on demand; later cases are then named only, and the page says how to get them."""


@renderer("html", endings=(".html", ".htm"))
def html(sections: Sequence[Section]) -> str:
    """Every panel on one page that opens from disk and loads nothing: first what decides, then all of it, cases on demand."""
    return _Page(sections).whole()


def _safe(text: str) -> Markup:
    """HTML that is made here, and not to be escaped again."""
    from markupsafe import Markup

    return Markup(text)


class _Page:
    """One page while it is written: the looks of strategies, and the counters that keep ids apart. Templates call its public methods."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = sections
        ours, around = ([getattr(section.comparison, of) for section in sections] for of in ("contenders", "brackets"))
        self.names = list(dict.fromkeys(name for of in (*ours, *around) for name in of))
        self.classes = {name: f"s{number}" for number, name in enumerate(self.names)}
        self.glossary = Glossary()
        self.section, self.looks = sections[0], self.looks_of(0)
        self.undrawn = why_undrawn()
        self.drawn = self.details_bytes = self.opened = 0
        self.sides = {True: 0, False: 0}
        self.on_demand = False

    def whole(self) -> str:
        """The page."""
        script = _script()
        body = []
        for at, section in enumerate(self.sections):
            self.section, self.looks = section, self.looks_of(at)
            body.append((section, [(panel, self._blocks(panel.blocks)) for panel in section.panels]))
        overview = self._overview()
        library = chart_library() if self.drawn else ""
        hashes = [source_hash(text) for text in (script, library) if text]
        return self._rendered(
            "page.html.j2",
            body=body,
            overview=overview,
            explanations=self.glossary.said,
            sentence=scenarios_sentence([section.comparison for section in self.sections]),
            looks=[list(self.looks_of(at).values()) for at in range(len(self.sections))],
            names=self.inert([visible(name) for name in self.names]),
            title=" · ".join(section.name for section in self.sections),
            style=_safe(_environment().get_template("style.css").render()),
            script=_safe(script),
            library=_safe(packed(library)) if library else "",
            policy=" ".join(["script-src", *hashes]),
        )

    def looks_of(self, at: int) -> dict[str, Style]:
        """The looks of every strategy in one section: colour for what is advised there and what runs today."""
        return styles(self.names, self.sections[at].comparison.advice.named, RUN_TODAY)

    def _rendered(self, template: str, **given: Any) -> Markup:
        return _safe(_environment().get_template(template).render(page=self, **given))

    def _blocks(self, blocks: Sequence[Block]) -> Markup:
        self.opened = 0
        return self._rendered("blocks.html.j2", items=blocks)

    def _overview(self) -> Markup | str:
        """A row for each of several comparisons, the name a link to it."""
        if len(self.sections) < 2:
            return ""
        table = str(self.table(scenarios_table([(item.name, item.comparison) for item in self.sections])))
        for at, section in enumerate(self.sections, 1):
            name = f'<tr><td class="left">{breakable(section.name)}</td>'
            link = f'<tr><td class="left"><a href="#c{at}">{breakable(section.name)}</a></td>'
            table = table.replace(name, link, 1)
        return _safe(table)

    # ------------------------------------------------------------ for templates

    def kind(self, block: Block) -> str:
        """The name of the macro that shows a block."""
        return type(block).__name__

    def draw(self, chart: Chart) -> Markup | str:
        """The chart as it stands until the script draws it; inside what only the script opens, nothing."""
        self.drawn += 1
        return "" if self.on_demand else _safe(svg(chart, self.looks, f"c{self.drawn}-"))

    def spec(self, chart: Chart) -> Markup:
        """The data from which the script draws a chart."""
        at = {name: number for number, name in enumerate(chart.series)}
        return self.inert({
            "spec": specification(chart, self.looks, interactive=True),
            "series": [self.classes.get(name, "") for name in at],
            "names": [visible(name) for name in at],
            "points": [[at[p.series], p.step] for p in chart.points] if chart.case is not None else [],
            "scenario": visible(self.section.name),
            "case": None if chart.case is None else visible(chart.case),
        })  # fmt: skip

    def numbers(self, chart: Chart) -> Markup:
        """The numbers of a line chart as a table, one row a place on the x axis; those of a scatter are in the table beside it."""
        at = {(point.series, point.x): point for point in chart.points}

        def cell(point: Point | None) -> Cell:
            if point is None:
                return Cell("")
            return Cell(quantity(point.y, chart.y_unit), detail=point.note if point.mark else "")

        columns: tuple[Column, ...] = (number(chart.x_title), *(number(name, strategy=name) for name in chart.series))
        rows = tuple(
            (
                Cell(chart.x_names[int(x)] if chart.x_names else quantity(x, chart.x_unit)),
                *(cell(at.get((name, x))) for name in chart.series),
            )
            for x in sorted({point.x for point in chart.points})
        )
        return self.table(Table(columns, rows))

    def table(self, table: Table) -> Markup:
        """A table."""
        return _safe(table_html(table, self.classes, visible(self.section.name), self.glossary))

    def in_words(self, section: Section, verdict: Verdict) -> str:
        """A verdict without names of metrics."""
        return in_words(told(verdict), verdict.metric, section.comparison.metrics.get(verdict.metric))

    def explained(self, block: Prose) -> Markup:
        """A paragraph whose terms open their explanations."""
        return _safe(self.glossary.prose(block.text, block.terms))

    def strategy(self, name: str) -> Markup:
        """The name of a strategy with its colour."""
        return _safe(label(name, self.classes))

    def place(self, case: str, strategy: str | None = None, step: int | None = None) -> str:
        """The address of a case of this section."""
        return place(visible(self.section.name), visible(case), None if strategy is None else visible(strategy), step)

    def inert(self, value: Any) -> Markup:
        """A value as JSON inside a script element."""
        return _safe(inert_json(value))

    def opens(self) -> bool:
        """True if the next result stands open: the first few of a panel or case do."""
        self.opened += 1
        return self.opened <= MAX_OPEN

    needed = staticmethod(needed)

    def links(self, block: SideBySide) -> dict[str, Any]:
        """Ids of one result's facts: of the facts that a later step needed, those that are in sight on the left."""
        self.sides[self.on_demand] += 1
        sight = dict.fromkeys(span.text for span in block.result.untruncated if span.kind == "needed")
        prefix = f"{'d' if self.on_demand else ''}r{self.sides[self.on_demand]}"
        facts = {fact: f"{prefix}-{number}" for number, fact in enumerate(sight)}
        named = {item.fact for kept in block.result.kept for item in kept.needed_at}
        return {"facts": {fact: name for fact, name in facts.items() if fact in named}, "marked": set(), "told": set()}

    def cases(self, block: Cases) -> Iterator[tuple[str, Markup | str]]:
        """Every case with its compressed details; `""` from where the page is full."""
        for detail in block.details:
            if self.details_bytes > MAX_DETAILS_BYTES:
                yield visible(detail.case), ""
                continue
            self.on_demand = True
            data = packed(self._blocks(detail.make()))
            self.on_demand = False
            self.details_bytes += len(data)
            yield visible(detail.case), _safe(data)


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("bench.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _script() -> str:
    """The script of the page as it is in its file: nothing is put into it, so that its hash is known."""
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, "page.js")[0]


def _shown(value: Any) -> Any:
    """Every text that a template prints, made safe to look at; escaping comes after this."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
