"""Metrics of continual learning, from the scores on each stage after each stage was learned."""

from dataclasses import asdict, dataclass

import numpy as np

from assay.base import Array


@dataclass(frozen=True)
class StageMetrics:
    """How well all stages are known in the end, and what was lost on the way."""

    average: float
    """The mean score on all stages after the last one (Lopez-Paz and Ranzato, 2017)."""
    forgetting: float
    """How far below its best earlier score each stage but the last ends, on average (Chaudhry et al., 2018)."""
    backward_transfer: float
    """How far each stage but the last ends above the score right after it was learned, on average."""

    def to_dict(self) -> dict[str, float]:
        """Return plain data."""
        return asdict(self)


def stage_metrics(scores: Array) -> StageMetrics:
    """Return the metrics of scores in rows (after which stage) and columns (on which stage).

    >>> stage_metrics(np.array([[0.9, 0.1], [0.5, 0.8]]))
    StageMetrics(average=0.65, forgetting=0.4, backward_transfer=-0.4)
    """
    last, earlier = scores[-1], range(len(scores) - 1)
    lost = [scores[stage:-1, stage].max() - last[stage] for stage in earlier]
    gained = [last[stage] - scores[stage, stage] for stage in earlier]
    return StageMetrics(
        float(np.mean(last)), float(np.mean(lost)) if lost else 0.0, float(np.mean(gained)) if gained else 0.0
    )
