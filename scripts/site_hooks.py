"""What the site has beside the files of docs/: pages from the repository's root and the examples that pages link to.

MkDocs calls these functions (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [folder for folder in (str(ROOT), str(ROOT / "optimizer")) if folder not in sys.path]

PAGES = {
    "README.zh.md": "zh.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "catalogs/README.md": "catalogs.md",
    "measurements/README.md": "measurements.md",
}
"""Pages that stand elsewhere in the repository, and where the site has them."""
FOLDERS = ("examples", "constraints")
"""Folders whose files the site carries as they are."""
INSTEAD = {"README.md": "index.md"}
"""Pages that the site has another one for."""
DECISIONS, TEMPLATE = "decisions/index.md", "0000-template.md"
_LISTED = """# Decisions

Choices that were not obvious, each with its reasons, what else was looked at, and when to look again.

{}
"""
_OUTPUT = re.compile(r"<!-- (?:output|answer|quiet|files?): [^\n]*? -->\n?|<!-- /output -->\n?")
_LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"(^```.*?^```\s*$)", re.DOTALL | re.MULTILINE)


def on_config(config: Any) -> Any:
    """Blocks of formulas, and every decision below their list."""
    from scripts.site_math import fence

    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "math", "format": fence})
    decisions = next(entry["Decisions"] for entry in config.nav if "Decisions" in entry)
    decisions += [f"decisions/{path.name}" for path in _decisions()]
    decisions.append({"Template": f"decisions/{TEMPLATE}"})
    return config


def on_files(files: Any, config: Any) -> Any:
    """The site's files: those of docs/ and those that stand elsewhere."""
    from mkdocs.structure.files import File

    for source, target in PAGES.items():
        if (ROOT / source).is_file():
            text = (ROOT / source).read_text(encoding="utf-8")
            files.append(File.generated(config, target, content=text))
    entries = [f"- [{path.read_text(encoding='utf-8').splitlines()[0][2:]}]({path.name})" for path in _decisions()]
    files.append(File.generated(config, DECISIONS, content=_LISTED.format("\n".join(entries))))
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links at where the site has what the repository has; marks of `scripts/docs_outputs.py` stay out."""
    del config, files
    return _OUTPUT.sub("", relinked(markdown, page.file.src_uri))


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Draw the formulas inside sentences."""
    del page, config, files
    from scripts.site_math import with_drawings

    return with_drawings(html)


def _decisions() -> list[Path]:
    return sorted(path for path in (ROOT / "docs" / "decisions").glob("0*.md") if path.name != TEMPLATE)


def relinked(markdown: str, page: str) -> str:
    """The text with its links as they lead within the site; ``page`` is the page's own place there."""
    back = {target: source for source, target in PAGES.items()}
    source = back.get(page, f"docs/{page}")

    def link(found: re.Match[str]) -> str:
        target = found[2]
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = PAGES.get(wanted) or INSTEAD.get(wanted) or wanted.removeprefix("docs/")
        there = os.path.relpath(place, posixpath.dirname(page) or ".").replace(os.sep, "/")
        return f"{found[1]}{there}{found[3] or ''}{found[4]}"

    parts = _FENCE.split(markdown)
    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))
