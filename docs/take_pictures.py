"""Takes the pictures of the page in docs/pictures: `python docs/take_pictures.py [SCENARIO.toml]`; it needs a browser and Playwright.

The first screen at three sizes: wide (1440 × 900, and in dark), on a phone (390 × 844), and on paper (A4, the first
page). Look at them before you commit them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCENARIO = ROOT / "scenarios" / "do_five_rows_suffice.toml"
SIZES = {
    "wide": (1440, 900, "screen", "light"),
    "dark": (1440, 900, "screen", "dark"),
    "phone": (390, 844, "screen", "light"),
    "print": (703, 1032, "print", "light"),
}
"""Width and height in CSS pixels, the medium and the colours; paper is A4 within its margins."""


def take(report: Path, folder: Path) -> None:
    """The pictures of one report."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (width, height, medium, colours) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
            page.goto(report.as_uri())
            page.emulate_media(media=medium)
            page.screenshot(path=folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else SCENARIO
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "report.html"
        subprocess.run([sys.executable, "-m", "bench", "run", str(chosen), "-o", str(path)], cwd=ROOT, stdout=subprocess.DEVNULL)  # fmt: skip
        take(path, ROOT / "docs" / "pictures")
