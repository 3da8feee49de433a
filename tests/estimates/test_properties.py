"""Whatever the model and the layout: finite, not negative, NaN only where it is documented."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.estimates import Layout, Tokens, Training, generation_seconds, host_gib, kv_gib_per_token, resident_gib
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.responses import Batch
from tests.estimates.flat import forward_parts, forward_seconds, update_parts, update_seconds
from tests.estimates.parts import calibration, catalog, hardware, layout, shape

CAL = calibration()
NAMES = sorted(catalog().models)
DEVICES = sorted(name for name, device in catalog().devices.items() if "bf16" in device.tflops)
POWERS = st.sampled_from([1, 2, 4, 8])
PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "kv_cache", "buffers", "runtime")
TRAININGS = st.sampled_from(
    [Training("full"), Training("full", in_loop=True), Training("lora", 16), Training("lora", 16, base_bytes=0.55),
     Training("frozen-part", trainable_share=0.3), Training("full", optimizer="adamw_8bit")]
)  # fmt: skip
LENGTHS = st.builds(
    lambda prompt, response, spread, packed: Tokens.of(prompt, prompt * spread, response, response * spread, packed),
    st.floats(1.0, 4000.0), st.floats(1.0, 8000.0), st.floats(1.0, 8.0), st.booleans(),
)  # fmt: skip


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    tp, pp, cp, dp = (
        draw(POWERS),
        draw(st.sampled_from([1, 2, 4])),
        draw(st.sampled_from([1, 2])),
        draw(POWERS),
    )
    etp = draw(st.sampled_from([1, tp]))
    ep = draw(st.sampled_from([e for e in (1, 2, 4, 8) if dp * cp * tp % (e * etp) == 0]))
    sharding = draw(st.sampled_from([0, 1, 2, 3] if pp == 1 else [0, 1]))
    vp = draw(st.sampled_from([1, 2])) if pp > 1 else 1
    return layout(tp=tp, pp=pp, vp=vp, dp=dp, cp=cp, ep=ep, etp=etp, sharding=sharding, micro_batch=draw(POWERS),
                  recompute=draw(st.integers(0, 2)), offload=draw(st.integers(0, 2)))  # fmt: skip


def sound(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values >= 0.0).all())


@settings(max_examples=120)
@given(name=st.sampled_from(NAMES), rows=layouts(), training=TRAININGS, tokens=LENGTHS)
def test_memory_is_finite_and_not_negative(name: str, rows: Layout, training: Training, tokens: Tokens) -> None:
    model = shape(name)
    for found in (
        update_parts(model, training, None, rows, tokens, "bf16", CAL),
        forward_parts(model, None, rows, tokens, "bf16", CAL),
    ):
        assert all(sound(getattr(found, part)) for part in PARTS)
        assert found.total()[0] == sum(getattr(found, part)[0] for part in PARTS)
    assert sound(resident_gib(model, training, rows, CAL))
    assert sound(host_gib(model, training, rows, hardware(), CAL))


@settings(max_examples=120)
@given(
    name=st.sampled_from(NAMES),
    device=st.sampled_from(DEVICES),
    rows=layouts(),
    training=TRAININGS,
    tokens=LENGTHS,
)
def test_seconds_are_finite_with_a_network_and_a_peak(
    name: str, device: str, rows: Layout, training: Training, tokens: Tokens
) -> None:
    machine = hardware(device)
    update = update_seconds(shape(name), training, machine, rows, tokens, "bf16", 64.0, 2, 1, CAL)
    forward = forward_seconds(shape(name), machine, rows, tokens, "bf16", 64.0, CAL)
    assert sound(update)
    assert sound(forward)
    assert update[0] > 0.0
    assert forward[0] > 0.0
    low = update_seconds(shape(name), training, machine, rows, tokens, "fp8", 64.0, 2, 1, CAL)
    assert np.isnan(low[0]) == np.isnan(machine.tflops["fp8"][0])


@settings(max_examples=80)
@given(name=st.sampled_from(NAMES), rows=layouts(), tokens=LENGTHS)
def test_more_of_a_step_never_takes_less(name: str, rows: Layout, tokens: Tokens) -> None:
    args = (shape(name), Training("full"), hardware(), rows, tokens, "bf16")
    assert update_seconds(*args, 128.0, 1, 1, CAL)[0] >= update_seconds(*args, 64.0, 1, 1, CAL)[0] * 0.999
    more = Tokens(tokens.mean * 2, tokens.longest * 2, tokens.squared * 4, tokens.packed)
    longer = update_parts(shape(name), Training("full"), None, rows, more, "bf16", CAL).total()
    assert longer[0] >= update_parts(shape(name), Training("full"), None, rows, tokens, "bf16", CAL).total()[0]


@settings(max_examples=80)
@given(
    name=st.sampled_from(NAMES), device=st.sampled_from(DEVICES), tp=st.sampled_from([1, 2, 4, 8, 16]),
    room=st.floats(-5.0, 200.0), tail=st.booleans(), precision=st.sampled_from(["bf16", "int8", "int4", "fp8"]),
    mean=st.floats(1.0, 4000.0), spread=st.floats(1.0, 8.0), each=st.floats(1.0, 4096.0),
)  # fmt: skip
def test_generation_is_positive_infinite_without_room_and_nan_without_a_peak(
    name: str,
    device: str,
    tp: int,
    room: float,
    tail: bool,
    precision: str,
    mean: float,
    spread: float,
    each: float,
) -> None:
    model, machine, ways = shape(name), hardware(device), np.array([tp])
    longest = 512.0 + mean * spread
    batch = Batch((100.0, 512.0), (mean, mean * spread), np.array([each]), each * 4, 8)
    found = generation_seconds(Replica.planned(model, machine, ways, precision, CAL), np.array([room]), batch, tail)
    fits = room >= kv_gib_per_token(model, ways, longest)[0] * longest
    known = not np.isnan(machine.peak(precision)[0])
    assert np.isinf(found.seconds[0]) == (not fits)
    assert np.isnan(found.seconds[0]) == (fits and not known)
    if fits and known:
        assert found.seconds[0] > 0.0
        assert found.running[0] >= 1.0
        assert 0.0 < found.utilization[0] <= 1.0


def test_rows_do_not_depend_on_their_neighbours() -> None:
    many = layout(tp=[1, 2, 8], dp=[8, 4, 1], sharding=[3, 1, 0], micro_batch=[1, 2, 4])
    machine, tokens = hardware(rows=3), Tokens.of(100.0, 512.0, 900.0, 3584.0, True)
    args = (tokens, "bf16", 64.0, 1, 1, CAL)
    together = update_seconds(shape("Qwen3-30B-A3B"), Training("full"), machine, many, *args)
    for row in range(3):
        pick = np.array([row])
        alone = update_seconds(shape("Qwen3-30B-A3B"), Training("full"), machine.take(pick), many.take(pick), *args)
        assert alone[0] == together[row]
