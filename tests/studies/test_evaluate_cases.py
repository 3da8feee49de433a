"""Configurations of one's own machines, that are dearer than they need be, that do not fit, that break something."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from rlopt import api
from rlopt.answers.configuration import Configuration, DecisionsGiven, LayoutGiven, PoolGiven
from rlopt.answers.evaluation import ConfigurationEvaluation
from rlopt.answers.plan import Pool
from rlopt.errors import InputError
from rlopt.market.market import open_market
from rlopt.reading.configuration.saved_plan import of_plan
from rlopt.studies.configuration.user_machines import admitting, machines_of
from tests.studies.small import asked, usd

EXAMPLES = Path(__file__).parents[2] / "examples" / "requests"
LARGE = {"policy": "Qwen/Qwen2.5-7B-Instruct"}
FREE = LayoutGiven()


def own(**given: object) -> PoolGiven:
    """Eight H100 in one machine of one's own, for nothing where no price is given."""
    stated = {"role": "train", "gpu": "H100-SXM", "gpus": 8, "usd_per_gpu_hour": 0.0, **given}
    return PoolGiven.model_validate({key: value for key, value in stated.items() if value is not None})


def eight(**given: object) -> PoolGiven:
    """Eight H100 of the market."""
    return PoolGiven.model_validate({"role": "train", "gpu": "H100", "gpus": 8, **given})


def of(*pools: PoolGiven, **decisions: object) -> Configuration:
    """A configuration of some pools."""
    return Configuration(pools=pools, decisions=DecisionsGiven.model_validate(decisions))


@lru_cache(maxsize=32)
def rented(gpu: str, gpus: int, layout: LayoutGiven = FREE, large: bool = False) -> ConfigurationEvaluation:
    """A pool of the market that trains and samples."""
    request = asked("grpo", models=LARGE if large else None)
    return api.evaluate(request, of(PoolGiven(role="train", gpu=gpu, gpus=gpus, layout=layout)))


def pool_of(found: ConfigurationEvaluation) -> Pool:
    """The one pool with GPUs."""
    assert found.plan is not None
    (pool,) = (pool for pool in found.plan.pools if pool.gpus)
    return pool


def rent(found: ConfigurationEvaluation) -> float:
    """What the pool that trains costs without failures."""
    assert found.plan is not None
    assert found.plan.cost is not None
    return next(line.usd for line in found.plan.cost.lines if line.item == "pool main")


def test_machines_of_ones_own_cost_what_is_stated() -> None:
    request = asked("grpo")
    free, paid = (api.evaluate(request, of(own(usd_per_gpu_hour=usd))) for usd in (0.0, 2.5))
    assert rent(free) == 0.0
    assert paid.plan is not None
    assert paid.plan.time is not None
    assert rent(paid) == pytest.approx(8 * 2.5 * paid.plan.time.failure_free_hours)
    whole = api.evaluate(request, of(own(usd_per_gpu_hour=None, usd_per_hour=20.0)))
    assert rent(whole) == pytest.approx(rent(paid))
    assert any("costs nothing an hour, as stated" in note for note in free.notes)
    assert pool_of(free).provider == "own"
    assert not free.outside


@pytest.mark.parametrize("usd", [(2.0, 3.0), (3.0, 2.0), (2.0, 2.0)])
def test_each_pool_of_ones_own_costs_what_it_states(usd: tuple[float, float]) -> None:
    request = asked("grpo", choices={"placements": ["disaggregated"]}, limits={"max_gpus": 16})
    pools = [own(role=role, usd_per_gpu_hour=each) for role, each in zip(("train", "rollout"), usd, strict=True)]
    found = api.evaluate(request, of(*pools))
    assert found.plan is not None
    stood = {pool.name: pool for pool in found.plan.pools if pool.gpus}
    assert {name: pool.usd_per_hour for name, pool in stood.items()} == {"train": 8 * usd[0], "rollout": 8 * usd[1]}
    assert len({pool.offer for pool in stood.values()}) == len(set(usd))
    again = api.evaluate(request, of_plan(found.plan))
    assert again.plan is not None
    assert [pool.usd_per_hour for pool in again.plan.pools] == [pool.usd_per_hour for pool in found.plan.pools]


