"""Generation rows read: engines, degrees, precisions, lengths and load, and errors on what is published."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lab.fitting.generation import measured_rows
from rlopt.facts.files.folder import load_catalog
from rlopt.measured.names import find_machine, find_model
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.sampling.cells import Cells, cells_of
from rlopt.measured.sampling.rows import predict

CATALOG, CAL = load_catalog(), load_catalog().calibration
PLAIN = {
    "id": "mine-1", "engine": "vLLM", "version": "0.11.0", "model": "Qwen3-8B", "gpu": "H100-SXM-80GB", "gpus": "2",
    "tp": "2", "weight_precision": "bf16", "input_len": "1000", "output_len": "500", "batch_or_concurrency": "64",
    "max_throughput_mode": "n", "output_tokens_per_s_total": "5000",
}  # fmt: skip


def row(**cells: str) -> MeasuredRow:
    return MeasuredRow(2, PLAIN | cells)


def read(**cells: str) -> Cells:
    one = row(**cells)
    model, machine = find_model(one, CATALOG), find_machine(one, CATALOG)
    assert not isinstance(model, str)
    assert not isinstance(machine, str)
    return cells_of(one, model, machine, CAL)


@pytest.mark.parametrize(
    ("engine", "version", "gpu", "found"),
    [
        ("vLLM", "0.11.0", "H100-SXM-80GB", "vllm"),
        ("vLLM", "mid-2024", "A100-SXM-80GB", "vllm-2024"),
        ("vllm", "0.6.2", "MI300X-192GB", "vllm-rocm-2024"),
        ("vLLM", "mid-2024", "MI250-128GB", "vllm-cdna2-2024"),
        ("vLLM(ROCm)", "0.10.0 (ROCm 6.4.1)", "MI300X-192GB", "vllm-rocm"),
        ("SGLang", "v0.5.3", "H200-SXM-141GB", "sglang"),
        ("TensorRT-LLM", "0.17", "H100-SXM-80GB", "trt-llm"),
        ("TensorRT-LLM", "0.6.1", "H100-SXM-80GB", "trt-llm-static"),
        ("TensorRT-LLM", "1.0", "B200-SXM-180GB", "trt-llm-main"),
        ("trtllm", "1.2.0rc2", "B200-SXM-180GB", "trt-llm-server"),
        ("NIM", "1.2", "H100-SXM-80GB", "trt-llm-server"),
        ("LMDeploy", "0.2.0", "A100-SXM-80GB", "lmdeploy"),
        ("Transformers", "transformers 4.51.3", "H20-96GB", "transformers"),
        ("MLPerf/TensorRT 10.2.0, CUDA 12.4", "v4.1", "H100-SXM-80GB", "mlperf-nvidia"),
        ("MLPerf/vLLM 0.4.3+rocm614", "v4.1", "MI300X-192GB", "mlperf-amd"),
        ("something new", "", "H100-SXM-80GB", "unknown"),
    ],
)
def test_engines_are_found_by_their_spelling(engine: str, version: str, gpu: str, found: str) -> None:
    assert read(engine=engine, version=version, gpu=gpu).engine == found


def test_a_plain_row_is_read_as_it_stands() -> None:
    found = read()
    assert (found.tp, found.ep, found.replicas, found.precision, found.kv_bytes) == (2.0, 1.0, 1.0, "bf16", 2.0)
    assert (found.prompt, found.response, found.concurrency) == (1000.0, 500.0, 64.0)
    assert math.isinf(found.requests)
    assert found.assumed == ()


def test_spread_experts_of_derived_latencies_count_a_replica_once() -> None:
    note = "DERIVED by Little law from TTFT 1 ms; attention_dp={dp}; lengths at ~0.8-1.0 of nominal"
    wide = {"model": "deepseek-ai/DeepSeek-V3", "gpu": "B200-SXM-180GB", "weight_precision": "nvfp4"}
    same = read(**wide, tp="16", ep="4", gpus="16", notes=note.format(dp=1))
    assert (same.tp, same.ep, same.replicas) == (4.0, 4.0, 1.0)
    apart = read(**wide, tp="1", ep="8", gpus="64", notes=note.format(dp=64))
    assert (apart.tp, apart.ep, apart.replicas) == (1.0, 8.0, 1.0)
    assert same.prompt == 900.0
    rack = read(**wide | {"gpu": "GB200"}, tp="72", ep="1", gpus="72", notes=note.format(dp=1))
    assert (rack.tp, rack.ep) == (1.0, 72.0)


def test_all_requests_at_once_are_a_burst() -> None:
    found = read(batch_or_concurrency="1000", notes="vllm bench serve, all 1000 requests at once", input_len="217.4")
    assert found.requests == 1000.0
    assert math.isinf(found.concurrency)
    assert found.longest > found.response
    capped = read(batch_or_concurrency="512", notes="vllm bench serve, all 1000 requests at once")
    assert (capped.concurrency, capped.longest) == (512.0, capped.response)


def test_blank_cells_of_mlperf_take_the_task_and_say_so() -> None:
    found = read(
        engine="MLPerf/TensorRT 10.2.0, CUDA 12.4", model="llama2-70b-99", gpus="8", tp="", weight_precision="",
        input_len="", output_len="290", batch_or_concurrency="", max_throughput_mode="y",
    )  # fmt: skip
    assert (found.tp, found.replicas, found.precision, found.kv_bytes) == (2.0, 4.0, "fp8", 1.0)
    assert found.prompt == 294.0
    assert math.isinf(found.concurrency)
    assert len(found.assumed) == 3


@pytest.mark.parametrize(
    ("text", "precision", "kind"),
    [("awq-int4", "int4", "awq"), ("gptq-int8", "int8", "int8"), ("fp8_block", "fp8", "fp8-block"),
     ("nvfp4", "fp4", "fp4"), ("bf16 (not stated)", "bf16", "bf16"), ("int4_wo", "int4", "int4")],
)  # fmt: skip
def test_weight_formats(text: str, precision: str, kind: str) -> None:
    found = read(weight_precision=text)
    assert (found.precision, found.format) == (precision, kind)


def test_weights_without_eight_bit_cores_are_unpacked() -> None:
    assert read(weight_precision="fp8", gpu="A100-SXM-80GB").precision == "int8"


def test_unknown_names_are_refused_with_the_reason() -> None:
    model, gpu = predict([row(model="Nobody-9000"), row(gpu="abacus")], CATALOG, CAL)
    assert model.predicted is None
    assert "Nobody-9000" in model.reason
    assert "abacus" in gpu.reason


def test_predictions_move_as_they_must() -> None:
    def tokens_per_s(**cells: str) -> float:
        (found,) = predict([row(**cells)], CATALOG, CAL)
        assert isinstance(found.predicted, float)
        return found.predicted

    base = tokens_per_s()
    assert tokens_per_s(batch_or_concurrency="128") > base
    assert tokens_per_s(output_len="4000") < base
    assert tokens_per_s(weight_precision="fp8") > base
    assert tokens_per_s(gpu="H200-SXM-141GB") > base
    assert tokens_per_s(gpus="4") < 2 * base  # two replicas share what is asked
    assert tokens_per_s(gpus="4", batch_or_concurrency="128") == pytest.approx(2 * base)
    assert tokens_per_s(max_throughput_mode="y", batch_or_concurrency="") > base


def test_published_rows_are_nearly_all_predicted_within_the_stated_error() -> None:
    rows = measured_rows()
    with np.errstate(all="ignore"):
        outcomes = predict(rows, CATALOG, CAL)
    pairs = [
        (one.predicted, r.number("output_tokens_per_s_total"))
        for r, one in zip(rows, outcomes, strict=True)
        if isinstance(one.predicted, float)
    ]
    assert len(pairs) >= 0.99 * len(rows)
    error = np.abs(np.array([p / m - 1.0 for p, m in pairs if m]))
    assert np.median(error) < 0.09
    assert np.quantile(error, 0.9) < 0.32
