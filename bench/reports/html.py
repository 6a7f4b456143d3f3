"""The report as one self-contained HTML page: no network, readable on a phone, in the dark, on paper and without JavaScript.

Cases in full travel compressed inside the page and open on demand. The content security policy names the one script by its hash and allows
nothing remote and no `eval`.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..comparison.advice import RUN_TODAY
from ..text.wording import visible
from . import NOTHING, PanelBlocks, Section, renderer
from .blocks import OUTCOMES
from .figures import scenarios_sentence, scenarios_table
from .html_blocks import BlocksHtml, inert_json
from .page_parts import Glossary, breakable, table_html
from .words import in_words, told

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

STROKES = {"solid": "none", "dashed": "6 3", "dotted": "2 3"}  # dash patterns of lines by their names in CSS
GREYS = 5  # the shades of grey that the style sheet has
MOST_OPEN = 3  # the most gates that did not pass at the head of a page


@renderer("html", endings=(".html", ".htm"))
def html(sections: Sequence[Section]) -> Iterator[str]:
    """Every panel on one page that opens from disk and loads nothing: first what decides, then all of it, cases on demand."""
    compared = [section.comparison for section in sections]
    of_all = (getattr(item, of) for of in ("contenders", "brackets") for item in compared)
    names = [*dict.fromkeys(name for of_one in of_all for name in of_one)]
    classes = {name: f"s{number}" for number, name in enumerate(names)}
    glossary, script = Glossary(), _file("page.js")
    several = len(sections) if len(sections) > 1 else 0
    return (
        _environment()
        .get_template("page.html.j2")
        .generate(
            title=" · ".join(section.name for section in sections),
            script_hash=_safe(source_hash(script)),
            script=_safe(script),
            style=_safe(_file("style.css")),
            looks=_safe(looks(names, sections)),
            several=several,
            sentence=scenarios_sentence([section.comparison for section in sections]) if several else "",
            overview=_safe(_overview(sections, glossary)) if several else "",
            body=_body(sections, classes, glossary),
            glossary=glossary,
            names=_safe(inert_json([visible(name) for name in names])),
            outcomes=OUTCOMES,
            most_open=MOST_OPEN,
            nothing=NOTHING,
            in_words=lambda of, verdict: in_words(told(verdict), verdict.metric, of.metrics.get(verdict.metric)),
        )
    )


def _body(
    sections: Sequence[Section], classes: dict[str, str], glossary: Glossary
) -> Iterator[tuple[Section, list[tuple[PanelBlocks, Markup]]]]:
    """Each section with its panels as HTML, made when the page comes to it."""
    room = 0
    for number, section in enumerate(sections, 1):
        blocks = BlocksHtml(section, classes, glossary, room, f"c{number}")
        yield section, [(panel, _safe(blocks.html(panel.blocks))) for panel in section.panels]
        room = blocks.packed_bytes


def _safe(text: str) -> Markup:
    """HTML that is made here, and not to be escaped again."""
    from markupsafe import Markup

    return Markup(text)


def source_hash(script: str) -> str:
    """The name of an inline script in a content security policy: `'sha256-…'` of its text.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'"


def looks(names: Sequence[str], sections: Sequence[Section]) -> str:
    """The colours and strokes of every strategy as a style sheet: greys told apart by shade and stroke, a colour for what each section advises
    and for what runs today."""
    strokes = list(STROKES.items())
    rules = []
    for at in range(len(names)):
        stroke, dash = strokes[at % len(strokes)]
        rules.append(f".s{at} {{ --series: var(--g{at % GREYS}); --stroke: {stroke}; --dash: {dash}; }}")
    for number, section in enumerate(sections, 1):
        for name, colour in {section.comparison.advice.named: "advised", RUN_TODAY: "today"}.items():
            if name in names:
                marked = f"--series: var(--{colour}); --mark: var(--{colour}); --stroke: solid; --dash: none;"
                rules.append(f"#c{number} .s{names.index(name)} {{ {marked} }}")
    return "\n".join(rules)


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
    """Every text that the template prints, made safe to look at; escaping comes after this."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _file(name: str) -> str:
    """A file of the page as it is: nothing is put into it, so that its hash is known."""
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _overview(sections: Sequence[Section], glossary: Glossary) -> str:
    """A row for each of several comparisons, the name a link to it."""
    table = table_html(scenarios_table([(item.name, item.comparison) for item in sections]), {}, "", glossary)
    for at, section in enumerate(sections, 1):
        name = f'<tr><td class="left">{breakable(section.name)}</td>'
        link = f'<tr><td class="left"><a href="#c{at}">{breakable(section.name)}</a></td>'
        table = table.replace(name, link, 1)
    return table
