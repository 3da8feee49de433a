# ruff: noqa: E501 - a case is two lines: the change, and the complaint it must bring
"""Requests that are wrong in one place: each is told by file, line, key, what is wrong and one fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from rlopt.errors import Complaint, InputError
from rlopt.reading.request_file import load_request


class Case(NamedTuple):
    """One change to a right request of `bases` (or, without `old`, a whole text) and its first complaint."""

    name: str
    base: str
    old: str | None
    new: str
    line: int | None
    key: str
    message: str
    fix: str


# fmt: off
CASES = (
    Case("typo in a section", "grpo", "limits:", "limit:",
         12, "limit", "unknown key at the top of the file", "did you mean limits?"),
    Case("typo in a key", "grpo", "deadline: 24h", "dedline: 24h",
         13, "limits.dedline", "unknown key in limits", "did you mean deadline?"),
    Case("typo in a required key", "grpo", "algorithm: grpo", "algoritm: grpo",
         4, "job.algoritm", "unknown key in job", "did you mean algorithm?"),
    Case("key in the wrong section", "grpo", "choices:\n", "choices:\n  deadline: 24h\n",
         11, "choices.deadline", "unknown key in choices", "it belongs to limits.deadline"),
    Case("unknown key without a neighbour", "grpo", "choices:\n", "choices:\n  zzzz: 1\n",
         11, "choices.zzzz", "unknown key in choices", "delete it"),
    Case("key given twice", "grpo", "  steps: 100\n", "  steps: 100\n  steps: 200\n",
         8, "job.steps", "is given twice, first on line 7", "delete one of the two"),
    Case("section given twice", "grpo", "costs:", "limits:",
         17, "limits", "is given twice, first on line 12", "delete one of the two"),
    Case("missing required key", "grpo", "  prompts_per_step: 64\n", "",
         2, "job.prompts_per_step", "is missing", "add prompts_per_step: 128"),
    Case("missing job", "grpo", None, "version: 1\nlimits: {deadline: 3h}\n",
         None, "job", "is missing", "add job: {algorithm: grpo, ...}"),
    Case("other version", "grpo", "version: 1", "version: 2",
         1, "version", "2 is no version of this format", "write version: 1"),
    Case("version as text", "grpo", "version: 1", "version: '1'",
         1, "version", "'1' is no version of this format", "write version: 1"),
    Case("unknown algorithm", "grpo", "algorithm: grpo", "algorithm: gpro",
         4, "job.algorithm", "'gpro' is not known here", "write grpo"),
    Case("number for a word", "grpo", "algorithm: grpo", "algorithm: 3",
         4, "job.algorithm", "3 is not known here", "write one of these, for example sft"),
    Case("duration without unit", "grpo", "deadline: 24h", "deadline: 24",
         13, "limits.deadline", "24 has no unit", "write 24h if that is meant"),
    Case("duration with a wrong unit", "grpo", "deadline: 24h", "deadline: 24 hours",
         13, "limits.deadline", "unknown unit 'hours' in '24 hours'", "write 24h"),
    Case("duration in capitals", "grpo", "deadline: 24h", "deadline: 24H",
         13, "limits.deadline", "unknown unit 'H' in '24H'", "write 24h"),
    Case("negative duration", "grpo", "deadline: 24h", "deadline: -24h",
         13, "limits.deadline", "'-24h' is not above zero", "write for example 2.5h"),
    Case("zero duration", "grpo", "deadline: 24h", "deadline: 0h",
         13, "limits.deadline", "'0h' is not above zero", "write for example 2.5h"),
    Case("duration of words", "grpo", "deadline: 24h", "deadline: tomorrow",
         13, "limits.deadline", "'tomorrow' is not a quantity", "write for example 2.5h"),
    Case("duration as list", "grpo", "deadline: 24h", "deadline: [24h]",
         13, "limits.deadline", "['24h'] is not a duration", "write for example 2.5h"),
    Case("duration as flag", "grpo", "deadline: 24h", "deadline: true",
         13, "limits.deadline", "true is not a duration", "write for example 2.5h"),
    Case("duration with infinity", "grpo", "deadline: 24h", "deadline: .inf",
         13, "limits.deadline", "inf is not a finite number", "write for example 2.5h"),
    Case("duration too long", "grpo", "deadline: 24h", "deadline: 1e40h",
         13, "limits.deadline", "3.6e+43 is too large", "write for example 2.5h"),
    Case("size for a duration", "grpo", "deadline: 24h", "deadline: 24 GiB",
         13, "limits.deadline", "unknown unit 'GiB' in '24 GiB'", "write for example 2.5h"),
    Case("money without currency", "grpo", "budget: 100 USD", "budget: 100",
         14, "limits.budget", "100 has no currency", "write 100 USD if that is meant"),
    Case("money with a sign", "grpo", "budget: 100 USD", "budget: $100",
         14, "limits.budget", "'$100' is not a quantity", "write 100 USD"),
    Case("money with small letters", "grpo", "budget: 100 USD", "budget: 100 usd",
         14, "limits.budget", "'100 usd' is not money", "write 100 USD"),
    Case("negative money", "grpo", "budget: 100 USD", "budget: -100 USD",
         14, "limits.budget", "'-100 USD' is negative", "write for example 2500 USD"),
    Case("money not a number", "grpo", "budget: 100 USD", "budget: nan USD",
         14, "limits.budget", "'nan USD' is not a quantity", "write for example 2500 USD"),
    Case("money in a currency without rate", "grpo", "budget: 100 USD", "budget: 100 CNY",
         14, "limits.budget", "is in CNY, but there is no exchange rate", "add exchange_rates: {CNY: ... USD} to costs"),
    Case("report currency without rate", "grpo", "currency: USD", "currency: EUR",
         18, "costs.currency", "is in EUR, but there is no exchange rate", "add exchange_rates: {EUR: ... USD} to costs"),
    Case("currency of four letters", "grpo", "currency: USD", "currency: EURO",
         18, "costs.currency", "'EURO' is not a currency", "write for example USD"),
    Case("rate in another currency", "grpo", "currency: USD", "exchange_rates: {CNY: 0.13 EUR}",
         18, "costs.exchange_rates.CNY", "the rate 0.13 EUR is not in USD", "write for example {CNY: 0.14 USD}"),
    Case("rate of zero", "grpo", "currency: USD", "exchange_rates: {CNY: 0 USD}",
         18, "costs.exchange_rates.CNY", "the rate 0 USD is not above zero", "write for example {CNY: 0.14 USD}"),
    Case("dollar rate", "grpo", "currency: USD", "exchange_rates: {USD: 2 USD}",
         18, "costs.exchange_rates.USD", "'2 USD' is not one dollar", "delete it"),
    Case("count as text", "grpo", "prompts_per_step: 64", "prompts_per_step: '64'",
         6, "job.prompts_per_step", "'64' is not a number", "write 64, without quotes or separators"),
    Case("count with underscore", "grpo", "prompts_per_step: 64", "prompts_per_step: 1_000",
         6, "job.prompts_per_step", "'1_000' is not a number", "write 1000, without quotes or separators"),
    Case("fractional count", "grpo", "prompts_per_step: 64", "prompts_per_step: 64.5",
         6, "job.prompts_per_step", "64.5 is not a whole number", "write for example 128"),
    Case("zero count", "grpo", "prompts_per_step: 64", "prompts_per_step: 0",
         6, "job.prompts_per_step", "0 is out of range", "write for example 128"),
    Case("negative count", "grpo", "prompts_per_step: 64", "prompts_per_step: -3",
         6, "job.prompts_per_step", "-3 is out of range", "write for example 128"),
    Case("flag for a count", "grpo", "prompts_per_step: 64", "prompts_per_step: true",
         6, "job.prompts_per_step", "true is not a number", "write for example 128"),
    Case("not a number", "grpo", "prompts_per_step: 64", "prompts_per_step: .nan",
         6, "job.prompts_per_step", "nan is not a finite number", "write for example 128"),
    Case("infinite count", "grpo", "prompts_per_step: 64", "prompts_per_step: .inf",
         6, "job.prompts_per_step", "inf is not a finite number", "write for example 128"),
    Case("huge count", "grpo", "prompts_per_step: 64", "prompts_per_step: 1e300",
         6, "job.prompts_per_step", "1e+300 is too large", "write for example 128"),
    Case("count of ten thousand digits", "grpo", "prompts_per_step: 64", 'prompts_per_step: ' + "9" * 10000,
         6, "job.prompts_per_step", "inf is not a finite number", "write for example 128"),
    Case("blank value", "grpo", "prompts_per_step: 64", "prompts_per_step:",
         6, "job.prompts_per_step", "has no value", "give a value or delete the key"),
    Case("null for a required key", "grpo", "prompts_per_step: 64", "prompts_per_step: null",
         6, "job.prompts_per_step", "is missing", "add prompts_per_step: 128"),
    Case("share above one", "grpo", "update_precision: bf16", "on_demand_share: 1.5",
         16, "floors.on_demand_share", "1.5 is out of range", "write for example 0.5"),
    Case("share in percent", "grpo", "update_precision: bf16", "on_demand_share: 20%",
         16, "floors.on_demand_share", "'20%' is not a number", "write 0.2"),
    Case("unknown precision", "grpo", "update_precision: bf16", "update_precision: bf8",
         16, "floors.update_precision", "'bf8' is not known here", "write fp8"),
    Case("confidence too high", "grpo", "deadline: 24h", "confidence: 1.0",
         13, "limits.confidence", "1.0 is out of range", "write for example 0.9"),
    Case("confidence too low", "grpo", "deadline: 24h", "confidence: 0.3",
         13, "limits.confidence", "0.3 is out of range", "write for example 0.9"),
    Case("mean above max", "grpo", "{mean: 200, max: 1024}", "{mean: 2000, max: 1024}",
         9, "job.response_tokens", "mean 2000 exceeds max 1024", "write max: 2000 or more"),
    Case("p99 above max", "grpo", "{mean: 200, max: 1024}", "{mean: 200, max: 1024, p99: 2000}",
         9, "job.response_tokens", "p99 2000 is not between mean 200 and max 1024", "leave p99 out or correct it"),
    Case("length without max", "grpo", "{mean: 200, max: 1024}", "{mean: 200}",
         9, "job.response_tokens.max", "is missing", "add max: 1024"),
    Case("length as a number", "grpo", "{mean: 200, max: 1024}", "1024",
         9, "job.response_tokens", "1024 is not a map", "write {mean: 1500, max: 8192}"),
    Case("unknown key in a length", "grpo", "{mean: 200, max: 1024}", "{mean: 200, max: 1024, min: 3}",
         9, "job.response_tokens.min", "unknown key in job.response_tokens", "delete it"),
    Case("missing response length", "grpo", "  response_tokens: {mean: 200, max: 1024}\n", "",
         2, "job.response_tokens", "is missing", "add response_tokens: {mean: 1500, max: 8192}"),
    Case("no length of the run", "grpo", "  steps: 100\n", "",
         2, "job", "does not say how long it runs", "add steps: 600"),
    Case("two lengths of the run", "grpo", "  steps: 100\n", "  steps: 100\n  epochs: 1\n  dataset_samples: 1000\n",
         8, "job.epochs", "is given beside steps", "delete steps or epochs"),
    Case("epochs without samples", "grpo", "  steps: 100\n", "  epochs: 1\n",
         7, "job.epochs", "is given without dataset_samples", "add dataset_samples: 100000"),
    Case("samples without epochs", "grpo", "  steps: 100\n", "  dataset_samples: 1000\n",
         2, "job", "does not say how long it runs", "add epochs: 1"),
    Case("convergence that excludes every size", "grpo", "  steps: 100\n", "  convergence: {16: 100}\n",
         11, "choices.group_size", "no size of [8] has an entry in job.convergence", "write [16]"),
    Case("convergence with a word", "grpo", "  steps: 100\n", "  convergence: {eight: 100}\n",
         7, "job.convergence.eight", "'eight' is not a number", "write for example 8"),
    Case("convergence as a list", "grpo", "  steps: 100\n", "  convergence: [100]\n",
         7, "job.convergence", "[100] is not a map", "write {8: 700, 16: 600}"),
    Case("convergence without groups", "sft", "  steps: 100\n", "  convergence: {8: 100}\n",
         6, "job.convergence", "has no meaning in sft: there are no groups", "write steps: 600"),
    Case("group size in sft", "sft", "version: 1\n", "version: 1\nchoices: {group_size: [8]}\n",
         2, "choices.group_size", "does not apply to sft: there are no groups", "delete group_size"),
    Case("only apart in sft", "sft", "version: 1\n", "version: 1\nchoices: {placements: [async]}\n",
         2, "choices.placements", "sft has no rollout pool to place apart", "write [colocated], or delete placements"),
    Case("cache in sft", "sft", "  steps: 100\n", "  steps: 100\n  cache_hit_rate: 0.5\n",
         7, "job.cache_hit_rate", "does not apply to sft: it samples nothing", "delete cache_hit_rate"),
    Case("environment in sft", "sft", "  steps: 100\n", "  steps: 100\n  environment: {kind: tools, calls_per_sample: {mean: 1, max: 2}, seconds_per_call: {mean: 1s, max: 2s}}\n",
         7, "job.environment", "does not apply to sft: it samples nothing", "delete environment"),
    Case("no group size in grpo", "grpo", "choices:\n  group_size: [8]\n", "",
         None, "choices.group_size", "is missing: grpo samples in groups", "add group_size: [8, 16]"),
    Case("empty group sizes", "grpo", "group_size: [8]", "group_size: []",
         11, "choices.group_size", "the list is empty: nothing could be chosen", "add one, or delete the key for all"),
    Case("group size of zero", "grpo", "group_size: [8]", "group_size: [0]",
         11, "choices.group_size[0]", "0 is out of range", "write for example 8"),
    Case("group size as a number", "grpo", "group_size: [8]", "group_size: 8",
         11, "choices.group_size", "8 is not a list", "write [8]"),
    Case("group size as text", "grpo", "group_size: [8]", "group_size: ['8']",
         11, "choices.group_size[0]", "'8' is not a number", "write 8, without quotes or separators"),
    Case("missing critic", "grpo", "algorithm: grpo", "algorithm: ppo",
         5, "job.models.critic", "is missing: ppo needs it", "add critic: policy"),
    Case("missing teacher", "grpo", "algorithm: grpo", "algorithm: opd",
         5, "job.models.teacher", "is missing: opd needs it", "add teacher: Qwen/Qwen3-32B"),
    Case("missing reward", "grpo", ", reward: rule", "",
         5, "job.models.reward", "is missing: grpo needs it", "add reward: rule"),
    Case("role of another algorithm", "grpo", "reward: rule", "reward: rule, teacher: Qwen/Qwen3-32B",
         5, "job.models.teacher", "grpo has no teacher", "delete teacher"),
    Case("unknown role", "grpo", "reward: rule", "reward: rule, jury: Qwen/Qwen3-32B",
         5, "job.models.jury", "unknown key in job.models", "delete it"),
    Case("policy by keyword", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: none",
         5, "job.models.policy", "'none' cannot be the policy of grpo", "name a model, such as Qwen/Qwen2.5-7B-Instruct"),
    Case("reference by rule", "grpo", "reward: rule", "reward: rule, reference: rule",
         5, "job.models.reference", "'rule' cannot be the reference of grpo", "write policy"),
    Case("model as a number", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: 7",
         5, "job.models.policy", "7 is not a model", "write for example Qwen/Qwen2.5-7B-Instruct"),
    Case("model as a list", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: [Qwen/Qwen2.5-0.5B]",
         5, "job.models.policy", "the policy is one model, not a choice", "name one model"),
    Case("no policy", "grpo", "policy: Qwen/Qwen2.5-0.5B, ", "",
         5, "job.models.policy", "is missing", "add policy: Qwen/Qwen2.5-7B-Instruct"),
    Case("model file that is not there", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: ./nowhere/config.json",
         5, "job.models.policy", "there is no file", "check the path; it starts at the file's own folder"),
    Case("inline model without shape", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: {params: 5e8}",
         5, "job.models.policy.layers", "is missing", "add layers: 28"),
    Case("inline model with a typo", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: {layers: 2, hiden: 64, heads: 4, ffn: 128, vocab: 1000}",
         5, "job.models.policy.hiden", "unknown key in job.models.policy", "did you mean hidden?"),
    Case("inline heads that do not divide", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: {layers: 2, hidden: 64, heads: 4, kv_heads: 3, ffn: 128, vocab: 1000}",
         5, "job.models.policy", "4 heads cannot share 3 kv_heads", "write kv_heads: 4"),
    Case("inline experts without width", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: {layers: 2, hidden: 64, heads: 4, experts: 8, vocab: 1000}",
         5, "job.models.policy", "8 experts need active_experts and expert_ffn", "add the missing ones"),
    Case("billions forgotten", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: {params: 7, layers: 2, hidden: 64, heads: 4, ffn: 128, vocab: 1000}",
         5, "job.models.policy.params", "7 is out of range", "write for example 7.6e9"),
    Case("vla parts in a language model", "grpo", "policy: Qwen/Qwen2.5-0.5B", "policy: {layers: 2, hidden: 64, heads: 4, ffn: 128, vocab: 1000, vlm_params: 5000}",
         5, "job.models.policy.vlm_params", "belongs to vla jobs", "delete vlm_params"),
    Case("trainable by a word", "grpo", "  steps: 100\n", "  steps: 100\n  trainable: lora\n",
         8, "job.trainable", "'lora' does not say what is trained", "write full or {lora_rank: 32}"),
    Case("lora and frozen", "grpo", "  steps: 100\n", "  steps: 100\n  trainable: {lora_rank: 8, frozen: [head]}\n",
         8, "job.trainable", "lora_rank and frozen exclude each other: under LoRA the whole base is frozen", "keep one of them"),
    Case("lora without rank", "grpo", "  steps: 100\n", "  steps: 100\n  trainable: {base: int4}\n",
         8, "job.trainable", "base is given without lora_rank", "add lora_rank: 32"),
    Case("lora on an unknown base", "grpo", "  steps: 100\n", "  steps: 100\n  trainable: {lora_rank: 8, base: int3}\n",
         8, "job.trainable.base", "'int3' is not known here", "write int4"),
    Case("everything frozen", "grpo", "  steps: 100\n", "  steps: 100\n  trainable: {frozen: [backbone, embeddings, head]}\n",
         8, "job.trainable.frozen", "freezes every part: nothing is trained", "take head out"),
    Case("unknown part frozen", "grpo", "  steps: 100\n", "  steps: 100\n  trainable: {frozen: [tower]}\n",
         8, "job.trainable.frozen[0]", "'tower' is not known here", "write one of these, for example vision"),
    Case("nothing frozen", "grpo", "  steps: 100\n", "  steps: 100\n  trainable: {frozen: []}\n",
         8, "job.trainable", "frozen names no part", "write trainable: full"),
    Case("unknown optimizer", "grpo", "  steps: 100\n", "  steps: 100\n  optimizer: adam\n",
         8, "job.optimizer", "'adam' is not known here", "write adamw"),
    Case("flag as a word", "grpo", "  steps: 100\n", "  steps: 100\n  packing: yes\n",
         8, "job.packing", "'yes' is neither true nor false", "write true"),
    Case("action outside vla", "grpo", "  steps: 100\n", "  steps: 100\n  trajectory: {mean: 1s, max: 2s}\n",
         8, "job.trajectory", "does not apply to grpo", "delete trajectory"),
    Case("vla without action", "vla", "  action: {head: flow, flow_steps: 5, chunk: 50, frequency: 50 Hz}\n", "",
         2, "job.action", "is missing: vla needs it", "add action: {head: flow, flow_steps: 10, chunk: 50, frequency: 50 Hz}"),
    Case("vla with responses", "vla", "  steps: 10\n", "  steps: 10\n  response_tokens: {mean: 1, max: 2}\n",
         7, "job.response_tokens", "does not apply to vla: its output is actions", "delete response_tokens"),
    Case("vla with tools", "vla", "{kind: simulator, instances: 8, steps_per_second: 100}", "{kind: tools, calls_per_sample: {mean: 1, max: 2}, seconds_per_call: {mean: 1s, max: 2s}}",
         11, "job.environment.kind", "tools does not fit vla", "write simulator"),
    Case("flow head without steps", "vla", "flow_steps: 5, ", "",
         9, "job.action", "a flow head needs flow_steps", "add flow_steps: 10"),
    Case("frequency without unit", "vla", "frequency: 50 Hz", "frequency: 50",
         9, "job.action.frequency", "50 has no unit", "write 50 Hz if that is meant"),
    Case("simulator without speed", "vla", ", steps_per_second: 100", "",
         11, "job.environment", "kind simulator needs steps_per_second", "add steps_per_second"),
    Case("too many image tokens", "vla", "{image_size: 224}", "{image_size: 224, tokens_per_image: 1000}",
         8, "job.vision", "1000 tokens_per_image of an image of 256 patches", "write tokens_per_image: 256"),
    Case("dropping everything", "vla", "  steps: 10\n", "  steps: 10\n  filter: {drop: 1}\n",
         7, "job.filter.drop", "1 is out of range", "write for example 0.1"),
    Case("staleness of zero", "grpo", "group_size: [8]", "group_size: [8]\n  staleness: [0]",
         12, "choices.staleness[0]", "0 is out of range", "write for example 8"),
    Case("unknown placement", "grpo", "group_size: [8]", "group_size: [8]\n  placements: [colocate]",
         12, "choices.placements[0]", "'colocate' is not known here", "write colocated"),
    Case("pricing as a word", "grpo", "group_size: [8]", "group_size: [8]\n  pricing: spot",
         12, "choices.pricing", "'spot' is not a list", "write [spot]"),
    Case("providers as a map", "grpo", "group_size: [8]", "group_size: [8]\n  providers: {aws: 1}",
         12, "choices.providers", "{'aws': 1} is not a list of names", "write for example [aws, gcp, lambda]"),
    Case("gpus as a word", "grpo", "group_size: [8]", "group_size: [8]\n  gpus: H100",
         12, "choices.gpus", "'H100' is not a list", "write [H100]"),
    Case("empty gpus", "grpo", "group_size: [8]", "group_size: [8]\n  gpus: []",
         12, "choices.gpus", "the list is empty: nothing could be chosen", "delete the key for any"),
    Case("number among gpus", "grpo", "group_size: [8]", "group_size: [8]\n  gpus: [H100, 4090]",
         12, "choices.gpus", "4090 in the list is not a name", "write for example [H100, A100-80GB]"),
    Case("regions of a provider as a word", "grpo", "group_size: [8]", "group_size: [8]\n  regions: {aws: us-east-1}",
         12, "choices.regions", "'aws': 'us-east-1' is not a list", "write [us-east-1]"),
    Case("price list that is not there", "grpo", "group_size: [8]", "group_size: [8]\n  offers: prices.csv",
         12, "choices.offers", "there is no file", "check the path"),
    Case("discount of everything", "grpo", "group_size: [8]", "group_size: [8]\n  discounts: {aws: 1}",
         12, "choices.discounts.aws", "1 is out of range", "write for example 0.1"),
    Case("quota without number", "grpo", "deadline: 24h", "quotas: [{provider: aws}]",
         13, "limits.quotas[0].max_gpus", "is missing", "add max_gpus: 16"),
    Case("quota below zero", "grpo", "deadline: 24h", "quotas: [{provider: aws, max_gpus: -1}]",
         13, "limits.quotas[0].max_gpus", "-1 is out of range", "write for example 0"),
    Case("quota as a map", "grpo", "deadline: 24h", "quotas: {provider: aws, max_gpus: 8}",
         13, "limits.quotas", "{'provider': 'aws', 'max_gpus': 8} is not a list", "write [{provider: aws, gpu: H100, max_gpus: 16}]"),
    Case("typo in a quota", "grpo", "deadline: 24h", "quotas: [{provider: aws, max_gpus: 8}, {gpus: H100, max_gpus: 8}]",
         13, "limits.quotas[1].gpus", "unknown key in limits.quotas[1]", "did you mean gpu?"),
    Case("informative groups without pass rate", "grpo", "update_precision: bf16", "informative_groups: 0.8",
         16, "floors.informative_groups", "needs job.pass_rate", "add pass_rate: 0.4 to job"),
    Case("because without a floor's value", "grpo", "update_precision: bf16", "on_demand_share: {because: cheap}",
         16, "floors.on_demand_share", "value is missing beside because", "write {value: ..., because: why}"),
    Case("empty because", "grpo", "update_precision: bf16", "because: ''",
         16, "floors.because", "'' is no reason", "say why the floor may be lower"),
    Case("checkpoint floor as a number", "grpo", "update_precision: bf16", "checkpoints: 3",
         16, "floors.checkpoints", "3 is not a map", "write {keep_recent: 2, keep_best: 1}"),
    Case("typo in a checkpoint floor", "grpo", "update_precision: bf16", "checkpoints: {keep_recents: 3}",
         16, "floors.checkpoints.keep_recents", "unknown key in floors.checkpoints", "did you mean keep_recent?"),
    Case("recovery time in bare minutes", "grpo", "update_precision: bf16", "checkpoints: {recovery_time: 15}",
         16, "floors.checkpoints.recovery_time", "15 has no unit", "write 15min if that is meant"),
    Case("bandwidth in bytes a second", "grpo", "update_precision: bf16", "simulator_bandwidth: 10 GB",
         16, "floors.simulator_bandwidth", "unknown unit 'GB' in '10 GB'", "write for example 100 Gbps"),
    Case("retention without unit", "grpo", "currency: USD", "keep_for: {logs: 720}",
         18, "costs.keep_for.logs", "720 has no unit", "write 720h if that is meant"),
    Case("section as a list", "grpo", "costs:\n  currency: USD", "costs: [currency]",
         17, "costs", "['currency'] is not a map", "write {currency: ...}"),
    Case("section as a word", "grpo", "costs:\n  currency: USD", "costs: none",
         17, "costs", "'none' is not a map", "write {currency: ...}"),
    Case("incremental without new samples", "sft", "  steps: 100\n", "  epochs: 1\n  dataset_samples: 1000\n  data: {incremental: true}\n",
         8, "job.data.incremental", "trains on new samples only, and there are none", "add new_samples: 20000"),
    Case("on call for more than a day", "grpo", "currency: USD", "on_call_hours_per_day: 25",
         18, "costs.on_call_hours_per_day", "25 is out of range", "write for example 1"),
    Case("unknown preset", "grpo", "version: 1", "version: 1\nextends: [grop]",
         2, "extends[0]", "there is no preset 'grop'", "write grpo"),
    Case("preset as a number", "grpo", "version: 1", "version: 1\nextends: [3]",
         2, "extends[0]", "3 is neither a preset nor a path", "write for example [grpo]"),
    Case("extends as a map", "grpo", "version: 1", "version: 1\nextends: {grpo: true}",
         2, "extends", "{'grpo': True} is neither a preset nor a path", "write for example [grpo]"),
    Case("extends itself", "grpo", "version: 1", "version: 1\nextends: [constraints.yaml]",
         2, "extends[0]", "'constraints.yaml' extends itself: constraints.yaml -> constraints.yaml", "delete it here"),
    Case("extends a file elsewhere", "grpo", "version: 1", "version: 1\nextends: [../other.yaml]",
         2, "extends[0]", "'../other.yaml' leads out of the file's folder", "copy that file next to this one"),
    Case("extends an absolute path", "grpo", "version: 1", "version: 1\nextends: [/etc/hostname.yaml]",
         2, "extends[0]", "'/etc/hostname.yaml' leads out of the file's folder", "copy that file next to this one"),
    Case("extends a missing file", "grpo", "version: 1", "version: 1\nextends: [other.yaml]",
         2, "extends[0]", "there is no file 'other.yaml'", "check the path; it starts at the file's own folder"),
    Case("a list at the top", "grpo", None, "- job\n- limits\n",
         1, "", "the file holds a list, not a map", "start with: rlopt init -o constraints.yaml"),
    Case("a word at the top", "grpo", None, "job\n",
         1, "", "the file holds 'job', not a map", "start with: rlopt init -o constraints.yaml"),
    Case("only comments", "grpo", None, "# nothing\n",
         1, "", "holds no value, only comments", "write one with: rlopt init -o constraints.yaml"),
    Case("only blanks", "grpo", None, "\n \n",
         1, "", "is empty", "write one with: rlopt init -o constraints.yaml"),
    Case("nothing", "grpo", None, "",
         1, "", "is empty", "write one with: rlopt init -o constraints.yaml"),
    Case("two documents", "grpo", "costs:", "---\ncosts:",
         17, "", "a second document begins here", "remove the line --- or split the file"),
    Case("tab", "grpo", "  steps: 100\n", "\tsteps: 100\n",
         7, "", "a tab stands where YAML wants spaces", "indent with two spaces per level"),
    Case("open bracket", "grpo", "{mean: 200, max: 1024}", "{mean: 200, max: 1024",
         10, "", "is not YAML: expected ',' or '}', but got ':'", "check indentation, brackets, quotes and colons on this line and the one before"),
    Case("open quote", "grpo", "name: small", "name: 'small",
         3, "", "is not YAML: found unexpected end of stream", "check indentation, brackets, quotes and colons on this line and the one before"),
    Case("bad indentation", "grpo", "  steps: 100\n", "   steps: 100\n",
         7, "", "is not YAML: mapping values are not allowed here", "put text that contains a colon in quotes, and indent keys evenly"),
    Case("colon in text", "grpo", "name: small", "name: a: b",
         3, "", "is not YAML: mapping values are not allowed here", "put text that contains a colon in quotes, and indent keys evenly"),
    Case("merge key", "grpo", "  name: small\n", "  <<: {name: small}\n",
         3, "job.<<", "unknown key in job", "delete it"),
    Case("custom tag", "grpo", "name: small", "name: !!python/object:os.system x",
         3, "job.name", "the tag 'tag:yaml.org,2002:python/object:os.system' is not read", "delete the tag"),
    Case("alias to nothing", "grpo", "name: small", "name: *small",
         3, "job.name", "the alias *small names no value before it", "write the value out"),
    Case("alias to itself", "grpo", "  name: small\n", "  tags: &t {a: *t}\n",
         3, "job.tags.a", "the alias *t names no value before it", "write the value out"),
    Case("list as a key", "grpo", "  name: small\n", "  ? [a, b]\n  : small\n",
         3, "job", "a key is a list, a map or an alias", "put quotes around the key, or a space after the colon"),
    Case("unknown escape", "grpo", "name: small", 'name: "\\q"',
         3, "", "is not YAML: found unknown escape character 'q'", "check indentation, brackets, quotes and colons on this line and the one before"),
    Case("field that reading fills in", "grpo", "version: 1", "version: 1\npresets: [grpo]",
         2, "presets", "unknown key at the top of the file", "delete it"),
)
# fmt: on


def _text(case: Case, bases: dict[str, str]) -> str:
    if case.old is None:
        return case.new
    assert bases[case.base].count(case.old) == 1, case.old
    return bases[case.base].replace(case.old, case.new)


def test_the_battery_is_large_and_its_names_differ() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 150


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_one_fault(
    case: Case,
    bases: dict[str, str],
    write: Callable[..., Any],
    complain: Callable[..., tuple[Complaint, ...]],
) -> None:
    first = complain(_text(case, bases))[0]
    assert (first.line, first.key, first.fix) == (case.line, case.key, case.fix)
    assert case.message in first.message
    assert first.file is not None
    assert first.file.endswith("constraints.yaml")
    assert first.allowed
    for piece in (first.file, first.key, first.message, first.allowed, first.fix):
        assert piece in str(first)


@pytest.mark.parametrize("base", ["grpo", "sft", "vla"])
def test_the_bases_are_right(base: str, bases: dict[str, str], load: Callable[..., Any]) -> None:
    assert load(bases[base]).job.algorithm == base


def test_all_faults_come_at_once_in_the_order_of_the_file(
    bases: dict[str, str], complain: Callable[..., tuple[Complaint, ...]]
) -> None:
    text = (
        bases["grpo"]
        .replace("steps: 100", "steps: many")
        .replace("deadline: 24h", "deadline: 24")
        .replace("budget: 100 USD", "budget: 100 CNY")
        .replace("update_precision: bf16", "update_precison: bf16")
        .replace("reward: rule", "critic: policy")
    )
    found = complain(text)
    assert [(c.line, c.key) for c in found] == [
        (5, "job.models.reward"),
        (5, "job.models.critic"),
        (7, "job.steps"),
        (13, "limits.deadline"),
        (14, "limits.budget"),
        (16, "floors.update_precison"),
    ]


def test_an_error_prints_one_block_per_complaint(bases: dict[str, str], write: Callable[..., Any]) -> None:
    path = write(bases["grpo"].replace("24h", "24").replace("steps: 100", "steps: 0"))
    with pytest.raises(InputError) as caught:
        load_request(path)
    assert str(caught.value) == (
        f"{path}:7: job.steps: 0 is out of range\n"
        "  allowed: a whole number, 1 or more\n"
        "  fix: write for example 8\n"
        f"{path}:13: limits.deadline: 24 has no unit\n"
        "  allowed: a duration above zero with its unit: ms, s, min, h, d\n"
        "  fix: write 24h if that is meant"
    )


def test_a_flood_of_faults_is_cut(bases: dict[str, str], complain: Callable[..., tuple[Complaint, ...]]) -> None:
    lines = "".join(f"  wrong_{number}: 1\n" for number in range(5000))
    found = complain(bases["grpo"].replace("floors:\n", f"floors:\n{lines}"))
    assert len(found) <= 102
