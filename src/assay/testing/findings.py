"""The laws of metrics and findings.

What a check of the diagnosis says is what it found, also of gaps and of a single example; no predictor scores better
than the oracle.
"""

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from typing import get_args

import numpy as np

from assay.base import Array, Codes, distinct_rows, rng_for
from assay.diagnosis import FINDINGS, Case, Check, Found, Tone, case_of
from assay.logic import NO_RULE, Knowledge, bits, digits
from assay.metrics import METRICS, Evidence, Metric
from assay.testing.checks import LawOutcome, need, try_laws

TEXTS = ("name", "summary", "null", "statistic", "measure")
"""What every check says of itself."""


def certain_evidence(knowledge: Knowledge, truth: tuple[Codes, Codes], predicted: tuple[Codes, Codes]) -> Evidence:
    """Return the evidence of true and predicted labels and concepts, predicted with certainty."""
    sizes = [len(label.values) for label in knowledge.labels], knowledge.space.sizes
    labels, concepts = (
        tuple(np.eye(size)[codes[:, i]] for i, size in enumerate(own))
        for codes, own in zip(predicted, sizes, strict=True)
    )
    return Evidence(knowledge, "test", *truth, *predicted, labels, concepts)


def known_evidence(rows: int = 400) -> dict[str, Evidence]:
    """Return the evidence of the oracle, the constant, the shuffled and a shortcut predictor on sums of two digits."""
    knowledge = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
    rng = rng_for(0, "known evidence")
    concepts = rng.integers(10, size=(rows, 2))
    labels = knowledge.labels_of(concepts)
    order = rng.permutation(rows)
    swapped = np.array([1, 0, 3, 2, 5, 4, 7, 6, 9, 8])[concepts]
    nothing = np.zeros_like(concepts)
    pairs = {
        "oracle": (labels, concepts),
        "constant": (np.zeros_like(labels), nothing),
        "shuffled": (labels[order], concepts[order]),
        "shortcut": (labels, swapped),
    }
    return {name: certain_evidence(knowledge, (labels, concepts), predicted) for name, predicted in pairs.items()}


def check_metric(metric: Metric) -> list[LawOutcome]:
    """Try the laws that every metric keeps."""
    known = known_evidence()
    sign = 1 if metric.better == "higher" else -1

    def oracle_is_best() -> None:
        best = metric(known["oracle"])
        for name, evidence in known.items():
            value = metric(evidence)
            worse = math.isnan(best) or math.isnan(value) or sign * best >= sign * value
            need(worse, f"{name} scores {value}, the oracle {best}")

    def order_does_not_matter() -> None:
        evidence = known["shortcut"]
        turned = evidence.take(np.arange(len(evidence))[::-1])
        same = np.isclose(metric(evidence), metric(turned), equal_nan=True)
        need(bool(same), f"{metric(evidence)} becomes {metric(turned)} when rows are turned round")

    def values_fit() -> None:
        if metric.values is not None:
            values, rows = metric.values(known["shuffled"]), len(known["shuffled"])
            need(values.shape == (rows,), f"{values.shape} values for {rows} examples")

    def equal_rows_can_be_counted() -> None:
        for name, evidence in known.items() if metric.counted else ():
            together, singly = metric(evidence), replace(metric, counted=False)(evidence)
            same = np.isclose(together, singly, equal_nan=True)
            need(bool(same), f"{name} scores {singly}, and {together} with equal rows counted by evidence.weights")

    return try_laws(
        {
            "the oracle is best": oracle_is_best,
            "the order of examples does not matter": order_does_not_matter,
            "a value for each example": values_fit,
            "equal examples can be counted": equal_rows_can_be_counted,
        }
    )


@cache
def known_cases() -> dict[str, Case]:
    """Return cases on which every check is tried: known predictors and faults, gaps, no rule, a single example."""
    known = known_evidence()
    oracle, constant, shuffled, shortcut = (known[name] for name in ("oracle", "constant", "shuffled", "shortcut"))
    rng = rng_for(0, "known cases")
    holes = replace(shortcut, concepts=np.where(rng.random(shortcut.concepts.shape) < 0.2, -1, shortcut.concepts))
    evidence = {
        **known,
        "concepts not predicted": _silent(shuffled),
        "true concepts with gaps": holes,
        "no rule": _without_rule(shuffled),
        "no rule, an oracle": _without_rule(oracle),
        "one example": oracle.take(np.array([0])),
        "one wrong example": constant.take(np.array([1])),
        **_planted_faults(rng),
    }
    cases = {name: case_of({"test": rows}, _first_half(rows)) for name, rows in evidence.items()}
    both = {"test": oracle, "ood": replace(constant, split="ood")}
    several = {"another split": case_of(both, _first_half(oracle)), "training not known": case_of({"test": shuffled})}
    return {**cases, **several}


