"""The keys whose default a signer would want to know, with what each costs or leaves out: one row a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rlopt.facts import Catalog
from rlopt.reports.check.defaults import Default
from rlopt.request import GENERATING, Request
from rlopt.units import GIB, Money, format_size
from rlopt.words import LOW_PRECISIONS

FIXED_DATA: Final = ("sft", "dpo", "rm")
"""Algorithms that train on a data set as it stands."""
"""Precisions that steps may have to leave for bf16."""
COMPRESSED: Final = 0.5
"""Stored share in the example of what compression would leave."""
PASSED: Final = 0.9
"""Share of new samples that pass, in the example of what rejected ones would cost."""


def _hours(what: str, each: str) -> Callable[[Request], str]:
    """People's hours that are 0: what one would cost; nothing where people are not on the bill at all."""

    def told(request: Request) -> str:
        price = request.costs.engineer_hour
        return "" if price is None else f"{what}; an hour {each} would cost {price}"

    return told


def _collapses(request: Request) -> str:
    every = request.floors.checkpoints.history_every
    lost = f"; each would lose {every / 2:g} steps on average, and a restart" if every else ""
    return f"no run collapses{lost}"


def _uncut(request: Request) -> str:
    return "every trial is billed to its end" if request.job.trials > 1 else ""


def _rework(request: Request) -> str:
    told = _hours("rework before a further trial takes nobody", "a trial")
    return told(request) if request.job.trials > 1 else ""


def _waiting(request: Request) -> str:
    return _hours("nobody waits for the machines", "lost for each hour of it")(request) if request.limits.wait else ""


def _from(request: Request) -> str:
    stated = request.limits.deadline is not None and request.limits.wait
    return "the deadline starts with the machines, not with the request" if stated else ""


def _fallback(request: Request) -> str:
    used = {*request.choices.precision.rollout, *request.choices.precision.score}
    return "no step leaves a low precision for bf16" if used & set(LOW_PRECISIONS) else ""


def _offline(request: Request) -> str:
    value = request.job.models.value
    return "the value model is not trained before the first step" if value is not None and value.is_model else ""


def _whole_loss(request: Request) -> str:
    if request.choices.kernels.loss:
        return ""
    return "whole, the logits of a micro-batch stand in memory at once; chunked needs less, and is no choice"


def _at_hand(request: Request) -> bool:
    teacher = request.job.models.teacher
    return teacher is not None and all(option.teacher_training is None for option in teacher.options)


def _on_gpus(request: Request) -> bool:
    reward = request.job.models.reward
    if reward is None or not (reward.options or reward.is_model):
        return False
    return all(option.cpu is None for option in reward.options)


def _quality(request: Request) -> str:
    reward = request.job.models.reward
    several = reward is not None and len(reward.options) > 1
    return "a reward model may be chosen however inaccurate it is" if several else ""


def _screened(request: Request) -> str:
    drop = request.job.filter.drop
    return f"the {drop:.0%} of samples that are dropped are stored too" if drop else ""


def _any_size(request: Request) -> str:
    return "a value model of any size will do" if "value" in request.job.models.given() else ""


def _head(request: Request) -> str:
    action = request.job.action
    return "" if action is None else f"{action.head} alone"


def _uncompressed(request: Request) -> str:
    held = request.dataset_bytes
    if held < GIB:
        return ""
    ratio = f"a ratio of {COMPRESSED:g} would store {format_size(held * COMPRESSED)}"
    return f"{format_size(held)} are stored as they are; {ratio}"


def _collected(request: Request) -> str:
    count = request.job.data.new_samples
    return f"collecting {count} new samples costs nothing" if count else ""


def _accepted(request: Request) -> str:
    data = request.job.data
    prices = [price for price in (data.collect_price, data.label_price) if price is not None]
    if not data.new_samples or not prices:
        return ""
    more = data.model_copy(update={"accepted_share": PASSED}).collected - data.new_samples
    usd = sum(request.costs.usd(price) for price in prices) * more
    return f"all new samples pass; at {PASSED:g}, {more} rejected ones would cost {Money(round(usd, 2), 'USD')} more"


def _inspected(request: Request) -> str:
    return "no sample is checked by hand" if request.job.data.new_samples or request.job.dataset_samples else ""


def _earlier(request: Request) -> str:
    return "nothing is kept of earlier trainings" if request.job.data.incremental else ""


def _full_text(request: Request) -> str:
    return "full text is kept 72 h, assumed" if request.job.text_log.debug_steps else ""


