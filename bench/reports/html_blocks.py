"""Blocks as HTML. Every text that is not written here goes through `shown`, which escapes it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from ..model import Kept, Rows, Span
from ..text.wording import quantity, visible
from . import Section
from .blocks import (
    Beside,
    Block,
    Cases,
    Cell,
    Chart,
    Column,
    Excerpt,
    Figures,
    Fold,
    Path,
    Point,
    PromptBrowser,
    Prose,
    SideBySide,
    Table,
    needed,
    number,
)
from .charts import class_of, svg
from .page_parts import Glossary, label, place, shown, table_html

MAX_OPEN = 3  # the results of a panel or case that stand open

MAX_DETAILS_BYTES = 48_000_000
"""The most bytes of a page for cases that open on demand; later cases are then named only, and the page says how to get them."""

FEW = 3  # up to how many later needs of a result are listed openly


def packed(text: str) -> str:
    """A text as base64 of its zlib-compressed UTF-8, which a browser unpacks with `DecompressionStream("deflate")`.

    >>> unpacked(packed("a < b"))
    'a < b'
    """
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 6)).decode("ascii")


def unpacked(block: str) -> str:
    """The text of a packed block."""
    return zlib.decompress(base64.b64decode(block)).decode("utf-8")


def inert_json(value: Any) -> str:
    """A value as JSON that can stand inside a script element: no text in it can close the element or open a comment.

    >>> inert_json({"a": "</script><!--"})
    '{"a":"\\\\u003c/script>\\\\u003c!--"}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


