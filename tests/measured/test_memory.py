"""Memory rows: what is read, what is assumed, and how far the shipped constants are from what was published."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rlopt.facts.files.folder import load_catalog
from rlopt.measured.memory.fields import MemoryFields, fields_of
from rlopt.measured.memory.fits import as_training_row, capacity_gib, copies, refused
from rlopt.measured.memory.rows import predict
from rlopt.measured.outcome import RowOutcome
from rlopt.measured.quantities import FITS_QUANTITY, PEAK
from rlopt.measured.rows import MeasuredRow, read_table
from rlopt.measured.training.megatron_args import arguments, model_of

CAL, CATALOG = load_catalog().calibration, load_catalog()
FOLDER = Path(__file__).parents[2] / "measurements"
LLAMA = {"model": "Llama-3.1-8B", "gpus": "8", "gpu": "H100-80GB", "source": "pytorch/torchtitan", "method": "full"}


def row(**cells: str) -> MeasuredRow:
    return MeasuredRow(2, {**LLAMA, **cells})


def read(**cells: str) -> MemoryFields:
    found = fields_of(row(**cells), CATALOG, CAL)
    assert isinstance(found, MemoryFields), found
    return found


@cache
def rows(name: str, quantity: str) -> tuple[MeasuredRow, ...]:
    asked = "result" if quantity == FITS_QUANTITY else quantity
    return tuple(one.asking(quantity) for one in read_table(FOLDER / name).rows if one.has(asked))


@cache
def outcomes(name: str, quantity: str) -> tuple[RowOutcome, ...]:
    return tuple(predict(rows(name, quantity), CATALOG, CAL))


def errors(name: str, quantity: str = PEAK) -> np.ndarray:
    found = zip(rows(name, quantity), outcomes(name, quantity), strict=True)
    return np.array(
        [abs(o.predicted / (r.number(quantity) or np.nan) - 1) for r, o in found if isinstance(o.predicted, float)]
    )


def test_blank_cells_take_what_the_source_does() -> None:
    found = read(seq_len="8192", sharding="zero3/fsdp", micro_batch="2")
    assert (found.engine, found.dp, found.sharding, found.recompute) == ("torchtitan", 8, 3, 1)
    assert "recomputation selective" in found.note
    assert read(sharding="ddp").longest == 2048.0


def test_words_tell_optimizer_offload_and_loss() -> None:
    tune = {"source": "pytorch/torchtune", "gpus": "1", "sharding": "ddp"}
    assert read(**tune, notes="PagedAdamW8bit, optimizer in backward").optimizer == "paged_in_backward"
    assert read(**tune, notes="+ 8-bit AdamW").optimizer == "adamw_8bit_bf16"
    assert read(**tune).optimizer == "adamw_bf16"
    assert read(**tune).chunked_loss
    assert read(notes="optimizer offload").offload == 1
    assert read(method="lora", notes="trainable 9,175,040").lora_rank == pytest.approx(9175040 / 2621440, rel=0.01)
    assert read(method="lora", notes="lora_r=32 on query+value").lora_targets == pytest.approx(2 / (5 + 3.5))
    assert read(method="lora", model="Qwen/Qwen2.5-7B-Instruct-AWQ").base_bytes == 0.55


def test_layers_follow_from_size_and_width_where_they_are_not_printed() -> None:
    found = read(model="BLOOM-prequel GPT 194B", params_b="194", hidden="14400", ffn_hidden="57600", vocab="250000")
    assert found.model.layers == 77


def test_megatrons_arguments_make_its_test_models() -> None:
    notes = "num-experts=8; moe-router-topk=2; swiglu=True; transformer-impl=transformer_engine"
    one = row(model="mcore moe/x", layers="12", hidden="512", heads="8", tp="2", notes=notes)
    model = model_of(one, arguments(one))
    assert not isinstance(model, str)
    assert (model.experts, model.active_experts, model.gated, model.vocab) == (8, 2, True, 50432)
    assert arguments(row(notes="nothing of the kind")) == {}
    hybrid = row(notes="hybrid-layer-pattern=M*; transformer-impl=transformer_engine")
    assert isinstance(model_of(hybrid, arguments(hybrid)), str)


def test_rows_with_a_result_become_training_rows() -> None:
    verl = MeasuredRow(2, {"framework": "verl", "algorithm": "GRPO-LoRA", "model": "Qwen2.5-7B", "gpus": "4", "tp": "4",
                   "gpu": "H100-80", "lora_rank": "32", "sharding": "FSDP", "prompt_len": "512",
                   "response_len": "1024", "notes": "prompts per GPU 64"})  # fmt: skip
    found = as_training_row(verl)
    assert (found.text("micro_batch"), found.text("seq_len"), found.text("tp")) == ("64", "1536", "1")
    assert capacity_gib(verl, CATALOG) == pytest.approx(79.6, abs=1)
    assert copies(verl) == {"frozen": 0, "trained": 0}
    ppo = MeasuredRow(2, {"framework": "OpenRLHF", "algorithm": "PPO", "gpus": "8"})
    assert copies(ppo) == {"frozen": 2, "trained": 1}
    assert "host memory" in refused(MeasuredRow(2, {"notes": "HOST RAM 96 GB exhausted"}))


def test_published_peaks_are_met() -> None:
    """In sample; `python -m lab calibrate` measures the same out of sample."""
    runs, tests = errors("training.csv"), errors("memory_small.csv")
    assert np.median(runs) < 0.10
    assert np.quantile(runs, 0.9) < 0.35
    assert np.median(tests) < 0.04
    assert np.quantile(tests, 0.9) < 0.15
    both = np.concatenate([runs, tests])
    assert np.median(both) < 0.06
    assert np.quantile(both, 0.9) < 0.25


def test_nearly_all_rows_with_a_peak_are_predicted_and_few_lie_above_the_limit() -> None:
    pairs = [
        (r, o) for name in ("training.csv", "memory_small.csv")
        for r, o in zip(rows(name, PEAK), outcomes(name, PEAK), strict=True)
    ]  # fmt: skip
    known = [(r, o) for r, o in pairs if o.predicted is not None]
    assert len(known) > 0.95 * len(pairs)
    assert all(o.reason for _, o in pairs if o.predicted is None)
    above = [r.id for r, o in known if (r.number(PEAK) or 0.0) > (o.limit or 0.0)]
    assert len(above) < 0.05 * len(known)


def test_most_verdicts_are_right() -> None:
    verdicts = outcomes("memory_fit.csv", FITS_QUANTITY)
    pairs = list(zip(rows("memory_fit.csv", FITS_QUANTITY), verdicts, strict=True))
    table = {
        (said, ran): sum(o.predicted == said and r.text("result") == ran for r, o in pairs)
        for said in ("fits", "oom")
        for ran in ("fits", "oom")
    }
    assert table["oom", "fits"] < 0.10 * (table["oom", "fits"] + table["fits", "fits"])
    assert table["fits", "oom"] < 0.20 * (table["fits", "oom"] + table["oom", "oom"])
    assert table["fits", "fits"] + table["oom", "oom"] > 230
