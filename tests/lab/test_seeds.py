"""The table of what four texts name: every place that it gives exists, and the page is what the table says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lab.seeds import page as seeds
from lab.seeds import places as seeds_places
from lab.seeds.page import Row

ITEMS = {"1": 81, "2": 65, "3": 92, "4": 77}
"""Items of each text, counted when the texts were read."""


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """The table."""
    return seeds.read(seeds.TABLE.read_text(encoding="utf-8"))


def test_no_item_of_a_text_is_missing(rows: list[Row]) -> None:
    assert Counter(row.text[0] for row in rows) == ITEMS
    assert [row.id for row in rows] == [f"{text}-{n:02d}" for text, many in ITEMS.items() for n in range(1, many + 1)]
    assert len({(row.text, row.item) for row in rows}) == sum(ITEMS.values())
    for row in rows:
        assert row.text[0] == row.id[0], row.id
        assert row.section, row.id
        assert any("\u4e00" <= sign <= "\u9fff" or sign.isdigit() for sign in row.phrase), row.id


def test_a_row_is_here_or_says_what_it_waits_for(rows: list[Row]) -> None:
    for row in rows:
        assert row.status == ("planned" if row.groups else "here"), row.id
        assert len(set(row.places)) == len(row.places), row.id
        assert {kind for kind, _ in row.places} <= set(seeds.KINDS), row.id
        assert set(row.groups) <= set(seeds.GROUPS), row.id
        assert (row.status == "here") <= any(kind != "planned" for kind, _ in row.places), row.id


@pytest.mark.parametrize("kind", [kind for kind in seeds.KINDS if kind != "planned"])
def test_every_place_of_a_kind_exists(kind: str, rows: list[Row]) -> None:
    named = [(row, place) for row in rows for said, place in row.places if said == kind]
    assert named
    told = [(row, place) for row, place in named if seeds.WHOLE_BILL not in row.groups]
    assert [f"{row.id}: {place}" for row, place in told if not seeds_places.reachable(kind, place)] == []


def test_no_row_waits_for_what_is_there(rows: list[Row]) -> None:
    assert [row.id for row in rows if seeds.settled(row) != row] == [], "run: python -m lab seeds --settle"


def test_the_example_requests_are_solved() -> None:
    assert len(seeds_places.examples()) > 6
    assert {plan.status for _, plan in seeds_places.examples()} == {"optimal"}


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("key", "job.steps"),
        ("key", "job.algorithm=grpo"),
        ("key", "limits.quotas.max_gpus"),
        ("key", "costs.setup_hours.async"),
        ("rule", "limits.deadline"),
        ("cost", "storage/dataset"),
        ("cost", "compute/commitment *"),
        ("decision", "decisions.checkpoint.tiers.roles=history"),
        ("report", "pools.memory.parts.weights"),
        ("docs", "CONTRIBUTING.md#where-a-new-thing-goes=a preset"),
    ],
)
def test_a_place_is_found(kind: str, place: str) -> None:
    assert seeds_places.reachable(kind, place)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("key", "job.step"),
        ("key", "job.steps.more"),
        ("key", "job.algorithm=dreaming"),
        ("rule", "limits.confidence"),
        ("cost", "storage/data"),
        ("cost", "dataset"),
        ("decision", "decisions.checkpoint.tier"),
        ("decision", "decisions.environment.colour"),
        ("report", "time.stages.stage=rest"),
        ("docs", "CONTRIBUTING.md#where-it-went"),
        ("docs", "CONTRIBUTING.md#where-a-new-thing-goes=a kitchen sink"),
        ("docs", "docs/nowhere.md#top"),
        ("planned", "every lever"),
    ],
)
def test_a_place_that_is_not_there_is_not_found(kind: str, place: str) -> None:
    assert not seeds_places.reachable(kind, place)


def test_a_missing_place_makes_a_row_wait() -> None:
    row = Row("1-01", "1 Text", "costs", "paint", "x", "here", (("cost", "storage/paint"),), "")
    waiting = seeds.settled(row)
    assert (waiting.status, waiting.groups) == ("planned", [seeds.WHOLE_BILL])
    there = seeds.settled(replace(waiting, places=(("cost", "storage/dataset"), *waiting.places[1:])))
    assert (there.status, there.groups) == ("here", [])


def test_the_table_survives_being_written(rows: list[Row]) -> None:
    assert seeds.written(rows) == seeds.TABLE.read_text(encoding="utf-8")


def test_the_page_is_what_the_table_says(rows: list[Row]) -> None:
    assert seeds.PAGE.read_text(encoding="utf-8") == seeds.page(rows), "run: python -m lab seeds"


def test_the_readme_leads_to_the_page(root: Path) -> None:
    assert "](docs/seeds.md)" in (root / "README.md").read_text(encoding="utf-8")
