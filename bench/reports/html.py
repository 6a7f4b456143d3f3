"""The report as one self-contained HTML page: no network, readable on a phone, in the dark, on paper and without JavaScript.

Cases in full travel compressed inside the page and open on demand. The content security policy names the one script by its hash and allows
nothing remote and no `eval`.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from ..comparison.advice import RUN_TODAY
from ..model import Comparison
from ..text.wording import visible
from . import NOTHING, PanelBlocks, Section, renderer
from .blocks import OUTCOMES
from .html_blocks import BlocksHtml, inert_json
from .page_parts import Glossary, breakable, shown, table_html
from .scenarios_table import scenarios_sentence, scenarios_table
from .words import in_words, told

STROKES = {"solid": "none", "dashed": "6 3", "dotted": "2 3"}
"""Dash patterns of lines by their names in CSS."""

GREYS = 5
"""The shades of grey that the style sheet has."""

MOST_OPEN = 3
"""The most gates that did not pass at the head of a page."""


@renderer("html", endings=(".html", ".htm"))
def html(sections: Sequence[Section]) -> Iterator[str]:
    """Every panel on one page that opens from disk and loads nothing: first what decides, then all of it, cases on demand."""
    names = list(
        dict.fromkeys(
            name for of in ("contenders", "brackets") for section in sections for name in getattr(section.comparison, of)
        )
    )  # fmt: skip
    classes = {name: f"s{number}" for number, name in enumerate(names)}
    glossary, script = Glossary(), _template("page.js")
    several = len(sections) > 1
    title = " · ".join(section.name for section in sections)
    policy = f"default-src 'none'; script-src {source_hash(script)}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    yield f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{shown(title)}</title>
<style>
{_template("style.css")}
{looks(names, sections)}
</style>
</head>
<body>
<div id="tools" role="toolbar" aria-label="This report" hidden></div>
<main>
"""
    if several:
        sentence = scenarios_sentence([section.comparison for section in sections])
        yield f'<header>\n<h1>{len(sections)} scenarios</h1>\n<p class="prose">{shown(sentence)}</p>\n'
        yield f'<div class="overview">{_overview(sections, glossary)}</div>\n</header>\n'
    room = 0
    for number, section in enumerate(sections, 1):
        blocks = BlocksHtml(section, classes, glossary, room, f"c{number}")
        yield from _article(number, section, blocks, several)
        room = blocks.packed_bytes
    yield '<p class="caption paper">On paper: what decides. Cases in full, excerpts and every number are on the page itself.</p>\n'
    if glossary.said:
        yield f'<ol class="paper words">{"".join(f"<li>{shown(said)}</li>" for said in glossary.said)}</ol>\n'
    yield "</main>\n"
    for said, at in glossary.said.items():
        yield f'<div popover id="w{at}" class="word">{shown(said)}</div>\n'
    yield '<p id="said" role="status"></p>\n'
    yield f'<script type="application/json" id="names">{inert_json([visible(name) for name in names])}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


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
        for name, colour in {RUN_TODAY: "today", section.comparison.advice.named: "advised"}.items():
            if name in names:
                marked = f"--series: var(--{colour}); --mark: var(--{colour}); --stroke: solid; --dash: none;"
                rules.append(f"#c{number} .s{names.index(name)} {{ {marked} }}")
    return "\n".join(rules)


def _template(name: str) -> str:
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


def _article(number: int, section: Section, blocks: BlocksHtml, several: bool) -> Iterator[str]:
    comparison = section.comparison
    heading = f"{shown(section.name)} {_badges(comparison)}"
    yield f'<article id="c{number}" data-scenario="{shown(section.name)}">\n'
    if several:
        yield f'<details class="whole"><summary><h2 class="title">{heading}</h2></summary>\n'
    yield f'<header class="top">\n{"" if several else f"<h1>{heading}</h1>"}\n'
    order = ("fail", "inconclusive")
    left = sorted(
        (item for item in comparison.verdicts if item.outcome in order), key=lambda item: order.index(item.outcome)
    )
    for verdict in left[:MOST_OPEN]:
        said = in_words(told(verdict), verdict.metric, comparison.metrics.get(verdict.metric))
        yield f'<p class="prose {OUTCOMES[verdict.outcome]}"><b>{verdict.outcome}</b> {shown(said)}</p>\n'
    if len(left) > MOST_OPEN:
        yield f'<p class="caption">and {len(left) - MOST_OPEN} more that did not pass.</p>\n'
    yield "</header>\n"
    for at, panel in enumerate(section.panels, 1):
        first = at == 1 or not (comparison.strategies or panel.detail)
        head = "h3" if several else "h2"
        yield _panel(
            panel, f"c{number}-{at}", blocks.html(panel.blocks), head, first, panel.name == "gates" and bool(left)
        )
    yield "</details>\n</article>\n" if several else "</article>\n"


def _badges(comparison: Comparison) -> str:
    counts = {outcome: sum(item.outcome == outcome for item in comparison.verdicts) for outcome in OUTCOMES}
    badges = [f'<span class="badge {OUTCOMES[name]}">{count} {name}</span>' for name, count in counts.items() if count]
    if comparison.strategies and not comparison.verdicts:
        badges = ['<span class="badge muted">no gates</span>']
    return "".join(badges)


def _panel(panel: PanelBlocks, place: str, inner: str, head: str, first: bool, unfolded: bool) -> str:
    """One panel: what decides stands open, the others are questions that open their answers."""
    title = f"<{head}>{shown(panel.title)}</{head}>"
    if panel.name == NOTHING:
        return f'<section id="{place}" class="panel-nothing">{inner}</section>\n'
    if first:
        above = "" if panel.name == "ranking" else title
        return f'<section id="{place}" class="panel-{panel.name}">\n{above}\n{inner}</section>\n'
    is_open = " open" if unfolded else ""
    return f'<details id="{place}" class="question panel-{panel.name}"{is_open}><summary>{title}</summary>\n{inner}</details>\n'
