"""A request to start from: short, commented, and right as it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from rlopt.errors import InputError
from rlopt.reading.init_lines import (
    MORE_CHOICES,
    MORE_OF_THE_JOB,
    ROLE_LINES,
    RUN,
    SAMPLING,
    TAIL,
    VALUE,
    VLA_POLICY,
    WHAT,
)
from rlopt.request import GENERATING, ROLES

DEFAULT_MODEL: Final = "Qwen/Qwen2.5-7B-Instruct"
"""A small model that every catalog has."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./-]*[A-Za-z_-][A-Za-z0-9_./-]*")
_WORDS: Final = ("true", "false", "null", "policy", "none", "rule")


def init_text(algorithm: str = "grpo", model: str | None = None) -> str:
    """Write a commented constraints.yaml for an algorithm and a model.

    Parameters
    ----------
    algorithm
        sft, dpo, rm, ppo, grpo, opd or vla.
    model
        Catalog name, or a path to a Hugging Face config.json; one that suits the algorithm when None.

    Returns
    -------
    str
        Fewer than 60 lines; it loads as it is.

    Raises
    ------
    InputError
        For an unknown algorithm or an empty model.
    """
    if algorithm not in ROLES:
        message = f"there is no algorithm {algorithm!r}"
        raise InputError.of("algorithm", message, allowed=", ".join(ROLES), fix="name one of these")
    if model is None:
        return "\n".join([_head(algorithm, None if algorithm == "vla" else DEFAULT_MODEL), _choices(algorithm), TAIL])
    if not model.strip() or model.strip() in ("policy", "none", "rule") or not model.isprintable():
        message = f"{model!r} is no model"
        raise InputError.of("model", message, allowed="a name or a path", fix="write Qwen/Qwen2.5-7B-Instruct")
    name = _scalar(model.strip())
    return "\n".join([_head(algorithm, name), _choices(algorithm), TAIL])


def _scalar(text: str) -> str:
    """Quote a text where YAML would read it as something else."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS and text[0] != "-"
    return text if plain else json.dumps(text, ensure_ascii=False)


def _head(algorithm: str, model: str | None) -> str:
    lines = [
        f"# rlopt: {WHAT[algorithm]}. Try: rlopt check FILE, then rlopt solve FILE.",
        "# Units: 30s 15min 2.5h 3d, 2500 USD, 80 GiB, 100 Gbps, 50 Hz. All keys: rlopt schema",
        "version: 1",
        f"{f'extends: [{algorithm}]':<34}# stability floors with their evidence; this file wins",
        f"{'objective: cost':<34}# cost: cheapest in the deadline | time: fastest in the budget",
        "",
        "job:",
        f"  name: my-{algorithm}-run",
        f"  algorithm: {algorithm:<20} # {' | '.join(ROLES)}",
        "  tags: {project: demo}",
        "  models:",
        VLA_POLICY.rstrip("\n")
        if model is None
        else f"    policy: {model:<21} # catalog name | path to a config.json | inline fields",
    ]
    for role in ROLES[algorithm]:
        if role in ROLE_LINES:
            lines.append(ROLE_LINES[role])
        elif role == "reward":
            reward = "rule" if algorithm == "grpo" else model
            lines.append(f"    reward: {reward:<21} # rule | none | model")
        elif role == "value":
            lines.append(VALUE.rstrip("\n"))
    frozen = algorithm == "vla"
    trained = "{frozen: [vision, backbone]}" if frozen else "full"
    lines.append(f"  trainable: {trained:<20} # full | {{lora_rank: 32}} | {{frozen: [vision, backbone]}}")
    lines.append("  optimizer: adamw                # adamw | adamw_bf16 | adamw_8bit")
    lines.append(RUN[algorithm] + "  trials: 1                       # expected full runs, tuning included")
    return "\n".join([*lines, *_of(MORE_OF_THE_JOB, algorithm), ""])


def _of(lines: Mapping[str, tuple[str, ...]], algorithm: str) -> list[str]:
    return [line for line, algorithms in lines.items() if algorithm in algorithms]


def _choices(algorithm: str) -> str:
    lines = (
        "choices:                          # what is left out is open\n"
        "  # providers: [aws, gcp, lambda]\n"
        "  # regions: [us-east-1]          # or per provider: {aws: [us-east-1], lambda: any}\n"
        "  # gpus: [H100, A100-80GB]       # a family name stands for all its forms\n"
        "  pricing: [on_demand, spot]      # reserved bills its whole term\n"
    ) + "".join(f"{line}\n" for line in _of(MORE_CHOICES, algorithm))
    if algorithm not in GENERATING:
        score = ", score: [bf16]" if algorithm == "dpo" else ""
        return f"{lines}  precision: {{update: [bf16]{score}}}\n"
    groups = "  group_size: [8, 16]             # samples per prompt (K)\n" if algorithm == "grpo" else ""
    groups = "  group_size: [4]                 # samples per prompt\n" if algorithm == "opd" else groups
    return lines + SAMPLING.format(groups=groups)
