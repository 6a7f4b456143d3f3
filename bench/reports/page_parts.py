"""Parts of the page that are written by hand because there can be very many of them: tables, names and addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from ..text.wording import visible
from .blocks import Cell, Column, Table


def shown(text: str) -> str:
    """A text from outside as HTML that shows it and does nothing else.

    >>> shown("<b>\\u202e")
    '&lt;b&gt;⟨U+202E⟩'
    """
    return escape(visible(text)) if _OUTSIDE.search(text) else text


_OUTSIDE = re.compile(r"[^\n\t !#-%(-;=?-~]")  # anything but plain ASCII without the characters that HTML reserves


def place(scenario: str, case: str, strategy: str | None = None, step: int | None = None) -> str:
    """The address of a case in a page, as what follows `#`.

    >>> place("a & b", "x/1", "cut", 3)
    'scenario=a%20%26%20b&case=x%2F1&strategy=cut&step=3'
    """
    parts = (("scenario", scenario), ("case", case), ("strategy", strategy), ("step", step))
    return "&".join(f"{name}={_quoted(str(value))}" for name, value in parts if value is not None)


def _quoted(text: str) -> str:
    """A text for an address: everything but plain letters, digits and `-_.~` as percent-encoded UTF-8."""
    return re.sub(rb"[^\w.~-]", lambda found: b"%%%02X" % found[0][0], text.encode("utf-8", "replace")).decode("ascii")


def label(name: str, classes: Mapping[str, str]) -> str:
    """The name of a strategy with its colour."""
    return f'<span class="strategy {classes.get(name, "")}">{shown(name)}</span>'


@dataclass
class Glossary:
    """The explanations that a page holds, each once and numbered from 1; every place that needs one opens it, and on paper names its number."""

    said: dict[str, int] = field(default_factory=dict)

    def button(self, term: str, explanation: str, text: str) -> str:
        """A button around a text that opens an explanation, with its number for paper."""
        number = self.said.setdefault(explanation, len(self.said) + 1)
        about = "" if text == term else f' aria-label="what is {shown(term)}"'
        return (
            f'<button type="button" class="term" popovertarget="w{number}" title="{shown(explanation)}"{about}>{shown(text)}</button>'
            f'<sup class="paper">{number}</sup>'
        )

    def prose(self, text: str, terms: Sequence[tuple[str, str]]) -> str:
        """A text in which each term is a button where it stands first."""
        places = ((re.search(rf"{re.escape(term)}\w*", text), said) for term, said in terms)
        found = sorted((place.start(), -len(place[0]), place[0], said) for place, said in places if place)
        parts, at = [], 0
        for start, _, term, said in found:
            if start >= at:
                parts += [shown(text[at:start]), self.button(term, said, term)]
                at = start + len(term)
        return "".join([*parts, shown(text[at:])])


LONG = 20  # from how many characters on a word may be broken
SHADES = (0.0, 0.02, 0.05, 0.2, 0.5)  # the shares lost up to which a field has each shade; above the last the darkest


def shade(lost: float) -> int:
    """The shade of a field by the share that was lost in it, 0 for nothing to 5.

    >>> [shade(lost) for lost in (0.0, 0.001, 0.03, 0.1, 0.5, 0.9)]
    [0, 1, 2, 3, 4, 5]
    """
    return next((number for number, most in enumerate(SHADES) if lost <= most), len(SHADES))


def breakable(text: str) -> str:
    """A text from outside in which a line may break within words that are too long for a column, after a slash, dot or underscore.

    >>> breakable("a.b of runs/building_model/survey.jsonl")
    'a.b of runs/<wbr>building_<wbr>model/<wbr>survey.<wbr>jsonl'
    """
    if len(text) <= LONG:
        return shown(text)
    words = shown(text).split(" ")
    return " ".join(re.sub(r"(?<=\w)([/_.])(?=\w)", r"\1<wbr>", word) if len(word) > LONG else word for word in words)


def table_html(table: Table, classes: Mapping[str, str], scenario: str, glossary: Glossary) -> str:
    """A table with its footnotes and caption."""
    notes = {note: number for number, note in enumerate(table.footnotes(), 1)}

    def head(column: Column) -> str:
        unit = f" <small>{shown(column.unit)}</small>" if column.unit else ""
        asked = glossary.button(column.title, column.explained, "?") if column.explained else ""
        looks = f"{column.align} {classes.get(column.strategy or '', '')}".strip()
        return f'<th scope="col" class="{looks}">{breakable(column.title)}{unit}{asked}</th>'

    def cell(item: Cell, column: Column) -> str:
        text = breakable(item.text) if item.strategy is None else label(item.strategy, classes)
        if item.case is not None:
            text = f'<a href="#{shown(place(scenario, visible(item.case), step=item.step))}">{text}</a>'
        note = f"<sup>{notes[item.note]}</sup>" if item.note else ""
        detail = f" <small>{shown(item.detail)}</small>" if item.detail else ""
        bar = "" if item.bar is None else f'<span class="part" style="width:{item.bar * 100:.0f}%"></span>'
        tone = "" if item.tone == "plain" else f" {item.tone}"
        lost = "" if item.lost is None else f" h{shade(item.lost)}"
        values = "|".join("" if value is None else f"{value:g}" for value in item.sorts)
        by = f' data-by="{values}"' if item.sorts else ""
        return f'<td class="{column.align}{tone}{lost}"{by}>{text}{note}{detail}{bar}</td>'

    heads = "".join(map(head, table.columns))
    rows = "\n".join(f"<tr>{''.join(map(cell, row, table.columns))}</tr>" for row in table.rows)
    listed = "".join(f"<li>{shown(note)}</li>" for note in notes)
    sorts = f' data-sorts="{shown("|".join(table.sorts))}"' if table.sorts else ""
    return (
        f'<div class="table"><div class="scroll"><table{sorts}>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
        + (f'<ol class="notes">{listed}</ol>' if notes else "")
        + (f'<p class="caption">{shown(table.caption)}</p>' if table.caption else "")
        + "</div>\n"
    )
