"""What a run uses, one line a kind: tokens, bytes, growth of storage, useful arithmetic and dollars for each."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.answers.usage import PoolUse, Usage
from rlopt.reports import words

LEAST_GB = 0.05
"""Growth a day below which an item is not named beside others."""
BILLION, MILLION = 1e9, 1e6


def usage(found: Usage) -> list[tuple[str, str]]:
    """Rows of the section; what a job does not have is left out."""
    return [(name, text) for name, text in _rows(found) if text]


def _rows(found: Usage) -> list[tuple[str, str]]:
    return [
        *_busy(found.pools),
        ("sampled", _sampled(found)),
        ("trained on", _trained(found)),
        ("weights", _weights(found)),
        ("gradients", _gradients(found)),
        ("storage", _growth(found.storage_growth_gb_per_day)),
        ("useful work", _useful(found)),
    ]


def _busy(pools: Sequence[PoolUse]) -> list[tuple[str, str]]:
    """How busy each pool is; the first is what a step waits for."""
    return [("at work" if number == 0 else "", _pool(pool)) for number, pool in enumerate(pools)]


def _pool(use: PoolUse) -> str:
    stage = words.STAGES.get(use.stage, use.stage)
    text = f"pool {use.pool} {words.percent(use.busy)} of a step, most to {stage}"
    return text if use.limited_by is None else f"{text}, limited by {use.limited_by}"


def tokens(count: float) -> str:
    """``18.4 million tokens``, ``2.3 billion tokens``."""
    for size, name in ((BILLION, " billion"), (MILLION, " million")):
        if count >= size:
            return f"{count / size:.3g}{name} tokens"
    return f"{count:,.0f} tokens"


def _sampled(found: Usage) -> str:
    if found.prompt_tokens is None or found.response_tokens is None:
        return ""
    text = f"{tokens(found.prompt_tokens)} read and {tokens(found.response_tokens)} generated"
    if found.seconds_per_1000_tokens is None:
        return text
    return f"{text}, {words.seconds(found.seconds_per_1000_tokens)} to generate 1,000"


def _trained(found: Usage) -> str:
    several = len(found.training_tokens) > 1
    parts = [
        f"{tokens(count)} ({words.model(name, list(found.training_tokens))})" if several else tokens(count)
        for name, count in found.training_tokens.items()
    ]
    price = found.usd_per_million_training_tokens
    whose = "of the policy's" if several else "of them"
    return words.listed(parts) + ("" if price is None else f"; the bill is {words.usd(price)} a million {whose}")


def _weights(found: Usage) -> str:
    if found.handover_gb_per_step is None or found.handover_gb is None:
        return ""
    return f"{gb(found.handover_gb_per_step)} handed over in each step, {gb(found.handover_gb)} in all"


def _gradients(found: Usage) -> str:
    if not found.gradient_gb_per_node:
        return ""
    away = found.gradient_gb_leaving_node
    return f"each training node sends {gb(found.gradient_gb_per_node)} in a step, " + (
        f"{gb(away)} of it to other nodes" if away else "none of it to another node"
    )


def _growth(by_item: dict[str, float]) -> str:
    if not by_item:
        return ""
    large = sorted(((each, item) for item, each in by_item.items() if each >= LEAST_GB), reverse=True)
    text = f"grows by {gb(sum(by_item.values()))} a day"
    return f"{text}: {words.listed([f'{item} {gb(each)}' for each, item in large])}" if large else text


def _useful(found: Usage) -> str:
    text = f"{words.number(found.useful_pflop_days)} PFLOP-days a run"
    if found.compute_usd_per_pflop_day is None or found.usd_per_pflop_day is None:
        return text
    compute, whole = words.usd(found.compute_usd_per_pflop_day), words.usd(found.usd_per_pflop_day)
    return f"{text}; one costs {compute} of compute, {whole} with everything on the bill"


def gb(amount: float) -> str:
    """``14.7 GB``, ``2,457 GB``; little is written as less than a tenth."""
    if 0.0 < amount < LEAST_GB:
        return "<0.1 GB"
    return f"{amount:.3g} GB" if amount < 1000.0 else f"{amount:,.0f} GB"
