"""The page in a real browser: nothing loaded, nothing wrong, and everything it offers done by mouse, keyboard and address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from compared import HOSTILE

from bench.text.wording import visible

Visit = Callable[..., Any]
DRAWN = "figure.scatter svg"
RANKING = ".panel-ranking .beside > div > .table table"
CASE = "#scenario=Two%20strategies%20by%20hand&case=case%20cut&strategy=cut&step=3"


def drawn(page: Any) -> None:
    """Opens every scenario, and brings its first chart into sight."""
    page.evaluate("document.querySelectorAll('details.whole').forEach((item) => { item.open = true; })")
    page.locator("article figure.scatter").first.scroll_into_view_if_needed()
    page.locator(DRAWN).first.wait_for()


@pytest.mark.parametrize("name", ["two", "hostile", "several"])
def test_page_draws_its_charts_and_opens_every_case_without_a_word(visit: Visit, name: str) -> None:
    page = visit(name)
    drawn(page)
    for link in page.locator(".cases tbody a").all():
        link.press("Enter")  # charts are drawn above it meanwhile, so that a click may miss
        view = link.locator("xpath=ancestor::div[@class='cases']").locator(".caseview")
        view.locator(".opened", has_text=link.inner_text()[:20]).wait_for()
        assert view.locator("table").count()


def test_hostile_names_are_names(visit: Visit) -> None:
    page = visit("hostile")
    drawn(page)
    shown = page.locator("#highlight option").all_inner_texts()[1]
    assert " ".join(shown.split()) == " ".join(visible(HOSTILE).split())
    page.select_option("#highlight", index=1)
    assert page.locator(f"{RANKING} tbody tr.dim").count() == 2
    assert page.locator("img, iframe, object").count() == 0


def test_columns_sort_by_value_both_ways_and_say_so(visit: Visit) -> None:
    page = visit("two")
    drawn(page)
    head = page.locator(f"{RANKING} th", has_text="tokens a run")
    cells = page.locator(f"{RANKING} tbody td:nth-child(2)")
    head.locator("button.sort").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [text.replace("\u202f", "") for text in cells.all_inner_texts()] == ["750", "750", "1500"]
    head.locator("button.sort").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert [text.replace("\u202f", "") for text in cells.all_inner_texts()] == ["1500", "750", "750"]
    assert "descending" in page.locator("#said").inner_text()


def test_rows_are_filtered_by_words(visit: Visit) -> None:
    page = visit("many")
    page.locator(".cases table").scroll_into_view_if_needed()
    page.fill(".cases input[type=search]", "case_017")
    assert page.locator(".cases > .table tbody tr:visible").count() == 10
    assert page.locator(".cases .count").inner_text() == "10 of 200"


def test_a_table_is_copied_as_csv(visit: Visit) -> None:
    page = visit("two")
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    page.locator(".panel-ranking .copy").first.click()
    lines = page.evaluate("window.copied").splitlines()
    assert lines == ["strategy,tokens a run,turns that miss something,verdict", "mask,750,none,ship it",
                     "keep_all,1500,none,qualifies", "cut,750,50%,loses too much:"]  # fmt: skip


def test_an_address_opens_a_case_at_a_step_under_a_strategy(visit: Visit) -> None:
    page = visit("two", CASE)
    page.locator(".prompts select").first.wait_for()
    assert page.locator("#highlight").input_value() == "cut"
    assert page.locator(".caseview .opened").inner_text().startswith("case cut")
    chosen = page.locator(".prompts select").nth(2)
    assert chosen.input_value() == "3"
    page.get_by_role("button", name="earlier").click()
    assert chosen.input_value() == "1"
    assert page.url.endswith("case=case%20cut&strategy=cut&step=1")


def test_an_address_without_a_scenario_finds_the_case(visit: Visit) -> None:
    page = visit("several", "#case=case%20two")
    page.locator(".opened", has_text="case two").wait_for()


def test_an_address_of_nothing_says_so(visit: Visit) -> None:
    page = visit("two", "#case=nowhere&strategy=nobody&step=x")
    page.wait_for_function("document.querySelector('#said').textContent.includes('no case nowhere')")


def test_of_a_long_run_the_nearest_prompt_that_is_kept_is_shown_and_the_page_says_so(visit: Visit) -> None:
    page = visit("long", "#case=long&strategy=mask&step=300")
    chosen = page.locator(".prompts select").nth(2)
    chosen.wait_for()
    kept = [
        int(value) for value in chosen.locator("option").evaluate_all("options => options.map((item) => item.value)")
    ]
    assert int(chosen.input_value()) == max(step for step in kept if step <= 300)
    assert page.locator(".prompts .caption").inner_text().startswith(f"{len(kept)} of 261 model calls are kept")
    assert page.locator(".prompts details.message").count() > 200, "of that prompt every message"
    assert page.locator(".prompts details.message.differs").count() > 100


def test_a_click_on_a_chart_shows_the_prompt_of_that_step(visit: Visit) -> None:
    page = visit("two")
    chart = page.locator(".panel-window figure.line:has(.mark)").first
    chart.scroll_into_view_if_needed()
    chart.locator("svg .mark[data-step]").last.click()
    page.locator(".caseview .prompts select").first.wait_for()
    assert "step=3" in page.url


def test_a_lost_fact_and_the_step_that_needed_it_lead_to_each_other(visit: Visit) -> None:
    page = visit("two")
    page.locator("mark.needed a").first.click()
    page.wait_for_url(lambda url: url.endswith("#c1r1-0-by"))
    page.locator("#c1r1-0-by").click()
    page.wait_for_url(lambda url: url.endswith("#c1r1-0-at"))
    page.locator(".panel-losses .needs a").first.click()
    page.locator(".caseview .prompts select").first.wait_for()


def test_one_strategy_stands_out_everywhere(visit: Visit) -> None:
    page = visit("two")
    drawn(page)
    page.select_option("#highlight", "mask")
    assert page.locator(f"{RANKING} tbody tr:not(.dim)").count() == 1
    assert page.locator(f"{DRAWN} .point").count() == 3
    assert page.locator(f"{DRAWN} .point:not(.dim)").count() == 1, "the one that is looked at"
    assert "strategy=mask" in page.url
    page.keyboard.press("Escape")
    assert page.locator("tr.dim").count() == 0


def test_the_keyboard_reaches_and_does_everything(visit: Visit) -> None:
    page = visit("two")
    page.locator(".panel-ranking .sort").first.wait_for()
    walked = []
    for _ in range(400):
        page.keyboard.press("Tab")
        where = page.evaluate(
            "(() => { const n = document.activeElement; return [n.id, n.tagName, n.className, n.textContent.slice(0, 20)]; })()"
        )
        if where[1] == "BODY":
            break
        walked.append(tuple(where))
    assert walked[0][0] == "highlight"
    assert walked[1][0] == "case"
    assert {"SELECT", "INPUT", "BUTTON", "A", "SUMMARY", "PRE"} <= {tag for _, tag, _, _ in walked}
    page.locator("#case").focus()
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    page.locator(".opened", has_text="case two").wait_for()
    page.locator(f"{RANKING} .sort").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator(f"{RANKING} th").nth(1).get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize(("name", "scheme"), [("two", "dark"), ("several", "light")])
def test_axe_finds_nothing_serious(visit: Visit, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(name, "#case=case%20cut&step=3", color_scheme=scheme)
    drawn(page)
    page.locator(".prompts select").first.wait_for()
    found = axe.run(page).response["violations"]
    told = [(item["id"], item["impact"], [node["html"][:150] for node in item["nodes"][:3]]) for item in found]
    assert [item for item in told if item[1] in ("serious", "critical")] == []


def test_dark_is_dark_and_paper_is_white(visit: Visit) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page = visit("two", color_scheme="dark")
    assert page.evaluate(ground) == "rgb(20, 23, 26)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert not page.locator("#tools").is_visible()
    assert page.pdf()[:5] == b"%PDF-"


def test_a_phone_scrolls_several_scenarios_in_one_direction(visit: Visit) -> None:
    page = visit("several", width=390)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_several_scenarios_are_one_table_and_open_from_it(visit: Visit) -> None:
    page = visit("several", folded=True)
    assert page.locator(".overview tbody tr").count() == 3
    assert page.locator("article figure.scatter").first.is_hidden()
    for at in (2, 0):
        page.locator(".overview tbody a").nth(at).click()
        page.wait_for_function(f"document.querySelectorAll('details.whole')[{at}].open")
        head = page.locator("article .title").nth(at).bounding_box()
        assert 0 <= head["y"] <= 120, "the head of what was chosen is at the top of the screen"
        page.evaluate("window.scrollTo(0, 0)")
    page.locator("article figure.scatter").first.wait_for()
    assert page.locator("details.whole[open]").count() == 2


def test_paper_holds_the_answer_and_no_excerpt(visit: Visit) -> None:
    page = visit("two", width=720)
    page.emulate_media(media="print")
    assert page.locator(".panel-ranking .prose").first.is_visible()
    assert not page.locator(".panel-losses pre").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 720


def test_without_javascript_tables_and_charts_are_there(visit: Visit) -> None:
    page = visit("two", java_script_enabled=False)
    assert page.locator(f"{RANKING} tbody tr").count() == 3
    assert page.locator("figure.scatter svg").is_visible()
    assert not page.locator("#tools").is_visible()
    assert page.locator(".nojs").is_visible()
    assert page.locator(".panel-losses mark.needed").is_visible()


NODES = "document.getElementsByTagName('*').length"


def test_of_many_cases_only_the_one_that_is_opened_is_drawn(visit: Visit) -> None:
    """What a browser has to lay out is counted: a table row a case and metric, and a case in full when it is asked for."""
    page = visit("many")
    drawn(page)
    assert page.locator(".cases > .table tbody tr").count() == 200
    before = page.evaluate(NODES)
    assert before < 80 * 200
    page.goto(page.url.partition("#")[0] + "#case=case_0177&strategy=mask_1&step=8")
    page.locator(".opened", has_text="case_0177").wait_for()
    assert 100 < page.evaluate(NODES) - before < 5000
    assert page.locator(".caseview").count() == 1


def test_an_address_with_a_strategy_makes_the_others_pale(visit: Visit) -> None:
    page = visit("many", "#case=case_0177&strategy=mask_1&step=8")
    page.locator(".opened", has_text="case_0177").wait_for()
    kept = page.locator(".caseview .kept")
    bright = page.locator(".caseview .kept:not(.dim) h4 .strategy").all_text_contents()
    assert set(bright) == {"mask_1"}
    assert len(bright) < kept.count()