def _planted_faults(rng: np.random.Generator, rows: int = 600) -> dict[str, Evidence]:
    """Return predictors of a formula over five bits, of which it uses four, with one fault each."""
    knowledge = Knowledge.of(bits("abcde"), {"y": "(a and b) or (c and not d)"})
    true = rng.integers(2, size=(rows, 5))
    labels, noise = knowledge.labels_of(true), rng.random(true.shape) < 0.1
    new = ~np.isin(true @ 2 ** np.arange(5), true[: rows // 20] @ 2 ** np.arange(5))
    region = (true[:, 2] == 1) & (true[:, 3] == 0)

    def predicted(concepts: Codes, said: Codes, table: Codes = true) -> Evidence:
        return certain_evidence(knowledge, (labels, table), (said, concepts))

    def wrong_in(chosen: Array) -> Codes:
        return np.where(chosen[:, None], 1 - labels, labels)

    swapped, unused = true[:, [1, 0, 2, 3, 4]], true.copy()
    unused[:, 4] = rng.integers(2, size=rows)
    return {
        "concepts exchanged": predicted(swapped, labels),
        "a concept that is not used": predicted(unused, labels),
        "annotations wrong": predicted(true, labels, np.where(noise, 1 - true, true)),
        "concepts noisy": predicted(
            np.where(noise, 1 - true, true), knowledge.labels_of(np.where(noise, 1 - true, true))
        ),
        "new worlds wrong": _silent(predicted(true, wrong_in(new))),
        "a region wrong": _silent(predicted(true, wrong_in(region))),
        "a rule wrong": predicted(true, wrong_in(region)),
        "labels by chance, no rule": _without_rule(predicted(true, wrong_in(rng.random(rows) < 0.4))),
    }


def _first_half(evidence: Evidence) -> Codes:
    """Return the worlds of the first examples, as those of training."""
    codes = evidence.concepts[: max(1, len(evidence) // 20)]
    return codes[distinct_rows(codes).first]


def _silent(evidence: Evidence) -> Evidence:
    """Return the evidence of a model that predicts no concept."""
    said = np.full_like(evidence.concepts, -1)
    return replace(evidence, predicted_concepts=said, concept_probabilities=(None,) * said.shape[1])


def _without_rule(evidence: Evidence) -> Evidence:
    knowledge = evidence.knowledge
    labels = tuple(replace(label, formula=NO_RULE) for label in knowledge.labels)
    return replace(evidence, knowledge=replace(knowledge, labels=labels))


def found_by(check: Check) -> Iterator[tuple[str, Case, Found]]:
    """Yield what a check finds of every known case that it is asked about."""
    for name, case in known_cases().items():
        if case.ruled or not check.needs_rule:
            for found in check.find(case):
                yield name, case, found


def check_finding(finding: type[Check]) -> list[LawOutcome]:
    """Try the laws that every finding keeps; `finding` is the class of its check."""

    def it_says_what_it_tests() -> None:
        for name in TEXTS:
            text = getattr(finding, name, None)
            need(isinstance(text, str) and bool(text.strip()), f"{name} is missing")
        need(finding.name == finding.name.strip().lower(), f"name: {finding.name!r} is not in lower case")
        need(finding.measure in METRICS, f"measure: no metric named {finding.measure!r}")
        need(finding.tone in get_args(Tone), f"tone: {finding.tone!r} is none of {', '.join(get_args(Tone))}")
        need(isinstance(finding.severity, int) and finding.severity >= 0, "severity: expected a whole number")

    def every_claim_is_a_sentence() -> None:
        need(bool(finding.claims), "claims: there is none")
        for key, claim in finding.claims.items():
            need(bool(claim.meaning.strip() and claim.text.strip()), f"claim {key!r}: a meaning and a text are needed")

    def every_threshold_has_a_reason() -> None:
        settings = finding.settings
        for entry in fields(settings) if settings is not None else ():
            low, high = (entry.metadata.get(end) for end in ("low", "high"))
            need(low is not None and high is not None, f"{entry.name}: make it by threshold(value, about, chosen)")
            need(
                bool(entry.metadata["about"] and entry.metadata["chosen"]), f"{entry.name}: say what it decides and why"
            )

    def rivals_are_findings() -> None:
        for kind in (*(rival.kind for rival in finding.rivals), *finding.refines):
            need(kind in FINDINGS and kind != finding.name, f"no other finding is named {kind!r}")

    def claims_hold_their_numbers() -> None:
        check = finding()
        for name, case, found in found_by(check):
            fault = check.fault(found)
            need(not fault, f"{name}: {fault}")
            _need_numbers(found, name)
            _need_rows(case, found, name)
            check.finding([found])

    def an_oracle_has_no_fault() -> None:
        check = finding()
        clean = [found.claim for name, _, found in found_by(check) if name == "oracle"]
        need(check.tone == "good" or not clean, f"it finds {clean} of a model that is right in everything")

    return try_laws(
        {
            "it says what it tests": it_says_what_it_tests,
            "every claim is a sentence": every_claim_is_a_sentence,
            "every threshold has a reason": every_threshold_has_a_reason,
            "its rivals are findings": rivals_are_findings,
            "claims hold the numbers that were found": claims_hold_their_numbers,
            "an oracle has no fault": an_oracle_has_no_fault,
        }
    )


def _need_numbers(found: Found, name: str) -> None:
    """Refuse numbers that are none."""
    for number, value in found.numbers.items():
        need(
            type(value) in (int, float, str), f"{name}: {number} is a {type(value).__name__}; give an int, float or str"
        )


def _need_rows(case: Case, found: Found, name: str) -> None:
    """Refuse splits that there are not, and masks that do not fit their labels."""
    for split in found.split.split(", "):
        need(split in case.views, f"{name}: no split {split!r}")
    for split, mask in found.rows.items():
        need(split in case.views, f"{name}: rows of no split {split!r}")
        shape = case.views[split].wrong.shape
        need(mask.shape == shape and mask.dtype == bool, f"{name}: rows of {split!r} are no mask of shape {shape}")
