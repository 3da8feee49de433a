"""The page in a real browser: nothing fails, nothing leaves, every plan can be chosen, on any screen and on paper."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rlopt.answers.plan import Frontier, Plan
from rlopt.reports import words
from rlopt.reports.page.choice import Choice, choices
from tests.reports.page.browsing import WIDE, Opened, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Answers = dict[str, tuple[Plan, Frontier | None]]
TOTAL = ".decision .numbers .value"
LOAD_MS = 2000
WORK_SECONDS = 3.0
"""Of the page's own thread until its charts stand, twice what it takes where other programs share the machine."""
PHONE = {"width": 390, "height": 844}
POINTS = "[data-chart=frontier] .scatterlayer .points path.point"


@pytest.fixture(scope="module")
def chosen(answers: Answers) -> list[Choice]:
    """Give the plans of the page with a choice."""
    plan, curve = answers["choice"]
    assert curve is not None
    return choices(plan, curve.points, curve.knee)


@pytest.fixture(scope="module")
def loaded(browser: Browser, pages: dict[str, Path]) -> Iterator[Opened]:
    """Open the page with a choice once."""
    with opened(browser, pages["choice"]) as found:
        yield found


@pytest.fixture
def choice(loaded: Opened) -> Iterator[Opened]:
    """Give that page as it was opened; nothing may have gone wrong on it at the end."""
    loaded.page.set_viewport_size(WIDE)
    loaded.page.emulate_media(media="screen", color_scheme="light")
    loaded.page.locator("input[value='0']").check()
    yield loaded
    assert loaded.slips == []


def drawn(found: Opened, plan: int) -> list[str]:
    """Name the charts of a plan that hold something."""
    return [
        plot.get_attribute("data-chart") or ""
        for plot in found.page.locator(f".plot[data-plan='{plan}']").all()
        if plot.locator(".main-svg").count() and (plot.bounding_box() or {"height": 0})["height"] > 50
    ]


def centre(found: Opened, place: int) -> tuple[float, float]:
    """Give the middle of a point of the chart, in pixels."""
    point = found.page.locator(POINTS).nth(place)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_it_loads_at_once(choice: Opened) -> None:
    timing = choice.page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
    assert timing["loadEventEnd"] < LOAD_MS
    assert choice.work_seconds < WORK_SECONDS
    assert drawn(choice, 0) == ["memory", "bill", "when", "step"]
    assert choice.shown(TOTAL) == "$612.40"


def test_every_point_of_the_chart_can_be_clicked(choice: Opened, chosen: list[Choice]) -> None:
    traces = choice.page.evaluate("charts.figureOf(document.querySelector('[data-chart=frontier]')).data")
    order = [number for trace in traces for number in trace.get("customdata", [])]
    totals = {one.number: words.usd(one.usd) for one in chosen}
    assert sorted(order) == sorted(totals)
    for place, number in enumerate(order):
        at = centre(choice, place)
        choice.page.mouse.move(*at)
        choice.page.locator(".hovertext", has_text=totals[number]).wait_for()
        choice.page.mouse.click(*at)
        assert choice.shown(TOTAL) == totals[number]
        assert choice.page.locator(f"input[value='{number}']").is_checked()
        assert drawn(choice, number)


def test_every_row_of_the_list_can_be_reached_by_keyboard(choice: Opened, chosen: list[Choice]) -> None:
    choice.page.locator("input[name=speed]:checked").focus()
    seen = [choice.shown(TOTAL)]
    for _ in chosen[1:]:
        choice.page.keyboard.press("ArrowDown")
        seen.append(choice.shown(TOTAL))
    assert sorted(seen) == sorted(words.usd(one.usd) for one in chosen)
    choice.page.locator("button.back:visible").click()
    assert choice.shown(TOTAL) == "$612.40"


def test_the_plan_that_is_shown_is_the_one_that_is_saved(choice: Opened, chosen: list[Choice]) -> None:
    choice.page.locator(f"input[value='{chosen[0].number}']").check()
    with choice.page.expect_download() as saving:
        choice.page.locator("button.save:visible").click()
    assert json.loads(Path(saving.value.path()).read_text(encoding="utf-8")) == chosen[0].plan.document()


