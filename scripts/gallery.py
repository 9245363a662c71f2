"""Screenshots of pages for docs/gallery.md: `python scripts/gallery.py FOLDER`, with the four pages in FOLDER."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

_IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
_WIDTH, _HEIGHT = 1200, 900


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, scheme in (("explain", "light"), ("map", "light"), ("neighbours", "light"), ("report", "dark")):
            context = browser.new_context(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme=scheme)
            page = context.new_page()
            page.goto((folder / f"{name}.html").as_uri())
            _pose(page, name)
            page.wait_for_timeout(200)
            page.screenshot(path=_IMAGES / f"{name}.png")
        browser.close()


def _pose(page: Page, name: str) -> None:
    """Show what a page is about."""
    if name == "explain":
        page.select_option("#order", "spread:-1")
        page.locator(".tools").evaluate("element => scrollTo(0, element.offsetTop - 90)")
    if name == "map":
        page.focus("#points")
        for _ in range(4):
            page.keyboard.press("ArrowRight")


if __name__ == "__main__":
    main()
