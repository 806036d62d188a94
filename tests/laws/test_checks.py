"""Laws of every registered check: its claims, its words, its thresholds, and a model of which each claim is true."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from assay.base import ConfigError, rng_for
from assay.diagnosis import (
    FINDINGS,
    Claim,
    Finding,
    Found,
    described,
    kinds_in_order,
    meaning_of,
    read_thresholds,
    tone_of,
)
from assay.testing import check_finding
from tests.diagnosis.models import (
    CLEAR,
    FINE,
    Model,
    clear_case,
    every,
    evidence,
    on_test,
    redrawn,
    rule,
    signs,
    silent,
    some,
    turned,
)

CHECKS = {kind: FINDINGS[kind]() for kind in kinds_in_order()}
CLAIMS = [(kind, claim) for kind, check in CHECKS.items() for claim in check.claims]
THRESHOLDS = {each.name: (each.default, each.low, each.high) for each in described()}


@pytest.mark.parametrize("kind", sorted(FINDINGS))
def test_a_check_keeps_the_laws_that_strangers_checks_keep(kind: str) -> None:
    assert {check.law: check.fault for check in check_finding(type(CHECKS[kind])) if not check.passed} == {}


def test_the_order_of_kinds_is_total() -> None:
    order = kinds_in_order()
    assert sorted(order) == sorted(FINDINGS) and len(set(order)) == len(order)
    severities = [CHECKS[kind].severity for kind in order]
    assert severities == sorted(severities, reverse=True) and len(set(severities)) == len(severities)
    assert order[-1] == "sound" and {tone_of(kind) for kind in order} == {"good", "bad", "weak", "unknown"}
    assert all(meaning_of(kind) == CHECKS[kind].summary for kind in order)
    assert (tone_of("a stranger's"), meaning_of("a stranger's")) == ("unknown", "")


def said(kind: str, claim: str) -> Finding:
    """Return a claim with numbers: a share where it is one, else a count."""
    own: Claim = CHECKS[kind].claims[claim]
    numbers: dict[str, float] = {}
    for name, of, form in re.findall(r"\{(\w+)(?:/(\w+)|([%+]))?\}", own.meaning + own.text + own.next):
        numbers |= {part: 40 for part in (name, of) if part and part not in numbers}
        if form:
            numbers[name] = 0.25
    found = Found(claim, "test", numbers)
    assert CHECKS[kind].fault(found) == ""
    return CHECKS[kind].finding([found])


@pytest.mark.parametrize(("kind", "claim"), CLAIMS, ids=[f"{kind}: {claim}" for kind, claim in CLAIMS])
def test_a_claim_is_a_sentence_about_its_numbers(kind: str, claim: str) -> None:
    own: Claim = CHECKS[kind].claims[claim]
    found = said(kind, claim)
    for text in (found.meaning, found.text, found.next):
        assert "{" not in text and "}" not in text and "  " not in text
    assert own.meaning.endswith(".") and ". " not in own.meaning.removesuffix(".")
    assert own.next and (own.next.endswith(".") or own.next.startswith("{"))
    assert "{" in own.text  # a sentence without a number says nothing that was tested


@pytest.mark.parametrize(("kind", "claim"), CLAIMS, ids=[f"{kind}: {claim}" for kind, claim in CLAIMS])
def test_every_claim_is_made_of_a_model_of_which_it_is_true(kind: str, claim: str) -> None:
    """A new claim needs a clear case in `tests/diagnosis/models.py`."""
    found = clear_case(kind, claim).diagnosed()
    assert (found.verdict, found.findings[0].claim) == (kind, claim)
    assert found.meaning == found.findings[0].meaning and found.next and "{" not in found.text


def test_no_claim_is_left_without_a_check() -> None:
    assert set(CLEAR) == set(CLAIMS)


# -- thresholds --------------------------------------------------------------------------------------------------------


def test_the_table_of_thresholds_names_each_with_its_reason() -> None:
    assert all(each.about and each.chosen for each in described())
    assert (
        len(THRESHOLDS) == len(described())
        and read_thresholds({name: default for name, (default, _, _) in THRESHOLDS.items()}).to_dict() == {}
    )


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_threshold_is_set_within_its_bounds(name: str) -> None:
    default, low, high = THRESHOLDS[name]
    assert low <= default <= high
    for value in (low, default, high, str(low)):
        assert read_thresholds({name: value}).to_dict().get(name, default) == type(default)(float(value))
    for value in (low - 1, high + 1, float("nan"), float("inf"), "much", None, True):
        with pytest.raises(ConfigError) as refused:
            read_thresholds({name: value})
        line = str(refused.value)
        assert line.startswith(f"{name}: expected a ") and "\n" not in line and f"got {value!r}" in line


def test_a_threshold_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no threshold 'memorised.dorp'; did you mean .*'memorised.drop'"):
        read_thresholds({"memorised.dorp": 0.2})
    with pytest.raises(ConfigError, match="no threshold 'drop': expected SECTION.NAME"):
        read_thresholds({"drop": 0.2})
    assert read_thresholds({}).to_dict() == {}
    assert read_thresholds({"memorised.drop": 0.2}).to_dict() == {"memorised.drop": 0.2}


def told(model: Model, **changed: float) -> list[object]:
    """Return what is told of a model: its findings with the labels that they account for, its concepts, its notes."""
    found = model.diagnosed(**changed)
    return [
        [(f.kind, f.claim, f.text, f.wrong_labels, f.unsettled) for f in found.findings],
        found.concepts,
        found.notes,
    ]


def exchanged_bits() -> Model:
    knowledge = rule("a and b")
    return on_test(knowledge, every(knowledge.space, 30), every(knowledge.space, 30)[:, [1, 0, 2]])


def labels_lost_by_noise() -> Model:
    rng = rng_for(0, "labels lost")
    training, test, _ = signs(500, rng)
    return on_test(FINE, test, redrawn(test, 0.5, rng, range(5)), training=training)


def half_of_the_worlds_are_shared() -> Model:
    """Of the other split's worlds two thirds are shown by the first; a quarter of its labels is wrong."""
    knowledge = clear_case("shifted", "splits").splits["test"].knowledge
    other = every(knowledge.space, 10)
    test = other[other.sum(axis=1) % 3 > 0]
    wrong = turned(knowledge.labels_of(other), some(len(other), 0.25, rng_for(0, "shared")))
    first = evidence(knowledge, test, silent(test), knowledge.labels_of(test))
    return Model({"test": first, "ood": evidence(knowledge, other, silent(other), wrong, split="ood")})