def test_dark_where_the_reader_likes_it_and_at_the_press_of_a_button(choice: Opened) -> None:
    ink = "[data-chart=frontier] .xtick text"
    before = choice.page.locator(ink).first.get_attribute("style")
    choice.page.emulate_media(color_scheme="dark")
    redrawn = "([query, before]) => document.querySelector(query).getAttribute('style') !== before"
    choice.page.wait_for_function(redrawn, arg=[ink, before])
    dark = choice.colour("body", "backgroundColor"), choice.colour(ink, "fill")
    choice.page.locator("#theme").click()
    light = choice.colour("body", "backgroundColor"), choice.colour(ink, "fill")
    choice.page.locator("#theme").click()
    assert (choice.colour("body", "backgroundColor"), choice.colour(ink, "fill")) == dark
    choice.page.evaluate("delete document.documentElement.dataset.theme")
    assert sum(dark[0]) < 150 < 600 < sum(light[0])
    assert sum(light[1]) < 350 < sum(dark[1])


def test_paper_is_white_whole_and_has_the_charts(choice: Opened) -> None:
    choice.page.emulate_media(media="print", color_scheme="dark")
    choice.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert choice.colour("body", "backgroundColor") == (255, 255, 255)
    assert sum(choice.colour("h1", "color")) < 150
    assert choice.page.locator("details:not([open])").count() == 0
    assert choice.page.locator("pre.request").is_visible()
    assert choice.page.locator("button:visible, nav:visible").count() == 0
    widths = [(plot.bounding_box() or {"width": 0})["width"] for plot in choice.page.locator(".main-svg:visible").all()]
    assert widths
    assert max(widths) <= 660
    choice.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert choice.page.locator("details[open]").count() == 0


def test_it_fits_a_phone(choice: Opened) -> None:
    choice.page.set_viewport_size(PHONE)
    assert choice.unfolded_width() <= PHONE["width"]
    choice.page.locator("label.speed").nth(1).click()
    assert choice.shown(TOTAL) == "$1,100.00"
    choice.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = false")


def test_in_chinese(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["zh"], viewport=PHONE, has_touch=True) as found:
        assert found.page.locator("html").get_attribute("lang") == "zh-Hans"
        assert "的成本为 $612.40" in found.shown("h1")
        assert "权重" in found.page.locator("[data-chart=memory]:visible .legendtext").all_text_contents()
        assert found.unfolded_width() <= PHONE["width"]
        found.page.locator("label.speed").nth(1).tap()
        assert found.shown(TOTAL) == "$1,100.00"
        found.page.touchscreen.tap(*centre(found, 0))
        assert found.shown(TOTAL) == "$1,490.00"
        assert found.slips == []


def test_several_pools_at_once_with_people_and_failures(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["pools"], viewport=PHONE) as found:
        lanes = found.page.locator("[data-chart=step] .annotation-text").all_text_contents()
        assert [lane.split()[0] for lane in lanes] == ["train", "rollout-1", "rollout-2", "score"]
        assert "The pools work at the same time" in found.page.content()
        table = found.page.locator("table.bill").inner_text()
        assert "set-up" in table
        assert "failures" in table
        assert found.page.locator("#speeds").count() == 0
        assert found.unfolded_width() <= PHONE["width"]
        assert found.slips == []


def test_no_plan_tells_what_would_help(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["infeasible"], viewport=PHONE) as found:
        assert "no plan keeps every limit" in found.shown("h1")
        assert "$701.00" in found.page.locator("table:visible").first.inner_text()
        assert found.page.locator(".plot").count() == 0
        assert found.unfolded_width() <= PHONE["width"]
        assert found.slips == []


def test_without_scripts_the_plan_asked_for_is_there(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["choice"], java_script_enabled=False) as found:
        assert found.shown(TOTAL) == "$612.40"
        assert found.page.locator(".decision:visible").count() == 1
        assert found.page.locator(".plot:visible, button:visible").count() == 0
        assert "916.5 GB" in found.page.locator("table.bill:visible").inner_text()
        assert found.slips == []
