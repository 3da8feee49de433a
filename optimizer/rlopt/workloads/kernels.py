"""Kernels of the training stack to choose from: a loss that never holds all logits at once, attention that is fused.

They change what a training pool holds and how long it takes. Losses take as long whole or in chunks: no measurement
tells them apart in time.
"""

from __future__ import annotations

from itertools import product

from rlopt.request import Request
from rlopt.request.job.parts import Kernels


def kernel_ways(request: Request) -> tuple[Kernels | None, ...]:
    """Every set of kernels that the choices leave, that of job.kernels first; (None,) where none are given."""
    chosen, stated = request.choices.kernels, request.job.kernels
    if chosen.loss is None and chosen.attention is None:
        return (None,)
    losses, attentions = chosen.loss or (stated.loss,), chosen.attention or (stated.attention,)
    ways = [Kernels(loss=loss, attention=attention) for loss, attention in product(losses, attentions)]
    return tuple(sorted(ways, key=lambda way: way != stated))