def a_region_and_a_few_elsewhere() -> Model:
    model = clear_case("missed region")
    test = model.splits["test"]
    few = turned(test.predicted_labels, some(len(test), 0.02, rng_for(0, "few")))
    return Model({"test": replace(test, predicted_labels=few)}, model.training)


def below_the_ceiling() -> Model:
    capped = clear_case("incomplete").splits["test"]
    guessed = turned(capped.predicted_labels, some(len(capped), 0.6, rng_for(0, "below")))
    return on_test(capped.knowledge, capped.concepts, None, guessed, capped.labels)


def table_and_model_both_err() -> Model:
    rng = rng_for(0, "both err")
    training, test, labels = signs(800, rng)
    table, said = redrawn(test, 0.08, rng, range(5)), redrawn(test, 0.12, rng, range(5))
    return on_test(FINE, table, said, labels=labels, training=training)


def a_rare_value_that_two_rows_contradict() -> Model:
    """A bit is true in 40 of 300 and missed in 20; labels stay, but for two rows whose table contradicts itself."""
    knowledge = rule("a or c")
    test = np.zeros((300, 3), dtype=np.int64)
    test[:, 0], test[:40, 2] = np.arange(300) % 2, 1
    test[:18, 0], test[18:20, 0] = 1, 0
    said = test.copy()
    said[:20, 2] = 0
    return on_test(knowledge, test, said, knowledge.labels_of(said), knowledge.labels_of(said))