class BlocksHtml:
    """The blocks of one section while they are written. `prefix` keeps its ids apart; `packed_bytes` grows from what the page has already."""

    def __init__(
        self, section: Section, classes: dict[str, str], glossary: Glossary, packed_bytes: int, prefix: str
    ) -> None:
        self.scenario = visible(section.name)
        self.classes, self.glossary, self.packed_bytes, self.prefix = classes, glossary, packed_bytes, prefix
        self.results = self.opened = 0

    def html(self, blocks: Sequence[Block]) -> str:
        """The blocks of one panel or case."""
        self.opened = 0
        return "".join(map(self._block, blocks))

    def _block(self, block: Block) -> str:
        match block:
            case Prose():
                return f'<p class="prose {block.tone}">{self.glossary.prose(block.text, block.terms)}</p>\n'
            case Table():
                return table_html(block, self.classes, self.scenario, self.glossary)
            case Figures():
                return f'<dl class="figures">{"".join(map(_figure, block.items))}</dl>\n'
            case Chart():
                return self._chart(block)
            case SideBySide():
                return self._side_by_side(block)
            case Fold():
                return f"<details><summary>{shown(block.title)}</summary>\n{''.join(map(self._block, block.blocks))}</details>\n"
            case Beside():
                return f'<div class="beside">{"".join(f"<div>{self._block(inner)}</div>" for inner in block.blocks)}</div>\n'
            case Path():
                return _path(block)
            case PromptBrowser():
                return f'<div class="prompts"><script type="application/json">{inert_json(block.data)}</script></div>\n'
            case Excerpt():
                return f'<h4>{shown(block.title)}</h4><pre tabindex="0">{shown(block.text)}</pre>\n'
            case Cases():
                return "".join(self._cases(block))

    def _chart(self, chart: Chart) -> str:
        """The drawing, its sentence, and the numbers of a line chart; those of a scatter are in the table beside it."""
        case = "" if chart.case is None else f' data-case="{shown(chart.case)}"'
        legend = data = ""
        if chart.kind == "line":
            names = (label(name, {name: class_of(name, at, self.classes)}) for at, name in enumerate(chart.series))
            legend, table = f'<p class="legend">{" ".join(names)}</p>', self._block(numbers(chart))
            data = f'<details class="numbers"><summary>The numbers of this chart</summary>\n{table}</details>'
        return (
            f'<figure class="{chart.kind}"{case}><figcaption>{shown(chart.title)}</figcaption>\n{svg(chart, self.classes)}'
            f'{legend}<p class="caption">{shown(chart.text)}</p>\n{data}</figure>\n'
        )

    def _place(self, case: str, strategy: str | None = None, step: int | None = None) -> str:
        return shown(place(self.scenario, visible(case), None if strategy is None else visible(strategy), step))

    def _side_by_side(self, block: SideBySide) -> str:
        """A result untruncated beside what each strategy kept; a fact that was needed and the step that needed it lead to each other."""
        self.opened += 1
        self.results += 1
        result = block.result
        named = {item.fact for kept in result.kept for item in kept.needed_at}
        sight = dict.fromkeys(span.text for span in result.untruncated if span.kind == "needed")
        links = {fact: f"{self.prefix}r{self.results}-{at}" for at, fact in enumerate(sight) if fact in named}
        told: set[str] = set()
        kept = "".join(self._kept(item, block.case, links, told) for item in result.kept)
        return (
            f'<details class="result"{" open" if self.opened <= MAX_OPEN else ""}><summary>{shown(block.title)}</summary>\n'
            f'<p class="caption"><a href="#{self._place(block.case)}">the whole case</a></p>\n'
            f'<div class="sides"><div class="side"><h4>Untruncated</h4>{_text(result.rows, result.untruncated, links)}</div>\n'
            f'<div class="side">{kept}</div></div></details>\n'
        )

    def _kept(self, kept: Kept, case: str, links: dict[str, str], told: set[str]) -> str:
        parts = [f'<div class="kept"><h4>{label(kept.strategy, self.classes)} <small>{shown(kept.where)}</small></h4>']
        parts.append(_text(kept.rows, kept.text, {}))
        if kept.lost_total:
            facts = " ".join(
                f"<code>{shown(fact)}</code>{' <small>(behind a handle)</small>' if fact in kept.retrievable else ''}"
                for fact in kept.lost
            )
            more = " …" if kept.lost_total > len(kept.lost) else ""
            parts.append(f'<p class="lostlist"><b>Lost {kept.lost_total}:</b> {facts}{more}</p>')
        if kept.said:
            parts.append(f'<ul class="said">{"".join(f"<li>{shown(said)}</li>" for said in kept.said)}</ul>')
        later = [self._need(step, facts, kept.strategy, case, links, told) for step, facts in needed(kept.needed_at)]
        if len(later) == 1:
            parts.append(f'<p class="needs"><b>Needed later:</b> {later[0]}</p>')
        elif later:
            items, is_open = "".join(f"<li>{item}</li>" for item in later), " open" if len(later) <= FEW else ""
            head = "<summary><b>Needed later</b></summary>"
            parts.append(f'<details class="needs"{is_open}>{head}<ul>{items}</ul></details>')
        return "".join([*parts, "</div>\n"])

    def _need(
        self, step: int, facts: Sequence[str], strategy: str, case: str, links: dict[str, str], told: set[str]
    ) -> str:
        """One later step with the facts that it needed."""

        def fact_html(fact: str) -> str:
            if fact not in links:
                return f"<code>{shown(fact)}</code>"
            name = "" if fact in told else f' id="{links[fact]}-by"'
            told.add(fact)
            return (
                f'<a class="fact"{name} href="#{links[fact]}-at" title="to where it was"><code>{shown(fact)}</code></a>'
            )

        where = self._place(case, strategy, step)
        return f'<a href="#{where}" title="the prompt of that step">step {step}</a> needed {", ".join(map(fact_html, facts))}'

    def _cases(self, block: Cases) -> Iterator[str]:
        """The table of cases, and each case with its compressed details; empty ones from where the page is full."""
        yield f'<div class="cases">\n{self._block(block.table)}<div class="caseview" tabindex="-1" hidden></div>\n'
        yield '<p class="caption nojs">Opening a case needs JavaScript; the tables and the worst results above do not.</p>\n'
        outside = self.prefix, self.results
        self.prefix += "d"
        for detail in block.details:
            full = self.packed_bytes > MAX_DETAILS_BYTES
            data = "" if full else packed(self.html(detail.make()))
            self.packed_bytes += len(data)
            kind = "text/plain" if full else "application/octet-stream"
            yield f'<script type="{kind}" data-case="{shown(detail.case)}">{data}</script>\n'
        self.prefix, self.results = outside
        yield "</div>\n"


