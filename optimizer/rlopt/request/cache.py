"""What a run holds in a fast store while it trains."""

from __future__ import annotations

from rlopt.request.kinds import NotNegative
from rlopt.request.quantities import SizeOrZero
from rlopt.strict import Strict


class Cache(Strict):
    """Bytes held and operations at the peak; the two choose the store's size."""

    replay: SizeOrZero = 0.0
    """Replay buffer, in bytes."""
    index: SizeOrZero = 0.0
    """Index of samples or trajectories, in bytes."""
    reward_intermediates: SizeOrZero = 0.0
    """What rewards are computed from, in bytes."""
    good_samples: SizeOrZero = 0.0
    """Samples kept because they scored well, in bytes."""
    transcripts: SizeOrZero = 0.0
    """Dialogues and tool outputs kept for reuse, in bytes."""
    peak_ops: NotNegative = 0.0
    """Reads and writes a second at the peak."""

    @property
    def held_bytes(self) -> float:
        """All bytes held."""
        return self.replay + self.index + self.reward_intermediates + self.good_samples + self.transcripts
