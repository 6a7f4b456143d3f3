"""A report as one HTML page.

No network, readable on a phone, in the dark, on paper and without its script.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files

from .blocks import (
    Block,
    Cell,
    Chart,
    Code,
    Column,
    Drawing,
    Figures,
    Fold,
    Gallery,
    Gate,
    Gates,
    Gauge,
    Heading,
    Line,
    Pair,
    Prose,
    Report,
    Row,
    Scatter,
    Section,
    Sentence,
    SideBySide,
    Span,
    Sweep,
    Table,
    Text,
    plain,
)  # fmt: skip
from .drawing import safe, shape
from .svg import svg

ENDINGS = (".html", ".htm")
_TONES = {"good": "adv", "bad": "rej", "muted": "mut", "": ""}
_WIDE, _NARROW = 700, 350


def render(reports: Sequence[Report]) -> Iterator[str]:
    """The page of one report, or of an overview with the reports under it, in pieces."""
    first = reports[0]
    script, style = _file("page.js"), _file("page.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    title = f"{first.title}: {first.verdict}" if first.verdict else first.title
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<meta name="referrer" content="no-referrer">\n'
    yield f"<title>{safe(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    yield '<a class="skip" href="#main">Skip to the answer</a>\n<div class="page">\n'
    about = f'<p class="mut">{safe(first.about)}</p>' if first.about else ""
    yield f"<header><h1>{breakable(first.title)}</h1>\n{about}</header>\n"
    sections = [(section.anchor, section.name) for section in first.sections]
    sections += [("reports", "In full")] if len(reports) > 1 else []
    links = "".join(f'<li><a href="#{anchor}">{safe(name)}</a></li>' for anchor, name in sections)
    yield f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n' if len(first.sections) > 1 else ""
    yield '<main id="main" tabindex="-1">\n'
    for section in first.sections:
        yield _section(section)
    if len(reports) > 1:
        yield '<section id="reports"><h2>Each question in full</h2><div class="stack">\n'
        yield from (_whole(report, number) for number, report in enumerate(reports[1:], 1))
        yield "</div></section>\n"
    footer = f"<footer>{safe(first.footer)}</footer>\n" if first.footer else ""
    yield f"</main>\n{footer}</div>\n<script>{script}</script>\n</body>\n</html>\n"


@functools.cache
def _file(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def breakable(text: str) -> str:
    """A name, escaped, that a line may be broken at after `/`, `_`, `=`, `:` and `,`."""
    escaped = safe(text)
    return re.sub(r"[/_=]|[:,](?=\w)(?!\d)", r"\g<0><wbr>", escaped) if len(text) > 18 else escaped


def _section(section: Section, prefix: str = "", level: int = 2) -> str:
    heading = (
        f"<h{level}>{safe(section.heading)}</h{level}>"
        if section.heading
        else f'<h{level} class="vh">{safe(section.name)}</h{level}>'
    )
    inner = _blocks(section.blocks, min(6, level + 1))
    return f'<section id="{prefix}{section.anchor}">{heading}\n{inner}</section>\n'


def _whole(report: Report, number: int) -> str:
    """One report of several, closed until somebody asks for it."""
    inner = "".join(_section(section, f"s{number}-", 4) for section in report.sections)
    about = f'<p class="mut">{safe(report.about)}</p>'
    head = f"<summary><h3>{breakable(report.title)}</h3></summary>"
    return f'<details class="whole" id="s{number}">{head}{about}\n{inner}</details>\n'


def _blocks(blocks: Iterable[Block], level: int) -> str:
    """Blocks one after the other; a heading takes what follows it into one group."""
    groups: list[list[str]] = [[]]
    headed = False
    for block in blocks:
        if isinstance(block, Heading):
            groups.append([])
            headed = True
        elif isinstance(block, Fold | Sentence):
            groups.append([])
            headed = False
        groups[-1].append(_block(block, level))
        if not headed:
            groups.append([])
    shown = (group for group in groups if group)
    return "\n".join(group[0] if len(group) == 1 else f'<div class="stack">{"".join(group)}</div>' for group in shown)


def _block(block: Block, level: int) -> str:
    match block:
        case Sentence(text):
            return f'<p class="say">{rich(text)}</p>'
        case Prose(text):
            muted = (
                not isinstance(text, str) and len(text) == 1 and isinstance(text[0], Span) and text[0].tone == "muted"
            )
            return f'<p class="mut">{safe(plain(text))}</p>' if muted else f"<p>{rich(text)}</p>"
        case Heading(text):
            return f"<h{level}>{rich(text)}</h{level}>"
        case Figures():
            return _figures(block, level)
        case Table():
            return _table(block)
        case Drawing(chart, title, note):
            head = f"<h{level}>{safe(title)}</h{level}>" if title else ""
            side = f'<p class="mut">{safe(note)}</p>' if note else ""
            return f'<div class="stack">{head}<div class="side"><div>{_both(chart)}</div>{side}</div></div>'
        case Gallery(items):
            shown = "".join(
                f'<figure><figcaption><span class="tag">{_sign(mark)}<b>{breakable(name)}</b></span><br><span>{safe(line)}</span></figcaption>{svg(chart, 230)}</figure>'
                for mark, name, line, chart in items
            )
            return f'<div class="multi">{shown}</div>'
        case SideBySide():
            return _side_by_side(block, level)
        case Gates(items):
            return f'<ol class="gates">{"".join(_gate(gate, level) for gate in items)}</ol>'
        case Code(label, text):
            return f'<p class="use"><span>{safe(label)}</span> <code>{breakable(text)}</code></p>'
        case Fold(title, blocks):
            return f"<details><summary>{breakable(title)}</summary>\n{_blocks(blocks, level)}</details>"
        case Pair(left, right):
            return f'<div class="two"><div class="stack">{"".join(_block(one, level) for one in left)}</div><div class="stack">{"".join(_block(one, level) for one in right)}</div></div>'
    raise AssertionError(block)


def rich(text: Text) -> str:
    """A text with its spans, as HTML."""
    if isinstance(text, str):
        return breakable(text) if " " not in text else safe(text)
    return "".join(safe(item) if isinstance(item, str) else _span(item) for item in text)


def _span(span: Span) -> str:
    inner, tone = (breakable(span.text) if span.code else safe(span.text)), _TONES[span.tone]
    if span.lost:
        return f"<mark>{inner}</mark>"
    if span.href:
        return f'<a href="{safe(span.href)}">{inner}</a>'
    looks = f' class="{tone}"' if tone else ""
    if span.code:
        return f"<code{looks}>{inner}</code>"
    return f"<b{looks}>{inner}</b>" if span.strong else f"<span{looks}>{inner}</span>" if tone else inner


def _sign(mark: str) -> str:
    return f'<svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">{shape(7, 8, mark, 4.5)}</svg>'  # type: ignore[arg-type]


def _both(chart: Chart) -> str:
    """A chart for a wide screen and for a phone."""
    wide, narrow = (380, 340) if isinstance(chart, Gauge) else (_WIDE, _NARROW)
    if not isinstance(chart, Gauge | Scatter | Sweep):
        wide = _WIDE
    return svg(chart, wide).replace("<svg ", '<svg class="wid" ', 1) + svg(chart, narrow).replace(
        "<svg ", '<svg class="nar" ', 1
    )


def _figures(block: Figures, level: int) -> str:
    items = "".join(
        f'<div><dt>{breakable(item.name)}</dt><dd class="big {_TONES[item.tone]}">{safe(item.value)}</dd>'
        f"<dd>{breakable(item.line)}{'<br>' if item.line and item.note else ''}"
        f"{f'<span class=mut>{safe(item.note)}</span>' if item.note else ''}</dd></div>"
        for item in block.items
    )
    figures = f'<dl class="figs">{items}</dl>'
    if block.chart is None:
        return figures
    caption = f'<p class="mut">{safe(block.caption)}</p>' if block.caption else ""
    return f'<div class="lead">{figures}<div class="stack"><h{level}>{safe(block.title)}</h{level}>{_both(block.chart)}{caption}</div></div>'


# ---------------------------------------------------------------- tables


def _table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col"{_looks(column, table)}>{breakable(column.title)}</th>' for column in table.columns
    )
    bodies, body = [], ""
    for row in table.rows:
        if row.group:
            bodies.append(body)
            body = f'<tr class="g"><th scope="rowgroup" colspan="{len(table.columns)}">{safe(row.group)}</th></tr>'
        body += _row(row, table)
    bodies.append(body)
    inner = "".join(f"<tbody>{body}</tbody>" for body in bodies if body)
    extra = " every" if table.look == "numbers" else ""
    look = {
        "cards": f"cards c{min(4, sum(column.number for column in table.columns)) or 1}",
        "plain": "",
    }.get(table.look, table.look)
    caption = f'<p class="mut">{safe(table.caption)}</p>' if table.caption else ""
    named = f'tabindex="0" role="group" aria-label="{safe(table.name)}"'
    return f'<div class="scroll{extra}" {named}><table class="{look}"><thead><tr>{heads}</tr></thead>{inner}</table></div>{caption}'


def _looks(column: Column, table: Table) -> str:
    number = column.number and table.look != "numbers"
    names = [*(["n"] if number else []), *(["hide"] if column.card == "-" else [])]
    return f' class="{" ".join(names)}"' if names else ""


def _row(row: Row, table: Table) -> str:
    cells = "".join(
        _cell(cell, column, table, place == 0)
        for place, (cell, column) in enumerate(zip(row.cells, table.columns, strict=False))
    )
    return f"<tr{' class=on' if row.chosen else ''}>{cells}</tr>"


def _cell(cell: Cell, column: Column, table: Table, first: bool) -> str:
    note = f"<small>{breakable(cell.note)}</small>" if cell.note else ""
    tone = _TONES[cell.tone]
    if first:
        text = breakable(plain(cell.text)) if isinstance(cell.text, str) else rich(cell.text)
        inner = f'<span class="tag">{_sign(cell.mark)}<span>{text}</span></span>' if cell.mark else text
        return f'<th scope="row" class="w">{inner}{note}</th>'
    if cell.chart is not None:
        drawn = svg(cell.chart, 190 if table.name != "Everything that moved" else 200)
        return f'<td class="hide">{drawn}</td>'
    if table.look == "grid":
        inner = rich(cell.text)
        return f'<td><i class="l{cell.heat}">{inner}</i></td>' if cell.heat else f"<td><i>{inner}</i></td>"
    names = [
        *(
            ["n"]
            if column.number and table.look != "numbers"
            else ["w"]
            if table.look == "cards" and column.card != "-"
            else []
        ),
        *(["hide"] if column.card == "-" else []),
    ]
    name = column.card or column.title
    empty = not plain(cell.text) and not cell.note
    data = f' data-l="{safe(name)}"' if table.look == "cards" and name.strip("- ") and not empty else ""
    look = f' class="{" ".join(names)}"' if names else ""
    text = f'<span class="{tone}">{rich(cell.text)}</span>' if tone and not cell.note else rich(cell.text)
    if note and tone:
        note = note.replace("<small>", f'<small class="{tone}">')
    return f"<td{look}{data}>{text}{note}</td>"


# ---------------------------------------------------------------- prompts and gates


def _side_by_side(block: SideBySide, level: int) -> str:
    left = _side(block.left_title, block.left, level)
    if not block.right_title:
        return f'<div class="diff one">{left}</div>'
    return f'<div class="diff">{left}{_side(block.right_title, block.right, level)}</div>'


def _side(title: str, lines: Sequence[Line], level: int) -> str:
    looks = {"-": "x", "+": "y", "": ""}
    shown = "".join(_diff_line(line, looks[line.sign]) for line in lines)
    body = f"<ol>{shown}</ol>" if shown else '<p class="mut">no message</p>'
    return f"<div><h{min(6, level + 1)}>{breakable(title)}</h{min(6, level + 1)}>{body}</div>"


def _diff_line(line: Line, look: str) -> str:
    said = {"x": '<span class="vh">gone: </span>', "y": '<span class="vh">new: </span>'}.get(look, "")
    who = f'<span class="who">{safe(line.who)}</span> ' if line.who else ""
    return f'<li class="mono {look}">{said}{who}{rich(line.text)}</li>'


def _gate(gate: Gate, level: int) -> str:
    sign = '<span class="ok">✓</span>' if gate.passed else '<span class="rej">✕</span>'
    tone = "adv" if gate.passed else "rej"
    counts = f' <span class="mut">{safe(gate.counts)}</span>' if gate.counts else ""
    words = (
        f'<div class="stack"><h{level}>{sign} {safe(gate.name)}</h{level}>'
        f'<p><code>{breakable(gate.metric)}</code> <span class="mut">{safe(gate.condition)}</span></p>'
        f'<p><b class="{tone}">{safe(gate.change)}</b>{counts}</p></div>'
    )
    drawn = f"<div>{_both(gate.gauge)}</div>" if gate.gauge else ""
    return f'<li class="gate">{words}{drawn}</li>'
