"""Training time over the space of layouts and stacks: finite, positive, and no slower on faster hardware."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.estimates import Hardware, Layout, Stack, Training
from tests.estimates.flat import forward_seconds, update_seconds
from tests.estimates.parts import calibration, hardware, layout, shape, tokens

CAL = calibration()
MODELS = ("Llama-3.2-1B", "Qwen3-8B", "gpt-oss-120b", "DeepSeek-V3", "Gemma-3-27b-it")
DEVICES = (("H100-SXM", 8, "nvswitch"), ("GB300", 4, "nvl72"), ("L40S", 8, "pcie"), ("MI300X", 8, "nvlink"))
TRAININGS = (Training("full"), Training("lora", 16), Training("lora", 16, base_bytes=0.55))
POWERS = st.sampled_from([1, 2, 4, 8])


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    tp, pp, dp, cp, vp = (draw(POWERS) for _ in range(5))
    return layout(
        tp=tp,
        pp=pp,
        vp=vp if pp > 1 else 1,
        dp=dp,
        cp=cp,
        ep=min(draw(POWERS), tp * dp * cp),
        sharding=draw(st.integers(0, 3)),
        micro_batch=draw(st.integers(1, 64)),
        recompute=draw(st.integers(0, 2)),
        offload=draw(st.integers(0, 2)),
    )


@st.composite
def stacks(draw: st.DrawFn) -> Stack:
    engine = draw(st.integers(0, len(CAL.engines) - 1))
    return Stack(np.array([engine]), fused_attention=draw(st.booleans()))


def faster(machine: Hardware) -> Hardware:
    """Twice the peaks, memory bandwidth and links."""
    return replace(
        machine,
        hbm_gb_s=2 * machine.hbm_gb_s,
        link_gb_s=2 * machine.link_gb_s,
        node_gb_s=2 * machine.node_gb_s,
        pcie_gb_s=2 * machine.pcie_gb_s,
        tflops={name: 2 * values for name, values in machine.tflops.items()},
    )


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(MODELS),
    st.sampled_from(DEVICES),
    st.sampled_from(TRAININGS),
    layouts(),
    stacks(),
    st.integers(16, 65536),
    st.integers(1, 4096),
)
def test_every_layout_takes_a_finite_time_and_less_on_faster_hardware(
    name: str,
    device: tuple[str, int, str],
    training: Training,
    rows: Layout,
    stack: Stack,
    length: int,
    sequences: int,
) -> None:
    machine = hardware(*device)
    args = (rows, tokens(float(length), False), "bf16", float(sequences))
    update = update_seconds(shape(name), training, machine, *args, 1, 1, CAL, stack=stack)
    forward = forward_seconds(shape(name), machine, *args, CAL, stack=stack)
    assert np.isfinite(update).all()
    assert (update > forward).all()
    assert (forward > 0).all()
    twice = update_seconds(shape(name), training, faster(machine), *args, 1, 1, CAL, stack=stack)
    assert (twice <= update).all()
    assert (2 * twice >= update * (1 - 1e-9)).all()


@pytest.mark.parametrize("what", ["hbm_gb_s", "link_gb_s", "node_gb_s"])
def test_no_bandwidth_slows_a_step(what: str) -> None:
    rows = layout(tp=2, dp=8, ep=8, sharding=1)
    machine = hardware()
    more = replace(machine, **{what: 2 * getattr(machine, what)})
    args = (rows, tokens(4096.0), "bf16", 64.0, 1, 1, CAL)
    slow, fast = (update_seconds(shape("Qwen3-30B-A3B"), TRAININGS[0], m, *args)[0] for m in (machine, more))
    assert fast < slow


def test_arithmetic_is_split_over_tensor_parallel_ranks() -> None:
    """With links and hosts that cost nothing, tp ranks take 1/tp of the time, but for narrower matrices."""
    free = {("training", key, name): 1e-12 for key in ("tp_exposed", "host_s", "step_s") for name in CAL.training[key]}
    cal = CAL.replaced(free | {("training", "tp_latency_s"): 0.0, ("training", "half_width"): 1e-9})
    rows = layout(tp=[1, 8], micro_batch=4)
    args = (rows, tokens(4096.0), "bf16", 64.0, 1, 1, cal)
    one, eight = update_seconds(shape("Meta-Llama-3.1-8B"), TRAININGS[0], hardware(rows=2), *args)
    assert one / eight == pytest.approx(8.0, rel=1e-3)
