"""A catalog made by hand: three offers of two providers, two GPUs, one model."""

from __future__ import annotations

from types import MappingProxyType

from rlopt.facts.catalog import Catalog
from rlopt.facts.device import Device
from rlopt.facts.model import Model
from rlopt.facts.offer import Offer, Shape
from rlopt.facts.provenance import Provenance
from tests.facts.tables import shipped_tables


def _shape(provider: str, name: str, device: str, gpus: int, vcpus: float | None) -> Shape:
    return Shape(
        key=f"{provider}/{name}",
        provider=provider,
        instance_type=name,
        aliases=(f"{name}-alias",),
        device=device,
        gpus=gpus,
        intra="nvswitch" if gpus > 1 else "none",
        vcpus=vcpus,
        host_memory_gib=None,
        local_disk_gib=None,
        internode_gbps=3200.0 if gpus > 1 else None,
        cluster="yes" if gpus > 1 else "unknown",
        max_nodes=None,
        grade="list",
        notes="",
        source=f"{provider} machine types",
    )


def _offer(shape: Shape, region: str | None, pricing: str, price: float, as_of: str, confidence: str) -> Offer:
    return Offer(
        id=f"{shape.provider}/{region or 'any'}/any/{shape.instance_type}/{pricing}",
        shape=shape,
        provider=shape.provider,
        region=region,
        zone=None,
        country=None if region is None else "US",
        pricing=pricing,
        term_hours=None,
        price_per_hour=price,
        currency="USD",
        price_low=price,
        price_high=price,
        zones=1,
        grade="list" if confidence == "high" else "marketplace",
        confidence=confidence,
        as_of=as_of,
        source=f"{shape.provider} prices",
        note="",
    )


def _device(name: str, family: str, memory_gib: float, link_gb_s: float | None) -> Device:
    return Device(
        name=name,
        family=family,
        generation="Hopper",
        memory_gib=memory_gib,
        bandwidth_gb_s=3350.0,
        tflops=MappingProxyType({"bf16": 989.0}),
        link_gb_s=link_gb_s,
        link_type="NVLink",
        pcie_gen=5,
        power_w=700.0,
        source="maker's data sheet",
        notes="",
    )


def catalog() -> Catalog:
    """Build it."""
    big = _shape("lambda", "gpu_8x_h100", "H100-SXM", 8, 208.0)
    small = _shape("runpod", "h100_pcie", "H100-PCIe", 1, None)
    model = Model(
        name="Tiny-1B",
        hf_id="maker/Tiny-1B",
        params=1.1e9,
        active_params=1.1e9,
        layers=16,
        hidden=2048,
        heads=32,
        kv_heads=8,
        head_dim=64,
        ffn=8192,
        gated=True,
        vocab=128256,
        source="model card",
    )
    return Catalog(
        offers=(
            _offer(big, "us-east-1", "on_demand", 31.92, "2026-09-20", "high"),
            _offer(big, "us-east-1", "spot", 12.5, "2026-05", "high"),
            _offer(small, None, "on_demand", 2.39, "", "medium"),
        ),
        zone_offers=(),
        shapes={shape.key: shape for shape in (big, small)},
        cpu_offers=(),
        devices={
            device.name: device
            for device in (_device("H100-SXM", "H100", 79.6, 450.0), _device("H100-PCIe", "H100", 79.2, None))
        },
        families={"h100": ("H100-SXM", "H100-PCIe")},
        models={"Tiny-1B": model},
        aliases={"tiny-1b": "Tiny-1B", "maker/tiny-1b": "Tiny-1B"},
        missing_models={"huge-1t": "no layer count was published"},
        storage=(),
        traffic=(),
        logs=(),
        caches=(),
        commitments=(),
        reliability=(),
        countries={},
        reference_regions={},
        provenance=(
            Provenance("offers", "2026-09-20", 3, "price lists"),
            Provenance("models", "", 1, "cards"),
        ),
        left_out=MappingProxyType({"no machine of that name": 7}),
        **shipped_tables(),
    )
