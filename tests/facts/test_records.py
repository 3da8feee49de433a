"""Frozen records and the look-ups of the catalog."""

from __future__ import annotations

import dataclasses

import pytest

import rlopt.facts
from rlopt.errors import MissingFactError
from rlopt.facts import Catalog, FailureRate, Traffic
from rlopt.facts.files.folder import load_catalog


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.mark.parametrize("name", [name for name in rlopt.facts.__all__ if name[0].isupper() and name != "PRECISIONS"])
def test_records_are_frozen_and_slotted(name: str) -> None:
    record = getattr(rlopt.facts, name)
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)
    assert dataclasses.is_dataclass(record)
    assert record.__doc__


def test_traffic_is_priced_by_band() -> None:
    traffic = Traffic("a", None, "egress_internet", ((10.0, 0.1), (100.0, 0.05), (None, 0.01)), "USD", "", "s")
    assert traffic.price(0) == 0
    assert traffic.price(5) == pytest.approx(0.5)
    assert traffic.price(60) == pytest.approx(1 + 2.5)
    assert traffic.price(200) == pytest.approx(1 + 4.5 + 1)
    closed = dataclasses.replace(traffic, bands=((10.0, 0.1),))
    assert closed.price(20) == pytest.approx(2.0)


def test_rate_of_a_cluster() -> None:
    common = {"id": "x", "provider": "any", "device": "any", "pricing": "any", "low": 0.0, "high": 1.0}
    gpu = FailureRate(**common, kind="failure", per_gpu_hour=1e-5, per_node_hour=None, source="s", note="n")
    node = FailureRate(**common, kind="reclaim", per_gpu_hour=None, per_node_hour=1e-4, source="s", note="n")
    assert gpu.per_hour(4, 8) == pytest.approx(32e-5)
    assert node.per_hour(4, 8) == pytest.approx(4e-4)


def test_families_stand_for_their_forms(catalog: Catalog) -> None:
    def names(word: str) -> set[str]:
        return {device.name for device in catalog.devices_named(word)}

    assert names("H100") == {"H100-SXM", "H100-PCIe", "H100-PCIe-NVLink", "H100-NVL"}
    assert names("h200") == {"H200-SXM", "H200-NVL"}
    assert names("A100-80GB") == {"A100-80GB", "A100-PCIe-80GB", "A100-PCIe-80GB-NVLink"}
    assert names("A100") > names("A100-80GB")
    assert names("H100-SXM") == {"H100-SXM"}
    with pytest.raises(MissingFactError, match="h100"):
        catalog.devices_named("H10O")


@pytest.mark.parametrize(
    "spelling",
    [
        "Qwen/Qwen2.5-0.5B-Instruct", "meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct",
        "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "Qwen/Qwen2.5-7B-Instruct",
        "Qwen/Qwen2.5-Math-7B", "Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen3-8B", "Qwen/Qwen3-32B",
        "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-235B-A22B", "Qwen/Qwen2.5-32B", "meta-llama/Meta-Llama-3-70B",
        "qwen2.5-7b", "llama-3.1-8b-instruct", "Qwen/Qwen2.5-Coder-7B-Instruct",
    ],
)  # fmt: skip
def test_spellings_resolve(catalog: Catalog, spelling: str) -> None:
    model = catalog.model(spelling)
    wanted = "".join(part for part in spelling.lower().split("/")[-1] if part.isdigit())
    assert "".join(part for part in model.name.lower() if part.isdigit()) == wanted


def test_spellings_keep_sizes_apart(catalog: Catalog) -> None:
    assert catalog.model("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B").tie_embeddings is False
    assert catalog.model("Qwen/Qwen2.5-1.5B").tie_embeddings is True
    assert catalog.model("deepseek-ai/DeepSeek-R1").mla is not None
    assert catalog.model("Qwen/Qwen2.5-VL-7B-Instruct").vision is not None


def test_a_lacking_model_names_the_fact(catalog: Catalog) -> None:
    with pytest.raises(MissingFactError, match="linear-attention layers"):
        catalog.model("Qwen/Qwen3.5-27B")
    with pytest.raises(MissingFactError, match="vocabulary"):
        catalog.model("GPT-3 175B")


def test_an_unknown_model_names_the_nearest(catalog: Catalog) -> None:
    with pytest.raises(MissingFactError, match=r"qwen/qwen3-8b"):
        catalog.model("Qwen/Qwen3-8BB")


def test_device_by_name(catalog: Catalog) -> None:
    assert catalog.device("h100-sxm") is catalog.devices["H100-SXM"]
    assert "fp8" not in catalog.device("A100-80GB").tflops
    assert catalog.device("H800-SXM").link_gb_s is None
    with pytest.raises(MissingFactError):
        catalog.device("H100")


def test_rates_fall_back(catalog: Catalog) -> None:
    def rate(*wanted: str) -> str:
        return catalog.failure_rate(*wanted).id

    assert rate("failure", "gcp", "H100-SXM", "on_demand") == "failure/any/H100-SXM/any"
    assert rate("failure", "gcp", "L4", "spot") == "failure/any/any/any"
    assert rate("reclaim", "aws", "T4", "spot") == "reclaim/aws/T4/spot"
    assert rate("reclaim", "aws", "B200", "spot") == "reclaim/aws/any/spot"
    assert rate("reclaim", "gcp", "T4", "spot") == "reclaim/any/any/spot"
    with pytest.raises(MissingFactError):
        catalog.failure_rate("flood", "gcp", "T4", "spot")


def test_countries(catalog: Catalog) -> None:
    assert catalog.country("aws", "us-east-1") == "US"
    assert catalog.country("coreweave", "NA") is None
    assert catalog.country("aws", None) is None
    assert catalog.reference_regions["aws"] == "us-east-1"
