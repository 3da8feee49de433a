"""The request that a published configuration answers: its choices narrowed to what was run, and widened by it.

What the request did not allow is opened and named, as little of it as the machines need to be rented.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rlopt.errors import MissingFactError
from rlopt.facts import Catalog, Offer
from rlopt.market.market import named_devices, open_market
from rlopt.problem import Market
from rlopt.request import Request

MARKETS = ((), ("regions",), ("pricing",), ("providers",), ("providers", "regions", "countries", "pricing"))
"""Choices opened in turn until the machines can be rented."""


@dataclass(frozen=True, slots=True)
class PublishedMachine:
    """How the GPUs of the run stand in their machines, for prices that speak of single cards; network in Gb/s."""

    gpus: int
    intra: str
    node_gbps: float | None


@dataclass(frozen=True, slots=True)
class Published:
    """A configuration that someone ran; what was not stated is None and stays free."""

    device: str
    """GPU type, as the device catalog calls it."""
    gpus: int
    """All pools together."""
    placement: str | None = None
    training_gpus: int | None = None
    """Of the training pool where the rollouts had one of their own."""
    degrees: Mapping[str, int] = field(default_factory=dict)
    """tp, pp, cp, ep of the training pool, as stated."""
    sharding: int | None = None
    """ZeRO stage of the training engine."""
    offload: str | None = None
    rollout_tp: int | None = None
    update_precision: str | None = None
    rollout_precision: str | None = None
    group_size: int | None = None
    provider: str | None = None
    """Whose price is taken where the request's own providers do not rent the machines."""
    machine: PublishedMachine | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One configuration on its way: the request that allows it and more, and the one that allows it alone."""

    wide: Request
    narrow: Request
    catalog: Catalog
    lifted: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def opened(self, key: str, wide: Any, narrow: Any, lifts: bool) -> Question:
        """The same with one key changed in both; ``lifts`` where the request did not allow it."""
        lifted = (*self.lifted, key) if lifts else self.lifted
        return replace(
            self,
            wide=self.wide.replaced(key, wide) if lifts else self.wide,
            narrow=self.narrow.replaced(key, narrow),
            lifted=lifted,
        )

    def choosing(self, key: str, allowed: Iterable[str], chosen: Sequence[str]) -> Question:
        """The same with a choice narrowed to ``chosen``, and widened by it where it was not allowed."""
        known = tuple(allowed)
        more = tuple(name for name in chosen if name not in known)
        return self.opened(key, (*known, *more), tuple(chosen), lifts=bool(more))


def question(request: Request, run: Published, catalog: Catalog) -> Question:
    """The choices of ``request`` narrowed to what was stated of the run, and widened where it was not allowed."""
    choices = request.choices
    asked = Question(request, request, catalog)
    if choices.gpus is None:
        asked = asked.opened("choices.gpus", None, (run.device,), lifts=False)
    else:
        known = [device for word in choices.gpus for device in sorted(named_devices(word, catalog))]
        asked = asked.choosing("choices.gpus", known, (run.device,))
    if request.job.generates and run.placement is not None:
        asked = asked.choosing("choices.placements", request.placements, (run.placement,))
    for kind, precision in (("rollout", run.rollout_precision), ("update", run.update_precision)):
        if precision is not None and (kind == "update" or request.job.generates):
            asked = asked.choosing(f"choices.precision.{kind}", getattr(choices.precision, kind), (precision,))
    if run.offload is not None:
        asked = asked.choosing("choices.offload", choices.offload, (run.offload,))
    if run.group_size in request.group_sizes:
        asked = asked.opened("choices.group_size", None, (run.group_size,), lifts=False)
    most = request.limits.max_gpus
    asked = asked.opened("limits.max_gpus", run.gpus, run.gpus, lifts=most is not None and most < run.gpus)
    asked = asked.opened("choices.mixed_pools", None, False, lifts=False)
    return asked.opened("choices.scoring", None, ("shared",), lifts=False)


def _rents(market: Market, gpus: int) -> bool:
    """Whether some offer gives one pool of ``gpus`` GPUs."""
    for offer, topology, most in zip(market.offers, market.topology, market.max_nodes, strict=True):
        nodes = gpus / offer.shape.gpus
        if nodes == 1 or (nodes.is_integer() and nodes <= most and market.topologies[int(topology)].cluster):
            return True
    return False


def _card(run: Published, catalog: Catalog) -> Offer | None:
    """The provider's cheapest on-demand offer of one card of the run's type."""
    found = [
        offer
        for offer in catalog.offers
        if offer.provider == run.provider
        and offer.shape.device == run.device
        and offer.shape.gpus == 1
        and offer.pricing == "on_demand"
    ]
    return min(found, key=lambda offer: offer.price_per_hour, default=None)


def _made_of_cards(asked: Question, run: Published) -> Question | None:
    """The question with whole machines at the price of single cards on offer; None where no such price is known."""
    card, machine = _card(run, asked.catalog), run.machine
    if card is None or machine is None:
        return None
    shape = replace(
        card.shape,
        key=f"{card.provider}/{machine.gpus} cards",
        instance_type=f"{machine.gpus}x {card.shape.device}, priced by the card",
        gpus=machine.gpus,
        intra=machine.intra,
        internode_gbps=machine.node_gbps,
        cluster="yes" if machine.node_gbps else "unknown",
        max_nodes=None,
        grade="list",
    )
    usual = f"{card.provider}/any/any/{shape.instance_type}/on_demand"
    whole = card.price_per_hour * machine.gpus
    offer = replace(card, id=usual, shape=shape, price_per_hour=whole, price_low=whole, price_high=whole, grade="list")
    said = f"machines of {machine.gpus} {card.shape.device} at {machine.gpus} times the price of one card ({card.id})"
    catalog = replace(asked.catalog, offers=(*asked.catalog.offers, offer))
    return replace(asked, catalog=catalog, assumed=(*asked.assumed, said))


def with_market(asked: Question, run: Published) -> Question | str:
    """The question with as few choices opened as the machines need to be rented, or why they cannot be."""
    whole = run.gpus if run.training_gpus is None else run.training_gpus
    cards = _made_of_cards(asked, run)
    reason = f"no offer of {run.device} makes a pool of {whole}, and no price of one card is known"
    for base in (asked, *(() if cards is None else (cards,))):
        for keys in MARKETS:
            opened: Question = base
            for key in keys:
                value = getattr(opened.narrow.choices, key)
                if value is None or (key == "providers" and run.provider is None):
                    continue
                added = {"providers": (run.provider,), "pricing": ("on_demand",)}.get(key)
                wider = None if added is None else tuple(dict.fromkeys((*value, *added)))
                opened = opened.opened(f"choices.{key}", wider, added, lifts=wider != value)
            try:
                market = open_market(opened.narrow, opened.catalog, run.gpus)
            except MissingFactError as error:
                reason = str(error).partition("\n")[0]
                continue
            if _rents(market, whole):
                return opened
    return reason


def without(request: Request, keys: Iterable[str]) -> Request:
    """The request without the limits and floors of ``keys``."""
    quotas = {int(key.split("[")[1].rstrip("]")) for key in keys if key.startswith("limits.quotas[")}
    if quotas:
        kept = tuple(row for number, row in enumerate(request.limits.quotas) if number not in quotas)
        request = request.replaced("limits.quotas", kept)
    for key in keys:
        if not key.startswith("limits.quotas["):
            request = request.replaced(key, None)
    return request
