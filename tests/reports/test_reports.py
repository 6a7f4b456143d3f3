"""Reports: every panel and format shows any comparison; what is shown is what was accepted."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from audits import audits
from comparisons import HOSTILE, anything, comparison, example_about
from hypothesis import HealthCheck, given, settings
from reports_gold import GOLD, current

from bench.model.audit import SessionAudit
from bench.model.compared import Compared, Skipped
from bench.model.errors import BenchError
from bench.reports import FORMATS, PANELS, first_line, format_of, rendered, report, reports
from bench.reports.audit import audit_rendered, audit_report
from bench.reports.audit.losses import UNSEEN
from bench.reports.blocks import Report, Section, Table, plain, table
from bench.reports.charts import Point
from bench.reports.naming import FIELDS, names
from bench.reports.reading import Reading
from bench.reports.text import WIDTH, in_full, render
from bench.text.wording import dollars

SIZES = {
    "judged": example_about, "stored": lambda: example_about("stored"), "routed": lambda: example_about("routed"),
    "one": lambda: comparison(1, 1), "failed": lambda: comparison(8, 27, gates="fail"), "passed": lambda: comparison(3, 12, gates="pass"),
    "thirty": lambda: comparison(30, 27), "tokens": lambda: comparison(3, 8, unit="tokens"), "hostile": lambda: comparison(4, 6, hostile=True, gates="fail"),
}  # fmt: skip


class Page(HTMLParser):
    """The ids, links and texts of a page; an unclosed tag is an error."""

    VOID = {"meta", "br", "wbr"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if given.get("id") else []  # type: ignore[list-item]
        self.links += [given["href"][1:]] if (given.get("href") or "").startswith("#") else []  # type: ignore[index]
        self.outside += [
            value or "" for name, value in attrs if name in ("src", "href") and not (value or "").startswith("#")
        ]
        assert not any(name.startswith("on") for name in given)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def checked_page(comparisons: list[Compared]) -> Page:
    """The page of some comparisons, whole: each id once, each link to one, nothing from outside."""
    page = Page(rendered(comparisons, "html"))
    assert len(page.ids) == len(set(page.ids))
    assert set(page.links) <= set(page.ids)
    assert page.outside == []
    assert "img" not in page.tags
    return page


def in_words(comparisons: list[Compared]) -> str:
    """The text of some comparisons on a terminal, with every section."""
    return "".join(render(reports(comparisons), verbose=True))


# ---------------------------------------------------------------- conformance


@given(compared=anything())
@settings(suppress_health_check=[*HealthCheck])
def test_any_comparison_is_shown_in_every_format(compared: Compared) -> None:
    for form in set(FORMATS.values()):
        assert rendered([compared], form) == rendered([compared], form)
    checked_page([compared])
    assert "None" not in in_words([compared]) or "None" in rendered([compared], "json")
    assert len(repr(compared)) < 500


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.__name__.rsplit(".", 1)[1])
@pytest.mark.parametrize("size", SIZES)
def test_a_panel_gives_sections_that_are_not_empty(panel: Any, size: str) -> None:
    sections = list(panel.sections(Reading(SIZES[size]())))
    assert all(isinstance(section, Section) and section.blocks and section.name for section in sections)


@pytest.mark.parametrize("size", SIZES)
def test_a_page_is_valid_and_shows_hostile_names_as_text(size: str) -> None:
    checked_page([SIZES[size]()])


def test_the_page_of_several_scenarios_has_a_report_for_each() -> None:
    several = [SIZES[name]() for name in SIZES]
    page = checked_page(several)
    assert {f"s{number}" for number in range(1, len(several) + 1)} <= set(page.ids)


@pytest.mark.parametrize("size", SIZES)
def test_the_first_line_is_the_same_everywhere(size: str) -> None:
    compared = msgspec.structs.replace(SIZES[size](), skipped=(Skipped(path="a.jsonl", reason="cut"),))
    shown = rendered([compared], "text") + rendered([compared], "markdown")
    assert shown.count("1 file was not read: `a.jsonl` (cut).") == 2
    line = first_line(compared)
    if size != "hostile":
        assert rendered([compared], "text").split()[-len(line.split()) :] == line.split()
    assert report(compared).verdict == line
    assert json.loads(rendered([compared], "json"))["first_line"] == line


@pytest.mark.parametrize("size", sorted(SIZES.keys() - {"hostile"}))  # a long name without a blank cannot be broken
def test_lines_of_the_terminal_report_have_a_maximal_width(size: str) -> None:
    lines = in_words([SIZES[size]()]).splitlines()
    assert max(map(len, lines)) <= WIDTH + 40


def test_a_letter_that_takes_two_columns_counts_as_two() -> None:
    cut = table("Sizes", ["行", "size"], [["結果の記録", "1"], ["short", "23"]])
    assert "".join(in_full([Report("", "", "", (Section("a", "", (cut,)),))])).splitlines()[-4:-1] == [
        "─" * 17, "結果の記録      1", "short          23",
    ]  # fmt: skip


# ---------------------------------------------------------------- values


def test_json_reads_back_as_the_comparison() -> None:
    compared = comparison(3, 6, gates="fail")
    assert msgspec.json.decode(rendered([compared], "json"), type=Compared) == compared
    assert len(json.loads(rendered([compared, compared], "json"))) == 2


def test_csv_has_every_number_once() -> None:
    compared = comparison(3, 6)
    rows = list(csv.DictReader(io.StringIO(rendered([compared], "csv"))))
    by_run = sum(len(score.numbers) for run in compared.runs for score in run.scores)
    assert len(rows) == by_run + sum(map(len, compared.totals.values()))
    (one,) = [row for row in rows if (row["strategy"], row["metric"], row["run"]) == ("csv", "cost.usd", "")]
    assert float(one["value"]) == compared.totals["csv"]["cost.usd"].value
    assert not any(row["strategy"].startswith(("=", "+", "@")) for row in rows)


def test_gates_that_were_not_measured_come_first_with_one_reason() -> None:
    compared, change = comparison(8, 27, gates="pass"), msgspec.structs.replace
    odd = (change(it, outcome="undecided", value=None, before=None, reason="no run was") for it in compared.gates[:3])
    found = change(compared, gates=(*odd, *compared.gates[3:]))
    assert report(found).sections[0].anchor == "gates"
    assert rendered([found], "text").count("no run was") == 2  # in the row of three gates and in the answer


def test_with_a_baseline_the_changes_come_first() -> None:
    anchors = [[section.anchor for section in report(SIZES[name]()).sections] for name in ("failed", "one")]
    assert anchors[0][0] == "gates"
    assert anchors[1][0] == "answer"


def test_runs_that_the_baseline_lacks_are_not_unchanged() -> None:
    compared = comparison(2, 12, gates="fail")
    with_new = msgspec.structs.replace(compared, new_runs=2)
    before, after = (" ".join(in_words([it]).split()) for it in (compared, with_new))
    assert "exact for these recordings" in before
    assert "without the 2 runs" in after
    assert all(f"from ${cost} to " in text for cost, text in (("0.148", before), ("0.177", after)))


def test_a_number_has_one_value_on_every_screen() -> None:
    compared = comparison(8, 27)
    page, text = rendered([compared], "html"), in_words([compared])
    figures = re.findall(r'<dd class="big[^"]*">([^<]*)</dd>', page)
    assert len(figures) == 3
    assert all(figure in text for figure in figures)


def test_prices_below_ten_cents_are_given_for_a_thousand_runs() -> None:
    runs = [Reading(comparison(3, 6, usd=usd)).pricing.runs for usd in (0.0645, 0.0999, 0.1, 2.0)]
    assert runs == [1000, 1000, 1, 1]


def test_a_label_covers_no_mark_and_no_other_label_and_the_first_has_room() -> None:
    places = {"ends-40": (10.3, 46.4), "": (12.2, 49.6), "a": (52.0, 60.0), "b": (53.0, 60.0), "c": (40.0, 60.0)}
    points = [Point(*place, "rejected", name, name) for name, place in places.items()]
    points.append(Point(50.0, 100.0, "today", "today", "today"))
    for field in FIELDS:
        found = names(points, field, 50.0, (43.6, "above 5%: loses too much"))
        boxes = [field.beside(name) for name in found]
        assert {name.text for name in found} == {"above 5%: loses too much", "today", *places}
        taken = [*map(field.around, points), *boxes]
        assert all(sum(map(box.overlaps, taken)) == 1 for box in boxes)  # itself


def test_an_unknown_file_ending_is_refused() -> None:
    assert format_of(Path("a.HTML")) == "html"
    for path in ("a.pdf", "a", "a.txt", "a.xml"):
        with pytest.raises(BenchError):
            format_of(Path(path))
    with pytest.raises(BenchError):
        rendered([], "html")


def test_hostile_text_is_shown_as_text() -> None:
    page = rendered([comparison(2, 4, hostile=True)], "html")
    assert "<img" not in page
    assert "\x1b" not in page + rendered([comparison(2, 4, hostile=True)], "text")
    assert HOSTILE not in page


# ---------------------------------------------------------------- audits


@pytest.mark.parametrize("form", ["html", "markdown", "json"])
@pytest.mark.parametrize("many", [0, 1, 2, 5])
@pytest.mark.parametrize("priced", [True, False])
def test_an_audit_of_any_sessions_is_shown_in_every_format(form: str, many: int, priced: bool) -> None:
    skipped = [Skipped(path="<b>.jsonl", reason="no run in it can be read")]
    shown = audit_rendered(audits(many, priced=priced), form, skipped)
    assert shown == audit_rendered(audits(many, priced=priced), form, skipped)
    if form == "html":
        page = Page(shown)
        assert set(page.links) <= set(page.ids)
    if form == "json":
        sessions = msgspec.json.decode(shown, type=dict[str, Any])["sessions"]
        assert msgspec.convert(sessions, list[SessionAudit]) == audits(many, priced=priced)


def test_every_harm_of_an_audit_states_its_limits() -> None:
    report_of = audit_report(audits(1))
    sections = {section.anchor: section for section in report_of.sections}
    for anchor, unseen in (("cache", ("cache",)), ("shortened", ("facts", "rules")), ("rereads", ("rereads",))):
        captions = [block.caption for block in sections[anchor].blocks if isinstance(block, Table)]
        assert captions
        assert all(caption for caption in captions)
        assert all(any(UNSEEN[name] in caption for caption in captions) for name in unseen)


def test_the_ten_most_expensive_results_stand_under_their_sessions() -> None:
    sessions = audits(3)
    (table,) = next(one for one in audit_report(sessions).sections if one.anchor == "dearest").blocks
    assert isinstance(table, Table)
    best = sorted((item.usd or 0 for session in sessions for item in session.dearest), reverse=True)[:10]
    assert sorted(plain(row[-1].text) for row in table.rows if not isinstance(row, str)) == sorted(map(dollars, best))


# ---------------------------------------------------------------- gold


@pytest.fixture(scope="module")
def now() -> dict[str, str]:
    return current()


def test_every_kind_of_report_has_a_gold_file(now: dict[str, str]) -> None:
    assert sorted(path.name for path in GOLD.iterdir()) == sorted(now), "make accept-gold"


@pytest.mark.parametrize("path", sorted(GOLD.glob("*")), ids=lambda path: path.name)
def test_a_report_equals_its_gold_file(path: Path, now: dict[str, str]) -> None:
    assert now[path.name] == path.read_bytes().decode(), "read the difference, then make accept-gold"
