"""Every registered metric, with its interval, on evidences of several kinds; and what they are computed from."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.concepts import Concept, ConceptSpace, EncoderGroup, Slot
from assay.logic import NO_RULE, Constraint, Knowledge, parse
from assay.metrics import (
    METRICS,
    Evidence,
    accuracy_by_region,
    at_least,
    at_most,
    balanced_accuracy,
    complete,
    confusion,
    expected_calibration_error,
    format_score,
    functions,
    gather,
    macro_f1,
    of_difference,
    of_mean,
    sane_things_f1,
    score,
    stage_metrics,
    things_f1,
    uniform_guesser,
    wilson,
)
from assay.metrics.average_interval import accuracy_of, f1_of, interval_of
from assay.metrics.calibration import calibration_interval
from assay.metrics.concept_collapse import (
    block_tables,
    collapse_by_group,
    collapse_interval,
    collapse_of_vectors,
    joint_collapse_interval,
    object_tables,
)
from assay.metrics.consistency import set_f1_of
from assay.metrics.interval import from_error, holm
from assay.metrics.quality import f1_by_value
from assay.metrics.random_guesser import Guesser, frequencies
from assay.metrics.transposed import transpose
from assay.seeds import rng_for
from assay.testing.zoo import certain
from tests.pins import Cases, refusal
from tests.predictors import predictions
from tests.rules import RULES
from tests.toys import Coin, written

ROWS = 60


def objects() -> Knowledge:
    """Return three objects of three shapes and three colours, each read by one encoder."""
    slots = tuple(Slot(f"o{i}", "objects", ("shape", "colour")) for i in range(3))
    values = {"shape": ("square", "circle", "star"), "colour": ("red", "green", "blue")}
    concepts = tuple(Concept(slot.concept(name), values[name]) for slot in slots for name in values)
    encoders = tuple(EncoderGroup(name, tuple(slot.concept(name) for slot in slots)) for name in values)
    limits = (Constraint("not alike", parse("not (o0.shape == o1.shape and o0.colour == o1.colour)"), ("order",)),)
    labels = {"same": "o0.shape == o1.shape or o1.colour == o2.colour", "red": "o2.colour == 'red'"}
    return Knowledge.of(ConceptSpace(concepts, slots, encoders), labels, limits)


KNOWN = {**RULES, "objects": objects}


def evidence(name: str, kind: str) -> Evidence:
    """Return answers that are often right; with probabilities, gaps or repeated rows as the kind says."""
    knowledge, rng = KNOWN[name](), rng_for(0, "metrics", name, kind)
    worlds = knowledge.space.all_codes() if knowledge.space.worlds < 2000 else None
    sizes = np.array(knowledge.space.sizes)
    drawn = rng.integers(sizes, size=(ROWS, len(sizes)))
    if worlds is not None:
        fine = worlds[knowledge.can_be(worlds)]
        drawn = fine[rng.integers(len(fine), size=ROWS)]
    if kind == "repeated":
        drawn = drawn[rng.integers(9, size=ROWS)]
    read = np.where(rng.random(drawn.shape) < 0.25, (drawn + 1) % sizes, drawn)
    labels = knowledge.labels_of(drawn)
    values = np.array([len(label.values) for label in knowledge.labels])
    said = knowledge.labels_of(read)
    said = np.where(rng.random(said.shape) < 0.1, (said + 1) % values, said)
    silent = [None] * len(values), [None] * len(sizes)
    if kind == "probabilities":
        silent = (
            [certain(said[:, i], size, 0.4 + 0.6 * rng.random(ROWS)) for i, size in enumerate(values)],
            [certain(read[:, i], size, 0.4 + 0.6 * rng.random(ROWS)) for i, size in enumerate(sizes)],
        )
    if kind == "gaps":
        said = np.where(rng.random(said.shape) < 0.08, -1, said)
        read = np.where(rng.random(read.shape) < 0.12, -1, read)
        drawn = np.where(rng.random(drawn.shape) < 0.1, -1, drawn)
    if kind == "partly":
        read[:, 1] = -1
    return Evidence(knowledge, "test", labels, drawn, said, read, tuple(silent[0]), tuple(silent[1]))


def scored(name: str, _: Path) -> dict[str, Any]:
    """Score evidence of every kind by all metrics, from few resamples."""
    found: dict[str, Any] = {}
    for kind in ("plain", "probabilities", "gaps", "partly", "repeated"):
        one = evidence(name, kind)
        for seed in (0, 4) if kind == "plain" else (0,):
            scores = score(one, resamples=12, seed=seed)
            facts = {key: [each.value, each.low, each.high, each.examples] for key, each in scores.items()}
            found[f"{kind} {seed}"] = {key: fact for key, fact in facts.items() if scores[key].applies}
        found[f"{kind} values"] = {
            key: METRICS[key].values(METRICS[key].rows_of(one)) for key in METRICS if METRICS[key].values is not None
        }
        found[f"{kind} facts"] = [one.examples, len(one.distinct), one.answered, one.groups, one.broken, repr(one)]
        found[f"{kind} sides"] = [[s.variants, s.types, s.in_variants, s.in_types, s.placed, s.far] for s in one.sides]
        found[f"{kind} groups"] = collapse_by_group(one)
        found[f"{kind} tables"] = [object_tables(one), block_tables(one)]
        part = one.take(np.array([3, 3, 7, 20, 41]))
        few = score(part, ["label_accuracy", "concept_f1", "collapse"], 5)
        found[f"{kind} few"] = [[s.to_dict(), s.few, format_score(s), format_score(s, False)] for s in few.values()]
    other = transpose(evidence(name, "probabilities"))
    found["transposed"] = None if other is None else [other.concepts, other.predicted_concepts]
    return found


def guessed(name: str, _: Path) -> dict[str, Any]:
    """Compare with random guessers."""
    one = evidence(name, "plain")
    knowledge, truth = one.knowledge, one.concepts
    uniform = uniform_guesser(knowledge)
    usual = Guesser(knowledge, uniform.limits, frequencies(truth, knowledge.space))
    return {
        "complete": complete(evidence(name, "gaps")), "things": [things_f1(one), sane_things_f1(one)],
        "guessers": [
            [g.rule_rates, g.mean_violations, g.contradiction_rate(), g.exact_match(truth), g.set_f1(truth), g.sane_f1(truth)]
            for g in (uniform, usual)
        ],
        "frequencies": frequencies(truth, knowledge.space),
    }  # fmt: skip


def ruleless(_: Path) -> dict[str, Any]:
    """Score where no rule is known."""
    one = evidence("mixed", "probabilities")
    blank = Knowledge(one.knowledge.space, tuple(replace(label, formula=NO_RULE) for label in one.knowledge.labels))
    scores = score(replace(one, knowledge=blank), resamples=4)
    return {key: each.to_dict() for key, each in scores.items()}


def numbers(_: Path) -> dict[str, Any]:
    """Compute the functions that metrics are made of."""
    rng = rng_for(0, "numbers")
    truth, said = rng.integers(4, size=40), rng.integers(5, size=40) - 1
    weights, pair = rng.integers(1, 5, size=40), (rng.integers(3, size=(40, 2)), rng.integers(3, size=(40, 2)))
    probabilities = rng.random((40, 4)) ** 2
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    values = np.append(rng.random(20), [np.nan, 1.0, 0.0])
    right, inside = truth == said, rng.random((40, 3)) < 0.5
    return {
        "confusion": [confusion(truth, said, 4), confusion(truth, said, 4, weights)],
        "f1": [f1_by_value(truth, said, 4), f1_by_value(truth, said, 4, weights), macro_f1(truth, said, 4)],
        "balanced": [balanced_accuracy(truth, said), balanced_accuracy(truth, said, weights)],
        "regions": [accuracy_by_region(right, inside), accuracy_by_region(right, inside, weights)],
        "calibration": [expected_calibration_error(truth, probabilities, bins) for bins in (5, 10, 15)],
        "calibrated": calibration_interval(probabilities[:, :2], probabilities[:, 2:] > 0.3),
        "collapse": [collapse_of_vectors(*pair), collapse_interval(truth, np.maximum(said, 0)),
                     collapse_interval(truth, np.maximum(said, 0), weights), joint_collapse_interval(*pair)],
        "intervals": [wilson(3, 9), wilson(0, 5), wilson(5, 5), wilson(7.5, 20, 0.9), of_mean(values),
                      of_mean(values, 0.8), of_difference(values[:20] - 0.4), from_error(0.3, 0.05, 40),
                      from_error(0.0, 0.01, 9), from_error(1.0, 0.2, 9, 0.9)],
        "tests": [at_least(7, 20, 0.2), at_most(7, 20, 0.5), at_least(0, 5, 0.1), at_most(5, 5, 0.9),
                  holm([0.01, 0.04, 0.03, 0.005]), holm([0.2, 0.001], 0.1)],
        "averages": [interval_of([f1_of(pair[0], pair[1], np.array([0, 2]), 3, weights)]),
                     interval_of([accuracy_of(right, inside, weights), accuracy_of(~right, inside[:, 1:], weights)])],
        "sets": set_f1_of(pair[0], pair[1], np.array([0, -1])),
        "stages": stage_metrics(np.array([[0.9, 0.2, 0.1], [0.6, 0.8, 0.3], [0.5, 0.7, 0.85]])).to_dict(),
    }  # fmt: skip


def called(_: Path) -> dict[str, Any]:
    """Call the functions for notebooks."""
    one = evidence("sums", "plain")
    labels = (one.labels[:, 0], one.predicted_labels[:, 0])
    concepts = (one.concepts, one.predicted_concepts)
    running = functions.RunningMetric(functions.concept_f1)
    for rows in (slice(0, 20), slice(20, 60)):
        running.update(concepts[1][rows], concepts[0][rows])
    return {
        "labels": [functions.accuracy(*labels), functions.label_f1(*labels), functions.exact_match(*labels)],
        "concepts": [functions.accuracy(*concepts), functions.exact_match(*concepts), functions.concept_f1(*concepts),
                     functions.concept_f1(*concepts, groups=[[0, 1]]), functions.collapse(*concepts),
                     functions.collapse(*concepts, groups=[[0, 1]])],
        "rule": functions.rule_consistency(one.predicted_labels, one.predicted_concepts, one.knowledge),
        "running": running.compute(),
        "metrics": {name: [METRICS[name].summary, METRICS[name].better, METRICS[name].counted] for name in METRICS},
    }  # fmt: skip


def refused(folder: Path) -> dict[str, Any]:
    """Give what is not whole."""
    data = written(Coin(), folder / "coin", train=6, valid=0, test=5, pairs=0).symbols("test")
    whole = predictions(data, data.labels, data.concepts)
    wrong = {
        "other data": replace(whole, fingerprint="q"), "other split": replace(whole, split="train"),
        "no row": replace(whole, index=np.array([], dtype=np.int64)), "a stranger": replace(whole, index=np.array([0, 1, 2, 3, 99])),
        "no label": replace(whole, labels={"y": whole.labels["y"]}), "fine": whole,
    }  # fmt: skip
    found: dict[str, Any] = {name: refusal(lambda one=one: gather(data, one)) for name, one in wrong.items()}
    found["other data"] = found["other data"].partition("fingerprint")[0]
    turned = gather(data, replace(whole, index=whole.index[::-1]))
    found["turned"] = [turned.labels, turned.concepts, turned.predicted_labels]
    two = np.array([[0, 1], [1, 0]])
    pairs = {
        "three dimensions": (two[None], two[None]), "words": (["a", "b"], ["a", "b"]), "halves": ([0.5, 1], [1, 0]),
        "negative": ([-2, 1], [0, 1]), "other lengths": ([0, 1], [0, 1, 1]), "truths": ([True, False], [True, True]),
        "probabilities": ([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]), "empty": ([], []), "gaps": ([-1, 1, 0], [0, 1, -1]),
    }  # fmt: skip
    for name, (true, said) in pairs.items():
        found[name] = refusal(lambda t=true, s=said: functions.accuracy(t, s))
    found["values"] = [functions.accuracy(*pairs[name]) for name in ("truths", "probabilities")]
    for groups in ([[0, 5]], [[0], [0]], [[]], [[0, 1]], {"g": [1]}):
        found[f"groups {groups}"] = refusal(lambda g=groups: functions.concept_f1(two, two, groups=g))
    found["running"] = refusal(lambda: functions.RunningMetric(functions.accuracy).compute())
    found["unknown"] = refusal(lambda: score(gather(data, whole), ["q"])).partition(";")[0]
    return found


EACH: dict[str, Callable[[Path], Any]] = {f"scores of {name}": partial(scored, name) for name in KNOWN}
CASES: Cases = {
    **EACH, **{f"guesses of {name}": partial(guessed, name) for name in ("shelf", "objects")},
    "without a rule": ruleless, "refused": refused, "numbers": numbers, "functions": called,
}  # fmt: skip
