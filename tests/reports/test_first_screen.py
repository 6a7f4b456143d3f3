"""What a reader sees first: the answer and nothing to look up; the grid of cases; losses by their cause."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import msgspec
import pytest
from compared import comparison

import bench
from bench.evidence.losses import UNUSED, causes
from bench.metrics import metrics
from bench.model import Cause, Comparison, Missed, Sample, ToolResult
from bench.plugins.registry import entries
from bench.reports import build_blocks, rendered
from bench.reports.blocks import Cases, Cell, Column, Table, simple
from bench.reports.page_parts import Glossary, table_html
from bench.reports.words import in_words
from bench.text.wording import quantity

MASKED = ["cut=summarizer=truncate:limit=60", "mask=compactor=mask_observations:keep_last=1"]


class _Seen(HTMLParser):
    """The words of a page outside what stands under `details`, scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words = ""
        self.hidden: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in ("details", "script", "style", "title"):
            self.hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and tag == self.hidden[-1]:
            self.hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words += data


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return bench.compare(
        ["traces/building_model"], MASKED, title="walls", gates=[{"metric": "needed.recall", "min": 0.99}]
    )


@pytest.mark.slow
def test_no_metric_and_no_panel_is_named_outside_details(compared: Comparison) -> None:
    words = _Seen(rendered([compared], "html")).words
    assert "what is kept of what was needed is" in words, "the gate that fails is told in words"
    assert [name for name in metrics() if name in words] == []
    named = [name for name in entries("panel") if "_" in name and name in words]
    assert named == []


def test_every_term_of_the_sentence_is_explained_where_it_stands(compared: Comparison) -> None:
    page = rendered([compared], "html")
    answer = page[page.index('class="panel-ranking"') :]
    answer = answer[: answer.index("</p>")]
    asked = re.findall(r'popovertarget="(w\d+)" title="([^"]+)"', answer)
    assert asked
    for place, said in asked:
        assert f'<div popover id="{place}" class="word">{said}</div>' in page
        assert f"<li>{said}</li>" in page, "on paper it is a footnote"


def test_a_glossary_holds_an_explanation_once_and_marks_a_word_where_it_stands_first() -> None:
    glossary = Glossary()
    shown = glossary.prose("a <run> and a run", (("run", "one & all"), ("nowhere", "not used")))
    assert shown.count("<button") == 1
    assert shown.startswith("a &lt;<button")
    assert 'title="one &amp; all"' in shown
    assert glossary.button("run", "one & all", "?").count('popovertarget="w1"') == 1
    assert list(glossary.said) == ["one & all"]


def test_a_sentence_says_a_metric_in_words_and_leaves_longer_names_alone() -> None:
    assert in_words("a: x.y.z is 1, x.y is 2", "x.y", None) == "a: x.y.z is 1, x.y is 2"
    info = metrics()["routing.decisions"].info if "routing.decisions" in metrics() else None
    assert in_words("needed.recall.far is 1", "needed.recall", info) == "needed.recall.far is 1"
    assert in_words("needed.recall is 1", "needed.recall", None) == "what is kept of what was needed is 1"


# ---------------------------------------------------------------- the grid


def _grid(found: Comparison) -> Table:
    (panel,) = build_blocks(found, ["losses"])
    (cases,) = (block for block in panel.blocks if isinstance(block, Cases))
    return cases.table


def test_the_grid_has_a_field_a_case_and_strategy_with_what_it_sorts_by(compared: Comparison) -> None:
    table = _grid(compared)
    assert [column.strategy for column in table.columns[4:]] == ["cut", "mask"]
    assert {row[0].case for row in table.rows} == set(compared.case_ids)
    for row in table.rows:
        for name, field in zip(("cut", "mask"), row[4:], strict=True):
            kept = compared.value(name, "needed.recall", row[0].case)
            cost = compared.value(name, "cost.with_refetches_usd", row[0].case)
            tokens = compared.value(name, "cost.with_refetches_tokens", row[0].case)
            assert field.sorts == (
                kept,
                cost if field.detail.startswith("$") else tokens,
                compared.value(name, "needed.faults", row[0].case),
            )
            assert field.lost == (None if kept is None else 1 - kept)
    lost = [row[2].lost for row in table.rows if row[2].lost is not None]
    assert lost == sorted(lost, reverse=True), "the worst case first"