def test_an_offer_that_one_pool_takes_at_its_price_keeps_it_beside_a_pool_that_states_another() -> None:
    request = asked("grpo", choices={"placements": ["disaggregated"]}, limits={"max_gpus": 16})
    listed = pool_of(api.evaluate(asked("grpo"), of(eight())))
    stated = eight(role="rollout", offer=listed.offer, provider="aws", region="us-east-1", usd_per_hour=16.0)
    found = api.evaluate(request, of(eight(offer=listed.offer), stated))
    assert found.plan is not None
    paid = {pool.name: pool.usd_per_hour for pool in found.plan.pools if pool.gpus}
    assert paid == {"train": listed.usd_per_hour, "rollout": 16.0}


@pytest.mark.parametrize("stated", [{"gpus": 8}, {"instance_type": "p5.48xlarge"}, {"offer": "listed"}])
@pytest.mark.parametrize("first", ["train", "rollout"])
@pytest.mark.parametrize("mine", ["train", "rollout"])
def test_a_pool_without_a_price_is_billed_at_the_catalogs_whatever_the_other_states(
    mine: str, first: str, stated: dict[str, object]
) -> None:
    request = asked("grpo", choices={"placements": ["disaggregated"]}, limits={"max_gpus": 16})
    listed = pool_of(rented("H100", 8))
    here = {"provider": "aws", "region": "us-east-1", **({"offer": listed.offer} if "offer" in stated else stated)}
    pools = {
        role: eight(role=role, **here, **({"usd_per_hour": 16.0} if role == mine else {}))
        for role in ("train", "rollout")
    }
    order = sorted(pools, key=lambda role: role != first)
    found = api.evaluate(request, of(*(pools[role] for role in order)))
    assert found.plan is not None
    paid = {pool.name: pool.usd_per_hour for pool in found.plan.pools if pool.gpus}
    assert paid == {role: 16.0 if role == mine else listed.usd_per_hour for role in pools}


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_stated_price_is_not_discounted_again(share: float) -> None:
    request = asked("grpo", choices={"discounts": {"aws": share}})
    found = api.evaluate(request, of(own(provider="aws", usd_per_gpu_hour=2.0)))
    assert pool_of(found).usd_per_hour == pytest.approx(16.0)


@pytest.mark.parametrize(
    ("choices", "given"),
    [
        ({"grades": ["marketplace"]}, {}),
        ({"price_confidence": ["medium"]}, {}),
        ({"zones": ["use1-az4"]}, {"provider": "aws", "region": "us-east-1", "zone": "use1-az6"}),
        ({"zones": ["use1-az4"]}, {"zone": "cellar"}),
    ],
)
def test_choices_of_prices_and_places_do_not_keep_out_ones_own_machines(
    choices: dict[str, object], given: dict[str, object]
) -> None:
    request, config = asked("grpo", choices=choices), of(own(**given))
    machines = machines_of(config, request, api.catalog())
    assert machines.own
    market = open_market(admitting(request, machines), machines.catalog, 8)
    assert machines.own <= {offer.id for offer in market.offers}
    for key in ("grades", "price_confidence", "zones"):
        kept = getattr(request.choices, key)
        wide = getattr(admitting(request, machines).choices, key)
        assert wide is None if kept is None else set(kept) <= set(wide)


@pytest.mark.parametrize("number", ["03", "04", "11"])
def test_a_plan_is_priced_to_the_cent_as_it_was(number: str) -> None:
    """Also where the request trusts some prices only: those of storage and control must not be others."""
    request = api.load(next(EXAMPLES.glob(f"{number}-*.yaml")))
    plan = api.solve(request, short_frontier=False)
    found = api.evaluate(request, of_plan(plan))
    assert found.plan is not None
    assert usd(found.plan) == pytest.approx(usd(plan), abs=1e-6)
    assert found.difference is not None
    assert (found.difference.lines, found.difference.decisions, found.difference.pools) == ([], [], [])
    assert (found.taken, found.outside, found.breaks) == ([], [], [])


@pytest.mark.parametrize("zones", [{}, {"zones": ["use1-az4", "use1-az6"]}])
def test_a_saved_plan_keeps_its_own_price_when_the_catalog_has_moved_on(zones: dict[str, object]) -> None:
    request = asked("grpo", choices={"gpus": ["A100-80GB"], "pricing": ["spot"], **zones})
    plan = api.solve(request, short_frontier=False)
    dearer = [
        pool.model_copy(update={"usd_per_hour": pool.usd_per_hour * 3}) if pool.gpus else pool for pool in plan.pools
    ]
    found = api.evaluate(request, of_plan(plan.model_copy(update={"pools": dearer})))
    before, after = (next(pool for pool in pools if pool.gpus) for pools in (plan.pools, dearer))
    assert pool_of(found).offer == before.offer
    assert pool_of(found).usd_per_hour == pytest.approx(after.usd_per_hour)
    assert not found.outside


