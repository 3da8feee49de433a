"""RL rows: what is read from a row, what is assumed, what is refused, and in which unit the answer comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt.facts.files.folder import load_catalog
from rlopt.measured.loop.defaults import framework_of
from rlopt.measured.loop.fields import LoopFields, read_loop
from rlopt.measured.loop.rows import predict
from rlopt.measured.loop.trainer import is_trainer, training_row
from rlopt.measured.quantities import STAGE_COLUMNS, asked
from rlopt.measured.rows import MeasuredRow, MeasuredTable, read_table

CATALOG, CAL = load_catalog(), load_catalog().calibration
FILE = Path(__file__).parents[2] / "measurements" / "rl.csv"
NEMO = {
    "framework": "NeMo-RL", "version": "v0.5", "algorithm": "GRPO", "model": "Qwen3-32B", "gpu": "H100-80G",
    "gpus": "32", "gpus_train": "32", "gpus_gen": "32", "placement": "colocated", "mode": "sync",
    "train_backend": "Megatron-Core", "train_tp": "4", "train_pp": "4", "train_cp": "1", "train_ep": "1",
    "gen_tp": "4", "gen_precision": "bf16", "train_precision": "bf16", "prompts_per_step": "64", "k": "32",
    "global_train_batch": "512", "response_len_max": "4096", "response_len_mean": "3251", "critic": "n",
}  # fmt: skip


def row(quantity: str = "step_time_s", **cells: str) -> MeasuredRow:
    return MeasuredRow(2, NEMO | cells, quantity)


def loop(**cells: str) -> LoopFields:
    found = read_loop(row(**cells), CATALOG, CAL)
    assert isinstance(found, LoopFields), found
    return found


def value(quantity: str = "step_time_s", **cells: str) -> float:
    outcome = predict([row(quantity, **cells)], CATALOG, CAL)[0]
    assert isinstance(outcome.predicted, float), outcome.reason
    return outcome.predicted


def refusal(**cells: str) -> str:
    outcome = predict([row(**cells)], CATALOG, CAL)[0]
    assert outcome.predicted is None
    return outcome.reason


def test_published_totals_are_split_into_prompt_and_response() -> None:
    found = loop()
    assert found.prompt + found.response == pytest.approx(3251)
    assert found.prompt + found.longest == pytest.approx(4096)
    assert (found.sequences, found.updates, found.data_ranks) == (2048, 4, 2)
    assert found.scores == 2


def test_lengths_of_other_frameworks_hold_the_response_alone() -> None:
    found = loop(framework="verl", prompt_len="100", train_backend="FSDP2")
    assert (found.prompt, found.response, found.longest) == (100, 3251, 4096)
    assert found.sharded
    assert found.scores == 1


def test_sides_and_batches_follow_from_what_is_stated() -> None:
    apart = {"mode": "async", "placement": "disaggregated", "gpus_gen": ""}
    assert (loop(**apart, gpus_train="").gpus_train, loop(**apart, gpus_train="").gpus_sample) == (16, 16)
    assert loop(**apart, gpus_train="24").gpus_sample == 8
    alone = loop(prompts_per_step="", k="")
    assert (alone.sequences, alone.updates) == (512, 1)
    assert "one update a step" in alone.assumed


def test_a_missing_mean_length_follows_the_limit_and_is_noted() -> None:
    found = loop(framework="verl", response_len_mean="", response_len_max="8192")
    assert found.response == 800
    assert any("responses of 800 tokens" in note for note in found.assumed)
    assert loop(framework="verl", response_len_mean="", response_len_max="32768").response == 1600


def test_a_trainer_may_take_the_engines_log_probabilities() -> None:
    apart = {"framework": "verl", "mode": "async", "train_backend": "FSDP2", "ref": "n"}
    assert loop(**apart).scores == 0
    assert loop(**apart, logprob_time_s="108").scores == 1
    assert loop(framework="verl", logprob_time_s="0", ref="y").scores == 1


def test_lags_are_read_from_the_notes() -> None:
    apart = {"mode": "async", "placement": "disaggregated", "gpus_train": "16", "gpus_gen": "16"}
    assert loop(**apart).lag == 1
    assert loop(**apart, notes="H100 BF16; 8-step Off; average").lag == 8
    assert loop(**apart, notes="staleness 0.5, partial rollout").lag == 0.5
    assert loop().lag == 0


def test_deepspeed_chat_states_a_bound_on_its_prompts_and_names_its_critic() -> None:
    found = loop(
        framework="DeepSpeed-Chat", algorithm="PPO", prompts_per_step="<=1024", k="1", global_train_batch="",
        model="OPT-6.7B", critic="y", ref="y", reward="model", train_backend="DeepSpeed ZeRO",
        notes="fixed length, critic/RM OPT-350M, max global batch 1024 pairs",
    )  # fmt: skip
    assert found.sequences == 1024
    assert found.critic is not None
    assert found.critic.name == "OPT-350M"
    assert found.reward is found.critic
    assert loop(critic="y").critic is loop().model


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"gpu": ""}, "the GPU is not stated"),
        ({"gpus": "", "gpus_train": "", "gpus_gen": ""}, "the number of GPUs is not stated"),
        ({"prompts_per_step": "", "k": "", "global_train_batch": ""}, "the prompts of a step are not stated"),
        ({"k": ""}, "the samples of a prompt are not stated"),
        ({"train_tp": "64"}, "its parallel degrees need more GPUs than it trains on"),
        ({"placement": "somewhere"}, "the placement 'somewhere' is none of colocated, disaggregated"),
    ],
)
def test_what_no_default_can_fill_is_refused_with_the_reason(cells: dict[str, str], reason: str) -> None:
    assert refusal(**cells) == reason


def test_every_quantity_follows_from_the_step() -> None:
    step = value()
    assert value("samples_per_s") == pytest.approx(2048 / step)
    assert value("tokens_per_s_per_gpu") == pytest.approx(2048 * 3251 / step / 32)
    assert value("total_hours", steps="100") == pytest.approx(100 * step / 3600)
    stages = sum(value(stage) for stage in STAGE_COLUMNS)
    assert 0.8 * step < stages < step


def test_asynchronous_rows_say_no_sampling_time() -> None:
    cells = {"mode": "async", "placement": "disaggregated", "gpus_train": "16", "gpus_gen": "16"}
    assert "wait" in predict([row("gen_time_s", **cells)], CATALOG, CAL)[0].reason


def test_frameworks_are_told_by_name_version_backend_and_mode() -> None:
    assert framework_of(row(), CAL) == "nemo-rl"
    assert framework_of(row(version="v0.4"), CAL) == "nemo-rl-0.4"
    assert framework_of(row(framework="verl"), CAL) == "verl-megatron"
    assert framework_of(row(framework="verl", train_backend="FSDP2"), CAL) == "verl-fsdp"
    assert framework_of(row(framework="verl", mode="async"), CAL) == "verl-async"
    assert framework_of(row(framework="somebody's"), CAL) == "other"


def test_a_stated_99th_percentile_shapes_the_tail() -> None:
    cells = {"response_len_mean": "800", "response_len_max": "8192"}
    assert loop(**cells).p99 is None
    assert loop(**cells, response_len_p99="9000").p99 is None
    assert value(**cells, response_len_p99="1200") < value(**cells, response_len_p99="5000")


def test_longer_responses_and_fewer_gpus_take_longer() -> None:
    assert value(response_len_mean="3600") > value() > value(response_len_mean="1600")
    assert value(gpus="64", gpus_train="64", gpus_gen="64") < value()


def test_trainers_go_to_the_training_model_under_its_columns() -> None:
    cells = {
        "algorithm": "RL-trainer micro-batch", "framework": "prime-rl", "train_backend": "FSDP2", "gpus": "8",
        "response_len_max": "16384", "train_tp": "", "train_pp": "", "global_train_batch": "",
        "notes": "RL LoRA(r=16); trainer only; AC=Recompute",
    }  # fmt: skip
    trainer = row("train_time_s", **cells)
    assert is_trainer(trainer)
    assert not is_trainer(row())
    found = training_row(trainer, CAL.loops)
    assert isinstance(found, MeasuredRow)
    assert found.quantity == "step_time_s"
    told = {name: found.text(name) for name in ("seq_len", "global_batch", "method", "activation_recompute")}
    assert told == {"seq_len": "16384", "global_batch": "8", "method": "lora", "activation_recompute": "full"}
    assert value("train_time_s", **cells) * value("tokens_per_s_per_gpu", **cells) == pytest.approx(16384)


def test_trainers_whose_lengths_depend_on_data_are_refused() -> None:
    cells = {"algorithm": "SFT", "notes": "mbs 1; dataset-dependent lengths (prompt_len column holds max_length)"}
    assert refusal(**cells) == "how long the sequences are depends on the data and is not stated"


def test_every_row_of_the_file_is_answered_and_most_steps_are_predicted() -> None:
    table: MeasuredTable = read_table(FILE)
    steps = [one.asking(name) for one in table.rows for kind, name in asked(table, one) if name not in STAGE_COLUMNS]
    outcomes = predict(steps, CATALOG, CAL)
    assert len(outcomes) == len(steps)
    assert all(outcome.reason for outcome in outcomes if outcome.predicted is None)
    assert sum(outcome.predicted is not None for outcome in outcomes) >= 0.6 * len(steps)
    of_steps = [o for o, one in zip(outcomes, steps, strict=True) if one.quantity in ("step_time_s", "samples_per_s")]
    assert sum(outcome.predicted is not None for outcome in of_steps) >= 0.55 * len(of_steps)
