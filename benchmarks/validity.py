"""Does the word predict what happens next? On kept runs of trained models, against accuracy, concept F1, leakage.

What happens next was measured on fresh data when a model was trained: by how much labels fall on other pictures and
worlds, how often they stay wrong after all concepts are intervened on, and in how many counterfactual pairs they fail.
Each is predicted from what was known on the kept splits: by single numbers as they are, and by random forests from the
first word, from all words told, and from all together. A forest never sees a run of the setup that it is asked about.
The numbers are Spearman's rank correlation of prediction and outcome, and the area under the curve of a failure of more
than 10 points, with 95 % intervals over resampled setups. `python -m benchmarks.validity` prints the table.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from assay.base import Array, AssayError
from assay.diagnosis import kinds_in_order, leakage, read_thresholds
from assay.metrics import Evidence, score
from benchmarks.claims.diagnosing import diagnosed
from benchmarks.pages import write_between
from benchmarks.trained.kept import FOLDER, Case, kept_cases, read_case

BEGIN, END = "<!-- validity: begin -->", "<!-- validity: end -->"
MORE = FOLDER / "more"
OUTCOMES = {
    "fall out of distribution": lambda facts: facts["next_iid"] - facts["next_ood"],
    "failed interventions": lambda facts: facts["next_interventions"],
    "failed pairs": lambda facts: facts["next_pairs"],
}
FAILURE, UNKNOWN = 0.1, -1.0
"""From where on an outcome is a failure, and what stands for a number that a model has not; alone, its median does."""
FOLDS, FORESTS, TREES, RESAMPLES = 10, 3, 60, 1000
SOURCES: Mapping[str, Sequence[str]] = {
    "first word": ("first",),
    "all words told": ("first", "told"),
    "label accuracy": ("accuracy",),
    "label accuracy on the worst split": ("worst",),
    "concept F1": ("f1",),
    "leakage": ("leakage",),
    "accuracy, F1 and leakage": ("accuracy", "worst", "f1", "leakage"),
    "these and all words": ("accuracy", "worst", "f1", "leakage", "first", "told"),
}
WORD = "first word"
RISING = {"leakage"}
"""The single numbers of which a high one is bad."""


@dataclass(frozen=True)
class Run:
    """A kept run: what was told and measured of it, and what happened next."""

    setup: str
    features: Mapping[str, Sequence[float]]
    outcomes: Mapping[str, float]


def run_of(case: Case) -> Run:
    """Return a kept run, diagnosed."""
    found, kinds = diagnosed(case, read_thresholds({"verdict.resamples": 0})).diagnosis, kinds_in_order()
    features = {
        "first": [float(found.verdict == kind) for kind in kinds],
        "told": [float(kind in found.kinds) for kind in kinds],
        **{name: [value] for name, value in measures_of(case.evidence).items()},
    }
    facts = {name: np.nan if value is None else value for name, value in case.header["facts"].items()}
    return Run(case.name.partition("--")[0], features, {name: float(of(facts)) for name, of in OUTCOMES.items()})


def measures_of(evidence: Mapping[str, Evidence]) -> dict[str, float]:
    """Return label accuracy, concept F1 and leakage on the test split, and the accuracy on the worst split."""
    test = next(iter(evidence.values()))
    shares = {name: float((rows.predicted_labels == rows.labels).all(axis=1).mean()) for name, rows in evidence.items()}
    f1 = score(test, ["concept_f1"], resamples=1)["concept_f1"]
    return {
        "accuracy": next(iter(shares.values())),
        "worst": min(shares.values()),
        "f1": f1.value if f1.applies else UNKNOWN,
        "leakage": leakage_of(test),
    }


def leakage_of(evidence: Evidence) -> float:
    """Return the leakage of concepts into labels, by probabilities where there are such."""
    try:
        found = leakage(evidence)
    except AssayError:
        return UNKNOWN
    return (found.soft or found.hard).ctl


@dataclass(frozen=True)
class Table:
    """Predictions of one outcome from each source, beside what happened."""

    outcome: str
    setups: Array
    true: Array
    predicted: Mapping[str, Array]

    @cached_property
    def failed(self) -> Array:
        """Which runs failed."""
        return self.true > FAILURE

    @cached_property
    def resamples(self) -> list[Array]:
        """Rows of setups drawn again."""
        rng = np.random.default_rng(0)
        names, rows = np.unique(self.setups), {name: np.flatnonzero(self.setups == name) for name in set(self.setups)}
        drawn = (rng.choice(names, len(names)) for _ in range(RESAMPLES))
        return [np.concatenate([rows[name] for name in chosen]) for chosen in drawn]

    def value(self, source: str, kind: str, rows: Array) -> float:
        """Return the rank correlation, or the area under the curve, of a source over some rows."""
        own = self.predicted[source][rows]
        return correlation(own, self.true[rows]) if kind == "correlation" else area(own, self.failed[rows])

    def interval(self, source: str, kind: str, less: str | None = None) -> tuple[float, float, float]:
        """Return a value with its interval, or its difference to that of another source."""
        whole = np.arange(len(self.true))

        def found(rows: Array) -> float:
            return self.value(source, kind, rows) - (self.value(less, kind, rows) if less else 0.0)

        values = np.array([found(rows) for rows in self.resamples])
        low, high = np.nanquantile(values, [0.025, 0.975])
        return found(whole), float(low), float(high)


def correlation(one: Array, other: Array) -> float:
    """Return Spearman's rank correlation; NaN where one does not vary.

    >>> round(correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0])), 3)
    1.0
    """
    ranks = [mean_ranks(values) for values in (one, other)]
    if any(np.ptp(part) == 0 for part in ranks):
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])


def area(score: Array, positive: Array) -> float:
    """Return the area under the curve: how often a positive has the higher score, ties as half.

    >>> area(np.array([0.1, 0.4, 0.8]), np.array([False, True, True]))
    1.0
    """
    count = int(positive.sum())
    if not 0 < count < len(positive):
        return float("nan")
    ranks = mean_ranks(score)
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * (len(positive) - count)))


def mean_ranks(values: Array) -> Array:
    """Return ranks from 1 on, equal values sharing the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[which.reshape(-1)])


