"""The page as HTML: what it carries, what it never does, and that everything in it leads somewhere."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from compared import comparison, hostile, unmeasured

from bench.model import Comparison
from bench.reports import rendered
from bench.reports.html import source_hash
from bench.reports.html_blocks import unpacked


class _Page(HTMLParser):
    """Every tag of a page with its attributes, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@functools.cache
def page_of(make: Callable[[], Comparison]) -> str:
    """The page of one comparison, made once."""
    return str(rendered([make()], "html"))


each = pytest.mark.parametrize("make", [comparison, hostile, unmeasured])


# ---------------------------------------------------------------- the page


@each
def test_page_loads_nothing(make: Callable[[], Comparison]) -> None:
    page = _Page(page_of(make))
    policy = next(found["content"] for tag, found in page.tags if tag == "meta" and "http-equiv" in found)
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    for tag, found in page.tags:
        assert tag not in ("iframe", "object", "embed", "link", "base", "form", "image", "use"), tag
        for name, value in found.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src", "srcset", "data", "action", "xlink:href", "poster"):
                assert value is not None
                assert value.startswith("#"), (tag, name, value)
            if name in ("style", "fill", "clip-path"):
                assert "url(" not in (value or "").replace("url(#", ""), (tag, name, value)


@each
def test_only_the_scripts_of_the_page_may_run(make: Callable[[], Comparison]) -> None:
    page = page_of(make)
    policy = page[page.index("script-src") : page.index("; style-src")]
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, flags=re.DOTALL)
    running = [text for attributes, text in scripts if "type=" not in attributes]
    assert len(running) == 1
    assert policy == "script-src " + " ".join(source_hash(text) for text in running)
    assert "eval(" not in running[0]


def test_hostile_text_stays_text_in_what_opens_on_demand() -> None:
    page = page_of(hostile)
    details = [unpacked(text) for text in re.findall(r"data-case=[^>]*>([^<]+)<", page)]
    assert len(details) == 2
    for detail in details:
        inert = re.sub(r'<script type="application/json"[^>]*>[^<]*</script>', "", detail)
        assert "<script" not in inert
        assert "alert(1)" in inert
        assert "\x1b" not in detail
        assert "\u202e" not in detail
        assert _Page(detail).open == []


@each
def test_page_is_well_formed_and_closes_what_it_opens(make: Callable[[], Comparison]) -> None:
    assert _Page(page_of(make)).open == []


def test_page_ids_are_unique() -> None:
    page = _Page(rendered([comparison(), comparison()], "html"))
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))
    links = {found["href"] for tag, found in page.tags if tag == "a"}
    to_cases = {link for link in links if link and "case=" in link}
    assert to_cases
    assert links - to_cases <= {f"#{name}" for name in ids}


def test_style_loads_nothing() -> None:
    style = page_of(comparison).partition("<style>")[2].partition("</style>")[0]
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    assert "url(" not in style
    assert "@import" not in style


def test_first_screen_holds_verdicts_ranking_and_chart() -> None:
    page = page_of(comparison)
    heads = [
        "the limit is ≥ 0.95",
        "What should I run?",
        "<svg",
        "<h2>What was compared",
        "<h2>What was lost",
    ]
    places = [page.index(text) for text in ["1 fail", *heads]]
    assert places == sorted(places)


def test_chart_shows_every_strategy_as_escaped_text() -> None:
    page = page_of(hostile)
    drawing = page[page.index("<svg") : page.index("</svg>")]
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    assert "keep_all" in drawing


def test_side_by_side_marks_what_was_lost_and_what_was_needed() -> None:
    page = page_of(comparison)
    assert '<mark class="lost">4711</mark>' in page
    assert re.search(r'<mark class="needed"><a id="c1r1-0-at" href="#c1r1-0-by"[^>]*>Level_12</a></mark>', page)
    assert re.search(r">step 3</a> needed <a class=.fact. id=.c1r1-0-by. href=.#c1r1-0-at.", page)
