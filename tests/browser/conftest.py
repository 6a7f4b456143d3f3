"""A real browser for the tests of the page: Debian's Chromium, driven by Playwright; without one they skip, except in CI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from compared import comparison, hostile, unmeasured

from bench.reports import render
from browser.pages import long, many, unbroken, walls

NAMES = ("chromium", "chromium-browser", "google-chrome")


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI is where these tests must run")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The one browser of a module. Playwright holds the event loop of its thread, which other modules need for their own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("Playwright is not installed (pip install playwright)")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        _missing(f"no browser is installed: none of {', '.join(NAMES)}")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The path of a page by name, written once."""
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "two": lambda: [comparison()],
        "hostile": lambda: [hostile()],
        "several": lambda: [comparison(), unmeasured(), hostile()],
        "many": lambda: [many()],
        "long": lambda: [long()],
        "walls": lambda: [walls()],
        "unbroken": lambda: [unbroken()],
    }

    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        return path if path.exists() else render(made[name](), path)

    return write


@pytest.fixture
def visit(browser: Any, report: Callable[[str], Path]) -> Iterator[Callable[..., Any]]:
    """Opens a page by name at an address, its questions unfolded. Afterwards there must have been no request, message, error or dialog."""
    opened: list[Any] = []
    wrong: list[str] = []

    def go(name: str, address: str = "", *, width: int = 1400, folded: bool = False, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        context.set_default_timeout(15_000)
        opened.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(report(name).as_uri() + address)
        if not folded:
            page.evaluate("document.querySelectorAll('details.question').forEach((item) => { item.open = true; })")
        return page

    yield go
    for context in opened:
        context.close()
    assert wrong == []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder slow: each drives a browser."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.slow)
