"""What several algorithms share: lengths, group sizes, steps, tool calls, evaluation."""

from __future__ import annotations

from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads.contract import EvaluationPass, Stage, Tools
from rlopt.workloads.lengths import Lengths


def tool_tokens(request: Request) -> tuple[float, float]:
    """Mean and most tokens that tool outputs add to one sample's context."""
    environment = request.job.environment
    if environment is None or environment.tokens_per_call is None or environment.calls_per_sample is None:
        return 0.0, 0.0
    calls = environment.calls_per_sample
    return calls.mean * environment.tokens_per_call, calls.max * environment.tokens_per_call


def lengths(request: Request) -> Lengths:
    """A sample's lengths; tool output counts with the prompt, since it is read and not generated.

    A percentile of the prompt says nothing about prompts with tool output in them.
    """
    job = request.job
    mean, most = tool_tokens(request)
    return Lengths(
        job.prompt_tokens.mean + mean,
        job.prompt_tokens.max + most,
        job.response_tokens.average,
        job.response_tokens.max,
        job.packing,
        None if most else job.prompt_tokens.p99,
        job.response_tokens.p99,
        job.response_tokens.last - job.response_tokens.mean,
    )


def instances(request: Request) -> tuple[int, ...]:
    """Copies of the environment to choose from, ascending; () without an environment.

    What the request states, else 1, 2, 4, ... up to the samples of the largest step and those themselves: more
    copies than samples would stand idle.
    """
    environment = request.job.environment
    if environment is None:
        return ()
    if environment.instances is not None:
        return (environment.instances,)
    samples = request.job.prompts_per_step * max(request.group_sizes, default=1)
    return (*(2**power for power in range(samples.bit_length()) if 2**power < samples), samples)


def tools(request: Request) -> Tools | None:
    """The tool-call environment, where the job has one."""
    environment = request.job.environment
    if environment is None or environment.kind != "tools":
        return None
    calls, seconds = environment.calls_per_sample, environment.seconds_per_call
    return Tools(
        calls_mean=calls.mean if calls else 1.0,
        seconds_mean=seconds.mean if seconds else 0.0,
        instances=instances(request)[-1],
        vcpus=environment.vcpus_per_instance or 1.0,
        memory_bytes=environment.memory_per_instance or 0.0,
        calls_max=calls.max if calls else 1.0,
        seconds_max=seconds.max if seconds else 0.0,
    )


def steps_by_group_size(request: Request, group_sizes: tuple[int, ...]) -> dict[int, int]:
    """Optimizer steps for each group size that has any; a convergence table may leave some out."""
    found = {size: request.job.steps_for(size) for size in group_sizes}
    return {size: steps for size, steps in found.items() if steps is not None}


def kept_share(request: Request) -> float:
    """Share of samples that the filter leaves for the policy's update."""
    return 1.0 - request.job.filter.drop


def evaluation(request: Request, of: Lengths) -> EvaluationPass | None:
    """Responses that an evaluation samples, or sequences it scores where the job samples nothing."""
    asked = request.job.evaluation
    if asked is None:
        return None
    kind = StageKind.SAMPLE if request.job.generates else StageKind.SCORE
    return EvaluationPass(Stage(kind, "policy", of, name="evaluation"), asked.every, asked.samples)


def load(of: Lengths, per_sample: float = 1.0) -> Stage:
    """Reading, decoding and shuffling of samples, ``per_sample`` of the data set for each sample of the step."""
    return Stage(StageKind.LOAD, "policy", of, per_sample)


def fallback_share(request: Request) -> float:
    """Share of steps that fall back to 16 bits in sampling and scoring."""
    return request.job.fallback.share_of_steps
