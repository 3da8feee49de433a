"""Activations and logits of one GPU (Korthikanti et al., 2022, sections 4 and 5).

A layer keeps values that tensor parallelism splits (projections, attention output, feed-forward) and values as
wide as the model (inputs of norms and blocks) that only sequence parallelism splits as well. Where attention is not
fused, each layer keeps heads · s² scores on top.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Flags, Floats, Layout, Stack, Tokens, Values, Words
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.worker import Worker
from rlopt.facts.calibration import Calibration
from rlopt.units import GIB
from rlopt.words import FULL, SELECTIVE

VALUE = 2.0
"""Bytes of an activation value in 16 bits; half of those in fp32."""
WIDE = 4.0
"""Values as wide as the model that a layer keeps: inputs of two norms and of two blocks."""


def activation_bytes(precision: str | Words) -> Values:
    """Bytes of an activation value: 4 in fp32, else 2."""
    return VALUE + VALUE * (precision == "fp32")


def micro_batch_tokens(layout: Layout, tokens: Tokens) -> Floats:
    """Tokens a rank holds of one micro-batch: the budget micro_batch · longest, split over cp."""
    return np.asarray(layout.micro_batch * (tokens.longest / layout.cp))


def layer_gib(
    shape: ModelShape,
    layout: Layout,
    count: Floats,
    stack: Stack,
    calibration: Calibration,
    value_bytes: Values = VALUE,
) -> Floats:
    """What one average layer keeps for its backward pass, scores apart, GiB; shape (n,).

    a · count · bytes · (units / tp + 4 h (1 - 1 / tp) without sequence parallelism), ``count`` tokens in a
    micro-batch, a the engine's factor for what the closed form leaves out (dropout, casts, copies).
    """
    units = (shape.activation_units + routed_values(shape, calibration)) / layout.tp
    if stack.sequence_parallel is not True:
        whole = np.where(stack.sequence_parallel, 0.0, WIDE * shape.hidden)
        units = units + whole * (1.0 - 1.0 / np.asarray(layout.tp, dtype=np.float64))
    factor = calibration.by_engine("memory", "activation_factor", stack.engine)
    return factor * count * units * (value_bytes / GIB)


def routed_values(shape: ModelShape, calibration: Calibration) -> Values:
    """Values that the experts a token visits keep of it, per layer on average."""
    return shape.routed_units + shape.routed_copies * shape.hidden * calibration.value("memory", "routed_copies")


def scores_gib(shape: ModelShape, layout: Layout, tokens: Tokens, stack: Stack, calibration: Calibration) -> Values:
    """Attention scores, their softmax and its dropout that one layer keeps where attention is not fused, GiB.

    5 bytes · heads · s² per sequence (Korthikanti et al., 2022, equation 1); nothing where attention is fused.
    """
    if stack.fused_attention is True:
        return 0.0
    count = micro_batch_tokens(layout, tokens)
    share = shape.attention_layers / shape.layers
    held = calibration.value("memory", "score_bytes") * share * shape.heads * tokens.longest * count / layout.tp / GIB
    return np.where(stack.fused_attention, 0.0, held)


def in_flight_layers(layers: Values, layout: Layout) -> tuple[Floats, Floats]:
    """Layers' worth of micro-batches that the first and the last stage hold at once.

    1F1B keeps pp micro-batches in the first stage and one in the last; interleaved with vp chunks per stage,
    2 (pp - 1) + (vp - 1) pp + 1 and (vp - 1) pp + 1 chunks (Narayanan et al., 2021, section 2.2).
    """
    pp, vp = np.asarray(layout.pp, dtype=np.float64), np.asarray(layout.vp, dtype=np.float64)
    chunk = np.ceil(layers / (pp * vp))
    tail = (vp - 1.0) * pp + 1.0
    first = np.where(vp > 1, 2.0 * (pp - 1.0) + tail, pp)
    return chunk * first, chunk * tail


def _kept(worker: Worker, tokens: Tokens) -> tuple[Floats, Floats]:
    """GiB that every layer keeps until its backward pass, and what recomputing one layer needs on top."""
    shape, training, layout, stack = worker.shape, worker.trained, worker.layout, worker.stack
    calibration, value_bytes = worker.calibration, activation_bytes(worker.precision)
    count = micro_batch_tokens(layout, tokens)
    layer = layer_gib(shape, layout, count, stack, calibration, value_bytes)
    scores = scores_gib(shape, layout, tokens, stack, calibration)
    lora = training.lora
    if np.any(lora):  # inputs of the adapters' own products, in their precision
        width = training.lora_targets * (5.0 * shape.hidden + shape.ffn + shape.routed_copies * shape.expert_ffn)
        per_value = calibration.by_engine("memory", "lora_activation_bytes", stack.engine)
        extra = count / layout.tp * (per_value * width / GIB)
        layer = layer + (extra if lora is True else np.where(lora, extra, 0.0))
    full, selective = layout.recompute == FULL, layout.recompute == SELECTIVE
    share = calibration.by_engine("memory", "selective_factor", stack.engine)
    boundary = count / layout.tp * (value_bytes * shape.hidden / GIB)
    if stack.sequence_parallel is not True:
        boundary = np.where(stack.sequence_parallel, boundary, boundary * layout.tp)
    kept = np.where(full, boundary, np.where(selective, share * layer, layer + scores))
    working = calibration.value("memory", "full_workspace")
    workspace = working * layer + scores
    if np.any(shape.moe):  # copies to and from the experts live through a layer's whole backward pass
        factor = calibration.by_engine("memory", "activation_factor", stack.engine)
        routed = factor * count / layout.tp * routed_values(shape, calibration) * (value_bytes / GIB)
        workspace = workspace + (calibration.value("memory", "routed_workspace") - working) * routed
    workspace = np.where(full, workspace, np.where(selective, scores, 0.0))
    if training.backward is True:
        return kept, workspace
    # nothing is kept where no gradient flows back: one layer at a time, as in scoring
    return np.where(training.backward, kept, 0.0), np.where(training.backward, workspace, layer + scores + boundary)


def activation_gib(worker: Worker, tokens: Tokens, last_stage: Flags = False) -> tuple[Floats, Floats]:
    """Activations and logits at the peak, shape (n,).

    The first stage with its micro-batches in flight, or the last with logits: the fuller one, or only the last
    where ``last_stage`` (what a log written by the last rank shows). Recomputing a layer and the loss do not
    meet: the larger of both counts.
    """
    shape, layout = worker.shape, worker.layout
    kept, workspace = _kept(worker, tokens)
    first, last = in_flight_layers(shape.layers, layout)
    count = micro_batch_tokens(layout, tokens)
    logits = logits_gib(shape, layout, count, worker.stack, worker.calibration)
    at_first, at_last = kept * first + workspace, kept * last
    loss = logits > workspace
    at_end = (layout.pp == 1) | last_stage | (at_last + np.maximum(logits, workspace) > at_first)
    held = np.where(loss, at_last, at_last + workspace)
    return np.where(at_end, held, at_first), np.where(at_end & loss, logits, 0.0)


def logits_gib(shape: ModelShape, layout: Layout, count: Floats, stack: Stack, calibration: Calibration) -> Floats:
    """Logits, their gradient and the loss's temporaries of one micro-batch, vocabulary split over tp, GiB."""
    per_value = calibration.by_engine("memory", "logits_bytes", stack.engine)
    if stack.chunked_loss is not False:
        chunked = calibration.by_engine("memory", "logits_bytes_chunked", stack.engine)
        per_value = np.where(stack.chunked_loss, chunked, per_value)
    return count / layout.tp * per_value * (shape.vocab / GIB)
