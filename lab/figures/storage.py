"""Figures about stored bytes: colder tiers and compression."""

from __future__ import annotations

from collections.abc import Sequence

from lab.figures.contract import Figure, inside, verdict
from lab.figures.plans import LANGUAGE_MODEL, solved
from lab.pages import markdown, percent
from lab.savings.page import usd
from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.facts import StorageTier
from rlopt.units import GIB

STORES = (("aws", "us-east-1", "standard"), ("azure", "eastus", "hot-lrs"), ("gcp", "us-central1", "standard"))
"""Object stores of three clouds in the regions whose prices the catalog holds, with their hot tier."""
READS = (0.0, 0.25, 0.5, 1.0)
"""Times a month that all of the data are read."""
KEPT = ("job.dataset_size=2 TB", "costs.keep_for={dataset: 365d}")
"""A data set large and old enough to be worth a thought."""
OFTEN = 4.0
"""Reads a month at which the hot tier is the cheapest: what the others are compared with."""
COLD_SAVES = 0.50
ZSTANDARD_SAVES = 0.70
ZSTANDARD_RATIO = 2.877
"""zstd 0.8.2 -1 on the Silesia corpus (github:facebook/zstd@009332c README.md)."""
ZSTANDARD_RATE = 330e6
"""Bytes a second compressed there, taken as one vCPU's; reading is counted at the same rate."""
DIRTY = "05-rm-opt350m-dirty-data"
ACTING = "14-vla-recap-4b-448"


def _month(tier: StorageTier, reads: float) -> float:
    """Price of 1 GB for a month in which all of it is read ``reads`` times, in the tier's currency."""
    return tier.price_gb_month + reads * (tier.retrieval_per_gb or 0.0)


def _planned(reads: float) -> tuple[str, float]:
    """Where a plan keeps the data set, and USD of its storage and retrieval."""
    plan = solved(LANGUAGE_MODEL, *KEPT, f"job.data.accesses_per_month={reads}")
    assert plan.cost is not None
    assert plan.decisions is not None
    (use,) = (one for one in plan.decisions.storage if one.item == "dataset")
    where = use.tier if use.to is None else f"{use.tier}, then {use.to}"
    items = ("dataset", "retrieval")
    return where, sum(line.usd for line in plan.cost.lines if line.dimension == "storage" and line.item in items)


def _kept_a_year() -> str:
    """What a plan makes of a data set that is kept for a year, by how often it is read."""
    hot = _planned(OFTEN)[1]
    found = {reads: _planned(reads) for reads in (*READS, OFTEN)}
    rows = [
        (f"{reads:g}", where, usd(cost), percent(cost / hot - 1.0, signed=True))
        for reads, (where, cost) in found.items()
    ]
    return markdown(("reads a month", "tiers", "USD a year", "against hot"), rows, 2)


def cold() -> Figure:
    """Data that are read less than once a month, moved to a colder tier that answers at once."""
    rows, rarely, monthly = [], [], []
    for provider, region, hot_name in STORES:
        tiers = [
            tier
            for tier in api.catalog().storage
            if (tier.provider, tier.region, tier.kind) == (provider, region, "object") and not tier.restore_hours
        ]
        (hot,) = (tier for tier in tiers if tier.id.endswith(f"/{hot_name}"))
        for tier in sorted(tiers, key=lambda tier: -tier.price_gb_month):
            if tier.price_gb_month >= hot.price_gb_month:
                continue
            shares = [1.0 - _month(tier, reads) / _month(hot, reads) for reads in READS]
            rarely.append(shares[0])
            monthly.append(shares[-1])
            cells = (percent(-share, signed=True) for share in shares)
            rows.append((provider, f"{hot.tier} → {tier.tier}", f"{tier.min_days:g} d", *cells))
    columns = ("cloud", "tiers", "at least", *(f"{reads:g} reads a month" for reads in READS))
    return Figure(
        "Cold tiers",
        "Cold data in a cold tier save more than 50 %",
        "over −50 %",
        f"{percent(-min(rarely), signed=True)} to {percent(-max(rarely), signed=True)} unread, "
        f"{percent(-max(monthly), signed=True)} to {percent(-min(monthly), signed=True)} read once a month",
        verdict(min(rarely) > COLD_SAVES - 0.05, min(monthly) > COLD_SAVES - 0.05),
        "Price of a GB for a month in the catalog, storage and retrieval, against the hot tier of the same cloud and "
        "region. Only tiers that answer at once. Requests are left out: they depend on the size of objects. Below, "
        f"what `{LANGUAGE_MODEL}` is planned to do with a data set of 2 TB that is kept for a year.",
        f"{markdown(columns, rows, len(READS) + 1)}\n{_kept_a_year()}",
        'The usual bound, "read less than once a month", is too weak: retrieval takes most of the saving at one read a '
        "month, and all of it in the coldest tiers. Over 50 % takes data that are read a quarter as often or less, and "
        "that stay for the minimum duration. Plans choose tiers with retrieval, requests and minimum durations, "
        "archives among them, and move the data when that pays.",
    )