def test_both_backends_price_a_configuration_alike() -> None:
    config = of(eight())
    one, other = (api.evaluate(asked("grpo"), config, backend=name) for name in ("pulp", "ortools"))
    assert one.plan is not None
    assert other.plan is not None
    assert usd(one.plan) == pytest.approx(usd(other.plan), rel=1e-9)
    assert one.plan.decisions == other.plan.decisions


def test_machines_of_ones_own_are_among_the_choices_of_the_optimum() -> None:
    request = asked("grpo")
    found = api.evaluate(request, of(own()))
    assert found.plan is not None
    assert usd(found.optimum) <= usd(found.plan) * (1 + 1e-9)
    assert usd(found.optimum) < usd(api.solve(request, short_frontier=False))


def test_a_machine_that_nobody_rents_serves_at_a_made_up_provider() -> None:
    pool = pool_of(api.evaluate(asked("grpo"), of(own(provider="basement", gpus=6, gpus_per_node=6, link="pcie"))))
    assert (pool.provider, pool.gpus, pool.nodes, pool.gpus_per_node) == ("basement", 6, 1, 6)


def test_what_is_stated_is_held_though_it_is_dearer() -> None:
    best, held = rented("H100", 8), rented("H100", 8, LayoutGiven(micro_batch=1, recompute="full", rollout_tp=4))
    assert best.plan is not None
    assert held.plan is not None
    assert usd(held.plan) > usd(best.plan)
    layout = pool_of(held).layout
    assert layout is not None
    assert (layout.micro_batch, layout.recompute, layout.rollout_tp) == (1, "full", 4)
    stated = {one.key: one.value for one in held.stated}
    assert stated["pools.main.layout.micro_batch"] == 1
    taken = {one.key for one in held.taken}
    assert "pools.main.layout.micro_batch" not in taken
    assert {"pools.main.layout.tp", "decisions.checkpoint.interval_steps"} <= taken


@pytest.mark.parametrize("mine", [False, True])
def test_memory_is_told_of_every_stage_and_peaks_where_the_plan_says(mine: bool) -> None:
    """Also on machines that cost nothing, where many layouts have nearly the same bill."""
    found = api.evaluate(asked("grpo"), of(own())) if mine else rented("H100", 8)
    memory = pool_of(found).memory
    assert memory is not None
    peak = max(found.memory, key=lambda one: one.needed_gib)
    assert peak.stage == memory.stage
    assert peak.needed_gib == pytest.approx(memory.needed_gib)
    assert {one.stage for one in found.memory} >= {"update policy", "forward reference", "generate"}
    assert all(one.fits for one in found.memory)


