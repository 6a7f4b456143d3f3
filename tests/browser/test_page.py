"""The page at three sizes, in the dark, on paper and by keyboard: nothing too small, outside, overlapping or unnamed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import PAGES

Visit = Callable[..., Any]
SMALL = """() => [...document.querySelectorAll('body *')].filter((node) => {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  return own && !node.closest('script, .vh, title') && node.checkVisibility() && parseFloat(getComputedStyle(node).fontSize) < 14;
}).map((node) => node.outerHTML.slice(0, 120))"""
OUTSIDE = """() => [...document.querySelectorAll('[role=img]')].filter((chart) => chart.checkVisibility()).flatMap((chart) => {
  const box = chart.getBoundingClientRect();
  return [...chart.querySelectorAll('.t')].filter((text) => {
    const own = text.getBoundingClientRect();
    return text.checkVisibility() && (own.left < box.left - 3 || own.right > box.right + 3);
  }).map((text) => text.textContent + ' in ' + chart.getAttribute('aria-label'));
})"""
OVERLAP = """() => [...document.querySelectorAll('[role=img]')].filter((chart) => chart.checkVisibility()).flatMap((chart) => {
  const texts = [...chart.querySelectorAll('.t')].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([a, one], at) => texts.slice(at + 1).filter(([, two]) =>
    one.left < two.right - 2 && two.left < one.right - 2 && one.top < two.bottom - 5 && two.top < one.bottom - 5
  ).map(([b]) => a + ' | ' + b));
})"""
CUT = """() => [...document.querySelectorAll('.scroll:has(.cards)')].filter((box) =>
  box.scrollWidth > box.clientWidth + 1).map((box) => box.ariaLabel + ' ' + box.scrollWidth)"""
EMPTY = """() => [...document.querySelectorAll('section, figure, .group, p, h1, h2, h3, h4, dd, li, .diff > div')].filter((node) =>
  !node.textContent.trim() && !node.querySelector('[role=img]')).map((node) => node.outerHTML.slice(0, 120))"""
UNNAMED = """() => [...document.querySelectorAll('svg, [role=img]')].filter((svg) => svg.getAttribute('aria-hidden') !== 'true'
  && !svg.getAttribute('aria-label')).length"""

each_page = pytest.mark.parametrize("name", PAGES)


@each_page
def test_no_element_is_too_small_overlapping_empty_or_unnamed(visit: Visit, name: str) -> None:
    page = visit(name)
    for width in (1440, 1241, 1024, 768, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALL) == [], width
        assert page.evaluate(OVERLAP) == [], width
        assert page.evaluate(OUTSIDE) == [], width
        assert page.evaluate(CUT) == [], width
    assert page.evaluate(EMPTY) == []
    assert page.evaluate(UNNAMED) == 0


@pytest.mark.parametrize("name", sorted({*PAGES} - {"eight", "thirty"}))  # which have more rows of what "failed" has
def test_the_axe_checker_finds_no_accessibility_problem(visit: Visit, name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(name)
    for scheme, width in (("light", 1440), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [(item["id"], item["nodes"][0]["html"][:160]) for item in found] == [], scheme


@each_page
def test_a_printed_page_has_the_open_sections_and_each_question(visit: Visit, name: str) -> None:
    page = visit(name, 718, media="print", folded=True)  # A4 within its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 722
    closed = "[...document.querySelectorAll('details:not(.full):not([open])')].filter((item) => item.checkVisibility()).length"
    assert page.evaluate(closed) == 0
    answers = page.locator("details.full .lead")
    assert [one.is_visible() for one in answers.all()] == [True] * page.locator("details.full").count()


def test_a_link_to_a_closed_section_opens_it(visit: Visit) -> None:
    page = visit("overview", anchor="#s2", folded=True)
    assert [page.locator("details.full").nth(at).get_attribute("open") is None for at in (0, 1)] == [True, False]
    page.locator("#answer tbody a").first.click()
    page.wait_for_function("document.querySelector('#s1').checkVisibility()")


def test_the_keyboard_reaches_every_control(visit: Visit) -> None:
    page = visit("failed", 1440, folded=True)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"A", "SUMMARY"} <= reached
