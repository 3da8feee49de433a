"""Each row of each catalog: units, signs, dates, sources, names, peers. A bad row fails, none is let off."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter, defaultdict

import pytest

from tests.catalogs.rows import DATE, FILES, FOLDER, Row, bad, read

#: Columns that hold a number, whatever the catalog.
NUMBERS = {
    "price_per_hour", "price_low", "price_high", "term_hours", "vcpus", "memory_gib", "host_memory_gib",
    "local_disk_gib", "internode_gbps", "price_gb_month", "retrieval_per_gb", "put_per_1000", "get_per_1000",
    "min_days", "restore_hours", "throughput_mb_s", "ingest_per_gb", "retention_gb_month", "included_days",
    "metric_month", "metric_per_gb", "per_gib_hour", "on_demand_per_hour", "discount", "bandwidth_gb_s", "link_gb_s",
    "power_w", "included_mb_s", "mb_s_per_gb", "most_mb_s", "most_mb_s_per_node", "least_gb", "step_gb", "most_gb",
    "price_mb_s_month", "included_iops", "iops_per_gb", "price_iops_month", "io_kb",
    "params", "active_params", "per_gpu_hour", "per_node_hour", "low", "high", "price", "attention_layers",
    "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "gpus", "zones", "max_nodes", "rows",
}  # fmt: skip
ALLOWED = {
    "currency": {"USD", "CNY"},
    "pricing": {"on_demand", "spot", "reserved", "any"},
    "grade": {"list", "marketplace"},
    "confidence": {"high", "medium", "low"},
    "intra": {"none", "pcie", "nvlink", "nvswitch", "nvl72"},
    "cluster": {"yes", "no", "unknown"},
    "generation": {"Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell", "CDNA"},
    "params_basis": {"published", "derived"},
}
KINDS = {
    "storage.csv": {"object", "block", "hdd", "file", "archive"},
    "traffic.csv": {"egress_internet", "cross_region", "cross_zone", "ingress"},
    "reliability.csv": {"failure", "reclaim"},
    "caches.csv": {"cache", "database"},
}
KEYS = {
    "shapes.csv": ("key",),
    "devices.csv": ("name",),
    "models.csv": ("name",),
    "models_left_out.csv": ("name",),
    "model_aliases.csv": ("alias",),
    "regions.csv": ("provider", "region"),
    "traffic.csv": ("provider", "region", "kind", "service"),
    "sources.csv": ("key",),
    "left_out.csv": ("catalog", "reason"),
    "provenance.csv": ("name",),
}
#: Evidence of what was not chosen: the same price may be refused twice.
EVIDENCE = "rejected_prices.csv"
DATED = tuple(name for name in FILES if "as_of" in read(name)[0] and name != "provenance.csv")
SOURCED = tuple(name for name in FILES if "source" in read(name)[0])


def number(row: Row, column: str) -> float:
    return float(row[column])


@pytest.mark.parametrize("name", FILES)
class TestEveryCatalog:
    """Checks that hold for each file."""

    def test_has_rows(self, name: str) -> None:
        assert read(name)

    def test_numbers_are_finite_and_not_negative(self, name: str) -> None:
        for column in NUMBERS & read(name)[0].keys():
            values = {row["_line"]: row[column] for row in read(name) if row[column]}
            assert [place for place, text in values.items() if not math.isfinite(float(text))] == []
            assert [place for place, text in values.items() if float(text) < 0] == []

    def test_words_are_known(self, name: str) -> None:
        allowed = {**ALLOWED, **({"kind": KINDS[name]} if name in KINDS else {})}
        if name == EVIDENCE:
            allowed = {"currency": {"USD", "CNY", "EUR"}}
        for column in allowed.keys() & read(name)[0].keys():
            assert bad(read(name), lambda row, c=column: row[c] not in allowed[c]) == []

    def test_no_key_twice(self, name: str) -> None:
        columns = KEYS.get(name, ("id",))
        counts = Counter(tuple(row[column] for column in columns) for row in read(name) if name != EVIDENCE)
        assert [key for key, count in counts.items() if count > 1] == []

    def test_cells_are_trimmed_one_line(self, name: str) -> None:
        assert bad(read(name), lambda row: any(text != text.strip() or "\n" in text for text in row.values())) == []


@pytest.mark.parametrize("name", DATED)
def test_rows_are_dated_or_say_that_they_are_not(name: str) -> None:
    assert bad(read(name), lambda row: row["as_of"] != "undated" and not DATE.match(row["as_of"])) == []
    assert bad(read(name), lambda row: row["as_of"] != "undated" and row["as_of"][:4] > "2026") == []


@pytest.mark.parametrize("name", SOURCED)
def test_rows_have_a_source(name: str) -> None:
    keys = {row["key"] for row in read("sources.csv")}
    direct = name in ("sources.csv", EVIDENCE, "provenance.csv")
    wrong = bad(read(name), lambda row: not row["source"] or not (direct or row["source"] in keys))
    assert [place for place in wrong if name != "provenance.csv" or "model_aliases" not in place] == (
        [] if name != "provenance.csv" else bad(read(name), lambda row: row["name"] == "model_aliases.csv")
    )


class TestOffers:
    """Prices against machines, regions and each other."""

    offers = read("offers.csv")
    zones = read("zone_offers.csv")
    shapes = {row["key"]: row for row in read("shapes.csv")}

    def test_prices_are_positive_and_within_their_band(self) -> None:
        rows = (*self.offers, *self.zones)
        assert bad(rows, lambda row: number(row, "price_per_hour") <= 0) == []
        assert (
            bad(
                rows,
                lambda r: not number(r, "price_low") <= number(r, "price_per_hour") <= number(r, "price_high"),
            )
            == []
        )
        assert bad(rows, lambda row: row["zones"] == "1" and row["price_low"] != row["price_high"]) == []

    def test_price_is_of_a_known_machine_with_a_known_gpu(self) -> None:
        devices = {row["name"] for row in read("devices.csv")}
        assert bad((*self.offers, *self.zones), lambda row: row["shape"] not in self.shapes) == []
        assert bad(tuple(self.shapes.values()), lambda row: row["device"] not in devices) == []
        assert bad(tuple(self.shapes.values()), lambda row: int(row["gpus"]) < 1) == []

    def test_every_machine_has_an_offer(self) -> None:
        assert self.shapes.keys() == {row["shape"] for row in self.offers}

    def test_id_says_what_the_row_says(self) -> None:
        def wrong(row: Row) -> bool:
            provider, _, machine = row["shape"].partition("/")
            place = f"{provider}/{row['region'] or 'any'}/{row['zone'] or 'any'}/{machine}/"
            return not row["id"].startswith(place) or not row["id"][len(place) :].startswith(row["pricing"])

        assert bad((*self.offers, *self.zones), wrong) == []

    def test_regions_are_listed(self) -> None:
        known = {(row["provider"], row["region"]) for row in read("regions.csv")}
        rows = (*self.offers, *self.zones)
        assert bad(rows, lambda r: r["region"] and (r["shape"].partition("/")[0], r["region"]) not in known) == []

    def test_terms_belong_to_reserved(self) -> None:
        assert bad(self.offers, lambda row: bool(row["term_hours"]) != (row["pricing"] == "reserved")) == []
        assert {row["term_hours"] for row in self.offers} == {"", "24", "8760", "26280"}

    def test_spot_and_reserved_are_cheaper_than_on_demand(self) -> None:
        on_demand = {
            (r["shape"], r["region"]): number(r, "price_per_hour") for r in self.offers if r["pricing"] == "on_demand"
        }
        cheaper = (*self.zones, *(row for row in self.offers if row["pricing"] != "on_demand"))

        def wrong(row: Row) -> bool:
            listed = on_demand.get((row["shape"], row["region"]))
            return listed is not None and number(row, "price_per_hour") > listed

        assert bad(cheaper, wrong) == []

    def test_zone_prices_stand_behind_the_medians(self) -> None:
        groups: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in self.zones:
            assert row["zone"]
            groups[row["shape"], row["region"]].append(number(row, "price_per_hour"))
        medians = {(r["shape"], r["region"]): r for r in self.offers if r["pricing"] == "spot"}
        overruled = {key for key in groups if medians[key]["as_of"] != "undated"}
        assert len(overruled) == 4, "a dated price of the region beats undated prices of its zones"
        for key, prices in groups.items():
            row = medians[key]
            if key in overruled:
                assert row["zones"] == "1"
                continue
            assert number(row, "price_per_hour") == pytest.approx(statistics.median(prices))
            assert int(row["zones"]) == len(prices)
            assert (number(row, "price_low"), number(row, "price_high")) == pytest.approx((min(prices), max(prices)))

    def test_marketplace_cards_join_no_cluster(self) -> None:
        market = tuple(row for row in self.shapes.values() if row["grade"] == "marketplace")
        assert market
        assert bad(market, lambda row: row["cluster"] != "no" or row["intra"] not in ("none", "pcie")) == []

    @pytest.mark.parametrize("pricing", ["on_demand", "spot"])
    def test_outliers_are_flagged(self, pricing: str) -> None:
        """Price per GPU against the median of provider medians of the same GPU; hyperscalers apart."""
        large = {"aws", "azure", "gcp", "oci"}
        groups: dict[tuple[str, bool, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in self.offers:
            if row["pricing"] == pricing and row["currency"] == "USD" and row["grade"] == "list":
                groups[self._peers(row, large)][row["shape"].partition("/")[0]].append(self._per_gpu(row))
        medians = {
            key: statistics.median(statistics.median(prices) for prices in providers.values())
            for key, providers in groups.items()
            if len(providers) > 1
        }
        assert medians

        def wrong(row: Row) -> bool:
            median = medians.get(self._peers(row, large))
            if row["pricing"] != pricing or row["currency"] != "USD" or median is None:
                return False
            return row["confidence"] != "low" and not 0.25 <= self._per_gpu(row) / median <= 4.0

        assert bad(self.offers, wrong) == []

    def _per_gpu(self, row: Row) -> float:
        return number(row, "price_per_hour") / int(self.shapes[row["shape"]]["gpus"])

    def _peers(self, row: Row, large: set[str]) -> tuple[str, bool, str]:
        return self.shapes[row["shape"]]["device"], row["shape"].partition("/")[0] in large, row["currency"]


class TestOtherPrices:
    """CPU machines, storage, traffic, services, commitments."""

    def test_cpu_prices(self) -> None:
        rows = read("cpu_offers.csv")
        assert bad(rows, lambda row: min(number(row, c) for c in ("price_per_hour", "vcpus", "memory_gib")) <= 0) == []
        per_vcpu = {"USD": (0.002, 0.25), "CNY": (0.02, 1.5)}

        def dear(row: Row) -> bool:
            low, high = per_vcpu[row["currency"]]
            return not low < number(row, "price_per_hour") / number(row, "vcpus") < high

        assert bad(rows, dear) == []
        listed = {
            row["id"].rpartition("/")[0]: number(row, "price_per_hour") for row in rows if row["pricing"] == "on_demand"
        }
        spot = tuple(row for row in rows if row["pricing"] == "spot")
        assert (
            bad(
                spot,
                lambda row: number(row, "price_per_hour") > listed.get(row["id"].rpartition("/")[0], 1e9),
            )
            == []
        )

    def test_storage(self) -> None:
        rows = read("storage.csv")
        assert bad(rows, lambda row: not 0.0005 < number(row, "price_gb_month") < 0.5) == []
        assert bad(rows, lambda row: (row["kind"] == "archive") != (number(row, "restore_hours") > 0)) == []
        assert bad(rows, lambda row: number(row, "min_days") > 0 and not row["retrieval_per_gb"]) == []

    def test_speeds_are_of_mounted_stores_in_their_currency(self) -> None:
        tiers = {row["id"]: row for row in read("storage.csv")}
        rows = read("storage_speed.csv")
        assert bad(rows, lambda row: tiers[row["id"]]["kind"] not in ("file", "block", "hdd")) == []
        assert bad(rows, lambda row: tiers[row["id"]]["currency"] != row["currency"]) == []
        gets_faster = ("included_mb_s", "mb_s_per_gb", "price_mb_s_month")
        assert bad(rows, lambda row: not any(row[column] for column in gets_faster)) == []
        assert bad(rows, lambda row: bool(row["price_iops_month"]) != bool(row["io_kb"])) == []
        assert bad(rows, lambda row: bool(row["price_mb_s_month"]) and not row["most_mb_s"]) == []

    def test_traffic_bands_rise_and_end_once(self) -> None:
        for row in read("traffic.csv"):
            bands = [band.split(":") for band in row["bands"].split("|")]
            bounds = [float(upper or "inf") for upper, _ in bands]
            assert bounds == sorted(set(bounds)), row["_line"]
            assert all(0 <= float(price) < 0.5 for _, price in bands), row["_line"]

    def test_logging_prices_something(self) -> None:
        assert (
            bad(
                read("logging.csv"),
                lambda row: not (row["ingest_per_gb"] or row["metric_month"] or row["metric_per_gb"]),
            )
            == []
        )

    def test_caches_are_billed_one_way(self) -> None:
        assert bad(read("caches.csv"), lambda row: bool(row["price_per_hour"]) == bool(row["per_gib_hour"])) == []

    def test_discounts_are_shares_that_fit_their_prices(self) -> None:
        rows = read("commitments.csv")
        assert bad(rows, lambda row: row["discount"] and not 0 <= number(row, "discount") < 1) == []

        def wrong(row: Row) -> bool:
            if not (row["discount"] and row["price_per_hour"] and row["on_demand_per_hour"]):
                return False
            share = 1 - number(row, "price_per_hour") / number(row, "on_demand_per_hour")
            return abs(share - number(row, "discount")) > 0.02

        assert bad(rows, wrong) == []


class TestThings:
    """GPUs, models, rates of failure, regions."""

    def test_devices(self) -> None:
        rows = read("devices.csv")
        assert bad(rows, lambda row: not 10 < number(row, "memory_gib") < 400) == []
        assert bad(rows, lambda row: not 250 < number(row, "bandwidth_gb_s") < 10000) == []
        assert bad(rows, lambda row: row["bf16"] and not 50 < number(row, "bf16") < 5000) == []
        assert bad(rows, lambda row: row["generation"] in ("Volta", "Turing") and row["bf16"]) == []
        assert bad(rows, lambda row: row["generation"] in ("Volta", "Turing", "Ampere") and row["fp8"]) == []
        assert bad(rows, lambda row: row["fp8"] and row["bf16"] and number(row, "fp8") < number(row, "bf16")) == []

    def test_unknown_links_stay_unknown(self) -> None:
        links = {row["name"]: row["link_gb_s"] for row in read("devices.csv")}
        assert (links["H800-SXM"], links["A800-80GB"]) == ("", "200")
        assert (links["H100-SXM"], links["L40S"]) == ("450", "0")

    def test_unsettled_figures_take_the_lower(self) -> None:
        devices = {row["name"]: row for row in read("devices.csv")}
        assert devices["RTX-PRO-6000"]["bandwidth_gb_s"] == "1597"
        assert devices["RTX-PRO-6000"]["bf16"] == "467.8"
        assert devices["B300"]["fp4"] == "9000"
        assert devices["B300"]["bandwidth_gb_s"] == "7750"

    def test_models_have_whole_shapes(self) -> None:
        rows = read("models.csv")
        shape = ("layers", "hidden", "heads", "kv_heads", "head_dim", "vocab")
        assert bad(rows, lambda row: any(int(row[column]) <= 0 for column in shape)) == []
        assert bad(rows, lambda row: int(row["heads"]) % int(row["kv_heads"]) != 0) == []
        assert bad(rows, lambda row: number(row, "active_params") > number(row, "params")) == []
        assert bad(rows, lambda row: bool(int(row["experts"])) != bool(int(row["expert_ffn"]))) == []
        assert bad(rows, lambda row: not (int(row["experts"]) or int(row["ffn"]))) == []
        assert bad(rows, lambda row: number(row, "attention_layers") > int(row["layers"])) == []
        assert (
            bad(
                rows,
                lambda row: (number(row, "attention_layers") < int(row["layers"])) != bool(row["window"]),
            )
            == []
        )

    def test_aliases_lead_somewhere(self) -> None:
        names = {row["name"] for row in read("models.csv")}
        assert bad(read("model_aliases.csv"), lambda row: row["name"] not in names) == []
        assert bad(read("model_aliases.csv"), lambda row: row["alias"] != row["alias"].lower()) == []

    def test_left_out_models_say_why_and_are_not_aliases(self) -> None:
        aliases = {row["alias"] for row in read("model_aliases.csv")}
        rows = read("models_left_out.csv")
        assert bad(rows, lambda row: not row["lacks"] or row["name"].lower() in aliases) == []

    def test_rates(self) -> None:
        rows = read("reliability.csv")
        devices = {row["name"] for row in read("devices.csv")} | {"any"}
        assert bad(rows, lambda row: bool(row["per_gpu_hour"]) == bool(row["per_node_hour"])) == []
        assert bad(rows, lambda row: row["device"] not in devices or not row["note"]) == []
        assert (
            bad(
                rows,
                lambda r: not number(r, "low") <= float(r["per_gpu_hour"] or r["per_node_hour"]) <= number(r, "high"),
            )
            == []
        )
        assert {(row["kind"], row["provider"], row["device"]) for row in rows} >= {
            ("failure", "any", "any"),
            ("reclaim", "any", "any"),
        }

    def test_countries_are_codes(self) -> None:
        rows = read("regions.csv")
        assert (
            bad(
                rows,
                lambda row: row["country"] and not (len(row["country"]) == 2 and row["country"].isupper()),
            )
            == []
        )
        known = {(row["provider"], row["region"]) for row in rows}
        assert bad(rows, lambda r: r["reference_region"] and (r["provider"], r["reference_region"]) not in known) == []


def test_no_text_names_a_machine_it_was_made_on() -> None:
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in (".csv", ".md"):
            text = path.read_text(encoding="utf-8")
            assert re.findall(r"/wor[k]/|/tm[p]/|shared/", text) == [], path.name
