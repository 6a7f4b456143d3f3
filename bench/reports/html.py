"""The report as one self-contained HTML page: no script, no network, readable on a phone, in the dark and on paper."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..blocks import Beside, Block, Chart, Fold, Prose, SideBySide, Table, visible
from ..charts import Style, styles, svg
from . import Section, brackets, contenders, renderer

if TYPE_CHECKING:
    import jinja2


@renderer("html", endings=(".html", ".htm"))
def html(sections: Sequence[Section]) -> str:
    """Every panel on one page that opens from disk and loads nothing: tables, folds, static charts, everything from outside escaped.

    Source: design §6
    """
    from markupsafe import Markup

    looks = _looks(sections)
    drawn = 0

    def draw(chart: Chart) -> Markup:
        nonlocal drawn
        drawn += 1
        return Markup(svg(chart, looks, f"c{drawn}-"))

    classes = {name: f"s{number}" for number, name in enumerate(looks)}
    template = _environment().get_template("page.html.j2")
    page: str = template.render(
        sections=sections,
        draw=draw,
        kind=_kind,
        classes=classes,
        looks=[(style.colour, style.stroke) for style in looks.values()],
        title=" · ".join(section.name for section in sections),
        style=Markup(_environment().get_template("style.css").render()),
    )
    return page


def _looks(sections: Sequence[Section]) -> dict[str, Style]:
    """One look a strategy name over the whole page, also where several comparisons have it."""
    declared = dict.fromkeys(name for section in sections for name in contenders(section.comparison))
    references = dict.fromkeys(name for section in sections for name in brackets(section.comparison))
    return styles(list(declared), [name for name in references if name not in declared])


def _kind(block: Block) -> str:
    kinds: dict[type, str] = {
        Prose: "prose", Table: "table", Chart: "chart", SideBySide: "side_by_side", Fold: "fold", Beside: "beside",
    }  # fmt: skip
    return kinds[type(block)]


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


def _shown(value: Any) -> Any:
    """Every text that a template prints, made safe to look at; escaping comes after this."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
