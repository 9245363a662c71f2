"""`python -m benchmarks.pointer map.html [--picture map.png]`: how fast a map opens and answers the pointer.

Needs Chromium and playwright. The page itself notes the time from the pointer's arrival to the molecule's appearance.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

_PLACES = 40
# Where a point of the map is on the screen, by the page's own functions.
_WHERE = """i => { const v = view(), box = canvas.getBoundingClientRect();
    return [box.left + v.ox + px(i) * v.side, box.top + v.oy + py(i) * v.side]; }"""


def point_at(page: Any, graph: int) -> None:
    """Move the pointer to a graph of the map."""
    page.mouse.move(*page.evaluate(_WHERE, graph))


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks.pointer", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--browser", default=shutil.which("chromium"))
    parser.add_argument("--picture", type=Path, help="keep a picture of the page with the pointer on its last place")
    asked = parser.parse_args()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=asked.browser, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        started = time.perf_counter()
        page.goto(asked.page.resolve().as_uri())
        page.wait_for_function("typeof view === 'function'")
        opened = time.perf_counter() - started
        count = page.evaluate("DATA.count")
        answers = []
        for graph in np.linspace(0, count - 1, _PLACES).astype(int).tolist():
            point_at(page, graph)
            page.wait_for_selector("#tip", state="visible")
            answers.append(float(page.get_attribute("#map", "data-answered") or "nan"))
        if asked.picture is not None:
            page.screenshot(path=str(asked.picture))
        browser.close()
    print(f"{count:,} graphs, {asked.page.stat().st_size / 1e6:.1f} MB, open after {opened:.1f} s")
    print(f"pointer, {_PLACES} places: median {np.median(answers):.0f} ms, slowest {max(answers):.0f} ms")


if __name__ == "__main__":
    main()
