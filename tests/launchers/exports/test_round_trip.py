"""A verl export read again by ``rlopt evaluate`` is the plan, except where the export says that it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import api
from rlopt.studies.diff import difference


@pytest.mark.parametrize(
    ("example", "changed"),
    [
        ("01-grpo-lora-qwen2.5-0.5b-one-gpu", {}),
        ("06-ppo-opt13b-budget", {"pools.main.layout.recompute": ("selective", "full")}),
        ("07-grpo-llama3.1-8b-quota", {}),
        ("11-grpo-qwen2.5-math-7b-cny", {}),
    ],
)
def test_what_was_exported_is_evaluated_as_the_plan(
    root: Path, tmp_path: Path, example: str, changed: dict[str, tuple[str, str]]
) -> None:
    request = api.load(root / "examples" / "requests" / f"{example}.yaml")
    plan = api.solve(request, short_frontier=False)
    made = api.export(request, "verl", plan)
    script = tmp_path / "launch.sh"
    script.write_text(made.files["launch.sh"], encoding="utf-8")
    again = api.evaluate(request, script).plan
    assert again is not None
    apart = difference(plan, again)
    found = {one.key: (one.a, one.b) for one in [*apart.decisions, *apart.pools]}
    assert found == changed
    if not changed:
        assert again.cost is not None
        assert plan.cost is not None
        assert again.cost.total_usd == pytest.approx(plan.cost.total_usd, abs=0.005)
    assert all(any("recomputed" in str(gap) for gap in made.gaps) for _ in changed)
