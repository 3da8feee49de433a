"""Which collected row a chosen price comes from: canonical rows name price and date, not their source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.catalog_build.tables import Row, optional, read

TERMS = {"3year": "reserved_3y", "3yr": "reserved_3y", "year": "reserved_1y", "1yr": "reserved_1y"}
#: Prices are rounded by some of the sources; the second, wider step is for those rounded to cents.
TOLERANCES = (0.0015, 0.01)


@dataclass(frozen=True, slots=True)
class Origin:
    """One collected price."""

    provider: str
    region: str
    zone: str
    instance_type: str
    gpus: float
    pricing: str
    price: float
    as_of: str
    source: str


def _origins(folder: Path) -> Iterator[Origin]:
    for name in ("offers.csv", "extra_offers.csv", "offers_cny.csv"):
        for row in read(folder, name):
            place = (
                row["provider"],
                row["region"],
                row["zone"],
                row["instance_type"],
                float(row["gpu_count"] or 0),
            )
            for pricing, column in (("on_demand", "price"), ("spot", "spot")):
                price = row.get(f"{column}_usd_hour") or row.get(f"{column}_cny_hour")
                if price:
                    yield Origin(*place, pricing, float(price), row["as_of"], row["source"])
    for row in read(folder, "offers_azure_rtxpro6000_gpu_count_unknown.csv"):
        place = (row["provider"], row["region"], "", row["instance_type"], 0.0)
        yield Origin(*place, "on_demand", float(row["price_usd_hour"]), row["as_of"], row["source"])
    for row in read(folder, "commitments.csv"):
        if row["price_usd_hour"]:
            pricing = TERMS.get(row["term"], "capacity_block")
            place = (row["provider"], "", "", row["family"], optional(row["gpu_count"]) or 0.0)
            yield Origin(*place, pricing, float(row["price_usd_hour"]), row["as_of"], row["source"])


class Origins:
    """The collected prices, looked up by what a canonical row says."""

    def __init__(self, folder: Path) -> None:
        self._by_provider: dict[str, list[Origin]] = defaultdict(list)
        for origin in _origins(folder):
            self._by_provider[origin.provider].append(origin)

    def source(self, offer: Row, gpus: float) -> str:
        """Return the source of a canonical row: the row with its price and date that is nearest to it.

        Raises
        ------
        LookupError
            When no collected row has this price, for the machine or per GPU.
        """
        price = float(offer["price"])
        for tolerance in TOLERANCES:
            best: tuple[int, str] | None = None
            for origin in self._by_provider[offer["provider"]]:
                per_gpu = origin.price / origin.gpus * gpus if origin.gpus else origin.price
                if min(abs(origin.price - price), abs(per_gpu - price)) > tolerance * price:
                    continue
                score = (
                    8 * (origin.as_of[:10] == offer["as_of"][:10])
                    + 8 * (origin.pricing == offer["pricing"])
                    + 4 * (origin.instance_type == offer["canonical_name"])
                    + 2 * (origin.region == offer["region"])
                    + (origin.zone == offer["zone"])
                )
                if best is None or (score, origin.source) > best:
                    best = (score, origin.source)
            if best is not None and best[0] >= 8:
                return best[1]
        message = f"no collected row has the price of {offer}"
        raise LookupError(message)
