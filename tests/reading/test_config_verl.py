"""verl scripts as configurations: keys that say how the job is run are held, all others are listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import api
from rlopt.answers.configuration import Configuration
from rlopt.errors import InputError
from rlopt.reading.configuration.file import read_configuration
from rlopt.reading.configuration.shell import calculated
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


APART = r"""
NNODES=${NNODES:-2}
# rollout.nnodes=64
n_gpus_rollout=$((16 / (2 + 2)))
n_gpus_training=$((${NGPUS:-12} - n_gpus_rollout))
python -m verl.experimental.MODULE \
    actor_rollout_ref.hybrid_engine=False actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
    trainer.nnodes="${NNODES}" trainer.n_gpus_per_node="${n_gpus_training}" \
"""
TOP = (
    '    rollout.nnodes="$((NNODES - 1))" rollout.n_gpus_per_node="${n_gpus_rollout}" rollout.total_rollout_steps=100\n'
)
INNER = "    actor_rollout_ref.rollout.nnodes=3 actor_rollout_ref.rollout.n_gpus_per_node=4\n"
MAINS = ("fully_async_policy.fully_async_main", "one_step_off_policy.main_ppo")


@pytest.mark.parametrize("main", MAINS)
@pytest.mark.parametrize(
    ("more", "machines"), [(TOP, (1, 4)), (INNER, (3, 4)), (TOP + INNER, (1, 4)), (INNER + TOP, (1, 4)), ("", (1, 8))]
)
def test_trainers_apart_sample_on_the_machines_that_stand_at_the_top(
    tmp_path: Path, main: str, more: str, machines: tuple[int, int]
) -> None:
    body = APART.replace("MODULE", main) + more.replace("\n    ", " \\\n    ")
    found = read(tmp_path, body)
    train, rollout = found.pools
    assert (train.role, train.nodes, train.gpus_per_node, train.gpus) == ("train", 2, 8, 16)
    assert (rollout.role, rollout.nodes, rollout.gpus_per_node) == ("rollout", *machines)
    assert found.decisions.placement == "async"
    assert found.decisions.staleness == (1 if "one_step" in main else None)
    assert any("1 machine of 8 GPUs" in note for note in found.notes) == (not more)
    held = {"rollout.nnodes", "rollout.n_gpus_per_node", "actor_rollout_ref.hybrid_engine"}
    assert not held & set(found.ignored)
    assert ("actor_rollout_ref.rollout.nnodes" in found.ignored) == (TOP in more and INNER in more)


@pytest.mark.parametrize("key", ["async_training: {staleness_threshold: 0.5}", "rollout: {nnodes: 2}"])
def test_a_hydra_file_of_such_a_trainer_is_known_by_its_keys(tmp_path: Path, key: str) -> None:
    text = f"actor_rollout_ref: {{rollout: {{n: 8}}}}\ntrainer: {{nnodes: 1, n_gpus_per_node: 8}}\n{key}\n"
    found = read(tmp_path, text, "run.yaml")
    assert [pool.role for pool in found.pools] == ["train", "rollout"]
    assert found.pools[1].nodes == (2 if "nnodes" in key else 1)


def test_the_main_trainer_samples_apart_only_on_machines_that_are_stated(tmp_path: Path) -> None:
    text = "python -m verl.trainer.main_ppo trainer.v1.trainer_mode=separate_async trainer.n_gpus_per_node=4"
    with pytest.raises(InputError, match="no machines that sample") as caught:
        read(tmp_path, text + "\n")
    assert caught.value.complaints[0].key == "actor_rollout_ref.rollout.nnodes"
    found = read(tmp_path, text + " actor_rollout_ref.rollout.nnodes=2\n")
    assert (found.pools[1].nodes, found.pools[1].gpus_per_node) == (2, 4)
    assert any("hybrid_engine" in note for note in found.notes)


@pytest.mark.parametrize(
    ("sum_", "is_"),
    [("1024 * 8", 8192), ("(2 + 2) * -3", -12), ("7 / 2", 3), ("-7 / 2", -3), ("$A - A", 0), ("${A} * (A + 1)", 20)],
)
def test_sums_of_a_script_are_written_out(sum_: str, is_: int) -> None:
    assert calculated(f"x=$(({sum_}))", {"A": "4"}) == f"x={is_}"


@pytest.mark.parametrize(
    "sum_", ["B + 1", "1 / 0", "2 ** 9", "f(1)", "1 +", "'a' * 9", "9" * 40, "(" * 190, "1.5 * 2", "__import__"]
)
def test_what_is_no_sum_of_known_numbers_stays_as_it_stands(sum_: str) -> None:
    assert calculated(f"x=$(({sum_}))", {}) == f"x=$(({sum_}))"


@pytest.mark.parametrize("long", ["-" * 100_000 + "1", "(" * 100_000, "9*" * 50_000 + "9", "A" * 10_000])
def test_a_variable_that_is_no_number_stays_out_of_sums(long: str) -> None:
    assert calculated("x=$((A + 1))", {"A": long}) == "x=$((A + 1))"


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
