"""The figure of spot prices."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from lab.figures.contract import Figure, inside, verdict
from lab.figures.plans import compute_usd, run_usd, solved
from lab.pages import markdown, percent
from lab.savings.page import usd
from rlopt import api

SPOT_SAVES = (0.60, 0.90)
SPOT_ONLY = "04-dpo-olmo2-1b-spot-only"


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
