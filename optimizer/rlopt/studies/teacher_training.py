"""A teacher that is trained before the job: a request of its own, solved like any other; the job carries its bill."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.answers.plan import FoundPlan, Plan
from rlopt.problem.phases import Phase
from rlopt.request import CheckpointFloors, Floors, Job, ModelOption, Models, Recovery, Request, TeacherTraining
from rlopt.workloads.picked import open_role

TEACHER_TRAINING = "teacher training"


def trained_options(request: Request) -> Iterator[tuple[ModelOption, TeacherTraining]]:
    """Models to choose from that are trained before the job."""
    _, options = open_role(request) or ("", ())
    for option in options:
        if option.teacher_training is not None:
            yield option, option.teacher_training


def training_request(request: Request, option: ModelOption, how: TeacherTraining) -> Request:
    """The phase that trains a teacher as a request: the job's market, people and floors on machines and copies.

    What limits machines limits those of the phase as well: the two never run at once. The budget is left out, since
    the job's own row counts the phase; so are floors that speak of samples and of the job's steps.
    """
    job, kept = request.job, request.floors
    trained = Job(
        name=f"{job.name}: {TEACHER_TRAINING}",
        algorithm=how.algorithm,
        models=Models(policy=option.model),
        trainable=how.trainable,
        optimizer=job.optimizer,
        kernels=job.kernels,
        packing=job.packing,
        prompts_per_step=how.prompts_per_step,
        steps=how.steps,
        epochs=how.epochs,
        dataset_samples=how.dataset_samples,
        remedial_share=how.remedial_share,
        prompt_tokens=how.prompt_tokens or job.prompt_tokens,
        response_tokens=(how.response_tokens or job.response_tokens).over_run,
        trials=how.trials,
        tags=job.tags,
    )
    copies = CheckpointFloors(keep_recent=kept.checkpoints.keep_recent, recovery_time=kept.checkpoints.recovery_time)
    floors = Floors(
        update_precision=kept.update_precision,
        on_demand_share=kept.on_demand_share,
        free_storage=kept.free_storage,
        checkpoints=copies,
    )
    choices = request.choices.model_copy(
        update={"placements": None, "group_size": None, "action_head": None, "value_bins": None}
    )
    limits = request.limits.model_copy(update={"deadline": how.deadline, "budget": None, "cut_off": None})
    recovery = Recovery(replace_wait=request.recovery.replace_wait, launcher=request.recovery.launcher)
    idle = request.costs.idle.model_copy(update={"automatic": None})  # a script is set up once, by the job itself
    costs = request.costs.model_copy(update={"idle": idle})
    return Request(job=trained, choices=choices, limits=limits, floors=floors, costs=costs, recovery=recovery)


def training_phase(option: ModelOption, how: TeacherTraining, plan: Plan) -> Phase:
    """The phase that trains a teacher as the job counts it; ``plan`` is that of its `training_request`."""
    name = option.label
    if not isinstance(plan, FoundPlan):
        within = "" if how.deadline is None else f" and its deadline of {how.deadline / 3600.0:g} h"
        says = f"{name} cannot be trained: no plan keeps the limits of machines{within}"
        return Phase(TEACHER_TRAINING, name, None, 0.0, 0.0, how.shared_by, "", (says,))
    time = plan.time
    says = (
        f"{name} is trained before the job, outside limits.deadline: {time.expected_hours:.2f} h expected, "
        f"{time.confident_hours:.2f} h at confidence {time.confidence:g}"
    )
    machines = ", ".join(
        f"{pool.nodes} x {pool.instance_type} ({' '.join(filter(None, (pool.provider, pool.region)))}, {pool.pricing})"
        for pool in plan.pools
        if pool.gpus
    )
    told = (says, *(f"{TEACHER_TRAINING}: {text}" for text in plan.warnings))
    prices = tuple(price.model_dump() for price in plan.provenance.prices)
    usd, hours = plan.cost.total_usd, time.expected_hours
    return Phase(TEACHER_TRAINING, name, usd, hours, time.confident_hours, how.shared_by, machines, told, prices)
