"""Saliency as a second witness: do maps of relevance fall on the pixels that show the concepts? Plain arrays, no torch.

A map has a number for each pixel of a picture; its positive part is scored. Ties count by their expected value, so that
a constant map scores exactly chance: the share of the picture that the mask covers. Maps without any positive number
are blank; they are counted, and not scored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from assay.base import Array, mean_ranks
from assay.metrics.interval import of_difference, of_mean, percent

CHANGED, SAME = 0.5, 0.8
"""Rank correlations of maps before and after all weights are drawn anew, below which a method is a witness, and from
which on it is none."""
Side = Literal["above", "below", "as chance"]
Witness = Literal["witness", "weak witness", "no witness"]


# -- scores of each example --------------------------------------------------------------------------------------------


def _flatten(maps: Array, masks: Array) -> tuple[Array, Array, Array]:
    """Return the positive part of each map and its mask in one row, and whether the two can be scored."""
    relevance = np.maximum(np.asarray(maps, dtype=np.float64).reshape(len(maps), -1), 0)
    inside = masks.reshape(len(masks), -1)
    return relevance, inside, np.asarray((relevance > 0).any(axis=1) & inside.any(axis=1))


def pointing(maps: Array, masks: Array) -> Array:
    """Return whether the largest value of each map lies in its mask; of several largest, the share; NaN if unscored.

    >>> pointing(np.array([[[0.0, 2.0], [1.0, 0.0]]]), np.array([[[False, True], [False, False]]])).tolist()
    [1.0]
    """
    relevance, inside, scored = _flatten(maps, masks)
    largest = relevance == relevance.max(axis=1, keepdims=True)
    return np.where(scored, (largest & inside).sum(axis=1) / largest.sum(axis=1), np.nan)


def energy(maps: Array, masks: Array) -> Array:
    """Return the share of the positive relevance of each map that lies in its mask; NaN if unscored.

    >>> energy(np.array([[[0.0, 3.0], [1.0, -9.0]]]), np.array([[[False, True], [False, False]]])).tolist()
    [0.75]
    """
    relevance, inside, scored = _flatten(maps, masks)
    total = np.where(scored, relevance.sum(axis=1), 1.0)
    return np.where(scored, (relevance * inside).sum(axis=1) / total, np.nan)


def rank_accuracy(maps: Array, masks: Array) -> Array:
    """Return of the K pixels of largest relevance the share that lies in the mask, which has K pixels; NaN if unscored.

    >>> mask = np.array([[[True, True], [False, False]]])
    >>> rank_accuracy(np.array([[[5.0, 0.0], [3.0, 0.0]]]), mask).tolist()
    [0.5]
    """
    relevance, inside, scored = _flatten(maps, masks)
    shares = np.full(len(maps), np.nan)
    for row in np.flatnonzero(scored).tolist():
        size = int(inside[row].sum())
        least = np.partition(relevance[row], -size)[-size]
        above, tied = relevance[row] > least, relevance[row] == least
        chosen = (size - above.sum()) / tied.sum()  # of the pixels of equal relevance, so many belong to the first K
        shares[row] = ((above & inside[row]).sum() + chosen * (tied & inside[row]).sum()) / size
    return shares


SCORES = {"pointing": pointing, "energy": energy, "rank": rank_accuracy}


@dataclass(frozen=True)
class ExampleScores:
    """The scores of the maps of one target on one mask, an entry an example, NaN where a map was not scored."""

    values: Mapping[str, Array]
    share: Array
    """What share of each picture the mask covers: chance."""
    blank: Array
    """Whether the map has no positive number."""

    @classmethod
    def of(cls, maps: Array, masks: Array) -> "ExampleScores":
        """Score maps on masks."""
        blank = np.asarray(~(maps > 0).any(axis=(1, 2)))
        return cls({name: score(maps, masks) for name, score in SCORES.items()}, masks.mean(axis=(1, 2)), blank)

    @classmethod
    def join(cls, parts: Sequence["ExampleScores"]) -> "ExampleScores":
        """Return the scores of several parts of the examples, one after the other."""
        values = {name: np.concatenate([part.values[name] for part in parts]) for name in SCORES}
        share, blank = (np.concatenate([getattr(part, key) for part in parts]) for key in ("share", "blank"))
        return cls(values, share, blank)

    def take(self, rows: Array) -> "ExampleScores":
        """Return the scores of some examples."""
        return ExampleScores({name: own[rows] for name, own in self.values.items()}, self.share[rows], self.blank[rows])


# -- over examples -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreBesideChance:
    """The mean of a score with its 95 % interval, and on which side of chance it lies."""

    value: float
    low: float
    high: float
    side: Side

    @classmethod
    def of(cls, values: Array, share: Array) -> "ScoreBesideChance":
        """Return the mean over the examples that were scored; chance is compared example by example."""
        scored = ~np.isnan(values)
        low, high = of_mean(values)
        below, above = of_difference((values - share)[scored])
        side: Side = "above" if below > 0 else "below" if above < 0 else "as chance"
        return cls(float(values[scored].mean()), low, high, side)

    @property
    def text(self) -> str:
        """The mean and its interval.

        >>> ScoreBesideChance(0.5, 0.4, 0.61, "above").text
        '0.50 (0.40 to 0.61)'
        """
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class ScoredTarget:
    """A target and a mask that its maps are scored on."""

    target: str
    kind: Literal["label", "concept"]
    place: str
    is_mark: bool = False


@dataclass(frozen=True)
class SaliencyScore:
    """How the maps of one target fall on one mask.

    `target`     what is explained: the predicted value of a label or concept
    `place`      what the mask shows: the concepts that a label's rule uses, the concept itself, or a mark
    `examples`   how many maps were scored; `blank` are those without positive relevance, where there is a mask
    `chance`     the share of the picture that the mask covers
    `untrained`  the energy in the mask after all weights were drawn anew, where that was tried
    `by_value`   the energy by predicted value
    """

    target: str
    kind: Literal["label", "concept"]
    place: str
    is_mark: bool
    examples: int
    blank: int
    chance: float
    pointing: ScoreBesideChance
    energy: ScoreBesideChance
    rank: ScoreBesideChance
    by_value: Mapping[str, ScoreBesideChance]
    untrained: float | None = None

    @classmethod
    def of(
        cls,
        scored: ScoredTarget,
        scores: ExampleScores,
        predicted: Sequence[str],
        untrained: ExampleScores | None = None,
    ) -> "SaliencyScore | None":
        """Return the means of scores on one mask; None where no map could be scored.

        Parameters
        ----------
        scored
            What is explained, and what the mask shows.
        scores
            The scores of each example's map.
        predicted
            The predicted value of each example, as text.
        untrained
            The scores after all weights were drawn anew, where that was tried.
        """
        shown = scores.share > 0
        rows = np.flatnonzero(~np.isnan(scores.values["energy"]))
        if not len(rows):
            return None
        some = scores.take(rows)
        words = np.array(predicted)[rows]
        by_value = {
            str(word): ScoreBesideChance.of(some.values["energy"][words == word], some.share[words == word])
            for word in dict.fromkeys(words.tolist())
        }
        before = None if untrained is None else untrained.values["energy"]
        pointed, share, ranked = (ScoreBesideChance.of(some.values[name], some.share) for name in SCORES)
        return cls(
            scored.target, scored.kind, scored.place, scored.is_mark, len(rows), int((scores.blank & shown).sum()),
            float(some.share.mean()), pointed, share, ranked, by_value,
            None if before is None or np.isnan(before).all() else float(np.nanmean(before)),
        )  # fmt: skip

    @property
    def text(self) -> str:
        """Whether the relevance of a label falls on a mark beyond chance, in a sentence."""
        share = f"{percent(self.energy.value)} of the relevance of {self.target} lies on the {self.place}"
        covers = f"which covers {percent(self.chance)} of the picture"
        ends: dict[Side, str] = {
            "above": "a second witness that the model looks at it",
            "below": "less than by chance",
            "as chance": "no more than by chance",
        }
        return f"{share}, {covers}: {ends[self.energy.side]}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


# -- the check by random weights ---------------------------------------------------------------------------------------


def rank_similarity(first: Array, second: Array) -> Array:
    """Return Spearman's rank correlation of the positive parts of two maps of each example.

    A constant map ranks nothing: as the second it gives 0, as the first NaN.

    >>> rank_similarity(np.array([[[1.0, 2.0, 3.0]]]), np.array([[[2.0, 4.0, 9.0]]])).round(6).tolist()
    [1.0]
    """
    similarities = np.full(len(first), np.nan)
    for row, maps in enumerate(zip(first, second, strict=True)):
        ranks = [mean_ranks(np.maximum(one, 0).ravel()) for one in maps]
        ranks = [one - one.mean() for one in ranks]
        sizes = [float(np.sqrt((one**2).sum())) for one in ranks]
        if sizes[0] > 0:
            similarities[row] = (ranks[0] @ ranks[1]) / (sizes[0] * sizes[1]) if sizes[1] > 0 else 0.0
    return similarities


@dataclass(frozen=True)
class RandomisedStage:
    """How similar maps are to those of the trained network after so many layers, from the top, are drawn anew."""

    layers: int
    last: str
    """The lowest of these layers."""
    similarity: float
    low: float
    high: float
    examples: int

    @classmethod
    def of(cls, layers: int, last: str, trained: Array, randomised: Array) -> "RandomisedStage":
        """Compare maps of the same examples."""
        values = rank_similarity(trained, randomised)
        values = values[~np.isnan(values)]
        low, high = of_mean(values) if len(values) else (np.nan, np.nan)
        return cls(layers, last, float(values.mean()) if len(values) else np.nan, float(low), float(high), len(values))


@dataclass(frozen=True)
class RandomisationCheck:
    """Maps of a network whose layers are drawn anew from the top down; the last stage has no trained layer left."""

    stages: tuple[RandomisedStage, ...]

    @property
    def witness(self) -> Witness:
        """Whether maps depend on what was learned."""
        similarity = self.stages[-1].similarity
        if not similarity >= CHANGED:  # none at all where no map of the trained network ranks pixels
            return "witness"
        return "no witness" if similarity >= SAME else "weak witness"

    @property
    def text(self) -> str:
        """What the check says, in words."""
        stage = self.stages[-1]
        if not stage.examples:
            return "The check by random weights says nothing: the maps of the trained network are all blank."
        compared = (
            f"with all weights drawn anew, maps correlate by {stage.similarity:.2f} ({stage.low:.2f} to "
            f"{stage.high:.2f}, Spearman, {stage.examples} examples) with those of the trained network"
        )
        ends = {
            "witness": "they depend on what was learned.",
            "weak witness": "to a good part they show the picture, not what was learned from it. Trust differences to "
            "the untrained network only.",
            "no witness": "they hardly depend on what was learned. This method is no witness here, whatever its "
            "scores are.",
        }
        return f"Check: {compared}; {ends[self.witness]}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        stages = [
            {key: None if x != x else x for key, x in asdict(stage).items()}  # NaN, where no map ranks pixels
            for stage in self.stages
        ]
        return {"witness": self.witness, "text": self.text, "stages": stages}
