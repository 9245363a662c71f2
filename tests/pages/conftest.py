"""A headless browser for the tests of pages; without one they are skipped, with the reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Opened:
    """A page in the browser, what it complained about, and what it asked the network for."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    found = os.environ.get("ADGCL_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("There is no Chromium: apt-get install chromium, or set ADGCL_CHROMIUM to one.")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def look(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Open a page from disk, as a user does."""
    contexts = []

    def open_page(text: str, width: int = 1400, scheme: str = "light") -> Opened:
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.on("console", lambda m: opened.errors.append(m.text) if m.type in ("error", "warning") else None)
        opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
        opened.page.on("dialog", lambda dialog: (opened.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(file.as_uri())
        opened.page.wait_for_timeout(50)
        return opened

    yield open_page
    for context in contexts:
        context.close()
