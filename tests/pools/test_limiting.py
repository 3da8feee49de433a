"""What limits a stage: synthetic stages of one known bottleneck, and real ones whose bottleneck is plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import api
from rlopt.answers.plan import StageTime
from rlopt.estimates import Hardware
from rlopt.pools.limiting import BANDWIDTH, COMMUNICATION, COMPUTE, ENVIRONMENT, HOST, LATENCY, TAIL, limits, quicker
from rlopt.request import Request
from tests.estimates.parts import hardware
from tests.studies.small import asked

REQUESTS = Path(__file__).resolve().parents[2] / "examples/requests"
PARTS = (COMPUTE, BANDWIDTH, COMMUNICATION, HOST, LATENCY)


def _seconds(machine: Hardware, weights: dict[str, float]) -> float:
    """A stage of so many seconds a resource on an H100, whatever the machine's latency."""
    plain = hardware()
    rates = {
        COMPUTE: machine.tflops["bf16"][0] / plain.tflops["bf16"][0],
        BANDWIDTH: machine.hbm_gb_s[0] / plain.hbm_gb_s[0],
        COMMUNICATION: machine.link_gb_s[0] / plain.link_gb_s[0],
        HOST: machine.pcie_gb_s[0] / plain.pcie_gb_s[0],
        LATENCY: 1.0,
    }
    return sum(seconds / float(rates[name]) for name, seconds in weights.items())


@pytest.mark.parametrize("largest", PARTS)
def test_the_largest_part_is_what_limits(largest: str) -> None:
    weights = dict.fromkeys(PARTS, 1.0) | {largest: 1.2}
    other = dict.fromkeys(PARTS, 1.0) | {COMPUTE: 3.0}
    found = limits(lambda machine: [_seconds(machine, weights), _seconds(machine, other)], hardware())
    assert found == [largest, COMPUTE]


def test_waiting_limits_the_first_stage_alone() -> None:
    weights = dict.fromkeys(PARTS, 1.0)

    def estimate(machine: Hardware) -> list[float]:
        return [_seconds(machine, weights) + 1.5, _seconds(machine, weights | {BANDWIDTH: 1.1})]

    assert limits(estimate, hardware(), {ENVIRONMENT: 1.5}) == [ENVIRONMENT, BANDWIDTH]


def test_the_network_counts_with_the_link_inside() -> None:
    plain, better = hardware(gbps=100.0), quicker(hardware(gbps=100.0))[COMMUNICATION]
    assert (better.node_gb_s[0], better.link_gb_s[0]) == (2 * plain.node_gb_s[0], 2 * plain.link_gb_s[0])


def _stages(name: str, *changes: str) -> dict[str, StageTime]:
    plan = api.solve(api.load(next(REQUESTS.glob(f"{name}-*.yaml")), changes), short_frontier=False)
    assert plan.time is not None
    return {f"{stage.stage} {stage.model}": stage for stage in plan.time.stages}


def test_real_stages_are_limited_by_what_they_do() -> None:
    found = _stages("11")
    assert found["update policy"].limited_by == COMPUTE
    assert found["generate policy"].limited_by == BANDWIDTH
    assert found["transfer policy"].limited_by is None


def test_slow_tools_limit_sampling() -> None:
    tools = {
        "kind": "tools",
        "calls_per_sample": {"mean": 2, "max": 4},
        "seconds_per_call": {"mean": "300s", "max": "600s"},
    }
    assert _generate(asked("grpo", job={"environment": tools})) == ENVIRONMENT


def test_one_long_response_limits_a_step_of_few_samples() -> None:
    job = {"prompts_per_step": 64, "response_tokens": {"mean": 200, "max": 8000, "p99": 7000}}
    assert _generate(asked("grpo", job=job)) == TAIL


def _generate(request: Request) -> str | None:
    plan = api.solve(request, short_frontier=False)
    assert plan.time is not None
    return next(stage.limited_by for stage in plan.time.stages if stage.stage == "generate")
