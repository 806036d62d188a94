"""How often a 95 % interval holds what it is for: models whose quality is drawn at random, scored on n examples.

`python -m benchmarks.coverage [REPETITIONS]` prints the table of `docs/metrics.md`. A statistic that is a count has few
values on few examples, so that its coverage jumps with the true quality and no interval keeps it near 95 % everywhere;
what can be asked for is 95 % on average over a range of qualities, and the range is said with each row.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.logic import Knowledge, bits, digits
from assay.metrics import METRICS, Evidence, Score, mean_score, score
from benchmarks.timing import Result, rate

QUICK, THOROUGH, RESAMPLES = 300, 4000, 200
SIZES = (20, 50, 200, 1000)
SUM = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
BIT = Knowledge.of(bits(["a"]), {"y": "a"})
LABEL = ("label_accuracy", "label_f1", "rsbench_label_f1", "balanced_accuracy")
CONCEPT = ("concept_accuracy", "concept_f1", "rsbench_concept_f1")


@dataclass(frozen=True)
class Trial:
    """A score, and the number that its interval is for."""

    score: Score
    truth: float

    @property
    def covers(self) -> bool:
        """Whether the interval holds it."""
        return self.score.low <= self.truth <= self.score.high


Simulation = Callable[[np.random.Generator, int], Mapping[str, Trial]]


def evidence_of(truth: Codes, said: Codes, probabilities: Array | None = None) -> Evidence:
    """Return the evidence of a model that reads two digits and adds them."""
    labels, predicted = truth.sum(axis=1, keepdims=True), said.sum(axis=1, keepdims=True)
    return Evidence(SUM, "test", labels, truth, predicted, said, (None,), (probabilities, None))


def reading(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """Both digits of 0 to 20 % of the pictures are guessed; of the others each is right with a chance of 0.5 to 1."""
    hard, accuracy = rng.uniform(0, 0.2), rng.uniform(0.5, 1)
    truth, guesses = rng.integers(10, size=(2, examples, 2))
    guessed = (rng.random((examples, 1)) < hard) | (rng.random((examples, 2)) >= accuracy)
    found = score(evidence_of(truth, np.where(guessed, guesses, truth)), [*LABEL, *CONCEPT])
    uniform = np.full((10, 10), 0.01)
    read = accuracy * np.eye(10) / 10 + (1 - accuracy) * uniform
    sums = (1 - hard) * _added(read, read) + hard * _added(uniform, uniform)
    true = _true_scores("label", sums) | _true_scores("concept", (1 - hard) * read + hard * uniform)
    return {name: Trial(each, true[name]) for name, each in found.items()}


def _added(left: Array, right: Array) -> Array:
    """Return the joint distribution of true and predicted sums, from those of two digits."""
    joint = np.zeros((19, 19))
    for true, said in np.ndindex(10, 10):
        joint[true : true + 10, said : said + 10] += left[true, said] * right
    return joint


def _true_scores(what: str, joint: Array) -> dict[str, float]:
    """Return the scores on endlessly many examples, from the joint distribution of truth and answer."""
    hits, true = np.diag(joint), joint.sum(axis=1)
    f1 = float((2 * hits / (true + joint.sum(axis=0))).mean())
    scores = {"accuracy": float(hits.sum()), "f1": f1}
    named = {f"{what}_{key}": value for key, value in scores.items()} | {f"rsbench_{what}_f1": f1}
    return named | ({"balanced_accuracy": float((hits / true).mean())} if what == "label" else {})


def shortcut(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """Some digits are read as others, always but for a noise of 0 to 20 %."""
    noise, mapped = (
        rng.uniform(0, 0.2),
        np.where(rng.random(10) < rng.random(), np.arange(10), rng.integers(10, size=10)),
    )
    truth, guesses = rng.integers(10, size=(2, examples, 2))
    said = np.where(rng.random(truth.shape) < noise, guesses, mapped[truth])
    joint = np.full((10, 10), noise / 100) + (1 - noise) / 10 * (mapped[:, None] == np.arange(10))
    found = score(evidence_of(truth, said), ["concept_f1"])["concept_f1"]
    return {"concept_f1 of shortcuts": Trial(found, _true_scores("concept", joint)["concept_f1"])}


def two_values(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """A true-or-false answer, true in 10 to 90 %; true and false are right with a chance of 0.5 to 1 each."""
    base, (sensitivity, specificity) = rng.uniform(0.1, 0.9), rng.uniform(0.5, 1, size=2)
    truth = rng.random(examples) < base
    right = rng.random(examples) < np.where(truth, sensitivity, specificity)
    codes, said = truth.astype(np.int64)[:, None], np.where(right, truth, ~truth).astype(np.int64)[:, None]
    found = score(Evidence(BIT, "test", codes, codes, said, said, (None,), (None,)), ["label_f1", "balanced_accuracy"])
    joint = np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]])
    true = _true_scores("label", joint * np.array([[1 - base], [base]]))
    return {f"{name}, true or false": Trial(each, true[name]) for name, each in found.items()}


def losing(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """Of ten digits 0 to 9 are read as another, except now and then: 0.05 to 20 times in a test set (log-uniform)."""
    lost = np.arange(10) < rng.integers(10)
    often = min(1.0, float(np.exp(rng.uniform(np.log(0.05), np.log(20)))) / (examples / 5))
    other = rng.choice(np.flatnonzero(~lost), size=10)
    truth = rng.integers(10, size=(examples, 2))
    said = np.where(lost[truth] & (rng.random(truth.shape) >= often), other[truth], truth)
    found = score(evidence_of(truth, said), ["collapse"])["collapse"]
    expected = lost.sum() * (1 - often / 10) ** (2 * examples) / 10  # the kept digits and all true ones do occur
    return {"collapse": Trial(found, float(expected))}


def vectors(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """Pairs of digits, each digit right with a chance of 0.2 to 1; the truth is the mean of 100 other test sets."""
    accuracy = rng.uniform(0.2, 1)
    truth, guesses = rng.integers(10, size=(2, 101, examples, 2))
    said = np.where(rng.random(truth.shape) < accuracy, truth, guesses)
    found = score(evidence_of(truth[0], said[0]), ["collapse_joint"])["collapse_joint"]
    numbers = [[set(rows.tolist()) for rows in codes @ np.array([10, 1])] for codes in (truth[1:], said[1:])]
    others = [1 - len(said) / len(said | true) for true, said in zip(*numbers, strict=True)]
    return {"collapse_joint": Trial(found, float(np.mean(others)))}


def following(rng: np.random.Generator, pairs: int) -> dict[str, Trial]:
    """One to three labels move in a pair; each is followed with a chance of 0.3 to 1, in part all or none."""
    rate, together = rng.uniform(0.3, 1), rng.uniform(0, 1)
    labels = rng.integers(1, 4, size=pairs)
    drawn = np.where(rng.random((pairs, 1)) < together, rng.random((pairs, 1)), rng.random((pairs, 3)))
    moved = np.arange(3) < labels[:, None]
    follows = ((drawn < rate) & moved).sum(axis=1) / labels
    return {"follow rate": Trial(mean_score("follows", follows), rate)}


def _stated(rng: np.random.Generator, examples: int, shape: float, sharpness: float) -> tuple[Array, Array]:
    """Return true chances of being right, and stated ones: log odds times `sharpness`."""
    chances = 0.5 + rng.beta(shape, 1, size=examples) / 2
    odds = (chances / np.maximum(1 - chances, 1e-12)) ** sharpness
    return chances, odds / (1 + odds)


def _ece(rng: np.random.Generator, chances: Array, stated: Array) -> Score:
    right = (rng.random(len(chances)) < chances).astype(np.int64)[:, None]
    ones = np.ones_like(right)
    spread = np.stack([1 - stated, stated], axis=1)
    return score(Evidence(BIT, "test", right, ones, ones, ones, (spread,), (None,)), ["label_ece"])["label_ece"]


def calibrated(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """Answers that are right as often as they say, 0.5 to 1; the calibration error is 0."""
    chances, stated = _stated(rng, examples, rng.uniform(0.5, 4), 1.0)
    return {"ECE of a calibrated model": Trial(_ece(rng, chances, stated), 0.0)}


def uncalibrated(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """The same, with the log odds stated a third to three times too large."""
    shape, sharpness = rng.uniform(0.5, 4), float(np.exp(rng.uniform(-np.log(3), np.log(3))))
    many, said = _stated(rng, 20_000, shape, sharpness)
    place = np.ceil(said * 10).astype(int)
    error = np.abs(np.bincount(place, weights=many - said)).sum() / len(many)
    found = _ece(rng, *_stated(rng, examples, shape, sharpness))
    return {"ECE of models sharper or blunter": Trial(found, float(error))}


def nearly_right(rng: np.random.Generator, examples: int) -> dict[str, Trial]:
    """A model that is right in 98 % of all examples."""
    return {"accuracy of 0.98": Trial(mean_score("label_accuracy", rng.random(examples) < 0.98), 0.98)}


SIMULATIONS: tuple[Simulation, ...] = (
    *(reading, shortcut, two_values, losing, vectors, following, calibrated, uncalibrated, nearly_right),
)


def coverage(simulation: Simulation, examples: int, repetitions: int) -> dict[str, float]:
    """Return the share of repetitions in which each interval holds its number."""
    rngs = [rng_for(0, "coverage", simulation.__name__, examples, place) for place in range(repetitions)]
    trials = [simulation(rng, examples) for rng in rngs]
    return {name: float(np.mean([trial[name].covers for trial in trials])) for name in trials[0]}


def written(repetitions: int) -> str:
    """Return the table, a row a number and a column a size of the test set."""
    lines = [f"| 95 % interval of | {' | '.join(f'n = {n:,}' for n in SIZES)} |", "| --- |" + " --- |" * len(SIZES)]
    for simulation in SIMULATIONS:
        found = [coverage(simulation, examples, repetitions) for examples in SIZES]
        for name in found[0]:
            lines.append(f"| {name} | {' | '.join(f'{100 * each[name]:.1f}' for each in found)} |")
    return "\n".join(lines)


def speed() -> Result:
    """Every F1 of 1,000 sums of digits with its interval, and with one from 200 resamples."""
    rng = rng_for(0, "speed")
    truth, guesses = rng.integers(10, size=(2, 1000, 2))
    held = evidence_of(truth, np.where(rng.random(truth.shape) < 0.9, truth, guesses))
    names = ("label_f1", "concept_f1", "balanced_accuracy")

    def ours() -> int:
        score(held, names)
        return 1

    def resampled() -> int:
        for rows in rng.integers(1000, size=(RESAMPLES, 1000)):
            again = held.take(rows)
            for name in names:
                METRICS[name](again)
        return 1

    what = "F1 and balanced accuracy of 1,000 examples with intervals"
    return Result(what, "models", rate(ours), rate(resampled), f"{RESAMPLES} resamples")


def run() -> list[Result]:
    print(written(QUICK), end="\n\n")
    return [speed()]


def main() -> None:
    print(written(int(sys.argv[1]) if len(sys.argv) > 1 else THOROUGH))


if __name__ == "__main__":
    main()
