"""Figures that follow from prices: colder storage, compression, spot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from rlopt import api
from rlopt.facts import StorageTier
from scripts.accuracy_tables import markdown, percent
from scripts.figures_contract import Figure, inside, verdict
from scripts.figures_plans import LANGUAGE_MODEL, compute_usd, run_usd, solved
from scripts.savings_page import usd

STORES = (("aws", "us-east-1", "standard"), ("azure", "eastus", "hot-lrs"), ("gcp", "us-central1", "standard"))
"""Object stores of three clouds in the regions whose prices the catalog holds, with their hot tier."""
READS = (0.0, 0.25, 0.5, 1.0)
"""Times a month that all of the data are read."""
KEPT = ("job.dataset_size=2 TB", "costs.keep_for={dataset: 365d}")
"""A data set large and old enough to be worth a thought."""
OFTEN = 4.0
"""Reads a month at which the hot tier is the cheapest: what the others are compared with."""
COLD_SAVES = 0.50
SPOT_SAVES = (0.60, 0.90)
ZSTANDARD_SAVES = 0.70
ZSTANDARD_RATIO = 2.877
"""zstd 0.8.2 -1 on the Silesia corpus (github:facebook/zstd@009332c README.md)."""
SPOT_ONLY = "04-dpo-olmo2-1b-spot-only"
DIRTY = "05-rm-opt350m-dirty-data"


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


def zstandard() -> Figure:
    """Data compressed with Zstandard."""
    plain, packed = (solved(DIRTY, f"job.data.compression_ratio={ratio}") for ratio in (1.0, 1.0 - ZSTANDARD_SAVES))

    def of(items: Sequence[str]) -> float:
        before, after = (
            sum(
                line.usd
                for line in plan.cost.lines
                if line.dimension == "storage" and (line.item in items or not items)
            )
            for plan in (plain, packed)
            if plan.cost is not None
        )
        return 1.0 - after / before

    rows = (
        ("line `dataset` of the example, ratio 0.3", percent(-of(("dataset",)), signed=True)),
        ("all storage of the example, ratio 0.3", percent(-of(()), signed=True)),
        ("bytes of the Silesia corpus, zstd 0.8.2 -1", percent(1.0 / ZSTANDARD_RATIO - 1.0, signed=True)),
    )
    published = 1.0 - 1.0 / ZSTANDARD_RATIO
    line, whole = of(("dataset",)), of(())
    return Figure(
        "Zstandard",
        "Zstandard makes stored intermediates 70 % cheaper",
        "−70 %",
        f"{percent(-line, signed=True)} of the compressed line, {percent(-whole, signed=True)} of all storage",
        verdict(
            inside(line, ZSTANDARD_SAVES, ZSTANDARD_SAVES),
            inside(published, 0.70, 0.70),
            inside(whole, 0.70, 0.70),
        ),
        f"`{DIRTY}` with its data set plain and at the ratio of 0.3 that 70 % means; and what the authors of Zstandard "
        "measured on a mixed corpus (facebook/zstd, README.md).",
        markdown(("of what", "change"), rows, 1),
        "A bill by the GB falls as bytes do, so the figure is one about the data: mixed text and binaries come to "
        f"{percent(published)}, and what is compressed already, such as JPEG images, hardly shrinks again. Of a whole "
        "bill little is left where checkpoints outweigh the data. State the ratio of your own data.",
    )


def spot() -> Figure:
    """Spot against on demand: in the price lists, and in plans that also pay for reclaims."""
    prices: dict[tuple[str, str, str | None], dict[str, float]] = defaultdict(dict)
    for offer in api.catalog().offers:
        if offer.grade == "list" and offer.confidence != "low" and offer.pricing in ("on_demand", "spot"):
            known = prices[offer.provider, offer.shape.key, offer.region]
            known[offer.pricing] = min(offer.price_per_hour, known.get(offer.pricing, offer.price_per_hour))
    shares: dict[str, list[float]] = defaultdict(list)
    for (provider, *_), known in prices.items():
        if len(known) == 2:
            shares[provider].append(1.0 - known["spot"] / known["on_demand"])
    every = sorted(share for found in shares.values() for share in found)
    within = sum(SPOT_SAVES[0] <= share <= SPOT_SAVES[1] for share in every) / len(every)
    dear, cheap = (
        solved(SPOT_ONLY, f"choices.pricing=[{pricing}]", "floors.on_demand_share={value: 0, because: compared}")
        for pricing in ("on_demand", "spot")
    )
    machines, whole = 1.0 - compute_usd(cheap) / compute_usd(dear), 1.0 - run_usd(cheap) / run_usd(dear)
    rows = [
        (
            provider,
            str(len(found)),
            *(percent(-share, signed=True) for share in (min(found), median(found), max(found))),
        )
        for provider, found in sorted(shares.items())
    ]
    rows.append(
        ("all", str(len(every)), *(percent(-share, signed=True) for share in (every[0], median(every), every[-1])))
    )
    columns = ("provider", "machines and regions", "least", "median", "most")
    return Figure(
        "Spot",
        "Spot machines cost 60 to 90 % less",
        "−60 % to −90 %",
        f"{percent(-median(every), signed=True)} (median of lists), {percent(-whole, signed=True)} of a plan's bill",
        verdict(inside(median(every), *SPOT_SAVES), inside(machines, *SPOT_SAVES)),
        "Machines with GPUs whose price the catalog knows both on demand and as spot, in the same region, from "
        f"providers' own lists; and `{SPOT_ONLY}` planned with either.",
        markdown(columns, rows, 4),
        f"{percent(within)} of the pairs lie between 60 and 90 % in the lists that the catalog holds. The plan's bill "
        f"falls from {usd(run_usd(dear))} to {usd(run_usd(cheap))} USD ({percent(-machines, signed=True)} of its "
        "machines): spot makes other machines the cheapest, while reclaims, a head node on demand and storage do not "
        "become cheaper.",
    )
