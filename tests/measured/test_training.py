"""Training rows: what is read of a row, what is assumed where it is silent, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.facts.files.folder import load_catalog
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.fields import TrainingFields, read_fields
from rlopt.measured.training.rows import cases, predict
from rlopt.measured.training.stacks import find_stack

CATALOG, CAL = load_catalog(), load_catalog().calibration
PLAIN = {
    "id": "a-1", "model": "Meta-Llama-3.1-8B", "gpu": "H100-80GB", "gpus": "8", "gpus_per_node": "8",
    "precision": "bf16", "method": "full", "sharding": "zero3/fsdp", "tp": "1", "pp": "1", "dp": "8", "cp": "1",
    "micro_batch": "2", "global_batch": "64", "seq_len": "4096", "activation_recompute": "none",
    "flash_attention": "yes", "tokens_per_s_per_gpu": "9000", "step_time_s": "",
    "source": "pytorch/torchtitan:benchmarks/x.md@0", "notes": "",
}  # fmt: skip


def row(quantity: str = "", **cells: str) -> MeasuredRow:
    return MeasuredRow(2, PLAIN | cells, quantity)


def fields(**cells: str) -> TrainingFields:
    found = read_fields(row(**cells), CATALOG, CAL)
    assert isinstance(found, TrainingFields), found
    return found


def refused(**cells: str) -> str:
    found = read_fields(row(**cells), CATALOG, CAL)
    assert isinstance(found, str)
    return found


def test_a_full_row_needs_no_assumption() -> None:
    found = fields()
    assert found.assumed == ()
    assert (found.gpus, found.dp, found.micro_batch, found.global_batch, found.tokens) == (8, 8, 2, 64, 4096.0)
    assert (found.sharding, found.recompute, found.precision, found.method) == (3, 0, "bf16", "full")
    assert (found.stack.engine, found.model.layers, found.machine.device.name) == ("torchtitan", 32, "H100-SXM")


@pytest.mark.parametrize(
    ("cells", "expected", "assumed"),
    [
        ({"micro_batch": ""}, {"micro_batch": 1}, "micro-batch 1"),
        ({"global_batch": ""}, {"global_batch": 16}, "global batch 16"),
        ({"global_batch": "", "pp": "2", "dp": ""}, {"global_batch": 2 * 4 * 8}, "global batch 64"),
        ({"seq_len": ""}, {"tokens": 4096.0}, "sequences of 4096"),
        ({"gpus": "", "tp": "2", "dp": "4"}, {"gpus": 8}, "8 GPUs"),
        ({"precision": ""}, {"precision": "bf16"}, "precision"),
        ({"precision": "", "notes": "recipe a_8gpu_gb300_fp8mx_config"}, {"precision": "fp8"}, "precision"),
        ({"sharding": "", "gpus": "1", "dp": "1"}, {"sharding": 0}, ""),
        ({"sharding": ""}, {"sharding": 3}, "sharding zero3"),
        ({"activation_recompute": "unknown"}, {"recompute": 1}, "recompute selective"),
        ({"method": "lora"}, {"lora_rank": 16}, "LoRA rank 16"),
        ({"method": "lora", "notes": "lora_rank=64;"}, {"lora_rank": 64}, ""),
        ({"notes": "packing=no;"}, {"sample": 200.0}, "samples of 200 tokens"),
        ({"gpu": "", "source": "hiyouga/LLaMA-Factory:wiki@0"}, {"recompute": 0}, "GPU A100-40GB"),
    ],
)
def test_silent_cells_take_documented_defaults(
    cells: dict[str, str], expected: dict[str, object], assumed: str
) -> None:
    found = fields(**cells)
    for name, value in expected.items():
        assert getattr(found, name) == value
    assert assumed in found.assumed or not assumed


def test_what_cannot_be_known_is_refused_with_its_reason() -> None:
    assert "GPU is not stated" in refused(gpu="")
    assert "no facts about the GPU" in refused(gpu="TPU-v5")
    assert "neither GPUs nor data-parallel ranks" in refused(gpus="", dp="")
    assert "need more GPUs" in refused(tp="16", gpus="12", dp="")
    assert "is none of full, lora, qlora" in refused(method="distil")
    assert refused(global_batch="-4") == "global_batch is no possible count"
    assert refused(model="nobody-knows-this") != ""
    assert "need more GPUs" in refused(gpus="4", tp="2", pp="4", dp="")


def test_a_time_that_says_nothing_of_a_stack_is_refused() -> None:
    """Their memory is predicted like any other; only the time is not."""
    card = {"source": "NVIDIA-NeMo/Megatron-Bridge:examples/cards@0"}
    assert "sanity run" in refused(notes="verification card item sft/H100; recipe x", **card)
    assert isinstance(
        read_fields(row(notes="verification card item pretrain_performance/H100", **card), CATALOG, CAL), TrainingFields
    )
    assert "tokens" in refused(model="Qwen3_30B_a3B tokendrop")
    assert "toy" in refused(source="NVIDIA/Megatron-LM:tests/functional_tests/test_cases/gpt/gpt3_tp4/golden.json@0")
    assert "contradict" in refused(
        tokens_per_s_per_gpu="1000", step_time_s="1", global_batch="64", seq_len="4096", gpus="8"
    )


def test_stated_parameters_win_over_a_shape_that_contradicts_them() -> None:
    shape = {"layers": "96", "hidden": "14336", "heads": "112", "kv_heads": "112", "ffn_hidden": "57344"}
    found = fields(model="GPT of our own", params_b="181", vocab="250000", **shape)
    assert found.model.params == 181e9
    assert "181B parameters as stated" in found.assumed
    assert fields(model="GPT of our own", params_b="242", vocab="250000", **shape).model.params > 235e9


def test_layers_follow_from_width_and_size() -> None:
    found = fields(model="GPT of our own", params_b="194", hidden="14400", vocab="250000", heads="", layers="")
    assert found.model.layers == 77  # 12 · 77 · 14400² + 250000 · 14400 = 195e9
    assert "77 layers" in found.assumed


def test_arguments_in_the_notes_describe_a_model() -> None:
    notes = (
        "transformer-impl=transformer_engine; num-experts=8; moe-router-topk=2; moe-ffn-hidden-size=2048; swiglu=True"
    )
    shape = {"layers": "16", "hidden": "1024", "heads": "16", "ffn_hidden": "4096"}
    found = fields(model="mcore moe/tiny", notes=notes, **shape)
    assert (found.model.experts, found.model.active_experts, found.model.expert_ffn) == (8, 2, 2048)
    assert "hybrid" in refused(model="mcore x/y", notes=f"{notes}; hybrid-layer-pattern=M*M*", **shape)


def test_an_engine_cell_wins_over_the_source() -> None:
    assert find_stack(row(engine="internevo"), CAL).engine == "internevo"
    assert find_stack(row(framework="torchtune"), CAL).engine == "torchtune"
    assert find_stack(row(engine="in-house FSDP2", source="us"), CAL).engine == "fsdp"
    assert find_stack(row(source="us", sharding="", notes="", method=""), CAL).engine == "megatron"


def test_every_stack_of_the_table_is_a_family_of_constants() -> None:
    assert {one.facts.engine for one in CAL.stacks.sources} <= set(CAL.engines)


def test_step_time_and_throughput_say_the_same() -> None:
    rate, step = predict([row("tokens_per_s_per_gpu"), row("step_time_s")], CATALOG, CAL)
    assert isinstance(rate.predicted, float)
    assert isinstance(step.predicted, float)
    assert rate.predicted * step.predicted == pytest.approx(64 * 4096 / 8)
    assert 6000 < rate.predicted < 14000


def test_outcomes_stand_in_the_order_of_the_rows() -> None:
    found = predict([row(gpu=""), row(), row(gpu="TPU-v5")], CATALOG, CAL)
    assert [one.predicted is None for one in found] == [True, False, True]
    assert found[0].reason == "the GPU is not stated"
    labels = found[1].labels
    assert (labels["architecture"], labels["method"]) == ("dense", "full")
    assert (labels["source"], labels["engine"], labels["device"]) == ("pytorch/torchtitan", "torchtitan", "H100-SXM")


def test_no_rows_are_no_cases() -> None:
    assert len(cases([], CATALOG, CAL)) == 0
    assert predict([], CATALOG, CAL) == []


def test_rows_share_a_configuration_exactly_where_they_print_the_same() -> None:
    found = cases([row(id="a"), row(id="b"), row(id="c", micro_batch="1")], CATALOG, CAL)
    first, second, third = found.labels["config"]
    assert first == second != third


def test_qlora_holds_a_quantised_base_and_trains_adapters() -> None:
    found = cases([row(method="qlora"), row(method="lora"), row()], CATALOG, CAL)
    assert list(np.asarray(found.training.base_bytes)) == [0.55, 2.0, 2.0]
    assert list(np.asarray(found.training.lora)) == [True, True, False]
