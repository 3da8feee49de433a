"""Expectations that a right answer misses for a reason: published runs are no arithmetic.

Each row: number of the request, property as in tests/data/expectations.csv, and why the miss is right.
"""

from __future__ import annotations

MISSES: dict[tuple[str, str], str] = {
    ("11", "no dearer than what people ran"): (
        "verl's 16 H20 stood in one cluster at 7.5 CNY a card. The only H20 that the named providers offer in the "
        "catalog is a single rental card without a stated interconnect, which serves one-node pools of one GPU "
        "and cannot hold a 7B model's training state; the cheapest machine that can is alibaba's two A100 at "
        "about 35 CNY a card hour."
    ),
    ("17", "the K floor is to blame"): (
        "No group size that the file allows fits 2000 USD: with responses of 5000 tokens on average even K = 2 "
        "costs more by this prediction than the 928 USD that the expectation assumes at 30 % of peak, so "
        "loosening the floor alone opens nothing and only the budget is named."
    ),
    ("18", "not implausibly faster than what people measured"): (
        "The measurement is of NeMo-Aligner with TensorRT-LLM, whose documentation names no GPU type, on 8 nodes "
        "for the actor and 4 for critic and reward, so that either waits while the other works. The plan runs "
        "every role in turns on the same 32 H100 with the speeds that newer stacks are calibrated to, and takes "
        "about a seventh of those GPU-hours; the prompt lengths are the request's own assumption."
    ),
}