ROWS: Final[tuple[Default, ...]] = (
    Default("runs", "job.trials", "one run; each trial or rerun would add a whole run to the bill"),
    Default("runs", "job.divergences", _collapses),
    Default("runs", "job.pilots", "no small runs before the job"),
    Default("runs", "limits.cut_off", _uncut),
    Default("runs", "job.evaluation", "nothing is evaluated during training"),
    Default("runs", "job.pairs", "the pairs are there, making them costs nothing", ("dpo", "rm")),
    Default("runs", "job.kernels.loss", _whole_loss),
    Default("runs", "job.remedial_share", "no training against forgetting", ("sft",)),
    Default("runs", "job.fallback.share_of_steps", _fallback, ("ppo", "grpo", "opd")),
    Default(
        "runs",
        "job.models.teacher.teacher_training",
        "the teacher is at hand, making it costs nothing",
        ("opd",),
        _at_hand,
    ),
    Default("runs", "job.models.reward.cpu", "reward models score on GPUs alone", ("ppo", "grpo"), _on_gpus),
    Default("runs", "floors.reward_quality", _quality, ("ppo", "grpo")),
    Default("runs", "floors.value_params", _any_size, ("vla",)),
    Default("runs", "job.offline", _offline, ("vla",)),
    Default("runs", "choices.action_head", _head, ("vla",)),
    Default("people", "costs.setup_hours", _hours("setting up takes no time", "of it")),
    Default("people", "costs.on_call_hours_per_day", _hours("nobody is on call", "a day")),
    Default("people", "costs.hours_per_failure", _hours("finding what broke takes nobody", "a failure")),
    Default("people", "costs.hours_per_trial", _rework),
    Default("people", "costs.waiting_people", _waiting),
    Default("stops and waits", "recovery.spare_nodes", "none stand ready"),
    Default("stops and waits", "recovery.replace_wait", "a lost machine is replaced within the restart"),
    Default("stops and waits", "recovery.launcher", "a lost rollout machine stops the run", GENERATING),
    Default("stops and waits", "checkpoint.rollouts", "unfinished responses are lost at a stop", GENERATING),
    Default("stops and waits", "limits.wait", "machines are there as soon as they are ordered"),
    Default("stops and waits", "limits.deadline_from", _from),
    Default("data", "job.data.compression_ratio", _uncompressed),
    Default("data", "job.filter.before_storage", _screened, GENERATING),
    Default("data", "job.data.versions", "one version is kept, without its raw form", FIXED_DATA),
    Default("data", "job.data.accesses_per_month", "nothing is read beside the runs"),
    Default("data", "limits.storage", "any store may hold them, encrypted or not, in any country"),
    Default("data", "job.compression", "nothing but the data set is compressed, by its compression_ratio"),
    Default("data", "job.data.backup", "they are not backed up"),
    Default("data", "job.data.versions_kept", _earlier),
    Default("data", "job.data.stands_in", "they stand beside the training pool: bringing them there is free"),
    Default("data", "job.data.prepare.vcpu_seconds_per_sample", "decoding and shuffling take no time", FIXED_DATA),
    Default("data", "choices.data_store", "object storage alone is considered", FIXED_DATA),
    Default("data", "job.data.collect_price", _collected),
    Default("data", "job.data.accepted_share", _accepted),
    Default("data", "job.data.inspect", _inspected),
    Default("data", "job.data.tools", "no tools are paid"),
    Default("data", "job.cache", "nothing is held in a fast store", GENERATING),
    Default("data", "job.evaluation.build_price", "building the evaluation set costs nothing"),
    Default("records", "job.metrics.traces.spans_per_step", "no spans are written"),
    Default("records", "job.text_log", "no text of abnormal samples or debugged steps", GENERATING),
    Default("records", "job.text_log.kept_in", "a logging service keeps texts, not files in a store", GENERATING),
    Default("records", "costs.dashboards", "none are paid"),
    Default("records", "costs.logs_to", "each pool's own provider takes its logs, without traffic"),
    Default("records", "costs.keep_for.full_text", _full_text, GENERATING),
)
"""Those that rest on the request alone."""


def rows(facts: Catalog) -> tuple[Default, ...]:
    """Every row, in the order in which they are told."""
    minutes = facts.operations.idle_minutes
    idle = f"machines are paid for {minutes:g} min after each run, assumed"
    return (
        *ROWS,
        Default("after the run", "costs.idle.before_release", idle),
        Default("after the run", "costs.idle.automatic", "no script releases them sooner"),
        Default("after the run", "costs.idle.volumes", "disks end with the run"),
    )
