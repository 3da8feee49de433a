"""One row of an RL file, cell by cell: what the loop ran, what is assumed for it, or why it is refused.

Assumed where a cell is blank; a row's note names what was (numbers: `defaults` of loops.yaml):

=========================  =========================================================================
framework                  by catalogs/calibration/rl.yaml, from its name, version, backend and mode
prompts, samples           the framework's recipe where it has one; one sample a prompt for PPO
samples of an update       all of the step; samples of a step those of an update, where only these are stated
GPU                        that of the framework's publications, where there is one
GPUs of one side           all GPUs, or those that the other side leaves; half where neither is stated
prompt length              the framework's; a share of the total at most
response length            `response` · sqrt(longest / `response_at`), where no mean is stated
longest response           `longest`
placement                  colocated
passes that score          old log-probabilities and the reference, unless the row or framework has none;
                           the critic's values; a reward model like the critic, else like the policy
training layout            Megatron: tp, then pp for `tensor_gib` of weights a GPU, experts over ranks; else
                           full sharding; activations recomputed
engine                     smallest power of two with weights within `engine_share` of the memory
lag of an asynchronous run one step
=========================  =========================================================================
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from rlopt.facts import Catalog, Model
from rlopt.facts.calibration import Calibration
from rlopt.measured.loop.defaults import Recipe, framework_of
from rlopt.measured.loop.layout import (
    MOST,
    count_of,
    engine_degree,
    sides,
    trainer_layout,
)
from rlopt.measured.names import MeasuredMachine, find_both, find_model
from rlopt.measured.rows import MeasuredRow
from rlopt.words import Placement

LAG = re.compile(r"(\d+(?:\.\d+)?)[- ]step off|staleness[ =]+(\d+(?:\.\d+)?)", re.IGNORECASE)
CRITIC = re.compile(r"critic(?:/RM)?[ :=]+([\w.-]*\d[\w.]*[MB])\b", re.IGNORECASE)
SEQUENCES = re.compile(r"(\d+) sequences", re.IGNORECASE)
LORA = re.compile(r"lora", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LoopFields:
    """What one row ran; lengths in tokens (``p99`` of the response, where stated), ``lag`` in steps."""

    model: Model
    critic: Model | None
    reward: Model | None
    machine: MeasuredMachine
    framework: str
    placement: str
    images: bool
    gpus: int
    gpus_train: int
    gpus_sample: int
    prompts: float
    samples: float
    updates: int
    prompt: float
    response: float
    longest: float
    p99: float | None
    packed: bool
    lag: float
    scores: int
    tp: int
    pp: int
    cp: int
    ep: int
    sharded: bool
    micro_batch: int
    precision: str
    engine_tp: int
    engine_precision: str
    lora_rank: int
    sampling_wakes: bool
    assumed: tuple[str, ...]

    @property
    def sequences(self) -> float:
        """Sequences of one step."""
        return self.prompts * self.samples

    @property
    def data_ranks(self) -> int:
        """Data-parallel ranks of the trainer."""
        return max(self.gpus_train // (self.tp * self.pp * self.cp), 1)


def read_loop(row: MeasuredRow, catalog: Catalog, calibration: Calibration) -> LoopFields | str:
    """What ``row`` ran, or why that cannot be known."""
    assumed: list[str] = []
    framework = framework_of(row, calibration)
    recipe = Recipe(framework, calibration.loops)
    if not row.text("gpu") and recipe.usual("gpu"):
        row = replace(row, cells={**row.cells, "gpu": recipe.usual("gpu")})
        assumed.append(f"GPU {row.text('gpu')}")
    both = find_both(row, catalog)
    if isinstance(both, str):
        return both
    model, machine = both
    gpus = count_of(row, "gpus") or (count_of(row, "gpus_train") or 0) + (count_of(row, "gpus_gen") or 0)
    if not 0 < gpus < MOST:
        return "the number of GPUs is not stated"
    batch = _batch(row, recipe, assumed)
    if isinstance(batch, str):
        return batch
    prompt, response, longest = _lengths(row, recipe, assumed)
    mode = row.text("mode").lower()
    placement = Placement.ASYNC if mode.startswith("async") else row.text("placement").lower() or Placement.COLOCATED
    if placement not in (Placement.COLOCATED, Placement.DISAGGREGATED, Placement.ASYNC):
        return f"the placement {row.text('placement')!r} is none of colocated, disaggregated"
    train, sample = sides(row, gpus, placement, assumed)
    engine_precision = _precision(row.text("gen_precision"))
    parts = trainer_layout(row, recipe, model, machine, train, assumed)
    if isinstance(parts, str):
        return parts
    critic = _critic(row, model, catalog)
    return LoopFields(
        model=model,
        critic=critic,
        reward=(critic or model) if row.text("reward").lower() == "model" else None,
        machine=machine,
        framework=framework,
        placement=placement,
        images=model.vision is not None,
        gpus=gpus,
        gpus_train=train,
        gpus_sample=sample,
        lag=_lag(row) if placement == Placement.ASYNC else 0.0,
        scores=int(_scores_itself(row, recipe)) + int(_has_reference(row, recipe)),
        engine_tp=min(count_of(row, "gen_tp") or engine_degree(model, machine, recipe, assumed), sample),
        engine_precision=engine_precision,
        precision=_precision(row.text("train_precision")),
        lora_rank=int(recipe.default("lora_rank")) if LORA.search(row.text("algorithm")) else 0,
        packed=bool(recipe.usual("packed")),
        sampling_wakes=bool(recipe.usual("sampling_wakes")),
        assumed=tuple(assumed),
        prompt=prompt,
        response=response,
        longest=longest,
        p99=_tail(row, response, longest),
        **batch,
        **parts,
    )


def _lag(row: MeasuredRow) -> float:
    """Steps by which samples may be older than the weights that they train."""
    told = LAG.search(row.text("notes"))
    return float(next(one for one in told.groups() if one)) if told else 1.0


def _precision(text: str) -> str:
    return "fp8" if "fp8" in text.lower() else "fp4" if "fp4" in text.lower() else "bf16"


def _batch(row: MeasuredRow, recipe: Recipe, assumed: list[str]) -> dict[str, Any] | str:
    """Prompts, samples of each and updates of a step."""
    prompts = _number(row.text("prompts_per_step"))
    samples, update = row.number("K"), row.number("global_train_batch")
    told = SEQUENCES.search(row.text("notes"))
    if prompts is None and told:
        prompts, samples = float(told[1]), 1.0
    usual = recipe.usual("batch") or recipe.table.recipe(row.text("algorithm").lower(), "batch")
    if prompts is None and usual:
        prompts, samples = float(usual[0]), samples or float(usual[1])
        assumed.append(f"{prompts:g} prompts")
    if prompts is None and update:
        samples = samples or 1.0
        prompts = update / samples
        assumed.append("one update a step")
    if prompts is None or not 0.0 < prompts < MOST:
        return "the prompts of a step are not stated"
    if samples is None:
        if "ppo" not in row.text("algorithm").lower():
            return "the samples of a prompt are not stated"
        samples = 1.0
    if not 0.0 < samples < MOST:
        return "the samples of a prompt are not stated"
    update = update or recipe.usual("update_batch") or prompts * samples
    return {"prompts": prompts, "samples": samples, "updates": max(round(prompts * samples / update), 1)}


def _number(text: str) -> float | None:
    """A number, or the bound that stands for it: <=1024."""
    try:
        return float(text.lstrip("<=≤~ "))
    except ValueError:
        return None


def _lengths(row: MeasuredRow, recipe: Recipe, assumed: list[str]) -> tuple[float, float, float]:
    """Mean prompt, mean and longest response; some frameworks publish totals of both."""
    mean, longest, prompt = (row.number(f"{c}") for c in ("response_len_mean", "response_len_max", "prompt_len"))
    if prompt is None:
        prompt = float(recipe.usual("prompt"))
        assumed.append(f"prompts of {prompt:g} tokens")
    if recipe.usual("totals") and mean is not None:
        prompt = min(prompt, float(recipe.default("prompt_share")) * mean)
        mean, longest = mean - prompt, (longest or 2.0 * mean) - prompt
    usual = recipe.usual("response")
    if longest is None:
        known = float(usual[1] if usual else recipe.default("longest"))
        longest = float(recipe.default("longest_of_mean")) * mean if mean else known
        assumed.append(f"responses of at most {longest:.0f} tokens")
    if mean is None:
        guess = float(recipe.default("response")) * math.sqrt(longest / float(recipe.default("response_at")))
        mean = float(usual[0]) if usual else min(guess, longest)
        assumed.append(f"responses of {mean:.0f} tokens")
    return max(prompt, 1.0), max(mean, 1.0), max(longest, mean, 1.0)


def _tail(row: MeasuredRow, mean: float, longest: float) -> float | None:
    """The 99th percentile of response lengths, where a row states a possible one."""
    told = row.number("response_len_p99")
    return told if told is not None and mean < told < longest else None


def _has_reference(row: MeasuredRow, recipe: Recipe) -> bool:
    cell = row.text("ref").lower()
    return cell == "y" if cell in ("y", "n") else bool(recipe.usual("reference"))


def _scores_itself(row: MeasuredRow, recipe: Recipe) -> bool:
    """Whether the trainer computes old log-probabilities, and does not take the engine's."""
    told = row.number("logprob_time_s")
    return bool(recipe.usual("old_scores")) if told is None else told > 0.0


def _critic(row: MeasuredRow, model: Model, catalog: Catalog) -> Model | None:
    if row.text("critic").lower() != "y":
        return None
    named = CRITIC.search(row.text("notes"))
    found = find_model(replace(row, cells={"model": named[1]}), catalog) if named else model
    return model if isinstance(found, str) else found


__all__ = ["LoopFields", "read_loop"]
