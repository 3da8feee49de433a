"""A refresh against a server that misbehaves: the old list stays whole, byte by byte, until the new one is good."""

from __future__ import annotations

import gzip
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlopt.errors import InputError
from rlopt.facts.files.folder import load_catalog
from rlopt.pricelists import store
from rlopt.pricelists.fetch import FetchLimits
from rlopt.pricelists.refresh import RefreshOutcome, refresh
from rlopt.pricelists.sources import SOURCES, PriceSource, sources_of
from tests.pricelists.lists import SKYPILOT
from tests.pricelists.server import Site, body, chunked, silent, site, tagged, unsaid

SOURCE = PriceSource("nebius", "skypilot", "{name}")
GOOD = SKYPILOT.encode()
DEARER = GOOD.replace(b"23.60", b"24.60")
QUICK = FetchLimits(
    connect_seconds=1.0, read_seconds=0.4, whole_seconds=0.6, tries=2, first_wait_seconds=0.01, most_bytes=200_000
)


@pytest.fixture(scope="module")
def web() -> Iterator[Site]:
    with site() as found:
        yield found


@pytest.fixture(scope="module")
def fetched(web: Site, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A list as it was kept after a good answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RLOPT_CATALOGS", str(tmp_path_factory.mktemp("catalogs")))
        web.will(body(GOOD, headers=(("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT"),)))
        assert fetch(web).state == "renewed"
        return store.path_of("skypilot-nebius").read_bytes()


@pytest.fixture
def kept(fetched: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The same in a folder of its own."""
    monkeypatch.setenv("RLOPT_CATALOGS", str(tmp_path / "catalogs"))
    path = store.path_of("skypilot-nebius")
    path.parent.mkdir()
    path.write_bytes(fetched)
    return path


def fetch(web: Site, accepted: tuple[str, ...] = (), url: str | None = None, dry_run: bool = False) -> RefreshOutcome:
    (outcome,) = refresh([SOURCE], load_catalog(), accepted, url or web.url, dry_run, QUICK)
    return outcome


def packed(data: bytes) -> bytes:
    return gzip.compress(data)


PACKED = (("Content-Encoding", "gzip"),)
ELSEWHERE = (("Location", "http://example.org/vms.csv"),)
NO_PRICE = b"gpu-h200-sxm_8gpu-128vcpu-1600gb,H200,8,128,1600,%b,eu-north1,,11.60\n"
ENDLESS = (b"x" * 50_000 for _ in itertools.count())
BAD = {
    "an error for ever": (body(b"", 500), "unreachable", "answered 500"),
    "not there": (body(b"", 404), "unreachable", "answered 404"),
    "too many requests for ever": (body(b"", 429, headers=(("Retry-After", "0"),)), "unreachable", "answered 429"),
    "half a file": (body(GOOD[:300], said=len(GOOD)), "unreachable", "shorter than it said"),
    "half a file in chunks": (chunked([GOOD[:300]], ends=False), "unreachable", "broke off"),
    "half a file that says nothing": (body(GOOD[:470]), "refused", "the file breaks off in the middle"),
    "perhaps half": (unsaid(GOOD[:-1]), "refused", "its last line has no end"),
    "half a line": (body(GOOD[:-5]), "refused", "the file breaks off in the middle"),
    "half, packed": (body(packed(GOOD)[:-40], headers=PACKED), "refused", "the file breaks off in the middle"),
    "no gzip": (body(GOOD, headers=PACKED), "unreachable", "cannot be unpacked"),
    "wrong columns": (body(b"a,b\n1,2\n"), "refused", "of no known price list"),
    "another column": (body(GOOD.replace(b",Price,", b",Cost,")), "refused", "add Price"),
    "a web page": (body(b"<html>try later</html>"), "refused", "is a web page"),
    "nothing": (body(b""), "refused", "is empty"),
    "a header": (body(GOOD.splitlines(keepends=True)[0]), "refused", "no offer at all"),
    "a price of 0": (body(GOOD.replace(b"28.00", b"0")), "refused", "prices that are no prices"),
    "a price below 0": (body(GOOD.replace(b"28.00", b"-1")), "refused", "prices that are no prices"),
    "a price that is no number": (body(GOOD.replace(b"28.00", b"nan")), "refused", "prices that are no prices"),
    "a jump up": (body(GOOD.replace(b"23.60", b"2383.6")), "refused", "23.6 -> 2,384 USD/h"),
    "a jump down": (body(GOOD.replace(b"23.60", b"0.2360")), "refused", "23.6 -> 0.236 USD/h"),
    "vanished offers": (body(b"\n".join(GOOD.splitlines()[:4]) + b"\n"), "refused", "5 of 9 offers are gone (56%)"),
    "silence": (silent(2.0), "unreachable", "cannot be reached"),
    "a slow drip": (chunked([b"x"] * 200, pause=0.02), "unreachable", "took longer than 0.6 s"),
    "too large, as it says": (body(b"x", said=10**9), "unreachable", "more than a price list has"),
    "too large, unsaid": (chunked(ENDLESS), "unreachable", "more than a price list has"),
    "too large unpacked": (body(packed(b"x" * 10**7), headers=PACKED), "unreachable", "more than a price list has"),
    "sent elsewhere": (body(b"", 302, headers=ELSEWHERE), "unreachable", "another host; if that is right: --from"),
    "sent round in circles": (body(b"", 302, headers=(("Location", "/vms.csv"),)), "unreachable", "more than 3 times"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_leaves_the_old_list_whole(case: str, web: Site, kept: Path) -> None:
    answer, state, why = BAD[case]
    before, stamp = kept.read_bytes(), kept.stat().st_mtime_ns
    web.will(answer)
    outcome = fetch(web)
    findings = outcome.verdict.findings if outcome.verdict else ()
    said = "\n".join((outcome.why, *(f"{one.what} {one.shown}" for one in findings)))
    assert (outcome.state, outcome.kept) == (state, True), said
    assert why in said
    assert (kept.read_bytes(), kept.stat().st_mtime_ns) == (before, stamp)
    assert outcome.old is not None
    assert outcome.old.as_of == "2026-11-20"
    assert [path.name for path in kept.parent.iterdir() if path.suffix not in (".json", "") and path.is_file()] == []


def test_a_server_that_is_down_and_addresses_that_are_none(web: Site, kept: Path) -> None:
    before = kept.read_bytes()
    for url, why in (
        ("http://127.0.0.1:9/vms.csv", "cannot be reached"),
        ("ftp://127.0.0.1/vms.csv", "is no address"),
        ("vms.csv", "is no address"),
    ):
        outcome = fetch(web, url=url)
        assert (outcome.state, kept.read_bytes()) == ("unreachable", before)
        assert why in outcome.why


def test_an_error_that_passes_is_asked_again(web: Site, kept: Path) -> None:
    web.will(body(b"", 503), body(DEARER))
    outcome = fetch(web)
    assert (outcome.state, len(web.asked)) == ("renewed", 2)
    assert outcome.verdict is not None
    assert outcome.verdict.changed == 1
    assert outcome.verdict.biggest.endswith("/on_demand: 23.6 -> 24.6 USD/h")
    assert b"24.6" in kept.read_bytes()


def test_a_server_that_asks_to_wait_is_waited_for(web: Site, kept: Path) -> None:
    web.will(body(b"", 429, headers=(("Retry-After", "1"),)), body(DEARER))
    start = time.monotonic()
    assert fetch(web).state == "renewed"
    assert 1.0 <= time.monotonic() - start < 3.0


def test_packed_chunked_and_moved_on_the_same_host(web: Site, kept: Path) -> None:
    moved = body(b"", 302, headers=(("Location", "/new/vms.csv"),))
    found = []
    for answers in (
        (body(packed(DEARER), headers=PACKED),),
        (chunked([DEARER[:99], DEARER[99:]]),),
        (moved, body(GOOD)),
    ):
        web.will(*answers)
        found.append(fetch(web).state)
    assert found == ["renewed", "unchanged", "renewed"]
    assert web.asked == ["/vms.csv", "/new/vms.csv"]


def test_an_answer_that_has_not_changed_is_not_sent_again(web: Site, kept: Path) -> None:
    web.will(tagged(DEARER, '"1"'))
    assert fetch(web).state == "renewed"
    before = kept.stat().st_mtime_ns
    assert fetch(web).state == "unchanged"
    assert (kept.stat().st_mtime_ns, len(web.asked)) == (before, 2)


def test_a_refused_answer_is_not_taken_for_the_old_one(web: Site, kept: Path) -> None:
    web.will(tagged(GOOD.replace(b"28.00", b"0"), '"2"'))
    assert fetch(web).state == "refused"
    web.will(tagged(DEARER, '"2"'))  # mended in place, under the same version
    assert fetch(web).state == "renewed"


def test_what_was_refused_can_be_taken_on_purpose(web: Site, kept: Path) -> None:
    web.will(body(GOOD.replace(b"23.60", b"2383.6").replace(b"1.5484", b"0")))
    assert fetch(web, accepted=("skypilot-nebius",)).state == "renewed"
    offers = {one.id.split("/")[3]: one.price_per_hour for one in store.load("skypilot-nebius", load_catalog()).offers}
    assert offers["gpu-h100-sxm_8gpu-128vcpu-1600gb"] in (2383.6, 10.0)
    assert "gpu-l40s-a_1gpu-8vcpu-32gb" not in offers  # a price of 0 never enters
    web.will(body(GOOD.splitlines(keepends=True)[0]))
    assert fetch(web, accepted=("skypilot-nebius",)).state == "refused"  # nothing cannot be taken


def test_a_first_list_is_judged_by_the_shipped_prices(
    web: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RLOPT_CATALOGS", str(tmp_path / "catalogs"))
    web.will(body(GOOD.replace(b"28.00", b"0.028")))
    outcome = fetch(web)
    assert (outcome.state, outcome.old, store.names()) == ("refused", None, ())
    assert outcome.verdict is not None
    (finding,) = outcome.verdict.findings
    assert "as shipped -> 0.028 USD/h" in finding.shown[0]


def test_a_whole_answer_needs_no_end_of_its_last_line(web: Site, kept: Path) -> None:
    web.will(body(DEARER.rstrip()))
    assert fetch(web).state == "renewed"


def test_a_dry_run_keeps_nothing(web: Site, kept: Path) -> None:
    before = kept.read_bytes()
    web.will(body(DEARER))
    assert fetch(web, dry_run=True).state == "renewed"
    assert kept.read_bytes() == before


def test_one_at_a_time(web: Site, kept: Path) -> None:
    with store.locked(), pytest.raises(InputError, match="another rlopt is changing"):
        fetch(web)


def test_every_source_has_its_own_name_and_a_whole_address() -> None:
    names = [one.name for one in SOURCES]
    assert len(set(names)) == len(names)
    assert len({one.provider for one in SOURCES}) == len(names)
    known = {shape.provider for shape in load_catalog().shapes.values()}
    for one in SOURCES:
        assert one.provider in known
        assert one.url.startswith("https://")
        assert "{" not in one.url
    assert sources_of("verda")[0].url.endswith("/catalogs/v8/verda/vms.csv")
    assert sources_of("lambda")[0].url.endswith("/v3/lambdalabs/latest/catalog.zip")
    with pytest.raises(InputError, match="no public price list of 'nowhere'"):
        sources_of("nowhere")
