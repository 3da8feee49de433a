"""A headless browser for pages: where one is found, and a page opened in it so that every slip is seen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

VARIABLE = "RLOPT_BROWSER"
"""Path of the browser; ``required``: one of `NAMES` has to be there."""
REQUIRED = "required"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
WIDE = {"width": 1200, "height": 900}
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
MISSING = (
    f"no Chromium on PATH: install one (Debian: apt-get install chromium fonts-noto-cjk), or name it in {VARIABLE}"
)


def find_browser() -> str | None:
    """Path of a browser of the Chromium family; None where there is none."""
    named = os.environ.get(VARIABLE, "")
    if named and named != REQUIRED:
        return named
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Opened:
    """A page with what went wrong on it so far."""

    page: Page
    slips: list[str] = field(default_factory=list)
    """Errors of scripts and the console, and requests for anything but the page itself."""
    work_seconds: float = 0.0
    """What the page's thread worked until the charts were drawn."""

    def shown(self, query: str) -> str:
        """Text of the first element that is not hidden."""
        return self.page.locator(f"{query}:visible").first.inner_text()

    def unfolded_width(self) -> int:
        """Pixels that the page takes across, as it stands and with everything unfolded."""
        width = "document.documentElement.scrollWidth"
        before = int(self.page.evaluate(width))
        folded = self.page.locator("details:not([open]) > summary:visible")
        while folded.count():
            folded.first.click()
        return max(before, int(self.page.evaluate(width)))

    def colour(self, query: str, name: str) -> tuple[int, ...]:
        """A computed colour, red, green and blue."""
        value = self.page.evaluate(
            "([query, name]) => getComputedStyle(document.querySelector(query))[name]", [query, name]
        )
        return tuple(int(part) for part in value[value.index("(") + 1 : -1].split(",")[:3])


@contextmanager
def opened(browser: Browser, path: Path, **options: Any) -> Iterator[Opened]:
    """Open a page in a context of its own and wait until its charts are drawn; every request beyond it fails."""
    context = browser.new_context(**{"viewport": WIDE, **options})
    found = Opened(context.new_page())

    def route(asked: Any) -> None:
        if asked.request.url == path.as_uri():
            asked.continue_()
            return
        found.slips.append(f"request: {asked.request.url}")
        asked.abort()

    found.page.route("**/*", route)
    found.page.on("request", lambda asked: _note(found, asked.url, path))
    found.page.on("console", lambda said: found.slips.append(f"console: {said.text}"))
    found.page.on("pageerror", lambda error: found.slips.append(f"script: {error}"))
    try:
        session = context.new_cdp_session(found.page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        found.page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            found.page.wait_for_selector("html[data-ready]", state="attached")
        work = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        found.work_seconds = work["TaskDuration"]
        yield found
    finally:
        context.close()


def _note(found: Opened, url: str, path: Path) -> None:
    if not url.startswith((path.as_uri(), "blob:", "data:")):
        found.slips.append(f"request: {url}")