def half_of_a_region_is_wrong() -> Model:
    model = clear_case("missed region")
    test = model.splits["test"]
    mended = some(len(test), 0.5, rng_for(0, "half a region"))
    labels = np.where(mended[:, None], test.labels, test.predicted_labels)
    return Model({"test": replace(test, predicted_labels=labels)}, model.training)


def labels_that_misread_concepts_tell_all_the_same() -> Model:
    """One bit of an exclusive or is inverted: the rule gives the wrong labels, and trees over both bits the right ones."""
    knowledge = rule("xor(a, b)", "ab")
    test = every(knowledge.space, 100)
    return on_test(knowledge, test, turned(test, np.full(len(test), True), 0), knowledge.labels_of(test))


DECIDES: dict[str, Callable[[], Model]] = {
    "annotations.mostly": a_rare_value_that_two_rows_contradict,
    "annotations.rest": table_and_model_both_err,
    "annotations.sure": a_rare_value_that_two_rows_contradict,
    "concepts.tolerated": lambda: clear_case("noisy"),
    "concepts.right": lambda: clear_case("sound"),
    "concepts.recall": lambda: clear_case("wrong rule", "value"),
    "concepts.constant": lambda: clear_case("shortcut", "training"),
    "concepts.learned": lambda: clear_case("noisy"),
    "incomplete.below": below_the_ceiling,
    "labels.right": lambda: clear_case("sound"),
    "labels.mostly": lambda: clear_case("inconsistent"),
    "leaking.depth": labels_that_misread_concepts_tell_all_the_same,
    "leaking.leaf": labels_that_misread_concepts_tell_all_the_same,
    "maps.examples": exchanged_bits,
    "maps.clearly": exchanged_bits,
    "maps.mostly": lambda: clear_case("shortcut"),
    "missed region.holds": a_region_and_a_few_elsewhere,
    "regions.inside": half_of_a_region_is_wrong,
    "rivals.margin": lambda: clear_case("missed region"),
    "rivals.half": lambda: clear_case("inconsistent"),
    "rivals.fewest": lambda: clear_case("wrong rule"),
    "shifted.shared": half_of_the_worlds_are_shared,
    "verdict.level": lambda: clear_case("annotations"),
    "verdict.kept": lambda: clear_case("missed region"),
    "verdict.pairs": lambda: clear_case("boundary", "follows"),
    "verdict.calibration": lambda: clear_case("underfit", "uncertain"),
    "wrong rule.share": labels_lost_by_noise,
}
"""By threshold a model of which it decides; the others decide of a clear case of their check."""


ELSEWHERE = {"verdict.resamples", "spurious.drop", "spurious.examples"}
"""Thresholds of certainty, and of what is judged where a whole dataset is at hand (`tests/diagnosis/test_reliance.py`)."""


@pytest.mark.parametrize("name", sorted(set(THRESHOLDS) - ELSEWHERE))
def test_a_threshold_at_its_extreme_changes_what_is_told(name: str) -> None:
    section = name.rpartition(".")[0]
    own = [key for key in CLEAR if key[0] == section] or list(CLEAR)
    models = (build() for build in [DECIDES[name]]) if name in DECIDES else (clear_case(*key) for key in own)
    default, low, high = THRESHOLDS[name]
    key = name.replace(".", "__").replace(" ", "_")
    assert any(told(model, **{key: type(default)(value)}) != told(model) for model in models for value in (low, high))


@pytest.mark.parametrize("resamples", [0, 7])
def test_certainty_is_of_as_many_resamples_as_are_asked_for(resamples: int) -> None:
    found = clear_case("noisy").diagnosed(resamples)
    assert found.certainty.resamples == resamples and (f"of {resamples} resamples" in found.text) == (resamples > 0)
