"""What pages quote from the program is what the program says: outputs are run again, references written anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.docs import written_pages
from scripts.docs_fields import FIELDS
from scripts.docs_outputs import ROOT, excerpt, pages, run, with_outputs, workplace
from scripts.docs_schema import anchor

ANEW = "run: python scripts/docs.py"
_FENCE = re.compile(r"```\w*\n.*?```", re.DOTALL)
_FIGURE = re.compile(r"(?<=\$)\d[\d,.]*\d|\b\d[\d.]*(?= ?h\b)")
"""Dollars and hours."""
PRINTED = "one\n  two\nthree\nfour\n"


def test_pages_show_output() -> None:
    assert ROOT / "docs" / "reading.md" in pages()


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_output_is_filled(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(re.findall(r"<!-- (?:output|answer): .*-->\n\n```", text)) == text.count("<!-- /output -->"), ANEW


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_outputs_are_what_the_program_prints(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert with_outputs(text) == text, ANEW


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_figures_in_sentences_stand_in_an_output(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    shown, prose = " ".join(_FENCE.findall(text)), _FENCE.sub("", re.sub(r"<!--.*?-->", "", text))
    told = [figure for figure in _FIGURE.findall(prose) if not re.search(rf"(?<![\d.,]){re.escape(figure)}\b", shown)]
    assert told == [], "the output changed under these words"


@pytest.mark.parametrize("path", written_pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_reference_pages_are_what_the_code_says(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == written_pages()[path], ANEW


def test_every_field_of_a_plan_is_explained() -> None:
    page = (ROOT / "docs" / "reference" / "plan.md").read_text(encoding="utf-8")
    blank = [line for line in page.splitlines() if line.startswith("| `") and line.endswith("|  |")]
    assert blank == [], "say what it is in the field's docstring"
    assert [place for place in FIELDS if FIELDS[place] not in page] == [], "scripts/docs_fields.py: no such field"


def test_an_output_that_changed_is_found() -> None:
    page = "<!-- output: rlopt --version -->\n\n```text\nrlopt 0\n```\n\n<!-- /output -->\n"
    written = with_outputs(page)
    assert written != page
    assert with_outputs(written) == written
    assert "```sh\nrlopt --version\n```" in written


def test_what_runs_quietly_leaves_the_next_output_alone() -> None:
    page = "<!-- quiet: rlopt --version -->\n<!-- output: rlopt --version -->\n<!-- /output -->\n"
    assert "```text\nrlopt " in with_outputs(page)


def test_a_page_hands_files_to_its_commands() -> None:
    page = (
        "<!-- file: own.yaml -->\n```yaml\nversion: 1\n```\n<!-- output: rlopt check own.yaml -->\n<!-- /output -->\n"
    )
    with pytest.raises(ValueError, match="ends with code 2"):
        with_outputs(page)


def test_a_page_borrows_the_files_of_another() -> None:
    page = "<!-- files: howto/index.md -->\n<!-- output: rlopt check constraints.yaml ::: job -->\n<!-- /output -->\n"
    assert "job math-7b: grpo" in with_outputs(page)


def test_excerpts_start_and_end_where_they_are_asked_to() -> None:
    assert excerpt(PRINTED, []) == PRINTED
    assert excerpt(PRINTED, ["two ... four"]) == "[...]\n  two\nthree\n[...]"
    assert excerpt(PRINTED, ["... two", "four ..."]) == "one\n[...]\nfour"
    with pytest.raises(ValueError, match="no line starts with 'five'"):
        excerpt(PRINTED, ["five ..."])


def test_only_the_program_is_run() -> None:
    with workplace(), pytest.raises(ValueError, match="commands of rlopt alone"):
        run("rm -r examples")


def test_anchors_are_those_of_markdown() -> None:
    assert anchor("job.models.policy") == "jobmodelspolicy"
    assert anchor("What stands where") == "what-stands-where"
