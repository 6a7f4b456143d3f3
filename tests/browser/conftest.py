"""A real browser: Debian's Chromium, driven by Playwright; without one the tests skip, except in CI."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from audits import audits
from comparisons import comparison, example_about

from bench.reports import rendered
from bench.reports.audit import audit_rendered

PAGES: dict[str, Callable[[], str]] = {
    "eight": lambda: rendered([comparison(8, 27)], "html"),
    "failed": lambda: rendered([comparison(5, 14, gates="fail")], "html"),
    "one": lambda: rendered([comparison(1, 1)], "html"),
    "thirty": lambda: rendered([comparison(30, 1000, seed=3)], "html"),
    "judged": lambda: rendered([example_about()], "html"),
    "hostile": lambda: rendered([comparison(2, 4, hostile=True, gates="fail")], "html"),
    "overview": lambda: rendered([comparison(3, 8, gates="pass"), example_about("routed"), comparison(2, 3, title="A short question?")], "html"),
    "audit": lambda: audit_rendered(audits(1), "html"),
    "folder": lambda: audit_rendered(audits(5), "html"),
}  # fmt: skip


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI is where these tests must run")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The one browser of a module."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("Playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        _missing("no browser is installed")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a page by name, written once."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(PAGES[name](), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def context_of(browser: Any) -> Callable[..., Any]:
    """The browser's context with these settings, one for all tests: each takes half a second to open."""
    return functools.cache(browser.new_context)


@pytest.fixture
def visit(context_of: Callable[..., Any], page_file: Callable[[str], Path]) -> Iterator[Callable[..., Any]]:
    """Opens a page at a width, all of it unfolded. Afterwards there must have been no request, message or error."""
    opened: list[Any] = []
    wrong: list[str] = []

    def go(
        name: str, width: int = 1440, *, anchor: str = "", folded: bool = False, media: str = "screen", **settings: Any
    ) -> Any:
        page = context_of(**settings).new_page()
        opened.append(page)
        page.set_viewport_size({"width": width, "height": 900})
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
        page.emulate_media(media=media)
        page.goto(page_file(name).as_uri() + anchor)
        if not folded:
            page.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
        return page

    yield go
    for page in opened:
        page.close()
    assert wrong == []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder slow: each drives a browser."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.slow)