def _storage(plan: Plan, *items: str) -> float:
    """USD of storage, of some of its lines where they are named, with the vCPU time of compression."""
    assert plan.cost is not None
    return sum(
        line.usd
        for line in plan.cost.lines
        if (line.dimension == "storage" and (line.item in items or not items)) or line.item == "compression"
    )


def _less(pair: Sequence[Plan], *items: str) -> float:
    """Share that the second of two plans saves."""
    plain, packed = pair
    return 1.0 - _storage(packed, *items) / _storage(plain, *items)


def zstandard() -> Figure:
    """Data compressed with Zstandard."""
    ratio = round(1.0 - ZSTANDARD_SAVES, 2)
    data = [solved(DIRTY, f"job.data.compression_ratio={one}") for one in (1.0, ratio)]
    squeeze = f"job.compression.trajectories={{ratio: {ratio}, vcpu_seconds_per_gib: {GIB / ZSTANDARD_RATE:.3f}}}"
    acting = [solved(ACTING), solved(ACTING, squeeze)]
    published, line, whole = 1.0 - 1.0 / ZSTANDARD_RATIO, _less(data, "dataset"), _less(data)
    held = _less(acting, "trajectories", "requests")
    rows = [
        (what, percent(-share, signed=True))
        for what, share in (
            (f"line `dataset` of `{DIRTY}`", line),
            (f"all storage of `{DIRTY}`", whole),
            (f"trajectories of `{ACTING}`: storage, requests and vCPU time", held),
            (f"all storage of `{ACTING}` and vCPU time", _less(acting)),
            ("bytes of the Silesia corpus, zstd 0.8.2 -1", published),
        )
    ]
    return Figure(
        "Zstandard",
        "Zstandard makes stored intermediates 70 % cheaper",
        "−70 %",
        f"{percent(-line, signed=True)} of a data set's line, {percent(-held, signed=True)} of trajectories, "
        f"{percent(-whole, signed=True)} of all storage",
        verdict(*(inside(share, ZSTANDARD_SAVES, ZSTANDARD_SAVES) for share in (line, published, held, whole))),
        "Two examples with their data set or trajectories plain and at the ratio of 0.3 that 70 % means, at the speed "
        "of zstd 0.8.2 -1; and what the authors of Zstandard measured on a mixed corpus (facebook/zstd, README.md).",
        markdown(("of what", "change"), rows, 1),
        "A bill by the GB falls as bytes do, so the figure is one about the data: mixed text and binaries come to "
        f"{percent(published)}, and what is compressed already, such as JPEG images, hardly shrinks again. Compressed "
        "trajectories save less than their bytes, because plain ones move to a colder tier when that pays. Of all "
        "storage little is left where checkpoints outweigh the data. Decompression was measured at 940 MB/s, which is "
        "7.5 Gb/s. State the ratio of your own data.",
    )