def test_a_misfit_says_stage_part_and_gib_and_its_remedies_really_fit() -> None:
    layout = LayoutGiven(offload="none", micro_batch=16)
    found = rented("A100-80GB", 1, layout, large=True)
    assert not found.fits
    assert found.plan is None
    assert found.misfit is not None
    assert (found.misfit.stage, found.misfit.part) == ("update policy", "optimizer")
    (stage,) = found.memory
    assert not stage.fits
    assert found.misfit.missing_gib == pytest.approx(stage.needed_gib - stage.capacity_gib)
    remedies = {one.key: one for one in found.misfit.remedies}
    assert {"gpus", "layout", "job.trainable"} <= set(remedies)
    more = remedies["gpus"].after
    enough = rented("A100-80GB", more, layout, large=True)
    assert enough.plan is not None
    assert usd(enough.plan) == pytest.approx(remedies["gpus"].total_usd)
    if more > 2:
        assert not rented("A100-80GB", more // 2, layout, large=True).fits


def test_a_remedy_that_breaks_a_limit_says_so_and_stands_after_those_that_do_not() -> None:
    layout = LayoutGiven(offload="none", micro_batch=16)
    request = asked("grpo", models=LARGE, limits={"max_gpus": 1, "deadline": "3.4h"})
    config = of(PoolGiven(role="train", gpu="A100-80GB", gpus=1, layout=layout))
    found = api.evaluate(request, config)
    assert found.misfit is not None
    remedies = found.misfit.remedies
    order = [(bool(one.breaks), one.total_usd) for one in remedies]
    assert order == sorted(order)
    (more,) = (one for one in remedies if one.key == "gpus")
    assert "limits.max_gpus" in more.breaks
    again = api.evaluate(request, of(PoolGiven(role="train", gpu="A100-80GB", gpus=more.after, layout=FREE)))
    assert "limits.max_gpus" in {one.constraint for one in again.breaks}
    kept = [one for one in remedies if not one.breaks]
    assert kept, "some change keeps the limits"
    for one in kept:
        if one.key == "job.trainable":
            lora = type(request.job.trainable)(kind="lora", lora_rank=32)
            assert api.evaluate(request.replaced("job.trainable", lora), config).keeps
    assert {one.key for one in kept} >= {"job.trainable"}
    assert ["limits.deadline"] in [one.breaks for one in remedies]


def test_an_engine_that_does_not_fit_says_so() -> None:
    request = asked("grpo", models=LARGE, choices={"placements": ["disaggregated"]}, limits={"max_gpus": 16})
    pools = PoolGiven(role="train", gpu="A100-80GB", gpus=8), PoolGiven(role="rollout", gpu="T4", gpus=1)
    found = api.evaluate(request, of(*pools))
    assert found.misfit is not None
    assert (found.misfit.pool, found.misfit.stage, found.misfit.part) == ("rollout", "generate", "weights")
    assert "each T4" in found.misfit.reason
    assert "gpu" in {one.key for one in found.misfit.remedies}


def test_host_memory_that_is_missing_is_told() -> None:
    found = api.evaluate(asked("grpo"), of(own(host_memory_gib=4.0)))
    assert found.misfit is not None
    assert found.misfit.reason == "it needs more host memory than a machine has (4 GiB), whatever is offloaded"


def test_limits_that_are_broken_are_named_with_both_numbers() -> None:
    request = asked("grpo", limits={"max_gpus": 4, "budget": "5 USD", "deadline": "100h"})
    found = api.evaluate(request, of(eight()))
    assert found.plan is not None
    broken = {one.constraint: (one.value, one.limit) for one in found.breaks}
    assert set(broken) == {"limits.max_gpus", "limits.budget"}
    assert broken["limits.max_gpus"] == (8.0, 4.0)
    value, limit = broken["limits.budget"]
    assert value == pytest.approx(usd(found.plan))
    assert limit == 5.0
    assert not found.keeps


def test_machines_are_counted_by_the_node_too() -> None:
    pool = PoolGiven(role="train", instance_type="p5.48xlarge", nodes=2)
    found = api.evaluate(asked("grpo"), of(pool))
    assert [(one.constraint, one.value) for one in found.breaks] == [("limits.max_gpus", 16.0)]
    assert pool_of(found).nodes == 2


def test_sizes_that_no_search_looks_at_are_evaluated() -> None:
    large = asked("grpo", job={"prompts_per_step": 512}, limits={"max_gpus": 512})
    assert pool_of(api.evaluate(large, of(eight(instance_type="p5.48xlarge", gpus=17 * 8, provider="aws")))).nodes == 17


def test_choices_that_do_not_allow_it_are_named_as_few_as_can_be() -> None:
    request = asked("grpo", choices={"gpus": ["A100-80GB"]})
    found = api.evaluate(request, of(eight(), group_size=8))
    assert found.outside == ["choices.gpus", "choices.group_size"]
    assert found.keeps


@pytest.mark.parametrize(
    ("pool", "decisions", "key", "allowed"),
    [
        ({"gpu": "H1000"}, {}, "gpu", "a GPU of rlopt catalog"),
        ({"gpus": 12, "gpus_per_node": 8}, {}, "gpus", "a multiple of"),
        ({"layout": {"tp": 3}}, {}, "tp", "1, 2, 4"),
        ({"layout": {"sharding": "zero2"}}, {}, "sharding", "zero1"),
        ({"provider": "nobody"}, {}, "provider", "aws"),
        ({"gpus": 99_904}, {}, "gpus", "fewer"),
        ({"role": "rollout"}, {}, "role", "role: train"),
        ({"region": "us-east-9"}, {}, "region", "us-east-1"),
        ({"gpu": "H800"}, {}, "gpu", "a GPU with a price"),
        ({}, {"placement": "async"}, "placement", "colocated"),
        ({}, {"interval_steps": 7}, "interval", "25"),
        ({}, {"tier": "attic"}, "tier", "s3"),
        ({}, {"spare_nodes": 3}, "spare_nodes", "0"),
    ],
)
def test_what_cannot_be_is_one_clear_error(
    pool: dict[str, object], decisions: dict[str, object], key: str, allowed: str
) -> None:
    with pytest.raises(InputError) as caught:
        api.evaluate(asked("grpo"), of(eight(**pool), **decisions))
    (complaint,) = caught.value.complaints
    assert complaint.key.rpartition(".")[2] == key
    assert allowed in complaint.allowed
    assert complaint.fix