def test_a_field_is_darker_the_more_was_lost_and_says_what_it_sorts_by() -> None:
    row = (Cell("a"), Cell("50%", lost=0.5, sorts=(0.5, None, 3.0)))
    page = table_html(
        Table((Column("case"), Column("s")), (row,), sorts=("kept", "cost", "faults")), {}, "", Glossary()
    )
    assert '<td class="left h4" data-by="0.5||3">50%</td>' in page
    assert 'data-sorts="kept|cost|faults"' in page


# ---------------------------------------------------------------- causes


def _sample(step: int, fact: str, kind: str, source: int, origin: str = "result") -> Sample:
    detail = Missed(fact=fact, kind=kind, source=source, origin=origin, distance=2)
    return Sample(numerator=0.0, denominator=1.0, step=step, detail=detail)


def test_losses_are_grouped_by_what_was_lost_of_whose_words() -> None:
    results = {step: ToolResult(index=step, call_id=str(step), function="list_walls", seen="") for step in (2, 4, 6)}
    half = Sample(numerator=1.0, denominator=2.0, step=2)
    found = causes(
        {
            "cut": {
                "needed.recall": [
                    _sample(9, "4711", "number", 2),
                    _sample(11, "a.csv", "path", 4),
                    _sample(11, "b.csv", "path", 4),
                ],
                "loss.rows_kept.end": [half, Sample(numerator=2.0, denominator=2.0, step=4)],
                "loss.fact_recall.end": [half, msgspec.structs.replace(half, step=6)],
            },
            "mask": {"needed.recall": [_sample(9, "4711", "number", 2), _sample(9, "Level 3", "name", 1, "user")]},
        },
        results,
    )
    assert found == (
        Cause(what="paths", function="list_walls", strategies=("cut",), results=1, missed=2, step=4),
        Cause(what="names", function="", origin="user", strategies=("mask",), results=1, missed=1, step=1),
        Cause(what="numbers", function="list_walls", strategies=("mask",), results=1, missed=1, step=2),
        Cause(what="rows of tables", function="list_walls", strategies=("cut",), results=1, missed=1, step=2),
        Cause(what=UNUSED, function="list_walls", strategies=("cut",), results=1, missed=0, step=6),
    )
    assert causes({}, {}) == ()


def test_causes_of_all_cases_are_one_table_of_the_ten_worst() -> None:
    found = comparison()
    many = tuple(
        Cause(what="rows of tables", function=f"f{number:02}", strategies=("cut",), results=2, missed=number, step=2)
        for number in range(12)
    )
    cases = tuple(msgspec.structs.replace(case, causes=many) for case in found.cases)
    (panel,) = build_blocks(msgspec.structs.replace(found, cases=cases), ["losses"])
    table = next(block for block in panel.blocks if isinstance(block, Table))
    assert len(table.rows) == 10
    assert table.caption == "The worst 10; 2 more causes."
    assert [cell.text for cell in table.rows[0][:5]] == ["rows of tables in results of f11", "2", "4", "22", "cut"]
    assert table.rows[0][5].case == found.cases[0].id


def test_a_comparison_names_the_causes_of_its_losses(compared: Comparison) -> None:
    told = [cause for case in compared.cases for cause in case.causes]
    rows = [row for name in ("cut", "mask") if (row := compared.row(name, "needed.recall")) is not None]
    missed = sum(row.n * (1 - (row.value or 0.0)) for row in rows)
    assert missed > 0
    assert sum(cause.missed for cause in told) == pytest.approx(missed), (
        "every use that found its fact gone has a cause"
    )


def test_recall_by_distance_is_a_row_a_strategy(compared: Comparison) -> None:
    (panel,) = build_blocks(compared, ["losses"])
    blocks = list(simple(panel.blocks))
    shares = next(
        block for block in blocks if isinstance(block, Table) and "0–1 turns back" in {c.title for c in block.columns}
    )
    assert [row[0].text for row in shares.rows] == ["cut", "mask", "recorded", "keep_all"]
    for row in shares.rows:
        near = compared.value(row[0].text, "needed.recall.near")
        assert row[1].text == quantity(near, "fraction")
    assert "0–1 turns back" in rendered([compared], "html", ["losses"])
