"""What a plan has to say to its signer: what was not measured, not known, old, sampled, or larger than its work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlopt.answers.plan import PlannedRun, Pool, PriceUsed
from rlopt.assembly import loading
from rlopt.assembly.bottlenecks import idle_notes
from rlopt.assembly.chosen import ChosenColumn, ChosenPool
from rlopt.assembly.prices import DISK_UNIT
from rlopt.costs.phases import phases_of
from rlopt.costs.stored.copies import role_routes, tariff_of
from rlopt.costs.stored.kept_bytes import held_charges
from rlopt.facts import Catalog
from rlopt.problem import Problem


def notes_of(
    chosen: ChosenColumn, machines: Sequence[ChosenPool], run: PlannedRun, prices: Sequence[PriceUsed]
) -> list[str]:
    """Every warning of a plan, in the order in which it tells them."""
    problem, unmeasured = chosen.problem, unmeasured_notes(chosen, machines)
    newest = max((one.as_of for one in problem.catalog.provenance if one.as_of), default="")
    return [
        *unmeasured,
        *host_warnings(run.pools),
        *loading.notes(chosen),
        *problem.warnings,
        *chosen.tariff.warnings,
        *price_warnings(prices, run.pools, newest),
        *reclaim_warnings(run.pools, problem.catalog),
        *phase_notes(chosen, [*unmeasured, *problem.warnings]),
        *request_warnings(run, problem),
        *idle_notes(run, problem),
    ]


def unmeasured_notes(chosen: ChosenColumn, machines: Sequence[ChosenPool]) -> list[str]:
    """GPU types that no measurement is of, with the band of their times."""
    offers = chosen.problem.market.offers
    bands = {
        offers[int(one.pools.offer[one.row])].shape.device: one.detail.band
        for one in machines
        if not one.detail.measured
    }
    return [f"no measurement of {gpu}: times ±{band:.0%} (80 % of cases)" for gpu, band in sorted(bands.items())]


def host_warnings(pools: Sequence[Pool]) -> list[str]:
    """Machines whose host memory the catalog does not know, and what a node of them must have."""
    return [
        f"{pool.offer}: its host memory is not known; see that a node has {pool.memory.host_gib:,.0f} GiB"
        for pool in pools
        if pool.memory and pool.memory.host_gib and pool.memory.host_capacity_gib is None
    ]


def phase_notes(chosen: ChosenColumn, known: Sequence[str]) -> list[str]:
    """What is to be said of the phases before the job, and not of the job as well (``known``)."""
    said = set(known)
    notes = [text for phase in phases_of(chosen.variant, chosen.problem) for text in phase.says]
    return [text for text in notes if text.partition(": ")[2] not in said and text not in said]


def reclaim_warnings(pools: Sequence[Pool], catalog: Catalog) -> list[str]:
    """Providers of spot machines that publish no rate at which they take them back: another's stands in."""
    found: dict[str, None] = {}
    if not any(rate.kind == "reclaim" for rate in catalog.reliability):
        return []  # pools of a problem that states its rates itself
    for pool in pools:
        if pool.pricing != "spot" or pool.gpu is None:
            continue
        rate = catalog.failure_rate("reclaim", pool.provider, pool.gpu, pool.pricing)
        if rate.provider != pool.provider:
            why = f" ({rate.note.partition(';')[0]})" if rate.note else ""
            found[f"{pool.provider} publishes no rate at which it reclaims spot machines: {rate.id} stands in{why}"] = (
                None
            )
    return list(found)


def request_warnings(plan: PlannedRun, problem: Problem) -> list[str]:
    """Tiers that a plan chose although the price of their requests is not known."""
    tariff = tariff_of(plan, problem)
    routes = [*role_routes(plan, problem).values()]
    routes += [route for stay, route, _ in held_charges(plan, problem, tariff).values() if stay.gb]
    used = [tier for route in routes for tier in (route.first, route.second) if tier is not None]
    tiers = {tier.name: tier.unpriced for tier in used if tier.unpriced}
    return [
        f"{name}: the price of a request to {' or '.join(lacks)} is not known: 0 in bill and choice of tier"
        for name, lacks in tiers.items()
    ]


def price_warnings(prices: Sequence[PriceUsed], pools: Sequence[Pool], as_of: str) -> list[str]:
    """Undated and old prices, and spot prices, which are samples. ``as_of``: the newest date of the catalogs."""
    found = []
    rented = sum(pool.disk_gb for pool in pools)
    if rented and not any(price.unit == DISK_UNIT for price in prices):
        provider = pools[0].provider
        found.append(f"{provider} lists no block storage: {rented:.4g} GB of disks are not on the bill")
    spot = {pool.offer for pool in pools if pool.pricing == "spot"}
    for price in prices:
        if price.usd_per_hour is None or price.offer == "costs.vcpu_hour":
            continue
        if not price.as_of:
            found.append(f"price of {price.offer} is undated: confirm it before ordering")
        elif as_of and (np.datetime64(as_of) - np.datetime64(price.as_of[:10])) > np.timedelta64(180, "D"):
            found.append(
                f"price of {price.offer} is of {price.as_of}, older than half a year: confirm it before ordering"
            )
        if price.offer in spot and price.low is not None and price.high is not None:
            found.append(
                f"spot price of {price.offer} is the median of its zones, "
                f"{price.low:.2f} to {price.high:.2f} USD/h were seen: a sample, not a promise"
            )
    return found