def table_of(outcome: str, runs: Sequence[Run]) -> Table:
    """Return the predictions of an outcome over the runs that have it."""
    known = [run for run in runs if not np.isnan(run.outcomes[outcome])]
    true, setups = np.array([run.outcomes[outcome] for run in known]), np.array([run.setup for run in known])
    predicted = {source: foretold(known, names, true, setups) for source, names in SOURCES.items()}
    return Table(outcome, setups, true, predicted)


def foretold(runs: Sequence[Run], names: Sequence[str], true: Array, setups: Array) -> Array:
    """Return a single number, turned so that high is bad, or what forests predict that were fitted on other setups."""
    from sklearn.ensemble import RandomForestRegressor

    features = np.array([[value for name in names for value in run.features[name]] for run in runs])
    if features.shape[1] == 1:
        own = features[:, 0]
        known = np.where(own == UNKNOWN, np.median(own[own != UNKNOWN]), own)
        return known if names[0] in RISING else -known
    order = np.random.default_rng(1).permutation(np.unique(setups))
    fold = {name: number % FOLDS for number, name in enumerate(order.tolist())}
    folds, sums = np.array([fold[name] for name in setups]), np.zeros(len(true))
    for seed in range(FORESTS):
        for part in range(FOLDS):
            forest = RandomForestRegressor(TREES, min_samples_leaf=3, max_features=0.5, random_state=seed)
            forest.fit(features[folds != part], true[folds != part])
            usual = true[folds != part].mean()  # without it, a fold of high outcomes would be foretold low ones
            sums[folds == part] += forest.predict(features[folds == part]) - usual
    return np.round(sums / FORESTS, 6)


def cells(found: tuple[float, float, float]) -> str:
    """Return a value with its interval."""
    return f"{found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f})"


def markdown(tables: Sequence[Table], runs: int) -> str:
    """Return the tables as Markdown, with a sentence on each."""
    parts = [f"{runs} trained runs; failures are more than {100 * FAILURE:.0f} points."]
    for table in tables:
        head = ["predicted from", "rank correlation", "area under the curve", "first word less this (area)"]
        lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head))]
        for source in SOURCES:
            less = "" if source == WORD else cells(table.interval(WORD, "area", source))
            values = [cells(table.interval(source, kind)) for kind in ("correlation", "area")]
            lines.append(f"| {source} | {' | '.join(values)} | {less} |")
        counts = f"{len(table.true)} runs, {int(table.failed.sum())} failures"
        parts.append(f"**{table.outcome.capitalize()}** ({counts}). {_answer(table)}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _answer(table: Table) -> str:
    """Return whether the word predicts better than each of the numbers, in a sentence."""
    single = ("label accuracy", "concept F1", "leakage")
    better = [source for source in single if table.interval(WORD, "area", source)[1] > 0]
    worse = [source for source in single if table.interval(WORD, "area", source)[2] < 0]
    rest = [source for source in single if source not in (*better, *worse)]
    texts = [
        f"surely {how} than {' and '.join(names)}" for how, names in (("better", better), ("worse", worse)) if names
    ]
    texts += [f"not surely better or worse than {' and '.join(rest)}"] if rest else []
    return f"The first word predicts failures {', '.join(texts)}."


def runs_of(half: str | None) -> Iterator[Run]:
    """Yield the kept runs, those of one half of the zoo, and the further ones."""
    for folder in (FOLDER, MORE):
        for path in kept_cases(folder):
            case = read_case(path)
            if half in (None, case.header["half"]):
                yield run_of(case)


def main() -> None:
    """Print the tables, and write them into pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages to write the tables into")
    parser.add_argument("--half", choices=("choosing", "held"), help="only the runs of this half of the zoo")
    chosen = parser.parse_args()
    runs = list(runs_of(chosen.half))
    text = markdown([table_of(outcome, runs) for outcome in OUTCOMES], len(runs))
    print(text)
    write_between([str(page) for page in chosen.pages], BEGIN, END, text)


if __name__ == "__main__":
    main()
