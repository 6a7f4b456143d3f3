"""The page at three sizes and on paper, in a real browser: what a reader sees first, and nothing over or beside anything else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

Visit = Callable[..., Any]
ANSWER = ".panel-ranking > .prose"
TABLE = ".panel-ranking .beside > div > .table table"
CHART = ".panel-ranking figure.scatter svg"


def drawn(page: Any) -> None:
    page.locator(".panel-ranking figure").scroll_into_view_if_needed()
    page.locator(".panel-ranking figure svg").wait_for()
    page.evaluate("window.scrollTo(0, 0)")


def bottom(page: Any, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    return float(box["y"] + box["height"])


def apart(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two boxes do not lie over each other."""
    return (
        one["x"] + one["width"] <= other["x"] + 1
        or other["x"] + other["width"] <= one["x"] + 1
        or one["y"] + one["height"] <= other["y"] + 1
        or other["y"] + other["height"] <= one["y"] + 1
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_holds_the_answer_the_table_and_the_chart(visit: Visit, scheme: str) -> None:
    page = visit("walls", width=1440, color_scheme=scheme, folded=True)
    drawn(page)
    for selector in (ANSWER, TABLE, CHART):
        assert bottom(page, selector) <= 900, selector
    assert page.locator(f"{TABLE} th").count() <= 5
    assert apart(page.locator(TABLE).bounding_box(), page.locator(CHART).bounding_box())


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_a_smaller_screen_begins_with_the_answer(visit: Visit, width: int, height: int) -> None:
    page = visit("walls", width=width)
    drawn(page)
    assert bottom(page, ANSWER) <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_the_ranking_whole_and_no_name_letter_by_letter(visit: Visit) -> None:
    page = visit("walls", width=390)
    drawn(page)
    assert page.locator(TABLE).evaluate("table => table.getBoundingClientRect().right") <= 390
    assert page.locator(CHART).bounding_box()["width"] <= 390
    widths = page.locator(".cases tbody td:first-child").evaluate_all("cells => cells.map((cell) => cell.offsetWidth)")
    assert widths
    assert min(widths) >= 100


def test_paper_is_two_pages_and_nothing_lies_over_the_ranking(visit: Visit) -> None:
    page = visit("walls", width=703, folded=True)
    drawn(page)
    page.emulate_media(media="print")
    assert apart(page.locator(TABLE).bounding_box(), page.locator(CHART).bounding_box())
    assert page.locator("ol.words li").count() >= 5
    assert not page.locator(".panel-window").is_visible()
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4"))) <= 2


def test_all_of_it_is_printed_on_request(visit: Visit) -> None:
    page = visit("walls", width=1000)
    drawn(page)
    page.evaluate("window.print = () => { window.seen = document.documentElement.className; }")
    page.get_by_role("button", name="Print it all").click()
    assert "full" in page.evaluate("window.seen")
    page.emulate_media(media="print")
    assert page.locator(".panel-window").is_visible()


@pytest.mark.parametrize(("width", "media"), [(1400, "screen"), (360, "screen"), (900, "print")])
def test_names_that_no_line_breaks_at_widen_nothing(visit: Visit, width: int, media: str) -> None:
    page = visit("unbroken", width=width)
    page.emulate_media(media=media)
    page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["walls", "many"])
def test_names_in_the_chart_do_not_lie_over_each_other(visit: Visit, name: str) -> None:
    page = visit(name, width=1440)
    drawn(page)
    boxes = page.locator(f"{CHART} > text").evaluate_all(
        "texts => texts.map((text) => text.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) > 1
    assert [(one, other) for at, one in enumerate(boxes) for other in boxes[:at] if not apart(one, other)] == []


@pytest.mark.parametrize("script", [True, False])
def test_a_word_is_explained_by_a_click_with_and_without_javascript(visit: Visit, script: bool) -> None:
    page = visit("walls", java_script_enabled=script)
    term = page.locator(f"{ANSWER} .term").first
    word = page.locator(f"#{term.get_attribute('popovertarget')}")
    assert not word.is_visible()
    term.click()
    assert word.is_visible()
    assert word.inner_text() == term.get_attribute("title")


# ---------------------------------------------------------------- the grid


def test_a_field_of_the_grid_opens_its_case_under_its_strategy(visit: Visit) -> None:
    page = visit("walls")
    row = page.locator(".cases > .table tbody tr").first
    name = row.locator("td").first.inner_text()
    row.locator("td[data-by]").nth(1).click()
    page.locator(".caseview .opened", has_text=name).wait_for()
    assert "strategy=mask" in page.url


@pytest.mark.parametrize(("by", "at"), [("kept", 0), ("cost", 1), ("turns that missed something", 2)])
def test_the_grid_sorts_by_what_is_chosen(visit: Visit, by: str, at: int) -> None:
    page = visit("walls")
    page.select_option("select.by", label=by)
    page.locator(".cases th", has_text="cut").locator("button.sort").click()
    values = page.locator(".cases tbody td[data-by]:nth-child(5)").evaluate_all(
        f"cells => cells.map((cell) => Number(cell.dataset.by.split('|')[{at}]))"
    )
    assert len(values) > 2
    assert values in (sorted(values), sorted(values, reverse=True))


def test_without_javascript_many_cases_are_a_plain_table(visit: Visit) -> None:
    page = visit("many", java_script_enabled=False)
    assert page.locator(".cases > .table tbody tr").count() == 200
    assert page.locator(".cases .bar").count() == 0
    assert page.locator(ANSWER).first.is_visible()
    assert page.locator(".panel-window").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1400


# ---------------------------------------------------------------- prompts


def test_what_was_removed_is_marked_and_what_would_be_refused_is_red(visit: Visit) -> None:
    page = visit("walls", "#case=construction&strategy=broken")
    page.locator(".prompts .message").first.wait_for()
    assert page.locator(".prompts .message.removed").count() > 0
    red = page.locator(".prompts .message.refused > summary").first
    assert red.evaluate("node => getComputedStyle(node).color") == "rgb(196, 0, 0)"
    assert page.locator(".prompts small.refused").inner_text().count("invalid: ") == 1


def test_a_rewritten_message_shows_what_of_it_is_gone(visit: Visit) -> None:
    page = visit("walls", "#case=construction&strategy=cut")
    page.locator(".prompts .message.differs").first.wait_for()
    message = page.locator(".prompts .message.differs").first
    if not message.locator("del").count():
        message.locator("summary").click()
    message.locator("del").first.wait_for()
    gone = "".join(message.locator("del").all_inner_texts())
    other = page.locator(".prompts .message.differs").nth(1).locator("pre").inner_text()
    assert gone
    assert gone not in other, "the other side opens too, and does not hold it"
