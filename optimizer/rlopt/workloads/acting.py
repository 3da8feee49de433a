"""How a vision-language-action policy acts: what it sees, how it decodes actions, and the world that it acts on.

One inference reads an observation and yields a chunk of actions; the world then takes one step per action
(pi0, Black et al., 2024, arXiv 2410.24164, sections IV and V).
"""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.errors import NotSupportedError
from rlopt.request import Request
from rlopt.words import ActionHead, EnvironmentKind, Processor

COLOURS = 3
"""Bytes of a raw pixel: one per colour."""


@dataclass(frozen=True, slots=True)
class Acting:
    """Volumes of one inference and of one trajectory.

    Parameters
    ----------
    observation_tokens, observation_tokens_max
        Mean and most tokens that an inference reads: the prompt and the tokens of all cameras.
    images, patches_per_image
        Cameras, and patches that the image tower makes of one image: (size / patch)².
    head
        flow | one_step | tokens.
    passes
        Passes of the action head per inference: flow steps, 1, or one per action token.
    tokens_per_pass
        Action tokens of one pass: the chunk, or 1 where tokens follow one another.
    chunk
        Actions of one inference, and steps that the world then takes.
    inferences_mean, inferences_max
        Per trajectory: seconds on the robot's clock · frequency / chunk.
    frames
        Frames that the value model scores per trajectory, mean.
    stored_frames
        Those of them that are stored: what the filter drops before storage is not.
    frame_bytes
        One frame of all cameras, raw.
    steps_per_second
        World steps a second of one instance: the simulator's own rate, or the robot's frequency (real time).
    kind, runs_on
        simulator | robot; cpu | gpu.
    vcpus, memory_bytes
        Of one instance.
    """

    observation_tokens: float
    observation_tokens_max: float
    images: int
    patches_per_image: int
    head: ActionHead
    passes: int
    tokens_per_pass: int
    chunk: int
    inferences_mean: float
    inferences_max: float
    frames: float
    stored_frames: float
    frame_bytes: float
    steps_per_second: float
    kind: EnvironmentKind
    runs_on: Processor
    vcpus: float
    memory_bytes: float

    @property
    def action_tokens(self) -> int:
        """Action tokens of one inference: the chunk, or all tokens of its actions."""
        return self.tokens_per_pass * (self.passes if self.head == ActionHead.TOKENS else 1)

    @property
    def patches_per_token(self) -> float:
        """Patches that the image tower reads per token of a mean observation."""
        return self.images * self.patches_per_image / self.observation_tokens

    @property
    def world_seconds(self) -> float:
        """Seconds that one instance takes for the steps of one inference."""
        return self.chunk / self.steps_per_second


def acting(request: Request) -> Acting | None:
    """How the job's policy acts; ``None`` where it has no actions.

    Raises
    ------
    NotSupportedError
        Where the job acts without an environment, a trajectory or images.
    """
    job = request.job
    action, seen, world, length = job.action, job.vision, job.environment, job.trajectory
    if action is None:
        return None
    if seen is None or world is None or length is None:
        raise NotSupportedError("job.action", "a policy that acts needs job.vision, job.environment and job.trajectory")
    if world.kind == EnvironmentKind.TOOLS:
        raise NotSupportedError("job.environment.kind", "a policy acts on a simulator or a robot")
    simulated, per_second = world.kind == EnvironmentKind.SIMULATOR, action.frequency / action.chunk
    passes = {
        ActionHead.FLOW: action.flow_steps or 1,
        ActionHead.ONE_STEP: 1,
        ActionHead.TOKENS: action.chunk * (action.tokens_per_action or 1),
    }
    stride = job.value_stride_seconds or 1.0 / per_second
    return Acting(
        observation_tokens=job.prompt_tokens.mean + seen.tokens,
        observation_tokens_max=float(job.prompt_tokens.max + seen.tokens),
        images=seen.cameras,
        patches_per_image=(seen.image_size // seen.patch) ** 2,
        head=action.head,
        passes=passes[action.head],
        tokens_per_pass=1 if action.head == ActionHead.TOKENS else action.chunk,
        chunk=action.chunk,
        inferences_mean=length.mean * per_second,
        inferences_max=length.max * per_second,
        frames=length.mean / stride,
        stored_frames=length.mean / stride * (1.0 - job.filter.drop if job.filter.before_storage else 1.0),
        frame_bytes=float(seen.cameras * COLOURS * seen.image_size**2),
        steps_per_second=(world.steps_per_second if simulated else None) or action.frequency,
        kind=world.kind,
        runs_on=world.runs_on,
        vcpus=world.vcpus_per_instance or 1.0,
        memory_bytes=world.memory_per_instance or 0.0,
    )
