"""The documentation site: it builds strictly, every page can be found, every link leads somewhere, nothing is fetched
from another host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from ruamel.yaml import YAML

from scripts.docs_map import FLOW, GROUPS, PICTURE, floors
from scripts.site_hooks import PAGES, ROOT, relinked
from scripts.site_math import drawing, fence, with_drawings

FETCHED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "link": "href",
}
"""What a browser fetches by itself, and where the address stands; of links only those that are not `rel=canonical`."""
HINTS = {"canonical", "prev", "next", "edit"}
_IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?(?!data:)([^'\")\s]+)")


class Page(HTMLParser):
    """Addresses of one page: what it fetches, where it links to, which places it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        where = FETCHED.get(tag)
        if where and given.get(where) and not (tag == "link" and given.get("rel") in HINTS):
            self.fetched.append(given[where])
        self.fetched += _IN_STYLE.findall(given.get("style", ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `python -m mkdocs build --strict` does."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],  # --quiet would hide warnings
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "optimizer"), "NO_MKDOCS_2_WARNING": "1"},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if not line.startswith("INFO"))
    return folder


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    """Every page of the site, read."""
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(built.rglob("*.html"))}


def _entries(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [entry for part in (nav.values() if isinstance(nav, dict) else nav) for entry in _entries(part)]  # type: ignore[attr-defined]


def test_every_page_stands_in_the_navigation() -> None:
    listed = set(_entries(YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    docs = ROOT / "docs"
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md") if path.parent.name != "decisions"}
    there |= {target for source, target in PAGES.items() if (ROOT / source).is_file()}
    missing = sorted(there - listed)
    assert not missing, f"mkdocs.yml: add to nav, in the section that fits, one line each: {', '.join(missing)}"


def test_every_page_is_built(pages: dict[Path, Page]) -> None:
    assert len(pages) > 40


def test_nothing_is_fetched_from_another_host(built: Path, pages: dict[Path, Page]) -> None:
    found = [f"{path.name}: {address}" for path, page in pages.items() for address in page.fetched if _far(address)]
    for path in built.rglob("*.css"):
        found += [f"{path.name}: {address}" for address in _IN_STYLE.findall(path.read_text("utf-8")) if _far(address)]
    assert found == []
    # the theme's script fetches a drawing library for these, and for nothing else that the site uses
    assert not [path.name for path in pages if 'class="mermaid"' in path.read_text(encoding="utf-8")]


def _far(address: str) -> bool:
    return address.startswith("//") or bool(urlsplit(address).scheme not in ("", "data"))


def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    lost = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in _places(pages, target)):
                lost.append(f"{path.name}: {link}")
    assert lost == []


def _places(pages: dict[Path, Page], target: Path) -> set[str]:
    return pages[target].places | {"__search"} if target in pages else set()


def test_links_are_rewritten_to_where_the_site_has_them() -> None:
    assert relinked("[a](../examples/quickstart.yaml)", "reading.md") == "[a](examples/quickstart.yaml)"
    assert relinked("[a](docs/decisions/x.md#why)", "changelog.md") == "[a](decisions/x.md#why)"
    assert relinked("[a](../../README.md)", "decisions/x.md") == "[a](../index.md)"
    assert relinked("[a](https://example.org/x.md) [b](#c)", "x.md") == "[a](https://example.org/x.md) [b](#c)"
    assert relinked("```\n[a](../x)\n```\n", "y.md") == "```\n[a](../x)\n```\n"


def test_the_map_names_every_room_and_says_what_it_shows() -> None:
    rooms, drawn = {room for floor in floors() for room in floor}, PICTURE.read_text(encoding="utf-8")
    assert [room for room in rooms if not re.search(rf">{room}( \(\d\))?</text>", drawn)] == []
    assert {room for _, made, _ in FLOW for room in made} <= rooms, (
        "scripts/docs_map.py: FLOW names a room that is gone"
    )
    assert GROUPS.keys() <= rooms, "scripts/docs_map.py: GROUPS names a room that is gone"
    assert "<title" in drawn
    assert "<desc" in drawn
    assert "prefers-color-scheme: dark" in drawn


def test_a_formula_is_a_drawing_that_can_be_read_aloud() -> None:
    drawn = drawing(r"\sum_{j \in J} c_j x_j \leq b")
    assert drawn.startswith("<svg")
    assert r'aria-label="\sum_{j \in J} c_j x_j \leq b"' in drawn
    assert fence("a\n\nb\n").count("<svg") == 2
    assert with_drawings("<p>at most $<code>a &lt; b</code>$ of <code>c</code></p>").count("<svg") == 1
    with pytest.raises(ValueError, match="Unknown symbol"):
        drawing(r"\nonsense")
