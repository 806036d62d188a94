"""Label noise where no rule is given: equal worlds whose labels differ, and labels that a model of the others denies.

Equal worlds must have equal labels if concepts decide them; where they nearly always do, the few that differ are wrong.
Where worlds hardly ever occur twice, labels are learned from concepts on other examples (Northcutt et al., *Confident
learning*, 2021): a label is suspect if the model is at least as sure of another value as it is, on average, where that
value is given.
"""

from dataclasses import dataclass

import numpy as np

from assay.auditing.audited import AuditedDataset
from assay.auditing.check_result import NOT_CHECKED, CheckResult, Status, first_few
from assay.base import Array, Codes, import_extra

PURPOSE = "the audit of labels without a rule"
FEWEST_MET = 3
FEWEST_ROWS = 100
MOST_NOISE = 0.1
"""The most labels that may differ among equal worlds before the concepts are said not to decide the label."""
LEARNED = 0.9
SUSPECT = 0.005
FOLDS = 5
WORST_FIRST: tuple[Status, ...] = ("fail", "note", NOT_CHECKED, "pass")


@dataclass(frozen=True)
class Doubt:
    """The rows whose label is doubted, of the rows that could be judged."""

    rows: Array
    judged: int

    @property
    def share(self) -> float:
        """Their share."""
        return len(self.rows) / max(1, self.judged)


def labels_without_rule(data: AuditedDataset) -> CheckResult:
    """Equal worlds have equal labels; where there are too few, no label is one that a model of the others denies."""
    concepts = np.concatenate([part.concepts for part in data.parts.values()])
    labels = np.concatenate([part.labels for part in data.parts.values()])
    whole = np.flatnonzero((concepts >= 0).all(axis=1))  # a world with gaps is equal to none
    results = [_judged(name, labels[:, place], concepts, whole, data) for place, name in enumerate(data.labels)]
    numbers = {"doubted": {name: result.numbers["share"] for name, result in zip(data.labels, results, strict=True)}}
    worst = min((result.status for result in results), key=WORST_FIRST.index)
    return CheckResult("labels", worst, first_few([r.text for r in results if r.status == worst]), numbers)


def _judged(name: str, labels: Codes, concepts: Codes, whole: Array, data: AuditedDataset) -> CheckResult:
    doubt = unequal(labels[whole], concepts[whole])
    numbers = {"share": doubt.share}
    if doubt.judged >= FEWEST_ROWS:
        first = _place(whole[doubt.rows], data)
        if not len(doubt.rows):
            text = f"no rule is given, but equal worlds have equal labels {name!r} ({doubt.judged:,} examples)"
            return CheckResult("labels", "pass", text, numbers)
        differ = f"{len(doubt.rows):,} of {doubt.judged:,} labels {name!r} differ from those of equal worlds"
        if doubt.share <= MOST_NOISE:
            return CheckResult("labels", "fail", f"{differ}, first at {first}", numbers)
        text = f"no rule is given, and the concepts do not decide: {differ}"
        return CheckResult("labels", NOT_CHECKED, text, numbers)
    doubt = denied(labels[whole], concepts[whole])
    if not doubt.judged:
        text = f"no rule is given, worlds hardly ever occur twice, and no model learns {name!r} from the concepts"
        return CheckResult("labels", NOT_CHECKED, text, {"share": float("nan")})
    denials = f"{len(doubt.rows):,} of {doubt.judged:,} labels {name!r} are denied by a model of the others"
    if doubt.share >= SUSPECT:
        first = _place(whole[doubt.rows], data)
        text = f"{denials}, first at {first}: noise, or exceptions that it has not learned"
        return CheckResult("labels", "note", text, {"share": doubt.share})
    return CheckResult("labels", "pass", f"no rule is given; {denials}", {"share": doubt.share})


def _place(rows: Array, data: AuditedDataset) -> str:
    """Return the first of rows of all splits together as a row of its split; nothing where there is none."""
    row = int(rows[0]) if len(rows) else 0
    for part in data.parts.values():
        if row < len(part):
            return f"row {row} of {part.name}"
        row -= len(part)
    return f"row {row}"


def unequal(labels: Codes, concepts: Codes) -> Doubt:
    """Return the rows whose label is not the most frequent one of their world, among worlds met three times.

    >>> unequal(np.array([1, 1, 1, 0]), np.array([[0], [0], [0], [0]])).rows.tolist()
    [3]
    """
    if not len(labels):
        return Doubt(np.zeros(0, dtype=np.int64), 0)
    _, worlds = np.unique(concepts, axis=0, return_inverse=True)
    worlds = worlds.ravel()
    counts = np.zeros((worlds.max() + 1, labels.max() + 1), dtype=np.int64)
    np.add.at(counts, (worlds, labels), 1)
    often = counts.sum(axis=1)[worlds] >= FEWEST_MET
    return Doubt(np.flatnonzero(often & (counts.argmax(axis=1)[worlds] != labels)), int(often.sum()))


def denied(labels: Codes, concepts: Codes) -> Doubt:
    """Return the rows whose label a forest, learned on other rows, denies; none are judged where it learns nothing."""
    values, known = np.unique(labels, return_inverse=True)
    if len(labels) < FEWEST_ROWS or min(np.bincount(known), default=0) < FOLDS:
        return Doubt(np.zeros(0, dtype=np.int64), 0)
    forest = import_extra("sklearn.ensemble", PURPOSE).RandomForestClassifier(100, random_state=0, n_jobs=1)
    predict = import_extra("sklearn.model_selection", PURPOSE).cross_val_predict
    inputs = np.concatenate([column[:, None] == np.unique(column)[None, 1:] for column in concepts.T], axis=1)
    chances = np.asarray(predict(forest, inputs, known, cv=FOLDS, method="predict_proba"))
    if (chances.argmax(axis=1) == known).mean() < LEARNED:
        return Doubt(np.zeros(0, dtype=np.int64), 0)
    usual = np.array([chances[known == value, value].mean() for value in range(len(values))])
    confident = np.where(chances >= usual, chances, -1.0)
    wrong = (confident.max(axis=1) >= 0) & (confident.argmax(axis=1) != known)
    return Doubt(np.flatnonzero(wrong), len(labels))
