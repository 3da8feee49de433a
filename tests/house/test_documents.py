"""Documents that tell the truth: commands exist, links lead somewhere, nothing is of one machine only."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

import rlopt
from rlopt.cli.entry import command_line

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("docs", "examples", "measurements")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(path for room in ROOMS for path in (ROOT / room).rglob("*.md"))])
_INLINE = re.compile(r"`((?:\./run|rlopt) [^`\n]+)`")
TO_READ = ("Start", "How to")
"""Sections of the menu that a user reads; the others are to look things up."""
MOST_WORDS = 12_500
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IN_BLOCK = re.compile(r"^\s*((?:\./run|rlopt) [^#>|\n]+)", re.MULTILINE)
_FENCE = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
# Folders of one machine, addresses of one index; the brackets keep the pattern from finding itself.
_OF_ONE_MACHINE = re.compile(r"(?<![\w.~-])/(?:wor[k]|hom[e]|roo[t]|tm[p]|User[s])/|index[-]url|pyp[i]\.org|file:[/]//")


def documented_commands() -> list[tuple[str, str]]:
    """Every command line that a document shows, with the document's name."""
    found = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        lines = [line for block in _FENCE.findall(text) for line in _IN_BLOCK.findall(block)]
        lines += _INLINE.findall(_FENCE.sub("", text))
        found += [(path.name, line.strip()) for line in lines]
    return sorted(set(found))


def test_documents_show_commands() -> None:
    assert len(documented_commands()) > 10


@pytest.mark.parametrize(("document", "line"), documented_commands())
def test_documented_command_exists(document: str, line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command = command_line
    while words and isinstance(command, click.Group) and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    assert not isinstance(command, click.Group) or not words or words[0].startswith("-"), f"{document}: {line}"
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    used = {word.split("=")[0] for word in words if word.startswith("-")}
    assert used <= options | {"--help", "-h", "--version"}, f"{document}: {line}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in _LINK.findall(path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_nothing_of_any_one_machine_is_written_down() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    names = [name for name in listed.stdout.split("\0") if name] or [
        str(path.relative_to(ROOT)) for path in (ROOT / "optimizer").rglob("*.py")
    ]
    found = []
    for name in names:
        path = ROOT / name
        if not path.is_file() or path.suffix in {".csv", ".parquet"}:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{name}: {match[0]}" for match in _OF_ONE_MACHINE.finditer(text)]
    assert found == []


def test_the_changelog_knows_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text or f"## [{rlopt.__version__}]" in text


def test_the_readme_holds_both_commands() -> None:
    blocks = _FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert "./run solve examples/quickstart.yaml\n" in blocks
    assert "./test\n" in blocks
    assert (ROOT / "examples" / "quickstart.yaml").is_file()


def _to_read() -> list[Path]:
    """What a user reads: the README, and the pages of the menu's first sections."""
    nav = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = [page for part in nav for name, pages in part.items() if name in TO_READ for page in pages]
    return [ROOT / "README.md", *(ROOT / "docs" / page for page in listed)]


def test_what_a_user_reads_is_short() -> None:
    """Outputs and files that a page shows count as words too."""
    words = {path: len(_COMMENT.sub("", path.read_text(encoding="utf-8")).split()) for path in _to_read()}
    assert len(words) >= 8
    assert sum(words.values()) <= MOST_WORDS, {path.name: number for path, number in words.items()}


def test_a_file_and_an_output_stand_on_one_page() -> None:
    """Pages that need the same request borrow it (`<!-- files: PAGE -->`); a short first answer may stand twice."""
    places: dict[str, set[str]] = {}
    for path in _to_read():
        for block in _FENCE.findall(path.read_text(encoding="utf-8")):
            if block.count("\n") > 12:
                places.setdefault(block, set()).add(path.name)
    assert [sorted(pages) for pages in places.values() if len(pages) > 1] == []


ABOUT_THE_CODE = [
    ROOT / name
    for name in ("CONTRIBUTING.md", "docs/map.md", "docs/mathematics/program.md", "docs/mathematics/models.md")
]
_PATH = re.compile(r"`((?:\w+/)+(?:\w+\.\w+)?)`")
TO_COME = {"rules/carbon.py"}
"""Files of an example that is not built."""


@pytest.mark.parametrize("path", ABOUT_THE_CODE, ids=lambda path: path.name)
def test_files_that_documents_name_are_there(path: Path) -> None:
    roots = (ROOT, ROOT / "optimizer" / "rlopt", ROOT / "optimizer" / "rlopt" / "estimates")
    named = set(_PATH.findall(path.read_text(encoding="utf-8"))) - TO_COME
    gone = sorted(name for name in named if not any((root / name).exists() for root in roots))
    assert gone == [], "files move; say where they are now"
