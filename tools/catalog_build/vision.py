"""Weights of an image tower, from its shape."""

from __future__ import annotations


def vision_parameters(
    layers: int,
    hidden: int,
    ffn: int,
    patch: int,
    merge: int,
    out: int,
    *,
    gated: bool,
    frames: int,
    mergers: int,
    positions: int,
) -> float:
    """Count a vision transformer with its projector (Dosovitskiy et al., arXiv 2010.11929, section 3.1).

    Per layer ``4 h^2 + (3 or 2) h w`` with hidden width h, feed-forward width w, plus biases and two norms;
    a patch embedding of ``3 frames p^2 h``; learned positions; `mergers` projectors. A projector that
    merges m x m patches has a square matrix of width ``m^2 h`` before the one to the language width `out`
    (Qwen2-VL, arXiv 2409.12191, section 2.1); one that merges nothing is a single matrix.
    """
    matrices = 3 if gated else 2
    layer = 4 * hidden**2 + matrices * hidden * ffn + 4 * hidden + (matrices - 1) * ffn + hidden + 4 * hidden
    wide = merge**2 * hidden
    projector = (wide**2 + wide if merge > 1 else 0) + wide * out + out
    return float(layers * layer + 3 * frames * patch**2 * hidden + positions * hidden + mergers * projector)
