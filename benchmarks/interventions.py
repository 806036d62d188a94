"""Interventions: responsiveness and the rule as a label head, against the released code's measured times and its way.

The restated responsiveness scores set by set and answer by answer, all rows at once.
"""

from itertools import combinations, product

import numpy as np

from assay.base import rng_for
from assay.contracts import BottleneckModel, LinearHead, rule_head
from assay.diagnosis import Budget, Trial, Truth, Units, policy_of
from assay.logic import Knowledge, bits
from benchmarks.timing import Result, rate

ROWS, CONCEPTS, SIZE = 10_000, 12, 3
BOARDS, UNITS = 200, 27
STATED_ROWS, STATED_BOARDS = ROWS / 0.6, BOARDS / 25
SAID = "the released code, as measured"


def run() -> list[Result]:
    model, weights = _logistic(ROWS, CONCEPTS)
    sets = [chosen for size in range(1, SIZE + 1) for chosen in combinations(range(CONCEPTS), size)]

    units = Units.of(bits([f"c{i}" for i in range(CONCEPTS)]))
    truth = Truth(np.zeros((ROWS, CONCEPTS), dtype=np.int64), np.zeros((ROWS, 1), dtype=np.int64))
    trial = Trial(model, units, model.concepts, truth)

    def responsive() -> int:
        trial.run(policy_of("responsiveness"), [Budget(SIZE)])
        return ROWS

    ours = rate(responsive)
    what = f"responsiveness, {CONCEPTS} concepts, sets of up to {SIZE}"
    results = [
        Result(what, "rows", ours, STATED_ROWS, SAID),
        Result(what, "rows", ours, rate(lambda: _plain(model, weights, sets)), "its way, restated"),
    ]
    boards, _ = _logistic(BOARDS, UNITS)
    names = [f"c{i}" for i in range(UNITS)]
    head = rule_head(Knowledge.of(bits(names), {"y": " and ".join(names)}))

    def by_rule() -> int:
        head(list(boards.concepts))
        return BOARDS

    return [*results, Result(f"exact labels, {UNITS} concepts, AND", "boards", rate(by_rule), STATED_BOARDS, SAID)]


def _logistic(rows: int, concepts: int) -> tuple[BottleneckModel, np.ndarray]:
    rng = rng_for(0, "benchmark", rows)
    chance, weights = rng.random((rows, concepts)), rng.normal(size=concepts) * 2
    tables = [np.array([[0.0, 0.0], [0.0, weight]]) for weight in weights]
    head = LinearHead(tables, np.array([0.0, -weights.sum() / 2]), (2,))
    spreads = [np.stack([1 - chance[:, i], chance[:, i]], axis=1) for i in range(concepts)]
    return BottleneckModel("logistic", spreads, head, linear=head), weights


def _plain(model: BottleneckModel, weights: np.ndarray, sets: list[tuple[int, ...]]) -> int:
    chance = np.stack([spread[:, 1] for spread in model.concepts], axis=1)
    bias = -weights.sum() / 2
    before = chance @ weights + bias > 0
    best = np.zeros(len(chance))
    for chosen in sets:
        found = np.zeros(len(chance))
        for answers in product((0, 1), repeat=len(chosen)):
            changed, likely = chance.copy(), np.ones(len(chance))
            for place, answer in zip(chosen, answers, strict=True):
                changed[:, place] = answer
                likely *= chance[:, place] if answer else 1 - chance[:, place]
            found += likely * ((changed @ weights + bias > 0) != before)
        best = np.maximum(best, found)
    return len(chance)
