"""Random small jobs of a policy that acts: backends and listing agree, and less work is never dearer."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.studies.small import solved, usd
from tests.studies.test_acting_choices import VALUE, acting
from tests.studies.test_model_choices import POLICY

FROZEN = {"trainable": {"frozen": ["vision", "backbone"]}}
HEAD = {"share": "backbone", "head": "300M"}


@st.composite
def jobs(draw: st.DrawFn) -> dict[str, Any]:
    """A job with everything that may be stated of such a policy, on one pool or several."""
    heads = draw(st.sampled_from([["flow"], ["flow", "one_step"], ["one_step", "flow", "tokens"]]))
    shared = "tokens" not in heads and draw(st.booleans())
    keys = {"flow_steps": draw(st.integers(1, 12)), "tokens_per_action": 2}
    keys = {key: value for key, value in keys.items() if key == "flow_steps" or "tokens" in heads}
    action = {"head": heads[0], "chunk": 50, "frequency": "50 Hz", **keys}
    action["policy_loss"] = draw(st.sampled_from(["awr", "ppo", "advantage_conditioned"]))
    job = {"steps": None, "convergence": {head: draw(st.integers(10, 60)) for head in heads}, "action": action}
    job |= {"filter": {"drop": draw(st.sampled_from([0.0, 0.3, 0.6])), "before_storage": draw(st.booleans())}}
    job |= FROZEN if shared else {}
    if draw(st.booleans()):
        job["offline"] = {"samples": draw(st.integers(1, 300)), "epochs": draw(st.integers(1, 3))}
    return {
        "models": {"policy": POLICY, "value": HEAD if shared else VALUE},
        "job": job,
        "apart": draw(st.booleans()),
        "action_head": heads,
    }


@settings(max_examples=8, deadline=None)
@given(asks=jobs())
def test_plans_are_the_best_of_all_and_less_work_is_never_dearer(asks: dict[str, Any]) -> None:
    apart, heads, job = asks["apart"], asks["action_head"], asks["job"]
    total = usd(solved(acting(asks["models"], job, apart, action_head=heads)))
    fewer = {head: max(steps // 2, 1) for head, steps in job["convergence"].items()}
    less = {key: value for key, value in job.items() if key != "offline"} | {"convergence": fewer}
    assert usd(solved(acting(asks["models"], less, apart, action_head=heads))) <= total
    alone = [{heads[0]: job["convergence"][heads[0]]}, {"head": heads[0]}]
    needed = {"flow": "flow_steps", "tokens": "tokens_per_action"}.get(heads[0], "")
    kept = {key: value for key, value in job["action"].items() if key in ("chunk", "frequency", "policy_loss", needed)}
    one = job | {"convergence": alone[0], "action": kept | alone[1]}
    assert total <= usd(solved(acting(asks["models"], one, apart))) + 1e-6