def numbers(chart: Chart) -> Table:
    """The numbers of a line chart, one row a place on the x axis, which leads to its step where it has one."""
    at: dict[float, dict[str, Point]] = {}
    for point in chart.points:
        at.setdefault(point.x, {})[point.series] = point

    def cell(point: Point | None) -> Cell:
        if point is None:
            return Cell("")
        return Cell(quantity(point.y, chart.y_unit), detail=point.note if point.mark else "")

    def first(x: float) -> Cell:
        step = next((point.step for point in at[x].values() if point.step is not None), None)
        return Cell(quantity(x, chart.x_unit), case=None if step is None else chart.case, step=step)

    columns: tuple[Column, ...] = (number(chart.x_title), *(number(name, strategy=name) for name in chart.series))
    return Table(columns, tuple((first(x), *(cell(at[x].get(name)) for name in chart.series)) for x in sorted(at)))


def _figure(item: Any) -> str:
    said = "".join(f" <span>{shown(text)}</span>" for text in item.said)
    return f'<div class="{item.tone}"><dt>{shown(item.question)}</dt><dd><strong>{shown(item.answer)}</strong>{said}</dd></div>'


def _path(block: Path) -> str:
    """The decisions of one run, the wrong turns marked."""
    items = []
    for turn in block.turns:
        where = f"{turn.count} decisions from step {turn.step}" if turn.count > 1 else f"step {turn.step} {turn.router}"
        wrong = turn.expected is not None
        instead = f" <em>expected {shown(turn.expected or '')}</em>" if wrong else ""
        style, cross = (' class="wrong"', "✗ ") if wrong else ("", "")
        items.append(f"<li{style}><small>{shown(where)}</small> {cross}{shown(turn.taken)}{instead}</li>\n")
    return f'<figure class="decisions"><figcaption>{shown(block.title)}</figcaption><ol class="path">{"".join(items)}</ol></figure>\n'


def _text(rows: Rows | None, spans: Sequence[Span], links: dict[str, str]) -> str:
    """A result as its rows where it has some, and as text."""
    text = _spans(spans, links)
    return f"{_rows(rows)}<details><summary>as text</summary>{text}</details>" if rows else text


def _spans(parts: Sequence[Span], links: dict[str, str]) -> str:
    found, marked = [], set()
    for span in parts:
        text = shown(span.text)
        if span.kind == "plain":
            found.append(text)
        elif span.kind == "gap":
            found.append(f'<span class="gap">{text}</span>')
        elif span.text in links:
            link = links[span.text]
            name = "" if span.text in marked else f' id="{link}-at"'
            marked.add(span.text)
            found.append(
                f'<mark class="needed"><a{name} href="#{link}-by" title="to the step that needed it">{text}</a></mark>'
            )
        else:
            found.append(f'<mark class="{span.kind}">{text}</mark>')
    return f'<pre tabindex="0">{"".join(found)}</pre>'


def _rows(block: Rows) -> str:
    """A structured result as a table, what is gone of it marked."""

    def gone(so: bool) -> str:
        return ' class="gone"' if so else ""

    names = ((gone(block.column_gone(at)), shown(name)) for at, name in enumerate(block.columns))
    heads = "".join(f'<th scope="col"{mark}>{name}</th>' for mark, name in names)
    body = "".join(
        f"<tr{gone(block.row_gone(at))}>"
        + "".join(f"<td{gone((at, column) in block.gone)}>{shown(text)}</td>" for column, text in enumerate(row))
        + "</tr>\n"
        for at, row in enumerate(block.rows)
    )
    return (
        f'<div class="scroll"><table class="rows"><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>'
        f'<p class="caption">{shown(block.caption)}</p>'
    )
