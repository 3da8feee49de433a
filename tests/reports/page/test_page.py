"""The page as a document: complete, safe whatever its texts hold, the same for the same answer."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest

from rlopt.answers.plan import Frontier, Plan
from rlopt.language import use
from rlopt.reports.page import Given, page
from tests.reports import plans

HOSTILE = """</script><script>alert(1)</script><img src=x onerror=alert(2)> "'` & <!-- ]]> \u2028 {{ 7 * 7 }} 任务 ✓"""
GIVEN = Given("job.yaml", "version: 1\nextends: [grpo]\n", ("base", "grpo"), ("limits.deadline=24h",))


class Elements(HTMLParser):
    """Elements with their attributes, and the texts inside them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open, data))


def hostile() -> Plan:
    """A plan with such texts wherever a plan carries a text that somebody wrote."""
    plan = plans.optimal().document()
    pool = plan["pools"][0] | {"name": HOSTILE, "instance_type": HOSTILE, "zone": HOSTILE}
    line = plan["cost"]["lines"][0] | {"item": HOSTILE, "basis": HOSTILE}
    price = plan["provenance"]["prices"][0] | {"source": f"https://example.org/{HOSTILE}", "offer": HOSTILE}
    return Plan.model_validate({
        **plan,
        "job": HOSTILE,
        "tags": {HOSTILE: HOSTILE},
        "warnings": [HOSTILE],
        "reasons": [HOSTILE],
        "pools": [pool],
        "cost": plan["cost"] | {"lines": [line]},
        "provenance": plan["provenance"] | {"prices": [price]},
    })  # fmt: skip


@pytest.fixture(scope="module")
def text() -> str:
    return page(plans.optimal(), GIVEN, plans.frontier())


def test_it_holds_the_answer_and_the_request(text: str) -> None:
    for part in (
        "math-7b costs $612.40",
        "Proven: no plan that keeps every limit and floor costs less.",
        "916.5 GB × $0.023/GB/month × 1 month",
        "needs 61.2 of 72.8 GiB",
        "floors.group_size: 8 samples, exactly the floor",
        "people are not on the bill",
        "lambda price list",
        "2026-09-20",
        "1.35 billion tokens",
        "base, grpo",
        "limits.deadline=24h",
        "extends: [grpo]",
    ):
        assert part in unescape(text), part


def test_every_plan_stands_on_it_whole(text: str) -> None:
    found = re.findall(r'class="document" data-plan="(\d)">(.*?)</script>', text)
    assert {int(number): json.loads(document) for number, document in found} == {
        0: plans.optimal().document(),
        1: plans.faster().document(),
    }


def test_it_names_nothing_that_a_browser_would_fetch(text: str) -> None:
    for tag, attributes in Elements(text).found:
        assert tag not in ("link", "iframe", "object", "embed", "img", "base", "form"), tag
        assert "src" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        if tag == "a":
            assert (attributes["href"] or "").startswith("#")
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_its_policy_forbids_requests_and_other_scripts(text: str) -> None:
    policy = next(
        attributes["content"]
        for tag, attributes in Elements(text).found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))  # type: ignore[union-attr]
    assert rules["default-src"] == "'none'"
    assert all(word.startswith("'sha256-") for word in rules["script-src"].split())
    assert len(rules["script-src"].split()) == 3
    assert "connect-src" not in rules


def test_the_same_answer_gives_the_same_page(text: str) -> None:
    assert page(plans.optimal(), GIVEN, plans.frontier()) == text


def test_hostile_texts_stay_texts() -> None:
    given = Given(HOSTILE, HOSTILE, (HOSTILE,), (HOSTILE,))
    parsed, plain = Elements(page(hostile(), given)), Elements(page(plans.optimal(), GIVEN))
    scripts = [attributes for tag, attributes in parsed.found if tag == "script"]
    assert scripts == [attributes for tag, attributes in plain.found if tag == "script"]
    assert "img" not in [tag for tag, _ in parsed.found]
    assert not [name for _, attributes in parsed.found for name in attributes if name.startswith("on")]
    assert HOSTILE in [text for _, text in parsed.texts]  # the request, word for word
    assert "49" not in "".join(text for tag, text in parsed.texts if tag == "code")
    links = [attributes["href"] for tag, attributes in parsed.found if tag == "a"]
    assert all((link or "").startswith(("#", "https://example.org/")) for link in links)
    (document,) = [text for tag, text in parsed.texts if tag == "script" and '"rlopt.plan/1"' in text]
    assert json.loads(document) == hostile().document()


def test_what_is_no_plan_says_so_and_what_would_help() -> None:
    told = unescape(page(plans.infeasible(), GIVEN))
    assert "no plan keeps every limit and floor of the request" in told
    assert "What would help" in told
    assert "$812.40" in told
    assert "Or these together" in told
    assert 'id="speeds"' not in told
    assert "allow more time" in unescape(page(plans.nothing_found(), GIVEN))


def test_one_plan_alone_offers_no_choice() -> None:
    assert 'id="speeds"' not in page(plans.optimal(), GIVEN)
    assert 'id="speeds"' not in page(plans.optimal(), GIVEN, Frontier(points=[plans.optimal()]))


def test_it_says_its_language(text: str) -> None:
    assert '<html lang="en">' in text
    with use("zh"):
        assert '<html lang="zh-Hans">' in page(plans.optimal(), GIVEN)
