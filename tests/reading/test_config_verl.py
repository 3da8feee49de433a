"""verl scripts as configurations: keys that say how the job is run are held, all others are listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import api
from rlopt.configuration import Configuration
from rlopt.errors import InputError
from rlopt.reading.config_file import read_configuration
from tests.studies.small import asked

SCRIPT = r"""
#!/bin/bash
set -x
# trainer.nnodes=64
GPUS=8
export TP=${TP:-4}
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \
    data.train_batch_size=64 \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B \
    actor_rollout_ref.model.enable_gradient_checkpointing=True \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
    actor_rollout_ref.actor.fsdp_config.param_offload=False \
    actor_rollout_ref.actor.fsdp_config.optimizer_offload=True \
    actor_rollout_ref.rollout.tensor_model_parallel_size=$TP \
    actor_rollout_ref.rollout.n=4 \
    +actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \
    trainer.n_gpus_per_node="${GPUS}" \
    trainer.nnodes=1 \
    trainer.save_freq=50 $@
"""


def read(tmp_path: Path, text: str, name: str = "run.sh") -> Configuration:
    """Read a text as a file."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_configuration(path)


def test_a_script_says_how_the_job_is_run(tmp_path: Path) -> None:
    found = read(tmp_path, SCRIPT)
    (pool,) = found.pools
    assert (pool.role, pool.gpus, pool.nodes, pool.gpus_per_node, pool.gpu) == ("train", 8, 1, 8, None)
    layout = pool.layout
    assert (layout.tp, layout.cp, layout.sharding, layout.micro_batch) == (1, 1, "zero3", 2)
    assert (layout.recompute, layout.offload, layout.rollout_tp) == ("full", "optimizer", 4)
    assert (found.decisions.placement, found.decisions.group_size, found.decisions.interval_steps) == (
        "colocated",
        4,
        50,
    )
    assert found.ignored == (
        "actor_rollout_ref.model.path",
        "actor_rollout_ref.rollout.gpu_memory_utilization",
        "algorithm.adv_estimator",
        "data.train_batch_size",
    )


def test_megatron_keys_become_degrees(tmp_path: Path) -> None:
    text = (
        "python -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=megatron trainer.nnodes=2 "
        "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 "
        "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 "
        "actor_rollout_ref.actor.megatron.param_offload=True\n"
    )
    found = read(tmp_path, text)
    layout = found.pools[0].layout
    assert (layout.tp, layout.pp, layout.sharding, layout.offload, layout.recompute) == (
        2,
        2,
        "zero1",
        "parameters",
        "none",
    )
    assert (found.pools[0].gpus, layout.rollout_tp) == (16, 2)
    assert any("is 2 where it is left out" in note for note in found.notes)


def test_a_hydra_file_is_read_like_its_overrides(tmp_path: Path) -> None:
    text = (
        "actor_rollout_ref:\n  actor: {use_dynamic_bsz: true, ppo_micro_batch_size_per_gpu: 4}\n"
        "  rollout: {n: 8, tensor_model_parallel_size: 1, quantization: fp8, nnodes: 1, n_gpus_per_node: 8}\n"
        "  hybrid_engine: false\ntrainer: {nnodes: 1, n_gpus_per_node: 8}\n"
    )
    found = read(tmp_path, text, "run.yaml")
    assert [(pool.role, pool.gpus) for pool in found.pools] == [("train", 8), ("rollout", 8)]
    assert found.decisions.placement == "async"
    assert found.decisions.precision.rollout == "fp8"
    assert found.pools[0].layout.micro_batch is None
    assert any("filled by tokens" in note for note in found.notes)


def test_a_script_is_evaluated_and_says_what_it_did_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(SCRIPT, encoding="utf-8")
    found = api.evaluate(asked("grpo"), path)
    assert found.plan is not None
    (pool,) = (pool for pool in found.plan.pools if pool.gpus)
    assert pool.layout is not None
    assert (pool.gpus, pool.layout.micro_batch, pool.layout.rollout_tp, pool.layout.offload) == (8, 2, 4, "optimizer")
    assert any("data.train_batch_size" in note for note in found.notes)


def test_a_count_that_is_none_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "python -m verl.trainer.main_ppo \\\n  trainer.nnodes=$NODES\n")
    (complaint,) = caught.value.complaints
    assert (complaint.key, complaint.line) == ("trainer.nnodes", 2)
    assert "'$NODES' is no count" in complaint.message
